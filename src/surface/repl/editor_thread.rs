//! The thread on which the line editor waits for the person, while the run goes on.
//!
//! INVARIANT: one line is asked for at a time, and the editor is idle when no line is asked for, so
//! that the terminal has its usual mode then.
//! It evaluates nothing. Read next: `editor.rs`.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use duet_drivers::text::Text;

use super::complete::Names;
use super::editor::{Editor, EditorError, Line};
use crate::text::screen::Printer;
use crate::world::streams::SharedWaker;

/// A line that the person is asked for.
pub(crate) enum LineRequest {
    /// An input to the session, at a prompt.
    Input { prompt: Text, names: Names },
    /// The answer to a question.
    Answer { question: Text },
}

/// The person's answer, and an error that does not stop the editor.
type Typed = (Result<Line, EditorError>, Option<EditorError>);

/// The time from the end of the editor's mode of the terminal to the arrival of the line, at most.
const SOON: Duration = Duration::from_millis(20);

/// The way to the thread of the line editor.
pub(crate) struct EditorThread {
    wanted: Sender<LineRequest>,
    typed: Receiver<Typed>,
    /// A line that was typed and not taken yet.
    line: Option<Typed>,
    warning: Option<EditorError>,
}

impl EditorThread {
    /// Starts the line editor; also returns its printer for text above the prompt.
    ///
    /// # Errors
    /// [`EditorError::Terminal`].
    pub(crate) fn start(
        history: Option<PathBuf>,
        is_styled: bool,
        waker: SharedWaker,
    ) -> Result<(Self, Option<Printer>), EditorError> {
        let (wanted, questions) = channel();
        let (answers, typed) = channel();
        let (opened, opening) = channel();
        #[expect(clippy::disallowed_methods, reason = "a person types while the run goes on")]
        std::thread::spawn(move || {
            let mut editor = match Editor::new(history, is_styled) {
                Ok(editor) => editor,
                Err(error) => return drop(opened.send(Err(error))),
            };
            let _ = opened.send(Ok(editor.printer()));
            serve(&mut editor, &questions, &answers, &waker);
        });
        let ended = || EditorError::Terminal(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        let printer = opening.recv().map_err(|_| ended())??;
        let line_editor = Self {
            wanted,
            typed,
            line: None,
            warning: None,
        };
        Ok((line_editor, printer))
    }

    /// Asks for a line.
    pub(crate) fn ask(&self, wanted: LineRequest) {
        // If the thread has ended, `wait` says so.
        let _ = self.wanted.send(wanted);
    }

    /// Whether the line that was asked for has been typed.
    pub(crate) fn has_line(&mut self) -> bool {
        if self.line.is_none() {
            self.line = self.typed.try_recv().ok();
        }
        self.line.is_some()
    }

    /// Whether the line is there, or comes at once.
    pub(crate) fn has_line_soon(&mut self) -> bool {
        if self.line.is_none() {
            self.line = self.typed.recv_timeout(SOON).ok();
        }
        self.line.is_some()
    }

    /// Waits for the line that was asked for; the end of input if there is no editor any more.
    ///
    /// # Errors
    /// [`EditorError::Terminal`].
    pub(crate) fn wait(&mut self) -> Result<Line, EditorError> {
        let typed = self.line.take().or_else(|| self.typed.recv().ok());
        let Some((line, warning)) = typed else {
            return Ok(Line::End);
        };
        self.warning = warning;
        line
    }

    /// The newest error since the last call that did not stop the editor.
    pub(crate) fn take_warning(&mut self) -> Option<EditorError> {
        self.warning.take()
    }
}

/// Reads lines as long as somebody asks for them.
fn serve(editor: &mut Editor, questions: &Receiver<LineRequest>, answers: &Sender<Typed>, waker: &SharedWaker) {
    while let Ok(wanted) = questions.recv() {
        let line = match wanted {
            LineRequest::Input { prompt, names } => editor.read(prompt.as_str(), names),
            LineRequest::Answer { question } => editor.ask(question.as_str()),
        };
        let waker = waker.lock().unwrap_or_else(PoisonError::into_inner);
        // The terminal sends no signal while the editor reads.
        if let (Ok(Line::Interrupted), Some(waker)) = (&line, &*waker) {
            waker.interrupt();
        }
        if answers.send((line, editor.take_warning())).is_err() {
            return;
        }
        if let Some(waker) = &*waker {
            waker.wake();
        }
    }
}
