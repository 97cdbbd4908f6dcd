//! Workspaces by the names that runs give them, as a worker or the configuration declares them.
//!
//! A run that began with `--workspace-name` works on any host that has a copy of its workspace
//! under that name, wherever it lies there. A run without a name works where it began.
//! INVARIANT: a worker's run with a name never works in a directory that nobody has declared.
//! It does not open workspaces; `world/world_options.rs` does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::text::error::CommandError;

/// Directories by the names of workspaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspaces(BTreeMap<String, PathBuf>);

impl Workspaces {
    /// Finds the directories that a worker declares.
    ///
    /// # Errors
    /// If one of them is not there, or a name is declared twice.
    pub(crate) fn of(declared: &[Declared]) -> Result<Self, CommandError> {
        let mut found = BTreeMap::new();
        for Declared { name, directory } in declared {
            let shown = directory.display();
            let wrong = |error| CommandError::caused(format!("cannot use `{shown}` as the workspace {name}"), &error);
            let directory = fs::canonicalize(directory).map_err(wrong)?;
            if !directory.is_dir() {
                return Err(CommandError::problem(format!(
                    "the workspace {name}, `{shown}`, is no directory"
                )));
            }
            if found.insert(name.clone(), directory).is_some() {
                return Err(CommandError::usage(format!("the workspace {name} is declared twice")));
            }
        }
        Ok(Self(found))
    }

    /// Adds those of the configuration that are not declared otherwise.
    pub(crate) fn or(mut self, configured: BTreeMap<String, PathBuf>) -> Self {
        for (name, directory) in configured {
            self.0.entry(name).or_insert(directory);
        }
        self
    }

    /// The names of the workspaces.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The directory in which a run works here, by the name of its workspace, or by where it began.
    ///
    /// # Errors
    /// If this host does not have it.
    pub(crate) fn of_run(&self, name: Option<&str>, began: &Path) -> Result<PathBuf, CommandError> {
        if let Some(name) = name {
            let lacking = || {
                CommandError::problem(format!("its workspace is {name}, which this worker does not have")).advise(
                    format!("`duet work --workspace {name}=DIR` declares a copy of it, and so does the configuration"),
                )
            };
            return self.0.get(name).cloned().ok_or_else(lacking);
        }
        if !began.is_dir() {
            let began = began.display();
            return Err(CommandError::problem(format!(
                "its workspace {began} is not on this host"
            )));
        }
        Ok(began.to_owned())
    }
}

/// A workspace that a worker declares.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    name: String,
    directory: PathBuf,
}

impl std::str::FromStr for Declared {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is not NAME=DIR, as in shop=/srv/shop");
        let (name, directory) = text.split_once('=').ok_or_else(form)?;
        if directory.is_empty() {
            return Err(form());
        }
        Ok(Self {
            name: read_name(name)?,
            directory: directory.into(),
        })
    }
}

/// Reads the name of a workspace.
///
/// # Errors
/// If it is not up to 64 letters of ASCII, digits, `-`, `_` and `.`.
pub(crate) fn read_name(text: &str) -> Result<String, String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if text.is_empty() || text.len() > 64 || !text.chars().all(is_allowed) {
        return Err(format!(
            "`{text}` is no name of a workspace: give up to 64 letters, digits, `-`, `_` and `.`"
        ));
    }
    Ok(text.to_owned())
}
