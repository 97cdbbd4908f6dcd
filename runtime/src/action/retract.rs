//! `retract`: an assertion ends. Any facet of the asserting actor may retract it; the action
//! ignores an unknown handle or another actor's, and records the reason.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{Handle, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::{Ignored, Refusal};

/// Retracts an assertion.
#[derive(Clone, Debug, PartialEq)]
pub struct Retract {
    /// The assertion.
    pub handle: Handle,
    /// The reason why the action retracts nothing, if so.
    pub ignored: Option<Ignored>,
}
codec_struct!(Retract "retract" { handle, ignored });

impl Act for Retract {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if self.ignored.is_none() {
            draft.state.release(self.handle, &mut draft.outbox);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        match self.ignored {
            None => Claims::default().ending(Resource::Handle(self.handle)),
            Some(_) => Claims::default(),
        }
    }

    fn show(&self) -> String {
        match self.ignored {
            None => self.handle.to_string(),
            Some(reason) => format!("{}, ignored: {reason}", self.handle),
        }
    }
}
