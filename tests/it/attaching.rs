//! A person who looks at a run that another process executes: the questions, and how they are
//! answered.
//!
//! INVARIANT: the run is executed by a process of its own until its program ends.
//! It does not test who executes a run; `owners.rs` does. Read next: `surface/command/attach.rs`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr};

use crate::support::desk::Desk;
use crate::support::running::Running;

const ASKER: &str = r#"
(import (scheme base) (scheme write) (scheme process-context) (duet base) (duet dataspace))
(define (show . words) (write words) (newline))
(spawn (lambda () (sleep 3600000)))
(define gone (await (user-input :prompt "Gone?")))
(spawn (lambda () (show (with-timeout 3600000 (user-input :prompt (record 'ask "Colour?" '(red green)))))))
(define name (await (user-input :prompt "Name?")))
(show 'hello name)
(show 'from (await (user-input :prompt "Town?")))
(exit 0)
"#;

/// A guest, whose messages are read line by line.
struct Guest {
    child: Child,
    messages: BufReader<ChildStderr>,
}

impl Guest {
    fn of(desk: &Desk, line: &str) -> Self {
        let mut child = desk.spawn(line);
        let messages = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, messages }
    }

    /// Reads up to the next question; returns its number and the rest of the line.
    fn question(&mut self) -> (String, String) {
        loop {
            let mut line = String::new();
            let length = self.messages.read_line(&mut line).expect("text");
            assert!(length > 0, "it ended without a question");
            if let Some((number, question)) = line.strip_prefix("question ").and_then(|rest| rest.split_once(": ")) {
                return (number.to_owned(), question.trim_end().to_owned());
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{line}").expect("it listens");
    }
}

#[test]
fn a_guest_sees_the_open_questions_and_those_that_come_and_answers_each_by_its_number() {
    let desk = Desk::new(&[("p.scm", ASKER)]);
    let mut running = Running::start(&desk, "run p.scm");
    while desk.duet("answer p yes").code != 0 {}
    while desk.report("waits p")["requests"][3].is_null() {}
    // The guest sees no question that has been answered.
    let mut guest = Guest::of(&desk, "attach p");
    let (first, colour) = guest.question();
    let (second, name) = guest.question();
    let ((_, colour), (number, name)) = if colour.starts_with("Name") {
        ((second, name), (first, colour))
    } else {
        ((first, colour), (second, name))
    };
    assert!(
        colour.starts_with("Colour? [red/green] (until 2") && colour.ends_with("in 59 min)"),
        "{colour}"
    );
    assert_eq!(name, "Name?");
    guest.type_line(&format!("{number} Ada"));
    assert_eq!(running.line(), "(hello \"Ada\")");
    let (number, town) = guest.question();
    assert_eq!(town, "Town?");
    guest.type_line("gre");
    assert_eq!(running.line(), "(green)");
    guest.type_line(&format!("{number} Paris"));
    assert_eq!(running.line(), "(from \"Paris\")");
    let code = guest.child.wait().expect("it ends").code();
    assert_eq!(code, Some(0));
}

#[test]
fn a_guest_stays_while_a_worker_lets_the_run_rest() {
    let text = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(display \"one\") (newline)
(sleep 4000)
(display \"two\") (newline)
(display (await (user-input :prompt \"Who?\"))) (newline)
";
    let desk = Desk::new(&[("p.scm", text)]);
    assert_eq!(desk.duet("run p.scm --queue").code, 0);
    let mut worker = desk.spawn("work");
    while desk.report("runs")[0]["status"] != "sleeping" {}
    let mut guest = Guest::of(&desk, "attach p");
    let mut line = String::new();
    guest.messages.read_line(&mut line).expect("text");
    assert!(line.starts_with("p is sleeping until 2"), "{line}");
    let (_, question) = guest.question();
    assert_eq!(question, "Who?");
    guest.type_line("Ada");
    let printed = guest.child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "one\ntwo\nAda\n");
    assert_eq!(printed.status.code(), Some(0));
    worker.kill().expect("it runs");
    worker.wait().expect("it ends");
}
