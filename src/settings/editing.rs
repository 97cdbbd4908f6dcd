//! A text or a file in the person's own editor.
//!
//! INVARIANT: the text is kept in a file until it has been used, so a mistake in it loses no work.
//! It does not know what the text means.
//! Read next: `verb/act/amend.rs`.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::settings::environment::environment;
use crate::text::error::CommandError;

/// A text that the person has edited.
pub(crate) struct Edited {
    /// Its present text.
    pub(crate) text: String,
    file: PathBuf,
}

/// Opens a text, kept in a file, in the person's editor, and waits until the person closes it.
///
/// # Errors
/// If the editor cannot be started, fails, or leaves something that is no text.
pub(crate) fn edit(text: &str, file: PathBuf) -> Result<Edited, CommandError> {
    fs::write(&file, text).map_err(|error| cannot_edit(&file, &error))?;
    open(&file, None)?;
    let text = fs::read_to_string(&file).map_err(|error| cannot_edit(&file, &error))?;
    Ok(Edited { text, file })
}

/// Opens a file in the editor that `VISUAL` or `EDITOR` names, at a line if the editor is known to
/// take one, and waits until the person closes it.
///
/// # Errors
/// If the editor cannot be started, or fails.
pub(crate) fn open(file: &Path, line: Option<usize>) -> Result<(), CommandError> {
    let environment = environment();
    let variable = |wanted: &str| {
        let found = environment
            .iter()
            .find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| value.clone())
    };
    let named = variable("VISUAL").or_else(|| variable("EDITOR"));
    if named.is_none() && !io::stdin().is_terminal() {
        return Err(
            CommandError::problem("`vi` needs a terminal, and standard input is none")
                .advise("the variables VISUAL and EDITOR name another editor"),
        );
    }
    let editor = named.unwrap_or_else(|| "vi".into());
    let shown = editor.to_string_lossy();
    let words = line.map_or_else(|| vec![file.into()], |line| at_line(&shown, file, line));
    // The variable may hold arguments, such as `code --wait`.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg("$DUET_EDITOR \"$@\"").arg("sh").args(words);
    let status = command
        .env("DUET_EDITOR", &editor)
        .status()
        .map_err(|error| cannot_edit(file, &error))?;
    if !status.success() {
        return Err(CommandError::problem(format!("the editor `{shown}` failed: {status}"))
            .advise("the variables VISUAL and EDITOR name another one"));
    }
    Ok(())
}

/// The words by which an editor opens a file at a line.
fn at_line(editor: &str, file: &Path, line: usize) -> Vec<OsString> {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut placed = file.as_os_str().to_owned();
    placed.push(format!(":{line}"));
    match name {
        "vi" | "vim" | "nvim" | "view" | "nano" | "emacs" | "emacsclient" | "kak" | "joe" | "mg" | "ne" | "micro" => {
            vec![format!("+{line}").into(), file.into()]
        }
        "hx" | "helix" | "subl" | "zed" => vec![placed],
        "code" | "codium" | "cursor" => vec!["--goto".into(), placed],
        _ => vec![file.into()],
    }
}

fn cannot_edit(file: &Path, error: &io::Error) -> CommandError {
    CommandError::caused(format!("cannot edit `{}`", file.display()), error)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_opens_a_file_at_a_line_in_its_own_way() {
        for (editor, expected) in [
            ("vi", vec!["+3", "a b.scm"]),
            ("/usr/bin/emacsclient -t", vec!["+3", "a b.scm"]),
            ("code --wait", vec!["--goto", "a b.scm:3"]),
            ("hx", vec!["a b.scm:3"]),
            ("ed", vec!["a b.scm"]),
            ("", vec!["a b.scm"]),
        ] {
            assert_eq!(at_line(editor, Path::new("a b.scm"), 3), expected, "{editor}");
        }
    }
}
