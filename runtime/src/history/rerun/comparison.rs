//! What a run asked before and what it asks with changed code.
//!
//! INVARIANT: each recorded request and each new one stands in exactly one list.
//! It gives no answers. Read next: `../rerun.rs`.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use duet_journal::Sequence;
use preserves::IOValue;

use super::Rerun;
use super::unmatched::Unmatched;
use crate::model::failure::Failure;
use crate::record::key::{Key, LedgerEvent, LedgerOutput, LedgerRequest};
use crate::state::event::Event;

/// A new request that stands for a recorded one.
#[derive(Clone, Debug)]
pub struct MatchedRequest {
    /// The new request.
    pub asked: LedgerRequest,
    /// The recorded one.
    pub recorded: LedgerRequest,
    /// Whether the recorded one received an answer.
    pub is_answered: bool,
    /// Whether the new one is still open.
    pub is_open: bool,
    /// Whether the order among the requests that both runs make is another one.
    pub is_moved: bool,
}

impl MatchedRequest {
    /// Says whether the request comes from another definition.
    pub fn is_elsewhere(&self) -> bool {
        self.asked.key.definition != self.recorded.key.definition
    }
}

/// A new request that nobody has made before.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// The request.
    pub asked: LedgerRequest,
    /// Whether it is still open.
    pub is_open: bool,
    /// The recorded request that resembles it most, if one is left that does.
    pub near: Option<LedgerRequest>,
}

/// A recorded request for which no new one stands.
#[derive(Clone, Debug)]
pub struct Unused {
    /// The request.
    pub recorded: LedgerRequest,
    /// The answer, if there was one.
    pub outcome: Option<Result<IOValue, IOValue>>,
}

/// A question that both runs ask, but not equally often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountDifference {
    /// The key of the last time that the run of changed code asks it.
    pub key: Key,
    /// How often the earlier run asked it.
    pub before: u64,
    /// How often the run of changed code asks it.
    pub now: u64,
}

/// A recorded input that nobody asked for and that was not given, or did not succeed.
#[derive(Clone, Debug)]
pub struct UnusedInput {
    /// The input.
    pub heard: LedgerEvent,
    /// The path of names of the actor that received it.
    pub actor: String,
    /// Why it failed, if it was given.
    pub failure: Option<Box<Failure>>,
}

/// What a run asked before and what it asks with changed code.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The requests that both make, in the new order.
    pub met: Vec<MatchedRequest>,
    /// The requests that only the changed code makes, in order.
    pub fresh: Vec<Fresh>,
    /// The recorded requests that are left, in order.
    pub unused: Vec<Unused>,
    /// Questions that are asked more or less often than before, while both runs ask them.
    pub shifted: Vec<CountDifference>,
    /// The recorded inputs that nobody asked for and that were not given, in order.
    pub unheard: Vec<UnusedInput>,
    /// The turns that put a changed text in the place of another. That text is not the one that
    /// runs here, so none of them was given.
    pub patched: Vec<Sequence>,
    /// The output: before, and with changed code.
    pub shown: [Vec<LedgerOutput>; 2],
    /// The newest turn of the run of changed code.
    pub turn: Option<Sequence>,
}

impl Comparison {
    /// Says whether the changed code asks the same, all of it, and receives all that was recorded.
    pub fn is_same(&self) -> bool {
        self.fresh.is_empty()
            && self.unheard.is_empty()
            && self.unused.is_empty()
            && !self.met.iter().any(|met| met.is_moved || met.is_elsewhere())
    }

    /// Says whether something that was recorded with an answer is left.
    pub fn leaves_answers(&self) -> bool {
        !self.unheard.is_empty() || self.unused.iter().any(|unused| unused.outcome.is_some())
    }

    /// Says whether a question is asked less often than before, so that its answers may belong to
    /// other times even if all of them were given.
    pub fn asks_less_often(&self) -> bool {
        self.shifted.iter().any(|shifted| shifted.now < shifted.before)
    }
}

pub(super) fn compare(rerun: &Rerun) -> Comparison {
    let met: Vec<(usize, usize)> = rerun
        .met
        .iter()
        .enumerate()
        .filter_map(|(new, old)| Some((new, (*old)?)))
        .collect();
    let in_order = longest_ascent(&met.iter().map(|(_, old)| *old).collect::<Vec<_>>());
    let asked = rerun.asked();
    let outcomes = rerun.recorded.outcomes();
    let met = std::iter::zip(met, in_order).map(|((new, old), is_in_order)| MatchedRequest {
        asked: asked[new].clone(),
        recorded: rerun.recorded.asked[old].clone(),
        is_answered: outcomes.contains_key(&rerun.recorded.asked[old].request),
        is_open: rerun.is_open(asked[new].request),
        is_moved: !is_in_order,
    });
    let left = std::iter::zip(&rerun.recorded.asked, &rerun.taken).filter(|(_, taken)| taken.is_none());
    let left: Vec<&LedgerRequest> = left.map(|(asked, _)| asked).collect();
    let unused = left.iter().map(|recorded| Unused {
        recorded: (*recorded).clone(),
        outcome: outcomes.get(&recorded.request).map(|outcome| (*outcome).clone()),
    });
    let heard = rerun.recorded.heard.iter().enumerate();
    let left_out = heard.filter(|(at, heard)| match rerun.failed.get(at) {
        Some(_) => true,
        None => !rerun.used[*at] && is_unasked(&heard.event),
    });
    let unheard = left_out.map(|(at, heard)| UnusedInput {
        actor: rerun.recorded.path(heard.actor),
        failure: rerun.failed.get(&at).cloned(),
        heard: heard.clone(),
    });
    let patched = rerun.recorded.heard.iter();
    let patched = patched.filter(|heard| matches!(heard.event, Event::Patched { .. }));
    let shown = rerun.run.ledger().map_or_else(Vec::new, |ledger| ledger.shown.clone());
    let (met, fresh): (Vec<MatchedRequest>, Vec<Fresh>) = (met.collect(), fresh(rerun, &left));
    debug_assert_eq!(met.len() + fresh.len(), asked.len(), "each request is met or new");
    Comparison {
        met,
        fresh,
        unused: unused.collect(),
        shifted: shifted(rerun),
        unheard: unheard.collect(),
        patched: patched.map(|heard| heard.turn).collect(),
        shown: [rerun.recorded.shown.clone(), shown],
        turn: rerun.run.head().map(|tip| tip.sequence),
    }
}

fn is_unasked(event: &Event) -> bool {
    matches!(
        event,
        Event::Evaluate { .. } | Event::Told { .. } | Event::Merged { .. } | Event::Granted { .. } | Event::Restart {}
    )
}

/// The requests that nobody has made before, each with the recorded one that is nearest.
fn fresh(rerun: &Rerun, left: &[&LedgerRequest]) -> Vec<Fresh> {
    let mut left = Unmatched::new(left.iter().copied());
    let unmet = std::iter::zip(rerun.asked(), &rerun.met).filter(|(_, met)| met.is_none());
    let fresh = unmet.map(|(asked, _)| Fresh {
        asked: asked.clone(),
        is_open: rerun.is_open(asked.request),
        near: left.take_nearest(&asked.key).cloned(),
    });
    fresh.collect()
}

/// The questions that both runs ask, but not equally often, as far as the new run has come. One
/// that is asked less often counts if a recorded request of it is left.
fn shifted(rerun: &Rerun) -> Vec<CountDifference> {
    let Some(ledger) = rerun.run.ledger() else {
        return Vec::new();
    };
    let left = std::iter::zip(&rerun.recorded.asked, &rerun.taken).filter(|(_, taken)| taken.is_none());
    let left: BTreeSet<&Key> = left.map(|(asked, _)| &asked.key).collect();
    let is_left_after = |key: &Key| {
        let time = |nth| key.clone().of_time(nth);
        let later = time(key.nth.saturating_add(1))..=time(u64::MAX);
        left.range::<Key, _>(later).next().is_some()
    };
    let lasts = ledger
        .asked
        .iter()
        .filter(|asked| ledger.count(&asked.key) == asked.key.nth);
    let counted = lasts.map(|asked| CountDifference {
        key: asked.key.clone(),
        before: rerun.recorded.count(&asked.key),
        now: asked.key.nth,
    });
    let is_shifted = |one: &CountDifference| match one.now.cmp(&one.before) {
        Ordering::Greater => one.before > 0,
        Ordering::Less => is_left_after(&one.key),
        Ordering::Equal => false,
    };
    counted.filter(is_shifted).collect()
}

/// Says of each number whether it is in the longest ascending series of them, or in one of the
/// longest.
pub(in crate::history) fn longest_ascent(numbers: &[usize]) -> Vec<bool> {
    // The position of the least last number of a series of each length, and what comes before each.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (position, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if let Some(end) = ends.get_mut(length) {
            *end = position;
        } else {
            ends.push(position);
        }
    }
    let mut is_in = vec![false; numbers.len()];
    let mut next = ends.last().copied();
    while let Some(position) = next {
        is_in[position] = true;
        next = before[position];
    }
    is_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_requests_count_as_moved() {
        for (numbers, expected) in [
            (&[][..], &[][..]),
            (&[3], &[true]),
            (&[0, 1, 2], &[true, true, true]),
            (&[1, 0], &[false, true]),
            (&[2, 0, 1], &[false, true, true]),
            (&[0, 4, 1, 2, 3, 5], &[true, false, true, true, true, true]),
        ] {
            assert_eq!(longest_ascent(numbers), expected, "{numbers:?}");
        }
    }
}
