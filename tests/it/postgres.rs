//! The command with a journal on a server: two desks are two hosts with one database.
//!
//! INVARIANT: every process is a real one; where PostgreSQL is not installed, each test says so.
//! It does not test the store; `postgres/tests/it` does.
//! Read next: `owners.rs`.

#[path = "../../postgres/tests/it/server.rs"]
pub(crate) mod server;

use std::collections::BTreeSet;
use std::process::Child;

use serde_json::json;

use crate::support::desk::Desk;
use crate::support::page_server::PageServer;
use crate::support::running::Running;

const ASKER: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(display "asking") (newline)
(assert! (record 'kept 1))
(define name (await (user-input :prompt "Name?" :tag "name")))
(display (list 'hello name)) (newline)
"#;

/// A program that prints a line about every 20 ms.
const TICKER: &str = "(let loop ((n 0)) (display n) (newline) (sleep 20) (loop (+ n 1)))";

/// Steps that each start a program which notes the step.
const STEPS: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (note! n)
  (guard (failure (#t #f))
    (call-tool 'step "process/run"
      (dictionary 'arguments
        (list "sh" "-c" (string-append "echo " (number->string n) " >> notes"))))))
(let loop ((n 0))
  (when (< n LAST)
    (note! n)
    (display n) (newline)
    (loop (+ n 1))))
"#;

/// A host whose commands use a schema of the server.
pub(crate) fn host(server: &server::Server, schema: &str) -> Desk {
    let desk = Desk::new(&[("p.scm", ASKER), ("ticker.scm", TICKER), ("one.scm", "(display 1)")]);
    let state = desk.path("state").display().to_string();
    desk.knowing("DUET_JOURNAL", server.text(&format!("schema={schema}")))
        .knowing("XDG_STATE_HOME", state)
}

/// What the replay of a run says, which compares every record.
#[track_caller]
fn check_replay(desk: &Desk, address: &str) {
    let said = desk.duet(&format!("replay {address}"));
    assert!(said.code == 0 && said.output.starts_with("identical"), "{said:?}");
}

#[test]
fn a_run_on_a_server_is_what_it_is_in_a_file() {
    let Some(server) = server::shared() else { return };
    let (there, here) = (host(server, &server::schema()), Desk::new(&[("p.scm", ASKER)]));
    for line in [
        "run p.scm",
        "runs",
        "log p",
        "facts p",
        "answer p Ada",
        "log p",
        "fork p@1 other",
        "branches p",
        "goto p@1",
        "resume p",
        "answer p Grace",
        "log p",
        "facts p@1",
        "replay p",
        "replay p/other",
        "mark p@1 begun",
        "log p@begun",
        "runs",
        "gc p",
        "branches p",
    ] {
        let (on_server, in_file) = (there.duet(line), here.duet(line));
        assert_eq!(
            (on_server.code, &on_server.output),
            (in_file.code, &in_file.output),
            "{line}: {on_server:?}"
        );
    }
    assert!(there.duet("show p@1").output.contains("ask-user \"Name?\""));
    assert!(!there.path(".duet").exists(), "nothing lies where a file would");
}

#[test]
fn a_run_that_was_killed_goes_on_from_another_host() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let (one, other) = (host(server, &schema), host(server, &schema));
    let mut ticking = Running::start(&one, "run ticker.scm");
    let mut last = 0;
    while last < 10 {
        last = ticking.line().parse().unwrap();
    }
    ticking.signal("-KILL");
    ticking.end();
    let mut resumed = Running::start(&other, "resume ticker");
    let next: u64 = resumed.line().parse().unwrap();
    assert!(next >= last, "what was durable is not done again: {next} after {last}");
    assert_eq!(resumed.line(), (next + 1).to_string());
    let runs = one.duet("runs");
    assert!(runs.output.contains("running"), "{runs:?}");
    resumed.signal("-KILL");
    resumed.end();
    check_replay(&one, "ticker");
}

#[test]
fn an_owner_that_was_stopped_and_overtaken_writes_nothing_more() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let (one, other) = (host(server, &schema), host(server, &schema));
    let mut first = Running::start(&one, "run ticker.scm");
    first.line();
    first.signal("-STOP");
    let refused = other.duet("resume ticker");
    assert!(
        refused.code != 0 && refused.errors.contains("belongs to `duet run`"),
        "{refused:?}"
    );
    let mut second = Running::start(&other, "resume ticker --take-over");
    let begun: u64 = second.line().parse().unwrap();
    first.signal("-CONT");
    let (code, told) = first.end();
    assert!(
        code != Some(0) && told.contains("taken over by another process"),
        "{code:?} {told}"
    );
    let next: Vec<u64> = (0..5).map(|_| second.line().parse().unwrap()).collect();
    assert_eq!(next, (begun + 1..begun + 6).collect::<Vec<_>>());
    second.signal("-KILL");
    second.end();
    check_replay(&one, "ticker");
}

#[test]
fn a_step_is_one_statement() {
    let Some(server) = server::Server::start(&["fsync=off", "log_statement=all"]) else {
        return;
    };
    let desk = host(&server, "duet");
    std::fs::write(desk.path("steps.scm"), STEPS.replace("LAST", "100")).unwrap();
    let statements = |what: &str| {
        let log = std::fs::read_to_string(server.folder.join("log")).unwrap();
        let is_one = |line: &&str| line.contains("execute <unnamed>") && line.contains(what);
        log.lines().filter(is_one).count()
    };
    let done = desk.duet("run steps.scm --grant process/run");
    assert!(done.code == 0 && done.output.ends_with("99\n"), "{done:?}");
    let (appends, all) = (statements(".append("), statements(""));
    assert!((100..110).contains(&appends), "{appends} commits of 100 steps");
    // It opens the journal, claims the run and gives it up, renews the claim and looks for letters.
    assert!(
        all - appends < 50,
        "{} statements beside {appends} commits",
        all - appends
    );
}

#[test]
fn an_owner_that_was_stopped_and_overtaken_has_no_effect_more() {
    let Some(server) = server::shared() else { return };
    for round in 0..2 {
        let schema = server::schema();
        let (one, other) = (host(server, &schema), host(server, &schema));
        std::fs::write(one.path("steps.scm"), STEPS.replace("LAST", "100000")).unwrap();
        let mut first = Running::start(&one, "run steps.scm --grant process/run");
        (0..5 + round).for_each(|_| drop(first.line()));
        first.signal("-STOP");
        let mut second = Running::start(&other, "resume steps --take-over");
        (0..3).for_each(|_| drop(second.line()));
        first.signal("-CONT");
        let (code, told) = first.end();
        assert!(code != Some(0) && told.contains("taken over"), "{code:?} {told}");
        (0..3).for_each(|_| drop(second.line()));
        second.signal("-KILL");
        second.end();
        // The call that was under way at the stop may begin late: its next owner knows that. Each
        // other one of the first owner would be noted twice, or behind later ones.
        let notes = std::fs::read_to_string(one.path("notes")).unwrap();
        let notes: Vec<u64> = notes.lines().map(|step| step.parse().unwrap()).collect();
        let each: BTreeSet<u64> = notes.iter().copied().collect();
        assert!(notes.len() > 10 && each.len() == notes.len(), "{notes:?}");
        let late = notes.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!(late <= 1, "{notes:?}");
        check_replay(&one, "steps");
    }
}

#[test]
fn hosts_run_programs_at_once() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let hosts = [host(server, &schema), host(server, &schema)];
    let children: Vec<Child> = (0..3)
        .flat_map(|_| hosts.each_ref().map(|host| host.spawn("run one.scm")))
        .collect();
    for child in children {
        let done = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), &done.stdout[..]), (Some(0), &b"1"[..]), "{errors}");
    }
    assert_eq!(hosts[0].duet("runs").output.matches("finished").count(), 6);
}

#[test]
fn what_is_wrong_with_a_server_is_said_without_its_password() {
    let desk = Desk::new(&[("p.scm", "(display 1)")]);
    let state = desk.path("state").display().to_string();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let desk = desk.knowing("XDG_STATE_HOME", state);
    for (address, why) in [
        (
            format!("postgres://team:secret@127.0.0.1:{port}/duet"),
            "cannot be reached",
        ),
        (
            format!("postgresql://team:secret@127.0.0.1:{port}/duet?schema=No"),
            "no name for a schema",
        ),
        (
            "postgres://team:secret@host:port/duet".to_owned(),
            "invalid value for option `port`",
        ),
    ] {
        for command in ["run p.scm", "runs", "log", "resume", "replay"] {
            let said = desk.duet(&format!("{command} --journal {address}"));
            assert!(
                said.code != 0 && said.errors.contains(why),
                "{command} {address}: {said:?}"
            );
            assert!(!said.errors.contains("secret"), "{said:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_server_comes_with_what_to_do() {
    let Some(server) = server::shared() else { return };
    let desk = host(server, &server::schema());
    let schema = server::schema();
    let (taken, reader) = (schema.replace('s', "taken"), schema.replace('s', "looker"));
    server.sql(&format!(
        "CREATE SCHEMA {taken}; CREATE TABLE {taken}.orders (id int); CREATE ROLE {reader} LOGIN"
    ));
    let as_reader = |options: &str| server.text(options).replace("duet@", &format!("{reader}@"));
    let only_reads = server.text(&format!(
        "schema={schema}&options=-c%20default_transaction_read_only%3Don"
    ));
    for (address, help) in [
        (server.text(&format!("schema={taken}")), "`?schema=NAME`"),
        (server.text("schema=x").replace("duet@", "nobody@"), "check the role"),
        (as_reader(&format!("schema={schema}")), "check the role"),
        (only_reads, "the server that takes writes"),
        (
            "postgres://team@127.0.0.1:1/duet".to_owned(),
            "once the server is there, give the command again",
        ),
    ] {
        let said = desk.duet(&format!("run one.scm --journal {address}"));
        assert!(said.code != 0 && said.errors.contains(help), "{address}: {said:?}");
    }
}

#[test]
fn a_page_shows_and_changes_runs_that_another_host_executes() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let (one, other) = (host(server, &schema), host(server, &schema));
    assert_eq!(other.duet("run p.scm").code, 4);
    let page = PageServer::start(&one, &["p", "--act"]);
    assert_eq!(page.path, "/p/main");
    let facts = page.report(json!({ "verb": "facts", "address": "p" }));
    assert_eq!(facts[0]["text"], "<kept 1>", "{facts}");
    let mut news = page.news("p");
    let first = news.next("news");
    assert_eq!(
        first,
        json!({ "branches": [{ "branch": "main", "turn": 1 }], "running": false })
    );
    let act = |message| page.post(&message);
    // The other host executes the run while the page asks for a branch and a move.
    let mut ticker = Running::start(&other, "run ticker.scm");
    ticker.until("3");
    let mut running = page.news("ticker");
    assert_eq!(running.next("news")["running"], true);
    let forked = act(json!({ "act": "fork", "address": "ticker@1", "branch": "early" }));
    assert_eq!(forked["code"], 0, "{forked}");
    let moved = act(json!({ "act": "goto", "address": "ticker@2" }));
    assert_eq!(moved["code"], 0, "{moved}");
    let stopped = act(json!({ "act": "stop", "address": "ticker" }));
    assert_eq!(stopped["code"], 0, "{stopped}");
    ticker.end();
    while running.next("news")["running"] == true {}
    let branches = other.report("branches ticker");
    assert!(branches.to_string().contains("early"), "{branches}");
    let asked = page.report(json!({ "verb": "waits", "address": "p" }));
    let request = &asked["requests"][0]["request"];
    let answered = act(json!({ "act": "answer", "address": "p", "request": request, "text": "Ada" }));
    assert!(
        answered["code"] == 0 && answered["output"].as_str().unwrap().contains("(hello Ada)"),
        "{answered}"
    );
    while news.next("news")["branches"][0]["turn"] == 1 {}
    check_replay(&other, "p");
    // Whoever may only look changes nothing.
    let looking = PageServer::start(&other, &[]);
    let refused = looking.post(&json!({ "act": "fork", "address": "p@1", "branch": "x" }));
    assert!(
        refused["error"].as_str().unwrap().contains("may only look"),
        "{refused}"
    );
    assert_eq!(act(json!({ "check": true }))["code"], 0);
}

#[test]
fn names_of_turns_and_moves_hold_on_every_host() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let (one, other) = (host(server, &schema), host(server, &schema));
    for line in [
        "run p.scm",
        "answer p Ada",
        "mark p@1 asked",
        "mark p@2 precious",
        "goto p@1",
    ] {
        let said = one.duet(line);
        assert!([0, 4].contains(&said.code), "{line}: {said:?}");
    }
    let marks = other.duet("mark p").output;
    assert_eq!(marks, one.duet("mark p").output);
    assert!(marks.contains("p@precious  turn 2"), "{marks}");
    // What one host has named, the other keeps, though the branch has left it.
    assert_eq!(other.duet("gc p").code, 0);
    let there = other.duet("log p@precious");
    assert!(there.code == 0 && there.output.contains("Ada"), "{there:?}");
    let back = other.duet("undo p");
    assert!(back.code == 0 && back.errors.contains("p is at turn"), "{back:?}");
    assert_eq!(one.duet("redo p").code, 0);
    assert_eq!(other.duet("mark p asked --delete").code, 0);
    assert!(!one.duet("mark p").output.contains("asked"));
}

#[test]
fn a_configuration_names_the_journal_and_workers_may_come_first() {
    let Some(server) = server::shared() else { return };
    let address = server.text(&format!("schema={}", server::schema()));
    let desk = Desk::new(&[("one.scm", "(display 1)")]);
    let folder = desk.path("config/duet");
    std::fs::create_dir_all(&folder).unwrap();
    let entry = |text: &str| std::fs::write(folder.join("config.toml"), text).unwrap();
    entry(&format!("[journal]\naddress = \"{address}\"\nlease_seconds = 7\n"));
    let (state, config) = (desk.path("state"), desk.path("config"));
    let desk = desk
        .knowing("XDG_STATE_HOME", state.display().to_string())
        .knowing("XDG_CONFIG_HOME", config.display().to_string());
    let mut worker = Running::start(&desk, "work --concurrency 1");
    while !desk.duet("work --status").output.contains("worker ") {}
    assert_eq!(desk.duet("run one.scm --queue").code, 0);
    while !worker.message().unwrap().contains("one ended with code 0") {}
    worker.signal("-TERM");
    worker.end();
    assert!(desk.duet("runs").output.contains("one "));
    assert!(!desk.path(".duet").exists(), "nothing lies where a file would");
    desk.check("runs --journal none.sqlite", 1, "");
    for (text, why) in [
        ("[journal]\naddress = 1\n", "journal.address"),
        ("[journal]\nlease_seconds = 0\n", "journal.lease_seconds"),
        ("[journal]\nother = 1\n", "journal.other"),
    ] {
        entry(text);
        let said = desk.duet("runs");
        assert!(said.code != 0 && said.errors.contains(why), "{text}: {said:?}");
    }
}
