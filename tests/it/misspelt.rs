//! Names of tools that are spelled wrong in grants and doubles.
//!
//! INVARIANT: a warning changes neither the exit code nor the output of a run.
//! It does not test grants to runs that have begun; `widening.rs` does.
//! Read next: `world/world_options/known.rs`.

use crate::support::desk::Desk;

#[test]
fn a_grant_that_grants_nothing_is_named_with_the_nearest_tool() {
    let manifest = |tools: &str| format!("((program \"p.scm\") (tools {tools}))");
    for (tools, told) in [
        (
            "workspace/raed",
            "no tool is called `workspace/raed`; did you mean `workspace/read`?",
        ),
        (
            "workspaec/*",
            "no tool is called `workspaec/*`; did you mean `workspace/*`?",
        ),
        ("persn", "no tool is called `persn`; did you mean `person`?"),
        ("shop/price", "no tool is called `shop/price`\n"),
    ] {
        let desk = Desk::new(&[("f/manifest.scm", &manifest(tools)), ("f/p.scm", "(display 1)")]);
        let said = desk.check("run f", 0, "1");
        let told = format!("warning: `manifest.scm` grants `{tools}`, but {told}");
        assert!(said.errors.contains(&told), "{tools}: {said:?}");
    }
    let manifest = "((program \"p.scm\") (server shop \"http://127.0.0.1:9\")
        (tools workspace/* http/get clock/timer console person spawn policy/approve policy/update model/chat
               environment/HOME syndicate/* webhook/* dataspace/assert shop/price))";
    let desk = Desk::new(&[("f/manifest.scm", manifest), ("f/p.scm", "(display 1)")]);
    let said = desk.check("run f", 0, "1");
    assert!(!said.errors.contains("no tool is called"), "{said:?}");
}

#[test]
fn a_double_of_no_tool_is_named_with_the_nearest_one() {
    let desk = Desk::new(&[
        ("p.scm", "(display 1)"),
        (
            "p-test.scm",
            "(import (scheme base) (srfi 64)) (test-begin \"t\") (test-equal 1 1) (test-end)",
        ),
        (
            "doubles",
            "{\"http/gte\": [<returns 1>], \"shop/price\": [<returns 2>]}",
        ),
    ]);
    let told =
        "warning: `doubles` has a double of `http/gte`, but no tool is called `http/gte`; did you mean `http/get`?";
    for (line, is_warned) in [
        ("run p.scm --double doubles", true),
        ("test p-test.scm --double doubles", true),
        ("test p-test.scm", false),
    ] {
        let said = desk.duet(line);
        assert_eq!(said.code, 0, "{line}: {said:?}");
        let count = said.errors.matches(told).count();
        assert_eq!(count, usize::from(is_warned), "{line}: {said:?}");
        assert!(
            !said.errors.contains("shop/price"),
            "others may stand in for it: {said:?}"
        );
    }
}

#[test]
fn a_live_tool_that_there_is_not_is_refused() {
    let text = "(import (scheme base) (srfi 64)) (test-begin \"t\") (test-equal 1 1) (test-end)";
    let desk = Desk::new(&[("p-test.scm", text), ("other/q-test.scm", text)]);
    for (name, meant) in [
        ("process/rnu", "did you mean `process/run`?"),
        ("http/*", "the tools are "),
        ("NOSUCH", "the tools are "),
    ] {
        let said = desk.duet(&format!("test p-test.scm other --live {name}"));
        assert_eq!(said.code, 2, "{said:?}");
        let told = format!("`--live {name}`: no tool is called `{name}`");
        assert!(said.errors.contains(&told), "{said:?}");
        assert!(said.errors.contains(meant), "{said:?}");
        assert_eq!(said.output, "", "no test begins");
    }
    assert_eq!(desk.duet("test p-test.scm other --live http/get").code, 0);
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_nearest_one() {
    let desk = Desk::new(&[
        ("hello.scm", "(display 1)"),
        ("a/deep.scm", "(display 2)"),
        ("a/deep.txt", ""),
    ]);
    for (line, meant) in [
        ("run helo.scm", " = help: did you mean `hello.scm`?\n"),
        ("run hello", " = help: did you mean `hello.scm`?\n"),
        ("run a/deep", " = help: did you mean `a/deep.scm`?\n"),
        ("run other.scm", "there is no file `other.scm`\n"),
        ("run b/hello.scm", "there is no file `b/hello.scm`\n"),
    ] {
        let said = desk.check(line, 1, "").errors;
        assert!(said.ends_with(meant), "{line}: {said}");
    }
}

#[test]
fn a_run_that_is_not_there_is_named_with_the_nearest_one() {
    let desk = Desk::new(&[("hello.scm", "(display 1)")]);
    desk.check("run hello.scm", 0, "1");
    for (line, meant) in [
        ("log helo", "did you mean `hello`?"),
        ("log 1", "turn 1 is written `@1`, or with a run `RUN@1`"),
    ] {
        let said = desk.check(line, 1, "").errors;
        assert!(said.contains(meant), "{line}: {said}");
    }
    assert!(!desk.check("log other", 1, "").errors.contains("did you mean"));
}

#[test]
fn a_name_without_a_description_and_a_text_that_is_no_expression_are_named() {
    let desk = Desk::new(&[(
        "hello.scm",
        "(define stock 1) (display stock) (set! stock 2) (display stock)",
    )]);
    desk.check("run hello.scm", 0, "12");
    for (line, told) in [
        ("describe asert!", "did you mean `assert!`?"),
        (
            "when \"(list stock\"",
            "`(list stock` is no expression: this parenthesis is never closed",
        ),
        ("when \"(if)\" hello --first", "`(if)` is no expression: "),
    ] {
        let said = desk.check(line, 1, "").errors;
        assert!(said.contains(told), "{line}: {said}");
    }
    for (kind, told) in [("wirte", "did you mean `write`?"), ("NOSUCH", "the kinds are ")] {
        let said = desk.check(&format!("log hello --kind {kind}"), 2, "").errors;
        assert!(said.contains(told), "{kind}: {said}");
    }
}
