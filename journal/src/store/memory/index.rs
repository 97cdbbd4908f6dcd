//! The lookups of the memory store: where in the log records and blobs are, who owns runs, where
//! heads stand.
//!
//! INVARIANT: it is a function of the log's frames; recovery and commit fill it through the same
//! door, except that commit need not decode the records that it has just written.
//! It holds no bytes of records and blobs.
//! Read next: `store/memory.rs`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::log::LogEntry;
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::inbox::{Letter, LetterId, Need, Ready};
use crate::owner;
use crate::record::{ClosedRecord, Record, RecordError, name};
use crate::store::Tip;
use crate::store::{Claim, CommitTime, Head, StoreError};

/// Where a record is, and the way to its ancestors.
pub(super) struct Node {
    pub(super) bytes: Range<usize>,
    hash: RecordHash,
    sequence: Sequence,
    parent: Option<NodeId>,
    /// A remoter ancestor, so placed that every ancestor is a logarithmic number of steps away; the
    /// record itself if it has no parent.
    ///
    /// Source: Myers, "An applicative random-access stack" (1983).
    jump: NodeId,
}

/// The position of a place among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeId(usize);

/// A run.
#[derive(Default)]
pub(super) struct Run {
    pub(super) epoch: Epoch,
    pub(super) owner: String,
    pub(super) heads: BTreeMap<BranchName, Head>,
    /// Branches that need something.
    pub(super) needs: BTreeMap<BranchName, Need>,
    /// The letters, each with its reply once it is taken.
    pub(super) inbox: BTreeMap<LetterId, (Letter, Option<Vec<u8>>)>,
}

impl Run {
    /// What a branch needs.
    pub(super) fn need(&self, branch: &BranchName) -> Need {
        self.needs.get(branch).copied().unwrap_or_default()
    }

    /// The letters that nobody has taken.
    pub(super) fn unread(&self) -> impl Iterator<Item = &Letter> {
        let inbox = self.inbox.values();
        inbox.filter(|(_, reply)| reply.is_none()).map(|(letter, _)| letter)
    }

    /// Where a branch stands.
    pub(super) fn tip(&self, branch: &BranchName) -> Option<Tip> {
        self.heads.get(branch).map(|head| head.tip())
    }
}

/// The records by name. Hardly anyone asks for another one than the newest, so the names wait to be
/// listed until somebody does.
#[derive(Default)]
struct Names {
    listed: BTreeMap<RecordHash, NodeId>,
    /// How many places have been looked at.
    looked_at: usize,
}

impl Names {
    fn list(&mut self, places: &Places) -> &mut BTreeMap<RecordHash, NodeId> {
        let unlisted = places.from(self.looked_at);
        self.listed.extend(unlisted.map(|(id, place)| (place.hash, id)));
        self.looked_at = places.len();
        &mut self.listed
    }
}

/// The places of the records in the order of their coming; in pages, so that none of many is ever
/// moved.
#[derive(Default)]
struct Places(Vec<Vec<Node>>);

/// The number of places in a page.
const PAGE: usize = 1024;

impl Places {
    fn len(&self) -> usize {
        let last = self.0.last().map_or(0, Vec::len);
        self.0.len().saturating_sub(1) * PAGE + last
    }

    fn get(&self, id: NodeId) -> &Node {
        &self.0[id.0 / PAGE][id.0 % PAGE]
    }

    fn push(&mut self, place: Node) {
        match self.0.last_mut() {
            Some(page) if page.len() < PAGE => page.push(place),
            Some(_) => {
                let mut page = Vec::with_capacity(PAGE);
                page.push(place);
                self.0.push(page);
            }
            // Many a store has few.
            None => self.0.push(vec![place]),
        }
    }

    /// Lists the places from a number on, each with its number.
    fn from(&self, number: usize) -> impl Iterator<Item = (NodeId, &Node)> {
        let pages = self.0.get(number / PAGE..).unwrap_or_default();
        let places = pages.iter().flatten().skip(number % PAGE);
        (number..).map(NodeId).zip(places)
    }
}

/// Everything that can be looked up.
#[derive(Default)]
pub(super) struct Index {
    pub(super) runs: BTreeMap<RunId, Run>,
    places: Places,
    names: RefCell<Names>,
    /// The record at the last place, unless it was removed.
    newest: Option<RecordHash>,
    pub(super) blobs: BTreeMap<BlobHash, Range<usize>>,
    /// When other stores committed records, as far as the writer said so.
    pub(super) times: BTreeMap<RecordHash, CommitTime>,
    /// What workers say, by their names.
    pub(super) workers: BTreeMap<String, String>,
}

impl Index {
    /// Takes in one entry of a complete frame.
    ///
    /// # Errors
    /// [`StoreError::BadRecord`], [`StoreError::Inconsistent`].
    pub(super) fn apply(&mut self, log: &[u8], entry: LogEntry<'_>) -> Result<(), StoreError> {
        match entry {
            LogEntry::Claim { run, epoch, owner } => {
                let run = self.runs.entry(run).or_default();
                run.epoch = epoch;
                owner.clone_into(&mut run.owner);
            }
            LogEntry::Time { hash, time } => {
                self.times.entry(hash).or_insert(time);
            }
            LogEntry::Record { parent, bytes } => {
                let content = log[bytes.clone()].to_vec();
                let hash = name(&content, parent);
                let record = ClosedRecord::decode_named(hash, parent, content, None).and_then(checked);
                let record = record.map_err(|source| StoreError::BadRecord { hash, source })?;
                self.add_record(&record, bytes)?;
            }
            LogEntry::Blob { hash, bytes } => {
                self.blobs.entry(hash).or_insert(bytes);
            }
            LogEntry::Head { run, branch, hash } => {
                let sequence = self.place(&hash)?.sequence;
                let head = Head {
                    branch: branch.clone(),
                    sequence,
                    hash,
                };
                self.runs.entry(run).or_default().heads.insert(branch, head);
            }
            LogEntry::DropHead { run, branch } => {
                let run = self.runs.entry(run).or_default();
                run.heads.remove(&branch);
                run.needs.remove(&branch);
                run.inbox.retain(|_, (letter, _)| letter.branch != branch);
            }
            // Its place stays empty: places are counted.
            LogEntry::DropRecord { hash } => {
                self.names.get_mut().list(&self.places).remove(&hash);
                self.newest = self.newest.filter(|newest| *newest != hash);
                self.times.remove(&hash);
            }
            LogEntry::DropBlob { hash } => {
                self.blobs.remove(&hash);
            }
            entry @ (LogEntry::Need { .. }
            | LogEntry::Letter { .. }
            | LogEntry::Taken { .. }
            | LogEntry::DropLetter { .. }
            | LogEntry::Worker { .. }) => self.apply_beside(entry),
        }
        Ok(())
    }

    /// Lists branches that can go on and that nobody owns, those with the earliest moments first.
    pub(super) fn ready(&self, now_ms: u64, max: usize) -> Vec<Ready> {
        let (mut due, mut written) = (Vec::new(), BTreeSet::new());
        for (name, run) in &self.runs {
            let owner = Claim {
                epoch: run.epoch,
                owner: run.owner.clone(),
                read_ms: owner::now_ms(),
            };
            if owner.living().is_some() {
                continue;
            }
            let ready = |branch: &BranchName| Ready {
                run: name.clone(),
                branch: branch.clone(),
            };
            for (branch, need) in &run.needs {
                if let Need::Moment(at_ms) = need
                    && *at_ms <= now_ms
                {
                    due.push((*at_ms, ready(branch)));
                }
            }
            written.extend(run.unread().map(|letter| ready(&letter.branch)));
        }
        due.sort();
        let due = due.into_iter().map(|(_, ready)| ready).collect();
        Ready::join(due, written.into_iter().collect(), max)
    }

    /// Takes in an entry about what stands beside the records.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` has taken in the others")]
    fn apply_beside(&mut self, entry: LogEntry<'_>) {
        match entry {
            LogEntry::Need { run, branch, need } => {
                let run = self.runs.entry(run).or_default();
                match need {
                    Need::Nothing => drop(run.needs.remove(&branch)),
                    Need::Moment(_) | Need::Input => drop(run.needs.insert(branch, need)),
                }
            }
            LogEntry::Letter { run, letter } => {
                let inbox = &mut self.runs.entry(run).or_default().inbox;
                inbox.entry(letter.id).or_insert((letter, None));
            }
            LogEntry::Taken { run, taken } => {
                let inbox = &mut self.runs.entry(run).or_default().inbox;
                if let Some((letter, reply)) = inbox.get_mut(&taken.letter) {
                    letter.body.clear();
                    *reply = Some(taken.reply);
                }
            }
            LogEntry::DropLetter { run, letter } => {
                self.runs.entry(run).or_default().inbox.remove(&letter);
            }
            LogEntry::Worker { name, told } if told.is_empty() => {
                self.workers.remove(&name);
            }
            LogEntry::Worker { name, told } => {
                self.workers.insert(name, told);
            }
            _ => {}
        }
    }

    /// Takes in a record whose bytes stand at `bytes` of the log.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`].
    pub(super) fn add_record(&mut self, record: &ClosedRecord, bytes: Range<usize>) -> Result<(), StoreError> {
        let (header, hash) = (record.header(), record.hash());
        // What stands on the newest record cannot have come before.
        let is_new = header.parent.is_some() && header.parent == self.newest;
        if !is_new && self.find(&hash).is_ok() {
            return Ok(());
        }
        let new = NodeId(self.places.len());
        let parent = header.parent.map(|parent| self.find(&parent)).transpose()?;
        if parent.is_some_and(|parent| self.at(parent).sequence.next() != Some(header.sequence)) {
            return Err(StoreError::Inconsistent {
                what: "a record's position does not follow its parent's",
            });
        }
        let jump = parent.map_or(new, |parent| self.jump_from(parent));
        debug_assert!(jump.0 <= new.0, "a jump leads back");
        self.newest = Some(hash);
        self.places.push(Node {
            bytes,
            hash,
            sequence: header.sequence,
            parent,
            jump,
        });
        Ok(())
    }

    /// Finds a record.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRecord`].
    pub(super) fn place(&self, hash: &RecordHash) -> Result<&Node, StoreError> {
        self.find(hash).map(|place| self.at(place))
    }

    /// Names those of some records that are there, and with them all that would lead to them.
    pub(super) fn with_what_hangs_on(&self, records: &[RecordHash]) -> Vec<RecordHash> {
        let mut found: BTreeSet<NodeId> = records.iter().filter_map(|hash| self.find(hash).ok()).collect();
        // Parents come first.
        for (id, place) in self.places.from(0) {
            let hangs = place.parent.is_some_and(|parent| found.contains(&parent));
            if hangs && self.find(&place.hash).is_ok_and(|there| there == id) {
                found.insert(id);
            }
        }
        found.iter().map(|id| self.at(*id).hash).collect()
    }

    /// Names the parent of the record at a place.
    pub(super) fn parent(&self, place: &Node) -> Option<RecordHash> {
        place.parent.map(|parent| self.at(parent).hash)
    }

    fn find(&self, hash: &RecordHash) -> Result<NodeId, StoreError> {
        // Mostly the newest is sought, to put its child behind it.
        let newest = NodeId(self.places.len().saturating_sub(1));
        if self.newest == Some(*hash) {
            return Ok(newest);
        }
        let place = self.names.borrow_mut().list(&self.places).get(hash).copied();
        place.ok_or(StoreError::NoSuchRecord { hash: *hash })
    }

    fn at(&self, place: NodeId) -> &Node {
        self.places.get(place)
    }

    /// Where a child of `parent` jumps: two equal jumps in a row become one.
    fn jump_from(&self, parent: NodeId) -> NodeId {
        let near = self.at(parent);
        let far = self.at(near.jump);
        let farther = self.at(far.jump);
        let length = |from: &Node, to: &Node| from.sequence.number() - to.sequence.number();
        if length(near, far) == length(far, farther) {
            far.jump
        } else {
            parent
        }
    }

    /// Finds the ancestor of `from` at position `at`, or `from` itself.
    fn ancestor(&self, from: NodeId, at: Sequence) -> NodeId {
        let mut found = from;
        while self.at(found).sequence > at {
            let place = self.at(found);
            let jumps_past = self.at(place.jump).sequence < at;
            found = place.parent.filter(|_| jumps_past).unwrap_or(place.jump);
        }
        found
    }

    /// Names the records of a chain at the positions in `range`, oldest first, as far as they
    /// exist.
    pub(super) fn chain(&self, head: &Head, range: &Range<Sequence>) -> Result<Vec<RecordHash>, StoreError> {
        let mut hashes = Vec::new();
        let Some(last) = range
            .end
            .number()
            .checked_sub(1)
            .map(|last| last.min(head.sequence.number()))
        else {
            return Ok(hashes);
        };
        let newest = self.find(&head.hash)?;
        let mut next = Some(self.ancestor(newest, Sequence::new(last).unwrap_or(head.sequence)));
        while let Some(place) = next.map(|place| self.at(place)) {
            if place.sequence < range.start {
                break;
            }
            hashes.push(place.hash);
            next = place.parent;
        }
        hashes.reverse();
        Ok(hashes)
    }
}

/// Checks the body of a record, unless it is in parts, which may come later in the log.
fn checked(record: ClosedRecord) -> Result<ClosedRecord, RecordError> {
    if record.is_in_parts() {
        Ok(record)
    } else {
        record.open().map(Record::close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_their_numbers_on_whichever_page() {
        let mut places = Places::default();
        for number in 0..3 * PAGE + 7 {
            assert_eq!(places.len(), number);
            places.push(Node {
                bytes: number..number + 1,
                hash: RecordHash([0; 32]),
                sequence: Sequence::FIRST,
                parent: None,
                jump: NodeId(number),
            });
        }
        for from in [0, 1, PAGE - 1, PAGE, 2 * PAGE + 5, 3 * PAGE + 6, 3 * PAGE + 7, 4 * PAGE] {
            let listed: Vec<usize> = places.from(from).map(|(id, _)| id.0).collect();
            let expected: Vec<usize> = (from..places.len()).collect();
            assert_eq!(listed, expected);
            assert!(
                places
                    .from(from)
                    .all(|(id, place)| place.jump == id && places.get(id).jump == id)
            );
        }
    }
}
