//! Frames that wait when a changed text takes the place of theirs, by the real command.
//!
//! INVARIANT: a frame that moves goes on as the new text says from its call on, with the values
//! that it has; one that stays ends as the old text says, and the report says why.
//! Which code closures have is tested in `patch.rs`. Read next: `moving/drawn.rs`.

mod drawn;
mod pairs;

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::desk::Desk;

/// A loop that is a procedure of the program.
const WORK: &str = r#"(define (work n)
  (let ((a (* n 10)))
    (define name (await (user-input :prompt "name?")))
    (display (list n a name))
    (work (+ n 1))))
(work 1)
"#;

/// A loop in the program's body, into which the compiler puts a small procedure.
const LOOP: &str = r#"(define (say x) (display (list 'old x)))
(let loop ((k 0))
  (let ((w (await (user-input :prompt "w?")))) (say k) (loop (+ k 1))))
"#;

/// A wait behind an operand that is evaluated already.
const SUM: &str = r#"(define (f x) (display 'f) x)
(define (work n)
  (display (+ (f n) (string->number (await (user-input :prompt "number?")))))
  (work (+ n 1)))
(work 1)
"#;

/// Two waits that differ in their operands.
const TWO: &str = r#"(define (ask x) (string-append x (await (user-input :prompt x))))
(define (work n)
  (display (ask "a"))
  (display (ask "b"))
  (work (+ n 1)))
(work 1)
"#;

/// A loop in a closure of a fiber.
const FIBER: &str = r#"(define (make q)
  (lambda ()
    (let loop ((k 0))
      (await (user-input :prompt "tick?"))
      (display (list q k))
      (loop (+ k 1)))))
(spawn (make 'Q))
"#;

/// A loop that needs its frames after the call of itself.
const DEEP: &str = r#"(define (go)
  (define (step k)
    (define name (await (user-input :prompt "name?")))
    (display (list k name))
    (if (equal? name "end") '() (cons k (step (+ k 1)))))
  (display (step 0)))
(go)
"#;

struct Case {
    name: &'static str,
    text: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// Why the first frame stays, or nothing if it moves.
    kept: Option<&'static str>,
    /// The output after the answers `1` and `2`; nothing if it does not matter.
    shown: [&'static str; 2],
}

const CASES: &[Case] = &[
    Case {
        name: "what follows the wait",
        text: WORK,
        edits: &[("(list n a name)", "(list 'new name a n)")],
        kept: None,
        shown: ["(new 1 10 1)", "(new 2 20 2)"],
    },
    Case {
        name: "what comes before the wait",
        text: WORK,
        edits: &[("(* n 10)", "(* n 100)")],
        kept: None,
        shown: ["(1 10 1)", "(2 200 2)"],
    },
    Case {
        name: "a renamed variable",
        text: WORK,
        edits: &[("((a ", "((b "), ("n a name", "'b n b name")],
        kept: None,
        shown: ["(b 1 10 1)", "(b 2 20 2)"],
    },
    Case {
        name: "a renamed parameter",
        text: WORK,
        edits: &[
            ("(work n)", "(work m)"),
            ("(* n", "(* m"),
            ("list n", "list m m"),
            ("(+ n", "(+ m"),
        ],
        kept: None,
        shown: ["(1 1 10 1)", "(2 2 20 2)"],
    },
    Case {
        name: "a branch around what follows",
        text: WORK,
        edits: &[(
            "(display (list n a name))",
            "(if (= n 1) (display 'one) (display name))",
        )],
        kept: None,
        shown: ["one", "2"],
    },
    Case {
        name: "a branch around the wait",
        text: WORK,
        edits: &[(
            "(define name (await (user-input :prompt \"name?\")))",
            "(define name (if (> n 0) (await (user-input :prompt \"name?\")) 'none))",
        )],
        kept: None,
        shown: ["(1 10 1)", "(2 20 2)"],
    },
    Case {
        name: "another wait before it",
        text: WORK,
        edits: &[("(define name", "(await (user-input :prompt \"more?\"))\n (define name")],
        kept: None,
        shown: ["(1 10 1)", ""],
    },
    Case {
        name: "a new variable that is used later",
        text: WORK,
        edits: &[("(define name", "(define z 5)\n (define name"), ("list n", "list z n")],
        kept: Some("the new text needs `z`"),
        shown: ["(1 10 1)", "(2 20 2)"],
    },
    Case {
        name: "a new parameter",
        text: WORK,
        edits: &[
            ("(work n)", "(work n m)"),
            ("(+ n 1)", "(+ n 1) 7"),
            ("list n", "list m n"),
            ("(work 1)", "(work 1 7)"),
        ],
        kept: Some("the new text needs `m`"),
        shown: ["(1 10 1)", ""],
    },
    Case {
        name: "a variable whose value is gone",
        text: "(define (work n) (let ((old n)) (await (user-input :prompt \"name?\")) (display 'x) (work 2)))\n\
               (work 1)\n",
        edits: &[("(display 'x)", "(display old)")],
        kept: Some("the new text needs `"),
        shown: ["x", "x"],
    },
    Case {
        name: "a variable that is assigned from now on",
        text: WORK,
        edits: &[("(display (list", "(set! a (+ a 1))\n (display (list")],
        kept: None,
        shown: ["(1 11 1)", "(2 21 2)"],
    },
    Case {
        name: "a variable that closures have copied and that is assigned from now on",
        text: "(define kept '())\n(define (work n) (set! kept (lambda () n)) (await (user-input :prompt \"name?\")) \
               (display (list n (kept))) (work (+ n 1)))\n(work 1)\n",
        edits: &[("(display", "(set! n (* 2 n)) (display")],
        kept: Some("only one of the texts assigns `n`"),
        shown: ["(1 1)", "(2 2)"],
    },
    Case {
        name: "the wait in another procedure",
        text: WORK,
        edits: &[
            ("(await (user-input :prompt \"name?\"))", "(ask n a n)"),
            (
                "(define (work n)",
                "(define (ask . rest) (await (user-input :prompt \"name?\")))\n(define (work n)",
            ),
        ],
        kept: Some("the new text does not have the call"),
        shown: ["(1 10 1)", "(2 20 2)"],
    },
    Case {
        name: "the call is gone",
        text: WORK,
        edits: &[("(await (user-input :prompt \"name?\"))", "(begin (exit 0) n)")],
        kept: Some("the new text does not have the call"),
        shown: ["(1 10 1)", ""],
    },
    Case {
        name: "an integrated procedure",
        text: LOOP,
        edits: &[("'old", "'new")],
        kept: None,
        shown: ["(new 0)", "(new 1)"],
    },
    Case {
        name: "a loop in the body",
        text: LOOP,
        edits: &[("(say k)", "(say (list w k))")],
        kept: None,
        shown: ["(old (1 0))", "(old (2 1))"],
    },
    Case {
        name: "a renamed loop",
        text: LOOP,
        edits: &[("let loop", "let again"), ("(loop (+ k 1))", "(again (+ k 2))")],
        kept: None,
        shown: ["(old 0)", "(old 2)"],
    },
    Case {
        name: "an operand that is evaluated already",
        text: SUM,
        edits: &[("(+ (f n)", "(+ (f (* n 100))")],
        kept: None,
        shown: ["2f", "202f"],
    },
    Case {
        name: "more calls around the operands",
        text: SUM,
        edits: &[
            ("(display (+ (f n)", "(display (* 100 (+ (f n)"),
            (":prompt \"number?\")))))", ":prompt \"number?\"))))))"),
        ],
        kept: None,
        shown: ["200f", "400f"],
    },
    Case {
        name: "another operand before the wait",
        text: SUM,
        edits: &[("(+ (f n)", "(+ (f n) (f n)")],
        kept: Some("the call is an operand"),
        shown: ["2f", "4f"],
    },
    Case {
        name: "one operand less before the wait",
        text: SUM,
        edits: &[("(+ (f n) ", "(+ ")],
        kept: Some("the call is an operand"),
        shown: ["2f", "4f"],
    },
    Case {
        name: "two waits that swap",
        text: TWO,
        edits: &[(
            "(display (ask \"a\"))\n  (display (ask \"b\"))",
            "(display (ask \"b\"))\n  (display (ask \"a\"))",
        )],
        kept: None,
        shown: ["a1", "b2"],
    },
    Case {
        name: "a closure of a fiber",
        text: FIBER,
        edits: &[("(list q k)", "(list 'new q k)")],
        kept: None,
        shown: ["(new Q 0)", "(new Q 1)"],
    },
    Case {
        name: "another procedure without a name before it",
        text: "(spawn (lambda () (let loop ((k 0)) (await (user-input :prompt \"tick?\")) \
               (display (list 'old k)) (loop (+ k 1)))))\n",
        edits: &[
            ("(spawn", "(define held (list (lambda () 1)))\n(spawn"),
            ("'old", "'new"),
        ],
        kept: None,
        shown: ["(new 0)", "(new 1)"],
    },
    Case {
        name: "a procedure that has captured other variables",
        text: FIBER,
        edits: &[("(make q)", "(make q . more)"), ("(list q k)", "(list q k more)")],
        kept: Some("no procedure of the new text"),
        shown: ["(Q 0)", "(Q 1)"],
    },
    Case {
        name: "frames in the middle of a computation",
        text: DEEP,
        edits: &[("(list k name)", "(list 'new k name)"), ("(cons k", "(cons (list k)")],
        kept: None,
        shown: ["(new 0 1)", "(new 1 2)"],
    },
    Case {
        name: "a definition that is evaluated before its place comes",
        text: LOOP,
        edits: &[(
            "(loop (+ k 1))))",
            "(if (> k 0) k (loop (+ k 1)))))\n(define later 5)\n(display later)",
        )],
        kept: Some("would come again, or never"),
        shown: ["(old 0)", "(old 1)"],
    },
];

/// A text with parts replaced, each of which it must have.
pub(crate) fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

fn desk_of(text: &str, edits: &[(&str, &str)]) -> Desk {
    Desk::new(&[("loop.scm", text), ("new.scm", &edited(text, edits))])
}

fn patched(desk: &Desk, line: &str) -> Value {
    let said = desk.duet(&format!("patch loop new.scm {line} --json"));
    serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}{}", said.output, said.errors))
}

/// What a replay of a branch, or a proof of all snapshots, finds.
fn replays(desk: &Desk, address: &str) -> String {
    let said = desk.duet(&format!("replay {address}"));
    let proved = desk.duet("fsck --deep");
    if said.output.starts_with("identical: ") && proved.code == 0 {
        String::new()
    } else {
        format!("{}{}{}{}", said.output, said.errors, proved.output, proved.errors)
    }
}

/// Runs a case; returns what is not as it says.
fn differences(case: &Case) -> String {
    let desk = desk_of(case.text, case.edits);
    let mut found = String::new();
    desk.duet("run loop.scm");
    let frames = patched(&desk, "")["frames"].clone();
    let kept = frames[0]["kept"].as_str();
    let is_as_said = match case.kept {
        Some(reason) => kept.is_some_and(|kept| kept.contains(reason)),
        None => !frames[0].is_null() && kept.is_none(),
    };
    if !is_as_said {
        let _ = writeln!(found, "{}: {frames}", case.name);
    }
    for (answer, shown) in ["1", "2"].into_iter().zip(case.shown) {
        let said = desk.duet(&format!("answer loop {answer}"));
        if said.output != shown && !shown.is_empty() {
            let _ = writeln!(found, "{}: {answer} shows {}{}", case.name, said.output, said.errors);
        }
    }
    let stale = desk.duet("stale loop").output;
    if case.kept.is_none() && stale.contains("waits in") {
        let _ = writeln!(found, "{}: {stale}", case.name);
    }
    found + &replays(&desk, "loop")
}

#[test]
fn each_frame_goes_on_in_the_new_text_or_the_report_says_why_not() {
    assert!(
        CASES.len() + pairs::CASES.len() >= 50,
        "the pairs that are written down"
    );
    let found: Vec<String> = CASES
        .iter()
        .chain(pairs::CASES)
        .map(differences)
        .filter(|found| !found.is_empty())
        .collect();
    assert!(found.is_empty(), "{}", found.concat());
}

#[test]
fn a_moved_frame_goes_back_with_its_turn_and_other_branches_keep_theirs() {
    let desk = desk_of(WORK, &[("(list n a name)", "(list 'new n a name)")]);
    desk.check("run loop.scm", 4, "");
    desk.duet("fork loop@1 before");
    let seen = patched(&desk, "--dry-run");
    let taken = patched(&desk, "");
    assert_eq!(seen["frames"], taken["frames"]);
    assert_eq!(replays(&desk, "loop/main"), "");
    desk.duet("fork loop/main@2 after");
    desk.check("answer loop/main x", 4, "(new 1 10 x)");
    desk.check("answer loop/before x", 4, "(1 10 x)");
    desk.check("answer loop/after x", 4, "(new 1 10 x)");
    assert_eq!(desk.duet("goto loop/main@1").code, 0);
    desk.check("answer loop/main y", 4, "(1 10 y)");
    assert_eq!(desk.duet("goto loop/main@2").code, 0);
    for branch in ["main", "before", "after"] {
        assert_eq!(replays(&desk, &format!("loop/{branch}")), "");
    }
}

#[test]
fn a_text_is_refused_that_would_leave_a_frame_behind() {
    let desk = desk_of(
        WORK,
        &[("(define name", "(define z 5)\n (define name"), ("list n", "list z n")],
    );
    desk.check("run loop.scm", 4, "");
    let log = desk.duet("log loop").output;
    let refused = desk.duet("patch loop new.scm --require-moved");
    assert_eq!((refused.code, refused.output.as_str()), (1, ""), "{}", refused.errors);
    assert!(refused.errors.contains("the new text needs `z`"), "{}", refused.errors);
    assert_eq!(desk.duet("log loop").output, log);
    desk.check("answer loop x", 4, "(1 10 x)");
}

#[test]
fn a_variable_that_a_frame_does_not_have_is_given() {
    let edits = [
        ("(define (work n)", "(define (work n who more)"),
        ("(+ n 1)", "(+ n 1) who more"),
        (
            "(display (list n a",
            "(set! more (cons n more)) (display (list who more n a",
        ),
        ("(work 1)", "(work 1 'me '())"),
    ];
    let desk = desk_of(WORK, &edits);
    desk.check("run loop.scm", 4, "");
    for (given, said) in [("more", "gives no value"), ("more=1 2", "gives no value")] {
        let refused = desk.duet(&format!("patch loop new.scm --let \"{given}\""));
        assert_eq!(refused.code, 1, "{given}: {}{}", refused.output, refused.errors);
        assert!(refused.errors.contains(said), "{given}: {}", refused.errors);
    }
    let unknown = desk.duet("patch loop new.scm --let whom=a --let more=7");
    assert!(
        unknown.code == 1 && unknown.errors.contains("has a variable `whom`; did you mean `who`?"),
        "{unknown:?}"
    );
    let needless = desk.duet("patch loop new.scm --dry-run --let who=a --let more=7 --let name=5");
    assert!(
        needless
            .errors
            .contains("no waiting frame needs the value of `--let name`"),
        "{needless:?}"
    );
    let refused = desk.duet("patch loop new.scm --let who=b --let more=7");
    assert!(refused.errors.contains("undefined-variable: b"), "{}", refused.errors);
    let frames = patched(&desk, "--let who=a --let \"more='(7)\"")["frames"].clone();
    assert!(frames[0]["kept"].is_null(), "{frames}");
    desk.check("answer loop x", 4, "(10 (1 7) 1 10 x)");
    desk.check("answer loop x", 4, "(10 (2 1 7) 2 20 x)");
    assert_eq!(replays(&desk, "loop"), "");
}

#[test]
fn a_frame_moves_from_text_to_text() {
    let desk = desk_of(WORK, &[("(list n a name)", "(list 'new n a name)")]);
    std::fs::write(
        desk.path("newer.scm"),
        edited(WORK, &[("(list n a name)", "(list 'newer a name)")]),
    )
    .expect("a file");
    desk.check("run loop.scm", 4, "");
    patched(&desk, "");
    assert_eq!(desk.duet("patch loop newer.scm").code, 0);
    desk.check("answer loop x", 4, "(newer 10 x)");
    assert_eq!(desk.duet("patch loop loop.scm").code, 0);
    desk.check("answer loop x", 4, "(2 20 x)");
    desk.check("stale loop", 0, "nothing\n");
    assert_eq!(replays(&desk, "loop"), "");
}

/// A continuation in a list, which is called twice, a generator that another procedure resumes, and
/// a frame of the same computation that both share.
const HELD: &str = r#"(define (count n)
  (abort-to-prompt 'g n)
  (display (list 'old n))
  (count (+ n 1)))
(define next #f)
(define (step thunk)
  (call-with-prompt 'g thunk (lambda (k value) (set! next k) (display value))))
(step (lambda () (count 1)))
(define first next)
(define (go)
  (await (user-input :prompt "go?"))
  (step (lambda () (next 0)))
  (step (lambda () (first 0)))
  (go))
(go)
"#;

#[test]
fn continuations_that_a_program_holds_move_with_their_frames() {
    let desk = desk_of(HELD, &[("'old", "'new")]);
    desk.check("run loop.scm", 4, "1");
    let taken = patched(&desk, "");
    assert!(taken["frames"][0]["kept"].is_null(), "{taken}");
    desk.check("answer loop x", 4, "(new 1)2(new 1)2");
    desk.check("answer loop x", 4, "(new 2)3(new 1)2");
    assert_eq!(replays(&desk, "loop"), "");
}

#[test]
fn a_loop_that_moves_in_a_later_round_has_the_snapshot_to_which_its_records_lead() {
    for text in [WORK, LOOP, FIBER] {
        let desk = desk_of(text, &[("(list ", "(list 'new ")]);
        desk.check("run loop.scm", 4, "");
        for _ in 0..2 {
            assert_eq!(desk.duet("answer loop x").code, 4);
        }
        patched(&desk, "");
        assert_eq!(replays(&desk, "loop"), "", "{text}");
        assert_eq!(desk.duet("answer loop x").code, 4);
        desk.check("export loop loop.duet", 0, "");
        let imported = desk.duet("import loop.duet --journal other.sqlite");
        assert_eq!(imported.code, 0, "{}", imported.errors);
    }
}

#[test]
fn a_frame_that_a_patch_has_left_behind_moves_with_what_a_later_one_gives() {
    let edits = [
        ("(define (work n)", "(define (work n more)"),
        ("(+ n 1)", "(+ n 1) more"),
        ("(display (list n a", "(display (list more n a"),
        ("(work 1)", "(work 1 0)"),
    ];
    let desk = desk_of(WORK, &edits);
    desk.check("run loop.scm", 4, "");
    assert!(patched(&desk, "")["frames"][0]["kept"].is_string());
    assert!(patched(&desk, "")["turn"].is_null());
    let moved = patched(&desk, "--let more=7");
    assert_eq!(moved["frames"][0]["kept"], Value::Null, "{moved}");
    desk.check("answer loop x", 4, "(7 1 10 x)");
    assert_eq!(replays(&desk, "loop"), "");
}
