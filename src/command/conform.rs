//! `duet conform`: cases with the outcomes expected, judged by this very code.

use std::fs;

use duet_runtime::policy::case::{Case, Outcome};

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
SUITE is `ss01`: arbitration of proposals by policy. FILE has one case per line, a JSON object with name, state_snapshot_id,
f_sparse, schemas, tools, principal, proposal and expect. Each difference is printed with what was expected and what was found;
the last line is a summary. The exit code is 1 if there is a difference, and 2 if the file cannot be understood.";

/// The suites.
const SUITE: &str = "ss01";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let suite = arguments.word(0).unwrap_or_default();
    if suite != SUITE {
        return Err(Failure::usage(format!("there is no suite `{suite}`")).advise(format!("the suite is `{SUITE}`")));
    }
    let path = arguments.word(1).unwrap_or_default();
    let bytes = fs::read(path)
        .map_err(|error| Failure::caused(format!("cannot read `{path}`"), &error).with_code(Code::USAGE))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage(format!("`{path}` is not UTF-8 text")))?;
    let cases = read(path, &text)?;
    let mut differences = 0;
    for (line, case) in &cases {
        let ruling = case.rule();
        let found = Outcome::from(&ruling);
        if found != case.expected {
            differences += 1;
            terminal.data(&format!(
                "{path}:{line}: {}\n  expected {}\n  got      {found}\n           {ruling}\n",
                case.name, case.expected
            ))?;
        }
    }
    let agreeing = cases.len() - differences;
    terminal.data(&format!(
        "{SUITE}: {} cases, {agreeing} as expected, {differences} different\n",
        cases.len()
    ))?;
    Ok(if differences == 0 { Code::OK } else { Code::FAILED })
}

/// Reads all cases, each with its line, or says what is wrong with every line that is none.
fn read(path: &str, text: &str) -> Result<Vec<(usize, Case)>, Failure> {
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
        let failure = Failure::usage(format!("this is no case: {first}"));
        let failure = others.iter().take(SHOWN_MAX - 1).fold(failure, Failure::advise);
        return Err(match others.len().checked_sub(SHOWN_MAX - 1) {
            None | Some(0) => failure,
            Some(more) => failure.advise(format!("and {more} more lines")),
        });
    }
    if cases.is_empty() {
        return Err(
            Failure::usage(format!("`{path}` has no cases")).advise("a case is a JSON object on a line of its own")
        );
    }
    Ok(cases)
}

/// How many faulty lines are shown.
const SHOWN_MAX: usize = 10;
