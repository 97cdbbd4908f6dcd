//! A run: its state, the instances of its actors, the newest record of its chain, and what waits
//! for the store.
//!
//! Owns the choice of the next batch, the group commit and the release of effects.
//! INVARIANT: a run hands out an effect only after [`Run::confirm_durable`] for the record that
//! asked for it or a later one, and hands out effects in the order of asking. Turns may run ahead
//! of the disk, effects may not: but timers, which nobody outside of the process notices.
//! It does not know the steps of a turn (`run/take_turn.rs`), nor what an input means to a program
//! (`turn/activation/deliver.rs`).
//! Read next: `run/take_turn.rs`, then `run/replay.rs`.

mod actor_cache;
mod checkpoints;
pub mod error;
mod exhaustion;
mod freezing;
mod frozen;
pub mod heads;
mod housekeeping;
mod inbox;
pub mod inflight;
mod past;
pub(crate) mod input;
mod instances;
mod asking;
mod leaving;
mod lending;
mod letting_go;
mod proof;
mod outcome;
mod resting;
pub mod questions;
mod recovery;
mod replaced;
pub mod replay;
mod rewind;
pub mod sight;
pub mod snapshot;
pub mod source;
mod stillness;
mod take_turn;
mod thawing;
mod unflushed;
mod waking;
mod whole;

use std::collections::BTreeSet;

use duet_journal::parts::NamedParts;
use duet_journal::{
    Append, Blob, BlobHash, BranchName, Epoch, Header, PackedValue, Record, RecordHash, RunId, Sequence, Store, Tip,
};

use crate::action::exit::MAIN;
use crate::driver::{Drivers, Effect, EffectKind, Input};
use crate::model::codec::Codec;
use crate::model::identity::{ActorId, Namer};
use crate::record::key::Ledger;
use crate::record::{Genesis, TurnRecord};
use crate::run::actor_cache::ActorCache;
use crate::run::checkpoints::Checkpoints;
use crate::run::error::RunError;
use crate::run::inbox::Inbox;
use crate::run::inflight::Memory;
use crate::run::instances::Instances;
use crate::run::replaced::Replaced;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::unflushed::Unflushed;
use crate::state::RunState;
use crate::state::actor::Actor;
use crate::state::event::{Batch, Cause, Event, Outbox};
use crate::turn::activation::Activation;
use crate::turn::erased::{AnyInstance, AnyPrograms};
use crate::turn::program::Programs;

pub use input::{INTERRUPTED, tool_failure};
pub use outcome::{Advance, DriveOutcome};

/// A run that executes on one of its branches.
pub struct Run {
    run: RunId,
    branch: BranchName,
    /// The branch that the current turn is written on, and its hash. While a fork is replayed, this
    /// is the branch that each record names.
    written_on: (BranchName, BlobHash),
    epoch: Epoch,
    genesis: Genesis,
    names: Namer,
    programs: AnyPrograms,
    state: Box<RunState>,
    /// The activation of the newest turn, whose allocations the next turn reuses.
    spare: Option<Box<Activation>>,
    instances: Instances<AnyInstance>,
    /// The actors that have no instance yet since the run was restored.
    frozen: frozen::Frozen,
    /// The newest record, durable or not.
    head: Option<Tip>,
    /// The newest durable record.
    durable: Option<RecordHash>,
    unflushed: Unflushed,
    /// The parts of large values that the records up to the newest name.
    named_parts: NamedParts,
    /// The blobs that came with the input of the current turn.
    attached: Vec<BlobHash>,
    /// What other branches know of calls that this branch may make again.
    memory: Memory,
    inbox: Inbox,
    leaving: leaving::Leaving,
    policy: SnapshotPolicy,
    since_snapshot: crate::run::snapshot::Since,
    images: crate::run::snapshot::Images,
    /// The versions that made the code of the instances, if it was loaded with a snapshot.
    code_from: Option<Vec<String>>,
    checkpoints: Checkpoints,
    cache: ActorCache,
    /// The actors, besides the acting one, whose instances the current turn has changed.
    renewed: Vec<ActorId>,
    /// The instance that the acting actor had until the current turn, in which it begins anew.
    replaced: Option<Replaced>,
    /// What the run has asked, heard and shown, if somebody keeps it.
    ledger: Option<Box<Ledger>>,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The run took a turn.
    Turn,
    /// There is nothing to do until an input arrives.
    Idle,
    /// The main program has ended the run.
    Ended {
        /// Its exit code.
        code: u64,
    },
}

/// A run to be started.
pub struct Start {
    /// Its name.
    pub run: RunId,
    /// The name of its first branch.
    pub branch: BranchName,
    /// The name of whoever executes it, shown to people.
    pub owner: String,
    /// The content of its first record.
    pub genesis: Genesis,
    /// The blobs that the genesis pins.
    pub pinned: Vec<Blob>,
}

impl Run {
    /// Starts a run: claims it in the store and creates its first record in memory.
    ///
    /// # Errors
    /// [`RunError::Store`].
    pub fn start(
        start: Start,
        programs: impl Programs,
        policy: SnapshotPolicy,
        store: &mut dyn Store,
    ) -> Result<Self, RunError> {
        let epoch = store.claim(&start.run, &start.owner)?;
        let mut run = Self::unclaimed(start, programs)?;
        (run.epoch, run.policy) = (epoch, policy);
        Ok(run)
    }

    /// Starts a run that nobody owns yet: creates its first record in memory.
    ///
    /// # Errors
    /// [`RunError`] if the first record is too large.
    pub(crate) fn unclaimed(start: Start, programs: impl Programs) -> Result<Self, RunError> {
        let body = PackedValue::write(|out| start.genesis.write(out))?;
        let mut run = Self::at_genesis(start.run, start.branch, Epoch(0), start.genesis, Box::new(programs))?;
        run.unflushed.add_blobs(start.pinned);
        run.chain_pinned(body)?;
        Ok(run)
    }

    /// Makes a run that stands right after its first record, but does not hold that record.
    ///
    /// # Errors
    /// As [`initial_state`].
    pub(crate) fn at_genesis(
        run: RunId,
        branch: BranchName,
        epoch: Epoch,
        genesis: Genesis,
        programs: AnyPrograms,
    ) -> Result<Self, RunError> {
        let state = initial_state(&genesis);
        Ok(Self::with_state(run, branch, epoch, genesis, programs, state))
    }

    /// Makes a run with the given state and nothing in flight.
    pub(crate) fn with_state(
        run: RunId,
        branch: BranchName,
        epoch: Epoch,
        genesis: Genesis,
        programs: AnyPrograms,
        mut state: RunState,
    ) -> Self {
        state.describe_tools(&genesis.tools);
        state.govern(&genesis.policy);
        Self {
            names: Namer::new(run.as_str()),
            run,
            written_on: on(&branch),
            branch,
            epoch,
            genesis,
            programs,
            state: Box::new(state),
            spare: None,
            instances: Instances::default(),
            frozen: frozen::Frozen::default(),
            head: None,
            durable: None,
            unflushed: Unflushed::default(),
            named_parts: NamedParts::default(),
            attached: Vec::new(),
            memory: Memory::default(),
            inbox: Inbox::default(),
            // Freezing counts an instance's image as stored, which is not true while turns are
            // replayed.
            policy: SnapshotPolicy::NEVER,
            since_snapshot: crate::run::snapshot::Since::default(),
            images: crate::run::snapshot::Images::default(),
            code_from: None,
            checkpoints: Checkpoints::default(),
            leaving: leaving::Leaving::default(),
            cache: ActorCache::default(),
            renewed: Vec::new(),
            replaced: None,
            ledger: None,
        }
    }

    /// Takes one turn if there is one: inputs come first, mostly, then the oldest batch.
    ///
    /// # Errors
    /// [`RunError`]; then the caller must open the run again from the store.
    pub fn step(&mut self) -> Result<Step, RunError> {
        if let Some(code) = self.state.exit {
            // Those that end with the main program.
            if let Some(batch) = self.state.queue.pop_front() {
                self.take_turn(batch, None)?;
                return Ok(Step::Turn);
            }
            let code = self.state.exit_code(code);
            return Ok(Step::Ended { code });
        }
        if self.leaving.has_begun() {
            return Ok(Step::Idle);
        }
        let ahead = |timer| input::ahead(&self.state, timer);
        if let Some(input) = self.inbox.take(self.state.queue.len(), ahead) {
            return self.take_input(input);
        }
        let Some(batch) = self.state.queue.pop_front() else {
            return Ok(Step::Idle);
        };
        self.take_turn(batch, None)?;
        Ok(Step::Turn)
    }

    /// Takes the turn of an input at once, together with the timers of its actor that are next in
    /// the inbox.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn take_input(&mut self, input: Input) -> Result<Step, RunError> {
        self.attach(&input);
        let mut batch = input::batch(&self.state, input)?;
        if let [Event::Due { .. }] = batch.events[..] {
            let is_of_same = |timer| input::owner(&self.state, timer) == batch.to;
            batch.events.extend(self.inbox.take_more_due(is_of_same));
        }
        self.take_turn(batch, None)?;
        Ok(Step::Turn)
    }

    /// Takes the turn of inputs that came in one turn of another run, before all that waits here;
    /// `None` if the run takes no inputs any more.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub(crate) fn take_together(&mut self, inputs: Vec<Input>) -> Result<Option<Step>, RunError> {
        if self.state.exit.is_some() || self.leaving.has_begun() {
            return Ok(None);
        }
        let mut inputs = inputs.into_iter();
        let Some(first) = inputs.next() else { return Ok(None) };
        inputs.rev().for_each(|input| self.inbox.inputs.push_front(input));
        self.take_input(first).map(Some)
    }

    /// Takes the blobs that come with an input; they become durable with the input's record.
    fn attach(&mut self, input: &Input) {
        if let Input::Kept { contents, .. } = input {
            self.attached = contents.iter().map(Blob::hash).collect();
            self.unflushed.add_blobs(contents.iter().cloned());
        }
    }

    /// Queues an input; it becomes a turn at one of the next steps.
    pub fn deliver(&mut self, input: Input) {
        let input = self.memory.instead(&input).unwrap_or(input);
        self.inbox.inputs.push_back(input);
    }

    /// Puts an input before all others, in place of effects and inputs for the same request.
    pub fn deliver_first(&mut self, input: Input) {
        if let Some(request) = input.request() {
            self.unflushed.withdraw(request);
            self.inbox.inputs.retain(|other| other.request() != Some(request));
        }
        self.inbox.inputs.push_front(input);
    }

    /// Returns what the store does not have yet; `None` if it has everything.
    ///
    /// To commit several runs at once, append this for each of them in one group, then call
    /// [`confirm_durable`](Self::confirm_durable) and [`recall`](Self::recall).
    pub fn unflushed(&self) -> Option<Append<'_>> {
        (!self.unflushed.records().is_empty()).then_some(Append {
            run: &self.run,
            branch: &self.branch,
            epoch: self.epoch,
            expected_head: self.durable,
            records: self.unflushed.records(),
            blobs: self.unflushed.blobs(),
            times: None,
            need: self.need(),
            taken: self.unflushed.letters(),
        })
    }

    /// Notes that [`unflushed`](Self::unflushed) is durable, and returns the effects that waited
    /// for it.
    pub fn confirm_durable(&mut self) -> Vec<Effect> {
        self.durable = self.head.map(|tip| tip.hash);
        self.unflushed.confirm_durable()
    }

    /// Makes all turns durable and returns the effects that waited, without the calls that
    /// [`recall`](Self::recall) answers.
    ///
    /// # Errors
    /// [`RunError::Store`], also if another process has claimed the run; then the run has handed
    /// out nothing, and the caller must open it again from the store.
    pub fn flush(&mut self, store: &mut dyn Store) -> Result<Vec<Effect>, RunError> {
        let append = self.unflushed();
        let has_commit = append.is_some();
        if let Some(append) = append {
            store.append(append)?;
        }
        if self
            .unflushed
            .effects()
            .iter()
            .any(|effect| effect.kind.leaves_process())
        {
            // A process that was stopped behind its commit, or that repeats effects without one,
            // may have lost the run meanwhile.
            if has_commit {
                store.check_lease(&self.run, self.epoch)?;
            } else {
                store.check_claim(&self.run, self.epoch)?;
            }
        }
        let effects = self.confirm_durable();
        self.recall(store, effects)
    }

    /// Takes turns and performs effects until the run ends, is stuck, is interrupted, or needs a
    /// person.
    ///
    /// # Errors
    /// [`RunError`]; then the caller must open the run again from the store.
    pub fn drive(&mut self, store: &mut dyn Store, drivers: &mut dyn Drivers) -> Result<DriveOutcome, RunError> {
        loop {
            match self.advance(store, drivers)? {
                Advance::Turn => {}
                Advance::Interrupted => break,
                Advance::Ended { code } => return Ok(DriveOutcome::Ended { code }),
                Advance::Idle => match drivers.next_input() {
                    Some(Input::Interrupt) => break,
                    Some(input) => self.deliver(input),
                    None => return Ok(self.outcome()),
                },
            }
        }
        self.interrupt(store, drivers)?;
        Ok(DriveOutcome::Interrupted)
    }

    /// Takes at most one turn and performs effects, without waiting for an input. All turns are
    /// durable when it has nothing to do, but those that are [kept](Self::keep_last_turns).
    ///
    /// # Errors
    /// [`RunError`]; then the caller must open the run again from the store.
    pub fn advance(&mut self, store: &mut dyn Store, drivers: &mut dyn Drivers) -> Result<Advance, RunError> {
        while self.inbox.has_room()
            && let Some(input) = drivers.poll_input()
        {
            if input == Input::Interrupt {
                return Ok(Advance::Interrupted);
            }
            self.deliver(input);
        }
        let step = self.step()?;
        let is_due = step != Step::Turn || self.is_flush_due();
        if is_due && self.perform_unnoticed(drivers) {
            // What they report at once can go with the turns that asked for them.
            return Ok(Advance::Turn);
        }
        if is_due && !(step != Step::Turn && self.keeps_last_turns()) {
            self.flush_to(store, drivers)?;
        }
        Ok(match step {
            Step::Turn => Advance::Turn,
            Step::Idle => Advance::Idle,
            Step::Ended { code } => Advance::Ended { code },
        })
    }

    /// Returns the state: facts, actors, waits, requests.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the run's name.
    pub fn id(&self) -> &RunId {
        &self.run
    }

    /// Returns the branch that the run writes on.
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns the hash and position of the newest record.
    pub fn head(&self) -> Option<Tip> {
        self.head
    }

    /// Returns the content of the run's first record.
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// Returns the epoch of the claim under which the run writes.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Makes all turns durable and performs the effects that waited.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn flush_to(&mut self, store: &mut dyn Store, drivers: &mut dyn Drivers) -> Result<(), RunError> {
        let has_output = self.unflushed.effects().iter().any(|effect| effect.kind.is_output());
        if let Some(before) = self.unflushed.newest_flushed().filter(|_| has_output) {
            drivers.before_output(before.hash, before.sequence);
        }
        let mut effects = self.flush(store)?;
        effects.iter_mut().for_each(|effect| self.add_texts(effect));
        if effects.iter().any(|effect| effect.kind.is_of_tool()) {
            drivers.judge_places(self.state.judges_places());
        }
        if !effects.is_empty() {
            drivers.perform(effects);
        }
        if has_output {
            drivers.after_output();
        }
        Ok(())
    }

    /// Adds to a report of a failure the texts that it names, because only the programs have them.
    fn add_texts(&self, effect: &mut Effect) {
        let EffectKind::Failure { failed, texts, .. } = &mut effect.kind else {
            return;
        };
        let names: BTreeSet<&str> = failed.failure.sources().collect();
        let found = names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), self.programs.text(name)?)));
        *texts = found.collect();
    }

    /// Returns whether turns that asked for effects, or enough other turns, wait for the disk.
    fn is_flush_due(&self) -> bool {
        let has_more = self.state.queue.len() > 1 || !self.inbox.inputs.is_empty();
        let is_urgent = !self.unflushed.effects().is_empty() && !has_more;
        is_urgent && !self.can_output_wait() || self.unflushed.is_much()
    }

    /// Returns whether only output of a few turns waits for the disk, and another turn follows at
    /// once.
    fn can_output_wait(&self) -> bool {
        self.state.queue.len() == 1 && self.unflushed.is_little_output()
    }

    /// Sets the epoch of the claim under which the run writes.
    pub(crate) fn write_under(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// Sets the branch that the next turn is written on.
    pub(crate) fn write_on(&mut self, branch: &BranchName) {
        if self.written_on.0 != *branch {
            self.written_on = on(branch);
        }
    }

    /// Returns the position of the next record.
    pub(crate) fn next_sequence(&self) -> Result<Sequence, RunError> {
        match self.head {
            None => Ok(Sequence::FIRST),
            Some(tip) => tip.sequence.next().ok_or(RunError::Full),
        }
    }

    /// Appends a turn's record to the chain, with a snapshot if one is due, and posts the turn's
    /// messages to the queue.
    pub(crate) fn chain(&mut self, body: PackedValue, turn: &TurnRecord, outbox: &mut Outbox) -> Result<(), RunError> {
        let sequence = self.next_sequence()?;
        outbox.post(turn.actor, sequence, &mut self.state.queue);
        self.keep_endings();
        let snapshot = self.take_snapshot_if_due(&body, turn.fuel);
        let (root, mut chunks) = snapshot.map_or((None, Vec::new()), |(root, chunks)| (Some(root), chunks));
        chunks.append(&mut self.attached);
        self.push_record(sequence, root, chunks, body, || turn.outline())
    }

    /// Holds effects until the newest record is durable.
    pub(crate) fn hold(&mut self, effects: Vec<Effect>) {
        self.unflushed.hold(effects);
    }

    fn chain_pinned(&mut self, body: PackedValue) -> Result<(), RunError> {
        let pinned = self.genesis.pinned.clone();
        self.push_record(Sequence::FIRST, None, pinned, body, Vec::new)
    }

    fn push_record(
        &mut self,
        sequence: Sequence,
        snapshot: Option<BlobHash>,
        blobs: Vec<BlobHash>,
        body: PackedValue,
        outline: impl FnOnce() -> Vec<String>,
    ) -> Result<(), RunError> {
        let parent = self.head.map(|tip| tip.hash);
        debug_assert_eq!(self.next_sequence().ok(), Some(sequence), "a record follows the head");
        let header = Header {
            run: self.run.clone(),
            branch: self.branch.clone(),
            sequence,
            parent,
            snapshot,
            blobs,
        };
        let body_bytes = body.as_bytes().len();
        let record = Record::following(header, body, outline, &mut self.named_parts)?;
        let hash = self.unflushed.push(record, body_bytes);
        self.head = Some(Tip { hash, sequence });
        Ok(())
    }
}

/// Pairs a branch with its hash.
fn on(branch: &BranchName) -> (BranchName, BlobHash) {
    (branch.clone(), BlobHash::of(branch.as_str().as_bytes()))
}

/// Returns the state right after the first record: the main actor is about to run its program.
pub(crate) fn initial_state(genesis: &Genesis) -> RunState {
    let mut state = RunState::default();
    let (actor, root) = (state.counters.actor(), state.counters.facet());
    debug_assert_eq!(actor, MAIN, "the main program is the first actor");
    let main = Actor::new(None, genesis.manifest.clone().of_main(), None, root);
    state.actors.insert(actor, main);
    state.queue.push_back(Batch {
        to: actor,
        from: None,
        cause: Cause::Start {},
        events: vec![Event::Boot {}],
    });
    state.commit_turn();
    state
}
