//! What stands beside the records: what branches need, letters, and workers.
//!
//! INVARIANT: a row read here matches its seal. A branch that needs nothing has no row in `needs`;
//! a row is written when the need changes, so a run that goes on writes none.
//! It neither begins nor ends a transaction. Read next: `store/sqlite/work.rs`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::row::{Run, change, failed};
use super::seal::{check_seal, seal};
use super::work;
use crate::identity::{BranchName, Epoch, RunId};
use crate::inbox::{Letter, LetterId, Need, REPLY_KEPT_MS, Ready, Taken};
use crate::owner;
use crate::store::{Claim, StoreError, batch};

fn need_seal(run: &Run, branch: &BranchName, at: i64) -> [u8; 8] {
    let (run, branch) = (run.name.as_str().as_bytes(), branch.as_str().as_bytes());
    seal(&[b"need", run, branch, &at.to_le_bytes()])
}

/// What a branch needs.
pub(super) fn need(connection: &Connection, run: &Run, branch: &BranchName) -> Result<Need, StoreError> {
    let failed = failed("reading what a branch needs");
    let sql = "SELECT at, seal FROM needs WHERE run = ?1 AND branch = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let found = statement.query_one(params![run.id, branch.as_str()], read).optional();
    let Some((at, found)) = found.map_err(&failed)? else {
        return Ok(Need::Nothing);
    };
    if found != need_seal(run, branch, at) {
        return Err(CHANGED);
    }
    Ok(Need::decode(Some(at)))
}

const CHANGED: StoreError = StoreError::Inconsistent {
    what: "the row of a branch's need does not match its seal",
};

/// Sets what a branch needs.
pub(super) fn write_need(
    connection: &Connection,
    run: &Run,
    branch: &BranchName,
    need: Need,
) -> Result<(), StoreError> {
    let doing = "writing what a branch needs";
    let Some(at) = need.encode() else {
        let sql = "DELETE FROM needs WHERE run = ?1 AND branch = ?2";
        return change(connection, sql, params![run.id, branch.as_str()], doing);
    };
    let sql = "INSERT INTO needs (run, branch, at, seal) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, branch) DO UPDATE SET at = ?3, seal = ?4";
    let fields = params![run.id, branch.as_str(), at, need_seal(run, branch, at)];
    change(connection, sql, fields, "replying to a letter")
}

/// Forgets what stands beside the records of a branch.
pub(super) fn forget_branch(connection: &Connection, run: &Run, branch: &BranchName) -> Result<(), StoreError> {
    write_need(connection, run, branch, Need::Nothing)?;
    let sql = "DELETE FROM inbox WHERE run = ?1 AND branch = ?2";
    change(connection, sql, params![run.id, branch.as_str()], "emptying an inbox")
}

/// Lists branches that can go on and that nobody owns.
pub(super) fn ready(connection: &Connection, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
    let due = "SELECT runs.name, needs.branch, runs.epoch, runs.owner FROM needs JOIN runs ON runs.id = needs.run
         WHERE needs.at >= 0 AND needs.at <= ?1 ORDER BY needs.at";
    let written = "SELECT DISTINCT runs.name, inbox.branch, runs.epoch, runs.owner
         FROM inbox JOIN runs ON runs.id = inbox.run WHERE inbox.reply IS NULL AND ?1 >= 0";
    let written = unowned(connection, written, now_ms, max)?;
    Ok(Ready::join(unowned(connection, due, now_ms, max)?, written, max))
}

/// Reads at most `max` branches whose runs nobody owns, each once.
fn unowned(connection: &Connection, sql: &str, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
    let failed = failed("looking for runs that can go on");
    let mut found = Vec::new();
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
    let mut rows = statement.query([now]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        if found.len() == max {
            break;
        }
        let read = |row: &Row<'_>| -> rusqlite::Result<(String, String, i64, String)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        };
        let (run, branch, epoch, owner) = read(row).map_err(&failed)?;
        let epoch = Epoch(epoch.cast_unsigned());
        let ready = Ready {
            run: RunId::new(run)?,
            branch: BranchName::new(branch)?,
        };
        let claim = Claim {
            epoch,
            owner,
            read_ms: owner::now_ms(),
        };
        if claim.living().is_none() && !found.contains(&ready) {
            found.push(ready);
        }
    }
    Ok(found)
}

fn letter_seal(run: &RunId, letter: &Letter, reply: Option<&[u8]>) -> [u8; 8] {
    let sent = letter.sent_ms.to_le_bytes();
    let is_taken = [u8::from(reply.is_some())];
    seal(&[
        b"letter",
        run.as_str().as_bytes(),
        &letter.id.0,
        letter.branch.as_str().as_bytes(),
        &sent,
        &letter.body,
        &is_taken,
        reply.unwrap_or_default(),
    ])
}

/// A row of an inbox.
struct InboxRow {
    letter: Letter,
    /// `None` until the letter is taken.
    reply: Option<Vec<u8>>,
}

fn read_letter(run: &RunId, row: &Row<'_>) -> Result<InboxRow, StoreError> {
    let failed = failed("reading a letter");
    let malformed = StoreError::Inconsistent {
        what: "a letter's row is malformed",
    };
    let id: Vec<u8> = row.get(0).map_err(&failed)?;
    let letter = Letter {
        id: LetterId::from_slice(&id).ok_or(malformed)?,
        branch: BranchName::new(row.get::<_, String>(1).map_err(&failed)?)?,
        sent_ms: row.get::<_, i64>(2).map_err(&failed)?.cast_unsigned(),
        body: row.get(3).map_err(&failed)?,
    };
    let reply: Option<Vec<u8>> = row.get(4).map_err(&failed)?;
    let found: Vec<u8> = row.get(5).map_err(&failed)?;
    if found != letter_seal(run, &letter, reply.as_deref()) {
        return Err(StoreError::Inconsistent {
            what: "a letter's row does not match its seal",
        });
    }
    Ok(InboxRow { letter, reply })
}

const LETTER: &str = "SELECT letter, branch, sent, body, reply, seal FROM inbox";

fn find_letter(connection: &Connection, run: &Run, letter: LetterId) -> Result<Option<InboxRow>, StoreError> {
    let failed = failed("reading a letter");
    let sql = format!("{LETTER} WHERE run = ?1 AND letter = ?2");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement.query(params![run.id, letter.0]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(|row| read_letter(&run.name, row)).transpose()
}

/// Puts a letter into the inbox of a run, unless it is there.
pub(super) fn put(connection: &Connection, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
    let row = Run::read(connection, run)?;
    if work::find_branch(connection, &row, &letter.branch)?.is_none() {
        return Err(StoreError::NoSuchRun { run: run.clone() });
    }
    let sent = letter.sent_ms.cast_signed();
    let old = sent.saturating_sub_unsigned(REPLY_KEPT_MS);
    let sql = "DELETE FROM inbox WHERE run = ?1 AND reply IS NOT NULL AND sent < ?2";
    change(connection, sql, params![row.id, old], "removing old replies")?;
    let sql = "INSERT INTO inbox (run, letter, branch, sent, body, reply, seal) VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6)
         ON CONFLICT (run, letter) DO NOTHING";
    let seal = letter_seal(run, letter, None);
    let fields = params![row.id, letter.id.0, letter.branch.as_str(), sent, letter.body, seal];
    change(connection, sql, fields, "sending a letter")
}

/// The letters for a branch that nobody has taken, in order of their sending.
pub(super) fn letters(connection: &Connection, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
    let Some(row) = Run::find(connection, run)? else {
        return Ok(Vec::new());
    };
    let failed = failed("reading letters");
    let sql = format!("{LETTER} WHERE run = ?1 AND branch = ?2 AND reply IS NULL ORDER BY sent, letter");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement.query(params![row.id, branch.as_str()]).map_err(&failed)?;
    let mut letters = Vec::new();
    while let Some(found) = rows.next().map_err(&failed)? {
        letters.push(read_letter(run, found)?.letter);
    }
    Ok(letters)
}

/// Makes a letter its own reply.
pub(super) fn take(connection: &Connection, run: &Run, taken: &Taken) -> Result<(), StoreError> {
    let found = find_letter(connection, run, taken.letter)?;
    let Some(InboxRow { letter, reply: None }) = found else {
        return Err(StoreError::NoSuchLetter {
            run: run.name.clone(),
            letter: taken.letter,
        });
    };
    set_reply(connection, run, letter, taken)
}

/// Puts another reply in the place of one that is there.
pub(super) fn replace_reply(connection: &Connection, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
    let Some(row) = Run::find(connection, run)? else {
        return Ok(false);
    };
    let Some(InboxRow { letter, reply: Some(_) }) = find_letter(connection, &row, taken.letter)? else {
        return Ok(false);
    };
    set_reply(connection, &row, letter, taken)?;
    Ok(true)
}

fn set_reply(connection: &Connection, run: &Run, letter: Letter, taken: &Taken) -> Result<(), StoreError> {
    let read = Letter {
        body: Vec::new(),
        ..letter
    };
    let seal = letter_seal(&run.name, &read, Some(&taken.reply));
    let sql = "UPDATE inbox SET body = x'', reply = ?3, seal = ?4 WHERE run = ?1 AND letter = ?2";
    let fields = params![run.id, taken.letter.0, taken.reply, seal];
    change(connection, sql, fields, "replying to a letter")
}

/// Takes a letter in a commit without a record.
pub(super) fn refuse(connection: &Connection, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
    let row = Run::read(connection, run)?;
    batch::check_epoch(run, epoch, row.epoch)?;
    take(connection, &row, taken)
}

/// The reply to a letter.
pub(super) fn reply(connection: &Connection, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(row) = Run::find(connection, run)? else {
        return Ok(None);
    };
    Ok(find_letter(connection, &row, letter)?.and_then(|row| row.reply))
}

/// Removes a reply.
pub(super) fn forget_reply(connection: &Connection, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
    let row = Run::read(connection, run)?;
    let sql = "DELETE FROM inbox WHERE run = ?1 AND letter = ?2 AND reply IS NOT NULL";
    change(connection, sql, params![row.id, letter.0], "removing a reply")
}

/// Sets what a worker says of itself.
pub(super) fn note_worker(connection: &Connection, name: &str, told: &str) -> Result<(), StoreError> {
    if told.is_empty() {
        return change(
            connection,
            "DELETE FROM workers WHERE name = ?1",
            [name],
            "removing a worker",
        );
    }
    let sql = "INSERT INTO workers (name, told, seal) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET told = ?2, seal = ?3";
    let seal = seal(&[b"worker", name.as_bytes(), told.as_bytes()]);
    change(connection, sql, params![name, told, seal], "noting a worker")
}

/// What workers say of themselves.
pub(super) fn workers(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let failed = failed("listing the workers");
    let sql = "SELECT name, told, seal FROM workers ORDER BY name";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([]).map_err(&failed)?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let read = |row: &Row<'_>| -> rusqlite::Result<(String, String, Vec<u8>)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        };
        let (name, told, found) = read(row).map_err(&failed)?;
        let fields: [&[u8]; 3] = [b"worker", name.as_bytes(), told.as_bytes()];
        check_seal(&found, &fields, "a worker's row does not match its seal")?;
        workers.push(told);
    }
    Ok(workers)
}
