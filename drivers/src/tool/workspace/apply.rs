//! Replacing files in four steps: planning, recording the undo note, replacing, describing the
//! result.
//!
//! INVARIANT: no file is replaced before its undo note is durable. Calls of one workspace replace
//! files one after the other, so a call replaces what it found. A call that is repeated after a
//! crash replaces, and reports, what its first attempt found. A call that fails puts back what it
//! has replaced.
//! It does not choose what to write; the tools do.
//! Read next: `tool/workspace/change.rs`.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Permissions, PermissionsExt as _};
use duet_runtime::driver::ToolFailure;

use super::Workspace;
use super::change::{Change, MODE_NEW, Replacement, State, changes, content_of, record};
use super::temporary::Temporary;
use crate::tool::failure::Kind;
use crate::tool::interface::{Call, Outcome, off_thread};
use crate::tool::undo_log::{UndoLog, UndoNote};

/// Makes the replacements that `plan` returns, and makes the result with `describe`.
pub(crate) fn apply(
    workspace: &Arc<Workspace>,
    undo_log: UndoLog,
    plan: impl FnOnce(&Workspace) -> Result<Vec<Replacement>, ToolFailure> + Send + 'static,
    describe: impl FnOnce(&[Change], &UndoNote) -> Outcome + Send + 'static,
) -> Call {
    let workspace = Arc::clone(workspace);
    Box::pin(async move {
        let _turn = Arc::clone(&workspace.writing).lock_owned().await;
        let recorded = if let Some(kept) = undo_log.kept() {
            // A new plan would take what the first attempt has made for what it found.
            kept
        } else {
            let planned = Arc::clone(&workspace);
            let replacements = off_thread(move || plan(&planned)).await?;
            record(&undo_log, replacements).await?
        };
        off_thread(move || {
            let changes = changes(&recorded.note);
            workspace.make(&changes, &recorded)?;
            describe(&changes, &recorded)
        })
        .await
    })
}

impl Workspace {
    /// Makes all changes that are not made yet, or none.
    ///
    /// # Errors
    /// Those of [`is_pending`](Self::is_pending) and [`put`](Self::put).
    fn make(&self, changes: &[Change], recorded: &UndoNote) -> Result<(), ToolFailure> {
        let pending: Vec<bool> = changes
            .iter()
            .map(|change| self.is_pending(change))
            .collect::<Result<_, _>>()?;
        let put = |change: &Change, state| self.put(change, state, content_of(state, recorded));
        for (place, change) in changes.iter().enumerate().filter(|(place, _)| pending[*place]) {
            if let Err(mut failure) = put(change, &change.after) {
                for made in changes[..=place].iter().rev() {
                    if let Err(left) = put(made, &made.before) {
                        let also = format!("; and `{}` stays changed: {}", made.path.display(), left.message);
                        failure.message.push_str(&also);
                    }
                }
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Resolves a path: relative to the root, without `.` and `..`, and without links except for
    /// the last component.
    ///
    /// # Errors
    /// `outside-root` if it leads outside the root.
    pub(crate) fn resolve(&self, named: &Path) -> Result<PathBuf, ToolFailure> {
        let explain = |error: io::Error| self.explain(named, &error);
        let mut resolved = PathBuf::new();
        let mut components = named.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if resolved.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    // The library's error says how the path leads out.
                    self.tree().symlink_metadata(named).map_err(explain)?;
                    return Err(Kind::OutsideRoot.because(format!("`{}` leads outside the root", named.display())));
                }
                Component::Normal(name) => resolved.push(name),
            }
            let is_link = || {
                self.tree()
                    .symlink_metadata(&resolved)
                    .is_ok_and(|metadata| metadata.is_symlink())
            };
            if components.peek().is_some() && is_link() {
                resolved = self.tree().canonicalize(&resolved).map_err(explain)?;
            }
        }
        Ok(resolved)
    }

    /// Brings the file of a change into `state`; `bytes` is the content of a file.
    ///
    /// # Errors
    /// The system's error; `failed` if the content is missing.
    pub fn put(&self, change: &Change, state: &State, bytes: Option<&[u8]>) -> Result<(), ToolFailure> {
        let path = &change.path;
        let explain = |error: io::Error| self.explain(path, &error);
        let refuse = |why: &str| Kind::Failed.because(format!("`{}` cannot be put back: {why}", path.display()));
        match (state, bytes) {
            (State::Absent, _) => self.remove(path, change.made.as_deref()).map_err(explain),
            (State::File { mode, .. }, Some(bytes)) => {
                let is_new = change.before == State::Absent && *mode == MODE_NEW && state.is_like(&change.after);
                let permissions = (!is_new).then(|| Permissions::from_mode(*mode));
                self.replace(path, bytes, permissions).map_err(explain)
            }
            (State::File { .. }, None) => Err(refuse("its content is not in the journal")),
            (State::Link { target }, _) => self.link(path, target).map_err(explain),
            (State::Other, _) => Err(refuse("it was no file")),
        }
    }

    /// Removes a file, and the directories that were made for it if they are empty.
    fn remove(&self, path: &Path, made: Option<&Path>) -> io::Result<()> {
        match self
            .tree()
            .place(path)
            .and_then(|(directory, name)| directory.remove_file(name))
        {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut lowest = path.parent();
        for above in path
            .ancestors()
            .skip(1)
            .filter(|above| made.is_some_and(|made| above.starts_with(made)))
        {
            if self.tree().remove_dir(above).is_err() {
                break;
            }
            lowest = above.parent();
        }
        // The name is gone from the disk only when its directory is synced.
        match lowest.map(|directory| {
            self.tree()
                .open(or_current(directory))
                .and_then(|directory| directory.sync_all())
        }) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    /// Removes a directory if it is empty.
    pub fn remove_empty(&self, path: &Path) {
        // One that is not, or is gone, stays as it is.
        if self.tree().remove_dir(path).is_ok()
            && let Ok(above) = self.tree().open(or_current(path.parent().unwrap_or(Path::new(""))))
        {
            // After a crash it is there again, and as empty.
            let _lost = above.sync_all();
        }
    }

    fn link(&self, path: &Path, target: &Path) -> io::Result<()> {
        self.remove(path, None)?;
        let (directory, name) = self.tree().place(path)?;
        directory.symlink_contents(target, name)?;
        directory.open(".")?.sync_all()
    }

    /// Writes a temporary file beside the file, then renames it.
    fn replace(&self, path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
        let tree = self.tree();
        let parent = or_current(path.parent().unwrap_or(Path::new("")));
        let is_parent_made = match tree.metadata(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            found => found.map(|_| false)?,
        };
        if is_parent_made {
            tree.create_dir_all(parent)?;
        }
        let (directory, name) = tree.place(path)?;
        self.sweep(parent, &directory);
        Temporary::write(&directory, bytes, permissions)?.rename(&directory, &name)?;
        // The new names are on disk only when their directories are synced.
        directory.open(".")?.sync_all()?;
        if is_parent_made {
            for ancestor in parent.ancestors().skip(1) {
                tree.open(or_current(ancestor))?.sync_all()?;
            }
        }
        Ok(())
    }
}

/// Returns `.` for the empty parent of a path in the root.
fn or_current(parent: &Path) -> &Path {
    if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

    use std::fs;

    use preserves::IOValue;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_failure_names_the_files_that_were_not_put_back() {
        let root = TempDir::new().unwrap();
        fs::write(root.path().join("gone"), "one").unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let deleted = workspace.replacement(Path::new("gone"), None).unwrap().change;
        let refused = Change {
            path: "never".into(),
            before: State::Absent,
            after: State::Other,
            made: None,
        };
        // The note has lost the content.
        let empty = UndoNote {
            note: IOValue::new(false),
            contents: Vec::new(),
        };
        let failure = workspace.make(&[deleted, refused], &empty).unwrap_err();
        assert_eq!(
            failure.message,
            "`never` cannot be put back: it was no file; and `gone` stays changed: `gone` cannot be put back: its \
             content is not in the journal"
        );
    }
}
