//! A source in a directory.
//!
//! Owns the reading of files and the walk that finds library files.
//! INVARIANT: a walk visits a bounded number of folders and returns a bounded number of paths,
//! whatever the directory contains.
//! It does not follow what a text includes; `resolver.rs` does.
//! Read next: `source/embedded.rs`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use duet_kernel::expander::SourceError;

use super::Source;

/// Levels of folders below the root that the walk enters.
const LIMIT_DEPTH: usize = 4;
/// Paths that the walk returns at most, and folders that wait for it at most.
const LIMIT_PATHS: usize = 1000;

/// A directory whose files are libraries and what they include.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The tree below `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Source for Directory {
    fn read(&self, path: &str) -> Result<Option<String>, SourceError> {
        let error = match fs::read_to_string(self.root.join(path)) {
            Ok(text) => return Ok(Some(text)),
            Err(error) => error,
        };
        if matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory
        ) {
            return Ok(None);
        }
        if error.kind() == ErrorKind::InvalidData {
            return Err(SourceError("the file is not UTF-8 text".to_owned()));
        }
        Err(SourceError(error.to_string().to_lowercase()))
    }

    fn display_name(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut folders = vec![(String::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for name in names_in(&self.root.join(&folder)) {
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                if path.ends_with(".sld") && paths.len() < LIMIT_PATHS {
                    paths.push(path);
                } else if depth < LIMIT_DEPTH && folders.len() < LIMIT_PATHS && self.root.join(&path).is_dir() {
                    folders.push((path, depth + 1));
                }
            }
        }
        paths.sort();
        paths
    }
}

/// The names of the entries of a folder, in alphabetical order; none if it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files_below_its_root() {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("a")).expect("a folder");
        fs::write(root.path().join("a/b.sld"), "text").expect("a file");
        fs::write(root.path().join("bad.sld"), [0xff, 0xfe]).expect("a file");
        let source = Directory::new(root.path());
        assert_eq!(source.read("a/b.sld"), Ok(Some("text".to_owned())));
        assert_eq!(source.read("a"), Ok(None));
        assert_eq!(source.read("absent.sld"), Ok(None));
        assert_eq!(
            source.read("bad.sld"),
            Err(SourceError("the file is not UTF-8 text".to_owned()))
        );
        assert_eq!(source.paths(), ["a/b.sld", "bad.sld"]);
    }
}
