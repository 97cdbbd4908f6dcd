//! A pager: the program through which a person reads a long report, as `less`.
//!
//! INVARIANT: nothing is lost. A pager that cannot be started, or that ends before it can have
//! shown anything, leaves the report to the terminal; a person who ends one has read enough.
//! It does not decide which reports are paged. Read next: `terminal.rs`.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use duet_drivers::interrupts;

/// The pager where the person names none.
const DEFAULT: &str = "less";

/// The options of `less` where the person sets none: it ends at once if everything fits, shows
/// colours, and leaves what it has shown.
const LESS: &str = "FRX";

/// How much is kept in case the pager has shown nothing, in bytes: more than a pipe takes, so that
/// a pager which took all of it was there.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// The codes with which a shell says that there is no such program.
const MISSING: [i32; 2] = [126, 127];

/// A pager at work.
pub(crate) struct Pager {
    process: Child,
    input: Option<ChildStdin>,
    /// The beginning of the report, as long as nobody may have shown it.
    kept: Option<Vec<u8>>,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The pager has it, or the terminal.
    Yes,
    /// The person has read enough.
    Enough,
}

impl Pager {
    /// Starts the pager that the person wants, if this process writes to a terminal.
    pub(crate) fn begin() -> Option<Self> {
        if !(io::stdout().is_terminal() && io::stdin().is_terminal()) {
            return None;
        }
        let variable = |name: &str| {
            #[expect(clippy::disallowed_methods, reason = "conventions of the command line only")]
            std::env::var_os(name)
        };
        if variable("TERM").is_none_or(|kind| kind == "dumb") {
            return None;
        }
        let mut command = command(variable("DUET_PAGER").or_else(|| variable("PAGER")).as_deref())?;
        if variable("LESS").is_none() {
            command.env("LESS", LESS);
        }
        // Ctrl-C is the pager's.
        let _flag = interrupts::watch().ok()?;
        let mut process = command.stdin(Stdio::piped()).spawn().ok()?;
        Some(Self {
            input: process.stdin.take(),
            process,
            kept: Some(Vec::new()),
        })
    }

    /// Gives the pager a part of the report.
    ///
    /// # Errors
    /// If the terminal takes nothing any more.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<Taken> {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
            if kept.len() > KEPT_BYTES_MAX && self.input.is_some() {
                self.kept = None;
            }
        }
        let Some(input) = &mut self.input else {
            // The pager was none.
            return to_terminal(bytes).map(|()| Taken::Yes);
        };
        if input.write_all(bytes).and_then(|()| input.flush()).is_ok() {
            return Ok(Taken::Yes);
        }
        self.finish()
    }

    /// Waits until the person has ended the pager.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn end(mut self) -> io::Result<()> {
        if self.input.is_some() {
            self.finish()?;
        }
        Ok(())
    }

    /// Waits for the pager's end; a report that it cannot have shown goes to the terminal.
    fn finish(&mut self) -> io::Result<Taken> {
        self.input = None;
        let status = self.process.wait()?;
        let is_missing = status.code().is_some_and(|code| MISSING.contains(&code));
        match self.kept.take().filter(|_| is_missing) {
            Some(kept) => to_terminal(&kept).map(|()| Taken::Yes),
            None => Ok(Taken::Enough),
        }
    }
}

fn to_terminal(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

/// The command of a pager; nothing if the person wants none.
fn command(wanted: Option<&OsStr>) -> Option<Command> {
    let wanted = wanted.unwrap_or(OsStr::new(DEFAULT));
    let words = wanted.to_str().map(str::trim);
    if words.is_some_and(|words| words.is_empty() || words == "cat") {
        return None;
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_./=+,:%@".contains(letter);
    if let Some(words) = words.filter(|words| words.chars().all(is_plain)) {
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next()?);
        command.args(words);
        return Some(command);
    }
    let mut command = Command::new("sh");
    command.args([OsString::from("-c"), wanted.to_owned()]);
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: Option<&str>, words: &[&str]) {
        let command = command(wanted.map(OsStr::new));
        let found = command.map(|command| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            words.map(|word| word.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(found.unwrap_or_default(), words);
    }

    #[test]
    fn a_pager_is_a_program_with_words_or_a_command_of_the_shell() {
        check(None, &["less"]);
        check(Some("more -s"), &["more", "-s"]);
        check(Some("less '+/a b'"), &["sh", "-c", "less '+/a b'"]);
        check(Some("head | less"), &["sh", "-c", "head | less"]);
        check(Some(" cat "), &[]);
        check(Some(""), &[]);
    }
}
