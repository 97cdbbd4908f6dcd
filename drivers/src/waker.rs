//! The waker: how other threads reach the thread that runs turns.
//!
//! Owns interruptions: the report, and the flag for a turn that takes too long to end by itself.
//! INVARIANT: the flag is set only while an interruption has not been taken.
//! It stops nothing; whoever runs turns looks at the flag.
//! Read next: `world.rs`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::report::{Report, Reporter};
use crate::threads::Threads;

/// The time that a turn has to end by itself after an interruption. A person does not notice it,
/// and nearly all turns are shorter, so that an interruption rarely fails one.
const PATIENCE: Duration = Duration::from_millis(40);

/// Wakes the thread that runs turns; clones wake the same one.
#[derive(Clone)]
pub struct Waker {
    reporter: Reporter,
    stop: Stop,
    threads: Threads,
}

/// Whether the current turn should stop.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    /// The number of interruptions that nobody has taken yet.
    waiting: Arc<Mutex<u64>>,
}

impl Stop {
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Notes an interruption, which is reported next.
    pub(crate) fn note(&self) {
        self.with_waiting(|waiting| *waiting += 1);
    }

    /// Takes the interruptions so far. Returns whether there are any: the report of one that was
    /// taken already means nothing.
    pub(crate) fn take(&self) -> bool {
        let mut are_any = false;
        self.with_waiting(|waiting| {
            are_any = *waiting > 0;
            *waiting = 0;
            self.flag.store(false, Ordering::Relaxed);
        });
        are_any
    }

    /// Stops the turn, if an interruption waits for its end.
    fn end_turn(&self) {
        self.with_waiting(|waiting| {
            if *waiting > 0 {
                self.flag.store(true, Ordering::Relaxed);
            }
        });
    }

    fn with_waiting(&self, change: impl FnOnce(&mut u64)) {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Waker {
    pub(crate) fn new(threads: &Threads, reporter: &Reporter, stop: &Stop) -> Self {
        Self {
            reporter: reporter.clone(),
            stop: stop.clone(),
            threads: threads.clone(),
        }
    }

    /// Interrupts the run at every Ctrl-C. The handler is installed when this function returns.
    pub(crate) fn watch_interrupts(self) -> io::Result<()> {
        self.watch(SignalKind::interrupt(), || ())
    }

    /// Interrupts the run when the system or a supervisor asks the process to end (SIGTERM), and
    /// sets the flag before. The handler is installed when this function returns.
    pub(crate) fn watch_termination(self, flag: Arc<AtomicBool>) -> io::Result<()> {
        self.watch(SignalKind::terminate(), move || flag.store(true, Ordering::Relaxed))
    }

    fn watch(self, kind: SignalKind, first: impl Fn() + Send + 'static) -> io::Result<()> {
        let runtime = self.threads.begin()?;
        let _guard = runtime.enter();
        let mut signals = signal(kind)?;
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                first();
                if !self.interrupt() {
                    break;
                }
            }
        });
        Ok(())
    }

    /// Wakes the thread if it waits for an input.
    pub fn wake(&self) {
        // The world may have been dropped.
        let _ = self.reporter.send(Report::Wake);
    }

    /// Interrupts the run; a turn that does not end soon is to stop. Returns `false` if nobody
    /// listens any more.
    pub fn interrupt(&self) -> bool {
        self.stop.note();
        let stop = self.stop.clone();
        match self.threads.begin() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(PATIENCE).await;
                stop.end_turn();
            })),
            // Nobody measures the time.
            Err(_) => stop.end_turn(),
        }
        self.reporter.send(Report::Interrupt).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interruption_that_nobody_takes_sets_the_flag() {
        let threads = Threads::default();
        let runtime = threads.begin().expect("threads");
        let (reporter, reports) = Reporter::new(crate::clock::WorldClock::default());
        let stop = Stop::default();
        let waker = Waker::new(&threads, &reporter, &stop);
        let is_set = || stop.flag().load(Ordering::Relaxed);
        assert!(waker.interrupt());
        assert!(stop.take() && !stop.take(), "an interruption is taken once");
        runtime.block_on(async { tokio::time::sleep(PATIENCE * 4).await });
        assert!(!is_set());
        assert!(waker.interrupt());
        while !is_set() {
            std::thread::yield_now();
        }
        assert!(stop.take());
        assert!(!is_set());
        assert_eq!(reports.try_iter().count(), 2);
        drop(reports);
        assert!(!waker.interrupt());
    }
}
