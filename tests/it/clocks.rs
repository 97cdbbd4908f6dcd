//! Hosts whose clocks differ from that of the server with their journal.
#![cfg(unix)]

use crate::postgres::server;
use crate::support::desk::Desk;
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
