//! The editor on a terminal: the effects of keys, seen from outside.
//!
//! Owns a process behind a terminal that answers each line with the editor's result.
//! INVARIANT: a test types nothing before it sees the prompt. Layout, colours and completion have
//! tables of their own beside their modules.
//! Read next: `surface/repl/editor.rs`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code, reason = "the editor computes nothing for long")]
#[path = "../../../../tests/it/support/terminal.rs"]
mod terminal;

use terminal::{INTERRUPT, Terminal, UP};

use super::{Editor, Line, Names, line_break, missing_indentation, read_piped};
use crate::surface::repl::complete::tests::Example;

/// Names the history file of the process behind the terminal; set, it makes the test that process.
const HISTORY: &str = "DUET_TEST_EDITOR_HISTORY";

const PROMPT: &str = "> ";

/// Reads lines until the end of input and prints them.
fn answer(history: OsString) {
    let history = PathBuf::from(history);
    let mut editor = Editor::new(Some(history), true).expect("there is a terminal");
    loop {
        let line = editor
            .read(PROMPT, Names::of(&Example))
            .expect("the terminal can be read");
        println!("[{line:?}]");
        if line == Line::End {
            return;
        }
    }
}

/// The process behind a terminal.
struct Session(Terminal);

impl Session {
    fn start(history: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("it runs"));
        command
            .args([
                "--exact",
                "--nocapture",
                "surface::repl::editor::tests::keys_make_lines",
            ])
            .env(HISTORY, history)
            .env_remove("NO_COLOR");
        Self(Terminal::start(&mut command, str::to_owned))
    }

    /// Types keys at a fresh prompt and waits for their effect.
    #[track_caller]
    fn type_keys(&mut self, keys: &str, shown: &str) {
        self.0.expect(PROMPT);
        self.go_on(keys, shown);
    }

    /// Types further keys and waits for their effect.
    #[track_caller]
    fn go_on(&mut self, keys: &str, shown: &str) {
        self.0.type_keys(keys, shown);
    }
}

#[test]
fn keys_make_lines() {
    #[expect(
        clippy::disallowed_methods,
        reason = "tells the process behind the terminal from the one before it"
    )]
    if let Some(history) = std::env::var_os(HISTORY) {
        return answer(history);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let history = folder.path().join("history");
    let mut session = Session::start(&history);
    // A hint is shown as soon as the operator is finished, and is no part of the input.
    session.type_keys("(car ", "\u{1b}[2m   (car pair)\u{1b}[0m");
    session.go_on("x)\r", "[Input(\"(car x)\")]");
    // Enter goes on where the datum does, below the prompt's end.
    session.type_keys("(define x\r1)\r", "[Input(\"(define x\\n    1)\")]");
    // An error that no line can mend is handed out.
    session.type_keys("(car x))\r", "[Input(\"(car x))\")]");
    // An entry of several lines comes back whole.
    session.type_keys(&format!("{UP}{UP}\r"), "[Input(\"(define x\\n    1)\")]");
    session.type_keys(&format!("(car{INTERRUPT}"), "[Interrupted]");
    // Alt-Enter begins a line even if the input is complete.
    session.type_keys("1\u{1b}\r2\r", "[Input(\"1\\n  2\")]");
    // Tab shows what is possible, and completes what is certain.
    session.type_keys("(c\t", "(cdr pair)");
    session.go_on("d\t x)\r", "[Input(\"(cdr x)\")]");
    session.type_keys(",bra\t\r", "[Input(\",branches\")]");
    // Pasted text keeps its own layout.
    let pasted = "\u{1b}[200~(let ((x 1))\r x)\u{1b}[201~\r";
    session.type_keys(pasted, "[Input(\"(let ((x 1))\\n x)\")]");
    // Tab indents a line that was begun too far left.
    session.type_keys("(let ((x 1))\r\u{8}\u{8}\t x)\r", "[Input(\"(let ((x 1))\\n     x)\")]");
    session.type_keys("(cdr y)\r", "[Input(\"(cdr y)\")]");
    session.0.expect(PROMPT);
    assert!(session.0.leave().success(), "the end of input is an end");
    let kept = std::fs::read_to_string(history).expect("it was written");
    let expected = "(car x)\n(define x\\n    1)\n(car x))\n(define x\\n    1)\n1\\n  2\n(cdr x)\n,branches\n\
                    (let ((x 1))\\n x)\n(let ((x 1))\\n     x)\n(cdr y)\n";
    assert_eq!(kept, expected);
}

#[test]
fn lines_are_broken_with_indentation() {
    for (before, expected) in [("(f a", "\n     "), ("(f \"a", "\n"), ("(f)", "\n  ")] {
        assert_eq!(line_break(before, PROMPT.len()), expected, "{before}");
    }
    for (before, expected) in [
        ("(f a\n", Some(5)),
        ("(f a\n   ", Some(2)),
        ("(f a\n         ", Some(0)),
        ("(f a\nb", None),
        ("  ", None),
        ("(f \"a\n", None),
    ] {
        assert_eq!(missing_indentation(before, PROMPT.len()), expected, "{before}");
    }
}

#[test]
fn what_no_person_types_is_divided_likewise() {
    let mut lines = "1\n\n(car\n x) ; y\r\n\"a\n\n\"\n,quit\n(cut \"off\n".as_bytes();
    for expected in ["1", "", "(car\n x) ; y", "\"a\n\n\"", ",quit", "(cut \"off"] {
        let line = read_piped(&mut lines).expect("it is text");
        assert_eq!(line, Line::Input(expected.to_owned()));
    }
    assert_eq!(read_piped(&mut lines).expect("it is at its end"), Line::End);
    assert!(read_piped(&mut &b"\xff\n"[..]).is_err());
}
