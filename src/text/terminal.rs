//! The output of commands: data to standard output, messages to standard error.
//!
//! INVARIANT: a stream that its reader has closed never makes the process panic: a command whose
//! data cannot be written ends quietly, and messages that cannot be written are dropped. The output
//! of programs does not pass here; the console driver writes it.
//! Read next: `render.rs`.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use duet_drivers::text::Text;
use duet_runtime::driver::Stream;
use rustix::termios::tcgetwinsize;

use crate::text::error::{CommandError, ExitCode, name_lost};
use crate::text::pager::{Pager, Taken};
use crate::text::render;
use crate::text::saying::{Saying, Speaker};
use crate::text::screen::Screen;
use crate::text::view::View;

/// The process's output, and whether people see it.
pub(crate) struct Terminal {
    /// Whether messages may have colours.
    pub(crate) is_styled: bool,
    /// Whether the person and the kind of the terminal want colours.
    pub(crate) wants_colour: bool,
    /// Whether a person sees the messages.
    pub(crate) is_watched: bool,
    /// Who spells the ways on that messages name.
    pub(crate) speaker: Speaker,
    /// The task of this process.
    pub(crate) task: Task,
    /// The screen of the prompt, if there is one: then everything goes through it.
    pub(crate) screen: Option<Arc<Screen>>,
    /// The messages so far, if they are kept in place of being shown.
    pub(crate) kept: Option<String>,
    /// Whether a person may read data through a pager, which begins with the first data.
    is_paged: bool,
    pager: Option<Paging>,
}

/// A pager, and the messages that wait for its end.
struct Paging {
    pager: Pager,
    messages: Vec<Text>,
}

/// The task of a process.
pub(crate) enum Task {
    /// The words of a command line.
    Words(Vec<OsString>),
    /// A request that came on standard input, as a process without a terminal reads it.
    Request(Vec<String>),
}

impl Terminal {
    /// Shows an error; returns its exit code.
    pub(crate) fn tell_error(&mut self, error: CommandError) -> ExitCode {
        match error {
            CommandError::Problem(problem) => {
                self.message(render::problem(&problem, self.speaker, self.is_styled));
                problem.code
            }
            CommandError::Shown(text) => {
                self.message(text);
                ExitCode::FAILED
            }
            CommandError::Usage(text) => {
                self.message(text);
                ExitCode::USAGE
            }
            // A reader that reads no further has all it wants, as in `| head`.
            CommandError::OutputClosed => ExitCode::OK,
            CommandError::NameLost(run) => {
                self.message(name_lost(&run));
                ExitCode::FAILED
            }
        }
    }

    /// The streams of this process.
    pub(crate) fn standard() -> Self {
        let is_watched = io::stderr().is_terminal();
        #[expect(
            clippy::disallowed_methods,
            reason = "conventions for the command line only, https://no-color.org and terminfo"
        )]
        let (no_colour, kind) = (std::env::var_os("NO_COLOR"), std::env::var_os("TERM"));
        let wants_colour = no_colour.is_none_or(|value| value.is_empty()) && kind.is_none_or(|kind| kind != "dumb");
        Self {
            is_styled: is_watched && wants_colour,
            wants_colour,
            is_watched,
            speaker: Speaker::Command,
            task: Task::Words(Vec::new()),
            screen: None,
            kept: None,
            is_paged: false,
            pager: None,
        }
    }

    /// Keeps messages in place of showing them.
    pub(crate) fn keeping() -> Self {
        Self {
            kept: Some(String::new()),
            ..Self::standard()
        }
    }

    /// Whether a line of progress can stand on standard error: a person sees it, and nothing else
    /// draws there.
    pub(crate) fn has_line(&self) -> bool {
        self.is_watched && self.screen.is_none() && self.kept.is_none()
    }

    /// How reports are shown here: fitted and styled if standard output is a terminal.
    pub(crate) fn view(&self) -> View {
        let output = io::stdout();
        let is_terminal = output.is_terminal();
        let size = is_terminal.then(|| tcgetwinsize(&output).ok()).flatten();
        let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        View {
            columns,
            is_styled: is_terminal && self.wants_colour,
            is_watched: self.is_watched,
            speaker: self.speaker,
            ..View::default()
        }
    }

    /// Writes data.
    ///
    /// # Errors
    /// [`CommandError::OutputClosed`] if the reader has closed it.
    pub(crate) fn data(&mut self, text: impl Into<Text>) -> Result<(), CommandError> {
        let text = text.into();
        if let Some(screen) = &self.screen {
            screen.end_line()?;
            screen.write(Stream::Output, &text)?;
            return Ok(screen.flush()?);
        }
        if std::mem::take(&mut self.is_paged) {
            self.pager = Pager::begin().map(|pager| Paging {
                pager,
                messages: Vec::new(),
            });
        }
        if let Some(Paging { pager, .. }) = &mut self.pager {
            return match pager.write(text.as_str().as_bytes())? {
                Taken::Yes => Ok(()),
                Taken::Enough => Err(CommandError::OutputClosed),
            };
        }
        let mut output = io::stdout().lock();
        output.write_all(text.as_str().as_bytes())?;
        Ok(output.flush()?)
    }

    /// Writes a text of which each character counts: a file or another program gets it as it is, a
    /// terminal as [`data`](Self::data).
    ///
    /// # Errors
    /// [`CommandError::OutputClosed`] if the reader has closed it.
    pub(crate) fn exact(&mut self, text: &str) -> Result<(), CommandError> {
        let mut output = io::stdout().lock();
        if self.screen.is_some() || output.is_terminal() {
            drop(output);
            return self.data(text);
        }
        output.write_all(text.as_bytes())?;
        Ok(output.flush()?)
    }

    /// Gives data to a pager from now on, if a person reads it at a terminal.
    pub(crate) fn page(&mut self) {
        self.is_paged = self.screen.is_none() && self.kept.is_none() && self.pager.is_none();
    }

    /// Waits until the person has ended the pager, and shows the messages that waited for it.
    ///
    /// # Errors
    /// If the terminal takes nothing any more.
    pub(crate) fn end_paging(&mut self) -> Result<(), CommandError> {
        let Some(Paging { pager, messages }) = self.pager.take() else {
            return Ok(());
        };
        let ended = pager.end();
        // Whoever closed standard error does not want to know.
        let mut error = io::stderr().lock();
        let _ = messages
            .iter()
            .try_for_each(|text| error.write_all(text.as_str().as_bytes()));
        Ok(ended?)
    }

    /// Writes a value as JSON, on a line of its own.
    ///
    /// # Errors
    /// [`CommandError::OutputClosed`] if the reader has closed it.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), CommandError> {
        self.data(Text::json(&value.to_string()).ended())
    }

    /// Writes lines for people.
    pub(crate) fn message(&mut self, saying: impl Into<Saying>) {
        let text = saying.into().spelled(self.speaker).ended();
        if let Some(kept) = &mut self.kept {
            kept.push_str(text.as_str());
            return;
        }
        if let Some(screen) = &self.screen {
            // Whoever closed standard error does not want to know.
            let _ = screen
                .end_line()
                .and_then(|()| screen.write(Stream::Error, &text))
                .and_then(|()| screen.flush());
            return;
        }
        if let Some(Paging { messages, .. }) = &mut self.pager {
            messages.push(text);
            return;
        }
        let mut error = io::stderr().lock();
        // Whoever closed standard error does not want to know.
        let _ = error.write_all(text.as_str().as_bytes());
    }
}
