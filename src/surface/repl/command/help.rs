//! What the prompt says about its commands.
//!
//! INVARIANT: every command has an entry, and no line is longer than the terminal.
//! It executes nothing. Read next: `surface/repl/command.rs`.

use super::{CommaError, TABLE, find, unknown};

/// The columns that a summary needs beside its command; else it stands below.
const SUMMARY_COLUMNS: usize = 30;

/// What stands before a summary below its command.
const INDENT: &str = "  ";

/// Lists the commands, or explains the one that is named with or without its comma. The list has
/// lines of `columns` at most, if a number is given.
///
/// # Errors
/// [`CommaError::Unknown`].
pub(crate) fn help(name: Option<&str>, columns: Option<usize>) -> Result<String, CommaError> {
    let Some(name) = name else {
        return Ok(list(columns));
    };
    let name = name.strip_prefix(',').unwrap_or(name);
    let row = find(name).ok_or_else(|| unknown(name))?;
    Ok(format!("{row}\n  {}\n", row.summary))
}

fn list(columns: Option<usize>) -> String {
    let width = TABLE.iter().map(|row| row.to_string().len()).max().unwrap_or_default();
    let is_narrow = columns.is_some_and(|columns| columns < width + SUMMARY_COLUMNS);
    let lead = if is_narrow {
        INDENT.to_owned()
    } else {
        " ".repeat(width + INDENT.len())
    };
    let mut list = String::new();
    for row in TABLE {
        let mut lines = wrapped(row.summary, columns.map(|columns| columns.saturating_sub(lead.len()))).into_iter();
        if is_narrow {
            list.push_str(&format!("{row}\n"));
        } else {
            let first = lines.next().unwrap_or_default();
            list.push_str(&format!("{:width$}{INDENT}{first}\n", row.to_string()));
        }
        for line in lines {
            list.push_str(&format!("{lead}{line}\n"));
        }
    }
    list
}

/// Breaks a text between its words, if there is a maximum width.
fn wrapped(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else {
        return vec![text.to_owned()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_shows_every_row() {
        let all = help(None, None).expect("it lists");
        assert_eq!(all.lines().count(), TABLE.len());
        assert!(
            all.contains(",back [N]                  take back the last text, or the last N\n"),
            "{all}"
        );
        let one = help(Some(",fork"), Some(10)).expect("it is known");
        assert_eq!(one, ",fork NAME\n  begin a branch here and go on in it\n");
        assert_eq!(
            help(Some("forl"), None).expect_err("it is unknown").advice(),
            "did you mean `,fork`?"
        );
        for row in TABLE {
            assert!(
                row.summary.starts_with(char::is_lowercase) && !row.summary.ends_with('.'),
                "{row}"
            );
        }
    }

    #[test]
    fn help_fits_the_terminal() {
        let wide = help(None, Some(80)).expect("it lists");
        let broken = format!(
            "or the last text, in\n{}$VISUAL or $EDITOR, and evaluate",
            " ".repeat(27)
        );
        assert!(wide.contains(&broken), "{wide}");
        let narrow = help(None, Some(40)).expect("it lists");
        let below = "\n,expand FORM\n  show what a form is expanded to;\n  nothing of it stays\n";
        assert!(narrow.contains(below), "{narrow}");
        for (help, columns) in [(wide, 80), (narrow, 40)] {
            assert!(help.lines().all(|line| line.len() <= columns), "{help}");
        }
    }
}
