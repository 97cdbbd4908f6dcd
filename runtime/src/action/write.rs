//! `write`: the driver writes bytes to the console once the turn is durable.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::driver::{EffectKind, Stream};
use crate::model::codec::Bytes;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// The capability to use the console.
pub const CAPABILITY: &str = "console";

/// Writes to the console.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The id of the effect.
    pub request: RequestId,
    /// The stream.
    pub stream: Stream,
    /// The bytes.
    pub bytes: Bytes,
}
codec_struct!(Write "write" { request, stream, bytes });

impl Act for Write {
    fn perform(&self, _draft: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(CAPABILITY))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Write {
                stream: self.stream,
                bytes: self.bytes.0.clone(),
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?} to {}", String::from_utf8_lossy(&self.bytes.0), self.stream)
    }
}
