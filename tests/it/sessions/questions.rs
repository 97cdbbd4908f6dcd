//! What a session asks: a guest answers at the prompt, on this machine and over a socket, and a
//! client by messages.
//!
//! INVARIANT: only who has the right to answer a session's question does.
//! Read next: `../sessions.rs`.

use duet_drivers::framing::Encoding;

use crate::support::desk::Desk;
use crate::support::peer::{Peer, Served, grant};

/// A program whose sessions may ask, and write files only with approval.
const ASKING: &str = r#"
(import (duet base) (duet dataspace) (duet sessions) (duet policy) (scheme write))
(define-constraint "careful" :tool "chance/integer" :on-fail 'ask :reason "luck is precious")
(serve-sessions!)
(display "ready") (newline)
"#;

/// A text that asks for a name.
const NAME: &str = "(list 'hello (await (user-input :prompt \"Name?\")))\n";

/// A text that asks for approval.
const DRAW: &str = "(begin (random 10) (assert! (record 'drawn)) 'drawn)\n";

fn desk() -> (Desk, Served) {
    let desk = Desk::new(&[("room.scm", ASKING)]);
    let served = Served::start(&desk, "serve room.scm");
    (desk, served)
}

/// Feeds a prompt and compares its output.
#[track_caller]
fn check(desk: &Desk, line: &str, texts: &str, output: &str) -> String {
    let said = desk.feed(line, texts);
    assert_eq!((said.code, said.output.as_str()), (0, output), "{}", said.errors);
    said.errors
}

#[test]
fn a_guest_answers_the_questions_of_its_session() {
    let (desk, served) = desk();
    std::fs::write(desk.path("ada.ref"), grant(&desk, "room --session ada")).expect("a file");
    let remote = "repl --connect .duet/journal.sqlite.sock --reference ada.ref --session ada";
    for line in ["repl room --session ada", remote] {
        let texts = format!("{NAME},answer Ada\n(read-line)\n,answer a line\n");
        let errors = check(&desk, line, &texts, "(hello \"Ada\")\n\"a line\"\n");
        assert!(errors.contains(": Name?\n`,answer TEXT` answers"), "{errors}");
        assert!(errors.contains("a line of input is wanted"), "{errors}");
    }
    // A question stays when the guest leaves, and the next one sees it.
    let said = desk.feed("repl room --session ada", NAME);
    assert_eq!(said.output, "", "{}", said.errors);
    let errors = check(
        &desk,
        remote,
        "'meanwhile\n,answer Bob\n'after\n",
        "meanwhile\n(hello \"Bob\")\nafter\n",
    );
    assert!(errors.contains("Name?"), "{errors}");
    drop(served);
    desk.replays("room");
}

#[test]
fn a_guest_approves_what_its_reference_lets_it_approve() {
    let (desk, served) = desk();
    let connect = "repl --connect .duet/journal.sqlite.sock --reference ada.ref --session ada";
    std::fs::write(desk.path("ada.ref"), grant(&desk, "room --session ada")).expect("a file");
    let said = desk.feed(connect, DRAW);
    let number = said
        .errors
        .split("approval ")
        .nth(1)
        .and_then(|rest| rest.split(':').next());
    let number = number.expect("it is asked").to_owned();
    assert!(said.errors.contains("Allow chance/integer"), "{}", said.errors);
    // Without the right nothing happens, and with it the number is drawn.
    let refused = desk.feed(connect, &format!(",answer {number} yes\n"));
    assert!(refused.errors.contains("does not grant approvals"), "{refused:?}");
    assert!(!desk.duet("facts room").output.contains("drawn"), "{refused:?}");
    std::fs::write(desk.path("ada.ref"), grant(&desk, "room --session ada --approve")).expect("a file");
    let said = desk.feed(connect, &format!(",answer {number} yes\n(await (record 'drawn))\n"));
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(
        said.output.contains("#<record drawn>") || said.output.contains("drawn"),
        "{said:?}"
    );
    assert!(desk.duet("facts room").output.contains("<drawn>"), "{}", said.errors);
    // A rejection fails the request, and the session goes on.
    let texts = format!("(define kept 1)\n{DRAW}");
    let said = desk.feed(connect, &texts);
    let number = said
        .errors
        .split("approval ")
        .nth(1)
        .and_then(|rest| rest.split(':').next());
    let number = number.expect("it is asked");
    let said = desk.feed(connect, &format!(",answer {number} no\nkept\n"));
    assert_eq!(said.output, "1\n", "{}", said.errors);
    assert!(said.errors.contains("policy-denied"), "{}", said.errors);
    drop(served);
    desk.replays("room");
}

#[test]
fn a_client_answers_its_own_sessions_questions_only() {
    let (desk, _served) = desk();
    let mut ada = Peer::enter(&desk, Encoding::Packed, &grant(&desk, "room --session ada"));
    let mut bob = Peer::enter(&desk, Encoding::Packed, &grant(&desk, "room --session bob"));
    ada.send(
        "[[1 <A <Observe <group <rec 'session/event'> {0: <lit ':session'> 1: <lit \"ada\"> 2: <lit ':kind'> \
         3: <bind <_>> 4: <lit ':payload'> 5: <bind <_>> 6: <lit ':tag'> 7: <_> 8: <lit ':number'> \
         9: <_>}> #:[0 2]> 2>]
         [1 <A <'session/request' ':session' \"ada\" ':payload' [await ['user-input' ':prompt' \"Name?\"]] \
         ':tag' \"t\"> 3>]]",
    );
    let asked = ada.next().expect("an event");
    let name = asked.split('"').nth(1).expect("a name").to_owned();
    assert!(
        asked.contains("[question, <question ") && asked.contains("\"Name?\""),
        "{asked}"
    );
    let answer = |session: &str, value: &str| {
        format!("[[1 <M <'session/answer' ':session' \"{session}\" ':question' \"{name}\" ':payload' \"{value}\">>]]")
    };
    // The gate refuses the one, and the session of the other has no such question.
    bob.send(&answer("ada", "Bob"));
    bob.send(&answer("bob", "Bob"));
    bob.sync();
    ada.send(&answer("ada", "Ada"));
    let closed = ada.next().expect("an event");
    assert!(closed.contains(&format!("[closed, \"{name}\"]")), "{closed}");
    let mut events = Vec::new();
    while !events.iter().any(|event: &String| event.contains("[result, ")) {
        events.push(ada.next().expect("an event"));
    }
    assert!(
        events.iter().any(|event| event.contains("written: \"\\\"Ada\\\"\"")),
        "{events:?}"
    );
}

#[test]
fn evaluation_in_a_session_is_bounded_by_its_imports() {
    let desk = Desk::new(&[(
        "room.scm",
        "(import (scheme base) (duet sessions) (scheme write))
         (serve-sessions! :imports '((scheme base) (scheme eval) (scheme repl) (only (duet dataspace) assert!)))
         (display \"ready\\n\")",
    )]);
    let _served = Served::start(&desk, "serve room.scm");
    let allowed = "(eval '(+ 1 2) (environment '(only (scheme base) +) '(only (duet dataspace) assert!)))
(eval '(define five 5))
(list five (eval '(+ five 1) (interaction-environment)))\n";
    check(&desk, "repl room --session ada", allowed, "3\n(5 6)\n");
    for beyond in [
        "(environment '(duet policy))",
        "(environment '(duet dataspace))",
        "(environment '(rename (duet dataspace) (message! tell)))",
        "(eval '(message! 1) (interaction-environment))",
        "(eval '(import (duet dataspace)) (interaction-environment))",
        "(eval '(import (duet dataspace)))",
    ] {
        let said = desk.feed("repl room --session ada", &format!("{beyond}\n"));
        let is_refused = said.errors.contains("syntax-error") || said.errors.contains("message! is not defined");
        assert!(is_refused && said.output.is_empty(), "{beyond}: {}", said.errors);
    }
}

#[test]
fn a_session_without_the_right_to_ask_a_person_reads_lines_of_its_guest() {
    let desk = Desk::new(&[(
        "room.scm",
        "(import (scheme base) (duet sessions) (scheme write))
         (serve-sessions! :imports '((scheme base) (scheme read) (only (duet dataspace) await user-input)) :grants '())
         (display \"ready\\n\")",
    )]);
    let _served = Served::start(&desk, "serve room.scm");
    let texts = "(list (read-line) (read))\n,answer one\n,answer (two three)\n";
    check(&desk, "repl room --session ada", texts, "(\"one\" (two three))\n");
    let said = desk.feed("repl room --session ada", NAME);
    assert!(said.errors.contains("`person` was not granted"), "{}", said.errors);
}
