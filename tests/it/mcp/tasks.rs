//! Calls of which a server makes tasks: followed, asked by, given up, continued in another process.
//!
//! INVARIANT: the server keeps its tasks in a file, so it may end and start again like a real one.
//! The server is `tests/python/mcp_server.py`. Read next: `../mcp.rs`.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mcp::{count, desk, noted};
use crate::support::desk::Desk;

const CALL: &str = "(import (duet mcp))
(define (long . fields) (mcp-call 'p \"t/long\" (apply dictionary fields)))
(define (say . fields) (try (lambda () (mcp-text (apply long fields)))))
";

fn check(program: &str, expected: &str) -> Desk {
    check_in("tasks", program, expected)
}

fn check_in(mode: &str, program: &str, expected: &str) -> Desk {
    let desk = desk(mode, &format!("{CALL}{program}"));
    desk.check("run p.scm --allow-server t", 0, expected);
    assert_eq!(desk.duet("replay p --check").code, 0);
    desk
}

#[test]
fn a_call_that_becomes_a_task_has_its_result() {
    let desk = check("(show (mcp-text (long)))", "done at last\n");
    assert_eq!(count(&desk, "tasks/get task-1"), 3, "{:?}", noted(&desk));
    assert_eq!(count(&desk, "tasks/cancel task-1"), 0);
}

#[test]
fn the_task_is_the_result_of_a_call_that_does_not_wait() {
    let program = "(define task (json-ref (call \"long\") \"task\"))
(show (json-ref task \"id\"))
(show (json-ref task \"message\"))
(show (mcp-text (mcp-wait 'p \"t\" (json-ref task \"id\"))))";
    check(program, "task-1\nbegun\ndone at last\n");
}

#[test]
fn an_agent_gets_the_result_of_a_task() {
    let program = "(import (duet agents))
(show (ask (make-agent 'helper :tools '(\"t/long\")) \"Do it\"))";
    let desk = desk("tasks", program);
    let replies = "{\"model/chat\": [
        <returns {content: \"\", tool_calls: [{id: \"1\", name: \"t/long\", arguments: {}}], stop: \"tools\"}>
        <returns {content: \"It is done.\"}>]}";
    fs::write(desk.path("d.pr"), replies).unwrap();
    desk.check("run p.scm --allow-server t --double d.pr", 0, "It is done.\n");
    let log = desk.duet("log p").output;
    assert!(log.contains("done at last"), "{log}");
}

#[test]
fn tasks_that_fail_are_conditions() {
    let program = "(say 'fail #t)
(define quota (dictionary 'code -32603 'message \"the quota\"))
(say 'says \"failed\" 'more (dictionary 'error quota 'statusMessage \"no luck\"))
(say 'says \"cancelled\" 'more (dictionary 'statusMessage \"too late\"))
(say 'says \"dancing\")
(try (lambda () (mcp-wait 'p \"t\" \"task-99\")))
(try (lambda () (call \"mcp:task\")))";
    let expected = "failed
the task `task-1` of the MCP server `t` failed: the disk is full
failed
the task `task-2` of the MCP server `t` failed: the quota: no luck
failed
the MCP server `t` has cancelled the task `task-3`: too late
bad-result
the MCP server `t` does not say how the task `task-4` stands
not-found
the MCP server `t` does not know the task `task-99` any more, so its result is lost: the MCP server `t` refuses: \
                    Unknown: task (code -32602)
bad-argument
the field `id` must be a string
";
    check(program, expected);
}

#[test]
fn a_question_of_a_task_is_asked_once_and_may_be_answered_in_another_process() {
    let desk = desk("tasks", &format!("{CALL}(show (mcp-text (long 'ask #t)))"));
    let waits = desk.duet("run p.scm --allow-server t");
    assert_eq!(waits.code, 4, "{waits:?}");
    desk.check("answer p Ada", 0, "hello Ada\n");
    assert_eq!(count(&desk, "tasks/update task-1"), 1, "{:?}", noted(&desk));
    assert_eq!(count(&desk, "call long"), 1);
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_task_that_nobody_waits_for_is_cancelled_at_the_server() {
    let program = "(import (duet agents))
(try (lambda () (call-with-timeout 400 (lambda () (long 'polls 1000000)))))";
    let desk = desk("tasks", &format!("{CALL}{program}"));
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.starts_with("timeout\n"), "{done:?}");
    assert_eq!(count(&desk, "tasks/cancel task-1"), 1, "{:?}", noted(&desk));
}

#[test]
fn a_task_outlives_its_server() {
    let desk = check("(say 'crash 2)", "done at last\n");
    assert_eq!((count(&desk, "start"), count(&desk, "call long")), (2, 1));
}

/// Waits until the server was asked for the task twice.
fn await_polls(desk: &Desk) {
    let begun = Instant::now();
    while count(desk, "tasks/get task-1") < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", noted(desk));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_resumed_run_waits_for_the_task_that_the_run_before_began() {
    for signal in ["-KILL", "-INT"] {
        let desk = desk("tasks", &format!("{CALL}(show (mcp-text (long 'polls 20)))"));
        let mut child = desk.spawn("run p.scm --allow-server t");
        await_polls(&desk);
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        child.wait().unwrap();
        desk.check("resume p", 0, "done at last\n");
        assert_eq!(count(&desk, "call long"), 1, "{signal}: {:?}", noted(&desk));
        assert_eq!(count(&desk, "tasks/cancel task-1"), 0, "{signal}: {:?}", noted(&desk));
    }
}

#[test]
fn a_call_of_a_server_of_the_older_revision_becomes_a_task() {
    let desk = check_in("older-tasks", "(show (mcp-text (long)))", "done at last\n");
    assert_eq!(count(&desk, "tasks/get task-1"), 3, "{:?}", noted(&desk));
    assert_eq!(count(&desk, "tasks/result task-1"), 1);
    assert_eq!(count(&desk, "tasks/cancel task-1"), 0);
    let program = "(define task (json-ref (call \"long\") \"task\"))
(show (json-ref task \"id\"))
(show (json-ref task \"message\"))
(show (said (call \"echo\" 'text \"no task\")))
(show (mcp-text (mcp-wait 'p \"t\" (json-ref task \"id\"))))";
    check_in(
        "older-tasks",
        program,
        "task-1\nbegun\nyou said no task\ndone at last\n",
    );
}

#[test]
fn tasks_of_the_older_revision_that_fail_are_conditions() {
    let program = "(say 'fail #t)
(say 'refuse #t)
(say 'says \"cancelled\" 'more (dictionary 'statusMessage \"too late\"))
(say 'says \"dancing\")
(try (lambda () (mcp-wait 'p \"t\" \"task-99\")))";
    let expected = "failed
the task `task-1` of the MCP server `t` failed: the disk is full
failed
the MCP server `t` refuses: the quota (code -32603)
failed
the MCP server `t` has cancelled the task `task-3`: too late
bad-result
the MCP server `t` does not say how the task `task-4` stands
not-found
the MCP server `t` does not know the task `task-99` any more, so its result is lost: the MCP server `t` refuses: \
                    Unknown: task (code -32602)
";
    let desk = check_in("older-tasks", program, expected);
    assert!(!noted(&desk).iter().any(|noted| noted.starts_with("tasks/cancel")));
}

#[test]
fn a_question_of_a_task_of_the_older_revision_is_asked() {
    let program = format!("{CALL}(show (mcp-text (long 'ask #t)))");
    let desk = desk("older-tasks", &program);
    desk.check("run p.scm --allow-server t --answer Ada", 0, "hello Ada\n");
    assert_eq!(count(&desk, "tasks/result task-1"), 1, "{:?}", noted(&desk));
    assert_eq!(desk.duet("replay p --check").code, 0);
    // The server that another process starts asks again, and the answer is for that question, too.
    let desk = crate::mcp::desk("older-tasks", &program);
    let waits = desk.duet("run p.scm --allow-server t");
    assert_eq!(waits.code, 4, "{waits:?}");
    desk.check("answer p Ada", 0, "hello Ada\n");
    assert_eq!(count(&desk, "call long"), 1);
    assert_eq!(count(&desk, "tasks/result task-1"), 2, "{:?}", noted(&desk));
}

#[test]
fn a_task_of_the_older_revision_that_nobody_waits_for_is_cancelled() {
    let program = "(import (duet agents))
(try (lambda () (call-with-timeout 400 (lambda () (long 'polls 1000000)))))";
    let desk = desk("older-tasks", &format!("{CALL}{program}"));
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.starts_with("timeout\n"), "{done:?}");
    assert_eq!(count(&desk, "tasks/cancel task-1"), 1, "{:?}", noted(&desk));
}

#[test]
fn a_task_of_the_older_revision_outlives_its_server_and_its_run() {
    let desk = check_in("older-tasks", "(say 'crash 2)", "done at last\n");
    assert_eq!((count(&desk, "start"), count(&desk, "call long")), (2, 1));
    let desk = crate::mcp::desk("older-tasks", &format!("{CALL}(show (mcp-text (long 'polls 20)))"));
    let mut child = desk.spawn("run p.scm --allow-server t");
    await_polls(&desk);
    child.kill().unwrap();
    child.wait().unwrap();
    desk.check("resume p", 0, "done at last\n");
    assert_eq!(count(&desk, "call long"), 1, "{:?}", noted(&desk));
}
