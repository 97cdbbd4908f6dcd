//! `duet repl` at a run that another process executes.
//!
//! INVARIANT: a guest moves no head; whoever executes the run does.
//! It does not know how texts are evaluated. Read next: `surface/repl/guest.rs`.

use std::fs;
use std::io::{self, IsTerminal};

use duet_journal::owner::now_ms;

use super::Arguments;
use crate::owner::doors;
use crate::surface::repl::connection::RunConnection;
use crate::surface::repl::guest::Guest;
use crate::surface::repl::local::Local;
use crate::surface::repl::prompt;
use crate::surface::repl::remote::Remote;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;

/// Talks with a session of a run that another process executes; `None` if none does.
///
/// # Errors
/// If the journal, the connection or the terminal fails, or the program lets no sessions begin.
pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Option<ExitCode>, CommandError> {
    if let (Some(address), Some(file)) = (&arguments.connect, &arguments.reference) {
        let unreadable = |error| CommandError::caused(format!("`{}` cannot be read", file.display()), &error);
        let reference = fs::read_to_string(file).map_err(unreadable)?;
        let connection = Remote::connect(address, &reference)?;
        return talk(Box::new(connection), arguments, terminal).map(Some);
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
                    say![
                        Way::at("repl", &name),
                        " goes on with it; ",
                        Way::at("serve", &name),
                        " hosts it",
                    ],
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
    let connection = Local::new(Box::new(store), &arguments.journal, place);
    talk(Box::new(connection), arguments, terminal).map(Some)
}

fn talk(
    connection: Box<dyn RunConnection + '_>,
    arguments: &Arguments,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let line_editor = if io::stdin().is_terminal() {
        Some(super::editor(terminal)?.1)
    } else {
        None
    };
    let session = arguments
        .session
        .clone()
        .unwrap_or_else(|| format!("guest-{:x}", now_ms() & 0x00ff_ffff));
    let guest = Guest::enter(connection, session, line_editor, terminal)?;
    let (mut guest, code) = prompt::talk(guest, terminal)?;
    if code == ExitCode::INTERRUPTED {
        return Ok(code);
    }
    if arguments.session.is_none() {
        guest.close()?;
    }
    guest.connection.settle();
    Ok(code)
}
