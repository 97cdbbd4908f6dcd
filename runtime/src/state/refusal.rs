//! Refusals: why an action failed or had no effect.
//!
//! INVARIANT: a refusal names the missing thing, so that a program can react.
//! It does not refuse anything; the actions do.
//! Read next: `draft.rs`.

use std::fmt;

use crate::codec_enum;
use crate::model::identity::{ActorId, CapabilityId, FacetId, FiberId, ObserverId, RequestId, WaitId};

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The actor has ended.
    NoActor(ActorId),
    /// The facet has stopped, or belongs to another actor.
    NoFacet(FacetId),
    /// The observer has ended, or belongs to another actor.
    NoObserver(ObserverId),
    /// The wait is over, or belongs to another actor.
    NoWait(WaitId),
    /// The fiber is not parked.
    NoFiber(FiberId),
    /// The actor has no such request.
    NoRequest(RequestId),
    /// A facet with live children cannot stop.
    HasChildren(FacetId),
    /// The value does not fit into a record.
    Value(duet_journal::packed::PackedError),
    /// The main program, or an actor that stands for a peer, cannot begin anew.
    NoRestart(ActorId),
    /// The runtime supplied no procedure or continuation.
    NoCallable,
    /// The capability, or one that it comes from, is revoked, or its actor has ended.
    Revoked(CapabilityId),
    /// The capability is for something else.
    Unfit(CapabilityId),
    /// Another actor made the capability and alone may revoke it.
    NotOwner(CapabilityId),
    /// The chain of the capability has the maximum length already.
    TooNarrow(CapabilityId),
    /// The actor was not granted the capability; the journal records the attempt.
    NotGranted {
        /// Its name.
        capability: String,
        /// The patterns that limit it, if it was granted with a limit.
        limit: Option<String>,
    },
    /// The code of a module that does not list the capability would act; the journal records the
    /// attempt.
    NotListed {
        /// The name of the capability.
        capability: String,
        /// The module.
        module: String,
    },
    /// The actor would grant more than it has; the journal records the attempt.
    Excess {
        /// The first grant that it does not have.
        capability: String,
    },
    /// The actor has as many assertions as its spawner allows.
    TooManyFacts(u64),
    /// A predicate tried to have an effect.
    Pure,
    /// Policy does not allow the action; the journal records the attempt.
    Policy(Box<crate::policy::ruling::Ruling>),
    /// No class was registered for the role.
    NoRole {
        /// The role.
        role: String,
        /// The roles that the actor knows.
        known: Vec<String>,
    },
    /// An entity inside the actor plays the role already.
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
            Self::NoRestart(actor) => write!(f, "{actor} does not begin anew"),
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
            Self::NotGranted {
                capability,
                limit: None,
            } => write!(f, "the capability `{capability}` was not granted"),
            Self::NotGranted {
                capability,
                limit: Some(limit),
            } => write!(f, "the capability `{capability}` was granted only for {limit}"),
            Self::NotListed { capability, module } => {
                write!(f, "{module} does not list the capability `{capability}`")
            }
            Self::Excess { capability } => {
                write!(f, "an actor cannot grant what it was not granted: `{capability}`")
            }
            Self::TooManyFacts(facts_max) => {
                write!(
                    f,
                    "this actor may have {facts_max} assertions, its watches included, and has them already"
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

/// Why an instruction had no effect; the action's record includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The handle was retracted before, or never existed.
    Unknown {},
    /// The handle belongs to another actor.
    Foreign {},
    /// The recipient has ended.
    Gone {},
}
impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown {} => "it has ended, or never was",
            Self::Foreign {} => "it is another actor's",
            Self::Gone {} => "it has ended",
        })
    }
}
codec_enum!(Ignored "a reason to ignore" { Unknown "unknown" {} Foreign "foreign" {} Gone "gone" {} });
