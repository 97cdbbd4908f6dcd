//! An index beside a journal: which turns of a branch filed something under a term, without reading
//! the other turns.
//!
//! Owns the file and its tables; whoever extends the index decides what is filed, and under which
//! terms.
//!
//! * A *line* is a stretch of turns, each the child of the one before; a line that leaves another
//!   names it as its parent.
//! * A *mark* names a record that is covered with all its ancestors, and its line. There is one at
//!   each multiple of [`MARK_EVERY`] positions, and one where an extension ended.
//! * An *entry* is what a turn filed, and a *term* is a seal under which entries are found,
//!   combined by exclusive or with that of `"run"` and the run's name. Terms are grouped by
//!   [`REACH`] positions.
//! * Rows have seals as the journal's have, over `"line"` id run parent first last, `"mark"` run
//!   sequence record line, and `"entry"` line sequence place bytes.
//!
//! INVARIANT: the index is derived. It may lag behind the journal, or be gone, but what it covers
//! is what the records say: a mark names a record by its hash, and one commit writes it with all
//! entries up to there. A row that does not match its seal is an error.
//!
//! It reads no bodies, and writes nothing to the journal. Read next: `index/line.rs`.

mod file;
mod line;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;

use rusqlite::{Connection, Row, params};

use self::line::{EntryKey, Line, Segment};
use crate::identity::{BranchName, RecordHash, RunId, Sequence};
use crate::store::sqlite::{failed, seal};
use crate::store::{Store, StoreError};

/// Marks are made at every position that is a multiple of this, and where an extension ends.
pub const MARK_EVERY: u64 = 1024;

/// The index sorts terms within groups of this many positions, so that filing more of them touches
/// few pages.
pub const REACH: u64 = 1 << 16;

/// Something to look for: a checksum of what it consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(i64);

impl Term {
    /// Names what consists of these parts.
    pub fn of(parts: &[&[u8]]) -> Self {
        Self(i64::from_le_bytes(seal(parts)))
    }

    /// The term as it is kept for one run, so that a search meets no other run's.
    fn within(self, run: &RunId) -> i64 {
        self.0 ^ Self::of(&[b"run", run.as_str().as_bytes()]).0
    }

    fn without(kept: i64, run: &RunId) -> Self {
        Self(Self(kept).within(run))
    }
}

/// Something that a turn filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledEntry {
    /// The turn's position.
    pub sequence: Sequence,
    /// The terms by which a search finds the entry.
    pub terms: Vec<Term>,
    /// The entry's content.
    pub bytes: Vec<u8>,
}

/// All that the turns up to a position filed, after those of the portion before.
#[derive(Clone, Debug)]
pub struct Portion {
    /// In the order of the turns.
    pub entries: Vec<FiledEntry>,
    /// The last of the turns, which need not have filed anything.
    pub end: (Sequence, RecordHash),
}

/// Where something is filed: the turn's position, and the place among what that turn filed, counted
/// from 0.
pub type EntryPosition = (Sequence, u64);

/// How far an index covers a branch.
#[derive(Clone, Debug)]
pub struct Coverage {
    run: RunId,
    /// The stretches that lead to the newest turn covered, newest first.
    path: Vec<Segment>,
    newest: Option<(Sequence, RecordHash)>,
}

impl Coverage {
    /// The newest turn covered; nothing is filed by the first record of a run.
    pub fn sequence(&self) -> Sequence {
        self.newest.map_or(Sequence::FIRST, |(sequence, _)| sequence)
    }

    /// The last reach that has terms.
    fn reach(&self) -> i64 {
        reach(self.sequence().number().cast_signed())
    }

    fn has(&self, line: i64, sequence: i64) -> bool {
        self.path
            .iter()
            .any(|stretch| stretch.line == line && stretch.positions.contains(&sequence))
    }
}

/// In which order to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first turn on.
    OldestFirst,
    /// From the newest turn back.
    NewestFirst,
}

/// An index in a file, or in memory where no file can be.
pub struct Index {
    linked: file::Linked,
}

impl Index {
    /// Opens the index of the journal at `journal`, for reading and extending; makes an empty one
    /// if there is none, or none of this version.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::Database`], also where nothing may be written;
    /// [`StoreError::NotAJournal`] if another program's database has its name.
    pub fn open(journal: &Path) -> Result<Self, StoreError> {
        let linked = file::open_or_create(&file::of_journal(journal))?;
        Ok(Self { linked })
    }

    /// Opens the index of the journal at `journal`, if there is one of this version.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_existing(journal: &Path) -> Result<Option<Self>, StoreError> {
        let found = file::open_existing(&file::of_journal(journal))?;
        Ok(found.map(|linked| Self { linked }))
    }

    /// Makes an empty index that is gone with the process.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn in_memory() -> Result<Self, StoreError> {
        let linked = file::in_memory()?;
        Ok(Self { linked })
    }

    /// Removes the index of the journal at `journal`, whatever state it is in; says whether there
    /// was one.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process uses it, [`StoreError::Io`].
    pub fn remove(journal: &Path) -> Result<bool, StoreError> {
        file::remove(&file::of_journal(journal))
    }

    /// Requires the database's own structure to be sound.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`], [`StoreError::Database`].
    pub fn check_structure(&self) -> Result<(), StoreError> {
        file::check_structure(&self.linked.connection)
    }

    /// Finds how far a branch is covered, up to a position that it has.
    ///
    /// # Errors
    /// As [`Store::read`]; [`StoreError::Inconsistent`] for rows that do not match their seals.
    pub fn coverage(
        &self,
        store: &dyn Store,
        run: &RunId,
        branch: &BranchName,
        at: Sequence,
    ) -> Result<Coverage, StoreError> {
        let name = |position: u64| -> Result<Option<RecordHash>, StoreError> {
            let record = store.closed_at(run, branch, Sequence::new(position)?)?;
            Ok(record.map(|record| record.hash()))
        };
        let line_at = |position: u64| -> Result<Option<(i64, RecordHash)>, StoreError> {
            let Some(hash) = name(position)? else { return Ok(None) };
            Ok(line::marked(&self.linked.connection, run, position, hash)?.map(|line| (line, hash)))
        };
        // Whoever marked a position had marked all multiples before it.
        let (mut low, mut high) = (0, at.number() / MARK_EVERY);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if line_at(middle * MARK_EVERY)?.is_some() {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let from = low * MARK_EVERY;
        let to = at.number().min(from + MARK_EVERY - 1);
        for position in line::marked_positions(&self.linked.connection, run, from..=to)? {
            if let Some((line, hash)) = line_at(position)? {
                return Ok(Coverage {
                    run: run.clone(),
                    path: line::path(&self.linked.connection, line, position)?,
                    newest: Some((Sequence::new(position)?, hash)),
                });
            }
        }
        Ok(Coverage {
            run: run.clone(),
            path: Vec::new(),
            newest: None,
        })
    }

    /// Files what the turns after those covered filed, in one commit, and covers them.
    ///
    /// # Errors
    /// [`StoreError::Database`]; nothing was filed.
    pub fn extend(&mut self, coverage: &mut Coverage, portions: &[Portion]) -> Result<(), StoreError> {
        let doing = "extending the index";
        let transaction =
            rusqlite::Transaction::new(&mut self.linked.connection, rusqlite::TransactionBehavior::Immediate)
                .map_err(failed(doing))?;
        let mut extended = coverage.clone();
        let mut line = Line::after(&transaction, &extended.run, extended.path.first(), extended.newest)?;
        let (mut terms, run_bits) = (Vec::new(), Term(0).within(&extended.run));
        for portion in portions {
            let mut key = EntryKey { sequence: 0, place: -1 };
            for entry in &portion.entries {
                let sequence = entry.sequence.number().cast_signed();
                let place = if key.sequence == sequence { key.place + 1 } else { 0 };
                key = EntryKey { sequence, place };
                line.file(&transaction, key, &entry.bytes)?;
                terms.extend(entry.terms.iter().map(|term| (reach(sequence), term.0 ^ run_bits, key)));
            }
            let (end, hash) = portion.end;
            debug_assert!(
                extended.newest.is_none_or(|(covered, _)| covered < end),
                "portions follow each other"
            );
            line.mark(&transaction, end, hash)?;
            extended.newest = Some(portion.end);
        }
        terms.sort_unstable();
        insert_terms(&transaction, line.id(), &terms)?;
        line.write(&transaction)?;
        extended.path = line::path(&transaction, line.id(), extended.sequence().number())?;
        transaction.commit().map_err(failed(doing))?;
        *coverage = extended;
        Ok(())
    }

    /// Counts what is filed under a term, in all of its run, as far as `most`.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn count(&self, coverage: &Coverage, term: Term, most: usize) -> Result<usize, StoreError> {
        let failed = failed("counting in the index");
        let sql = "SELECT count(*) FROM (SELECT 1 FROM terms WHERE reach = ?1 AND term = ?2 LIMIT ?3)";
        let mut statement = self.linked.connection.prepare_cached(sql).map_err(&failed)?;
        let mut count = 0;
        for reach in 0..=coverage.reach() {
            let fields = params![reach, term.within(&coverage.run), (most - count) as i64];
            let found: i64 = statement.query_one(fields, |row| row.get(0)).map_err(&failed)?;
            count += usize::try_from(found).unwrap_or(0);
            if count >= most {
                break;
            }
        }
        Ok(count)
    }

    /// Calls `tell` with each entry that the covered turns filed under a term, until `tell` breaks.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] for rows that do not match their seals or are missing.
    pub fn find(
        &self,
        coverage: &Coverage,
        term: Term,
        order: Order,
        mut tell: impl FnMut(EntryPosition, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let failed = failed("looking into the index");
        let sql = match order {
            Order::OldestFirst => {
                "SELECT sequence, line, place FROM terms WHERE reach = ?1 AND term = ?2 ORDER BY sequence, line, place"
            }
            Order::NewestFirst => {
                "SELECT sequence, line, place FROM terms WHERE reach = ?1 AND term = ?2
                 ORDER BY sequence DESC, line DESC, place DESC"
            }
        };
        let mut statement = self.linked.connection.prepare_cached(sql).map_err(&failed)?;
        for reach in in_order(0..=coverage.reach(), order) {
            let mut rows = statement
                .query(params![reach, term.within(&coverage.run)])
                .map_err(&failed)?;
            while let Some(row) = rows.next().map_err(&failed)? {
                let (sequence, line, place) = place_of(row).map_err(&failed)?;
                if coverage.has(line, sequence) {
                    let bytes = line::read_filed(&self.linked.connection, line, EntryKey { sequence, place })?;
                    let at = (Sequence::new(sequence.cast_unsigned())?, place.cast_unsigned());
                    if tell(at, &bytes).is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `tell` with each entry that the covered turns in a range filed, until `tell` breaks.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn walk(
        &self,
        coverage: &Coverage,
        range: RangeInclusive<Sequence>,
        order: Order,
        mut tell: impl FnMut(EntryPosition, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for stretch in in_order(coverage.path.iter().rev(), order) {
            if line::each_filed(&self.linked.connection, &stretch.within(&range), order, &mut tell)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Lists under which terms the turns covered in a range filed things, by their places; the
    /// terms of each in ascending order.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn terms(
        &self,
        coverage: &Coverage,
        range: RangeInclusive<Sequence>,
    ) -> Result<BTreeMap<EntryPosition, Vec<Term>>, StoreError> {
        let failed = failed("listing the index");
        let sql = "SELECT sequence, line, place, term FROM terms WHERE reach = ?1 ORDER BY term";
        let mut statement = self.linked.connection.prepare_cached(sql).map_err(&failed)?;
        let mut found: BTreeMap<_, Vec<Term>> = BTreeMap::new();
        let positions = range.start().number().cast_signed()..=range.end().number().cast_signed();
        for reach in reach(*positions.start())..=reach(*positions.end()).min(coverage.reach()) {
            let mut rows = statement.query([reach]).map_err(&failed)?;
            while let Some(row) = rows.next().map_err(&failed)? {
                let (sequence, line, place) = place_of(row).map_err(&failed)?;
                if positions.contains(&sequence) && coverage.has(line, sequence) {
                    let term = Term::without(row.get(3).map_err(&failed)?, &coverage.run);
                    let at = (Sequence::new(sequence.cast_unsigned())?, place.cast_unsigned());
                    found.entry(at).or_default().push(term);
                }
            }
        }
        found.values_mut().for_each(|terms| terms.sort_unstable());
        Ok(found)
    }
}

/// The positions between which terms are kept in order.
fn reach(sequence: i64) -> i64 {
    sequence / REACH.cast_signed()
}

fn in_order<T>(items: impl DoubleEndedIterator<Item = T>, order: Order) -> impl Iterator<Item = T> {
    let (forwards, backwards) = match order {
        Order::OldestFirst => (Some(items), None),
        Order::NewestFirst => (None, Some(items.rev())),
    };
    forwards.into_iter().flatten().chain(backwards.into_iter().flatten())
}

fn place_of(row: &Row<'_>) -> rusqlite::Result<(i64, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn insert_terms(connection: &Connection, line: i64, terms: &[(i64, i64, EntryKey)]) -> Result<(), StoreError> {
    let failed = failed("filing terms");
    let sql =
        "INSERT INTO terms (reach, term, sequence, line, place) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    for (reach, term, key) in terms {
        statement
            .execute(params![reach, term, key.sequence, line, key.place])
            .map_err(&failed)?;
    }
    Ok(())
}
