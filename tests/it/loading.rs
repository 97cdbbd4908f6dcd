//! Files that programs load: what is evaluated when, and the places of their errors.
//!
//! INVARIANT: a place is one of the file, whatever form of it fails.
//! That texts are evaluated at all is tested in `../scripts`. Read next: `cli.rs`.

use crate::support::desk::Desk;

const FILES: [(&str, &str); 6] = [
    (
        "lib.scm",
        "(define (ok) 1)\n\n  (define (bad)\n    (car 5))\n(define (worse) (bad) 1)\n",
    ),
    ("now.scm", "(define a 1)\n\n; here\n(vector-ref (vector) a)\n"),
    ("syntax.scm", "(define a 1)\n\n(define (b) (if))\n"),
    ("read.scm", "(define a 1)\n\n(define (b) (car 5)\n"),
    (
        "macro.scm",
        "(define-syntax twice\n  (syntax-rules () ((_ e) (+ e e))))\n",
    ),
    (
        "all.scm",
        "(load \"macro.scm\")\n(display (twice 4))\n#!fold-case\n(DISPLAY 'B)(newline)\n",
    ),
];

fn desk(program: &str) -> Desk {
    let program = format!("(import (scheme base) (scheme write) (scheme load))\n{program}\n");
    let mut files = FILES.to_vec();
    files.push(("main.scm", &program));
    Desk::new(&files)
}

#[test]
fn errors_of_a_loaded_file_name_the_file_and_its_lines() {
    for (program, place) in [
        ("(load \"lib.scm\") (worse)", "lib.scm:4:5"),
        ("(load \"lib.scm\") (worse)", "called by `worse` on line 5"),
        ("(load \"now.scm\")", "now.scm:4:1"),
        ("(load \"syntax.scm\")", "syntax.scm:3:13"),
        ("(load \"read.scm\")", "read.scm:3:1"),
        (
            "(load (string-append \"syntax\" \".scm\"))",
            "syntax.scm, line 3: this form should look like (if",
        ),
        (
            "(load (string-append \"read\" \".scm\"))",
            "read.scm:3: this parenthesis is never closed",
        ),
    ] {
        let said = desk(program).duet("run main.scm --name m");
        assert_eq!(said.code, 1, "{program}: {}", said.output);
        assert!(said.errors.contains(place), "{program}: {}", said.errors);
    }
}

/// Each form is evaluated before Duet expands the next, so that a file can load its macros.
#[test]
fn forms_of_a_loaded_file_follow_each_other() {
    let desk = desk("(load \"all.scm\")");
    desk.check("run main.scm --name m", 0, "8b\n");
    assert_eq!(desk.duet("replay m --check").code, 0);
}

/// The libraries are in the first record, so the run comes out the same without their files.
#[test]
fn loaded_files_and_evaluated_data_import_libraries_that_the_program_does_not() {
    let library = |name: &str, rest: &str| format!("(define-library ({name}) (import (scheme base)) {rest})");
    let program = "(import (scheme base) (scheme write) (scheme load) (scheme eval) (scheme repl))
(load \"uses.scm\" (interaction-environment))
(eval '(import (circles)) (interaction-environment))
(write (eval '(list (area) circle) (interaction-environment)))";
    let shapes = "(import (sides)) (export area) (include \"area.scm\")";
    let desk = Desk::new(&[
        ("main.scm", program),
        ("uses.scm", "(load \"more.scm\" (interaction-environment))\n"),
        ("more.scm", "(import (scheme base) (shapes))\n"),
        ("shapes.sld", &library("shapes", shapes)),
        ("area.scm", "(define (area) (* side side))\n"),
        ("sides.sld", &library("sides", "(export side) (begin (define side 3))")),
        (
            "circles.sld",
            &library("circles", "(export circle) (begin (define circle 'round))"),
        ),
    ]);
    desk.check("run main.scm --name m", 0, "(9 round)");
    for name in ["shapes.sld", "area.scm", "sides.sld", "circles.sld"] {
        std::fs::remove_file(desk.path(name)).expect("it is there");
    }
    assert_eq!(desk.duet("replay m --check").code, 0);
}
