//! Sessions of a run: prompts of other people in it, clients of any language, and what a session
//! may not do.
//!
//! INVARIANT: every prompt and server is a process of its own, and a replay of each run needs none
//! of them.
//! It does not test the library's own rules; `tests/actors/sessions.scm` does.
//! Read next: `../stdlib/duet/sessions/host.scm`.
#![cfg(unix)]
#![allow(
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and waits for other processes"
)]

mod chat;
mod forks;
mod prompts;
mod questions;

use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};
use duet_drivers::framing::Encoding;

/// A program whose sessions may speak and see what is said, and nothing else.
const ROOM: &str = r#"
(import (duet base) (duet dataspace) (duet sessions) (scheme write))
(serve-sessions!
  :imports '((scheme base) (scheme write) (only (duet base) record)
             (only (duet dataspace) assert! message! on-assert))
  :grants '((dataspace/message (pattern (says $_)))
            (dataspace/observe (pattern (said $_)))
            (dataspace/assert (pattern (topic $_))))
  :fuel-limit 1000000)
(on-message (says $what) (assert! (record 'said what)))
(display "ready") (newline)
"#;

/// Feeds a guest's prompt and compares its output, and its exit code.
#[track_caller]
fn guest(desk: &Desk, words: &str, texts: &str, (code, output): (i32, &str)) -> String {
    let said = desk.feed(&format!("repl room {words}"), texts);
    assert_eq!((said.code, said.output.as_str()), (code, output), "{}", said.errors);
    said.errors
}

#[test]
fn the_work_of_primitives_counts_against_the_fuel_of_a_session() {
    let program = "(import (duet base) (duet dataspace) (duet sessions) (scheme process-context) (scheme write))
(serve-sessions! :imports '((scheme base)) :fuel-limit 1000000)
(on-assert (session/event :session $id :kind $kind :payload $payload)
  (when (memq kind '(result error))
    (write (list id kind (if (record? payload) (record-field payload 0) payload))) (newline)
    (if (equal? id \"bob\") (exit 0))))
(define (ask! id payload) (message! (record 'session/request :session id :payload payload :tag 1)))
(ask! \"eve\" '(let ((big (expt 3 100000)))
  (do ((i 0 (+ i 1))) ((= i 1000000)) (number->string big))))
(sleep 100)
(ask! \"bob\" ''heard)";
    let desk = Desk::new(&[("p.scm", program)]);
    let said = desk.duet("run p.scm");
    assert!(
        said.output
            .starts_with("(\"eve\" error \"out-of-fuel\")\n(\"bob\" result"),
        "{said:?}"
    );
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_guest_has_definitions_of_its_own_and_the_facts_of_all() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let served = Served::start(&desk, "serve room.scm");
    guest(
        &desk,
        "--session ada",
        "(define (double x)\n  (* 2 x))\n(double 21)\n(begin (display \"hello\") (newline) 'done)\n",
        (0, "42\nhello\ndone\n"),
    );
    // A named session stays; another has other definitions.
    guest(&desk, "--session ada", "(double 4)\n,quit\n(double 5)\n", (0, "8\n"));
    let errors = guest(&desk, "", "(double 4)\n", (1, ""));
    assert!(errors.contains("double is not defined"), "{errors}");
    assert!(errors.contains("eval 1:1:1"), "the error has its place: {errors}");
    // One speaks, and another hears.
    guest(
        &desk,
        "--session ada",
        "(begin (on-assert (said $what) (display (list 'heard what)) (newline)) 'listening)\n",
        (0, "listening\n"),
    );
    guest(&desk, "", "(message! (record 'says \"hi\"))\n", (0, ""));
    guest(&desk, "--session ada", "'back\n", (0, "(heard hi)\nback\n"));
    drop(served);
    desk.replays("room");
}

#[test]
fn a_session_names_and_does_only_what_it_was_granted() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let served = Served::start(&desk, "serve room.scm");
    for (text, reason) in [
        ("(import (duet base))", "a sandbox takes no import"),
        ("(eval '(import (duet base)))", "eval is not defined"),
        ("(call-tool 'x \"workspace/read\" 'y)", "call-tool is not defined"),
        (
            "(assert! (record 'said \"forged\"))",
            "`dataspace/assert` was granted only for",
        ),
        (
            "(assert! (record 'session/event :session \"bob\" :kind 'result :payload '() :tag 1 :number 1))",
            "`dataspace/assert` was granted only for",
        ),
        (
            "(message! (record 'session/request :session \"bob\" :payload 1 :tag 1))",
            "`dataspace/message` was granted only for",
        ),
        ("(on-assert (topic $t) t)", "`dataspace/observe` was granted only for"),
        ("(let loop () (loop))", "used all the fuel"),
        (
            "(let ((big (expt 3 1300000))) (let loop () (number->string big) (loop)))",
            "out-of-fuel",
        ),
        (
            "(let ((text (make-string 1000000 #\\a))) (let loop () (string->list text) (loop)))",
            "out-of-fuel",
        ),
    ] {
        let errors = guest(&desk, "--session ada", &format!("{text}\n"), (1, ""));
        assert!(errors.contains(reason), "{text}: {errors}");
    }
    // A granted action works, and a failure has taken nothing but its own turn.
    guest(
        &desk,
        "--session ada",
        "(begin (assert! (record 'topic \"tea\")) 'kept)\n",
        (0, "kept\n"),
    );
    drop(served);
    let facts = desk.duet("facts room").output;
    assert!(
        facts.contains("<topic \"tea\">") && !facts.contains("forged"),
        "{facts}"
    );
    desk.replays("room");
}

#[test]
fn a_request_pays_for_what_it_hands_to_the_run_also_if_it_is_refused() {
    let room = r#"
(import (duet base) (duet dataspace) (duet sessions) (scheme write))
(serve-sessions!
  :imports '((scheme base) (duet base) (duet dataspace) (only (duet history) text->value))
  :fuel-limit 1000000)
(display "ready") (newline)
"#;
    let desk = Desk::new(&[("room.scm", room)]);
    let served = Served::start(&desk, "serve room.scm");
    for (thing, call) in [
        (
            "(append (make-list 100000 1) (list car))",
            "(message! (record 'a thing))",
        ),
        (
            "(append (make-list 100000 1) (list car))",
            "(assert! (record 'a thing))",
        ),
        ("(list (make-string 3000000 #\\a) car)", "(assert! (record 'a thing))"),
        ("(make-string 3000000 #\\[)", "(text->value thing)"),
        ("(make-string 3000000 #\\a)", "(spawn-entity! thing)"),
        ("(make-string 3000000 #\\a)", "(describe (string->symbol thing))"),
        ("'map", "(describe thing)"),
        ("'map", "(invoke-tool! 'a \"clock/second\" #f)"),
    ] {
        let text = format!("(let ((thing {thing})) (let loop () (guard (e (#t #f)) {call}) (loop)))\n");
        let errors = guest(&desk, "--session ada", &text, (1, ""));
        assert!(errors.contains("out-of-fuel"), "{call}: {errors}");
    }
    drop(served);
    desk.replays("room");
}

#[test]
fn whoever_acts_pays_for_the_notices_of_it() {
    let room = r#"
(import (duet base) (duet dataspace) (duet sessions) (scheme write))
(serve-sessions! :imports '((scheme base) (duet base) (duet dataspace)) :fuel-limit 1000000)
(display "ready") (newline)
"#;
    let desk = Desk::new(&[("room.scm", room)]);
    let served = Served::start(&desk, "serve room.scm");
    // Each observer hears of each other one.
    let text = "(begin (do ((n 0 (+ n 1))) ((= n 2500)) (on-assert $a a)) 'observed)\n";
    let errors = guest(&desk, "--session ada", text, (1, ""));
    assert!(errors.contains("out-of-fuel"), "{errors}");
    let text = "(begin (do ((n 0 (+ n 1))) ((= n 20)) (on-assert $a a)) 'observed)\n";
    guest(&desk, "--session ada", text, (0, "observed\n"));
    drop(served);
    desk.replays("room");
}

#[test]
fn a_killed_server_goes_on_with_its_sessions() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::start(&desk, "serve room.scm");
    guest(&desk, "--session ada", "(define total 1)\n", (0, ""));
    for total in 2..5 {
        served.child.kill().expect("it runs");
        drop(served);
        served = Served::spawn(desk.spawn("serve room.scm"));
        served.said("clients come to");
        // The run has to be taken over first.
        let text = "(set! total (+ total 1))\ntotal\n";
        let said = (0..600).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let said = desk.feed("repl room --session ada", text);
            (said.code != 2).then_some(said)
        });
        let said = said.expect("it goes on");
        assert_eq!((said.code, said.output), (0, format!("{total}\n")), "{}", said.errors);
    }
    drop(served);
    desk.replays("room");
}

#[test]
fn a_session_that_begins_anew_takes_requests() {
    let room = r#"
(import (duet base) (duet dataspace) (duet sessions) (scheme write))
(serve-sessions!)
(on-assert (session/event :session $id :kind $kind :payload $payload :tag $tag :number $number)
  (write (list tag kind)) (newline))
(await (signal 'done))
"#;
    let desk = Desk::new(&[("room.scm", room)]);
    let ask = |tag: &str, text: &str| {
        let request = format!("<session/request ':session' \"ada\" ':payload' <text \"{text}\"> ':tag' {tag}>");
        desk.with("message room", &request).output
    };
    assert_eq!(desk.duet("run room.scm").code, 4);
    assert_eq!(ask("1", "(define x 1)"), "(1 result)\n");
    let actors: Vec<_> = desk.duet("log room").output.lines().map(str::to_owned).collect();
    let begins = actors.iter().find(|line| line.contains("session 2 begins"));
    assert!(begins.is_some(), "{actors:?}");
    let said = desk.with("restart room", "session 2");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert_eq!(ask("2", "x"), "(2 error)\n");
    assert_eq!(ask("1", "2"), "(1 result)\n");
    desk.replays("room");
}

#[test]
fn a_program_without_sessions_says_so() {
    let desk = Desk::new(&[("room.scm", "(on-message (says $x) x) (display \"ready\") (newline)")]);
    let _served = Served::start(&desk, "serve room.scm");
    let said = desk.feed("repl room", "1\n");
    assert_eq!((said.code, said.output.as_str()), (1, ""));
    assert!(
        said.errors.contains("and its program lets no sessions begin"),
        "{said:?}"
    );
    assert!(said.errors.contains("(serve-sessions!)"), "{said:?}");
}

#[test]
fn a_session_needs_a_process() {
    let desk = Desk::new(&[("room.scm", "1")]);
    desk.check("run room.scm", 0, "");
    let said = desk.feed("repl room --session ada", "1\n");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("no process executes room"), "{said:?}");
}

#[test]
fn a_client_reaches_its_own_session_only() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let _served = Served::start(&desk, "serve room.scm");
    let reference = grant(&desk, "room --session ada");
    let mut ada = Peer::enter(&desk, Encoding::Packed, &reference);
    ada.send(
        "[[1 <A <Observe <group <rec 'session/event'> {0: <lit ':session'> 1: <lit \"ada\"> 2: <lit ':kind'> \
         3: <bind <_>> 4: <lit ':payload'> 5: <bind <_>> 6: <lit ':tag'> 7: <bind <_>> 8: <lit ':number'> \
         9: <bind <_>>}> #:[0 2]> 2>]
         [1 <A <'session/request' ':session' \"ada\" ':payload' [+ 1 2] ':tag' \"t\"> 3>]]",
    );
    ada.expect("2 <A [result, [{data: 3, name: \"$1\", written: \"3\"}], \"t\", 1] 2>");
    // Another session does not begin, and its events are not shown.
    ada.send(
        "[[1 <A <'session/request' ':session' \"bob\" ':payload' [+ 1 2] ':tag' \"t\"> 4>]
          [1 <M <'session/request' ':session' \"ada\" ':payload' <text \"(define x 5) (* x x)\"> ':tag' \"u\">>]]",
    );
    ada.expect("2 <A [result, [{data: 25, name: \"$2\", written: \"25\"}], \"u\", 2] 3>");
    // The session removes the events that the client has seen.
    ada.send("[[1 <M <'session/seen' ':session' \"ada\" ':number' 2>>]]");
    ada.expect("2 <R 2>");
    ada.expect("2 <R 3>");
    drop(ada);
    let facts = desk.duet("facts room").output;
    assert!(!facts.contains("bob"), "{facts}");
}

#[test]
fn a_prompt_reaches_a_session_over_a_socket() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let mut served = Served::spawn(desk.spawn("serve room.scm --listen tcp:127.0.0.1:0"));
    served.line("ready");
    let listening = served.said("clients come to tcp:");
    let place = listening.split_whitespace().find(|word| word.starts_with("tcp:"));
    let place = place.expect("an address").trim_end_matches([',', ';']);
    let reference = grant(&desk, "room --session ada");
    std::fs::write(desk.path("ada.ref"), reference).expect("a file");
    // The client has no journal.
    let connect = format!("repl --connect {place} --reference ada.ref");
    let texts = "(define (double x)\n  (* 2 x))\n(double 21)\n(begin (display \"hello\") (newline) 'done)\n";
    let said = desk.feed(&format!("{connect} --session ada"), texts);
    assert_eq!(said.output, "42\nhello\ndone\n", "{}", said.errors);
    // The session stays, also when it is entered by the journal; an error has its place.
    guest(&desk, "--session ada", "(double 4)\n", (0, "8\n"));
    let said = desk.feed(&format!("{connect} --session ada"), "(double 5)\n(car 'x)\n");
    assert_eq!((said.code, said.output.as_str()), (1, "10\n"));
    assert!(
        said.errors.contains("argument 1 of car must be a pair"),
        "{}",
        said.errors
    );
    // The next visit shows the output of the time between.
    let listen = "(begin (on-assert (said $what) (display (list 'heard what)) (newline)) 'listening)\n";
    assert_eq!(
        desk.feed(&format!("{connect} --session ada"), listen).output,
        "listening\n"
    );
    guest(&desk, "", "(message! (record 'says \"hi\"))\n", (0, ""));
    let said = desk.feed(&format!("{connect} --session ada"), "'back\n");
    assert_eq!(said.output, "(heard hi)\nback\n", "{}", said.errors);
    // Commands that need the journal and references without a grant are refused.
    let said = desk.feed(&format!("{connect} --session ada"), ",log\n");
    assert!(
        said.errors.contains("this needs the journal of the run"),
        "{}",
        said.errors
    );
    let said = desk.feed(&format!("{connect} --session bob"), "1\n");
    assert!(said.errors.contains("the session does not begin"), "{}", said.errors);
    std::fs::write(desk.path("no.ref"), "(not a reference)").expect("a file");
    let said = desk.feed(&format!("repl --connect {place} --reference no.ref"), "1\n");
    assert!(said.errors.contains("holds no sturdy reference"), "{}", said.errors);
    desk.duet("grant --list")
        .output
        .split_whitespace()
        .next()
        .map(|id| desk.duet(&format!("grant --revoke {id}")));
    let said = desk.feed(&format!("{connect} --session ada"), "1\n");
    let refused = "the gatekeeper refuses: the sturdy reference has been revoked\n";
    assert!(said.errors.contains(refused), "{}", said.errors);
    drop(served);
    let said = desk.feed(&format!("{connect} --session ada"), "1\n");
    assert!(said.errors.contains("does not answer"), "{}", said.errors);
    desk.replays("room");
}

#[test]
fn a_prompt_says_why_its_connection_has_ended() {
    let desk = Desk::new(&[(
        "room.scm",
        "(import (duet sessions) (scheme write)) (serve-sessions!) (display \"ready\\n\")",
    )]);
    let _served = Served::start(&desk, "serve room.scm");
    std::fs::write(desk.path("ada.ref"), grant(&desk, "room --session ada")).expect("a file");
    let line = "repl --connect .duet/journal.sqlite.sock --reference ada.ref --session ada";
    let mut prompt = desk.spawn(line);
    let mut typed = prompt.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut typed, b"(let loop () (loop))\n").expect("it reads");
    while !desk.duet("facts room session/ready").output.contains("ada") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(desk.duet("stop room").code, 0);
    let said = prompt.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(130), "{errors}");
    assert!(errors.contains("the server ended the connection: "), "{errors}");
    assert!(errors.contains("the same command enters the session"), "{errors}");
}
