//! The files that are tests: those that are named, and those below the folders that are named.
//!
//! INVARIANT: the files come in the order of their paths, each once however it is named, and a loop
//! of links ends.
//! It reads of a file no more than whether it imports SRFI 64. Read next: `workbench/testing.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use duet_runtime::scheme::program_imports;

use crate::text::error::CommandError;

/// How the name of a test ends.
const ENDING: &str = "-test.scm";

/// The names of the library that a suite of any name imports.
const SUITES: [&str; 2] = ["(srfi 64)", "(srfi srfi-64)"];

/// The longest file that is searched for these libraries, in bytes.
const SEARCHED_BYTES_MAX: u64 = 1 << 20;

/// Finds the tests at paths: a file is one, whatever its name; below a folder those that end in
/// -test.scm or import SRFI 64.
///
/// # Errors
/// If a path does not exist, or a folder cannot be read.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = BTreeSet::new();
    for path in paths {
        let cannot = |error| CommandError::caused(format!("cannot look for tests in `{}`", path.display()), &error);
        if path.is_dir() {
            below(path, &mut found).map_err(cannot)?;
        } else if path.exists() {
            found.insert(path.clone());
        } else {
            return Err(CommandError::usage(format!(
                "there is no file or folder `{}`",
                path.display()
            )));
        }
    }
    Ok(each_once(found))
}

/// The paths without those that name a file again. Two links to a file are two tests, because each
/// has its own folder.
fn each_once(found: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut by_place: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in found {
        let folder = Path::new(".").join(path.parent().unwrap_or(Path::new("")));
        let place = match (fs::canonicalize(folder), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.clone(),
        };
        by_place.entry(place).or_insert(path);
    }
    let mut files: Vec<PathBuf> = by_place.into_values().collect();
    files.sort();
    files
}

/// Adds the tests below a folder. Folders whose names begin with a dot hold no tests, and links to
/// folders are not followed.
fn below(folder: &Path, found: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = entry.path();
            let path = path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_owned);
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.') {
                    folders.push(entry.path());
                }
            } else if name.ends_with(ENDING) || (name.ends_with(".scm") && is_suite(&path)) {
                found.insert(path);
            }
        }
    }
    Ok(())
}

/// Whether a file imports SRFI 64. One that cannot be read is no suite, unless it is named.
fn is_suite(path: &Path) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= SEARCHED_BYTES_MAX);
    let text = if is_short {
        fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    let text = String::from_utf8_lossy(&text);
    // A library that a suite includes begins with no import of its own.
    text.contains("srfi")
        && program_imports(&text)
            .iter()
            .any(|library| SUITES.contains(&library.as_str()))
}
