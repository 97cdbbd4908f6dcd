//! Long reports on a terminal: through the pager that a person wants, and in no other case.
//!
//! INVARIANT: the terminal is a real one, and a test waits for what it shows.
//! Read next: `support/terminal.rs`.

use std::process::Command;

use crate::support::desk::Desk;
use crate::support::terminal::Terminal;

/// A command at a terminal, with a pager.
fn at_terminal(desk: &Desk, line: &str, pager: &str) -> Terminal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    command
        .args(line.split(' '))
        .current_dir(desk.path(""))
        .env("DUET_PAGER", pager)
        .env("NO_COLOR", "1");
    Terminal::start(&mut command, str::to_owned)
}

#[track_caller]
fn check(desk: &Desk, line: &str, pager: &str, shown: &[&str]) {
    let mut terminal = at_terminal(desk, line, pager);
    for text in shown {
        terminal.expect(text);
    }
    assert!(terminal.leave().success(), "{line} with {pager}");
}

/// A desk with a run that has many turns and asks.
fn asking() -> Desk {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(let loop ((n 0)) (when (< n 600) (log! n) (yield) (loop (+ n 1))))
(await (user-input :prompt \"Name?\"))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    desk
}

#[test]
fn a_long_report_on_a_terminal_goes_through_the_pager() {
    let desk = asking();
    let marking = "sed 's/^/paged /'";
    for (line, shown) in [
        ("log p --limit 3", "paged @"),
        ("show p@1", "paged p@1"),
        ("diff p@1 p@2", "paged "),
        ("why user-input-request p", "paged <user-input-request"),
        ("explain p", "paged p waits for a person"),
        ("waits p", "paged "),
        ("facts p", "paged "),
    ] {
        check(&desk, line, marking, &[shown]);
    }
    // A pager that shows nothing hides nothing that is not for it.
    let hiding = "sed d";
    for (line, shown) in [
        ("transcript p", "no language model was asked"),
        ("why user-input-request p --no-pager", "<user-input-request"),
        ("log p --limit 1 --json", "[{"),
        ("runs", "waiting for a person"),
    ] {
        check(&desk, line, hiding, &[shown]);
    }
}

#[test]
fn a_report_is_fitted_to_the_terminal() {
    let program = format!(
        "(import (scheme base) (duet base) (duet dataspace))
(define (fail text) (error \"this is no number\" text))
(fail \"{}\")",
        "x".repeat(400)
    );
    let desk = Desk::new(&[("p.scm", &program)]);
    assert_eq!(desk.duet("run p.scm").code, 1);
    for (line, shown) in [("explain p", "this is no number"), ("runs", "failed with code 1")] {
        let mut command = Command::new("sh");
        command
            .args(["-c", "stty cols 80; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_duet")])
            .args(line.split(' '))
            .current_dir(desk.path(""))
            .env("DUET_PAGER", "cat")
            .env("NO_COLOR", "1");
        let mut terminal = Terminal::start(&mut command, str::to_owned);
        // It holds the process's end of the terminal, which would never be closed.
        drop(command);
        terminal.expect(shown);
        terminal.expect("…\r\n");
        assert!(terminal.leave().success());
    }
    assert!(desk.duet("explain p").output.contains(&"x".repeat(400)));
}

#[test]
fn a_pager_that_is_missing_or_ends_early_loses_nothing_and_breaks_nothing() {
    let desk = asking();
    let last = "run of p.scm";
    for pager in ["no-such-pager -x", "'no-such-pager' -x", "cat", ""] {
        check(&desk, "log p", pager, &["ask \"Name?\"", last]);
    }
    check(&desk, "log p", "sed -n 1,2p", &["ask \"Name?\""]);
    let mut early = at_terminal(&desk, "log p", "head -n 1");
    early.expect("ask \"Name?\"");
    assert!(early.leave().success());
    // Behind a pipe nothing is paged.
    let desk = desk.knowing("DUET_PAGER", "sed 's/^/paged /'".to_owned());
    let piped = desk.duet("log p --limit 2");
    assert!(piped.code == 0 && piped.output.starts_with('@'), "{piped:?}");
}
