//! Running a page's examples through the `duet` command.
//!
//! Owns the comparison of a block's lines with a command's output: `…` alone stands for any lines,
//! within a line for any text; standard error follows standard output; an exit code other than 0
//! shows as a last line `[exit N]`.
//! INVARIANT: the blocks of one page share one fresh directory and run in order, so that a page may
//! tell a story.
//! It does not know what any command means.
//! Read next: `../../programs/pages.rs`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::{Duration, Instant};

use super::example::{Command, Example, examples};

/// A command that takes longer than this many seconds has failed.
const TIMEOUT_S: u64 = 120;

/// Where a page is run.
pub(crate) struct Page<'run> {
    /// The executable that stands for `duet`.
    pub(crate) duet: &'run Path,
    /// The directory its blocks share.
    pub(crate) directory: &'run Path,
}

/// Runs the examples of a page through the command, in a fresh directory with a copy of
/// `examples/`; a page without examples needs none.
///
/// # Errors
/// As [`Page::run`].
pub(crate) fn run_page(markdown: &str) -> Result<(), String> {
    if examples(markdown).map_err(|error| error.to_string())?.is_empty() {
        return Ok(());
    }
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    copy(&all, &directory.path().join("examples")).map_err(|error| format!("cannot copy examples: {error}"))?;
    Page {
        duet: Path::new(env!("CARGO_BIN_EXE_duet")),
        directory: directory.path(),
    }
    .run(markdown)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

struct Outcome {
    stdout: String,
    stderr: String,
    /// -1 if a signal ended it.
    exit_code: i32,
}

impl Page<'_> {
    /// Runs every block of a page.
    ///
    /// # Errors
    /// A report for the test's failure message: the first block that cannot be read, or that
    /// behaves differently.
    pub(crate) fn run(&self, markdown: &str) -> Result<(), String> {
        for example in examples(markdown).map_err(|error| error.to_string())? {
            match &example {
                Example::Program {
                    line,
                    text,
                    file,
                    prints,
                    exit_code,
                } => {
                    let name = file.clone().unwrap_or_else(|| format!("line-{line}.scm"));
                    self.run_program(&name, text, prints, *exit_code)
                        .map_err(|report| format!("line {line}: {report}"))?;
                }
                Example::Console { line, commands } => {
                    for command in commands {
                        self.run_command(command)
                            .map_err(|report| format!("line {line}: {report}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run_program(&self, name: &str, text: &str, prints: &[String], exit_code: i32) -> Result<(), String> {
        fs::write(self.directory.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
        let outcome = self.duet(&["run", name])?;
        let printed: Vec<&str> = outcome.stdout.lines().collect();
        if outcome.exit_code != exit_code {
            return Err(format!(
                "expected exit code {exit_code}, got {}\n{}",
                outcome.exit_code, outcome.stderr
            ));
        }
        if printed != prints {
            return Err(difference(prints, &printed));
        }
        Ok(())
    }

    fn run_command(&self, command: &Command) -> Result<(), String> {
        let outcome = self.duet(&command.words[1..])?;
        let exit = (outcome.exit_code != 0).then(|| format!("[exit {}]", outcome.exit_code));
        let shown: Vec<&str> = outcome
            .stdout
            .lines()
            .chain(outcome.stderr.lines())
            .chain(exit.as_deref())
            .collect();
        // An ellipsis must not swallow a failure.
        let is_owned_up = exit.is_none() || command.output.last() == exit.as_ref();
        if is_owned_up && lines_match(&command.output, &shown) {
            return Ok(());
        }
        Err(format!(
            "$ {}\n{}",
            command.words.join(" "),
            difference(&command.output, &shown)
        ))
    }

    /// Output goes to files, so that a full pipe cannot block the command.
    fn duet(&self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Result<Outcome, String> {
        let paths = [self.directory.join(".stdout"), self.directory.join(".stderr")];
        let run = || -> io::Result<Outcome> {
            let child = process::Command::new(self.duet)
                .args(arguments)
                .current_dir(self.directory)
                .stdin(Stdio::null())
                .stdout(File::create(&paths[0])?)
                .stderr(File::create(&paths[1])?)
                .spawn()?;
            let exit_code = wait(child)?;
            let read = |path: &PathBuf| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Ok(Outcome {
                stdout: read(&paths[0])?,
                stderr: read(&paths[1])?,
                exit_code,
            })
        };
        run().map_err(|error| format!("cannot run duet: {error}"))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a hanging command must fail the test, which takes a clock"
)]
fn wait(mut child: process::Child) -> io::Result<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or(-1));
        }
        if start.elapsed() > Duration::from_secs(TIMEOUT_S) {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no end after {TIMEOUT_S} s"),
            ));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn difference(expected: &[String], got: &[&str]) -> String {
    let indent = |line: &str| format!("  | {line}\n");
    let expected: String = expected.iter().map(|line| indent(line)).collect();
    let got: String = got.iter().map(|line| indent(line)).collect();
    format!("the page shows\n{expected}but it was\n{got}")
}

/// Whether lines agree with what a page shows, where `…` alone stands for any number of lines.
pub(crate) fn lines_match(shown: &[String], lines: &[&str]) -> bool {
    let (mut at, mut line) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while line < lines.len() {
        if shown.get(at).is_some_and(|text| text.trim() == "…") {
            at += 1;
            retry = Some((at, line));
        } else if shown.get(at).is_some_and(|text| line_matches(text, lines[line])) {
            at += 1;
            line += 1;
        } else if let Some((after_gap, from)) = retry {
            at = after_gap;
            line = from + 1;
            retry = Some((after_gap, from + 1));
        } else {
            return false;
        }
    }
    shown[at..].iter().all(|text| text.trim() == "…")
}

/// Whether a line agrees with what a page shows, where `…` stands for any text.
fn line_matches(shown: &str, line: &str) -> bool {
    let Some((head, rest)) = shown.split_once('…') else {
        return shown == line;
    };
    let Some(mut line) = line.strip_prefix(head) else {
        return false;
    };
    let (middle, tail) = rest.rsplit_once('…').unwrap_or(("", rest));
    for piece in middle.split('…') {
        let Some(position) = line.find(piece) else { return false };
        line = &line[position + piece.len()..];
    }
    line.ends_with(tail)
}
