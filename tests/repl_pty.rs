//! `duet repl` at a terminal: a person types, interrupts, goes back, leaves, and comes back.
//!
//! Owns a pseudo-terminal with the command behind it. INVARIANT: nothing is typed before the prompt that it is meant for is shown; a long silence is
//! a failure.
//! What single keys do is tested with the editor, what is written through a pipe in `repl.rs`.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long nothing may be shown. A machine under load starts processes slowly.
const SILENCE_MAX_S: i64 = 60;

const INTERRUPT: &str = "\u{3}";
const END_OF_INPUT: &str = "\u{4}";
const UP: &str = "\u{1b}[A";

/// A session behind a pseudo-terminal.
struct Terminal {
    terminal: File,
    process: Child,
    /// What was shown and not yet expected, without the sequences that move the cursor and set colours.
    shown: String,
    /// The beginning of a sequence whose end was not read yet.
    unfinished: String,
}

impl Terminal {
    fn start(folder: &Path, words: &str) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("it is ours");
        unlockpt(&terminal).expect("it can be unlocked");
        let name = ptsname(&terminal, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("names of terminals are plain").to_owned();
        let end = || {
            let end = OpenOptions::new().read(true).write(true).open(&name);
            Stdio::from(end.expect("it can be opened"))
        };
        // Ctrl-C reaches only those whose terminal it is.
        let process = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_duet")])
            .args(words.split(' '))
            .current_dir(folder)
            .env("TERM", "xterm")
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("it starts");
        Self {
            terminal: File::from(terminal),
            process,
            shown: String::new(),
            unfinished: String::new(),
        }
    }

    /// Waits until a text is shown, and drops everything up to its end.
    #[track_caller]
    fn expect(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let patience = Timespec {
                tv_sec: SILENCE_MAX_S,
                tv_nsec: 0,
            };
            let mut waiting = [PollFd::new(&self.terminal, PollFlags::IN)];
            let ready = poll(&mut waiting, Some(&patience)).expect("terminals can be waited for");
            let mut bytes = [0; 4096];
            let count = if ready == 0 {
                0
            } else {
                self.terminal.read(&mut bytes).unwrap_or_default()
            };
            assert!(count > 0, "{text:?} is not shown, but {:?}", self.shown);
            self.take(&String::from_utf8_lossy(&bytes[..count]));
        }
        let end = self.shown.find(text).map_or(0, |at| at + text.len());
        self.shown.drain(..end);
    }

    /// Keeps what is text of what was shown.
    fn take(&mut self, bytes: &str) {
        let text = std::mem::take(&mut self.unfinished) + bytes;
        let mut rest = text.as_str();
        while let Some(at) = rest.find('\u{1b}') {
            self.shown.push_str(&rest[..at]);
            let sequence = &rest[at..];
            let is_end = |(place, next): &(usize, char)| *place > 1 && next.is_ascii_alphabetic();
            let Some((last, _)) = sequence.char_indices().find(is_end) else {
                self.unfinished = sequence.to_owned();
                return;
            };
            rest = &sequence[last + 1..];
        }
        self.shown.push_str(rest);
    }

    /// Types keys at the prompt that follows a turn's number and waits for what they show.
    #[track_caller]
    fn type_at(&mut self, prompt: &str, keys: &str, shown: &str) {
        self.expect(prompt);
        self.go_on(keys, shown);
    }

    /// Types keys where the last ones ended and waits for what they show.
    #[track_caller]
    fn go_on(&mut self, keys: &str, shown: &str) {
        self.terminal.write_all(keys.as_bytes()).expect("somebody reads");
        self.expect(shown);
    }

    /// Leaves.
    #[track_caller]
    fn leave(mut self, prompt: &str) {
        self.expect(prompt);
        self.terminal
            .write_all(END_OF_INPUT.as_bytes())
            .expect("somebody reads");
        // Until somebody has read it, what a terminal was shown keeps the process from ending.
        let mut rest = Vec::new();
        let _ = self.terminal.read_to_end(&mut rest);
        assert!(self.process.wait().expect("it ends").success());
    }
}

#[test]
fn a_person_types_interrupts_goes_back_leaves_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut at = Terminal::start(folder.path(), "repl --name s");
    // Enter goes on where the datum does; the value is shown below.
    at.type_at("s@1> ", "(define (twice x)\r(* 2 x))\r", "(* 2 x))");
    at.type_at("s@2> ", "(twice 21)\r", "\n42\r");
    // What is bound completes, what was just defined included.
    at.type_at("s@3> ", "(twi\t", "(twice");
    at.go_on(" 4)\r", "\n8\r");
    at.type_at("s@4> ", "(vector-ref (vector 1) 5)\r", "it left no other trace");
    // A loop without end is interrupted; the session lives, and what the input had done is undone.
    at.type_at("s@5> ", "(define seen 50)\r", "50)");
    at.type_at("s@6> ", "(begin (set! seen 2) (let loop () (loop)))\r", "(loop)))\r\n");
    at.go_on(INTERRUPT, "interrupted");
    at.type_at("s@6> ", "(twice seen)\r", "\n100\r");
    at.type_at("s@7> ", ",back\r", "it was at turn 7");
    at.type_at("s@6> ", ",fork other\r", "begins at s@6");
    at.type_at("s/other@6> ", "(define (twice x) 'other)\r", "'other)");
    at.type_at("s/other@7> ", "(twice 1)\r", "\nother\r");
    at.type_at("s/other@8> ", ",switch main\r", ",switch main");
    at.type_at("s@6> ", "(twice 2)\r", "\n4\r");
    at.leave("s@7> ");

    // Definitions and earlier inputs are there again.
    let mut at = Terminal::start(folder.path(), "repl s");
    at.type_at("s@7> ", &UP.repeat(4), "(define (twice x) 'other)");
    at.go_on(INTERRUPT, "s@7> ");
    at.go_on("(twice 33)\r", "\n66\r");
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
