//! A worker: it takes runs that can go on, drives each until it sleeps, and lets it go.
//!
//! INVARIANT: a run is executed by one thread of one worker, under the run's claim: whoever claims
//! it first has it. A worker claims a run only after it has found the workspace, the secrets and
//! the tools that the run needs.
//! It does not drive a run; `owned_run/asleep.rs` does. Read next: `work/member.rs`.

mod fitness;
pub(crate) mod form;
mod look;
pub(crate) mod member;
mod pulse;
mod slept;
pub(crate) mod webhook_inboxes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use duet_drivers::host::health::Health;
use duet_drivers::waker::Waker;
use duet_journal::owner::{beat_ms, now_ms};
use duet_journal::{Epoch, Need, Owner, Ready, RunId, Sequence, Store, StoreError};
use duet_postgres::Failure;
use duet_runtime::run::source::genesis;

use crate::history::journal::{Journal, Place, lease_ms, name};
use crate::owner::owned_run::asleep::Rested;
use crate::owner::owned_run::compiled::CompiledPrograms;
use crate::owner::owned_run::{LeaseRenewals, Opening, OwnedRun, record_at};
use crate::settings::workspaces::Workspaces;
use crate::text::error::CommandError;
use crate::text::terminal::Terminal;
use crate::world::world_options::WorldOptions;
use fitness::Fitness;
use look::Look;
use member::Member;
use pulse::Pulse;
use slept::SleepingRuns;

/// The maximum time between two looks for runs that can go on.
const INTERVAL: Duration = Duration::from_millis(100);

/// A worker says at most this often what it executes, in milliseconds: each time is a commit.
const NOTED_MS: u64 = 1_000;

/// How long a run is left to others that this worker could not execute, in milliseconds: the first
/// time, because the journal or another process may have been in the way for a moment, and at most.
/// Each time is twice as long as the one before.
const LEFT_MS_FIRST: u64 = 500;
const LEFT_MS_MAX: u64 = 30_000;

/// The options of a worker.
pub(crate) struct WorkerOptions<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) patterns: Vec<String>,
    pub(crate) concurrency: usize,
    /// How long it may have nothing to do, in milliseconds; `None` for ever.
    pub(crate) idle_ms: Option<u64>,
    /// How long its runs may go on when it is asked to end, in milliseconds.
    pub(crate) drain_ms: u64,
    /// Those of the worlds of its runs.
    pub(crate) world: WorldOptions,
    /// Where it says whether it works.
    pub(crate) health: Option<SocketAddr>,
    /// Where it takes webhooks in.
    pub(crate) webhooks: Option<SocketAddr>,
    /// Set when the process is asked to end.
    pub(crate) is_ending: &'a AtomicBool,
}

/// A worker at work.
pub(crate) struct Worker<'a> {
    options: WorkerOptions<'a>,
    shared: Mutex<Shared>,
    /// Signalled when a run waits for a thread, and when there are to be no more.
    given: Condvar,
    /// Signalled when a run rests.
    rested: Condvar,
    /// The programs of runs that have come to rest.
    compiled: CompiledPrograms,
    beats: Arc<LeaseRenewals>,
    fitness: Fitness,
    pulse: Arc<Pulse>,
}

#[derive(Default)]
struct Shared {
    /// The runs that are executed, each with what interrupts it once it has begun.
    running: BTreeMap<RunId, Option<Waker>>,
    /// Those of them that wait for a thread.
    given: VecDeque<Ready>,
    /// The runs that the last look has found and nobody has chosen yet.
    found: VecDeque<Ready>,
    /// The number of threads, and of those that have nothing to do.
    threads: usize,
    idle: usize,
    /// How many runs have come to rest.
    rests: u64,
    /// Whether there are to be no more runs.
    is_over: bool,
    /// Runs that sleep.
    slept: SleepingRuns,
    /// Runs that are left to others.
    left: BTreeMap<RunId, Left>,
    /// Runs that failed here, whose claims may be this process's still.
    failed: BTreeSet<RunId>,
    /// Messages for people.
    told: Vec<String>,
}

/// When a worker last did what it repeats, in milliseconds since 1970.
struct Times {
    /// When it said what it executes.
    noted_ms: u64,
    /// When it had something to do.
    busy_ms: u64,
}

/// A run that this worker cannot execute.
struct Left {
    since_ms: u64,
    /// How long it is left, in milliseconds.
    wait_ms: u64,
    why: String,
}

impl Left {
    fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.since_ms) >= self.wait_ms
    }
}

impl<'a> Worker<'a> {
    pub(crate) fn new(options: WorkerOptions<'a>) -> Self {
        Self {
            compiled: CompiledPrograms::of_at_most(PROGRAMS_FOR_EACH * options.concurrency),
            options,
            shared: Mutex::default(),
            given: Condvar::new(),
            rested: Condvar::new(),
            beats: Arc::default(),
            fitness: Fitness::default(),
            pulse: Arc::default(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the process is asked to end, or there is nothing to do for long enough.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn work(&self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let journal = self.options.journal;
        // The workers of a server may be there before the first run. In a folder without a journal,
        // a worker is in the wrong one.
        let mut store = if journal.is_on_server() {
            journal.open_or_create("work")?
        } else {
            journal.open_to_write("work")?
        };
        if let Some(difference) = difference_of_clocks(self.options.journal.ahead_of_host_ms()) {
            terminal.message(difference);
        }
        self.pulse.looked(0, 0);
        let _health = self.begin_health(terminal)?;
        let mut member = Member::this(&self.options.patterns, self.options.concurrency);
        member.workspaces = self.workspaces();
        member.webhooks = self.options.webhooks.map(|address| address.to_string());
        member.forget(&mut *store)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a thread executes one run at a time; threads share the journal and nothing else"
        )]
        let worked = thread::scope(|scope| {
            let begin = || {
                scope.spawn(|| self.execute_given());
            };
            let worked = self.keep_taking(&mut *store, &mut member, &begin, terminal);
            self.drain(&mut *store, terminal);
            self.shared().is_over = true;
            self.given.notify_all();
            worked
        });
        self.tell(terminal);
        let forgotten = member.forget(&mut *store);
        worked.and(forgotten.map_err(CommandError::from))
    }

    /// The names of the workspaces that it declares.
    fn workspaces(&self) -> Vec<String> {
        let declared = self.options.world.worked_in.iter();
        declared.flat_map(Workspaces::names).map(str::to_owned).collect()
    }

    /// Begins to say whether this worker works, if it is to.
    fn begin_health(&self, terminal: &mut Terminal) -> Result<Option<Health>, CommandError> {
        let Some(address) = self.options.health else {
            return Ok(None);
        };
        let pulse = Arc::clone(&self.pulse);
        let health = Health::begin(address, move || pulse.condition())
            .map_err(|error| CommandError::caused(format!("the address {address} cannot be used"), &error))?;
        terminal.message(format!(
            "http://{}/healthz says whether this worker works",
            health.address()
        ));
        Ok(Some(health))
    }

    fn keep_taking(
        &self,
        store: &mut dyn Store,
        member: &mut Member,
        begin: &dyn Fn(),
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        let mut times = Times {
            noted_ms: 0,
            busy_ms: now_ms(),
        };
        let mut is_away = false;
        while !self.options.is_ending.load(Ordering::Relaxed) {
            let rests = self.shared().rests;
            match self.look(store, member, &mut times, begin) {
                Ok(()) if is_away => {
                    is_away = false;
                    terminal.message("the journal is there again");
                }
                Ok(()) => {}
                Err(error) if Failure::is_away(&error) => {
                    if !is_away {
                        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                        terminal.message(format!("the journal is away, and this worker waits for it: {why}"));
                    }
                    is_away = true;
                }
                Err(error) => return Err(error.into()),
            }
            self.tell(terminal);
            let idle_ms = now_ms().saturating_sub(times.busy_ms);
            if self.options.idle_ms.is_some_and(|idle_max| idle_ms >= idle_max) && self.shared().running.is_empty() {
                break;
            }
            self.pause(rests);
        }
        Ok(())
    }

    /// Looks into the journal: says what this worker executes, and takes what can go on.
    fn look(
        &self,
        store: &mut dyn Store,
        member: &mut Member,
        times: &mut Times,
        begin: &dyn Fn(),
    ) -> Result<(), StoreError> {
        let now = now_ms();
        let running: Vec<String> = self.shared().running.keys().map(ToString::to_string).collect();
        let executed = running.len();
        if executed > 0 {
            times.busy_ms = now;
        }
        self.give_up_failed(store)?;
        let left = self.left(now);
        let silent_ms = now.saturating_sub(times.noted_ms);
        let is_news = left != member.left || running != member.running && silent_ms >= NOTED_MS;
        if is_news || silent_ms >= beat_ms(lease_ms()) {
            (member.running, member.left) = (running, left);
            member.note(store)?;
            times.noted_ms = now;
        }
        self.beats.beat(store)?;
        for ready in self.choose(store, member, now)? {
            times.busy_ms = now;
            self.give(ready, begin);
        }
        self.pulse.looked(executed, member.left.len());
        Ok(())
    }

    /// Gives up the runs that failed here, where that could not be said at once: others would take
    /// this process for their owner as long as it lives.
    fn give_up_failed(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let failed: Vec<RunId> = self.shared().failed.iter().cloned().collect();
        for run in failed {
            if !self.shared().running.contains_key(&run) {
                match store.claimed(&run)? {
                    Some(claim) if claim.living().is_some_and(|owner| owner.is_same(&Owner::this(""))) => {
                        match store.note_owner(&run, claim.epoch, "") {
                            Ok(()) | Err(StoreError::EpochFenced { .. }) => {}
                            Err(error) => return Err(error),
                        }
                    }
                    Some(_) | None => {}
                }
            }
            self.shared().failed.remove(&run);
        }
        Ok(())
    }

    /// Waits until more than `rests` runs have come to rest, or for a moment.
    fn pause(&self, rests: u64) {
        let waited = self
            .rested
            .wait_timeout_while(self.shared(), INTERVAL, |shared| shared.rests == rests);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Gives a run to a thread, if need be to one that `begin` begins.
    fn give(&self, ready: Ready, begin: &dyn Fn()) {
        let mut shared = self.shared();
        shared.running.insert(ready.run.clone(), None);
        shared.given.push_back(ready);
        if shared.idle < shared.given.len() && shared.threads < self.options.concurrency {
            shared.threads += 1;
            begin();
        }
        drop(shared);
        self.given.notify_one();
    }

    /// Executes the runs that are given to this thread, one after the other, on one connection.
    fn execute_given(&self) {
        let mut connection = None;
        while let Some(ready) = self.next_given() {
            self.execute(&ready, &mut connection);
            self.rested.notify_one();
        }
    }

    fn next_given(&self) -> Option<Ready> {
        let mut shared = self.shared();
        shared.idle += 1;
        let nothing = |shared: &mut Shared| shared.given.is_empty() && !shared.is_over;
        let waited = self.given.wait_while(shared, nothing);
        shared = waited.unwrap_or_else(PoisonError::into_inner);
        shared.idle -= 1;
        shared.given.pop_front()
    }

    /// The runs that are left to others still.
    fn left(&self, now_ms: u64) -> BTreeMap<String, String> {
        let mut shared = self.shared();
        // It stays listed while it is tried again; one that is ready no more is forgotten.
        shared
            .left
            .retain(|_, left| now_ms.saturating_sub(left.since_ms) < left.wait_ms + LEFT_MS_MAX);
        let left = shared.left.iter();
        left.map(|(run, left)| (run.to_string(), left.why.clone())).collect()
    }

    /// Chooses as many runs as there is room for, of those that the last look has found; looks
    /// again when there are none left.
    fn choose(&self, store: &dyn Store, member: &Member, now_ms: u64) -> Result<Vec<Ready>, StoreError> {
        let (mut room, others) = {
            let shared = self.shared();
            let others = shared.running.len() + shared.left.len();
            (self.options.concurrency.saturating_sub(shared.running.len()), others)
        };
        let mut chosen: Vec<Ready> = Vec::new();
        let mut has_looked = false;
        while room > 0 {
            let next = self.shared().found.pop_front();
            let Some(ready) = next else {
                if std::mem::replace(&mut has_looked, true) {
                    break;
                }
                let looked_ms = store.now_ms()?;
                let look = Look {
                    ready: &|extent| store.ready(looked_ms, extent),
                    wants: &|run| member.wants(run),
                    seed: looked_ms ^ u64::from(Owner::this("").process),
                };
                let mut found = look.find((AHEAD * room).max(FOUND) + others)?;
                found.extend(self.shared().slept.due());
                self.shared().found = found;
                continue;
            };
            let is_free = {
                let shared = self.shared();
                let is_left = shared.left.get(&ready.run).is_some_and(|left| !left.is_over(now_ms));
                !shared.running.contains_key(&ready.run) && !is_left
            };
            let is_chosen = chosen.iter().any(|chosen| chosen.run == ready.run);
            if is_free && !is_chosen && member.wants(&ready.run) {
                chosen.push(ready);
                room -= 1;
            }
        }
        Ok(chosen)
    }

    /// Executes a run until it rests.
    fn execute(&self, ready: &Ready, connection: &mut Option<Box<dyn Store>>) {
        let name = name(&ready.run, &ready.branch);
        let outcome = self.go_on(ready, connection);
        if outcome.is_err() {
            // What failed may be the connection.
            *connection = None;
        }
        let mut shared = self.shared();
        shared.running.remove(&ready.run);
        shared.rests += 1;
        match outcome {
            Ok(None) => {}
            Ok(Some(rested)) => {
                shared.left.remove(&ready.run);
                shared.told.push(shown(&name, &rested));
                if let Rested::Needing(need, counted) = rested {
                    shared.slept.add(ready, need, counted);
                }
            }
            Err(error) => {
                let (why, since_ms) = (error.line(), now_ms());
                let before = shared.left.remove(&ready.run);
                if before.as_ref().is_none_or(|before| before.why != why) {
                    shared.told.push(format!("left {name} to others: {why}"));
                }
                let wait_ms = before.map_or(LEFT_MS_FIRST, |before| (2 * before.wait_ms).min(LEFT_MS_MAX));
                let left = Left { since_ms, wait_ms, why };
                shared.left.insert(ready.run.clone(), left);
                shared.failed.insert(ready.run.clone());
            }
        }
    }

    /// Goes on with a run until it rests; `None` if somebody else was faster.
    fn go_on(&self, ready: &Ready, connection: &mut Option<Box<dyn Store>>) -> Result<Option<Rested>, CommandError> {
        let journal = self.options.journal;
        let store = match connection {
            Some(store) => store,
            None => connection.insert(journal.open_to_write("work")?),
        };
        store.read_ahead(&ready.run, &ready.branch)?;
        // Before all else: who claims the run later may change the rest.
        let claim = store.claimed(&ready.run)?;
        let Some(head) = store.head(&ready.run, &ready.branch)? else {
            return Ok(None);
        };
        let need = store.need(&ready.run, &ready.branch)?;
        if !self.shared().slept.is_due(ready, need) && !is_ready(&**store, ready, need)? {
            // Somebody else was faster; the journal names it again when it is ready.
            self.shared().slept.forget(&ready.run);
            return Ok(None);
        }
        let place = Place {
            run: ready.run.clone(),
            branch: ready.branch.clone(),
            head,
            turn: None,
        };
        let before = claim.as_ref().map(|claim| claim.epoch);
        let this = Owner::this("");
        if claim.is_some_and(|claim| claim.living().is_some_and(|owner| !owner.is_same(&this))) {
            self.shared().slept.forget(&ready.run);
            return Ok(None);
        }
        let genesis = genesis(&record_at(&**store, &place, Sequence::FIRST)?)?;
        self.fitness.require(&**store, &place, &genesis, &self.options.world)?;
        let options = WorldOptions {
            counted: self.shared().slept.take(ready, need),
            ..self.options.world.clone()
        };
        let opening = Opening {
            place: &place,
            genesis,
            journal,
            command: "work",
            kept: &self.compiled,
            beats: Some(&self.beats),
            chosen_at: Some(before.unwrap_or_default()),
        };
        let owned = match OwnedRun::open(opening, &mut **store, options) {
            Ok(owned) => owned,
            Err(error) => return Self::not_taken(&mut **store, &place.run, before, error),
        };
        let reach = |waker: Option<Waker>| {
            self.shared().running.insert(ready.run.clone(), waker);
        };
        owned.work(&mut **store, &reach, &self.compiled).map(Some)
    }

    /// Gives up a run that this worker could not open, if it has claimed it; `before` is the epoch
    /// that the run had when the worker chose it.
    fn not_taken(
        store: &mut dyn Store,
        run: &RunId,
        before: Option<Epoch>,
        error: CommandError,
    ) -> Result<Option<Rested>, CommandError> {
        let claim = store.claimed(run)?;
        let Some(claim) = claim.filter(|claim| Some(claim.epoch) != before) else {
            return Err(error);
        };
        if claim.living().is_some_and(|owner| owner.is_same(&Owner::this(""))) {
            store.note_owner(run, claim.epoch, "")?;
            return Err(error);
        }
        // Somebody else was faster, and may have let it go again.
        Ok(None)
    }

    /// Waits until all runs rest; those that take too long are interrupted.
    fn drain(&self, store: &mut dyn Store, terminal: &mut Terminal) {
        let begun = now_ms();
        let mut is_interrupted = false;
        loop {
            self.tell(terminal);
            let shared = self.shared();
            if shared.running.is_empty() {
                return;
            }
            if !is_interrupted && now_ms().saturating_sub(begun) >= self.options.drain_ms {
                is_interrupted = true;
                for waker in shared.running.values().flatten() {
                    waker.interrupt();
                }
            }
            let rests = shared.rests;
            self.pulse.drains(shared.running.len());
            drop(shared);
            // A journal that is away fails the runs' own commits.
            let _may_pass = self.beats.beat(store);
            self.pause(rests);
        }
    }

    fn tell(&self, terminal: &mut Terminal) {
        let told = std::mem::take(&mut self.shared().told);
        told.into_iter().for_each(|line| terminal.message(line));
    }
}

/// How many compiled programs a worker keeps for each run that it executes at once.
const PROGRAMS_FOR_EACH: usize = 4;

/// How many times as many runs as there is room for a worker takes from one look, and at least how
/// many: what others have done meanwhile it passes over.
const AHEAD: usize = 4;
const FOUND: usize = 16;

/// The difference of two clocks that nobody needs to know.
const CLOCKS_MS: u64 = 2_000;

/// Says by how much the clock of the journal differs from this host's, if a person should know.
fn difference_of_clocks(ahead_ms: i64) -> Option<String> {
    let seconds = ahead_ms.unsigned_abs() / 1_000;
    let place = if ahead_ms > 0 { "ahead of" } else { "behind" };
    (ahead_ms.unsigned_abs() > CLOCKS_MS)
        .then(|| format!("the server's clock is {seconds} s {place} this host's; runs go by the server's"))
}

/// Whether a run that a look has found can still go on: another worker may have let it sleep again.
fn is_ready(store: &dyn Store, ready: &Ready, need: Need) -> Result<bool, StoreError> {
    match need {
        Need::Moment(at_ms) if at_ms <= store.now_ms()? => Ok(true),
        Need::Moment(_) | Need::Input | Need::Nothing => Ok(!store.letters(&ready.run, &ready.branch)?.is_empty()),
    }
}

/// How a run rests, for people.
fn shown(name: &str, rested: &Rested) -> String {
    match rested {
        Rested::Ended(code) => format!("{name} ended with code {code}"),
        Rested::Needing(Need::Input, _) => format!("{name} waits for an input"),
        Rested::Needing(Need::Moment(_), _) => format!("{name} sleeps"),
        Rested::Needing(Need::Nothing, _) | Rested::Stopped => format!("{name} has stopped"),
        Rested::Interrupted => format!("{name} goes on elsewhere"),
    }
}
