//! A text in the person's own editor.
//!
//! INVARIANT: the text is kept in a file until it has been used, so a mistake in it loses no work.
//! It does not know what the text means.
//! Read next: `command/amend.rs`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::error::CommandError;
use crate::world_options::environment;

/// A text that the person has edited.
pub(crate) struct Edited {
    /// Its present text.
    pub(crate) text: String,
    file: PathBuf,
}

/// Opens a text, kept in a file, in the editor that `VISUAL` or `EDITOR` names, and waits until
/// the person closes it.
///
/// # Errors
/// If the editor cannot be started, fails, or leaves something that is no text.
pub(crate) fn edit(text: &str, file: PathBuf) -> Result<Edited, CommandError> {
    let environment = environment();
    let variable = |wanted: &str| {
        let found = environment
            .iter()
            .find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| value.clone())
    };
    let editor = variable("VISUAL")
        .or_else(|| variable("EDITOR"))
        .unwrap_or_else(|| "vi".into());
    let failed = |error| CommandError::caused(format!("cannot edit `{}`", file.display()), &error);
    fs::write(&file, text).map_err(failed)?;
    // The variable may hold arguments, such as `code --wait`.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg("$DUET_EDITOR \"$1\"").arg("sh").arg(&file);
    let status = command.env("DUET_EDITOR", &editor).status().map_err(failed)?;
    if !status.success() {
        let editor = editor.to_string_lossy();
        return Err(CommandError::problem(format!("the editor `{editor}` failed: {status}"))
            .advise("the variables VISUAL and EDITOR name another one"));
    }
    let text = fs::read_to_string(&file).map_err(failed)?;
    Ok(Edited { text, file })
}

impl Edited {
    /// Removes the file, because the text has been used.
    pub(crate) fn done(self) {
        // A file that stays behind does no harm.
        let _ = fs::remove_file(self.file);
    }

    /// Says where the text is, because it could not be used.
    pub(crate) fn kept(&self, error: CommandError) -> CommandError {
        error.advise(format!("the text is kept in `{}`", self.file.display()))
    }
}
