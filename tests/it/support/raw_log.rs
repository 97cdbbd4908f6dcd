//! The log in an exported run, taken apart and put together again with other contents.
//!
//! INVARIANT: checksums, names of blobs and the chain of names are right whatever was changed, as
//! in a file of somebody who knows the format.
//! It does not know what records mean. Read next: `../trust/parts.rs`.
//!
//! Source: `journal/FORMAT.md`, "Log".

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use duet_journal::{BlobHash, RecordHash};
use twox_hash::XxHash3_64;

/// The header of a log, and the tag and the hash at the end of a file.
const HEADER: usize = 12;
const END: usize = 40;

/// Magic bytes, checksum, length, the checksum before.
const PREFIX: usize = 28;

/// One thing that a commit did: its code and its fields.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) code: u8,
    pub(crate) fields: Vec<Vec<u8>>,
}

/// A log, by commits.
pub(crate) struct RawLog {
    header: Vec<u8>,
    pub(crate) commits: Vec<Vec<Entry>>,
}

/// Names a record that follows another.
fn following(parent: RecordHash, bytes: &[u8]) -> RecordHash {
    let name = blake3::keyed_hash(parent.as_bytes(), bytes);
    RecordHash::from_slice(name.as_bytes()).expect("32 bytes")
}

fn number(bytes: &[u8]) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"))).expect("small")
}

impl RawLog {
    /// Takes an exported file apart.
    pub(crate) fn of(path: &Path) -> Self {
        let bytes = fs::read(path).expect("a file");
        let mut rest = &bytes[HEADER..bytes.len() - END];
        let mut commits = Vec::new();
        while !rest.is_empty() {
            let (payload, after) = rest[PREFIX..].split_at(number(&rest[12..]));
            commits.push(entries(payload));
            rest = after;
        }
        Self {
            header: bytes[..HEADER].to_vec(),
            commits,
        }
    }

    /// Changes the bytes of every record; the names of the records after it follow.
    pub(crate) fn change_records(&mut self, change: impl Fn(&[u8]) -> Vec<u8>) {
        let mut names: BTreeMap<RecordHash, RecordHash> = BTreeMap::new();
        let name = |field: &[u8]| RecordHash::from_slice(field).expect("a name");
        for entry in self.commits.iter_mut().flatten() {
            match entry.code {
                b'R' => {
                    let made = change(&entry.fields[0]);
                    names.insert(RecordHash::of(&entry.fields[0]), RecordHash::of(&made));
                    entry.fields[0] = made;
                }
                b'P' => {
                    let old = name(&entry.fields[0]);
                    let parent = names.get(&old).copied().unwrap_or(old);
                    let made = change(&entry.fields[1]);
                    let before = following(old, &entry.fields[1]);
                    names.insert(before, following(parent, &made));
                    entry.fields = vec![parent.as_bytes().to_vec(), made];
                }
                b'H' => {
                    let head = name(&entry.fields[2]);
                    entry.fields[2] = names.get(&head).copied().unwrap_or(head).as_bytes().to_vec();
                }
                b'T' => {
                    let record = name(&entry.fields[0]);
                    entry.fields[0] = names.get(&record).copied().unwrap_or(record).as_bytes().to_vec();
                }
                _ => {}
            }
        }
    }

    /// The blobs by their names.
    pub(crate) fn blobs(&self) -> BTreeMap<BlobHash, Vec<u8>> {
        let blobs = self.commits.iter().flatten().filter(|entry| entry.code == b'B');
        let named = |entry: &Entry| {
            let name = BlobHash::from_slice(&entry.fields[0]).expect("a name");
            (name, entry.fields[1].clone())
        };
        blobs.map(named).collect()
    }

    /// Adds a blob in the first commit.
    pub(crate) fn add_blob(&mut self, bytes: Vec<u8>) -> BlobHash {
        let name = BlobHash::of(&bytes);
        let fields = vec![name.as_bytes().to_vec(), bytes];
        self.commits[0].insert(0, Entry { code: b'B', fields });
        name
    }

    /// Writes an exported file.
    pub(crate) fn write(&self, path: &Path) {
        let mut bytes = self.header.clone();
        let mut previous = [0; 8];
        for commit in &self.commits {
            let mut payload = Vec::new();
            for entry in commit {
                payload.push(entry.code);
                for field in &entry.fields {
                    payload.extend_from_slice(&(field.len() as u64).to_le_bytes());
                    payload.extend_from_slice(field);
                }
            }
            let checked = [&(payload.len() as u64).to_le_bytes()[..], &previous, &payload].concat();
            previous = XxHash3_64::oneshot(&checked).to_le_bytes();
            bytes.extend_from_slice(b"\xf5DLF");
            bytes.extend_from_slice(&previous);
            bytes.extend_from_slice(&checked);
        }
        let hash = BlobHash::of(&bytes);
        bytes.extend_from_slice(b"DUETEND\n");
        bytes.extend_from_slice(hash.as_bytes());
        fs::write(path, bytes).expect("a file");
    }
}

fn entries(mut payload: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    while let Some((code, mut rest)) = payload.split_first() {
        let count = match code {
            b'C' | b'H' => 3,
            b'P' | b'T' | b'B' | b'h' => 2,
            _ => 1,
        };
        let fields = (0..count).map(|_| {
            let (field, after) = rest[8..].split_at(number(rest));
            rest = after;
            field.to_vec()
        });
        let fields = fields.collect();
        entries.push(Entry { code: *code, fields });
        payload = rest;
    }
    entries
}
