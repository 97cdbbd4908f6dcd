//! How a run stands: what every report says of each state in which a run can be.
//!
//! INVARIANT: each row of the table in `src/verb/standing/rest.rs` has a row here, but that
//! of a run which cannot be restored.
//! It does not test how a run comes into a state. Read next: `owners.rs`, `work.rs`.
#![cfg(unix)]

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::{Owner, RunId, Store as _};

use crate::support::desk::Desk;
use crate::support::running::Running;

const SLEEPER: &str = "(display 1) (newline) (sleep 3600000)";

/// A process that executes a run for as long as the test takes.
const ASKER: &str = "(spawn (lambda () (sleep 3600000))) (display 1) (newline)
    (await (user-input :prompt \"Well?\"))";

/// A state: the run, what `duet runs` says of it, and what the JSON of `runs` and `explain` does.
struct Row {
    run: &'static str,
    shown: &'static str,
    status: &'static str,
    explained: &'static str,
    /// Whether it waits until a moment.
    has_end: bool,
}

const fn row(run: &'static str, shown: &'static str, status: &'static str, explained: &'static str) -> Row {
    Row {
        run,
        shown,
        status,
        explained,
        has_end: false,
    }
}

const fn until(run: &'static str, shown: &'static str, status: &'static str, explained: &'static str) -> Row {
    let row = row(run, shown, status, explained);
    Row { has_end: true, ..row }
}

/// Runs in each state; those of the last list are executed until the test ends.
fn desk() -> (Desk, Vec<Running>) {
    let desk = Desk::new(&[
        ("good.scm", "(display 1)"),
        ("bad.scm", "(exit 3)"),
        ("ask.scm", "(await (user-input :prompt \"Name?\"))"),
        (
            "ask-for-an-hour.scm",
            "(with-timeout 3600000 (user-input :prompt \"Name?\"))",
        ),
        ("fact.scm", "(await (signal 'go))"),
        ("fact-for-an-hour.scm", "(with-timeout 3600000 (signal 'go))"),
        ("hook/manifest.scm", "((program \"main.scm\") (tools webhook/*))"),
        (
            "hook/main.scm",
            "(import (duet base) (duet webhooks)) (serve-webhooks! 'hook 0)",
        ),
        (
            "stuck.scm",
            "(import (duet base) (duet agents)) (channel-take! (make-channel))",
        ),
        ("sleep.scm", SLEEPER),
        (
            "call/main.scm",
            "(display 1) (newline) (call-tool 'runner 'process/run (dictionary 'arguments '(\"sleep\" \"3600\")))",
        ),
        ("call/manifest.scm", "((program \"main.scm\") (tools process/run))"),
        ("asker.scm", ASKER),
    ]);
    for (program, code) in [("good", 0), ("bad", 3), ("ask", 4), ("fact", 4), ("stuck", 1)] {
        assert_eq!(desk.duet(&format!("run {program}.scm")).code, code, "{program}");
    }
    for program in ["ask-for-an-hour.scm", "fact-for-an-hour.scm", "hook", "sleep.scm"] {
        assert_eq!(desk.duet(&format!("run {program} --queue")).code, 0);
    }
    let worked = desk.duet("work --webhooks 0 --idle-exit 0");
    assert_eq!(worked.code, 0, "{worked:?}");
    assert_eq!(desk.duet("run sleep.scm --name queued --queue").code, 0);
    for (name, program, signal) in [
        ("stopped", "sleep.scm", "-TERM"),
        ("killed", "sleep.scm", "-KILL"),
        ("killed-calling", "call", "-KILL"),
    ] {
        let mut running = Running::start(&desk, &format!("run {program} --name {name}"));
        running.line();
        while desk.report(&format!("waits {name}"))["requests"][0].is_null() {}
        while name != "killed-calling" && !desk.duet(&format!("waits {name}")).output.contains("a timer") {}
        running.signal(signal);
        running.end();
    }
    let running = ["here", "elsewhere"].map(|name| {
        let mut running = Running::start(&desk, &format!("run asker.scm --name {name}"));
        running.line();
        while desk.report(&format!("waits {name}"))["requests"][1].is_null() {}
        running
    });
    note_elsewhere(&desk, "elsewhere");
    (desk, running.into())
}

/// Lets the journal say that a run is executed on another host.
fn note_elsewhere(desk: &Desk, run: &str) {
    let mut store = SqliteStore::open(&desk.path(".duet/journal.sqlite"), "").expect("a journal");
    let run = RunId::new(run).expect("a name");
    let claim = store.claimed(&run).expect("it is read").expect("a claim");
    let owner: Owner = claim.owner.parse().expect("an owner");
    let there = Owner {
        host: "elsewhere".to_owned(),
        ..owner
    };
    let noted = store.note_owner(&run, claim.epoch, &there.to_string());
    noted.expect("it is written");
}

const ROWS: [Row; 15] = [
    row("ask", "waiting for a person, 1 question: Name?", "waiting", "waiting"),
    until(
        "ask-for-an-hour",
        "waiting for a person, 1 question: Name? (until ",
        "waiting",
        "waiting",
    ),
    row("bad", "failed with code 3", "failed", "failed"),
    row("elsewhere", "running elsewhere: process ", "running", "waiting"),
    row("fact", "waiting for a signal: <go ...>", "waiting", "waiting"),
    until(
        "fact-for-an-hour",
        "waiting for a signal: <go ...> (until ",
        "waiting",
        "waiting",
    ),
    row("good", "finished", "finished", "finished"),
    row("here", "running: process ", "running", "waiting"),
    row("hook", "waiting for a webhook: hook", "waiting", "waiting"),
    until("killed", "left: its process has died (until ", "left", "left"),
    row(
        "killed-calling",
        "left: its process has died; it waits for the result of process/",
        "left",
        "left",
    ),
    row("queued", "waiting for a worker", "queued", "queued"),
    until("sleep", "sleeping until ", "sleeping", "sleeping"),
    until("stopped", "left (until ", "left", "left"),
    row("stuck", "stuck: the channel has a value", "stuck", "stuck"),
];

#[test]
fn each_state_of_a_run_has_its_words() {
    let (desk, _running) = desk();
    // The second time reads the findings that the first one has kept.
    for _ in 0..2 {
        let listed = desk.duet("runs").output;
        let runs = desk.report("runs");
        let runs = runs.as_array().expect("a list");
        assert_eq!(runs.len(), ROWS.len(), "{listed}");
        for (
            Row {
                run,
                shown,
                status,
                explained,
                has_end,
            },
            form,
        ) in ROWS.iter().zip(runs)
        {
            let line = listed.lines().find(|line| line.split_whitespace().next() == Some(run));
            let line = line.unwrap_or_else(|| panic!("{run}: {listed}"));
            let (_, state) = line.split_once(".scm").expect("a program");
            let state = state.trim_start();
            let (_, state) = state.split_once("  ").expect("the number of turns");
            assert!(state.starts_with(shown), "{run}: {state}");
            assert_eq!(state.contains("in 59 min"), *has_end, "{run}: {state}");
            assert_eq!(
                (&form["run"], &form["status"]),
                (&(*run).into(), &(*status).into()),
                "{form}"
            );
            assert_eq!(form["until_ms"].is_u64(), *has_end, "{form}");
            let report = desk.report(&format!("explain {run}"));
            assert_eq!(report["status"], *explained, "{run}: {report}");
        }
    }
}

#[test]
fn explain_says_until_when_a_run_sleeps_and_who_goes_on_with_it() {
    let desk = Desk::new(&[("p.scm", "(sleep 3600000)")]);
    desk.duet("run p.scm --queue");
    let queued = desk.duet("explain p");
    assert_eq!(queued.output, "p can go on from turn 0 and waits for a worker\n");
    assert!(queued.errors.contains("`duet work` goes on with it"), "{queued:?}");
    desk.duet("work --idle-exit 0");
    let asleep = desk.duet("explain p");
    assert!(asleep.output.starts_with("p sleeps since turn 1, "), "{asleep:?}");
    assert!(
        asleep
            .errors
            .contains("`duet work` goes on with it when its timer has run out"),
        "{asleep:?}"
    );
    assert_eq!(desk.duet("stop p").code, 0);
    let stopped = desk.duet("attach p");
    assert!(stopped.errors.contains("no process executes p: "), "{stopped:?}");
}
