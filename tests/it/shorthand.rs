//! Short ways to begin: a text in the place of a file, and the journal of a folder above.
//!
//! INVARIANT: a run that begins in a short way is kept like any other.
//! The options of `duet run` are tested in `cli.rs`.
//! Read next: `cli.rs`.

use crate::support::desk::Desk;

#[test]
fn a_text_is_a_program_behind_e_and_on_standard_input() {
    let desk = Desk::new(&[]);
    desk.check(
        "-e \"(begin (write (command-line)) (newline))\" a --b",
        0,
        "(\"text\" \"a\" \"--b\")\n",
    );
    let said = desk.feed("run - -- a", "(write (command-line))\n(newline)\n(write (read-line))\n");
    assert_eq!(
        (said.output.as_str(), said.code),
        ("(\"stdin\" \"a\")\n#<eof>", 0),
        "{}",
        said.errors
    );
    // The journal has the text, so the run goes on without it.
    let said = desk.feed(
        "run - --name asks",
        "(import (duet base) (duet dataspace))\n(display (await (user-input :prompt \"Well?\")))",
    );
    assert_eq!(said.code, 4, "{}", said.errors);
    desk.check("answer asks yes", 0, "yes");
    assert_eq!(desk.duet("replay asks --check").code, 0);
    for (line, input) in [("-e", ""), ("run - --detach", "1"), ("", "")] {
        assert_eq!(desk.feed(line, input).code, 2, "{line}");
    }
    let wrong = desk.feed("run -", "(f");
    assert!(
        wrong.code == 1 && wrong.errors.contains("stdin:1:1"),
        "{}",
        wrong.errors
    );
}

#[test]
fn texts_in_a_pipe_without_a_command_are_evaluated() {
    let desk = Desk::new(&[]);
    let said = desk.feed("", "(* 6 7)\n");
    assert_eq!((said.output.as_str(), said.code), ("42\n", 0), "{}", said.errors);
    let nothing = desk.duet("");
    assert_eq!(nothing.code, 2);
    assert!(
        nothing.errors.starts_with("error: which command?"),
        "{}",
        nothing.errors
    );
}

#[test]
fn a_journal_is_found_from_the_folders_below_its_own() {
    let desk = Desk::new(&[("p.scm", "(display 1)"), ("a/b/q.scm", "(display 2)")]);
    assert_eq!(desk.duet_in("a/b", "runs").code, 1, "there is none");
    desk.check("run p.scm", 0, "1");
    let said = desk.duet_in("a/b", "run q.scm");
    assert_eq!((said.output.as_str(), said.code), ("2", 0), "{}", said.errors);
    assert!(!desk.path("a/b/.duet").exists());
    let said = desk.duet_in("a/b", "runs");
    assert!(
        said.output.contains("p.scm") && said.output.contains("q.scm"),
        "{}",
        said.output
    );
    assert!(said.errors.contains("these runs are in /"), "{}", said.errors);
    assert_eq!(desk.duet("runs").errors, "");
    // An option wins, and so does a journal in the present folder.
    assert_eq!(desk.duet_in("a/b", "run q.scm --journal .duet/journal.sqlite").code, 0);
    let own = desk.duet_in("a/b", "runs");
    assert!(own.errors.is_empty() && !own.output.contains("p.scm"), "{own:?}");
}
