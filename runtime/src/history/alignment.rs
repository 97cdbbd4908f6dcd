//! The requests of two branches, aligned by their content and not by the numbers of turns.
//!
//! INVARIANT: each request of either side stands in exactly one list.
//! It reads records alone, so its keys have no definitions; it runs nothing.
//! Read next: `../record/key.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use duet_journal::Sequence;
use preserves::IOValue;

use super::rerun::comparison::longest_ascent;
use super::rerun::unmatched::Unmatched;
use crate::record::key::{Key, Ledger, LedgerRequest, Outcomes};
use crate::run::error::RunError;
use crate::run::source::{BranchPart, PORTION, Source, decode_turn};

/// The answer to a request, if there is one.
pub type Outcome = Option<Result<IOValue, IOValue>>;

/// A request with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The request.
    pub asked: LedgerRequest,
    /// Its answer.
    pub outcome: Outcome,
}

/// A request that both sides make.
#[derive(Clone, Debug)]
pub struct Pair {
    /// On the left.
    pub left: Answered,
    /// On the right.
    pub right: Answered,
    /// Whether the sides make it in another order among those that both make.
    pub is_moved: bool,
}

/// A request of each side, to the same tool with other arguments.
#[derive(Clone, Debug)]
pub struct ChangedRequest {
    /// On the left.
    pub left: Answered,
    /// On the right.
    pub right: Answered,
}

/// The requests of two branches, aligned.
#[derive(Clone, Debug, Default)]
pub struct Alignment {
    /// What both ask.
    pub both: Vec<Pair>,
    /// What the same actor asks the same tool with other arguments.
    pub changed: Vec<ChangedRequest>,
    /// What only the left asks.
    pub left: Vec<Answered>,
    /// What only the right asks.
    pub right: Vec<Answered>,
}

/// Lists what two branches have asked, heard and shown, each up to a turn, by their records, and
/// without the places of requests. The turns up to the newest `shared` one are read once for both.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn recorded_ledgers(
    left: BranchPart<'_>,
    right: BranchPart<'_>,
    shared: Option<Sequence>,
) -> Result<[Ledger; 2], RunError> {
    let mut one = Ledger::new(left.source.run.as_str());
    let (mut other, mut next) = (Ledger::new(right.source.run.as_str()), 1);
    if let Some(shared) = shared {
        note_turns(&mut one, &left.source, 1..shared.number() + 1)?;
        (other, next) = (one.clone(), shared.number() + 1);
    }
    note_turns(&mut one, &left.source, next..left.end.number() + 1)?;
    note_turns(&mut other, &right.source, next..right.end.number() + 1)?;
    Ok([one, other])
}

/// Notes the turns of a branch at some positions.
fn note_turns(ledger: &mut Ledger, source: &Source<'_>, positions: Range<u64>) -> Result<(), RunError> {
    let mut next = positions.start;
    while next < positions.end {
        let end = positions.end.min(next + PORTION);
        for record in source.read(Sequence::new(next).map_err(|_| RunError::Full)?, end)? {
            let record = record?;
            ledger.note(record.header().sequence, &decode_turn(&record)?, &[]);
        }
        next = end;
    }
    Ok(())
}

/// Aligns the requests of two ledgers.
pub fn align(left: &Ledger, right: &Ledger) -> Alignment {
    let by_key: BTreeMap<&Key, usize> = left.asked.iter().zip(0..).map(|(asked, at)| (&asked.key, at)).collect();
    let met: Vec<Option<usize>> = right
        .asked
        .iter()
        .map(|asked| by_key.get(&asked.key).copied())
        .collect();
    let in_order = longest_ascent(&met.iter().flatten().copied().collect::<Vec<_>>());
    let (left_outcomes, right_outcomes) = (left.outcomes(), right.outcomes());
    let answered = |outcomes: &Outcomes<'_>, asked: &LedgerRequest| Answered {
        asked: asked.clone(),
        outcome: outcomes.get(&asked.request).map(|outcome| (*outcome).clone()),
    };
    let both = right
        .asked
        .iter()
        .zip(&met)
        .filter_map(|(asked, met)| Some((asked, (*met)?)));
    let both = both.zip(in_order).map(|((asked, met), is_in_order)| Pair {
        left: answered(&left_outcomes, &left.asked[met]),
        right: answered(&right_outcomes, asked),
        is_moved: !is_in_order,
    });
    let mut found = Alignment {
        both: both.collect(),
        ..Alignment::default()
    };
    let shared: BTreeSet<usize> = met.iter().flatten().copied().collect();
    let alone = left.asked.iter().enumerate().filter(|(at, _)| !shared.contains(at));
    let mut left_alone = Unmatched::new(alone.map(|(_, asked)| asked));
    for (asked, _) in right.asked.iter().zip(&met).filter(|(_, met)| met.is_none()) {
        match left_alone.take_nearest(&asked.key) {
            Some(near) => found.changed.push(ChangedRequest {
                left: answered(&left_outcomes, near),
                right: answered(&right_outcomes, asked),
            }),
            None => found.right.push(answered(&right_outcomes, asked)),
        }
    }
    let rest = left_alone.rest();
    found.left = rest.map(|asked| answered(&left_outcomes, asked)).collect();
    let shared = found.both.len() + found.changed.len();
    debug_assert_eq!(
        [shared + found.left.len(), shared + found.right.len()],
        [left.asked.len(), right.asked.len()],
        "each request of either side stands in exactly one list"
    );
    found
}
