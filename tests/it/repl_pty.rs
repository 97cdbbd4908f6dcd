//! `duet repl` at a terminal: a person types, interrupts, goes back, leaves, and comes back.
//!
//! INVARIANT: the test types nothing before the terminal shows the prompt for it.
//! The editor's own tests cover single keys; `repl.rs` covers input through a pipe.
//! Read next: `support/terminal.rs`.

use std::path::Path;
use std::process::Command;

use crate::support::terminal::{INTERRUPT, Terminal, UP};

/// A session behind a terminal.
struct Session(Terminal);

impl Session {
    fn start(folder: &Path, words: &str) -> Self {
        // Ctrl-C reaches only those whose terminal it is.
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_duet")])
            .args(words.split(' '))
            .current_dir(folder)
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("NO_COLOR", "1");
        let mut unfinished = String::new();
        Self(Terminal::start(&mut command, move |bytes| text(bytes, &mut unfinished)))
    }

    /// Types keys at the prompt that follows a turn's number and waits for what they show.
    #[track_caller]
    fn type_at(&mut self, prompt: &str, keys: &str, shown: &str) {
        self.0.expect(prompt);
        self.0.type_keys(keys, shown);
    }

    /// Types keys where the last ones ended and waits for what they show.
    #[track_caller]
    fn go_on(&mut self, keys: &str, shown: &str) {
        self.0.type_keys(keys, shown);
    }

    #[track_caller]
    fn leave(mut self, prompt: &str) {
        self.0.expect(prompt);
        assert!(self.0.leave().success());
    }
}

/// Removes the sequences that move the cursor and set colours; `unfinished` is the beginning of one
/// whose end has not arrived.
fn text(bytes: &str, unfinished: &mut String) -> String {
    let all = std::mem::take(unfinished) + bytes;
    let (mut text, mut rest) = (String::new(), all.as_str());
    while let Some(at) = rest.find('\u{1b}') {
        text.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let is_end = |(place, next): &(usize, char)| *place > 1 && next.is_ascii_alphabetic();
        let Some((last, _)) = sequence.char_indices().find(is_end) else {
            sequence.clone_into(unfinished);
            return text;
        };
        // An erased line is a new one: output above the prompt begins where the prompt stood.
        if &sequence[..=last] == "\u{1b}[K" && text.ends_with('\r') {
            text.push('\n');
        }
        rest = &sequence[last + 1..];
    }
    text + rest
}

#[test]
fn output_above_the_prompt_cannot_move_the_cursor() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    let typed = "(spawn (lambda () (sleep 300) (display \"\\x1b;[2J\\x9b;up\\n\")))\r";
    at.type_at("s@1> ", typed, "\\x1b;[2J\\x9b;up\r\n");
    at.leave("> ");
}

#[test]
fn names_are_completed_before_the_first_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    at.type_at("s@1> ", "(exact-integer-sq\t 17)\r", "\n$1 = 4\r\n$2 = 1\r");
    // A text that fails defines no name.
    at.type_at(
        "s@2> ",
        "(begin (define exact-integer-square 1) (car 1))\r",
        "must be a pair",
    );
    at.type_at("s@3> ", "(exact-integer-sq\t 26)\r", "\n$3 = 5\r\n$4 = 1\r");
    at.leave("s@4> ");
}

#[test]
fn a_dumb_terminal_gets_no_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.scm"), "(car 1)").expect("a file");
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait", "env", "TERM=dumb", env!("CARGO_BIN_EXE_duet")])
        .args(["run", "bad.scm"])
        .env_remove("NO_COLOR")
        .current_dir(folder.path());
    let mut at = Terminal::start(&mut command, str::to_owned);
    // A colour would stand between the words.
    at.expect("error[wrong-type]: argument 1 of car");
}

#[test]
fn the_prompt_stays_while_fibers_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    // Output without an end of line stands on a line of its own.
    at.type_at("s@1> ", "(display \"hi\")\r", "\"hi\")\r\nhi\r\n");
    // Timers write above the prompt, which returns at once and evaluates meanwhile.
    at.type_at(
        "s@2> ",
        "(define timer (every 50 (lambda () (display \"tick\"))))\r",
        "tick\r\n",
    );
    at.go_on("", "tick\r\n");
    at.go_on("(list 'still 'here)\r", " = (still here)\r");
    at.go_on("", "tick\r\n");
    // The prompt shows a failure in the background, which ends only its fiber.
    at.go_on("(spawn (lambda () (sleep 20) (error \"boom\" 7)))\r", "boom: 7");
    at.go_on("", "the session goes on");
    at.go_on("(begin (on-assert (go) (car 1)) 'watched)\r", " = watched\r");
    at.go_on(
        "(define go (assert! (record 'go)))\r",
        "argument 1 of car must be a pair",
    );
    // One interruption ends what waits, and what computes.
    at.go_on("(sleep 1000000)\r", "1000000)\r\n");
    at.go_on(INTERRUPT, "interrupted");
    at.type_at("> ", "(let loop () (loop))\r", "(loop))\r\n");
    at.go_on(INTERRUPT, "interrupted");
    // One in a handler does not reach the prompt, and ends, too. Its fuel would last for minutes.
    at.type_at(
        "> ",
        "(begin (on-assert (endless) (let loop () (make-vector 100000) (loop))) 'endless)\r",
        " = endless\r",
    );
    at.go_on(
        "(begin (define endless (assert! (record 'endless))) 'begun)\r",
        " = begun\r",
    );
    at.go_on("", "> ");
    // The handler begins a moment after the prompt; an earlier interruption would end the line.
    at.0.await_computing();
    at.go_on(INTERRUPT, "the person stopped it");
    at.go_on("(begin (cancel! timer) 'cancelled)\r", " = cancelled\r");
    at.go_on("(* 6 7)\r", " = 42\r");
    at.leave("> ");
    let mut at = Session::start(folder.path(), "repl s");
    at.type_at("> ", "(* 6 7)\r", " = 42\r");
    at.leave("> ");
}

#[test]
fn questions_of_the_foreground_are_asked_and_those_of_the_background_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    at.type_at("s@1> ", "(await (user-input ':prompt \"name?\"))\r", "name? ");
    at.go_on("(an open (list\r", " = \"(an open (list\"\r");
    at.go_on("(read-line)\r", "(read-line)\r\n");
    at.go_on("typed (too\r", " = \"typed (too\"\r");
    let ask =
        "(define (ask tag) (spawn (lambda () (display (list tag (await (user-input ':prompt tag ':tag tag)))))))\r";
    at.go_on(ask, "> ");
    at.go_on("(for-each ask '(\"one\" \"two\" \"three\"))\r", ": three");
    at.go_on(",answer two second\r", "(two second)");
    at.go_on(",answer first\r", "(one first)");
    at.go_on(",answer third\r", "(three third)");
    at.go_on(",answer nobody\r", "no question is open");
    at.leave("> ");
}

#[test]
fn a_person_types_interrupts_goes_back_leaves_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    // Enter continues an unfinished datum; the value appears below.
    at.type_at("s@1> ", "(define (twice x)\r(* 2 x))\r", "(* 2 x))");
    at.type_at("s@2> ", "(twice 21)\r", " = 42\r");
    // Tab completes every bound name, a fresh definition included.
    at.type_at("s@3> ", "(twi\t", "(twice");
    at.go_on(" 4)\r", " = 8\r");
    at.type_at("s@4> ", "(vector-ref (vector 1) 5)\r", "it left no other trace");
    // An interrupt stops an endless loop; the session lives, and the effects of the input are
    // undone.
    at.type_at("s@5> ", "(define seen 50)\r", "50)");
    at.type_at("s@6> ", "(begin (set! seen 2) (let loop () (loop)))\r", "(loop)))\r\n");
    at.go_on(INTERRUPT, "interrupted");
    at.type_at("s@6> ", "(twice seen)\r", " = 100\r");
    at.type_at("s@7> ", ",back\r", "it was at turn 7");
    at.type_at("s@6> ", ",fork other\r", "begins at s@6");
    at.type_at("s/other@6> ", "(define (twice x) 'other)\r", "'other)");
    at.type_at("s/other@7> ", "(twice 1)\r", " = other\r");
    at.type_at("s/other@8> ", ",switch main\r", ",switch main");
    at.type_at("s@6> ", "(twice 2)\r", " = 4\r");
    at.leave("s@7> ");

    // Definitions and earlier inputs are there again.
    let mut at = Session::start(folder.path(), "repl s");
    at.type_at("s@7> ", &UP.repeat(4), "(define (twice x) 'other)");
    at.go_on(INTERRUPT, "s@7> ");
    at.go_on("(twice 33)\r", " = 66\r");
    at.leave("s@8> ");

    // The session is a program.
    let duet = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_duet"))
            .args(words)
            .current_dir(folder.path())
            .output()
            .expect("duet starts");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let script = duet(&["repl", "s", "--script"]);
    assert!(script.starts_with("(define (twice x)"), "{script}");
    let asked = format!("{script}(display (twice 7))\n");
    std::fs::write(folder.path().join("again.scm"), asked).expect("a file");
    assert_eq!(duet(&["run", "again.scm"]), "14");
}

#[test]
fn one_interruption_ends_a_text_that_is_longer_than_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    at.type_at(
        "s@1> ",
        "(define (twice n x) (if (= n 0) x (twice (- n 1) (cons x x))))\r",
        "x))))\r\n",
    );
    at.type_at("s@2> ", "(write (twice 60 '()))\r", "(twice 60 '()))\r\n");
    // Without an interruption the text ends when memory does.
    at.0.await_computing();
    at.go_on(INTERRUPT, "interrupted");
    at.type_at("s@2> ", "(+ 20 3)\r", " = 23\r");
    at.leave("s@3> ");
}

#[test]
fn the_output_of_an_amended_text_stands_on_a_line_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Session::start(folder.path(), "repl --name s");
    at.type_at("s@1> ", "(display 1)\r", "1)\r\n1\r\n");
    at.type_at("s@2> ", ",amend 2 (display 'other)\r", "another input\r\nother\r\n");
    // The time of an expression is shown beside its fuel.
    at.type_at("s/main-2@2> ", ",time (+ 1 2)\r", " ms, turns: 1, units of fuel");
    at.leave("> ");
}

#[test]
fn two_people_work_in_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut owner = Session::start(folder.path(), "repl --name room");
    owner.type_at("room@1> ", "(import (duet dataspace))\r", "dataspace))\r\n");
    let heard = "(on-assert (said $x) (display (list 'said x)))\r";
    owner.type_at("room@2> ", heard, "#<watch 0>\r\n");
    owner.0.expect("room@3> ");
    let mut guest = Session::start(folder.path(), "repl room --session ada");
    // A guest sees and makes facts of all, and has definitions of its own.
    guest.type_at("ada at room@", "(import (duet dataspace))\r", "dataspace))\r\n");
    guest.type_at("ada at room@", "(assert! (record 'said \"hi\"))\r", "#<handle ");
    owner.0.expect("(said hi)\r\n");
    guest.type_at("ada at room@", "(define x 20) (+ x 1)\r", " = 21\r\n");
    // The names of its session are completed.
    guest.type_at("ada at room@", "(define quadruple 44)\r", "44)\r\n");
    guest.type_at("ada at room@", "quadrup\t\r", " = 44\r\n");
    // Its questions come to it.
    guest.type_at("ada at room@", "(await (user-input :prompt \"Name?\"))\r", "Name? ");
    guest.go_on("Ada\r", " = \"Ada\"\r\n");
    owner.type_at("> ", "x\r", "x is not defined");
    // A failure shows its place in the text; one Ctrl-C ends what computes, or waits.
    guest.type_at("ada at room@", "(begin (display \"before\") (car x))\r", "before\r\n");
    guest.go_on("", "argument 1 of car must be a pair");
    guest.go_on("", ":1:27");
    for endless in ["(let loop () (loop))\r", "(sleep 1000000)\r"] {
        guest.type_at("ada at room@", endless, &format!("{endless}\n"));
        guest.go_on(INTERRUPT, "the client cancelled the request");
    }
    guest.type_at("ada at room@", ",facts <said _>\r", "<said \"hi\">");
    guest.type_at("ada at room@", ",back\r", "a guest cannot do this");
    guest.leave("ada at room@");
    // The session stays, and goes back with the run.
    let mut guest = Session::start(folder.path(), "repl room --session ada");
    guest.type_at("ada at room@", "x\r", " = 20\r\n");
    owner.type_at("> ", "'mine\r", " = mine\r\n");
    guest.type_at("ada at room@", "(define late 7) late\r", " = 7\r\n");
    owner.type_at("> ", ",back\r", "this moves others in the run, too: ada");
    guest.0.expect("later work of this session is undone");
    guest.type_at("ada at room@", "x\r", " = 20\r\n");
    owner.leave("> ");
    guest.0.expect("has ended");
    guest.go_on("\r", "");
}

#[test]
fn a_question_that_others_end_ends_for_the_guest_who_was_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut owner = Session::start(folder.path(), "repl --name room");
    owner.type_at("room@1> ", "'mine\r", " = mine\r\n");
    owner.0.expect("room@2> ");
    let mut guest = Session::start(folder.path(), "repl room --session ada");
    let question = "(await (user-input :prompt \"Sure?\"))\r";
    guest.type_at("ada at room@", question, "Sure? ");
    owner.go_on("", "this one");
    owner.type_at("> ", ",answer yes\r", "");
    guest.0.expect("somebody else has answered; Enter goes on");
    guest.go_on("\r", "");
    guest.type_at("ada at room@", "(+ 40 2)\r", " = 42\r\n");
    owner.type_at("> ", "'again\r", " = again\r\n");
    guest.type_at("ada at room@", question, "Sure? ");
    owner.go_on("", "this one");
    owner.type_at("> ", ",back\r", "this moves others in the run, too: ada");
    guest.0.expect("this is not asked any more; Enter goes on");
    guest.go_on("\r", "");
    guest.type_at("ada at room@", "(+ 50 3)\r", " = 53\r\n");
    owner.type_at("> ", ",goto 1\r", "this moves others in the run, too: ada");
    // The turn is not told here: the run may have taken another one since.
    guest.0.expect("; this session began after it");
    owner.leave("> ");
    guest.0.expect("has ended");
    guest.go_on("\r", "");
}
