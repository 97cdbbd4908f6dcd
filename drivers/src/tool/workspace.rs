//! The directory that file tools work in.
//!
//! INVARIANT: no file tool reaches a file outside the root, or one of a journal. `cap-std`
//! resolves paths relative to an open directory, so neither `..`, an absolute path nor a symbolic
//! link (even one swapped in meanwhile) leads out.
//! It does not decide what may be written inside the root; the gate does.
//! Read next: `tool/workspace/read.rs`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::Dir;
use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::arguments::path_value;
use super::failure::Kind;
use tree::Tree;

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
mod temporary;
mod tree;
pub(super) mod watch;
pub(super) mod write;

/// An open root directory.
pub struct Workspace {
    root: PathBuf,
    /// The root as the caller named it, made absolute without following links.
    named_root: PathBuf,
    tree: Tree,
    /// The call that replaces files holds it.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// The directories from which the files of dead processes were removed.
    swept: Mutex<BTreeSet<PathBuf>>,
}

impl Workspace {
    /// Opens the directory `root`.
    ///
    /// # Errors
    /// If it does not exist, is no directory or may not be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let named_root = std::path::absolute(root)?;
        let root = root.canonicalize()?;
        let tree = Tree::open_root(&root)?;
        Ok(Self {
            root,
            named_root,
            tree,
            writing: Arc::default(),
            swept: Mutex::default(),
        })
    }

    /// Keeps the tools out of a journal, which need not exist yet: its file, those beside it whose
    /// names begin with its name, and the whole folder if that is named `.duet`. Without it they
    /// are kept out of every folder of that name.
    ///
    /// # Errors
    /// If the root belongs to the journal.
    pub fn keep_out_of(mut self, journal: &Path) -> io::Result<Self> {
        self.tree.keep_out_of(journal)?;
        Ok(self)
    }

    /// Returns the files, by paths relative to the root.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Removes what dead processes left in a directory, once for each.
    fn sweep(&self, path: &Path, directory: &Dir) {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.insert(path.to_owned()) {
            temporary::sweep(directory);
        }
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
            .tree
            .canonicalize(&self.inside(path.to_owned()))
            .map_err(|error| self.explain(path, &error))?;
        // `canonicalize` gives the root itself an empty path, which names nothing to the system.
        let is_directory =
            inside.as_os_str().is_empty() || self.tree.metadata(&inside).is_ok_and(|metadata| metadata.is_dir());
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
        if tree::is_of_journal(error) {
            let message = format!("`{shown}` belongs to the journal, which no tool reaches");
            return Kind::Denied.with(message, [("path", path_value(path))]);
        }
        if tree::is_through_link(error) {
            let message = format!(
                "`{shown}` goes through a link; policy judges paths of this run, so name the file that is meant"
            );
            return Kind::Denied.with(message, [("path", path_value(path))]);
        }
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
