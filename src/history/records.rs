//! Reading the records of a branch, one after the other.
//!
//! INVARIANT: however many records there are, one large body at a time is joined: few bytes of a
//! journal can be many gigabytes of bodies.
//! It chooses no records; the commands do. Read next: `turn.rs`.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, Record, RecordHash, Sequence, Store};
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::run::source::Source;

use crate::history::journal::{self, Place};
use crate::history::turn;
use crate::text::error::CommandError;

/// The maximum number of records in one read from the store.
const PORTION: u64 = 256;

/// The records of a branch between two positions, in either order.
pub(crate) struct Records<'a> {
    source: Source<'a>,
    opener: Opener<'a>,
    /// The positions that are still to be read.
    left: Range<u64>,
    /// The records that were read; the next one stands at the end.
    portion: Vec<ClosedRecord>,
    is_newest_first: bool,
}

impl<'a> Records<'a> {
    /// Begins with the oldest of the records in a range.
    pub(crate) fn oldest_first(source: Source<'a>, range: RangeInclusive<Sequence>) -> Self {
        Self {
            source,
            opener: Opener::new(source.store),
            left: range.start().number()..range.end().number() + 1,
            portion: Vec::new(),
            is_newest_first: false,
        }
    }

    /// Begins with the newest record of a place, and leads back to the first.
    pub(crate) fn newest_first(store: &'a dyn Store, place: &'a Place) -> Self {
        Self {
            is_newest_first: true,
            ..Self::oldest_first(place.source(store), Sequence::FIRST..=place.at())
        }
    }

    /// Returns the next record, whose body may be in parts.
    ///
    /// # Errors
    /// If it is missing, or the journal cannot be read.
    pub(crate) fn next_closed(&mut self) -> Result<Option<ClosedRecord>, CommandError> {
        if self.portion.is_empty() {
            self.read()?;
        }
        Ok(self.portion.pop())
    }

    fn read(&mut self) -> Result<(), CommandError> {
        if self.left.is_empty() {
            return Ok(());
        }
        let Range { start: first, end } = self.left;
        let Source { store, run, branch } = self.source;
        let count = PORTION.min(end - first);
        let from = if self.is_newest_first { end - count } else { first };
        let position = |number| Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()));
        let range = position(from)?..position(from + count)?;
        self.portion = store.read_closed(run, branch, range)?;
        if self.portion.len() as u64 != count {
            let missing = from + self.portion.len() as u64;
            let name = journal::name(run, branch);
            return Err(CommandError::problem(format!("{name} has no turn {missing}")));
        }
        if self.is_newest_first {
            self.left.end = from;
        } else {
            self.portion.reverse();
            self.left.start = from + count;
        }
        Ok(())
    }

    /// Looks into one of the records.
    ///
    /// # Errors
    /// If a part is missing, or the body is no value.
    pub(crate) fn open(&mut self, record: ClosedRecord) -> Result<Record, CommandError> {
        Ok(self.opener.open(record)?)
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, CommandError>;

    fn next(&mut self) -> Option<Self::Item> {
        let closed = self.next_closed().transpose()?;
        Some(closed.and_then(|record| self.open(record)))
    }
}

/// Decodes the turns of a branch in a range, without the run's first record.
///
/// # Errors
/// Each turn comes with those of its reading.
pub(crate) fn turns(
    source: Source<'_>,
    range: RangeInclusive<Sequence>,
) -> impl Iterator<Item = Result<TurnRecord, CommandError>> {
    let records = Records::oldest_first(source, range);
    records.filter_map(|record| match record.and_then(|record| turn::body(&record)) {
        Ok(Body::Turn(turn)) => Some(Ok(turn)),
        Ok(Body::Genesis(_)) => None,
        Err(error) => Some(Err(error)),
    })
}

/// The maximum number of records between two that are wanted which one read takes along.
const GAP: u64 = 16;

/// Decodes chosen turns of a branch, in their order, each with its position.
///
/// # Errors
/// Each turn comes with those of its reading.
pub(crate) fn chosen_turns<'a>(
    source: Source<'a>,
    chosen: &'a BTreeSet<Sequence>,
) -> impl Iterator<Item = Result<(Sequence, TurnRecord), CommandError>> + use<'a> {
    let mut ranges: Vec<RangeInclusive<Sequence>> = Vec::new();
    for at in chosen {
        match ranges.last_mut() {
            Some(last) if at.number() - last.end().number() <= GAP => *last = *last.start()..=*at,
            Some(_) | None => ranges.push(*at..=*at),
        }
    }
    let records = ranges
        .into_iter()
        .flat_map(move |range| Records::oldest_first(source, range));
    records.filter_map(move |record| {
        let record = match record {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        let at = record.header().sequence;
        if !chosen.contains(&at) {
            return None;
        }
        match turn::body(&record) {
            Ok(Body::Turn(turn)) => Some(Ok((at, turn))),
            Ok(Body::Genesis(_)) => None,
            Err(error) => Some(Err(error)),
        }
    })
}

/// Decodes the newest turns of a branch up to a place, at most `count`, each with the time of its
/// commit in milliseconds since 1970, if the store knows it.
///
/// # Errors
/// As those of reading the turns.
pub(crate) fn newest_turns(
    store: &dyn Store,
    place: &Place,
    count: u64,
) -> Result<Vec<(TurnRecord, Option<u64>)>, CommandError> {
    let last = place.at();
    let first = Sequence::new(last.number().saturating_sub(count - 1)).unwrap_or(Sequence::FIRST);
    let end = last.next().unwrap_or(last);
    let times = store.times(&place.run, &place.branch, first..end)?;
    let mut newest = Vec::new();
    for (index, record) in Records::oldest_first(place.source(store), first..=last).enumerate() {
        if let Body::Turn(turn) = turn::body(&record?)? {
            newest.push((turn, times.get(index).and_then(|time| time.ms())));
        }
    }
    Ok(newest)
}

/// Names the tools that the turns of a branch in a range call. Large bodies are not read: their
/// outlines name the tools.
///
/// # Errors
/// As those of reading the turns.
pub(crate) fn called_tools(
    source: Source<'_>,
    range: RangeInclusive<Sequence>,
) -> Result<BTreeSet<String>, CommandError> {
    let mut records = Records::oldest_first(source, range);
    let mut tools = BTreeSet::new();
    while let Some(record) = records.next_closed()? {
        match record.outline() {
            Some(outline) => tools.extend(outline.iter().cloned()),
            None => {
                if let Body::Turn(turn) = turn::body(&records.open(record)?)? {
                    tools.extend(turn.outline());
                }
            }
        }
    }
    Ok(tools)
}

/// Names the record at a position of a branch, without a look into it; `None` beyond the head.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn hash_at(source: Source<'_>, at: Sequence) -> Result<Option<RecordHash>, CommandError> {
    let Source { store, run, branch } = source;
    Ok(store.closed_at(run, branch, at)?.map(|record| record.hash()))
}

/// Reads a record of a branch.
///
/// # Errors
/// If there is none at this position.
pub(crate) fn record_at(store: &dyn Store, place: &Place, at: Sequence) -> Result<Record, CommandError> {
    let found = store.record_at(&place.run, &place.branch, at)?;
    found.ok_or_else(|| crate::history::journal::beyond(place, at))
}
