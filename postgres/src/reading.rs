//! Reading: rows of runs, heads and records, and the way back along a branch.
//!
//! A branch is a list of stretches: within one, each record is the parent of that with the next
//! number. A walk goes from stretch to stretch, and reads a range of each at once.
//! INVARIANT: a reader returns the bytes that were written, or an error that names the damage.
//! Read next: `lib.rs`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use duet_journal::store::batch;
use duet_journal::store::checked_record;
use duet_journal::{BranchName, ClosedRecord, Epoch, Need, RecordHash, RunId, Sequence, StoreError};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::gathering::Part;
use crate::pieces::Names;
use crate::plan::{Known, Standing, Step};
use crate::row::{BROKEN, HeadRow, RecordRow, RunRow, StoredRecord, column};
use crate::value::Value;

/// The columns of a head's row.
const HEAD: &str = "h.run, h.branch, h.sequence, h.record, h.hash, h.seal";

/// The records of a run ($1) at the positions from $3 to $4 on the way to the record $2.
const RANGE: &str = "
WITH RECURSIVE stretches AS (
    SELECT number, sequence, begun FROM duet_schema.records WHERE run = $1 AND number = $2
    UNION ALL
    SELECT earlier.number, earlier.sequence, earlier.begun
    FROM stretches AS later
    JOIN duet_schema.records AS first ON first.run = $1 AND first.number = later.begun
    JOIN duet_schema.records AS earlier ON earlier.run = $1 AND earlier.number = first.parent
    WHERE later.sequence - (later.number - later.begun) > $3 AND earlier.number < later.begun
)
SELECT r.run, r.number, r.sequence, r.parent, r.begun, r.time, r.hash, r.seal COLUMNS
FROM stretches AS s
JOIN duet_schema.records AS r ON r.run = $1
    AND r.number >= greatest(s.begun, s.number - (s.sequence - $3))
    AND r.number <= least(s.number, s.number - (s.sequence - $4))
ORDER BY r.number";

impl PostgresStore {
    /// Performs a statement that may be repeated, as reading may; waits for a server that is away.
    pub(crate) fn read_rows(&self, sql: &str, values: Vec<Value>, doing: &'static str) -> Result<Vec<Row>, StoreError> {
        let rows = self.link.ask_until_there(&self.sql(sql), &values);
        rows.map_err(|failure| failure.while_(doing))
    }

    pub(crate) fn run_row(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        let sql = format!("SELECT {} FROM duet_schema.runs WHERE name = $1", RunRow::COLUMNS);
        let rows = self.read_rows(&sql, vec![Value::Text(run.to_string())], "reading a run")?;
        rows.first().map(RunRow::read).transpose()
    }

    /// The row of a run that exists.
    pub(crate) fn require_run(&self, run: &RunId) -> Result<RunRow, StoreError> {
        self.run_row(run)?
            .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    /// The row of a run, if nobody has claimed it since an epoch.
    pub(crate) fn require_epoch(&self, run: &RunId, epoch: Epoch) -> Result<RunRow, StoreError> {
        let row = self.require_run(run)?;
        batch::check_epoch(run, epoch, row.epoch)?;
        Ok(row)
    }

    /// Checks that nobody has claimed a run since an epoch, together with others of this process
    /// that ask at the same time.
    pub(crate) fn require_claim(&self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        let found = match self.checks.join(Names(vec![run.to_string()])) {
            Part::Lead(mut group) => {
                let names = group.take().map_or_else(Vec::new, |names| names.0);
                let rows = self.run_rows(names).map(Arc::new);
                group.tell(&rows.as_ref().ok().cloned());
                Some(rows?)
            }
            Part::Follow(found) => found.flatten(),
        };
        let Some(rows) = found else {
            return self.require_epoch(run, epoch).map(drop);
        };
        for row in rows.iter() {
            if column::<&str>(row, 0)? == run.as_str() {
                return batch::check_epoch(run, epoch, RunRow::read(row)?.epoch);
            }
        }
        Err(StoreError::NoSuchRun { run: run.clone() })
    }

    fn run_rows(&self, names: Vec<String>) -> Result<Vec<Row>, StoreError> {
        let sql = format!("SELECT {} FROM duet_schema.runs WHERE name = ANY ($1)", RunRow::COLUMNS);
        self.read_rows(&sql, vec![Value::Texts(names)], "reading runs")
    }

    pub(crate) fn head_rows(&self, run: &RunId) -> Result<Vec<HeadRow>, StoreError> {
        let sql = format!("SELECT {HEAD} FROM duet_schema.heads AS h WHERE h.run = $1 ORDER BY h.branch");
        let rows = self.read_rows(&sql, vec![Value::Text(run.to_string())], "listing the heads")?;
        if rows.is_empty() {
            self.require_run(run)?;
        }
        rows.iter().map(|row| HeadRow::read(row, 0)).collect()
    }

    pub(crate) fn head_row(&self, run: &RunId, branch: &BranchName) -> Result<Option<HeadRow>, StoreError> {
        if let Some(ahead) = self.ahead_on(run, branch) {
            return Ok(Some(ahead.head.clone()));
        }
        let sql = format!("SELECT {HEAD} FROM duet_schema.heads AS h WHERE h.run = $1 AND h.branch = $2");
        let values = vec![Value::Text(run.to_string()), Value::Text(branch.to_string())];
        let rows = self.read_rows(&sql, values, "reading a head")?;
        if rows.is_empty() {
            self.require_run(run)?;
        }
        rows.first().map(|row| HeadRow::read(row, 0)).transpose()
    }

    /// The rows of records with these names, as far as they are there.
    pub(crate) fn rows_named(&self, names: Vec<Vec<u8>>) -> Result<BTreeMap<RecordHash, RecordRow>, StoreError> {
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = format!(
            "SELECT {} FROM duet_schema.records AS r WHERE r.hash = ANY ($1)",
            RecordRow::COLUMNS
        );
        let rows = self.read_rows(&sql, vec![Value::ByteStrings(names)], "looking for records")?;
        rows.iter()
            .map(|row| RecordRow::read(row).map(|row| (row.hash, row)))
            .collect()
    }

    /// Reads what a group stands on.
    pub(crate) fn load(&self, steps: &[Step<'_>]) -> Result<Known, StoreError> {
        let mut known = Known::default();
        let lines: Vec<_> = steps.iter().map(Step::line).collect();
        let runs = Value::Texts(lines.iter().map(|(run, _)| run.to_string()).collect());
        let branches = Value::Texts(lines.iter().map(|(_, branch)| branch.to_string()).collect());
        for row in &self.run_rows(lines.iter().map(|(run, _)| run.to_string()).collect())? {
            let row = RunRow::read(row)?;
            known.runs.insert(row.name.clone(), row);
        }
        known.lines.extend(lines.into_iter().map(|line| (line, None)));
        let sql = "SELECT n.run, n.branch, n.at FROM unnest($1, $2) AS mine (run, branch)
             JOIN duet_schema.needs AS n ON n.run = mine.run AND n.branch = mine.branch";
        for row in &self.read_rows(sql, vec![runs.clone(), branches.clone()], "reading what branches need")? {
            let line = (
                RunId::new(column::<String>(row, 0)?)?,
                BranchName::new(column::<String>(row, 1)?)?,
            );
            known.needs.insert(line, Need::decode(Some(column(row, 2)?)));
        }
        let sql = format!(
            "SELECT {}, {HEAD} FROM (SELECT DISTINCT * FROM unnest($1, $2) AS u (run, branch)) AS mine
             JOIN duet_schema.heads AS h ON h.run = mine.run AND h.branch = mine.branch
             JOIN duet_schema.records AS r ON r.run = h.run AND r.number = h.record",
            RecordRow::COLUMNS
        );
        for row in &self.read_rows(&sql, vec![runs, branches], "reading heads")? {
            let (record, HeadRow { run, head, .. }) = (RecordRow::read(row)?, HeadRow::read(row, 8)?);
            if (record.hash, record.sequence) != (head.hash, head.sequence) {
                return Err(StoreError::Inconsistent {
                    what: "the newest record of a branch is not its head",
                });
            }
            let tip = head.tip();
            let standing = Standing {
                tip,
                number: record.number,
                begun: record.begun,
            };
            known.lines.insert((run, head.branch), Some(standing));
        }
        let targets = steps.iter().filter_map(|step| match step {
            Step::Append(_) | Step::Last(_) => None,
            Step::Move(head_move) => Some(head_move.to.as_bytes().to_vec()),
        });
        known.records = self.rows_named(targets.collect())?;
        Ok(known)
    }

    /// Reads the rows of a branch at positions, oldest first, as far as they exist; from a position
    /// on with their bytes.
    fn range_rows(
        &self,
        head: &HeadRow,
        range: &Range<u64>,
        bytes_from: Option<u64>,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let ahead = self.ahead_on(&head.run, &head.head.branch);
        let ahead = ahead
            .filter(|ahead| ahead.head == *head)
            .and_then(|ahead| ahead.at(range));
        let rows = match ahead {
            Some(rows) => rows,
            None => self.read_range(head, range, bytes_from)?,
        };
        let is_whole = rows.iter().map(|record| record.row.sequence.number()).eq(range.clone());
        let follows = rows
            .windows(2)
            .all(|pair| pair[1].row.parent == Some(pair[0].row.number));
        if is_whole && follows { Ok(rows) } else { Err(BROKEN) }
    }

    fn read_range(
        &self,
        head: &HeadRow,
        range: &Range<u64>,
        bytes_from: Option<u64>,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let values = vec![
            Value::Text(head.run.to_string()),
            Value::Integer(head.record),
            Value::Integer(range.start.cast_signed()),
            Value::Integer((range.end - 1).cast_signed()),
        ];
        let bytes = bytes_from.map_or_else(String::new, |from| {
            format!(", CASE WHEN r.sequence >= {from} THEN r.bytes END")
        });
        let rows = self.read_rows(&RANGE.replace("COLUMNS", &bytes), values, "reading records")?;
        let stored = |row: &Row| {
            let bytes: Option<Vec<u8>> = bytes_from.map_or(Ok(None), |_| column(row, 8))?;
            Ok(StoredRecord {
                row: RecordRow::read(row)?,
                bytes: bytes.unwrap_or_default(),
            })
        };
        rows.iter().map(stored).collect()
    }

    /// The rows of the records at positions of a branch.
    pub(crate) fn rows_at(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: &Range<Sequence>,
    ) -> Result<Vec<RecordRow>, StoreError> {
        let head = self.known_head(run, branch)?;
        let range = range.start.number()..range.end.number().min(head.head.sequence.number() + 1);
        let rows = self.range_rows(&head, &range, None)?;
        Ok(rows.into_iter().map(|record| record.row).collect())
    }

    /// The records at positions of a branch.
    pub(crate) fn closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: &Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        let head = self.known_head(run, branch)?;
        let range = range.start.number()..range.end.number().min(head.head.sequence.number() + 1);
        if range.is_empty() {
            return Ok(Vec::new());
        }
        // The record before says the name of the first one's parent.
        let with_before = range.start.saturating_sub(1)..range.end;
        let mut parent: Option<RecordHash> = None;
        let mut records: Vec<ClosedRecord> = Vec::new();
        for StoredRecord { row, bytes } in self.range_rows(&head, &with_before, Some(range.start))? {
            if row.sequence.number() >= range.start {
                let relative = records.last().map(ClosedRecord::header);
                let record = checked_record(row.hash, parent, bytes, relative)?;
                let header = record.header();
                if header.run != *run || header.sequence != row.sequence || header.parent != parent {
                    return Err(StoreError::Inconsistent {
                        what: "a record stands in another one's place",
                    });
                }
                records.push(record);
            }
            parent = Some(row.hash);
        }
        if range.end == head.head.sequence.number() + 1 && parent != Some(head.head.hash) {
            return Err(StoreError::Inconsistent {
                what: "the newest record of a branch is not its head",
            });
        }
        Ok(records)
    }

    /// A record by its name.
    pub(crate) fn closed_named(&self, hash: RecordHash) -> Result<ClosedRecord, StoreError> {
        let sql = format!(
            "SELECT {}, r.bytes, p.hash FROM duet_schema.records AS r
             LEFT JOIN duet_schema.records AS p ON p.run = r.run AND p.number = r.parent WHERE r.hash = $1",
            RecordRow::COLUMNS
        );
        let rows = self.read_rows(&sql, vec![Value::Bytes(hash.as_bytes().to_vec())], "reading a record")?;
        let row = rows.first().ok_or(StoreError::NoSuchRecord { hash })?;
        let found = RecordRow::read(row)?;
        let parent = column::<Option<&[u8]>>(row, 9)?.and_then(RecordHash::from_slice);
        if found.parent.is_some() && parent.is_none() {
            return Err(StoreError::NoSuchRecord { hash });
        }
        checked_record(hash, parent, column(row, 8)?, None)
    }

    fn known_head(&self, run: &RunId, branch: &BranchName) -> Result<HeadRow, StoreError> {
        let found = self.head_row(run, branch)?;
        found.ok_or_else(|| StoreError::NoSuchBranch {
            run: run.clone(),
            branch: branch.clone(),
        })
    }
}
