//! `workspace/list`: the entries of a directory.
//!
//! INVARIANT: entries are sorted by the bytes of their paths, whatever the order in the file
//! system.
//! It does not follow symbolic links; it lists a link as a link.
//! Read next: `tool/workspace/stat.rs`.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{DirEntry, FileType};
use duet_runtime::driver::ToolFailure;
use duet_runtime::model::counted::counted;
use preserves::IOValue;

use super::Workspace;
use super::ignore::Ignored;
use super::shape::ReadingTool;
use super::stat::modified_ms;
use crate::tool::arguments::{Arguments, boolean, dictionary, integer, path, path_value, positive};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

const ENTRIES_MAX: u64 = 10_000;

/// Directories of derived files, which a program seldom looks for.
const DERIVED: [&str; 2] = ["node_modules", "target"];

const PAYLOAD: &[Field] = &[
    Field::optional("path", Shape::Path, "the directory; without it the root"),
    Field::optional(
        "recursive",
        Shape::Flag,
        "whether directories in it are listed too; without it they are not",
    ),
    Field::optional(
        "all",
        Shape::Flag,
        "whether hidden entries, what `.gitignore` files name, `target` and `node_modules` are listed; \
             without it they are not",
    ),
    Field::optional(
        "limit",
        Shape::Positive,
        "how many entries may be returned; without it 10,000",
    ),
];

static DESCRIPTION: Description = Description::pure(
    "workspace/list",
    "lists the entries of a directory in the workspace, in the order of their paths",
    PAYLOAD,
    Answer::new(
        "a list of {path: string, kind: file | directory | symlink | other, size_bytes: integer}, paths \
         relative to the root",
        Returns::List(&Returns::Fields(&[
            ("path", Returns::Bytes),
            ("kind", Returns::Symbol(&["file", "directory", "symlink", "other"])),
            ("size_bytes", Returns::Integer),
        ])),
    ),
)
.needing(&["fs.read"])
.within_ms(60_000);

/// Makes the tool for a workspace.
pub(crate) fn tool(workspace: Arc<Workspace>) -> ReadingTool {
    ReadingTool {
        description: &DESCRIPTION,
        workspace,
        read: list,
    }
}

/// The options of a listing.
pub(super) struct ListOptions {
    /// Whether it descends into directories.
    pub(super) is_recursive: bool,
    /// Whether it includes hidden and ignored entries.
    pub(super) is_all: bool,
    /// The maximum number of entries.
    pub(super) limit: u64,
}

/// An entry of a directory.
pub(super) struct Entry {
    /// The path, relative to the root.
    pub(super) path: PathBuf,
    /// The kind: file, directory, symlink or other.
    pub(super) kind: &'static str,
    /// The length of a file, in bytes; 0 for other kinds.
    pub(super) size_bytes: u64,
    /// The time of the last change, in milliseconds since 1970.
    pub(super) modified_ms: u64,
}

fn list(workspace: &Workspace, payload: &IOValue, _: &Secrets) -> Outcome {
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let start = arguments.optional("path", path)?;
    let start = start.map_or_else(|| PathBuf::from("."), |start| workspace.inside(start));
    let options = ListOptions {
        is_recursive: arguments.optional("recursive", boolean)?.unwrap_or(false),
        is_all: arguments.optional("all", boolean)?.unwrap_or(false),
        limit: arguments.optional("limit", positive)?.unwrap_or(ENTRIES_MAX),
    };
    let entries = entries(workspace, &start, &options)?;
    let values: Vec<IOValue> = entries.iter().map(value).collect();
    Ok(IOValue::new(values))
}

/// Lists a directory, sorted by path.
pub(super) fn entries(workspace: &Workspace, start: &Path, options: &ListOptions) -> Result<Vec<Entry>, ToolFailure> {
    let mut entries = Vec::new();
    let ignored = if options.is_all {
        Ignored::default()
    } else {
        Ignored::of(workspace, start)
    };
    let mut directories = vec![(start.to_owned(), ignored)];
    while let Some((directory, ignored)) = directories.pop() {
        match scan(workspace, &directory, &ignored, options, &mut entries) {
            Ok(found) => directories.extend(found),
            // A directory that vanishes during the listing is left out.
            Err(error) if error.kind() == io::ErrorKind::NotFound && directory != start => {}
            Err(error) => return Err(workspace.explain(&directory, &error)),
        }
        if entries.len() as u64 > options.limit {
            let message = format!(
                "there are more than {} in `{}`; list a directory below it, or raise `limit`",
                counted(options.limit, "entry"),
                start.display()
            );
            return Err(Kind::OutputLimit.with(
                message,
                [("limit", integer(options.limit)), ("path", path_value(start))],
            ));
        }
    }
    entries.sort_by(|a, b| a.path.as_os_str().as_bytes().cmp(b.path.as_os_str().as_bytes()));
    Ok(entries)
}

/// Adds the entries of one directory; returns the directories among them that must be listed too.
fn scan(
    workspace: &Workspace,
    directory: &Path,
    ignored: &Ignored,
    options: &ListOptions,
    entries: &mut Vec<Entry>,
) -> io::Result<Vec<(PathBuf, Ignored)>> {
    let mut found = Vec::new();
    for entry in workspace.tree().read_dir(directory)? {
        let name = entry.file_name();
        let is_hidden = name.as_bytes().starts_with(b".") || DERIVED.iter().any(|derived| name == *derived);
        if is_hidden && !options.is_all {
            continue;
        }
        let path = if directory == Path::new(".") {
            PathBuf::from(name)
        } else {
            directory.join(name)
        };
        let Some(entry) = examine(&entry, path)? else { continue };
        let is_directory = entry.kind == "directory";
        if !options.is_all && ignored.includes(&entry.path, is_directory) {
            continue;
        }
        if is_directory && options.is_recursive {
            let inside = if options.is_all {
                Ignored::default()
            } else {
                ignored.entering(workspace, &entry.path)
            };
            found.push((entry.path.clone(), inside));
        }
        entries.push(entry);
        if entries.len() as u64 > options.limit {
            break;
        }
    }
    Ok(found)
}

/// Reads the metadata of an entry; returns nothing if it has vanished.
fn examine(entry: &DirEntry, path: PathBuf) -> io::Result<Option<Entry>> {
    match entry.metadata() {
        Ok(metadata) => {
            let kind = kind(metadata.file_type());
            let size_bytes = if kind == "file" { metadata.len() } else { 0 };
            let modified_ms = modified_ms(&metadata)?;
            Ok(Some(Entry {
                path,
                kind,
                size_bytes,
                modified_ms,
            }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Names a kind of file.
pub(super) fn kind(file_type: FileType) -> &'static str {
    if file_type.is_file() {
        "file"
    } else if file_type.is_dir() {
        "directory"
    } else if file_type.is_symlink() {
        "symlink"
    } else {
        "other"
    }
}

fn value(entry: &Entry) -> IOValue {
    dictionary([
        ("path", path_value(&entry.path)),
        ("kind", IOValue::symbol(entry.kind)),
        ("size_bytes", integer(entry.size_bytes)),
    ])
}
