//! `progress`: the program shows the progress of a piece of work to whoever follows the run.

use super::{Act, Claims, Need, Needs, needing, write};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Shows the progress of a piece of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The id of the effect.
    pub request: RequestId,
    /// The name of the work.
    pub label: String,
    /// The number of steps done.
    pub done: u64,
    /// The total number of steps.
    pub total: u64,
}
codec_struct!(Progress "progress" { request, label, done, total });

impl Act for Progress {
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
        let (done, total) = (self.done, self.total);
        Some((
            self.request,
            EffectKind::Progress {
                label: self.label.clone(),
                done,
                total,
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?} {} of {}", self.label, self.done, self.total)
    }
}
