//! The rows of the tables, and their seals.
//!
//! INVARIANT: a row of which a field has changed no longer matches its seal, and is not read.
//! It asks the server for nothing. Read next: `plan.rs`.

use duet_journal::store::sqlite::{check_seal, seal};
use duet_journal::store::{Append, Claim};
use duet_journal::{BranchName, CommitTime, Epoch, Head, RecordHash, RunId, Sequence, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

pub(crate) const BROKEN: StoreError = StoreError::Inconsistent {
    what: "the records of a branch do not follow each other",
};

/// Reads one column; the statement decides its type.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, place: usize) -> Result<T, StoreError> {
    row.try_get(place).map_err(|_| StoreError::Inconsistent {
        what: "a column has another type or no value",
    })
}

/// Reads the name of a record.
pub(crate) fn record_hash(bytes: &[u8]) -> Result<RecordHash, StoreError> {
    RecordHash::from_slice(bytes).ok_or(StoreError::Inconsistent {
        what: "a record's name is malformed",
    })
}

/// The row of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) name: RunId,
    pub(crate) epoch: Epoch,
    pub(crate) owner: String,
    /// The number of the next record.
    pub(crate) numbered: i64,
}

impl RunRow {
    pub(crate) const COLUMNS: &'static str = "name, epoch, owner, seal, numbered";

    pub(crate) fn seal(&self) -> Vec<u8> {
        self.with_fields(seal).to_vec()
    }

    /// The counter is checked with every append: a record of its number may not be there.
    fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        then(&[
            b"run",
            self.name.as_str().as_bytes(),
            &self.epoch.0.to_le_bytes(),
            self.owner.as_bytes(),
        ])
    }

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        let run = Self {
            name: RunId::new(column::<String>(row, 0)?)?,
            epoch: Epoch(column::<i64>(row, 1)?.cast_unsigned()),
            owner: column(row, 2)?,
            numbered: column(row, 4)?,
        };
        run.check(column(row, 3)?)?;
        Ok(run)
    }

    /// Checks the seal.
    pub(crate) fn check(&self, found: &[u8]) -> Result<(), StoreError> {
        self.with_fields(|fields| check_seal(found, fields, "a run's row does not match its seal"))
    }

    /// Returns the claim, as it is at a time of the server's clock in milliseconds since 1970.
    pub(crate) fn claim(&self, read_ms: u64) -> Claim {
        Claim {
            epoch: self.epoch,
            owner: self.owner.clone(),
            read_ms,
        }
    }
}

/// The seal of the note on a run.
pub(crate) fn note_seal(run: &RunId, note: &[u8]) -> Vec<u8> {
    seal(&[b"note", run.as_str().as_bytes(), note]).to_vec()
}

/// Checks the seal of the note on a run.
pub(crate) fn check_note(run: &RunId, note: &[u8], found: &[u8]) -> Result<(), StoreError> {
    let fields: [&[u8]; 3] = [b"note", run.as_str().as_bytes(), note];
    check_seal(found, &fields, "a note does not match its seal")
}

/// The row of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadRow {
    pub(crate) run: RunId,
    pub(crate) head: Head,
    /// The number of the head's record.
    pub(crate) record: i64,
}

impl HeadRow {
    pub(crate) fn seal(&self) -> Vec<u8> {
        self.with_fields(seal).to_vec()
    }

    fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let Head { branch, sequence, hash } = &self.head;
        then(&[
            b"head",
            self.run.as_str().as_bytes(),
            branch.as_str().as_bytes(),
            &sequence.number().to_le_bytes(),
            &self.record.to_le_bytes(),
            hash.as_bytes(),
        ])
    }

    /// Reads the columns run, branch, sequence, record, hash and seal, from a place on.
    pub(crate) fn read(row: &Row, from: usize) -> Result<Self, StoreError> {
        let head = Head {
            branch: BranchName::new(column::<String>(row, from + 1)?)?,
            sequence: Sequence::new(column::<i64>(row, from + 2)?.cast_unsigned())?,
            hash: record_hash(column(row, from + 4)?)?,
        };
        let found = Self {
            run: RunId::new(column::<String>(row, from)?)?,
            head,
            record: column(row, from + 3)?,
        };
        found.check(column(row, from + 5)?)?;
        Ok(found)
    }

    /// Checks the seal.
    pub(crate) fn check(&self, found: &[u8]) -> Result<(), StoreError> {
        self.with_fields(|fields| check_seal(found, fields, "a head's row does not match its seal"))
    }
}

/// The row of a record, without the record.
#[derive(Clone, Debug)]
pub(crate) struct RecordRow {
    pub(crate) run: RunId,
    pub(crate) number: i64,
    pub(crate) sequence: Sequence,
    pub(crate) parent: Option<i64>,
    /// From this number to the record's own, each is the parent of the next.
    pub(crate) begun: i64,
    pub(crate) time: i64,
    pub(crate) hash: RecordHash,
}

impl RecordRow {
    /// The columns that [`read`](Self::read) reads, in its order.
    pub(crate) const COLUMNS: &'static str = "r.run, r.number, r.sequence, r.parent, r.begun, r.time, r.hash, r.seal";

    pub(crate) fn seal(&self) -> Vec<u8> {
        self.with_fields(seal).to_vec()
    }

    fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let [number, begun, time] = [self.number, self.begun, self.time].map(i64::to_le_bytes);
        let parent = self.parent.map(i64::to_le_bytes);
        then(&[
            b"record",
            self.run.as_str().as_bytes(),
            &number,
            &self.sequence.number().to_le_bytes(),
            parent.as_ref().map_or(&[], |parent| parent),
            &begun,
            &time,
            self.hash.as_bytes(),
        ])
    }

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        let record = Self {
            run: RunId::new(column::<String>(row, 0)?)?,
            number: column(row, 1)?,
            sequence: Sequence::new(column::<i64>(row, 2)?.cast_unsigned())?,
            parent: column(row, 3)?,
            begun: column(row, 4)?,
            time: column(row, 5)?,
            hash: record_hash(column(row, 6)?)?,
        };
        record.check(column(row, 7)?)?;
        Ok(record)
    }

    /// Checks the seal, and that the record comes after its parent.
    pub(crate) fn check(&self, found: &[u8]) -> Result<(), StoreError> {
        self.with_fields(|fields| check_seal(found, fields, "a record's row does not match its seal"))?;
        let goes_back = self.begun <= self.number && self.parent.is_none_or(|parent| parent < self.number);
        if goes_back { Ok(()) } else { Err(BROKEN) }
    }

    pub(crate) fn time(&self) -> CommitTime {
        CommitTime::from_ms(self.time.cast_unsigned())
    }
}

/// A record as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    pub(crate) row: RecordRow,
    pub(crate) bytes: Vec<u8>,
}

/// When the record at a place of an append was committed, as a column says it.
pub(crate) fn time_of(append: &Append<'_>, place: usize, now: CommitTime) -> i64 {
    append.time(place, now).ms().unwrap_or(0).cast_signed()
}
