//! Coverage: which lines and branches of a project's files the tests have executed.
//!
//! INVARIANT: the same tests on the same texts give the same report; it has only files below the
//! present directory, and none of the tests themselves.
//! It counts nothing; `runtime/src/scheme/coverage.rs` does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use duet_runtime::scheme::TextCounts;
use schemars::JsonSchema;
use serde::Serialize;

/// The counts of all tests, by file.
#[derive(Debug, Default)]
pub(crate) struct Coverage(BTreeMap<PathBuf, TextCounts>);

/// The counts of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CoverageForm {
    file: String,
    /// The lines with code, and those of them that were executed.
    lines: usize,
    lines_hit: usize,
    /// The ways out of conditions, and those of them that were taken.
    branches: usize,
    branches_hit: usize,
    /// The lines with code that were not executed.
    unhit: Vec<usize>,
}

impl Coverage {
    /// Adds the counts of a test.
    pub(crate) fn add(&mut self, counts: &BTreeMap<String, TextCounts>) {
        for (name, counts) in counts {
            let Some(path) = in_project(Path::new(name)) else {
                continue;
            };
            let sum = self.0.entry(path).or_default();
            for (line, count) in &counts.lines {
                let all = sum.lines.entry(*line).or_default();
                *all = all.saturating_add(*count);
            }
            for (place, ways) in &counts.branches {
                let all = sum.branches.entry(*place).or_default();
                *all = [0, 1].map(|way| all[way].saturating_add(ways[way]));
            }
        }
    }

    /// Leaves files out.
    pub(crate) fn leave_out(&mut self, files: &[PathBuf]) {
        let files: BTreeSet<PathBuf> = files.iter().filter_map(|file| in_project(file)).collect();
        self.0.retain(|path, _| !files.contains(path));
    }

    /// The counts of each file.
    pub(crate) fn forms(&self) -> Vec<CoverageForm> {
        self.0.iter().map(|(path, counts)| form(path, counts)).collect()
    }

    /// The table for people.
    pub(crate) fn table(&self) -> String {
        let forms = self.forms();
        if forms.is_empty() {
            return "no file below this directory was executed besides the tests\n".to_owned();
        }
        let mut rows = vec![["file", "lines", "branches", "lines not executed"].map(str::to_owned)];
        let mut all = (0, 0, 0, 0);
        for form in &forms {
            all.0 += form.lines;
            all.1 += form.lines_hit;
            all.2 += form.branches;
            all.3 += form.branches_hit;
            rows.push([
                duet_drivers::text::line(&form.file).into_owned(),
                share(form.lines_hit, form.lines),
                share(form.branches_hit, form.branches),
                ranges(&form.unhit),
            ]);
        }
        if forms.len() > 1 {
            let (lines, hit, branches, taken) = all;
            rows.push([
                "all".to_owned(),
                share(hit, lines),
                share(taken, branches),
                String::new(),
            ]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        let mut text = String::new();
        for [file, lines, branches, unhit] in &rows {
            let row = format!(
                "{file:<0$}  {lines:>1$}  {branches:>2$}  {unhit}",
                widths[0], widths[1], widths[2]
            );
            let _ = writeln!(text, "{}", row.trim_end());
        }
        text
    }

    /// The counts as a tracefile of lcov.
    ///
    /// Source: geninfo(1), "Tracefile format".
    pub(crate) fn lcov(&self) -> String {
        let mut text = String::new();
        for (path, counts) in &self.0 {
            let _ = writeln!(text, "TN:\nSF:{}", path.display());
            for (block, (place, ways)) in counts.branches.iter().enumerate() {
                let is_reached = ways[0] > 0 || ways[1] > 0;
                for (branch, count) in ways.iter().enumerate() {
                    let taken = if is_reached { count.to_string() } else { "-".to_owned() };
                    let _ = writeln!(text, "BRDA:{},{block},{branch},{taken}", place.line);
                }
            }
            let form = form(path, counts);
            let _ = writeln!(text, "BRF:{}\nBRH:{}", form.branches, form.branches_hit);
            for (line, count) in &counts.lines {
                let _ = writeln!(text, "DA:{line},{count}");
            }
            let _ = writeln!(text, "LF:{}\nLH:{}\nend_of_record", form.lines, form.lines_hit);
        }
        text
    }
}

/// The path of a file below the present directory, from there.
fn in_project(path: &Path) -> Option<PathBuf> {
    let root = fs::canonicalize(".").ok()?;
    let path = fs::canonicalize(path).ok()?;
    path.strip_prefix(root).ok().map(Path::to_owned)
}

fn form(path: &Path, counts: &TextCounts) -> CoverageForm {
    let unhit = counts.lines.iter().filter(|(_, count)| **count == 0);
    let unhit: Vec<usize> = unhit.map(|(line, _)| *line).collect();
    let taken = counts.branches.values().flatten().filter(|count| **count > 0);
    CoverageForm {
        file: path.display().to_string(),
        lines: counts.lines.len(),
        lines_hit: counts.lines.len() - unhit.len(),
        branches: 2 * counts.branches.len(),
        branches_hit: taken.count(),
        unhit,
    }
}

/// A number of a whole, with the percentage rounded down, so that 100 % means all.
fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        whole => format!("{part}/{whole} {} %", part * 100 / whole),
    }
}

/// Numbers in order, neighbours as ranges: `3, 7-9`.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            Some(_) | None => runs.push((*number, *number)),
        }
    }
    let runs = runs.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_shares_are_short() {
        assert_eq!(ranges(&[3, 7, 8, 9, 11]), "3, 7-9, 11");
        assert_eq!(ranges(&[]), "");
        assert_eq!(share(199, 200), "199/200 99 %");
        assert_eq!(share(0, 0), "-");
    }
}
