//! Several `duet` processes at one journal, as people start them: runs at once, runs that another
//! process executes, processes that are stopped or killed.
//!
//! INVARIANT: every process is a real one, and nothing outlives its test.
//! It does not test the store; `journal/tests/it/owners.rs` does.
//! Read next: `journal/tests/it/owners.rs`.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Epoch, Owner, RunId, Store};

use crate::support::desk::Desk;
use crate::support::running::Running;

/// A program that waits for ten minutes and for an answer.
const ASKER: &str = r#"
(spawn (lambda () (sleep 600000)))
(display "asking") (newline)
(define name (await (user-input :prompt "Name?" :tag "name")))
(display (list 'hello name)) (newline)
(exit 0)
"#;

/// A program that prints a line about every 20 ms.
const TICKER: &str = "(let loop ((n 0)) (display n) (newline) (sleep 20) (loop (+ n 1)))";

fn journal(desk: &Desk) -> PathBuf {
    desk.path(".duet/journal.sqlite")
}

/// The sockets beside the journal.
fn sockets(desk: &Desk) -> Vec<PathBuf> {
    let folder = desk.path(".duet/journal.sqlite.doors");
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn programs_that_start_at_once_in_an_empty_folder_all_run() {
    let desk = Desk::new(&[("p.scm", "(display \"ready\")")]);
    let children: Vec<Child> = (0..12).map(|_| desk.spawn("run p.scm")).collect();
    for child in children {
        let done = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            (done.status.code(), &done.stdout[..]),
            (Some(0), &b"ready"[..]),
            "{errors}"
        );
    }
    let listed = desk.check("fsck", 0, &desk.duet("fsck").output).output;
    assert_eq!(listed.matches("sound").count(), 12, "{listed}");
    assert_eq!(desk.duet("runs").output.matches("finished").count(), 12);
}

#[test]
fn runs_say_how_they_stand() {
    let desk = Desk::new(&[
        ("asker.scm", ASKER),
        ("question.scm", "(await (user-input :prompt \"Well?\"))"),
        ("good.scm", "(display 1)"),
        ("bad.scm", "(exit 3)"),
        ("left.scm", TICKER),
    ]);
    for (program, code) in [("question", 4), ("good", 0), ("bad", 3)] {
        assert_eq!(desk.duet(&format!("run {program}.scm")).code, code);
    }
    let mut left = Running::start(&desk, "run left.scm");
    left.line();
    left.signal("-KILL");
    left.end();
    let mut asker = Running::start(&desk, "run asker.scm");
    assert_eq!(asker.line(), "asking");
    let process = asker.child.id();
    for _ in 0..2 {
        let listed = desk.duet("runs").output;
        for expected in [
            format!("running: process {process}, duet run, asks 1 question"),
            "1  failed with code 3\n".to_owned(),
            "finished".to_owned(),
            "  left: its process has died\n".to_owned(),
            "waiting for a person, 1 question: Well?\n".to_owned(),
        ] {
            assert!(listed.contains(&expected), "{expected}: {listed}");
        }
    }
}

#[test]
fn a_question_of_a_running_program_is_answered_from_outside() {
    let desk = Desk::new(&[("asker.scm", ASKER)]);
    let mut asker = Running::start(&desk, "run asker.scm");
    assert_eq!(asker.line(), "asking");
    let refused = desk.duet("answer asker no-such-question Ada");
    assert_eq!(refused.code, 1);
    assert!(
        refused.errors.contains("asker has no open question `no-such-question`"),
        "{}",
        refused.errors
    );
    let said = desk.duet("answer asker Ada");
    assert_eq!((said.code, said.output.as_str()), (0, ""), "{}", said.errors);
    assert!(said.errors.contains("goes on with it"), "{}", said.errors);
    assert_eq!(asker.line(), "(hello Ada)");
    assert_eq!(asker.end().0, Some(0));
    assert_eq!(desk.duet("replay --check asker").code, 0);
    assert!(sockets(&desk).is_empty(), "a door closes with its process");
}

#[test]
fn a_running_program_is_stopped_and_goes_on_elsewhere() {
    let desk = Desk::new(&[("ticker.scm", TICKER)]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    assert_eq!(ticker.line(), "0");
    for line in ["resume ticker", "repl ticker"] {
        let refused = desk.duet(line);
        assert_eq!(refused.code, 1, "{line}");
        assert!(
            refused.errors.contains("belongs to `duet run`"),
            "{line}: {}",
            refused.errors
        );
    }
    let said = desk.duet("stop ticker");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(said.errors.contains("ticker stopped at turn"), "{}", said.errors);
    let (code, errors) = ticker.end();
    assert_eq!(code, Some(130), "{errors}");
    let said = desk.duet("stop ticker");
    assert!(said.errors.contains("no process executes ticker"), "{}", said.errors);
    let mut again = Running::start(&desk, "resume ticker");
    assert!(again.line().parse::<u64>().expect("it goes on") > 0);
}

#[test]
fn to_stop_a_run_that_has_ended_is_not_advised_to_resume_it() {
    let desk = Desk::new(&[
        ("done.scm", "(display 1)"),
        ("asks.scm", "(await (user-input :prompt \"Who?\"))"),
    ]);
    desk.check("run done.scm", 0, "1");
    let said = desk.check("stop done", 0, "").errors;
    assert_eq!(said, "done ended at turn 1 with code 0, so there is nothing to stop\n");
    desk.check("run asks.scm", 4, "");
    let said = desk.check("stop asks", 0, "").errors;
    assert!(said.contains("`duet waits asks` says for what"), "{said}");
}

#[test]
fn a_killed_owner_is_replaced_at_once() {
    let desk = Desk::new(&[("ticker.scm", TICKER)]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    ticker.line();
    ticker.signal("-KILL");
    ticker.end();
    assert_eq!(sockets(&desk).len(), 1, "a killed process leaves its socket");
    let mut next = Running::start(&desk, "resume ticker");
    next.line();
    assert_eq!(sockets(&desk).len(), 1, "the next one removes it");
    assert_eq!(desk.duet("stop ticker").code, 0);
}

#[test]
fn a_stopped_owner_whose_run_was_taken_has_no_effect_and_says_why() {
    let desk = Desk::new(&[("ticker.scm", TICKER)]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    for expected in 0..3 {
        assert_eq!(ticker.line(), expected.to_string());
    }
    ticker.signal("-STOP");
    let refused = desk.duet("resume ticker");
    assert_eq!(refused.code, 1);
    assert!(refused.errors.contains("--take-over"), "{}", refused.errors);
    let silent = desk.duet("stop ticker");
    assert!(silent.errors.contains("does not react"), "{}", silent.errors);
    assert!(silent.errors.contains("kill -CONT"), "{}", silent.errors);
    let mut taker = Running::start(&desk, "resume ticker --take-over");
    let first: u64 = taker.line().parse().expect("a number");
    ticker.signal("-CONT");
    let (code, errors) = ticker.end();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("ticker was taken over by another process"), "{errors}");
    // Its output was durable before it was stopped.
    let mut rest = String::new();
    ticker.output.read_to_string(&mut rest).expect("text");
    let last = rest
        .lines()
        .filter_map(|line| line.parse::<u64>().ok())
        .max()
        .unwrap_or(2);
    assert!(
        last <= first,
        "{last} came from the stopped one, {first} from the other"
    );
    assert!(taker.line().parse::<u64>().expect("it goes on") > first);
    assert_eq!(desk.duet("stop ticker").code, 0);
    assert_eq!(desk.duet("replay --check ticker").code, 0);
}

#[test]
fn several_programs_work_at_one_journal_while_a_session_is_open() {
    let desk = Desk::new(&[("ticker.scm", TICKER), ("p.scm", "(display \"done\")")]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    ticker.line();
    let mut prompt = Running::start(&desk, "repl");
    let mut typing = prompt.child.stdin.take().expect("a pipe");
    typing.write_all(b"(define x 41)\n(+ x 1)\n").expect("it reads");
    typing.flush().expect("it reads");
    assert_eq!(prompt.line(), "42");
    desk.check("run p.scm", 0, "done");
    typing.write_all(b"(* x 2)\n").expect("it reads");
    assert_eq!(prompt.line(), "82");
    drop(typing);
    assert_eq!(prompt.end().0, Some(0));
    assert_eq!(desk.duet("stop ticker").code, 0);
    assert_eq!(desk.duet("fsck").code, 0);
}

/// Sends bytes to the process that executes a run; returns what it says until it closes, or
/// nothing.
fn send(desk: &Desk, bytes: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(&sockets(desk)[0]).expect("it listens");
    let time = Some(Duration::from_secs(20));
    stream.set_read_timeout(time).expect("a socket");
    // The other side may close before it has read all.
    let _refused = stream.write_all(bytes);
    let mut said = Vec::new();
    let _end = stream.read_to_end(&mut said);
    said
}

#[test]
fn what_is_no_request_is_refused_and_harms_nobody() {
    let desk = Desk::new(&[("asker.scm", ASKER)]);
    let mut asker = Running::start(&desk, "run asker.scm");
    assert_eq!(asker.line(), "asking");
    for (bytes, expected) in [
        (
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            "packets in text are not understood here",
        ),
        (vec![0x99; 100], "in the place of a value"),
        (vec![0xb5; 5_000_000], "nested more than 200 levels"),
        (vec![0xb1, 0x80, 0x80, 0x80, 0x80, 0x04], "more than 4194304 bytes"),
        (vec![0x80], "is no turn"),
        // Half a packet, and then nothing.
        (vec![0xb5, 0xb5], "nothing more for 10 seconds"),
    ] {
        let said = send(&desk, &bytes);
        assert!(
            String::from_utf8_lossy(&said).contains(expected),
            "{expected}: {said:?}"
        );
    }
    // Somebody goes in the middle of a request.
    for length in [0, 1, 7] {
        let mut stream = UnixStream::connect(&sockets(&desk)[0]).expect("it listens");
        stream.write_all(&[0xb5; 7][..length]).expect("it reads");
    }
    assert_eq!(desk.duet("answer asker Ada").code, 0);
    assert_eq!(asker.line(), "(hello Ada)");
}

#[test]
fn only_its_user_reaches_a_run() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new(&[("asker.scm", ASKER)]);
    let mut asker = Running::start(&desk, "run asker.scm");
    asker.line();
    let mode = |path: PathBuf| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(desk.path(".duet/journal.sqlite.doors")), 0o700);
    assert_eq!(mode(sockets(&desk).remove(0)), 0o600);
}

#[test]
fn a_socket_that_is_gone_or_held_by_another_is_explained() {
    let desk = Desk::new(&[("asker.scm", ASKER)]);
    let mut asker = Running::start(&desk, "run asker.scm");
    asker.line();
    let socket = sockets(&desk).remove(0);
    fs::remove_file(&socket).expect("it is there");
    let said = desk.duet("answer asker Ada");
    assert_eq!(said.code, 1);
    assert!(said.errors.contains("cannot be reached"), "{}", said.errors);
    assert!(said.errors.contains("--take-over"), "{}", said.errors);
    // Another program has its place, and goes without an answer.
    let other = UnixListener::bind(&socket).expect("the name is free");
    #[expect(clippy::disallowed_methods, reason = "another program acts meanwhile")]
    let hanging_up = std::thread::spawn(move || drop(other.accept()));
    let said = desk.duet("answer asker Ada");
    assert!(said.errors.contains("ended before it answered"), "{}", said.errors);
    hanging_up.join().expect("it hangs up");
    assert!(journal(&desk).exists());
}

/// A program that waits for a signal, hears orders, and goes on until it is stopped.
const DESK: &str = r#"
(on-message (order $what) (display (list 'ordered what)) (newline))
(spawn (lambda () (await (signal 'open)) (display "open") (newline)))
(display "ready") (newline)
(sleep 600000)
"#;

#[test]
fn signals_and_messages_reach_a_running_program_and_are_turns() {
    let desk = Desk::new(&[("desk.scm", DESK)]);
    let mut running = Running::start(&desk, "run desk.scm");
    assert_eq!(running.line(), "ready");
    assert_eq!(desk.duet("signal desk open").code, 0);
    assert_eq!(running.line(), "open");
    let said = desk.duet("message desk \"<order \\\"tea\\\">\"");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert_eq!(running.line(), "(ordered tea)");
    assert!(desk.duet("facts desk").output.contains("<open>"));
    let malformed = desk.duet("message desk \"<order\"");
    assert_eq!(malformed.code, 2, "{}", malformed.errors);
    assert_eq!(desk.duet("stop desk").code, 0);
    assert_eq!(desk.duet("replay --check desk").code, 0);
}

#[test]
fn a_run_that_nobody_executes_is_told_something_here() {
    let desk = Desk::new(&[("p.scm", "(await (signal 'go)) (display \"went\") (newline) (exit 0)")]);
    let waiting = desk.duet("run p.scm");
    assert_eq!(waiting.code, 4, "{}", waiting.errors);
    assert!(waiting.errors.contains("p waits for a signal"), "{}", waiting.errors);
    assert!(desk.duet("runs").output.contains("waiting for a signal"));
    let said = desk.duet("signal p go");
    assert_eq!((said.code, said.output.as_str()), (0, "went\n"), "{}", said.errors);
    let over = desk.duet("signal p go");
    assert_eq!(over.code, 1);
    assert!(over.errors.contains("ended at turn"), "{}", over.errors);
}

#[test]
fn a_question_is_failed_from_outside() {
    let program = "(display (guard (e (#t (list (condition-kind e) (condition-message e))))
                     (await (user-input :prompt \"Name?\")))) (newline)";
    let busy = format!("(spawn (lambda () (sleep 600000))) {program}");
    let desk = Desk::new(&[("p.scm", program), ("q.scm", &busy)]);
    let failed = "(unavailable nobody is here)\n";
    assert_eq!(desk.duet("run p.scm").code, 4);
    let wrong = desk.duet("answer p --fail \"no kind\" text");
    assert!(wrong.errors.contains("is no kind of condition"), "{}", wrong.errors);
    desk.check("answer p --fail unavailable \"nobody is here\"", 0, failed);
    assert_eq!(desk.duet("replay --check p").code, 0);
    let mut running = Running::start(&desk, "run q.scm");
    while desk.duet("answer q --fail unavailable \"nobody is here\"").code != 0 {}
    assert_eq!(format!("{}\n", running.line()), failed);
}

#[test]
fn a_session_evaluates_what_another_process_asks_for() {
    let desk = Desk::new(&[]);
    let mut prompt = Running::start(&desk, "repl");
    let mut typing = prompt.child.stdin.take().expect("a pipe");
    typing
        .write_all(b"(define x 41)\n(spawn (lambda () (sleep 600000)))\nx\n")
        .expect("it reads");
    assert_eq!(prompt.line(), "41");
    drop(typing);
    let said = desk.duet("eval --act repl \"(begin (set! x (+ x 1)) x)\"");
    assert_eq!((said.code, said.output.as_str()), (0, "42\n"), "{}", said.errors);
    let failed = desk.duet("eval --act repl \"(car 5)\"");
    assert_eq!(failed.code, 1);
    assert!(failed.errors.contains("failed: "), "{}", failed.errors);
}

#[test]
fn branches_begin_at_turns_of_a_running_program() {
    let desk = Desk::new(&[("ticker.scm", TICKER)]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    for _ in 0..5 {
        ticker.line();
    }
    let said = desk.duet("fork ticker@2 what-if");
    assert_eq!(said.code, 0, "{}", said.errors);
    let taken = desk.duet("fork ticker@2 main");
    assert_eq!(taken.code, 2, "{}", taken.errors);
    ticker.line();
    assert!(desk.duet("branches ticker").output.contains("what-if"));
    assert_eq!(desk.duet("fsck").code, 0);
    // To go back it has to stand still.
    let said = desk.duet("goto ticker@1");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(said.errors.contains("ticker was stopped first"), "{}", said.errors);
    assert_eq!(ticker.end().0, Some(130));
    let mut again = Running::start(&desk, "resume ticker");
    assert!(again.line().parse::<u64>().expect("it goes on") < 3);
}

#[test]
fn a_log_is_followed_until_the_run_stops() {
    let desk = Desk::new(&[("ticker.scm", TICKER)]);
    let mut ticker = Running::start(&desk, "run ticker.scm");
    ticker.line();
    let mut log = Running::start(&desk, "log ticker --follow --limit 1");
    let first = log.line();
    assert!(first.starts_with('○'), "{first}");
    let numbers: Vec<u64> = (0..20)
        .map(|_| log.line())
        .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
        .collect();
    assert!(
        numbers.len() > 10 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{numbers:?}"
    );
    assert_eq!(desk.duet("stop ticker").code, 0);
    let mut rest = String::new();
    log.output.read_to_string(&mut rest).expect("text");
    let (code, errors) = log.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("no process executes ticker any more"), "{errors}");
}

#[test]
fn a_run_in_the_background_is_shown_answered_and_stopped() {
    let desk = Desk::new(&[("asker.scm", ASKER), ("ticker.scm", TICKER), ("bad.scm", "(display")]);
    let bad = desk.duet("run --detach bad.scm");
    assert_eq!(bad.code, 1, "{bad:?}");
    assert!(bad.errors.contains("bad.scm"), "{}", bad.errors);
    let said = desk.duet("run --detach asker.scm");
    assert_eq!((said.code, said.output.as_str()), (0, "asker\n"), "{}", said.errors);
    assert!(said.errors.contains("`duet attach asker` shows it"), "{}", said.errors);
    assert!(desk.duet("runs").output.contains("running: process"));
    let shown = desk.feed("attach asker", "Ada\n");
    assert_eq!(
        (shown.code, shown.output.as_str()),
        (0, "asking\n(hello Ada)\n"),
        "{}",
        shown.errors
    );
    assert_eq!(desk.check("run --detach ticker.scm --name t", 0, "t\n").code, 0);
    assert_eq!(desk.duet("stop t").code, 0);
    assert_eq!(desk.check("resume --detach t", 0, "t\n").code, 0);
    assert_eq!(desk.duet("stop t").code, 0);
    let shown = desk.duet("attach t");
    assert_eq!(shown.code, 130, "{}", shown.errors);
    assert!(shown.output.starts_with("0\n"), "{}", shown.output);
}

#[test]
fn attaching_to_a_run_that_waits_for_a_person_says_how_to_answer() {
    let program = "(import (duet base) (duet dataspace))\n(await (user-input :prompt \"Who?\"))";
    let desk = Desk::new(&[("p.scm", program)]);
    desk.check("run p.scm", 4, "");
    let said = desk.check("attach p", 4, "");
    assert!(said.errors.contains("`duet answer p TEXT` answers"), "{}", said.errors);
}

#[test]
fn a_journal_far_down_has_a_door_too() {
    let folder = format!("{0}/{0}/{0}", "a-folder-with-a-rather-long-name-indeed");
    let desk = Desk::new(&[("asker.scm", ASKER), (&format!("{folder}/x"), "")]);
    let journal = format!("--journal {folder}/journal.sqlite");
    let mut asker = Running::start(&desk, &format!("run asker.scm {journal}"));
    assert_eq!(asker.line(), "asking");
    let said = desk.duet(&format!("answer asker Ada {journal}"));
    assert_eq!(said.code, 0, "{}", said.errors);
    assert_eq!(asker.line(), "(hello Ada)");
}

/// Makes a living run look as if its owner were on another host whose clock is far behind.
fn move_elsewhere(desk: &Desk, run: &RunId) -> Epoch {
    let mut store = SqliteStore::open(&journal(desk), "test").expect("a journal");
    let epoch = store
        .claimed(run)
        .expect("it can be read")
        .expect("it is claimed")
        .epoch;
    let owner = Owner {
        host: "elsewhere".to_owned(),
        seen_ms: 1,
        ..Owner::this("run asker.scm")
    };
    store.note_owner(run, epoch, &owner.to_string()).expect("it is claimed");
    epoch
}

#[test]
fn a_name_that_is_taken_stays_with_its_owner_on_a_host_whose_clock_is_behind() {
    let desk = Desk::new(&[("asker.scm", "(await (user-input :prompt \"?\"))")]);
    assert_eq!(desk.duet("run asker.scm --name r").code, 4);
    let run = RunId::new("r").expect("a name");
    let epoch = move_elsewhere(&desk, &run);
    let said = desk.check("run asker.scm --name r", 2, "");
    assert!(said.errors.contains("there is a run r already"), "{}", said.errors);
    let store = SqliteStore::open(&journal(&desk), "test").expect("a journal");
    assert_eq!(
        store
            .claimed(&run)
            .expect("it can be read")
            .expect("it is claimed")
            .epoch,
        epoch
    );
}
