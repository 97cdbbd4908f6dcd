//! Recorded answers: the file beside a test that has the answers of the tools that it calls.
//!
//! INVARIANT: recording the same answers again writes the same bytes; the file is a script of
//! doubles, so every command that takes one can use it.
//! It answers no call; the drivers' doubles do. Read next: `../world_options.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use duet_drivers::tool::double::{without, written};
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use crate::error::CommandError;

/// A call of a tool: its name, its payload, its answer.
pub(crate) type Call = (String, IOValue, Result<IOValue, ToolFailure>);

/// The beginnings of the names of tools whose answers the test and the files beside it determine.
const OWN: [&str; 3] = ["clock/", "workspace/", "environment/"];

/// Whether the answers of a tool are recorded.
pub(crate) fn is_recorded(tool: &str) -> bool {
    !OWN.iter().any(|own| tool.starts_with(own))
}

/// The file beside a test.
fn beside(test: &Path) -> PathBuf {
    test.with_extension("answers")
}

/// Reads the answers beside a test as a script of doubles, without those of the tools that are
/// live; returns it with its path.
///
/// # Errors
/// If the file is there and is no such script.
pub(super) fn read(test: &Path, live: &[String]) -> Result<Option<(String, String)>, CommandError> {
    let path = beside(test);
    if !path.exists() {
        return Ok(None);
    }
    let shown = path.display().to_string();
    let text =
        fs::read_to_string(&path).map_err(|error| CommandError::caused(format!("cannot read `{shown}`"), &error))?;
    let script = without(&text, |tool| live.iter().any(|live| live == tool))
        .map_err(|error| CommandError::caused(format!("`{shown}` has no recorded answers"), &error))?;
    Ok(Some((shown, script)))
}

/// Writes the answers that a test received, or removes the file if there are none.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(test: &Path, calls: &[Call]) -> Result<(), CommandError> {
    let path = beside(test);
    let calls: Vec<Call> = calls.iter().filter(|(tool, ..)| is_recorded(tool)).cloned().collect();
    let done = if !calls.is_empty() {
        fs::write(&path, written(&calls))
    } else if path.exists() {
        fs::remove_file(&path)
    } else {
        return Ok(());
    };
    done.map_err(|error| CommandError::caused(format!("cannot write `{}`", path.display()), &error))
}
