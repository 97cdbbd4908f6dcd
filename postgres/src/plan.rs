//! A group commit, worked out before it is sent: the rows that it adds and changes.
//!
//! Owns the numbering of records: the owner of a run counts them, whatever their branch.
//! INVARIANT: a plan passes the same checks as an append to any other store; if the server has
//! something else by then, it refuses the plan whole.
//! It asks the server for nothing. Read next: `writing.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::store::batch;
use duet_journal::{
    Append, Blob, BlobHash, BranchName, CommitTime, Epoch, Head, HeadMove, Need, Owner, RecordHash, RunId, StoreError,
    Taken, Tip,
};

use crate::failure::Failure;
use crate::pieces::Rows;
use crate::row::{HeadRow, RecordRow, RunRow, time_of};
use crate::value::Value;

/// The maximum of what one commit may carry, in bytes; the server takes one GiB in a message.
pub(crate) const MAX_BYTES: usize = 768 << 20;

/// A branch with its run.
pub(crate) type Line = (RunId, BranchName);

/// A piece of a group.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Append(&'a Append<'a>),
    /// An append with which the owner gives the run up.
    Last(&'a Append<'a>),
    Move(&'a HeadMove<'a>),
}

impl Step<'_> {
    pub(crate) fn line(&self) -> Line {
        match self {
            Self::Append(append) | Self::Last(append) => (append.run.clone(), append.branch.clone()),
            Self::Move(head_move) => (head_move.run.clone(), head_move.branch.clone()),
        }
    }

    fn epoch(&self) -> Epoch {
        match self {
            Self::Append(append) | Self::Last(append) => append.epoch,
            Self::Move(head_move) => head_move.epoch,
        }
    }
}

/// Where a branch stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) tip: Tip,
    pub(crate) number: i64,
    pub(crate) begun: i64,
}

/// The state of the server, as far as it was read or written.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) runs: BTreeMap<RunId, RunRow>,
    /// `None` for a branch that does not exist.
    pub(crate) lines: BTreeMap<Line, Option<Standing>>,
    /// What branches need; those without an entry need nothing.
    pub(crate) needs: BTreeMap<Line, Need>,
    /// Records that are there already.
    pub(crate) records: BTreeMap<RecordHash, RecordRow>,
}

impl Known {
    /// Whether it says all that a group stands on.
    pub(crate) fn covers(&self, steps: &[Step<'_>]) -> bool {
        // The record that a head moves to is always looked for.
        steps
            .iter()
            .all(|step| !matches!(step, Step::Move(_)) && self.lines.contains_key(&step.line()))
    }

    pub(crate) fn extend(&mut self, found: Self) {
        self.runs.extend(found.runs);
        for line in found.lines.keys() {
            self.needs.remove(line);
        }
        self.needs.extend(found.needs);
        self.lines.extend(found.lines);
        self.records.extend(found.records);
    }

    /// The same to be kept: records are not.
    pub(crate) fn without_records(self) -> Self {
        Self {
            records: BTreeMap::new(),
            ..self
        }
    }
}

fn hash_in(known: &Known, line: &Line) -> Option<RecordHash> {
    let standing = known.lines.get(line).copied().flatten();
    standing.map(|standing| standing.tip.hash)
}

/// Where a group sets heads.
pub(crate) struct Targets(BTreeMap<Line, Option<RecordHash>>);

impl Targets {
    /// Whether the heads stand there: names say all that came before, so the group has happened.
    pub(crate) fn are_met(&self, known: &Known) -> bool {
        self.0.iter().all(|(line, hash)| hash_in(known, line) == *hash)
    }
}

/// A record to insert.
struct NewRecord {
    row: RecordRow,
    blobs: Vec<u8>,
    bytes: Vec<u8>,
}

/// A group commit.
pub(crate) struct Plan<'a> {
    before: Known,
    /// What the server has after it.
    pub(crate) after: Known,
    changed: BTreeSet<Line>,
    records: Vec<NewRecord>,
    blobs: BTreeMap<BlobHash, &'a Blob>,
    /// Blobs that must be there, each with a record that names it, in the order of the records.
    needed: Vec<(BlobHash, RecordHash)>,
    /// Letters that the records have heard, each with its run.
    taken: Vec<(&'a RunId, &'a Taken)>,
    now: CommitTime,
}

impl<'a> Plan<'a> {
    /// Works out what a group changes.
    ///
    /// # Errors
    /// As [`Store::append_group`](duet_journal::Store::append_group) and
    /// [`Store::set_heads`](duet_journal::Store::set_heads), but for missing blobs.
    pub(crate) fn make(known: &Known, steps: &[Step<'a>], now: CommitTime) -> Result<Self, StoreError> {
        let mut plan = Self {
            before: known.clone(),
            after: known.clone(),
            changed: BTreeSet::new(),
            records: Vec::new(),
            blobs: BTreeMap::new(),
            needed: Vec::new(),
            taken: Vec::new(),
            now,
        };
        for step in steps {
            let (run, _) = step.line();
            let found = plan
                .after
                .runs
                .get(&run)
                .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })?;
            batch::check_epoch(&run, step.epoch(), found.epoch)?;
            match step {
                Step::Append(append) | Step::Last(append) => plan.append(append)?,
                Step::Move(head_move) => plan.move_head(head_move)?,
            }
        }
        plan.renew_leases();
        for step in steps.iter().filter(|step| matches!(step, Step::Last(_))) {
            if let Some(run) = plan.after.runs.get_mut(&step.line().0) {
                run.owner.clear();
            }
        }
        Ok(plan)
    }

    fn standing(&self, line: &Line) -> Option<Standing> {
        self.after.lines.get(line).copied().flatten()
    }

    fn stand(&mut self, line: Line, standing: Standing) {
        self.after.lines.insert(line.clone(), Some(standing));
        self.changed.insert(line);
    }

    fn append(&mut self, append: &'a Append<'a>) -> Result<(), StoreError> {
        let line = (append.run.clone(), append.branch.clone());
        let mut standing = self.standing(&line);
        batch::check(append, standing.map(|standing| standing.tip))?;
        self.blobs.extend(append.brought().map(|blob| (blob.hash(), blob)));
        for (place, record) in append.records.iter().enumerate() {
            self.needed.extend(record.blobs().map(|blob| (blob, record.hash())));
            let row = match self.after.records.get(&record.hash()) {
                Some(row) => row.clone(),
                None => self.number(append, place, standing),
            };
            let tip = Tip {
                hash: row.hash,
                sequence: row.sequence,
            };
            standing = Some(Standing {
                tip,
                number: row.number,
                begun: row.begun,
            });
        }
        if let Some(standing) = standing {
            self.stand(line.clone(), standing);
        }
        self.after.needs.insert(line, append.need);
        self.taken.extend(append.taken.iter().map(|taken| (append.run, taken)));
        Ok(())
    }

    /// Gives the next number to a record that is not there yet.
    fn number(&mut self, append: &Append<'_>, place: usize, before: Option<Standing>) -> RecordRow {
        let record = &append.records[place];
        let run = self
            .after
            .runs
            .get_mut(append.run)
            .expect("the run of a checked append is known");
        let number = run.numbered;
        run.numbered += 1;
        let begun = before
            .filter(|before| before.number + 1 == number)
            .map_or(number, |before| before.begun);
        let row = RecordRow {
            run: append.run.clone(),
            number,
            sequence: record.header().sequence,
            parent: before.map(|before| before.number),
            begun,
            time: time_of(append, place, self.now),
            hash: record.hash(),
        };
        let names: Vec<BlobHash> = record.blobs().collect();
        let blobs = names.iter().flat_map(|blob| *blob.as_bytes()).collect();
        self.records.push(NewRecord {
            row: row.clone(),
            blobs,
            bytes: record.as_bytes().to_vec(),
        });
        self.after.records.insert(row.hash, row.clone());
        row
    }

    fn move_head(&mut self, head_move: &HeadMove<'_>) -> Result<(), StoreError> {
        let line = (head_move.run.clone(), head_move.branch.clone());
        let found = self.standing(&line).map(|standing| standing.tip);
        batch::check_head(head_move.run, head_move.branch, head_move.expected_head, found)?;
        let hash = head_move.to;
        let target = self.after.records.get(&hash).filter(|row| row.run == *head_move.run);
        let row = target.ok_or(StoreError::NoSuchRecord { hash })?;
        let tip = Tip {
            hash,
            sequence: row.sequence,
        };
        let standing = Standing {
            tip,
            number: row.number,
            begun: row.begun,
        };
        self.stand(line.clone(), standing);
        self.after.needs.insert(line, Need::Nothing);
        Ok(())
    }

    /// Whoever commits lives.
    fn renew_leases(&mut self) {
        for run in self.after.runs.values_mut() {
            if let (Ok(mut owner), Some(now)) = (run.owner.parse::<Owner>(), self.now.ms()) {
                owner.seen_ms = now;
                run.owner = owner.to_string();
            }
        }
    }

    /// The runs that the group writes to, as they are after it.
    pub(crate) fn written(&self) -> impl Iterator<Item = &RunRow> {
        let runs: BTreeSet<&RunId> = self.changed.iter().map(|(run, _)| run).collect();
        runs.into_iter().filter_map(|run| self.after.runs.get(run))
    }

    /// Blobs that the group names and does not bring, each with a record that names it, in the
    /// order of the records.
    pub(crate) fn needed_elsewhere(&self) -> impl Iterator<Item = (BlobHash, RecordHash)> {
        self.needed
            .iter()
            .filter(|(blob, _)| !self.blobs.contains_key(blob))
            .copied()
    }

    /// Whether the group changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// The names of the records that the group inserts.
    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        self.records
            .iter()
            .map(|record| record.row.hash.as_bytes().to_vec())
            .collect()
    }

    /// Where the group sets the heads.
    pub(crate) fn targets(&self) -> Targets {
        Targets(
            self.changed
                .iter()
                .map(|line| (line.clone(), hash_in(&self.after, line)))
                .collect(),
        )
    }

    /// The rows for the statement.
    pub(crate) fn rows(&self) -> Result<Rows, StoreError> {
        let blobs = self.blobs.values().map(|blob| blob.as_bytes().len()).sum::<usize>();
        let length_bytes = self
            .records
            .iter()
            .map(|record| record.bytes.len() + record.blobs.len())
            .sum::<usize>()
            + blobs;
        if length_bytes > MAX_BYTES {
            return Err(Failure::TooLarge {
                length_bytes,
                max_bytes: MAX_BYTES,
            }
            .while_("committing"));
        }
        let mut first = Vec::from(self.run_values());
        first.extend(self.head_values());
        first.extend(self.record_values());
        let needed: BTreeSet<BlobHash> = self.needed_elsewhere().map(|(blob, _)| blob).collect();
        let mut rest = vec![Value::ByteStrings(
            needed.iter().map(|hash| hash.as_bytes().to_vec()).collect(),
        )];
        rest.extend(self.need_values());
        rest.extend(self.taken_values());
        let blobs = self.blobs.iter();
        Ok(Rows {
            runs: self.changed.iter().map(|(run, _)| run.to_string()).collect(),
            first,
            rest,
            blobs: blobs
                .map(|(hash, blob)| (hash.as_bytes().to_vec(), blob.as_bytes().to_vec()))
                .collect(),
            length_bytes,
        })
    }

    /// The needs that the group changes.
    fn need_values(&self) -> [Value; 3] {
        let need = |known: &Known, line: &Line| known.needs.get(line).copied().unwrap_or_default();
        let mut changed = self.changed.iter().collect::<Vec<&Line>>();
        changed.retain(|line| need(&self.before, line) != need(&self.after, line));
        [
            Value::Texts(changed.iter().map(|(run, _)| run.to_string()).collect()),
            Value::Texts(changed.iter().map(|(_, branch)| branch.to_string()).collect()),
            Value::MaybeIntegers(changed.iter().map(|line| need(&self.after, line).encode()).collect()),
        ]
    }

    fn taken_values(&self) -> [Value; 3] {
        let taken = &self.taken;
        [
            Value::Texts(taken.iter().map(|(run, _)| run.to_string()).collect()),
            Value::ByteStrings(taken.iter().map(|(_, taken)| taken.letter.0.to_vec()).collect()),
            Value::ByteStrings(taken.iter().map(|(_, taken)| taken.reply.clone()).collect()),
        ]
    }

    /// The error that one of the letters is not there to be taken.
    pub(crate) fn no_letter(&self) -> StoreError {
        self.taken.first().map_or(
            StoreError::Inconsistent {
                what: "a letter is missing that nobody takes",
            },
            |(run, taken)| StoreError::NoSuchLetter {
                run: (*run).clone(),
                letter: taken.letter,
            },
        )
    }

    fn run_values(&self) -> [Value; 6] {
        let names: BTreeSet<&RunId> = self.changed.iter().map(|(run, _)| run).collect();
        let rows: Vec<(&RunRow, &RunRow)> = names
            .iter()
            .filter_map(|name| self.before.runs.get(*name).zip(self.after.runs.get(*name)))
            .collect();
        [
            Value::Texts(rows.iter().map(|(row, _)| row.name.to_string()).collect()),
            Value::Integers(rows.iter().map(|(row, _)| row.epoch.0.cast_signed()).collect()),
            Value::Integers(rows.iter().map(|(row, _)| row.numbered).collect()),
            Value::Integers(rows.iter().map(|(_, then)| then.numbered).collect()),
            Value::Texts(rows.iter().map(|(_, then)| then.owner.clone()).collect()),
            Value::ByteStrings(rows.iter().map(|(_, then)| then.seal()).collect()),
        ]
    }

    fn head_values(&self) -> [Value; 7] {
        let before = |line: &Line| self.before.lines.get(line).copied().flatten();
        let row = |line: &Line| {
            let standing = self.standing(line)?;
            let (run, branch) = line.clone();
            let Tip { hash, sequence } = standing.tip;
            Some((
                HeadRow {
                    run,
                    head: Head { branch, sequence, hash },
                    record: standing.number,
                },
                before(line),
            ))
        };
        let rows: Vec<(HeadRow, Option<Standing>)> = self.changed.iter().filter_map(row).collect();
        let found = |before: &Option<Standing>| before.map(|standing| standing.tip.hash.as_bytes().to_vec());
        [
            Value::Texts(rows.iter().map(|(row, _)| row.run.to_string()).collect()),
            Value::Texts(rows.iter().map(|(row, _)| row.head.branch.to_string()).collect()),
            Value::MaybeByteStrings(rows.iter().map(|(_, before)| found(before)).collect()),
            Value::Integers(
                rows.iter()
                    .map(|(row, _)| row.head.sequence.number().cast_signed())
                    .collect(),
            ),
            Value::Integers(rows.iter().map(|(row, _)| row.record).collect()),
            Value::ByteStrings(rows.iter().map(|(row, _)| row.head.hash.as_bytes().to_vec()).collect()),
            Value::ByteStrings(rows.iter().map(|(row, _)| row.seal()).collect()),
        ]
    }

    fn record_values(&self) -> [Value; 10] {
        let rows = &self.records;
        [
            Value::Texts(rows.iter().map(|record| record.row.run.to_string()).collect()),
            Value::Integers(rows.iter().map(|record| record.row.number).collect()),
            Value::Integers(
                rows.iter()
                    .map(|record| record.row.sequence.number().cast_signed())
                    .collect(),
            ),
            Value::MaybeIntegers(rows.iter().map(|record| record.row.parent).collect()),
            Value::Integers(rows.iter().map(|record| record.row.begun).collect()),
            Value::Integers(rows.iter().map(|record| record.row.time).collect()),
            Value::ByteStrings(self.names()),
            Value::ByteStrings(rows.iter().map(|record| record.blobs.clone()).collect()),
            Value::ByteStrings(rows.iter().map(|record| record.bytes.clone()).collect()),
            Value::ByteStrings(rows.iter().map(|record| record.row.seal()).collect()),
        ]
    }
}
