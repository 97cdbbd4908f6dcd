//! A process beside a test: it ends with the test, which reads its lines.
//!
//! INVARIANT: no process outlives its test. It knows no protocol. Read next: `../wire.rs`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A process that ends with its test, and its output.
pub(crate) struct Peer {
    pub(crate) process: Child,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Peer {
    /// Starts a command with pipes for its input and output.
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// The next line, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
