//! Claims: who goes on with a run that no process executes, who does not, and for how long a
//! command keeps a run from others.
//!
//! INVARIANT: every process is a real one; a test waits for what the journal or a process says.
//! Read next: `work.rs`, `owners.rs`.
#![cfg(unix)]

use std::io::Write as _;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{BranchName, Need, Owner, RunId, Store as _};

use crate::postgres::{host, server};
use crate::support::desk::Desk;
use crate::support::running::Running;
use crate::work::Worker;

const LONG: &str = "(display 1) (newline) (sleep 600000)";

/// It asks twice, and says the answers.
const TWO: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define a (await (user-input :prompt "Which file?")))
(display (list 'file a)) (newline)
(define b (await (user-input :prompt "Delete it?")))
(display (list 'delete b)) (newline)
"#;

/// It hears orders, and asks.
const LISTENER: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(on-message (order $x) (display (list 'ordered x)) (newline))
(display (await (user-input :prompt "Last?")))
"#;

/// Workers that come later leave a run.
#[track_caller]
fn check_left(desk: &Desk, run: &str) {
    let worked = desk.duet("work --idle-exit 0");
    assert!(worked.code == 0 && !worked.errors.contains(run), "{worked:?}");
    assert_eq!(desk.report("runs")[0]["status"], "left");
    assert!(desk.duet("work --status").output.starts_with("no worker\n"));
    assert!(!desk.duet("work --status").output.contains(run));
}

#[test]
fn a_run_is_stopped_while_no_worker_lives() {
    for state in ["queued", "sleeping", "killed"] {
        let desk = Desk::new(&[("p.scm", LONG)]);
        match state {
            "killed" => {
                let mut running = Running::start(&desk, "run p.scm");
                running.line();
                while !desk.duet("log p").output.contains("timer has begun") {}
                running.signal("-KILL");
                running.end();
            }
            _ => assert_eq!(desk.duet("run p.scm --queue").code, 0),
        }
        if state == "sleeping" {
            assert!(desk.duet("work --idle-exit 0").errors.contains("p sleeps"));
        }
        let stopped = desk.duet("stop p");
        assert!(
            stopped.code == 0 && stopped.errors.contains("p stopped at turn"),
            "{state}: {stopped:?}"
        );
        check_left(&desk, "p");
        // Once more, there is nothing to stop.
        let again = desk.duet("stop p");
        assert!(again.errors.contains("no process executes p"), "{state}: {again:?}");
        let mut resumed = Running::start(&desk, "resume p");
        if state == "queued" {
            assert_eq!(resumed.line(), "1");
        }
        while desk.report("runs")[0]["status"] != "running" {}
        resumed.signal("-KILL");
        resumed.end();
    }
}

#[test]
fn a_worker_leaves_a_run_that_was_stopped_while_it_watched_the_run() {
    let desk = Desk::new(&[("p.scm", "(display 1)")]);
    assert_eq!(desk.duet("run p.scm --queue").code, 0);
    let (run, branch) = (RunId::new("p").unwrap(), BranchName::new("main").unwrap());
    let journal = desk.path(".duet/journal.sqlite");
    let mut store = SqliteStore::open(&journal, "test").unwrap();
    let there = Owner {
        host: "elsewhere".to_owned(),
        seen_ms: 1,
        ..Owner::this("run p.scm")
    };
    let epoch = store.claimed(&run).unwrap().unwrap().epoch;
    store.note_owner(&run, epoch, &there.to_string()).unwrap();
    let mut worker = Worker::start(&desk, "work --concurrency 1");
    while !desk.duet("work --status").output.contains("executes p") {}
    // It waits for a sign of life now; somebody stops the run.
    let epoch = store.claim(&run, &Owner::this("stop").to_string()).unwrap();
    store.set_need(&run, &branch, epoch, Need::Nothing).unwrap();
    store.note_owner(&run, epoch, "").unwrap();
    assert_eq!(desk.duet("run p.scm --name next --queue").code, 0);
    worker.until("next ended with code 0");
    assert!(!worker.said.join("\n").contains("p ended"), "{:?}", worker.said);
    let log = desk.duet("log p");
    assert!(!log.output.contains("main begins"), "{log:?}");
    worker.running.signal("-TERM");
    worker.code();
}

#[test]
fn a_command_that_has_ended_holds_no_run_on_a_server() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = host(server, &schema);
    std::fs::write(desk.path("long.scm"), LONG).unwrap();
    std::fs::write(desk.path("other.scm"), "(display 1)").unwrap();
    assert_eq!(desk.duet("run long.scm --name p --queue").code, 0);
    assert_eq!(desk.duet("run p.scm --name asker").code, 4);
    assert!(desk.duet("work --idle-exit 0").errors.contains("p sleeps"));
    let owned = || {
        server.sql(&format!(
            "SELECT name || ' ' || owner FROM {schema}.runs WHERE owner <> ''"
        ))
    };
    assert_eq!(owned(), "");
    for (line, is_done) in [
        ("fork p@1 side", true),
        ("goto p@1", true),
        ("undo p", true),
        ("redo p", true),
        ("gc p", true),
        ("rm p", false),
        ("patch p nofile.scm", false),
        ("patch p other.scm", true),
        ("resume p --grant nonsense", false),
        ("answer asker 99 x", false),
        ("message asker <a>", true),
        ("eval --act asker 1", false),
        ("stop p", true),
    ] {
        let said = desk.duet(line);
        assert!(
            is_done == matches!(said.code, 0 | 4) || line == "undo p",
            "{line}: {said:?}"
        );
        assert_eq!(owned(), "", "{line}: {said:?}");
    }
}

#[test]
fn a_run_begins_before_it_hears_what_it_is_told() {
    for is_taken_back in [false, true] {
        let desk = Desk::new(&[("ms.scm", LISTENER)]);
        assert_eq!(desk.duet("run ms.scm --queue --name m").code, 0);
        if is_taken_back {
            desk.check("resume m", 4, "");
            assert_eq!(desk.duet("goto m@0").code, 0);
        }
        let told = desk.with("message m", "<order \"tea\">");
        assert_eq!((told.code, told.output.as_str()), (4, "(ordered tea)\n"), "{told:?}");
    }
    let desk = Desk::new(&[("ms.scm", LISTENER)]);
    assert_eq!(desk.duet("run ms.scm --queue --name m").code, 0);
    desk.check("answer m yes", 0, "yes");
}

#[test]
fn an_answer_does_not_go_to_a_question_that_came_after_the_one_that_was_read() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = host(server, &schema);
    std::fs::write(desk.path("two.scm"), TWO).unwrap();
    assert_eq!(desk.duet("run two.scm --name t").code, 4);
    // The command has found the run when it waits for the program, which is locked.
    let mut lock = server.session();
    let mut statements = lock.stdin.take().unwrap();
    let locked = format!("BEGIN; LOCK TABLE {schema}.blobs IN ACCESS EXCLUSIVE MODE;\n");
    statements.write_all(locked.as_bytes()).unwrap();
    let held = |is_granted: bool| {
        let sql = format!(
            "SELECT count(*) FROM pg_locks WHERE relation = '{schema}.blobs'::regclass
                 AND granted = {is_granted} AND mode LIKE 'Access%'"
        );
        server.sql(&sql) != "0"
    };
    while !held(true) {}
    let mut late = Running::start(&desk, "answer t yes");
    while !held(false) {}
    late.signal("-STOP");
    drop(statements);
    lock.wait().unwrap();
    let first = desk.check("answer t yes", 4, "(file yes)\n");
    assert!(first.errors.contains("Delete it?"), "{first:?}");
    late.signal("-CONT");
    let (code, said) = late.end();
    assert!(
        code != Some(0) && said.contains("takes no answer any more: somebody else has answered"),
        "{code:?} {said}"
    );
    assert!(desk.duet("waits t").output.contains("Delete it?"));
}

#[test]
fn a_run_that_reads_input_waits_for_it() {
    let desk = Desk::new(&[("rd.scm", "(define l (read-line)) (write l)")]);
    assert_eq!(desk.duet("run rd.scm --queue").code, 0);
    assert_eq!(desk.duet("work --idle-exit 0").code, 0);
    let runs = desk.duet("runs");
    assert!(runs.output.contains("waiting for standard input"), "{runs:?}");
    assert_eq!(desk.report("runs")[0]["status"], "waiting");
    let explained = desk.duet("explain rd");
    assert!(
        explained.output.contains("rd waits for standard input"),
        "{explained:?}"
    );
    assert!(desk.duet("stop rd").errors.contains("waits for standard input"));
    let resumed = desk.feed("resume rd", "hello\n");
    assert_eq!((resumed.code, resumed.output.as_str()), (0, "\"hello\""), "{resumed:?}");
}

/// Makes a role that may use a schema, and returns the address of the schema for it.
fn role(server: &server::Server, schema: &str, options: &str) -> String {
    server.sql(&format!(
        "CREATE ROLE {schema}_role LOGIN {options};
         GRANT ALL ON SCHEMA {schema} TO {schema}_role;
         GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {schema}_role;
         GRANT ALL ON ALL FUNCTIONS IN SCHEMA {schema} TO {schema}_role"
    ));
    let address = server.text(&format!("schema={schema}"));
    address.replace("duet@", &format!("{schema}_role@"))
}

#[test]
fn an_owner_that_cannot_say_that_it_lives_tells_the_person() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = host(server, &schema);
    assert_eq!(desk.duet("run one.scm").code, 0);
    let address = role(server, &schema, "CONNECTION LIMIT 1");
    let mut running = Running::start(&desk, &format!("run ticker.scm --journal {address}"));
    running.until_message("cannot say in the journal that it lives");
    running.signal("-TERM");
    running.end();
}

#[test]
fn a_run_whose_server_fails_says_up_to_where_it_is_durable_and_how_it_goes_on() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = host(server, &schema);
    assert_eq!(desk.duet("run one.scm").code, 0);
    let address = role(server, &schema, "");
    let mut running = Running::start(&desk, &format!("run ticker.scm --journal {address}"));
    running.line();
    server.sql(&format!(
        "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {schema}_role"
    ));
    let (code, said) = running.end();
    let ways = [
        "ticker stopped, and is durable up to turn",
        "`duet resume ticker` goes on from there",
    ];
    assert!(
        code == Some(1) && ways.iter().all(|way| said.contains(way)),
        "{code:?} {said}"
    );
}

#[test]
fn a_journal_on_a_server_is_checked() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = host(server, &schema);
    assert_eq!(desk.duet("run one.scm").code, 0);
    assert_eq!(desk.duet("run one.scm --name other").code, 0);
    let sound = desk.duet("fsck --deep");
    assert!(sound.code == 0 && sound.output.contains("one: sound"), "{sound:?}");
    server.sql(&format!(
        "UPDATE {schema}.records SET bytes = set_byte(bytes, 40, get_byte(bytes, 40) # 1)
             WHERE run = 'one' AND sequence = 1"
    ));
    let damaged = desk.duet("fsck");
    assert!(
        damaged.code == 1 && damaged.output.contains("one: turn 1 cannot be read"),
        "{damaged:?}"
    );
    assert!(damaged.output.contains("other: sound"), "{damaged:?}");
    assert_eq!(desk.duet("fsck --repair one").code, 0);
    assert_eq!(desk.duet("fsck").code, 0);
}

#[test]
fn options_of_a_signal_are_none_of_its_values() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(write (record-fields (await (signal 'go))))";
    let desk = Desk::new(&[("p.scm", program)]);
    for journal in ["here.sqlite", "there.sqlite"] {
        desk.check(&format!("run p.scm --journal {journal}"), 4, "");
    }
    desk.check("signal p go 7 -7 -1.5 --journal there.sqlite", 0, "(7 -7 -1.5)");
    let inbox = desk.duet("signal p go -7 --journal here.sqlite --inbox --no-wait");
    assert!(inbox.errors.contains("in the inbox of p"), "{inbox:?}");
    for line in ["signal p go --nonsense", "message p --nonsense", "message p --inbox"] {
        let refused = desk.duet(&format!("{line} --journal here.sqlite"));
        assert_eq!(refused.code, 2, "{line}: {refused:?}");
    }
}

#[test]
fn a_pattern_that_no_run_can_match_is_refused() {
    let desk = Desk::new(&[]);
    for pattern in ["a*b", "s%", "**", ""] {
        let refused = desk.with("work --idle-exit 0 --run", pattern);
        assert!(
            refused.code == 2 && refused.errors.contains("no run can have such a name"),
            "{pattern:?}: {refused:?}"
        );
    }
    assert_eq!(
        Desk::new(&[])
            .duet("work --idle-exit 0 --run a-* --run b.c --run *")
            .code,
        1
    );
}

#[test]
fn no_message_about_a_journal_shows_a_password() {
    let desk = Desk::new(&[]);
    for address in [
        "pg://team:secret@h/d",
        "postgres:/team:secret@h/d",
        "postgres:team:secret@h/d",
        "POSTGRES://team:se@secret@127.0.0.1:1/d",
        "postgres://team:secret/more@h/d",
    ] {
        let given = desk.with("runs --journal", address);
        let known = Desk::new(&[]).knowing("DUET_JOURNAL", address.to_owned()).duet("runs");
        for said in [given, known] {
            assert!(
                matches!(said.code, 1 | 2) && said.errors.contains("error") && !said.errors.contains("secret"),
                "{address}: {said:?}"
            );
        }
    }
}

#[test]
fn a_run_is_taken_over_after_the_lease_that_its_owner_has() {
    let desk = Desk::new(&[("p.scm", "(display 1)")]);
    assert_eq!(desk.duet("run p.scm --queue").code, 0);
    let run = RunId::new("p").unwrap();
    let mut store = SqliteStore::open(&desk.path(".duet/journal.sqlite"), "test").unwrap();
    let there = Owner {
        host: "elsewhere".to_owned(),
        lease_ms: 1_000,
        ..Owner::this("run p.scm")
    };
    let epoch = store.claimed(&run).unwrap().unwrap().epoch;
    store.note_owner(&run, epoch, &there.to_string()).unwrap();
    let mut worker = Worker::start(&desk, "work --concurrency 1");
    worker.until("p ended with code 0");
    let claim = store.claimed(&run).unwrap().unwrap();
    assert!(claim.epoch > epoch, "{claim:?}");
    worker.running.signal("-TERM");
    worker.code();
}
