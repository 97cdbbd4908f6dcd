//! `send`: the watches of a named facet receive a value once. The action ignores a recipient that
//! has ended, and records the reason.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::model::identity::{ActorId, FacetId};
use crate::model::manifest::Right;
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::{Ignored, Refusal};

/// Sends a value once to the watches of one facet of one actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// The actor.
    pub to: ActorId,
    /// Its facet.
    pub facet: FacetId,
    /// The value.
    pub value: Fact,
    /// The reason why the action sends nothing, if so.
    pub ignored: Option<Ignored>,
}
codec_struct!(Send "send" { to, facet, value, ignored });

impl Act for Send {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if self.ignored.is_none() {
            draft.outbox.push(
                self.to,
                Event::Direct {
                    facet: self.facet,
                    payload: self.value.clone(),
                },
            );
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Value(Right::Message, &self.value))
    }

    fn show(&self) -> String {
        let ignored = self
            .ignored
            .map(|reason| format!(", ignored: {reason}"))
            .unwrap_or_default();
        format!("{:?} to {} of {}{ignored}", self.value, self.facet, self.to)
    }
}
