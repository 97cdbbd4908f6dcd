//! How the work of library procedures grows with their operands, in units of fuel.
//!
//! INVARIANT: a bound is of the fuel for two sizes, never of time.
//! It does not say what a unit costs; `kernel/tests/it/cost.rs` bounds the primitives.
//! Read next: `../library.rs`.

use crate::library::Session;

/// Returns the fuel of an expression where `n` is a number, `before` defines what it needs, and the
/// libraries are imported.
fn fuel(imports: &str, before: &str, expression: &str, n: usize) -> i64 {
    let run = |expression: &str| {
        let mut session = Session::new();
        let program = format!("(import (scheme base) {imports}) (define n {n}) {before} {expression}");
        let expansion = session
            .expander
            .expand_program("test", &program, &mut session.libraries);
        let expansion = expansion.unwrap_or_else(|errors| panic!("{program}: {errors:#?}"));
        if let Err(object) = session.load(expansion) {
            panic!("{program} raises {}", session.show(object));
        }
        session.fuel_used
    };
    run(expression) - run("#f")
}

/// Checks how often the fuel for a number goes into that for a number ten times as great.
fn check_growth(imports: &str, before: &str, expressions: &[&str], at_most: i64) {
    for expression in expressions {
        let [small, great] = [300, 3000].map(|n| fuel(imports, before, expression, n));
        assert!(great <= at_most * small.max(100), "{expression}: {small} and {great}");
    }
}

#[test]
fn what_finds_the_first_does_not_look_at_the_rest() {
    let text = "(define s (make-string n #\\a))";
    let searches = [
        "(string-any #\\a s)",
        "(string-every #\\b s)",
        "(string-contains s \"aa\")",
        "(string-contains-ci s \"AA\")",
        "(string-prefix? \"aa\" s 0 2 1 n)",
        "(string-prefix-ci? \"AA\" s)",
        "(string-suffix-ci? \"AA\" s)",
        "(string-ci< s \"B\")",
        "(string-compare s \"b\" values values values 0 n)",
    ];
    check_growth("(except (srfi 13) string-map string-for-each)", text, &searches, 2);
    let chars = "(define (a? char) (char=? char #\\a)) (define set (ucs-range->char-set 97 (+ 97 n)))";
    let searches = [
        "(char-set-any a? set)",
        "(char-set-every (lambda (char) (not (a? char))) set)",
        "(char-set-cursor set)",
    ];
    check_growth("(srfi 14)", chars, &searches, 2);
    let vector = "(define v (make-vector n 0)) (vector-set! v 0 1) (define w (make-vector n 0))";
    check_growth("(srfi 132)", vector, &["(vector-sorted? < v)"], 2);
    check_growth("(srfi 128)", vector, &["(<? (make-default-comparator) v w)"], 2);
}

const TABLE: &str = "(define (number-of x) x)
    (define (filled by)
      (let ((table (make-hash-table by)))
        (do ((i 0 (+ i 1))) ((= i n) table) (hash-table-set! table i i))))
    (define own (filled equal?))
    (define any (filled =))
    (define (same? a b) (= a b))
    (define wrong (make-comparator number? (lambda (a b) #f) < number-of))";

#[test]
fn a_search_of_a_table_ends_at_the_first_entry_that_fits() {
    let searches = [
        "(hash-table-find (lambda (key value) key) own list)",
        "(hash-table-find (lambda (key value) key) any list)",
        "(hash-table-pop! own)",
        "(hash-table-pop! any)",
        "(hash-table=? wrong own own)",
    ];
    check_growth("(srfi 125) (srfi 128)", TABLE, &searches, 2);
    let collections = "(define (natural? x) (>= x 0))
        (define s (set (make-default-comparator)))
        (define b (bag (make-default-comparator)))
        (do ((i 0 (+ i 1))) ((= i n)) (set-adjoin! s i) (bag-adjoin! b i))";
    let searches = [
        "(set-find natural? s list)",
        "(set-any? natural? s)",
        "(set-every? negative? s)",
        "(set-disjoint? s s)",
        "(bag-find natural? b list)",
        "(bag-any? natural? b)",
        "(bag-every? negative? b)",
        "(bag-disjoint? b b)",
    ];
    check_growth("(srfi 113) (srfi 128)", collections, &searches, 2);
}

#[test]
fn a_table_is_emptied_in_time_of_its_size() {
    let emptied = [
        "(let loop () (if (not (hash-table-empty? own)) (begin (hash-table-pop! own) (loop))))",
        "(let loop () (if (not (hash-table-empty? any)) (begin (hash-table-pop! any) (loop))))",
        // A key that comes at the end for each that leaves at the front.
        "(do ((i 0 (+ i 1))) ((= i n)) (hash-table-pop! own) (hash-table-set! own (+ n i) i))",
    ];
    check_growth("(srfi 125) (srfi 128)", TABLE, &emptied, 12);
    let set = "(define s (set (make-default-comparator))) (do ((i 0 (+ i 1))) ((= i n)) (set-adjoin! s i))";
    let emptied = "(let loop () (if (not (set-empty? s)) (begin (set-delete! s (set-find number? s list)) (loop))))";
    check_growth("(srfi 113) (srfi 128)", set, &[emptied], 12);
}

#[test]
fn a_string_is_split_in_time_of_its_length() {
    let text = "(define s (apply string-append (make-list n \"a,\")))";
    check_growth("(srfi 152)", text, &["(string-split s \",\")"], 12);
}

#[test]
fn an_object_passes_guards_in_time_of_their_number() {
    let nests = "(define (nest i)
          (if (= i 0) (raise 'x) (guard (e ((string? e) 1)) (nest (- i 1)))))
        (define (nest-continuable i)
          (if (= i 0) (raise-continuable 'x) (+ 1 (guard (e ((string? e) 1)) (nest-continuable (- i 1))))))
        (define (handled thunk) (with-exception-handler (lambda (e) 1) thunk))";
    let raised = [
        "(guard (e (#t e)) (nest n))",
        "(guard (e ((symbol? e) e)) (nest n))",
        "(handled (lambda () (nest-continuable n)))",
    ];
    check_growth("", nests, &raised, 12);
}
