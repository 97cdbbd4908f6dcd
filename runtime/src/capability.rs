//! Capabilities: what may be done, as a thing that can be passed on, narrowed and taken back.
//!
//! Owns the chain from a capability to the authority it stands for, and what becomes of a value on the way.
//! INVARIANT: whatever is done through a capability has passed all caveats of its chain, the newest first, and no link of the chain is revoked.
//! It does not judge actions; `gate.rs` asks here.
//! Read next: `capability/caveat.rs`.
//!
//! Source: the Syndicate protocol, `sturdy.prs`, "Macaroons".

use std::fmt;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::codec::{Codec, DecodeError};
use crate::draft::Refusal;
use crate::gate::Conveyed;
use crate::identity::{ActorId, CapabilityId, FacetId};
use crate::state::{Before, RunState};
use crate::{codec_enum, codec_struct};

pub mod caveat;
pub mod pattern;
pub mod sturdy;
pub mod template;

pub use caveat::{Caveat, CaveatError};

/// What a capability gives the right to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    /// To call a tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// To assert and to tell.
    Dataspace {},
    /// To send to a facet.
    Facet {
        /// The actor.
        actor: ActorId,
        /// Its facet.
        facet: FacetId,
    },
    /// What another capability gives, or less.
    Capability {
        /// The other one.
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
    /// Who made it, and alone may revoke it; it ends with this actor.
    pub owner: ActorId,
    /// What it gives, before its own caveats.
    pub from: Authority,
    /// Its own caveats, the newest last.
    pub caveats: Vec<Caveat>,
    /// Whether it gives nothing any more.
    pub is_revoked: bool,
}
codec_struct!(Capability "capability-state" { owner, from, caveats, is_revoked });

impl Codec for Caveat {
    fn encode(&self) -> IOValue {
        self.source().clone()
    }

    fn write(&self, out: &mut PackedWriter) {
        out.value(self.source());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Self::read(value).map_err(|_| DecodeError::kind("a caveat", value))
    }
}

/// Why a capability gives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// It, or one that it comes from, has been revoked, or its actor has ended.
    Revoked,
}

/// Capabilities are at most this far from what they stand for; an attenuation beyond it is refused.
pub const CHAIN_MAX: usize = 64;

impl RunState {
    /// Lists a capability and those it comes from.
    ///
    /// # Errors
    /// [`Lapse`] if one of them gives nothing.
    pub fn chain(&self, capability: CapabilityId) -> Result<Vec<&Capability>, Lapse> {
        let mut chain = Vec::new();
        let mut next = Some(capability);
        while let Some(id) = next {
            let link = self
                .capabilities
                .get(&id)
                .filter(|link| !link.is_revoked)
                .ok_or(Lapse::Revoked)?;
            next = match link.from {
                Authority::Capability { capability } => Some(capability),
                Authority::Tool { .. } | Authority::Dataspace {} | Authority::Facet { .. } => None,
            };
            chain.push(link);
        }
        Ok(chain)
    }

    /// Requires that a capability stands for `authority` in the end.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Unfit`].
    pub fn require(&self, capability: CapabilityId, authority: &Authority) -> Result<(), Refusal> {
        let chain = self.chain(capability).map_err(|_| Refusal::Revoked(capability))?;
        let is_fit = chain.last().is_some_and(|link| link.from == *authority);
        is_fit.then_some(()).ok_or(Refusal::Unfit(capability))
    }

    /// Says what a capability stands for in the end, and which caveats a value passes on the way, in this order.
    ///
    /// # Errors
    /// [`Refusal::Revoked`].
    pub fn way_through(&self, capability: CapabilityId) -> Result<(Authority, Vec<Caveat>), Refusal> {
        let chain = self.chain(capability).map_err(|_| Refusal::Revoked(capability))?;
        let authority = chain.last().map(|link| link.from.clone());
        let caveats = chain.iter().flat_map(|link| link.caveats.iter().rev().cloned());
        Ok((authority.ok_or(Refusal::Revoked(capability))?, caveats.collect()))
    }
}

/// Says whether a capability gave `wanted` before a turn, or does so since the turn began; the gate asks.
///
/// `made` has the capabilities that the turn has made so far. One that the turn has revoked is refused when it is used.
pub(crate) fn gives(before: Before<'_>, made: Option<&Conveyed>, capability: CapabilityId, wanted: &Authority) -> bool {
    let mut next = capability;
    for _ in 0..=CHAIN_MAX {
        let known = before
            .capability(next)
            .filter(|known| !known.is_revoked)
            .map(|known| &known.from);
        match made.and_then(|made| made.get(&next)).or(known) {
            None => return false,
            // Making a narrower one is allowed whatever the wider one stands for.
            Some(_) if matches!(wanted, Authority::Capability { capability: wider } if *wider == next) => return true,
            Some(Authority::Capability { capability: wider }) => next = *wider,
            Some(authority) => return authority == wanted,
        }
    }
    false
}
