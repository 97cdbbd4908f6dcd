//! The line editor: keys to lines.
//!
//! Owns the meaning of Enter, Tab and the other keys, and when colours, hints and completions are
//! shown.
//! INVARIANT: the editor returns an input whole: its data are complete, or wrong in a way that no
//! further line can repair.
//! It neither reads data nor evaluates, and asks the session only for names.
//! Read next: `outline.rs`.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustyline::completion::{Completer, Pair};
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext, EventHandler,
    KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use unicode_width::UnicodeWidthStr;

use super::complete::Names;
use super::history::{ENTRIES_MAX, History};
use super::{highlight, indent, outline};
use crate::text::screen::Printer;

/// The answer to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A text, perhaps of several lines or none.
    Input(String),
    /// Ctrl-C: the input is dropped.
    Interrupted,
    /// Ctrl-D without input, or the end of a file.
    End,
}

/// An error that stops the editor.
#[derive(Debug)]
pub(crate) enum EditorError {
    /// The input cannot be read, or the terminal not written.
    Terminal(ReadlineError),
    /// The history cannot be kept in this file.
    History(PathBuf, io::Error),
}

impl fmt::Display for EditorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal(_) => write!(formatter, "the input cannot be read"),
            Self::History(path, _) => write!(formatter, "the history cannot be kept in {}", path.display()),
        }
    }
}

impl std::error::Error for EditorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Terminal(error) => Some(error),
            Self::History(_, error) => Some(error),
        }
    }
}

impl From<ReadlineError> for EditorError {
    fn from(error: ReadlineError) -> Self {
        Self::Terminal(error)
    }
}

/// Reads inputs from a terminal.
pub(crate) struct Editor {
    lines: rustyline::Editor<Assistant, DefaultHistory>,
    history: History,
    history_path: Option<PathBuf>,
    warning: Option<EditorError>,
    /// Whether no person types, but a file or another process.
    is_piped: bool,
    /// The column in which the input begins, shared with the keys that indent.
    origin: Arc<AtomicUsize>,
    /// Whether the input is a line of any form, shared with the keys.
    is_plain: Arc<AtomicBool>,
}

impl Editor {
    /// Makes an editor on standard input and output, whose history is kept in a file if one is
    /// named.
    ///
    /// A history that cannot be read is a warning ([`Editor::take_warning`]), and is not written
    /// either.
    ///
    /// # Errors
    /// [`EditorError::Terminal`].
    pub(crate) fn new(history: Option<PathBuf>, is_styled: bool) -> Result<Self, EditorError> {
        let config = Config::builder()
            .max_history_size(ENTRIES_MAX)?
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bell_style(BellStyle::None)
            .color_mode(if is_styled {
                ColorMode::Enabled
            } else {
                ColorMode::Disabled
            })
            .bracketed_paste(true)
            .build();
        let mut lines = rustyline::Editor::with_config(config)?;
        lines.set_helper(Some(Assistant::new(is_styled)));
        let origin = Arc::new(AtomicUsize::new(0));
        let is_plain = Arc::new(AtomicBool::new(false));
        bind(&mut lines, &origin, &is_plain);
        let mut editor = Self {
            lines,
            history: History::unkept(),
            history_path: history.clone(),
            warning: None,
            is_piped: !io::stdin().is_terminal(),
            origin,
            is_plain,
        };
        match history.map(History::load).transpose() {
            Ok(loaded) => editor.history = loaded.unwrap_or(editor.history),
            Err(error) => editor.warn(error),
        }
        editor.show_history()?;
        Ok(editor)
    }

    /// Makes a printer for text above the prompt; `None` if the terminal cannot move its cursor.
    pub(crate) fn printer(&mut self) -> Option<Printer> {
        let printer = self.lines.create_external_printer().ok()?;
        Some(Box::new(printer))
    }

    /// Shows a question and reads a line that answers it, of any form; it is not remembered.
    ///
    /// # Errors
    /// [`EditorError::Terminal`]; the line is lost.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Line, EditorError> {
        self.set_plain(true);
        let read = self.lines.readline(question);
        self.set_plain(false);
        match read {
            Ok(line) => Ok(Line::Input(line)),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error.into()),
        }
    }

    fn set_plain(&mut self, is_plain: bool) {
        self.is_plain.store(is_plain, Ordering::Relaxed);
        if let Some(assistant) = self.lines.helper_mut() {
            assistant.is_plain = is_plain;
        }
    }

    /// Shows a prompt, whose last line ends where the input begins, and reads an answer.
    ///
    /// Where no person types there is no prompt, and nothing is remembered.
    ///
    /// # Errors
    /// [`EditorError::Terminal`]; the input is lost.
    pub(crate) fn read(&mut self, prompt: &str, names: Names) -> Result<Line, EditorError> {
        if self.is_piped {
            return read_piped(&mut io::stdin().lock()).map_err(|error| EditorError::Terminal(error.into()));
        }
        let last = prompt.rsplit('\n').next().unwrap_or_default();
        self.origin.store(last.width(), Ordering::Relaxed);
        if let Some(assistant) = self.lines.helper_mut() {
            assistant.names = names;
        }
        match self.lines.readline(prompt) {
            Ok(input) => {
                if let Err(error) = self.history.add(&input) {
                    self.warn(error);
                }
                self.show_history()?;
                Ok(Line::Input(input))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error.into()),
        }
    }

    /// The newest error since the last call that did not stop the editor.
    pub(crate) fn take_warning(&mut self) -> Option<EditorError> {
        self.warning.take()
    }

    fn warn(&mut self, error: io::Error) {
        self.warning = self.history_path.take().map(|path| EditorError::History(path, error));
    }

    /// Gives the arrow keys the entries that they walk through.
    fn show_history(&mut self) -> Result<(), EditorError> {
        self.lines.clear_history()?;
        for entry in self.history.entries() {
            self.lines.add_history_entry(entry.as_str())?;
        }
        Ok(())
    }
}

/// Reads lines until they are an input. One that the end of the file cuts off is handed out as it
/// is, so that it is not lost silently.
fn read_piped(lines: &mut impl BufRead) -> io::Result<Line> {
    let mut input = String::new();
    while lines.read_line(&mut input)? > 0 {
        if !outline::is_incomplete(&input) {
            break;
        }
    }
    if input.is_empty() {
        return Ok(Line::End);
    }
    input.truncate(input.trim_end_matches(['\n', '\r']).len());
    Ok(Line::Input(input))
}

fn bind(
    lines: &mut rustyline::Editor<Assistant, DefaultHistory>,
    origin: &Arc<AtomicUsize>,
    is_plain: &Arc<AtomicBool>,
) {
    let mut bind = |key: KeyEvent, action| {
        let handler = Key {
            origin: Arc::clone(origin),
            is_plain: Arc::clone(is_plain),
            action,
        };
        lines.bind_sequence(key, EventHandler::Conditional(Box::new(handler)));
    };
    bind(KeyEvent(KeyCode::Enter, Modifiers::NONE), Action::Finish);
    bind(KeyEvent::ctrl('J'), Action::Finish);
    bind(KeyEvent(KeyCode::Enter, Modifiers::ALT), Action::Break);
    bind(KeyEvent(KeyCode::Tab, Modifiers::NONE), Action::Complete);
}

/// The effect of a key that depends on the text.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Ends the input if it is complete, or else the line.
    Finish,
    /// Ends the line.
    Break,
    /// Indents where a line begins, or else completes.
    Complete,
}

/// A key whose effect depends on the text.
struct Key {
    origin: Arc<AtomicUsize>,
    is_plain: Arc<AtomicBool>,
    action: Action,
}

impl ConditionalEventHandler for Key {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        let origin = self.origin.load(Ordering::Relaxed);
        if self.is_plain.load(Ordering::Relaxed) {
            return match self.action {
                Action::Finish => Some(Cmd::AcceptLine),
                Action::Break | Action::Complete => Some(Cmd::Noop),
            };
        }
        match self.action {
            Action::Finish if !outline::is_incomplete(context.line()) => Some(Cmd::AcceptLine),
            Action::Finish | Action::Break => Some(Cmd::Insert(1, line_break(before, origin))),
            Action::Complete => missing_indentation(before, origin).map(|blanks| match blanks {
                0 => Cmd::Noop,
                _ => Cmd::Insert(1, " ".repeat(blanks)),
            }),
        }
    }
}

/// The end of a line and the indentation of the next.
fn line_break(before: &str, origin: usize) -> String {
    format!(
        "\n{}",
        " ".repeat(indent::next_column(before, origin).unwrap_or_default())
    )
}

/// The number of blanks that the last line lacks, if it is blank and not the first one.
fn missing_indentation(before: &str, origin: usize) -> Option<usize> {
    let (above, blanks) = before.rsplit_once('\n')?;
    if !blanks.trim().is_empty() {
        return None;
    }
    let column = indent::next_column(above, origin)?;
    Some(column.saturating_sub(blanks.width()))
}

/// The answers to the line editor's questions about a text.
struct Assistant {
    names: Names,
    is_styled: bool,
    /// Whether the input is a line of any form.
    is_plain: bool,
    shows_pair: Cell<bool>,
}

impl Assistant {
    fn new(is_styled: bool) -> Self {
        Self {
            names: Names::default(),
            is_styled,
            is_plain: false,
            shows_pair: Cell::new(false),
        }
    }
}

impl rustyline::Helper for Assistant {}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if !self.is_plain && outline::is_incomplete(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

/// Parameters, shown behind the input; nothing that could become part of it.
struct Parameters(String);

impl Hint for Parameters {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Assistant {
    type Hint = Parameters;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Parameters> {
        // Without colours nobody could distinguish a hint from input.
        let shows = self.is_styled && !self.is_plain;
        let signature = self.names.hint(&line[..pos]).filter(|_| shows)?;
        Some(Parameters(format!("   {signature}")))
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = self.names.completions(&line[..pos]);
        let pair = |completion: super::complete::Completion| Pair {
            display: completion.shown,
            replacement: completion.name,
        };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        if self.is_plain {
            return Cow::Borrowed(line);
        }
        let cursor = Some(pos).filter(|_| self.shows_pair.get());
        Cow::Owned(highlight::highlight(line, cursor, &self.names))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(highlight::dim(hint))
    }

    fn highlight_char(&self, line: &str, pos: usize, kind: CmdKind) -> bool {
        let shows_pair = !self.is_plain && kind != CmdKind::ForcedRefresh && highlight::is_at_pair(line, pos);
        self.shows_pair.set(shows_pair);
        // One more letter can change the colour of every other.
        shows_pair || kind == CmdKind::Other
    }
}

#[cfg(test)]
mod tests;
