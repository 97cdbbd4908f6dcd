//! `message`: a value is told, once, to every observer whose pattern matches it, and leaves nothing behind.

use super::{Act, Claims};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::value::Fact;

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
