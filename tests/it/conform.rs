//! The conformance files under `tests/conformance`, judged by the command.
//!
//! Owns what `duet conform` promises: every case comes out as expected, a difference is shown, a
//! file that is none is refused.
//! INVARIANT: between them the files expect every reason that a case can give.
//! It does not define what a case means; `runtime/src/policy/` does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use duet_runtime::policy::ruling::Code;
use tempfile::TempDir;

/// The conformance files of ss01.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/ss01");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Judges a file of ss01; returns the exit code, standard output and standard error.
fn conform(file: &Path) -> (Option<i32>, String, String) {
    duet(&["ss01".as_ref(), file])
}

/// Gives `duet conform` these arguments; returns the exit code, standard output and standard error.
fn duet(arguments: &[&Path]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    let done = command.arg("conform").args(arguments).output().expect("duet starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// Judges a file made of `text`.
fn check(text: &str, code: i32, expected: &str) {
    let folder = TempDir::new().expect("a directory");
    let path = folder.path().join("cases.jsonl");
    std::fs::write(&path, text).expect("a file");
    let (found, output, errors) = conform(&path);
    let said = format!("{output}{errors}").replace(&path.display().to_string(), "FILE");
    assert_eq!(found, Some(code), "{said}");
    assert!(said.contains(expected), "expected {expected:?} in:\n{said}");
}

#[test]
fn every_case_comes_out_as_expected() {
    assert_eq!(files().len(), 9);
    for file in files() {
        let cases = std::fs::read_to_string(&file).expect("text").lines().count();
        let (code, output, errors) = conform(&file);
        assert_eq!(code, Some(0), "{output}{errors}");
        assert_eq!(
            output,
            format!("ss01: {cases} cases, {cases} as expected, 0 different\n")
        );
    }
}

#[test]
fn every_reason_is_expected_somewhere() {
    let text: String = files()
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("text"))
        .collect();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let found: BTreeSet<String> = lines
        .map(|case| case["expect"]["reason_code"].as_str().expect("a code").to_owned())
        .collect();
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.name())
        .filter(|code| !found.contains(*code))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn differences_are_shown_with_what_was_expected_and_found() {
    let case = concat!(
        r#"{"name":"wrong","proposal":{"tool_calls":[{"tool_id":"t"}]},"tools":{"t":{}},"#,
        r#""principal":{"tools":["*"]},"expect":{"decision":"allow","on_fail":null,"reason_code":"ok"}}"#
    );
    let expected = "FILE:2: wrong\n  expected allow - ok\n  got      deny block no_applicable_allow\n";
    check(&format!("\n{case}\n"), 1, expected);
    check(case, 1, "ss01: 1 cases, 0 as expected, 1 different\n");
}

#[test]
fn a_file_that_is_none_is_refused() {
    check("", 2, "`FILE` has no cases");
    check("{\n", 2, "this is no case: FILE:1: not JSON");
    check("[]", 2, "expect.decision must be a string");
    let expect = r#""expect":{"decision":"deny","reason_code":"ok"}"#;
    check(
        &format!("{{\"f_sparse\":{{\"fact.a\":{{}}}},{expect}}}"),
        2,
        "FILE:1: f_sparse.fact.a must be a string",
    );
    check(
        &format!("{{\"f_sparse\":[],{expect}}}"),
        2,
        "f_sparse must be an object",
    );
    check(
        &format!("{{\"proposal\":{{\"deltas\":{{}}}},{expect}}}"),
        2,
        "proposal.deltas must be a list",
    );
    check(
        &format!("{{\"proposal\":{{\"deltas\":[{{}}]}},{expect}}}"),
        2,
        "proposal.deltas[0].key must be a string",
    );
    check(&format!("{{\"proposal\":3,{expect}}}"), 2, "proposal must be an object");
    check(
        &format!("{{\"principal\":{{\"tools\":\"*\"}},{expect}}}"),
        2,
        "principal.tools must be a list",
    );
    check(
        &format!("{{\"name\":1,{expect}}}\n{{}}"),
        2,
        "FILE:2: expect.decision must be a string",
    );
    check(&"[".repeat(100_000), 2, "FILE:1: not JSON: recursion limit exceeded");
    let (code, _, errors) = conform(Path::new("/nowhere/cases.jsonl"));
    assert_eq!(
        (code, errors.contains("cannot read `/nowhere/cases.jsonl`")),
        (Some(2), true),
        "{errors}"
    );
}

/// A file of a suite.
fn path_of(suite: &str, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    folder.join(suite).join(name)
}

/// Compares the cases of a suite with the expected traces.
fn compare(suite: &str, cases: &Path, expected: &Path) -> (Option<i32>, String, String) {
    duet(&[suite.as_ref(), cases, "--expected".as_ref(), expected])
}

/// Compares a case with the expected trace, both given as text.
fn compare_texts(suite: &str, case: &str, expected: &str) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a directory");
    let (cases, traces) = (folder.path().join("cases.jsonl"), folder.path().join("traces.jsonl"));
    std::fs::write(&cases, case).expect("a file");
    std::fs::write(&traces, expected).expect("a file");
    let (code, output, errors) = compare(suite, &cases, &traces);
    let said = format!("{output}{errors}").replace(&cases.display().to_string(), "FILE");
    (code, said)
}

/// Requires that every difference in the files of a suite is one that the decisions name.
fn check_files(suite: &str, summaries: &[(&str, &str)]) {
    for (name, summary) in summaries {
        let (code, output, errors) = compare(
            suite,
            &path_of(suite, &format!("{name}.cases.jsonl")),
            &path_of(suite, &format!("{name}.expected.jsonl")),
        );
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
        let last = output.lines().last().expect("a summary");
        assert_eq!(
            last,
            format!("{suite}: {summary} as the decisions say, 0 different"),
            "{output}"
        );
    }
}

#[test]
fn every_summoner_case_agrees_or_differs_as_the_decisions_say() {
    let summaries = [
        ("basic", "6 cases, 3 as expected, 3 different"),
        ("deviations", "31 cases, 23 as expected, 8 different"),
        ("fuzz", "60 cases, 59 as expected, 1 different"),
    ];
    check_files("summoner", &summaries);
}

#[test]
fn every_changed_trace_of_a_summoner_case_is_a_difference() {
    let [case, trace] = ["one.cases.jsonl", "one.expected.jsonl"]
        .map(|name| std::fs::read_to_string(path_of("summoner", name)).expect("a text"));
    let (code, said) = compare_texts("summoner", &case, &trace);
    assert_eq!(code, Some(0), "{said}");
    let changes = [
        (r#""str":"A""#, r#""str":"B""#, "nodes"),
        (r#""canonical":"A""#, r#""canonical":"B""#, "parse"),
        (r#""TEST":[]"#, r#""TEST":["A"]"#, "parse"),
        (r#""/all",true"#, r#""/all",false"#, "accepts"),
        (r#""A-->B",true"#, r#""A-->B",false"#, "compat"),
        (
            r#""out":{"remote_addr":"peer","content":1}"#,
            r#""out":null"#,
            "cycles[0] receive hooks",
        ),
        (r#""state":"A""#, r#""state":"B""#, "cycles[0] activation"),
        (
            r#""outcome":{"action":"MOVE""#,
            r#""outcome":{"action":"STAY""#,
            "cycles[0] activation",
        ),
        (
            r#""priority":[],"receiver""#,
            r#""priority":[1],"receiver""#,
            "cycles[0] activation",
        ),
        (r#"["f","C"]]]]"#, r#"["f"]]]]"#, "cycles[0] proposal"),
        (
            r#""post_tape":[["k",["A","B","f","C"]]]"#,
            r#""post_tape":[["k",["A","f","C"]]]"#,
            "cycles[0] tape",
        ),
        (r#""route_ok":true"#, r#""route_ok":false"#, "cycles[0] sender s"),
    ];
    for (from, to, place) in changes {
        let changed = trace.replacen(from, to, 1);
        assert_ne!(changed, trace, "{from} is in the trace");
        let (code, said) = compare_texts("summoner", &case, &changed);
        assert_eq!(code, Some(1), "{from}: {said}");
        assert!(said.contains(&format!("FILE:1: c: {place}")), "{from}: {said}");
        assert!(
            said.ends_with("0 different as the decisions say, 1 different\n"),
            "{said}"
        );
    }
}

#[test]
fn the_traces_of_summoner_cases_are_printed() {
    let (code, output, errors) = duet(&["summoner".as_ref(), &path_of("summoner", "basic.cases.jsonl")]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    let traces: Vec<serde_json::Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(traces.len(), 6);
    assert!(
        traces
            .iter()
            .all(|trace| trace["profile"] == "summoner-standard-profile/0.1")
    );
    let cycle = &traces[3]["cycles"][0];
    assert_eq!(cycle["activations"][0]["receiver"], "r0");
    assert_eq!(
        cycle["delta"]["added"],
        serde_json::json!(["R", "X", "Y", "Z", "boot", "f", "g"])
    );
    assert_eq!(cycle["emitted"], serde_json::json!(["a", "b", {"m": 1}]));
}

#[test]
fn odd_characters_of_a_case_stay_json() {
    let folder = TempDir::new().expect("a directory");
    let path = folder.path().join("cases.jsonl");
    let routes = ["A\u{2028}", "A\u{202e}", "A\u{7f}", "A\u{85}"];
    let case = serde_json::json!({ "name": "odd\u{2028}", "parse": routes });
    std::fs::write(&path, case.to_string()).expect("a file");
    let (code, output, errors) = duet(&["summoner".as_ref(), &path]);
    assert_eq!(code, Some(0), "{errors}");
    let trace: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(trace["name"], "odd\u{2028}");
    for (place, route) in routes.iter().enumerate() {
        assert_eq!(trace["parse"][place]["in"], *route, "{output}");
    }
}

#[test]
fn a_file_that_has_no_summoner_cases_is_refused() {
    let refuse = |case: &str, expected: &str, reason: &str| {
        let (code, said) = compare_texts("summoner", case, expected);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(reason), "expected {reason:?} in:\n{said}");
    };
    refuse("", "", "has no cases");
    refuse("{", "{}", "FILE:1: json->value: line 1, column 2");
    refuse("[]", "{}", "a case is an object");
    refuse("{}", "{}\n{}", "1 cases, but 2 traces");
    refuse(
        r#"{"name":"a"}"#,
        "{",
        "the expected trace: json->value: line 1, column 2",
    );
    refuse(
        r#"{"name":"a","receivers":[{"name":"r","route":"A","outcome":{"action":"JUMP"}}]}"#,
        r#"{"name":"a"}"#,
        "action is MOVE, STAY or TEST",
    );
    refuse(r#"{"name":"a"}"#, r#"{"name":"b"}"#, "have different names");
    refuse(r#"{"name":"a","parse":5}"#, r#"{"name":"a"}"#, "parse must be an array");
    refuse(
        r#"{"name":"a","parse":[5]}"#,
        r#"{"name":"a"}"#,
        "parse must be a string",
    );
    refuse(
        r#"{"name":"a","receivers":[{"name":"r","route":5}]}"#,
        r#"{"name":"a"}"#,
        "route must be a string",
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    refuse(&deep, "{}", "levels deep");
    let folder = TempDir::new().expect("a directory");
    let path = folder.path().join("cases.jsonl");
    std::fs::write(&path, "{}\n{\n").expect("a file");
    let (code, _, errors) = duet(&["summoner".as_ref(), &path]);
    assert_eq!(code, Some(2), "{errors}");
    let (code, _, errors) = duet(&["ss01".as_ref(), &path, "--expected".as_ref(), &path]);
    assert_eq!(
        (code, errors.contains("say themselves what is expected")),
        (Some(2), true),
        "{errors}"
    );
}

#[test]
fn every_aeiou_case_agrees_or_differs_as_the_decisions_say() {
    let summaries = [
        ("envelope", "19 cases, 19 as expected, 0 different"),
        ("userdata", "11 cases, 10 as expected, 1 different"),
        ("digest", "10 cases, 10 as expected, 0 different"),
        ("run", "54 cases, 42 as expected, 12 different"),
        ("loop", "12 cases, 7 as expected, 5 different"),
    ];
    check_files("aeiou", &summaries);
}

/// Changes of expected traces: file, case, text, replacement, and the place that the difference
/// names.
const AEIOU_CHANGES: [(&str, &str, &str, &str, &str); 17] = [
    (
        "envelope",
        "ref:minimal",
        r#"command emit"#,
        r#"command  emit"#,
        "sections",
    ),
    (
        "envelope",
        "ref:dup-userdata",
        r#"["LINT_DUP_SECTION_IGNORED"]"#,
        "[]",
        "lints",
    ),
    (
        "envelope",
        "ref:missing-end",
        "ERR_ENV_MARKERS_INVALID",
        "ERR_ENV_ORDER",
        "error",
    ),
    ("userdata", "ref:min", r#""ok":true"#, r#""ok":false"#, "ok"),
    ("digest", "base", "2d449d", "2d449e", "digest"),
    ("digest", "reset", "false,true]", "false,false]", "halts"),
    ("run", "emit-str", r#"["ok"]"#, r#"["no"]"#, "emits"),
    ("run", "set-path", r#"\"k\": 1"#, r#"\"k\": 2"#, "emits"),
    ("run", "div0", r#""ns_code":14"#, r#""ns_code":15"#, "error"),
    ("run", "call-expr", r#"[{"a":1}]"#, r#"[{"a":2}]"#, "calls"),
    (
        "run",
        "call-expr",
        r#""required_tools":["test.echo"]"#,
        r#""required_tools":["x"]"#,
        "required tools",
    ),
    (
        "run",
        "missing-end",
        r#""parse_error":{"message""#,
        r#""other":{"message""#,
        "program",
    ),
    ("loop", "done-inline", "The answer is 42.|", "42.|", "result"),
    ("loop", "max-turns", r#"["t2|"#, r#"["t1|"#, "result"),
    (
        "loop",
        "stuck",
        r#""turns_used": 3"#,
        r#""turns_used": 4"#,
        "number of turns",
    ),
    (
        "loop",
        "stuck",
        r"OUTPUT>>>\nsame",
        r"OUTPUT>>>\nother",
        "prompt 2 OUTPUT",
    ),
    ("loop", "stuck", "# Execute next step", "# Execute", "prompt 2 ACTIONS"),
];

#[test]
fn every_changed_trace_of_an_aeiou_case_is_a_difference() {
    for (file, name, from, to, place) in AEIOU_CHANGES {
        let line = |end: &str| {
            let text = std::fs::read_to_string(path_of("aeiou", &format!("{file}.{end}.jsonl"))).expect("a text");
            let is_named = |line: &&str| {
                let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
                value["name"] == name
            };
            text.lines().find(is_named).expect("the case").to_owned()
        };
        let (case, trace) = (line("cases"), line("expected"));
        let changed = trace.replacen(from, to, 1);
        assert_ne!(changed, trace, "{from} is in the trace");
        let (code, said) = compare_texts("aeiou", &case, &changed);
        // A result that was changed to another one may be explained as the reference's own.
        assert!(said.contains(&format!("FILE:1: {name}: {place}")), "{from}: {said}");
        let is_explained = place == "result" && said.contains("(decisions, A19)");
        assert_eq!(code, Some(i32::from(!is_explained)), "{from}: {said}");
    }
}

#[test]
fn the_traces_of_aeiou_cases_are_printed() {
    let (code, output, errors) = duet(&["aeiou".as_ref(), &path_of("aeiou", "loop.cases.jsonl")]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{output}");
    let traces: Vec<serde_json::Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(traces.len(), 12);
    assert_eq!(traces[0]["decision"], "DONE");
    assert_eq!(traces[0]["result"], "The answer is 42.");
    assert_eq!(traces[5]["reason"], serde_json::Value::Null);
    assert_eq!(traces[6]["reason"], "ERR_NO_PROGRESS");
    assert_eq!(traces[6]["turns"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_file_that_has_no_aeiou_cases_is_refused() {
    let refuse = |case: &str, expected: &str, reason: &str| {
        let (code, said) = compare_texts("aeiou", case, expected);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(reason), "expected {reason:?} in:\n{said}");
    };
    refuse("", "", "has no cases");
    refuse("{", "{}", "FILE:1: json->value: line 1, column 2");
    refuse("[]", "{}", "a case is an object");
    refuse("{}", "{}\n{}", "1 cases, but 2 traces");
    refuse(r#"{"op":"jump"}"#, "{}", "the `op` of a case is");
    refuse(r#"{"op":"run"}"#, "{}", "needs a string `src`");
    refuse(r#"{"op":"envelope","text":5}"#, "{}", "needs a string `text`");
    refuse(r#"{"op":"track","digests":5}"#, "{}", "`digests` must be an array");
    refuse(r#"{"op":"loop","turns":[]}"#, "{}", "at least one reply");
    refuse(
        r#"{"name":"a","op":"envelope","text":""}"#,
        "{",
        "the expected trace: json->value",
    );
    refuse(
        r#"{"name":"a","op":"envelope","text":""}"#,
        r#"{"name":"b"}"#,
        "have different names",
    );
}

/// Every test and conformance file of the project with its name; several files may have one.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("tests"), root.join("runtime/src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                // The tests of `NAME.rs` are in `NAME/tests.rs`.
                let is_tests = path.file_name().is_some_and(|name| name == "tests.rs");
                let named = if is_tests {
                    path.parent().expect("a folder").with_extension("rs")
                } else {
                    path
                };
                found.push((named.file_name().expect("a name").to_string_lossy().into_owned(), text));
            }
        }
    }
    found
}

#[test]
fn the_tables_of_requirements_name_tests_that_there_are() {
    check_table("policy.md", 'R', 19);
    check_table("routes.md", 'P', 27);
    check_table("aeiou.md", 'A', 27);
    check_table("aeiou.md", 'L', 2);
}

/// Checks that the table of a page has the requirements 1 to `count`, each with a test.
fn check_table(page: &str, letter: char, count: usize) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src").join(page);
    let page = std::fs::read_to_string(page).expect("the page");
    let is_row = |line: &&str| {
        let mut characters = line.chars().skip(2);
        line.starts_with("| ")
            && characters.next() == Some(letter)
            && characters.next().is_some_and(|next| next.is_ascii_digit())
    };
    let rows: Vec<&str> = page.lines().filter(is_row).collect();
    let numbers: Vec<&str> = rows
        .iter()
        .map(|row| row[2..].split(' ').next().expect("a word"))
        .collect();
    let expected: Vec<String> = (1..=count).map(|number| format!("{letter}{number}")).collect();
    assert_eq!(numbers, expected);
    let sources = sources();
    for row in rows {
        let (mut file, mut named) = ("", 0);
        for name in row.split('`').skip(1).step_by(2) {
            named += 1;
            if [".rs", ".jsonl", ".scm"].iter().any(|end| name.ends_with(end)) {
                file = name;
                assert!(
                    sources.iter().any(|(known, _)| known == file),
                    "{row}: there is no file {file}"
                );
                continue;
            }
            let is_test = |text: &str| {
                text.split("#[test]")
                    .any(|rest| rest.trim_start().starts_with(&format!("fn {name}(")))
            };
            let is_there = sources.iter().any(|(known, text)| known == file && is_test(text));
            assert!(is_there, "{row}: {file} has no test {name}");
        }
        assert!(named > 0, "{row}: no test is named");
    }
}
