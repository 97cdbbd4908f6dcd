//! Journals as a reader finds them that was written from `journal/FORMAT.md` alone, in another
//! language.
//!
//! INVARIANT: what the reader of `tests/python` says of a journal is what Duet says of it, and both
//! refuse the same damage. Where there is no `python3` these tests say so and show nothing; the
//! schema is compared with the code in any case.
//! Read next: `journal/FORMAT.md`, then `python/journal.py`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says so"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BlobHash, Sequence, Store};
use duet_runtime::action::KINDS;
use duet_runtime::model::codec::Codec as _;
use duet_runtime::run::source::decode_turn;
use duet_runtime::state::event::Event;
use serde_json::{Value, json};

/// Asks the reader of journals; nothing if there is no Python.
fn read(journal: &Path) -> Option<Output> {
    python("journal.py", journal, &[])
}

/// Runs a reader of `tests/python`; nothing if there is no Python.
fn python(reader: &str, journal: &Path, arguments: &[&str]) -> Option<Output> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(reader);
    let mut command = Command::new("python3");
    let output = command.arg("-B").arg(reader).arg(journal).args(arguments).output();
    if output.is_err() {
        eprintln!("skipped: there is no python3 here");
    }
    output.ok()
}

/// Returns the lines that the reader should print, one for each branch.
fn expected(journal: &Path) -> Vec<Value> {
    let store = SqliteStore::open_to_read(journal).unwrap();
    let mut lines = Vec::new();
    for run in store.runs().unwrap() {
        for head in store.heads(&run).unwrap() {
            let all = Sequence::FIRST..head.sequence.next().unwrap();
            let records = store.read(&run, &head.branch, all).unwrap();
            let mut labels: BTreeMap<String, u64> = BTreeMap::new();
            let mut blobs: Vec<BlobHash> = Vec::new();
            for record in &records {
                let label = if record.header().sequence == Sequence::FIRST {
                    "run"
                } else {
                    "turn"
                };
                *labels.entry(label.to_owned()).or_default() += 1;
                for action in decode_turn(record).into_iter().flat_map(|turn| turn.actions) {
                    *labels.entry(format!("turn/{}", action.name())).or_default() += 1;
                }
                blobs.extend(record.blobs());
            }
            blobs.sort();
            blobs.dedup();
            lines.push(json!({
                "run": run.as_str(), "branch": head.branch.as_str(), "records": records.len(),
                "head": head.hash.to_string(), "blobs": blobs.len(), "labels": labels,
            }));
        }
    }
    lines
}

const PROGRAM: &str = r#"
(import (scheme base) (only (scheme list) iota) (scheme write) (duet base) (duet dataspace))
(define handle (assert! (record 'fact 1 "text" #vu8(1 2) 2.5 -300 (list #t 'a))))
(on-message (tick $n) (assert! (record 'seen n)))
(spawn (lambda () (await (record 'never))))
(do ((n 0 (+ n 1))) ((= n 40)) (message! (record 'tick (expt -7 n))) (yield))
(define (numbers count) (map number->string (iota count 100000)))
(for-each (lambda (count) (message! (record 'numbers (numbers count))) (yield)) '(5000 5001 30000))
(retract! handle)
(display "done")
(newline)
(await (record 'never))
"#;

/// A folder with a journal of a run and a fork of it.
fn journal() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = PROGRAM.replace("#vu8", "#u8");
    fs::write(folder.path().join("ticks.scm"), text).unwrap();
    for arguments in [
        &["run", "ticks.scm"][..],
        &["fork", "ticks@9", "other"],
        &["resume", "ticks/other"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        let command = command.current_dir(folder.path()).args(arguments).stdin(Stdio::null());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.code().is_some(), "{arguments:?}: {status:?}");
    }
    folder
}

#[test]
fn a_reader_in_another_language_finds_what_is_there() {
    let folder = journal();
    let path = folder.path().join(".duet/journal.sqlite");
    let Some(output) = read(&path) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found, expected(&path));
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|line| line["records"].as_u64().unwrap() > 40),
        "{lines}"
    );
}

#[test]
fn a_reader_in_another_language_reads_every_golden_journal() {
    let folders = ["journal/tests/golden", "tests/golden"].map(|folder| fs::read_dir(folder).unwrap());
    for entry in folders.into_iter().flatten() {
        let golden = entry.unwrap().path();
        if golden.extension().is_none_or(|extension| extension != "sqlite") {
            continue;
        }
        // Opening a database writes files beside it.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        fs::copy(&golden, &path).unwrap();
        let Some(output) = read(&path) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.iter().filter(|byte| **byte == b'\n').count() >= 3);
    }
}

#[test]
fn a_reader_in_another_language_notices_damage() {
    let damages = [
        "UPDATE records SET bytes = CAST(substr(bytes, 1, 60) || x'00' || substr(bytes, 62) AS BLOB) \
         WHERE sequence = 20",
        "UPDATE records SET bytes = (SELECT bytes FROM records WHERE sequence = 4) WHERE sequence = 5",
        "UPDATE heads SET record = record - 1",
        "DELETE FROM blobs WHERE id = 3",
        "UPDATE blobs SET bytes = x'00' WHERE id = 3",
    ];
    for damage in damages {
        let folder = journal();
        let path = folder.path().join(".duet/journal.sqlite");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(damage)
            .unwrap();
        let Some(output) = read(&path) else { return };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{damage}");
        assert!(
            said.contains("journal.sqlite: ") && !said.contains("Traceback"),
            "{damage}: {said}"
        );
    }
}

#[test]
fn the_schema_lists_every_action() {
    let schema = fs::read_to_string("journal/schema.prs").unwrap();
    let actions = schema
        .split_once("Action =")
        .unwrap()
        .1
        .split_once("Verdict =")
        .unwrap()
        .0;
    for (name, _) in KINDS {
        let is_listed = actions.contains(&format!("/ <{name} ")) || actions.contains(&format!("/ <{name}>"));
        assert!(
            is_listed,
            "add the action `{name}` with its fields to journal/schema.prs"
        );
    }
}

#[test]
fn the_schema_lists_every_event_with_its_fields() {
    let schema = fs::read_to_string("journal/schema.prs").unwrap();
    let events = schema.split_once("Event =").unwrap().1;
    let events = events.split_once("/ @other").unwrap().0;
    let listed: BTreeMap<&str, Vec<String>> = events
        .lines()
        .filter_map(|line| line.trim().strip_prefix("/ <")?.strip_suffix('>'))
        .map(|pattern| {
            let (label, fields) = pattern.split_once(' ').unwrap_or((pattern, ""));
            let names = fields.split(' ').filter_map(|word| word.strip_prefix('@'));
            (label, names.map(|name| name.replace('-', "_")).collect())
        })
        .collect();
    for label in Event::labels() {
        let fields = listed.get(label);
        assert!(fields.is_some(), "add the event `{label}` to journal/schema.prs");
        assert_eq!(fields.unwrap(), Event::fields_of(label), "{label}");
    }
    assert_eq!(
        listed.len(),
        Event::labels().len(),
        "the schema has events that there are not"
    );
}

/// A fiber that waits three calls deep while the main program changes a large heap a little in each
/// turn, so that the newest snapshot says what has changed since the one before.
const SLEEPER: &str = r#"
(import (scheme base) (duet base) (duet dataspace))
(define (spin n) (if (> n 0) (spin (- n 1))))
(define table (make-vector 20000 'x))
(define bytes (make-bytevector 5000 7))
(define (wait-below n) (if (= n 0) (await (record 'never)) (+ n (wait-below (- n 1)))))
(spawn (lambda ()
  (let ((name "λ text") (parts (list 1 'two 3.5 1e300 -7/3 (expt -7 41) #t)))
    (wait-below 2)
    (log! (cons name parts)))))
(do ((n 0 (+ n 1))) ((= n 160))
  (vector-set! table n (list n (number->string n)))
  (bytevector-u8-set! bytes n n)
  (message! (record 'tick n (make-string 200 #\a)))
  (spin 200000)
  (yield))
(await (record 'never))
"#;

#[test]
fn a_reader_in_another_language_finds_the_frames_of_a_parked_fiber() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sleeper.scm"), SLEEPER).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    let command = command.current_dir(folder.path()).args(["run", "sleeper.scm"]);
    assert!(command.output().unwrap().status.code().is_some());
    let path = folder.path().join(".duet/journal.sqlite");
    let count = "SELECT COUNT(*) FROM blobs WHERE instr(bytes, CAST('changes' AS BLOB)) = 4";
    let changes = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row(count, [], |row| row.get::<_, i64>(0));
    assert_ne!(changes.unwrap(), 0, "a snapshot says what has changed");
    let Some(output) = python("snapshot.py", &path, &["sleeper", "main"]) else {
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let fibers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let registers = |fiber: &Value| -> Vec<Value> {
        let frames = fiber["frames"].as_array().unwrap();
        frames.iter().map(|frame| frame["registers"].clone()).collect()
    };
    assert_eq!(fibers.len(), 2, "{lines}");
    let big = "-44567640326363195900190045974568007";
    let parts = format!("(1 two 3.5 1e+300 #(-7 3) {big} #t)");
    // The calls of `wait-below`, the newest first, then the fiber's procedure.
    assert_eq!(
        registers(&fibers[1]),
        [json!(["0", "1"]), json!(["0", "2"]), json!(["0", "\"λ text\"", parts])]
    );
}
