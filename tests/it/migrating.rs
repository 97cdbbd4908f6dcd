//! Records of a run whose type has other fields in a changed text, and values that a person
//! computes for waiting frames, by the real command.
//!
//! INVARIANT: after a patch each record of the type is what the new text makes of it, wherever the
//! run holds it, and is the same object for everybody; a step that fails leaves no trace.
//! Read next: `moving.rs`.

use serde_json::json;

use crate::support::desk::Desk;

/// A program whose records lie in data, in closures, in waiting frames, in dictionaries as keys,
/// and in each other.
const ORDERS: &str = r#"(define-record-type order (make-order item count next) order?
  (item order-item) (count order-count set-order-count!) (next order-next set-order-next!))
(define tea (make-order "tea" 2 #f))
(define milk (make-order "milk" 3 tea))
(set-order-next! tea milk)
(define by-identity (alist->dictionary (list (cons tea 'first) (cons milk 'second))))
(define held (let ((order milk)) (lambda () (order-count order))))
(define (note order) (list (order-item order) (order-count order)))
(define (same?) (and (eq? (order-next (order-next tea)) tea) (eq? (vector-ref box 0) milk)))
(define box (vector milk))
(define (show what) (write what) (newline))
(define (work order n)
  (define answer (await (user-input :prompt "next?")))
  (show (list n answer (note order) (note (order-next order)) (held) (same?)
              (dictionary-ref by-identity order)))
  (work (order-next order) (+ n 1)))
(work tea 1)
"#;

fn desk_of(text: &str, edits: &[(&str, &str)], migration: &str) -> Desk {
    let mut new = text.to_owned();
    for (from, to) in edits {
        assert!(new.contains(from), "{from}");
        new = new.replace(from, to);
    }
    let place = new
        .find("(define tea")
        .or(new.find("(define (keep"))
        .unwrap_or(new.len());
    new.insert_str(place, migration);
    Desk::new(&[("orders.scm", text), ("new.scm", &new)])
}

/// Tries a patch that must be refused with these words, and must leave no trace.
fn refused(desk: &Desk, line: &str, words: &str) {
    let log = desk.duet("log orders").output;
    let said = desk.duet(line);
    assert_eq!(said.code, 1, "{line}: {}{}", said.output, said.errors);
    assert!(said.errors.contains(words), "{line}: {}", said.errors);
    assert_eq!(desk.duet("log orders").output, log, "{line}");
}

#[test]
fn records_become_those_of_the_new_definition_wherever_they_are() {
    let migration = "(migrate-records order (next item count)\n  \
                     (make-order (string->symbol item) (* 10 count) next))\n";
    let edits = [
        (
            "(make-order item count next) order?\n  (item order-item)",
            "(make-order kind count next) order?\n  (kind order-item)",
        ),
        (
            "(count order-count set-order-count!) (next",
            "(count order-count set-order-count!) (paid order-paid set-order-paid!) (next",
        ),
    ];
    let desk = desk_of(ORDERS, &edits, migration);
    desk.check("run orders.scm", 4, "");
    desk.check("answer orders a", 4, "(1 \"a\" (\"tea\" 2) (\"milk\" 3) 3 #t first)\n");
    let report = desk.report("patch orders new.scm");
    assert_eq!(report["migrated"], json!(["order"]));
    desk.check("answer orders b", 4, "(2 \"b\" (milk 30) (tea 20) 30 #t second)\n");
    desk.check("answer orders c", 4, "(3 \"c\" (tea 20) (milk 30) 30 #t first)\n");
    desk.replays("orders");
    desk.check("goto orders@2", 0, "");
    desk.check(
        "answer orders again",
        4,
        "(2 \"again\" (\"milk\" 3) (\"tea\" 2) 3 #t second)\n",
    );
}

#[test]
fn a_migration_that_fails_acts_or_says_something_else_changes_nothing() {
    for (body, words) in [
        ("(car item)", "the migration of records of type order raises wrong-type"),
        (
            "(make-order item count)",
            "the migration of records of type order raises",
        ),
        (
            "(begin (display item) (make-order item count next))",
            "but it may only compute",
        ),
        (
            "(begin (await (user-input :prompt \"?\")) (make-order item count next))",
            "but it may only compute",
        ),
        ("(list item count next)", "returns something else than such a record"),
        ("item", "returns something else than such a record"),
        ("(let loop () (loop))", "units of fuel"),
        ("(let loop ((all '())) (loop (cons (make-vector 10000) all)))", "memory"),
        ("(make-order item (order-count next) next)", "raises wrong-type"),
        ("next", "returns something else than such a record"),
    ] {
        let edits = [("(next order-next", "(paid order-paid) (next order-next")];
        let desk = desk_of(
            ORDERS,
            &edits,
            &format!("(migrate-records order (next item count) {body})\n"),
        );
        desk.check("run orders.scm", 4, "");
        refused(&desk, "patch orders new.scm", words);
        desk.check("answer orders a", 4, "(1 \"a\" (\"tea\" 2) (\"milk\" 3) 3 #t first)\n");
    }
}

#[test]
fn a_migration_names_fields_and_types_that_there_are() {
    let edits = [("(next order-next", "(paid order-paid) (next order-next")];
    for (migration, words) in [
        (
            "(migrate-records order (size) (make-order size 1 #f))",
            "have the fields item, count, next",
        ),
        (
            "(migrate-records odrer (item) (make-order item 1 #f))",
            "of no record type that the text defines",
        ),
        ("", "(migrate-records order (FIELD …) EXPRESSION)"),
    ] {
        let desk = desk_of(ORDERS, &edits, migration);
        desk.check("run orders.scm", 4, "");
        refused(&desk, "patch orders new.scm", words);
    }
}

#[test]
fn one_record_cannot_take_the_place_of_two() {
    let edits = [("(next order-next", "(paid order-paid) (next order-next")];
    let migration = "(migrate-records order (item count)\n  (let ((known (vector-ref box 0)))\n    \
                     (unless (order? known)\n      (vector-set! box 0 (make-order item count #f)))\n    \
                     (vector-ref box 0)))\n";
    let desk = desk_of(ORDERS, &edits, migration);
    desk.check("run orders.scm", 4, "");
    refused(&desk, "patch orders new.scm", "returns the same record for two of them");
    desk.check("answer orders a", 4, "(1 \"a\" (\"tea\" 2) (\"milk\" 3) 3 #t first)\n");
}

#[test]
fn what_only_the_old_text_had_raises_when_somebody_calls_it() {
    let text = ORDERS
        .replace("(define box", "(define old-way (list order-count))\n(define box")
        .replace(
            "(show (list n answer",
            "(show (list (guard (e (#t (condition-message e))) ((car old-way) order)) n answer",
        );
    let edits = [
        (
            "(count order-count set-order-count!)",
            "(size order-size set-order-size!)",
        ),
        ("(make-order item count next)", "(make-order item size next)"),
        ("(order-count order)", "(order-size order)"),
        (
            "(define old-way (list order-count))",
            "(define old-way (list order-size))",
        ),
    ];
    let migration = "(migrate-records order (item count next) (make-order item count next))\n";
    let desk = desk_of(&text, &edits, migration);
    desk.check("run orders.scm", 4, "");
    desk.report("patch orders new.scm");
    let said = desk.duet("answer orders a").output;
    assert!(said.contains("does not have `order-count` any more"), "{said}");
    assert!(said.contains("(\"tea\" 2)"), "{said}");
    desk.replays("orders");
}

#[test]
fn actors_have_their_records_migrated_and_runs_continue_elsewhere() {
    let text = "(define-record-type order (make-order item) order? (item order-item))\n\
                (define (clerk name)\n  (define orders '())\n  \
                (on-message (order $item) (set! orders (cons (make-order item) orders)) \
                (write (list name (map order-item orders))) (newline)))\n\
                (register-entity! 'clerk clerk)\n(spawn-entity! 'clerk :config \"ada\")\n\
                (spawn-entity! 'clerk :config \"bob\")\n\
                (define (keep) (define go (await (user-input :prompt \"go?\")))\n  \
                (message! (record 'order (string->number go))) (keep))\n(keep)\n";
    let migration = "(migrate-records order (item) (make-order (+ 100 item) 'old))\n";
    let edits = [
        (
            "(make-order item) order?",
            "(make-order item age) order? (age order-age)",
        ),
        ("(make-order item) orders", "(make-order item 'new) orders"),
        (
            "(map order-item orders)",
            "(map order-item orders) (map order-age orders)",
        ),
    ];
    let desk = desk_of(text, &edits, migration);
    desk.check("run orders.scm", 4, "");
    desk.check("answer orders 1", 4, "(\"ada\" (1))\n(\"bob\" (1))\n");
    desk.report("patch orders new.scm");
    let said = "(\"ada\" (2 101) (new old))\n(\"bob\" (2 101) (new old))\n";
    desk.check("answer orders 2", 4, said);
    desk.replays("orders");
    desk.check("export orders out", 0, "");
    let other = Desk::new(&[]);
    other.check(&format!("import {}", desk.path("out").display()), 0, "");
    let said = other.duet("resume orders --grant none --answer 3");
    let said = said.output + &said.errors;
    assert!(said.contains("(\"ada\" (3 2 101) (new new old))"), "{said}");
}

#[test]
fn what_is_new_in_a_text_is_evaluated_in_all_actors() {
    let text = "(import (scheme base) (scheme write) (duet dataspace))\n\
                (define (show x) (write x) (newline))\n\
                (define (clerk name) (on-message (order $items) (show items)))\n\
                (register-entity! 'clerk clerk)\n(spawn-entity! 'clerk :config \"ada\")\n\
                (define (keep)\n  (define answer (await (user-input :prompt \"next?\")))\n  \
                (message! `#(record order (1 1 2)))\n  (show answer)\n  (keep))\n(keep)\n";
    let text = text.replace("`#(record order (1 1 2))", "(record 'order (list 1 1 2))");
    let text = text.replace("(duet dataspace))", "(duet dataspace) (only (duet base) record))");
    let edits = [
        (
            "(only (duet base) record))",
            "(only (duet base) record) (only (srfi 1) delete-duplicates))\n(define more '(7))",
        ),
        ("(show items)", "(show (append more (delete-duplicates items)))"),
        ("(show answer)", "(show (cons answer (delete-duplicates '(3 3))))"),
    ];
    let desk = desk_of(&text, &edits, "");
    desk.check("run orders.scm", 4, "");
    desk.check("answer orders a", 4, "\"a\"\n(1 1 2)\n");
    desk.report("patch orders new.scm");
    desk.check("answer orders b", 4, "(\"b\" 3)\n(7 1 2)\n");
    desk.replays("orders");
}

#[test]
fn a_person_computes_values_for_waiting_frames() {
    let text = "(define (double x) (* 2 x))\n\
                (define (work n names)\n  (define answer (await (user-input :prompt \"next?\")))\n  \
                (set! names (cons answer names))\n  (write (list n names))\n  (newline)\n  \
                (work (+ n 1) names))\n(work 20 '())\n";
    let edits = [
        ("(work n names)", "(work n names total label)"),
        ("(write (list n names))", "(write (list n names total (label n)))"),
        ("(work (+ n 1) names)", "(work (+ n 1) names (+ total 1) label)"),
        ("(work 20 '())", "(work 20 '() 0 number->string)"),
    ];
    let desk = desk_of(text, &edits, "");
    desk.check("run orders.scm", 4, "");
    desk.check("answer orders a", 4, "(20 (\"a\"))\n");
    for (given, words) in [
        ("total=(car n)", "`(car n)` raises wrong-type"),
        ("total=(lost n)", "lost"),
        ("total=(begin (display n) n)", "but it may only compute"),
        ("total=(let loop () (loop))", "units of fuel"),
        ("total=(if)", "if"),
        ("total=(+ n 1) 2", "one expression"),
        ("total=(+ n", "one expression"),
    ] {
        let line = format!("patch orders new.scm --let \"label=number->string\" --let \"{given}\"");
        refused(&desk, &line, words);
    }
    let given = "--let \"total=(+ n (double (length names)))\" --let \"label=(lambda (x) (list x n))\"";
    let report = desk.report(&format!("patch orders new.scm --require-moved {given}"));
    assert!(report["frames"][0]["kept"].is_null(), "{report}");
    desk.check("answer orders b", 4, "(21 (\"b\" \"a\") 23 (21 21))\n");
    desk.replays("orders");
    desk.check("answer orders c", 4, "(22 (\"c\" \"b\" \"a\") 24 (22 21))\n");
    desk.replays("orders");
    desk.check("export orders out", 0, "");
    let other = Desk::new(&[]);
    other.check(&format!("import {}", desk.path("out").display()), 0, "");
    let said = other.duet("resume orders --grant none --answer d");
    let said = said.output + &said.errors;
    assert!(said.contains("(23 (\"d\" \"c\" \"b\" \"a\") 25 (23 21))"), "{said}");
    desk.check("goto orders@2", 0, "");
    desk.check("answer orders again", 4, "(21 (\"again\" \"a\"))\n");
}

#[test]
fn a_field_that_comes_back_has_its_procedures_again() {
    let first = "(define-record-type order (make-order item count) order? (item order-item) (count order-count))\n\
                 (define tea (make-order \"tea\" 2))\n(define ways (list order-count))\n\
                 (define (try) (guard (e ((condition? e) (condition-kind e))) ((car ways) tea)))\n\
                 (define (work)\n  (define answer (await (user-input :prompt \"next?\")))\n  \
                 (write (list answer (try) (order-item tea)))\n  (newline)\n  (work))\n(work)\n";
    let second = first
        .replace("(make-order item count)", "(make-order item)")
        .replace(" (count order-count)", "")
        .replace("(make-order \"tea\" 2)", "(make-order \"tea\")")
        .replace("(list order-count)", "(list car)");
    let third = format!("(migrate-records order (item) (make-order item 5))\n{first}");
    let desk = Desk::new(&[("orders.scm", first), ("third.scm", &third)]);
    let write = |name: &str, text: &str| std::fs::write(desk.path(name), text).expect("a file");
    write(
        "second.scm",
        &format!("{second}(migrate-records order (item) (make-order item))\n"),
    );
    desk.check("run orders.scm", 4, "");
    desk.check("answer orders a", 4, "(\"a\" 2 \"tea\")\n");
    for _ in 0..2 {
        desk.report("patch orders second.scm");
        desk.check("answer orders b", 4, "(\"b\" error \"tea\")\n");
        desk.report("patch orders third.scm");
        desk.check("answer orders c", 4, "(\"c\" 5 \"tea\")\n");
    }
    desk.replays("orders");
}
