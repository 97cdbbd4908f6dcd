//! What the rules share: offences, the tests that demand their absence, and planted files.
//!
//! INVARIANT: an exception stands in a table with its reason, and the tests refuse an entry that
//! nothing needs, so that tables only shrink.
//! It knows no rule.
//! Read next: `modules.rs`.

use std::fmt;

use crate::support::tree::Source;

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offence {
    /// The file, relative to the repository's root.
    pub(crate) path: String,
    /// The line, from 1; 0 stands for the whole file.
    pub(crate) line: usize,
    /// The violation, or the remedy.
    pub(crate) what: String,
}

impl Offence {
    /// An offence of a whole file.
    pub(crate) fn of_file(source: &Source, what: impl Into<String>) -> Offence {
        Offence::at(source, 0, what)
    }

    /// An offence in one line.
    pub(crate) fn at(source: &Source, line: usize, what: impl Into<String>) -> Offence {
        Offence {
            path: source.path.clone(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.what.as_str()) {
            (0, "") => write!(formatter, "{}", self.path),
            (0, what) => write!(formatter, "{}: {what}", self.path),
            (line, what) => write!(formatter, "{}:{line}: {what}", self.path),
        }
    }
}

impl Source {
    /// The path without its last part.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The last part of the path without its extension.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// Line numbers, from 1, with their lines.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Fails with all offences and the advice, unless there are none.
pub(crate) fn require(offences: &[Offence], advice: &str) {
    assert!(offences.is_empty(), "{advice}:\n  {}\n", shown(offences).join("\n  "));
}

/// A file that exists in a test only.
pub(crate) fn planted(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// Offences as a failing test shows them.
pub(crate) fn shown(offences: &[Offence]) -> Vec<String> {
    offences.iter().map(Offence::to_string).collect()
}

/// Whether `word` occurs in `text` with no letter, digit or `_` beside it.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    let is_part = |next: char| next.is_alphanumeric() || next == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// The text of a file at the root or below, or nothing if there is none.
pub(crate) fn text_of(path: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).unwrap_or_default()
}
