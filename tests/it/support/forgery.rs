//! Exported runs with other contents than their run had, whose hashes are right all the same.
//!
//! INVARIANT: the result is a whole file with a sound chain, as somebody would send it who knows
//! the formats.
//! It does not run anything. Read next: `../trust.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Append, Blob, BlobHash, Header, PackedValue, Record, RecordHash, RunId, Sequence, Store};
use preserves::IOValue;

/// The end of a file: its tag and its hash.
const END: usize = 40;

/// A file taken apart: the records of its one run, on its one branch, and their blobs.
pub(crate) struct Forgery {
    run: RunId,
    records: Vec<Record>,
    pub(crate) blobs: BTreeMap<BlobHash, Vec<u8>>,
    /// The names that blobs had in the file, by those that they have now.
    renamed: BTreeMap<BlobHash, BlobHash>,
}

impl Forgery {
    pub(crate) fn of(path: &Path) -> Self {
        let bytes = fs::read(path).expect("a file");
        let log = bytes[..bytes.len() - END].to_vec();
        let store = MemoryStore::open(SimulatedDisk::new(log, FaultPlan::default())).expect("a log");
        let run = store.runs().expect("runs").remove(0);
        let head = store.heads(&run).expect("heads").remove(0);
        let all = Sequence::FIRST..Sequence::new(1 << 40).expect("small");
        let records = store.read(&run, &head.branch, all).expect("records");
        let names = records.iter().flat_map(|record| record.blobs());
        let blobs = names.map(|name| (name, store.blob(&name).expect("a blob"))).collect();
        Self {
            run,
            records,
            blobs,
            renamed: BTreeMap::new(),
        }
    }

    /// Says how many records name a snapshot.
    pub(crate) fn snapshots(&self) -> usize {
        self.records
            .iter()
            .filter(|record| record.header().snapshot.is_some())
            .count()
    }

    /// Replaces a text by another of the same length in the blobs that `is_meant` finds, and the
    /// names of changed blobs wherever blobs have them; returns how many blobs have changed.
    pub(crate) fn replace(&mut self, from: &str, to: &str, is_meant: impl Fn(&[u8]) -> bool) -> usize {
        assert_eq!(from.len(), to.len());
        let mut changes = vec![(from.as_bytes().to_vec(), to.as_bytes().to_vec())];
        let mut count = 0;
        while let Some((from, to)) = changes.pop() {
            let touched: Vec<BlobHash> = self
                .blobs
                .iter()
                .filter(|(_, bytes)| has(bytes, &from))
                .map(|(name, _)| *name)
                .collect();
            for name in touched {
                if from.len() != 32 && !is_meant(&self.blobs[&name]) {
                    continue;
                }
                let bytes = replaced(&self.blobs.remove(&name).expect("it was there"), &from, &to);
                let now = BlobHash::of(&bytes);
                self.blobs.insert(now, bytes);
                changes.push((name.as_bytes().to_vec(), now.as_bytes().to_vec()));
                self.renamed.insert(name, now);
                count += 1;
            }
        }
        count
    }

    /// Replaces the snapshots' roots by other bytes.
    pub(crate) fn spoil_snapshots(&mut self) {
        for root in self.records.iter().filter_map(|record| record.header().snapshot) {
            let bytes = b"no snapshot".to_vec();
            self.renamed.insert(root, BlobHash::of(&bytes));
            self.blobs.insert(BlobHash::of(&bytes), bytes);
        }
    }

    fn name(&self, mut blob: BlobHash) -> BlobHash {
        while let Some(now) = self.renamed.get(&blob) {
            blob = *now;
        }
        blob
    }

    /// Writes the file; `change` makes the body of each record.
    pub(crate) fn write(&self, path: &Path, change: impl Fn(Sequence, IOValue) -> IOValue) {
        let mut store = MemoryStore::default();
        self.append(&mut store, change);
        let mut bytes = store.into_disk().bytes().to_vec();
        let hash = BlobHash::of(&bytes);
        bytes.extend_from_slice(b"DUETEND\n");
        bytes.extend_from_slice(hash.as_bytes());
        fs::write(path, bytes).expect("a file");
    }

    /// Makes a journal of it that nobody imported.
    pub(crate) fn put_into(&self, journal: &Path) {
        let mut store = SqliteStore::open(journal, "forger").expect("a journal");
        self.append(&mut store, |_, body| body);
    }

    fn append(&self, store: &mut dyn Store, change: impl Fn(Sequence, IOValue) -> IOValue) {
        let mut parent: Option<RecordHash> = None;
        let mut records = Vec::new();
        for record in &self.records {
            let old = record.header();
            let header = Header {
                parent,
                snapshot: old.snapshot.map(|root| self.name(root)),
                blobs: old.blobs.iter().map(|blob| self.name(*blob)).collect(),
                ..old.clone()
            };
            let body = PackedValue::from_value(&change(old.sequence, record.body())).expect("small");
            let made = Record::new(header, body).expect("a record");
            parent = Some(made.hash());
            records.push(made);
        }
        let blobs = self
            .blobs
            .values()
            .map(|bytes| Blob::new(bytes.clone()).expect("small"));
        let blobs: Vec<Blob> = blobs.collect();
        let append = Append {
            run: &self.run,
            branch: &records[0].header().branch,
            epoch: store.claim(&self.run, "forger").expect("it is empty"),
            expected_head: None,
            records: &records,
            blobs: &blobs,
            times: None,
            need: duet_journal::Need::Nothing,
            taken: &[],
        };
        store.append(append).expect("a chain");
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}
