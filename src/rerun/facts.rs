//! The facts of two runs at their ends.
//!
//! INVARIANT: ids that each run makes for itself make no difference.
//! It reads no programs. Read next: `report.rs`, `../verb/diff.rs`.

use std::collections::BTreeSet;

use duet_journal::Store;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::record::key::Ledger;
use preserves::IOValue;

use crate::error::CommandError;
use crate::journal::Place;
use crate::value_text::shown;
use crate::verb::diff::{is_shown, without_names};

/// The facts that only one of two runs has, as they would be typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FactDifference {
    pub(crate) before: Vec<String>,
    pub(crate) now: Vec<String>,
}

/// Returns the facts of a run after a turn, with keys in the place of its own ids.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn recorded(store: &dyn Store, place: &Place, ledger: &Ledger) -> Result<Vec<IOValue>, CommandError> {
    let facts = Shadow::at(&place.source(store), place.at())?.facts();
    Ok(facts.iter().map(|fact| ledger.canonical(fact)).collect())
}

/// Compares the facts of both runs.
pub(super) fn apart(before: &[IOValue], now: &[IOValue]) -> FactDifference {
    let [before, now] = [before, now].map(|facts| {
        let shown = facts.iter().filter(|fact| is_shown(fact));
        shown.map(without_names).collect::<BTreeSet<IOValue>>()
    });
    let only = |one: &BTreeSet<IOValue>, other: &BTreeSet<IOValue>| one.difference(other).map(shown).collect();
    FactDifference {
        before: only(&before, &now),
        now: only(&now, &before),
    }
}
