//! The interruptions of a run: by a person, by another thread, by the system that ends the process.
//!
//! INVARIANT: an interruption reaches the run as an input; only a turn that takes too long is
//! stopped by the flag.
//! It does not end the process; whoever drives the run does.
//! Read next: `../waker.rs`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Engine, World};
use crate::waker::Waker;

impl World {
    /// Returns the waker for other threads; `None` while the world is being dropped.
    pub fn waker(&self) -> Option<Waker> {
        let Engine { threads, .. } = self.engine.as_ref()?;
        Some(Waker::new(threads, &self.reporter, &self.stop))
    }

    /// Returns the flag that is set while an interruption waits too long for the end of a turn.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.flag()
    }

    /// Forgets the interruptions that nobody has taken yet.
    pub fn forget_interruptions(&self) {
        self.stop.take();
    }

    /// Interrupts the run, in place of ending the process at once, when the process is asked to end
    /// (SIGTERM); whoever drives the run then leaves it.
    ///
    /// # Errors
    /// If the operating system gives no signals.
    pub fn leave_when_terminated(&self) -> io::Result<()> {
        let waker = self.waker();
        waker.map_or(Ok(()), |waker| waker.watch_termination(Arc::clone(&self.is_terminated)))
    }

    /// Says whether the process was asked to end.
    pub fn is_terminated(&self) -> bool {
        self.is_terminated.load(Ordering::Relaxed)
    }
}
