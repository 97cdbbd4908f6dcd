//! The golden runs are shown, replayed, continued and exported by today's code; journals of another
//! version are refused.
//!
//! `golden/runs.sqlite` has three runs of `tests/golden/greet.scm`: `done` received the answer
//! `Grace`, `failed` received `nobody`, and `open` still asks. Their workspace is `/`, which is
//! everywhere.
//! `DUET_GOLDEN=write` makes the file anew; that is right only if a format or a library has
//! changed.
//! INVARIANT: what today's code writes is what the golden runs have.
//! It does not look into records; `journal/tests/it/golden.rs` does. Read next: `format.rs`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::support::desk::Desk;
use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BlobHash, BranchName, Record, RunId, Sequence, Store};
use duet_runtime::model::codec::Codec;
use duet_runtime::run::source::{decode_turn, genesis};

/// The golden journal.
fn golden() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/runs.sqlite");
        #[expect(clippy::disallowed_methods, reason = "a person asks for a new file")]
        let mode = std::env::var("DUET_GOLDEN");
        if mode.is_ok_and(|mode| mode == "write") {
            make(&golden);
        }
        golden
    })
}

/// Makes the golden journal anew.
fn make(golden: &Path) {
    let desk = Desk::new(&[("greet.scm", include_str!("../golden/greet.scm"))]);
    for (line, code) in [
        ("run greet.scm --name done --workspace / --answer Grace", 0),
        ("run greet.scm --name failed --workspace / --answer nobody", 1),
        ("run greet.scm --name open --workspace /", 4),
    ] {
        let said = desk.duet(line);
        assert_eq!(said.code, code, "{}", said.errors);
    }
    // Closing the last connection moves everything from the log into the file.
    drop(SqliteStore::open(&desk.path(".duet/journal.sqlite"), "test").unwrap());
    fs::copy(desk.path(".duet/journal.sqlite"), golden).unwrap();
}

/// A desk with the golden journal.
fn desk() -> Desk {
    let golden = golden();
    let desk = Desk::new(&[]);
    fs::create_dir(desk.path(".duet")).unwrap();
    fs::copy(golden, desk.path(".duet/journal.sqlite")).unwrap();
    desk
}

/// The records of a run's branch `main`, or of that which the address names.
fn records(desk: &Desk, address: &str) -> Vec<Record> {
    let store = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    let all = Sequence::FIRST..Sequence::new(1 << 40).unwrap();
    let (run, branch) = address.split_once('/').unwrap_or((address, "main"));
    let (run, branch) = (RunId::new(run).unwrap(), BranchName::new(branch).unwrap());
    store.read(&run, &branch, all).unwrap()
}

/// Requires that a branch has this number of turns, each of them as today's code writes it.
#[track_caller]
fn check(desk: &Desk, address: &str, turns: usize) {
    let records = records(desk, address);
    assert_eq!(records.len(), turns + 1);
    assert_eq!(records[0].body(), genesis(&records[0]).unwrap().encode());
    for record in &records[1..] {
        assert_eq!(record.body(), decode_turn(record).unwrap().encode(), "{record:?}");
    }
    let said = desk.duet(&format!("replay {address} --check"));
    assert_eq!((said.code, said.errors.as_str()), (0, ""));
    assert_eq!(said.output, format!("identical: {turns} turns\n"));
}

#[test]
fn the_golden_runs_replay_and_go_on() {
    let desk = desk();
    check(&desk, "done", 5);
    check(&desk, "failed", 5);
    check(&desk, "open", 3);
    desk.check("fork open@2 side", 0, "");
    desk.check("resume open/side", 4, "");
    desk.check("answer open/side Eve", 0, "Hello, Eve\n");
    desk.check("answer open Ada", 0, "Hello, Ada\n");
    check(&desk, "open/side", 5);
    check(&desk, "open", 5);
}

#[test]
fn the_golden_runs_are_exported_and_go_on_elsewhere() {
    let (here, there) = (desk(), Desk::new(&[]));
    let file = there.path("open.duet");
    here.check(&format!("export open {}", file.display()), 0, "");
    there.check("import open.duet", 0, "");
    there.check("resume open --grant none --answer Ada", 0, "Hello, Ada\n");
    check(&there, "open", 5);
}

#[test]
fn a_run_that_begins_does_what_the_golden_one_did() {
    let desk = desk();
    fs::write(desk.path("greet.scm"), include_str!("../golden/greet.scm")).unwrap();
    desk.check(
        "run greet.scm --answer Grace --workspace /",
        0,
        "constraint_deny\nHello, Grace\n",
    );
    check(&desk, "greet", 5);
    let (golden, now) = (records(&desk, "done"), records(&desk, "greet"));
    let differing: Vec<usize> = (1..golden.len())
        .filter(|at| golden[*at].body() != now[*at].body())
        .collect();
    // The tags of calls and questions are made of the run's name.
    assert_eq!(differing, [2, 3]);
}

/// Makes a database say that it is of another version.
fn set_version(path: &Path, version: u32) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
}

/// Makes an exported file, which ends in the hash of its log, say that it is of another version.
fn set_file_version(path: &Path, version: u8) {
    let mut bytes = fs::read(path).unwrap();
    let (log, hash) = (bytes.len() - 40, bytes.len() - 32);
    bytes[8] = version;
    let right = BlobHash::of(&bytes[..log]);
    bytes[hash..].copy_from_slice(right.as_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_journal_of_another_version_is_refused_with_what_to_do() {
    let desk = desk();
    let file = desk.path("open.duet");
    desk.check("export open open.duet", 0, "");
    set_file_version(&file, 2);
    set_version(&desk.path(".duet/journal.sqlite"), 3);
    fs::write(desk.path("greet.scm"), include_str!("../golden/greet.scm")).unwrap();
    let elsewhere = Desk::new(&[]);
    fs::copy(&file, elsewhere.path("open.duet")).unwrap();
    for (desk, line, found) in [
        (&desk, "log done", 3),
        (&desk, "replay done --check", 3),
        (&desk, "answer open Ada", 3),
        (&desk, "run greet.scm", 3),
        (&elsewhere, "import open.duet", 2),
    ] {
        let said = desk.duet(line);
        let expected = format!("the journal has version {found}, this program reads version 1");
        assert!(said.code != 0 && said.errors.contains(&expected), "{line}: {said:?}");
        assert!(
            said.errors.contains("use the version of duet that wrote it"),
            "{line}: {said:?}"
        );
    }
}
