//! Standard output and standard error.
//!
//! INVARIANT: bytes leave in the order of the effects, across both streams, and have left when [`Console::flush`] returns.
//! It does not read: `inlet.rs` does.
//! Read next: `inlet.rs`.

use std::io::{self, IsTerminal, Write};

use duet_runtime::driver::Stream;
use indicatif::ProgressDrawTarget;

use crate::progress::Bar;

/// The two output streams and the progress line that shares a terminal with them.
pub struct Console {
    output: Sink,
    error: Sink,
    last: Stream,
    bar: Bar,
    /// Whether the last line written has no end yet, so that a progress line would overwrite it.
    is_line_open: bool,
}

/// A stream, until it cannot be written any more.
struct Sink {
    name: &'static str,
    writer: Option<Box<dyn Write + Send>>,
}

impl Console {
    /// Makes the console of this process, with a progress line if standard error is a terminal.
    pub fn standard() -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self::new(Box::new(io::stdout()), Box::new(io::stderr()), target)
    }

    /// Makes a console that writes where it is told, and draws progress on `progress`.
    pub fn new(output: Box<dyn Write + Send>, error: Box<dyn Write + Send>, progress: ProgressDrawTarget) -> Self {
        Self {
            output: Sink {
                name: "standard output",
                writer: Some(output),
            },
            error: Sink {
                name: "standard error",
                writer: Some(error),
            },
            last: Stream::Output,
            bar: Bar::new(progress),
            is_line_open: false,
        }
    }

    /// Writes bytes to a stream, after all that was written before to either.
    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if self.last != stream {
            self.flush();
            self.last = stream;
        }
        let sink = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        self.bar.clear();
        let failed = sink.attempt(|writer| writer.write_all(bytes));
        self.is_line_open = bytes.last().map_or(self.is_line_open, |last| *last != b'\n');
        self.report(failed);
    }

    /// Writes a line of text to standard error.
    pub fn line(&mut self, text: &str) {
        self.write(Stream::Error, format!("{text}\n").as_bytes());
    }

    /// Shows text on standard error behind which the person types.
    pub fn prompt(&mut self, text: &str) {
        self.write(Stream::Error, text.as_bytes());
        self.flush();
        // The person ends the line.
        self.is_line_open = false;
    }

    /// Shows how far a piece of work has come.
    pub fn progress(&mut self, label: &str, done: u64, total: u64) {
        if self.bar.is_hidden() {
            return;
        }
        if self.is_line_open {
            self.write(Stream::Error, b"\n");
        }
        self.flush();
        self.bar.show(label, done, total);
    }

    /// Sends on what is still held back.
    pub fn flush(&mut self) {
        let sink = match self.last {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let failed = sink.attempt(Write::flush);
        self.report(failed);
    }

    /// Says whether standard output has been closed by its reader, or failed.
    pub fn is_output_closed(&self) -> bool {
        self.output.writer.is_none()
    }

    /// Takes the progress line away and sends on what is held back.
    pub fn finish(&mut self) {
        self.flush();
        self.bar.clear();
    }

    /// Tells the person that a stream failed. That a reader has had enough, as in `| head`, is no news.
    fn report(&mut self, failed: Option<(&'static str, io::Error)>) {
        if let Some((name, error)) = failed
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            let text = format!("cannot write to {name}: {error}\n");
            // If that fails too there is nobody left to tell.
            let _ = self.error.attempt(|writer| writer.write_all(text.as_bytes()));
        }
    }
}

impl Sink {
    /// Does `work` unless the stream has failed before; returns the failure the first time.
    fn attempt(
        &mut self,
        work: impl FnOnce(&mut Box<dyn Write + Send>) -> io::Result<()>,
    ) -> Option<(&'static str, io::Error)> {
        let error = work(self.writer.as_mut()?).err()?;
        self.writer = None;
        Some((self.name, error))
    }
}

#[cfg(test)]
mod tests;
