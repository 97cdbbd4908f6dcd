//! Workflows of the older language: each row of the manual's tables, and whole workflows that run.
//!
//! INVARIANT: a form without a row in the manual is tested nowhere else, so the tables are the
//! list.
//! It does not know how the translation works. Read next: `../docs/src/migration.md`.

use crate::support::desk::Desk;

const PAGE: &str = include_str!("../../docs/src/migration.md");

/// A heading of the page, and the workflow around a cell of its table.
const CONTEXTS: [(&str, &str); 6] = [
    ("The top level", "@"),
    (
        "Commands of a state",
        "(defn helper (x) (log x)) (state s @ (log end)) (state other (terminal))",
    ),
    (
        "Commands of a function",
        "(defn f (parameter) @ (log (last-wait))) (state s (f \"x\"))",
    ),
    ("Conditions", "(state s @)"),
    (
        "Actions",
        "(roles (planner :model \"m\")) (defn nothing () (log 0)) (state s @)",
    ),
    ("Values", "(roles (planner :model \"m\")) (state s @)"),
];

/// The rows of the table below a heading.
fn rows(heading: &str) -> Vec<(String, String)> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(heading));
    let lines = section.expect("the page has the heading").lines();
    let cells = lines.filter_map(|line| {
        let (left, right) = line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("` | `")?;
        Some((left.to_owned(), right.to_owned()))
    });
    cells.collect()
}

/// A text without the differences of layout.
fn joined(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('`', "")
}

#[test]
fn every_row_of_the_manual_is_what_the_translation_prints() {
    let mut count = 0;
    for (heading, context) in CONTEXTS {
        for (workflow, program) in rows(heading) {
            let desk = Desk::new(&[("row.duet", &context.replace('@', &workflow))]);
            let said = desk.duet("migrate row.duet");
            assert_eq!(said.code, 0, "{workflow}\n{}", said.errors);
            let printed = joined(&said.output);
            assert!(printed.contains(&joined(&program)), "{workflow}\n{}", said.output);
            count += 1;
        }
    }
    assert!(count > 50, "the tables are found: {count}");
}

/// Runs a workflow and returns the lines that it logs.
fn logged(workflow: &str) -> Vec<String> {
    let desk = Desk::new(&[("w.duet", workflow)]);
    let said = desk.duet("run w.duet");
    assert_eq!(said.code, 0, "{workflow}\n{}", said.errors);
    let lines = said.output.lines().chain(said.errors.lines());
    lines
        .map(|line| line.strip_prefix("log: ").unwrap_or(line).to_owned())
        .collect()
}

#[test]
fn workflows_run_as_their_states_say() {
    for (workflow, expected) in [
        // The end of a state falls through to the next; `terminal` ends the workflow.
        (
            "(state a (log 1)) (state b (log 2) (terminal)) (state c (log 3))",
            ["1", "2"].as_slice(),
        ),
        // A branch leaves a loop.
        (
            "(state s (assert (record go)) (loop (log round) (branch (when (signal go) (goto e)))))
             (state e (log end))",
            &["round", "end"],
        ),
        // A function leaves the state that called it, and only when it goes to another.
        (
            "(defn check (x) (log x) (branch (when (signal halt) (goto e))) (log onward))
             (state s (check 1) (assert (record halt)) (check 2) (log never))
             (state e (log end))",
            &["1", "onward", "2", "end"],
        ),
        // What follows a branch follows each arm that stays in the state.
        (
            "(state s (branch (when (signal a) (goto e)) (when (signal b) (log b)) (otherwise (log none)))
                      (log x) (log y))
             (state e (log end))",
            &["none", "x", "y", "end"],
        ),
        // A handler answers while the state waits, and the wait remembers what came.
        (
            "(defn f () (await ready) (let ((n (last-wait-field 0))) (log (string-append \"got \" n))))
             (state s (on go (assert (record ready \"7\"))) (assert (record go)) (f))",
            &["got 7"],
        ),
        // A retraction takes back one of two equal assertions.
        (
            "(state s (assert (record job 1)) (assert (record job 1)) (retract (record job 1))
                      (branch (when (signal job) (log there)) (otherwise (log gone)))
                      (retract (record job 1))
                      (branch (when (signal job) (log there)) (otherwise (log gone))))",
            &["there", "gone"],
        ),
        // Names of a workflow may be names of the libraries.
        (
            "(defn list (log list next) (log log) (log (list)) (log next))
             (state define (list 1 2 3))",
            &["1", "(2)", "3"],
        ),
        // The minimal dialect.
        (
            "(workflow w (state s (emit (log 1)) (transition t)) (state u (emit (log 3)) (terminal))
                         (state t (emit (log 2)) (transition u)))",
            &["1", "2", "3"],
        ),
    ] {
        assert_eq!(logged(workflow), expected, "{workflow}");
    }
}

#[test]
fn a_tool_is_called_with_named_arguments() {
    let desk = Desk::new(&[
        (
            "w.duet",
            "(workflow nine)
             (roles (clerk :read \"workspace/read\"))
             (state s
               (invoke-tool :role clerk :capability read :payload (record arguments :path \"note\") :tag \"t\")
               (await (tool-result \"t\"))
               (invoke-tool :role clerk :capability read :payload ((path \"note\")) :tag \"u\")
               (await (tool-result \"u\"))
               (log \"read twice\")
               (terminal))",
        ),
        ("note", "hello"),
    ]);
    let said = desk.duet("run w.duet --workspace .");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(
        format!("{}{}", said.output, said.errors).contains("read twice"),
        "{}",
        said.errors
    );
}

#[test]
fn a_loop_fails_after_a_thousand_rounds_and_a_retraction_of_nothing_at_once() {
    for (workflow, message) in [
        ("(state s (loop (enter)))", "a loop took more than 1,000 rounds"),
        ("(state s (retract (record job 1)))", "this value is not asserted"),
    ] {
        let desk = Desk::new(&[("w.duet", workflow)]);
        let said = desk.duet("run w.duet");
        assert_eq!(said.code, 1, "{workflow}");
        assert!(said.errors.contains(message), "{}", said.errors);
    }
}

#[test]
fn a_faithful_translation_keeps_the_quirks_that_the_other_warns_of() {
    let workflow = "(state s (on go (assert (record ready))) (assert (record go)) (await (signal ready :scope \"x\"))
                             (branch (when (signal ready :scope \"x\") (log yes)) (otherwise (log no))))";
    let desk = Desk::new(&[("w.duet", workflow)]);
    let plain = desk.duet("migrate w.duet");
    assert!(plain.errors.contains("ignored `:scope`"), "{}", plain.errors);
    assert!(plain.errors.contains("never took this arm"), "{}", plain.errors);
    assert!(plain.output.contains(":scope \"x\""), "{}", plain.output);
    let faithful = desk.duet("migrate w.duet --faithful");
    assert_eq!(faithful.errors, "");
    assert!(!faithful.output.contains(":scope"), "{}", faithful.output);
    std::fs::write(desk.path("w.scm"), &faithful.output).expect("a file");
    let said = desk.check("run w.scm", 0, "");
    assert_eq!(said.errors, "log: no\n");
}

#[test]
fn a_workflow_that_cannot_be_translated_gets_an_error_with_its_place() {
    for (workflow, place, message) in [
        ("(state s (frobnicate))", "w.duet:1:10", "there is no `frobnicate` here"),
        (
            "(state s\n  (goto nowhere))",
            "w.duet:2:9",
            "no state is called `nowhere`",
        ),
        (
            "(state s (send :actor a))",
            "w.duet:1:10",
            "the option `:facet` is missing",
        ),
        (
            "(state s (stop :facet f :now true))",
            "w.duet:1:10",
            "there is no option `:now`",
        ),
        (
            "(defn f (x) (log x)) (state s (f))",
            "w.duet:1:31",
            "`f` takes 1 argument",
        ),
        ("(state s (log 1)", "w.duet:1:1", "this is never closed"),
        ("(state s (log 1)))", "w.duet:1:18", "closes nothing"),
        ("(log \"a\\q\")", "w.duet:1:8", "strings have the escapes"),
        ("(log 99999999999999999999)", "w.duet:1:6", "does not fit into 64 bits"),
        (
            "(state s (emit (log 1)) (log 2))",
            "w.duet:1:25",
            "is not in the dialect",
        ),
        ("(state s (on go (goto s)))", "w.duet:1:17", "a handler can neither"),
        (
            "(roles (a)) (state s (detach-entity :role b))",
            "w.duet:1:43",
            "no role is called `b`",
        ),
        ("(state s) (state s)", "w.duet:1:11", "two states are called `s`"),
        (
            "(state s (let ((x 1)) (goto s)))",
            "w.duet:1:10",
            "there is no `let` here",
        ),
        (
            "(state s (await (weather)))",
            "w.duet:1:17",
            "there is no `weather` here",
        ),
    ] {
        let desk = Desk::new(&[("w.duet", workflow)]);
        let said = desk.duet("migrate w.duet");
        assert_eq!((said.code, said.output.as_str()), (1, ""), "{workflow}");
        assert!(said.errors.contains(place), "{workflow}\n{}", said.errors);
        assert!(said.errors.contains(message), "{workflow}\n{}", said.errors);
    }
    let deep = "(".repeat(100_000);
    let desk = Desk::new(&[("w.duet", &deep)]);
    let said = desk.duet("run w.duet");
    assert!(
        said.errors.contains("nested more than 100 levels deep"),
        "{}",
        said.errors
    );
}

/// The run has the translation; every process shows the workflow.
#[test]
fn errors_of_a_workflow_name_its_own_places() {
    for (workflow, place, line) in [
        (
            "(workflow six)\n(state s (retract (record nothere 1)) (terminal))\n",
            "w.duet:2:10",
            "(retract (record",
        ),
        (
            "(state s\n  (log 1)\n  (send :actor 1 :facet 2 :value 3)\n  (terminal))\n",
            "w.duet:3:3",
            "(send :actor",
        ),
        (
            "(defn f (x)\n  (log x)\n  (assert (record r (role-property a b))))\n(roles (a :c 1))\n(state s (f 1))\n",
            "w.duet:3:3",
            "(assert (record",
        ),
        (
            "(state s\n  (log 1)\n  (retract (record nothere 1)))\n",
            "w.duet:3:3",
            "(retract (record",
        ),
        (
            "(defn f (x)\n  (retract (record nothere x)))\n(state s\n  (f 1))\n",
            "w.duet:2:3",
            "(retract (record",
        ),
    ] {
        let desk = Desk::new(&[("w.duet", workflow)]);
        let said = desk.duet("run w.duet --name w");
        assert_eq!(said.code, 1, "{workflow}\n{}", said.errors);
        assert!(
            said.errors.contains(place) && said.errors.contains(line),
            "{workflow}\n{}",
            said.errors
        );
        assert!(!said.errors.contains("(error \"this"), "{workflow}\n{}", said.errors);
    }
    let desk = Desk::new(&[(
        "w.duet",
        "(state s\n  (await go)\n  (retract (record nothere 1)) (terminal))\n",
    )]);
    assert_eq!(desk.duet("run w.duet --name w").code, 4);
    let said = desk.duet("signal w go");
    assert!(said.errors.contains("w.duet:3:3"), "{}", said.errors);
    let printed = desk.duet("migrate w.duet").output;
    assert!(!printed.contains("translated from"), "{printed}");
}
