//! A run of changed code that receives the answers of an earlier run by what it asks.
//!
//! Owns the order in which recorded answers are given, and the comparison of what both runs ask.
//! INVARIANT: nothing is written and nothing leaves the process. A request receives an answer only
//! if the same actor asked the same with the same arguments; a recorded failure also requires the
//! same definition and the same count.
//! It does not compile and does not go on in the world; the caller does.
//! Read next: `../record/key.rs`, `rerun/comparison.rs`.

pub(in crate::history) mod unmatched;
pub mod comparison;

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{Blob, Epoch, Sequence, Store};
use preserves::IOValue;

use self::comparison::Comparison;
use super::input::{RecordedInput, answer, said_by};
use crate::action::exit::MAIN;
use crate::driver::{EffectKind, Input};
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, RequestId};
use crate::record::key::{Key, Ledger, LedgerEvent, LedgerRequest, Outcomes};
use crate::run::error::RunError;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::{DriveOutcome, INTERRUPTED, Run, Start, Step, tool_failure};
use crate::state::event::Event;
use crate::turn::program::Programs;

/// The turns after which a run that never rests receives the next recorded input all the same.
const RESTLESS_TURNS: usize = 1024;

/// A recording, and the part of it that counts.
pub struct Recorded {
    /// What the earlier run asked, heard and showed.
    pub ledger: Ledger,
    /// The kinds of recorded failures that are not given again.
    pub retried: BTreeSet<String>,
    /// The requests whose answers are not given again, because what they asked about has changed.
    pub outdated: BTreeSet<RequestId>,
}

/// How long a run does what was recorded, turn by turn. The order of an input and of what waits in
/// the run decides what a program sees, so unchanged code asks the same again only if each input
/// comes in the turn in which it came.
#[derive(Default)]
struct Lockstep {
    /// Whether the run has done something else, or in another turn.
    is_lost: bool,
    /// The numbers of turns and requests that were compared.
    turns: usize,
    asked: usize,
    /// The number of recorded events of the turns so far.
    heard: usize,
}

/// A run of changed code on its way through what was recorded.
pub struct Rerun {
    run: Run,
    recorded: Ledger,
    retried: BTreeSet<String>,
    outdated: BTreeSet<RequestId>,
    /// Which of the recorded events need no second look.
    used: Vec<bool>,
    /// The recorded request with a number.
    numbers: BTreeMap<RequestId, usize>,
    /// The recorded request with a key.
    keys: BTreeMap<Key, usize>,
    /// The recorded requests with a question, whatever the definition and the count, in order.
    questions: BTreeMap<Key, Vec<usize>>,
    /// The recorded events that end or change a request, in order.
    events: BTreeMap<RequestId, Vec<usize>>,
    /// The recorded events that can be given as soon as something waits for them: those that no
    /// request asked for, and those of requests for which a new one stands.
    due: BTreeSet<usize>,
    /// The new requests without a recorded one that were open when they were last looked at.
    unmet: BTreeSet<usize>,
    /// The new request that receives the answer of a recorded one.
    taken: Vec<Option<usize>>,
    /// The recorded request whose answer a new one receives.
    met: Vec<Option<usize>>,
    /// Why recorded restarts failed that were tried.
    failed: BTreeMap<usize, Box<Failure>>,
    /// How far the run has done what was recorded, turn by turn.
    lockstep: Lockstep,
    /// The recorded input that was given last.
    given: Option<usize>,
    /// The turns since the run rested last.
    restless: usize,
}

/// The result of some turns of a [`Rerun`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The run goes on.
    More,
    /// Nothing that was recorded can be given any more.
    Live,
    /// The run has ended.
    Ended {
        /// Its exit code.
        code: u64,
    },
}

impl Rerun {
    /// Begins a run of changed code.
    ///
    /// # Errors
    /// [`RunError`] if its first record is too large.
    pub fn begin(start: Start, programs: impl Programs, recorded: Recorded) -> Result<Self, RunError> {
        let mut run = Run::unclaimed(start, programs)?;
        run.keep_ledger(|_| false);
        let Recorded {
            ledger,
            retried,
            outdated,
        } = recorded;
        let (mut numbers, mut keys) = (BTreeMap::new(), BTreeMap::new());
        let mut questions: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (index, asked) in ledger.asked.iter().enumerate() {
            numbers.insert(asked.request, index);
            keys.insert(asked.key.clone(), index);
            questions.entry(asked.key.question()).or_default().push(index);
        }
        let (mut events, mut due) = (BTreeMap::<RequestId, Vec<usize>>::new(), BTreeSet::new());
        for (at, heard) in ledger.heard.iter().enumerate() {
            match request_of(&heard.event) {
                Some(request) => events.entry(request).or_default().push(at),
                None => {
                    due.insert(at);
                }
            }
        }
        Ok(Self {
            run,
            used: vec![false; ledger.heard.len()],
            taken: vec![None; ledger.asked.len()],
            met: Vec::new(),
            failed: BTreeMap::new(),
            lockstep: Lockstep::default(),
            given: None,
            restless: 0,
            recorded: ledger,
            retried,
            outdated,
            numbers,
            keys,
            questions,
            events,
            due,
            unmet: BTreeSet::new(),
        }
        .without_retried())
    }

    /// Takes snapshots, for a branch that is to be written.
    #[must_use]
    pub fn with_snapshots(mut self, policy: SnapshotPolicy) -> Self {
        self.run.set_snapshot_policy(policy);
        self
    }

    /// Drops the recorded answers that are not given again, with their requests. A call whose
    /// result nobody knows counts as one that was interrupted.
    fn without_retried(mut self) -> Self {
        if self.retried.contains(INTERRUPTED) {
            let outcomes = self.recorded.outcomes();
            let is_lost = |asked: &&LedgerRequest| is_lost(&outcomes, asked);
            let lost: Vec<Key> = self
                .recorded
                .asked
                .iter()
                .filter(is_lost)
                .map(|asked| asked.key.clone())
                .collect();
            for key in lost {
                self.keys.remove(&key);
            }
        }
        for at in 0..self.recorded.heard.len() {
            let Event::Answered { request, outcome } = &self.recorded.heard[at].event else {
                continue;
            };
            let failure = outcome.as_ref().err().and_then(tool_failure);
            let is_retried = failure.is_some_and(|failure| self.retried.contains(&failure.kind));
            if (is_retried || self.outdated.contains(request))
                && let Some(index) = self.numbers.get(request)
            {
                self.keys.remove(&self.recorded.asked[*index].key);
                self.used[at] = true;
            }
        }
        self
    }

    /// Takes turns, at most this many. As long as the run asks what was recorded in the same turns,
    /// it receives inputs in the turns in which they came; later, whenever it rests.
    ///
    /// # Errors
    /// [`RunError`]; failures of the store, from which the contents come that calls replaced.
    pub fn go_on(&mut self, turns: usize, store: &dyn Store) -> Result<Progress, RunError> {
        for _ in 0..turns {
            let step = match self.step(store) {
                // The restart left no trace, so the actor goes on as it was.
                Err(RunError::Restart(failure)) => {
                    self.failed.extend(self.given.map(|at| (at, failure)));
                    continue;
                }
                step => step?,
            };
            self.meet();
            match step {
                Step::Turn if self.restless < RESTLESS_TURNS => self.restless += 1,
                Step::Turn => {
                    self.restless = 0;
                    self.give(store)?;
                }
                Step::Idle => {
                    self.restless = 0;
                    if !self.give(store)? {
                        return Ok(self.at_rest());
                    }
                }
                Step::Ended { code } => return Ok(Progress::Ended { code }),
            }
        }
        Ok(Progress::More)
    }

    /// Takes the next turn: that of the inputs which came in the recorded turn of its number, or
    /// whatever is next in the run.
    fn step(&mut self, store: &dyn Store) -> Result<Step, RunError> {
        let together = self.recorded_inputs(store)?;
        if let Some(step) = self.run.take_together(together)? {
            return Ok(step);
        }
        self.run.step()
    }

    /// Takes the inputs that came in the recorded turn whose number the next one has; none if the
    /// run does something else by now.
    fn recorded_inputs(&mut self, store: &dyn Store) -> Result<Vec<Input>, RunError> {
        let Some(now) = self
            .run
            .head()
            .map(|head| head.sequence)
            .filter(|_| !self.lockstep.is_lost)
        else {
            return Ok(Vec::new());
        };
        let heard = &self.recorded.heard;
        let after = |turn: Sequence, from: usize| from + heard[from..].partition_point(|event| event.turn <= turn);
        let first = after(now, self.lockstep.heard);
        let end = now.next().map_or(first, |next| after(next, first));
        let mut inputs = Vec::new();
        self.lockstep.is_lost = !self.does_as_recorded(now);
        for at in first..end {
            if self.lockstep.is_lost {
                return Ok(Vec::new());
            }
            let input = if self.used[at] {
                None
            } else {
                self.input(at, false, store)?
            };
            self.lockstep.is_lost = input.is_none();
            inputs.extend(input);
        }
        if self.lockstep.is_lost {
            return Ok(Vec::new());
        }
        self.lockstep.heard = end;
        for at in first..end {
            self.used[at] = true;
            self.due.remove(&at);
            self.given = Some(at);
        }
        Ok(inputs)
    }

    /// Whether the same actors have acted up to a turn, and have asked what was recorded, each in
    /// the same turn.
    fn does_as_recorded(&mut self, now: Sequence) -> bool {
        let Some(ledger) = self.run.ledger() else { return false };
        let (new, recorded) = (&ledger.asked, &self.recorded.asked);
        let acts_same = |place: usize| {
            let (new, recorded) = (ledger.actor_of_turn(place), self.recorded.actor_of_turn(place));
            new.map(|actor| ledger.path_of(actor)) == recorded.map(|actor| self.recorded.path_of(actor))
        };
        let asks_same = |index: usize| {
            self.met[index] == Some(index) && recorded.get(index).is_some_and(|asked| asked.turn == new[index].turn)
        };
        let is_same = (self.lockstep.turns..ledger.turns()).all(acts_same)
            && (self.lockstep.asked..new.len()).all(asks_same)
            && recorded.get(new.len()).is_none_or(|asked| asked.turn > now);
        (self.lockstep.turns, self.lockstep.asked) = (ledger.turns(), new.len());
        is_same
    }

    /// How a run stands that rests and receives nothing more.
    fn at_rest(&self) -> Progress {
        let is_asking = self.asked().iter().any(|asked| self.is_open(asked.request));
        match self.run.outcome() {
            DriveOutcome::Ended { code } if !is_asking => Progress::Ended { code },
            DriveOutcome::Ended { .. }
            | DriveOutcome::Asking { .. }
            | DriveOutcome::Waiting { .. }
            | DriveOutcome::Stuck { .. }
            | DriveOutcome::Interrupted => Progress::Live,
        }
    }

    fn asked(&self) -> &[LedgerRequest] {
        self.run.ledger().map_or(&[], |ledger| &ledger.asked)
    }

    /// Looks up the new requests by their keys.
    fn meet(&mut self) {
        while let Some(asked) = self.asked().get(self.met.len()) {
            let new = self.met.len();
            let found = self.keys.get(&asked.key).copied();
            self.met.push(None);
            match found.filter(|found| self.taken[*found].is_none()) {
                Some(found) => self.pair(new, found),
                None => {
                    self.unmet.insert(new);
                }
            }
        }
    }

    /// Lets a new request stand for a recorded one.
    fn pair(&mut self, new: usize, recorded: usize) {
        (self.met[new], self.taken[recorded]) = (Some(recorded), Some(new));
        self.unmet.remove(&new);
        let events = self.events.get(&self.recorded.asked[recorded].request);
        self.due
            .extend(events.into_iter().flatten().filter(|at| !self.used[**at]));
    }

    /// Gives the oldest recorded input that something waits for; returns whether there was one.
    fn give(&mut self, store: &dyn Store) -> Result<bool, RunError> {
        loop {
            // What the person typed or told belongs to the state that the answers before it led to.
            let is_apart = self.is_asking_anew();
            let mut next = 0;
            while let Some(at) = self.due.range(next..).next().copied() {
                next = at + 1;
                if let Some(input) = self.input(at, is_apart, store)? {
                    self.used[at] = true;
                    self.due.remove(&at);
                    self.given = Some(at);
                    self.run.deliver(input);
                    return Ok(true);
                }
                if self.is_over(at) {
                    self.due.remove(&at);
                }
            }
            if !self.meet_elsewhere() {
                return Ok(false);
            }
        }
    }

    /// Says whether a recorded event is about a request whose counterpart has ended.
    fn is_over(&self, at: usize) -> bool {
        let request = request_of(&self.recorded.heard[at].event);
        request.is_some_and(|request| self.open(request).is_none())
    }

    /// Says whether a request is open, timers apart, that has no recorded one.
    fn is_asking_anew(&mut self) -> bool {
        let mut unmet = std::mem::take(&mut self.unmet);
        unmet.retain(|new| self.is_open(self.asked()[*new].request));
        self.unmet = unmet;
        let mut unmet = self.unmet.iter().map(|new| &self.asked()[*new].question);
        unmet.any(|question| !matches!(question, EffectKind::Timer { .. } | EffectKind::Alarm { .. }))
    }

    fn is_open(&self, request: RequestId) -> bool {
        let found = self.run.state().requests.get(&request);
        found.is_some_and(|request| request.answer.is_none())
    }

    /// The open new request that stands for a recorded one.
    fn open(&self, recorded: RequestId) -> Option<(&LedgerRequest, RequestId)> {
        let index = *self.numbers.get(&recorded)?;
        let asked = self.asked().get(self.taken[index]?)?;
        self.is_open(asked.request)
            .then_some((&self.recorded.asked[index], asked.request))
    }

    /// Makes the input that stands for a recorded event, if something waits for it.
    fn input(&self, at: usize, is_apart: bool, store: &dyn Store) -> Result<Option<Input>, RunError> {
        let LedgerEvent { actor, event, .. } = &self.recorded.heard[at];
        if let Event::Answered { request, outcome } = event {
            let open = self.open(*request);
            return Ok(open.and_then(|(asked, new)| answer(new, &asked.question, outcome)));
        }
        if let Event::Due { request, at_ms } = event {
            let (open, at_ms) = (self.open(*request), *at_ms);
            return Ok(open.map(|(_, request)| Input::Due { request, at_ms }));
        }
        if let Event::Kept {
            request,
            note,
            contents,
        } = event
        {
            let content = |hash| Ok::<Blob, RunError>(Blob::new(store.blob(hash)?)?);
            let Some((_, request)) = self.open(*request) else {
                return Ok(None);
            };
            let (note, contents) = (note.clone(), contents.iter().map(content).collect::<Result<_, _>>()?);
            return Ok(Some(Input::Kept {
                request,
                note,
                contents,
            }));
        }
        if is_apart {
            return Ok(None);
        }
        if let Event::Merged { asserted, retracted } = event {
            return Ok(self.merge(*actor, asserted, retracted));
        }
        if *event == (Event::Restart {}) {
            return Ok(self.restartable(*actor).map(|actor| Input::Restart { actor }));
        }
        match said_by(event) {
            Some(RecordedInput::Unasked(input)) => Ok(Some(input)),
            Some(RecordedInput::Answer { .. }) | None => Ok(None),
        }
    }

    /// Makes a merge again, at the actor with the same path of names.
    fn merge(&self, actor: ActorId, asserted: &[IOValue], retracted: &[IOValue]) -> Option<Input> {
        let path = self.recorded.path(actor);
        Some(Input::Merge {
            actor: self.run.ledger()?.actor(&path)?,
            asserted: asserted.to_vec(),
            retracted: retracted.to_vec(),
        })
    }

    /// Finds the living actor that has the path of names of a recorded one and can begin anew.
    fn restartable(&self, recorded: ActorId) -> Option<ActorId> {
        let found = self.run.ledger()?.actor(&self.recorded.path(recorded))?;
        let can_begin = found != MAIN && self.run.state().actor(found).is_some_and(|actor| !actor.is_peer());
        can_begin.then_some(found)
    }

    /// Finds, for the oldest open request without a recorded one, a recorded request that asked the
    /// same elsewhere in the program and received an answer; returns whether there was one.
    fn meet_elsewhere(&mut self) -> bool {
        let found = self.unmet.iter().find_map(|new| {
            let same = self.questions.get(&self.asked()[*new].key.question())?;
            let mut same = same.iter().copied();
            let found = same.find(|index| self.taken[*index].is_none() && self.has_value(*index));
            Some((*new, found?))
        });
        let Some((new, recorded)) = found else { return false };
        self.pair(new, recorded);
        true
    }

    /// Says whether a recorded request received a value that can still be given.
    fn has_value(&self, recorded: usize) -> bool {
        let events = self.events.get(&self.recorded.asked[recorded].request);
        let left = events.into_iter().flatten().filter(|at| !self.used[**at]);
        let mut answers = left.filter_map(|at| answer_of(&self.recorded.heard[*at].event));
        answers.next().is_some_and(Result::is_ok)
    }

    /// Returns the facts of the new run, with keys in the place of its own ids.
    pub fn facts(&self) -> Vec<IOValue> {
        let facts = self.run.state().dataspace.facts().into_iter();
        let canonical = |fact| match self.run.ledger() {
            Some(ledger) => ledger.canonical(&fact),
            None => fact,
        };
        facts.map(|(fact, _)| canonical(fact)).collect()
    }

    /// Ends the rerun: compares both runs, and returns the new one.
    pub fn end(self) -> (Comparison, Prepared) {
        let fresh = std::iter::zip(self.asked(), &self.met).filter(|(_, met)| met.is_none());
        let afresh = fresh.map(|(asked, _)| asked.request).collect();
        let comparison = comparison::compare(&self);
        (comparison, Prepared { run: self.run, afresh })
    }
}

/// A run of changed code that stands where it goes on in the world, in memory.
pub struct Prepared {
    run: Run,
    /// The requests that nobody has made before.
    pub afresh: BTreeSet<RequestId>,
}

impl Prepared {
    /// Writes the run as a new branch under the epoch of a claim, in one commit. Its open requests
    /// wait for who opens the branch.
    ///
    /// # Errors
    /// [`RunError::Store`]; then nothing was written.
    pub fn append(mut self, store: &mut dyn Store, epoch: Epoch) -> Result<(), RunError> {
        self.run.write_under(epoch);
        if let Some(append) = self.run.unflushed() {
            store.append(append)?;
        }
        Ok(())
    }
}

/// Says whether peers have taken part in a run.
pub fn has_peers(ledger: &Ledger) -> bool {
    let is_peer = |heard: &LedgerEvent| matches!(heard.event, Event::Joined { .. } | Event::Said { .. });
    ledger.heard.iter().any(is_peer)
}

/// Says whether a request is a call whose result nobody knows.
fn is_lost(outcomes: &Outcomes<'_>, asked: &LedgerRequest) -> bool {
    matches!(asked.question, EffectKind::Tool { .. }) && !outcomes.contains_key(&asked.request)
}

/// The request that an event is about.
fn request_of(event: &Event) -> Option<RequestId> {
    if let Event::Answered { request, .. } | Event::Due { request, .. } | Event::Kept { request, .. } = event {
        Some(*request)
    } else {
        None
    }
}

fn answer_of(event: &Event) -> Option<&Result<IOValue, IOValue>> {
    if let Event::Answered { outcome, .. } = event {
        Some(outcome)
    } else {
        None
    }
}
