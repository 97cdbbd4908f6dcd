//! Commits: the way from a plan to something durable.
//!
//! Owns the recovery from a lost answer to a commit: it reads the heads again before anything else,
//! because they say whether the commit happened.
//! INVARIANT: a commit that returns has happened once; one that is refused has not happened.
//! Read next: `reading.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::store::batch;
use duet_journal::{BlobHash, BranchName, CommitTime, Epoch, Owner, RecordHash, Removal, RunId, StoreError};

use crate::PostgresStore;
use crate::clock::{self, ServerClock};
use crate::failure::Failure;
use crate::gathering::Part;
use crate::lease::{self, Leases};
use crate::pieces::{CommitFate, Rows};
use crate::plan::{Known, Plan, Step, Targets};
use crate::row::{RecordRow, RunRow, column, note_seal};
use crate::value::Value;

/// The maximum number of times that a commit is planned anew because others have changed its run.
/// Only threads of one process, with one epoch, do.
const ATTEMPTS_MAX: usize = 64;

/// What the server says of a commit.
enum Verdict {
    Done,
    /// The commit did not happen: the rows that it stands on have changed since they were read.
    Stale,
    /// The commit did not happen: some of its records are there already.
    HasSome,
    /// The commit did not happen: a blob is missing.
    LacksBlob,
    /// The commit did not happen: a letter has been taken already, or is not there.
    LacksLetter,
    /// Nobody knows: the connection was lost.
    Unclear,
}

impl PostgresStore {
    /// Performs all steps or none, in one statement.
    pub(crate) fn commit(&mut self, steps: &[Step<'_>]) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        self.renewed = Leases::default();
        let mut known = std::mem::take(&mut self.known);
        let mut is_fresh = !known.covers(steps);
        if is_fresh {
            known.extend(self.load(steps)?);
        }
        // Where a commit sets the heads that may have happened.
        let mut sent: Option<Targets> = None;
        for _ in 0..ATTEMPTS_MAX {
            if sent.as_ref().is_some_and(|targets| targets.are_met(&known)) {
                self.confirm(steps)?;
                self.known = known;
                self.note_given_up(steps);
                return Ok(());
            }
            let begun_ms = lease::since_boot_ms();
            let is_unclear = match Plan::make(&known, steps, CommitTime::from_ms(self.link.clock().now_ms())) {
                Ok(plan) if plan.is_empty() => return Ok(()),
                Ok(plan) => match self.send(&plan)? {
                    Verdict::Done => {
                        self.renewed = Leases::renewed(plan.written(), begun_ms);
                        self.known = plan.after.without_records();
                        self.note_given_up(steps);
                        return Ok(());
                    }
                    Verdict::HasSome => {
                        known.records.extend(self.rows_named(plan.names())?);
                        continue;
                    }
                    Verdict::LacksBlob => match self.missing_blob(&plan)? {
                        Some(error) => return Err(error),
                        None => continue,
                    },
                    Verdict::LacksLetter => return Err(plan.no_letter()),
                    Verdict::Unclear => {
                        sent = Some(plan.targets());
                        true
                    }
                    Verdict::Stale => false,
                },
                Err(error) if is_fresh => return Err(error),
                Err(_) => false,
            };
            known = if is_unclear {
                self.load_again(steps)?
            } else {
                self.load(steps)?
            };
            is_fresh = true;
        }
        Err(Failure::Contended.while_("committing"))
    }

    /// Notes that steps which have happened have given their runs up.
    fn note_given_up(&mut self, steps: &[Step<'_>]) {
        for step in steps.iter().filter(|step| matches!(step, Step::Last(_))) {
            self.held.remove(&step.line().0);
        }
    }

    /// Sends a plan, together with those of other connections of this process.
    fn send(&mut self, plan: &Plan<'_>) -> Result<Verdict, StoreError> {
        let mut group = match self.commits.join(plan.rows()?) {
            Part::Lead(group) => group,
            Part::Follow(Some(CommitFate::Done)) => return Ok(Verdict::Done),
            Part::Follow(Some(CommitFate::Unclear) | None) => return Ok(Verdict::Unclear),
            Part::Follow(Some(CommitFate::Refused)) => return self.send_alone(plan),
        };
        let is_alone = group.is_alone();
        let sent = self.ask_to_append(group.take().map_or_else(Vec::new, Rows::into_values));
        let fate = match &sent {
            Ok(Verdict::Done) => CommitFate::Done,
            Ok(Verdict::Unclear) => CommitFate::Unclear,
            Ok(Verdict::Stale | Verdict::HasSome | Verdict::LacksBlob | Verdict::LacksLetter) | Err(_) => {
                CommitFate::Refused
            }
        };
        group.tell(&fate);
        if fate == CommitFate::Refused && !is_alone {
            return self.send_alone(plan);
        }
        sent
    }

    fn send_alone(&self, plan: &Plan<'_>) -> Result<Verdict, StoreError> {
        self.ask_to_append(plan.rows()?.into_values())
    }

    fn ask_to_append(&self, values: Vec<Value>) -> Result<Verdict, StoreError> {
        let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
        let sql = self.sql(&format!("SELECT duet_schema.append({})", places.join(", ")));
        match self.link.ask(&sql, values) {
            Ok(rows) => verdict(&rows),
            Err(failure) if failure.is_unclear() => Ok(Verdict::Unclear),
            Err(failure) => Err(failure.while_("committing")),
        }
    }

    /// Reads what a commit stands on, after the connection was lost in the middle of it.
    fn load_again(&mut self, steps: &[Step<'_>]) -> Result<Known, StoreError> {
        let loaded = self.load(steps);
        self.is_in_doubt = loaded.is_err();
        loaded
    }

    /// Waits until a commit whose answer was lost is as durable as one that was answered: a server
    /// that has restarted shows what its synchronous standby may lack. A later commit returns after
    /// the standby has both.
    fn confirm(&mut self, steps: &[Step<'_>]) -> Result<(), StoreError> {
        let runs = steps.iter().map(|step| step.line().0.to_string()).collect();
        let sql = "WITH sure AS MATERIALIZED (
                SELECT CASE WHEN current_setting('synchronous_commit') = 'off'
                    THEN set_config('synchronous_commit', 'on', true) END
             )
             UPDATE duet_schema.runs SET owner = owner FROM sure WHERE name = ANY ($1) RETURNING 1";
        let confirmed = self.read_rows(sql, vec![Value::Texts(runs)], "confirming a commit");
        self.is_in_doubt = confirmed.is_err();
        confirmed.map(drop)
    }

    /// The first blob that a plan needs and the store lacks.
    fn missing_blob(&self, plan: &Plan<'_>) -> Result<Option<StoreError>, StoreError> {
        let needed: Vec<(BlobHash, RecordHash)> = plan.needed_elsewhere().collect();
        let names = needed.iter().map(|(blob, _)| blob.as_bytes().to_vec()).collect();
        let sql = "SELECT hash FROM duet_schema.blobs WHERE hash = ANY ($1)";
        let rows = self.read_rows(sql, vec![Value::ByteStrings(names)], "looking for blobs")?;
        let mut there = BTreeSet::new();
        for row in &rows {
            there.extend(BlobHash::from_slice(column(row, 0)?));
        }
        let missing = needed.into_iter().find(|(blob, _)| !there.contains(blob));
        Ok(missing.map(|(blob, record)| StoreError::MissingBlob { record, blob }))
    }

    /// Raises a run's epoch, unless it belongs to another process that lives.
    pub(crate) fn raise_epoch(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        self.require_writer()?;
        self.known = Known::default();
        let owner = &self.by_server_clock(owner);
        let failed = |failure: Failure| failure.while_("claiming a run");
        let mut ahead = self.ahead.take().filter(|ahead| ahead.run.name == *run);
        for _ in 0..ATTEMPTS_MAX {
            let found = match &ahead {
                Some(ahead) => Some(ahead.run.clone()),
                None => self.run_row(run)?,
            };
            if let Some(found) = &found {
                batch::check_owner(run, &found.claim(self.link.clock().now_ms()), owner)?;
            }
            let before = found.as_ref().map_or(Epoch(0), |found| found.epoch);
            let row = RunRow {
                name: run.clone(),
                epoch: before.next()?,
                owner: owner.to_owned(),
                numbered: found.as_ref().map_or(0, |found| found.numbered),
            };
            let mut values = vec![
                Value::Text(run.to_string()),
                Value::Integer(row.epoch.0.cast_signed()),
                Value::Text(row.owner.clone()),
                Value::Bytes(row.seal()),
            ];
            let sql = if let Some(found) = &found {
                values.extend([
                    Value::Integer(found.epoch.0.cast_signed()),
                    Value::Text(found.owner.clone()),
                    Value::Integer(found.numbered),
                ]);
                // A run of that name that was never begun, or has been removed whole, has no note.
                "WITH raised AS (
                    UPDATE duet_schema.runs SET epoch = $2, owner = $3, seal = $4
                    WHERE name = $1 AND epoch = $5 AND owner = $6 AND numbered = $7 RETURNING name
                 ), forgotten AS (
                    DELETE FROM duet_schema.notes USING raised WHERE notes.run = raised.name
                        AND NOT EXISTS (SELECT FROM duet_schema.heads WHERE heads.run = raised.name)
                 )
                 SELECT 1 FROM raised"
            } else {
                "INSERT INTO duet_schema.runs (name, epoch, owner, numbered, seal) VALUES ($1, $2, $3, 0, $4)
                 ON CONFLICT (name) DO NOTHING RETURNING 1"
            };
            match self.link.ask(&self.sql(sql), values) {
                Ok(raised) if !raised.is_empty() => {
                    let epoch = row.epoch;
                    self.held.insert(run.clone(), epoch);
                    if let Some(ahead) = ahead.as_mut() {
                        ahead.run = row;
                        self.known = ahead.known();
                    }
                    self.ahead = ahead;
                    return Ok(epoch);
                }
                // Who has the run by then is read anew; this process claims it once more.
                Ok(_) => {}
                Err(failure) if failure.is_unclear() => {}
                Err(failure) => return Err(failed(failure)),
            }
            ahead = None;
        }
        Err(failed(Failure::Contended))
    }

    /// Gives up the runs that this store holds still. A server that is away is not waited for, and
    /// one that was taken over stays with who has it.
    pub(crate) fn give_up_held(&mut self) {
        for (run, epoch) in std::mem::take(&mut self.held) {
            let (sql, values) = Self::description(&run, epoch, String::new());
            if self.is_in_doubt || self.link.ask(&self.sql(&sql), values).is_err() {
                return;
            }
        }
    }

    /// The statement that describes the holder of an epoch.
    fn description(run: &RunId, epoch: Epoch, owner: String) -> (String, Vec<Value>) {
        let row = RunRow {
            name: run.clone(),
            epoch,
            owner,
            numbered: 0,
        };
        let seal = row.seal();
        let values = vec![
            Value::Text(run.to_string()),
            Value::Integer(epoch.0.cast_signed()),
            Value::Text(row.owner),
            Value::Bytes(seal),
        ];
        let sql = format!(
            "UPDATE duet_schema.runs SET owner = $3, seal = $4 WHERE name = $1 AND epoch = $2 RETURNING {}",
            clock::COLUMN
        );
        (sql, values)
    }

    /// Changes how the holder of an epoch is described.
    pub(crate) fn describe_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        let owner = self.seen_by_server_clock(owner);
        let (sql, values) = Self::description(run, epoch, owner.clone());
        let asking = ServerClock::ask();
        let changed = self.read_rows(&sql, values, "describing an owner")?;
        if owner.is_empty() {
            self.held.remove(run);
        }
        let Some(changed) = changed.first() else {
            return self.require_epoch(run, epoch).map(drop);
        };
        self.link.clock().set(asking, column(changed, 0)?);
        if let Some(known) = self.known.runs.get_mut(run) {
            known.owner = owner;
        }
        Ok(())
    }

    /// Describes the next owner of a run by the server's clock in place of this host's.
    fn by_server_clock(&self, owner: &str) -> String {
        self.described(owner, |owner, clock| Owner {
            claimed_ms: clock.of_host_ms(owner.claimed_ms),
            seen_ms: clock.of_host_ms(owner.seen_ms),
            ..owner
        })
    }

    /// Describes the present owner of a run, whose row has when it claimed the run, by the server's
    /// clock.
    fn seen_by_server_clock(&self, owner: &str) -> String {
        self.described(owner, |owner, clock| Owner {
            seen_ms: clock.of_host_ms(owner.seen_ms),
            ..owner
        })
    }

    fn described(&self, owner: &str, change: impl FnOnce(Owner, &ServerClock) -> Owner) -> String {
        match owner.parse() {
            Ok(described) => change(described, self.link.clock()).to_string(),
            Err(_) => owner.to_owned(),
        }
    }

    /// Sets the note on a run.
    pub(crate) fn write_note(&mut self, run: &RunId, epoch: Epoch, note: &[u8]) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        let values = vec![
            Value::Text(run.to_string()),
            Value::Integer(epoch.0.cast_signed()),
            Value::Bytes(note.to_vec()),
            Value::Bytes(note_seal(run, note)),
        ];
        // The lock keeps the epoch from being raised before the note is there.
        let sql = "WITH held AS (SELECT name FROM duet_schema.runs WHERE name = $1 AND epoch = $2 FOR UPDATE)
             INSERT INTO duet_schema.notes (run, note, seal) SELECT name, $3, $4 FROM held
             ON CONFLICT (run) DO UPDATE SET note = excluded.note, seal = excluded.seal RETURNING 1";
        let changed = self.read_rows(sql, values, "writing a note")?;
        if changed.is_empty() {
            self.require_epoch(run, epoch).map(drop)
        } else {
            Ok(())
        }
    }

    /// Removes branches with what only they lead to.
    pub(crate) fn give_up(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        self.known = Known::default();
        for _ in 0..ATTEMPTS_MAX {
            let run = self.require_epoch(removal.run, removal.epoch)?;
            let going = self.with_what_hangs_on(removal.run, removal.records)?;
            let heads = self.head_rows(removal.run)?;
            let stays = |branch: &BranchName| !removal.branches.contains(branch);
            let staying = heads
                .iter()
                .filter(|row| stays(&row.head.branch))
                .map(|row| row.head.hash)
                .collect();
            batch::check_removal(going.iter().map(|row| &row.hash), &staying)?;
            let marks = removal.since.next_numbers();
            let values = vec![
                Value::Text(run.name.to_string()),
                Value::Integer(run.epoch.0.cast_signed()),
                Value::Integer(run.numbered),
                Value::Texts(removal.branches.iter().map(ToString::to_string).collect()),
                Value::Integers(going.iter().map(|row| row.number).collect()),
                Value::ByteStrings(removal.blobs.iter().map(|blob| blob.as_bytes().to_vec()).collect()),
                Value::Texts(marks.keys().map(ToString::to_string).collect()),
                Value::Integers(marks.values().copied().collect()),
            ];
            let sql = self.sql("SELECT duet_schema.remove($1, $2, $3, $4, $5, $6, $7, $8)");
            match self.link.ask(&sql, values) {
                Ok(rows) if matches!(verdict(&rows)?, Verdict::Done) => return Ok(()),
                Ok(_) => {}
                Err(failure) => {
                    self.is_in_doubt = failure.is_unclear();
                    return Err(failure.while_("removing branches"));
                }
            }
        }
        Err(Failure::Contended.while_("removing branches"))
    }

    /// The rows of some records of a run, and of all that would lead to them.
    fn with_what_hangs_on(&self, run: &RunId, records: &[RecordHash]) -> Result<Vec<RecordRow>, StoreError> {
        let named = self.rows_named(records.iter().map(|hash| hash.as_bytes().to_vec()).collect())?;
        let mut going: BTreeMap<i64, RecordRow> = named
            .into_values()
            .filter(|row| row.run == *run)
            .map(|row| (row.number, row))
            .collect();
        let Some((&first, _)) = going.first_key_value() else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT {} FROM duet_schema.records AS r WHERE r.run = $1 AND r.number > $2 ORDER BY r.number",
            RecordRow::COLUMNS
        );
        let values = vec![Value::Text(run.to_string()), Value::Integer(first)];
        // Parents come first.
        for row in &self.read_rows(&sql, values, "looking for what hangs on records")? {
            let row = RecordRow::read(row)?;
            if row.parent.is_some_and(|parent| going.contains_key(&parent)) {
                going.insert(row.number, row);
            }
        }
        Ok(going.into_values().collect())
    }

    pub(crate) fn require_writer(&self) -> Result<(), StoreError> {
        if self.only_reads {
            Err(StoreError::ReadOnly)
        } else if self.is_in_doubt {
            Err(StoreError::InDoubt)
        } else {
            Ok(())
        }
    }
}

fn verdict(rows: &[tokio_postgres::Row]) -> Result<Verdict, StoreError> {
    let word: &str = rows.first().map_or(Ok(""), |row| column(row, 0))?;
    match word {
        "done" => Ok(Verdict::Done),
        "stale" => Ok(Verdict::Stale),
        "known" => Ok(Verdict::HasSome),
        "blob" => Ok(Verdict::LacksBlob),
        "letter" => Ok(Verdict::LacksLetter),
        _ => Err(StoreError::Inconsistent {
            what: "a function of the schema answers what none should",
        }),
    }
}
