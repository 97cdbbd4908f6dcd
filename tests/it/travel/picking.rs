//! Recorded inputs on another branch: which question each answer goes to, and what comes in which
//! order.
//!
//! INVARIANT: no answer goes to another question while the one that it answered is open.
//! Read next: `../travel.rs`.

use crate::support::desk::{CommandOutput, Desk};

#[track_caller]
fn says(said: &CommandOutput, expected: &str) {
    assert!(said.errors.contains(expected), "{}{}", said.output, said.errors);
}

const TWINS: &str = r#"(import (duet base) (duet dataspace) (duet agents))
(write (par-map (lambda (n) (list n (await (user-input :prompt "same")))) '(1 2)))
"#;

#[test]
fn an_answer_goes_to_the_same_one_of_equal_questions() {
    let desk = Desk::new(&[("a.scm", TWINS)]);
    desk.check("run a.scm --name r", 4, "");
    desk.check("fork r f", 0, "");
    desk.check("answer r 1 B", 4, "");
    desk.check("pick r@2 --onto f", 4, "");
    let both = "((1 \"A\") (2 \"B\"))";
    desk.check("answer r/main A", 0, both);
    desk.check("answer r/f A", 0, both);
    desk.replays("r/f");
    // The same from the beginning, where the questions are asked anew.
    desk.check("fork r@0 whole", 0, "");
    desk.check("pick r/main@2..3 --onto whole", 0, both);
    desk.replays("r/whole");
}

const CLERKS: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (clerk name)
  (write (list name (await (user-input :prompt "how many?"))))
  (newline))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config "ada")
(spawn-entity! 'clerk :config "bob")
(await (user-input :prompt "end"))
"#;

#[test]
fn an_answer_goes_to_the_actor_that_asked() {
    let desk = Desk::new(&[("a.scm", CLERKS)]);
    desk.check("run a.scm --name r", 4, "");
    desk.check("fork r f", 0, "");
    desk.check("fork r@0 g", 0, "");
    desk.check("answer r/main 2 7", 4, "(\"bob\" \"7\")\n");
    let turn = desk.report("log r --kind answered")[0]["turn"].clone();
    desk.check(&format!("pick r@{turn} --onto f"), 4, "(\"bob\" \"7\")\n");
    desk.check(&format!("pick r@{turn} --onto g"), 4, "(\"bob\" \"7\")\n");
    // Bob has his answer, and it is none for ada.
    let said = desk.check(&format!("pick r@{turn} --onto f"), 4, "");
    says(&said, &format!("nothing asked for the input of r@{turn}"));
}

#[test]
fn results_of_equal_calls_come_to_the_calls_that_had_them() {
    // Whichever call is first to run ends last.
    let text = r#"(import (duet base) (duet dataspace) (duet agents))
(await (user-input :prompt "begin?"))
(define line "if mkdir lock 2>/dev/null; then sleep 0.5; fi; date +%N")
(define (call n)
  (call-tool 'w "process/run" (dictionary 'arguments (list "sh" "-c" line))))
(write (par-map (lambda (n) (list n (dictionary-ref (call n) 'stdout))) '(1 2)))
(await (user-input :prompt "end"))
"#;
    let desk = Desk::new(&[("a.scm", text)]);
    desk.check("run a.scm --name r --grant process/run", 4, "");
    let there = desk.duet("answer r begin");
    desk.check("fork r@1 f", 0, "");
    let said = desk.check("pick r/main@2..4 --onto f", 4, &there.output);
    says(&said, "r/f received 3 of 3 inputs of r");
    desk.replays("r/f");
    assert_eq!(desk.report("diff r/main r/f")["first"], serde_json::Value::Null);
}

#[test]
fn equal_questions_of_two_definitions_are_told_apart() {
    let text = r#"(import (duet base) (duet dataspace))
(define (show . x) (write x) (newline))
(define (first) (show 'first (await (user-input :prompt "n?"))))
(define (second) (show 'second (await (user-input :prompt "n?"))))
(if (string=? (await (user-input :prompt "both?")) "yes") (first))
(second)
(await (user-input :prompt "end"))
"#;
    let desk = Desk::new(&[("a.scm", text)]);
    desk.check("run a.scm --name r", 4, "");
    desk.check("answer r yes", 4, "");
    desk.check("answer r 1", 4, "(first \"1\")\n");
    desk.check("answer r 2", 4, "(second \"2\")\n");
    desk.check("amend r/main@2 no --branch f", 4, "");
    let said = desk.check("pick r/main@3..4 --onto f", 4, "(second \"2\")\n");
    says(&said, "nothing asked for the input of r@3");
}

#[test]
fn a_question_asked_elsewhere_is_answered_and_named() {
    let text = r#"(import (duet base) (duet dataspace))
(define (show . x) (write x) (newline))
(define (next) (await (user-input :prompt "next?")))
(let loop ((n 0)) (show n (next)) (loop (+ n 1)))
"#;
    let desk = Desk::new(&[("a.scm", text)]);
    desk.check("run a.scm --name r", 4, "");
    desk.check("answer r a", 4, "(0 \"a\")\n");
    desk.check("answer r b", 4, "(1 \"b\")\n");
    // The first two answers again, to the third and the fourth question.
    let said = desk.check("pick r@2..3 --onto main", 4, "(2 \"a\")\n(3 \"b\")\n");
    says(&said, "r received 2 of 2 inputs of r");
    says(
        &said,
        "the input of r@2 went to another request with the same words, by main\n",
    );
}

const LISTENER: &str = r#"(import (duet base) (duet dataspace))
(define (show . x) (display x) (newline))
(define (ask q) (await (user-input :prompt q)))
(on-assert (flag $x) (show 'flag x))
(on-message (note $x) (show 'note x))
(define kind (ask "kind?"))
(show (ask (string-append "about " kind)))
(show (ask "end"))
"#;

#[test]
fn what_nobody_asked_for_passes_an_answer_that_nothing_asks_for() {
    let desk = Desk::new(&[("a.scm", LISTENER)]);
    desk.check("run a.scm --name r", 4, "");
    desk.check("answer r tea", 4, "");
    desk.check("answer r green", 4, "(green)\n");
    desk.check("signal r flag 1", 4, "(flag 1)\n");
    desk.check("message r \"<note 2>\"", 4, "(note 2)\n");
    desk.check("amend r/main@2 cup --branch f", 4, "");
    let last = desk.report("log r/main")[0]["turn"].clone();
    let said = desk.check(&format!("pick r/main@3..{last} --onto f"), 4, "(flag 1)\n(note 2)\n");
    says(&said, "r/f received 2 of 3 inputs of r");
    says(&said, "nothing asked for the input of r@3");
    assert_eq!(said.errors.matches("nothing asked for").count(), 1, "{}", said.errors);
    desk.replays("r/f");
}

#[test]
fn what_nobody_asked_for_waits_for_the_call_before_it() {
    let text = r#"(import (duet base) (duet dataspace))
(define (show . x) (display x) (newline))
(define (ask q) (await (user-input :prompt q)))
(on-assert (flag $x) (show 'flag x))
(define kind (ask "kind?"))
(ask "go?")
(call-tool 'w 'process/run
  (dictionary 'arguments (list "sh" "-c" (string-append "sleep 0.3; echo " kind))))
(show (ask "how many?"))
(ask "end")
"#;
    let desk = Desk::new(&[("a.scm", text)]);
    desk.check("run a.scm --name r --grant process/run", 4, "");
    desk.check("answer r tea", 4, "");
    desk.check("answer r yes", 4, "");
    desk.check("answer r 5", 4, "(5)\n");
    desk.check("signal r flag 1", 4, "(flag 1)\n");
    // The branch calls with other words, so its call is made while the rest waits.
    desk.check("amend r/main@2 cup --branch f", 4, "");
    let said = desk.check("pick r/main@3..6 --onto f", 4, "(5)\n(flag 1)\n");
    says(&said, "r/f received 3 of 4 inputs of r");
    says(&said, "nothing asked for the input of r@4");
    desk.replays("r/f");
}
