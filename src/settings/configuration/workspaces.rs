//! `[workspaces]`: directories of this host by the names that runs give their workspaces.
//!
//! INVARIANT: only the user's own file names directories; the file of a workspace may be somebody
//! else's.
//! It does not know what a worker declares. Read next: `settings/workspaces.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{File, text_of, user_file};
use crate::settings::environment::environment;
use crate::settings::workspaces::read_name;
use crate::text::error::CommandError;

/// All directories that are configured.
///
/// # Errors
/// If the file cannot be read, or names what is no directory; the error names both.
pub(crate) fn all(environment: &[(OsString, OsString)]) -> Result<BTreeMap<String, PathBuf>, CommandError> {
    let Some(path) = user_file(environment) else {
        return Ok(BTreeMap::new());
    };
    let Some(text) = text_of(&path)? else {
        return Ok(BTreeMap::new());
    };
    let file = File {
        shown: path.display().to_string(),
        may_name_keys: true,
        environment,
    };
    let table: Table = toml::from_str(&text).map_err(|error| file.wrong(&format!("it is no TOML: {error}")))?;
    match table.get("workspaces") {
        Some(Value::Table(entries)) => entries
            .iter()
            .map(|(name, entry)| file.workspace(name, entry))
            .collect(),
        Some(_) => Err(file.no_workspaces()),
        None => Ok(BTreeMap::new()),
    }
}

/// The directory for a run that a person goes on with: what the configuration says for the name of
/// its workspace, else where the run began.
///
/// # Errors
/// If a workspace with a name is not on this host.
pub(crate) fn of_run(name: Option<&str>, began: &Path) -> Result<PathBuf, CommandError> {
    let Some(name) = name else { return Ok(began.to_owned()) };
    let environment = environment();
    if let Some(directory) = all(&environment)?.remove(name) {
        return Ok(directory);
    }
    if began.is_dir() {
        return Ok(began.to_owned());
    }
    let problem = CommandError::problem(format!("its workspace is {name}, which this host does not have"));
    let problem = problem.because(format!("it began in {}, which is not here", began.display()));
    Err(problem.advise(format!("with a copy in DIRECTORY, {}", entry(name, &environment))))
}

/// The directory of the workspace with a name, as the configuration says.
///
/// # Errors
/// If it does not say.
pub(crate) fn of_name(name: &str) -> Result<PathBuf, CommandError> {
    let environment = environment();
    all(&environment)?.remove(name).ok_or_else(|| {
        CommandError::problem(format!(
            "its workspace is {name}, and your configuration names no directory for that"
        ))
        .because("its tools worked wherever a worker declares that name, which need not be where the run began")
        .advise(format!("with its files in DIRECTORY, {}", entry(name, &environment)))
    })
}

/// What a person writes to name the directory of a workspace.
fn entry(name: &str, environment: &[(OsString, OsString)]) -> String {
    let file = user_file(environment).unwrap_or_else(|| PathBuf::from("~/.config/duet/config.toml"));
    format!(
        "write `[workspaces]` and below it `{name} = \"DIRECTORY\"` into `{}`",
        file.display()
    )
}

impl File<'_> {
    /// Reads an entry of `[workspaces]`.
    pub(super) fn workspace(&self, name: &str, entry: &Value) -> Result<(String, PathBuf), CommandError> {
        let wrong = |problem: String| self.wrong(&format!("workspaces.{name}: {problem}"));
        let name = read_name(name).map_err(wrong)?;
        let text = entry
            .as_str()
            .ok_or_else(|| wrong("it is no string with a directory, such as \"/srv/shop\"".to_owned()))?;
        if !Path::new(text).is_absolute() {
            return Err(wrong(format!("`{text}` does not begin with `/`")));
        }
        let directory = fs::canonicalize(text).map_err(|error| wrong(format!("`{text}` cannot be used: {error}")))?;
        if !directory.is_dir() {
            return Err(wrong(format!("`{text}` is no directory")));
        }
        Ok((name, directory))
    }

    /// The error for `workspaces` that is no table.
    pub(super) fn no_workspaces(&self) -> CommandError {
        self.wrong("`workspaces` is a table: `[workspaces]` and below it `shop = \"/srv/shop\"`")
    }
}
