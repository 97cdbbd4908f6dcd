//! `duet why`: the expressions, variables and inputs that a value came from.
//!
//! Each test is a small program, with the right chain in words.
//! INVARIANT: each line of a chain stands in its order, and what is further in led to what is
//! above it.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

mod changed;
mod chosen;
mod reached;

use serde_json::Value;

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace))\n";

/// Runs a program as `p` and requires exactly these lines about where the values came from.
#[track_caller]
fn check(program: &str, question: &str, lines: &[&str]) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    let said = desk.duet("run p.scm");
    assert_eq!(said.code, 0, "{said:?}");
    let told = desk.duet(question);
    let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
    assert_eq!(found, lines, "{told:?}");
    desk
}

#[test]
fn a_sum_comes_from_its_variables() {
    let desk = check(
        "(define a (string-length \"abc\"))
(define b (* a 2))
(display (+ a b)) (newline)",
        "why --output 1 p",
        &[
            "  9 ← (+ a b) at p.scm:4",
            "    6 ← (* a 2) at p.scm:3",
            "    3 ← (string-length \"abc\") at p.scm:2",
        ],
    );
    let why: Value = serde_json::from_str(&desk.duet("why --output 1 p --json").output).unwrap();
    let steps = why["values"]["steps"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["by"]["line"], &steps[0]["sort"]),
        (3, &4.into(), &"computed".into())
    );
}

#[test]
fn the_field_of_a_fact_comes_from_its_expression() {
    check(
        "(define (price count) (* count 7))
(assert! (list 'report (price 6)))",
        "why [report,_] p",
        &[
            "  42 ← (* count 7) at p.scm:2",
            "    6 ← literal in (price 6) at p.scm:3",
        ],
    );
}

#[test]
fn an_element_comes_from_where_it_was_put_in() {
    check(
        "(define (twice x) (* x 2))
(define items (list (twice 1) (twice 2)))
(define cells (vector 0 0))
(vector-set! cells 1 (cadr items))
(display (vector-ref cells 1)) (newline)",
        "why --output 1 p",
        &[
            "  4 ← (vector-ref cells 1) at p.scm:6",
            "    4 ← (cadr items) at p.scm:5",
            "      4 ← (* x 2) at p.scm:2",
        ],
    );
}

#[test]
fn a_list_comes_from_the_expression_that_made_it() {
    for made in [
        "(list (more 3) x)",
        "(cons (more 3) (list x))",
        "`(,(more 3) ,x)",
        "(append (list (more 3)) (list x))",
        "(vector (more 3) x)",
    ] {
        let program = format!(
            "(define (more x) (+ x 1))
(define (pay x) {made})
(display (pay 100)) (newline)"
        );
        let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
        assert_eq!(desk.duet("run p.scm").code, 0);
        let told = desk.duet("why --output 1 p").output;
        let first = told.lines().find(|line| line.contains('←')).unwrap();
        // The sign of a template stands before its expression.
        let made = made.trim_start_matches('`');
        assert!(first.ends_with(&format!(" ← {made} at p.scm:3")), "{told}");
    }
}

#[test]
fn a_literal_of_a_template_is_no_part_of_the_call_before_it() {
    check(
        "(define (more x) (+ x 1))
(define (pay x) `(a ,@(list (more 3)) ,x))
(display (pay 100)) (newline)",
        "why --output 1 p",
        &[
            "  (a 4 100) ← (a ,@(list (more 3)) ,x) at p.scm:3",
            "    (4 100) ← ,@(list (more 3)) ,x) at p.scm:3",
            "      (100) ← ,x) at p.scm:3",
            "      (4) ← (list (more 3)) at p.scm:3",
            "        4 ← (+ x 1) at p.scm:2",
            "          3 ← literal in (more 3) at p.scm:3",
        ],
    );
}

#[test]
fn what_a_library_does_is_no_step() {
    check(
        "(define (half x) (/ x 2))
(display (map half (list 8))) (newline)",
        "why --output 1 p",
        &[
            "  (4) ← (map half (list 8)) at p.scm:3",
            "    4 ← (/ x 2) at p.scm:2",
            "      8 ← literal in (list 8) at p.scm:3",
        ],
    );
}

#[test]
fn a_variable_leads_back_to_the_turn_that_set_it() {
    let desk = check(
        "(define count (string-length \"abc\"))
(set! count (* count 4))
(sleep 1)
(sleep 1)
(display (+ count 1)) (newline)",
        "why --output 1 p",
        &[
            "  13 ← (+ count 1) at p.scm:6",
            "    12 ← (* count 4) at p.scm:3 in turn 1",
            "      3 ← (string-length \"abc\") at p.scm:2 in turn 1",
        ],
    );
    let why: Value = serde_json::from_str(&desk.duet("why --output 1 p --json").output).unwrap();
    let turns: Vec<_> = why["values"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["turn"].clone())
        .collect();
    assert_eq!(
        (&turns[1..], &why["values"]["since"]),
        (&[1.into(), 1.into()][..], &1.into())
    );
}

#[test]
fn a_waiting_procedure_keeps_the_origins_of_its_variables() {
    check(
        "(define (late size)
  (let ((area (* size size)))
    (sleep 1)
    (display (- area 1)) (newline)))
(late (string-length \"abc\"))",
        "why --output 1 p",
        &[
            "  8 ← (- area 1) at p.scm:5",
            "    9 ← (* size size) at p.scm:3 in turn 1",
            "      3 ← (string-length \"abc\") at p.scm:6 in turn 1",
        ],
    );
}

#[test]
fn a_field_leads_back_to_the_turn_that_wrote_it() {
    check(
        "(define cells (vector 0 0))
(define (fill! size) (vector-set! cells 1 (* size 5)))
(sleep 1)
(fill! (string-length \"ab\"))
(sleep 1)
(display (vector-ref cells 1)) (newline)",
        "why --output 1 p",
        &[
            "  10 ← (vector-ref cells 1) at p.scm:7",
            "    10 ← (* size 5) at p.scm:3 in turn 2",
            "      2 ← (string-length \"ab\") at p.scm:5 in turn 2",
        ],
    );
}

#[test]
fn a_fact_leads_back_to_the_actor_that_asserted_it() {
    check(
        "(define (packer size)
  (assert! (record 'packed (* size 10))))
(register-entity! 'packer packer)
(spawn-entity! 'packer :config 4)
(define fact (await (record 'packed)))
(display (+ 1 (record-field fact 0))) (newline)",
        "why --output 1 p",
        &[
            "  41 ← (+ 1 (record-field fact 0)) at p.scm:7",
            "    40 ← (record-field fact 0) at p.scm:7",
            "      #[packed 40] ← came in with the turn: (await (record 'packed)) at p.scm:6",
            "        <packed 40> ← passed on by (assert! (record 'packed (* size 10))) at p.scm:3 in turn 2",
            "          40 ← (* size 10) at p.scm:3 in turn 2",
            "            4 ← came in with turn 2",
            "              4 ← passed on by (spawn-entity! 'packer :config 4) at p.scm:5 in turn 1",
        ],
    );
}

#[test]
fn what_a_handler_received_leads_back_to_who_sent_it() {
    let program = "(define (packer size)
  (on-message (order $count) (assert! (record 'packed (+ count size)))) (assert! (record 'ready 1)))
(define (last-one) 5)
(register-entity! 'packer packer)
(spawn-entity! 'packer :config (* 2 3))
(await (record 'ready))
(message! (record 'order (* 10 4)))
(await (record 'packed))";
    let desk = check(
        program,
        "why packed p@-1",
        &[
            "  46 ← (+ count size) at p.scm:3",
            "    <order 40> ← passed on by (message! (record 'order (* 10 4))) at p.scm:8 in turn 3",
            "      40 ← (* 10 4) at p.scm:8 in turn 3",
            "    6 ← came in with turn 2",
            "      6 ← passed on by (spawn-entity! 'packer :config (* 2 3)) at p.scm:6 in turn 1",
            "        6 ← (* 2 3) at p.scm:6 in turn 1",
        ],
    );
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn the_values_of_strands_lead_back_to_their_expressions() {
    check(
        "(import (duet agents))
(define winner (race (lambda () (sleep 30) 1) (lambda () (sleep 1) (* 7 6))))
(display (+ winner 1)) (newline)",
        "why --output 1 p",
        &[
            "  43 ← (+ winner 1) at p.scm:4",
            "    42 ← (race (lambda () (sleep 30) 1) (lambda () (sleep 1) (* 7 6))) at p.scm:3",
            "      42 ← (* 7 6) at p.scm:3 in turn 2",
        ],
    );
}

#[test]
fn a_strand_leads_back_to_what_it_captured() {
    check(
        "(import (duet agents))
(define count 1)
(define (scale! factor)
  (sleep 1)
  (set! count (* count factor)))
(all-of (lambda () (scale! 100)))
(display (+ count 1)) (newline)",
        "why --output 1 p",
        &[
            "  101 ← (+ count 1) at p.scm:8",
            "    100 ← (* count factor) at p.scm:6 in turn 2",
            "      100 ← literal in (scale! 100) at p.scm:7 in turn 1",
            "      1 ← literal in (define count 1) at p.scm:3 in turn 1",
        ],
    );
}

#[test]
fn what_a_failed_turn_wrote_is_no_step() {
    let desk = Desk::new(&[]);
    let typed = "(define count (* 2 3))\n(begin (set! count 100) (car 5))\n(display (+ count 1))\n";
    let said = desk.feed("repl", typed);
    assert_eq!(said.output, "7", "{said:?}");
    let told = desk.duet("why --output 1 repl");
    let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
    assert_eq!(
        found,
        [
            "  7 ← (+ count 1) at input 4:1",
            "    6 ← (* 2 3) at input 2:1 in turn 2"
        ],
        "{told:?}"
    );
}

#[test]
fn an_answer_leads_back_to_the_arguments_of_its_call() {
    let desk = reader();
    let told = desk.duet("why --output 1 p");
    let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
    assert_eq!(
        found,
        [
            "  4 ← (string-length (dictionary-ref text 'content)) at p.scm:8",
            "    \"four\" ← (dictionary-ref text 'content) at p.scm:8",
            "      {next #f content \"four\" size_bytes 4} ← came in with turn 2: (read-it \".txt\") at p.scm:6",
            "        \"workspace/read\" ← literal in (call-tool 'reader \"workspace/read\" (dictionary 'path name)) \
             at p.scm:5 in turn 1",
            "        reader ← literal in (call-tool 'reader \"workspace/read\" (dictionary 'path name)) \
             at p.scm:5 in turn 1",
            "        \"note.txt\" ← (string-append folder extension) at p.scm:4 in turn 1",
            "          \".txt\" ← literal in (read-it \".txt\") at p.scm:6 in turn 1",
            "          \"note\" ← (string-append \"no\" \"te\") at p.scm:2 in turn 1",
        ],
        "{told:?}"
    );
}

#[test]
fn an_argument_of_a_call_is_explained() {
    let desk = reader();
    let told = desk.duet("why --call 1 --argument path p@1");
    assert_eq!(
        told.output,
        "workspace/read: path = \"note.txt\"
  by (read-it \".txt\") at p.scm:6
  \"note.txt\" ← (string-append folder extension) at p.scm:4
    \".txt\" ← literal in (read-it \".txt\") at p.scm:6
    \"note\" ← (string-append \"no\" \"te\") at p.scm:2
p@1 main     call workspace/read note.txt
  start <boot>
"
    );
    let why: Value = serde_json::from_str(&desk.duet("why --call 1 --argument path p@1 --json").output).unwrap();
    assert_eq!(
        (&why["call"]["tool"], &why["call"]["argument"]),
        (&"workspace/read".into(), &"path".into())
    );
    for (question, refusal) in [
        ("why --call 2 p@1", "turn 1 made 1 call: 1 workspace/read"),
        ("why --call 1 p@2", "turn 2 made no calls"),
        (
            "why --call 1 --argument host p@1",
            "call 1 of turn 1 has no argument `host`: its arguments are path",
        ),
    ] {
        let said = desk.duet(question);
        assert!(said.code == 2 && said.errors.contains(refusal), "{question}: {said:?}");
    }
}

/// A run that has read a file.
fn reader() -> Desk {
    let program = "(define folder (string-append \"no\" \"te\"))
(define (read-it extension)
  (let ((name (string-append folder extension)))
    (call-tool 'reader \"workspace/read\" (dictionary 'path name))))
(define text (read-it \".txt\"))
(sleep 1)
(display (string-length (dictionary-ref text 'content))) (newline)\n";
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}")), ("note.txt", "four")]);
    let said = desk.duet("run p.scm --grant workspace/read");
    assert_eq!((said.code, said.output.as_str()), (0, "4\n"), "{said:?}");
    desk
}

#[test]
fn a_variable_of_a_failed_or_waiting_procedure_is_explained() {
    let failing = "(define (price item)
  (let ((unit (* 3 4)))
    (sleep 1)
    (/ unit (- (length item) 2))))
(display \"x\") (newline)
(display (price (list 1 2)))\n";
    let waiting = "(define (wait-for limit)
  (let ((twice (* limit 2)))
    (await (signal 'never))
    (display twice)))
(sleep 1)
(wait-for (string-length \"abc\"))\n";
    let desk = Desk::new(&[
        ("failing.scm", &format!("{IMPORTS}{failing}")),
        ("waiting.scm", &format!("{IMPORTS}{waiting}")),
    ]);
    assert_eq!(desk.duet("run failing.scm").code, 1);
    let told = desk.duet("why --variable unit failing");
    let start = "unit = 12 in `price`\n  12 ← (* 3 4) at failing.scm:3 in turn 1\n";
    assert!(told.output.starts_with(start), "{told:?}");
    assert_eq!(desk.duet("run waiting.scm").code, 4);
    let told = desk.duet("why --variable twice waiting");
    let start = "twice = 6 in `wait-for`\n  6 ← (* limit 2) at waiting.scm:3\n    \
                 3 ← (string-length \"abc\") at waiting.scm:7\n";
    assert!(told.output.starts_with(start), "{told:?}");
    for (question, refusal) in [
        (
            "why --variable size waiting",
            "has a variable `size`: the variables are",
        ),
        ("why --variable size --frame 9 waiting", "there is no frame 9"),
        ("why --variable size waiting@0", "so there is no variable `size`"),
    ] {
        let said = desk.duet(question);
        assert!(said.code == 2 && said.errors.contains(refusal), "{question}: {said:?}");
    }
}

/// Runs a program that asserts facts, and requires these lines about where the values of each came
/// from: a line is the text between two `|`.
#[track_caller]
fn check_facts(program: &str, facts: &[(&str, &str)]) {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    let said = desk.duet("run p.scm");
    assert_eq!(said.code, 0, "{said:?}");
    for (fact, lines) in facts {
        let told = desk.duet(&format!("why {fact} p"));
        let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
        let found: Vec<&str> = found.iter().map(|line| line.trim()).collect();
        assert_eq!(found.join("|"), *lines, "{fact}: {told:?}");
    }
}

#[test]
fn what_a_primitive_put_into_an_object_comes_from_there() {
    check_facts(
        "(define (seven) (* 7 1))
(define v (vector 1 2 3))
(vector-set! v 1 77)
(vector-fill! v 8)
(assert! (record 'fill (vector-ref v 1)))
(vector-copy! v 0 (vector 5 (seven)) 1)
(assert! (record 'copy (vector-ref v 0)))
(define l (list 1 2 3))
(list-set! l 1 (seven))
(assert! (record 'list (list-ref l 1)))
(vector-set! v 2 4)
(apply vector-set! (list v 2 (seven)))
(assert! (record 'apply (vector-ref v 2)))
(define b (vector 3 4))
(vector-set! b 0 9)
(for-each vector-set! (list b) (list 0) (list (seven)))
(assert! (record 'passed (vector-ref b 0)))
(define d (dictionary 'a 1 'b 2))
(dictionary-set! d 'b 3)
(dictionary-set! d 'b (seven))
(assert! (record 'dictionary (dictionary-ref d 'b)))",
        &[
            (
                "fill",
                "8 ← (vector-ref v 1) at p.scm:6|8 ← literal in (vector-fill! v 8) at p.scm:5",
            ),
            ("copy", "7 ← (vector-ref v 0) at p.scm:8|7 ← (* 7 1) at p.scm:2"),
            ("list", "7 ← (list-ref l 1) at p.scm:11|7 ← (* 7 1) at p.scm:2"),
            ("apply", "7 ← (vector-ref v 2) at p.scm:14|7 ← (* 7 1) at p.scm:2"),
            ("passed", "7 ← (vector-ref b 0) at p.scm:18|7 ← (* 7 1) at p.scm:2"),
            (
                "dictionary",
                "7 ← (dictionary-ref d 'b) at p.scm:22|7 ← (* 7 1) at p.scm:2",
            ),
        ],
    );
}

#[test]
fn a_character_or_byte_comes_from_where_it_was_put_in() {
    check_facts(
        "(define (letter) (integer->char 120))
(define s (make-string 3 #\\a))
(string-fill! s (letter) 1)
(assert! (record 'filled (char->integer (string-ref s 2))))
(assert! (record 'kept (char->integer (string-ref s 0))))
(assert! (record 'whole s))
(define bytes (bytevector 1 2 3))
(bytevector-u8-set! bytes 0 (* 3 3))
(define other (bytevector 4 5 6 7))
(bytevector-copy! other 1 bytes)
(assert! (record 'copied (bytevector-u8-ref other 1)))",
        &[
            (
                "filled",
                "120 ← (char->integer (string-ref s 2)) at p.scm:5|#\\x ← (string-ref s 2) at p.scm:5\
                 |#\\x ← (integer->char 120) at p.scm:2",
            ),
            (
                "kept",
                "97 ← (char->integer (string-ref s 0)) at p.scm:6|#\\a ← (string-ref s 0) at p.scm:6\
                 |\"axx\" ← (make-string 3 #\\a) at p.scm:3",
            ),
            (
                "whole",
                "#\\x ← (integer->char 120) at p.scm:2|\"axx\" ← (make-string 3 #\\a) at p.scm:3",
            ),
            (
                "copied",
                "9 ← (bytevector-u8-ref other 1) at p.scm:12|9 ← (* 3 3) at p.scm:9",
            ),
        ],
    );
}

#[test]
fn equal_values_keep_their_own_origins() {
    check_facts(
        "(define l (list (+ 2 3) (* 5 1)))
(define v (vector (+ 2 3) (* 5 1)))
(define d (dictionary 'a (+ 2 3) 'b (* 5 1)))
(define-values (x y) (values (+ 2 3) (* 5 1)))
(define last-of (lambda (items) (list-ref items 1)))
(assert! (record 'list (last-of l)))
(assert! (record 'dictionary (dictionary-ref d 'b)))
(assert! (record 'reverse (car (reverse l))))
(assert! (record 'to-vector (vector-ref (list->vector l) 1)))
(assert! (record 'to-list (last-of (vector->list v))))
(assert! (record 'copy (last-of (list-copy l))))
(assert! (record 'values y))
(assert! (record 'in-dictionary (last-of (dictionary-values d))))
(assert! (record 'appended (list-ref (append l v) 1)))
(assert! (record 'remainder (call-with-values (lambda () (floor/ (- 6 5) (car l))) (lambda (q r) r))))",
        &[
            ("list", "5 ← (list-ref items 1) at p.scm:6|5 ← (* 5 1) at p.scm:2"),
            (
                "dictionary",
                "5 ← (dictionary-ref d 'b) at p.scm:8|5 ← (* 5 1) at p.scm:4",
            ),
            ("reverse", "5 ← (car (reverse l)) at p.scm:9|5 ← (* 5 1) at p.scm:2"),
            (
                "to-vector",
                "5 ← (vector-ref (list->vector l) 1) at p.scm:10|5 ← (* 5 1) at p.scm:2",
            ),
            ("to-list", "5 ← (list-ref items 1) at p.scm:6|5 ← (* 5 1) at p.scm:3"),
            ("copy", "5 ← (list-ref items 1) at p.scm:6|5 ← (* 5 1) at p.scm:2"),
            ("values", "5 ← (* 5 1) at p.scm:5"),
            (
                "in-dictionary",
                "5 ← (list-ref items 1) at p.scm:6|5 ← (* 5 1) at p.scm:4",
            ),
            (
                "appended",
                "5 ← (list-ref (append l v) 1) at p.scm:15|5 ← (* 5 1) at p.scm:2",
            ),
            (
                "remainder",
                "1 ← (call-with-values (lambda () (floor/ (- 6 5) (car l))) (lambda (q r) r)) at p.scm:16\
                 |#<values 0 1> ← (floor/ (- 6 5) (car l)) at p.scm:16|1 ← (- 6 5) at p.scm:16\
                 |5 ← (car l) at p.scm:16|5 ← (+ 2 3) at p.scm:2",
            ),
        ],
    );
}

#[test]
fn duet_says_where_it_stopped() {
    let desk = Desk::new(&[(
        "p.scm",
        &format!(
            "{IMPORTS}(define count (string-length \"abc\"))
(define (spin n) (if (> n 0) (spin (- n 1)) #t))
(do ((i 0 (+ i 1))) ((= i 12)) (sleep 1) (spin 600000))
(display count) (newline)\n"
        ),
    )]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let told = desk.duet("why --output 1 p");
    assert!(told.output.contains("3 ← was there before turn"), "{told:?}");
    assert!(
        told.errors.contains("and stopped after ten million instructions"),
        "{told:?}"
    );
}

#[test]
fn only_as_many_turns_as_wanted_are_shown() {
    let desk = check(
        "(sleep 1)
(define a (string-length \"abc\"))
(sleep 1)
(display (+ a 4))
(newline)",
        "why --output 1 p --limit 1",
        &["  7 ← (+ a 4) at p.scm:5"],
    );
    let turns = |question: &str| -> Vec<u64> {
        let why: Value = serde_json::from_str(&desk.duet(question).output).unwrap();
        let chain = why["chain"].as_array().unwrap().iter();
        chain.map(|link| link["turn"].as_u64().unwrap()).collect()
    };
    assert_eq!(turns("why --output 1 p --json"), [3, 2, 1]);
    assert_eq!(turns("why --output 1 p --limit 2 --json"), [3, 2]);
    let told = desk.duet("why --output 1 p --limit 2");
    assert!(told.errors.contains("older turns are left out"), "{told:?}");
    assert_eq!(desk.duet("why --output 1 p --limit 2 --all").code, 2);
}
