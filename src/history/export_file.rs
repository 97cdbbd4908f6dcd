//! The format of an exported run.
//!
//! The file is the log of a store in memory. If turns have names, the lines of a file of marks
//! follow, and the length of these lines in 8 bytes, little-endian. The end is a tag, which tells a
//! file with marks from one without, and the hash of all bytes before the tag.
//! INVARIANT: a file whose bytes have changed, or whose end is missing, is refused.
//! It does not check the run; `verb/act/import.rs` does. Read next: `marks.rs`.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::{BlobHash, StoreError};

use crate::text::error::CommandError;

/// The tags before the hash, of a file without marks and of one with marks.
const END: &[u8; 8] = b"DUETEND\n";
const END_WITH_MARKS: &[u8; 8] = b"DUETMRK\n";
const HASH_BYTES: usize = 32;
const LENGTH_BYTES: usize = 8;

/// The contents of a file.
pub(crate) struct ExportFile {
    /// The records and blobs.
    pub(crate) store: MemoryStore,
    /// The names of turns, as lines.
    pub(crate) marks: String,
}

/// Puts the contents of a file together.
pub(crate) fn pack(store: MemoryStore, marks: &str) -> Vec<u8> {
    let mut bytes = store.into_disk().bytes().to_vec();
    let mut end = END;
    if !marks.is_empty() {
        end = END_WITH_MARKS;
        bytes.extend_from_slice(marks.as_bytes());
        bytes.extend_from_slice(&(marks.len() as u64).to_le_bytes());
    }
    let hash = BlobHash::of(&bytes);
    bytes.extend_from_slice(end);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, is longer than `length_bytes_max`, or is not whole.
pub(crate) fn read(path: &Path, length_bytes_max: u64) -> Result<ExportFile, CommandError> {
    let failed = |error| CommandError::caused(format!("cannot read `{}`", path.display()), &error);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(damaged(path, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(length_bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > length_bytes_max {
        return Err(CommandError::problem(format!(
            "`{}` has {} bytes, and an import reads {length_bytes_max} here",
            path.display(),
            found.len()
        ))
        .advise("`--memory-limit SIZE` lets it read a quarter of SIZE"));
    }
    let (log, marks) = parts(&bytes).map_err(|why| damaged(path, why))?;
    let store = MemoryStore::open(SimulatedDisk::new(log.to_vec(), FaultPlan::default())).map_err(|error| {
        if matches!(error, StoreError::UnsupportedVersion { .. }) {
            error.into()
        } else {
            damaged(path, &error.to_string())
        }
    })?;
    if store.dropped_bytes() > 0 {
        return Err(damaged(path, "it ends in the middle of a commit"));
    }
    Ok(ExportFile {
        store,
        marks: marks.to_owned(),
    })
}

/// The log and the lines in the bytes of a file, or why it is not whole.
fn parts(bytes: &[u8]) -> Result<(&[u8], &str), &'static str> {
    let (rest, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or("its end is missing")?;
    let (content, end) = rest.split_last_chunk().ok_or("its end is missing")?;
    if end != END && end != END_WITH_MARKS {
        return Err("its end is missing");
    }
    if BlobHash::of(content).as_bytes() != hash {
        return Err("its bytes have changed");
    }
    if end == END {
        return Ok((content, ""));
    }
    let marks = content
        .split_last_chunk::<LENGTH_BYTES>()
        .and_then(|(content, length)| {
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (log, marks) = content.split_at_checked(content.len().checked_sub(length)?)?;
            Some((log, str::from_utf8(marks).ok()?))
        });
    marks.ok_or("its marks are damaged")
}

/// The error about a file that cannot be imported.
pub(crate) fn damaged(path: &Path, why: &str) -> CommandError {
    CommandError::problem(format!("`{}` is no whole export of a run: {why}", path.display()))
        .advise("nothing was imported; export it again")
}

#[cfg(test)]
mod tests {
    use duet_journal::{RunId, Store};

    use super::*;

    fn store() -> MemoryStore {
        let mut store = MemoryStore::default();
        let run = RunId::new("r").expect("a name");
        store.claim(&run, "test").expect("it can be claimed");
        store
    }

    #[test]
    fn a_file_gives_back_what_was_put_into_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.duet");
        let log = store().into_disk().bytes().to_vec();
        for marks in ["", "mark r a 1 x\n"] {
            fs::write(&path, pack(store(), marks)).expect("a file");
            let read = read(&path, 1 << 20).expect("it is whole");
            assert_eq!(read.marks, marks);
            assert_eq!(read.store.into_disk().bytes(), log);
        }
    }

    #[test]
    fn lines_that_are_not_there_are_not_read() {
        let whole = pack(store(), "mark r a 1 x\n");
        let content = &whole[..whole.len() - HASH_BYTES - END.len()];
        let check = |content: &[u8], expected| {
            let hash = BlobHash::of(content);
            let bytes = [content, END_WITH_MARKS, hash.as_bytes()].concat();
            assert_eq!(parts(&bytes).map(|(_, marks)| marks.len()), expected);
        };
        check(content, Ok(13));
        let (start, _) = content.split_at(content.len() - LENGTH_BYTES);
        let wrong = Err("its marks are damaged");
        check(&[start, &[0xff; 8]].concat(), wrong);
        check(&[start, &(start.len() as u64 + 1).to_le_bytes()].concat(), wrong);
        check(&[b"\xff".as_slice(), &1_u64.to_le_bytes()].concat(), wrong);
        check(&[1, 2, 3], wrong);
    }
}
