//! The directory that file tools work in.
//!
//! INVARIANT: no file tool reaches a file outside the root. The operating system or `cap-std`
//! resolves paths relative to an open directory, so neither `..`, an absolute path nor a symbolic
//! link (even one swapped in meanwhile) leads out.
//! It does not decide what may be written inside the root; the gate does.
//! Read next: `tool/workspace/read.rs`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::arguments::path_value;
use super::failure::Kind;

pub mod apply;
pub mod change;
pub(super) mod delete;
pub(super) mod exists;
pub mod ignore;
pub(super) mod list;
pub(super) mod patch;
pub(super) mod read;
pub(super) mod search;
pub mod shape;
pub(super) mod stat;
pub(super) mod write;

/// An open root directory.
pub struct Workspace {
    root: PathBuf,
    /// The root as the caller named it, made absolute without following links.
    named_root: PathBuf,
    dir: Dir,
    /// The call that replaces files holds it.
    writing: Arc<tokio::sync::Mutex<()>>,
}

impl Workspace {
    /// Opens the directory `root`.
    ///
    /// # Errors
    /// If it does not exist, is no directory or may not be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let named_root = std::path::absolute(root)?;
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Self {
            root,
            named_root,
            dir,
            writing: Arc::default(),
        })
    }

    /// Returns the directory, for operations relative to it.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Makes an absolute path below the root relative to it; leaves any other path as it is.
    /// Opening the path checks whether it stays inside.
    pub(crate) fn inside(&self, path: PathBuf) -> PathBuf {
        let relative = [&self.root, &self.named_root]
            .into_iter()
            .find_map(|root| path.strip_prefix(root).ok());
        match relative {
            Some(relative) if relative.as_os_str().is_empty() => PathBuf::from("."),
            Some(relative) => relative.to_owned(),
            None => path,
        }
    }

    /// Finds the absolute path of a directory in the root, for a process to start in.
    ///
    /// # Errors
    /// Those of [`Workspace::explain`]; `bad-argument` if it is not a directory.
    pub(crate) fn directory(&self, path: &Path) -> Result<PathBuf, ToolFailure> {
        let inside = self
            .dir
            .canonicalize(self.inside(path.to_owned()))
            .map_err(|error| self.explain(path, &error))?;
        // `canonicalize` gives the root itself an empty path, which names nothing to the system.
        let is_directory = inside.as_os_str().is_empty() || self.dir.is_dir(&inside);
        match is_directory {
            true => Ok(self.root.join(inside)),
            false => Err(Kind::BadArgument.with(
                format!("`{}` is not a directory", path.display()),
                [("path", path_value(path))],
            )),
        }
    }

    /// Converts an error about `path` to a tool's failure.
    pub(crate) fn explain(&self, path: &Path, error: &io::Error) -> ToolFailure {
        let shown = path.display();
        let root = self.root.display();
        // The library refuses a path that leads out, so its error has no system error number.
        let is_escape = error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        if is_escape {
            let details = [("path", path_value(path)), ("root", path_value(&self.root))];
            let message = format!("`{shown}` leads outside the root `{root}`; name a path inside it, relative to it");
            return Kind::OutsideRoot.with(message, details);
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the list is the standard library's, and open"
        )]
        let (kind, message) = match error.kind() {
            io::ErrorKind::NotFound => (Kind::NotFound, format!("there is no `{shown}` in `{root}`")),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                (Kind::Denied, format!("no permission for `{shown}`"))
            }
            io::ErrorKind::NotADirectory => (
                Kind::BadArgument,
                format!("`{shown}` is not, or goes through what is not, a directory"),
            ),
            io::ErrorKind::IsADirectory => (Kind::BadArgument, format!("`{shown}` is a directory")),
            io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => {
                (Kind::BadArgument, format!("`{shown}` is not a possible path"))
            }
            _ => (Kind::Failed, format!("`{shown}`: {error}")),
        };
        kind.with(message, [("path", path_value(path))])
    }

    /// Requires a regular file.
    ///
    /// # Errors
    /// `bad-argument` for anything else.
    pub(crate) fn require_file(&self, path: &Path, metadata: &cap_std::fs::Metadata) -> Result<(), ToolFailure> {
        if metadata.is_file() {
            return Ok(());
        }
        let what = if metadata.is_dir() {
            "a directory"
        } else {
            "not a regular file"
        };
        let details: [(&'static str, IOValue); 1] = [("path", path_value(path))];
        Err(Kind::BadArgument.with(format!("`{}` is {what}; name a file", path.display()), details))
    }
}

#[cfg(test)]
mod tests;
