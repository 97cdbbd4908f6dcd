//! What stands beside the records: what branches need, letters, and workers.
//!
//! INVARIANT: whatever an owner does here is one statement that locks the row of its run and
//! compares the epoch; whatever others do may be repeated.
//!
//! What commits change here goes with them; `writing.rs` does that. Read next: `lib.rs`.

use duet_journal::inbox::{Letter, LetterId, Need, REPLY_KEPT_MS, Ready, Taken};
use duet_journal::{BranchName, Claim, Epoch, RunId, StoreError};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::clock::{self, ServerClock};
use crate::plan::Line;
use crate::row::column;
use crate::value::Value;

/// The number of due branches that are looked at together: most belong to runs that somebody
/// executes.
const PORTION: usize = 256;
const PORTION_MIN: usize = 32;

/// Locks the row of a run, if it has this epoch.
const HELD: &str = "held AS (SELECT name FROM duet_schema.runs WHERE name = $1 AND epoch = $2 FOR UPDATE)";

impl PostgresStore {
    pub(crate) fn write_need(&mut self, line: Line, epoch: Epoch, need: Need) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        let (run, branch) = &line;
        let mut values = vec![
            Value::Text(run.to_string()),
            Value::Integer(epoch.0.cast_signed()),
            Value::Text(branch.to_string()),
        ];
        let change = match need.encode() {
            None => "DELETE FROM duet_schema.needs USING held WHERE needs.run = held.name AND branch = $3",
            Some(at) => {
                values.push(Value::Integer(at));
                "INSERT INTO duet_schema.needs (run, branch, at) SELECT name, $3, $4 FROM held
                 ON CONFLICT (run, branch) DO UPDATE SET at = excluded.at"
            }
        };
        let sql = format!("WITH {HELD}, changed AS ({change}) SELECT 1 FROM held");
        if self.read_rows(&sql, values, "saying what a run needs")?.is_empty() {
            return self.require_epoch(run, epoch).map(drop);
        }
        self.known.needs.insert(line, need);
        Ok(())
    }

    pub(crate) fn read_need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError> {
        if let Some(ahead) = self.ahead_on(run, branch) {
            return Ok(ahead.need);
        }
        self.require_run(run)?;
        let sql = "SELECT at FROM duet_schema.needs WHERE run = $1 AND branch = $2";
        let values = vec![Value::Text(run.to_string()), Value::Text(branch.to_string())];
        let rows = self.read_rows(sql, values, "reading what a branch needs")?;
        let at = rows.first().map(|row| column(row, 0)).transpose()?;
        Ok(Need::decode(at))
    }

    pub(crate) fn find_ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
        let doing = "looking for runs that can go on";
        let mut due = Vec::new();
        let mut after = (-1, String::new(), String::new());
        let portion = PORTION.min(max.max(PORTION_MIN));
        loop {
            let sql = format!(
                "SELECT n.run, n.branch, r.epoch, r.owner, n.at
                 FROM duet_schema.needs AS n JOIN duet_schema.runs AS r ON r.name = n.run
                 WHERE n.at >= 0 AND n.at <= $1 AND (n.at, n.run, n.branch) > ($2, $3, $4)
                 ORDER BY n.at, n.run, n.branch LIMIT {portion}"
            );
            let (at, run, branch) = after;
            let values = vec![
                Value::Integer(i64::try_from(now_ms).unwrap_or(i64::MAX)),
                Value::Integer(at),
                Value::Text(run),
                Value::Text(branch),
            ];
            let rows = self.read_rows(&sql, values, doing)?;
            gather(&rows, &mut due, max, self.link.clock().now_ms())?;
            match rows.last() {
                Some(last) if rows.len() == portion && due.len() < max => {
                    after = (column(last, 4)?, column(last, 0)?, column(last, 1)?);
                }
                Some(_) | None => break,
            }
        }
        let sql = "SELECT DISTINCT i.run, i.branch, r.epoch, r.owner
             FROM duet_schema.inbox AS i JOIN duet_schema.runs AS r ON r.name = i.run
             WHERE i.reply IS NULL ORDER BY i.run, i.branch";
        let mut written = Vec::new();
        let rows = self.read_rows(sql, Vec::new(), doing)?;
        gather(&rows, &mut written, max, self.link.clock().now_ms())?;
        Ok(Ready::join(due, written, max))
    }

    pub(crate) fn send_letter(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
        self.require_writer()?;
        let sent = letter.sent_ms.cast_signed();
        let values = vec![
            Value::Text(run.to_string()),
            Value::Bytes(letter.id.0.to_vec()),
            Value::Text(letter.branch.to_string()),
            Value::Integer(sent),
            Value::Bytes(letter.body.clone()),
            Value::Integer(sent.saturating_sub_unsigned(REPLY_KEPT_MS)),
        ];
        // It is on the disk, whatever the role's default is. The row of the run stays locked, so
        // that nobody removes the branch meanwhile.
        let sql = "WITH sure AS MATERIALIZED (
                SELECT CASE WHEN current_setting('synchronous_commit') = 'off'
                    THEN set_config('synchronous_commit', 'on', true) END
             ), there AS (
                SELECT runs.name FROM sure, duet_schema.runs
                WHERE runs.name = $1 AND EXISTS (SELECT FROM duet_schema.heads WHERE run = $1 AND branch = $3)
                FOR KEY SHARE OF runs
             ), old AS (
                DELETE FROM duet_schema.inbox USING there
                WHERE inbox.run = there.name AND reply IS NOT NULL AND sent < $6
             ), sent AS (
                INSERT INTO duet_schema.inbox (run, letter, branch, sent, body)
                SELECT name, $2, $3, $4, $5 FROM there ON CONFLICT (run, letter) DO NOTHING
             )
             SELECT 1 FROM there";
        if self.read_rows(sql, values, "sending a letter")?.is_empty() {
            return Err(StoreError::NoSuchRun { run: run.clone() });
        }
        Ok(())
    }

    pub(crate) fn read_letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
        let letterless = self.letterless.take();
        if letterless.is_some_and(|(of_run, on_branch)| (&of_run, &on_branch) == (run, branch)) {
            return Ok(Vec::new());
        }
        let sql = "SELECT letter, sent, body FROM duet_schema.inbox
             WHERE run = $1 AND branch = $2 AND reply IS NULL ORDER BY sent, letter";
        let values = vec![Value::Text(run.to_string()), Value::Text(branch.to_string())];
        let rows = self.read_rows(sql, values, "reading letters")?;
        let read = |row: &Row| {
            let id: Vec<u8> = column(row, 0)?;
            Ok(Letter {
                id: LetterId::from_slice(&id).ok_or(StoreError::Inconsistent {
                    what: "a letter's name is malformed",
                })?,
                branch: branch.clone(),
                sent_ms: column::<i64>(row, 1)?.cast_unsigned(),
                body: column(row, 2)?,
            })
        };
        rows.iter().map(read).collect()
    }

    pub(crate) fn refuse_letter(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
        self.require_writer()?;
        self.ahead = None;
        let values = vec![
            Value::Text(run.to_string()),
            Value::Integer(epoch.0.cast_signed()),
            Value::Bytes(taken.letter.0.to_vec()),
            Value::Bytes(taken.reply.clone()),
        ];
        // Once more with the same reply is the same.
        let sql = format!(
            "WITH {HELD} UPDATE duet_schema.inbox SET body = '', reply = $4 FROM held
             WHERE inbox.run = held.name AND letter = $3 AND (reply IS NULL OR reply = $4) RETURNING 1"
        );
        if self.read_rows(&sql, values, "refusing a letter")?.is_empty() {
            self.require_epoch(run, epoch)?;
            return Err(StoreError::NoSuchLetter {
                run: run.clone(),
                letter: taken.letter,
            });
        }
        Ok(())
    }

    pub(crate) fn read_reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT reply FROM duet_schema.inbox WHERE run = $1 AND letter = $2";
        let rows = self.read_rows(sql, letter_of(run, letter), "reading a reply")?;
        rows.first().map_or(Ok(None), |row| column(row, 0))
    }

    pub(crate) fn change_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
        self.require_writer()?;
        let mut values = letter_of(run, taken.letter);
        values.push(Value::Bytes(taken.reply.clone()));
        let sql = "UPDATE duet_schema.inbox SET reply = $3
             WHERE run = $1 AND letter = $2 AND reply IS NOT NULL RETURNING 1";
        Ok(!self.read_rows(sql, values, "replacing a reply")?.is_empty())
    }

    pub(crate) fn remove_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
        self.require_writer()?;
        let sql = "DELETE FROM duet_schema.inbox WHERE run = $1 AND letter = $2 AND reply IS NOT NULL";
        self.read_rows(sql, letter_of(run, letter), "removing a reply")
            .map(drop)
    }

    pub(crate) fn write_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError> {
        self.require_writer()?;
        if told.is_empty() {
            let sql = "DELETE FROM duet_schema.workers WHERE name = $1";
            let values = vec![Value::Text(name.to_owned())];
            return self.read_rows(sql, values, "removing a worker").map(drop);
        }
        let sql = format!(
            "INSERT INTO duet_schema.workers (name, told) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET told = excluded.told RETURNING {}",
            clock::COLUMN
        );
        let values = vec![Value::Text(name.to_owned()), Value::Text(told.to_owned())];
        let asking = ServerClock::ask();
        let noted = self.read_rows(&sql, values, "noting a worker")?;
        if let Some(noted) = noted.first() {
            self.link.clock().set(asking, column(noted, 0)?);
        }
        Ok(())
    }

    pub(crate) fn read_workers(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT told FROM duet_schema.workers ORDER BY name";
        let rows = self.read_rows(sql, Vec::new(), "listing the workers")?;
        rows.iter().map(|row| column(row, 0)).collect()
    }
}

fn letter_of(run: &RunId, letter: LetterId) -> Vec<Value> {
    vec![Value::Text(run.to_string()), Value::Bytes(letter.0.to_vec())]
}

/// Adds the branches of rows whose runs no living process owns, up to a maximum; the rows were read
/// at a time of the server's clock in milliseconds since 1970.
fn gather(rows: &[Row], found: &mut Vec<Ready>, max: usize, read_ms: u64) -> Result<(), StoreError> {
    for row in rows {
        if found.len() >= max {
            break;
        }
        let claim = Claim {
            epoch: Epoch(column::<i64>(row, 2)?.cast_unsigned()),
            owner: column(row, 3)?,
            read_ms,
        };
        let ready = Ready {
            run: RunId::new(column::<String>(row, 0)?)?,
            branch: BranchName::new(column::<String>(row, 1)?)?,
        };
        if claim.living().is_none() && !found.contains(&ready) {
            found.push(ready);
        }
    }
    Ok(())
}
