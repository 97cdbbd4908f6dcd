//! The contract of JSON: what each command prints with `--json` fits what `duet schema` prints.
//!
//! INVARIANT: every command that has a schema is tried on a run with facts, waits, calls, failures,
//! branches and a model.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use serde_json::{Value, json};

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))\n";

/// A run that calls a tool, loses an actor, asks a model and a person, and waits.
const BUSY: &str = "(define (worker c) (sleep 1) (car c))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config 3 :on-exit (lambda (reason) (assert! (record 'lost (condition-kind reason)))))
(guard (e (#t (assert! (record 'refused (condition-message e) #u8(1 2) 1.5 'null))))
  (call-tool 'b 'process/run (dictionary 'arguments '(\"true\"))))
(display (model-text (ask-model)))
(spawn (lambda () (await (signal 'go))))
(display (await (user-input :prompt \"Who?\")))
";

const MODEL: &str = "(define (model-text reply) (dictionary-ref reply 'content))
(define (ask-model) (call-tool 'm 'model/chat
  (dictionary 'model \"small\" 'messages (list (dictionary 'role \"user\" 'content \"Hello\")))))
";

const DOUBLES: &str = "{\"model/chat\": [<returns {content: \"Good day\", model: \"small\",
  usage: {input_tokens: 3, output_tokens: 2}}>]}";

const ENVELOPE: &str = "<<<NSENV:V4:START>>>
<<<NSENV:V4:USERDATA>>>
{}
<<<NSENV:V4:ACTIONS>>>
command
emit 1
endcommand
<<<NSENV:V4:END>>>
";

/// A clerk that waits while the program asks.
const CLERK: &str = "(define (say . parts) (for-each display parts))
(define (clerk name)
  (define count 0)
  (on-message (order) (say count))
  (await (user-input :prompt \"Go on?\"))
  (say 1))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config \"ada\")
(await (user-input :prompt \"Enough?\"))
";

fn busy() -> Desk {
    let desk = Desk::new(&[
        ("p.scm", &format!("{IMPORTS}{MODEL}{BUSY}")),
        ("f.scm", &format!("{IMPORTS}(display \"begun\") (newline) (car '())\n")),
        (
            "g.scm",
            &format!("{IMPORTS}(define (f sum) (await (signal 'go)) (display sum)) (f 1)\n"),
        ),
        ("doubles.txt", DOUBLES),
        ("envelope.txt", ENVELOPE),
        ("clerk.scm", CLERK),
        (
            "changed.scm",
            &CLERK.replace("count 0", "count 1").replace("(say", "(say name"),
        ),
    ]);
    let said = desk.duet("run p.scm --double doubles.txt");
    assert_eq!(said.code, 4, "{said:?}");
    assert_eq!(desk.duet("fork p@2 other").code, 0);
    assert_eq!(desk.duet("run f.scm").code, 1);
    assert_eq!(desk.duet("run g.scm").code, 4);
    desk
}

/// The lines whose output is validated; the first word is the command.
const LINES: [&str; 33] = [
    "log p",
    "log p/other",
    "show p@0",
    "show p@1",
    "show p",
    "show f@2",
    "facts p",
    "facts p --all",
    "waits p",
    "frames p",
    "frames f",
    "explain p",
    "explain f",
    "diff p p/other",
    "diff p p/other --code",
    "why lost p",
    "why nothing p",
    "why --output 1 p",
    "why --call 1 p@1",
    "why --variable sum g",
    "why-not gone p",
    "when lost p",
    "when lost p --all",
    "stats p",
    "cost p",
    "branches p",
    "transcript p",
    "eval p@2 5",
    "eval p@2 nosuch",
    "describe car",
    "describe process/run",
    "replay p",
    "replay g --with g.scm",
];

#[test]
fn what_each_command_prints_fits_its_schema() {
    let desk = busy();
    assert_eq!(desk.duet("run clerk.scm").code, 4);
    let later = [
        "runs",
        "work --status",
        "tools",
        "tools process/run",
        "providers",
        "servers",
        "aeiou check envelope.txt",
        "double p",
        "export p p.duet",
        "import p.duet --journal other.sqlite",
        "grant p",
        "grant --list",
        "stop p",
        "mark p@1 here",
        "mark p",
        "fork p@2 third",
        "merge p/third --into main --dry-run",
        "goto p/third@1",
        "undo p/third",
        "redo p/third",
        "gc p --dry-run",
        "fsck",
        "fsck --deep p",
        "rm f --yes",
        "resume clerk --with changed.scm --dry-run",
        "patch clerk changed.scm",
        "stale clerk",
        "restart clerk main/clerk",
    ];
    let lines = LINES.iter().copied().chain(later);
    let mut left: Vec<String> = desk.duet("schema").output.lines().map(str::to_owned).collect();
    // It prints several lines, which `testing.rs` validates.
    left.retain(|name| name != "test");
    for line in lines {
        let command = line.split(' ').next().unwrap();
        left.retain(|name| name != command);
        let schema: Value = serde_json::from_str(&desk.duet(&format!("schema {command}")).output).unwrap();
        let said = desk.duet(&format!("{line} --json"));
        let printed: Value =
            serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{line}: {error}: {said:?}"));
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&printed) {
            panic!("{line}: {error} at {}: {printed}", error.instance_path());
        }
        // A schema that admits anything is no contract.
        assert!(validator.validate(&Value::from("x")).is_err(), "{line}: {schema}");
        assert_eq!(schema["$id"], format!("urn:duet:schema:{command}:1"));
    }
    assert!(left.is_empty(), "{left:?} were not tried");
}

#[test]
fn no_value_is_text_of_another_notation() {
    let desk = busy();
    let facts: Value = serde_json::from_str(&desk.duet("facts p refused --json").output).unwrap();
    let fields = &facts[0]["value"]["fields"];
    assert_eq!(fields[1], serde_json::json!({ "bytes": "0102" }));
    assert_eq!((&fields[2], &fields[3]), (&serde_json::json!(1.5), &Value::Null));
    let waits: Value = serde_json::from_str(&desk.duet("waits p --json").output).unwrap();
    let all = waits["waits"].as_array().unwrap();
    let fact = all
        .iter()
        .flat_map(|wait| wait["conditions"].as_array().unwrap())
        .find(|one| one["kind"] == "fact");
    let fact = fact.unwrap_or_else(|| panic!("{waits}"));
    assert_eq!(fact["words"], "<go ...>");
    let conditions = all.iter().flat_map(|wait| wait["conditions"].as_array().unwrap());
    assert!(conditions.clone().all(|one| one["words"].is_string()), "{waits}");
    let other: Value = serde_json::from_str(&desk.duet("diff p p/other --json").output).unwrap();
    assert_eq!(other["left"]["facts"][0]["record"], "lost", "{other}");
}

#[test]
fn a_command_without_a_schema_is_refused_with_those_like_it() {
    let said = Desk::new(&[]).duet("schema explian");
    assert_eq!(said.code, 2);
    assert!(said.errors.contains("did you mean `explain`?"), "{}", said.errors);
}

#[test]
fn a_server_hands_over_reports_that_fit_the_schema_of_each_tool() {
    let desk = busy();
    let ask = |id: u64, method: &str, params: Value| {
        serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    };
    let calls = [
        ("log", serde_json::json!({ "address": "p" })),
        ("show", serde_json::json!({ "address": "f@2" })),
        ("facts", serde_json::json!({ "address": "p" })),
        ("waits", serde_json::json!({ "address": "p" })),
        ("frames", serde_json::json!({ "address": "f" })),
        ("explain", serde_json::json!({ "address": "f" })),
        ("explain", serde_json::json!({ "address": "p" })),
        ("why", serde_json::json!({ "pattern": "lost", "address": "p" })),
        ("why-not", serde_json::json!({ "address": "p", "pattern": "<done _>" })),
        ("when", serde_json::json!({ "pattern": "(list 1)", "address": "p" })),
        ("eval", serde_json::json!({ "address": "p@2", "expression": "5" })),
        ("describe", serde_json::json!({ "name": "car" })),
        ("runs", serde_json::json!({})),
        (
            "patch",
            serde_json::json!({ "address": "clerk", "program": "changed.scm" }),
        ),
        ("stale", serde_json::json!({ "address": "clerk" })),
        // It asks again, so the run goes on in the world before the report comes.
        ("restart", serde_json::json!({ "address": "clerk", "actor": "clerk" })),
    ];
    assert_eq!(desk.duet("run clerk.scm").code, 4);
    let listed = desk
        .feed("mcp", &format!("{}\n", ask(0, "tools/list", Value::Null)))
        .output;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    for (name, arguments) in calls {
        let params = serde_json::json!({ "name": name, "arguments": arguments });
        let said = desk.feed("mcp --allow-code", &format!("{}\n", ask(1, "tools/call", params)));
        let said = said.output;
        let reply: Value = serde_json::from_str(&said).unwrap();
        let structured = &reply["result"]["structuredContent"];
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        if let Err(error) = validator.validate(structured) {
            panic!("{name}: {error}: {structured}");
        }
        assert!(!structured["report"].is_null(), "{name}: {reply}");
        let words = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert!(!words.starts_with(['{', '[']), "{name}: {words}");
    }
}

#[test]
fn json_lines_are_the_items_of_the_list() {
    let desk = Desk::new(&[(
        "p.scm",
        "(for-each (lambda (n) (assert! (record 'job n)) (sleep 0)) (list 1 2 3))",
    )]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let lines = |line: &str| -> Vec<Value> {
        let said = desk.duet(&format!("{line} --json-lines"));
        assert_eq!(said.code, 0, "{line}: {said:?}");
        said.output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for line in [
        "log p",
        "log p --limit 2",
        "log p --grep nothing",
        "runs",
        "facts p",
        "branches p",
    ] {
        assert_eq!(json!(lines(line)), desk.report(line), "{line}");
    }
    // A report that is no list is one line.
    assert_eq!(lines("stats p"), [desk.report("stats p")]);
    assert_eq!(lines("show p@1"), [desk.report("show p@1")]);
    let both = desk.duet("log p --json --json-lines");
    assert!(
        both.code == 2 && both.errors.contains("cannot be used with"),
        "{both:?}"
    );
}
