//! `duet resume`: a run goes on from its last durable turn.

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::outfit::Outfit;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Without an address it is the run used last. The run goes on from its last durable turn: after a crash or a kill, after an
interrupt, when it waits for a person, or from where `duet goto` has put it. What was in flight is asked again if that does
no harm; a tool call that may or may not have happened fails with the kind `interrupted`, which the program can handle.

A call that the run made before it was taken back, and makes just so again, is not made a second time unless its tool may be
repeated: the run is told what came of it then.

  --answer TEXT    answers the next question; may be given several times
  --again          makes such calls again
  --headless       nobody will ever answer: what needs approval is refused
  --double FILE, --secret NAME, --allow-host HOST
                   as with `duet run`, in addition to what the run began with, except that doubles are given anew";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("resume")?;
    let place = journal.resolve(&store, arguments.word(0))?;
    if let Some(turn) = place.turn.filter(|turn| *turn != place.head.sequence) {
        let address = place.address(turn);
        return Err(Failure::usage(format!(
            "{} goes on from its newest turn, {}",
            place.name(),
            place.head.sequence
        ))
        .advise(format!(
            "`duet goto {address}` takes it back there first, `duet fork {address} BRANCH` begins a branch there"
        )));
    }
    let outfit = Outfit::read(arguments)?;
    let mut session = Session::resume(&place, (&mut store, journal.path()), outfit, "resume")?;
    if arguments.has("again") {
        session.call_again();
    }
    journal.set_current(&place.run, &place.branch);
    if let Some(code) = session.exit() {
        terminal.message(&ended(&place, code));
        return Ok(Code::of_run(code));
    }
    session.drive(&mut store, true, terminal)
}

/// Says that there is nothing to go on with.
pub(super) fn ended(place: &Place, code: u64) -> String {
    let before = place.head.sequence.number().saturating_sub(1);
    let name = place.name();
    format!(
        "{name} ended at turn {} with code {code}\n\
         to try again from an earlier turn: `duet goto {name}@{before}` or `duet fork {name}@{before} BRANCH`, then `duet resume`",
        place.head.sequence
    )
}
