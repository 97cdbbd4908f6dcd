//! When records were committed.
//!
//! Owns the column `records.time`.
//! INVARIANT: every 64th record of a chain has its whole time, and any other how much later it was
//! committed than its parent; so a time takes a byte or two, and 64 rows at most say what it is.
//! A record that takes its parent's time takes no byte: turns that are committed together.
//! Read next: `store/sqlite/chain.rs`.

use std::ops::Range;

use rusqlite::Connection;

use super::chain::{self, BROKEN, Link, STEPS_MAX};
use super::row::{Branch, failed};
use crate::identity::Sequence;
use crate::store::{CommitTime, StoreError};

/// The number of positions from one whole time to the next.
const WHOLE_EVERY: i64 = 64;

/// A time in milliseconds since 1970, as the database counts; 0 if it is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment(i64);

impl Moment {
    pub(super) fn of(time: CommitTime) -> Self {
        Self(time.ms().unwrap_or(0).cast_signed())
    }

    fn time(self) -> CommitTime {
        CommitTime::from_ms(self.0.cast_unsigned())
    }

    /// Returns what the row of the record at a position says, if its parent's moment is `before`.
    pub(super) fn encode(self, sequence: i64, before: Self) -> i64 {
        if is_whole(sequence) {
            self.0
        } else {
            self.0.wrapping_sub(before.0)
        }
    }

    /// The moment that a row says.
    fn decode(link: &Link, before: Self) -> Self {
        if is_whole(link.sequence) {
            Self(link.time)
        } else {
            Self(before.0.wrapping_add(link.time))
        }
    }
}

fn is_whole(sequence: i64) -> bool {
    sequence % WHOLE_EVERY == 0
}

/// When a record was committed.
pub(super) fn of_record(connection: &Connection, link: Link) -> Result<Moment, StoreError> {
    let links = down_to(connection, link, link.sequence)?;
    Ok(moments(&links).last().map_or(Moment::default(), |(_, moment)| moment))
}

/// When the records of a branch at the positions in `range` were committed, oldest first.
pub(super) fn read_range(
    connection: &Connection,
    branch: &Branch,
    range: &Range<Sequence>,
) -> Result<Vec<CommitTime>, StoreError> {
    let first = range.start.number().cast_signed();
    let end = range.end.number().min(branch.head.sequence.number() + 1).cast_signed();
    if end <= first {
        return Ok(Vec::new());
    }
    let newest = chain::ancestor(connection, branch.record, branch.head.hash, end - 1)?;
    let links = down_to(connection, newest, first)?;
    let wanted = moments(&links).filter(|(sequence, _)| *sequence >= first);
    Ok(wanted.map(|(_, moment)| moment.time()).collect())
}

/// The positions and moments of links that [`down_to`] found, oldest first.
fn moments(links: &[Link]) -> impl Iterator<Item = (i64, Moment)> {
    links.iter().rev().scan(Moment::default(), |before, link| {
        *before = Moment::decode(link, *before);
        Some((link.sequence, *before))
    })
}

/// Reads the rows from a record back to a position, and as far beyond as a whole time needs; newest
/// first.
fn down_to(connection: &Connection, newest: Link, first: i64) -> Result<Vec<Link>, StoreError> {
    let failed = failed("reading when records were committed");
    let mut statement = connection.prepare_cached(chain::LINKS_DOWN).map_err(&failed)?;
    let is_last = |link: &Link| link.sequence <= first && is_whole(link.sequence);
    let (mut links, mut at) = (vec![newest], newest);
    while !is_last(&at) {
        let begun = at.key;
        let mut rows = statement.query([at.parent.ok_or(BROKEN)?]).map_err(&failed)?;
        // The rows of one run mostly follow each other.
        while let Some(row) = rows.next().map_err(&failed)? {
            let link = Link::from_row(row)?;
            let parent = at.parent.ok_or(BROKEN)?;
            if link.key > parent {
                continue;
            }
            if link.key < parent || link.sequence >= at.sequence {
                return Err(BROKEN);
            }
            at = link;
            links.push(at);
            if is_last(&at) || at.parent.is_none_or(|parent| at.key - parent > STEPS_MAX) {
                break;
            }
        }
        if at.key == begun {
            return Err(BROKEN);
        }
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::RecordHash;

    #[test]
    fn a_time_is_what_its_row_says_after_the_row_before() {
        let link = |sequence, time| Link {
            key: 1,
            sequence,
            parent: None,
            jump: 1,
            time,
            hash: RecordHash::from_slice(&[0; 32]).expect("32 bytes"),
        };
        // Clocks go back, and may be wrong by all that a number can hold.
        let times = [1_795_000_000_000, 1_795_000_000_000, 1_794_999_999_000, 0, u64::MAX, 7];
        let mut before = Moment::default();
        for (sequence, ms) in (62..).zip(times) {
            let moment = Moment::of(CommitTime::from_ms(ms));
            let written = link(sequence, moment.encode(sequence, before));
            assert_eq!(Moment::decode(&written, before).time(), CommitTime::from_ms(ms));
            assert_eq!(written.time == 0, sequence == 63);
            before = moment;
        }
    }
}
