//! An imitated power cut: the test freezes the writing process, copies its files as they are, and
//! cuts off the end of the copy's log.
//!
//! After a power cut, a disk has all synced bytes and any part of the others. Each commit syncs the
//! log of the database, so only the last commit can be missing, whole or in part: a copy whose log
//! ends anywhere within that commit is such a disk.
//! INVARIANT: every such copy opens, is sound and holds the turns of all commits but, perhaps, the
//! last.
//! Read next: `crash.rs`, which cuts the power in memory at every operation.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{BranchName, RecordHash, RunId, Sequence, Store};

/// The number of times that the test freezes the writer; `DUET_FREEZES` asks for another.
const FREEZES: u64 = 4;

/// The number of ends that the test tries on each copy.
const CUTS: u64 = 12;

/// The maximum number of turns in one commit.
const AHEAD_MAX: usize = 65;

const PROGRAM: &str = "
(import (scheme base) (duet base) (duet dataspace))
(let loop ((n 0))
  (assert! (record 'entry n (make-string 300 #\\x)))
  (yield)
  (loop (+ n 1)))";

/// Numbers that look random and are the same every time.
///
/// Source: the constants are Knuth's, of MMIX.
fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .arg(name)
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Starts a run that writes for ever.
fn writer(folder: &Path) -> Child {
    fs::write(folder.join("loop.scm"), PROGRAM).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    let command = command.current_dir(folder).args(["run", "loop.scm"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn copy(from: &Path, to: &Path) -> PathBuf {
    fs::create_dir_all(to).unwrap();
    for name in ["journal.sqlite", "journal.sqlite-wal"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
    to.join("journal.sqlite")
}

/// Verifies everything and returns the names of the run's records; none if it has not begun.
fn records(journal: &Path) -> Vec<RecordHash> {
    let store = SqliteStore::open(journal, "frozen").unwrap();
    let (run, main) = (RunId::new("loop").unwrap(), BranchName::new("main").unwrap());
    if !store.runs().unwrap().contains(&run) {
        return Vec::new();
    }
    let report = verify(&store, &run, &main).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let all = Sequence::FIRST..report.head.sequence.next().unwrap();
    store
        .read(&run, &main, all)
        .unwrap()
        .iter()
        .map(|record| record.hash())
        .collect()
}

/// The number of the log's frames that the writer has begun to move into the file. It has synced
/// these, so no power cut takes them from the log.
///
/// Source: https://www.sqlite.org/walformat.html, "The WAL-Index File Format".
fn frames_moved(folder: &Path) -> usize {
    let index = fs::read(folder.join("journal.sqlite-shm")).unwrap_or_default();
    let number = index
        .get(128..132)
        .map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()));
    number.unwrap_or(0) as usize
}

/// Where the last whole commit lies in a write-ahead log, without the frames that have been moved.
///
/// Source: https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log".
fn last_commit(log: &[u8], frames_moved: usize) -> Range<usize> {
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    if log.len() < 32 {
        return log.len()..log.len();
    }
    let (frame_bytes, salt) = (24 + number(8) as usize, &log[16..24]);
    let (mut commit, mut at) = (32..32, 32);
    while at + frame_bytes <= log.len() && &log[at + 8..at + 16] == salt {
        if number(at + 4) != 0 {
            commit = commit.end..at + frame_bytes;
        }
        at += frame_bytes;
    }
    let moved = 32 + frames_moved * frame_bytes;
    if moved >= commit.end {
        commit.end..commit.end
    } else {
        commit
    }
}

/// Freezes a writer after a while and copies its files, to `to`; returns [`frames_moved`].
fn frozen(folder: &Path, milliseconds: u64, to: &Path) -> usize {
    let journal = folder.join(".duet");
    let mut child = writer(folder);
    #[expect(
        clippy::disallowed_methods,
        reason = "the process is frozen at a moment of the clock"
    )]
    let wait = |milliseconds| std::thread::sleep(Duration::from_millis(milliseconds));
    while !journal.join("journal.sqlite-wal").exists() {
        wait(5);
        assert!(child.try_wait().unwrap().is_none(), "the writer goes on for ever");
    }
    wait(milliseconds);
    signal(&child, "-STOP");
    copy(&journal, to);
    let moved = frames_moved(&journal);
    child.kill().unwrap();
    child.wait().unwrap();
    moved
}

fn freezes() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    let wanted = std::env::var("DUET_FREEZES").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(FREEZES)
}

#[test]
fn the_disk_of_a_frozen_writer_holds_a_prefix_wherever_its_log_ends() {
    let (mut seed, mut turns) = (0x1234_5678_u64, 0);
    for freeze in 0..freezes() {
        let folder = tempfile::tempdir().unwrap();
        let moved = frozen(folder.path(), next(&mut seed) % 300, &folder.path().join("copy"));
        let whole = records(&copy(&folder.path().join("copy"), &folder.path().join("whole")));
        turns += whole.len();
        for cut in 0..CUTS {
            let place = folder.path().join(format!("cut-{cut}"));
            let journal = copy(&folder.path().join("copy"), &place);
            let log = File::options()
                .write(true)
                .open(place.join("journal.sqlite-wal"))
                .unwrap();
            let commit = last_commit(&fs::read(place.join("journal.sqlite-wal")).unwrap(), moved);
            let length_bytes = (commit.end - commit.start) as u64;
            log.set_len(commit.start as u64 + next(&mut seed) % (length_bytes + 1))
                .unwrap();
            let found = records(&journal);
            let lost = whole.len() - found.len();
            assert!(
                whole.starts_with(&found) && lost <= AHEAD_MAX,
                "freeze {freeze}, cut {cut}: {lost} of {} lost",
                whole.len()
            );
        }
    }
    assert!(turns > 20, "the writer wrote {turns} records in all");
}
