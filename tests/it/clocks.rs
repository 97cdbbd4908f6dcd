//! Hosts whose clocks differ from that of the server with their journal.
#![cfg(unix)]

use crate::postgres::server;
use crate::support::desk::Desk;
use crate::support::running::Running;
use crate::work::Worker;

const CLOCKED: &str = "
(import (scheme base) (scheme time) (duet base) (duet dataspace))
(assert! (record 'began (exact (floor (current-second)))))
(sleep 2500)
(assert! (record 'woken (exact (floor (current-second)))))
";

/// The number in the fact with a label.
fn second_of(facts: &str, label: &str) -> u64 {
    let (_, rest) = facts.split_once(&format!("<{label} ")).expect("a fact");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

#[test]
fn runs_go_by_the_clock_of_the_server() {
    let Some(server) = server::shared() else { return };
    for (place, seconds) in [("ahead of", 3600), ("behind", -3600)] {
        let options = server.with_clock_ahead(&server::schema(), seconds);
        let desk = Desk::new(&[("p.scm", CLOCKED)]);
        let state = desk.path("state").display().to_string();
        let desk = desk
            .knowing("DUET_JOURNAL", server.text(&options))
            .knowing("XDG_STATE_HOME", state);
        assert_eq!(desk.duet("run p.scm --queue").code, 0);
        let mut worker = Worker::start(&desk, "work");
        worker.until(&format!("{place} this host's; runs go by the server's"));
        worker.until("p sleeps");
        worker.until("p ended with code 0");
        worker.running.signal("-TERM");
        let facts = desk.duet("facts p").output;
        let (began, woken) = (second_of(&facts, "began"), second_of(&facts, "woken"));
        let expected = (duet_journal::owner::now_ms() / 1000).saturating_add_signed(seconds);
        assert!(
            began.abs_diff(expected) < 120 && (2..120).contains(&(woken - began)),
            "{facts}"
        );
        assert_eq!(desk.duet("replay p --check").code, 0);
    }
}

/// It asks a person and has a timer that runs out in three hours.
const AGED: &str = r#"
(import (scheme base) (duet base) (duet dataspace))
(spawn (lambda () (sleep 10799000)))
(await (user-input :prompt "Well?"))
"#;

#[test]
fn ages_and_durations_are_by_the_clock_of_the_server() {
    let Some(server) = server::shared() else { return };
    for seconds in [7200, -7200] {
        let options = server.with_clock_ahead(&server::schema(), seconds);
        let desk = Desk::new(&[("p.scm", AGED), ("ticker.scm", "(let loop () (sleep 50) (loop))")]);
        let state = desk.path("state").display().to_string();
        let desk = desk
            .knowing("DUET_JOURNAL", server.text(&options))
            .knowing("XDG_STATE_HOME", state);
        assert_eq!(desk.duet("run p.scm --queue").code, 0);
        let worked = desk.duet("work --idle-exit 0");
        assert_eq!(worked.code, 0, "{worked:?}");
        let waits = desk.duet("waits p").output;
        assert!(waits.contains("a timer: in 2 h (at "), "{seconds}: {waits}");
        let explained = desk.duet("explain p").output;
        assert!(explained.contains(" (now): the question"), "{seconds}: {explained}");
        let _running = Running::start(&desk, "run ticker.scm");
        let mut listed = String::new();
        while !listed.contains("running") {
            listed = desk.duet("runs").output;
        }
        assert!(listed.contains("running: process"), "{seconds}: {listed}");
    }
}

#[test]
fn a_clock_that_is_set_back_wakes_no_sleeping_run_late() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let options = server.with_clock_ahead(&schema, 0);
    let desk = Desk::new(&[("p.scm", "(sleep 6000)"), ("other.scm", "(sleep 1)")]);
    let state = desk.path("state").display().to_string();
    let desk = desk
        .knowing("DUET_JOURNAL", server.text(&options))
        .knowing("XDG_STATE_HOME", state);
    assert_eq!(desk.duet("run p.scm --queue").code, 0);
    let mut worker = Worker::start(&desk, "work");
    worker.until("p sleeps");
    server.set_clock(&schema, -3600);
    // The worker reads the clock when it says that it executes this one.
    assert_eq!(desk.duet("run other.scm --queue").code, 0);
    worker.until("other ended with code 0");
    worker.until("p ended with code 0");
    worker.running.signal("-TERM");
    assert_eq!(desk.duet("replay p --check").code, 0);
}
