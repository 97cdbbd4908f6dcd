//! Reading ahead: what it takes to open a branch, in one round trip.
//!
//! INVARIANT: the rows of a branch that were read ahead are one state of the server. A claim that
//! follows succeeds only on that state, and the next write of this connection forgets the rows.
//! It does not know who opens the branch. Read next: `blobs.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use duet_journal::{BranchName, Epoch, Head, Need, RunId, Sequence, StoreError, Tip};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::plan::{Known, Standing};
use crate::row::{BROKEN, HeadRow, RecordRow, RunRow, StoredRecord, check_note, column, record_hash};
use crate::value::Value;

/// The number of newest records that are read ahead: a run that sleeps has a snapshot at one of
/// them, which a worker looks for first.
const RECORDS: i64 = 4;

/// The rows of a branch that were read ahead, without its letters: they do not depend on writes.
pub(crate) struct Ahead {
    pub(crate) run: RunRow,
    pub(crate) head: HeadRow,
    pub(crate) need: Need,
    note: Option<Vec<u8>>,
    /// The records that were read, by their positions.
    records: BTreeMap<u64, StoredRecord>,
}

impl Ahead {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let run = RunRow {
            name: RunId::new(column::<String>(row, 0)?)?,
            epoch: Epoch(column::<i64>(row, 1)?.cast_unsigned()),
            owner: column(row, 2)?,
            numbered: column(row, 4)?,
        };
        run.check(column(row, 3)?)?;
        let head = HeadRow {
            run: run.name.clone(),
            head: Head {
                branch: BranchName::new(column::<String>(row, 5)?)?,
                sequence: Sequence::new(column::<i64>(row, 6)?.cast_unsigned())?,
                hash: record_hash(column(row, 8)?)?,
            },
            record: column(row, 7)?,
        };
        head.check(column(row, 9)?)?;
        let note: Option<Vec<u8>> = column(row, 11)?;
        if let Some(note) = &note {
            check_note(&run.name, note, column(row, 12)?)?;
        }
        Ok(Self {
            records: records(&run.name, row)?,
            run,
            head,
            need: Need::decode(column(row, 10)?),
            note: note.filter(|note| !note.is_empty()),
        })
    }

    /// Returns the records of the branch at some positions, if all of them were read.
    pub(crate) fn at(&self, range: &Range<u64>) -> Option<Vec<StoredRecord>> {
        range.clone().map(|number| self.records.get(&number).cloned()).collect()
    }

    /// Returns the note on the run.
    pub(crate) fn note(&self) -> Option<Vec<u8>> {
        self.note.clone()
    }

    /// Returns what the connection knows of the branch, to write on it.
    pub(crate) fn known(&self) -> Known {
        let line = (self.run.name.clone(), self.head.head.branch.clone());
        let newest = self.records.get(&self.head.head.sequence.number());
        let standing = newest.map(|StoredRecord { row, .. }| Standing {
            tip: Tip {
                hash: row.hash,
                sequence: row.sequence,
            },
            number: row.number,
            begun: row.begun,
        });
        Known {
            runs: BTreeMap::from([(self.run.name.clone(), self.run.clone())]),
            // A branch whose newest record is not there is read again.
            lines: standing
                .into_iter()
                .map(|standing| (line.clone(), Some(standing)))
                .collect(),
            needs: BTreeMap::from([(line, self.need)]),
            records: BTreeMap::new(),
        }
    }
}

/// Reads the columns of the records.
fn records(run: &RunId, row: &Row) -> Result<BTreeMap<u64, StoredRecord>, StoreError> {
    let [numbers, sequences, begun, times] = [14, 15, 17, 18].map(|place| column::<Vec<i64>>(row, place));
    let (numbers, sequences, begun, times) = (numbers?, sequences?, begun?, times?);
    let parents: Vec<Option<i64>> = column(row, 16)?;
    let [hashes, seals] = [19, 20].map(|place| column::<Vec<&[u8]>>(row, place));
    let (hashes, seals) = (hashes?, seals?);
    let bytes: Vec<Vec<u8>> = column(row, 21)?;
    let mut found = BTreeMap::new();
    for (place, bytes) in bytes.into_iter().enumerate() {
        // The columns have one length, because each has an element for each row.
        let of = |column: &[i64]| column.get(place).copied().ok_or(BROKEN);
        let record = RecordRow {
            run: run.clone(),
            number: of(&numbers)?,
            sequence: Sequence::new(of(&sequences)?.cast_unsigned())?,
            parent: parents.get(place).copied().flatten(),
            begun: of(&begun)?,
            time: of(&times)?,
            hash: record_hash(hashes.get(place).copied().unwrap_or_default())?,
        };
        record.check(seals.get(place).copied().unwrap_or_default())?;
        found.insert(record.sequence.number(), StoredRecord { row: record, bytes });
    }
    Ok(found)
}

impl PostgresStore {
    /// Reads what it takes to open a branch; nothing if there is none of that name.
    pub(crate) fn look_ahead(&mut self, run: &RunId, branch: &BranchName) -> Result<(), StoreError> {
        self.ahead = None;
        let sql = "SELECT * FROM duet_schema.ahead($1, $2, $3)";
        let values = vec![
            Value::Texts(vec![run.to_string()]),
            Value::Texts(vec![branch.to_string()]),
            Value::Integer(RECORDS),
        ];
        let rows = self.read_rows(sql, values, "reading a branch")?;
        self.ahead = rows.first().map(Ahead::read).transpose()?;
        let has_letters = rows.first().map(|row| column::<bool>(row, 13)).transpose()?;
        let line = (run.clone(), branch.clone());
        self.letterless.replace((has_letters == Some(false)).then_some(line));
        Ok(())
    }

    /// Returns the rows that were read ahead of a run.
    pub(crate) fn ahead_of(&self, run: &RunId) -> Option<&Ahead> {
        self.ahead.as_ref().filter(|ahead| ahead.run.name == *run)
    }

    /// Returns the rows that were read ahead of a branch.
    pub(crate) fn ahead_on(&self, run: &RunId, branch: &BranchName) -> Option<&Ahead> {
        self.ahead_of(run).filter(|ahead| ahead.head.head.branch == *branch)
    }
}
