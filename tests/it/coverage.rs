//! `duet test --coverage`: which lines and branches of a project its tests execute.
//!
//! INVARIANT: coverage changes no result, and it names each line that no test executes.
//! Read next: `../../runtime/src/scheme/coverage.rs`.

mod table;

use std::fs;

use crate::support::desk::Desk;

const LIBRARY: &str = "(define-library (shop)
  (export price discount unused <item> make-item item-name item-size)
  (import (scheme base))
  (begin
    (define-record-type <item> (make-item name size) item?
      (name item-name)
      (size item-size))

    (define (small? item) (< (item-size item) 10))

    (define (price item)
      (if (small? item)
          (+ 1 (item-size item))
          (* 2 (item-size item))))

    (define (discount price)
      (cond ((> price 100) (quotient price 2))
            ((> price 50) (- price 5))
            (else (max price 1))))

    (define (unused x)
      (let ((y (* x x)))
        (- y 1)))))
";

const ONE: &str = "(import (scheme base) (srfi 64) (shop))
(test-begin \"one\")
(test-equal 4 (price (make-item \"a\" 3)))
(test-equal 60 (discount 120))
(test-end)
";

const TWO: &str = "(import (scheme base) (srfi 64) (shop))
(test-begin \"two\")
(test-equal 45 (discount 45))
(test-end)
";

#[test]
fn the_table_names_what_no_test_executes() {
    let desk = Desk::new(&[("shop.sld", LIBRARY), ("one-test.scm", ONE)]);
    let said = desk.duet("test --coverage");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let table = said.output.lines().skip_while(|line| !line.starts_with("file"));
    let rows: Vec<&str> = table.take(2).collect();
    assert_eq!(rows.len(), 2, "{}", said.output);
    assert!(rows[1].starts_with("shop.sld  "), "{}", said.output);
    assert!(rows[1].ends_with("14, 18-19, 22-23"), "{}", said.output);
    assert!(!said.output.contains("%  all"), "one file has no sum");
    assert!(
        said.output.ends_with("\n\n2 passed, 0 failed; 1 file\n"),
        "{}",
        said.output
    );
}

#[test]
fn several_tests_count_together_and_the_counts_go_to_lcov_and_json() {
    let desk = Desk::new(&[("shop.sld", LIBRARY), ("one-test.scm", ONE), ("two-test.scm", TWO)]);
    let said = desk.duet("test --coverage --lcov counts.info --json");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let forms: Vec<serde_json::Value> = said
        .output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let shop = forms.iter().find(|form| form["kind"] == "coverage").expect("coverage");
    assert_eq!(shop["file"], "shop.sld");
    assert_eq!(shop["unhit"], serde_json::json!([14, 22, 23]));
    let lcov = fs::read_to_string(desk.path("counts.info")).expect("counts");
    for line in ["TN:", "SF:shop.sld", "DA:13,1", "DA:14,0", "DA:18,1", "end_of_record"] {
        assert!(lcov.lines().any(|found| found == line), "{line}\n{lcov}");
    }
    let hit = lcov
        .lines()
        .filter(|line| line.starts_with("DA:") && !line.ends_with(",0"))
        .count();
    assert!(lcov.contains(&format!("LH:{hit}\n")), "{lcov}");
    assert_eq!(shop["lines_hit"], hit);
    // The form of the record type has conditions of its own, which nobody wrote.
    assert!(!lcov.contains("BRDA:5,"), "{lcov}");
    let of_line = |line: usize| {
        let start = format!("BRDA:{line},");
        let rows = lcov.lines().filter(move |row| row.starts_with(&start));
        rows.map(|row| row.rsplit(',').next().expect("a count").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of_line(17), ["1", "1"]);
    assert_eq!(of_line(18), ["0", "1"]);
}

#[test]
fn a_test_without_files_of_a_project_says_so() {
    let text = "(import (scheme base) (srfi 64))\n(test-begin \"t\")\n(test-assert #t)\n(test-end)\n";
    let desk = Desk::new(&[("one-test.scm", text)]);
    desk.check(
        "test --coverage",
        0,
        "ok   one-test.scm (1 passed)\n\nno file below this directory was executed besides the tests\n\n\
         1 passed, 0 failed; 1 file\n",
    );
    let said = desk.duet("test --coverage --watch");
    assert_eq!(said.code, 2, "{}", said.errors);
}
