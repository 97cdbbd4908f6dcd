//! The shadow of a run: its state without its programs, advanced by its records.
//!
//! Owns performing recorded actions on a state whose procedures are blanks, and the lists of facts
//! that each record makes appear and disappear.
//! INVARIANT: after each record the shadow holds the facts that the run held after that turn.
//! It has no reliable queue or counters, and runs nothing; `../run/replay.rs` restores those.
//! Read next: `relation.rs`.

use std::collections::BTreeMap;

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, Record, RecordHash, Sequence};

use crate::action::Action;
use crate::model::identity::{ActorId, Callable, Namer};
use crate::model::value::Fact;
use crate::record::{Outcome, TurnRecord};
use crate::run::error::RunError;
use crate::run::source::{Source, decode_closed_turn, decode_turn, genesis};
use crate::run::{initial_state, snapshot};
use crate::state::RunState;
use crate::state::draft::{Draft, Lineage};
use crate::state::event::Event;
use crate::state::patches::Patched;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// The maximum number of records in one read from the store.
const PORTION: u64 = 256;

/// The facts that a turn changed, as other actors see them after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Facts that appeared, in the order of their bytes, each with the actor that asserts it.
    pub appeared: Vec<(Fact, ActorId)>,
    /// Facts that disappeared, in the order of their bytes.
    pub disappeared: Vec<Fact>,
    /// The tools whose answers it received; `None` for an answer to a request that is gone.
    pub answered: Vec<Option<String>>,
}

impl Changes {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.appeared.is_empty() && self.disappeared.is_empty()
    }
}

/// A run's state according to its records.
pub struct Shadow {
    state: Box<RunState>,
    names: Namer,
    newest: RecordHash,
    sequence: Sequence,
}

impl Shadow {
    /// Makes a shadow right after the first record of a run.
    ///
    /// # Errors
    /// [`RunError::NotARun`].
    pub fn begin(first: &Record) -> Result<Self, RunError> {
        let state = initial_state(&genesis(first)?);
        Ok(Self::with_state(state, first))
    }

    /// Makes a shadow at a turn of a branch, from the newest snapshot before it.
    ///
    /// # Errors
    /// [`RunError::NoTurn`], [`RunError::Store`], [`RunError::Snapshot`].
    pub fn at(source: &Source<'_>, turn: Sequence) -> Result<Self, RunError> {
        let nearest = source.nearest_snapshot(turn)?;
        let mut shadow = match nearest.snapshot {
            Some(record) => Self::with_state(snapshot::state_of(source, &record)?, &record),
            None => Self::begin(&source.record(Sequence::FIRST)?)?,
        };
        let mut opener = Opener::new(source.store);
        for record in nearest.after {
            let record = opener.join(record)?;
            shadow.apply(&record, &decode_closed_turn(&record)?)?;
        }
        shadow.advance(source, turn, |_, _, _| Ok(()))?;
        Ok(shadow)
    }

    fn with_state(state: RunState, record: &ClosedRecord) -> Self {
        Self {
            state: Box::new(state),
            names: Namer::new(record.header().run.as_str()),
            newest: record.hash(),
            sequence: record.header().sequence,
        }
    }

    /// Advances to a turn of the branch, and calls `visit` with each turn on the way and its
    /// changes.
    ///
    /// # Errors
    /// [`RunError`]; also an error from `visit`, which stops it.
    pub fn advance(
        &mut self,
        source: &Source<'_>,
        to: Sequence,
        mut visit: impl FnMut(&Record, &TurnRecord, &Changes) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        while self.sequence < to {
            let from = self.sequence.next().ok_or(RunError::Full)?;
            let end = to.number().min(self.sequence.number() + PORTION) + 1;
            for record in source.read(from, end)? {
                let record = record?;
                let turn = decode_turn(&record)?;
                let changes = self.apply(&record, &turn)?;
                visit(&record, &turn, &changes)?;
            }
        }
        Ok(())
    }

    /// Applies a record's turn to the state, and returns the changes.
    ///
    /// # Errors
    /// [`RunError::Refused`] if the record does not fit the ones before it.
    pub fn apply(&mut self, record: &ClosedRecord, turn: &TurnRecord) -> Result<Changes, RunError> {
        let mut state = std::mem::take(&mut self.state);
        state.begin_turn();
        let lineage = Lineage {
            branch: None,
            newest: Some(self.newest),
            said: None,
        };
        let mut draft = Draft::new(state, turn.actor, self.names.clone(), lineage);
        draft.turn = record.header().sequence;
        let answered = answered(&draft.state, turn);
        let performed = perform(&mut draft, turn);
        let changes = Changes {
            answered,
            ..changes(&draft.state)
        };
        self.state = draft.state;
        self.state.commit_turn();
        performed.map_err(RunError::Refused)?;
        (self.newest, self.sequence) = (record.hash(), record.header().sequence);
        Ok(changes)
    }

    /// Returns the current facts, in the order of Preserves.
    pub fn facts(&self) -> Vec<preserves::IOValue> {
        self.state.dataspace.facts().into_iter().map(|(fact, _)| fact).collect()
    }

    /// Returns the state, whose facts, roles and end are those of the run.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the changed texts that the run has taken on, the oldest first.
    pub fn patches(&self) -> &[Patched] {
        &self.state.patches
    }

    /// Returns the record of the shadow's newest turn.
    pub fn newest(&self) -> RecordHash {
        self.newest
    }

    /// Returns the shadow's newest turn.
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }
}

/// The tools whose answers a turn received.
fn answered(state: &RunState, turn: &TurnRecord) -> Vec<Option<String>> {
    let mut answered = Vec::new();
    for event in &turn.events {
        let Event::Answered { request, .. } = event else {
            continue;
        };
        match state.requests.get(request).map(|request| &request.question) {
            None => answered.push(None),
            Some(Question::Tool { name, .. }) => answered.push(Some(name.clone())),
            Some(_) => {}
        }
    }
    answered
}

/// Performs a turn's actions, and the changes that its events make by themselves.
fn perform(draft: &mut Draft, turn: &TurnRecord) -> Result<(), Refusal> {
    match &turn.outcome {
        Outcome::Committed {} => {
            for (position, event) in (0..).zip(&turn.events) {
                if !turn.dropped.contains(&position) {
                    receive(draft, event)?;
                }
            }
        }
        // A failure without an exit ended in a session only what the lost events led to.
        Outcome::Failed { .. } if !turn.actions.iter().any(|action| matches!(action, Action::Exit(_))) => {
            for (_, event) in (0..).zip(&turn.events).filter(|(at, _)| turn.dropped.contains(at)) {
                draft.lose(event)?;
            }
        }
        Outcome::Failed { .. } => {}
    }
    turn.actions.iter().try_for_each(|action| act(draft, action))
}

/// Changes the state as the receipt of an event does.
fn receive(draft: &mut Draft, event: &Event) -> Result<(), Refusal> {
    match event {
        Event::Resume { fiber } => {
            // The fiber may have ended with its facet.
            let _ = draft.unpark(*fiber);
        }
        Event::Answered { request, outcome } => {
            if let Some(request) = draft.state.requests.get_mut(request) {
                request.answer.get_or_insert_with(|| outcome.clone());
            }
        }
        Event::Abandon {} => {
            draft.abandon_interactions()?;
        }
        Event::Evaluate { .. } => draft.state.is_session = true,
        Event::Ended { actor, .. } => {
            draft.take_monitor(*actor)?;
        }
        Event::Failed { fiber, .. } => {
            draft.fail_guarded(*fiber)?;
        }
        Event::Boot {}
        | Event::Added { .. }
        | Event::Removed { .. }
        | Event::Message { .. }
        | Event::Closed { .. }
        | Event::Direct { .. }
        | Event::Settled { .. }
        | Event::Sync { .. }
        | Event::Kept { .. }
        | Event::Due { .. }
        | Event::Prepared { .. }
        | Event::Reconsider { .. }
        | Event::Orphaned { .. }
        | Event::Terminate {}
        | Event::Merged { .. }
        | Event::Told { .. }
        | Event::Joined { .. }
        | Event::Granted { .. }
        | Event::Patched { .. }
        | Event::Restart {}
        | Event::Restarted { .. }
        | Event::Given { .. }
        | Event::Taken { .. }
        | Event::Said { .. } => {}
    }
    Ok(())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "two kinds concern fibers, which no other one wakes or puts away in several"
)]
fn act(draft: &mut Draft, action: &Action) -> Result<(), Refusal> {
    let (callables, woken) = match action {
        Action::Wait(wait) => (wait.conditions.len() + 1, None),
        Action::Resume(resume) => (0, draft.acting()?.waits.get(&resume.wait).map(|wait| wait.fiber)),
        _ => (CALLABLES_MAX, None),
    };
    draft.callables = std::iter::repeat_n(Callable(0), callables).collect();
    action.perform(draft)?;
    if let Some(fiber) = woken {
        let _ = draft.unpark(fiber);
    }
    Ok(())
}

/// The maximum number of procedures that an action other than a wait takes.
const CALLABLES_MAX: usize = 4;

/// Compares the facts with those at the beginning of the turn.
fn changes(state: &RunState) -> Changes {
    let mut net: BTreeMap<&Fact, (i64, ActorId)> = BTreeMap::new();
    for (handle, before) in state.held.noted() {
        if let Some(held) = before {
            net.entry(&held.fact).or_insert((0, held.actor)).0 -= 1;
        }
        if let Some(held) = state.held.get(handle) {
            let entry = net.entry(&held.fact).or_insert((0, held.actor));
            *entry = (entry.0 + 1, held.actor);
        }
    }
    let mut changes = Changes::default();
    for (fact, (difference, actor)) in net {
        let now = i64::try_from(state.dataspace.count(fact)).unwrap_or(i64::MAX);
        match (now - difference, now) {
            (..=0, 1..) => changes.appeared.push((fact.clone(), actor)),
            (1.., ..=0) => changes.disappeared.push(fact.clone()),
            _ => {}
        }
    }
    changes
}
