//! The prompt of a guest, with the comma commands that a guest has.
//!
//! INVARIANT: a guest moves no head, and reads no journal that is out of its reach.
//! It does not know the requests; the verbs do. Read next: `surface/repl/prompt.rs`.

use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use duet_journal::Sequence;

use super::{Guest, SessionNames};
use crate::history::journal::Journal;
use crate::surface::repl::command::{self as comma, Command};
use crate::surface::repl::complete::Names;
use crate::surface::repl::editor::Line;
use crate::surface::repl::editor_thread::{EditorThread, LineRequest};
use crate::surface::repl::owner::after;
use crate::surface::repl::prompt::{self, EditedText, Evaluated, Prompt};
use crate::surface::repl::session::perform_lent;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::Answers;

impl Prompt for Guest<'_> {
    fn line_editor(&mut self) -> Option<&mut EditorThread> {
        self.line_editor.as_mut()
    }

    fn greet(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let place = self.connection.described()?;
        terminal.message(format!("session {} {place}; `,help` lists the commands", self.session));
        Ok(())
    }

    fn read_input(&mut self, terminal: &mut Terminal) -> Result<Option<Line>, CommandError> {
        let prompt = format!("{} at {}> ", self.session, self.connection.shown()).into();
        let names = Names::of(&SessionNames(self.connection.names(&self.session)));
        self.read(LineRequest::Input { prompt, names }, None, terminal)
    }

    fn forget_interruptions(&mut self) {
        self.is_interrupted.store(false, Ordering::Relaxed);
    }

    fn read_piped(&mut self, _: &mut Terminal) -> Result<String, CommandError> {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        read.map_err(|error| CommandError::caused("standard input cannot be read", &error))?;
        Ok(line)
    }

    fn evaluate(&mut self, form: &str, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
        match self.request(form, terminal) {
            // Whoever executes the run may go back just now; the next text may reach it.
            Err(error) if self.line_editor.is_some() => prompt::tell(error, terminal).map(|()| Evaluated::Failed),
            evaluated => evaluated,
        }
    }

    fn names_with(&self, word: &str) -> Vec<String> {
        let names = self.connection.names(&self.session).into_iter().map(|(name, _)| name);
        names.filter(|name| name.contains(word)).collect()
    }

    fn last_loaded(&mut self) -> Result<Option<String>, CommandError> {
        Ok(None)
    }

    fn limit_printed(
        &mut self,
        characters_max: Option<NonZeroU64>,
        _: &mut Terminal,
    ) -> Result<Evaluated, CommandError> {
        self.characters_max = characters_max.map(|limit| usize::try_from(limit.get()).unwrap_or(usize::MAX));
        Ok(Evaluated::Done)
    }

    fn edit(&mut self, _: Option<&str>) -> Result<EditedText, CommandError> {
        Err(CommandError::problem(OWNERS_ONLY))
    }

    fn obey(mut self, command: Command, terminal: &mut Terminal) -> Result<(Self, Evaluated), CommandError> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the others read the journal, or are refused"
        )]
        let gone = match &command {
            Command::Answer(text) => {
                let evaluated = self.answer(text, terminal)?;
                return Ok((self, evaluated));
            }
            Command::Fork(name) => self.go_to(name, true, terminal),
            Command::Switch(name) => self.go_to(name, false, terminal),
            command => {
                let evaluated = consult(&self, command, terminal)?;
                return Ok((self, evaluated));
            }
        };
        let evaluated = match gone {
            Ok(()) => Evaluated::Done,
            Err(error) => prompt::tell(error, terminal).map(|()| Evaluated::Failed)?,
        };
        Ok((self, evaluated))
    }

    /// A text of a session that fails is taken back by the session.
    fn go_back(self, _: Sequence, _: &mut Terminal) -> Result<Self, CommandError> {
        Ok(self)
    }

    fn come_to_rest(&mut self, _: &mut Terminal) -> Result<bool, CommandError> {
        Ok(true)
    }
}

const OWNERS_ONLY: &str = "a guest cannot do this; only the prompt that executes the run can";

/// Has a request answered that only reads.
fn consult(guest: &Guest<'_>, command: &Command, terminal: &mut Terminal) -> Result<Evaluated, CommandError> {
    let owner = guest.connection.owner()?;
    let lent = guest.connection.journal();
    let here = lent.as_ref().map_or("", |(_, here)| here);
    let Some(request) = comma::request(command, here).filter(|request| request.row().answers.is_reading()) else {
        terminal.message(if after(command).is_some() {
            format!(
                "a guest cannot do this: {owner} executes the run, for everybody in it\n\
                 `,fork NAME` begins a branch here, on which this session goes on by itself"
            )
        } else {
            OWNERS_ONLY.to_owned()
        });
        return Ok(Evaluated::Failed);
    };
    let code = match (&lent, request.row().answers) {
        (Some((journal, _)), _) => perform_lent(&request, journal, terminal),
        (None, Answers::Language) => perform_lent(&request, &Journal::default(), terminal),
        (None, _) => return Ok(lacking(&owner, terminal)),
    };
    Ok(if code == ExitCode::OK {
        Evaluated::Done
    } else {
        Evaluated::Failed
    })
}

/// Says that a guest without the journal cannot ask it.
fn lacking(owner: &str, terminal: &mut Terminal) -> Evaluated {
    terminal.message(format!("this needs the journal of the run, which {owner} has"));
    Evaluated::Failed
}
