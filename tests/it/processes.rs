//! Programs that runs start: how they end, fail, write much, run long and leave children behind;
//! and that nothing of them outlives their call, their time limit or a killed Duet.
//!
//! INVARIANT: every program is a real one; a test waits for what it expects, and fails after a long
//! while.
//! It does not test the tool's schema; `workspace.rs` and the tool's page do.
//! Read next: `../../drivers/src/guard.rs`.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use duet_drivers::prepared::Prepared;
use duet_drivers::tool::Registry;
use duet_drivers::tool::arguments::integer;
use duet_drivers::tool::interface::Outcome;
use duet_drivers::tool::process::Run;
use duet_drivers::tool::workspace::Workspace;
use duet_drivers::world::{Person, Settings, World};
use duet_runtime::driver::{Drivers, Effect, EffectKind, Input};
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::value::Fact;
use preserves::{IOValue, Value, ValueImpl};
use tempfile::TempDir;

use crate::support::desk::Desk;

fn environment() -> Vec<(OsString, OsString)> {
    [("PATH", "/usr/bin:/bin"), ("LANG", "C"), ("SECRET_TOKEN", "x")]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
}

/// A world whose only tool runs programs in a directory.
fn world(root: &TempDir) -> World {
    let workspace = Arc::new(Workspace::open(root.path()).expect("workspace"));
    let tool = Run::new(workspace, environment(), PathBuf::from(env!("CARGO_BIN_EXE_duet")));
    let settings = Settings {
        person: Person::Never,
        is_scriptable: false,
        is_interruptible: false,
        ..Settings::standard(Registry::default().with(tool), Prepared::default())
    };
    World::new(settings).expect("threads")
}

fn start(world: &mut World, payload: &str) {
    world.perform(vec![Effect {
        request: RequestId(1),
        key: "k".to_owned(),
        asking: None,
        kind: EffectKind::Tool {
            name: "process/run".to_owned(),
            payload: Fact::new(payload.parse().expect("a value")).expect("small"),
        },
    }]);
}

fn call_in(root: &TempDir, payload: &str) -> Outcome {
    let mut world = world(root);
    start(&mut world, payload);
    match world.next_input() {
        Some(Input::ToolResult { outcome, .. }) => outcome,
        other => panic!("{payload}: {other:?}"),
    }
}

fn call(payload: &str) -> Outcome {
    call_in(&TempDir::new().expect("a directory"), payload)
}

#[track_caller]
fn check(payload: &str, expected: &str) {
    let outcome = call(payload).unwrap_or_else(|failure| panic!("{payload}: {failure:?}"));
    assert_eq!(outcome, expected.parse().expect("a value"), "{payload}");
}

#[track_caller]
fn check_refused(payload: &str, kind: &str, message: &str) {
    let failure = call(payload).expect_err(payload);
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        (kind, message),
        "{payload}"
    );
}

fn field(value: &IOValue, name: &'static str) -> IOValue {
    value.get(&Value::symbol(name)).expect("field").into()
}

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; its entry waits until a parent reads the status.
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that waits for a fact gives up some day"
)]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn check_dies(pid: &str) {
    wait_until(&format!("process {pid} is still there"), || !is_alive(pid));
}

#[test]
fn a_program_runs_and_tells_how_it_ended() {
    check(
        r#"{arguments: ["echo" "a b" "$HOME"]}"#,
        r#"{exit: 0, signal: #f, stdout: "a b $HOME\n", stderr: "", truncated: #f}"#,
    );
    check(
        r#"{arguments: ["sh" "-c" "echo no >&2; exit 3"]}"#,
        r#"{exit: 3, signal: #f, stdout: "", stderr: "no\n", truncated: #f}"#,
    );
    check(
        r#"{arguments: ["sh" "-c" "kill -9 $$"]}"#,
        r#"{exit: #f, signal: 9, stdout: "", stderr: "", truncated: #f}"#,
    );
    check(
        r#"{arguments: ["printf" "\\377"]}"#,
        r#"{exit: 0, signal: #f, stdout: #x"ff", stderr: "", truncated: #f}"#,
    );
    check(
        r#"{arguments: ["cat"], input: "in"}"#,
        r#"{exit: 0, signal: #f, stdout: "in", stderr: "", truncated: #f}"#,
    );
    check(
        r#"{arguments: ["cat"]}"#,
        r#"{exit: 0, signal: #f, stdout: "", stderr: "", truncated: #f}"#,
    );
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_failure() {
    let input = "x".repeat(1 << 20);
    let outcome = call(&format!(r#"{{arguments: ["true"], input: "{input}"}}"#)).expect("a result");
    assert_eq!(field(&outcome, "exit"), integer(0));
}

#[test]
fn the_environment_is_what_is_allowed() {
    let expected = r#"{exit: 0, signal: #f, stdout: "A=1\nLANG=C\nPATH=/usr/bin:/bin\n", stderr: "", truncated: #f}"#;
    check(
        r#"{arguments: ["sh" "-c" "env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort"],
            environment: {A: "1"}}"#,
        expected,
    );
}

#[test]
fn a_program_runs_in_a_directory_of_the_root() {
    let root = TempDir::new().expect("a directory");
    fs::create_dir(root.path().join("d")).expect("directory");
    fs::write(root.path().join("f"), "").expect("file");
    let shown = |outcome: Outcome| {
        field(&outcome.expect("a result"), "stdout")
            .as_string()
            .expect("text")
            .trim()
            .to_owned()
    };
    let real = root.path().canonicalize().expect("root").display().to_string();
    assert_eq!(shown(call_in(&root, r#"{arguments: ["pwd"]}"#)), real);
    assert_eq!(
        shown(call_in(&root, r#"{arguments: ["pwd"], directory: "d"}"#)),
        format!("{real}/d")
    );
    let refused = |directory: &str| {
        call_in(&root, &format!(r#"{{arguments: ["pwd"], directory: "{directory}"}}"#))
            .expect_err(directory)
            .kind
    };
    assert_eq!(
        ["..", "/", "d/../..", "x", "f"].map(refused),
        [
            "outside-root",
            "outside-root",
            "outside-root",
            "not-found",
            "bad-argument"
        ]
    );
}

#[test]
fn what_cannot_be_run_is_refused() {
    check_refused(
        r#"{arguments: ["no-such-program-here"]}"#,
        "not-found",
        "cannot run `no-such-program-here`: no such program",
    );
    check_refused(
        r#"{arguments: ["/etc/passwd"]}"#,
        "denied",
        "cannot run `/etc/passwd`: it may not be executed",
    );
    let expects = "field `arguments` of process/run: expected a list of one or more strings, found";
    check_refused("{arguments: []}", "bad-argument", &format!("{expects} an empty list"));
    check_refused(r#"{arguments: ["a" 1]}"#, "bad-argument", &format!("{expects} a list"));
    check_refused(
        r#"{arguments: "ls -l"}"#,
        "bad-argument",
        &format!("{expects} `\"ls -l\"`"),
    );
    let message = "field `environment` of process/run: expected a dictionary from strings or symbols to \
                   strings, found a dictionary";
    check_refused(
        r#"{arguments: ["a"], environment: {"A=B": "1"}}"#,
        "bad-argument",
        message,
    );
    let message = "field `timeout_ms` of process/run: expected an integer above 0, found `0`";
    check_refused(r#"{arguments: ["a"], timeout_ms: 0}"#, "bad-argument", message);
}

#[test]
fn time_up_kills_grandchildren_too() {
    let payload = r#"{arguments: ["sh" "-c" "sleep 1000 & echo $!; wait"], timeout_ms: 300}"#;
    let failure = call(payload).expect_err("a timeout");
    assert_eq!(
        (failure.kind.as_str(), failure.message.as_str()),
        ("timeout", "`sh` was killed because it had not ended after 300 ms")
    );
    let shown = failure
        .details
        .iter()
        .find(|detail| detail.is_simple_record("stdout", None))
        .expect("what it wrote")
        .index(0);
    check_dies(&shown.as_string().expect("text"));
}

#[test]
fn a_process_left_behind_is_killed_and_not_waited_for() {
    #[allow(clippy::disallowed_methods, reason = "the test is about time")]
    let start = Instant::now();
    let outcome = call(r#"{arguments: ["sh" "-c" "sleep 1000 & echo $!"]}"#).expect("a result");
    assert_eq!(field(&outcome, "exit"), integer(0));
    check_dies(&field(&outcome, "stdout").as_string().expect("text"));
    #[allow(clippy::disallowed_methods, reason = "the test is about time")]
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

#[test]
fn a_call_that_is_abandoned_leaves_no_process() {
    let root = TempDir::new().expect("a directory");
    let mut world = world(&root);
    let payload = r#"{arguments: ["sh" "-c" "setsid sleep 1000 & sleep 1000 & echo $! > pid; wait"]}"#;
    start(&mut world, payload);
    let pid = written(&root.path().join("pid"));
    drop(world);
    assert!(!is_alive(&pid), "it has ended when the world has");
}

/// Waits until a file has a line, and reads it.
#[track_caller]
fn written(file: &Path) -> String {
    let mut text = String::new();
    wait_until(&format!("nothing is in {}", file.display()), || {
        text = fs::read_to_string(file).unwrap_or_default();
        text.ends_with('\n')
    });
    text
}

/// Starts a daemon as daemons start themselves: in a session of its own, its parent gone.
const DAEMON: &str = "(setsid sh -c 'echo $$ > daemon; exec sleep 1000' &); ";

#[test]
fn a_daemon_does_not_outlive_the_time_limit_of_its_call_nor_its_end() {
    for (rest, limit) in [("sleep 1000", 700), ("while ! test -s daemon; do :; done", 60_000)] {
        let root = TempDir::new().expect("a directory");
        let payload = format!(r#"{{arguments: ["env" "-i" "sh" "-c" "{DAEMON}{rest}"], timeout_ms: {limit}}}"#);
        let outcome = call_in(&root, &payload);
        assert_eq!(outcome.is_err(), limit == 700, "{outcome:?}");
        let daemon = written(&root.path().join("daemon"));
        assert!(!is_alive(&daemon), "it has ended when the call has");
    }
}

/// A program that runs a command, which may say that it can be repeated.
fn runner(command: &str, is_repeatable: bool) -> String {
    let repeatable = if is_repeatable { "#t" } else { "#f" };
    format!(
        "(import (scheme base) (scheme write) (duet base) (duet dataspace))\n(display \"begun\") (newline)\n(write \
         (guard (failure (#t (condition-kind failure)))\n  (dictionary-ref (call-tool 'm \"process/run\" (dictionary \
         'arguments (list \"sh\" \"-c\" {command:?}) 'repeatable {repeatable})) 'stdout)))"
    )
}

/// A desk with such a program, which may run commands.
fn desk(command: &str, is_repeatable: bool) -> Desk {
    Desk::new(&[
        ("p.scm", &runner(command, is_repeatable)),
        ("manifest.scm", "((program \"p.scm\") (tools process/run))"),
    ])
}

fn send(child: &Child, signal: &str) {
    let number = child.id().to_string();
    let sent = Command::new("kill").args([signal, &number]).status();
    assert!(sent.expect("kill").success());
}

#[test]
fn nothing_outlives_a_killed_duet() {
    let desk = desk(&format!("{DAEMON} echo $$ > shell; sleep 1000"), false);
    let mut child = desk.spawn("run . --name p");
    let (daemon, shell) = (written(&desk.path("daemon")), written(&desk.path("shell")));
    send(&child, "-KILL");
    child.wait().expect("it ends");
    check_dies(&daemon);
    check_dies(&shell);
}

#[test]
fn an_mcp_server_does_not_outlive_a_killed_duet() {
    let desk = Desk::new(&[
        ("p.scm", "(import (duet base))"),
        (
            "config/duet/config.toml",
            &format!("[servers.s]\ncommand = [\"sh\", \"-c\", \"{DAEMON} echo $$ > server; exec sleep 1000\"]\n"),
        ),
    ]);
    let mut child = desk.spawn("run p.scm --allow-server s");
    let (daemon, server) = (written(&desk.path("daemon")), written(&desk.path("server")));
    send(&child, "-KILL");
    child.wait().expect("it ends");
    check_dies(&daemon);
    check_dies(&server);
}

/// The processes whose parent is this one.
fn children(parent: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_child = |number: &String| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        fields.split_whitespace().nth(1) == Some(parent)
    };
    numbers.filter(is_child).collect()
}

#[test]
fn a_command_of_a_client_does_not_outlive_a_killed_server() {
    let desk = Desk::new(&[("p.scm", "(display \"begun\") (newline) (yield) (let loop () (loop))")]);
    let mut server = desk.spawn("mcp");
    let params = r#"{"name": "run", "arguments": {"program": "p.scm"}}"#;
    let call = format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#);
    let input = server.stdin.as_mut().expect("a pipe");
    writeln!(input, "{call}").expect("it is read");
    let mut commands: Vec<String> = Vec::new();
    wait_until("no command has begun", || {
        commands = children(&server.id().to_string());
        for guard in commands.clone() {
            commands.extend(children(&guard));
        }
        !commands.is_empty() && desk.path(".duet").exists()
    });
    send(&server, "-KILL");
    server.wait().expect("it ends");
    for command in &commands {
        check_dies(command);
    }
}

#[test]
fn being_asked_to_end_is_an_interruption() {
    let desk = desk(&format!("{DAEMON} sleep 1000"), false);
    let child = desk.spawn("run . --name p");
    let daemon = written(&desk.path("daemon"));
    send(&child, "-TERM");
    let done = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(
        (done.status.code(), &*errors),
        (Some(143), "interrupted after turn 1; `duet resume p` goes on\n")
    );
    assert!(!is_alive(&daemon), "it has ended when Duet has");
    desk.check("runs", 0, &desk.duet("runs").output);
    assert!(desk.duet("runs").output.contains("left"));
    desk.check("resume p", 0, "interrupted");
}

#[test]
fn being_asked_to_end_stops_a_turn_that_takes_for_ever() {
    let desk = Desk::new(&[("p.scm", "(display \"begun\") (newline) (yield) (let loop () (loop))")]);
    let mut child = desk.spawn("run p.scm --name p");
    let mut begun = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut begun)
        .expect("text");
    send(&child, "-TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
}

#[test]
fn the_first_attempt_is_dead_before_a_repeatable_call_is_made_again() {
    // The first attempt would note its end if it lived on.
    let command = "echo $$ >> starts; test $(wc -l < starts) = 2 || { trap '' TERM HUP; sleep 1000; }; \
                   kill -0 $(head -n 1 starts) 2>/dev/null && echo together; echo done";
    let desk = desk(command, true);
    let mut child = desk.spawn("run . --name p");
    written(&desk.path("starts"));
    send(&child, "-KILL");
    child.wait().expect("it ends");
    desk.check("resume p", 0, "\"done\\n\"");
}

#[test]
fn a_call_that_is_not_declared_repeatable_is_made_once() {
    let desk = desk("echo >> starts; sleep 1000", false);
    let mut child = desk.spawn("run . --name p");
    written(&desk.path("starts"));
    send(&child, "-KILL");
    child.wait().expect("it ends");
    desk.check("resume p", 0, "interrupted");
    assert_eq!(fs::read_to_string(desk.path("starts")).expect("a file"), "\n");
}

#[test]
fn output_beyond_the_limit_is_dropped() {
    let payload = r#"{arguments: ["sh" "-c" "yes | head -c 3000000; echo done >&2"], output_limit_bytes: 4}"#;
    check(
        payload,
        r#"{exit: 0, signal: #f, stdout: "y\ny\n", stderr: "done", truncated: #t}"#,
    );
    check(
        r#"{arguments: ["printf" "aää"], output_limit_bytes: 4}"#,
        r#"{exit: 0, signal: #f, stdout: "aä", stderr: "", truncated: #t}"#,
    );
    check(
        r#"{arguments: ["printf" "aää"], output_limit_bytes: 5}"#,
        r#"{exit: 0, signal: #f, stdout: "aää", stderr: "", truncated: #f}"#,
    );
    let failure = call(r#"{arguments: ["yes"], timeout_ms: 200, output_limit_bytes: 2}"#).expect_err("it never ends");
    let details = format!("{:?}", failure.details);
    assert_eq!(
        (failure.kind.as_str(), details.as_str()),
        ("timeout", r#"[<timeout-ms 200>, <stdout "y\n">, <stderr "">]"#)
    );
}
