//! `duet fmt`: formats programs.
//!
//! Owns the walk through folders and the replacement of a file.
//! INVARIANT: a file changes only as a whole, and only if the reader accepts its text.
//! It knows no style; `workbench/format.rs` does.
//! Read next: `workbench/format.rs`.

mod libraries;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use duet_kernel::diagnostic::Diagnostic;
use duet_runtime::model::counted::counted;
use similar::TextDiff;

use crate::text::error::{CommandError, ExitCode};
use crate::text::render;
use crate::text::terminal::Terminal;
use crate::workbench::format::{ReadError, format, format_lines};
use crate::world::launch::read_text;
use libraries::Libraries;

/// The unchanged lines that a difference shows around each change.
const AROUND: usize = 3;

/// Formats programs and libraries.
///
/// The files keep their tokens, comments and line breaks; indentation, spaces and blank lines
/// become those of one style, and lines of more than 100 columns are broken. Of a folder, all
/// `.scm` and `.sld` files are formatted, also in its folders, except in hidden ones. A file with
/// an error of syntax stays as it is.
///
///   duet fmt
///   duet fmt examples/review main.scm
///   duet fmt --check src
///   duet fmt - < main.scm
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Files and folders, or `-` for standard input; without any, the current folder.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Changes nothing, names the files that are not formatted, and exits with 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Changes nothing and shows what would change.
    #[arg(long)]
    diff: bool,
    /// Formats only the forms at top level that touch these lines, such as 12 or 12:30.
    #[arg(long, value_name = "LINES", value_parser = read_range)]
    range: Option<RangeInclusive<usize>>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let is_input = arguments.files.iter().any(|file| file.as_os_str() == "-");
    if is_input && arguments.files.len() > 1 {
        return Err(CommandError::usage("`-` stands alone: standard input is one text"));
    }
    if is_input {
        return format_input(arguments, terminal);
    }
    let files = files(&arguments.files)?;
    if arguments.range.is_some() && files.len() != 1 {
        return Err(CommandError::usage(
            "`--range` needs one file, as lines are those of one text",
        ));
    }
    let (mut code, mut changed, mut libraries) = (ExitCode::OK, 0_usize, Libraries::default());
    for file in &files {
        match format_file(file, arguments, &mut libraries, terminal) {
            Ok(is_changed) => changed += usize::from(is_changed),
            Err(error @ CommandError::OutputClosed) => return Err(error),
            Err(error) => code = terminal.tell_error(error),
        }
    }
    if arguments.check {
        return Ok(if changed > 0 { ExitCode::FAILED } else { code });
    }
    if !arguments.diff {
        terminal.message(format!("formatted {changed} of {}", counted(files.len(), "file")));
    }
    Ok(code)
}

fn format_input(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| CommandError::caused("standard input cannot be read", &error))?;
    let own = Own {
        name: "<stdin>",
        // The text of an editor is that of a file in the folder in which the editor calls.
        file: Path::new("./-"),
        text: &text,
    };
    let formatted = own.formatted(arguments, &mut Libraries::default())?;
    let is_changed = formatted != text;
    if arguments.diff {
        terminal.exact(&difference("<stdin>", &text, &formatted))?;
    } else if !arguments.check {
        terminal.exact(&formatted)?;
    } else if is_changed {
        terminal.data("<stdin>\n")?;
    }
    let fails = arguments.check && is_changed;
    Ok(if fails { ExitCode::FAILED } else { ExitCode::OK })
}

/// Formats a file; whether it was not formatted before.
fn format_file(
    file: &Path,
    arguments: &Arguments,
    libraries: &mut Libraries,
    terminal: &mut Terminal,
) -> Result<bool, CommandError> {
    let name = file.display().to_string();
    let text = read_text(file)?;
    let own = Own {
        name: &name,
        file,
        text: &text,
    };
    let formatted = own.formatted(arguments, libraries)?;
    if formatted == text {
        return Ok(false);
    }
    if arguments.check {
        terminal.data(format!("{name}\n"))?;
    }
    if arguments.diff {
        terminal.exact(&difference(&name, &text, &formatted))?;
    }
    if !arguments.check && !arguments.diff {
        replace(file, &formatted)
            .map_err(|error| CommandError::caused(format!("`{name}` cannot be written"), &error))?;
    }
    Ok(true)
}

/// A text that is to be formatted.
struct Own<'a> {
    /// Its name in messages.
    name: &'a str,
    /// Where it is.
    file: &'a Path,
    text: &'a str,
}

impl Own<'_> {
    fn formatted(&self, arguments: &Arguments, libraries: &mut Libraries) -> Result<String, CommandError> {
        let imported = libraries.imported(self.file, self.text);
        let formatted = match &arguments.range {
            Some(lines) => format_lines(self.text, lines, &imported),
            None => format(self.text, &imported),
        };
        formatted.map_err(|errors: Vec<ReadError>| {
            let found: Vec<Diagnostic> = errors.into_iter().map(Diagnostic::from).collect();
            CommandError::Shown(render::plain_diagnostics(&found, self.name, self.text))
        })
    }
}

/// The difference of two texts in the unified form.
fn difference(name: &str, before: &str, after: &str) -> String {
    let lines = TextDiff::from_lines(before, after);
    lines
        .unified_diff()
        .context_radius(AROUND)
        .header(name, name)
        .to_string()
}

/// Replaces a file at once, so that whoever reads it meanwhile reads one text or the other. It
/// keeps its permissions; a symbolic link stays one.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = fs::canonicalize(file)?;
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".fmt");
    let beside = file.with_file_name(name);
    let written = File::create(&beside)
        .and_then(|mut new| {
            new.write_all(text.as_bytes())?;
            new.set_permissions(fs::metadata(&file)?.permissions())?;
            new.sync_all()
        })
        .and_then(|()| fs::rename(&beside, &file));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The files that are named, and those of the folders that are named, in the order of their names.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let here = [PathBuf::from(".")];
    let named = if named.is_empty() { &here } else { named };
    let mut found = Vec::new();
    for path in named {
        if path.is_dir() {
            found.extend(files_below(path)?);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// The sources in a folder and its folders, without hidden ones; links to folders are not followed.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let wrong = |error: &io::Error| {
            CommandError::caused(format!("the folder `{}` cannot be read", folder.display()), error)
        };
        for entry in fs::read_dir(&folder).map_err(|error| wrong(&error))? {
            let entry = entry.map_err(|error| wrong(&error))?;
            let kind = entry.file_type().map_err(|error| wrong(&error))?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            let is_source = path.extension().is_some_and(|end| end == "scm" || end == "sld");
            if kind.is_dir() {
                folders.push(path);
            } else if is_source && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found
        .into_iter()
        .map(|path| path.strip_prefix(".").map_or(path.clone(), Path::to_owned))
        .collect())
}

/// Reads lines, such as `12` or `12:30`.
fn read_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let wrong = || format!("`{text}` is no range of lines: write 12 or 12:30, counted from 1");
    let (first, last) = text.split_once([':', '-']).unwrap_or((text, text));
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    let (first, last) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
    if first > last { Err(wrong()) } else { Ok(first..=last) }
}
