//! Rights: what the acting actor may do, asked before it acts, and the record of a denied attempt.
//!
//! INVARIANT: an action for which the actor lacks a right has no effect but the record of the
//! attempt.
//! It does not judge; `../../gate/right.rs` does.
//! Read next: `../../gate/right.rs`.

use duet_journal::PackedValue;
use preserves::IOValue;

use super::Activation;
use crate::action::{Action, Need, Note, Observe};
use crate::capability::Authority;
use crate::dataspace::pattern::{PackedPattern, Pattern};
use crate::gate::{self, Principal, Reason, Verdict, right};
use crate::model::codec::Codec;
use crate::model::failure::Failure;
use crate::model::identity::CapabilityId;
use crate::model::manifest::{Extent, Right};
use crate::model::value::Fact;
use crate::record::Attempt;
use crate::state::refusal::Refusal;
use crate::turn::module_limit::ModuleLimit;

/// The maximum length in bytes of the attempts in a turn's record, which leaves room for the rest.
const ATTEMPTED_BYTES_MAX: usize = 16 << 20;

impl Activation {
    /// Finds the right that an action needs and the actor lacks.
    #[inline]
    pub(super) fn lack(&self, action: &Action) -> Option<Reason> {
        let needs = action.needs();
        if needs.is_empty() {
            return None;
        }
        self.with_proposal(|proposal| {
            let mut needs = needs.iter();
            needs.find_map(|need| right::lack_of(proposal.before, proposal.principal, need))
        })
    }

    /// Limits the next actions to what modules list whose code runs.
    pub(crate) fn limit_to(&mut self, limits: Vec<ModuleLimit>) {
        self.limits_of_modules = limits;
    }

    /// Requires that each module whose code runs lists what the attempts need.
    ///
    /// # Errors
    /// [`Refusal::NotListed`]; the attempts are on record.
    pub(super) fn require_listed(&mut self, attempts: &[Action]) -> Result<(), Refusal> {
        if self.limits_of_modules.is_empty() {
            return Ok(());
        }
        let needs = attempts.iter().flat_map(Action::needs);
        let unlisted = needs
            .into_iter()
            .find_map(|need| Some((self.unlisted(&need)?, right::reason(&need))));
        let Some(((module, capability), reason)) = unlisted else {
            return Ok(());
        };
        self.note_attempt(attempts.to_vec(), Verdict::Deny { reason });
        Err(Refusal::NotListed { capability, module })
    }

    /// Finds the module whose code runs and that does not list a need, and the capability.
    fn unlisted(&self, need: &Need<'_>) -> Option<(String, String)> {
        let actor = self.draft.actor;
        let mut limits = self.limits_of_modules.iter();
        let limit = limits.find(|limit| {
            let manifest = &limit.listed;
            !right::is_met(Principal { actor, manifest }, need)
        })?;
        let capability = match need {
            Need::Manifest(granted) => right::excess(&limit.listed, granted),
            Need::Capability(_) | Need::Value(..) | Need::Observe(_) | Need::Some(_) | Need::Reach(_) => {
                right::name(need).map(str::to_owned)
            }
        };
        Some((limit.module.clone(), capability.unwrap_or_default()))
    }

    /// Finds the right that attempts need and the actor lacks.
    pub(super) fn lack_of_all(&self, attempts: &[Action]) -> Option<Reason> {
        attempts.iter().find_map(|attempt| self.lack(attempt))
    }

    /// Returns whether the actor has a right.
    pub(crate) fn holds(&self, need: &Need<'_>) -> bool {
        self.unlisted(need).is_none()
            && self.with_proposal(|proposal| right::lack_of(proposal.before, proposal.principal, need).is_none())
    }

    /// Records attempts for which the actor lacks a right; returns the reason for the program.
    pub(super) fn refuse(&mut self, attempts: Vec<Action>, lack: Reason) -> Refusal {
        let unused = self.draft.callables.take_rest();
        self.draft.outbox.released.extend(unused);
        let refusal = self.refusal(&attempts, lack.clone());
        self.note_attempt(attempts, Verdict::Deny { reason: lack });
        refusal
    }

    /// Lists what the gate has refused among the turn's attempts, as far as a record has room.
    pub(super) fn note_attempt(&mut self, actions: Vec<Action>, verdict: Verdict) {
        let attempt = Attempt {
            event: Some(self.event),
            actions,
            verdict,
        };
        let length_bytes = PackedValue::write(|out| attempt.write(out)).map(|packed| packed.as_bytes().len());
        self.attempted_bytes = self.attempted_bytes.saturating_add(length_bytes.unwrap_or(usize::MAX));
        if self.attempted_bytes <= ATTEMPTED_BYTES_MAX {
            self.turn.attempts.push(attempt);
        }
        self.count_attempt();
    }

    /// Checks that the record lists all attempts of the turn. A turn that stopped for a reason
    /// outside the program stays stopped for that.
    pub(super) fn check_attempts(&self, ended: Result<(), Failure>) -> Result<(), Failure> {
        match ended {
            Err(failure) if failure.is_from_outside() => Err(failure),
            _ if self.attempted_bytes > ATTEMPTED_BYTES_MAX => {
                let message = format!("the refused attempts of the turn have more than {ATTEMPTED_BYTES_MAX} bytes");
                Err(Failure::new("turn-too-large", message))
            }
            ended => ended,
        }
    }

    fn refusal(&self, attempts: &[Action], lack: Reason) -> Refusal {
        let Reason::CapabilityMissing { capability } = lack else {
            let manifest_of = |need| {
                if let Need::Manifest(manifest) = need {
                    Some(manifest)
                } else {
                    None
                }
            };
            let granted = attempts.iter().flat_map(Action::needs).find_map(manifest_of);
            let excess = self.with_proposal(|proposal| right::excess(proposal.principal.manifest, granted?));
            let capability = excess.unwrap_or_default();
            return Refusal::Excess { capability };
        };
        let limit = self.with_proposal(|proposal| {
            let manifest = proposal.principal.manifest;
            let right = Right::of_name(&capability).filter(|right| manifest.extent(*right) == Extent::Limited)?;
            let limits = manifest.limited().filter(|limited| limited.right == right);
            let limits: Vec<String> = limits.map(|limited| format!("{:?}", limited.pattern)).collect();
            Some(limits.join(" or "))
        });
        Refusal::NotGranted { capability, limit }
    }

    /// Checks that the actor may observe everything that a pattern matches.
    ///
    /// # Errors
    /// [`Refusal::NotGranted`]; the attempt is on record. [`Refusal::Value`].
    pub(crate) fn require_observing(&mut self, pattern: &Pattern) -> Result<(), Refusal> {
        let pattern = PackedPattern::of(pattern)?;
        if self.holds(&Need::Observe(&pattern)) {
            return Ok(());
        }
        let counters = &mut self.draft.state.counters;
        let (observer, handle) = (counters.observer(), counters.handle());
        let facet = self.facet();
        self.perform(Observe {
            facet,
            observer,
            handle,
            pattern,
        })
    }

    /// Returns whether the maker of a capability has the right to do what goes through it.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Value`].
    pub(super) fn is_within(&self, via: CapabilityId, authority: &Authority, value: &IOValue) -> Result<bool, Refusal> {
        let maker = self.draft.state.maker(via).map_err(|_| Refusal::Revoked(via))?;
        let right = match authority {
            Authority::Dataspace {} => Right::Assert,
            Authority::Facet { actor, .. } if *actor != maker => Right::Message,
            Authority::Facet { .. } | Authority::Tool { .. } | Authority::Capability { .. } => return Ok(true),
        };
        let before = self.draft.state.before();
        let manifest = before.manifest(maker);
        if manifest.is_some_and(|manifest| manifest.extent(right) == Extent::Whole) {
            return Ok(true);
        }
        let value = Fact::new(value.clone())?;
        Ok(!gate::is_beyond(before, maker, &Need::Value(right, &value)))
    }

    /// Shows a line of the runtime about the actor.
    pub(super) fn note(&mut self, text: String) -> Result<(), Refusal> {
        let request = self.draft.state.counters.request();
        self.perform(Note { request, text })
    }
}
