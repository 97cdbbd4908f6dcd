//! The file with earlier inputs.
//!
//! Owns the file's format: one entry per line, oldest first, with line feeds and backslashes
//! escaped.
//! INVARIANT: the file has an entry once, at the place of its last use, with all its lines. Several
//! prompts may write to one file: each only appends. It knows no keys.
//! Read next: `editor.rs`.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How many entries are kept.
pub(super) const ENTRIES_MAX: usize = 2000;

/// The entries, and the file that keeps them.
#[derive(Debug)]
pub(super) struct History {
    /// Nothing if the entries are forgotten when the process ends.
    path: Option<PathBuf>,
    entries: Vec<String>,
}

impl History {
    /// A history that no file keeps.
    pub(super) fn unkept() -> Self {
        Self {
            path: None,
            entries: Vec::new(),
        }
    }

    /// Reads a file, which need not exist, and shortens it if most of its lines are not needed.
    ///
    /// # Errors
    /// The file cannot be read or shortened.
    pub(super) fn load(path: PathBuf) -> io::Result<Self> {
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        let text = String::from_utf8_lossy(&bytes);
        let entries = latest(text.lines().map(decode));
        if text.lines().count() > 2 * ENTRIES_MAX {
            rewrite(&path, &entries)?;
        }
        Ok(Self {
            path: Some(path),
            entries,
        })
    }

    /// The entries, oldest first.
    pub(super) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds an entry as the latest; a blank one is none.
    ///
    /// # Errors
    /// The file cannot be written; the entry is remembered all the same.
    pub(super) fn add(&mut self, entry: &str) -> io::Result<()> {
        if entry.trim().is_empty() || self.entries.last().is_some_and(|last| last == entry) {
            return Ok(());
        }
        self.entries.retain(|known| known != entry);
        self.entries.push(entry.to_owned());
        if self.entries.len() > ENTRIES_MAX {
            self.entries.remove(0);
        }
        let Some(path) = &self.path else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        // One write, so that entries of several prompts do not mix.
        file.write_all(encode(entry).as_bytes())
    }
}

/// The last occurrences of entries, as many as are kept.
fn latest(entries: impl DoubleEndedIterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let is_first = |entry: &String| !entry.is_empty() && seen.insert(entry.clone());
    let mut kept: Vec<String> = entries.rev().filter(is_first).take(ENTRIES_MAX).collect();
    kept.reverse();
    kept
}

fn rewrite(path: &Path, entries: &[String]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let text: String = entries.iter().map(|entry| encode(entry)).collect();
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(text.as_bytes())?;
    fs::rename(beside, path)
}

fn encode(entry: &str) -> String {
    entry.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r") + "\n"
}

fn decode(line: &str) -> String {
    let mut entry = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => entry.extend(match characters.next() {
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                other => other,
            }),
            _ => entry.push(character),
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_whole_and_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/duet/history");
        let mut history = History::load(path.clone()).expect("an absent file is an empty one");
        for entry in ["(a)", "(define (f)\n  \"\\n\")", "(a)", "(a)", " ", ""] {
            history.add(entry).expect("the folder can be written");
        }
        let expected = ["(define (f)\n  \"\\n\")", "(a)"];
        assert_eq!(history.entries(), expected);
        assert_eq!(History::load(path.clone()).expect("it was written").entries(), expected);
        assert_eq!(
            fs::read_to_string(path).expect("it is text"),
            "(a)\n(define (f)\\n  \"\\\\n\")\n(a)\n"
        );
    }

    #[test]
    fn two_prompts_write_to_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history");
        let mut one = History::load(path.clone()).expect("it is absent");
        let mut other = History::load(path.clone()).expect("it is absent");
        one.add("1").expect("it can be written");
        other.add("2").expect("it can be written");
        one.add("3").expect("it can be written");
        assert_eq!(History::load(path).expect("it was written").entries(), ["1", "2", "3"]);
    }

    #[test]
    fn a_long_file_is_shortened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history");
        let lines: String = (0..=2 * ENTRIES_MAX).map(|number| format!("{number}\n")).collect();
        fs::write(&path, lines).expect("it can be written");
        let history = History::load(path.clone()).expect("it can be read");
        assert_eq!(history.entries().len(), ENTRIES_MAX);
        assert_eq!(history.entries().last().map(String::as_str), Some("4000"));
        assert_eq!(
            fs::read_to_string(path).expect("it is text").lines().count(),
            ENTRIES_MAX
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_and_the_entry_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut history = History::load(folder.path().join("history")).expect("it is absent");
        fs::create_dir(folder.path().join("history")).expect("it can be made");
        assert!(history.add("(a)").is_err());
        assert_eq!(history.entries(), ["(a)"]);
        assert!(History::load(folder.path().join("history")).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_one_line(entry in "[\\\\nr\n\ra-c]{0,20}") {
            let line = encode(&entry);
            proptest::prop_assert_eq!(line.find(['\n', '\r']), Some(line.len() - 1));
            proptest::prop_assert_eq!(decode(&line[..line.len() - 1]), entry);
        }
    }
}
