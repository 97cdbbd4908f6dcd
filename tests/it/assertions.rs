//! The reports of `duet test` on assertions of SRFI 64: whose result it is, which values the
//! assertion has compared, and how many results there are.
//!
//! INVARIANT: an assertion is reported under its own name with its own values, whatever else runs
//! meanwhile.
//! `tests/scripts/srfi/64.scm` tests what a program sees. Read next: `testing.rs`.

use crate::support::desk::Desk;

const BEGIN: &str =
    "(import (scheme base) (scheme write) (srfi 64) (duet base) (duet dataspace) (duet agents) (duet check))
(test-begin \"t\")\n";

/// Runs a test with a body after the imports, and returns its report, with its code at the end.
fn report(body: &str) -> String {
    let desk = Desk::new(&[("one-test.scm", &format!("{BEGIN}{body}\n"))]);
    let said = desk.duet("test one-test.scm -v");
    format!("{}{}[exit {}]", said.output, said.errors, said.code)
}

#[track_caller]
fn check(body: &str, told: &[&str]) {
    let report = report(body);
    for told in told {
        assert!(report.contains(told), "{told:?} is not in\n{report}");
    }
}

#[test]
fn assertions_that_overlap_are_reported_under_their_own_names() {
    let fibers = r#"
(define (slow ms value) (sleep ms) value)
(all-of (lambda () (test-equal "a" 1 (slow 100 99))) (lambda () (test-equal "b" 2 (slow 200 2))))
(all-of (lambda () (test-group "g" (test-assert "c" (slow 200 #t)))) (lambda () (test-group "h" (slow 50 #t))))
(test-equal "none" '("t") (test-runner-group-path (test-runner-get)))
"#;
    check(
        fibers,
        &[
            "  FAIL t / a\n  ok t / b\n  ok t / g / c\n  ok t / none\n",
            "error[t / a]: the value is another one\n",
            "  expected 1\n  actual   99\n",
        ],
    );
    let nested = r#"
(define (check x) (test-assert "is a number" (number? x)) x)
(test-equal "sum" 4 (+ (check 1) (check 2)))
"#;
    check(
        nested,
        &[
            "  ok t / is a number\n  ok t / is a number\n  FAIL t / sum\n",
            "error[t / sum]",
            "  expected 4\n  actual   3\n",
        ],
    );
}

#[test]
fn values_that_differ_are_shown_as_a_program_writes_them() {
    let quoted = [
        ("#(1 2)", "(1 2)", ""),
        (r"#\a", "\"#\\\\a\"", ""),
        ("1/2", r#""1/2""#, ""),
        ("#u8(1 2)", "#u8(1 3)", ""),
        ("+inf.0", "-0.5", ""),
        ("(1 . 2)", "(1 . 3)", "the tail after element 0: 2 is expected, 3 came"),
        (
            r"(1 #(2 #\a))",
            r"(1 #(2 #\b))",
            r"element 1, element 1: #\a is expected, #\b came",
        ),
        (r#"("a")"#, r#"("b")"#, r#"element 0: "a" is expected, "b" came"#),
        ("#0=(1 . #0#)", "(1 1 2)", "element 2: 1 is expected, 2 came"),
        (r#""the old text""#, r#""the new text""#, "the [-old-]{+new+} text"),
    ];
    for (expected, came, differs) in quoted {
        let differs = match differs {
            "" => String::new(),
            differs => format!("  differs  {differs}\n"),
        };
        let told = format!("  expected {expected}\n  actual   {came}\n{differs}\n");
        check(&format!("(test-equal \"x\" '{expected} '{came})"), &[&told]);
    }
    let made = [
        (
            "(dictionary 'a 1) (dictionary 'a 1 'b '(2))",
            "{a 1}\n  actual   {a 1 b (2)}\n  differs  entry b: (2) is too much\n",
        ),
        (
            "(set 'a 1) (set 'a)",
            "#{a 1}\n  actual   #{a}\n  differs  the elements: 1 is missing\n",
        ),
        (
            "(record 'x 1 2) (record 'x 1)",
            "#[x 1 2]\n  actual   #[x 1]\n  differs  element 1: 2 is missing\n",
        ),
    ];
    for (values, told) in made {
        check(
            &format!("(test-equal \"x\" {values})"),
            &[&format!("  expected {told}")],
        );
    }
    check(
        "(test-equal 1 (error \"bad\" #\\a '(1 . 2)))",
        &["it raised error: bad #\\a (1 . 2)\n"],
    );
    check(
        "(parameterize ((property-seed 1)) (test-property \"p\" ((c characters)) (char=? c #\\z)))",
        &["  actual   (falsified (c #\\a) (seed 1)"],
    );
}

#[test]
fn a_long_or_deep_value_is_shown_as_far_as_it_can_be_read() {
    let body = "(define (nest n x) (if (= n 0) x (nest (- n 1) (list x))))
(test-equal \"deep\" (nest 300 1) (nest 300 2))
(test-equal \"deeper\" (nest 100000 1) 2)
(test-equal \"long\" (iota 100000) (append (iota 50000) '(x)))";
    let report = report(body);
    assert!(report.contains("element 0: 1 is expected, 2 came\n"), "{report}");
    assert!(
        report.contains("differs  element 50000: 50000 is expected, x came\n"),
        "{report}"
    );
    assert!(report.lines().all(|line| line.chars().count() < 6_000), "{report}");
}

#[test]
fn a_group_is_tidied_up_after_an_uncaught_error_too() {
    let tidy =
        |body: &str| format!("(test-group-with-cleanup \"g\" (test-assert \"in\" #t) {body} (display \"tidied\"))");
    check(
        &tidy("(vector-ref #(1) 5)"),
        &[
            "  ok t / g / in\n",
            "out-of-range: argument 2 of vector-ref is out of range: 5, outside an assertion\n --> one-test.scm:3:52",
            "output of one-test.scm:\n  tidied\n",
        ],
    );
    check(
        &format!(
            "(define caught (guard (e (#t e)) {}))\n(test-equal 'no caught)",
            tidy("(raise 'oops)")
        ),
        &["  actual   oops\n", "output of one-test.scm:\n  tidied\n"],
    );
    check(
        &format!("{}\n(test-assert #f)", tidy("")),
        &["output of one-test.scm:\n  tidied\n\n"],
    );
}

#[test]
fn what_is_skipped_or_expected_to_fail_is_counted_as_such() {
    let skipped = "(test-skip 2)\n(test-assert \"a\" #f)\n(test-assert \"b\" #f)";
    check(
        skipped,
        &[
            "ok   one-test.scm (2 skipped)\n",
            "\n0 passed, 0 failed, 2 skipped; 1 file\n[exit 0]",
        ],
    );
    let all = format!("{skipped}\n(test-assert \"c\" #t)\n(test-expect-fail 1)\n(test-assert \"d\" #f)");
    check(
        &all,
        &["ok   one-test.scm (1 passed, 2 skipped, 1 failed as expected)\n"],
    );
    let group = "(test-skip \"g\")\n(test-group \"g\" (test-assert \"a\" #f))";
    check(group, &["ok   one-test.scm (1 skipped)\n  skip t / g\n", "[exit 0]"]);
}

#[test]
fn a_group_with_another_number_of_tests_than_it_announces_fails_by_its_name() {
    let told = "the group has another number of tests than it announces: 1 in place of";
    check(
        "(test-begin \"two\" 2)\n(test-assert \"a\" #t)\n(test-end)
(test-begin \"none\" 3)\n(test-assert \"b\" #t)",
        &[
            &format!("error[t / two]: {told} 2\n --> one-test.scm:5:1"),
            &format!("error[t / none]: {told} 3\n"),
            "\n2 passed, 2 failed; 1 file\n[exit 1]",
        ],
    );
    check("(test-begin \"one\" 1)\n(test-assert \"a\" #t)", &["[exit 0]"]);
}

#[test]
fn a_runner_of_the_file_s_own_adds_no_failure() {
    check(
        "(test-end)\n(test-runner-current (test-runner-simple))\n(test-assert \"a\" #f)",
        &["FAIL one-test.scm (1 of 1 failed)\n  FAIL a\n", "[exit 1]"],
    );
}
