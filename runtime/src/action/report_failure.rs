//! `report-failure`: an actor failed, and no other actor takes the failure; or something failed
//! that an actor did for another, which only that one has heard of.

use super::exit::MAIN;
use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::failure::ActorFailure;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Shows a failure to whoever follows the run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFailure {
    /// The id of the effect.
    pub request: RequestId,
    /// The failure.
    pub failed: ActorFailure,
    /// Whether the actor goes on, because somebody has taken the failure; `failed` then names what
    /// failed in the place of the actor's role.
    pub is_taken: bool,
}
codec_struct!(ReportFailure "report-failure" { request, failed, is_taken });

impl Act for ReportFailure {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        // If the main program has ended, the exit code of the run says already that it failed.
        let has_ended = self.failed.actor == MAIN && draft.state.exit.is_some();
        if !has_ended && !self.is_taken {
            draft.state.note_untaken(&self.failed);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let failed = Box::new(self.failed.clone());
        let texts = Vec::new();
        let is_taken = self.is_taken;
        let kind = EffectKind::Failure {
            failed,
            texts,
            is_taken,
        };
        Some((self.request, kind))
    }

    fn show(&self) -> String {
        format!("{}, {}", self.failed.name(), self.failed.failure)
    }
}
