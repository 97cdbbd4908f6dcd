//! Agents by the real command: the examples with recorded models run, go back, are amended, go on
//! and are replayed; so do agents inside agents.
//!
//! INVARIANT: no test needs a provider of models, and a replay calls none, not even a double.
//! It does not test what a model may do wrong; `tests/actors/bad_models.scm` does.
//! Read next: `tests/agents/nested.scm`, `review.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

/// A directory with copies of the examples and of the programs of these tests, and the command run
/// in it.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&root.join("examples"), &folder.path().join("examples"));
        copy(&root.join("tests/agents"), &folder.path().join("agents"));
        Desk { folder }
    }

    fn duet(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_duet"))
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Runs a command that must end with an exit code, and returns what it printed.
    fn ends_with(&self, exit_code: i32, arguments: &[&str]) -> String {
        let output = self.duet(arguments);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit_code), "duet {arguments:?}:\n{messages}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn prints(&self, arguments: &[&str]) -> String {
        self.ends_with(0, arguments)
    }

    /// Runs a command after which the run waits for a person.
    fn waits(&self, arguments: &[&str]) -> String {
        self.ends_with(4, arguments)
    }

    fn replays(&self, branches: &[&str]) {
        for branch in branches {
            let said = self.prints(&["replay", "--check", branch]);
            assert!(said.starts_with("identical: "), "{branch}: {said}");
        }
    }

    /// Returns the number of the newest turn of a branch whose line in the log contains a text.
    fn turn(&self, branch: &str, text: &str) -> u64 {
        let log = self.prints(&["log", branch]);
        let line = log.lines().find(|line| line.contains(text));
        let number = line.and_then(|line| line.split_whitespace().find_map(|word| word.parse().ok()));
        number.unwrap_or_else(|| panic!("no turn of {branch} has {text:?}:\n{log}"))
    }

    fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(path)).ok()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn said(content: &str) -> String {
    format!("{{content: {content:?}, stop: \"end\", tool_calls: []}}")
}

#[test]
fn what_an_author_gets_wrong_is_told_before_a_model_is_asked() {
    let head = "(import (duet base) (duet dataspace) (duet agents))\n";
    for (program, expected) in [
        (
            "(define-tool (add (a integer)) (+ a 1))",
            "a tool has a description for the model, a string, before its body",
        ),
        (
            "(define-tool (add a) \"Adds.\" (+ a 1))",
            "the head of a tool is (name (parameter shape option ...) ...)",
        ),
        (
            "(define-agent a (budget :turn 5))",
            "a budget has :turns, :tokens and :usd, each with a number",
        ),
        ("(define-model a (budget :turns))", "a number follows the keyword"),
        ("(make-agent 'a :turn 5)", "make-agent: expected :turns: ':turn'"),
        ("(make-model 'a :seeds 5)", "make-model: expected :seed: ':seeds'"),
        ("(define-agent a) (ask a \"Hi\")", "was not granted (after 1 message)\n"),
    ] {
        let desk = Desk::new();
        fs::write(desk.folder.path().join("wrong.scm"), format!("{head}{program}\n")).unwrap();
        let output = desk.duet(&["run", "--memory", "wrong.scm"]);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.contains(expected), "{program}: {messages}");
    }
}

#[test]
fn an_error_in_the_procedure_of_a_tool_is_shown_with_its_place_and_the_model_hears_of_it() {
    let desk = Desk::new();
    let program = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (entry n) (vector-ref (vector 1 2) n))
(define-tool (look (n integer)) "Looks." (let ((found (entry n))) (display found) found))
(define-tool (note) "Notes." (for-each display '()))
(define-tool (fetch (n integer)) "Fetches." (list (error "no such shelf" n)))
(define-tool (reach) "Reaches." (raise '(nothing there)))
(define-agent clerk (tools look note fetch reach))
(display (ask clerk "Hi"))
"#;
    let call = |name: &str, arguments: &str| {
        let call = format!("{{id: {name:?}, name: {name:?}, arguments: {arguments}}}");
        format!("{{content: \"\", stop: \"tools\", tool_calls: [{call}]}}")
    };
    let replies = [
        call("look", "{n: 7}"),
        call("note", "{}"),
        call("fetch", "{n: 8}"),
        call("reach", "{}"),
        said("Done."),
    ];
    let replies = replies.map(|reply| format!("<returns {reply}>")).join(" ");
    fs::write(desk.folder.path().join("look.scm"), program).unwrap();
    fs::write(
        desk.folder.path().join("look.pr"),
        format!("{{\"model/chat\": [{replies}]}}"),
    )
    .unwrap();
    let output = desk.duet(&["run", "look.scm", "--double", "look.pr"]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Done.");
    for part in [
        "out-of-range",
        "look.scm:2:19",
        "in `entry`",
        "the tool look of clerk",
        "the run goes on",
        "no such shelf: 8",
        "look.scm:5:51",
    ] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    assert!(desk.prints(&["log", "look"]).contains("the tool look of clerk"));
    let turn = desk.turn("look", "the tool look of clerk");
    let next = desk.prints(&["show", &format!("look@{turn}")]);
    assert!(next.contains("argument 2 of vector-ref is out of range"), "{next}");
    let told = desk.prints(&["transcript", "look"]);
    assert!(
        told.contains("error: the tool raised an object: (nothing there)"),
        "{told}"
    );
    desk.replays(&["look"]);
}

#[test]
fn a_coder_goes_back_and_takes_other_advice() {
    let desk = Desk::new();
    let repository = "examples/coder/repository";
    let hasty = "examples/coder/hasty.pr";
    let advice = "Years that 100 divides are no leap years.";
    let untouched = desk.file("examples/coder/repository/leap.sh").unwrap();
    let printed = desk.waits(&[
        "run",
        "examples/coder",
        "--double",
        hasty,
        "--answer",
        advice,
        "--",
        repository,
    ]);
    assert_eq!(
        printed,
        "coder: Years that 100 divides are common years now.\ntests: 2000: expected leap, found common\n"
    );

    desk.prints(&["goto", "--workspace", "coder@1"]);
    assert_eq!(desk.file("examples/coder/repository/leap.sh"), Some(untouched));
    let careful = "examples/coder/careful.pr";
    let printed = desk.prints(&["resume", "coder", "--answer", "Run the tests.", "--double", careful]);
    assert!(printed.ends_with("tests: 4 years are right\n"), "{printed}");
    let repaired = desk.file("examples/coder/repository/leap.sh").unwrap();
    assert!(repaired.contains("400"), "{repaired}");
    let facts = desk.prints(&["facts", "coder", "attempt"]);
    assert!(facts.contains("<attempt \"Run the tests.\" #t>"), "{facts}");

    let branches = desk.prints(&["branches", "coder"]);
    let first = branches
        .lines()
        .find_map(|line| line.trim().strip_prefix("coder/main."));
    let first = format!("coder/main.{}", first.unwrap().split('@').next().unwrap());
    let turn = desk.turn(&first, "call process/run");
    let reply = said("{\"summary\": \"I did nothing.\"}");
    let printed = desk.prints(&["amend", &format!("{first}@{turn}"), &reply, "--branch", "other"]);
    assert_eq!(printed, "coder: I did nothing.\ntests: 4 years are right\n");
    desk.replays(&["coder/main", &first, "coder/other"]);
}

#[test]
fn a_coder_whose_tests_fail_is_advised_in_the_same_conversation() {
    let desk = Desk::new();
    let hasty = "examples/coder/hasty.pr";
    let repository = "examples/coder/repository";
    desk.waits(&[
        "run",
        "examples/coder",
        "--double",
        hasty,
        "--answer",
        "Do it.",
        "--",
        repository,
    ]);
    let careful = "examples/coder/careful.pr";
    let printed = desk.prints(&["resume", "coder", "--answer", "2000 is wrong.", "--double", careful]);
    assert!(printed.ends_with("tests: 4 years are right\n"), "{printed}");
    let turn = desk.turn("coder", "coder asks default");
    let call = desk.prints(&["show", &format!("coder@{turn}")]);
    assert!(call.contains("Do it.") && call.contains("2000 is wrong."), "{call}");
    desk.replays(&["coder"]);
}

#[test]
fn research_checks_citations_and_asks_another_judge() {
    let desk = Desk::new();
    let model = "examples/research/model.pr";
    let documents = "examples/research/documents";
    let printed = desk.prints(&["run", "examples/research", "--double", model, "--", documents]);
    assert!(
        printed.contains("leaves.md:3 \"Its catechins are therefore kept\""),
        "{printed}"
    );
    assert!(!printed.contains("no catechins"), "{printed}");
    let dropped = desk.prints(&["facts", "research", "dropped"]);
    assert!(
        dropped.contains("<dropped \"water.md\" 2 \"no catechins are dissolved\">"),
        "{dropped}"
    );

    let asked = desk.turn("research", "judge asks default");
    let judged = desk.turn("research", "write \"Green tea");
    desk.prints(&["fork", &format!("research@{}", asked - 1), "again"]);
    let judge = "examples/research/other-judge.pr";
    let printed = desk.prints(&["resume", "research/again", "--double", judge]);
    assert!(printed.starts_with("The longer and hotter"), "{printed}");
    assert!(printed.contains("time.md:3"), "{printed}");

    let reply = said("{\"answer\": \"Use cooler water.\", \"used\": [2]}");
    let printed = desk.prints(&["amend", &format!("research@{judged}"), &reply, "--branch", "cooler"]);
    assert_eq!(
        printed,
        "Use cooler water.\n(2 Theanine is sweet.)\n    taste.md:3 \"tastes sweet and savoury\"\n"
    );
    desk.replays(&["research/main", "research/again", "research/cooler"]);
}

#[test]
fn a_handshake_goes_on_from_any_turn_and_with_other_numbers() {
    let desk = Desk::new();
    let whole = desk.prints(&["run", "examples/handshake.scm", "--name", "meeting"]);
    assert!(whole.contains("(ben challenge initiator_verified open)"), "{whole}");
    assert!(whole.contains("(cat dan refused)"), "{whole}");
    let last = desk.turn("meeting", "");
    for turn in (1..last).step_by(5) {
        let branch = format!("from-{turn}");
        desk.prints(&["fork", &format!("meeting@{turn}"), &branch]);
        let rest = desk.prints(&["resume", &format!("meeting/{branch}")]);
        assert!(whole.ends_with(&rest), "{turn}: {rest}");
        desk.replays(&[&format!("meeting/{branch}")]);
    }
    let log = desk.prints(&["log", "meeting", "--json"]);
    assert!(log.contains("chance/integer"), "{log}");
    let greeting = desk.turn("meeting", "message <route/emit ann <hello");
    let rest = desk.prints(&["amend", &format!("meeting@{greeting}"), "7", "--branch", "seven"]);
    assert!(whole.ends_with(&rest), "{rest}");
    let tape = desk.prints(&["facts", "meeting/seven", "tape"]);
    assert!(tape.contains("<tape ben \"session\" initiator_verified>"), "{tape}");
}

#[test]
fn a_negotiation_adds_routes_to_the_handshake_and_can_be_tried_again() {
    let desk = Desk::new();
    let program = "examples/negotiation.scm";
    let printed = desk.prints(&["run", program, "--name", "clock", "--answer", "60"]);
    let verified = "(buyer hello)\n(seller challenge)\n(buyer answer)\n";
    assert!(printed.starts_with(verified), "{printed}");
    assert!(printed.ends_with("(buyer (leave))\nno bargain\n"), "{printed}");

    desk.prints(&["goto", "clock@1"]);
    let printed = desk.prints(&["resume", "clock", "--answer", "80", "--answer", "yes"]);
    assert!(
        printed.ends_with("(seller (sold 70))\n(seller (receipt))\n(seller (parcel))\n"),
        "{printed}"
    );
    let tape = desk.prints(&["facts", "clock", "tape"]);
    for state in ["agreed", "delivery", "initiator_verified", "shipped"] {
        assert!(
            tape.contains(&format!("<tape seller \"session\" {state}>")),
            "{state}: {tape}"
        );
    }
    let delivery = desk.turn("clock", "message <route/deliver seller <wish>>");
    let printed = desk.prints(&["amend", &format!("clock@{delivery}"), "no", "--branch", "fetched"]);
    assert!(!printed.contains("parcel") && printed.contains("receipt"), "{printed}");
    desk.replays(&["clock/main", "clock/fetched"]);
}

/// A run in which a clerk inside a boss wants to write a note; the approval is open.
fn asked() -> Desk {
    let desk = Desk::new();
    let double = "agents/first.pr";
    desk.waits(&[
        "run",
        "agents/nested.scm",
        "--name",
        "n",
        "--workspace",
        "agents",
        "--double",
        double,
    ]);
    desk
}

/// The same, approved and ended.
fn approved() -> Desk {
    let desk = asked();
    let printed = desk.waits(&[
        "resume",
        "n",
        "--approve",
        "workspace/write",
        "--double",
        "agents/then.pr",
    ]);
    assert_eq!(printed, "boss: It is done.\n");
    desk
}

/// The turn in which the nested agent has the result of its tool and calls its model.
fn inside(desk: &Desk) -> u64 {
    desk.turn("n/main", "clerk asks ") - 1
}

#[test]
fn going_back_inside_a_nested_agent_goes_on_there_and_not_from_its_start() {
    let desk = approved();
    desk.prints(&["goto", &format!("n@{}", inside(&desk))]);
    // Only two replies are left: one of the nested agent, one of the agent around it.
    let printed = desk.waits(&["resume", "n", "--double", "agents/otherwise.pr"]);
    assert_eq!(printed, "boss: It was not done.\n");
    assert!(desk.prints(&["facts", "n", "used"]).contains("<used 4>"));
    desk.replays(&["n"]);
}

#[test]
fn an_approval_asked_before_the_turn_is_not_answered_by_a_later_answer() {
    let desk = approved();
    assert_eq!(desk.file("agents/note.txt").as_deref(), Some("noted"));
    let proposal = desk.turn("n", "ask for approval of: call workspace/write");
    desk.prints(&["goto", "--workspace", &format!("n@{proposal}")]);
    assert_eq!(desk.file("agents/note.txt"), None);
    desk.waits(&["resume", "n", "--double", "agents/then.pr"]);
    assert_eq!(desk.file("agents/note.txt"), None);
    let printed = desk.duet(&["resume", "n", "--headless", "--double", "agents/otherwise.pr"]);
    assert_eq!(printed.stdout, b"boss: It was not done.\n");
    assert_eq!(desk.file("agents/note.txt"), None);
}

#[test]
fn the_state_of_a_nested_agent_is_that_of_the_turn() {
    let desk = approved();
    let used = |turn: u64| {
        desk.prints(&[
            "eval",
            &format!("n@{turn}"),
            "(dictionary-ref (model-usage local) 'turns)",
        ])
    };
    let inside = inside(&desk);
    assert_eq!(used(2).trim(), "1");
    assert_eq!(used(inside).trim(), "2");
    assert_eq!(used(inside + 1).trim(), "3");
    assert_eq!(used(desk.turn("n", "boss: ")).trim(), "4");
}

#[test]
fn a_fork_inside_a_nested_agent_leaves_the_original_alone() {
    let desk = approved();
    let before = (desk.prints(&["log", "n/main"]), desk.prints(&["facts", "n/main"]));
    desk.prints(&["fork", &format!("n@{}", inside(&desk)), "other"]);
    let printed = desk.waits(&["resume", "n/other", "--double", "agents/otherwise.pr"]);
    assert_eq!(printed, "boss: It was not done.\n");
    assert_eq!(desk.prints(&["facts", "n/main"]), before.1);
    let log = desk.prints(&["log", "n/main"]);
    assert!(log.contains("boss: It is done."), "{log}");
    assert!(before.0.contains("boss: It is done."), "{}", before.0);
    desk.replays(&["n/main", "n/other"]);
}

#[test]
fn a_refused_call_of_an_agent_reaches_its_model() {
    let desk = asked();
    let resumed = desk.duet(&["resume", "n", "--headless", "--double", "agents/otherwise.pr"]);
    assert_eq!(resumed.stdout, b"boss: It was not done.\n");
    let turn = inside(&desk) + 1;
    let call = desk.prints(&["show", &format!("n@{turn}")]);
    assert!(call.contains("error: "), "{call}");
}

/// The tools that a model receives for `workspace/*`, `process/*` and `http/*`: name, arguments,
/// and those that are required.
fn tools_for_a_model() -> Vec<(String, Vec<String>, Vec<String>)> {
    let desk = Desk::new();
    desk.prints(&[
        "run",
        "agents/all_tools.scm",
        "--name",
        "all",
        "--double",
        "agents/then.pr",
    ]);
    let shown: Json = serde_json::from_str(&desk.prints(&["show", "all@1", "--json"])).unwrap();
    let actions = shown["actions"].as_array().unwrap();
    let call = actions.iter().find(|action| action["kind"] == "invoke-tool").unwrap();
    let described = |tool: &Json| {
        let properties = tool["schema"]["properties"].as_object().unwrap();
        let required = tool["schema"]["required"].as_array().unwrap().iter();
        let mut required: Vec<String> = required.map(|name| name.as_str().unwrap().to_owned()).collect();
        required.sort_unstable();
        (
            tool["name"].as_str().unwrap().to_owned(),
            properties.keys().cloned().collect(),
            required,
        )
    };
    call["payload"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(described)
        .collect()
}

#[test]
fn the_arguments_that_models_learn_are_those_of_the_built_in_tools() {
    let listed: Json = serde_json::from_str(&Desk::new().prints(&["tools", "--json"])).unwrap();
    let for_models = tools_for_a_model();
    for tool in listed.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let is_family = |start: &&str| name.starts_with(start);
        // A model is not offered a call that may wait for days.
        if !["workspace/", "process/", "http/"].iter().any(is_family) || name == "workspace/watch" {
            continue;
        }
        let found = for_models.iter().find(|(known, _, _)| known == name);
        let (_, arguments, required) = found.unwrap_or_else(|| panic!("{name} is missing in `tools.scm`"));
        let fields = tool["payload"].as_array().unwrap();
        let field = |name: &String| fields.iter().find(|field| field["name"] == name.as_str());
        for argument in arguments {
            assert!(field(argument).is_some(), "{name} has no argument {argument}");
        }
        let needs = |field: &&Json| field["required"] == true;
        let mut needed: Vec<_> = fields
            .iter()
            .filter(needs)
            .map(|field| field["name"].as_str().unwrap())
            .collect();
        needed.sort_unstable();
        assert_eq!(required, &needed, "{name}");
    }
}
