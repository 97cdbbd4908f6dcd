//! `duet frames`: the procedures and variables of computations that wait or have failed.
//!
//! INVARIANT: each variable shown is in scope at the place in the text, with the value that it had
//! there.
//! It does not test backtraces; `failures.rs` does.
//! Read next: `support/desk.rs`.

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (scheme case-lambda) (duet base) (duet control)
 (duet dataspace) (duet agents))\n";

/// Runs a program, and requires of the frames of its newest turn.
#[track_caller]
fn check(program: &str, code: i32, expected: &str) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    let said = desk.feed("run p.scm", "");
    assert_eq!(said.code, code, "{said:?}");
    desk.check("frames p", 0, expected);
    desk
}

#[test]
fn a_failure_shows_the_variables_of_the_procedures_that_were_active() {
    check(
        "(define (area shape)
  (let* ((kind (car shape)) (sizes (cdr shape)) (limit 10))
    (if (eq? kind 'square)
        (* (car sizes) (car sizes))
        (let ((x (vector-ref (vector 1 2 limit) (length sizes)))) (+ limit (/ x 0))))))
(define (total shapes)
  (let loop ((rest shapes) (sum 0) (n 0))
    (if (null? rest) sum
        (loop (cdr rest) (+ sum (area (car rest))) (+ n 1)))))
(display \"begun\")
(total (list '(square 3) '(circle 1 2) '(square 4)))",
        1,
        "main failed
  `area` at p.scm:7
    shape = (circle 1 2)
    kind = circle
    sizes = (1 2)
    limit = 10
    x = 10
  `total` at p.scm:11
    shapes = ((square 3) (circle 1 2) (square 4))
    rest = ((circle 1 2) (square 4))
    sum = 9
    n = 1
  `(program)` at p.scm:13
",
    );
}

#[test]
fn variables_have_their_values_wherever_the_compiler_keeps_them() {
    check(
        "(define (outer a . more)
  (define count 0)
  (define (step! b)
    (set! count (+ count b))
    (let ((a (list a b)) (hidden 'inner))
      (let ((hidden (car a)))
        (vector-ref #(0 1) (+ count hidden)))))
  (define later (step! 1))
  (+ (step! 2) later))
(define two (case-lambda ((x) (outer x)) ((x y . z) (+ 1 (outer (* x y) z)))))
(two 0 7 8)",
        1,
        "main failed
  `step!` at p.scm:9
    count = 3
    b = 2
    a = (0 2)
    hidden = 0
  `outer` at p.scm:11
    a = 0
    more = ((8))
    count = 3
    step! = #<procedure step!>
    later = 1
  `two` at p.scm:12
    x = 0
    y = 7
    z = (8)
  `(program)` at p.scm:13
",
    );
}

#[test]
fn collections_leave_what_a_failed_procedure_had() {
    check(
        "(define (work early)
  (let ((words (let fill ((n 0) (kept '()))
                 (if (< n 300000) (fill (+ n 1) (cons n (if (> (length kept) 5) '() kept))) (length kept)))))
    (error \"too few\" words)
    early))
(define (around text) (let ((result (work (list 'early text)))) (list result text)))
(around \"a\")",
        1,
        "main failed
  `work` at p.scm:6
    early = (early \"a\")
    words = 6
  `around` at p.scm:8
    text = \"a\"
  `(program)` at p.scm:9
",
    );
}

#[test]
fn an_integrated_procedure_has_its_own_variables() {
    check(
        "(define (check name limit) (error \"too long\" name))
(define (outer name) (+ 1 (check (string-append name \"!\") 3)))
(display (outer \"x\"))",
        1,
        "main failed
  `check` at p.scm:3
    name = \"x!\"
    limit = 3
  `outer` at p.scm:4
    name = \"x\"
  `(program)` at p.scm:5
",
    );
    check(
        "(define (half pair) (car pair))
(define (outer k) (+ 1 (half (* k 2))))
(define (start count) (let ((k (+ count 1))) (* 2 (outer k))))
(start 5)",
        1,
        "main failed
  `half` at p.scm:3
    pair = 12
  `outer` at p.scm:4
    k = 6
  `start` at p.scm:5
    count = 5
    k = 6
  `(program)` at p.scm:6
",
    );
}

#[test]
fn a_literal_argument_is_the_value_of_its_parameter() {
    let desk = check(
        "(define (f n m) (car n))
(f 5 'q)",
        1,
        "main failed
  `f` at p.scm:3
    n = 5
    m = q
  `(program)` at p.scm:4
",
    );
    let told = desk.duet("why --variable m p").output;
    assert!(told.starts_with("m = q in `f`\n"), "{told}");
}

#[test]
fn an_integrated_procedure_that_waits_has_its_own_variables() {
    let desk = check(
        "(define (wait-for name key) (await (signal name)) (* key 2))
(define (outer text) (wait-for (string->symbol text) (string-length text)) (string-length text))
(outer (symbol->string 'go))",
        4,
        "fiber 0 of main
  `wait-for` at p.scm:3
    name = ?
    key = 2
  `outer` at p.scm:4
    text = \"go\"
  `(program)` at p.scm:5
",
    );
    let told = desk.duet("why --variable key p").output;
    assert!(
        told.starts_with("key = 2 in `wait-for`\n  2 ← (string-length text) at p.scm:4\n"),
        "{told}"
    );
}

#[test]
fn fibers_that_wait_show_what_they_will_still_read() {
    let desk = check(
        "(define (job n)
  (let ((name (string-append \"job-\" (number->string n))) (dead (vector n)))
    (let ((answer (await (user-input :prompt name))))
      (list name answer n))))
(define (work) (let ((results (par-map job '(1 2)))) (display results)))
(work)",
        4,
        "fiber 0 of main
  `work` at p.scm:7
  `(program)` at p.scm:8
fiber 1 of main/par-map 1
  `job` at p.scm:5
    n = 1
    name = \"job-1\"
    dead = ?
  `call-with-values`
fiber 2 of main/par-map 2
  `job` at p.scm:5
    n = 2
    name = \"job-2\"
    dead = ?
  `call-with-values`
",
    );
    let json = desk.duet("frames p --fiber 2 --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let expected = serde_json::json!({
        "number": 1,
        "procedure": "job",
        "source": "p.scm",
        "line": 5,
        "variables": [
            { "name": "n", "value": "2" },
            { "name": "name", "value": "\"job-2\"" },
            { "name": "dead", "value": null },
        ],
    });
    assert_eq!(json[0]["frames"][0], expected);
    let nothing = desk.duet("frames p --fiber 9");
    assert!(nothing.errors.contains("no computation waits at p@"), "{nothing:?}");
    // Whoever looks changes nothing.
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_procedure_shows_the_variables_of_the_top_level_that_it_reads() {
    check(
        "(define stock (string-length \"four\"))
(define unused 1)
(define-record-type thing (make-thing size) thing? (size thing-size))
(define one (make-thing 3))
(define (price count) (if (> count stock) (vector-ref (vector 1) count) (thing-size one)))
(define total (+ 4 5))
(display (+ 1 (price (* 2 total))))",
        1,
        "main failed
  `price` at p.scm:7
    count = 18
    stock = 4
    one = #<thing size: 3>
  `(program)` at p.scm:9
    total = 9
",
    );
}
