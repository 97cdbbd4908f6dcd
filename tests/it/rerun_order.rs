//! Running unchanged code again: each recorded input comes in the turn in which it came.
//!
//! INVARIANT: a file that tools append to counts the calls. Read next: `rerun.rs`.

use crate::support::desk::Desk;

/// A program whose call depends on whether another actor has begun before an answer came.
const RACE: &str = r#"(import (scheme base) (duet base) (duet dataspace))
(define (cell n) (assert! (record 'up n)))
(register-entity! 'cell cell)
(define seen #f)
(on-assert (up $n) (set! seen #t))
(spawn-entity! 'cell :config 1)
(define lucky (random 10))
(call-tool 'shell 'process/run
  (dictionary 'arguments (list "sh" "-c" (if seen "echo seen >> done.txt" "echo unseen >> done.txt"))))
(await (user-input :prompt "Go?"))
"#;

#[test]
fn unchanged_code_asks_the_same_whatever_waited_when_an_answer_came() {
    let desk = Desk::new(&[("race.scm", RACE)]);
    let done = || std::fs::read_to_string(desk.path("done.txt")).expect("it was called");
    assert_eq!(desk.duet("run race.scm --grant process/run").code, 4);
    let before = done();
    let said = desk.duet("resume race --with race.scm --dry-run");
    assert!(said.output.starts_with("identical: "), "{said:?}");
    assert_eq!(desk.duet("resume race --with race.scm").code, 4);
    assert_eq!(done(), before, "the call was made again");
}
