//! Every procedure of the libraries, called with something wrong: the condition names the procedure
//! that was called, and not one that it is made of.
//!
//! Owns the wrong values, and the list of procedures that are left out, with the reasons.
//! INVARIANT: the list of procedures comes from the exports, so none can be forgotten.
//! The libraries of R7RS and of the SRFIs are made of each other as their reports say, so a
//! condition may name another procedure of theirs, but none that programs do not see. For the
//! procedures on lists among them, `tests/scripts/data/arguments.scm` has the messages.
//! Read next: `sweep.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use crate::support::desk::Desk;
use crate::support::library::{Libraries, Library, Origin};

/// Calls a procedure with up to four times the same wrong value, and prints the first condition
/// that is a fault.
const JUDGE: &str = r#"
(define wrong (list (eof-object) 5 "ab" 'sym (vector 1 2)))
(define kinds '(wrong-type wrong-arity bad-descriptor out-of-range))
(define (contains? text word)
  (let loop ((start 0))
    (let ((end (+ start (string-length word))))
      (and (<= end (string-length text))
           (or (string=? (substring text start end) word) (loop (+ start 1)))))))
(define (told procedure arguments)
  (guard (e ((condition? e) (list (condition-kind e) (condition-message e))) (#t #f))
    (apply procedure arguments)
    #f))
(define (fault name procedure value count)
  (and (< count 5)
    (let ((said (told procedure (make-list count value))))
      (if (and said (memq (car said) kinds) (is-fault? name (cadr said)))
          (begin (write (list name count value said)) (newline) #t)
          (fault name procedure value (+ count 1))))))
(define (judge name form)
  (let ((procedure (guard (e (#t #f)) (eval form library))))
    (if (procedure? procedure)
        (let next ((values wrong))
          (if (and (pair? values) (not (fault name procedure (car values) 1))) (next (cdr values)))))))
"#;

/// Procedures that are not called, or may say another name, with the reasons.
const LEFT_OUT: [(&str, &str); 10] = [
    ("await", "it waits for somebody"),
    ("await-next", "a wait is judged by `await`"),
    ("with-timeout", "a wait is judged by `await`"),
    ("request", "it waits for somebody who replies"),
    (
        "call-with-current-continuation",
        "it is `call/cc`, which is how it calls itself",
    ),
    ("exit", "it ends the program"),
    ("emergency-exit", "it ends the program"),
    ("current-output-port", "the program prints on it"),
    ("property-runs", "a parameter has no name"),
    ("property-seed", "a parameter has no name"),
];

/// Decides whether the message of a condition is a fault, from the `name` of the procedure that was
/// called: it names another one.
const NAMES_ANOTHER: &str = "(define (is-fault? name message) (not (contains? message name)))\n";

/// As [`NAMES_ANOTHER`]: it names one that no library exports. `public` has the names of those that
/// some library does.
const NAMES_A_PRIVATE_ONE: &str = r#"
(define (after text word)
  (let loop ((start 0))
    (let ((end (+ start (string-length word))))
      (cond ((> end (string-length text)) #f)
            ((string=? (substring text start end) word) (substring text end (string-length text)))
            (else (loop (+ start 1)))))))
(define (first-word text)
  (let loop ((end 0))
    (if (or (= end (string-length text)) (char=? (string-ref text end) #\space))
        (substring text 0 end)
        (loop (+ end 1)))))
(define (is-fault? name message)
  (let ((named (and (after message "argument ") (after message " of "))))
    (or (contains? (string-append " " message) " %")
        (and named (not (member (first-word named) public))))))
"#;

/// The definition of `public`.
fn public_names(libraries: &Libraries) -> String {
    let of = |library: &Library| libraries.names(library);
    let names: std::collections::BTreeSet<String> = libraries.public().into_iter().flat_map(of).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("(define public '({}))\n", quoted.join(" "))
}

/// The program that judges the procedures that a library defines; `rule` defines `is-fault?`.
fn program(libraries: &Libraries, library: &Library, rule: &str) -> String {
    let is_own = |name: &String| {
        let is_left_out = LEFT_OUT.iter().any(|(left_out, _)| left_out == name);
        !is_left_out && matches!(libraries.origin(library, name).0, Origin::Definition(_))
    };
    let calls: String = libraries
        .names(library)
        .into_iter()
        .filter(is_own)
        .map(|name| format!("(judge \"{name}\" 'p:{name})\n"))
        .collect();
    format!(
        "(import (scheme base) (scheme write) (scheme eval) (scheme process-context)
  (only (duet base) condition? condition-kind condition-message))
(define library (environment '(prefix ({}) p:)))
{}{JUDGE}{rule}{calls}(display \"judged\")\n(exit)\n",
        library.name,
        public_names(libraries),
    )
}

/// Judges the procedures of the public libraries for which `is_judged` is true; returns the faults.
fn faults(is_judged: impl Fn(&Library) -> bool, rule: &str) -> String {
    let libraries = Libraries::of(duet_stdlib::FILES);
    let mut faults = String::new();
    for library in libraries.public().into_iter().filter(|library| is_judged(library)) {
        let desk = Desk::new(&[("judge.scm", &program(&libraries, library, rule))]);
        let said = desk.duet("run judge.scm --memory");
        if !said.output.ends_with("judged") {
            faults.push_str(&format!(
                "({}) is not judged: {} {}\n",
                library.name, said.code, said.errors
            ));
        }
        let told = said.output.lines().filter(|line| line.starts_with("(\""));
        faults.extend(told.map(|line| format!("({}) {line}\n", library.name)));
    }
    faults
}

#[test]
fn every_procedure_that_is_called_with_something_wrong_says_its_own_name() {
    assert_eq!(faults(|library| library.name.starts_with("duet "), NAMES_ANOTHER), "");
}

#[test]
fn no_condition_names_a_procedure_that_a_library_keeps_to_itself() {
    assert_eq!(
        faults(|library| !library.name.starts_with("duet "), NAMES_A_PRIVATE_ONE),
        ""
    );
}
