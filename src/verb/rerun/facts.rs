//! The facts of two runs at their ends.
//!
//! INVARIANT: ids that each run makes for itself make no difference.
//! It reads no programs. Read next: `report.rs`, `verb/diff.rs`.

use std::collections::BTreeSet;

use duet_journal::Store;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::record::key::Ledger;
use preserves::IOValue;

use super::output::LinesApart;
use crate::history::journal::Place;
use crate::text::error::CommandError;
use crate::text::value_text::shown;
use crate::verb::diff::{is_shown, without_names};

/// Returns the facts of a run after a turn, with keys in the place of its own ids.
///
/// # Errors
/// If the journal cannot be read.
pub(super) fn recorded(store: &dyn Store, place: &Place, ledger: &Ledger) -> Result<Vec<IOValue>, CommandError> {
    let facts = Shadow::at(&place.source(store), place.at())?.facts();
    Ok(facts.iter().map(|fact| ledger.canonical(fact)).collect())
}

/// Compares the facts of both runs, as they would be typed.
pub(super) fn apart(before: &[IOValue], now: &[IOValue]) -> LinesApart {
    let [before, now] = [before, now].map(|facts| {
        let shown = facts.iter().filter(|fact| is_shown(fact));
        shown.map(without_names).collect::<BTreeSet<IOValue>>()
    });
    let only = |one: &BTreeSet<IOValue>, other: &BTreeSet<IOValue>| one.difference(other).map(shown).collect();
    LinesApart {
        before: only(&before, &now),
        now: only(&now, &before),
    }
}
