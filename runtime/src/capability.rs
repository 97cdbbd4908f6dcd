//! Capabilities: rights that an actor can pass on, narrow and revoke.
//!
//! Owns the authorities that a capability can stand for, and the caveats that rewrite or refuse a
//! value that passes through it.
//! INVARIANT: every value that passes through a capability has passed all caveats of its chain, the
//! newest first, and no link of the chain is revoked.
//! It does not judge actions; `gate.rs` asks here.
//! Read next: `capability/caveat.rs`.
//!
//! Source: the Syndicate protocol, `sturdy.prs`, "Macaroons".

use std::fmt;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::model::codec::{Codec, DecodeError};
use crate::model::identity::{ActorId, CapabilityId, FacetId};
use crate::{codec_enum, codec_struct};

pub mod allowance;
pub mod caveat;
pub mod compound;
mod error;
pub mod pattern;
pub mod sturdy;
pub mod template;

pub use allowance::Allowance;
pub use caveat::Caveat;
pub use error::CaveatError;

/// The right that a capability gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// To call a tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// To assert facts and send messages in the dataspace.
    Dataspace {},
    /// To send to a facet.
    Facet {
        /// The actor.
        actor: ActorId,
        /// Its facet.
        facet: FacetId,
    },
    /// The right of another capability, or a part of it.
    Capability {
        /// The other capability.
        capability: CapabilityId,
    },
}
codec_enum!(Authority "an authority" {
    Tool "tool" { name }
    Dataspace "dataspace" {}
    Facet "facet" { actor, facet }
    Capability "capability" { capability }
});

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name } => write!(f, "the tool {name}"),
            Self::Dataspace {} => write!(f, "the dataspace"),
            Self::Facet { actor, facet } => write!(f, "{facet} of {actor}"),
            Self::Capability { capability } => write!(f, "{capability}"),
        }
    }
}

/// A link of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// The actor that made it and alone may revoke it; it ends with this actor.
    pub owner: ActorId,
    /// Its right before its own caveats.
    pub from: Authority,
    /// Its own caveats, the newest last.
    pub caveats: Vec<Caveat>,
    /// Whether it is revoked and gives no right any more.
    pub is_revoked: bool,
}
codec_struct!(Capability "capability-state" { owner, from, caveats, is_revoked });

impl Codec for Caveat {
    fn write(&self, out: &mut PackedWriter) {
        out.value(self.source());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Self::read(value).map_err(|_| DecodeError::kind("a caveat", value))
    }
}

/// Maximum length of a chain of capabilities; the runtime refuses to attenuate one at this length.
pub const CHAIN_MAX: usize = 64;
