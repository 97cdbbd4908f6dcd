//! The gate: decides whether a turn's actions are allowed.
//!
//! Owns the judgement of proposals.
//! INVARIANT: every action of every turn, whatever its cause, passes [`judge`] exactly once before
//! the turn commits; a proposal is all or nothing, so one denial undoes the turn; what [`explain`]
//! refuses beforehand is no action but an attempt, which the record keeps also of an undone turn;
//! the judgement depends only on its arguments, so replay repeats it.
//! It performs nothing and stores nothing.
//! Read next: `record.rs`.
//!
//! Source: SS-01, "Arbitration contract": the proposal is the turn's actions, the snapshot is the
//! state before the turn, the provenance is the principal.

pub mod bench;
mod chain;
pub mod payload;
pub mod question;
pub(crate) mod right;
pub mod visible;

use std::collections::BTreeSet;
use std::fmt;

use smallvec::SmallVec;

use crate::action::{Action, Claims, InvokeTool, Need, SpecialClaims};
use crate::codec_enum;
use crate::gate::bench::Bench;
use crate::gate::chain::{Conveyed, giver};
use crate::model::identity::{ActorId, Counters, Resource};
use crate::model::manifest::Manifest;
use crate::policy::entry::Entries;
use crate::policy::keyed;
use crate::policy::ruling::{Decision, OnFail, Ruling};
use crate::state::before::StateBefore;

/// The principal on whose behalf a turn acts.
#[derive(Clone, Copy, Debug)]
pub struct Principal<'a> {
    /// The actor.
    pub actor: ActorId,
    /// The capabilities of the actor by name.
    pub manifest: &'a Manifest,
}

/// A turn's actions, with the situation in which it proposes them.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The state before the turn.
    pub before: StateBefore<'a>,
    /// The principal that proposes.
    pub principal: Principal<'a>,
    /// The actions, in order.
    pub actions: &'a [Action],
}

/// The judgement of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The action is allowed.
    Allow {},
    /// The action is denied.
    Deny {
        /// The reason.
        reason: Reason,
    },
    /// The action must wait.
    Defer {
        /// The reason.
        reason: Reason,
    },
}
codec_enum!(Verdict "a verdict" { Allow "allow" {} Deny "deny" { reason } Defer "defer" { reason } });

impl Verdict {
    /// Makes a verdict from a ruling.
    pub(crate) fn of(ruling: &Ruling) -> Self {
        let Some(on_fail) = ruling.on_fail else {
            return Self::Allow {};
        };
        let reason = Reason::Policy {
            code: ruling.code.name().to_owned(),
            on_fail: on_fail.name().to_owned(),
            decided_by: ruling.decided_by.clone(),
            detail: ruling.detail.clone(),
        };
        match on_fail.decision() {
            Decision::Defer => Self::Defer { reason },
            Decision::Allow | Decision::Deny => Self::Deny { reason },
        }
    }

    /// Returns the reason why a turn in which `action` has this verdict cannot commit, or `None` if
    /// it can. An action that itself records a postponement expects such a verdict.
    pub fn fault(&self, action: &Action) -> Option<&Reason> {
        match self {
            Self::Defer {
                reason: Reason::Policy { on_fail, .. },
            } if is_put_off_by(action, on_fail) => None,
            Self::Allow {} | Self::Deny { .. } | Self::Defer { .. } => self.reason(),
        }
    }

    /// Returns why the action is not allowed now, if it is not.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Allow {} => None,
            Self::Deny { reason } | Self::Defer { reason } => Some(reason),
        }
    }
}

/// Says whether an action postpones its attempts in the way that policy demands: by asking a
/// person, or until later.
#[expect(clippy::wildcard_enum_match_arm, reason = "only two kinds put anything off")]
fn is_put_off_by(action: &Action, on_fail: &str) -> bool {
    match action {
        Action::Propose(_) => on_fail == OnFail::Ask.name(),
        Action::Postpone(_) => on_fail == OnFail::Defer.name(),
        _ => false,
    }
}

/// The reason for a denial; a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The principal does not have the capability.
    CapabilityMissing {
        /// Its name.
        capability: String,
    },
    /// The principal would grant more than it has.
    CapabilityExceeded {},
    /// A used or ended resource does not exist or belongs to another actor.
    NotOwned {},
    /// The id of a new resource was assigned before.
    NotFresh {},
    /// Policy does not allow the action.
    Policy {
        /// The reason's code.
        code: String,
        /// The consequence: block, ask, defer or degrade.
        on_fail: String,
        /// The key of the entry that decided, if one did.
        decided_by: Option<String>,
        /// More about the reason; may be empty.
        detail: String,
    },
    /// The action records a postponement of attempts that policy allows.
    Unfounded {},
}
codec_enum!(Reason "a reason" {
    CapabilityMissing "capability_missing" { capability }
    CapabilityExceeded "capability_exceeded" {}
    NotOwned "not_owned" {}
    NotFresh "not_fresh" {}
    Policy "policy" { code, on_fail, decided_by, detail }
    Unfounded "unfounded" {}
});

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CapabilityMissing { capability } => write!(f, "the capability `{capability}` was not granted"),
            Self::CapabilityExceeded {} => write!(f, "an actor cannot grant what it was not granted"),
            Self::NotOwned {} => write!(f, "it names something that is not there or belongs to another actor"),
            Self::NotFresh {} => write!(f, "it gives an id that was given before"),
            Self::Policy {
                code,
                on_fail,
                decided_by,
                detail,
            } => {
                write!(f, "{code}, {on_fail}")?;
                decided_by.iter().try_for_each(|key| write!(f, ", by {key}"))?;
                if detail.is_empty() {
                    Ok(())
                } else {
                    write!(f, " ({detail})")
                }
            }
            Self::Unfounded {} => write!(f, "it is said to be put off and would be allowed"),
        }
    }
}

/// Judges each action of a proposal.
pub fn judge(proposal: &Proposal<'_>) -> Vec<Verdict> {
    let has_policy = concerns_policy(proposal, proposal.actions);
    let policy = || Policy {
        bench: Bench::new(*proposal),
        after: after(proposal),
    };
    let mut claims_so_far = TurnClaims {
        proposal: *proposal,
        policy: has_policy.then(|| Box::new(policy())),
        made: Resources::default(),
        ended: Resources::default(),
        conveyed: None,
    };
    proposal
        .actions
        .iter()
        .map(|action| claims_so_far.judge(action))
        .collect()
}

/// Says whether an action adds a keyed entry.
fn is_entry(action: &Action) -> bool {
    let mut done = action.done().iter();
    done.any(|action| matches!(action, Action::Assert(assert) if keyed::of(&assert.value).is_some()))
}

/// Says whether policy applies to actions: if any entries exist, if an action calls a tool that the
/// run describes, or if an action mentions an entry.
fn concerns_policy(proposal: &Proposal<'_>, actions: &[Action]) -> bool {
    let tools = proposal.before.tools();
    let is_described = |call: &InvokeTool| tools.find(&call.tool).is_some();
    let calls_described = |action: &Action| action.call().is_some_and(is_described);
    // Policy already includes an entry that the turn added or removed, but not one in an attempt
    // that was put off.
    let concerns = |part: &Action| calls_described(part) || is_entry(part);
    let is_concerned = |action: &Action| calls_described(action) || action.parts().iter().any(concerns);
    proposal.before.has_policy() || actions.iter().any(is_concerned)
}

/// Computes the entries after a turn.
fn after(proposal: &Proposal<'_>) -> Entries {
    let mut bench = Bench::new(*proposal);
    proposal.actions.iter().for_each(|action| bench.note(action));
    bench.after().clone()
}

/// Returns policy's ruling on attempts that follow the proposal's actions together; [`None`] if
/// policy does not apply to them.
pub fn explain(proposal: &Proposal<'_>, attempts: &[Action], is_approved: bool) -> Option<Ruling> {
    if !concerns_policy(proposal, attempts) && !attempts.iter().any(is_entry) {
        return None;
    }
    let mut bench = Bench::new(*proposal);
    proposal.actions.iter().for_each(|action| bench.note(action));
    bench.rule(attempts, is_approved)
}

/// Bounds the work to judge attempts by the schemas of the tools that they call and of constraints,
/// in steps; more than `steps_max` are only told to be more.
pub fn work(proposal: &Proposal<'_>, attempts: &[Action], steps_max: u64) -> u64 {
    if proposal.before.has_policy() {
        return Bench::new(*proposal).work(attempts, steps_max);
    }
    let tools = proposal.before.tools();
    let mut steps = 0;
    for call in attempts.iter().flat_map(Action::done).filter_map(Action::call) {
        if let Some(tool) = tools.find(&call.tool)
            && steps <= steps_max
        {
            let arguments = payload::to_level(call.payload.view(), tool.levels());
            steps += tool.work(&arguments, payload::text_bytes(call.payload.view()), steps_max - steps);
        }
    }
    steps
}

/// The claims of the proposal's earlier actions.
struct TurnClaims<'a> {
    proposal: Proposal<'a>,
    /// The policy, if there is any; most runs have none.
    policy: Option<Box<Policy<'a>>>,
    made: Resources,
    ended: Resources,
    /// The authorities of the capabilities made so far, if any.
    conveyed: Option<Conveyed>,
}

/// The policy that judges a turn.
struct Policy<'a> {
    bench: Bench<'a>,
    /// The entries after the turn, because policy judges a turn's actions by their joint result.
    after: Entries,
}

/// A set of resources; a linear search is enough for most turns, which make and end few.
#[derive(Default)]
struct Resources {
    few: SmallVec<[Resource; 4]>,
    /// The other resources, if there are more.
    many: Option<BTreeSet<Resource>>,
}

impl Resources {
    fn contains(&self, resource: &Resource) -> bool {
        self.few.contains(resource) || self.many.as_ref().is_some_and(|many| many.contains(resource))
    }

    fn extend(&mut self, resources: &[Resource]) {
        for resource in resources {
            if self.few.len() < self.few.inline_size() {
                self.few.push(*resource);
            } else {
                self.many.get_or_insert_default().insert(*resource);
            }
        }
    }
}

impl TurnClaims<'_> {
    fn judge(&mut self, action: &Action) -> Verdict {
        if let Some(reason) = self.fault(action) {
            return Verdict::Deny { reason };
        }
        let verdict = self.policy_verdict(action);
        if let Some(policy) = &mut self.policy {
            policy.bench.note(action);
        }
        verdict
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the kinds that policy has no special word for are all alike"
    )]
    fn policy_verdict(&self, action: &Action) -> Verdict {
        let (attempts, is_approved, is_put_off) = match action {
            Action::Propose(proposed) => (&proposed.attempts[..], false, true),
            Action::Postpone(postponed) => (&postponed.attempts[..], false, true),
            Action::Admit(admitted) => (&admitted.attempts[..], false, false),
            Action::Approve(approved) => (&approved.attempts[..], true, false),
            action => (std::slice::from_ref(action), false, false),
        };
        let ruling = self.policy.as_ref().and_then(|policy| match is_put_off {
            true => policy.bench.rule(attempts, is_approved),
            false => policy.bench.rule_with(attempts, &policy.after, is_approved),
        });
        match ruling.as_ref().map_or(Verdict::Allow {}, Verdict::of) {
            Verdict::Allow {} if is_put_off => Verdict::Deny {
                reason: Reason::Unfounded {},
            },
            verdict => self.ambiguity(action).map_or(verdict, |ruling| Verdict::of(&ruling)),
        }
    }

    /// Finds an entry for which the turn leaves two values.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only assertions enter anything")]
    fn ambiguity(&self, action: &Action) -> Option<Ruling> {
        // If the turn adds an entry, this map is not empty.
        let after = self.proposal.before.entries_after();
        if after.is_empty() {
            return None;
        }
        let entered = action.done().iter().find_map(|action| match action {
            Action::Assert(assert) => keyed::of(&assert.value),
            _ => None,
        });
        let key = entered?.key;
        let is_ambiguous = after.get(&key).is_some() && after.text(&key).is_none();
        is_ambiguous.then(|| bench::second_text(&key))
    }

    fn fault(&mut self, action: &Action) -> Option<Reason> {
        let claims = action.claims();
        let fault = right::lack(self.proposal.before, self.proposal.principal, action);
        let special = claims.special.as_deref();
        let fault = fault.or_else(|| self.capability_fault(action, special?));
        let fault = fault.or_else(|| self.ownership_fault(&claims));
        self.made.extend(&claims.makes);
        self.ended.extend(&claims.ends);
        if let Some(conveyed) = claims.special.and_then(|special| special.conveys) {
            self.conveyed.get_or_insert_default().extend([conveyed]);
        }
        fault
    }

    fn capability_fault(&self, action: &Action, claims: &SpecialClaims) -> Option<Reason> {
        let (through, wanted) = claims.through.as_ref()?;
        let (before, principal) = (self.proposal.before, self.proposal.principal);
        let missing = |capability| Some(Reason::CapabilityMissing { capability });
        let Some(maker) = giver(before, self.conveyed.as_ref(), principal.actor, *through, wanted) else {
            return missing(through.to_string());
        };
        let Action::Pass(pass) = action else { return None };
        let need = pass.right_of(maker)?;
        is_beyond(before, maker, &need).then(|| missing(through.to_string()))?
    }

    fn ownership_fault(&self, claims: &Claims) -> Option<Reason> {
        let is_owned = |resource: &Resource| {
            !self.ended.contains(resource)
                && (self.made.contains(resource) || self.proposal.before.owns(self.proposal.principal.actor, *resource))
        };
        if !claims.uses.iter().chain(&claims.ends).all(is_owned) {
            return Some(Reason::NotOwned {});
        }
        let is_fresh = |resource: &Resource| {
            !self.made.contains(resource) && is_unused(self.proposal.before.counters(), *resource)
        };
        if !claims.makes.iter().all(is_fresh) {
            return Some(Reason::NotFresh {});
        }
        None
    }
}

/// Says whether a right is beyond what an actor has, who made a capability.
pub(crate) fn is_beyond(before: StateBefore<'_>, maker: ActorId, need: &Need<'_>) -> bool {
    let Some(manifest) = before.manifest(maker) else {
        return true;
    };
    let principal = Principal { actor: maker, manifest };
    right::lack_of(before, principal, need).is_some()
}

/// Says whether the id of `resource` is not assigned yet.
fn is_unused(counters: &Counters, resource: Resource) -> bool {
    match resource {
        Resource::Actor(id) => id.0 >= counters.actors,
        Resource::Facet(id) => id.0 >= counters.facets,
        Resource::Handle(id) => id.0 >= counters.handles,
        Resource::Observer(id) => id.0 >= counters.observers,
        Resource::Wait(id) => id.0 >= counters.waits,
        Resource::Fiber(id) => id.0 >= counters.fibers,
        Resource::Request(id) => id.0 >= counters.requests,
        Resource::Capability(id) => id.0 >= counters.capabilities,
    }
}

#[cfg(test)]
mod tests;
