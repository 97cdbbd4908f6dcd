//! The writer's cache between commits, so that a commit reads nothing that it wrote itself.
//!
//! Owns the choice of a new record's key and jump, and the index of names.
//! INVARIANT: the cache agrees with the tables. The writer reads it again after a commit that
//! failed. When other processes have written, it asks for the epoch of a run again before it trusts
//! what it knows of the run: nobody else can have changed that under the same epoch.
//!
//! It neither begins nor ends a transaction.
//! Read next: `store/sqlite.rs`.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::chain::{self, Link};
use super::moment::{self, Moment};
use super::row::{Branch, Run, Workspace, failed, optional};
use super::seal::seal;
use super::standby;
use super::tail::Durable;
use super::writing::{HeadRow, Writing};
use crate::identity::{BranchName, Epoch, RecordHash, RunId};
use crate::inbox::Need;
use crate::record::Record;
use crate::store::Tip;
use crate::store::{CommitTime, Head, StoreError};

/// How many records are named only by themselves before their names are indexed.
const INDEX_BATCH: i64 = 4096;

/// The maximum length of records that are read because no index has their names, in bytes. A
/// process that would read more indexes the names, so that the next one reads none. Short programs
/// leave a few records each.
const SCAN_LIMIT_BYTES: i64 = 256 << 10;

/// What the writer remembers.
#[derive(Debug)]
pub(super) struct Recent {
    /// As [`version`] of the tables that this was read from.
    version: i64,
    /// The greatest key.
    newest: i64,
    /// The greatest key whose record's name is indexed.
    indexed: i64,
    /// The records whose names are not indexed, once a caller has looked for one.
    unindexed: Option<BTreeMap<RecordHash, i64>>,
    /// How many bytes of records were read to know those.
    scanned_bytes: i64,
    /// The records that were inserted since and have no child yet.
    leaves: BTreeMap<i64, Spine>,
    runs: Vec<KnownRun>,
    /// Where each stands among `runs`.
    places: BTreeMap<RunId, RunPlace>,
    /// The run that was looked for last: runs that commit together come in the same order each
    /// time.
    last: RunPlace,
}

/// Where what is known of a run stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunPlace(usize);

/// Where a branch stands.
pub(super) struct BranchState {
    pub(super) run: RunPlace,
    pub(super) epoch: Epoch,
    /// `None` if there is no such branch.
    pub(super) tip: Option<StoredTip>,
}

/// A branch's newest record.
#[derive(Clone, Copy)]
pub(super) struct StoredTip {
    pub(super) tip: Tip,
    /// The record's key.
    pub(super) record: i64,
}

/// A run's row, and those of its branches that were looked for.
#[derive(Debug)]
struct KnownRun {
    run: Run,
    branches: BTreeMap<BranchName, Branch>,
    /// Whether these are all its branches.
    is_complete: bool,
    /// The needs of those of its branches that were written to.
    needs: BTreeMap<BranchName, Need>,
    /// The [`version`] of the tables in which the run's row was this one.
    version: i64,
}

impl Recent {
    /// Reads the cache from the tables.
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        // Before the keys: another process may write between the two, and must then be noticed.
        let version = version(connection)?;
        let newest = optional::<Option<i64>>(connection, "SELECT max(id) FROM records", [], "reading the newest key")?;
        let indexed = Workspace::read(connection)?.indexed;
        Ok(Self {
            version,
            newest: newest.flatten().unwrap_or(0),
            indexed,
            unindexed: None,
            scanned_bytes: 0,
            leaves: BTreeMap::new(),
            runs: Vec::new(),
            places: BTreeMap::new(),
            last: RunPlace::default(),
        })
    }

    /// Reads again what may have changed if anyone else has written.
    pub(super) fn refresh(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let version = version(connection)?;
        if version != self.version {
            let Self { newest, indexed, .. } = Self::read(connection)?;
            (self.version, self.newest, self.indexed) = (version, newest, indexed);
            (self.unindexed, self.scanned_bytes) = (None, 0);
        }
        Ok(())
    }

    /// Says whether the writer has seen this epoch of a run, and nobody else has written since.
    pub(super) fn is_sure(&self, connection: &Connection, run: &RunId, epoch: Epoch) -> Result<bool, StoreError> {
        let Some(place) = self.places.get(run) else {
            return Ok(false);
        };
        let known = &self.runs[place.0];
        Ok(known.run.epoch == epoch && known.version == version(connection)?)
    }

    /// Takes note of a run's row as it was just written.
    pub(super) fn note_run(&mut self, run: Run) {
        if let Some(place) = self.places.get(&run.name) {
            let known = &mut self.runs[place.0];
            (known.run, known.version) = (run, self.version);
        }
    }

    /// Finds a run's epoch, where one of its branches stands, and the key of the record there; it
    /// trusts the absence of a branch only if the run's row counts no more than can be seen.
    pub(super) fn branch(
        &mut self,
        writing: &mut Writing<'_>,
        run: &RunId,
        branch: &BranchName,
    ) -> Result<BranchState, StoreError> {
        let run = self.run(writing, run)?;
        let known = &mut self.runs[run.0];
        if !known.is_complete && !known.branches.contains_key(branch) {
            let connection = writing.tables()?;
            match Branch::find(connection, &known.run, branch)? {
                Some(found) => drop(known.branches.insert(branch.clone(), found)),
                None => known.complete(connection)?,
            }
        }
        Ok(BranchState {
            run,
            epoch: known.run.epoch,
            tip: known.branches.get(branch).map(|branch| StoredTip {
                tip: branch.tip(),
                record: branch.record,
            }),
        })
    }

    fn run(&mut self, writing: &mut Writing<'_>, run: &RunId) -> Result<RunPlace, StoreError> {
        let next = RunPlace(self.last.0 + 1);
        let is_next = self.runs.get(next.0).is_some_and(|known| known.run.name == *run);
        if let Some(place) = is_next.then_some(next).or_else(|| self.places.get(run).copied()) {
            self.last = place;
            if self.runs[place.0].version != self.version {
                self.look_again(writing.tables()?, place)?;
            }
            return Ok(place);
        }
        let known = KnownRun {
            run: Run::read(writing.tables()?, run)?,
            branches: BTreeMap::new(),
            is_complete: false,
            needs: BTreeMap::new(),
            version: self.version,
        };
        let place = RunPlace(self.runs.len());
        self.runs.push(known);
        self.places.insert(run.clone(), place);
        Ok(place)
    }

    /// Reads a run's row again, and its branches when they are needed.
    fn look_again(&mut self, connection: &Connection, place: RunPlace) -> Result<(), StoreError> {
        let known = &mut self.runs[place.0];
        let run = Run::read(connection, &known.run.name)?;
        known.branches.clear();
        known.needs.clear();
        known.is_complete = false;
        if run.epoch != known.run.epoch {
            // Somebody else has claimed it, and its newest records may have got children.
            self.leaves.clear();
        }
        (known.run, known.version) = (run, self.version);
        Ok(())
    }

    /// Writes where a branch stands from now on; a new one is counted in its run's row.
    pub(super) fn write_branch<'a>(
        &mut self,
        writing: &mut Writing<'a>,
        run: RunPlace,
        branch: &'a BranchName,
        newest: StoredTip,
    ) -> Result<(), StoreError> {
        let StoredTip { tip, record } = newest;
        debug_assert!(record <= self.newest, "a head names a record that the tables have");
        let known = &mut self.runs[run.0];
        if let Some(place) = known.branches.get_mut(branch) {
            (place.head.sequence, place.head.hash, place.record) = (tip.sequence, tip.hash, record);
            place.commits = place.commits.saturating_add(1);
            writing.head(HeadRow {
                run: known.run.id,
                branch,
                tip,
                record,
                commits: place.commits,
                seal: place.with_fields(&known.run, seal),
            });
            return Ok(());
        }
        let head = Head {
            branch: branch.clone(),
            sequence: tip.sequence,
            hash: tip.hash,
        };
        let new = Branch {
            head,
            record,
            commits: 1,
        };
        let connection = writing.tables()?;
        new.insert(connection, &known.run)?;
        known.run.branches = known.run.branches.saturating_add(1);
        known.run.write(connection)?;
        known.branches.insert(branch.clone(), new);
        Ok(())
    }

    /// The row of a run.
    pub(super) fn row(&self, run: RunPlace) -> &Run {
        &self.runs[run.0].run
    }

    /// Writes what a branch needs from now on, if that is something else than before.
    pub(super) fn write_need(
        &mut self,
        writing: &mut Writing<'_>,
        run: RunPlace,
        branch: &BranchName,
        need: Need,
    ) -> Result<(), StoreError> {
        let known = &mut self.runs[run.0];
        if known.needs.get(branch) == Some(&need) {
            return Ok(());
        }
        let connection = writing.tables()?;
        if standby::need(connection, &known.run, branch)? != need {
            standby::write_need(connection, &known.run, branch, need)?;
        }
        known.needs.insert(branch.clone(), need);
        Ok(())
    }

    /// Where a branch stands that a commit has set, as far as the writer remembers.
    pub(super) fn standing(&self, run: &RunId, branch: &BranchName) -> Option<Durable> {
        let place = self.places.get(run)?;
        let found = self.runs.get(place.0)?.branches.get(branch)?;
        Some(Durable::of(run, found))
    }

    /// Stores a record that follows `parent`, unless it is there already, and returns its key.
    pub(super) fn insert<'a>(
        &mut self,
        writing: &mut Writing<'a>,
        parent: Option<i64>,
        record: &'a Record,
        time: CommitTime,
    ) -> Result<i64, StoreError> {
        let hash = record.hash();
        let childless = parent.and_then(|parent| self.leaves.remove(&parent));
        // Going back and doing the same again makes the same record; the parent then has a child.
        if childless.is_none()
            && let Some(key) = self.find(writing.tables()?, &hash)?
        {
            return Ok(key);
        }
        let key = self.newest.checked_add(1).ok_or(StoreError::Inconsistent {
            what: "the records' keys are used up",
        })?;
        debug_assert!(parent.is_none_or(|parent| parent < key), "a parent's key is the lesser");
        let spine = match (childless, parent) {
            (Some(spine), _) => spine,
            (None, Some(parent)) => Spine::of(writing.tables()?, parent)?,
            (None, None) => Spine::default(),
        };
        let sequence = record.header().sequence.number().cast_signed();
        let moment = Moment::of(time);
        let link = Link {
            key,
            sequence,
            parent,
            jump: spine.jump(key),
            time: moment.encode(sequence, spine.moment),
            hash,
        };
        let spine = spine.grow((key, sequence), moment);
        writing.record(link, record);
        self.newest = key;
        self.leaves.insert(key, spine);
        if let Some(unindexed) = &mut self.unindexed {
            unindexed.insert(hash, key);
        }
        Ok(key)
    }

    /// Finds a record's key by its name.
    pub(super) fn find(&mut self, connection: &Connection, hash: &RecordHash) -> Result<Option<i64>, StoreError> {
        if let Some(key) = chain::find_indexed(connection, hash)? {
            return Ok(Some(key));
        }
        if self.unindexed.is_none() {
            let (names, length_bytes) = chain::names_after(connection, self.indexed)?;
            (self.unindexed, self.scanned_bytes) = (Some(names), length_bytes);
        }
        Ok(self.unindexed.as_ref().and_then(|names| names.get(hash)).copied())
    }

    /// Indexes the names of the newest records if they have become many, or reading them took long.
    pub(super) fn index_names(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if self.newest.saturating_sub(self.indexed) < INDEX_BATCH && self.scanned_bytes < SCAN_LIMIT_BYTES {
            return Ok(());
        }
        let sql = "INSERT INTO hashes (prefix, record)
             SELECT substr(hash, 1, 8) AS prefix, id FROM records WHERE id > ?1 AND id <= ?2 ORDER BY prefix";
        let inserted = connection
            .prepare_cached(sql)
            .and_then(|mut s| s.execute([self.indexed, self.newest]));
        inserted.map_err(failed("indexing records"))?;
        Workspace {
            indexed: self.newest,
            ..Workspace::read(connection)?
        }
        .write(connection)?;
        self.indexed = self.newest;
        (self.unindexed, self.scanned_bytes) = (None, 0);
        Ok(())
    }
}

/// A number that changes when another connection has written, and only then.
fn version(connection: &Connection) -> Result<i64, StoreError> {
    let asked = connection
        .prepare_cached("PRAGMA data_version")
        .and_then(|mut statement| statement.query_one([], |row| row.get(0)));
    asked.map_err(failed("asking whether anyone else has written"))
}

impl KnownRun {
    fn complete(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let all = Branch::list(connection, &self.run)?;
        let named = all.into_iter().map(|branch| (branch.head.branch.clone(), branch));
        self.branches = named.collect();
        self.is_complete = true;
        Ok(())
    }
}

/// Keys and positions of the records that lead by jumps from the first of a chain to one of its
/// records, which comes last.
///
/// Source: Myers, "An applicative random-access stack" (1983).
#[derive(Debug, Default)]
struct Spine {
    way: Vec<(i64, i64)>,
    /// When that record was committed.
    moment: Moment,
}

impl Spine {
    /// Reads the spine of the record at `key`.
    fn of(connection: &Connection, key: i64) -> Result<Self, StoreError> {
        let mut link = Link::expect(connection, key)?;
        let moment = moment::of_record(connection, link)?;
        let mut way = vec![(link.key, link.sequence)];
        while link.jump != link.key {
            let next = Link::expect(connection, link.jump)?;
            if next.sequence >= link.sequence {
                return Err(chain::BROKEN);
            }
            link = next;
            way.push((link.key, link.sequence));
        }
        way.reverse();
        Ok(Self { way, moment })
    }

    /// Says whether the last two jumps are equal; a child's then become one.
    fn has_equal_jumps(&self) -> bool {
        matches!(*self.way.as_slice(), [.., far, near, parent] if parent.1 - near.1 == near.1 - far.1)
    }

    /// Returns where a child with this key jumps.
    fn jump(&self, key: i64) -> i64 {
        match *self.way.as_slice() {
            [] => key,
            [.., far, _, _] if self.has_equal_jumps() => far.0,
            [.., parent] => parent.0,
        }
    }

    /// Returns the spine of a child, given its key and position.
    fn grow(mut self, child: (i64, i64), moment: Moment) -> Self {
        if self.has_equal_jumps() {
            self.way.truncate(self.way.len() - 2);
        }
        self.way.push(child);
        Self { moment, ..self }
    }
}
