//! `duet fork`: other futures of one past.

use duet_runtime::run::heads;
use std::collections::BTreeSet;

use duet_journal::{BranchName, Store};
use duet_runtime::run::replay;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{self, Journal, owner};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Each new branch shares the history up to and including the turn, with everything that was in flight then; without a turn in the
address it is the newest. `duet resume RUN/BRANCH` goes on with it, and the branch it came from stays as it is.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let mut branches = BTreeSet::new();
    for name in arguments.words.iter().skip(1) {
        let branch = BranchName::new(name)
            .map_err(|error| Failure::usage(format!("`{name}` cannot be a branch's name: {error}")))?;
        if !branches.insert(branch) {
            return Err(Failure::usage(format!("the branch {name} is named twice")));
        }
    }
    let journal = Journal::of(arguments);
    let mut store = journal.open_to_write("fork")?;
    let place = journal.resolve_turn(&store, arguments.word(0))?;
    let heads = store.heads(&place.run)?;
    if let Some(head) = heads.iter().find(|head| branches.contains(&head.branch)) {
        return Err(
            Failure::usage(format!("{} has a branch {} already", place.run, head.branch))
                .advise(format!("`duet branches {}` lists them", place.run)),
        );
    }
    let owner = owner("fork");
    let branches: Vec<BranchName> = branches.into_iter().collect();
    heads::fork(&mut store, (&place.run, &place.branch, &owner), place.at(), &branches)?;
    for branch in &branches {
        let forked = journal::name(&place.run, branch);
        let turn = place.address(place.at());
        let advice = if terminal.is_lent {
            String::new()
        } else {
            format!("; `duet resume {forked}` goes on with it")
        };
        terminal.message(&format!("{forked} begins at {turn}{advice}"));
    }
    Ok(Code::OK)
}
