//! `log`: the program shows a line of text to whoever follows the run.

use super::{Act, Claims, Need, Needs, needing, write};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Shows a line of text to whoever follows the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The id of the effect.
    pub request: RequestId,
    /// The text.
    pub text: String,
}
codec_struct!(Log "log" { request, text });

impl Act for Log {
    fn perform(&self, _draft: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(write::CAPABILITY))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Log {
                text: self.text.clone(),
                by_program: true,
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?}", self.text)
    }
}
