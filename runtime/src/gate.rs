//! The gate: whether what a turn did may be.
//!
//! Owns the judgement of proposals. INVARIANT: every action of every turn, whoever causes it, passes [`judge`] exactly once before the turn
//! commits; a proposal is all or nothing, so one denial undoes the turn; the judgement depends on nothing but its arguments, so replay gives
//! the same.
//! It performs nothing and remembers nothing.
//! Read next: `record.rs`.
//!
//! Source: SS-01, "Arbitration contract": the proposal is the turn's actions, the snapshot is the state before the turn, the provenance is
//! the principal.

use std::collections::BTreeSet;
use std::fmt;

use crate::action::{Action, Claims, Thing};
use crate::actor::Manifest;
use crate::codec_enum;
use crate::identity::{ActorId, Counters};
use crate::state::Before;

/// On whose behalf a turn acts.
#[derive(Clone, Copy, Debug)]
pub struct Principal<'a> {
    /// The actor.
    pub actor: ActorId,
    /// What it was granted.
    pub manifest: &'a Manifest,
}

/// What a turn wants to do, and in which situation.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The state before the turn.
    pub before: Before<'a>,
    /// Who proposes.
    pub principal: Principal<'a>,
    /// What, in order.
    pub actions: &'a [Action],
}

/// The judgement of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be.
    Allow {},
    /// It may not.
    Deny {
        /// Why.
        reason: Reason,
    },
}
codec_enum!(Verdict "a verdict" { Allow "allow" {} Deny "deny" { reason } });

/// Why an action is denied; a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The principal was not granted the capability.
    CapabilityMissing {
        /// Its name.
        capability: String,
    },
    /// The principal would grant more than it was granted itself.
    CapabilityExceeded {},
    /// Something used or ended is not there, or not the principal's.
    NotOwned {},
    /// Something made has an id that was given out before.
    NotFresh {},
}
codec_enum!(Reason "a reason" {
    CapabilityMissing "capability_missing" { capability }
    CapabilityExceeded "capability_exceeded" {}
    NotOwned "not_owned" {}
    NotFresh "not_fresh" {}
});

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CapabilityMissing { capability } => write!(f, "the capability `{capability}` was not granted"),
            Self::CapabilityExceeded {} => write!(f, "an actor cannot grant what it was not granted"),
            Self::NotOwned {} => write!(f, "it names something that is not there or belongs to another actor"),
            Self::NotFresh {} => write!(f, "it gives an id that was given before"),
        }
    }
}

/// Judges each action of a proposal.
pub fn judge(proposal: &Proposal<'_>) -> Vec<Verdict> {
    let mut docket = Docket {
        proposal: *proposal,
        made: BTreeSet::new(),
        ended: BTreeSet::new(),
    };
    let verdict = |action: &Action| match docket.fault(action) {
        None => Verdict::Allow {},
        Some(reason) => Verdict::Deny { reason },
    };
    proposal.actions.iter().map(verdict).collect()
}

/// What the earlier actions of the proposal made and ended.
struct Docket<'a> {
    proposal: Proposal<'a>,
    made: BTreeSet<Thing>,
    ended: BTreeSet<Thing>,
}

impl Docket<'_> {
    fn fault(&mut self, action: &Action) -> Option<Reason> {
        let claims = action.claims();
        let fault = self.capability_fault(&claims).or_else(|| self.ownership_fault(&claims));
        self.made.extend(&claims.makes);
        self.ended.extend(&claims.ends);
        fault
    }

    fn capability_fault(&self, claims: &Claims) -> Option<Reason> {
        let manifest = self.proposal.principal.manifest;
        if let Some(capability) = claims
            .capability
            .as_ref()
            .filter(|capability| !manifest.grants(capability))
        {
            return Some(Reason::CapabilityMissing {
                capability: capability.clone(),
            });
        }
        let is_excess = claims
            .grants
            .as_ref()
            .is_some_and(|granted| !manifest.includes(granted));
        is_excess.then_some(Reason::CapabilityExceeded {})
    }

    fn ownership_fault(&self, claims: &Claims) -> Option<Reason> {
        let is_owned = |thing: &Thing| {
            !self.ended.contains(thing)
                && (self.made.contains(thing) || self.proposal.before.owns(self.proposal.principal.actor, *thing))
        };
        if !claims.uses.iter().chain(&claims.ends).all(is_owned) {
            return Some(Reason::NotOwned {});
        }
        let is_fresh = |thing: &Thing| !self.made.contains(thing) && is_unused(self.proposal.before.counters(), *thing);
        if !claims.makes.iter().all(is_fresh) {
            return Some(Reason::NotFresh {});
        }
        None
    }
}

/// Says whether the id of `thing` was still to be given out.
fn is_unused(counters: &Counters, thing: Thing) -> bool {
    match thing {
        Thing::Actor(id) => id.0 >= counters.actors,
        Thing::Facet(id) => id.0 >= counters.facets,
        Thing::Handle(id) => id.0 >= counters.handles,
        Thing::Observer(id) => id.0 >= counters.observers,
        Thing::Wait(id) => id.0 >= counters.waits,
        Thing::Fiber(id) => id.0 >= counters.fibers,
        Thing::Request(id) => id.0 >= counters.requests,
    }
}

#[cfg(test)]
mod tests;
