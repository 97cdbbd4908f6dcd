//! The report of tests as JUnit XML, which services that build programs read.
//!
//! INVARIANT: the text is well-formed XML 1.0, whatever a program calls its tests and prints.
//!
//! Source: the elements that all readers share, `testsuites`, `testsuite`, `testcase`, `failure`,
//! `skipped`, `system-out`. Read next: `check.rs`.

use std::fmt::Write;

use super::FileResult;
use super::check::{Check, Status};

/// The report, built up file by file.
#[derive(Default)]
pub(crate) struct Junit {
    suites: String,
}

impl Junit {
    /// Adds a file.
    pub(crate) fn add(&mut self, result: &FileResult) {
        let name = escaped(&result.path.display().to_string());
        let count = |status| result.checks.iter().filter(|check| check.status == status).count();
        let (failures, skipped) = (count(Status::Failed), count(Status::Skipped));
        let (tests, seconds) = (result.checks.len(), result.took.as_secs_f64());
        // Writing to a text cannot fail.
        let _ = writeln!(
            self.suites,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
             skipped=\"{skipped}\" time=\"{seconds:.3}\">"
        );
        for check in &result.checks {
            self.suites.push_str(&case(check, &name));
        }
        if !result.output.is_empty() {
            let _ = writeln!(self.suites, "    <system-out>{}</system-out>", escaped(&result.output));
        }
        self.suites.push_str("  </testsuite>\n");
    }

    /// The whole report.
    pub(crate) fn text(&self) -> String {
        let suites = &self.suites;
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
    }
}

fn case(check: &Check, file: &str) -> String {
    let name = if check.name.is_empty() {
        &check.what
    } else {
        &check.name
    };
    let begin = format!("    <testcase classname=\"{file}\" name=\"{}\"", escaped(name));
    match check.status {
        Status::Passed | Status::FailedAsExpected => format!("{begin}/>\n"),
        Status::Skipped => format!("{begin}><skipped/></testcase>\n"),
        Status::Failed => {
            let parts = [("expected", &check.expected), ("actual", &check.actual)];
            let parts = parts
                .iter()
                .filter_map(|(name, value)| Some(format!("{name}: {}\n", value.as_ref()?)));
            let body: String = parts.chain([check.text.clone()]).collect();
            let (what, body) = (escaped(&check.what), escaped(&body));
            format!("{begin}><failure message=\"{what}\">{body}</failure></testcase>\n")
        }
    }
}

/// Replaces what has a meaning in XML, and what XML 1.0 cannot have.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push('\t'),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_have_is_replaced() {
        assert_eq!(escaped("a<b>&\"\u{1b}[0m\n"), "a&lt;b&gt;&amp;&quot;\u{fffd}[0m&#10;");
    }
}
