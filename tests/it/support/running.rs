//! A `duet` process in the background, as people start it, stop it and kill it.
//!
//! INVARIANT: the process is a real one, and it does not outlive its test.
//! Read next: `desk.rs`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr, ChildStdout, Command};

use super::desk::Desk;

/// A `duet run` in the background, which ends with its test.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) output: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
    /// The messages that were read so far.
    said: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _result = self.child.wait();
    }
}

impl Running {
    pub(crate) fn start(desk: &Desk, line: &str) -> Self {
        let mut child = desk.spawn(line);
        // A program that reads has to wait.
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        Self {
            child,
            output,
            errors,
            said: String::new(),
        }
    }

    /// Reads a line of what the program prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it prints text");
        line.trim_end().to_owned()
    }

    /// Reads up to a line with a text; returns the lines before it, and it.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("text");
            assert!(length > 0, "it ended without {text:?}:\n{all}");
            all.push_str(&line);
            if line.contains(text) {
                return all;
            }
        }
    }

    /// Reads a message to people; nothing if it has ended.
    pub(crate) fn message(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.errors.read_line(&mut line).expect("text");
        self.said.push_str(&line);
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads messages up to one with a text.
    #[track_caller]
    pub(crate) fn until_message(&mut self, text: &str) {
        while let Some(line) = self.message() {
            if line.contains(text) {
                return;
            }
        }
        panic!("it never said {text:?}:\n{}", self.said);
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{line}").expect("it listens");
    }

    pub(crate) fn signal(&self, name: &str) {
        let number = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &number])
                .status()
                .expect("kill")
                .success()
        );
    }

    /// Waits until it ends; returns its exit code, and what it said to people.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        while self.message().is_some() {}
        let code = self.child.wait().expect("it ends").code();
        (code, std::mem::take(&mut self.said))
    }
}
