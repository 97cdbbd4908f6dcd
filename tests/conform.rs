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

/// The conformance files.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/ss01");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Judges a file; returns the exit code, standard output and standard error.
fn conform(file: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    let done = command
        .args(["conform", "ss01"])
        .arg(file)
        .output()
        .expect("duet starts");
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

/// Every Rust and conformance file of the project with its name; several files may have one.
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
fn the_table_of_requirements_names_tests_that_there_are() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/policy.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let is_row = |line: &&str| line.starts_with("| R") && !line.starts_with("| Requirement");
    let rows: Vec<&str> = page.lines().filter(is_row).collect();
    let numbers: Vec<&str> = rows
        .iter()
        .map(|row| row[2..].split(' ').next().expect("a word"))
        .collect();
    assert_eq!(numbers, (1..=19).map(|number| format!("R{number}")).collect::<Vec<_>>());
    let sources = sources();
    for row in rows {
        let (mut file, mut named) = ("", 0);
        for name in row.split('`').skip(1).step_by(2) {
            named += 1;
            if name.ends_with(".rs") || name.ends_with(".jsonl") {
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
