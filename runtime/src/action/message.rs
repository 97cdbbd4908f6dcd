//! `message`: a value is told, once, to every observer whose pattern matches it, and leaves nothing behind.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Tells a value, once, to all who observe it.
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

    fn show(&self) -> String {
        format!("{:?}", self.value)
    }
}
