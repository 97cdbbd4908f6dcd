//! `duet repl` at a run that another process executes: the loop of the guest's prompt.
//!
//! INVARIANT: a guest moves no head; whoever executes the run does.
//! It does not know how texts are evaluated. Read next: `../../repl/guest.rs`.

use std::fs;
use std::io::{self, IsTerminal};

use duet_journal::owner::now_ms;

use super::Arguments;
use crate::doors;
use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::repl::command::{self as comma, Command};
use crate::repl::editor::Line;
use crate::repl::guest::{Done, Guest};
use crate::repl::link::Link;
use crate::repl::local::Local;
use crate::repl::outline::is_incomplete;
use crate::repl::remote::Remote;
use crate::repl::session::perform_lent;
use crate::terminal::Terminal;
use crate::verb::Request;

/// Talks with a session of a run that another process executes; `None` if none does.
///
/// # Errors
/// If the journal, the connection or the terminal fails, or the program lets no sessions begin.
pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Option<ExitCode>, CommandError> {
    if let (Some(address), Some(file)) = (&arguments.connect, &arguments.reference) {
        let unreadable = |error| CommandError::caused(format!("`{}` cannot be read", file.display()), &error);
        let reference = fs::read_to_string(file).map_err(unreadable)?;
        let link = Remote::connect(address, &reference)?;
        return talk(Box::new(link), arguments, terminal).map(Some);
    }
    let (Some(address), false) = (&arguments.address, arguments.memory) else {
        return Ok(None);
    };
    let store = arguments.journal.open_to_read()?;
    let place = arguments.journal.resolve(&store, Some(address))?;
    if doors::other_owner(&store, &place)?.is_none() {
        if let Some(session) = &arguments.session {
            let name = place.name();
            return Err(
                CommandError::usage(format!("no process executes {name}, so it has no session {session}")).advise(
                    format!("`duet repl {name}` goes on with it; `duet serve {name}` hosts it"),
                ),
            );
        }
        return Ok(None);
    }
    if arguments.reach.is_any() {
        let name = place.name();
        return Err(
            CommandError::usage(format!("another process executes {name}, with the tools that it has"))
                .advise("leave out the options that name hosts, secrets, models, servers and doubles"),
        );
    }
    let link = Local::new(Box::new(store), &arguments.journal, place);
    talk(Box::new(link), arguments, terminal).map(Some)
}

fn talk(link: Box<dyn Link + '_>, arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let is_watched = io::stdin().is_terminal();
    let typist = if is_watched {
        Some(super::editor(terminal)?.1)
    } else {
        None
    };
    let session = arguments
        .session
        .clone()
        .unwrap_or_else(|| format!("guest-{:x}", now_ms() & 0x00ff_ffff));
    let mut guest = Guest::enter(link, session.clone(), typist, terminal)?;
    let code = if is_watched {
        let place = guest.link.described()?;
        terminal.message(format!("session {session} {place}; `,help` lists the commands"));
        converse(&mut guest, terminal)
    } else {
        follow(&mut guest, terminal)
    }?;
    if arguments.session.is_none() && code != ExitCode::INTERRUPTED {
        guest.close()?;
    }
    if code != ExitCode::INTERRUPTED {
        guest.link.settle();
    }
    Ok(code)
}

/// Evaluates the texts of standard input.
fn follow(guest: &mut Guest<'_>, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let (mut code, mut text) = (ExitCode::OK, String::new());
    loop {
        let length = io::stdin()
            .read_line(&mut text)
            .map_err(|error| CommandError::caused("standard input cannot be read", &error))?;
        if length > 0 && (is_incomplete(&text) || text.trim().is_empty()) {
            continue;
        }
        if !text.trim().is_empty() {
            match answer(guest, &std::mem::take(&mut text), terminal)? {
                Done::Well => {}
                Done::Failed => code = ExitCode::FAILED,
                Done::Alone => return Ok(leave(guest, terminal)),
            }
        }
        if length == 0 {
            return Ok(code);
        }
    }
}

/// Talks with a person.
fn converse(guest: &mut Guest<'_>, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    loop {
        match guest.read_input(terminal)? {
            None => return Ok(ExitCode::INTERRUPTED),
            Some(Line::End) => return Ok(ExitCode::OK),
            Some(Line::Interrupted) => {}
            Some(Line::Input(text)) if comma::read(&text) == Some(Ok(Command::Quit)) => return Ok(ExitCode::OK),
            Some(Line::Input(text)) if text.trim().is_empty() => {}
            Some(Line::Input(text)) => {
                if answer(guest, &text, terminal)? == Done::Alone {
                    return Ok(leave(guest, terminal));
                }
            }
        }
    }
}

/// Says that the other process has ended.
fn leave(guest: &Guest<'_>, terminal: &mut Terminal) -> ExitCode {
    terminal.message(guest.link.alone());
    ExitCode::INTERRUPTED
}

/// Has the forms of a text evaluated one after the other, up to the first that fails, or executes a
/// comma command.
fn answer(guest: &mut Guest<'_>, text: &str, terminal: &mut Terminal) -> Result<Done, CommandError> {
    let Some(command) = comma::read(text) else {
        let mut done = Done::Well;
        let mut forms = super::forms(text).into_iter();
        while done == Done::Well
            && let Some(form) = forms.next()
        {
            done = match guest.evaluate(form, terminal) {
                Ok(done) => done,
                // Whoever executes the run may go back just now; the next text may reach it.
                Err(error) if guest.has_person() => settle(Err(error), terminal)?,
                Err(error) => return Err(error),
            };
        }
        super::advise_comma(text, done == Done::Failed, terminal);
        if done == Done::Failed {
            super::tell_left_out(forms.len(), terminal);
        }
        return Ok(done);
    };
    match command {
        Err(error) => {
            terminal.message(format!("{error}\n{}", error.advice()));
            Ok(Done::Failed)
        }
        Ok(Command::Help(name)) => {
            match comma::help(name.as_deref()) {
                Ok(help) => terminal.data(&help)?,
                Err(error) => terminal.message(format!("{error}\n{}", error.advice())),
            }
            Ok(Done::Well)
        }
        Ok(Command::Answer(text)) => guest.answer(&text, terminal),
        Ok(Command::Fork(name)) => settle(guest.go_to(&name, true, terminal), terminal),
        Ok(Command::Switch(name)) => settle(guest.go_to(&name, false, terminal), terminal),
        Ok(Command::Apropos(text)) => {
            super::show_names(&guest.names_with(&text), &text, terminal)?;
            Ok(Done::Well)
        }
        Ok(command) => consult(guest, &command, terminal),
    }
}

/// Shows an error, after which the session continues.
fn settle(outcome: Result<(), CommandError>, terminal: &mut Terminal) -> Result<Done, CommandError> {
    match outcome {
        Ok(()) => Ok(Done::Well),
        Err(error) => super::tell(error, terminal).map(|()| Done::Failed),
    }
}

/// Has a request answered that only reads.
fn consult(guest: &Guest<'_>, command: &Command, terminal: &mut Terminal) -> Result<Done, CommandError> {
    let owner = guest.link.owner()?;
    let lent = guest.link.journal();
    let here = lent.as_ref().map_or("", |(_, here)| here);
    let Some(request) = comma::request(command, here).filter(|request| request.row().answers.is_reading()) else {
        terminal.message(if is_move(command) {
            format!(
                "a guest cannot do this: {owner} executes the run, for everybody in it\n\
                 `,fork NAME` begins a branch here, on which this session goes on by itself"
            )
        } else {
            "a guest cannot do this; only the prompt that executes the run can".to_owned()
        });
        return Ok(Done::Failed);
    };
    let code = match (&lent, &request) {
        (Some((journal, _)), _) => perform_lent(&request, journal, terminal),
        (None, Request::Describe(_)) => perform_lent(&request, &Journal::default(), terminal),
        (None, _) => return Ok(lacking(&owner, terminal)),
    };
    Ok(if code == ExitCode::OK { Done::Well } else { Done::Failed })
}

/// Says that a guest without the journal cannot ask it.
fn lacking(owner: &str, terminal: &mut Terminal) -> Done {
    terminal.message(format!("this needs the journal of the run, which {owner} has"));
    Done::Failed
}

/// Whether a command moves the run.
fn is_move(command: &Command) -> bool {
    matches!(
        command,
        Command::Back(_) | Command::Goto(_) | Command::Amend(..) | Command::Merge(_) | Command::Undo | Command::Redo
    )
}
