//! `workspace/write`: a file's content, replaced as a whole.
//!
//! INVARIANT: whoever looks, also after a crash, sees the old content or the new one, never a mixture; when the call has returned, the new one is on disk.
//! It does not append or patch: a program reads, changes and writes.
//! Read next: `tool/process.rs`.

use std::borrow::Cow;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, Permissions};
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::Workspace;
use crate::tool::arguments::{Arguments, bytes, content, dictionary, integer, path, path_value};
use crate::tool::failure::Kind;
use crate::tool::{Call, Context, Description, EffectClass, Field, Outcome, Tool, blocking};

/// The largest content that a result carries back as the previous one, in bytes.
pub const PREVIOUS_BYTES_MAX: u64 = 1 << 20;

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("workspace/write"),
    summary: Cow::Borrowed("replaces a file of the workspace, or makes it and the directories above it, in one step"),
    payload: Cow::Borrowed(&[
        Field::required("path", "a path inside the workspace, a string", "the file"),
        Field::required(
            "content",
            "a string or a bytevector",
            "all that will be in it; a string is written as UTF-8",
        ),
    ]),
    result: Cow::Borrowed(
        "{size_bytes: integer; changed: false if the file already had this content; \
         previous: what was in it, a string or bytevector, or false if it did not exist or had more than 1 MiB}",
    ),
    effect: EffectClass::Compensable,
    idempotent: true,
    timeout_ms: Some(60_000),
};

/// Tells apart the temporary files of calls at the same time.
static TEMPORARY_NEXT: AtomicU64 = AtomicU64::new(0);

/// The tool.
pub struct Write {
    workspace: Arc<Workspace>,
}

impl Write {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }
}

impl Tool for Write {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        let workspace = Arc::clone(&self.workspace);
        blocking(move || write(&workspace, &payload))
    }
}

/// What is at the path before.
struct Existing {
    bytes: Vec<u8>,
    permissions: Permissions,
}

fn write(workspace: &Workspace, payload: &IOValue) -> Outcome {
    let mut arguments = Arguments::read(&DESCRIPTION, payload)?;
    let named = arguments.required("path", path)?;
    let new = arguments.required("content", bytes)?;
    let explain = |error: io::Error| workspace.explain(&named, &error);

    let target = resolve(workspace.dir(), &named).map_err(explain)?;
    let Some(name) = target.file_name() else {
        return Err(Kind::BadArgument.with(
            format!("`{}` does not name a file", named.display()),
            [("path", path_value(&named))],
        ));
    };
    let existing = existing(workspace, &target)?;
    let is_changed = existing.as_ref().is_none_or(|existing| existing.bytes != new);
    if is_changed {
        let permissions = existing.as_ref().map(|existing| existing.permissions.clone());
        replace(workspace.dir(), &target, Path::new(name), &new, permissions).map_err(explain)?;
    }
    let previous = existing
        .map(|existing| existing.bytes)
        .filter(|bytes| bytes.len() as u64 <= PREVIOUS_BYTES_MAX);
    Ok(dictionary([
        ("size_bytes", integer(new.len() as u64)),
        ("changed", IOValue::new(is_changed)),
        (
            "previous",
            previous.map_or_else(|| IOValue::new(false), |bytes| content(bytes, false).0),
        ),
    ]))
}

/// Follows a symbolic link at the end of the path, so that the file it names is replaced and not the link.
fn resolve(dir: &Dir, path: &Path) -> io::Result<PathBuf> {
    match dir.symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => dir.canonicalize(path),
        Ok(_) => Ok(path.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// Reads what is at the path; refuses what may not be replaced.
fn existing(workspace: &Workspace, path: &Path) -> Result<Option<Existing>, ToolFailure> {
    let explain = |error: io::Error| workspace.explain(path, &error);
    let metadata = match workspace.dir().metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(explain(error)),
    };
    workspace.require_file(path, &metadata)?;
    let permissions = metadata.permissions();
    if permissions.readonly() {
        return Err(Kind::Denied.with(
            format!("`{}` is read-only", path.display()),
            [("path", path_value(path))],
        ));
    }
    let mut bytes = Vec::new();
    workspace
        .dir()
        .open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(explain)?;
    Ok(Some(Existing { bytes, permissions }))
}

/// Writes beside the file, then puts the new one in its place.
fn replace(dir: &Dir, path: &Path, name: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let is_parent_made = !dir.try_exists(parent)?;
    dir.create_dir_all(parent)?;
    let home = dir.open_dir(parent)?;
    let temporary = write_temporary(&home, bytes, permissions)?;
    home.rename(&temporary, &home, name)
        .inspect_err(|_| discard(&home, &temporary))?;
    // The new names are on disk only when the directories that hold them are.
    home.open(".")?.sync_all()?;
    if is_parent_made {
        for ancestor in parent.ancestors().skip(1) {
            let ancestor = if ancestor.as_os_str().is_empty() {
                Path::new(".")
            } else {
                ancestor
            };
            dir.open(ancestor)?.sync_all()?;
        }
    }
    Ok(())
}

/// Writes the bytes to a file of another name and waits until they are on disk; leaves nothing behind if that fails.
fn write_temporary(home: &Dir, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<PathBuf> {
    let (path, mut file) = loop {
        let path = PathBuf::from(format!(".duet-{}.tmp", TEMPORARY_NEXT.fetch_add(1, Ordering::Relaxed)));
        match home.open_with(&path, OpenOptions::new().write(true).create_new(true)) {
            Ok(file) => break (path, file),
            // Left by a process that died, or in use by another one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    };
    let fill = || {
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    fill().inspect_err(|_| discard(home, &path))?;
    Ok(path)
}

/// Removes a temporary file; that it stays is not worth hiding the first error for.
fn discard(home: &Dir, path: &Path) {
    let _ = home.remove_file(path);
}
