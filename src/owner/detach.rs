//! Runs in the background: the same command once more, in a process without a terminal.
//!
//! The process that the person started waits until the run is durable, and says how to reach it.
//! Later messages of the other one, such as that the disk is full, go to a file beside the journal;
//! the output of the program is in the journal.
//! INVARIANT: the person learns of every failure before the run begins, as without `--detach`.
//! It starts no run. Read next: `surface/command/attach.rs`.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use duet_drivers::host::command::{WORDS_ON_INPUT, words_text};
use duet_journal::RunId;
use duet_journal::beside::{append_beside, text_beside};
use serde::{Deserialize, Serialize};

use crate::history::journal::Journal;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::{Task, Terminal};

/// Whether a run goes on without a terminal.
#[derive(Clone, Copy, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DetachArguments {
    /// Lets the run go on in the background, and returns when it has begun.
    #[arg(long)]
    detach: bool,
    /// This is the process in the background.
    #[arg(long, hide = true)]
    detached: bool,
}

impl DetachArguments {
    /// Whether the person wants another process to do it.
    pub(crate) fn is_wanted(self) -> bool {
        self.detach && !self.detached
    }

    /// Whether this is that process.
    pub(crate) fn is_done(self) -> bool {
        self.detached
    }

    /// Tells the process that the person started that the run is durable.
    pub(crate) fn announce(self, run: &RunId) {
        if self.detached {
            // Nobody waits for a person who has given up.
            let mut output = std::io::stdout().lock();
            let _gone = writeln!(output, "{run}").and_then(|()| output.flush());
        }
    }
}

fn messages(journal: &Journal) -> PathBuf {
    journal.beside(".messages")
}

/// Starts the other process, which gets its task as this one did: by words, or as a request whose
/// members are the fields of its options.
fn start(mut command: Command, task: &Task) -> io::Result<Child> {
    let request = match task {
        Task::Words(words) => {
            let (name, rest) = words.split_at(1.min(words.len()));
            command.args(name).arg("--detached").args(rest);
            return command.stdin(Stdio::null()).spawn();
        }
        Task::Request(request) => request,
    };
    let mut child = command.arg(WORDS_ON_INPUT).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(words_text(request).as_bytes())?;
    }
    Ok(child)
}

/// Executes the command in a process of its own, which goes on when this one ends.
///
/// # Errors
/// If there can be no such process, or it failed before its run began.
pub(crate) fn detach(journal: &Journal, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    journal.make_folder()?;
    let path = messages(journal);
    let failed = |error: std::io::Error| CommandError::caused("the run cannot go on in the background", &error);
    let before = text_beside(&path).len();
    let log = append_beside(&path).map_err(failed)?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.stdout(Stdio::piped()).stderr(log).process_group(0);
    let mut child = start(command, &terminal.task).map_err(failed)?;
    let mut name = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut name).map_err(failed)?;
    }
    let said = fs::read_to_string(&path).unwrap_or_default();
    if let Some(said) = said.get(before..).filter(|said| !said.is_empty()) {
        terminal.message(said.trim_end().to_owned());
    }
    if name.is_empty() {
        let code = child.wait().map_err(failed)?.code().unwrap_or(1);
        return Ok(ExitCode(u8::try_from(code).unwrap_or(1)));
    }
    terminal.data(name.clone())?;
    let (name, process) = (name.trim_end(), child.id());
    terminal.message(say![
        format!("process {process} executes {name}: "),
        Way::at("attach", name),
        " shows it, ",
        Way::at("stop", name),
        " stops it",
    ]);
    Ok(ExitCode::OK)
}
