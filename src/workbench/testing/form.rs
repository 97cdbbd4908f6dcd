//! The report of tests as JSON Lines: a line for each check, one for each file, and the counts.
//!
//! INVARIANT: `duet schema test` shows the schema of each line, which follows from [`Form`].
//! Read next: `check.rs`.

use schemars::JsonSchema;
use serde::Serialize;

use super::FileResult;
use super::check::{Check, Status};
use super::coverage::CoverageForm;
use super::report::Counts;

/// A line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Form {
    /// A check: an assertion, or a file as a whole that cannot be tested.
    Check(Box<CheckForm>),
    /// A file, after its checks.
    File(FileForm),
    /// A file that tests have executed, with `--coverage`.
    Coverage(CoverageForm),
    /// The counts of all files, at the end.
    Counts(CountsForm),
}

/// A check.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckForm {
    file: String,
    /// The groups and the name of the assertion; empty for the file as a whole.
    name: String,
    status: Status,
    /// The fault, in a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
    /// The text in which it was wrong, and the line there, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The expected value as a program writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<String>,
    /// Where both differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
    /// The errors of the file's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<String>,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileForm {
    file: String,
    passed: bool,
    /// Its output.
    output: String,
    took_ms: u64,
    /// The file that keeps its former answers, because nothing is recorded of a test that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_answers: Option<String>,
    /// The run that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

/// The counts of checks and files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CountsForm {
    passed: usize,
    failed: usize,
    skipped: usize,
    failed_as_expected: usize,
    files: usize,
}

/// The lines of a file.
pub(crate) fn forms(result: &FileResult) -> Vec<Form> {
    let checks = result
        .checks
        .iter()
        .map(|check| Form::Check(Box::new(check_form(check, result))));
    let file = FileForm {
        file: result.path.display().to_string(),
        passed: result.is_passed(),
        output: result.output.clone(),
        took_ms: u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX),
        kept_answers: result.kept_answers.as_ref().map(|path| path.display().to_string()),
        run: result.run.as_ref().map(ToString::to_string),
    };
    checks.chain([Form::File(file)]).collect()
}

fn check_form(check: &Check, result: &FileResult) -> CheckForm {
    let place = check
        .failure
        .as_ref()
        .and_then(|failure| result.texts.line_of_failure(failure));
    let (source, line) = place.unzip();
    CheckForm {
        file: result.path.display().to_string(),
        name: check.name.clone(),
        status: check.status,
        what: some(&check.what),
        source,
        line,
        expected: check.expected.clone(),
        actual: check.actual.clone(),
        difference: check.difference.clone(),
        errors: some(&check.text),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl From<Counts> for Form {
    fn from(counts: Counts) -> Self {
        let Counts {
            passed,
            failed,
            skipped,
            failed_as_expected,
            files,
        } = counts;
        Self::Counts(CountsForm {
            passed,
            failed,
            skipped,
            failed_as_expected,
            files,
        })
    }
}
