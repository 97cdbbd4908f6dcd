//! `duet answer`: the open question of a waiting run is answered, and the run goes on.

use crate::arguments::Arguments;
use crate::command::resume::ended;
use crate::failure::{Code, Failure};
use crate::journal::Journal;
use crate::outfit::Outfit;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The answer goes to the oldest open question; of a question with choices it must be one of them, or begin like one.
The run then goes on, as with `duet resume ADDRESS --answer TEXT`; but nothing happens if no question is open.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let text = arguments.word(1).unwrap_or_default();
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("answer")?;
    let place = journal.resolve(&store, arguments.word(0))?;
    let name = place.name();
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        return Err(Failure::usage(format!(
            "only the newest turn of {name} can be answered, not turn {turn}"
        ))
        .advise(format!("`duet goto {}` goes back there first", place.address(turn))));
    }
    let mut session = Session::resume(
        &place,
        (&mut store, journal.path()),
        Outfit::answering(vec![text.to_owned()]),
        "answer",
    )?;
    if let Some(code) = session.exit() {
        terminal.message(&ended(&place, code));
        return Ok(Code::FAILED);
    }
    match session.questions().first() {
        None => {
            return Err(
                Failure::problem(format!("{name} asks nothing at turn {}", session.head())).advise(format!(
                    "`duet waits {name}` says what it waits for; `duet resume {name}` goes on"
                )),
            );
        }
        Some(question) => question
            .answer(text)
            .map(drop)
            .map_err(|error| Failure::usage(error.to_string()))?,
    }
    if arguments.has("again") {
        session.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    session.drive(&mut store, true, terminal)
}
