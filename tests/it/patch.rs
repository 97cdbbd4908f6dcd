//! Putting a changed text in the place of the one that a run executes, by the real command.
//!
//! INVARIANT: after a patch the run does what its new text says wherever code is entered anew, and
//! what it did before is as it was; a patch that is refused leaves no trace.
//! The comparison of texts is the runtime's. Read next: `support/desk.rs`.

use serde_json::Value;

use crate::moving::edited;
use crate::support::desk::Desk;

/// A program that waits between uses of its procedures, of which the compiler integrates some.
const STEPS: &str = r#"(define (greet name) (string-append "hello " name))
(define (twice x) (* 2 x))
(define (use x) (display (greet (number->string (twice x)))) (newline))
(define limit 10)
(use 1)
(define one (await (user-input :prompt "one?")))
(use 2)
(define (late x) (display (list 'old x limit)) (newline) x)
(list (late 1))
(define two (await (user-input :prompt "two?")))
(use 3)
(list (late 2))
(define three (await (user-input :prompt "three?")))
(use 4)
"#;

/// A handler, a closure that has state, one in a list, and an actor with the program's procedures.
const HELD: &str = r#"(define (shout text) (string-append text "!"))
(define (make-counter name)
  (let ((n 0))
    (lambda () (set! n (+ n 1)) (string-append name ":" (number->string n)))))
(define count (make-counter "c"))
(define table (list (lambda (x) (list 'old x))))
(define (adder numbers)
  (on-message 'add (display (list 'adder numbers)) (newline))
  (assert! (record 'sum (apply + numbers))))
(register-entity! 'adder adder)
(spawn-entity! 'adder :config (list 1 2))
(on-message $m (display (shout "m")) (display (count)) (write ((car table) 1)) (newline))
(define one (await (user-input :prompt "one?")))
(message! 'add)
(define two (await (user-input :prompt "two?")))
(spawn-entity! 'adder :config (list 7))
(message! 'add)
(define three (await (user-input :prompt "three?")))
(message! 'add)
(define four (await (user-input :prompt "four?")))
"#;

fn desk_of(text: &str, edits: &[(&str, &str)]) -> Desk {
    let desk = Desk::new(&[("steps.scm", text)]);
    write(&desk, "new.scm", &edited(text, edits));
    desk
}

fn write(desk: &Desk, name: &str, text: &str) {
    std::fs::write(desk.path(name), text).expect("a file");
}

/// Everything that commands tell of the journal.
fn journal(desk: &Desk) -> String {
    ["runs", "branches steps", "log steps", "stats steps"]
        .map(|line| desk.duet(line).output)
        .join("\n")
}

const GREETING: (&str, &str) = ("hello ", "good day ");
const TWICE: (&str, &str) = ("(* 2 x)", "(* 3 x)");

#[test]
fn changed_procedures_act_wherever_they_are_called_and_values_stay() {
    let desk = desk_of(STEPS, &[GREETING, TWICE, ("limit 10", "limit 20"), ("'old", "'new")]);
    desk.check("run steps.scm", 4, "hello 2\n");
    let seen = desk.report("patch steps new.scm --dry-run");
    assert_eq!(seen["changed"], serde_json::json!(["greet", "twice", "late"]));
    assert_eq!(seen["recompiled"], serde_json::json!(["use"]));
    assert_eq!(seen["data"], serde_json::json!(["limit"]));
    assert_eq!(seen["turn"], Value::Null);
    let patched = desk.report("patch steps new.scm");
    assert_eq!(patched["turn"], serde_json::json!(2));
    desk.replays("steps");
    // The definition of `late` is evaluated after the patch, by the frame that began before it.
    desk.check("answer steps yes", 4, "good day 6\n(new 1 10)\n");
    desk.replays("steps");
    let log = desk.duet("log steps").output;
    assert!(log.contains("patch changes greet, twice, late, use"), "{log}");
}

#[test]
fn a_patch_is_taken_back_and_another_branch_does_not_have_it() {
    let desk = desk_of(STEPS, &[GREETING]);
    desk.check("run steps.scm", 4, "hello 2\n");
    desk.duet("fork steps@1 before");
    assert_eq!(desk.duet("patch steps/main new.scm").code, 0);
    desk.duet("fork steps/main@2 after");
    desk.check("answer steps/main yes", 4, "good day 4\n(old 1 10)\n");
    desk.check("answer steps/before yes", 4, "hello 4\n(old 1 10)\n");
    desk.check("answer steps/after yes", 4, "good day 4\n(old 1 10)\n");
    assert_eq!(desk.duet("goto steps/main@1").code, 0);
    desk.check("answer steps/main yes", 4, "hello 4\n(old 1 10)\n");
    for branch in ["main", "before", "after"] {
        desk.replays(&format!("steps/{branch}"));
    }
}

#[test]
fn a_text_follows_another() {
    let desk = desk_of(STEPS, &[GREETING]);
    write(&desk, "newer.scm", &edited(STEPS, &[("hello ", "hey "), TWICE]));
    desk.check("run steps.scm", 4, "hello 2\n");
    assert_eq!(desk.duet("patch steps new.scm").code, 0);
    let second = desk.report("patch steps newer.scm");
    assert_eq!(second["changed"], serde_json::json!(["greet", "twice"]));
    desk.check("answer steps yes", 4, "hey 6\n(old 1 10)\n");
    // Back to the text of the beginning, and without the files.
    assert_eq!(desk.duet("patch steps steps.scm").code, 0);
    for name in ["steps.scm", "new.scm", "newer.scm"] {
        std::fs::remove_file(desk.path(name)).expect("a file");
    }
    desk.check("answer steps yes", 4, "hello 6\n(old 2 10)\n");
    desk.replays("steps");
}

#[test]
fn handlers_closures_and_actors_take_the_new_code() {
    let edits = [
        ("text \"!\"", "text \"?\""),
        ("\":\"", "\"=\""),
        ("'old", "'new"),
        ("'adder numbers", "'ADDER numbers"),
    ];
    let desk = desk_of(HELD, &edits);
    desk.check("run steps.scm", 4, "");
    desk.check("answer steps x", 4, "m!c:1(old 1)\n(adder (1 2))\n");
    assert_eq!(desk.duet("patch steps new.scm").code, 0);
    desk.replays("steps");
    desk.check("answer steps x", 4, "m?c=2(new 1)\n(ADDER (1 2))\n");
    desk.check("answer steps x", 4, "m?c=3(new 1)\n(ADDER (1 2))\n(ADDER (7))\n");
    desk.replays("steps");
    assert_eq!(desk.duet("goto steps@4").code, 0);
    desk.check("answer steps x", 4, "m!c:1(old 1)\n(adder (1 2))\n");
}

#[test]
fn a_patch_that_is_refused_leaves_no_trace() {
    let desk = desk_of(STEPS, &[("(define (greet name)", "(define (greet name")]);
    write(&desk, "raises.scm", &format!("{STEPS}(define broken (car '()))\n"));
    desk.check("run steps.scm", 4, "hello 2\n");
    let before = journal(&desk);
    for (line, said) in [
        ("patch steps new.scm", "never closed"),
        ("patch steps raises.scm", "car"),
        ("patch steps steps.scm --run nothing", "nothing"),
    ] {
        let refused = desk.duet(line);
        assert_eq!(
            (refused.code, refused.output.as_str()),
            (1, ""),
            "{line}: {}",
            refused.errors
        );
        assert!(refused.errors.contains(said), "{line}: {}", refused.errors);
        assert_eq!(journal(&desk), before, "{line}");
    }
    desk.check("answer steps yes", 4, "hello 4\n(old 1 10)\n");
    desk.replays("steps");
}

#[test]
fn values_and_expressions_are_evaluated_if_they_are_named() {
    let desk = desk_of(STEPS, &[("limit 10", "limit (* 2 10)"), ("(use 1)", "(use 11)")]);
    desk.check("run steps.scm", 4, "hello 2\n");
    let seen = desk.report("patch steps new.scm --dry-run");
    let number = seen["expressions"][0].as_str().expect("an expression").to_owned();
    let said = desk.duet(&format!("patch steps new.scm --run limit,{number}"));
    assert!(said.output.contains("hello 22\n"), "{}{}", said.output, said.errors);
    desk.check("answer steps yes", 4, "hello 4\n(old 1 20)\n");
    desk.replays("steps");
}

#[test]
fn records_of_a_changed_type_are_not_mistaken() {
    let text = "(define-record-type point (make x) point? (x point-x))\n(define p (make 1))\n\
                (define one (await (user-input :prompt \"one?\")))\n(display (point-x p))\n";
    let changed = text.replace("(make x) point? (x point-x)", "(make x) point? (y point-y) (x point-x)");
    let desk = Desk::new(&[("steps.scm", text), ("new.scm", &changed)]);
    desk.check("run steps.scm", 4, "");
    let refused = desk.duet("patch steps new.scm");
    assert!(refused.errors.contains("--run point"), "{}", refused.errors);
    desk.check("answer steps yes", 0, "1");
}

#[test]
fn a_library_of_the_program_changes_with_it() {
    let library = "(define-library (words) (export word) (import (scheme base))\n\
                   (begin (define (word) \"old\")))\n";
    let text = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (words))\n\
                (define (say) (display (word)) (newline))\n(say)\n\
                (define one (await (user-input :prompt \"one?\")))\n(say)\n";
    let desk = Desk::new(&[("words.sld", library), ("steps.scm", text)]);
    desk.check("run steps.scm", 4, "old\n");
    write(&desk, "words.sld", &library.replace("old", "new"));
    let said = desk.report("patch steps steps.scm");
    assert_eq!(said["changed"], serde_json::json!(["word of (words)"]));
    desk.check("answer steps yes", 0, "new\n");
    desk.replays("steps");
}

#[test]
fn a_run_restored_from_a_snapshot_has_the_new_code() {
    let work = "(define (work n) (if (= n 0) '() (cons n (work (- n 1)))))\n";
    let text = format!(
        "{work}{}",
        HELD.replace("(display (shout \"m\"))", "(work 400000) (display (shout \"m\"))")
    );
    let desk = desk_of(
        &text,
        &[
            ("text \"!\"", "text \"?\""),
            ("'adder numbers", "'ADDER numbers"),
            ("\":\"", "\"=\""),
        ],
    );
    desk.check("run steps.scm", 4, "");
    assert_eq!(desk.duet("patch steps new.scm").code, 0);
    desk.check("answer steps x", 4, "m?c=1(old 1)\n(ADDER (1 2))\n");
    desk.check("answer steps x", 4, "m?c=2(old 1)\n(ADDER (1 2))\n");
    let stats = desk.duet("stats steps").output;
    assert!(stats.contains("snapshot"), "{stats}");
    desk.check("answer steps x", 4, "m?c=3(old 1)\n(ADDER (1 2))\n(ADDER (7))\n");
    desk.replays("steps");
    let proved = desk.duet("fsck");
    assert_eq!(proved.code, 0, "{}{}", proved.output, proved.errors);
}

#[test]
fn what_still_runs_old_code_is_listed() {
    let text = "(define (ask) (define name (await (user-input :prompt \"Name?\"))) (display name) (newline))\n\
                (define (ask-twice) (ask) (ask))\n(define held (let ((n 1)) (list (lambda () n))))\n(ask-twice)\n";
    let desk = desk_of(
        text,
        &[
            ("(define (ask) ", "(define (ask) (define dear 'dear) "),
            ("(display name)", "(display (list dear name))"),
            ("((n 1))", "((m 1))"),
            ("() n)", "() m)"),
        ],
    );
    desk.check("run steps.scm", 4, "");
    desk.check("stale steps", 0, "nothing\n");
    assert_eq!(desk.duet("patch steps new.scm").code, 0);
    let stale = desk.duet("stale steps").output;
    assert!(stale.contains("waits in `ask`"), "{stale}");
    assert!(stale.contains("1 closure of `lambda` at steps.scm:3"), "{stale}");
    assert!(!stale.contains("waits in `ask-twice`"), "{stale}");
    desk.check("answer steps Ada", 4, "Ada\n");
    let stale = desk.duet("stale steps").output;
    assert!(!stale.contains("waits in `ask`"), "{stale}");
    desk.check("answer steps Bob", 0, "(dear Bob)\n");
    desk.replays("steps");
}

#[test]
fn a_call_in_flight_has_its_result_after_a_patch() {
    let text = "(define (show text) (display text) (newline))\n\
                (show (guard (e (#t (condition-kind e))) (call-tool 'c 'process/run\n\
                (dictionary 'arguments (list \"sh\" \"-c\" \"echo $$ > pid; exec sleep 600\")))))\n";
    let manifest = "((program \"main.scm\") (tools process/run workspace/write workspace/read))";
    let desk = Desk::new(&[
        ("steps/manifest.scm", manifest),
        ("steps/main.scm", text),
        (
            "steps/new.scm",
            &edited(text, &[("(display text)", "(display (list 'new text))")]),
        ),
    ]);
    let mut child = desk.spawn("run steps");
    let pid = loop {
        let pid = std::fs::read_to_string(desk.path("pid")).unwrap_or_default();
        if pid.ends_with('\n') {
            break pid.trim().to_owned();
        }
        std::thread::yield_now();
    };
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let _ = std::process::Command::new("kill").arg(&pid).status();
    let said = desk.duet("patch steps steps/new.scm");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    desk.replays("steps");
    let went_on = desk.duet("resume steps");
    assert!(
        went_on.output.contains("(new interrupted)"),
        "{}{}",
        went_on.output,
        went_on.errors
    );
    desk.replays("steps");
}

#[test]
fn the_texts_of_two_turns_are_compared_with_the_names_of_what_they_define() {
    let desk = desk_of(
        STEPS,
        &[
            ("(* 2 x)", "(* 20 x)"),
            ("(define limit 10)\n", ""),
            ("'old x limit", "'new x"),
        ],
    );
    desk.duet("run steps.scm");
    desk.duet("patch steps new.scm");
    let said = desk.duet("diff steps@1 steps --code").output;
    let names = said.lines().take_while(|line| !line.starts_with("---"));
    assert_eq!(names.collect::<Vec<_>>(), ["changed: late, twice", "removed: limit"]);
    for line in [
        "--- steps.scm\tsteps@1",
        "+++ new.scm\tsteps@2",
        "-(define (twice x) (* 2 x))",
        "+(define (twice x) (* 20 x))",
    ] {
        assert!(said.lines().any(|shown| shown == line), "{line}\n{said}");
    }
    let form: Value = serde_json::from_str(&desk.duet("diff steps steps@1 --code --json").output).expect("JSON");
    assert_eq!(form["code"][0]["definitions"]["added"][0], "limit");
    assert_eq!((&form["left"], &form["right"]), (&"steps@2".into(), &"steps@1".into()));
    let whole: Value = serde_json::from_str(&desk.duet("diff steps@1 steps --json").output).expect("JSON");
    assert_eq!(whole["texts"][0]["definitions"]["changed"][0], "late");
    let same = "steps@2 and steps@2 execute the same texts\n";
    desk.check("diff steps steps --code", 0, same);
}

#[test]
fn a_turn_that_takes_a_text_on_differs_in_words() {
    let desk = desk_of(STEPS, &[("(* 2 x)", "(* 20 x)")]);
    desk.duet("run steps.scm");
    desk.duet("fork steps/main other");
    desk.duet("patch steps new.scm");
    desk.duet("message steps/other <none>");
    desk.duet("resume steps/other");
    let said = desk.duet("diff steps steps/other --stat").output;
    assert!(said.contains("\n  - steps@2  gave a changed text\n"), "{said}");
}

/// An entity that has literals and ends with an expression.
fn clerk(last: &str) -> String {
    format!(
        "(define (clerk name)\n  (write (list 'clerk name \"text\" '(a b)))\n  \
         (await (user-input :prompt \"more?\"))\n  {last})\n(register-entity! 'clerk clerk)\n\
         (on-message (more $name) (spawn-entity! 'clerk :config name))\n(await (signal 'close))\n"
    )
}

#[test]
fn an_entity_that_begins_under_a_text_of_before_has_its_literals() {
    let texts = ["'first", "'second", "(begin 'third 3)"].map(clerk);
    let desk = Desk::new(&[
        ("clerk.scm", &texts[0]),
        ("two.scm", &texts[1]),
        ("three.scm", &texts[2]),
    ]);
    desk.check("run clerk.scm", 4, "");
    for text in ["two", "three", "two", "clerk", "three"] {
        assert_eq!(desk.duet(&format!("patch clerk {text}.scm")).code, 0, "{text}");
        let said = desk.with("message clerk", &format!("<more \"{text}\">"));
        assert_eq!(
            said.output,
            format!("(clerk \"{text}\" \"text\" (a b))"),
            "{}",
            said.errors
        );
    }
    desk.replays("clerk");
}

#[test]
fn code_left_behind_by_a_patch_makes_new_procedures_after_a_patch_of_something_else() {
    let text = |mark: &str, asked: &str| {
        format!(
            "(import (scheme base) (scheme write) (duet base) (duet dataspace) (shop))\n(define (body k)\n  \
             (define a {asked})\n  (define (say) (write (list '{mark} k (price k))))\n  (for-each (lambda (f) (f)) \
             (list say))\n  (body (+ k 1)))\n(body 1)\n"
        )
    };
    let shop = |price: &str| format!("(define-library (shop) (export price) (import (scheme base)) (begin {price}))\n");
    let old = text("old", "(await (user-input :prompt \"more?\"))");
    let new = text("new", "(list (await (user-input :prompt \"else?\")))");
    let (cheap, dear) = (shop("(define (price n) (* n 5))"), shop("(define (price n) (* n 7))"));
    let manifest = "((program \"main.scm\"))";
    let desk = Desk::new(&[
        ("one/manifest.scm", manifest),
        ("one/main.scm", &old),
        ("one/shop.sld", &cheap),
        ("two/manifest.scm", manifest),
        ("two/main.scm", &new),
        ("two/shop.sld", &cheap),
        ("three/manifest.scm", manifest),
        ("three/main.scm", &new),
        ("three/shop.sld", &dear),
    ]);
    desk.check("run one --name shop", 4, "");
    let kept = desk.report("patch shop two")["frames"][0]["kept"].clone();
    assert!(kept.is_string(), "{kept}");
    assert_eq!(desk.duet("patch shop three").code, 0);
    desk.check("answer shop x", 4, "(new 1 7)");
    desk.replays("shop");
}
