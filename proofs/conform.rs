//! `duet conform`: cases with expected outcomes, judged by the code that judges runs.
//!
//! INVARIANT: a file with a line that is no case is refused before any difference is shown.
//! It does not judge: the runtime's policy judges the cases of ss01, `summoner.rs` those of
//! summoner, `aeiou.rs` those of aeiou.
//! Read next: `summoner.rs`.

mod aeiou;
mod summoner;

#[path = "conform/case.rs"]
mod case;

use std::fs;
use std::path::{Path, PathBuf};

use self::case::{Case, Outcome};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// Judges the cases of a conformance file and prints each difference.
///
/// FILE has one case per line, a JSON object. The last line of the output is a summary.
///
/// A case of ss01 has name, state_snapshot_id, f_sparse, schemas, tools, principal, proposal and
/// expect. Duet prints each difference with the expected and the actual outcome.
///
/// A case of summoner has nodes, parse, accepts, compat, signals, or an agent's tape, receivers,
/// senders, hooks and messages. Without --expected Duet prints the trace of each case. With it
/// Duet prints each difference from the reference's traces, with the row of the decisions that
/// explains it.
///
/// A case of aeiou has an op: envelope, userdata, digest, track, run or loop. Duet treats it as a
/// case of summoner.
///
/// The exit code is 1 if there is a difference that nothing explains, and 2 if a file cannot be
/// understood.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The suite of the cases.
    suite: Suite,
    /// The file with the cases.
    file: PathBuf,
    /// The expected traces of the cases of summoner or aeiou, one a line.
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
}

/// A conformance suite.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Suite {
    /// Arbitration of proposals by policy.
    Ss01,
    /// Routes, tapes and cycles of agents.
    Summoner,
    /// Envelopes, programs and loops of AEIOU v4.
    Aeiou,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    match (arguments.suite, &arguments.expected) {
        (Suite::Ss01, None) => judge(&arguments.file, terminal),
        (Suite::Ss01, Some(_)) => Err(CommandError::usage("the cases of ss01 say themselves what is expected")),
        (Suite::Summoner, None) => summoner::print_traces(&arguments.file, terminal),
        (Suite::Summoner, Some(expected)) => summoner::compare(&arguments.file, expected, terminal),
        (Suite::Aeiou, expected) => aeiou::judge(&arguments.file, expected.as_deref(), terminal),
    }
}

/// Reads a file as text.
fn read_text(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    let bytes = fs::read(path)
        .map_err(|error| CommandError::caused(format!("cannot read `{shown}`"), &error).with_code(ExitCode::USAGE))?;
    String::from_utf8(bytes).map_err(|_| CommandError::usage(format!("`{shown}` is not UTF-8 text")))
}

/// The lines of a text that are not blank, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Judges the cases of ss01.
fn judge(file: &Path, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let path = &file.display().to_string();
    let text = read_text(file)?;
    let cases = read(path, &text)?;
    let mut differences = 0;
    for (line, case) in &cases {
        let ruling = case.rule();
        let found = Outcome::from(&ruling);
        if found != case.expected {
            differences += 1;
            terminal.data(format!(
                "{path}:{line}: {}\n  expected {}\n  got      {found}\n           {ruling}\n",
                case.name, case.expected
            ))?;
        }
    }
    let agreeing = cases.len() - differences;
    terminal.data(format!(
        "ss01: {} cases, {agreeing} as expected, {differences} different\n",
        cases.len()
    ))?;
    Ok(if differences == 0 {
        ExitCode::OK
    } else {
        ExitCode::FAILED
    })
}

/// Reads all cases, each with its line, or says what is wrong with every line that is none.
fn read(path: &str, text: &str) -> Result<Vec<(usize, Case)>, CommandError> {
    let mut cases = Vec::new();
    let mut faults = Vec::new();
    for (line, text) in lines(text) {
        match Case::parse(text) {
            Ok(case) => cases.push((line, case)),
            Err(fault) => faults.push(format!("{path}:{line}: {fault}")),
        }
    }
    refuse(path, &faults, cases.is_empty())?;
    Ok(cases)
}

/// Refuses a file with faulty lines, or without cases.
fn refuse(path: &str, faults: &[String], is_empty: bool) -> Result<(), CommandError> {
    if let Some((first, others)) = faults.split_first() {
        let failure = CommandError::usage(format!("this is no case: {first}"));
        let failure = others.iter().take(SHOWN_MAX - 1).fold(failure, CommandError::advise);
        return Err(match others.len().checked_sub(SHOWN_MAX - 1) {
            None | Some(0) => failure,
            Some(more) => failure.advise(format!("and {more} more lines")),
        });
    }
    if is_empty {
        return Err(CommandError::usage(format!("`{path}` has no cases"))
            .advise("a case is a JSON object on a line of its own"));
    }
    Ok(())
}

/// How many faulty lines are shown.
const SHOWN_MAX: usize = 10;
