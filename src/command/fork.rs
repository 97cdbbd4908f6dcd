//! `duet fork`: a second future of one past.

use duet_journal::BranchName;
use duet_runtime::replay::move_head;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{self, Journal, owner};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The new branch shares the history up to and including the turn, with everything that was in flight then; without a turn in the
address it is the newest. `duet resume RUN/BRANCH` goes on with it, and the branch it came from stays as it is.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let name = arguments.word(1).unwrap_or_default();
    let branch = BranchName::new(name)
        .map_err(|error| Failure::usage(format!("`{name}` cannot be a branch's name: {error}")))?;
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("fork")?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    if duet_journal::Store::head(&store, &place.run, &branch)?.is_some() {
        return Err(Failure::usage(format!("{} has a branch {branch} already", place.run))
            .advise(format!("`duet branches {}` lists them", place.run)));
    }
    let owner = owner("fork");
    move_head(&mut store, (&place.run, &place.branch, &owner), place.at(), Some(&branch))?;
    let forked = journal::name(&place.run, &branch);
    terminal.message(&format!("{forked} begins at {}; `duet resume {forked}` goes on with it", place.address(place.at())));
    Ok(Code::OK)
}
