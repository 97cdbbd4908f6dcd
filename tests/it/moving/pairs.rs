//! More pairs of texts, before and after, with what becomes of the frame that waits: those where
//! what is around the wait, or after it, changes its shape.
//!
//! INVARIANT: the outcome of a pair follows from its two texts, and was written down before it ran.
//! Read next: `../moving.rs`.

use super::{Case, FIBER, LOOP, SUM, TWO, WORK};

/// A wait in a binding beside another.
const BOUND: &str = r#"(define (work n)
  (let ((x (await (user-input :prompt "x?"))) (y n))
    (display (list x y))
    (work (+ n 1))))
(work 1)
"#;

/// Two small procedures, and a loop that calls them after its wait.
const SMALL: &str = r#"(define (one) 1)
(define (two) 2)
(define (work n)
  (await (user-input :prompt "go?"))
  (display (list n (one) (two)))
  (work (+ n 1)))
(work 1)
"#;

/// A loop with a parameter that it does not use.
const UNUSED: &str = r#"(define (work n unused)
  (await (user-input :prompt "x?"))
  (display n)
  (work (+ n 1) 0))
(work 1 0)
"#;

const NAME: &str = "(define name (await (user-input :prompt \"name?\")))";
const SHOWN: &str = "(display (list n a name))";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a constant after the wait",
        text: WORK,
        edits: &[("(+ n 1)", "(+ n 5)")],
        kept: None,
        shown: ["(1 10 1)", "(6 60 2)"],
    },
    Case {
        name: "a binding around what follows",
        text: WORK,
        edits: &[(SHOWN, "(let ((all (list a n name))) (display all))")],
        kept: None,
        shown: ["(10 1 1)", "(20 2 2)"],
    },
    Case {
        name: "output before the wait",
        text: WORK,
        edits: &[("(define name", "(for-each display '(7 8))\n (define name")],
        kept: None,
        shown: ["(1 10 1)78", "(2 20 2)78"],
    },
    Case {
        name: "a comparison of what the wait gives",
        text: WORK,
        edits: &[(SHOWN, "(if (equal? name \"1\") (display 'yes) (display (list a 'no)))")],
        kept: None,
        shown: ["yes", "(20 no)"],
    },
    Case {
        name: "another wait after it",
        text: WORK,
        edits: &[(
            SHOWN,
            "(display (list 'new n a name)) (await (user-input :prompt \"sure?\"))",
        )],
        kept: None,
        shown: ["(new 1 10 1)", ""],
    },
    Case {
        name: "an end of the loop",
        text: WORK,
        edits: &[("(work (+ n 1))", "(if (< n 2) (work (+ n 1)) (display 'end))")],
        kept: None,
        shown: ["(1 10 1)", "(2 20 2)end"],
    },
    Case {
        name: "a variable that goes",
        text: WORK,
        edits: &[("((a (* n 10)))", "()"), ("(list n a name)", "(list n name)")],
        kept: None,
        shown: ["(1 1)", "(2 2)"],
    },
    Case {
        name: "another text of the question",
        text: WORK,
        edits: &[("\"name?\"", "\"who?\""), ("(list n", "(list 'new n")],
        kept: None,
        shown: ["(new 1 10 1)", "(new 2 20 2)"],
    },
    Case {
        name: "a new procedure after the wait",
        text: WORK,
        edits: &[
            ("(define (work n)", "(define (shout x) (list 'hey x))\n(define (work n)"),
            ("(list n a name)", "(shout name)"),
        ],
        kept: None,
        shown: ["(hey 1)", "(hey 2)"],
    },
    Case {
        name: "small procedures that swap, after the wait",
        text: SMALL,
        edits: &[
            (
                "(define (one) 1)\n(define (two) 2)",
                "(define (two) 2)\n(define (one) 1)",
            ),
            ("(one) (two)", "(two) (one)"),
        ],
        kept: None,
        shown: ["(1 2 1)", "(2 2 1)"],
    },
    Case {
        name: "a small procedure that is used after the wait",
        text: SMALL,
        edits: &[
            ("(define (two) 2)", "(define (two) (* 2 (one)))\n(define (three) 3)"),
            ("(one) (two)", "(two) (three)"),
        ],
        kept: None,
        shown: ["(1 2 3)", "(2 2 3)"],
    },
    Case {
        name: "a wait in a binding",
        text: BOUND,
        edits: &[("(list x y)", "(list 'new y x)")],
        kept: None,
        shown: ["(new 1 1)", "(new 2 2)"],
    },
    Case {
        name: "a binding before the wait that is used after it",
        text: BOUND,
        edits: &[("(let ((x", "(let* ((z (* n 2)) (x"), ("(list x y)", "(list x y z)")],
        kept: Some("the new text needs `z`"),
        shown: ["(1 1)", "(2 2)"],
    },
    Case {
        name: "a binding after the wait",
        text: BOUND,
        edits: &[("(y n))", "(y (* n 10)))")],
        kept: None,
        shown: ["(1 10)", "(2 20)"],
    },
    Case {
        name: "a choice around what follows",
        text: WORK,
        edits: &[(SHOWN, "(case n ((1) (display 'one)) (else (display (list 'more a))))")],
        kept: None,
        shown: ["one", "(more 20)"],
    },
    Case {
        name: "a handler around what follows",
        text: WORK,
        edits: &[(SHOWN, "(guard (e (#t (display (list 'caught n)))) (raise 'x))")],
        kept: None,
        shown: ["(caught 1)", "(caught 2)"],
    },
    Case {
        name: "a handler around the wait, which is in a procedure of its own then",
        text: WORK,
        edits: &[(
            NAME,
            "(define name (guard (e (#t 'failed)) (await (user-input :prompt \"name?\"))))",
        )],
        kept: Some("part of another procedure in the new text"),
        shown: ["(1 10 1)", "(2 20 2)"],
    },
    Case {
        name: "a procedure around what follows",
        text: WORK,
        edits: &[(SHOWN, "(for-each (lambda (x) (display (list x a))) (list n name))")],
        kept: None,
        shown: ["(1 10)(1 10)", "(2 20)(2 20)"],
    },
    Case {
        name: "a choice between the wait and something else",
        text: WORK,
        edits: &[(NAME, "(define name (or (await (user-input :prompt \"name?\")) 'none))")],
        kept: None,
        shown: ["(1 10 1)", "(2 20 2)"],
    },
    Case {
        name: "more parameters than before, which nobody reads",
        text: WORK,
        edits: &[
            ("(define (work n)", "(define (work n . more)"),
            ("(list n", "(list 'new n"),
        ],
        kept: None,
        shown: ["(new 1 10 1)", "(new 2 20 2)"],
    },
    Case {
        name: "a parameter that goes",
        text: UNUSED,
        edits: &[
            ("(work n unused)", "(work n)"),
            ("(work (+ n 1) 0)", "(work (+ n 1))"),
            ("(work 1 0)", "(work 1)"),
        ],
        kept: None,
        shown: ["1", "2"],
    },
    Case {
        name: "a loop that counts down",
        text: LOOP,
        edits: &[("(loop (+ k 1))", "(loop (- k 1))")],
        kept: None,
        shown: ["(old 0)", "(old -1)"],
    },
    Case {
        name: "a loop with one more variable",
        text: LOOP,
        edits: &[
            ("((k 0))", "((k 0) (sum 0))"),
            ("(loop (+ k 1))", "(loop (+ k 1) (+ sum k))"),
            ("(say k)", "(say (list k sum))"),
        ],
        kept: Some("the new text needs `sum`"),
        shown: ["(old 0)", "(old 1)"],
    },
    Case {
        name: "a renamed loop in a closure of a fiber",
        text: FIBER,
        edits: &[("let loop", "let next"), ("(loop (+ k 1))", "(next (+ k 10))")],
        kept: None,
        shown: ["(Q 0)", "(Q 10)"],
    },
    Case {
        name: "another operator around the operands",
        text: SUM,
        edits: &[("(+ (f n)", "(- (f n)")],
        kept: None,
        shown: ["0f", "0f"],
    },
    Case {
        name: "one of two waits that goes, which is not the one that waits",
        text: TWO,
        edits: &[("  (display (ask \"b\"))\n", "")],
        kept: None,
        shown: ["a1", "a2"],
    },
];
