//! The index beside the journal, and questions about a run: its past, its waits, its text and its
//! tools.
//!
//! INVARIANT: an index, however old or damaged, agrees with the records, or `duet fsck` reports the
//! difference.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::Desk;
use crate::travel::{json, parted};

const INDEX: &str = ".duet/journal.sqlite.index";

#[test]
fn an_index_is_made_when_it_is_asked_and_brought_up_to_date() {
    let desk = parted();
    let index = desk.path(INDEX);
    assert!(!index.exists(), "nothing was asked yet");
    desk.check("when greeted greeter/main@3", 1, "");
    assert!(index.exists());
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Ada\">\n",
    );
    let older = fs::read(&index).expect("the index");
    desk.check(
        "when greeted what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    // A rewind and another way from there: the index of the abandoned turns does not count any
    // more.
    desk.check("goto greeter/main@2", 0, "");
    desk.check("when greeted greeter/main", 1, "");
    desk.check("answer greeter/main Eve", 4, "Hello, Eve\n");
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Eve\">\n",
    );
    // An older copy of the index is one that covers less.
    fs::write(&index, older).expect("it can be written");
    desk.check(
        "when greeted greeter/main",
        0,
        "greeter@4 main     + <greeted \"Eve\">\n",
    );
    desk.check(
        "when greeted what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    let all = json(&desk, "when greeted greeter/main --all");
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
    let checked = desk.duet("fsck");
    assert_eq!((checked.code, checked.errors.as_str()), (0, ""), "{}", checked.output);
}

#[test]
fn a_damaged_index_is_found_removed_and_made_again() {
    let desk = parted();
    let first = "greeter@4 main     + <greeted \"Ada\">\n";
    desk.check("when greeted greeter/main", 0, first);
    let index = desk.path(INDEX);
    let sound = fs::read(&index).expect("the index");
    let mut damaged = sound.clone();
    for byte in &mut damaged[4096..] {
        *byte ^= 0x5a;
    }
    fs::write(&index, &damaged).expect("it can be written");
    let said = desk.check("when greeted greeter/main", 1, "");
    assert!(said.errors.contains("duet fsck --repair"), "{}", said.errors);
    let said = desk.duet("fsck");
    assert_eq!(said.code, 1);
    assert!(said.output.contains("the index of facts: "), "{}", said.output);
    assert!(index.exists(), "looking repairs nothing");
    let said = desk.duet("fsck --repair");
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(!index.exists());
    desk.check("when greeted greeter/main", 0, first);
    // The next question replaces a file that is no index.
    fs::write(&index, b"nonsense").expect("it can be written");
    desk.check("when greeted greeter/main", 0, first);
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_the_index_is_made_in_memory() {
    use std::os::unix::fs::PermissionsExt;
    let desk = parted();
    let folder = desk.path(".duet");
    fs::write(desk.path("probe"), b"").expect("it can be written");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("it is ours");
    // A privileged user can write all the same.
    let is_writable = fs::write(folder.join("probe"), b"").is_ok();
    let said = desk.duet("when greeted greeter/main");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
    if is_writable {
        return;
    }
    assert_eq!(
        said.output, "greeter@4 main     + <greeted \"Ada\">\n",
        "{}",
        said.errors
    );
    assert!(!desk.path(INDEX).exists());
}

/// A program whose turns change all kinds of things that memory holds.
const KEEPER: &[(&str, &str)] = &[(
    "keeper.scm",
    r#"(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define count 0)
(define names (list "a" "b" (vector 1 2 3)))
(define table (dictionary 'kept 1 'gone 2))
(define origin (make-point 0 0))
(define said (record 'said "old" (list 'untyped)))
(define next (let ((hidden 0)) (lambda () (set! hidden (+ hidden 1)) hidden)))
(yield)
(set! count 7)
(vector-set! (list-ref names 2) 1 'two)
(dictionary-set! table 'new "n")
(dictionary-delete! table 'gone)
(set-point-x! origin 5)
(set! said (record 'said "new" (list 'untyped)))
(next)
(yield)
(define late '(1 2))
(assert! (record 'done))
"#,
)];

#[test]
fn a_turn_is_shown_with_what_it_changed_in_memory() {
    let desk = Desk::new(KEEPER);
    let ran = desk.duet("run keeper.scm");
    assert_eq!(ran.code, 0, "{}", ran.errors);
    let memory = |turn: u64| {
        let shown = json(&desk, &format!("show keeper@{turn}"));
        let places = shown["memory"]["places"].as_array().expect("an array").clone();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
        places
            .iter()
            .map(|place| {
                format!(
                    "{}: {} → {}",
                    text(&place["place"]),
                    text(&place["before"]),
                    text(&place["after"])
                )
            })
            .collect::<Vec<_>>()
    };
    let first = memory(1);
    assert!(first.contains(&"count: - → 0".to_owned()), "{first:?}");
    let mut second = memory(2);
    second.sort();
    assert_eq!(
        second,
        [
            "count: 0 → 7",
            "names[2][1]: 2 → two",
            "next captured 1: 0 → 1",
            "origin.x: 0 → 5",
            "said.0: \"old\" → \"new\"",
            "table[gone]: 2 → -",
            "table[new]: - → \"n\"",
        ]
    );
    assert_eq!(memory(3), ["late: - → (1 2)"]);
    let text = desk.duet("show keeper@3").output;
    assert!(text.ends_with("  memory    late: - → (1 2)\n"), "{text}");
}

#[test]
fn the_program_stands_still_while_an_expression_is_evaluated() {
    let program = "(on-assert (a $x) (begin (display \"handled\") (list 'from-the-handler x)))
        (assert! (record 'a 1)) (yield) (display \"end\")";
    let desk = Desk::new(&[("m.scm", program)]);
    desk.check("run m.scm", 0, "handledend");
    for turn in ["m@1", "m@2"] {
        desk.check(&format!("eval {turn} \"(+ 1 1)\""), 0, "2\n");
    }
    desk.check("eval m@2 \"(begin (yield) 'later)\"", 0, "later\n");
    // What the expression asserts does not wake the program; its own fibers and handlers run.
    desk.check(
        "eval m@1 \"(begin (assert! (record 'a 2)) (yield) (yield) 'still)\"",
        0,
        "still\n",
    );
    let own = "(let ((seen #f)) (on-assert (a $x) (set! seen x)) (assert! (record 'a 2)) (yield) (yield) seen)";
    desk.check(&format!("eval m@2 \"{own}\""), 0, "2\n");
    desk.check(
        "eval m@2 \"(begin (spawn (lambda () (display 'own))) (yield) 'end)\"",
        0,
        "ownend\n",
    );
    let said = desk.check("eval m@2 \"(await (signal 'nobody))\"", 1, "");
    assert!(
        said.errors.contains("abandoned: it waits for an event"),
        "{}",
        said.errors
    );
}

/// A program that asks three questions at once, one without a tag.
const ASKING: &str = "
(define (ask tag)
  (spawn (lambda ()
           (display (list tag (await (user-input ':prompt tag ':tag tag))))
           (newline))))
(ask \"one\")
(ask \"two\")
(display (await (user-input ':prompt \"third?\")))
(newline)
";

#[test]
fn open_questions_are_answered_in_any_order() {
    let desk = Desk::new(&[("asking.scm", ASKING)]);
    desk.check("run asking.scm", 4, "");
    let waits = desk.duet("waits asking").output;
    for expected in [
        "question \"one\", tag one",
        "question \"two\", tag two",
        "question \"third?\"\n",
    ] {
        assert!(waits.contains(expected), "{waits}");
    }
    let line = waits.lines().find(|line| line.contains("third?")).expect("it waits");
    let number = line.split_whitespace().nth(1).expect("a number");
    let said = desk.check("answer asking four 4", 1, "");
    assert!(said.errors.contains("no open question `four`"), "{}", said.errors);
    desk.check("answer asking two second", 4, "(two second)\n");
    desk.check(&format!("answer asking {number} third"), 4, "third\n");
    desk.check("answer asking first", 0, "(one first)\n");
    assert_eq!(desk.duet("replay asking --check").code, 0);
}

#[test]
fn who_goes_on_after_an_edit_is_told_that_the_text_is_the_old_one() {
    let program = "(display (await (user-input ':prompt \"?\")))";
    let desk = Desk::new(&[("p.scm", program)]);
    desk.check("run p.scm", 4, "");
    let said = desk.check("resume p", 4, "");
    assert!(!said.errors.contains("has changed"), "{}", said.errors);
    fs::write(desk.path("p.scm"), format!("{program} (display \"new\")")).expect("a file");
    let said = desk.check("resume p", 4, "");
    assert_eq!(
        said.errors.matches("`p.scm` has changed since p began").count(),
        1,
        "{}",
        said.errors
    );
    assert!(said.errors.contains("`duet resume p --with FILE`"), "{}", said.errors);
    let said = desk.check("answer p old", 0, "old");
    assert_eq!(said.errors.matches("`p.scm` has changed").count(), 1, "{}", said.errors);
}

#[test]
fn tools_are_described_like_procedures() {
    let desk = Desk::new(&[]);
    let said = desk.duet("describe process/run");
    for expected in ["process/run  (irreversible)", "needs the grant process/run", "returns "] {
        assert!(said.output.contains(expected), "{}", said.output);
    }
    assert_eq!(said.output, desk.duet("tools process/run").output);
    assert_eq!(desk.duet("tools no/such").code, 1);
    let said = desk.check("describe no/such", 1, "");
    assert!(said.errors.contains("no description"), "{}", said.errors);
}
