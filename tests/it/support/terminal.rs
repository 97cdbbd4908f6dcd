//! A pseudo-terminal with a process behind it, as a person sees it.
//!
//! INVARIANT: a test finds each expected text behind the one before it; a long silence is a
//! failure, and so is much output without the text.
//! It does not know what the process is.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The longest silence. A machine under load starts processes slowly.
const SILENCE_MAX_S: i64 = 60;

/// The most output behind which a text is expected: some minutes of a program that writes always.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// Ctrl-C.
pub(crate) const INTERRUPT: &str = "\u{3}";
/// Ctrl-D.
const END_OF_INPUT: &str = "\u{4}";
/// The arrow.
pub(crate) const UP: &str = "\u{1b}[A";

/// A terminal.
pub(crate) struct Terminal {
    file: File,
    process: Child,
    /// Turns the output of the process into the text that tests see.
    filter: Box<dyn FnMut(&str) -> String>,
    /// Output behind the last expected text.
    shown: String,
}

impl Terminal {
    /// Starts a process behind a terminal; `filter` turns its output into the text that tests see.
    pub(crate) fn start(command: &mut Command, filter: impl FnMut(&str) -> String + 'static) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("it is ours");
        unlockpt(&terminal).expect("it can be unlocked");
        let name = ptsname(&terminal, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("names of terminals are plain");
        let end = || {
            let end = OpenOptions::new().read(true).write(true).open(name);
            Stdio::from(end.expect("it can be opened"))
        };
        // A test that wants a pager says so.
        if command.get_envs().all(|(name, _)| name != "DUET_PAGER") {
            command.env("DUET_PAGER", "");
        }
        let process = command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        Self {
            process: process.spawn().expect("it starts"),
            file: File::from(terminal),
            filter: Box::new(filter),
            shown: String::new(),
        }
    }

    /// Waits for a text, and drops everything up to its end.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let patience = Timespec {
                tv_sec: SILENCE_MAX_S,
                tv_nsec: 0,
            };
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            let ready = poll(&mut waiting, Some(&patience)).expect("terminals can be waited for");
            let mut bytes = [0; 4096];
            let count = if ready == 0 {
                0
            } else {
                self.file.read(&mut bytes).unwrap_or_default()
            };
            let is_shown_soon = count > 0 && self.shown.len() <= SHOWN_BYTES_MAX;
            assert!(is_shown_soon, "{text:?} is not shown, but {:?}", self.shown);
            self.shown += &(self.filter)(&String::from_utf8_lossy(&bytes[..count]));
        }
        let end = self.shown.find(text).map_or(0, |at| at + text.len());
        self.shown.drain(..end);
    }

    /// Types keys and waits for what they show.
    #[track_caller]
    pub(crate) fn type_keys(&mut self, keys: &str, shown: &str) {
        self.file.write_all(keys.as_bytes()).expect("somebody reads");
        self.expect(shown);
    }

    /// Waits until the process and its children have used a fifth of a second of processor time
    /// more, as they do only if they compute.
    pub(crate) fn await_computing(&self) {
        await_computing(self.process.id());
    }

    /// Types the end of input and waits until the process has ended.
    pub(crate) fn leave(mut self) -> ExitStatus {
        self.file.write_all(END_OF_INPUT.as_bytes()).expect("somebody reads");
        // A process cannot end before somebody has read its output from the terminal.
        let mut rest = Vec::new();
        let _ = self.file.read_to_end(&mut rest);
        self.process.wait().expect("it ends")
    }
}

/// Waits until a process and its children have used a fifth of a second of processor time more.
pub(crate) fn await_computing(process: u32) {
    let until = used_ticks(process) + 20;
    while used_ticks(process) < until {
        std::thread::yield_now();
    }
}

/// The processor time that a process and its children have used, in hundredths of a second.
///
/// Source: proc(5), `/proc/pid/stat`, fields 14 and 15.
fn used_ticks(process: u32) -> u64 {
    let read = |name: String| std::fs::read_to_string(name).unwrap_or_default();
    let own = read(format!("/proc/{process}/stat"));
    // The name of the program may have blanks; it ends at the last parenthesis.
    let fields = own.rsplit(')').next().unwrap_or_default().split_whitespace();
    let own: u64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    let children = read(format!("/proc/{process}/task/{process}/children"));
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    own + children.map(used_ticks).sum::<u64>()
}
