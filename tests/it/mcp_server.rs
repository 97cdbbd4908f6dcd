//! `duet mcp`: Duet as a server of the Model Context Protocol, in both eras, over lines.
//!
//! INVARIANT: the raw tests always run; the test with the Python client needs PyPI and says loudly
//! when it is skipped.
//! The tests of `tests/it/mcp.rs` cover Duet as a client.
//! Read next: `mcp_http.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a failed step of a test is its failure; a skipped test says so"
)]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mcp_http::Served;
use crate::support::desk::Desk;
use crate::support::foreign;

pub(crate) const PROGRAM: &str = "(import (duet base) (duet dataspace))
(assert! (record 'job 1))
(define name (await (user-input :prompt \"Who?\")))
(display (string-append \"hello \" name))
(newline)";

/// The part of each message of the revision of 2026.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Says some messages to a server at once, and returns its replies by id.
fn talk(desk: &Desk, options: &str, messages: &[Value]) -> Vec<Value> {
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let said = desk.feed(&format!("mcp {options}"), &text);
    assert_eq!(said.code, 0, "{said:?}");
    said.output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Calls a tool on a server of its own, and returns the text of the result and whether it failed.
fn call(desk: &Desk, name: &str, arguments: Value) -> (String, bool) {
    let replies = talk(
        desk,
        "",
        &[request(
            1,
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )],
    );
    let result = &replies[0]["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{name}: {replies:?}"));
    (text.to_owned(), result["isError"] == json!(true))
}

#[test]
fn an_agent_runs_looks_goes_back_amends_and_answers() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    let check = |name: &str, arguments: Value, expected: &str| {
        let (text, is_error) = call(&desk, name, arguments);
        assert!(!is_error && text.contains(expected), "{name}: {text}");
        text
    };
    check("run", json!({ "program": "p.scm" }), "Who?");
    check("waits", json!({ "address": "p" }), "Who?");
    check("facts", json!({ "address": "p", "pattern": "job" }), "<job 1>");
    check("answer", json!({ "address": "p", "text": "Ada" }), "hello Ada");
    let log = check("log", json!({ "address": "p" }), "p");
    assert!(log.contains("@"), "{log}");
    check("show", json!({ "address": "p@1" }), "p@1");
    check("why", json!({ "pattern": "<job _>", "address": "p" }), "1");
    check("why", json!({ "address": "p", "output": 1 }), "hello Ada");
    check("frames", json!({ "address": "p@1", "fiber": 0 }), "fiber 0 of main");
    check("when", json!({ "pattern": "<job _>", "address": "p" }), "p@");
    check(
        "fork",
        json!({ "address": "p@1", "branches": ["other"] }),
        "p/other begins at",
    );
    check(
        "amend",
        json!({ "address": "p@2", "input": "Eve", "branch": "eve" }),
        "hello Eve",
    );
    check("diff", json!({ "left": "p/main", "right": "p/eve" }), "");
    check("goto", json!({ "address": "p/main@1" }), "is at turn 1");
    check("eval", json!({ "address": "p/main@1", "expression": "(+ 1 2)" }), "3");
    check("replay", json!({ "address": "p/eve", "check": true }), "");
    check("runs", json!({}), "p");
    let (text, is_error) = call(&desk, "show", json!({ "address": "nowhere@3" }));
    assert!(is_error && text.contains("nowhere"), "{text}");
}

#[test]
fn words_of_a_client_are_no_options() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    let (text, is_error) = call(&desk, "log", json!({ "address": "--journal=/etc/passwd" }));
    assert!(is_error && !text.contains("root:"), "{text}");
    let (text, is_error) = call(&desk, "run", json!({ "program": "p.scm", "allow_host": "*" }));
    assert!(
        is_error && text.starts_with("run has no argument `allow_host`; it has program, "),
        "{text}"
    );
    let (text, is_error) = call(&desk, "run", json!({ "program": 7 }));
    assert_eq!((&*text, is_error), ("the argument `program` must be a string", true));
    let both = json!({ "program": "p.scm", "text": "(car 1)" });
    let (text, is_error) = call(&desk, "run", both);
    assert_eq!((&*text, is_error), ("a run has either a `program` or a `text`", true));
    let unknown = request(1, "tools/call", json!({ "name": "burn", "arguments": {} }));
    let said = talk(&desk, "", &[unknown])[0]["error"]["message"].to_string();
    assert!(said.contains("there is no tool `burn`"), "{said}");
}

#[test]
fn the_doubles_of_the_server_stand_in_wherever_a_client_goes_on() {
    let program = "(import (duet base) (duet dataspace))
(define (look) (dictionary-ref (call-tool 'p \"http/get\" (dictionary 'url \"http://example.org/\")) 'body))
(display (await (user-input :prompt \"Which?\")))
(display (look))";
    let replies = "{\"http/get\": [<returns {status: 200, headers: {}, body: \"doubled\", truncated: #f}>]}";
    let desk = Desk::new(&[("p.scm", program), ("d.pr", replies)]);
    let said = |name: &str, arguments: Value| {
        let asked = request(1, "tools/call", json!({ "name": name, "arguments": arguments }));
        talk(&desk, "--double d.pr", &[asked])[0]["result"]["content"][0]["text"].to_string()
    };
    said("run", json!({ "program": "p.scm" }));
    let text = said("answer", json!({ "address": "p", "text": "one" }));
    assert!(text.contains("onedoubled"), "{text}");
    let text = said("amend", json!({ "address": "p@2", "input": "two" }));
    assert!(text.contains("twodoubled"), "{text}");
}

#[test]
fn a_client_chooses_no_doubles_where_the_server_has_some() {
    let desk = Desk::new(&[("p.scm", "(display 1)"), ("d.pr", "{}")]);
    let run = json!({ "name": "run", "arguments": { "program": "p.scm", "double": "d.pr" } });
    let replies = talk(&desk, "--double d.pr", &[request(1, "tools/call", run)]);
    let result = &replies[0]["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("has chosen the doubles"), "{text}");
    assert_eq!(result["isError"], json!(true));
    let (text, is_error) = call(&desk, "run", json!({ "name": "p" }));
    assert!(is_error && text.contains("which program?"), "{text}");
}

#[test]
fn an_agent_approves_nothing() {
    let program = "(import (duet base) (duet dataspace) (duet policy))
(propose! 'goal.ship \"today\")";
    let desk = Desk::new(&[("p.scm", program)]);
    call(&desk, "run", json!({ "program": "p.scm" }));
    let (text, is_error) = call(&desk, "answer", json!({ "address": "p", "text": "yes" }));
    assert!(is_error, "{text}");
}

#[test]
fn both_eras_are_understood() {
    let desk = Desk::new(&[]);
    let modern = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let future = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2031-01-01" } });
    let handshake = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {} });
    let messages = [
        request(1, "server/discover", modern.clone()),
        request(2, "tools/list", modern),
        request(3, "server/discover", future),
        request(4, "initialize", handshake),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        request(5, "tools/list", json!({})),
        request(6, "no/such", json!({})),
        json!({ "jsonrpc": "2.0", "id": 7, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 8, "method": 8 }),
        json!("no message"),
        json!({ "id": 9, "method": "ping" }),
        json!({ "jsonrpc": "1.0", "id": 10, "method": "ping" }),
        request(11, "tools/list", json!({ "cursor": "next" })),
    ];
    let replies = talk(&desk, "", &messages);
    let [
        discovered,
        tools,
        refused,
        shaken,
        older,
        unknown,
        nameless,
        wrong,
        bare,
        old,
        cursor,
    ] = &replies[..]
    else {
        panic!("{replies:?}")
    };
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["result"]["resultType"], "complete");
    assert_eq!(tools["result"]["cacheScope"], "private");
    assert_eq!(refused["error"]["code"], -32_022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(shaken["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(older["result"].get("resultType"), None);
    let tools = older["result"]["tools"].as_array().unwrap();
    for name in "run eval log show facts why when diff goto fork amend answer replay describe stop undo".split(' ') {
        assert!(tools.iter().any(|tool| tool["name"] == name), "{name}");
    }
    assert_eq!(unknown["error"]["code"], -32_601);
    assert_eq!(nameless["error"]["code"], -32_600);
    assert_eq!(nameless["id"], 8);
    assert_eq!(wrong["error"]["code"], -32_600);
    assert_eq!([&bare["id"], &bare["error"]["code"]], [9, -32_600]);
    assert_eq!([&old["id"], &old["error"]["code"]], [10, -32_600]);
    assert_eq!([&cursor["id"], &cursor["error"]["code"]], [11, -32_602]);
}

#[test]
fn timelines_are_resources() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    call(&desk, "run", json!({ "program": "p.scm" }));
    let ask = |id, method: &str, params| talk(&desk, "", &[request(id, method, params)]).remove(0);
    let listed = ask(1, "resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], "duet://log/p", "{listed}");
    for uri in ["duet://turn/p@1", "duet://turn/p%2Fmain%401"] {
        let read = ask(2, "resources/read", json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains("p@1") || text.contains("p/main@1"), "{read}");
    }
    let missing = ask(3, "resources/read", json!({ "uri": "duet://turn/q@1" }));
    assert_eq!(missing["error"]["code"], -32_002, "{missing}");
    let modern = json!({ "uri": "duet://turn/q@1", "_meta": modern_meta() });
    let missing = ask(3, "resources/read", modern);
    assert_eq!(missing["error"]["code"], -32_602, "{missing}");
    assert_eq!(missing["error"]["data"]["uri"], "duet://turn/q@1");
    let templates = ask(4, "resources/templates/list", json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"][1]["uriTemplate"],
        "duet://turn/{run}@{turn}"
    );
}

#[test]
fn a_request_that_is_cancelled_ends_its_run_and_gets_no_reply() {
    let program = "(import (duet base) (duet dataspace))\n(sleep 60000)";
    let desk = Desk::new(&[("p.scm", program)]);
    let replies = talk(
        &desk,
        "",
        &[
            request(
                1,
                "tools/call",
                json!({ "name": "run", "arguments": { "program": "p.scm" } }),
            ),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
            request(2, "ping", json!({})),
        ],
    );
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert_eq!(replies[0]["id"], 2);
}

#[test]
fn a_run_without_end_is_ended_by_its_time_limit_and_can_be_resumed() {
    let program = "(import (duet base) (duet dataspace))\n(display \"a\")\n(sleep 600000)";
    let desk = Desk::new(&[("p.scm", program)]);
    let (text, is_error) = call(&desk, "run", json!({ "program": "p.scm", "timeout_ms": 1500 }));
    assert!(is_error && text.contains("was ended by its time limit"), "{text}");
    assert_eq!(desk.duet("log p").code, 0);
    // A worker leaves it alone, as one that a person has stopped.
    assert_eq!(desk.duet("work --status").output, "no worker\n");
    assert_eq!(desk.report("runs")[0]["status"], "left");
}

#[test]
fn the_python_client_works_with_duet() {
    let desk = Desk::new(&[("p.scm", PROGRAM)]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_client.py");
    let Some(python) = foreign::program("the_python_client_works_with_duet", "python/bin/python") else {
        return;
    };
    let served = Served::start(&desk, &[]);
    let done = Command::new(&python)
        .args([script, env!("CARGO_BIN_EXE_duet"), &format!("http://{}/", served.1)])
        .current_dir(desk.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(said.matches("hello Ada").count(), 2, "{said}");
}

#[test]
fn a_client_without_files_runs_a_text_and_asks_what_names_mean() {
    let desk = Desk::new(&[]);
    let text = "(import (scheme base) (scheme process-context) (scheme write) (duet base) (duet dataspace))
(define order (await (signal 'order)))
(write (cons (record-fields order) (cdr (command-line))))";
    let run = json!({ "text": text, "name": "tea", "arguments": ["a b"] });
    let (said, _) = call(&desk, "run", run);
    assert!(said.contains("tea waits for a signal"), "{said}");
    let signal = json!({ "address": "tea", "label": "order", "values": ["\"green\""] });
    let (said, is_error) = call(&desk, "signal", signal);
    assert!(!is_error && said.starts_with("((\"green\") \"a b\")"), "{said}");
    let (said, is_error) = call(&desk, "describe", json!({ "name": "string-split" }));
    assert!(!is_error && said.contains("string-split"), "{said}");
}

#[test]
fn a_client_names_only_files_in_the_folders_of_the_server() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("credentials"), "key-of-somebody another").unwrap();
    let desk = Desk::new(&[("inside.scm", "(display 1)")]);
    std::os::unix::fs::symlink(outside.path(), desk.path("link")).unwrap();
    let outer = outside.path().join("credentials").display().to_string();
    for arguments in [
        json!({ "program": outer }),
        json!({ "program": "link/credentials" }),
        json!({ "program": "inside.scm", "double": outer }),
    ] {
        let (text, is_error) = call(&desk, "run", arguments);
        assert!(
            is_error && text.contains("lies outside the folders of this server"),
            "{text}"
        );
        assert!(!text.contains("key-of-somebody"), "{text}");
    }
    // Names of what is open mean something else in another process.
    for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        for arguments in [
            json!({ "program": name }),
            json!({ "program": "inside.scm", "double": name }),
        ] {
            let (text, is_error) = call(&desk, "run", arguments);
            assert!(is_error && !text.contains("jsonrpc"), "{name}: {text}");
        }
    }
    let (text, is_error) = call(&desk, "run", json!({ "program": "./inside.scm" }));
    assert!(!is_error, "{text}");
    let run = request(
        1,
        "tools/call",
        json!({ "name": "run", "arguments": { "program": outer } }),
    );
    let options = format!("--workspace {}", outside.path().display());
    let replies = talk(&desk, &options, &[run]);
    let text = replies[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("key-of-somebody"),
        "the workspace is one of the folders: {text}"
    );
}

#[test]
fn a_client_runs_only_the_folders_that_were_allowed() {
    let manifest = "((program \"main.scm\") (tools process/run))";
    let program = "(write (call-tool 'r \"process/run\" (dictionary 'arguments '(\"true\"))))";
    let desk = Desk::new(&[("made/manifest.scm", manifest), ("made/main.scm", program)]);
    for named in ["made", "./made/", "made/../made"] {
        let (text, is_error) = call(&desk, "run", json!({ "program": named }));
        assert!(is_error && text.contains("has not allowed"), "{text}");
        assert!(text.contains("duet mcp --allow-folder"), "{text}");
    }
    assert!(!desk.duet("runs").output.contains("made"));
    let run = request(
        1,
        "tools/call",
        json!({ "name": "run", "arguments": { "program": "made" } }),
    );
    let replies = talk(&desk, "--allow-folder ./made", &[run]);
    assert_eq!(replies[0]["result"]["isError"], json!(false), "{replies:?}");
}

#[test]
fn a_message_that_is_no_json_is_answered_by_its_id() {
    let desk = Desk::new(&[]);
    let said = desk.feed(
        "mcp",
        "{\"jsonrpc\":\"2.0\",\"id\":43,\"method\":\"ping\",\"params\":\"\\ud83d\"}\n",
    );
    let reply: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(43), &json!(-32_700)));
}

#[test]
fn a_message_that_is_too_long_is_refused_once_and_nothing_of_it_is_obeyed() {
    let limit = 16 << 20;
    let ping = request(66, "ping", json!({})).to_string();
    let begin = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":";
    let fill = |text: &str| format!("{text}{}", " ".repeat(limit - text.len()));
    let text = format!(
        "{}{}}}}}\n{}\n",
        fill(begin),
        fill(&ping),
        request(7, "ping", json!({}))
    );
    let said = Desk::new(&[]).feed("mcp", &text);
    let replies: Vec<Value> = said
        .output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(replies.len(), 2, "{replies:?}");
    assert_eq!((&replies[0]["id"], &replies[1]["id"]), (&json!(5), &json!(7)));
    let message = replies[0]["error"]["message"].to_string();
    assert!(message.contains("longer than 16777216 bytes"), "{message}");
}

#[test]
fn a_batch_is_answered_by_one_list() {
    let desk = Desk::new(&[("p.scm", "(display 42)")]);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let run = json!({ "name": "run", "arguments": { "program": "p.scm" } });
    let all = json!([
        request(1, "ping", json!({})),
        note,
        request(2, "tools/call", run),
        7,
        request(9, "tools/call", json!({ "name": "runs", "arguments": {} })),
        cancel,
    ]);
    let ids = |replies: &Value| {
        let mut ids: Vec<String> = replies
            .as_array()
            .unwrap_or_else(|| panic!("{replies}"))
            .iter()
            .map(|reply| reply["id"].to_string())
            .collect();
        ids.sort();
        ids
    };
    let replies = talk(&desk, "", &[all.clone(), json!([note]), json!([])]);
    assert_eq!(replies.len(), 2, "{replies:?}");
    let (list, empty) = if replies[0].is_array() {
        (&replies[0], &replies[1])
    } else {
        (&replies[1], &replies[0])
    };
    assert_eq!(ids(list), ["1", "2", "null"]);
    assert!(list.to_string().contains("42"), "{list}");
    assert_eq!((&empty["id"], &empty["error"]["code"]), (&Value::Null, &json!(-32_600)));

    let served = Served::start(&desk, &[]);
    let (status, body) = served.post("", &all);
    assert_eq!((status, ids(&serde_json::from_str(&body).unwrap())), (200, ids(list)));
    assert_eq!(served.post("", &json!([note])).0, 202);
    let pings = json!([request(1, "ping", json!({}))]);
    assert_eq!(served.post("mcp-method: ping\r\n", &pings).0, 200);
    assert_eq!(served.post("mcp-method: ping\r\n", &all).0, 400);
}

#[test]
fn a_mark_before_a_message_is_ignored() {
    let said = Desk::new(&[]).feed("mcp", &format!("\u{feff}{}\n", request(1, "ping", json!({}))));
    let reply: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(reply["result"], json!({}), "{reply}");
}

#[test]
fn a_revision_and_capabilities_of_another_kind_are_refused() {
    let desk = Desk::new(&[]);
    let served = Served::start(&desk, &[]);
    let meta = |revision: Value, capabilities: Value| {
        json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        } })
    };
    for (method, params, named) in [
        ("tools/list", meta(json!(20_260_728), json!({})), "protocolVersion"),
        ("tools/list", meta(json!(null), json!({})), "protocolVersion"),
        (
            "tools/list",
            meta(json!("2026-07-28"), json!(null)),
            "clientCapabilities",
        ),
        ("tools/list", meta(json!("2026-07-28"), json!([])), "clientCapabilities"),
        ("initialize", meta(json!(7), json!({})), "protocolVersion"),
    ] {
        let asked = request(1, method, params);
        let error = &talk(&desk, "", std::slice::from_ref(&asked))[0]["error"];
        assert_eq!(error["code"], -32_602, "{asked}: {error}");
        assert!(error["message"].to_string().contains(named), "{asked}: {error}");
        let headers = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n");
        let (status, body) = served.post(&headers, &asked);
        let reply: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32_602)), "{asked}");
    }
}

#[test]
fn texts_of_a_client_are_in_no_command_line_and_may_be_long() {
    let desk = Desk::new(&[]);
    let text = format!(
        "(import (scheme base) (scheme write)) (define text \"{}\") (display (string-length text))",
        "a".repeat(300_000)
    );
    for detach in [false, true] {
        let (said, is_error) = call(
            &desk,
            "run",
            json!({ "text": text, "name": format!("r{detach}"), "detach": detach }),
        );
        assert!(!is_error && !said.contains("too long"), "{said}");
    }
}

#[test]
fn a_client_that_is_gone_takes_its_commands_along() {
    let desk = Desk::new(&[("p.scm", "(import (duet base) (duet dataspace))\n(sleep 3600000)")]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_duet"))
        .arg("mcp")
        .current_dir(desk.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let run = json!({ "name": "run", "arguments": { "program": "p.scm", "timeout_ms": 3_600_000 } });
    writeln!(input, "{}", request(1, "tools/call", run)).unwrap();
    while !desk.duet("runs").output.contains("running") {}
    drop((input, output));
    server.wait().unwrap();
    while desk.duet("runs").output.contains("running") {}
}
