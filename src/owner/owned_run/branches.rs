//! Further branches of a run that its owner executes: sessions that have forked away go on there.
//!
//! INVARIANT: a branch is executed under the claim of its run, and ends before its owner gives the
//! run up. If the owner claims the run anew, as it does to go back, the branch goes on.
//! Rejected: claims of single branches. A prompt in another process could then execute the branch,
//! but whoever forks, goes back or collects garbage would have to respect several owners.
//! It begins no branch; `serve.rs` does. Read next: `serve.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use duet_drivers::serve::host::Host;
use duet_drivers::waker::Waker;
use duet_journal::{BranchName, Epoch, Store};

use super::OwnedRun;
use crate::history::journal::{Journal, Place};
use crate::text::error::CommandError;
use crate::text::terminal::Terminal;
use crate::world::world_options::WorldOptions;

/// Lets the clients of a server reach a branch, by its address.
pub(crate) type Announce = Arc<dyn Fn(String, Host) + Send + Sync>;

/// The further branches of a run.
#[derive(Default)]
pub(crate) struct Branches {
    options: WorldOptions,
    announce: Option<Announce>,
    going: Vec<BranchThread>,
}

/// A branch that is executed, on a thread of its own.
struct BranchThread {
    branch: BranchName,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    waker: Mutex<Option<Waker>>,
    is_stopping: AtomicBool,
    /// The epoch under which the owner has claimed the run anew.
    renewed: Mutex<Option<Epoch>>,
}

impl Shared {
    fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.interrupt();
    }

    fn renew(&self, epoch: Epoch) {
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = Some(epoch);
        self.interrupt();
    }

    fn take_renewed(&self) -> Option<Epoch> {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn interrupt(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker.interrupt();
        }
    }
}

impl Drop for Branches {
    fn drop(&mut self) {
        self.going.iter().for_each(|going| going.shared.stop());
        for going in self.going.drain(..) {
            // A thread that has panicked has said so.
            let _panicked = going.thread.join();
        }
    }
}

impl Branches {
    /// None yet; each will have the run's world but its person. It reaches what its own turns have
    /// been granted.
    pub(super) fn of(options: &WorldOptions) -> Self {
        let screen = options.streams.as_ref().and_then(|streams| streams.screen());
        let options = WorldOptions {
            streams: None,
            screen: screen.or_else(|| options.screen.clone()),
            is_detached: true,
            ..options.clone().without_reach()
        };
        Self {
            options,
            announce: None,
            going: Vec::new(),
        }
    }

    pub(super) fn announce_to(&mut self, announce: Announce) {
        self.announce = Some(announce);
    }

    /// Has the branches go on under the epoch of a new claim.
    pub(super) fn renew(&self, epoch: Epoch) {
        self.going.iter().for_each(|going| going.shared.renew(epoch));
    }

    /// Whether a branch is executed.
    pub(super) fn has(&self, branch: &BranchName) -> bool {
        let mut going = self.going.iter();
        going.any(|going| going.branch == *branch && !going.thread.is_finished())
    }

    /// Executes a branch of the run from its head on, under the epoch that the run's owner holds.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub(super) fn begin(&mut self, journal: Journal, place: Place, epoch: Epoch) -> Result<(), String> {
        super::share_memory();
        let (ready, begun) = channel();
        let (branch, address) = (place.branch.clone(), format!("{}/{}", place.run, place.branch));
        let shared = Arc::new(Shared::default());
        let job = Job {
            journal,
            place,
            options: self.options.clone(),
            shared: Arc::clone(&shared),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "each branch has one thread, and a run of its own"
        )]
        let thread = thread::Builder::new()
            .name("duet-branch".to_owned())
            .spawn(move || job.execute(epoch, &ready))
            .map_err(|error| error.to_string())?;
        let host = begun
            .recv()
            .unwrap_or_else(|_| Err("the branch stopped at once".to_owned()))?;
        if let Some(announce) = &self.announce {
            announce(address, host);
        }
        self.going.retain(|going| !going.thread.is_finished());
        self.going.push(BranchThread { branch, shared, thread });
        Ok(())
    }
}

/// A branch to execute.
struct Job {
    journal: Journal,
    place: Place,
    options: WorldOptions,
    shared: Arc<Shared>,
}

/// How long the run may be without an owner while its owner goes back, in looks.
const LOOKS_MAX: u32 = 200;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

impl Job {
    /// Executes the branch until it is stopped, and says once that clients can come.
    fn execute(self, epoch: Epoch, ready: &Sender<Result<Host, String>>) {
        let mut terminal = Terminal::standard();
        terminal.screen.clone_from(&self.options.screen);
        if let Err(error) = self.go_on(epoch, ready, &mut terminal)
            && ready.send(Err(error.first_line())).is_err()
        {
            let (name, why) = (self.place.name(), error.first_line());
            terminal.message(format!("{name} has stopped: {why}"));
        }
    }

    fn go_on(
        &self,
        mut epoch: Epoch,
        ready: &Sender<Result<Host, String>>,
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        let mut store = self.journal.open_to_write("serve")?;
        loop {
            let at = self.journal.opened(&mut *store);
            let mut owned = OwnedRun::resume_held(&self.place, at, self.options.clone(), epoch)?;
            *self.shared.waker.lock().unwrap_or_else(PoisonError::into_inner) = owned.waker();
            // Nobody listens after the first time.
            let _begun = ready.send(Ok(owned.host()));
            if self.shared.is_stopping.load(Ordering::Relaxed) {
                return Ok(());
            }
            owned.leave_when_interrupted();
            let driven = owned.run_on(&mut store);
            if let Some(renewed) = self.shared.take_renewed() {
                epoch = renewed;
                continue;
            }
            match driven {
                Ok(rest) => return owned.conclude(rest, false, terminal).map(drop),
                Err(error) => {
                    drop(owned);
                    epoch = self.await_renewal(&store, epoch)?.ok_or(error)?;
                }
            }
        }
    }

    /// Waits for the epoch under which the owner claims the run anew, if the old one has passed.
    fn await_renewal(&self, store: &dyn Store, before: Epoch) -> Result<Option<Epoch>, CommandError> {
        for _ in 0..LOOKS_MAX {
            let is_current = store
                .claimed(&self.place.run)?
                .is_none_or(|claim| claim.epoch == before);
            if is_current || self.shared.is_stopping.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if let Some(renewed) = self.shared.take_renewed() {
                return Ok(Some(renewed));
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "it waits for its owner; nothing enters a record"
            )]
            thread::sleep(INTERVAL);
        }
        Ok(None)
    }
}
