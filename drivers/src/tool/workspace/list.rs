//! `workspace/list`: what is in a directory.
//!
//! INVARIANT: the order is that of the paths' bytes, whatever order the file system keeps.
//! It does not follow symbolic links: a link is listed as one.
//! Read next: `tool/workspace/stat.rs`.

use std::borrow::Cow;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{DirEntry, FileType};
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use super::ignore::Ignored;
use crate::tool::arguments::{Arguments, boolean, dictionary, integer, path, path_value, positive};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::failure::Kind;
use crate::tool::{Call, Context, Outcome, Tool, blocking};

const ENTRIES_MAX: u64 = 10_000;

/// Directories of things that are made from others; as a rule not what a program looks for.
const DERIVED: [&str; 2] = ["node_modules", "target"];

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/list"),
    summary: Cow::Borrowed("lists the entries of a directory in the workspace, in the order of their paths"),
    payload: Cow::Borrowed(&[
        Field::optional("path", Shape::Path, "the directory; without it the root"),
        Field::optional(
            "recursive",
            Shape::Flag,
            "whether directories in it are listed too; without it they are not",
        ),
        Field::optional(
            "all",
            Shape::Flag,
            "whether hidden entries, what `.gitignore` files name, `target` and `node_modules` are listed; without it they are not",
        ),
        Field::optional(
            "limit",
            Shape::Positive,
            "how many entries may be returned; without it 10,000",
        ),
    ]),
    result: Cow::Borrowed(
        "a list of {path: string, kind: file | directory | symlink | other, size_bytes: integer}, paths relative to the root",
    ),
    effect: EffectClass::Pure,
    idempotent: true,
    timeout_ms: Some(60_000),
    needs: &["fs.read"],
    retry: Retry::NEVER,
    takes_secrets: false,
};

/// The tool.
pub struct List {
    workspace: Arc<Workspace>,
}

impl List {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for List {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        let workspace = Arc::clone(&self.workspace);
        blocking(move || list(&workspace, &payload))
    }
}

/// What the caller wants to see.
pub(super) struct Wish {
    /// Whether directories are looked into.
    pub(super) is_recursive: bool,
    /// Whether hidden and ignored entries are wanted too.
    pub(super) is_all: bool,
    /// How many entries there may be.
    pub(super) limit: u64,
}

/// Something in a directory.
pub(super) struct Entry {
    /// Where, relative to the root.
    pub(super) path: PathBuf,
    /// What: file, directory, symlink or other.
    pub(super) kind: &'static str,
    /// The length of a file.
    pub(super) size_bytes: u64,
}

fn list(workspace: &Workspace, payload: &IOValue) -> Outcome {
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let start = arguments.optional("path", path)?;
    let start = start.map_or_else(|| PathBuf::from("."), |start| workspace.inside(start));
    let wish = Wish {
        is_recursive: arguments.optional("recursive", boolean)?.unwrap_or(false),
        is_all: arguments.optional("all", boolean)?.unwrap_or(false),
        limit: arguments.optional("limit", positive)?.unwrap_or(ENTRIES_MAX),
    };
    let entries = entries(workspace, &start, &wish)?;
    let values: Vec<IOValue> = entries.iter().map(value).collect();
    Ok(IOValue::new(values))
}

/// Finds what is in a directory, in the order of the paths.
pub(super) fn entries(workspace: &Workspace, start: &Path, wish: &Wish) -> Result<Vec<Entry>, ToolFailure> {
    let mut entries = Vec::new();
    let ignored = if wish.is_all {
        Ignored::default()
    } else {
        Ignored::of(workspace, start)
    };
    let mut directories = vec![(start.to_owned(), ignored)];
    while let Some((directory, ignored)) = directories.pop() {
        match scan(workspace, (&directory, &ignored), wish, &mut entries) {
            Ok(found) => directories.extend(found),
            // A directory that vanishes while its siblings are listed is as if it had vanished before.
            Err(error) if error.kind() == io::ErrorKind::NotFound && directory != start => {}
            Err(error) => return Err(workspace.explain(&directory, &error)),
        }
        if entries.len() as u64 > wish.limit {
            let message = format!(
                "there are more than {} entries in `{}`; list a directory below it, or raise `limit`",
                wish.limit,
                start.display()
            );
            return Err(Kind::OutputLimit.with(message, [("limit", integer(wish.limit)), ("path", path_value(start))]));
        }
    }
    entries.sort_by(|a, b| a.path.as_os_str().as_bytes().cmp(b.path.as_os_str().as_bytes()));
    Ok(entries)
}

/// Adds the entries of one directory, and returns those directories among them that are to be listed.
fn scan(
    workspace: &Workspace,
    (directory, ignored): (&Path, &Ignored),
    wish: &Wish,
    entries: &mut Vec<Entry>,
) -> io::Result<Vec<(PathBuf, Ignored)>> {
    let mut found = Vec::new();
    for entry in workspace.dir().read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_hidden = name.as_bytes().starts_with(b".") || DERIVED.iter().any(|derived| name == *derived);
        if is_hidden && !wish.is_all {
            continue;
        }
        let path = if directory == Path::new(".") {
            PathBuf::from(name)
        } else {
            directory.join(name)
        };
        let Some(entry) = examine(&entry, path)? else { continue };
        let is_directory = entry.kind == "directory";
        if !wish.is_all && ignored.includes(&entry.path, is_directory) {
            continue;
        }
        if is_directory && wish.is_recursive {
            let inside = if wish.is_all {
                Ignored::default()
            } else {
                ignored.entering(workspace, &entry.path)
            };
            found.push((entry.path.clone(), inside));
        }
        entries.push(entry);
        if entries.len() as u64 > wish.limit {
            break;
        }
    }
    Ok(found)
}

/// Looks at one entry; finds nothing if it has vanished.
fn examine(entry: &DirEntry, path: PathBuf) -> io::Result<Option<Entry>> {
    match entry.metadata() {
        Ok(metadata) => {
            let kind = kind(metadata.file_type());
            let size_bytes = if kind == "file" { metadata.len() } else { 0 };
            Ok(Some(Entry { path, kind, size_bytes }))
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
