//! Procedures that are defined anew at a prompt while something runs the earlier ones, by the real
//! command.
//!
//! INVARIANT: whoever calls a procedure by its name calls the newest; what has begun ends as it
//! began, and the person hears of it.
//! Texts that take the place of others are `patch.rs`'s. Read next: `support/desk.rs`.

use crate::support::desk::Desk;

const TYPED: &str = r#"(define (work n) (list 'old n (await (user-input :prompt "w?"))))
(spawn (lambda () (display (work 0)) (newline)))
(define (twice x) (* 2 x))
(define held (list twice))
"#;

#[test]
fn what_goes_on_in_the_code_before_is_told_and_listed() {
    let desk = Desk::new(&[]);
    assert_eq!(
        desk.feed("repl --name s", TYPED)
            .errors
            .matches("goes on in the code before")
            .count(),
        0
    );
    desk.check("stale s", 0, "nothing\n");
    let said = desk.feed("repl s", "(define (work n) (list 'new n))\n(work 1)\n");
    let told = "goes on in the code before: main: fiber";
    assert!(said.errors.contains(told), "{}", said.errors);
    assert!(said.errors.contains("waits in `work`"), "{}", said.errors);
    assert_eq!(said.output, "(new 1)\n");
    let stale = desk.duet("stale s").output;
    assert!(stale.contains("waits in `work`"), "{stale}");
    let said = desk.feed("repl s", "(define (twice x) (+ x x))\n((car held) 4)\n");
    assert!(said.errors.contains("1 closure of `twice`"), "{}", said.errors);
    desk.check("answer s x", 0, "(old 0 x)\n");
    let stale = desk.duet("stale s").output;
    assert!(!stale.contains("waits in"), "{stale}");
    assert!(stale.contains("1 closure of `twice`"), "{stale}");
    desk.replays("s");
}

#[test]
fn a_definition_that_says_the_same_leaves_nothing_behind() {
    let desk = Desk::new(&[]);
    desk.feed("repl --name s", TYPED);
    let said = desk.feed("repl s", "(define (twice x) (* 2 x))\n(define (fresh) 1)\n");
    assert!(!said.errors.contains("goes on"), "{}", said.errors);
    desk.check("stale s", 0, "nothing\n");
}

#[test]
fn a_file_takes_no_place_of_what_was_typed_and_the_refusal_says_what_does() {
    let desk = Desk::new(&[("new.scm", "(define (work n) n)\n")]);
    desk.feed("repl --name s", TYPED);
    let refused = desk.check("patch s new.scm", 1, "");
    for said in [
        "s is a run of the prompt",
        "`duet repl s` goes on with it",
        "`,load FILE`",
    ] {
        assert!(refused.errors.contains(said), "{said}: {}", refused.errors);
    }
}
