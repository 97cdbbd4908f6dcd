//! The journal of a folder above the present one.
//!
//! INVARIANT: the way up ends at a folder of another user, of another file system, or into which
//! everybody may write, so that nobody else lays a journal in the way.
//! It opens no journal. Read next: `history/journal.rs`.

use std::fs;
use std::path::{Path, PathBuf};

/// Finds the nearest folder above the present one that has a journal at `path`; nothing if the
/// present folder has one, or none has.
pub(super) fn journal(path: &Path) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the command line begins where the person is")]
    let here = std::env::current_dir().ok()?;
    above(&here, path)
}

fn above(here: &Path, path: &Path) -> Option<PathBuf> {
    // A folder that is there, even without a journal, is the one that is meant.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    if here.join(folder).exists() {
        return None;
    }
    let here = fs::canonicalize(here).ok()?;
    let mut folders = here.ancestors().skip(1).take_while(|folder| is_trusted(folder, &here));
    folders
        .find(|folder| folder.join(path).is_file())
        .map(|folder| folder.join(path))
}

/// Whether a folder and the state in it belong to the person, on the file system of `here`.
#[cfg(unix)]
fn is_trusted(folder: &Path, here: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_ALL: u32 = 0o002;
    let (Ok(found), Ok(here)) = (fs::metadata(folder), fs::metadata(here)) else {
        return false;
    };
    let person = rustix::process::geteuid().as_raw();
    found.uid() == person && found.dev() == here.dev() && found.mode() & WRITABLE_BY_ALL == 0
}

#[cfg(not(unix))]
fn is_trusted(_: &Path, _: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_way_up_ends_at_a_folder_into_which_everybody_may_write() {
        let root = tempfile::TempDir::new().expect("a folder");
        let path = Path::new(".duet/journal.sqlite");
        let root = fs::canonicalize(root.path()).expect("a path");
        let deep = root.join("a/b/c");
        fs::create_dir_all(&deep).expect("folders");
        assert_eq!(above(&deep, path), None);
        fs::create_dir(root.join(".duet")).expect("a folder");
        fs::write(root.join(path), "").expect("a file");
        assert_eq!(above(&deep, path), Some(root.join(path)));
        fs::create_dir(root.join("a/.duet")).expect("a folder");
        assert_eq!(
            above(&deep, path),
            Some(root.join(path)),
            "no journal is in the nearer folder"
        );
        assert_eq!(above(&root.join("a"), path), None, "the present folder has its own");
        fs::set_permissions(root.join("a/b"), fs::Permissions::from_mode(0o777)).expect("permissions");
        assert_eq!(above(&deep, path), None);
    }
}
