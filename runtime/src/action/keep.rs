//! `keep`: the actor records what a tool call is about to replace, and lets the call continue. The
//! contents are blobs of the turn's record, so they are durable before the tool replaces anything.

use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::{RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::UndoContents;

/// Records what a tool call is about to replace, and lets it continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// The call.
    pub request: RequestId,
    /// The tool's report.
    pub kept: UndoContents,
}
codec_struct!(Keep "keep" { request, kept });

impl Act for Keep {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        crate::model::value::Fact::new(self.kept.note.clone())?;
        let request = draft.state.requests.get_mut(&self.request);
        request.ok_or(Refusal::NoRequest(self.request))?.kept = Some(self.kept.clone());
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Request(self.request))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let note = self.kept.note.clone();
        Some((
            self.request,
            EffectKind::Proceed {
                note,
                contents: Vec::new(),
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?} for {}", self.kept.note, self.request)
    }
}
