//! A worker: it takes runs that can go on, drives each until it sleeps, and lets it go.
//!
//! INVARIANT: a run is executed by one thread of one worker, under the run's claim: whoever claims
//! it first has it. A worker claims a run only after it has found the workspace, the secrets and
//! the tools that the run needs.
//! It does not drive a run; `session/asleep.rs` does. Read next: `work/member.rs`.

pub(crate) mod form;
pub(crate) mod member;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use duet_drivers::waker::Waker;
use duet_journal::owner::{BEAT_MS, now_ms};
use duet_journal::{Need, Ready, RunId, Sequence, Store};
use duet_runtime::run::source::genesis;

use crate::error::CommandError;
use crate::journal::{Journal, Place, name};
use crate::repl::session::is_prompt;
use crate::session::asleep::Rested;
use crate::session::{Session, launch_note, record_at};
use crate::terminal::Terminal;
use crate::world_options::{WorldOptions, environment};
use member::Member;

/// The time between two looks for runs that can go on.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a run is left to others that this worker cannot execute, in milliseconds.
const LEFT_MS: u64 = 30_000;

/// The orders of a worker.
pub(crate) struct Orders<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) patterns: Vec<String>,
    pub(crate) concurrency: usize,
    /// How long it may have nothing to do, in milliseconds; `None` for ever.
    pub(crate) idle_ms: Option<u64>,
    /// How long its runs may go on when it is asked to end, in milliseconds.
    pub(crate) drain_ms: u64,
    pub(crate) options: WorldOptions,
    /// Set when the process is asked to end.
    pub(crate) is_ending: &'a AtomicBool,
}

/// A worker at work.
pub(crate) struct Worker<'a> {
    orders: Orders<'a>,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The runs that are executed, each with what interrupts it once it has begun.
    running: BTreeMap<RunId, Option<Waker>>,
    /// Runs that are left to others.
    left: BTreeMap<RunId, Left>,
    /// Messages for people.
    told: Vec<String>,
}

/// A run that this worker cannot execute.
struct Left {
    since_ms: u64,
    why: String,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(orders: Orders<'a>) -> Self {
        Self {
            orders,
            shared: Mutex::default(),
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
        let mut store = self.orders.journal.open_to_write("work")?;
        let mut member = Member::this(&self.orders.patterns, self.orders.concurrency);
        member.forget(&mut *store)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "each run has one thread; these share the journal and nothing else"
        )]
        let worked = thread::scope(|scope| {
            let take = |ready: Ready| {
                scope.spawn(move || self.execute(&ready));
            };
            let worked = self.keep_taking(&mut *store, &mut member, &take, terminal);
            self.drain(terminal);
            worked
        });
        self.tell(terminal);
        let forgotten = member.forget(&mut *store);
        worked.and(forgotten.map_err(CommandError::from))
    }

    fn keep_taking(
        &self,
        store: &mut dyn Store,
        member: &mut Member,
        take: &dyn Fn(Ready),
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        let (mut noted_ms, mut busy_ms) = (0, now_ms());
        while !self.orders.is_ending.load(Ordering::Relaxed) {
            let now = now_ms();
            let running: Vec<String> = self.shared().running.keys().map(ToString::to_string).collect();
            if !running.is_empty() {
                busy_ms = now;
            }
            let left = self.left(now);
            if running != member.running || left != member.left || now.saturating_sub(noted_ms) >= BEAT_MS {
                (member.running, member.left) = (running, left);
                member.note(store)?;
                noted_ms = now;
            }
            for ready in self.choose(store, member, now)? {
                busy_ms = now;
                self.shared().running.insert(ready.run.clone(), None);
                take(ready);
            }
            self.tell(terminal);
            let idle_ms = now.saturating_sub(busy_ms);
            if self.orders.idle_ms.is_some_and(|idle_max| idle_ms >= idle_max) && self.shared().running.is_empty() {
                break;
            }
            pause();
        }
        Ok(())
    }

    /// The runs that are left to others still.
    fn left(&self, now_ms: u64) -> BTreeMap<String, String> {
        let mut shared = self.shared();
        shared
            .left
            .retain(|_, left| now_ms.saturating_sub(left.since_ms) < LEFT_MS);
        let left = shared.left.iter();
        left.map(|(run, left)| (run.to_string(), left.why.clone())).collect()
    }

    /// Chooses as many runs as there is room for.
    fn choose(&self, store: &dyn Store, member: &Member, now_ms: u64) -> Result<Vec<Ready>, CommandError> {
        let (room, others) = {
            let shared = self.shared();
            let others = shared.running.len() + shared.left.len();
            (self.orders.concurrency.saturating_sub(shared.running.len()), others)
        };
        if room == 0 {
            return Ok(Vec::new());
        }
        // Others may want the same ones.
        let mut chosen: Vec<Ready> = Vec::new();
        for ready in store.ready(now_ms, room + others + ROOM_FOR_OTHERS)? {
            let is_free = {
                let shared = self.shared();
                !shared.running.contains_key(&ready.run) && !shared.left.contains_key(&ready.run)
            };
            let is_chosen = chosen.iter().any(|chosen| chosen.run == ready.run);
            if is_free && !is_chosen && member.wants(&ready.run) {
                chosen.push(ready);
            }
            if chosen.len() == room {
                break;
            }
        }
        Ok(chosen)
    }

    /// Executes a run on a thread of its own.
    fn execute(&self, ready: &Ready) {
        let name = name(&ready.run, &ready.branch);
        let outcome = self.go_on(ready);
        let mut shared = self.shared();
        shared.running.remove(&ready.run);
        match outcome {
            Ok(None) => {}
            Ok(Some(rested)) => shared.told.push(shown(&name, rested)),
            Err(error) => {
                let why = error.first_line();
                shared.told.push(format!("left {name} to others: {why}"));
                let since_ms = now_ms();
                shared.left.insert(ready.run.clone(), Left { since_ms, why });
            }
        }
    }

    /// Goes on with a run until it rests; `None` if somebody else was faster.
    fn go_on(&self, ready: &Ready) -> Result<Option<Rested>, CommandError> {
        let journal = self.orders.journal;
        let mut store = journal.open_to_write("work")?;
        let Some(head) = store.head(&ready.run, &ready.branch)? else {
            return Ok(None);
        };
        let place = Place {
            run: ready.run.clone(),
            branch: ready.branch.clone(),
            head,
            turn: None,
        };
        self.require_fit(&*store, &place)?;
        let options = self.orders.options.clone();
        let session = match Session::resume(&place, (&mut *store, journal.path()), options, "work") {
            Ok(session) => session,
            Err(error) => return self.not_taken(&mut *store, &place, error),
        };
        let reach = |waker: Option<Waker>| {
            self.shared().running.insert(ready.run.clone(), waker);
        };
        session.work(&mut *store, &reach).map(Some)
    }

    /// Gives up a run that this worker has claimed and cannot open.
    fn not_taken(
        &self,
        store: &mut dyn Store,
        place: &Place,
        error: CommandError,
    ) -> Result<Option<Rested>, CommandError> {
        let claim = store.claimed(&place.run)?;
        let owner = claim.as_ref().and_then(duet_journal::Claim::living);
        match claim.zip(owner) {
            Some((claim, owner)) if owner.is_same(&duet_journal::Owner::this("")) => {
                store.note_owner(&place.run, claim.epoch, "")?;
                Err(error)
            }
            Some(_) => Ok(None),
            None => Err(error),
        }
    }

    /// Requires that this process has what a run needs, before it claims the run.
    fn require_fit(&self, store: &dyn Store, place: &Place) -> Result<(), CommandError> {
        let genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
        if is_prompt(&genesis.program) {
            return Err(CommandError::problem(
                "it is a run of the prompt, where a person goes on with it",
            ));
        }
        let Some(note) = launch_note(store, &genesis) else {
            return Ok(());
        };
        if crate::imported::terms(store, &place.run)?.is_some() {
            // Its world is that of whoever imported it.
            return Ok(());
        }
        if !note.workspace.is_dir() {
            let workspace = note.workspace.display();
            return Err(CommandError::problem(format!(
                "its workspace {workspace} is not on this host"
            )));
        }
        let environment = environment();
        let is_there = |secret: &&String| environment.iter().any(|(name, _)| name.to_str() == Some(secret));
        if let Some(secret) = note.reach.secrets.iter().find(|secret| !is_there(secret)) {
            return Err(CommandError::problem(format!(
                "it needs the secret {secret}, which this worker lacks"
            )));
        }
        let options = note.reach.fit(self.orders.options.clone());
        options.tools(&note.workspace).map(drop)
    }

    /// Waits until all runs rest; those that take too long are interrupted.
    fn drain(&self, terminal: &mut Terminal) {
        let begun = now_ms();
        let mut is_interrupted = false;
        loop {
            self.tell(terminal);
            let shared = self.shared();
            if shared.running.is_empty() {
                return;
            }
            if !is_interrupted && now_ms().saturating_sub(begun) >= self.orders.drain_ms {
                is_interrupted = true;
                for waker in shared.running.values().flatten() {
                    waker.interrupt();
                }
            }
            drop(shared);
            pause();
        }
    }

    fn tell(&self, terminal: &mut Terminal) {
        let told = std::mem::take(&mut self.shared().told);
        told.into_iter().for_each(|line| terminal.message(line));
    }
}

/// How many runs more than there is room for a worker looks at: other workers take some of them at
/// the same time.
const ROOM_FOR_OTHERS: usize = 16;

fn pause() {
    #[expect(clippy::disallowed_methods, reason = "it waits for work; nothing enters a record")]
    thread::sleep(INTERVAL);
}

/// How a run rests, for people.
fn shown(name: &str, rested: Rested) -> String {
    match rested {
        Rested::Ended(code) => format!("{name} ended with code {code}"),
        Rested::Needing(Need::Input) => format!("{name} waits for an input"),
        Rested::Needing(Need::Moment(_)) => format!("{name} sleeps"),
        Rested::Needing(Need::Nothing) | Rested::Stopped => format!("{name} has stopped"),
        Rested::Interrupted => format!("{name} goes on elsewhere"),
    }
}
