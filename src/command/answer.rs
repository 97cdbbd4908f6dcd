//! `duet answer`: answers the open question of a waiting run and continues the run.

use crate::command::resume::ended;
use crate::error::{CommandError, ExitCode};
use crate::journal::Journal;
use crate::session::Session;
use crate::terminal::Terminal;
use crate::world_options::WorldOptions;

/// Answers the open question of a waiting run and continues it.
///
/// The answer goes to the oldest open question. If the question has choices, the answer must be one
/// of them or the beginning of one. The run then continues, as with `duet resume --answer`. Nothing
/// happens if no question is open.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the waiting run or branch.
    address: String,
    /// The answer.
    #[arg(allow_negative_numbers = true)]
    text: String,
    /// Makes calls again that the run made before it was taken back.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let text = &arguments.text;
    let journal = &arguments.journal;
    let mut store = journal.open_to_write("answer")?;
    let place = journal.resolve(&store, Some(&arguments.address))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(CommandError::usage(format!(
            "only the newest turn of {name} can be answered, not turn {turn}"
        ))
        .advise(format!("`duet goto {}` goes back there first", place.address(turn))));
    }
    let mut session = Session::resume(
        &place,
        (&mut store, journal.path()),
        WorldOptions::answering(vec![text.to_owned()]),
        "answer",
    )?;
    if let Some(code) = session.exit() {
        terminal.message(&ended(&place, code));
        return Ok(ExitCode::FAILED);
    }
    match session.questions().first() {
        None => {
            return Err(
                CommandError::problem(format!("{name} asks nothing at turn {}", session.head())).advise(format!(
                    "`duet waits {name}` says what it waits for; `duet resume {name}` goes on"
                )),
            );
        }
        Some(question) => question
            .answer(text)
            .map(drop)
            .map_err(|error| CommandError::usage(error.to_string()))?,
    }
    if arguments.again {
        session.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    session.drive(&mut store, true, terminal)
}
