//! A heart: does something at regular times while the thread that runs turns does its own work.
//!
//! INVARIANT: it beats on a thread of its own, so a long turn does not stop it; it stops when it is
//! dropped, or when a beat says so.
//!
//! It does not know what a beat does. Read next: `bell.rs`.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// A heart that beats until it is dropped.
pub struct Heart {
    _alive: Sender<()>,
}

impl Heart {
    /// Calls `beat` after each interval, until it returns false.
    ///
    /// # Errors
    /// If the system gives no thread.
    #[expect(clippy::disallowed_methods, reason = "concurrency belongs to drivers")]
    pub fn start(interval: Duration, mut beat: impl FnMut() -> bool + Send + 'static) -> io::Result<Self> {
        let (alive, ended) = channel();
        thread::Builder::new().name("duet-heart".to_owned()).spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) && beat() {}
        })?;
        Ok(Self { _alive: alive })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_beats_until_it_is_dropped_or_a_beat_says_so() {
        let (beats, heard) = channel();
        let again = beats.clone();
        let heart = Heart::start(Duration::from_millis(1), move || again.send(()).is_ok()).expect("a thread");
        for _ in 0..3 {
            heard.recv().expect("it beats");
        }
        drop(heart);
        drop(beats);
        // Its thread ends, and with it the last sender.
        while heard.recv().is_ok() {}
        let (beats, heard) = channel();
        let mut left = 2;
        let _heart = Heart::start(Duration::from_millis(1), move || {
            left -= 1;
            beats.send(()).is_ok() && left > 0
        });
        assert_eq!(heard.iter().count(), 2);
    }
}
