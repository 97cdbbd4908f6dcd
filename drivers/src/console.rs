//! Standard output and standard error.
//!
//! INVARIANT: bytes are written in the order of the effects, across both streams, and have been
//! written when [`Console::flush`] returns.
//! It does not read; `input.rs` does.
//! Read next: `input.rs`.

use std::io::{self, IsTerminal, Write};

use duet_runtime::driver::Stream;
use indicatif::ProgressDrawTarget;

use crate::progress::Bar;
use crate::text::Text;

/// The two output streams and the progress line that shares a terminal with them.
pub struct Console {
    output: Sink,
    error: Sink,
    last: Stream,
    bar: Bar,
    /// Whether the last line has no end yet, so that a progress line would overwrite it.
    is_line_open: bool,
    /// Whether both streams are the same terminal, where a line of one goes on that of the other.
    is_shared: bool,
    /// The text behind which a person may be typing, whom a line that is redrawn would disturb.
    prompted: Option<Text>,
    /// The text behind which a person was typing when output came.
    interrupted: Option<Text>,
}

/// A stream; the writer is dropped when it fails.
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
        Self {
            is_shared: io::stdout().is_terminal() && io::stderr().is_terminal(),
            ..Self::new(Box::new(io::stdout()), Box::new(io::stderr()), target)
        }
    }

    /// Makes a console that writes to `output` and `error`, and draws progress on `progress`.
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
            is_shared: false,
            prompted: None,
            interrupted: None,
        }
    }

    /// Makes a console that writes to `output` and `error`, and shows no progress.
    pub fn without_progress(output: Box<dyn Write + Send>, error: Box<dyn Write + Send>) -> Self {
        Self::new(output, error, ProgressDrawTarget::hidden())
    }

    /// Writes bytes to a stream, after all earlier bytes of both streams.
    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if let Some(text) = self.prompted.take().filter(|_| self.is_shared) {
            self.interrupted = Some(text);
            self.write(Stream::Error, b"\n");
        }
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

    /// Ends the line that a program has left open on the terminal, so that what Duet says begins
    /// one.
    pub fn end_line(&mut self) {
        if self.is_shared && self.is_line_open {
            self.write(Stream::Error, b"\n");
        }
    }

    /// Writes a line of text to standard error.
    pub fn line(&mut self, text: impl Into<Text>) {
        self.end_line();
        self.write(Stream::Error, text.into().ended().as_str().as_bytes());
    }

    /// Shows text on standard error; the person types behind it.
    pub fn prompt(&mut self, text: &Text) {
        self.write(Stream::Error, text.as_str().as_bytes());
        self.flush();
        // The person ends the line.
        self.is_line_open = false;
        self.interrupted = None;
        self.prompted = Some(text.clone());
    }

    /// Notes that the person has ended the line behind a text, or that nobody will.
    pub fn end_prompt(&mut self) {
        self.prompted = None;
        self.interrupted = None;
    }

    /// Writes what the streams have buffered, and shows the text again behind which the person was
    /// typing when output came.
    pub fn settle(&mut self) {
        self.flush();
        if let Some(text) = self.interrupted.take() {
            self.end_line();
            self.prompt(&text);
        }
    }

    /// Shows the progress of a piece of work.
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

    /// Shows the newest words of somebody who is talking, in place of the progress line, where they
    /// disturb nothing.
    pub(crate) fn live(&mut self, words: &str) {
        if !(self.bar.is_hidden() || self.is_line_open || self.prompted.is_some()) {
            self.flush();
            self.bar.say(words);
        }
    }

    /// Clears the words of somebody who was talking.
    pub(crate) fn end_live(&mut self) {
        self.bar.clear_words();
    }

    /// Writes what the streams have buffered.
    pub fn flush(&mut self) {
        let sink = match self.last {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let failed = sink.attempt(Write::flush);
        self.report(failed);
    }

    /// Says whether the reader of standard output has closed it, or it has failed.
    pub fn is_output_closed(&self) -> bool {
        self.output.writer.is_none()
    }

    /// Writes what the streams have buffered, ends the line, and clears the progress line.
    pub fn finish(&mut self) {
        self.end_line();
        self.flush();
        self.bar.clear();
    }

    /// Tells the person that a stream failed, unless its reader has closed it, as `| head` does.
    fn report(&mut self, failed: Option<(&'static str, io::Error)>) {
        if let Some((name, error)) = failed
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            let text = format!("cannot write to {name}: {error}\n");
            // If this fails too, there is no way to tell the person.
            let _ = self.error.attempt(|writer| writer.write_all(text.as_bytes()));
        }
    }
}

impl Sink {
    /// Runs `work` unless the stream has failed before; returns the first failure.
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
pub(crate) mod screen;
#[cfg(test)]
mod tests;
