//! The changes of a branch's facts and its turns with calls, read from the index beside the
//! journal.
//!
//! Owns the moment at which the index is opened, made and brought up to date: at each question, for
//! the branch of the question.
//! INVARIANT: a question does not write to the journal; where no file can be written, the index is
//! made in memory and gives the same answers.
//! It does not know the contents of the index. Read next: `verb/when.rs`.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use duet_drivers::progress::ProgressLine;
use duet_journal::index::{Coverage, Index};
use duet_journal::{BranchName, RunId, Sequence, Store, StoreError};
use duet_runtime::history::changes::{self, FactChange, Sought};
use duet_runtime::run::source::Source;

use crate::history::journal::{self, Journal, Place};
use crate::text::error::CommandError;
use crate::text::query::Query;
use crate::text::saying::{Way, say};

/// The branch of a question, up to a turn of it.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) store: &'a dyn Store,
    pub(crate) place: &'a Place,
    /// Whether nobody waits for the answer any more.
    pub(crate) stop: &'a AtomicBool,
    /// Whether a person at a terminal sees how far the index is.
    pub(crate) is_watched: bool,
}

/// If at least this many turns have to be read, the person gets a message.
const MANY: u64 = 100_000;

/// If at least this many turns have to be read, the person sees how many are done.
const SEEN: u64 = 10_000;

/// Finds changes of facts that a query finds, up to a place.
///
/// # Errors
/// If the journal or the index is damaged.
pub(crate) fn find(
    searched: Searched<'_>,
    query: &Query,
    sought: Sought,
    notes: &mut Vec<String>,
) -> Result<Vec<FactChange>, CommandError> {
    let (index, coverage) = covered(searched, notes)?;
    Ok(changes::find(&index, &coverage, query.patterns(), sought)?)
}

/// Lists the turns up to a place that call a tool or may receive an answer of it.
///
/// # Errors
/// If the journal or the index is damaged.
pub(crate) fn turns_of_tool(
    searched: Searched<'_>,
    tool: &str,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<Sequence>, CommandError> {
    let (index, coverage) = covered(searched, notes)?;
    let mut turns = changes::turns_of_tool(&index, &coverage, tool)?;
    // The index may cover more than the place.
    let end = searched.place.at();
    turns.split_off(&end.next().unwrap_or(end));
    Ok(turns)
}

/// Opens the index, and brings it up to date with the turns up to a place.
fn covered(searched: Searched<'_>, notes: &mut Vec<String>) -> Result<(Index, Coverage), CommandError> {
    let Searched {
        journal,
        store,
        place,
        stop,
        is_watched,
    } = searched;
    let source = place.source(store);
    let mut index = match Index::open(journal.path()) {
        Err(StoreError::Io { .. } | StoreError::Database { .. }) => Index::in_memory(),
        opened => opened,
    }
    .map_err(failed)?;
    let covered = index
        .coverage(store, &place.run, &place.branch, place.at())
        .map_err(failed)?;
    let turns = place.at().number() - covered.sequence().number();
    if turns >= MANY {
        notes.push(format!("{turns} turns were read into the index, once"));
    }
    let mut line = (is_watched && turns >= SEEN).then(ProgressLine::on_standard_error);
    let label = format!("reading {}", place.name());
    let coverage = changes::cover_while(&mut index, &source, place.at(), &mut |reached| {
        if let Some(line) = &mut line {
            let done = reached.number() - covered.sequence().number();
            line.show(&label, done, turns);
        }
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if coverage.sequence() < place.at() {
        return Err(CommandError::problem("nobody waits for the answer any more"));
    }
    Ok((index, coverage))
}

/// Describes the first error in the index of a journal, if there is an index: in its database, a
/// row, or its facts of a branch.
///
/// # Errors
/// If a branch's records cannot be read.
pub(crate) fn check(
    journal: &Journal,
    store: &dyn Store,
    branches: &[(RunId, BranchName)],
) -> Result<Option<String>, CommandError> {
    let index = match Index::open_existing(journal.path()) {
        Ok(None) => return Ok(None),
        Ok(Some(index)) => index,
        // An index that this process may not open is not damaged; it follows from the records.
        Err(StoreError::Io { source, .. })
            if matches!(
                source.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Ok(Some(error.to_string())),
    };
    if let Err(error) = index.check_structure() {
        return Ok(Some(error.to_string()));
    }
    for (run, branch) in branches {
        let source = Source { store, run, branch };
        let wrong = match changes::check(&index, &source) {
            Ok(None) => continue,
            Ok(Some(turn)) => format!("it differs from the record of turn {turn}"),
            Err(error) => error.to_string(),
        };
        return Ok(Some(format!("{}: {wrong}", journal::name(run, branch))));
    }
    Ok(None)
}

fn failed(error: StoreError) -> CommandError {
    CommandError::from(error).advise(say![
        Way::of("fsck").with("--repair"),
        " removes an index that is damaged; Duet builds it again when it is needed",
    ])
}
