//! Servers of the Model Context Protocol as tools: calls, faults, questions, replay, permission.
//!
//! INVARIANT: the servers are programs of these tests; a test that needs Node or the network says
//! loudly when it is skipped.
//! The tests of `tests/mcp_server.rs` cover Duet as a server.
//! Read next: `mcp/server.py`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure"
)]

use std::fs;
use std::time::{Duration, Instant};

mod support {
    #![allow(dead_code, reason = "other tests use the rest")]
    pub(crate) mod desk;
}

use support::desk::Desk;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");

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
fn the_schema_of_a_tool_is_checked_before_the_call() {
    let desk = desk("plain", "(try (lambda () (said (call \"echo\" 'text 7))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.contains("7 is not of type"), "{done:?}");
    assert_eq!(count(&desk, "call echo"), 0);
}

#[test]
fn a_tool_that_fails_raises_a_condition_with_its_words() {
    let desk = desk("plain", "(try (lambda () (call \"fail\")))\n(try (lambda () (call \"nothing\")))");
    let done = desk.duet("run p.scm --allow-server t");
    let expected = "failed\nthe tool `fail` of the MCP server `t` failed: the disk is full\nbad-argument\n";
    assert!(done.output.starts_with(expected), "{done:?}");
    assert!(done.output.contains("Unknown: nothing"), "{done:?}");
}

#[test]
fn a_server_that_crashes_fails_the_call_and_starts_again() {
    let desk = desk("plain", "(try (lambda () (call \"crash\")))\n(try (lambda () (said (call \"echo\" 'text \"a\"))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.starts_with("failed\nthe MCP server `t` ended before it answered"), "{done:?}");
    assert!(done.output.contains("exit status: 7") && done.output.contains("out of paper"), "{done:?}");
    assert!(done.output.ends_with("you said a\n"), "{done:?}");
    assert_eq!(count(&desk, "start"), 2);
}

#[test]
fn a_server_that_hangs_at_start_delays_the_run_and_fails_its_calls() {
    let desk = desk_with("hang", "start_timeout_ms = 300\n", "(show 'begun)\n(try (lambda () (call \"echo\")))");
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
    assert!(done.output.starts_with("unavailable\nthe MCP server `t` does not start, or cannot be reached"), "{done:?}");
    assert!(done.output.contains("no licence"), "{done:?}");
}

#[test]
fn a_message_of_a_gigabyte_ends_the_server_and_not_the_run() {
    for mode in ["plain", "gigabyte"] {
        let desk = desk(mode, "(try (lambda () (call \"big\")))\n(try (lambda () (said (call \"echo\" 'text \"a\"))))");
        let done = desk.duet("run p.scm --allow-server t");
        assert!(done.output.starts_with("output-limit\na message of the MCP server `t` is longer than"), "{done:?}");
        assert!(done.output.ends_with("you said a\n"), "{done:?}");
    }
}

#[test]
fn faults_of_a_list_are_told_and_cost_no_other_tool() {
    let program = "(try (lambda () (said (call \"echo\" 'text \"a\"))))";
    for (mode, told) in [
        ("duplicates", "it lists the tool `echo` more than once; the first one counts"),
        ("names", "it lists a tool without a usable name"),
        ("schemas", "the arguments of `echo0` are not checked, because the schema that it has for them is invalid"),
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
        let expected = "note://1\nthe first note\ngreet\nGreet Ada.\n()\nbad-argument\nthe field `uri` must be a string\n";
        desk(mode, program).check("run p.scm --allow-server t", 0, expected);
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
    assert!(refused.output.starts_with("denied\nthe MCP server `t` is described by"), "{refused:?}");
    assert!(refused.output.contains("`--allow-server t` lets it start"), "{refused:?}");
    assert_eq!(noted(&desk).len(), 0);
    desk.check("run f --allow-server t", 0, "you said a\n");
    fs::write(desk.path("duet.toml"), format!("{described}secrets = [\"API_KEY\"]\n")).unwrap();
    let refused = desk.duet("run f --allow-server t");
    assert!(refused.errors.contains("a workspace gives away no secrets"), "{refused:?}");
    let refused = desk.duet("run f --allow-server u");
    assert!(refused.code != 0, "{refused:?}");
}

#[test]
fn a_manifest_describes_a_server_which_a_resumed_run_still_has() {
    let manifest = format!("((program \"p.scm\") (tools t/*) (server t \"python3\" \"{SERVER}\" \"plain\"))");
    let program = "(show (said (call \"echo\" 'text \"a\")))
(show (await (user-input :prompt \"Go on?\")))
(show (said (call \"echo\" 'text \"b\")))";
    let desk = Desk::new(&[("f/manifest.scm", &*manifest), ("f/p.scm", &format!("{IMPORTS}{program}"))]);
    desk.check("run f", 4, "you said a\n");
    desk.check("answer f yes", 0, "yes\nyou said b\n");
}

#[test]
fn a_double_stands_in_for_a_server_which_does_not_start() {
    let desk = desk("plain", "(show (said (call \"echo\" 'text \"a\")))");
    fs::write(desk.path("d.pr"), "{\"t/echo\": [<returns {content: [{text: \"from the double\"}]}>]}").unwrap();
    desk.check("run p.scm --allow-server t --double d.pr", 0, "from the double\n");
    assert_eq!(noted(&desk).len(), 0);
}
