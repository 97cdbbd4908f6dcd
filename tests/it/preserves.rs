//! The values of the Preserves specification, and the texts that are none, at each door by which
//! text comes into a run: commands, doubles, programs and clients of a server.
//!
//! INVARIANT: what comes in by any door is the same fact afterwards, and a refused text leaves no
//! trace.
//! It does not test the readers; `packed/tests/it/samples.rs` does.
//! Read next: `support/peer.rs`.
#![cfg(unix)]
#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::fs;

use duet_drivers::framing::Encoding;
use duet_runtime::driver::packed::framing::read_text;
use duet_runtime::driver::packed::{PackedLimits, PackedValue};

use crate::support::desk::{CommandOutput, Desk};
use crate::support::peer::{Peer, Served, grant};

const VALUES: &str = include_str!("../../packed/tests/it/samples/values.txt");
const FAULTS: &str = include_str!("../../packed/tests/it/samples/faults.txt");

/// Keeps what it hears.
const KEEPER: &str = "(on-message (all $values) (assert! (record 'got values))) (display \"ready\") (newline)";

/// The texts of the values that a run may receive, whose embedded ones stand for nothing there.
fn texts() -> Vec<String> {
    let text = |line: &str| line.split_once(' ').map(|(_, text)| text.replace('⏎', "\n"));
    let all = VALUES.lines().filter_map(text);
    all.filter(|text| !text.contains("#:")).collect()
}

/// The texts that are no value; blanks alone are none, either.
fn faults() -> impl Iterator<Item = &'static str> {
    FAULTS.lines().chain([" "])
}

/// One text with all values. An annotation needs a blank before it.
fn everything() -> String {
    format!("[{}]", texts().join(" "))
}

fn packed(text: &str) -> PackedValue {
    let value = read_text(text, PackedLimits::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    PackedValue::from_value(&value).expect("small")
}

/// Checks that the only fact `<got …>` of a run has all values.
#[track_caller]
fn check_got(desk: &Desk, run: &str) {
    let said = desk.with(&format!("facts {run}"), "<got _>");
    let (_, shown) = said.output.split_once('<').unwrap_or_else(|| panic!("{said:?}"));
    let expected = format!("<got {}>", everything());
    assert_eq!(packed(&format!("<{}", shown.trim_end())), packed(&expected));
}

#[test]
fn commands_take_every_value_and_refuse_the_rest() {
    let desk = Desk::new(&[("keeper.scm", KEEPER)]);
    desk.check("run keeper.scm --name r", 0, "ready\n");
    let said = desk.with("message r", &format!("<all {}>", everything()));
    assert_eq!(said.code, 0, "{said:?}");
    check_got(&desk, "r");
    let turns = desk.duet("log r --json").output;
    let refused = |text: &str, said: &CommandOutput| {
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{text}: {said:?}");
    };
    for text in faults() {
        refused(text, &desk.with("message r", text));
    }
    for text in ["#:0", "#:#:0", "[#:0 #:\"hello\"]"] {
        refused(text, &desk.with("message r", text));
    }
    refused("{", &desk.with("signal r done", "{"));
    refused("{", &desk.with("facts r", "{"));
    assert_eq!(desk.duet("log r --json").output, turns);
}

#[test]
fn doubles_return_every_value_and_refuse_the_rest() {
    let program = "(assert! (record 'got (call-tool 'r \"t\" 1)))";
    let double = format!("{{t: [<returns {}>]}}", everything());
    let manifest = "((program \"p.scm\") (tools t))";
    let desk = Desk::new(&[("p/manifest.scm", manifest), ("p/p.scm", program), ("d.pr", &double)]);
    desk.check("run p --double d.pr --name r", 0, "");
    check_got(&desk, "r");
    for text in faults() {
        fs::write(desk.path("d.pr"), format!("{{t: [<returns {text}>]}}")).expect("a file");
        let said = desk.check("run p --double d.pr --name other", 2, "");
        assert!(
            said.errors.contains("`d.pr` is no script of doubles"),
            "{text}: {said:?}"
        );
    }
    assert!(!desk.duet("runs").output.contains("other"));
}

/// A text as a literal of Scheme.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn programs_read_every_value_and_no_other_text() {
    let refused: Vec<String> = faults().chain(["", "#:0"]).map(literal).collect();
    let program = format!(
        "(import (scheme base) (duet base) (duet dataspace) (duet history))
        (define (refused? text)
          (guard (e ((eq? (condition-kind e) 'read-error) #t)) (text->value text) #f))
        (for-each
          (lambda (text) (if (not (refused? text)) (assert! (record 'taken text))))
          (list {}))
        (assert! (record 'got (text->value {})))",
        refused.join(" "),
        literal(&everything()),
    );
    let desk = Desk::new(&[("p.scm", &program)]);
    desk.check("run p.scm --name r", 0, "");
    check_got(&desk, "r");
    assert_eq!(desk.with("facts r", "<taken _>").output, "");
}

/// Handles of four digits and long names of actors make the lines of facts wide.
#[test]
fn a_program_finds_every_value_among_the_facts_of_a_branch() {
    let keeper = format!(
        "(import (scheme base) (duet base) (duet dataspace) (duet history))
        (let loop ((n 0)) (if (< n 1000) (begin (retract! (assert! n)) (loop (+ n 1)))))
        (assert! (record 'got (text->value {})))",
        literal(&everything()),
    );
    let finder = "(import (scheme base) (duet base) (duet dataspace) (duet history))
        (for-each assert! (branch-facts \"r\" \"<got _>\"))";
    let manifest = "((program \"finder.scm\") (tools process/run))";
    let desk = Desk::new(&[
        ("keeper.scm", &keeper),
        ("finder/manifest.scm", manifest),
        ("finder/finder.scm", finder),
    ]);
    desk.check("run keeper.scm --name r", 0, "");
    desk.check("run finder --journal other --name found", 0, "");
    check_got(&desk, "found --journal other");
}

fn check_served(encoding: Encoding) {
    let desk = Desk::new(&[("keeper.scm", KEEPER)]);
    let served = Served::start(&desk, "serve keeper.scm");
    let reference = grant(&desk, "keeper");
    let mut peer = Peer::enter(&desk, encoding, &reference);
    let packet = format!("[[1 <M <all {}>>]]", everything());
    let bytes = match encoding {
        Encoding::Text => packet.into_bytes(),
        Encoding::Packed => packed(&packet).into_bytes(),
    };
    peer.send_bytes(&bytes);
    peer.sync();
    // The program hears of it after the turn of the client.
    peer.sync();
    check_got(&desk, "keeper");
    let whole = |text: &&str| read_text(&format!("[{text}]"), PackedLimits::default()).is_err();
    for text in faults().filter(whole).filter(|text| is_closed(text)) {
        let mut peer = Peer::enter(&desk, Encoding::Text, &reference);
        peer.send_bytes(format!("[[1 <M {text} >]]\n").as_bytes());
        peer.expect_error("");
    }
    drop(served);
}

/// Says whether a faulty text is at an end, so that a server does not wait for the rest.
fn is_closed(text: &str) -> bool {
    !["{", "[", "<", "#{"]
        .iter()
        .any(|open| text.starts_with(open) && !text.contains([',', '}', ']', '>']))
}

#[test]
fn clients_send_every_value_in_text() {
    check_served(Encoding::Text);
}

#[test]
fn clients_send_every_value_packed() {
    check_served(Encoding::Packed);
}
