//! Doubles: the option that names a script of them, and the script.
//!
//! INVARIANT: where a server has read the file for a client, nothing opens it again.
//! It stands in for no tool; the drivers do. Read next: `world/world_options.rs`.

use std::fs;
use std::path::PathBuf;

use duet_drivers::tool::double;
use serde::{Deserialize, Serialize};

use super::known::KnownNames;
use crate::text::error::CommandError;

/// The option that names doubles.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DoubleArgument {
    /// Lets the doubles in this file answer in place of tools, so that nothing happens outside.
    #[arg(long, value_name = "FILE")]
    double: Option<PathBuf>,
    /// The text of that file, if a server has read it for a client.
    #[arg(skip)]
    double_text: Option<String>,
}

/// A script of doubles.
#[derive(Clone, Debug)]
pub(crate) struct DoubleScript {
    /// The path that it was read from.
    pub(crate) path: String,
    pub(crate) text: String,
    /// The tools for which it has doubles: a script may be long, and this is asked often.
    names: Vec<String>,
}

impl DoubleScript {
    /// A script of which nobody knows yet for which tools it has doubles.
    fn new(path: String, text: String) -> Self {
        let names = double::names(&text);
        Self { path, text, names }
    }

    /// A script for these tools.
    pub(crate) fn of(names: Vec<String>, path: String, text: String) -> Self {
        Self { path, text, names }
    }

    /// The tools for which it has doubles.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Says which doubles stand in for none of the tools, though their names are nearly those of
    /// some.
    pub(crate) fn misspelt(&self, known: &KnownNames) -> Vec<String> {
        let names = self.names().into_iter();
        let unknown = names.filter(|name| !known.has_tool(name) && known.nearest(name).is_some());
        unknown
            .map(|name| format!("`{}` has a double of `{name}`, but {}", self.path, known.told(&name)))
            .collect()
    }
}

impl DoubleArgument {
    /// Whether the person names doubles.
    pub(super) fn is_given(&self) -> bool {
        self.double.is_some()
    }

    /// Reads the script of doubles, unless it has been read.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(&self) -> Result<Option<DoubleScript>, CommandError> {
        let Some(path) = &self.double else { return Ok(None) };
        let path = path.display().to_string();
        let text = self.double_text.clone().map_or_else(|| fs::read_to_string(&path), Ok);
        let text = text.map_err(|error| CommandError::caused(format!("cannot read `{path}`"), &error))?;
        Ok(Some(DoubleScript::new(path, text)))
    }

    /// These doubles, or those of the person who runs a server.
    ///
    /// # Errors
    /// If both have chosen some.
    pub(super) fn within(self, granted: &Self) -> Result<Self, String> {
        match (&self.double, &granted.double) {
            (Some(_), Some(_)) => {
                Err("whoever started the server has chosen the doubles: leave out `double`".to_owned())
            }
            (_, None) => Ok(self),
            (None, Some(_)) => Ok(granted.clone()),
        }
    }
}
