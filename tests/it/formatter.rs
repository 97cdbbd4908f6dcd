//! `duet fmt` and `duet new`, as a person uses them.
//!
//! INVARIANT: a file that cannot be formatted, and a folder that exists, stay as they are.
//! It does not know the style; the unit tests of `src/workbench/format.rs` do.
//! Read next: `support/desk.rs`.

use std::fs;

use crate::support::desk::Desk;

const ROUGH: &str = "(define (f x)\n(g x))\n";
const SMOOTH: &str = "(define (f x)\n  (g x))\n";

fn text(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.path(name)).expect("a text")
}

#[test]
fn files_and_folders_are_formatted_in_place() {
    let desk = Desk::new(&[
        ("a.scm", ROUGH),
        ("lib/b.sld", ROUGH),
        ("lib/notes.md", ROUGH),
        (".hidden/c.scm", ROUGH),
    ]);
    let said = desk.check("fmt", 0, "");
    assert_eq!(said.errors, "formatted 2 of 2 files\n");
    assert_eq!(
        (text(&desk, "a.scm"), text(&desk, "lib/b.sld")),
        (SMOOTH.into(), SMOOTH.into())
    );
    assert_eq!(
        (text(&desk, "lib/notes.md"), text(&desk, ".hidden/c.scm")),
        (ROUGH.into(), ROUGH.into())
    );
    assert_eq!(desk.check("fmt a.scm lib", 0, "").errors, "formatted 0 of 2 files\n");
    assert_eq!(
        fs::read_dir(desk.path("lib")).expect("a folder").count(),
        2,
        "no file is left beside"
    );
}

#[test]
fn a_check_names_the_files_and_a_difference_shows_them() {
    let desk = Desk::new(&[("a.scm", ROUGH), ("b.scm", SMOOTH)]);
    desk.check("fmt --check", 1, "a.scm\n");
    desk.check("fmt --check b.scm", 0, "");
    desk.check(
        "fmt --diff",
        0,
        "--- a.scm\n+++ a.scm\n@@ -1,2 +1,2 @@\n (define (f x)\n-(g x))\n+  (g x))\n",
    );
    assert_eq!(text(&desk, "a.scm"), ROUGH);
    let said = desk.feed("fmt -", ROUGH);
    assert_eq!((said.output.as_str(), said.code), (SMOOTH, 0));
    assert_eq!(desk.feed("fmt --check -", ROUGH).code, 1);
}

#[test]
fn texts_pass_standard_output_as_they_are() {
    let desk = Desk::new(&[]);
    let text = "(f \"a\\\r\n b\u{7f}\u{2028}\")\n#| c\r\n\u{1b}[1m |#\n; \u{200e}\u{85}x\n";
    let said = desk.feed("fmt -", text);
    assert_eq!((said.output.as_str(), said.code), (text, 0));
    let said = desk.feed("fmt --diff -", &text.replace("(f ", "(f  "));
    assert!(said.output.contains("-(f  \"a\\\r\n+(f \"a\\\r\n"), "{:?}", said.output);
}

#[test]
fn a_range_leaves_the_other_forms() {
    let desk = Desk::new(&[("a.scm", &format!("{ROUGH}{ROUGH}"))]);
    assert_eq!(desk.duet("fmt a.scm --range 4").code, 0);
    assert_eq!(text(&desk, "a.scm"), format!("{ROUGH}{SMOOTH}"));
    for line in [
        "fmt a.scm --range 0",
        "fmt a.scm --range 3:2",
        "fmt a.scm a.scm --range 1",
        "fmt - a.scm",
    ] {
        assert_eq!(desk.duet(line).code, 2, "{line}");
    }
}

#[test]
fn what_cannot_be_formatted_stays_and_the_rest_is_formatted() {
    let desk = Desk::new(&[("a.scm", "(define (f x)\n(g x)\n"), ("c.scm", ROUGH)]);
    fs::write(desk.path("b.scm"), b"(f \xff)\n").expect("a file");
    let said = desk.duet("fmt");
    assert_eq!(said.code, 1, "{}", said.errors);
    for part in ["a.scm:1:1", "`b.scm` is not UTF-8 text"] {
        assert!(said.errors.contains(part), "{}", said.errors);
    }
    assert_eq!(text(&desk, "a.scm"), "(define (f x)\n(g x)\n");
    assert_eq!(text(&desk, "c.scm"), SMOOTH);
    assert_eq!(desk.duet("fmt --check a.scm").code, 1);
    assert_eq!(desk.duet("fmt nothing.scm").code, 1);
}

#[test]
#[cfg(unix)]
fn a_formatted_file_keeps_its_permissions_and_a_link_stays_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new(&[("a.scm", ROUGH)]);
    fs::set_permissions(desk.path("a.scm"), fs::Permissions::from_mode(0o750)).expect("permissions");
    symlink("a.scm", desk.path("link.scm")).expect("a link");
    desk.check("fmt link.scm", 0, "");
    assert_eq!(text(&desk, "a.scm"), SMOOTH);
    let mode = fs::metadata(desk.path("a.scm")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert!(
        fs::symlink_metadata(desk.path("link.scm"))
            .expect("a link")
            .is_symlink()
    );
}

#[test]
fn every_kind_of_project_runs_passes_its_tests_and_is_formatted() {
    for (kind, run, output) in [
        ("", "run thing", "Hello, world!\n"),
        (
            "--agent",
            "run thing --double thing/answers.pr",
            "The word Scheme has 6 letters.\n",
        ),
        ("--job", "run thing -- once", "Hour "),
        ("--library", "run thing", ""),
    ] {
        let desk = Desk::new(&[]);
        let said = desk.check(&format!("new thing {kind}"), 0, "");
        assert!(
            said.errors.contains("`duet test thing` runs its tests"),
            "{}",
            said.errors
        );
        let said = desk.duet(run);
        assert_eq!(said.code, 0, "{kind}: {}", said.errors);
        assert!(said.output.starts_with(output), "{kind}: {}", said.output);
        let said = desk.duet("test thing");
        assert_eq!(said.code, 0, "{kind}: {}{}", said.output, said.errors);
        desk.check("fmt --check", 0, "");
        assert_eq!(text(&desk, "thing/README.md").lines().count(), 9, "{kind}");
    }
}

#[test]
fn a_project_replaces_nothing_and_has_a_name_that_a_library_may_have() {
    let desk = Desk::new(&[("taken/a.scm", ROUGH)]);
    let said = desk.duet("new taken");
    assert_eq!(said.code, 2);
    assert!(
        said.errors.contains("there is a file or folder `taken` already"),
        "{}",
        said.errors
    );
    assert_eq!(fs::read_dir(desk.path("taken")).expect("a folder").count(), 1);
    for name in ["Thing", "a/b", "..", "a b", "1a", "a-", "srfi", "duet", "manifest", "é"] {
        let said = desk.with("new", name);
        assert_eq!(said.code, 2, "{name}: {}", said.errors);
        assert!(
            said.errors.contains("cannot be a project's name"),
            "{name}: {}",
            said.errors
        );
    }
}

#[test]
fn a_macro_of_an_imported_library_lays_out_its_uses() {
    let library = "(define-library (lib)
  (export while)
  (import (scheme base))
  (include \"lib/while.scm\"))\n";
    let macros = "(define-syntax while (syntax-rules () ((_ c e ...) (let loop () (when c e ... (loop))))))\n";
    let main = "(import (scheme base) (only (lib) while))\n(while (f)\n(g))\n";
    let desk = Desk::new(&[
        ("lib.sld", library),
        ("lib/while.scm", macros),
        ("main.scm", main),
        ("tests/one-test.scm", main),
    ]);
    desk.check("fmt", 0, "");
    let laid_out = "(import (scheme base) (only (lib) while))\n(while (f)\n  (g))\n";
    for name in ["main.scm", "tests/one-test.scm"] {
        assert_eq!(text(&desk, name), laid_out, "{name}");
    }
    assert_eq!(desk.feed("fmt -", main).output, laid_out);
}
