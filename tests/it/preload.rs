//! Libraries that texts without `import` see because the person has named them.
//!
//! INVARIANT: the libraries belong to the run, so a replay finds them when nothing is left of the
//! files.

use std::fs;

use crate::support::desk::Desk;

/// A library that needs another one, both beside the program.
const FILES: [(&str, &str); 3] = [
    (
        "my/tools.sld",
        "(define-library (my tools) (export twice) (import (scheme base) (my deep))
           (begin (define (twice x) (* two x))))",
    ),
    (
        "my/deep.sld",
        "(define-library (my deep) (export two) (import (scheme base)) (begin (define two 2)))",
    ),
    ("p.scm", "(write (list (twice 21) (fold + 0 (iota 5))))"),
];

fn desk() -> Desk {
    let desk = Desk::new(&[]);
    fs::create_dir_all(desk.path("my")).expect("a folder");
    for (name, text) in FILES {
        fs::write(desk.path(name), text).expect("a file");
    }
    desk
}

#[test]
fn a_program_without_imports_sees_the_libraries_that_the_person_names() {
    let desk = desk();
    assert_eq!(desk.duet("run p.scm --name bare").code, 1);
    // (srfi 1) and (duet dataspace) both have an `every`.
    desk.check(
        "run p.scm --name p --preload \"(my tools)\" --preload \"srfi 1\"",
        0,
        "(42 10)",
    );
    fs::remove_dir_all(desk.path("my")).expect("a folder");
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn a_session_begins_by_importing_the_libraries_that_the_person_names() {
    let desk = desk();
    let typed = desk.feed(
        "repl --name s --preload \"(srfi 1)\" --preload \"(my tools)\"",
        "(fold + 0 (list 1 (twice 3)))\n",
    );
    assert_eq!((typed.code, typed.output.as_str()), (0, "7\n"), "{typed:?}");
    fs::remove_dir_all(desk.path("my")).expect("a folder");
    let later = desk.feed("repl s", "(twice 4)\n");
    assert_eq!((later.code, later.output.as_str()), (0, "8\n"), "{later:?}");
    assert_eq!(desk.duet("replay s --check").code, 0);
}

#[test]
fn a_library_that_is_none_is_refused_before_anything_runs() {
    let desk = desk();
    let none = desk.duet("run p.scm --preload (nowhere)");
    assert!(
        none.code == 1 && none.errors.contains("there is no library (nowhere)"),
        "{none:?}"
    );
    assert_eq!(desk.feed("repl --preload (nowhere)", "1\n").code, 1);
    let wrong = desk.duet("run p.scm --preload \"(only (srfi 1) fold)\"");
    assert!(wrong.code == 2 && wrong.errors.contains("as '(srfi 1)'"), "{wrong:?}");
}

#[test]
fn a_missing_library_is_told_with_the_folders_that_were_searched() {
    let desk = Desk::new(&[
        ("tests/a-test.scm", "(import (shop prices) (srfi 64))\n"),
        ("p.scm", "(import (shop prices))\n"),
    ]);
    for (line, told) in [
        (
            "test",
            "no `shop/prices.sld` is in `tests` or `listed`: put it there, or list its folder in DUET_LIBRARY_PATH",
        ),
        (
            "run p.scm",
            "no `shop/prices.sld` is in the present folder or `listed`: put it there",
        ),
        (
            "expand p.scm",
            "no `shop/prices.sld` is in the present folder or `listed`: put it there",
        ),
    ] {
        let said = desk.duet(line);
        let all = said.output + &said.errors;
        assert!(all.contains("there is no library (shop prices)"), "{line}: {all}");
        assert!(all.contains(told), "{line}: {all}");
    }
}
