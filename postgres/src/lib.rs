//! Duet's journal in a PostgreSQL database.
//!
//! Owns [`PostgresStore`], a store that many hosts can use at once: [`Address`] says where it is.
//! INVARIANT: a run is written only under its newest epoch, which the statement that writes
//! compares; an append that returns is durable on the server.
//!
//! It does not know what a record means, and keeps nothing on this machine. Read the modules in the
//! order in which they stand here.

mod failure;
mod blobs;
mod value;
mod gathering;
mod pieces;
mod clock;
mod row;
mod lease;
mod address;
mod link;
mod schema;
mod plan;
mod ahead;
mod writing;
mod reading;
mod standby;
mod lines;

#[cfg(test)]
extern crate self as duet_postgres;

pub use address::Address;
pub use failure::Failure;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use duet_journal::parts::fetching;
use duet_journal::store::{checked_blob, one_by_one, open_record};
use duet_journal::{
    Append, BlobHash, BranchName, Claim, ClosedRecord, CommitTime, Epoch, Head, HeadMove, Letter, LetterId, Mark, Need,
    Ready, Record, RecordHash, Removal, RunId, Sequence, Store, StoreError, Taken,
};

use crate::ahead::Ahead;
use crate::blobs::{BLOB_BYTES_MAX, Blobs};
use crate::gathering::Gathering;
use crate::lease::Leases;
use crate::link::Link;
use crate::pieces::{Names, Rows};
use crate::plan::{Known, Line, Step};
use crate::row::{check_note, column};
use crate::schema::Use;
use crate::value::Value;

/// The maximum number of blobs that are read ahead: most are a page of a heap.
const BLOBS_AHEAD_MAX: usize = 512;

/// A store in one schema of a PostgreSQL database.
pub struct PostgresStore {
    link: Link,
    schema: String,
    only_reads: bool,
    /// What the writer knows of what it writes on; the server compares it.
    known: Known,
    /// The rows that were read ahead, until this connection writes.
    ahead: Option<Ahead>,
    /// The branch that had no letters when it was read ahead, until somebody asks: later there may
    /// be some.
    letterless: RefCell<Option<Line>>,
    /// The blobs that were read through this address.
    blobs: Blobs,
    /// The commits of this process to this address, and what it asks about its claims.
    commits: Gathering<Rows>,
    checks: Gathering<Names>,
    /// What the newest commit of this connection has renewed.
    renewed: Leases,
    /// Whether a commit failed, so that it is unknown what is durable.
    is_in_doubt: bool,
    /// The runs that were claimed through this store and not given up.
    held: BTreeMap<RunId, Epoch>,
}

/// Whoever opened the store has done with its runs. Nobody on another host sees that this process
/// ends, so a claim that it left would keep others from them as long as that of one that has died.
impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.give_up_held();
    }
}

impl PostgresStore {
    /// Opens the journal at an address to read and write it, together with any other process that
    /// does; makes its tables if there are none, and upgrades those of an older version.
    ///
    /// # Errors
    /// [`StoreError::Server`] with a [`Failure`], or [`StoreError::UnsupportedVersion`]; what is
    /// somebody else's is as it was.
    pub fn open_or_create(address: &Address) -> Result<Self, StoreError> {
        let store = Self::connect(address, false)?;
        schema::open(&store.link, &store.schema, schema::STEPS, Use::Make)?;
        Ok(store)
    }

    /// Opens the journal at an address to read and write it, and upgrades tables of an older
    /// version.
    ///
    /// # Errors
    /// As [`open_or_create`](Self::open_or_create), and if there is none.
    pub fn open(address: &Address) -> Result<Self, StoreError> {
        let store = Self::connect(address, false)?;
        schema::open(&store.link, &store.schema, schema::STEPS, Use::Write)?;
        Ok(store)
    }

    /// Opens the journal at an address to read it; a standby will do.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_to_read(address: &Address) -> Result<Self, StoreError> {
        let store = Self::connect(address, true)?;
        schema::open(&store.link, &store.schema, schema::STEPS, Use::Read)?;
        Ok(store)
    }

    fn connect(address: &Address, only_reads: bool) -> Result<Self, StoreError> {
        let connected = if only_reads {
            Link::connect(address)
        } else {
            Link::connect(&address.for_writing())
        };
        let link = connected.map_err(|failure| failure.while_("opening the journal"))?;
        let schema = address.schema().to_owned();
        Ok(Self {
            link,
            schema,
            only_reads,
            known: Known::default(),
            ahead: None,
            letterless: RefCell::default(),
            blobs: address.blobs.clone(),
            commits: address.commits.clone(),
            checks: address.checks.clone(),
            renewed: Leases::default(),
            is_in_doubt: false,
            held: BTreeMap::new(),
        })
    }

    /// A statement with the name of the schema in it.
    fn sql(&self, sql: &str) -> String {
        schema::in_schema(sql, &self.schema)
    }
}

impl Store for PostgresStore {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        self.raise_epoch(run, owner)
    }

    fn claimed(&self, run: &RunId) -> Result<Option<Claim>, StoreError> {
        let row = match self.ahead_of(run) {
            Some(ahead) => Some(ahead.run.clone()),
            None => self.run_row(run)?,
        };
        Ok(row.map(|row| row.claim(self.link.clock().now_ms())))
    }

    fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        self.require_claim(run, epoch)
    }

    fn check_lease(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        if self.renewed.hold(run, epoch) {
            return Ok(());
        }
        self.require_claim(run, epoch)
    }

    fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        self.describe_owner(run, epoch, owner)
    }

    fn read_ahead(&mut self, run: &RunId, branch: &BranchName) -> Result<(), StoreError> {
        self.look_ahead(run, branch)
    }

    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError> {
        let steps: Vec<Step<'_>> = appends.iter().map(Step::Append).collect();
        self.commit(&steps)
    }

    fn append_last(&mut self, append: Append<'_>) -> Result<(), StoreError> {
        self.commit(&[Step::Last(&append)])
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        let steps: Vec<Step<'_>> = moves.iter().map(Step::Move).collect();
        self.commit(&steps)
    }

    fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> Result<(), StoreError> {
        self.write_need((run.clone(), branch.clone()), epoch, need)
    }

    fn need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError> {
        self.read_need(run, branch)
    }

    fn now_ms(&self) -> Result<u64, StoreError> {
        Ok(self.link.clock().now_ms())
    }

    fn ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
        self.find_ready(now_ms, max)
    }

    fn put(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
        self.send_letter(run, letter)
    }

    fn letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
        self.read_letters(run, branch)
    }

    fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
        self.refuse_letter(run, epoch, taken)
    }

    fn reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_reply(run, letter)
    }

    fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
        self.change_reply(run, taken)
    }

    fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
        self.remove_reply(run, letter)
    }

    fn note_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError> {
        self.write_worker(name, told)
    }

    fn workers(&self) -> Result<Vec<String>, StoreError> {
        self.read_workers()
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        self.give_up(removal)
    }

    fn mark(&self) -> Result<Mark, StoreError> {
        let mut next = BTreeMap::new();
        for row in &self.read_rows(
            "SELECT name, numbered FROM duet_schema.runs",
            Vec::new(),
            "reading the mark",
        )? {
            next.insert(RunId::new(column::<String>(row, 0)?)?, column(row, 1)?);
        }
        Ok(Mark::of_runs(next))
    }

    fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT name FROM duet_schema.runs
             WHERE EXISTS (SELECT FROM duet_schema.heads WHERE heads.run = runs.name) ORDER BY name";
        let rows = self.read_rows(sql, Vec::new(), "listing the runs")?;
        rows.iter()
            .map(|row| Ok(RunId::new(column::<String>(row, 0)?)?))
            .collect()
    }

    fn has_run(&self, run: &RunId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM duet_schema.heads WHERE run = $1 LIMIT 1";
        let rows = self.read_rows(sql, vec![Value::Text(run.to_string())], "looking for a run")?;
        Ok(!rows.is_empty())
    }

    fn heads(&self, run: &RunId) -> Result<Vec<Head>, StoreError> {
        Ok(self.head_rows(run)?.into_iter().map(|row| row.head).collect())
    }

    fn head(&self, run: &RunId, branch: &BranchName) -> Result<Option<Head>, StoreError> {
        Ok(self.head_row(run, branch)?.map(|row| row.head))
    }

    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        one_by_one(self, run, branch, range)?.collect()
    }

    fn read_closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        self.closed(run, branch, &range)
    }

    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<CommitTime>, StoreError> {
        Ok(self
            .rows_at(run, branch, &range)?
            .iter()
            .map(row::RecordRow::time)
            .collect())
    }

    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError> {
        open_record(self.closed_named(*hash)?, &mut fetching(|hash| self.blob(hash)))
    }

    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
        if let Some(bytes) = self.blobs.find(hash) {
            return Ok(bytes);
        }
        let sql = "SELECT bytes FROM duet_schema.blobs WHERE hash = $1";
        let rows = self.read_rows(sql, vec![Value::Bytes(hash.as_bytes().to_vec())], "reading a blob")?;
        let row = rows.first().ok_or(StoreError::NoSuchBlob { hash: *hash })?;
        let bytes = checked_blob(*hash, column(row, 0)?)?;
        self.blobs.keep(*hash, &bytes);
        Ok(bytes)
    }

    fn read_blobs_ahead(&self, hashes: &[BlobHash]) -> Result<(), StoreError> {
        let mut missing = self.blobs.missing(hashes);
        if missing.len() < 2 {
            return Ok(());
        }
        missing.truncate(BLOBS_AHEAD_MAX);
        let names = missing.iter().map(|hash| hash.as_bytes().to_vec()).collect();
        let sql = format!(
            "SELECT hash, bytes FROM duet_schema.blobs
             WHERE hash = ANY ($1) AND octet_length(bytes) <= {BLOB_BYTES_MAX}"
        );
        for row in &self.read_rows(&sql, vec![Value::ByteStrings(names)], "reading blobs")? {
            if let Some(hash) = BlobHash::from_slice(column(row, 0)?) {
                let bytes = checked_blob(hash, column(row, 1)?)?;
                self.blobs.keep(hash, &bytes);
            }
        }
        Ok(())
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM duet_schema.blobs WHERE hash = $1";
        let rows = self.read_rows(sql, vec![Value::Bytes(hash.as_bytes().to_vec())], "looking for a blob")?;
        Ok(!rows.is_empty())
    }

    fn note(&self, run: &RunId) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(ahead) = self.ahead_of(run) {
            return Ok(ahead.note());
        }
        let sql = "SELECT note, seal FROM duet_schema.notes WHERE run = $1";
        let rows = self.read_rows(sql, vec![Value::Text(run.to_string())], "reading a note")?;
        let Some(row) = rows.first() else { return Ok(None) };
        let note: Vec<u8> = column(row, 0)?;
        check_note(run, &note, column(row, 1)?)?;
        Ok(Some(note).filter(|note| !note.is_empty()))
    }

    fn set_note(&mut self, run: &RunId, epoch: Epoch, note: &[u8]) -> Result<(), StoreError> {
        self.write_note(run, epoch, note)
    }
}
