//! Asking the past and changing it, by the real command.
//!
//! Owns the output and the exit codes of the commands of time travel.
//! INVARIANT: the tests look into a journal through commands only.
//! The runtime's own tests cover the operations below the commands, `crash.rs` covers crashes.
//! Read next: `support/desk.rs`.

mod asking;
mod keeping;
mod picking;
mod recalling;
mod repeating;
mod returning;

use crate::support::desk::Desk;
use serde_json::{Value, json};

/// A program that calls a tool, asks, looks, greets, and asks again.
const GREETER: &[(&str, &str)] = &[
    (
        "greeter/manifest.scm",
        r#"((program "greeter.scm") (workspace (argument 1)) (tools workspace/read workspace/exists))"#,
    ),
    (
        "greeter/greeter.scm",
        r#"(define tag (invoke-tool! 'reader "workspace/read" (dictionary 'path "greeting.txt")))
(define found (await (tool-result :tag tag)))
(assert! (record 'found #t))
(define name (await (user-input :prompt "Your name?")))
(define there (invoke-tool! 'reader "workspace/exists" (dictionary 'path "out.txt")))
(await (tool-result :tag there))
(assert! (record 'greeted name))
(display "Hello, ")
(display name)
(newline)
(await (user-input :prompt "Enough?"))
"#,
    ),
    ("here/greeting.txt", "Hello"),
];

/// The greeter, answered on two branches.
fn parted() -> Desk {
    let desk = Desk::new(GREETER);
    desk.check("run greeter -- here", 4, "");
    desk.check("answer greeter Ada", 4, "Hello, Ada\n");
    desk.check("fork greeter@2 what-if", 0, "");
    desk.check("answer what-if Bob", 4, "Hello, Bob\n");
    desk
}

fn json(desk: &Desk, line: &str) -> Value {
    let said = desk.duet(&format!("{line} --json"));
    assert_eq!((said.code, said.errors.as_str()), (0, ""), "{line}");
    serde_json::from_str(&said.output).expect("JSON")
}

#[test]
fn a_diff_says_where_branches_part_and_what_each_has_alone() {
    let desk = parted();
    insta::assert_snapshot!("diff_of_branches", desk.duet("diff greeter/main what-if").output);
    desk.check(
        "diff greeter@2 greeter/what-if@2",
        0,
        "- greeter@2\n+ greeter/what-if@2\nthey share the turns up to 2\nno turn differs\n",
    );
    let diff = json(&desk, "diff greeter@2 greeter");
    assert_eq!((&diff["shared"], &diff["first"]), (&Value::from(2), &Value::Null));
    assert_eq!(diff["right"]["output"][0], "Hello, Ada");
    let said = desk.check("diff greeter@9 greeter", 1, "");
    assert!(said.errors.contains("greeter has no turn 9"), "{}", said.errors);
}

#[test]
fn a_diff_names_the_files_that_differ() {
    let writer = r#"(define name (await (user-input :prompt "Your name?")))
(call-tool 'writer "workspace/write" (dictionary 'path "out.txt" 'content name))
(call-tool 'writer "workspace/write" (dictionary 'path "same.txt" 'content "same"))
(await (user-input :prompt "Enough?"))
"#;
    let desk = Desk::new(&[("writer.scm", writer), ("out/empty", "")]);
    desk.check("run writer.scm --workspace out", 4, "");
    desk.check("fork writer/main other", 0, "");
    desk.check("answer writer/main Ada", 4, "");
    desk.check("answer writer/other Grace", 4, "");
    let diff = json(&desk, "diff writer/main writer/other");
    let files = |side: &str| diff[side]["files"].clone();
    assert_eq!(files("left"), serde_json::json!(["out.txt, 3 bytes"]));
    assert_eq!(files("right"), serde_json::json!(["out.txt, 5 bytes"]));
}

#[test]
fn a_question_that_both_branches_ask_is_no_difference() {
    let asker = r#"(if (string=? (await (user-input :prompt "First?")) "a")
    (begin (sleep 1) (assert! (record 'slept))))
(await (user-input :prompt "Second?"))
"#;
    let desk = Desk::new(&[("asker.scm", asker)]);
    desk.check("run asker.scm", 4, "");
    desk.check("fork asker/main other", 0, "");
    desk.check("answer asker/main a", 4, "");
    desk.check("answer asker/other b", 4, "");
    let facts = |line: &str| desk.duet(line).output;
    assert_ne!(
        facts("facts asker/main user-input-request"),
        facts("facts asker/other user-input-request")
    );
    let diff = json(&desk, "diff asker/main asker/other");
    assert_eq!(
        diff["left"]["facts"],
        serde_json::json!([{ "record": "slept", "fields": [] }])
    );
    assert_eq!(diff["right"]["facts"], serde_json::json!([]));
}

#[test]
fn facts_are_found_by_pattern_by_turn_and_by_cause() {
    let desk = parted();
    desk.check("facts greeter greeted", 0, "handle 2   main     <greeted \"Ada\">\n");
    desk.check("facts greeter@2 greeted", 0, "");
    desk.check("when found greeter", 0, "greeter@2 main     + <found #t>\n");
    desk.check("when <greeted what-if", 2, "");
    desk.check(
        "when \"<greeted _>\" what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    desk.check("when greeted greeter@3", 1, "");
    insta::assert_snapshot!("why_of_a_fact", desk.duet("why greeted greeter").output);
    let why = json(&desk, "why found greeter");
    assert_eq!(
        (&why["chain"][0]["turn"], &why["chain"][1]["cause"]["kind"]),
        (&Value::from(2), &Value::from("start"))
    );
    let shown = json(&desk, "show greeter@4");
    assert_eq!(
        shown["came"][0],
        serde_json::json!({ "record": "greeted", "fields": ["Ada"] })
    );
    let went = json(&desk, "show greeter@3");
    assert!(went["went"][0]["record"] == "user-input-request", "{went}");
}

#[test]
fn the_log_is_filtered() {
    let desk = parted();
    let turns = |filter: &str| -> Vec<u64> {
        let rows = json(&desk, &format!("log greeter/main {filter}"));
        let rows = rows.as_array().expect("an array").iter();
        rows.map(|row| row["turn"].as_u64().expect("a number")).collect()
    };
    assert_eq!(turns("--label greeted"), [4]);
    assert_eq!(turns("--label write"), [4]);
    assert_eq!(turns("--pattern \"<found _>\""), [2]);
    assert_eq!(turns("--pattern \"<lost _>\""), Vec::<u64>::new());
    assert_eq!(turns("--since 2 --until 3"), [3, 2]);
    assert_eq!(turns("--since @-1"), [4, 3]);
    assert_eq!(turns("--actor main --limit 2"), [4, 3]);
    let said = desk.duet("log greeter/main --label greeted");
    assert_eq!(said.output.lines().count(), 1, "{}", said.output);
    assert_eq!(turns("--kind answered"), [4, 3, 2]);
    assert_eq!(turns("--grep greeted"), [4]);
    assert_eq!(turns("--tool workspace/read"), [2, 1]);
    assert_eq!(turns("--failed"), Vec::<u64>::new());
    let nobody = desk.check("log greeter/main --actor 7", 2, "");
    let told = "error: `--actor 7`: no actor of greeter has this name\n |\n = help: there are main, reader\n";
    assert_eq!(nobody.errors, told);
}

#[test]
fn an_input_is_amended_on_a_branch_of_its_own() {
    let desk = parted();
    let said = desk.check("amend greeter/main@3 Cy", 4, "Hello, Cy\n");
    assert!(
        said.errors
            .starts_with("greeter/main-3 begins at greeter@2 with another input\n"),
        "{}",
        said.errors
    );
    desk.check(
        "facts greeter/main greeted",
        0,
        "handle 2   main     <greeted \"Ada\">\n",
    );
    desk.check("facts main-3 greeted", 0, "handle 2   main     <greeted \"Cy\">\n");
    desk.check("replay --check greeter/main-3", 0, "identical: 4 turns\n");
    desk.check("amend greeter/main@3 Dee --branch dee", 4, "Hello, Dee\n");
    let other = r#"amend greeter/main@2 "{content: \"Bo\" size_bytes: 2 next: #f}" --branch tool"#;
    desk.check(other, 4, "");
    desk.check("replay greeter/tool", 0, "identical: 2 turns\n");
    for (line, code, expected) in [
        ("amend greeter/main@1 x", 1, "greeter@1 has no input"),
        ("amend greeter/main x", 2, "the input of which turn?"),
        (
            "amend greeter/main@3 x --branch dee",
            2,
            "greeter has a branch dee already",
        ),
        ("amend greeter/main@2 <x", 2, "a bracket is never closed"),
    ] {
        let said = desk.check(line, code, "");
        assert!(said.errors.contains(expected), "{line}: {}", said.errors);
    }
    assert_eq!(json(&desk, "branches greeter").as_array().map(Vec::len), Some(5));
}

#[test]
fn inputs_are_picked_onto_a_branch_that_asks_the_same() {
    let desk = parted();
    desk.check("fork greeter/main@1 late", 0, "");
    let said = desk.check("pick greeter/what-if@3..4 --onto late", 4, "Hello, Bob\n");
    assert!(
        said.errors
            .contains("greeter/late received 2 of 2 inputs of greeter/what-if"),
        "{}",
        said.errors
    );
    let diff = json(&desk, "diff what-if greeter/late");
    assert_eq!((&diff["first"], &diff["alike"]), (&Value::Null, &Value::from(4)));
    let said = desk.check("pick greeter/main@2 --onto late", 4, "");
    assert!(
        said.errors.contains("nothing asked for the input of greeter@2"),
        "{}",
        said.errors
    );
    desk.check("pick greeter/main@1 --onto late", 1, "");
    desk.check("pick greeter/main@2..9 --onto late", 2, "");
}

#[test]
fn moves_of_a_head_are_undone_and_redone_in_order() {
    let desk = parted();
    let stands = |turn: u64| {
        let runs = json(&desk, "runs");
        let heads = runs[0]["branches"].as_array().expect("an array").clone();
        let main = heads.into_iter().find(|head| head["branch"] == "main");
        assert_eq!(main.expect("it is there")["turn"], turn);
    };
    desk.check("undo greeter/main", 1, "");
    desk.check("goto greeter/main@2", 0, "");
    desk.check("goto greeter/main@1", 0, "");
    desk.check("undo", 0, "");
    stands(2);
    desk.check("undo", 0, "");
    stands(4);
    desk.check("redo", 0, "");
    stands(2);
    desk.check("answer greeter/main Eve", 4, "Hello, Eve\n");
    let said = desk.check("redo greeter/main", 1, "");
    assert!(said.errors.contains("has gone on since"), "{}", said.errors);
    desk.check("undo greeter/main", 0, "");
    desk.check(
        "facts greeter/main greeted",
        0,
        "handle 2   main     <greeted \"Ada\">\n",
    );
    desk.check("redo", 0, "");
    desk.check(
        "facts greeter/main greeted",
        0,
        "handle 2   main     <greeted \"Eve\">\n",
    );
}

#[test]
fn what_moves_a_head_or_keeps_a_turn_reports_values() {
    let desk = parted();
    let went = json(&desk, "goto greeter/main@2");
    assert_eq!(
        (&went["branch"], &went["turn"], &went["before"], &went["way"]),
        (&json!("greeter"), &json!(2), &json!(4), &json!("back"))
    );
    assert_eq!(went["kept_as"], "greeter/main.4");
    let undone = json(&desk, "undo greeter/main");
    assert_eq!((&undone["turn"], &undone["before"]), (&json!(4), &json!(2)));
    let forked = json(&desk, "fork greeter@1 one two");
    assert_eq!(forked["branches"], json!(["one", "two"]));
    let still = json(&desk, "stop greeter");
    assert_eq!(still["was_running"], json!(false));
    let marked = json(&desk, "mark greeter@1 first");
    assert_eq!(marked["address"], "greeter@1");
    let exported = json(&desk, "export greeter greeter.duet --with-secrets");
    assert_eq!(exported["marks_left_out"], json!([]));
    let imported = json(&desk, "import greeter.duet --journal other/journal.sqlite");
    assert_eq!(imported[0]["run"], "greeter");
    assert_eq!(imported[0]["marks"], json!(["first"]));
}

#[test]
fn a_call_that_is_made_just_so_again_is_not_made_twice() {
    let desk = Desk::new(&[
        ("deploy/manifest.scm", r#"((program "deploy.scm") (tools process/run))"#),
        (
            "deploy/deploy.scm",
            r#"(define how (await (user-input :prompt "How?")))
(define arguments (list "sh" "-c" (string-append "echo " how " >> done.txt")))
(call-tool 'shell 'process/run (dictionary 'arguments arguments))
(display "deployed\n")
(await (user-input :prompt "Enough?"))
"#,
        ),
    ]);
    let done = || std::fs::read_to_string(desk.path("done.txt")).unwrap_or_default();
    desk.check("run deploy", 4, "");
    desk.check("answer deploy fast", 4, "deployed\n");
    assert_eq!(done(), "fast\n");
    desk.check("goto deploy@1", 0, "");
    let said = desk.check("answer deploy fast", 4, "deployed\n");
    assert!(
        said.errors
            .contains("process/run was called in turn 2 before (main.3) and not again"),
        "{}",
        said.errors
    );
    assert_eq!(done(), "fast\n", "the result was told again and nothing done");
    desk.check("goto deploy@1", 0, "");
    desk.check("answer deploy well", 4, "deployed\n");
    assert_eq!(done(), "fast\nwell\n", "another answer leads to another call");
    desk.check("goto deploy@1", 0, "");
    desk.check("answer deploy fast --again", 4, "deployed\n");
    assert_eq!(done(), "fast\nwell\nfast\n", "as was asked for");
}

#[test]
fn a_changed_program_shows_where_its_future_differs() {
    let desk = parted();
    let text = GREETER[1].1;
    std::fs::write(desk.path("same.scm"), format!(";; The same.\n{text}")).expect("a file");
    std::fs::write(desk.path("other.scm"), text.replace("Hello, ", "Hi, ")).expect("a file");
    std::fs::write(desk.path("wrong.scm"), "(display").expect("a file");
    let said = desk.duet("replay greeter/main --with same.scm");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    assert!(said.output.starts_with("identical: "), "{}", said.output);
    let said = desk.duet("replay greeter/main --with other.scm");
    assert_eq!(said.code, 3, "{}{}", said.output, said.errors);
    assert!(
        said.output.ends_with("output\n  - Hello, Ada\n  + Hi, Ada\n"),
        "{}",
        said.output
    );
    let said = desk.duet("replay greeter/main --with other.scm --json");
    let found: Value = serde_json::from_str(&said.output).expect("JSON");
    assert_eq!(
        (&found["identical"], &found["output"]["now"][0], &found["new"]),
        (
            &Value::from(false),
            &Value::from("Hi, Ada"),
            &Value::from(Vec::<Value>::new())
        )
    );
    desk.check("replay greeter/main --with wrong.scm", 1, "");
}

#[test]
fn an_expression_is_evaluated_in_the_past_and_leaves_no_trace() {
    let desk = Desk::new(&[]);
    desk.feed("repl --name talk", "(define x 3)\n(define (f y) (* x y))\n(set! x 5)\n");
    let before = desk.duet("log talk").output;
    desk.check("eval talk \"(f 2)\"", 0, "10\n");
    desk.check("eval talk@3 \"(f 2)\"", 0, "6\n");
    desk.check("eval talk \"(begin (set! x 9) (list x))\"", 0, "(9)\n");
    let said = desk.check("eval talk@2 \"(f 2)\"", 1, "");
    assert!(said.errors.contains("f is not defined"), "{}", said.errors);
    let said = desk.check("eval talk \"(await (user-input :prompt 1))\"", 1, "");
    assert!(said.errors.contains("abandoned: it asks a person"), "{}", said.errors);
    assert_eq!(json(&desk, "eval talk \"(f 3)\"")["shown"], "15\n");
    assert_eq!(desk.duet("log talk").output, before);
}

#[test]
fn an_expression_sees_what_any_program_defines() {
    let desk = parted();
    let before = desk.duet("log greeter").output;
    let check = |turn: &str, expression: &str, code: i32, expected: &str| {
        desk.check(&format!("eval {turn} \"{expression}\""), code, expected)
    };
    check("greeter@1", "(list found)", 1, "");
    check("greeter@2", "(dictionary-ref found 'size_bytes)", 0, "5\n");
    check("greeter@4", "(string-append name name)", 0, "\"AdaAda\"\n");
    check("what-if@4", "name", 0, "\"Bob\"\n");
    check(
        "greeter",
        "(begin (display name) (newline) (define x 7) (* x 6))",
        0,
        "Ada\n42\n",
    );
    check("greeter", "(if #f #f)", 0, "");
    let said = check(
        "greeter",
        "(invoke-tool! 'reader 'workspace/read (dictionary 'path name))",
        1,
        "",
    );
    assert!(
        said.errors.contains("abandoned: it calls workspace/read"),
        "{}",
        said.errors
    );
    let said = check("greeter", "x", 1, "");
    assert!(said.errors.contains("x is not defined"), "{}", said.errors);
    assert_eq!(desk.duet("log greeter").output, before);
}

/// A program whose answers become versions of one fact, and which shows every version that appears.
const PLAN: &[(&str, &str)] = &[(
    "plan.scm",
    r#"(on-assert (plan week $what) (display what) (newline))
(define what (await (user-input :prompt "What?")))
(assert! (record 'plan 'week what))
(assert! (record 'seen what))
(await (user-input :prompt "Enough?"))
(exit 0)
"#,
)];

#[test]
fn facts_are_merged_three_ways_and_conflicts_are_facts() {
    let desk = Desk::new(PLAN);
    desk.check("run plan.scm", 4, "");
    desk.check("fork plan/main a a", 2, "");
    desk.check("fork plan/main a b", 0, "");
    desk.check("fork plan/main c a", 2, "");
    desk.check("answer plan/a walk", 4, "walk\n");
    desk.check("answer plan/b swim", 4, "swim\n");
    let plan = json(&desk, "merge plan/a --into main --dry-run");
    assert_eq!(plan["asserted"].as_array().map(Vec::len), Some(2));
    desk.check("facts plan/main plan", 0, "");
    desk.check(
        "merge plan/a --into main",
        4,
        "+ <seen \"walk\">\n+ <plan week \"walk\">\nwalk\n",
    );
    desk.check("facts plan/main seen", 0, "handle 2   main     <seen \"walk\">\n");
    let said = desk.check(
        "merge plan/b --into main",
        4,
        "+ <seen \"swim\">\n! <plan week \"walk\"> here, <plan week \"swim\"> there, nothing before\n",
    );
    assert!(
        said.errors.contains("1 fact asserted, 0 retracted, 1 in conflict"),
        "{}",
        said.errors
    );
    let conflict = desk.duet("facts plan/main merge-conflict").output;
    assert!(
        conflict.ends_with("<merge-conflict #f [<plan week \"walk\">] [<plan week \"swim\">]>\n"),
        "{conflict}"
    );
    desk.check("replay --check plan/main", 0, "identical: 4 turns\n");
    desk.check("merge plan/main --into main", 2, "");
    desk.check("answer plan/b enough", 0, "");
    let said = desk.check(
        "merge plan/a --into b",
        1,
        "+ <seen \"walk\">\n+ <plan week \"walk\">\n",
    );
    assert!(said.errors.contains("plan/b has ended"), "{}", said.errors);
}

#[test]
fn a_run_is_exported_checked_and_imported() {
    let desk = parted();
    desk.check("export greeter all.duet", 0, "");
    desk.check("export greeter/what-if part.duet", 0, "");
    desk.check("export greeter all.duet", 1, "");
    let said = desk.check("import all.duet --journal new/journal", 0, "");
    assert_eq!(said.errors, "greeter: 7 records, branches main@4 what-if@4\n");
    for line in [
        "log greeter --json",
        "facts greeter/what-if --json",
        "show greeter@4 --json",
    ] {
        let imported = desk.duet(&format!("{line} --journal new/journal"));
        assert_eq!((imported.code, imported.output), (0, desk.duet(line).output), "{line}");
    }
    desk.check(
        "resume greeter/main --grant none --answer enough --journal new/journal",
        0,
        "",
    );
    let said = desk.check("import all.duet --journal new/journal", 1, "");
    assert!(
        said.errors.contains("a branch main that the file does not know"),
        "{}",
        said.errors
    );
    let said = desk.check("import all.duet", 0, "");
    assert!(said.errors.starts_with("greeter: 0 records"), "{}", said.errors);
    desk.check("import part.duet --journal part", 0, "");
    desk.check(
        "facts greeter/what-if greeted --journal part",
        0,
        "handle 2   main     <greeted \"Bob\">\n",
    );
    desk.check(
        "fsck --journal part",
        0,
        "greeter: sound, 3 records\ngreeter/what-if: sound, 5 records\n",
    );
}

#[test]
fn an_export_that_was_damaged_is_refused() {
    let desk = parted();
    desk.check("mark greeter/main@2 asked", 0, "");
    desk.check("export greeter all.duet", 0, "");
    let whole = std::fs::read(desk.path("all.duet")).expect("a file");
    for cut in [0, 1, 40, whole.len() / 2, whole.len() - 1] {
        std::fs::write(desk.path("cut.duet"), &whole[..cut]).expect("a file");
        desk.check("import cut.duet --journal j", 1, "");
    }
    for at in (0..whole.len()).step_by(whole.len() / 24 + 1) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(desk.path("flipped.duet"), bytes).expect("a file");
        let said = desk.check("import flipped.duet --journal j", 1, "");
        assert!(said.errors.contains("is no whole export of a run"), "{}", said.errors);
    }
    assert!(!desk.path("j").exists());
}

#[test]
fn secrets_do_not_leave_with_an_export() {
    let desk = parted();
    desk.check("export greeter open.duet", 0, "");
    let holds = |file: &str, text: &str| {
        let bytes = std::fs::read(desk.path(file)).expect("a file");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    assert!(holds("open.duet", "Ada"));
    let said = desk.check("export greeter masked.duet --redact Ada", 0, "");
    assert!(
        said.errors.ends_with("masked.duet, 1 secret masked\n"),
        "{}",
        said.errors
    );
    assert!(!holds("masked.duet", "Ada") && holds("masked.duet", "Bob"));
    desk.check("import masked.duet --journal masked", 0, "");
    desk.check(
        "facts greeter/main greeted --journal masked",
        0,
        "handle 2   main     <greeted \"***\">\n",
    );
    desk.check("replay greeter/main --journal masked", 0, "identical: 4 turns\n");
    let said = desk.check("export greeter text.duet --redact greeting", 3, "");
    assert!(said.errors.contains("differs"), "{}", said.errors);
    assert!(!desk.path("text.duet").exists());
}

#[test]
fn the_history_is_counted() {
    let desk = parted();
    let stats = json(&desk, "stats greeter");
    assert_eq!(
        (&stats["turns"], &stats["branches"], &stats["failures"]),
        (&6.into(), &2.into(), &0.into())
    );
    assert_eq!(
        (&stats["actions"]["ask-user"], &stats["inputs"]),
        (&3.into(), &5.into())
    );
    assert!(
        desk.duet("stats")
            .output
            .starts_with("greeter: 2 branches\n  turns      6, 5 of them from inputs, 0 failed\n")
    );
}

#[test]
fn a_move_back_names_the_tools_of_large_turns() {
    let program = r#"(call-tool 'post "mail/send" (make-string 20000 #\x)) (display "sent")"#;
    let desk = Desk::new(&[
        ("send.scm", program),
        ("replies.pr", r#"{"mail/send": [<returns #t>]}"#),
    ]);
    desk.check("run send.scm --double replies.pr", 0, "sent");
    let said = desk.check("goto send@0", 0, "");
    assert!(
        said.errors.contains("the effects of mail/send in those turns stay"),
        "{said:?}"
    );
}

#[test]
fn causes_lead_through_timers_to_where_they_were_set() {
    let program = "(import (scheme base) (duet base) (duet dataspace) (duet control))
(define (again n) (sleep 2) (if (> n 0) (again (- n 1)) (assert! (record 'rested n))))
(after 5 (lambda () (assert! (record 'late 1))))
(assert! (record 'begun 1))
(again 3)
(await (signal 'end))";
    let desk = Desk::new(&[("rest.scm", program)]);
    assert_eq!(desk.duet("run rest.scm").code, 4);
    for (fact, least) in [("late", 2), ("rested", 5)] {
        let why = json(&desk, &format!("why {fact} rest"));
        let chain = why["chain"].as_array().unwrap();
        assert!(chain.len() >= least, "{fact}: {chain:?}");
        assert_eq!(chain.last().unwrap()["cause"]["kind"], "start", "{fact}: {chain:?}");
    }
}
