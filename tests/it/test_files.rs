//! The files of `duet test`: which are tests, what makes them due again, and where reports go.
//!
//! INVARIANT: a watch is tested by what it prints, never after a time.
//! `testing.rs` tests what a test says. Read next: `workbench/testing/find.rs`.

use std::fs;

use crate::support::desk::Desk;
use crate::support::running::Running;

const BEGIN: &str = "(import (scheme base) (scheme file) (srfi 64))\n(test-begin \"t\")\n";

fn passing() -> String {
    format!("{BEGIN}(test-equal \"a\" 1 1)\n")
}

#[test]
fn a_program_that_only_mentions_the_library_is_no_test() {
    let desk = Desk::new(&[
        ("b-test.scm", &passing()),
        (
            "mail.scm",
            ";;; Tests of it (import (srfi 64)).\n(import (scheme base))\n\
             (define help \"(import (srfi 64))\")\n(car 5)\n",
        ),
        ("helper.scm", "(define-library (helper) (export) (import (srfi 64)))\n"),
        (
            "portable.scm",
            "(cond-expand (other (import srfi-64))\n\
             (else (import (scheme base) (only (srfi 64) test-begin test-assert))))\n\
             (test-begin \"p\")\n(test-assert #t)\n",
        ),
    ]);
    desk.check(
        "test",
        0,
        "ok   b-test.scm (1 passed)\nok   portable.scm (1 passed)\n\n2 passed, 0 failed; 2 files\n",
    );
}

#[test]
fn a_file_that_is_named_twice_is_tested_once() {
    let desk = Desk::new(&[("s-test.scm", &passing()), ("deep/d-test.scm", &passing())]);
    let all = "ok   deep/d-test.scm (1 passed)\nok   s-test.scm (1 passed)\n\n2 passed, 0 failed; 2 files\n";
    desk.check("test deep s-test.scm", 0, all);
    let again = format!(
        "test . deep deep/../s-test.scm ./s-test.scm {}",
        desk.path("s-test.scm").display()
    );
    let said = desk.duet(&again);
    assert!(said.output.ends_with("2 passed, 0 failed; 2 files\n"), "{said:?}");
    std::os::unix::fs::symlink("../s-test.scm", desk.path("deep/e-test.scm")).expect("a link");
    let linked = desk.duet("test");
    assert!(linked.output.ends_with("3 passed, 0 failed; 3 files\n"), "{linked:?}");
}

#[test]
fn results_are_told_whether_or_not_a_report_can_be_written() {
    let desk = Desk::new(&[("f-test.scm", &format!("{BEGIN}(test-equal \"a\" 1 2)\n"))]);
    let written = desk.duet("test --junit reports/deep/j.xml --lcov counts/l.info");
    assert_eq!((written.code, written.errors.as_str()), (1, ""), "{written:?}");
    let report = fs::read_to_string(desk.path("reports/deep/j.xml")).expect("a report");
    assert!(report.contains("<testsuite"), "{report}");
    assert!(desk.path("counts/l.info").is_file());
    fs::write(desk.path("file"), "").expect("a file");
    for line in ["test --junit file/j.xml", "test --lcov file/l.info"] {
        let said = desk.duet(line);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.errors.contains("cannot write `file/"), "{said:?}");
        for told in ["  expected 1", "0 passed, 1 failed; 1 file"] {
            assert!(said.output.contains(told), "{told:?}: {said:?}");
        }
    }
}

#[test]
fn a_test_runs_again_when_a_file_that_it_misses_comes_into_being() {
    let library = "(define-library (lib x) (export x) (import (scheme base)) (begin (define x 1)))";
    for (file, text, body) in [
        (
            "tests/lib/x.sld",
            library,
            "(import (lib x))\n(test-begin \"t\") (test-equal 1 x)\n",
        ),
        (
            "tests/more.scm",
            "(define x 1)",
            "(include \"more.scm\")\n(test-begin \"t\") (test-equal 1 x)\n",
        ),
        (
            "listed/lib/x.sld",
            library,
            "(import (lib x))\n(test-begin \"t\") (test-equal 1 x)\n",
        ),
        (
            "tests/data.txt",
            "1",
            "(test-begin \"t\") (test-assert (or (file-exists? \"tests/data.txt\") (file-exists? \"data.txt\")))\n",
        ),
    ] {
        let imports = "(import (scheme base) (scheme file) (srfi 64))\n";
        let desk = Desk::new(&[
            ("tests/a-test.scm", &format!("{imports}{body}")),
            ("listed/other.sld", ""),
        ]);
        let mut running = Running::start(&desk, "test tests --watch");
        running.until("0 passed, 1 failed; 1 file");
        let path = desk.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        running.until("ok   tests/a-test.scm (1 passed)");
        fs::rename(&path, desk.path("away")).expect("it is there");
        running.until("0 passed, 1 failed; 1 file");
        fs::rename(desk.path("away"), &path).expect("it is there");
        running.until("ok   tests/a-test.scm (1 passed)");
        running.type_line("q");
        assert_eq!(running.end().0, Some(0), "{file}");
    }
}
