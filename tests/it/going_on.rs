//! Reports before a run goes on with a changed text, by the real command: which answers may have
//! shifted, what the text needs, and which ways there are.
//!
//! INVARIANT: a text that is refused leaves the journal as it was.
//! Answers and their requests are `rerun.rs`'s. Read next: `support/desk.rs`.

use crate::support::desk::Desk;

/// Asks the same for each of three players.
const DICE: &str = "(define (roll) (await (user-input :prompt \"roll?\")))
(for-each (lambda (player) (let ((n (roll))) (display (list player n)) (newline))) '(\"ann\" \"bob\" \"cid\"))
";

/// A run of a text that has received these answers, and a changed text beside it.
fn desk_of(text: &str, answers: &[&str], edit: (&str, &str)) -> Desk {
    let changed = text.replace(edit.0, edit.1);
    assert_ne!(changed, text, "the edit changes something");
    let desk = Desk::new(&[("p.scm", text), ("new.scm", &changed)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    for answer in answers {
        desk.duet(&format!("answer p {answer}"));
    }
    desk
}

#[test]
fn a_question_that_is_asked_less_often_is_told_because_its_answers_may_have_shifted() {
    let desk = desk_of(DICE, &["1", "2", "3"], ("\"ann\" ", ""));
    let said = desk.duet("resume p --with new.scm --dry-run");
    let shift = "ask in roll is asked 2 times, before it was 3: the answers may belong to other times";
    assert!(said.output.contains(shift), "{}", said.output);
    let found = desk.report("resume p --with new.scm --dry-run");
    let shifted = &found["asked_less_often"][0];
    assert_eq!((&shifted["before"], &shifted["now"]), (&3.into(), &2.into()), "{found}");
    assert_eq!(found["asked_more_often"], serde_json::json!([]));
    let refused = desk.check("resume p --with new.scm --strict", 3, "");
    assert!(
        refused.errors.contains("recorded answers are left"),
        "{}",
        refused.errors
    );
}

#[test]
fn strict_refuses_a_shift_even_if_no_answer_is_left() {
    let desk = desk_of(DICE, &["1", "2"], ("\"ann\" ", ""));
    let before = desk.duet("branches p").output;
    let refused = desk.check("resume p --with new.scm --strict", 3, "");
    let what = "recorded answers may belong to other times, so no branch begins";
    assert!(refused.errors.contains(what), "{}", refused.errors);
    assert_eq!(desk.duet("branches p").output, before);
    let looked = desk.duet("resume p --with new.scm --strict --dry-run");
    assert_eq!(looked.code, 3);
    assert!(looked.errors.contains(what), "{}", looked.errors);
    assert!(looked.output.contains("before it was 3"), "{}", looked.output);
    desk.check("resume p --with new.scm", 0, "(bob 1)\n(cid 2)\n");
}

#[test]
fn as_long_as_the_changed_text_waits_the_shift_is_one_so_far() {
    let text = DICE.replace("(for-each", "(roll)\n(for-each");
    let edit = ("(for-each", "(await (user-input :prompt \"ready?\"))\n(for-each");
    let desk = desk_of(&text, &["1", "2"], edit);
    let said = desk.duet("resume p --with new.scm --dry-run").output;
    assert!(
        said.contains("ask in roll is asked 1 time so far, before it was 3"),
        "{said}"
    );
}

#[test]
fn a_question_in_between_is_new_and_those_after_it_are_yet_to_come() {
    let text = "(display (await (user-input :prompt \"end?\")))\n";
    let more = "(define value (await (user-input :prompt \"value?\")))\n(display (await";
    let desk = desk_of(text, &[], ("(display (await", more));
    let said = desk.duet("resume p --with new.scm --dry-run").output;
    assert!(said.contains("new: ask (new.scm:1) in turn 1"), "{said}");
    assert!(said.contains("not asked so far: ask (p.scm:1) in p@1"), "{said}");
    assert!(!said.contains("changed:"), "{said}");
    let found = desk.report("resume p --with new.scm --dry-run");
    assert_eq!(found["new"][0]["nearest"], serde_json::Value::Null);
}

/// A program of a folder that waits, and one whose manifest and text want a tool more.
fn folders() -> Desk {
    let text = "(define (go) (display \"old\"))\n(await (user-input :prompt \"go?\"))\n(go)\n";
    let call =
        "(call-tool 'sh 'process/run (dictionary 'arguments (list \"sh\" \"-c\" \"echo called >> done.txt\")))\n";
    let changed = format!("{call}{}", text.replace("old", "new"));
    Desk::new(&[
        ("w2/manifest.scm", r#"((program "main.scm") (tools workspace/read))"#),
        ("w2/main.scm", text),
        (
            "w3/manifest.scm",
            r#"((program "main.scm") (tools workspace/read process/run))"#,
        ),
        ("w3/main.scm", &changed),
    ])
}

#[test]
fn a_manifest_that_asks_for_more_than_the_run_has_is_refused_until_it_is_granted() {
    let desk = folders();
    assert_eq!(desk.duet("run w2").code, 4);
    let before = desk.duet("branches w2").output + &desk.duet("log w2").output;
    let refused = "asks for `process/run`, which w2 was not granted; nothing has changed";
    for (line, way) in [
        ("patch w2 w3", "`duet resume w2 --grant process/run` grants it"),
        (
            "resume w2 --with w3",
            "`duet resume w2 --with w3 --grant process/run` grants it",
        ),
        (
            "resume w2 --with w3 --dry-run",
            "`duet resume w2 --with w3 --grant process/run` grants it",
        ),
    ] {
        let said = desk.check(line, 1, "");
        assert!(said.errors.contains(refused), "{line}: {}", said.errors);
        assert!(said.errors.contains(way), "{line}: {}", said.errors);
        assert_eq!(desk.duet("branches w2").output + &desk.duet("log w2").output, before);
    }
    // The call comes before the first question, so the grant has to be there from the start.
    desk.check("resume w2 --with w3 --grant process/run", 4, "");
    let called = || std::fs::read_to_string(desk.path("done.txt")).unwrap_or_default();
    assert_eq!(called(), "called\n");
    desk.check("answer w2/main-new x", 0, "new");
    desk.replays("w2/main-new");
    assert_eq!(desk.duet("resume w2/main --grant process/run").code, 4);
    assert_eq!(desk.duet("patch w2/main w3").code, 0);
    desk.check("answer w2/main x", 0, "new");
    desk.replays("w2/main");
    assert_eq!(called(), "called\n");
}

#[test]
fn a_call_of_a_tool_that_the_run_lacks_is_a_warning_where_the_text_names_it() {
    let text = "(define (go) (display \"old\"))\n(await (user-input :prompt \"go?\"))\n(go)\n";
    let call = "(display (guard (e (#t (condition-kind e)))\n  (call-tool 'sh 'process/run (dictionary))))";
    let desk = desk_of(text, &[], ("(display \"old\")", call));
    let warned = "warning: new.scm:2 calls `process/run`, which p was not granted; ";
    let said = desk.duet("resume p --with new.scm --dry-run");
    let way = "`duet resume p --with new.scm --grant process/run` grants it";
    assert!(said.errors.contains(&format!("{warned}{way}")), "{}", said.errors);
    let said = desk.duet("patch p new.scm");
    assert_eq!(said.code, 0, "{}", said.errors);
    let way = "`duet resume p --grant process/run` grants it";
    assert!(said.errors.contains(&format!("{warned}{way}")), "{}", said.errors);
    assert!(!desk.duet("patch p new.scm").errors.contains("warning"), "it is known");
    desk.check("answer p x", 0, "capability-denied");
    desk.replays("p");
}

#[test]
fn a_branch_of_changed_code_that_rests_has_a_snapshot() {
    let desk = desk_of(DICE, &["1"], ("(display (list player n))", "(display n)"));
    assert_eq!(desk.duet("resume p --with new.scm").code, 4);
    let proved = desk.duet("fsck --deep");
    assert_eq!(proved.code, 0, "{}{}", proved.output, proved.errors);
    let line = proved
        .output
        .lines()
        .find(|line| line.starts_with("p/main-new: replayed"));
    let line = line.unwrap_or_else(|| panic!("{}", proved.output));
    assert!(!line.contains(" 0 snapshots"), "{line}");
    desk.check("answer p/main-new 2", 4, "2\n");
    desk.replays("p/main-new");
}

#[test]
fn a_call_behind_the_first_new_one_is_told_to_be_made_again() {
    let text = "(define (note text)
  (call-tool 'shell 'process/run
    (dictionary 'arguments (list \"sh\" \"-c\" (string-append \"echo \" text \" >> done.txt\")))))
(note \"a\")
(note \"b\")
(await (user-input :prompt \"end?\"))
";
    let between =
        "(define (more) (call-tool 'shell 'process/run (dictionary 'arguments '(\"true\"))))\n(note \"a\")\n(more)";
    let manifest = "((program \"main.scm\") (tools process/run workspace/write))";
    let desk = Desk::new(&[
        ("p/manifest.scm", manifest),
        ("p/main.scm", text),
        ("new.scm", &text.replace("(note \"a\")", between)),
    ]);
    desk.check("run p", 4, "");
    let said = desk.duet("resume p --with new.scm --dry-run").output;
    let told =
        "in p@2; what it did stays done (irreversible); if the program makes it after that, it is done once more";
    assert!(said.contains(told), "{said}");
    desk.check("resume p --with new.scm", 4, "");
    assert_eq!(
        std::fs::read_to_string(desk.path("done.txt")).expect("a file"),
        "a\nb\nb\n"
    );
}
