//! `keep`: what a tool call is about to replace is on record, and the call goes on. The contents are blobs of the turn's record, so they are
//! durable before anything is replaced.

use super::{Act, Claims, Thing};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::driver::{EffectKind, RequestId};
use crate::state::Kept;

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
        crate::value::Fact::new(self.kept.note.clone())?;
        let request = draft.state.requests.get_mut(&self.request);
        request.ok_or(Refusal::NoRequest(self.request))?.kept = Some(self.kept.clone());
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Thing::Request(self.request))
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
