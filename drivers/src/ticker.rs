//! A ticker: does something at regular times while the thread that runs turns does its own work.
//!
//! INVARIANT: it ticks on a thread of its own, so a long turn does not stop it; it stops when it is
//! dropped, or when a tick says so.
//!
//! It does not know what a tick does. Read next: `waker.rs`.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// A ticker that runs until it is dropped.
pub struct Ticker {
    _alive: Sender<()>,
}

impl Ticker {
    /// Calls `tick` after each interval, until it returns false.
    ///
    /// # Errors
    /// If the system gives no thread.
    #[expect(clippy::disallowed_methods, reason = "concurrency belongs to drivers")]
    pub fn start(interval: Duration, mut tick: impl FnMut() -> bool + Send + 'static) -> io::Result<Self> {
        let (alive, ended) = channel();
        thread::Builder::new().name("duet-ticker".to_owned()).spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) && tick() {}
        })?;
        Ok(Self { _alive: alive })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ticks_until_it_is_dropped_or_a_tick_says_so() {
        let (ticks, heard) = channel();
        let again = ticks.clone();
        let ticker = Ticker::start(Duration::from_millis(1), move || again.send(()).is_ok()).expect("a thread");
        for _ in 0..3 {
            heard.recv().expect("it ticks");
        }
        drop(ticker);
        drop(ticks);
        // Its thread ends, and with it the last sender.
        while heard.recv().is_ok() {}
        let (ticks, heard) = channel();
        let mut left = 2;
        let _heart = Ticker::start(Duration::from_millis(1), move || {
            left -= 1;
            ticks.send(()).is_ok() && left > 0
        });
        assert_eq!(heard.iter().count(), 2);
    }
}
