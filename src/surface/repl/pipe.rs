//! The lines of a prompt that reads a file or a pipe: another thread waits for each, so that the
//! run goes on for others who have joined it.
//!
//! INVARIANT: a line is read only when it is asked for, so the program gets the lines that follow
//! the text which reads them.
//! It evaluates nothing. Read next: `evaluation.rs`.

use crate::world::streams::SharedWaker;
use std::io;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A line with its end; an empty one is the end of the input.
type Line = io::Result<String>;

/// How long the run waits for a line before it goes on by itself. The lines of a file come sooner,
/// so that its texts have the same turns each time.
const SOON: Duration = Duration::from_millis(100);

/// The lines of standard input.
pub(crate) struct Pipe {
    wanted: Sender<()>,
    lines: Receiver<Line>,
    line: Option<Line>,
}

impl Pipe {
    /// Begins to read; each line calls the waker.
    pub(crate) fn start(waker: SharedWaker) -> Self {
        let (wanted, asked) = channel();
        let (given, lines) = channel();
        #[expect(clippy::disallowed_methods, reason = "it waits for input while the run goes on")]
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                let mut line = String::new();
                let read = io::stdin().read_line(&mut line);
                if given.send(read.map(|_| line)).is_err() {
                    return;
                }
                if let Some(waker) = &*waker.lock().unwrap_or_else(PoisonError::into_inner) {
                    waker.wake();
                }
            }
        });
        Self {
            wanted,
            lines,
            line: None,
        }
    }

    /// Asks for the next line.
    pub(crate) fn ask(&self) {
        // If the thread has ended, `wait` says so.
        let _ = self.wanted.send(());
    }

    /// Whether the line is there, or comes at once.
    pub(crate) fn has_line_soon(&mut self) -> bool {
        if self.line.is_none() {
            self.line = self.lines.recv_timeout(SOON).ok();
        }
        self.has_line()
    }

    /// Whether the line is there.
    pub(crate) fn has_line(&mut self) -> bool {
        if self.line.is_none() {
            self.line = self.lines.try_recv().ok();
        }
        self.line.is_some()
    }

    /// Waits for the line that was asked for.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn wait(&mut self) -> Line {
        let line = self.line.take().or_else(|| self.lines.recv().ok());
        line.unwrap_or_else(|| Ok(String::new()))
    }
}
