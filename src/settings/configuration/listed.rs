//! The commands that list what is configured.
//!
//! INVARIANT: both forms of a list, for people and as JSON, have the same entries.
//! It does not know what the entries are. Read next: `settings/configuration.rs`.

use std::path::PathBuf;

use serde_json::Value;

use super::{Choice, Configuration};
use crate::settings::environment::environment;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// The options of such a command.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArguments {
    /// Reads the configuration of this workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// An entry for people, and as JSON.
pub(crate) type Listed = (String, Value);

impl ListArguments {
    /// Reads the configuration, and prints what `list` makes of it.
    ///
    /// # Errors
    /// If the configuration cannot be read, or nothing can be printed.
    pub(crate) fn print(
        &self,
        terminal: &mut Terminal,
        list: impl FnOnce(&Configuration) -> Vec<Listed>,
        nothing: Option<&str>,
    ) -> Result<ExitCode, CommandError> {
        let all = Configuration::read(&self.workspace, &Choice::default(), &[], &environment())?;
        let (texts, values): (Vec<String>, Vec<Value>) = list(&all).into_iter().unzip();
        if self.json {
            terminal.json(&Value::Array(values))?;
            return Ok(ExitCode::OK);
        }
        if let Some(nothing) = nothing.filter(|_| texts.is_empty()) {
            terminal.message(nothing);
        }
        terminal.data(texts.join("\n"))?;
        Ok(ExitCode::OK)
    }
}
