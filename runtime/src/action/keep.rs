//! `keep`: what a tool call is about to replace is on record, and the call goes on. The contents are blobs of the turn's record, so they are
//! durable before anything is replaced.

use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::model::identity::Resource;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Kept;

/// Lets a tool call go on that told what it is about to replace.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// The call.
    pub request: RequestId,
    /// What is replaced and by what, as the tool told it.
    pub kept: Kept,
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
