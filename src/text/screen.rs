//! The screen: everything that a session writes, and the prompt below it.
//!
//! Owns the end of the newest line, and the way to write while the person types.
//! INVARIANT: a prompt begins a line, nothing that is written is lost or overwritten, and while a
//! prompt stands a program cannot move the cursor.
//! It neither reads nor evaluates.
//! Read next: `surface/repl/editor_thread.rs`.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use duet_drivers::text::Text;
use duet_runtime::driver::Stream;

/// Prints above the prompt.
pub(crate) type Printer = Box<dyn rustyline::ExternalPrinter + Send>;

/// The terminal of a session.
#[derive(Debug, Default)]
pub(crate) struct Screen(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the newest line has no end yet.
    is_line_open: bool,
    /// Whether a prompt stands below what is written.
    is_prompting: bool,
    /// Text for above the prompt, until it is flushed.
    above: String,
    /// The beginning of a character that the program writes above the prompt.
    cut: Vec<u8>,
    /// Where texts for above the prompt go; `None` if the terminal cannot move its cursor.
    printer: Option<Sender<Job>>,
}

/// A task for the thread that prints above the prompt.
#[derive(Debug)]
enum Job {
    Print(String),
    /// Answer when all earlier tasks are done.
    Settle(Sender<()>),
}

/// The longest wait for the printer when the prompt goes or comes. The line editor does not print
/// while it searches its history, and then the text appears above the next prompt.
const SETTLING: Duration = Duration::from_millis(100);

impl Screen {
    /// Writes text; while a prompt stands, it appears above it when it is flushed.
    pub(crate) fn write(&self, stream: Stream, text: &Text) -> io::Result<()> {
        let mut state = self.state();
        if state.is_above(stream) {
            state.above.push_str(text.as_str());
            return Ok(());
        }
        state.put(stream, text.as_str().as_bytes())
    }

    /// Writes the console output of the program: in the foreground as it is, above a prompt as text
    /// for people.
    pub(crate) fn write_program(&self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        if state.is_above(stream) {
            let text = state.whole(bytes);
            state.above.push_str(Text::lines(&text).as_str());
            return Ok(());
        }
        state.put(stream, bytes)
    }

    /// Shows what was written.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let mut state = self.state();
        if !state.above.is_empty() {
            let text = std::mem::take(&mut state.above);
            if let Some(printer) = &state.printer {
                // The thread lives as long as the screen.
                let _ = printer.send(Job::Print(text));
            }
        }
        drop(state);
        io::stdout().flush()
    }

    /// Ends the newest line if it has no end yet.
    pub(crate) fn end_line(&self) -> io::Result<()> {
        let mut state = self.state();
        if state.is_line_open && !state.is_prompting {
            state.is_line_open = false;
            io::stdout().write_all(b"\n")?;
            io::stdout().flush()?;
        }
        Ok(())
    }

    /// Prepares for a prompt, from which on text appears above it.
    pub(crate) fn begin_prompt(&self) -> io::Result<()> {
        self.flush()?;
        self.end_line()?;
        self.settle();
        self.state().is_prompting = true;
        Ok(())
    }

    /// Notes that the prompt has gone.
    pub(crate) fn end_prompt(&self) -> io::Result<()> {
        let flushed = self.flush();
        self.state().is_prompting = false;
        self.settle();
        flushed
    }

    /// Uses a printer for text above the prompt.
    pub(crate) fn print_with(&self, printer: Printer) {
        let (jobs, queue) = channel();
        #[expect(
            clippy::disallowed_methods,
            reason = "the line editor's printer may wait for the editor, the run must not"
        )]
        std::thread::spawn(move || print(printer, &queue));
        self.state().printer = Some(jobs);
    }

    /// Waits until everything for above the prompt is shown.
    fn settle(&self) {
        let (done, settled) = channel();
        let is_sent = |printer: &Sender<Job>| printer.send(Job::Settle(done)).is_ok();
        let is_sent = self.state().printer.as_ref().is_some_and(is_sent);
        if is_sent {
            let _ = settled.recv_timeout(SETTLING);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_above(&self, stream: Stream) -> bool {
        self.is_prompting && self.printer.is_some() && is_terminal(stream)
    }

    /// Writes bytes below what stands.
    fn put(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if is_terminal(stream)
            && let Some(last) = bytes.last()
        {
            self.is_line_open = *last != b'\n';
        }
        match stream {
            Stream::Output => io::stdout().write_all(bytes),
            Stream::Error => io::stderr().write_all(bytes),
        }
    }

    /// The characters that are whole with these bytes; the beginning of another waits for its rest.
    fn whole(&mut self, bytes: &[u8]) -> String {
        self.cut.extend_from_slice(bytes);
        let end = match std::str::from_utf8(&self.cut) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.cut.len(),
        };
        let rest = self.cut.split_off(end);
        String::from_utf8_lossy(&std::mem::replace(&mut self.cut, rest)).into_owned()
    }
}

fn is_terminal(stream: Stream) -> bool {
    match stream {
        Stream::Output => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    }
}

fn print(mut printer: Printer, queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        match job {
            Job::Print(mut text) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                // Nobody reads a terminal that cannot be written.
                let _ = printer.print(text);
            }
            Job::Settle(done) => {
                let _ = done.send(());
            }
        }
    }
}
