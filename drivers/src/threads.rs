//! The threads of a world's tasks. They begin with the first task: most runs that a worker wakes
//! take a turn or two and need none.
//!
//! INVARIANT: they begin at most once, and end with the world, whoever else knows of them.
//! It does not know the tasks. Read next: `waker.rs`.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// The threads of one world; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Threads(Arc<Mutex<State>>);

#[derive(Default)]
enum State {
    #[default]
    NotBegun,
    Begun(Runtime),
    Over,
}

impl Threads {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the way to the threads, which begin if need be.
    ///
    /// # Errors
    /// If the operating system gives no threads, or they have ended.
    pub(crate) fn begin(&self) -> io::Result<Handle> {
        let mut state = self.state();
        if matches!(*state, State::NotBegun) {
            let runtime = Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("duet-drivers")
                .enable_all()
                .build()?;
            *state = State::Begun(runtime);
        }
        match &*state {
            State::Begun(runtime) => Ok(runtime.handle().clone()),
            State::NotBegun | State::Over => Err(io::Error::other("the threads of the run have ended")),
        }
    }

    /// Returns the way to the threads, if they have begun.
    pub(crate) fn begun(&self) -> Option<Handle> {
        match &*self.state() {
            State::Begun(runtime) => Some(runtime.handle().clone()),
            State::NotBegun | State::Over => None,
        }
    }

    /// Ends the threads, except those that wait for the system; these end with the process.
    pub(crate) fn end(&self) {
        if let State::Begun(runtime) = std::mem::replace(&mut *self.state(), State::Over) {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_begin_when_they_are_needed_and_never_after_their_end() {
        let threads = Threads::default();
        assert!(threads.begun().is_none());
        let handle = threads.begin().expect("threads");
        assert_eq!(handle.block_on(async { 1 }), 1);
        assert!(threads.clone().begun().is_some());
        threads.end();
        assert!(threads.begun().is_none() && threads.begin().is_err());
        let unused = Threads::default();
        unused.end();
        assert!(unused.begin().is_err());
    }
}
