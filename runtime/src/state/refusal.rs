//! Refusals: why an action could not be performed, or had no effect.
//!
//! INVARIANT: a refusal names what is missing, so that a program can act on it.
//! It does not refuse anything; the actions do.
//! Read next: `draft.rs`.

use std::fmt;

use crate::codec_enum;
use crate::model::identity::{ActorId, CapabilityId, FacetId, FiberId, ObserverId, RequestId, WaitId};

/// Why an action could not be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The actor has ended.
    NoActor(ActorId),
    /// The facet has stopped, or is another actor's.
    NoFacet(FacetId),
    /// The observer has ended, or is another actor's.
    NoObserver(ObserverId),
    /// The wait is over, or another actor's.
    NoWait(WaitId),
    /// The fiber is not parked.
    NoFiber(FiberId),
    /// There is no such request of this actor.
    NoRequest(RequestId),
    /// A facet with live children cannot stop.
    HasChildren(FacetId),
    /// The value cannot be recorded.
    Value(duet_journal::packed::PackedError),
    /// The runtime forgot to say what to call.
    NoCallable,
    /// The capability, or one that it comes from, has been revoked, or its actor has ended.
    Revoked(CapabilityId),
    /// The capability is for something else.
    Unfit(CapabilityId),
    /// The capability was made by another actor, which alone may revoke it.
    NotOwner(CapabilityId),
    /// The capability is at the end of the longest chain that there may be.
    TooNarrow(CapabilityId),
    /// A predicate tried to have an effect.
    Pure,
    /// Policy does not allow it; the attempt is on record.
    Policy(Box<crate::policy::ruling::Ruling>),
    /// No class was registered for the role.
    NoRole {
        /// The role.
        role: String,
        /// The roles that the actor knows.
        known: Vec<String>,
    },
    /// The role is played inside the actor already.
    Attached(String),
    /// No entity inside the actor plays the role.
    NotAttached(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoActor(actor) => write!(f, "{actor} has ended"),
            Self::NoFacet(facet) => write!(f, "{facet} has stopped or is another actor's"),
            Self::NoObserver(observer) => write!(f, "{observer} has ended or is another actor's"),
            Self::NoWait(wait) => write!(f, "{wait} is over or is another actor's"),
            Self::NoFiber(fiber) => write!(f, "{fiber} is not parked"),
            Self::NoRequest(request) => write!(f, "{request} is unknown or is another actor's"),
            Self::HasChildren(facet) => write!(f, "{facet} has facets in it that have not stopped"),
            Self::Value(_) => write!(f, "the value cannot be recorded"),
            Self::NoCallable => write!(f, "the action was given no procedure"),
            Self::Revoked(capability) => write!(f, "{capability} has been revoked"),
            Self::Unfit(capability) => write!(f, "{capability} is for something else"),
            Self::NotOwner(capability) => {
                write!(f, "{capability} was made by another actor, which alone may revoke it")
            }
            Self::TooNarrow(capability) => {
                write!(
                    f,
                    "{capability} is the last of {} in a row and cannot be attenuated",
                    crate::capability::CHAIN_MAX
                )
            }
            Self::Pure => write!(f, "a predicate can have no effect"),
            Self::Policy(ruling) => write!(f, "{ruling}"),
            Self::NoRole { role, known } if known.is_empty() => {
                write!(
                    f,
                    "no entity is registered for the role `{role}`; register-entity! registers one"
                )
            }
            Self::NoRole { role, known } => {
                write!(
                    f,
                    "no entity is registered for the role `{role}`; known are {}",
                    known.join(", ")
                )
            }
            Self::Attached(role) => write!(f, "an entity is attached as `{role}` already; detach it first"),
            Self::NotAttached(role) => write!(f, "no entity is attached as `{role}`"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Value(error) = self {
            Some(error)
        } else {
            None
        }
    }
}

impl From<duet_journal::packed::PackedError> for Refusal {
    fn from(error: duet_journal::packed::PackedError) -> Self {
        Self::Value(error)
    }
}

/// Why an instruction had no effect; recorded with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The handle was retracted before, or never existed.
    Unknown {},
    /// The handle is another actor's.
    Foreign {},
    /// The recipient is gone.
    Gone {},
}
codec_enum!(Ignored "a reason to ignore" { Unknown "unknown" {} Foreign "foreign" {} Gone "gone" {} });
