//! Small programs with the counts that each of their lines and conditions must have.
//!
//! A row of a listing has the count of its line, nothing if no expression begins there (`begin` has
//! no code of its own), and for each condition there how often it was true and false; then the
//! text.
//! INVARIANT: the counts were found by hand.
//! Read next: `../../../runtime/src/scheme/coverage.rs`.

use std::collections::BTreeMap;
use std::fs;

use crate::support::desk::Desk;

/// The arguments of each call of `go`, and the listing.
type Row = (&'static [&'static str], &'static str);

const PROGRAMS: &[(&str, Row)] = &[
    (
        "null",
        (
            &["'()", "'(1)", "'(1 2)"],
            "1      |(define (go xs)
             3 1/2  |  (if (null? xs)
             1      |      'none
             2      |      'some))",
        ),
    ),
    (
        "one-line",
        (&["1", "2", "'(1)"], "1 1/2  |(define (go x) (if (pair? x) (car x) x))"),
    ),
    (
        "constructors",
        (
            &["1"],
            "1      |(define (go x)
             1      |  (list
             1      |   x
             1      |   2
             1      |   (cons
             1      |    x
             1      |    '())))",
        ),
    ),
    (
        "arm-not-taken",
        (
            &["'a"],
            "1      |(define (go x)
             1 1/0  |  (if (eq? x 'a)
             1      |      1
             0      |      2))",
        ),
    ),
    (
        "cond",
        (
            &["'()", "'(1)", "5", "6"],
            "1      |(define (go x)
             4      |  (cond
             4 1/3  |   ((null? x)
             1      |    'empty)
             3 1/2  |   ((pair? x)
             1      |    'pair)
                    |   (else
             2      |    'other)))",
        ),
    ),
    (
        "cond-arrow",
        (
            &["1", "2"],
            "1      |(define (go x)
             2      |  (cond
             2 1/1  |   ((assv x '((1 . 2)))
             1      |    => cdr)
             1      |   (else 'nothing)))",
        ),
    ),
    (
        "and",
        (
            &["1 2", "#f 2"],
            "1      |(define (go a b)
             2      |  (and
             2 1/1  |   a
             1      |   b))",
        ),
    ),
    (
        "or",
        (
            &["1 2", "#f 2"],
            "1      |(define (go a b)
             2      |  (or
             2 1/1  |   a
             1      |   b))",
        ),
    ),
    (
        "or-of-predicates",
        (
            &["'()", "1"],
            "1      |(define (go a)
             2      |  (or
             2 1/1  |   (null? a)
             1      |   (pair? a)))",
        ),
    ),
    (
        "when-unless",
        (
            &["1", "-1", "0"],
            "1      |(define hits 0)
             1      |(define (go n)
             3 1/2  |  (when (> n 0)
             1      |    (set! hits (+ hits 1)))
             3 1/2  |  (unless (zero? n)
             2      |    (set! hits (- hits 1)))
             3      |  hits)",
        ),
    ),
    (
        "case",
        (
            &["'a", "'b", "'z"],
            "1      |(define (go x)
             3      |  (case x
             3 1/2 1/1 |    ((a b)
             2      |     'first)
                    |    (else
             1      |     'rest)))",
        ),
    ),
    (
        "do",
        (
            &["3"],
            "1      |(define (go n)
             4      |  (do ((i 0 (+ i 1))
             3      |       (sum 0 (+ sum i)))
             4 1/3  |      ((= i n)
             1      |       sum)
             3      |    (list i)))",
        ),
    ),
    (
        "named-let",
        (
            &["'(1 2)"],
            "1      |(define (go xs)
             1      |  (let loop ((xs xs) (n 0))
             3 1/2  |    (if (null? xs)
             1      |        n
             2      |        (loop
             2      |         (cdr xs)
             2      |         (+ n
             2      |            1)))))",
        ),
    ),
    (
        "never-called",
        (
            &["1"],
            "1      |(define (unused x)
             0      |  (let ((y x))
             0      |    (cons y
             0      |          x)))
             1      |(define (go x)
             1      |  (define (twice y)
             1      |    (list y y))
             1      |  (define (never y)
             0      |    y)
             1      |  (twice x))",
        ),
    ),
    (
        "lambda",
        (
            &["'(1 2 3)", "'()"],
            "1      |(define (go xs)
             2      |  (map
             2      |   (lambda (x)
             3      |     (vector x))
             2      |   xs))",
        ),
    ),
    (
        "case-lambda",
        (
            &["1"],
            "1      |(define go
             1      |  (case-lambda
             1      |   ((a)
             1      |    a)
             0      |   ((a b)
             0      |    (cons a b))))",
        ),
    ),
    (
        "not",
        (
            &["1 2", "#f 2", "#f #f"],
            "1      |(define (go a b)
             3      |  (if (not
             3 1/2  |       (or a
             2 1/1  |           b))
             1      |      'none
             2      |      'some))",
        ),
    ),
    (
        "constant",
        (
            &[""],
            "1      |(define (go)
             1      |  (if #t
             1      |      1
             0      |      2))",
        ),
    ),
    (
        "guard",
        (
            &["1", "0"],
            "1      |(define (go n)
             2      |  (guard (e
             1 1/0  |          ((symbol? e)
             1      |           e)
             0 0/0  |          ((string? e)
             0      |           'text))
             2 1/1  |    (if (zero? n)
             1      |        (raise 'zero)
             1      |        n)))",
        ),
    ),
    (
        "let-values",
        (
            &["7"],
            "1      |(define (go n)
             1      |  (let-values (((q r) (floor/ n 2)))
             1      |    (cons q
             1      |          r)))",
        ),
    ),
    (
        "kinds",
        (
            &["\"a\"", "#\\a", "'b"],
            "1      |(define (go x)
             3      |  (cond
             3 1/2  |    ((string? x) 'string)
             2 1/1  |    ((char? x) 'char)
             1      |    (else 'other)))",
        ),
    ),
    (
        "nested",
        (
            &["(eof-object)", "1"],
            "1      |(define (go x)
             2 1/1  |  (if (eof-object? x)
             1      |      'end
             1 0/1  |      (if (vector? x)
             0      |          (vector-length x)
             1      |          'more)))",
        ),
    ),
    (
        "own-macro",
        (
            &["'()", "1"],
            "       |(define-syntax swapped
                    |  (syntax-rules ()
                    |    ((_ test a b)
                    |     (if test b a))))
             1      |(define (go x)
             2 1/1  |  (swapped (null? x)
             1      |           'full
             1      |           'empty))",
        ),
    ),
    (
        "record",
        (
            &["1", "2"],
            "1      |(define-record-type <box>
             1      |  (box value)
             1      |  box?
             1      |  (value unbox))
             1      |(define (go x)
             2      |  (let ((made
             2 1/1  |         (if (eqv? x 1)
             1      |             (box x)
             1      |             x)))
             2 1/1  |    (if (box? made)
             1      |        (unbox made)
             1      |        made)))",
        ),
    ),
    (
        "delayed",
        (
            &["1"],
            "1      |(define (go x)
             1      |  (let ((later (delay
             0      |                (car x))))
             1      |    (set! x
             1      |      5)
                    |    (begin
             1      |      x)))",
        ),
    ),
    (
        "small-procedure",
        (
            &["5", "50"],
            "1      |(define (small? n)
             3      |  (< n 10))
             1      |(define (go n)
             2 1/1  |  (if (small? n)
             1      |      'small
             1 0/1  |      (and (small? (- n 10))
             0      |           'teens)))",
        ),
    ),
    (
        "and-in-a-test",
        (
            &["'(1)", "'()", "1"],
            "1      |(define (go x)
             3      |  (if (and
             3 2/1  |       (list? x)
             2 1/1  |       (pair? x))
             1      |      (car x)
             2      |      #f))",
        ),
    ),
];

/// What a report says of a text: the counts of lines, and the ways of conditions by line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    lines: BTreeMap<usize, u32>,
    branches: BTreeMap<usize, Vec<[u32; 2]>>,
}

impl Found {
    /// The counts that a listing has, and its text.
    fn of_listing(listing: &str) -> (Self, String) {
        let (mut found, mut text) = (Self::default(), String::new());
        // The text stands behind the line that opens the library.
        for (number, row) in (2..).zip(listing.lines()) {
            let (counts, line) = row.split_once('|').expect("a row has counts and a text");
            text += line;
            text.push('\n');
            let mut counts = counts.split_whitespace();
            if let Some(count) = counts.next() {
                found.lines.insert(number, count.parse().expect("a count"));
            }
            for ways in counts {
                let (yes, no) = ways.split_once('/').expect("two ways");
                let ways = [yes, no].map(|way| way.parse().expect("a count"));
                found.branches.entry(number).or_default().push(ways);
            }
        }
        (found, text)
    }

    /// The counts of the files of a tracefile.
    fn of_lcov(lcov: &str) -> BTreeMap<String, Self> {
        let mut files: BTreeMap<String, Self> = BTreeMap::new();
        let mut file = String::new();
        let number = |word: &str| if word == "-" { 0 } else { word.parse().expect("a count") };
        for row in lcov.lines() {
            let (kind, rest) = row.split_once(':').unwrap_or((row, ""));
            let words: Vec<&str> = rest.split(',').collect();
            match (kind, words.as_slice()) {
                ("SF", [name]) => (*name).clone_into(&mut file),
                ("DA", [line, count]) => {
                    let lines = &mut files.entry(file.clone()).or_default().lines;
                    lines.insert(line.parse().expect("a line"), number(count));
                }
                ("BRDA", [line, _, way, count]) => {
                    let branches = &mut files.entry(file.clone()).or_default().branches;
                    let ways = branches.entry(line.parse().expect("a line")).or_default();
                    match *way {
                        "0" => ways.push([number(count), 0]),
                        _ => ways.last_mut().expect("the first way comes first")[1] = number(count),
                    }
                }
                _ => {}
            }
        }
        files
    }
}

#[test]
fn each_line_and_each_condition_has_its_counts() {
    let mut files = Vec::new();
    let mut test = String::from("(import (scheme base) (srfi 64)");
    let mut calls = String::new();
    for (name, (arguments, listing)) in PROGRAMS {
        let (_, text) = Found::of_listing(listing);
        let head = "(import (scheme base) (scheme case-lambda) (scheme lazy))";
        let library = format!("(define-library ({name}) (export go) {head} (begin\n{text}))\n");
        files.push((format!("{name}.sld"), library));
        test += &format!(" (prefix ({name}) {name}:)");
        for arguments in *arguments {
            calls += &format!("({name}:go {arguments})\n");
        }
    }
    test += &format!(")\n(test-begin \"all\")\n{calls}(test-assert #t)\n(test-end)\n");
    files.push(("all-test.scm".to_owned(), test));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let desk = Desk::new(&files);
    let said = desk.duet("test --lcov counts.info");
    assert_eq!(said.code, 0, "{}{}", said.output, said.errors);
    let lcov = fs::read_to_string(desk.path("counts.info")).expect("counts");
    let mut found = Found::of_lcov(&lcov);
    let mut wrong = String::new();
    for (name, (_, listing)) in PROGRAMS {
        let (expected, _) = Found::of_listing(listing);
        let found = found.remove(&format!("{name}.sld")).unwrap_or_default();
        if found != expected {
            wrong += &format!("{name}\n  expected {expected:?}\n  found    {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
