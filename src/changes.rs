//! The changes of a branch's facts, looked up in the index beside the journal.
//!
//! Owns when the index is opened, made and brought up to date: whenever it is asked, for the branch that is asked about.
//! INVARIANT: the journal is not written; where nothing can be written at all, the index is made in memory and gives the same answers.
//! It does not know what is in the index. Read next: `command/when.rs`.

use duet_journal::index::Index;
use duet_journal::{BranchName, RunId, Store, StoreError};
use duet_runtime::history::changes::{self, Change, Sought};
use duet_runtime::run::source::Source;

use crate::failure::Failure;
use crate::journal::{self, Journal, Place};
use crate::query::Query;
use crate::terminal::Terminal;

/// From so many turns on that have to be read, the person is told.
const MANY: u64 = 100_000;

/// Finds changes of facts that a query finds, up to a place.
///
/// # Errors
/// If the journal or the index is damaged.
pub(crate) fn find(
    (journal, store): (&Journal, &dyn Store),
    place: &Place,
    query: &Query,
    sought: Sought,
    terminal: &mut Terminal,
) -> Result<Vec<Change>, Failure> {
    let source = Source {
        store,
        run: &place.run,
        branch: &place.branch,
    };
    let mut index = match Index::open(journal.path()) {
        Err(StoreError::Io { .. } | StoreError::Database { .. }) => Index::in_memory(),
        opened => opened,
    }
    .map_err(failed)?;
    let covered = index
        .coverage(store, (&place.run, &place.branch), place.at())
        .map_err(failed)?;
    let turns = place.at().number() - covered.sequence().number();
    if turns >= MANY {
        terminal.message(&format!("{turns} turns are read into the index, once"));
    }
    let coverage = changes::cover(&mut index, &source, place.at())?;
    Ok(changes::find(&index, &coverage, query.patterns(), sought)?)
}

/// What is wrong with the index of a journal, if there is one: its database, a row, or what it says of a branch.
///
/// # Errors
/// If a branch's records cannot be read.
pub(crate) fn check(
    journal: &Journal,
    store: &dyn Store,
    branches: &[(RunId, BranchName)],
) -> Result<Option<String>, Failure> {
    let index = match Index::open_existing(journal.path()) {
        Ok(None) => return Ok(None),
        Ok(Some(index)) => index,
        Err(error) => return Ok(Some(error.to_string())),
    };
    if let Err(error) = index.check_structure() {
        return Ok(Some(error.to_string()));
    }
    for (run, branch) in branches {
        let source = Source { store, run, branch };
        let wrong = match changes::check(&index, &source) {
            Ok(None) => continue,
            Ok(Some(turn)) => format!("of turn {turn} it does not say what the record says"),
            Err(error) => error.to_string(),
        };
        return Ok(Some(format!("{}: {wrong}", journal::name(run, branch))));
    }
    Ok(None)
}

fn failed(error: StoreError) -> Failure {
    Failure::from(error)
        .advise("`duet fsck --repair` removes an index that is damaged; it is made again when it is asked for")
}
