//! `workspace/list`: what is in a directory.
//!
//! INVARIANT: the order is that of the paths' bytes, whatever order the file system keeps.
//! It does not follow symbolic links: a link is listed as one.
//! Read next: `tool/workspace/write.rs`.

use std::borrow::Cow;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{DirEntry, FileType};
use preserves::IOValue;

use super::Workspace;
use crate::tool::arguments::{Arguments, boolean, dictionary, integer, path, path_value, positive};
use crate::tool::failure::Kind;
use crate::tool::{Call, Context, Description, EffectClass, Field, Outcome, Tool, blocking};

const ENTRIES_MAX: u64 = 10_000;

/// Directories of things that are made from others; as a rule not what a program looks for.
const DERIVED: [&str; 2] = ["node_modules", "target"];

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/list"),
    summary: Cow::Borrowed("lists the entries of a directory in the workspace, in the order of their paths"),
    payload: Cow::Borrowed(&[
        Field::optional(
            "path",
            "a path inside the workspace, a string",
            "the directory; without it the root",
        ),
        Field::optional(
            "recursive",
            "a boolean",
            "whether directories in it are listed too; without it they are not",
        ),
        Field::optional(
            "all",
            "a boolean",
            "whether hidden entries, `target` and `node_modules` are listed; without it they are not",
        ),
        Field::optional(
            "limit",
            "an integer above 0",
            "how many entries may be returned; without it 10,000",
        ),
    ]),
    result: Cow::Borrowed(
        "a list of {path: string, kind: file | directory | symlink | other, size_bytes: integer}, paths relative to the root",
    ),
    effect: EffectClass::Pure,
    idempotent: true,
    timeout_ms: Some(60_000),
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
struct Wish {
    is_recursive: bool,
    is_all: bool,
    limit: u64,
}

struct Entry {
    path: PathBuf,
    kind: &'static str,
    size_bytes: u64,
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
    let mut entries = Vec::new();
    let mut directories = vec![start.clone()];
    while let Some(directory) = directories.pop() {
        match scan(workspace, &directory, &wish, &mut entries) {
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
            return Err(Kind::OutputLimit.with(message, [("limit", integer(wish.limit)), ("path", path_value(&start))]));
        }
    }
    entries.sort_by(|a, b| a.path.as_os_str().as_bytes().cmp(b.path.as_os_str().as_bytes()));
    let values: Vec<IOValue> = entries.iter().map(value).collect();
    Ok(IOValue::new(values))
}

/// Adds the entries of one directory, and returns those directories among them that are to be listed.
fn scan(workspace: &Workspace, directory: &Path, wish: &Wish, entries: &mut Vec<Entry>) -> io::Result<Vec<PathBuf>> {
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
        if entry.kind == "directory" && wish.is_recursive {
            found.push(entry.path.clone());
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

fn kind(file_type: FileType) -> &'static str {
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
