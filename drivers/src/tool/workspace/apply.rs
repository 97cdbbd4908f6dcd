//! Files replaced in four steps: looked at, kept in the journal, replaced, told of.
//!
//! INVARIANT: nothing is replaced before it is kept; calls that replace files of one workspace take their turns, so that what one of them found
//! is what it replaces. A call that is repeated after a crash replaces what its first attempt found, and tells of that.
//! It does not choose what to write; the tools do.
//! Read next: `tool/workspace/restore.rs`.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt as _};
use duet_runtime::driver::ToolFailure;

use super::Workspace;
use super::change::{Change, Replacement, State, changes, content_of, keep};
use crate::tool::failure::Kind;
use crate::tool::keeper::{Keeper, Kept};
use crate::tool::{Call, Outcome, off_thread};

/// Tells apart the temporary files of calls at the same time.
static TEMPORARY_NEXT: AtomicU64 = AtomicU64::new(0);

/// Does what `plan` finds is to be done, and tells of it with `tell`.
pub(crate) fn carry_out(
    workspace: &Arc<Workspace>,
    keeper: Keeper,
    plan: impl FnOnce(&Workspace) -> Result<Vec<Replacement>, ToolFailure> + Send + 'static,
    tell: impl FnOnce(&[Change], &Kept) -> Outcome + Send + 'static,
) -> Call {
    let workspace = Arc::clone(workspace);
    Box::pin(async move {
        let _turn = Arc::clone(&workspace.writing).lock_owned().await;
        let place = Arc::clone(&workspace);
        let replacements = off_thread(move || plan(&place)).await?;
        let kept = keep(&keeper, replacements).await?;
        off_thread(move || {
            let changes = changes(&kept.note);
            for change in &changes {
                if workspace.is_pending(change)? {
                    workspace.put(change, &change.after, content_of(&change.after, &kept))?;
                }
            }
            tell(&changes, &kept)
        })
        .await
    })
}

impl Workspace {
    /// Finds the path by which a file is known: relative to the root, without detours and, but for its end, without links.
    ///
    /// # Errors
    /// `outside-root` if it leads out.
    pub(crate) fn settle(&self, named: &Path) -> Result<PathBuf, ToolFailure> {
        let explain = |error: io::Error| self.explain(named, &error);
        let mut settled = PathBuf::new();
        let mut components = named.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if settled.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    // The library says in which words a way out is refused.
                    self.dir().symlink_metadata(named).map_err(explain)?;
                    return Err(Kind::OutsideRoot.because(format!("`{}` leads outside the root", named.display())));
                }
                Component::Normal(name) => settled.push(name),
            }
            let is_link = || {
                self.dir()
                    .symlink_metadata(&settled)
                    .is_ok_and(|metadata| metadata.is_symlink())
            };
            if components.peek().is_some() && is_link() {
                settled = self.dir().canonicalize(&settled).map_err(explain)?;
            }
        }
        Ok(settled)
    }

    /// Puts something else in the place of what a change is about; `bytes` is the content of a file.
    ///
    /// # Errors
    /// What the system refuses; `failed` if a content is missing.
    pub fn put(&self, change: &Change, state: &State, bytes: Option<&[u8]>) -> Result<(), ToolFailure> {
        let path = &change.path;
        let explain = |error: io::Error| self.explain(path, &error);
        let refuse = |why: &str| Kind::Failed.because(format!("`{}` cannot be put back: {why}", path.display()));
        match (state, bytes) {
            (State::Absent, _) => self.remove(path, change.made.as_deref()).map_err(explain),
            (State::File { mode, .. }, Some(bytes)) => {
                let is_new = change.before == State::Absent && state.is_like(&change.after);
                let permissions = (!is_new).then(|| Permissions::from_mode(*mode));
                replace(self.dir(), path, bytes, permissions).map_err(explain)
            }
            (State::File { .. }, None) => Err(refuse("its content is not in the journal")),
            (State::Link { target }, _) => self.link(path, target).map_err(explain),
            (State::Other, _) => Err(refuse("it was no file")),
        }
    }

    /// Removes a file, and the directories that were made for it if nothing else is in them.
    fn remove(&self, path: &Path, made: Option<&Path>) -> io::Result<()> {
        match self.dir().remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut lowest = path.parent();
        for above in path
            .ancestors()
            .skip(1)
            .filter(|above| made.is_some_and(|made| above.starts_with(made)))
        {
            if self.dir().remove_dir(above).is_err() {
                break;
            }
            lowest = above.parent();
        }
        // The name is gone from the disk only when the directory that held it is there without it.
        match lowest.map(|home| self.dir().open(or_here(home)).and_then(|home| home.sync_all())) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    fn link(&self, path: &Path, target: &Path) -> io::Result<()> {
        self.remove(path, None)?;
        self.dir().symlink_contents(target, path)?;
        self.dir()
            .open(or_here(path.parent().unwrap_or(Path::new(""))))?
            .sync_all()
    }
}

/// The directory of a path's parent, which is empty for one in the root.
fn or_here(parent: &Path) -> &Path {
    if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    }
}

/// Writes beside the file, then puts the new one in its place.
fn replace(dir: &Dir, path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let (parent, name) = (or_here(path.parent().unwrap_or(Path::new(""))), path.file_name());
    let name = Path::new(name.ok_or(io::ErrorKind::InvalidInput)?);
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
            dir.open(or_here(ancestor))?.sync_all()?;
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
