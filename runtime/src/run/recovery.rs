//! Opening a run to continue it, and the fate of requests that were in flight.
//!
//! INVARIANT: a call whose tool may not be repeated is never made twice; its answer is the recorded
//! result, or that it was interrupted.
//! It does not look for results; `inflight.rs` does.
//! Read next: `inflight.rs`.

use std::collections::BTreeMap;

use duet_journal::{Epoch, Sequence, Store};

use crate::driver::{Effect, EffectKind, Input};
use crate::model::identity::RequestId;
use crate::run::error::RunError;
use crate::run::inflight::{self, FoundCall, Lines, Memory, Recalled, Recovery, is_declared};
use crate::run::input::{INTERRUPTED, answered, interrupted};
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{BranchClaim, HeldBranch, Source, genesis};
use crate::run::{Run, Step};
use crate::state::request::Question;
use crate::turn::program::Programs;

/// The maximum number of turns that [`Run::catch_up`] takes besides those that waited.
const SET_OFF_MAX: usize = 256;

impl Run {
    /// Opens a branch at its head to continue it: loads the newest snapshot, replays the turns
    /// after it, and recovers requests in flight.
    ///
    /// The run holds the effects to be repeated until the next flush.
    ///
    /// # Errors
    /// [`RunError`]; a divergence if the program is not the one that was recorded.
    pub fn open(
        store: &mut dyn Store,
        claim: BranchClaim<'_>,
        programs: impl Programs,
        policy: SnapshotPolicy,
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let held = claim.take(store)?;
        Self::open_held(store, held, programs, policy, recovery)
    }

    /// Opens a further branch of a run as [`open`](Self::open) does, for the owner of the run, under
    /// the epoch that it holds.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_held(
        store: &mut dyn Store,
        held: HeldBranch<'_>,
        programs: impl Programs,
        policy: SnapshotPolicy,
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let HeldBranch { run, branch, epoch } = held;
        let source = Source { store, run, branch };
        let genesis = genesis(&source.record(Sequence::FIRST)?)?;
        let restored = source.restore_begun(genesis, programs)?;
        restored.take_up(&source, epoch, policy, recovery)
    }

    /// Takes snapshots by this policy from now on.
    pub(crate) fn set_snapshot_policy(&mut self, policy: SnapshotPolicy) {
        self.policy = policy;
    }

    /// Makes a run that was restored from a source ready to continue, under the epoch of a claim:
    /// decides about requests in flight as [`open`](Self::open) does.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`].
    pub fn take_up(
        mut self,
        source: &Source<'_>,
        epoch: Epoch,
        policy: SnapshotPolicy,
        recovery: &Recovery,
    ) -> Result<Self, RunError> {
        let known = inflight::answers(source, &self.state)?;
        let kept = inflight::contents(source, &self.state)?;
        self.epoch = epoch;
        self.policy = policy;
        self.memory = inflight::Memory::at(self.head, recovery);
        self.recover(recovery, known, kept);
        Ok(self)
    }

    /// Decides about each open request: the run answers it as another branch did, asks it again
    /// under the same id and key, or answers it with a failure.
    fn recover(
        &mut self,
        recovery: &Recovery,
        mut known: BTreeMap<RequestId, inflight::Outcome>,
        mut kept: BTreeMap<RequestId, EffectKind>,
    ) {
        let open = self
            .state
            .requests
            .iter()
            .filter(|(_, request)| request.answer.is_none());
        let mut again = Vec::new();
        let (mut recorded, mut lost) = (Vec::new(), Vec::new());
        for (id, request) in open {
            let is_afresh = recovery.afresh.contains(id);
            if is_reversible(recovery, &request.question) && !is_afresh {
                let outcome = known.remove(id);
                if request.kept.is_some() || outcome.is_some() {
                    self.memory.resumed.insert(*id, outcome);
                }
            }
            if let Some(outcome) = known.remove(id).filter(|_| !is_afresh) {
                recorded.push(answered(*id, outcome));
                continue;
            }
            match &request.question {
                Question::Tool { name, payload }
                    if !is_afresh
                        && !recovery.repeatable.contains(name)
                        && !is_declared(&recovery.declaring, name, payload) =>
                {
                    lost.push(interrupted(*id));
                }
                Question::Tool { .. }
                | Question::Deferred { .. }
                | Question::Approve { .. }
                | Question::Read { .. }
                | Question::Timer { .. }
                | Question::Postponed { .. }
                | Question::Limit { .. }
                | Question::Deadline { .. }
                | Question::Ask { .. } => {
                    let kinds = request.question.effect().into_iter().chain(kept.remove(id));
                    again.extend(kinds.map(|kind| Effect {
                        request: *id,
                        key: request.key.clone(),
                        asking: None,
                        kind: with_deadline(kind, recovery.deadlines.get(id).copied()),
                    }));
                }
            }
        }
        self.hold(again);
        // Timers that ran out while no process executed the run come between them.
        for answer in recorded.into_iter().chain(lost) {
            self.deliver(answer);
        }
    }

    /// Says whether effects wait for the next flush, as the repeated ones of a run that was opened.
    pub fn holds_effects(&self) -> bool {
        !self.unflushed.effects().is_empty()
    }

    /// Queues a timer that ran out while no process executed the run, behind the results that
    /// other branches recorded in its time and before all that came later: that a call was lost
    /// shows only now.
    pub fn deliver_overdue(&mut self, timer: Input) {
        let in_time = |input: &Input| is_recorded(input) || matches!(input, Input::Elapsed { .. });
        let place = self.inbox.inputs.iter().take_while(|input| in_time(input)).count();
        self.inbox.inputs.insert(place, timer);
    }

    /// Takes the turns of all inputs that wait, and of what they set off, except of actors that
    /// never rest.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn catch_up(&mut self) -> Result<(), RunError> {
        let waiting = self.inbox.inputs.len() + self.state.queue.len();
        for _ in 0..waiting + SET_OFF_MAX {
            if self.step()? != Step::Turn {
                break;
            }
        }
        Ok(())
    }
}

/// Lets a timer go on with its deadline.
fn with_deadline(kind: EffectKind, deadline_ms: Option<u64>) -> EffectKind {
    match (kind, deadline_ms) {
        (EffectKind::Timer { delay_ms }, Some(at_ms)) => EffectKind::Alarm { at_ms, delay_ms },
        (kind, _) => kind,
    }
}

/// Says whether an input is a result that another branch recorded.
fn is_recorded(input: &Input) -> bool {
    let Input::ToolResult { outcome, .. } = input else {
        return false;
    };
    outcome.as_ref().err().is_none_or(|failure| failure.kind != INTERRUPTED)
}

/// Says whether a request is a call whose effect may have been undone since.
fn is_reversible(recovery: &Recovery, question: &Question) -> bool {
    matches!(question, Question::Tool { name, .. } if recovery.reversible.contains(name))
}

impl Run {
    /// Answers the calls among durable effects that were made before, and returns the other
    /// effects.
    ///
    /// A call was made before if it repeats one of the branch's past, which happens when the run
    /// was rewound. Results come in the order in which they came there. Tools that may be repeated
    /// are called again, and so are the calls that [`Recovery::afresh`] names. A call without a
    /// known result is made again if its payload lets it, else answered as interrupted.
    ///
    /// # Errors
    /// [`RunError::Store`], [`RunError::Decode`]; then nothing was answered.
    pub fn recall(&mut self, store: &dyn Store, effects: Vec<Effect>) -> Result<Vec<Effect>, RunError> {
        let (name, branch) = (self.run.clone(), self.branch.clone());
        let source = Source {
            store,
            run: &name,
            branch: &branch,
        };
        let (mut others, mut replies) = (Vec::new(), Vec::new());
        for effect in effects {
            let found = if let EffectKind::Tool { name, .. } = &effect.kind
                && !self.memory.repeatable.contains(name)
                && !self.memory.afresh.contains(&effect.request)
            {
                let found = self.memory.find(&source, effect.request)?;
                found.map(|found| (name.clone(), found))
            } else {
                None
            };
            let Some((tool, FoundCall { turn, branch, result })) = found else {
                others.push(effect);
                continue;
            };
            let is_known = result.is_some();
            if !is_known && is_declared_effect(&self.memory, &effect.kind) {
                others.push(effect);
                continue;
            }
            self.memory.recalled.push(Recalled {
                tool,
                turn,
                branch,
                is_known,
            });
            replies.push(match result {
                Some(result) => (Some(result.turn), answered(effect.request, result.outcome)),
                None => (None, interrupted(effect.request)),
            });
        }
        // Interrupted calls come last.
        replies.sort_by_key(|(turn, _)| (turn.is_none(), *turn));
        replies.into_iter().for_each(|(_, reply)| self.deliver(reply));
        Ok(others)
    }

    /// Makes all calls from this point on, including those that were made before.
    pub fn call_again(&mut self) {
        self.memory.lines = Lines::default();
    }

    /// Returns the calls that the run did not repeat since the last call of this function.
    pub fn take_recalled(&mut self) -> Vec<Recalled> {
        std::mem::take(&mut self.memory.recalled)
    }
}

/// Says whether an effect is a call whose payload declares that it may be made again.
fn is_declared_effect(memory: &Memory, kind: &EffectKind) -> bool {
    matches!(kind, EffectKind::Tool { name, payload } if is_declared(&memory.declaring, name, payload))
}
