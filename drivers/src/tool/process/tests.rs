//! Tests of programs that end, fail, write much, run long or leave children behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step of a test is its failure"
)]

use std::fs;
use std::time::Instant;

use preserves::Value;
use tempfile::TempDir;

use super::*;

fn environment() -> Vec<(OsString, OsString)> {
    [("PATH", "/usr/bin:/bin"), ("LANG", "C"), ("SECRET_TOKEN", "x")]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
}

fn call_in(root: &TempDir, payload: &str) -> Outcome {
    let workspace = Arc::new(Workspace::open(root.path()).expect("workspace"));
    let tool = Run::new(workspace, environment());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let payload = payload.parse().expect("a value");
    runtime.block_on(async move {
        tool.call(
            payload,
            Context {
                key: "k".to_owned(),
                tool: String::new(),
                ..Context::default()
            },
        )
        .await
    })
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
fn check_dies(pid: &str) {
    for _ in 0..200 {
        if !is_alive(pid) {
            return;
        }
        #[allow(clippy::disallowed_methods, reason = "a killed process needs a moment to be gone")]
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {pid} is still there");
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
    let tool = Run::new(
        Arc::new(Workspace::open(root.path()).expect("workspace")),
        environment(),
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let payload = r#"{arguments: ["sh" "-c" "sleep 1000 & echo $! > pid; wait"]}"#
        .parse()
        .expect("a value");
    let pid = root.path().join("pid");
    runtime.block_on(async {
        let call = tool.call(
            payload,
            Context {
                key: "k".to_owned(),
                tool: String::new(),
                ..Context::default()
            },
        );
        let written = async {
            while !fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { _ = call => panic!("it ended"), () = written => {} }
    });
    check_dies(&fs::read_to_string(&pid).expect("pid"));
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
