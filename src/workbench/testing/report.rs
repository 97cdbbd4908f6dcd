//! The report of tests: a line for each file, the failures at the end, and the counts.
//!
//! INVARIANT: the report of the same files with the same results is the same, so it has no times.
//! It decides nothing. Read next: `check.rs`.

use duet_drivers::text::Text;

use super::FileResult;
use super::check::{Check, Status};
use crate::text::render::{self, CheckTitle};

/// The counts of checks and files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) failed_as_expected: usize,
    pub(crate) files: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, result: &FileResult) {
        self.files += 1;
        for check in &result.checks {
            *match check.status {
                Status::Passed => &mut self.passed,
                Status::Failed => &mut self.failed,
                Status::Skipped => &mut self.skipped,
                Status::FailedAsExpected => &mut self.failed_as_expected,
            } += 1;
        }
    }

    /// The counts in a line.
    pub(crate) fn line(&self) -> String {
        let passed = format!("{} passed, {} failed", self.passed, self.failed);
        let line = [passed].into_iter().chain(self.exceptions()).collect::<Vec<_>>();
        let files = if self.files == 1 { "file" } else { "files" };
        format!("{}; {} {files}\n", line.join(", "), self.files)
    }

    /// How many checks have neither passed nor failed.
    fn exceptions(&self) -> impl Iterator<Item = String> {
        let counts = [
            (self.skipped, "skipped"),
            (self.failed_as_expected, "failed as expected"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, what)| format!("{count} {what}"))
    }

    /// The counts of one file in a few words.
    fn brief(&self) -> String {
        let all = self.passed + self.failed + self.skipped + self.failed_as_expected;
        if self.failed > 0 {
            return format!("{} of {all} failed", self.failed);
        }
        let passed = (self.passed > 0 || all == 0).then(|| format!("{} passed", self.passed));
        passed
            .into_iter()
            .chain(self.exceptions())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The line of a file, with one for each assertion if they are wanted.
pub(crate) fn lines(result: &FileResult, has_checks: bool) -> String {
    let mut counts = Counts::default();
    counts.add(result);
    let word = if result.is_passed() { "ok  " } else { "FAIL" };
    let path = duet_drivers::text::line(&result.path.display().to_string()).into_owned();
    let mut text = format!("{word} {path} ({})\n", counts.brief());
    for check in result.checks.iter().filter(|_| has_checks) {
        let word = match check.status {
            Status::Passed => "ok",
            Status::Failed => "FAIL",
            Status::Skipped => "skip",
            Status::FailedAsExpected => "fails as expected:",
        };
        text.push_str(&format!("  {word} {}\n", duet_drivers::text::line(title(check))));
    }
    text
}

fn title(check: &Check) -> &str {
    match (check.name.as_str(), check.what.as_str()) {
        ("", "") => "(an assertion without a name)",
        ("", what) => what,
        (name, _) => name,
    }
}

/// The failures of a file: each with its place and its values; then what the file printed.
pub(crate) fn failures(result: &FileResult, is_styled: bool) -> Text {
    let mut parts: Vec<Text> = Vec::new();
    for check in result.checks.iter().filter(|check| check.is_failed()) {
        let name = if check.name.is_empty() {
            result.path.display().to_string()
        } else {
            check.name.clone()
        };
        let title = CheckTitle {
            name: &name,
            what: &check.what,
            has_calls: check.has_calls,
        };
        let mut part = render::failed_check(&title, check.failure.as_ref(), &result.texts, is_styled);
        if !check.text.is_empty() {
            part = Text::joined(&[part, Text::lines(&check.text)], "\n");
        }
        let rows = [
            ("expected", &check.expected),
            ("actual", &check.actual),
            ("differs", &check.difference),
        ];
        let rows: String = rows
            .iter()
            .filter_map(|(name, value)| Some(format!("  {name:<8} {}\n", duet_drivers::text::line(value.as_ref()?))))
            .collect();
        parts.push(Text::joined(&[part.ended(), Text::from(rows)], ""));
    }
    if !result.output.is_empty() {
        let output = Text::lines(&result.output);
        let indented: String = output.as_str().lines().map(|line| format!("  {line}\n")).collect();
        parts.push(Text::from(format!("output of {}:\n{indented}", result.path.display())));
    }
    if let Some(kept) = &result.kept_answers {
        parts.push(Text::from(format!(
            "`{}` keeps its former answers, because the file failed; mend it and record again, or delete the answers\n",
            kept.display()
        )));
    }
    match &result.run {
        Some(run) => parts.push(Text::from(format!(
            "`duet explain {run}` and `duet log {run}` look at the run\n"
        ))),
        None if result.is_run => {
            let path = result.path.display();
            parts.push(Text::from(format!("`duet test {path} --keep` keeps the run\n")));
        }
        None => {}
    }
    Text::joined(&parts, "\n")
}
