//! Running a script: each expression in turn, its answer compared with the one written after it.
//!
//! Owns the seam to whatever evaluates ([`Evaluate`]) and the wording of a mismatch.
//! INVARIANT: every mismatch of a script is reported, not only the first.
//! It does not know how evaluation is done; the test that runs the scripts supplies that.
//! Read next: `../../programs/scripts.rs`.

use std::fmt::Write as _;

use super::expectation::{Expectation, ScriptError, ScriptStep, steps};

/// A session that remembers definitions from one expression to the next.
pub(crate) trait Evaluate {
    /// Evaluates one expression and returns its value as `write` shows it.
    ///
    /// # Errors
    /// [`Raised`] if the expression does not read, expand or return.
    fn evaluate(&mut self, text: &str) -> Result<String, Raised>;
}

/// A condition nobody caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raised {
    /// The condition's kind, as written after `; raises:`.
    pub(crate) kind: String,
    /// The message a person would see.
    pub(crate) message: String,
}

/// Runs a script and compares every answer.
///
/// # Errors
/// A report for the test's failure message: the script's fault, or each mismatch with its line.
pub(crate) fn run(script: &str, session: &mut dyn Evaluate) -> Result<(), String> {
    let steps = steps(script).map_err(|error: ScriptError| error.to_string())?;
    let mut report = String::new();
    for step in &steps {
        let answer = session.evaluate(&step.text);
        if !agrees(step, &answer) {
            describe(&mut report, step, &answer);
        }
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

fn agrees(step: &ScriptStep, answer: &Result<String, Raised>) -> bool {
    match (&step.expectation, answer) {
        (Some(Expectation::Value(expected)), Ok(value)) => expected == value,
        (Some(Expectation::Raises(expected)), Err(raised)) => *expected == raised.kind,
        (None, Ok(_)) => true,
        (Some(Expectation::Value(_)) | None, Err(_)) | (Some(Expectation::Raises(_)), Ok(_)) => false,
    }
}

fn describe(report: &mut String, step: &ScriptStep, answer: &Result<String, Raised>) {
    let expected = match &step.expectation {
        Some(Expectation::Value(value)) => format!("=> {value}"),
        Some(Expectation::Raises(kind)) => format!("raises: {kind}"),
        None => "any value".to_owned(),
    };
    let got = match answer {
        Ok(value) => format!("=> {value}"),
        Err(Raised { kind, message }) => format!("raises: {kind} ({message})"),
    };
    // Writing to a `String` cannot fail.
    let _ = write!(
        report,
        "\nline {}: {}\n  expected {expected}\n       got {got}\n",
        step.line, step.text
    );
}
