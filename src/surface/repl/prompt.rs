//! The loop of every prompt, and the screen on which it reads.
//!
//! A prompt reads texts of a person, a file or a pipe. Whoever is behind it has each form
//! evaluated, and goes on while the person types: the owner of the run by inputs of its own, a
//! guest by requests to a session.
//! INVARIANT: whatever happens to the run, the line editor returns first, so that the terminal gets
//! its usual mode back.
//! It does not know how a text is evaluated. Read next: `evaluation.rs`, `guest.rs`.

use std::num::NonZeroU64;

use duet_journal::Sequence;
use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::read_all;

use super::command::{self as comma, CommaError, Command};
use super::editor::Line;
use super::editor_thread::{EditorThread, LineRequest};
use super::outline::is_incomplete;
use crate::text::error::{CommandError, ExitCode};
use crate::text::exports::{Export, names_elsewhere};
use crate::text::render;
use crate::text::terminal::Terminal;

/// How the evaluation of a text went, its output aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluated {
    /// It has ended, or waits for something that only another text can bring.
    Done,
    /// It failed, which has been said.
    Failed,
    /// The same, in a later turn than the first; the turns from this one on asked nothing of the
    /// world and can be taken back.
    PartlyDone(Sequence),
    /// The run is over.
    Ended(ExitCode),
    /// Nobody executes the run any more, which has been said.
    Alone,
}

/// What happens while the person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptEvent {
    GoesOn,
    /// The person interrupts a line that has just been typed.
    Interrupted,
    /// Nobody executes the run any more, which has been said.
    Alone,
}

/// What a person has edited.
pub(crate) enum EditedText {
    /// Nothing: the text is as it was.
    Nothing,
    /// A text of the session.
    Text(String),
    /// A file that was loaded.
    File(String),
}

/// Whoever is behind a prompt.
pub(crate) trait Prompt: Sized {
    /// The line editor; none if the texts come from a file or a pipe.
    fn line_editor(&mut self) -> Option<&mut EditorThread>;

    /// Says where the person is.
    ///
    /// # Errors
    /// If the journal fails.
    fn greet(&mut self, terminal: &mut Terminal) -> Result<(), CommandError>;

    /// Reads an input at the prompt, while the run goes on; nothing if nobody executes it any more.
    ///
    /// # Errors
    /// If the terminal cannot be read, or the journal fails.
    fn read_input(&mut self, terminal: &mut Terminal) -> Result<Option<Line>, CommandError>;

    /// Forgets interruptions: one counts from the moment when an input is asked for. That which
    /// ended the line before may be reported after it.
    fn forget_interruptions(&mut self);

    /// Reads a line of the file or pipe, with its end; an empty one is the end of the input.
    ///
    /// # Errors
    /// If the input cannot be read, or the journal fails.
    fn read_piped(&mut self, terminal: &mut Terminal) -> Result<String, CommandError>;

    /// Has a form evaluated; its output and its error go to the terminal.
    ///
    /// # Errors
    /// If the journal fails.
    fn evaluate(&mut self, form: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError>;

    /// The names that a text can use and that contain a word.
    fn names_with(&self, word: &str) -> Vec<String>;

    /// The file that was loaded last, before this prompt began; none if it cannot be known.
    ///
    /// # Errors
    /// If the journal fails.
    fn last_loaded(&mut self) -> Result<Option<String>, CommandError>;

    /// Limits the characters that are shown of each value, or shows all.
    ///
    /// # Errors
    /// If the journal fails.
    fn limit_printed(
        &mut self,
        characters_max: Option<NonZeroU64>,
        terminal: &mut Terminal,
    ) -> Result<Evaluated, CommandError>;

    /// Lets the person edit the definition of a name, or else the last text; says what is to be
    /// evaluated then, if anything.
    ///
    /// # Errors
    /// If there is nothing to edit, or the editor fails.
    fn edit(&mut self, name: Option<&str>) -> Result<EditedText, CommandError>;

    /// Executes a comma command.
    ///
    /// # Errors
    /// If the journal fails.
    fn obey(self, command: Command, terminal: &mut Terminal) -> Result<(Self, Evaluated), CommandError>;

    /// Goes back to a turn.
    ///
    /// # Errors
    /// If the journal fails.
    fn go_back(self, turn: Sequence, terminal: &mut Terminal) -> Result<Self, CommandError>;

    /// Lets the run come to rest after the last text of a file or a pipe. Returns whether nothing
    /// failed in the background.
    ///
    /// # Errors
    /// If the journal fails.
    fn come_to_rest(&mut self, terminal: &mut Terminal) -> Result<bool, CommandError>;
}

/// Has all texts evaluated, and returns whoever is behind the prompt with the exit code.
///
/// # Errors
/// If the terminal or the journal fails.
pub(crate) fn talk<P: Prompt>(mut prompt: P, terminal: &mut Terminal) -> Result<(P, ExitCode), CommandError> {
    if prompt.line_editor().is_none() {
        return follow(prompt, terminal);
    }
    prompt.greet(terminal)?;
    converse(prompt, terminal)
}

/// Evaluates the texts of standard input.
fn follow<P: Prompt>(mut prompt: P, terminal: &mut Terminal) -> Result<(P, ExitCode), CommandError> {
    let mut code = ExitCode::OK;
    let mut text = String::new();
    let mut loaded = Loaded::default();
    loop {
        // The program may read lines, too.
        let line = prompt.read_piped(terminal)?;
        let is_over = line.is_empty();
        text.push_str(&line);
        if !is_over && (is_incomplete(&text) || text.trim().is_empty()) {
            continue;
        }
        let (again, evaluated) = answer(prompt, &std::mem::take(&mut text), &mut loaded, terminal)?;
        prompt = again;
        match evaluated {
            Evaluated::Done => {}
            Evaluated::Failed | Evaluated::PartlyDone(_) => code = ExitCode::FAILED,
            Evaluated::Ended(code) => return Ok((prompt, code)),
            Evaluated::Alone => return Ok((prompt, ExitCode::INTERRUPTED)),
        }
        if is_over {
            let is_well = prompt.come_to_rest(terminal)?;
            return Ok((prompt, if is_well { code } else { ExitCode::FAILED }));
        }
    }
}

/// Talks with a person.
fn converse<P: Prompt>(mut prompt: P, terminal: &mut Terminal) -> Result<(P, ExitCode), CommandError> {
    let mut loaded = Loaded::default();
    loop {
        let text = match prompt.read_input(terminal)? {
            None => return Ok((prompt, ExitCode::INTERRUPTED)),
            Some(Line::End) => return Ok((prompt, ExitCode::OK)),
            Some(Line::Interrupted) => continue,
            Some(Line::Input(text)) => text,
        };
        if comma::read(&text) == Some(Ok(Command::Quit)) {
            return Ok((prompt, ExitCode::OK));
        }
        let (again, evaluated) = answer(prompt, &text, &mut loaded, terminal)?;
        prompt = again;
        match (evaluated, comma::split(&text)) {
            (Evaluated::Ended(code), None) => return Ok((prompt, code)),
            (Evaluated::Alone, _) => return Ok((prompt, ExitCode::INTERRUPTED)),
            (Evaluated::Done | Evaluated::Failed | Evaluated::PartlyDone(_) | Evaluated::Ended(_), _) => {}
        }
    }
}

/// Executes a comma command, or has the forms of a text evaluated one after the other up to the
/// first that fails. If a form fails after several turns, these turns are taken back.
fn answer<P: Prompt>(
    mut prompt: P,
    text: &str,
    loaded: &mut Loaded,
    terminal: &mut Terminal,
) -> Result<(P, Evaluated), CommandError> {
    let evaluated;
    if let Some(command) = comma::read(text) {
        (prompt, evaluated) = obey(prompt, command, loaded, terminal)?;
    } else {
        evaluated = evaluate(&mut prompt, text, terminal)?;
        advise_comma(text, evaluated == Evaluated::Failed, terminal);
    }
    let Evaluated::PartlyDone(before) = evaluated else {
        return Ok((prompt, evaluated));
    };
    terminal.message("this text had begun several turns; they are taken back:");
    Ok((prompt.go_back(before, terminal)?, Evaluated::Failed))
}

/// Has the forms of a text evaluated one after the other, up to the first that fails.
fn evaluate<P: Prompt>(prompt: &mut P, text: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
    let mut evaluated = Evaluated::Done;
    let mut forms = forms(text).into_iter();
    while evaluated == Evaluated::Done
        && let Some(form) = forms.next()
    {
        evaluated = prompt.evaluate(form, terminal)?;
    }
    if !matches!(evaluated, Evaluated::Ended(_) | Evaluated::Alone) {
        tell_left_out(forms.len(), terminal);
    }
    Ok(evaluated)
}

/// The file of the last `,load`.
#[derive(Default)]
struct Loaded(Option<String>);

impl Loaded {
    /// The form that loads a file.
    fn form(path: &str) -> String {
        let escaped = path.replace('\\', "\\\\").replace('"', "\\\"");
        format!("(load \"{escaped}\")")
    }

    fn load<P: Prompt>(
        &mut self,
        path: String,
        prompt: &mut P,
        terminal: &mut Terminal,
    ) -> Result<Evaluated, CommandError> {
        let form = Self::form(&path);
        self.0 = Some(path);
        prompt.evaluate(&form, terminal)
    }
}

fn obey<P: Prompt>(
    mut prompt: P,
    command: Result<Command, CommaError>,
    loaded: &mut Loaded,
    terminal: &mut Terminal,
) -> Result<(P, Evaluated), CommandError> {
    let wrong = |error: CommaError| format!("{error}\n{}", error.advice());
    let evaluated = match command {
        Err(error) => {
            terminal.message(wrong(error));
            Evaluated::Failed
        }
        Ok(Command::Help(name)) => {
            match comma::help(name.as_deref(), terminal.view().columns) {
                Ok(help) => terminal.data(&help)?,
                Err(error) => terminal.message(wrong(error)),
            }
            Evaluated::Done
        }
        Ok(Command::Apropos(text)) => {
            show_names(&prompt.names_with(&text), &text, terminal)?;
            Evaluated::Done
        }
        Ok(Command::Load(path)) => loaded.load(path, &mut prompt, terminal)?,
        Ok(Command::Reload) => match loaded
            .0
            .clone()
            .map_or_else(|| prompt.last_loaded(), |path| Ok(Some(path)))?
        {
            Some(path) => loaded.load(path, &mut prompt, terminal)?,
            None => {
                terminal.message("nothing was loaded yet; `,load FILE` loads a file");
                Evaluated::Failed
            }
        },
        Ok(Command::Edit(name)) => match prompt.edit(name.as_deref()) {
            Ok(EditedText::File(path)) => loaded.load(path, &mut prompt, terminal)?,
            Ok(EditedText::Text(text)) => evaluate(&mut prompt, &text, terminal)?,
            Ok(EditedText::Nothing) => {
                terminal.message("the text is as it was, so nothing is evaluated");
                Evaluated::Done
            }
            Err(failure) => {
                tell(failure, terminal)?;
                Evaluated::Failed
            }
        },
        Ok(Command::Print(limit)) => prompt.limit_printed(limit, terminal)?,
        Ok(Command::Quit) => Evaluated::Ended(ExitCode::OK),
        Ok(command) => return prompt.obey(command, terminal),
    };
    Ok((prompt, evaluated))
}

/// Says which comma command a text was meant for, if it is the bare name of one and means nothing
/// else; `exit` shows a procedure.
fn advise_comma(text: &str, has_failed: bool, terminal: &mut Terminal) {
    if let Some(advice) = comma::advice_for_bare(text).filter(|_| has_failed || text.trim() == "exit") {
        terminal.message(advice);
    }
}

/// Says that forms after the one that failed were not evaluated.
fn tell_left_out(count: usize, terminal: &mut Terminal) {
    match count {
        0 => {}
        1 => terminal.message("the form after it was not evaluated"),
        count => terminal.message(format!("the {count} forms after it were not evaluated")),
    }
}

/// The forms of a text; the text itself if it cannot be read, so that its evaluation reports the
/// error.
fn forms(text: &str) -> Vec<&str> {
    let (reading, errors) = read_all(text, SourceId(0));
    if !errors.is_empty() {
        return vec![text];
    }
    let spans = reading.forms.iter().map(|form| reading.spans[form.0 as usize]);
    spans
        .filter_map(|span| text.get(span.start as usize..span.end as usize))
        .collect()
}

/// Lists names that contain a text, first those that are there, then those of libraries that have
/// to be imported.
fn show_names(names: &[String], text: &str, terminal: &mut Terminal) -> Result<(), CommandError> {
    for name in names {
        terminal.data(format!("{name}\n"))?;
    }
    let elsewhere = names_elsewhere(text);
    let elsewhere = elsewhere.iter().filter(|export| !names.contains(&export.name));
    let mut is_any = !names.is_empty();
    for Export { name, library } in elsewhere {
        terminal.data(format!("{name}, in {library}\n"))?;
        is_any = true;
    }
    if !is_any {
        terminal.message(format!("no name contains `{text}`"));
    }
    Ok(())
}

/// Reads a line, and goes on meanwhile; nothing if nobody executes the run any more, once the
/// person has typed something.
///
/// # Errors
/// If the terminal cannot be read, or the run cannot go on.
pub(super) fn read<P: Prompt>(
    prompt: &mut P,
    wanted: LineRequest,
    terminal: &mut Terminal,
    mut go_on: impl FnMut(&mut P, &mut Terminal) -> Result<PromptEvent, CommandError>,
) -> Result<Option<Line>, CommandError> {
    if let Some(screen) = &terminal.screen {
        screen.begin_prompt()?;
    }
    if matches!(wanted, LineRequest::Input { .. }) {
        prompt.forget_interruptions();
    }
    if let Some(line_editor) = prompt.line_editor() {
        line_editor.ask(wanted);
    }
    let (mut meanwhile, mut is_interrupted) = (Ok(PromptEvent::GoesOn), false);
    while matches!(meanwhile, Ok(PromptEvent::GoesOn | PromptEvent::Interrupted)) && !has_line(prompt) {
        meanwhile = go_on(prompt, terminal);
        is_interrupted |= matches!(meanwhile, Ok(PromptEvent::Interrupted));
        if let Err(CommandError::Problem(problem)) = &meanwhile {
            terminal.message(render::problem(problem, terminal.speaker, terminal.is_styled));
        }
    }
    let line = prompt.line_editor().map_or(Ok(Line::End), EditorThread::wait);
    if let Some(screen) = &terminal.screen {
        screen.end_prompt()?;
    }
    if let Some(warning) = prompt.line_editor().and_then(EditorThread::take_warning) {
        terminal.message(warning.to_string());
    }
    let meanwhile = meanwhile?;
    let line = line.map_err(|error| CommandError::caused("the prompt cannot be shown", &error))?;
    if meanwhile == PromptEvent::Alone {
        return Ok(None);
    }
    if is_interrupted && matches!(line, Line::Input(_)) {
        terminal.message("interrupted");
        return Ok(Some(Line::Interrupted));
    }
    Ok(Some(line))
}

/// Whether the line that was asked for has been typed.
pub(super) fn has_line<P: Prompt>(prompt: &mut P) -> bool {
    prompt.line_editor().is_none_or(EditorThread::has_line)
}

/// Shows an error, after which the session continues.
///
/// # Errors
/// One that ends it.
pub(crate) fn tell(failure: CommandError, terminal: &mut Terminal) -> Result<(), CommandError> {
    match failure {
        CommandError::Problem(problem) => {
            terminal.message(render::problem(&problem, terminal.speaker, terminal.is_styled));
        }
        CommandError::Shown(text) | CommandError::Usage(text) => terminal.message(text),
        error @ (CommandError::OutputClosed | CommandError::NameLost(_)) => return Err(error),
    }
    Ok(())
}
