//! `report-failure`: an actor failed, and no other actor takes the failure.

use super::exit::MAIN;
use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::failure::ActorFailure;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Shows the failure of an actor to whoever follows the run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFailure {
    /// The id of the effect.
    pub request: RequestId,
    /// The failure.
    pub failed: ActorFailure,
}
codec_struct!(ReportFailure "report-failure" { request, failed });

impl Act for ReportFailure {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        // The exit code of the run says already that the main program failed.
        if self.failed.actor != MAIN {
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
        Some((self.request, EffectKind::Failure { failed, texts }))
    }

    fn show(&self) -> String {
        format!("{}, {}", self.failed.name(), self.failed.failure)
    }
}
