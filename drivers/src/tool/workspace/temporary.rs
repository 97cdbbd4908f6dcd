//! Temporary files, which become the new contents of files by being renamed.
//!
//! A process holds a lock on its temporary file from its creation to the renaming. The system
//! releases the lock of a process that dies, so an unlocked temporary file is nobody's.
//! INVARIANT: only files that nobody holds are removed, and a file that another process removed is
//! never taken for a new one.
//! It knows no tool. Read next: `tool/workspace/apply.rs`.

use std::ffi::OsStr;
use std::fs::TryLockError;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions, Permissions};

/// Numbers temporary files, so that concurrent calls use different ones.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A temporary file of this process. Dropping it leaves the file and gives the lock up.
pub(super) struct Temporary {
    name: PathBuf,
    file: File,
}

impl Temporary {
    /// Writes a temporary file in a directory and syncs it; removes the file if that fails.
    pub(super) fn write(directory: &Dir, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        let mut temporary = Self::create(directory)?;
        let fill = |file: &mut File| {
            permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        fill(&mut temporary.file).inspect_err(|_| discard(directory, &temporary.name))?;
        Ok(temporary)
    }

    fn create(directory: &Dir) -> io::Result<Self> {
        loop {
            let name = PathBuf::from(format!(".duet-{}.tmp", NEXT.fetch_add(1, Ordering::Relaxed)));
            let file = match directory.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
                Ok(file) => file,
                // A process that died has left it, or another process uses it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // The lock belongs to the open file, which both handles share.
            let is_own = match file.try_clone()?.into_std().try_lock() {
                Ok(()) => is_named(directory, &name, &file),
                Err(TryLockError::WouldBlock) => false,
                // Where there are no locks, nobody removes the file.
                Err(TryLockError::Error(_)) => true,
            };
            if is_own {
                return Ok(Self { name, file });
            }
        }
    }

    /// Gives the file its name in the directory; removes it if that fails.
    pub(super) fn rename(self, directory: &Dir, name: &Path) -> io::Result<()> {
        directory
            .rename(&self.name, directory, name)
            .inspect_err(|_| discard(directory, &self.name))
    }
}

/// Removes the temporary files in a directory that no process holds.
pub(super) fn sweep(directory: &Dir) {
    let Ok(entries) = directory.entries() else {
        return;
    };
    let names = entries.flatten().map(|entry| PathBuf::from(entry.file_name()));
    for name in names.filter(|name| is_temporary(name.as_os_str())) {
        let is_file = directory
            .symlink_metadata(&name)
            .is_ok_and(|metadata| metadata.is_file());
        let Some(file) = is_file.then(|| directory.open(&name).ok()).flatten() else {
            continue;
        };
        let is_free = file.try_clone().is_ok_and(|lock| lock.into_std().try_lock().is_ok());
        if is_free && is_named(directory, &name, &file) {
            discard(directory, &name);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let number = name
        .to_str()
        .and_then(|name| name.strip_prefix(".duet-")?.strip_suffix(".tmp"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Says whether a name in a directory still names an open file.
fn is_named(directory: &Dir, name: &Path, file: &File) -> bool {
    let identity = |metadata: io::Result<cap_std::fs::Metadata>| metadata.ok().map(|found| (found.dev(), found.ino()));
    let open = identity(file.metadata());
    open.is_some() && open == identity(directory.symlink_metadata(name))
}

/// Removes a temporary file; an error is dropped, because the caller reports an earlier one.
fn discard(directory: &Dir, path: &Path) {
    let _ = directory.remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;

    #[test]
    fn only_what_no_process_holds_is_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        let directory = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("it is there");
        for name in [".duet-7.tmp", ".duet-x.tmp", ".duet-.tmp", "duet-7.tmp"] {
            std::fs::write(folder.path().join(name), "left").expect("it is written");
        }
        let held = Temporary::write(&directory, b"held", None).expect("it is written");
        sweep(&directory);
        let names = || {
            let entries = directory.entries().expect("it is listed").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        let mut expected: Vec<_> = [".duet-x.tmp", ".duet-.tmp", "duet-7.tmp"].map(Into::into).to_vec();
        expected.push(held.name.clone().into_os_string());
        expected.sort();
        assert_eq!(names(), expected);
        held.rename(&directory, Path::new("f")).expect("it is renamed");
        assert_eq!(std::fs::read(folder.path().join("f")).expect("it is there"), b"held");
    }
}
