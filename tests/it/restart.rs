//! Making one actor of a run begin anew, by the real command.
//!
//! INVARIANT: the actor keeps its number and its configuration and nothing that it has computed;
//! everybody else goes on; a beginning that fails leaves no trace.
//! The actor's end and beginning are the runtime's. Read next: `patch.rs`.

use serde_json::{Value, json};

use crate::support::desk::Desk;

/// Two clerks that count what they hear: actor 1, bob, has a handler for its end, and actor 2, ada,
/// a supervisor that allows no end.
const CLERKS: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet control)
        (duet supervision))
(define (say . parts) (for-each display parts) (newline))
(define (clerk name)
  (define count 0)
  (assert! (record 'open name))
  (on-message (order $who)
    (if (equal? who name) (begin (set! count (+ count 1)) (say name " " count))))
  (on-stop (lambda () (say name " stops")))
  (spawn (lambda () (await (user-input :prompt (string-append name "?"))))))
(register-entity! 'clerk clerk)
(define bob
  (spawn-entity! 'clerk :config "bob" :on-exit (lambda (reason) (say "bob ended " reason))))
(define watch (supervise 'one-for-one (list (child 'clerk :config "ada")) :intensity 0))
(define (wait)
  (await (user-input :prompt "next?" :tag "next"))
  (message! (record 'order "ada"))
  (message! (record 'order "bob"))
  (wait))
(wait)
"#;

/// The number of the turn in which the main program sends the first orders.
const SENT: u64 = 4;

fn clerks() -> Desk {
    let desk = Desk::new(&[("clerks.scm", CLERKS)]);
    let run = desk.duet("run clerks.scm");
    assert_eq!(run.code, 4, "{}", run.errors);
    desk
}

/// Lets the main program send an order to each clerk, and returns what they say, sorted.
fn orders(desk: &Desk, address: &str) -> Vec<String> {
    said(&desk.duet(&format!("answer {address} next x")).output)
}

fn said(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = output.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Makes an actor begin anew, and returns the report.
fn restart(desk: &Desk, line: &str) -> Value {
    desk.report(&format!("restart {line}"))
}

#[test]
fn an_actor_begins_anew_under_its_name_and_others_go_on() {
    let desk = clerks();
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 1"]);
    let begun = restart(&desk, "clerks 2");
    assert_eq!(
        (&begun["actor"], &begun["name"], &begun["supervisor"]),
        (&json!(2), &json!("clerk 2"), &json!("main"))
    );
    // Its own count is gone; neither its hooks ran, nor did its supervisor give up.
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 2"]);
    assert_eq!(restart(&desk, "clerks 1")["name"], "clerk 1");
    assert_eq!(orders(&desk, "clerks"), ["ada 2", "bob 1"]);
    let log = desk.duet("log clerks").output;
    assert!(log.contains("main     clerk 2 began anew"), "{log}");
    assert!(!log.contains("ended"), "{log}");
    desk.replays("clerks");
}

#[test]
fn an_actor_is_found_by_its_path_of_names() {
    let desk = clerks();
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 1"]);
    let said = desk.with("restart --json clerks", "main/clerk");
    let begun: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.errors));
    assert_eq!(begun["name"], "clerk 1");
    let said = desk.with("restart --json clerks", "main/clerk 2");
    assert!(said.output.contains("clerk 2"), "{}{}", said.output, said.errors);
    let of = |actor: &str| desk.with("log clerks --actor", actor).output;
    assert_eq!(of("main/clerk"), of("1"));
    assert_eq!(of("main/clerk 2"), of("2"));
    assert_ne!(of("1"), of("2"));
}

#[test]
fn its_facts_and_questions_are_those_of_its_new_beginning() {
    let desk = clerks();
    restart(&desk, "clerks 2");
    let facts = desk.duet("facts clerks").output;
    assert_eq!(facts.matches("<open \"ada\">").count(), 1, "{facts}");
    let waits = desk.duet("waits clerks").output;
    assert_eq!(waits.matches("question \"ada?\"").count(), 1, "{waits}");
    let proved = desk.duet("fsck");
    assert_eq!(proved.code, 0, "{}{}", proved.output, proved.errors);
}

#[test]
fn beginning_anew_is_taken_back_and_other_branches_do_not_have_it() {
    let desk = clerks();
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 1"]);
    assert_eq!(desk.duet("fork clerks other").code, 0);
    let turn = restart(&desk, "clerks/main 2")["turn"].as_u64().expect("a turn");
    assert_eq!(desk.duet(&format!("fork clerks/main@{turn} after")).code, 0);
    assert_eq!(orders(&desk, "clerks/other"), ["ada 2", "bob 2"]);
    assert_eq!(orders(&desk, "clerks/after"), ["ada 1", "bob 2"]);
    assert_eq!(desk.duet(&format!("goto clerks/main@{}", turn - 1)).code, 0);
    assert_eq!(orders(&desk, "clerks/main"), ["ada 2", "bob 2"]);
    for branch in ["main", "other", "after"] {
        desk.replays(&format!("clerks/{branch}"));
    }
}

#[test]
fn messages_on_their_way_reach_the_new_observer_of_the_pattern() {
    let desk = clerks();
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 1"]);
    assert_eq!(desk.duet(&format!("goto clerks@{SENT}")).code, 0);
    // The run goes on in the world, because the other clerk asks its question again.
    let begun = desk.duet("restart clerks 2");
    assert_eq!(said(&begun.output), ["ada 1", "bob 1"], "{}", begun.errors);
    assert_eq!(orders(&desk, "clerks"), ["ada 2", "bob 2"]);
    desk.replays("clerks");
}

#[test]
fn with_a_changed_text_it_begins_with_the_new_definitions() {
    let desk = clerks();
    let changed = CLERKS.replace("(define count 0)", "(define count 40)");
    std::fs::write(desk.path("new.scm"), changed).expect("a file");
    let begun = restart(&desk, "clerks 2 --with new.scm");
    assert_eq!(begun["patched"], json!(true));
    assert_eq!(orders(&desk, "clerks"), ["ada 41", "bob 1"]);
    std::fs::remove_file(desk.path("new.scm")).expect("a file");
    desk.replays("clerks");
}

#[test]
fn what_cannot_begin_anew_is_refused_and_leaves_no_trace() {
    let desk = clerks();
    let broken = CLERKS.replace("(define count 0)", "(define count (car 0))");
    std::fs::write(desk.path("broken.scm"), broken).expect("a file");
    let before = desk.duet("log clerks").output;
    for (line, said) in [
        ("clerks clrk", "did you mean `clerk`?"),
        ("clerks 77", "its living actors: main, clerk 1, clerk 2"),
        (
            "clerks clerk",
            "name one: `clerk 1` (main/clerk), `clerk 2` (main/clerk 2)",
        ),
        ("clerks main/clark", "did you mean `main/clerk`?"),
        (
            "clerks other/place",
            "the paths of its living actors: main, main/clerk, main/clerk 2",
        ),
        ("clerks main", "`duet resume clerks --with PROGRAM`"),
        ("clerks 2 --with broken.scm", "nothing has changed"),
        ("clerks@1 2", "`duet goto clerks@1`"),
    ] {
        let refused = desk.duet(&format!("restart {line}"));
        assert_ne!(refused.code, 0, "{line}");
        assert_eq!(refused.output, "", "{line}");
        assert!(refused.errors.contains(said), "{line}: {}", refused.errors);
        assert_eq!(desk.duet("log clerks").output, before, "{line}");
    }
    assert_eq!(orders(&desk, "clerks"), ["ada 1", "bob 1"]);
    desk.replays("clerks");
}

#[test]
fn actors_and_runs_that_have_ended_do_not_begin_anew() {
    let text = "(define (guest name) (display name) (exit 0))\n(register-entity! 'guest guest)\n\
                (spawn-entity! 'guest :config \"eve\")\n(await (user-input :prompt \"go on?\"))\n(exit 0)\n";
    let desk = Desk::new(&[("steps.scm", text)]);
    assert_eq!(desk.duet("run steps.scm").code, 4);
    for (actor, name) in [("1", "guest 1"), ("guest", "guest 1"), ("main/guest", "main/guest")] {
        let refused = desk.duet(&format!("restart steps {actor}"));
        assert!(
            refused.errors.contains(&format!("{name} of steps has ended")),
            "{}",
            refused.errors
        );
    }
    assert_eq!(desk.duet("answer steps yes").code, 0);
    let refused = desk.duet("restart steps guest");
    assert_eq!(refused.code, 1);
    assert!(refused.errors.contains("ended at turn"), "{}", refused.errors);
}

/// Calls a tool of a server, and returns the text of the result and whether it failed.
fn call(desk: &Desk, server: &str, name: &str, arguments: &Value) -> (String, bool) {
    let params = json!({ "name": name, "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let said = desk.feed(server, &format!("{call}\n"));
    let reply: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let text = reply["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{name}: {reply}"));
    (text.to_owned(), reply["result"]["isError"] == json!(true))
}

#[test]
fn a_client_changes_code_only_if_the_person_allows_it() {
    let clerk = "(define (clerk name) (await (signal 'go)))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config 1)
(define (greet) \"hello\")
(await (user-input :prompt \"Who?\"))
(display (greet))
";
    let changed = clerk.replace("hello", "good day");
    let desk = Desk::new(&[("p.scm", clerk), ("changed.scm", &changed)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let before = desk.duet("log p").output;
    let calls = [
        ("patch", json!({ "address": "p", "program": "changed.scm" }), "greet"),
        (
            "restart",
            json!({ "address": "p", "actor": "main/clerk" }),
            "clerk 1 began anew",
        ),
        ("resume", json!({ "address": "p", "with": "changed.scm" }), "p/main-new"),
    ];
    for (name, arguments, _) in &calls {
        let (text, is_error) = call(&desk, "mcp", name, arguments);
        assert!(is_error && text.contains("duet mcp --allow-code"), "{name}: {text}");
    }
    assert_eq!(desk.duet("log p").output, before);
    for (name, arguments, expected) in &calls {
        let (text, is_error) = call(&desk, "mcp --allow-code", name, arguments);
        assert!(!is_error && text.contains(expected), "{name}: {text}");
    }
    for branch in ["p/main", "p/main-new"] {
        assert_eq!(desk.duet(&format!("answer {branch} Ada")).output, "good day");
    }
    let outside = json!({ "address": "p", "program": "/etc/hostname" });
    let (text, is_error) = call(&desk, "mcp --allow-code", "patch", &outside);
    assert!(is_error && text.contains("lies outside the folders"), "{text}");
}

#[test]
fn a_program_that_takes_texts_is_changed_at_its_prompt() {
    // `eval` makes a program take texts.
    let text = "(define (clerk name) (await (signal 'go)))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config 1)
(define (greet) \"hello\")
(eval '(+ 1 2))
(await (signal 'end))
(display (greet))
";
    let desk = Desk::new(&[("p.scm", text), ("new.scm", &text.replace("hello", "good day"))]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let said = desk.feed(
        "repl p",
        ",patch new.scm\n,restart main/clerk\n,restart clark\n,rerun new.scm\n",
    );
    assert!(said.output.contains("changed: greet"), "{said:?}");
    for expected in [
        "clerk 1 began anew in p@",
        "did you mean `clerk`?",
        "p/main-new begins with new.scm",
    ] {
        assert!(said.errors.contains(expected), "{expected}: {}", said.errors);
    }
    for branch in ["p/main", "p/main-new"] {
        assert_eq!(desk.duet(&format!("signal {branch} end")).output, "good day");
        desk.replays(branch);
    }
    let refused = desk.feed("repl --name s", "(define x 1)\n,patch new.scm\nx\n");
    assert!(
        refused.errors.contains("s is a run of the prompt"),
        "{}",
        refused.errors
    );
    assert_eq!(refused.output, "1\n");
}

#[test]
fn a_name_of_a_run_of_another_text_is_refused_with_three_ways() {
    let text = "(define (greet) \"hello\")\n(await (signal 'end))\n(display (greet))\n";
    let desk = Desk::new(&[("p.scm", text), ("q r.scm", &text.replace("hello", "good day"))]);
    assert_eq!(desk.duet("run p.scm --name greeter").code, 4);
    let said = desk.check("run p.scm --name greeter", 2, "");
    assert!(
        said.errors.contains("`duet resume greeter` goes on with it"),
        "{}",
        said.errors
    );
    let said = desk.with("run --name greeter", "q r.scm");
    assert_eq!((said.code, said.output.as_str()), (2, ""));
    for way in [
        "there is a run greeter already, of another text than q r.scm",
        "`duet run 'q r.scm' --name greeter-2` begins a run of it",
        "`duet resume greeter --with 'q r.scm'` runs it from its start",
        "`duet patch greeter 'q r.scm'` puts it in the place",
    ] {
        assert!(said.errors.contains(way), "{way}: {}", said.errors);
    }
    assert_eq!(desk.duet("runs").output.matches("greeter").count(), 1);
}

#[test]
fn a_run_of_an_edited_program_says_that_one_of_the_earlier_text_is_there() {
    let text = "(define answer (await (user-input :prompt \"go?\")))\n(display answer)\n";
    let desk = Desk::new(&[("p.scm", text)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    std::fs::write(desk.path("p.scm"), text.replace("answer)\n", "'answer)\n")).expect("a file");
    let said = desk.duet("run p.scm");
    let told = "p is a run of another text, so p-2 begins; `duet resume p --with p.scm` runs this one on what p \
                has received, `duet patch p p.scm` puts it in the place of the one that p executes\n";
    assert!(said.errors.contains(told), "{}", said.errors);
    assert!(
        !desk.duet("run p.scm").errors.contains("another text"),
        "p-2 has this text"
    );
    assert_eq!(desk.duet("answer p-3 x").code, 0);
    std::fs::write(desk.path("p.scm"), text).expect("a file");
    let said = desk.duet("run p.scm");
    assert!(
        said.errors.contains("p-3 is a run of another text, so p-4 begins"),
        "{}",
        said.errors
    );
    assert!(
        !said.errors.contains("duet patch"),
        "a run that has ended takes no text"
    );
}
