//! Runs that are mended on their way: after many turns, and after the failure of whoever waited, by
//! the real command.
//!
//! INVARIANT: a text that is refused changes nothing; one that is accepted leaves what the run has
//! computed and what it waits for as they are.
//! `DUET_LONG_RUNS=1` takes 20,000 turns. Which code moves is `patch.rs`'s. Read next: `patch.rs`.

use crate::moving::edited;
use crate::support::desk::Desk;

/// The turns before the run rests.
fn turns() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    let is_long = std::env::var_os("DUET_LONG_RUNS").is_some();
    if is_long { 20_000 } else { 2_000 }
}

/// A program that counts turns, with two computations that are parked all the time.
fn counting(turns: u64) -> String {
    format!(
        "(define total 0)
(define (count) (set! total (+ total 1)))
(spawn (lambda () (await (signal 'a)) (display (list 'first total)) (newline)))
(spawn (lambda () (await (signal 'b)) (display (list 'second total)) (newline)))
(define (work)
  (await (user-input :prompt \"more?\"))
  (count)
  (display (list 'old total))
  (newline)
  (work))
(let next ((n 0)) (if (< n {turns}) (begin (count) (yield) (next (+ n 1)))))
(work)
"
    )
}

#[test]
fn after_many_turns_a_text_that_fails_is_refused_and_two_good_ones_are_taken_on() {
    let (turns, text) = (turns(), counting(turns()));
    let broken = format!("(define broken (car 1))\n{text}");
    let desk = Desk::new(&[
        ("p.scm", &text),
        ("broken.scm", &broken),
        ("good.scm", &edited(&text, &[("'old", "'new"), ("'first", "'one")])),
        (
            "better.scm",
            &edited(&text, &[("'old", "'newer"), ("'first", "'one"), ("'second", "'two")]),
        ),
    ]);
    desk.check("run p.scm", 4, "");
    let state = |desk: &Desk| {
        let lines = ["branches p --json", "facts p", "waits p", "frames p", "stats p"];
        lines.map(|line| desk.duet(line).output)
    };
    let before = state(&desk);
    let refused = desk.duet("patch p broken.scm");
    assert_eq!(refused.code, 1, "{}", refused.output);
    assert!(refused.errors.contains("nothing has changed"), "{}", refused.errors);
    assert_eq!(state(&desk), before);
    for text in ["good.scm", "better.scm"] {
        let said = desk.duet(&format!("patch p {text} --require-moved"));
        assert_eq!(said.code, 0, "{text}: {}", said.errors);
    }
    desk.check("signal p a", 4, &format!("(one {turns})\n"));
    desk.check("answer p yes", 4, &format!("(newer {})\n", turns + 1));
    desk.check("signal p b", 4, &format!("(two {})\n", turns + 1));
    desk.check("answer p yes", 4, &format!("(newer {})\n", turns + 2));
    desk.replays("p");
    let proved = desk.duet("fsck --deep");
    assert_eq!(proved.code, 0, "{}{}", proved.output, proved.errors);
}

#[test]
fn a_child_that_ended_after_its_parent_failed_gives_its_value_to_the_parent_that_goes_back() {
    let text = "(define (child name)
  (define answer (await (user-input :prompt (string-append name \"?\") :tag \"child\")))
  (message! (record 'result name answer)))
(register-entity! 'child child)
(on-message (result $name $answer) (display (list 'got name answer)) (newline))
(spawn-entity! 'child :config \"kid\")
(define word (await (user-input :prompt \"parent?\" :tag \"parent\")))
(if (equal? word \"boom\") (car '()))
(display (list 'parent word))
(newline)
(await (signal 'end))
";
    let desk = Desk::new(&[("p.scm", text)]);
    desk.check("run p.scm", 4, "");
    let before = desk.report("branches p")[0]["turn"].as_u64();
    let failed = desk.duet("answer p parent boom");
    assert_eq!(failed.code, 1, "{}", failed.errors);
    let turn = before.unwrap_or_else(|| panic!("{}", desk.duet("branches p --json").output));
    assert_eq!(desk.duet(&format!("goto p@{turn}")).code, 0);
    desk.check("answer p child hello", 4, "(got kid hello)\n");
    desk.check("answer p parent calm", 4, "(parent calm)\n");
    desk.replays("p");
}
