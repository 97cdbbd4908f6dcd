//! Histories: what writers had acknowledged and readers saw, and the check that one journal
//! explains all of it.
//!
//! A run has one writer, so its head is a register that only grows. A reader sees at least the
//! records that were acknowledged before it asked, at most those whose append had begun before the
//! answer came, and never fewer than another reader has seen before.
//! INVARIANT: the check refuses what its own tests plant. Read next: `takeover.rs`.

use std::time::Instant;

/// An operation on the head of one run, between two moments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    /// The number of records: after an append, or that a reader saw.
    pub(crate) count: usize,
    pub(crate) begun: Instant,
    /// When it was answered; `None` if it never was.
    pub(crate) ended: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Append,
    Read,
}

/// What no journal explains.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Anomaly {
    /// A reader saw this many records after more were acknowledged.
    Stale { seen: usize, acknowledged: usize },
    /// A reader saw records that nobody had begun to write.
    Unwritten { seen: usize },
    /// A reader saw less than another one before it.
    Backwards { seen: usize, before: usize },
    /// In the end there are fewer records than were acknowledged, or more than were begun.
    End { found: usize },
}

/// Checks the history of a run that in the end has a number of records.
pub(crate) fn check(history: &[Operation], found: usize) -> Result<(), Anomaly> {
    let of = |kind| history.iter().filter(move |operation| operation.kind == kind);
    let acknowledged = |before: Option<Instant>| {
        let is_before = |ended: Instant| before.is_none_or(|before| ended < before);
        let known = of(Kind::Append).filter(|append| append.ended.is_some_and(is_before));
        known.map(|append| append.count).max().unwrap_or(0)
    };
    for read in of(Kind::Read) {
        let (seen, Some(ended)) = (read.count, read.ended) else {
            continue;
        };
        let known = acknowledged(Some(read.begun));
        if seen < known {
            let acknowledged = known;
            return Err(Anomaly::Stale { seen, acknowledged });
        }
        let begun = of(Kind::Append).filter(|append| append.begun < ended);
        if seen > begun.map(|append| append.count).max().unwrap_or(0) {
            return Err(Anomaly::Unwritten { seen });
        }
        let earlier = of(Kind::Read).filter(|other| other.ended.is_some_and(|ended| ended < read.begun));
        let before = earlier.map(|other| other.count).max().unwrap_or(0);
        if seen < before {
            return Err(Anomaly::Backwards { seen, before });
        }
    }
    let begun = of(Kind::Append).map(|append| append.count).max().unwrap_or(0);
    if found < acknowledged(None) || found > begun {
        return Err(Anomaly::End { found });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Operations as (kind, count, begun, ended) in milliseconds.
    fn history(operations: &[(Kind, usize, u64, Option<u64>)]) -> Vec<Operation> {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let operation = |&(kind, count, begun, ended): &(Kind, usize, u64, Option<u64>)| Operation {
            kind,
            count,
            begun: at(begun),
            ended: ended.map(at),
        };
        operations.iter().map(operation).collect()
    }

    #[test]
    fn a_history_that_a_journal_explains_is_accepted() {
        let appends = [(Kind::Append, 1, 0, Some(10)), (Kind::Append, 2, 20, None)];
        for (reads, found) in [
            (vec![], 1),
            (vec![(Kind::Read, 0, 0, Some(5)), (Kind::Read, 1, 6, Some(8))], 2),
            // The second append was never answered, and may have happened.
            (vec![(Kind::Read, 1, 21, Some(22)), (Kind::Read, 2, 23, Some(24))], 2),
        ] {
            assert_eq!(check(&history(&[&appends[..], &reads].concat()), found), Ok(()));
        }
    }

    #[test]
    fn each_planted_anomaly_is_found() {
        let appends = [(Kind::Append, 1, 0, Some(10)), (Kind::Append, 2, 20, Some(30))];
        let stale = Anomaly::Stale {
            seen: 1,
            acknowledged: 2,
        };
        for (reads, found, anomaly) in [
            (vec![(Kind::Read, 1, 31, Some(32))], 2, stale),
            (vec![(Kind::Read, 2, 11, Some(19))], 2, Anomaly::Unwritten { seen: 2 }),
            (
                vec![(Kind::Read, 2, 21, Some(22)), (Kind::Read, 1, 23, Some(24))],
                2,
                Anomaly::Backwards { seen: 1, before: 2 },
            ),
            (vec![], 1, Anomaly::End { found: 1 }),
            (vec![], 3, Anomaly::End { found: 3 }),
        ] {
            assert_eq!(check(&history(&[&appends[..], &reads].concat()), found), Err(anomaly));
        }
    }
}
