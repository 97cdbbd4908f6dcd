//! `duet conform`: cases with expected outcomes, judged by the code that judges runs.
//!
//! INVARIANT: a file with a line that is no case is refused before any case is judged.
//! It does not judge; the runtime's policy does. Read next: `simulate.rs`.

use std::fs;
use std::path::PathBuf;

use duet_runtime::policy::case::{Case, Outcome};

use crate::error::{CommandError, ExitCode};
use crate::terminal::Terminal;

/// Judges the cases of a conformance file and prints each difference.
///
/// FILE has one case per line: a JSON object with name, state_snapshot_id, f_sparse, schemas,
/// tools, principal, proposal and expect. Duet prints each difference with the expected and the
/// actual outcome; the last line is a summary. The exit code is 1 if there is a difference, and 2
/// if the file cannot be understood.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The suite of the cases.
    suite: Suite,
    /// The file with the cases.
    file: PathBuf,
}

/// A conformance suite.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Suite {
    /// Arbitration of proposals by policy.
    Ss01,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let Suite::Ss01 = arguments.suite;
    let path = &arguments.file.display().to_string();
    let bytes = fs::read(&arguments.file)
        .map_err(|error| CommandError::caused(format!("cannot read `{path}`"), &error).with_code(ExitCode::USAGE))?;
    let text = String::from_utf8(bytes).map_err(|_| CommandError::usage(format!("`{path}` is not UTF-8 text")))?;
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
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (line, text) in lines {
        match Case::parse(text) {
            Ok(case) => cases.push((line, case)),
            Err(fault) => faults.push(format!("{path}:{line}: {fault}")),
        }
    }
    if let Some((first, others)) = faults.split_first() {
        let failure = CommandError::usage(format!("this is no case: {first}"));
        let failure = others.iter().take(SHOWN_MAX - 1).fold(failure, CommandError::advise);
        return Err(match others.len().checked_sub(SHOWN_MAX - 1) {
            None | Some(0) => failure,
            Some(more) => failure.advise(format!("and {more} more lines")),
        });
    }
    if cases.is_empty() {
        return Err(CommandError::usage(format!("`{path}` has no cases"))
            .advise("a case is a JSON object on a line of its own"));
    }
    Ok(cases)
}

/// How many faulty lines are shown.
const SHOWN_MAX: usize = 10;
