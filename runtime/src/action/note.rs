//! `note`: the runtime shows a line about the acting actor, such as a predicate that failed. No
//! program asks for it, so it needs no right.

use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Shows a line of the runtime to whoever follows the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The id of the effect.
    pub request: RequestId,
    /// The text.
    pub text: String,
}
codec_struct!(Note "note" { request, text });

impl Act for Note {
    fn perform(&self, _draft: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let effect = EffectKind::Log {
            text: self.text.clone(),
            by_program: false,
        };
        Some((self.request, effect))
    }

    fn show(&self) -> String {
        format!("{:?}", self.text)
    }
}
