//! Servers of the Model Context Protocol as tools: calls, faults, questions, replay, permission.
//!
//! INVARIANT: the servers are programs of these tests; a test that needs Node or the network says
//! loudly when it is skipped.
//! The tests of `tests/it/mcp_server.rs` cover Duet as a server.
//! Read next: `mcp_server.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a failed step of a test is its failure; a skipped test says so"
)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod net;
mod odd;
mod tasks;

use crate::support::desk::Desk;
use crate::support::foreign;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_server.py");

/// Makes a desk whose person has a server `t` of a mode, and a program that may use it.
fn desk(mode: &str, program: &str) -> Desk {
    desk_with(mode, "", program)
}

/// The same with more entries of the server's configuration.
fn desk_with(mode: &str, entries: &str, program: &str) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}"))]);
    let state = desk.path("state");
    let configuration = format!(
        "[servers.t]\ncommand = [\"python3\", \"{SERVER}\", \"{mode}\", \"{}\"]\n{entries}",
        state.display()
    );
    fs::create_dir_all(desk.path("config/duet")).unwrap();
    fs::write(desk.path("config/duet/config.toml"), configuration).unwrap();
    desk
}

/// What the server noted.
fn noted(desk: &Desk) -> Vec<String> {
    let text = fs::read_to_string(desk.path("state")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn count(desk: &Desk, line: &str) -> usize {
    noted(desk).iter().filter(|noted| *noted == line).count()
}

const IMPORTS: &str = "(import (duet base) (duet dataspace) (duet json))
(define (call name . fields) (call-tool 'p (string-append \"t/\" name) (apply dictionary fields)))
(define (said result) (json-ref result \"content\" 0 \"text\"))
(define (show object) (display object) (newline))
(define (try thunk)
  (guard (e (#t (show (condition-kind e)) (show (condition-message e)))) (show (thunk))))
";

#[test]
fn a_servers_tools_are_tools_and_a_replay_calls_none() {
    for mode in ["plain", "modern", "strict", "garbage"] {
        let program = "(show (said (call \"echo\" 'text \"hé\")))
(let ((sum (call \"add\" 'a 1 'b 2.5))) (show (json-ref sum \"structuredContent\" \"total\")))
(show (said (call \"a/b\" 'text \"slash\")))";
        let desk = desk(mode, program);
        let expected = "you said hé\n3.5\nyou said slash\n";
        desk.check("run p.scm --allow-server t", 0, expected);
        let calls = count(&desk, "call echo");
        assert_eq!(calls, 1, "{mode}: {:?}", noted(&desk));
        assert_eq!(desk.duet("replay p --check").code, 0);
        let log = desk.duet("log p").output;
        assert!(log.contains("t/echo"), "{log}");
        assert_eq!(count(&desk, "call echo"), 1);
    }
}

#[test]
fn the_tools_of_a_server_are_listed_with_their_arguments() {
    let desk = desk("plain", "");
    let said = desk.duet("servers t");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.output.contains("t/echo  ("), "{said:?}");
    assert!(said.output.contains("    text  string\n"), "{said:?}");
    let said = desk.duet("servers t --json");
    let tools: serde_json::Value = serde_json::from_str(&said.output).unwrap();
    let echo = tools
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "t/echo")
        .unwrap();
    assert_eq!(echo["schema"]["properties"]["text"]["type"], "string", "{echo}");
    let said = desk.duet("servers u");
    assert!(
        said.code == 1 && said.errors.contains("there is no MCP server `u`"),
        "{said:?}"
    );
}

#[test]
fn the_schema_of_a_tool_is_checked_before_the_call() {
    let desk = desk("plain", "(try (lambda () (said (call \"echo\" 'text 7))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.contains("7 is not of type"), "{done:?}");
    assert_eq!(count(&desk, "call echo"), 0);
}

#[test]
fn a_tool_that_fails_raises_a_condition_with_its_words() {
    let desk = desk(
        "plain",
        "(try (lambda () (call \"fail\")))\n(try (lambda () (call \"nothing\")))",
    );
    let done = desk.duet("run p.scm --allow-server t");
    let expected = "failed\nthe tool `fail` of the MCP server `t` failed: the disk is full\nbad-argument\n";
    assert!(done.output.starts_with(expected), "{done:?}");
    assert!(done.output.contains("Unknown: nothing"), "{done:?}");
}

#[test]
fn a_server_that_crashes_fails_the_call_and_starts_again() {
    let desk = desk(
        "plain",
        "(try (lambda () (call \"crash\")))\n(try (lambda () (said (call \"echo\" 'text \"a\"))))",
    );
    let done = desk.duet("run p.scm --allow-server t");
    assert!(
        done.output
            .starts_with("failed\nthe MCP server `t` ended before it answered"),
        "{done:?}"
    );
    assert!(
        done.output.contains("exit status: 7") && done.output.contains("out of paper"),
        "{done:?}"
    );
    assert!(done.output.ends_with("you said a\n"), "{done:?}");
    assert_eq!(count(&desk, "start"), 2);
}

#[test]
fn a_server_that_hangs_at_start_delays_the_run_and_fails_its_calls() {
    let desk = desk_with(
        "hang",
        "start_timeout_ms = 300\n",
        "(show 'begun)\n(try (lambda () (call \"echo\")))",
    );
    let begun = Instant::now();
    let done = desk.duet("run p.scm --allow-server t");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(done.errors.contains("calls of `t/…` fail until it starts"), "{done:?}");
    let expected = "begun\nunavailable\nthe MCP server `t` gave no answer within 300 ms of its start";
    assert!(done.output.starts_with(expected), "{done:?}");
}

#[test]
fn a_server_that_does_not_start_says_why() {
    let desk = desk("dies", "(try (lambda () (call \"echo\" 'text \"a\")))");
    let done = desk.duet("run p.scm --allow-server t");
    assert!(
        done.output
            .starts_with("unavailable\nthe MCP server `t` does not start, or cannot be reached"),
        "{done:?}"
    );
    assert!(done.output.contains("no licence"), "{done:?}");
}

#[test]
fn a_message_of_a_gigabyte_ends_the_server_and_not_the_run() {
    for mode in ["plain", "gigabyte"] {
        let desk = desk(
            mode,
            "(try (lambda () (call \"big\")))\n(try (lambda () (said (call \"echo\" 'text \"a\"))))",
        );
        let done = desk.duet("run p.scm --allow-server t");
        assert!(
            done.output
                .starts_with("output-limit\na message of the MCP server `t` is longer than"),
            "{done:?}"
        );
        assert!(done.output.ends_with("you said a\n"), "{done:?}");
    }
}

#[test]
fn faults_of_a_list_are_told_and_cost_no_other_tool() {
    let program = "(try (lambda () (said (call \"echo\" 'text \"a\"))))";
    for (mode, told) in [
        (
            "duplicates",
            "it lists the tool `echo` more than once; the first one counts",
        ),
        (
            "names",
            "it lists a tool with the name \"mcp:read\", which cannot be called",
        ),
        (
            "schemas",
            "the arguments of `echo0` are not checked, because the schema that it has for them is invalid",
        ),
    ] {
        let done = desk(mode, program).duet("run p.scm --allow-server t");
        assert_eq!(done.output, "you said a\n", "{mode}: {done:?}");
        assert!(done.errors.contains(told), "{mode}: {done:?}");
    }
}

#[test]
fn a_tool_that_comes_while_the_server_runs_can_be_called() {
    let program = "(define (has? name)
  (any (lambda (tool) (string=? (json-ref tool \"name\") name)) (json-ref (call \"mcp:tools\") \"tools\")))
(show (has? \"t/new\"))
(call \"grow\")
(show (has? \"t/new\"))
(show (said (call \"new\" 'text \"a\")))";
    desk("plain", program).check("run p.scm --allow-server t", 0, "#f\n#t\nyou said a\n");
}

#[test]
fn resources_and_prompts_are_read() {
    let program = "(show (json-ref (call \"mcp:resources\") 0 \"uri\"))
(show (json-ref (call \"mcp:read\" 'uri \"note://1\") \"contents\" 0 \"text\"))
(show (json-ref (call \"mcp:prompts\") 0 \"name\"))
(show (json-ref (call \"mcp:prompt\" 'name \"greet\" 'arguments (dictionary 'who \"Ada\"))
        \"messages\" 0 \"content\" \"text\"))
(show (call \"mcp:templates\"))
(try (lambda () (call \"mcp:read\")))";
    for mode in ["plain", "modern"] {
        let expected =
            "note://1\nthe first note\ngreet\nGreet Ada.\n()\nbad-argument\nthe field `uri` must be a string\n";
        desk(mode, program).check("run p.scm --allow-server t", 0, expected);
    }
}

#[test]
fn policy_tells_apart_what_looks_at_a_server_and_what_acts_there() {
    let program = |capability: &str| {
        format!(
            "(import (duet mcp) (duet policy))
(define-constraint \"none\" :capability '{capability} :reason \"none\")
(define (kind thunk) (guard (e (#t (condition-kind e))) (thunk) 'done))
(show (map kind
  (list (lambda () (mcp-tools 'p \"t\")) (lambda () (mcp-resources 'p \"t\"))
    (lambda () (call \"mcp:templates\")) (lambda () (mcp-read 'p \"t\" \"note://1\"))
    (lambda () (mcp-prompts 'p \"t\")) (lambda () (mcp-prompt 'p \"t\" \"greet\" (dictionary 'who \"Ada\")))
    (lambda () (call \"mcp:task\")) (lambda () (call \"echo\" 'text \"a\")))))
(show (map kind (list (lambda () (call \"mcp:answer\")) (lambda () (call \"later/on\")))))
(show (car (explain (list 'call 't/mcp:tools (dictionary)))))"
        )
    };
    let looks = "done done done done done done bad-argument done";
    let denied = ["policy-denied"; 8].join(" ");
    for (capability, expected) in [
        ("mcp.read", format!("({denied})\n(bad-argument bad-argument)\ndeny\n")),
        (
            "mcp.write",
            format!("({looks})\n(policy-denied policy-denied)\nallow\n"),
        ),
    ] {
        let desk = desk("plain", &program(capability));
        let said = desk.duet("run p.scm --allow-server t");
        assert_eq!(said.output, expected, "{capability}: {}", said.errors);
        assert_eq!(desk.duet("replay p --check").code, 0);
    }
}

#[test]
fn a_double_of_what_looks_at_a_server_only_looks_too() {
    let program = "(import (duet mcp) (duet policy))
(define-constraint \"none\" :capability 'mcp.write :reason \"none\")
(show (mcp-text (mcp-read 'p \"t\" \"note://1\")))";
    for name in ["t/mcp:read", "t/*"] {
        let desk = desk("plain", program);
        let double = format!("{{\"{name}\": [<returns {{contents: [{{text: \"from the double\"}}]}}>]}}");
        fs::write(desk.path("d.pr"), double).unwrap();
        desk.check("run p.scm --allow-server t --double d.pr", 0, "from the double\n");
        assert_eq!(noted(&desk).len(), 0, "{name}");
    }
}

#[test]
fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let program = "(import (duet agents))
(try (lambda () (call-with-timeout 1500 (lambda () (call \"slow\" 'forever #t)))))
(sleep 500)";
    let desk = desk("plain", program);
    desk.duet("run p.scm --allow-server t");
    assert_eq!(count(&desk, "notifications/cancelled"), 1, "{:?}", noted(&desk));
}

#[test]
fn a_server_of_a_workspace_starts_only_if_the_person_allows_it() {
    let program = "(try (lambda () (said (call \"echo\" 'text \"a\"))))";
    let desk = Desk::new(&[
        ("f/manifest.scm", "((program \"p.scm\") (tools t/*))"),
        ("f/p.scm", &format!("{IMPORTS}{program}")),
    ]);
    let state = desk.path("state");
    let described = format!(
        "[servers.t]\ncommand = [\"python3\", \"{SERVER}\", \"plain\", \"{}\"]\n",
        state.display()
    );
    fs::write(desk.path("duet.toml"), &described).unwrap();
    let refused = desk.duet("run f");
    assert!(
        refused.output.starts_with("denied\nthe MCP server `t` is described by"),
        "{refused:?}"
    );
    assert!(
        refused.output.contains("`--allow-server t` lets it start"),
        "{refused:?}"
    );
    assert_eq!(noted(&desk).len(), 0);
    desk.check("run f --allow-server t", 0, "you said a\n");
    fs::write(desk.path("duet.toml"), format!("{described}secrets = [\"API_KEY\"]\n")).unwrap();
    let refused = desk.duet("run f --allow-server t");
    assert!(
        refused.errors.contains("a workspace gives away no secrets"),
        "{refused:?}"
    );
    let refused = desk.duet("run f --allow-server u");
    assert!(refused.code != 0, "{refused:?}");
}

#[test]
fn a_manifest_describes_a_server_which_a_resumed_run_still_has() {
    let manifest = format!("((program \"p.scm\") (tools t/*) (server t \"python3\" \"{SERVER}\" \"plain\"))");
    let program = "(show (said (call \"echo\" 'text \"a\")))
(show (await (user-input :prompt \"Go on?\")))
(show (said (call \"echo\" 'text \"b\")))";
    let desk = Desk::new(&[
        ("f/manifest.scm", &*manifest),
        ("f/p.scm", &format!("{IMPORTS}{program}")),
    ]);
    desk.check("run f", 4, "you said a\n");
    desk.check("answer f yes", 0, "yes\nyou said b\n");
}

#[test]
fn a_run_that_has_begun_is_granted_a_server_with_the_schemas_of_its_tools() {
    let program = "(define (both)
  (try (lambda () (said (call \"echo\" 'text 7))))
  (try (lambda () (said (call \"echo\" 'text \"a\")))))
(both)
(await (user-input :prompt \"Go on?\"))
(both)";
    let desk = desk("plain", program);
    let waits = desk.duet("run p.scm");
    assert_eq!(waits.code, 4, "{waits:?}");
    assert!(!waits.output.contains("you said"), "{waits:?}");
    assert_eq!(noted(&desk).len(), 0);
    let done = desk.duet("resume p --allow-server t --answer yes");
    assert!(done.errors.contains("grants the run: t/*, the server t"), "{done:?}");
    assert!(done.output.contains("7 is not of type"), "{done:?}");
    assert!(done.output.ends_with("you said a\n"), "{done:?}");
    assert_eq!(count(&desk, "call echo"), 1);
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_double_stands_in_for_a_server_which_does_not_start() {
    let desk = desk("plain", "(show (said (call \"echo\" 'text \"a\")))");
    fs::write(
        desk.path("d.pr"),
        "{\"t/echo\": [<returns {content: [{text: \"from the double\"}]}>]}",
    )
    .unwrap();
    desk.check("run p.scm --allow-server t --double d.pr", 0, "from the double\n");
    assert_eq!(noted(&desk).len(), 0);
}

#[test]
fn a_question_of_a_server_is_asked_and_the_call_goes_on() {
    let program = "(import (duet mcp))
(show (mcp-text (mcp-call 'p \"t/ask\" (dictionary))))";
    for mode in ["plain", "modern"] {
        let desk = desk(mode, program);
        desk.check("run p.scm --allow-server t --answer Ada", 0, "hello Ada\n");
        assert_eq!(desk.duet("replay p --check").code, 0, "{mode}");
        // An empty answer declines.
        desk.check("run p.scm --allow-server t --answer \" \"", 0, "nobody\n");
    }
}

#[test]
fn a_question_outlives_the_process_if_the_server_keeps_no_state() {
    let program = "(import (duet mcp))
(guard (e (#t (show (condition-kind e))))
  (show (mcp-text (mcp-call 'p \"t/ask\" (dictionary)))))";
    for (mode, expected) in [("modern", "hello Ada\n"), ("plain", "not-found\n")] {
        let desk = desk(mode, program);
        let waits = desk.duet("run p.scm --allow-server t");
        assert_eq!(waits.code, 4, "{waits:?}");
        desk.check("answer p Ada", 0, expected);
    }
}

#[test]
fn an_agent_gets_the_tools_of_a_server_with_their_schemas() {
    let program = "(import (duet agents))
(define helper (make-agent 'helper :tools '(\"t/echo\")))
(show (call-with-values (lambda () (run-agent helper \"Say tea\")) (lambda (said . rest) said)))
(define other (make-agent 'other :tools '(\"t/a*\")))
(try (lambda () (make-agent 'wrong :tools '(\"t/nothing\"))))";
    let desk = desk("plain", program);
    let replies = "{\"model/chat\": [
        <returns {content: \"\", tool_calls: [{id: \"1\", name: \"t/echo\", arguments: {text: \"tea\"}}],
                  stop: \"tools\", usage: {input_tokens: 1, output_tokens: 1}, model: \"m\"}>
        <returns {content: \"done\", tool_calls: [], stop: \"end\",
                  usage: {input_tokens: 1, output_tokens: 1}, model: \"m\"}>]}";
    fs::write(desk.path("d.pr"), replies).unwrap();
    let done = desk.duet("run p.scm --allow-server t --double d.pr");
    assert!(done.output.starts_with("done\nno-such-tool\n"), "{done:?}");
    assert_eq!(count(&desk, "call echo"), 1);
    let asked = desk.duet("log p").output;
    assert!(asked.contains("t/echo"), "{asked}");
}

#[test]
fn the_gate_checks_a_schema_that_an_agent_cannot_read() {
    let program = "(import (duet agents))
(show (agent? (make-agent 'helper :tools '(\"t/*\"))))
(try (lambda () (said (call \"echo\" 'text \"b\"))))
(try (lambda () (said (call \"echo\" 'text \"aa\"))))";
    let done = desk("long-pattern", program).duet("run p.scm --allow-server t");
    assert!(done.output.starts_with("#t\npolicy-denied\n"), "{done:?}");
    assert!(done.output.ends_with("you said aa\n"), "{done:?}");
}

#[test]
fn whoever_makes_a_call_pays_for_the_work_of_its_schema() {
    // The work doubles with each of twelve levels.
    let call = "(call-tool 'p \"t/echo\" (dictionary 'text \"a\"))";
    let program = format!(
        "(import (duet sessions) (scheme process-context))
(serve-sessions! :imports '((scheme base) (duet base) (duet dataspace) (duet json))
  :fuel-limit 400000)
(on-assert (session/event :session $id :kind $kind :payload $payload)
  (when (memq kind '(result error)) (show (list id kind payload)) (if (equal? id \"b\") (exit 0))))
(define (ask! id payload) (message! (record 'session/request :session id :payload payload :tag 1)))
(show (said {call}))
(ask! \"a\" '(begin {call} 1))
(sleep 300)
(define doubling '(let double ((n 12))
  (if (= n 0) (dictionary 'type \"string\")
    (let ((next (double (- n 1)))) (dictionary 'anyOf (list next next))))))
(ask! \"c\" `(json-valid? (json-schema ,doubling) 1))
(sleep 300)
(ask! \"b\" '(+ 1 2))"
    );
    let desk = desk("doubling", &program);
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.starts_with("you said a\n(a error "), "{done:?}");
    assert_eq!(done.output.matches("#[failure out-of-fuel ").count(), 2, "{done:?}");
    assert!(done.output.contains("(b result "), "{done:?}");
    assert_eq!(count(&desk, "call echo"), 1, "{:?}", noted(&desk));
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_server_can_be_spoken_to_by_the_revision_of_2025_at_once() {
    let desk = desk_with(
        "strict",
        "revision = \"2025-11-25\"\n",
        "(show (said (call \"echo\" 'text \"a\")))",
    );
    desk.check("run p.scm --allow-server t", 0, "you said a\n");
    // Asked for 2026, this server ends.
    assert_eq!(count(&desk, "start"), 1, "{:?}", noted(&desk));
    let wrong = desk_with("strict", "revision = \"2024\"\n", "").duet("run p.scm --allow-server t");
    assert!(wrong.errors.contains("`revision` is \"2026-07-28\" or"), "{wrong:?}");
}

#[test]
fn effects_come_from_the_configuration_before_the_servers_word() {
    let program = "(for-each (lambda (tool)
  (if (member (json-ref tool \"name\") '(\"t/echo\" \"t/add\" \"t/fail\"))
      (show (list (json-ref tool \"name\") (json-ref tool \"effect\")))))
  (json-ref (call \"mcp:tools\") \"tools\"))";
    let desk = desk_with("plain", "effects = { add = \"pure\" }\n", program);
    desk.check(
        "run p.scm --allow-server t",
        0,
        "(t/echo pure)\n(t/add pure)\n(t/fail irreversible)\n",
    );
    let wrong = desk_with("plain", "effects = { add = \"harmless\" }\n", program).duet("run p.scm --allow-server t");
    assert!(wrong.errors.contains("an effect is pure, reversible"), "{wrong:?}");
}

#[test]
fn duet_calls_duet_over_http() {
    let desk = Desk::new(&[("q.scm", "(display \"inner\")")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_duet"))
        .args(["mcp", "--listen", "127.0.0.1:0"])
        .current_dir(desk.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.trim().rsplit(' ').next().unwrap();
    let program = "(show (json-ref (call \"run\" 'program \"q.scm\") \"structuredContent\" \"output\"))
(show (json-ref (call \"mcp:resources\") 0 \"uri\"))";
    fs::write(desk.path("p.scm"), format!("{IMPORTS}{program}")).unwrap();
    fs::write(desk.path("duet.toml"), format!("[servers.t]\nurl = \"{url}\"\n")).unwrap();
    let done = desk.duet("run p.scm --allow-server t --memory");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((done.code, &*done.output), (0, "inner\nduet://log/q\n"), "{done:?}");
}

#[test]
fn real_servers_of_node_work() {
    let desk = Desk::new(&[("notes/a.txt", "tea for two")]);
    let Some(folder) = foreign::program("real_servers_of_node_work", "node_modules/.bin") else {
        return;
    };
    let binary = |name: &str| folder.join(name).display().to_string();
    let described = format!(
        "[servers.t]\ncommand = [\"{}\"]\n[servers.f]\ncommand = [\"{}\", \"notes\"]\n",
        binary("mcp-server-everything"),
        binary("mcp-server-filesystem"),
    );
    fs::write(desk.path("duet.toml"), described).unwrap();
    let program = "(show (said (call \"echo\" 'message \"hé\")))
(try (lambda () (call \"echo\" 'message 7)))
(show (pair? (call \"mcp:resources\")))
(show (pair? (call \"mcp:prompts\")))
(show (said (call-tool 'p \"f/read_text_file\" (dictionary 'path \"a.txt\"))))
(try (lambda () (call-tool 'p \"f/read_text_file\" (dictionary 'path \"/etc/passwd\"))))";
    fs::write(desk.path("p.scm"), format!("{IMPORTS}{program}")).unwrap();
    let done = desk.duet("run p.scm --allow-server t --allow-server f");
    assert!(done.output.starts_with("Echo: hé\n"), "{done:?}");
    assert!(done.output.contains("#t\n#t\ntea for two\nfailed\n"), "{done:?}");
    assert_eq!(desk.duet("replay p --check").code, 0);
}
