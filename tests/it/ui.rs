//! `duet ui`: the server of the page, as HTTP speaks to it.
//!
//! INVARIANT: what a page of a browser can do is tested in `tests/page`; here is what a server must
//! refuse, and what each question answers.
//! Read next: `mcp_server.rs`, `support/desk.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure"
)]

use serde_json::{Value, json};

use crate::support::desk::Desk;
use crate::support::page_server::PageServer;

const PROGRAM: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(assert! (record 'job 1 \"<b>bold</b>\"))
(define name (await (user-input :prompt \"Who?\")))
(display (string-append \"hello \" name))
(newline)
(vector-ref (vector) 0)";

/// A desk with a run that waits for a person, and its page.
fn waiting(options: &[&str]) -> (Desk, PageServer) {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let served = PageServer::start(&desk, options);
    (desk, served)
}

#[test]
fn the_page_is_served_to_who_has_the_token() {
    let (_desk, served) = waiting(&["p@1"]);
    assert_eq!(served.path, "/p/main@1");
    let with = served.get(&format!("{}?token={}", served.path, served.token));
    assert_eq!(with.status, 200);
    assert!(with.body.contains("/@/main.js"), "{}", with.body);
    for path in ["/", "/p/main@1", "/?token=", "/?token=0", "/p?x=1&token=no"] {
        let without = served.get(path);
        assert_eq!(without.status, 401, "{path}");
        assert!(without.body.contains("no valid token"), "{}", without.body);
        assert!(!without.body.contains("main.js"), "{}", without.body);
    }
    for headers in [
        String::new(),
        "authorization: Bearer 0\r\n".to_owned(),
        format!("authorization: Bearer {}0\r\n", served.token),
    ] {
        let headers = format!("host: {}\r\n{headers}", served.host);
        let reply = served.post_with(&headers, &json!({ "verb": "runs" }));
        assert_eq!(reply.status, 401, "{headers}");
    }
    assert_eq!(served.get("/@/news?run=p").status, 401);
}

#[test]
fn pages_of_other_origins_and_other_names_of_the_machine_are_refused() {
    let (_desk, served) = waiting(&[]);
    let port = served.host.rsplit(':').next().unwrap();
    let token = format!("authorization: Bearer {}\r\n", served.token);
    let status = |headers: &str| {
        served
            .post_with(&format!("{headers}{token}"), &json!({ "about": true }))
            .status
    };
    let host = &served.host;
    assert_eq!(status(&format!("host: {host}\r\n")), 200);
    assert_eq!(
        status(&format!(
            "host: localhost:{port}\r\norigin: http://localhost:{port}\r\n"
        )),
        200
    );
    for refused in [
        format!("host: evil.example:{port}\r\n"),
        "host: 127.0.0.1:1\r\n".to_owned(),
        String::new(),
        format!("host: {host}\r\norigin: http://evil.example\r\n"),
        format!("host: {host}\r\norigin: http://127.0.0.1:1\r\n"),
        format!("host: {host}\r\norigin: null\r\n"),
        format!("host: {host}\r\nsec-fetch-site: cross-site\r\n"),
        format!("host: {host}\r\nsec-fetch-site: same-site\r\n"),
    ] {
        let found = status(&refused);
        assert!([400, 403].contains(&found), "{found}: {refused}");
    }
    // A page elsewhere may not even read the files.
    let foreign = served.send(&format!("GET /@/main.js HTTP/1.1\r\nhost: evil.example:{port}\r\n"), "");
    assert_eq!(foreign.status, 403);
}

#[test]
fn every_answer_forbids_the_browser_what_the_page_does_not_need() {
    let (_desk, served) = waiting(&[]);
    for path in [
        format!("/?token={}", served.token),
        "/".to_owned(),
        "/@/style.css".to_owned(),
        "/@/none".to_owned(),
    ] {
        let head = served.get(&path).head;
        for rule in [
            "default-src 'none'; script-src 'self';",
            "require-trusted-types-for 'script'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(head.contains(rule), "{path} lacks {rule}: {head}");
        }
        assert!(!head.contains("access-control"), "{head}");
    }
    let page = served.get(&format!("/?token={}", served.token)).body;
    assert!(
        !page.contains("style=") && !page.contains("<script>") && !page.contains("http"),
        "{page}"
    );
}

#[test]
fn each_question_of_the_page_has_an_answer() {
    let (_desk, served) = waiting(&[]);
    let runs = served.post(&json!({ "verb": "runs" }));
    assert_eq!(runs["report"][0]["status"], "waiting");
    let now_ms = runs["now_ms"].as_u64().expect("the time that ages are reckoned from");
    assert!(duet_journal::owner::now_ms().abs_diff(now_ms) < 60_000, "{now_ms}");
    assert_eq!(
        served.report(json!({ "verb": "runs", "only": "p/main" }))[0]["run"],
        "p"
    );
    let tree = served.report(json!({ "verb": "tree", "address": "p" }));
    assert_eq!(tree["branches"], json!([{ "branch": "main", "turn": 1, "from": null }]));
    let facts = served.post(&json!({ "verb": "facts", "address": "p@1" }));
    let patterns: Vec<&str> = facts["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let pattern = patterns.iter().find(|pattern| pattern.contains("bold")).unwrap();
    assert_eq!(*pattern, "<job 1 \"<b>bold</b>\">");
    let why = served.report(json!({ "verb": "why", "pattern": pattern, "address": "p@1" }));
    assert_eq!(why["chain"][0]["turn"], 1);
    let written = served.report(json!({ "verb": "why", "written": 1, "address": "p@1" }));
    assert_eq!((&written["line"], &written["chain"]), (&Value::Null, &json!([])));
    let waits = served.report(json!({ "verb": "waits", "address": "p" }));
    assert_eq!(waits["requests"][0]["kind"], "ask");
    let shown = served.post(&json!({ "verb": "show", "address": "p@1" }));
    assert_eq!(shown["report"]["turn"], 1);
    assert!(
        shown["patterns"].as_array().unwrap().contains(&json!(pattern)),
        "{shown}"
    );
    assert!(served.report(json!({ "verb": "frames", "address": "p" }))[0]["frames"].is_array());
    assert_eq!(
        served.report(json!({ "verb": "transcript", "address": "p" })),
        json!([])
    );
    assert_eq!(
        served.report(json!({ "verb": "input", "address": "p@1" })),
        json!({ "text": null })
    );
    let diff = served.report(json!({ "verb": "diff", "left": "p@0", "right": "p@1" }));
    assert_eq!(diff["shared"], 0);
    let checked = served.post(&json!({ "check": true }));
    assert_eq!(checked["code"], 0, "{checked}");
}

#[test]
fn a_page_asks_where_an_output_a_call_and_a_variable_came_from() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (twice n) (* n 2))
(display \"sum\")
(newline)
(display (twice 21))
(newline)
(define (pause n) (sleep (twice n)) (await (signal 'go)) n)
(pause 4)";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let served = PageServer::start(&desk, &[]);
    let made = |report: &Value| {
        let steps = report["values"]["steps"].as_array().unwrap().iter();
        let forms = steps.filter_map(|step| step["by"]["form"].as_str().map(str::to_owned));
        forms.collect::<Vec<_>>()
    };
    let written = served.report(json!({ "verb": "why", "written": 2, "address": "p@1" }));
    assert_eq!(written["line"], "42");
    assert!(made(&written).contains(&"(* n 2)".to_owned()), "{written}");
    let frames = served.report(json!({ "verb": "frames", "address": "p" }));
    let frame = &frames[0]["frames"][0];
    assert_eq!((&frame["procedure"], &frame["number"]), (&json!("pause"), &json!(1)));
    assert_eq!(frames[0]["name"], "main");
    let fiber = &frames[0]["fiber"];
    let variable = json!({ "verb": "why", "variable": "n", "frame": 1, "fiber": fiber, "address": "p" });
    assert_eq!(served.report(variable)["variable"]["value"], "4");
}

#[test]
fn an_answer_rounds_no_number_and_tells_values_apart() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(assert! (record 'v 9007199254740993 1.0 'a \"a\" (dictionary 'a 1 \"a\" 2)))
(await (user-input :prompt (record 'ask \"Size?\" '(small large))))";
    let desk = Desk::new(&[("v.scm", program)]);
    assert_eq!(desk.duet("run v.scm").code, 4);
    let served = PageServer::start(&desk, &[]);
    let atom = |text: &str| json!({ "#": "atom", "of": text });
    let pairs = json!([["a", 2], [atom("a"), 1]]);
    let parts = json!([
        atom("v"), atom("9007199254740993"), atom("1.0"), atom("a"), "a", { "#": "dictionary", "of": pairs },
    ]);
    let expected = json!({ "#": "record", "of": parts });
    let facts = served.report(json!({ "verb": "facts", "address": "v" }));
    assert_eq!(facts[0]["value"], expected);
    let shown = served.report(json!({ "verb": "show", "address": "v" }));
    assert_eq!(shown["came"][0], expected);
    assert!(
        shown["actions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|action| action["value"] == expected),
        "{shown}"
    );
    let waits = served.report(json!({ "verb": "waits", "address": "v" }));
    assert_eq!(waits["requests"][0]["question"], "Size? [small/large]");
    assert_eq!(waits["waits"][0]["conditions"][0]["words"], "the answer to request 0");
}

#[test]
fn messages_that_are_no_requests_are_refused() {
    let (desk, served) = waiting(&["--act"]);
    for (message, expected) in [
        (json!({ "verb": "burn" }), "unknown variant"),
        (
            json!({ "verb": "rm", "run": "p", "yes": true }),
            "the command line does",
        ),
        (json!({ "verb": "resume", "address": "p" }), "the command line does"),
        (
            json!({ "verb": "fork", "address": "p@1", "branches": ["x"] }),
            "the command line does",
        ),
        (
            json!({ "verb": "eval", "address": "p", "expression": "1" }),
            "the command line does",
        ),
        (
            json!({ "verb": "export", "address": "p", "file": "written" }),
            "the command line does",
        ),
        (
            json!({ "verb": "double", "address": "p", "out": "written", "force": true, "with_secrets": true }),
            "the command line does",
        ),
        (
            json!({ "verb": "replay", "address": "p", "with": "other.scm" }),
            "the command line does",
        ),
        (json!({ "act": "burn" }), "unknown variant"),
        (
            json!({ "act": "fork", "address": "p@1", "branch": "x", "force": true }),
            "unknown field",
        ),
        (json!([1]), "not understood"),
        (json!({ "verb": "show", "address": "nowhere@3" }), "nowhere"),
        (json!({ "verb": "show", "address": "p@99" }), "p has no turn 99"),
        (json!({ "verb": "log", "address": "p", "limit": 0 }), "not understood"),
    ] {
        let reply = served.post(&message);
        let error = reply["error"].as_str().unwrap_or_else(|| panic!("{message}: {reply}"));
        assert!(error.contains(expected), "{message}: {error}");
    }
    assert!(!desk.path("written").exists());
    let reply = served.send(&format!("POST /@/ask HTTP/1.1\r\n{}", served.own()), "{");
    assert_eq!(reply.status, 400);
    assert_eq!(
        served.send(&format!("PUT /p HTTP/1.1\r\n{}", served.own()), "").status,
        405
    );
}

#[test]
fn a_page_without_leave_to_act_changes_nothing() {
    let (desk, served) = waiting(&[]);
    assert_eq!(served.post(&json!({ "about": true }))["acts"], false);
    for act in [
        json!({ "act": "fork", "address": "p@1", "branch": "x" }),
        json!({ "act": "answer", "address": "p", "request": 0, "text": "Ada" }),
        json!({ "act": "fork", "address": "p@1", "branch": "x", "preview": true }),
    ] {
        let error = served.post(&act)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("--act"), "{act}: {error}");
    }
    desk.check("branches p", 0, "@ p/main@1\n");
}

#[test]
fn a_person_answers_amends_forks_goes_back_and_compares() {
    let (desk, served) = waiting(&["--act"]);
    let waits = served.report(json!({ "verb": "waits", "address": "p" }));
    let request = waits["requests"][0]["request"].clone();
    let answer = json!({ "act": "answer", "address": "p/main", "request": request, "text": "Ada" });
    let mut asked = answer.clone();
    asked["preview"] = true.into();
    let command = served.post(&asked)["command"].clone();
    assert_eq!(command, format!("duet answer p/main {request} Ada"));
    let done = served.post(&answer);
    assert_eq!(
        (&done["code"], done["output"].as_str().unwrap()),
        (&json!(1), "hello Ada\n"),
        "{done}"
    );
    assert_eq!(served.report(json!({ "verb": "runs" }))[0]["status"], "failed");
    let input = served.report(json!({ "verb": "input", "address": "p@2" }));
    assert_eq!(input, json!({ "text": "Ada" }));
    let amend = json!({ "act": "amend", "address": "p/main@2", "text": "Eve", "branch": "eve" });
    let done = served.post(&amend);
    assert!(done["output"].as_str().unwrap().contains("hello Eve"), "{done}");
    let diff = served.report(json!({ "verb": "diff", "left": "p/main", "right": "p/eve" }));
    assert_eq!(diff["right"]["output"], json!(["hello Eve"]));
    let tree = served.report(json!({ "verb": "tree", "address": "p" }));
    assert_eq!(
        tree["branches"][1]["from"],
        json!({ "branch": "main", "turn": 1 }),
        "{tree}"
    );
    let fork = json!({ "act": "fork", "address": "p/main@1", "branch": "other" });
    assert_eq!(served.post(&fork)["code"], 0);
    // The second of two tabs that do the same learns why it cannot.
    let again = served.post(&fork);
    assert!(
        again["code"] != 0 && again["messages"].as_str().unwrap().contains("other"),
        "{again}"
    );
    assert_eq!(served.post(&json!({ "act": "goto", "address": "p/main@1" }))["code"], 0);
    assert_eq!(served.post(&json!({ "act": "undo", "address": "p/main" }))["code"], 0);
    assert!(desk.duet("branches p").output.contains("p/other@1"));
}

/// A run of some hundred turns.
const MANY: &str = "(import (scheme base) (duet base) (duet dataspace))
(let loop ((n 0))
  (when (< n 300)
    (assert! (record 'step n))
    (yield)
    (loop (+ n 1))))";

#[test]
fn the_turns_of_a_window_are_asked_for_and_no_others() {
    let desk = Desk::new(&[("p.scm", MANY)]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let served = PageServer::start(&desk, &[]);
    let window = json!({ "verb": "log", "address": "p/main", "before": [200, 0], "limit": 50 });
    let report = served.report(window);
    let turns: Vec<u64> = report["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|turn| turn["turn"].as_u64())
        .collect();
    let expected: Vec<u64> = (150..200).rev().collect();
    assert_eq!(turns, expected);
}

#[test]
fn a_value_of_any_size_is_shortened_and_the_answer_says_so() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(assert! (record 'long (make-string 200000 #\\x)))
(await (user-input :prompt \"?\"))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let served = PageServer::start(&desk, &[]);
    let facts = served.post(&json!({ "verb": "facts", "address": "p" }));
    let text = facts.to_string();
    assert!(
        text.len() < 60_000 && text.contains("more characters"),
        "{}",
        text.len()
    );
    assert_eq!(facts["cuts"].as_array().map(Vec::len), Some(2), "{}", facts["cuts"]);
    assert!(facts["patterns"].as_array().unwrap().iter().any(Value::is_null));
}

#[test]
fn news_come_while_a_run_goes_on_and_say_that_it_was_deleted() {
    let (desk, served) = waiting(&["--act"]);
    let mut news = served.news("p");
    assert_eq!(
        news.next("news"),
        json!({ "branches": [{ "branch": "main", "turn": 1 }], "running": false })
    );
    desk.duet("answer p Ada");
    // The run goes on in some steps; the news of the last one come at any rate.
    let turn = |news: &Value| news["branches"][0]["turn"].as_u64();
    let last = served.report(json!({ "verb": "tree", "address": "p" }))["branches"][0]["turn"].as_u64();
    while {
        let told = news.next("news");
        turn(&told) != last || told["running"] == true
    } {}
    assert_eq!(desk.duet("rm p --yes").code, 0);
    let lost = news.next("lost")["error"].as_str().unwrap().to_owned();
    assert!(lost.contains('p'), "{lost}");
}

#[test]
fn a_damaged_journal_is_shown_as_one() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    let journal = desk.path(".duet/journal.sqlite");
    let served = PageServer::start(&desk, &[]);
    for name in ["journal.sqlite-wal", "journal.sqlite-shm"] {
        let _ = std::fs::remove_file(journal.with_file_name(name));
    }
    std::fs::write(&journal, "no journal at all, but a text").unwrap();
    let error = served.post(&json!({ "verb": "runs" }))["error"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(!error.is_empty());
    let checked = served.post(&json!({ "check": true }));
    let told = desk.duet("fsck");
    assert_ne!(checked["code"], 0, "{checked}");
    assert_eq!(checked["messages"].as_str().unwrap(), told.errors);
}

#[test]
fn a_page_needs_a_journal_and_a_place_in_it() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    let said = desk.duet("ui");
    assert!(
        said.code == 1 && said.errors.contains("there is no journal"),
        "{said:?}"
    );
    desk.duet("run p.scm");
    let said = desk.duet("ui nowhere@3");
    assert!(said.code == 1 && said.errors.contains("nowhere"), "{said:?}");
}
