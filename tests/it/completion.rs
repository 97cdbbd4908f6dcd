//! Completion in shells: the names of runs, branches and libraries.
//!
//! INVARIANT: a shell that asks gets names or nothing, and nothing is written.
//! Read next: `surface/command/completions/candidates.rs`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::desk::Desk;

const HELLO: &str = "(import (scheme base) (scheme write))\n(display 1)\n";

fn desk() -> Desk {
    let desk = Desk::new(&[
        ("hello.scm", HELLO),
        ("shop.sld", "(define-library (shop) (export))"),
        ("tools/price.sld", "(define-library (tools price) (export))"),
    ]);
    for line in [
        "run hello.scm --name hello",
        "run hello.scm --name other",
        "fork hello@1 try",
    ] {
        desk.check(line, 0, if line.starts_with("run") { "1" } else { "" });
    }
    desk
}

#[test]
fn runs_branches_and_libraries_are_candidates_where_they_fit() {
    let desk = desk();
    for (line, typed, expected) in [
        ("log", "", "hello\nother\n"),
        ("log", "he", "hello\n"),
        ("show --json", "hello/", "hello/main\nhello/try\n"),
        ("diff hello", "o", "other\n"),
        ("log hello", "", ""),
        ("log --journal", "", ""),
        ("log --journal none.sqlite", "", ""),
        ("fork hello", "", ""),
        ("pick hello@1 --onto", "hello/t", "hello/try\n"),
        ("run --preload", "(sh", "(shop)\n"),
        ("run --preload", "'(tools", "(tools price)\n"),
        ("describe", "(duet ag", "(duet agents)\n"),
        ("describe", "vector-ref", "vector-ref\n"),
        ("describe", "call-with-heart", "call-with-heartbeat\n"),
        ("schema", "why", "why\nwhy-not\n"),
        ("help", "sch", "schema\n"),
        ("help", "exit", "exit-codes\n"),
        ("help run", "", ""),
        ("", "lo", ""),
        ("nothing", "", ""),
    ] {
        let said = desk.with(&format!("--candidates {line}"), typed);
        assert_eq!((said.code, said.errors.as_str()), (0, ""), "{line} {typed}");
        assert_eq!(said.output, expected, "{line} {typed}");
    }
    desk.check("--candidates", 0, "");
    let empty = Desk::new(&[]);
    empty.check("--candidates log h", 0, "");
    assert!(!empty.path(".duet").exists());
}

#[test]
fn bash_completes_them() {
    let desk = desk();
    fs::write(desk.path("duet.bash"), desk.duet("completions bash").output).expect("a script");
    let duet = Path::new(env!("CARGO_BIN_EXE_duet"));
    let folder = duet.parent().expect("a folder").display();
    for (words, expected) in [
        ("duet log he", "hello"),
        ("duet show hello/t", "hello/try"),
        ("duet describe \\(shop", "\\(shop\\)"),
        ("duet compl", "completions"),
        ("duet help compl", "completions"),
        ("duet log --gre", "--grep"),
    ] {
        let script = format!(
            "export PATH={folder}:$PATH; source duet.bash; COMP_WORDS=({words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _duet_or_names duet \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let said = Command::new("bash")
            .args(["-c", &script])
            .current_dir(desk.path(""))
            .output();
        let said = said.expect("bash runs");
        let output = String::from_utf8_lossy(&said.stdout).into_owned();
        assert_eq!(
            output.trim(),
            expected,
            "{words}: {}",
            String::from_utf8_lossy(&said.stderr)
        );
    }
}
