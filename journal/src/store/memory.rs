//! A store in memory: a real log on a simulated disk, so that crashes can be tried.
//!
//! Owns the path from an append to a synced frame; `memory/disk.rs` has the faults,
//! `memory/log.rs` the bytes, `memory/index.rs` the lookups.
//! INVARIANT: one commit is one frame and one sync, so after any crash the log holds a prefix of
//! the commits, with every one that was acknowledged.
//!
//! Read next: `store/memory/disk.rs`.

mod disk;
mod index;
mod log;

pub use disk::{DiskFault, FaultPlan, Loss, SECTOR_BYTES, SimulatedDisk};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use self::index::{Index, Run};
use self::log::{Checksum, FrameBuilder, LogEntry};
use super::{Append, Claim, CommitTime, Head, HeadMove, Mark, Removal, Store, StoreError};
use super::{Tip, batch};
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::inbox::{Letter, LetterId, Need, REPLY_KEPT_MS, Ready, Taken};
use crate::owner;
use crate::parts::fetching;
use crate::record::{ClosedRecord, Record};

/// Room for the head of a branch in a frame.
const HEAD_ROOM_BYTES: usize = 256;

/// A store in memory.
pub struct MemoryStore {
    disk: SimulatedDisk,
    index: Index,
    /// The checksum of the last frame.
    last: Checksum,
    dropped_bytes: usize,
    /// Whether a write or sync failed, so that the disk may hold a commit the index does not know.
    in_doubt: bool,
}

impl Default for MemoryStore {
    /// Makes an empty store on a disk that does not fail.
    fn default() -> Self {
        Self::open(SimulatedDisk::default()).expect("a new disk without faults has an empty log")
    }
}

impl MemoryStore {
    /// Opens the log on `disk`, which may be empty; a frame that a crash left incomplete at the end
    /// is cut off.
    ///
    /// # Errors
    /// [`StoreError::NotAJournal`], [`StoreError::UnsupportedVersion`],
    /// [`StoreError::ChecksumMismatch`] for damage that is not at the end; [`StoreError::Io`] as
    /// the disk's plan has it. Only the last of these may have changed the disk.
    pub fn open(mut disk: SimulatedDisk) -> Result<Self, StoreError> {
        let mut index = Index::default();
        if !log::check_header(disk.bytes())? {
            begin(&mut disk).map_err(|source| StoreError::Io {
                doing: "beginning the log",
                source,
            })?;
        }
        let recovered = log::recover(disk.bytes())?;
        for frame in &recovered.frames {
            for entry in log::entries(disk.bytes(), frame) {
                index.apply(disk.bytes(), entry?)?;
            }
        }
        let dropped_bytes = disk.bytes().len() - recovered.end;
        if dropped_bytes > 0 {
            let cut = disk.cut(recovered.end).and_then(|()| disk.sync());
            cut.map_err(|source| StoreError::Io {
                doing: "cutting off an incomplete commit",
                source,
            })?;
        }
        Ok(Self {
            disk,
            index,
            last: recovered.last,
            dropped_bytes,
            in_doubt: false,
        })
    }

    /// Returns how many bytes of an incomplete commit were cut off on opening; 0 after an orderly
    /// end.
    pub fn dropped_bytes(&self) -> usize {
        self.dropped_bytes
    }

    /// Returns the disk, to look at.
    pub fn disk(&self) -> &SimulatedDisk {
        &self.disk
    }

    /// Gives the disk away, to be opened again or damaged.
    pub fn into_disk(self) -> SimulatedDisk {
        self.disk
    }

    fn run(&self, run: &RunId) -> Result<&Run, StoreError> {
        self.index
            .runs
            .get(run)
            .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    /// Finds a run, and checks that the store and the epoch permit writing to it.
    fn owned_run(&self, run: &RunId, held: Epoch) -> Result<&Run, StoreError> {
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        let found = self.run(run)?;
        batch::check_epoch(run, held, found.epoch)?;
        Ok(found)
    }

    /// Begins a frame of few bytes.
    fn frame(&self) -> FrameBuilder {
        FrameBuilder::after(self.last, 0)
    }

    fn check_blobs(&self, append: &Append<'_>, staged: &mut BTreeSet<BlobHash>) -> Result<(), StoreError> {
        staged.extend(append.brought().map(super::Blob::hash));
        let is_missing = |blob: &BlobHash| !staged.contains(blob) && !self.index.blobs.contains_key(blob);
        for record in append.records {
            if let Some(blob) = record.blobs().find(is_missing) {
                return Err(StoreError::MissingBlob {
                    record: record.hash(),
                    blob,
                });
            }
        }
        Ok(())
    }

    /// Makes a frame durable, then takes its entries into the index; `records` are those in the
    /// frame, in order.
    fn commit<'a>(
        &mut self,
        frame: FrameBuilder,
        mut records: impl Iterator<Item = &'a Record>,
    ) -> Result<(), StoreError> {
        let start = self.disk.bytes().len();
        let (bytes, frame) = frame.finish(start);
        let written = self.disk.write(start, bytes).and_then(|()| self.disk.sync());
        if let Err(source) = written {
            self.in_doubt = true;
            return Err(StoreError::Io {
                doing: "writing a commit",
                source,
            });
        }
        for entry in log::entries(self.disk.bytes(), &frame) {
            match entry? {
                LogEntry::Record { bytes, .. } => {
                    let record = records.next().expect("the frame holds the given records");
                    debug_assert_eq!(record.as_bytes(), &self.disk.bytes()[bytes.clone()]);
                    self.index.add_record(record, bytes)?;
                }
                entry @ (LogEntry::Claim { .. }
                | LogEntry::Time { .. }
                | LogEntry::Blob { .. }
                | LogEntry::Head { .. }
                | LogEntry::DropHead { .. }
                | LogEntry::DropRecord { .. }
                | LogEntry::DropBlob { .. }
                | LogEntry::Need { .. }
                | LogEntry::Letter { .. }
                | LogEntry::Taken { .. }
                | LogEntry::DropLetter { .. }
                | LogEntry::Worker { .. }) => {
                    self.index.apply(self.disk.bytes(), entry)?;
                }
            }
        }
        self.last = frame.checksum;
        Ok(())
    }

    fn commit_claim(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        let mut frame = self.frame();
        frame.claim(run, epoch, owner);
        self.commit(frame, std::iter::empty())
    }

    /// The head of a branch that a reader has named.
    fn known_head(&self, run: &RunId, branch: &BranchName) -> Result<&Head, StoreError> {
        let no_branch = || StoreError::NoSuchBranch {
            run: run.clone(),
            branch: branch.clone(),
        };
        self.run(run)?.heads.get(branch).ok_or_else(no_branch)
    }

    fn closed(&self, hash: &RecordHash) -> Result<ClosedRecord, StoreError> {
        let place = self.index.place(hash)?;
        super::checked_record(*hash, self.index.parent(place), self.bytes(&place.bytes), None)
    }

    fn bytes(&self, range: &Range<usize>) -> Vec<u8> {
        self.disk.bytes()[range.clone()].to_vec()
    }
}

fn begin(disk: &mut SimulatedDisk) -> std::io::Result<()> {
    disk.cut(0)?;
    disk.write(0, log::header())?;
    disk.sync()
}

/// Requires that a letter can be taken.
fn check_letter(name: &RunId, run: &Run, taken: &Taken) -> Result<(), StoreError> {
    let is_unread = run.inbox.get(&taken.letter).is_some_and(|(_, reply)| reply.is_none());
    is_unread.then_some(()).ok_or_else(|| StoreError::NoSuchLetter {
        run: name.clone(),
        letter: taken.letter,
    })
}

impl Store for MemoryStore {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        let found = self.claimed(run)?;
        let epoch = found.as_ref().map_or(Epoch(0), |found| found.epoch).next()?;
        if let Some(found) = found {
            batch::check_owner(run, &found, owner)?;
        }
        self.commit_claim(run, epoch, owner)?;
        Ok(epoch)
    }

    fn claimed(&self, run: &RunId) -> Result<Option<Claim>, StoreError> {
        let found = self.index.runs.get(run);
        Ok(found.map(|run| Claim {
            epoch: run.epoch,
            owner: run.owner.clone(),
            read_ms: owner::now_ms(),
        }))
    }

    fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        self.owned_run(run, epoch).map(drop)
    }

    fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        self.owned_run(run, epoch)?;
        self.commit_claim(run, epoch, owner)
    }

    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError> {
        let mut tips: BTreeMap<(&RunId, &BranchName), Tip> = BTreeMap::new();
        let mut needs: BTreeMap<(&RunId, &BranchName), Need> = BTreeMap::new();
        let mut blobs = BTreeSet::new();
        let records = appends.iter().flat_map(|append| append.records);
        let record_bytes = records.map(|record| record.as_bytes().len() + FrameBuilder::RECORD_ENTRY_BYTES);
        let mut frame = FrameBuilder::after(self.last, record_bytes.sum::<usize>() + HEAD_ROOM_BYTES);
        for append in appends {
            let run = self.owned_run(append.run, append.epoch)?;
            let found = tips.get(&(append.run, append.branch)).copied();
            let tip = batch::check(append, found.or(run.tip(append.branch)))?;
            self.check_blobs(append, &mut blobs)?;
            let is_known = |blob: &&super::Blob| self.index.blobs.contains_key(&blob.hash());
            append
                .brought()
                .filter(|blob| !is_known(blob))
                .for_each(|blob| frame.blob(blob));
            for (index, record) in append.records.iter().enumerate() {
                frame.record(record);
                // The store itself has no clock.
                if let Some(ms) = append.time(index, CommitTime::default()).ms() {
                    frame.time(record.hash(), ms);
                }
            }
            frame.head(append.run, append.branch, tip.hash);
            tips.insert((append.run, append.branch), tip);
            let needed = needs.insert((append.run, append.branch), append.need);
            if needed.unwrap_or(run.need(append.branch)) != append.need {
                frame.need(append.run, append.branch, append.need);
            }
            for taken in append.taken {
                check_letter(append.run, run, taken)?;
                frame.taken(append.run, taken);
            }
        }
        self.commit(frame, appends.iter().flat_map(|append| append.records))
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        let mut tips: BTreeMap<(&RunId, &BranchName), Tip> = BTreeMap::new();
        let mut frame = self.frame();
        for head_move in moves {
            let &HeadMove { run, branch, to, .. } = head_move;
            let stored = self.owned_run(run, head_move.epoch)?.tip(branch);
            let found = tips.get(&(run, branch)).copied().or(stored);
            batch::check_head(run, branch, head_move.expected_head, found)?;
            let target = self.record(&to)?;
            if target.header().run != *run {
                return Err(StoreError::NoSuchRecord { hash: to });
            }
            frame.head(run, branch, to);
            if self.run(run)?.need(branch) != Need::Nothing {
                frame.need(run, branch, Need::Nothing);
            }
            let sequence = target.header().sequence;
            tips.insert((run, branch), Tip { hash: to, sequence });
        }
        self.commit(frame, std::iter::empty())
    }

    fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> Result<(), StoreError> {
        if self.owned_run(run, epoch)?.need(branch) == need {
            return Ok(());
        }
        let mut frame = self.frame();
        frame.need(run, branch, need);
        self.commit(frame, std::iter::empty())
    }

    fn need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError> {
        Ok(self.run(run)?.need(branch))
    }

    fn ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
        Ok(self.index.ready(now_ms, max))
    }

    fn put(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        let found = self.run(run)?;
        if !found.heads.contains_key(&letter.branch) {
            return Err(StoreError::NoSuchRun { run: run.clone() });
        }
        if found.inbox.contains_key(&letter.id) {
            return Ok(());
        }
        let mut frame = self.frame();
        for (id, (sent, reply)) in &found.inbox {
            if reply.is_some() && sent.sent_ms.saturating_add(REPLY_KEPT_MS) < letter.sent_ms {
                frame.drop_letter(run, *id);
            }
        }
        frame.letter(run, letter);
        self.commit(frame, std::iter::empty())
    }

    fn letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
        let Some(found) = self.index.runs.get(run) else {
            return Ok(Vec::new());
        };
        let mut letters: Vec<Letter> = found
            .unread()
            .filter(|letter| letter.branch == *branch)
            .cloned()
            .collect();
        letters.sort_by_key(|letter| (letter.sent_ms, letter.id));
        Ok(letters)
    }

    fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
        check_letter(run, self.owned_run(run, epoch)?, taken)?;
        let mut frame = self.frame();
        frame.taken(run, taken);
        self.commit(frame, std::iter::empty())
    }

    fn reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.index.runs.get(run).and_then(|run| run.inbox.get(&letter));
        Ok(found.and_then(|(_, reply)| reply.clone()))
    }

    fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
        if self.reply(run, taken.letter)?.is_none() {
            return Ok(false);
        }
        let mut frame = self.frame();
        frame.taken(run, taken);
        self.commit(frame, std::iter::empty())?;
        Ok(true)
    }

    fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
        if self.reply(run, letter)?.is_none() {
            return Ok(());
        }
        let mut frame = self.frame();
        frame.drop_letter(run, letter);
        self.commit(frame, std::iter::empty())
    }

    fn note_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError> {
        let mut frame = self.frame();
        frame.worker(name, told);
        self.commit(frame, std::iter::empty())
    }

    fn workers(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.index.workers.values().cloned().collect())
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        let run = self.owned_run(removal.run, removal.epoch)?;
        let stays = |head: &&Head| !removal.branches.contains(&head.branch);
        let staying: BTreeSet<RecordHash> = run.heads.values().filter(stays).map(|head| head.hash).collect();
        let going = self.index.with_what_hangs_on(removal.records);
        batch::check_removal(going.iter(), &staying)?;
        let mut frame = self.frame();
        removal
            .branches
            .iter()
            .for_each(|branch| frame.drop_head(removal.run, branch));
        going.iter().for_each(|record| frame.drop_record(*record));
        removal.blobs.iter().for_each(|blob| frame.drop_blob(*blob));
        self.commit(frame, std::iter::empty())
    }

    fn mark(&self) -> Result<Mark, StoreError> {
        // Only this store writes its disk, so nothing comes between.
        Ok(Mark::default())
    }

    fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        let begun = self.index.runs.iter().filter(|(_, run)| !run.heads.is_empty());
        Ok(begun.map(|(name, _)| name.clone()).collect())
    }

    fn has_run(&self, run: &RunId) -> Result<bool, StoreError> {
        Ok(self.index.runs.get(run).is_some_and(|run| !run.heads.is_empty()))
    }

    fn heads(&self, run: &RunId) -> Result<Vec<Head>, StoreError> {
        Ok(self.run(run)?.heads.values().cloned().collect())
    }

    fn head(&self, run: &RunId, branch: &BranchName) -> Result<Option<Head>, StoreError> {
        Ok(self.run(run)?.heads.get(branch).cloned())
    }

    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        super::one_by_one(self, run, branch, range)?.collect()
    }

    fn read_closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        let names = self.index.chain(self.known_head(run, branch)?, &range)?;
        names.iter().map(|hash| self.closed(hash)).collect()
    }

    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<CommitTime>, StoreError> {
        let names = self.index.chain(self.known_head(run, branch)?, &range)?;
        let time = |hash| self.index.times.get(hash).copied().unwrap_or_default();
        Ok(names.iter().map(time).collect())
    }

    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError> {
        super::open_record(self.closed(hash)?, &mut fetching(|hash| self.blob(hash)))
    }

    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
        let bytes = self
            .index
            .blobs
            .get(hash)
            .ok_or(StoreError::NoSuchBlob { hash: *hash })?;
        super::checked_blob(*hash, self.bytes(bytes))
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        Ok(self.index.blobs.contains_key(hash))
    }
}
