//! `message`: every observer whose pattern matches a value receives it once; the dataspace does not
//! store it.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::model::manifest::Right;
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Sends a value once to every observer whose pattern matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The value.
    pub value: Fact,
}
codec_struct!(Message "message" { value });

impl Act for Message {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.outbox.notify(draft.state.dataspace.message(&self.value));
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Value(Right::Message, &self.value))
    }

    fn show(&self) -> String {
        format!("{:?}", self.value)
    }
}
