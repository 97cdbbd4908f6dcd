//! Programs that want more memory than there is, as real processes under a limit of the system.
//!
//! Owns the proof that everything that a run keeps counts against its limit, and that a system that
//! refuses memory ends a run in plain words.
//! INVARIANT: no test ends by a signal, and after each the journal is sound and replays.
//! It does not test heaps by themselves; `kernel/tests/it/brink.rs` does.
//! Read next: `support/desk.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::Command;

use crate::support::desk::{CommandOutput, Desk};

const HOLDER: &str = "(define-library (farm)
  (export holder)
  (import (scheme base) (duet base) (duet dataspace))
  (begin
    (define held '())
    (define (holder c)
      (let loop ((n 0))
        (when (< n 40) (set! held (cons (make-vector 1000000 c) held)) (loop (+ n 1)))))))
";

/// Each way to fill a run other than one actor's heap.
const FILLERS: [(&str, &str); 6] = [
    (
        "facts of one turn",
        "(define s (make-string 1000000 #\\f))
(let loop ((n 0)) (assert! (record 'item n s)) (loop (+ n 1)))",
    ),
    (
        "facts of many turns",
        "(let loop ((n 0)) (assert! (record 'item n (make-string 1000000 #\\f))) (yield) (loop (+ n 1)))",
    ),
    (
        "a queue",
        "(define s (make-string 100000 #\\q))
(watch (pattern (go $_ $_)) (lambda (event) 1))
(let loop ((n 0)) (message! (record 'go n s)) (loop (+ n 1)))",
    ),
    (
        "a handler's facts",
        "(define s (make-string 1000000 #\\h))
(watch (pattern (go)) (lambda (event) (let loop ((n 0)) (assert! (record 'item n s)) (loop (+ n 1)))))
(message! (record 'go))
(sleep 10)",
    ),
    (
        "fibers",
        "(let loop ((n 0)) (spawn (lambda () (sleep 1000000000))) (loop (+ n 1)))",
    ),
    (
        "evaluated texts",
        "(let loop ((n 0))
  (eval (list 'define (string->symbol (string-append \"x\" (number->string n))) (list 'quote (make-list 1000 n)))
        (interaction-environment))
  (loop (+ n 1)))",
    ),
];

/// Runs a command in a process that may have only this much memory, in KiB of address space.
fn within(desk: &Desk, kibibytes: u64, line: &str) -> CommandOutput {
    let mut shell = Command::new("bash");
    let script = format!("ulimit -v {kibibytes} && exec \"$0\" {line}");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_duet")]);
    let done = shell.current_dir(desk.path("")).output().unwrap();
    CommandOutput {
        output: String::from_utf8(done.stdout).unwrap(),
        errors: String::from_utf8(done.stderr).unwrap(),
        code: done.status.code().unwrap_or(-1),
    }
}

/// Requires that the journal is sound and the run replays.
#[track_caller]
fn check_journal(desk: &Desk) {
    for line in ["fsck", "replay --check"] {
        let said = desk.duet(line);
        assert_eq!(said.code, 0, "{line}: {}{}", said.output, said.errors);
    }
}

/// Requires that a program ends because its run would exceed this many mebibytes.
#[track_caller]
fn check_exhausted(what: &str, program: &str, mebibytes: u64) {
    let desk = Desk::new(&[("fill.scm", program)]);
    // The system stops a process that takes far more than the run may. (Threads reserve address
    // space that they do not use.)
    let line = format!("run fill.scm --memory-limit {mebibytes}M");
    let said = within(&desk, 1_000_000, &line);
    assert_eq!(said.code, 1, "{what}: {}", said.errors);
    let limit = format!("the {} bytes", mebibytes << 20);
    assert!(
        said.errors.contains("error[memory-exhausted]") && said.errors.contains(&limit),
        "{what}: {}",
        said.errors
    );
    check_journal(&desk);
}

#[test]
fn everything_that_a_run_keeps_counts_against_its_memory() {
    for (what, program) in FILLERS {
        check_exhausted(what, program, 32);
    }
}

#[test]
fn what_a_turn_says_counts_until_it_is_durable() {
    // A turn with a slice of fuel can say less than 32 MB.
    let program = "(define s (make-string 1000000 #\\o)) (let loop ((n 0)) (log! s) (loop (+ n 1)))";
    check_exhausted("output", program, 16);
}

#[test]
fn what_a_run_has_given_up_does_not_count_although_it_could_go_back_there() {
    let program = "(let loop ((n 0))
  (when (< n 400)
    (let ((handle (assert! (record 'item n (make-string 1000000 #\\g)))))
      (yield)
      (retract! handle)
      (yield)
      (loop (+ n 1)))))
(display \"done\")";
    let desk = Desk::new(&[("pass.scm", program)]);
    desk.check("run pass.scm --memory-limit 64M", 0, "done");
    check_journal(&desk);
}

#[test]
fn an_actors_continuations_count_against_its_own_limit() {
    let program = "(define kept '())
(define (deep n)
  (if (= n 0) (begin (yield) (call/cc (lambda (k) (set! kept (cons k kept)) 0))) (+ 1 (deep (- n 1)))))
(display (guard (e (#t (condition-kind e))) (let loop () (deep 100000) (loop))))";
    let desk = Desk::new(&[("kept.scm", program)]);
    let said = within(&desk, 700_000, "run kept.scm --memory-limit 64M");
    assert_eq!(
        (said.output.as_str(), said.code),
        ("out-of-memory", 0),
        "{}",
        said.errors
    );
    check_journal(&desk);
}

#[test]
fn a_limit_of_the_system_is_the_machine_of_a_run() {
    // The allocator reserves 1 GiB of addresses if it can, so the larger limit leaves less; each
    // program has one of the two, because it takes a while.
    let programs: [(&str, &str, i32, &str); 4] = [
        (
            "deep recursion",
            "(define (deep n) (+ 1 (deep (+ n 1))))
(display (guard (e (#t (condition-kind e))) (deep 0)))",
            0,
            "out-of-memory",
        ),
        (
            "twelve actors",
            "(import (scheme base) (duet base) (duet dataspace) (farm))
(register-entity! 'holder holder)
(for-each (lambda (n) (spawn-entity! 'holder ':config n)) '(1 2 3 4 5 6 7 8 9 10 11 12))",
            1,
            "",
        ),
        (
            "a million facts",
            "(define s (make-string 4000 #\\f))
(let loop ((n 0)) (when (< n 1000000) (assert! (record 'item n s)) (loop (+ n 1))))",
            1,
            "",
        ),
        (
            "giant numbers",
            "(define giant (expt 3 1300000))
(define kept '())
(display (guard (e (#t (condition-kind e))) (let loop ((n 0)) (set! kept (cons (+ giant n) kept)) (loop (+ n 1)))))
(set! kept '())
(display (guard (e (#t (condition-kind e))) (let loop ((x 3)) (loop (* x x)))))",
            0,
            "out-of-memoryarithmetic",
        ),
    ];
    let limits = [1_000_000, 1_600_000].into_iter().cycle();
    for ((what, program, code, output), kibibytes) in programs.into_iter().zip(limits) {
        let desk = Desk::new(&[("farm.sld", HOLDER), ("want.scm", program)]);
        let said = within(&desk, kibibytes, "run want.scm");
        assert_eq!(
            (said.output.as_str(), said.code),
            (output, code),
            "{what} within {kibibytes} KiB: {}",
            said.errors
        );
        if code == 1 {
            let is_told =
                said.errors.contains("error[memory-exhausted]") || said.errors.contains("error[out-of-memory]");
            assert!(is_told, "{what} within {kibibytes} KiB: {}", said.errors);
        }
        check_journal(&desk);
    }
}

#[test]
fn a_system_that_refuses_memory_ends_the_process_in_plain_words() {
    let program = "(display \"begun\")
(newline)
(sleep 1)
(define (deep n) (+ 1 (deep (+ n 1))))
(deep 0)";
    let desk = Desk::new(&[("deep.scm", program)]);
    for kibibytes in [120_000, 250_000] {
        let said = within(&desk, kibibytes, "run deep.scm --memory-limit 1G --name deep");
        assert_eq!((said.output.as_str(), said.code), ("begun\n", 5), "{}", said.errors);
        let is_plain = said.errors.starts_with("error: the system refuses Duet ") && said.errors.lines().count() == 5;
        assert!(is_plain, "{}", said.errors);
        check_journal(&desk);
        let resumed = desk.duet("resume deep");
        assert_eq!(resumed.code, 1, "{}", resumed.errors);
        assert!(resumed.errors.contains("out-of-memory"), "{}", resumed.errors);
        std::fs::remove_dir_all(desk.path(".duet")).unwrap();
    }
}

/// The data of a text take memory before anybody counts them, so the reader counts its nodes.
#[test]
fn a_datum_beyond_the_limit_takes_no_more_memory_than_one_within_it() {
    let datum = "1 ".repeat(7_000_000);
    let library = format!("(define-library (l) (export d) (import (scheme base)) (begin (define d '({datum}))))");
    let desk = Desk::new(&[
        ("d.scm", &format!("(display (length '({datum})))")),
        ("l.sld", &library),
        ("p.scm", "(import (scheme base) (l))"),
        ("i.scm", "(import (scheme base)) (include \"d.scm\")"),
    ]);
    for program in ["d.scm", "p.scm", "i.scm"] {
        let said = within(&desk, 900_000, &format!("run {program}"));
        assert_eq!((said.code, said.output.as_str()), (1, ""), "{program}: {}", said.errors);
        assert!(
            said.errors.contains("have more than 8388608 nodes of code"),
            "{program}: {}",
            said.errors
        );
        assert!(said.errors.len() < 4_000, "{program}: {} bytes", said.errors.len());
    }
}
