//! A journal from somebody else: Duet proves its contents, and the grants that it brings do not
//! count.
//!
//! INVARIANT: the forged files have right hashes; only a replay, or the person who imports, can
//! tell.
//! It does not know how the journal finds damage; `journal/tests/` does.
//! Read next: `support/forgery.rs`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod parts;

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::desk::Desk;
use crate::support::forgery::Forgery;
use duet_journal::store::sqlite::SqliteStore;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::limits::Limits;
use duet_runtime::record::Genesis;

/// A program that counts until it has snapshots, asserts a fact, keeps a text, and asks. Each text
/// comes twice in a row, because a blob may end in the middle of one.
const COUNTER: &str = r#"(define (count n) (if (> n 0) (count (- n 1))))
(define kept (string-append "keeps-" "honest, keeps-" "honest"))
(assert! (record 'said "fact-honest, fact-honest"))
(let loop ((turn 0))
  (count 100000)
  (assert! (record 'turn turn))
  (if (< turn 12) (begin (sleep 1) (loop (+ turn 1)))))
(await (user-input :prompt "Enough?"))
(display kept)
(display "literal-honest, literal-honest")
(call-tool 'reader "workspace/read" (dictionary 'path "greeting.txt"))
"#;

/// A desk with an exported run that has snapshots.
fn exported() -> (Desk, Forgery) {
    let desk = Desk::new(&[("counter.scm", COUNTER), ("greeting.txt", "Hello")]);
    let said = desk.duet("run counter.scm");
    assert_eq!(said.code, 4, "{said:?}");
    desk.check("export counter counter.duet", 0, "");
    let forgery = Forgery::of(&desk.path("counter.duet"));
    assert!(forgery.snapshots() > 0, "the run is long enough for a snapshot");
    (desk, forgery)
}

/// Requires that a forged file is refused because of a snapshot, and can be imported without.
#[track_caller]
fn check_forged(desk: &Desk, forgery: &Forgery) {
    forgery.write(&desk.path("forged.duet"), |_, body| body);
    let said = desk.check("import forged.duet --journal forged", 1, "");
    assert!(
        said.errors.contains("has a snapshot that its records do not lead to"),
        "{said:?}"
    );
    assert!(!desk.path("forged").exists(), "nothing was imported");
    let said = desk.check("import forged.duet --drop-snapshots --journal dropped", 0, "");
    assert!(said.errors.starts_with("counter: "), "{said:?}");
    let honest = desk.duet("facts counter").output;
    desk.check("facts counter --journal dropped", 0, &honest);
    fs::remove_file(desk.path("forged.duet")).unwrap();
}

#[test]
fn a_snapshot_with_forged_facts_is_refused() {
    let (desk, mut forgery) = exported();
    let is_state = |bytes: &[u8]| !String::from_utf8_lossy(bytes).contains("(define kept");
    assert!(forgery.replace("fact-honest", "fact-forged", is_state) > 0);
    check_forged(&desk, &forgery);
}

#[test]
fn a_snapshot_with_a_forged_memory_is_refused() {
    let (desk, mut forgery) = exported();
    let is_heap = |bytes: &[u8]| !String::from_utf8_lossy(bytes).contains("(define kept");
    assert!(forgery.replace("keeps-honest", "keeps-forged", is_heap) > 0);
    check_forged(&desk, &forgery);
}

#[test]
fn a_snapshot_with_forged_literals_is_refused() {
    let (desk, mut forgery) = exported();
    let is_heap = |bytes: &[u8]| !String::from_utf8_lossy(bytes).contains("(define kept");
    assert!(forgery.replace("literal-honest", "literal-forged", is_heap) > 0);
    check_forged(&desk, &forgery);
}

#[test]
fn a_snapshot_that_cannot_be_loaded_is_refused() {
    let (desk, mut forgery) = exported();
    forgery.spoil_snapshots();
    check_forged(&desk, &forgery);
}

#[test]
fn fsck_proves_the_snapshots_of_the_own_journal() {
    let (desk, mut forgery) = exported();
    let said = desk.duet("fsck --deep");
    assert_eq!(said.code, 0, "{said:?}");
    let shown = format!("counter: replayed, {} snapshots are right\n", forgery.snapshots());
    assert!(said.output.ends_with(&shown), "{said:?}");
    // Somebody who can write the file puts forged records into it.
    let is_state = |bytes: &[u8]| !String::from_utf8_lossy(bytes).contains("(define kept");
    forgery.replace("fact-honest", "fact-forged", is_state);
    forgery.put_into(&desk.path("own"));
    desk.check("fsck --journal own", 0, &desk.duet("fsck").output);
    let said = desk.duet("fsck --deep --journal own");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.output.contains("is forged or damaged: its state is not the one"),
        "{said:?}"
    );
    forgery.spoil_snapshots();
    forgery.put_into(&desk.path("spoilt"));
    assert_eq!(desk.duet("fsck --deep --journal spoilt").code, 1);
}

#[test]
fn marks_follow_a_run_that_loses_its_snapshots() {
    let (desk, _) = exported();
    desk.check("mark counter@3 third", 0, "");
    desk.check("export counter marked.duet", 0, "");
    desk.check("import marked.duet --drop-snapshots --journal new", 0, "");
    let there = desk.duet("show counter@third --journal new --json");
    assert_eq!(
        (there.code, there.output),
        (0, desk.duet("show counter@3 --journal new --json").output)
    );
}

/// A program that wants a file.
const READER: &[(&str, &str)] = &[
    (
        "reader/manifest.scm",
        r#"((program "reader.scm") (tools workspace/read workspace/write process/run http/get)
            (hosts "api.example.org"))"#,
    ),
    (
        "reader/reader.scm",
        r#"(call-tool 'w "workspace/write" (dictionary 'path "out.txt" 'content "theirs"))
(await (user-input :prompt "Go on?"))
(define (attempt thunk)
  (guard (failure (#t (display (condition-kind failure)) (newline))) (thunk)))
(attempt (lambda ()
  (display (dictionary-ref (call-tool 'r "workspace/read" (dictionary 'path "greeting.txt")) 'content))
  (newline)))
(attempt (lambda () (call-tool 'v "workspace/write" (dictionary 'path "ran" 'content "")) (display "ran\n")))
(await (user-input :prompt "Enough?"))
"#,
    ),
    ("reader/greeting.txt", "theirs"),
    ("mine/greeting.txt", "mine"),
];

/// A desk with the reader, imported into the journal `j`.
fn imported() -> Desk {
    let desk = Desk::new(READER);
    let said = desk.duet("run reader --workspace reader");
    assert_eq!(said.code, 4, "{said:?}");
    desk.check("export reader reader.duet", 0, "");
    desk.check("import reader.duet --journal j", 0, "");
    desk
}

#[test]
fn an_imported_run_holds_nothing_and_says_what_it_asks_for() {
    let desk = imported();
    for line in [
        "log reader",
        "facts reader",
        "replay reader",
        "waits reader",
        "fork reader@1 side",
    ] {
        let said = desk.duet(&format!("{line} --journal j"));
        assert_eq!(said.code, 0, "{line}: {said:?}");
    }
    for line in ["resume reader", "answer reader yes", "resume reader/side"] {
        let said = desk.check(&format!("{line} --journal j"), 1, "");
        let asks = format!(
            "it asks for: http/get to api.example.org, process/run in {0}, workspace/read in {0}, \
             workspace/write in {0}",
            desk.path("reader").canonicalize().unwrap().display()
        );
        assert!(said.errors.contains(&asks), "{line}: {said:?}");
        assert!(
            said.errors
                .contains("--grant http/get,process/run,workspace/read,workspace/write --workspace DIRECTORY"),
            "{line}: {said:?}"
        );
    }
}

#[test]
fn an_imported_run_calls_only_what_was_granted_here() {
    let desk = imported();
    desk.check("fork reader again --journal j", 0, "");
    desk.check("fork reader third --journal j", 0, "");
    let said = desk.duet("resume reader/main --grant none --answer yes --journal j");
    assert_eq!((said.code, said.output.as_str()), (4, "denied\ndenied\n"), "{said:?}");
    assert!(!desk.path("reader/ran").exists() && !desk.path("mine/ran").exists());
    let said = desk.duet("resume reader/again --grant workspace/read --workspace mine --answer yes --journal j");
    assert_eq!((said.code, said.output.as_str()), (4, "mine\ndenied\n"), "{said:?}");
    // The grants stay with the journal, for all commands.
    let said = desk.duet("answer reader/third yes --journal j");
    assert_eq!((said.code, said.output.as_str()), (4, "mine\ndenied\n"), "{said:?}");
    // They do not travel.
    desk.check("export reader/third third.duet --journal j", 0, "");
    desk.check("import third.duet --journal k", 0, "");
    assert_eq!(desk.duet("resume reader/third --journal k").code, 1);
}

#[test]
fn grants_are_for_what_an_imported_run_asks() {
    let desk = imported();
    for (line, problem) in [
        (
            "--grant workspace/delete --workspace mine",
            "the run does not ask for `workspace/delete`",
        ),
        ("--grant workspace/read", "needs a directory to work in"),
        (
            "--grant workspace/read --workspace nowhere",
            "cannot use `nowhere` as the workspace",
        ),
    ] {
        let said = desk.duet(&format!("resume reader {line} --journal j"));
        assert!(said.code != 0 && said.errors.contains(problem), "{line}: {said:?}");
    }
    let said = desk.duet("resume reader --grant none");
    assert!(said.code == 2 && said.errors.contains("was begun here"), "{said:?}");
}

#[test]
fn files_of_an_imported_run_are_restored_only_where_its_importer_says() {
    let desk = imported();
    fs::remove_file(desk.path("reader/out.txt")).unwrap();
    let said = desk.check("goto --workspace reader@2 --journal j", 1, "");
    assert!(said.errors.contains("nobody here has given it a workspace"), "{said:?}");
    assert!(!desk.path("reader/out.txt").exists());
    desk.duet("resume reader --grant workspace/read --workspace mine --journal j");
    desk.duet("goto --workspace reader@2 --journal j");
    assert!(!desk.path("reader/out.txt").exists());
}

#[test]
fn turns_of_somebody_else_take_the_grants_of_an_own_run() {
    let desk = imported();
    desk.duet("resume reader --grant none --answer theirs --journal j");
    desk.check("export reader back.duet --journal j", 0, "");
    let said = desk.check("import back.duet", 0, "");
    assert!(said.errors.contains("turns of somebody else are in it now"), "{said:?}");
    assert_eq!(desk.duet("resume reader").code, 1);
    // What the journal has already changes nothing.
    let own = Desk::new(READER);
    own.duet("run reader --workspace reader");
    own.check("export reader reader.duet", 0, "");
    own.check("import reader.duet", 0, "");
    assert_eq!(own.duet("answer reader yes").output, "theirs\nran\n");
}

#[test]
fn the_importer_sets_the_limits() {
    let hungry = "(define kept (make-vector 6000000 1))\n(await (user-input :prompt \"Enough?\"))";
    let desk = Desk::new(&[("hungry.scm", hungry)]);
    assert_eq!(desk.duet("run hungry.scm --memory-limit 1G").code, 4);
    desk.check("export hungry hungry.duet", 0, "");
    let said = desk.duet("import hungry.duet --memory-limit 32M --journal j");
    assert!(
        said.code != 0 && said.errors.contains("`--memory-limit SIZE`"),
        "{said:?}"
    );
    assert!(!desk.path("j").exists());
    desk.check("import hungry.duet --memory-limit 1G --journal j", 0, "");
    let said = desk.duet("import hungry.duet --memory-limit 16M --journal k");
    assert_ne!(said.code, 0, "{said:?}");
    // Limits that no run begins with.
    let forgery = Forgery::of(&desk.path("hungry.duet"));
    forgery.write(&desk.path("endless.duet"), |sequence, body| {
        if sequence != duet_journal::Sequence::FIRST {
            return body;
        }
        let genesis = Genesis::decode(&body).unwrap();
        let limits = Limits {
            turn_fuel: u64::MAX / 2,
            ..genesis.limits
        };
        Genesis { limits, ..genesis }.encode()
    });
    let said = desk.check("import endless.duet --journal k", 1, "");
    assert!(said.errors.contains("units of fuel"), "{said:?}");
}

#[test]
fn what_is_no_file_is_not_imported() {
    let desk = Desk::new(&[]);
    let made = std::process::Command::new("mkfifo")
        .arg(desk.path("pipe.duet"))
        .status()
        .unwrap();
    assert!(made.success());
    let said = desk.check("import pipe.duet", 1, "");
    assert!(said.errors.contains("it is not a regular file"), "{said:?}");
}

#[test]
fn what_is_no_file_is_no_journal_for_any_command() {
    let desk = Desk::new(&[("x.scm", "1\n")]);
    for line in ["run x.scm --journal .", "runs --journal .", "run x.scm --journal sub"] {
        fs::create_dir_all(desk.path("sub")).unwrap();
        let said = desk.check(line, 1, "");
        assert!(
            said.errors.contains("is not a journal: it is not a regular file"),
            "{line}: {said:?}"
        );
    }
}

#[test]
fn lost_turns_are_told_by_every_command_until_somebody_accepts_the_loss() {
    let desk = Desk::new(&[("counter.scm", COUNTER), ("greeting.txt", "Hello")]);
    desk.duet("run counter.scm");
    // A reader keeps the log from being moved into the file.
    let reader = SqliteStore::open_to_read(&desk.path(".duet/journal.sqlite")).unwrap();
    assert!(reader.lost().unwrap().is_empty());
    desk.duet("answer counter yes");
    fs::create_dir(desk.path("copy")).unwrap();
    for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite.tail"] {
        fs::copy(desk.path(".duet").join(name), desk.path("copy").join(name)).unwrap();
    }
    let log = desk.path("copy/journal.sqlite-wal");
    let mut bytes = fs::read(&log).unwrap();
    assert!(bytes.len() > 5000, "the log has turns");
    bytes[4000] ^= 1;
    fs::write(&log, bytes).unwrap();
    for line in [
        "log counter",
        "resume counter",
        "facts counter",
        "run counter.scm",
        "runs",
    ] {
        let said = desk.check(&format!("{line} --journal copy/journal.sqlite"), 1, "");
        assert!(
            said.errors.contains("the journal has lost turns that were durable"),
            "{line}: {said:?}"
        );
        assert!(said.errors.contains("counter ends at turn"), "{line}: {said:?}");
    }
    let said = desk.duet("fsck --journal copy/journal.sqlite");
    assert!(
        said.code == 1 && said.output.contains("counter ends at turn"),
        "{said:?}"
    );
    assert_eq!(desk.duet("fsck --repair --journal copy/journal.sqlite").code, 0);
    assert_eq!(desk.duet("log counter --journal copy/journal.sqlite").code, 0);
    assert_eq!(desk.duet("fsck --journal copy/journal.sqlite").code, 0);
}

#[test]
fn files_beside_the_journal_are_not_written_through_links_and_no_pipe_is_waited_at() {
    let desk = Desk::new(&[
        ("a.scm", "(display 1)"),
        ("precious", "precious"),
        (".duet/other/x", "x"),
    ]);
    let journal = |name: &str| desk.path(".duet").join(format!("journal.sqlite{name}"));
    for name in [".current", ".marks", ".moves", ".tail"] {
        symlink(desk.path("precious"), journal(name)).unwrap();
    }
    let pipes = desk.path("pipes");
    fs::create_dir(&pipes).unwrap();
    symlink(desk.path(".duet/other"), journal(".cache")).unwrap();
    desk.check("run a.scm", 0, "1");
    desk.check("run a.scm", 0, "1");
    desk.duet("mark a@1 first");
    desk.duet("goto a@0");
    assert_eq!(fs::read_to_string(desk.path("precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(desk.path(".duet/other")).unwrap().count(), 1);
    for name in [".current", ".marks", ".moves", ".tail"] {
        let made = std::process::Command::new("mkfifo")
            .arg(pipes.join(format!("j{name}")))
            .status();
        assert!(made.unwrap().success());
    }
    for line in ["run a.scm", "run a.scm", "log a", "undo a"] {
        let said = desk.duet(&format!("{line} --journal pipes/j"));
        assert!(said.code <= 1, "{line} ends: {said:?}");
    }
}
