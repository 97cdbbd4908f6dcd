//! The files beside a journal: their names, and how to open them.
//!
//! INVARIANT: nobody is led by a symbolic or hard link to write into a file elsewhere, nor waits at
//! a pipe. A folder with a journal may come from somebody else, with such things in it.
//!
//! It does not know the contents of any of them. Read next: `lock.rs`.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Returns the path of the same name with a suffix.
pub fn beside(path: &Path, suffix: impl AsRef<OsStr>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Says whether nothing has this name, or a regular file that has no other name.
pub(crate) fn is_plain(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) => require_plain(path, &found).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Reads a file; it does not wait at a pipe.
///
/// # Errors
/// Also if it is a link or no regular file.
pub fn read_beside(path: &Path) -> io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::Error::other("it is a link, or no regular file"))
    }
}

/// The maximum length of a text beside a journal, in bytes; a longer one is somebody else's.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Reads a text; empty if there is none that [`read_beside`] reads, or it is longer than any that
/// this program writes.
pub fn text_beside(path: &Path) -> String {
    let is_short = fs::symlink_metadata(path).is_ok_and(|found| found.len() <= TEXT_BYTES_MAX);
    let bytes = is_short.then(|| read_beside(path).unwrap_or_default());
    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

/// Opens a file to write it from its beginning, and makes it if there is none.
///
/// # Errors
/// Also if it is a link or no regular file; nothing was written then.
pub fn open_beside(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create(true).truncate(false))
}

/// Opens a file to add to its end, and makes it if there is none.
///
/// # Errors
/// As [`open_beside`].
pub fn append_beside(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().append(true).create(true))
}

/// Makes a file, in place of any other of that name.
///
/// # Errors
/// If it cannot be made.
pub fn create_beside(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::create_new(path)
}

/// Makes a folder, unless it is there.
///
/// # Errors
/// Also if there is a link or a file of that name.
pub fn make_folder_beside(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    if fs::symlink_metadata(path)?.is_dir() {
        Ok(())
    } else {
        Err(refused(path, "it is a link to another folder"))
    }
}

fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    // Opening would wait at a pipe, and would make the file that a link leads to.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => require_plain(path, &found?)?,
    }
    let file = options.open(path)?;
    // Somebody may have put a link there in between.
    let (named, opened) = (fs::symlink_metadata(path)?, file.metadata()?);
    require_plain(path, &named)?;
    require_plain(path, &opened)?;
    if is_same(&named, &opened) {
        Ok(file)
    } else {
        Err(refused(path, "another file has taken its place"))
    }
}

fn require_plain(path: &Path, found: &Metadata) -> io::Result<()> {
    if !found.is_file() {
        Err(refused(path, "it is a link, or no regular file"))
    } else if links(found) > 1 {
        Err(refused(path, "it has a second name elsewhere"))
    } else {
        Ok(())
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("Duet does not write to `{}`: {why}", path.display()))
}

/// Says whether two files are one, where the system can tell.
#[cfg(unix)]
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
pub(crate) fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// The number of names of a file, where the system can tell.
#[cfg(unix)]
fn links(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn links(_file: &Metadata) -> u64 {
    1
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("precious"), "precious").expect("a file");
        symlink(at("precious"), at("link")).expect("a link");
        symlink(at("new"), at("dangling")).expect("a link");
        fs::hard_link(at("precious"), at("second")).expect("a link");
        read_beside(&at("link")).expect_err("it is a link");
        for name in ["link", "dangling", "second"] {
            open_beside(&at(name)).expect_err(name);
            append_beside(&at(name)).expect_err(name);
        }
        assert!(!at("new").exists());
        for name in ["link", "second"] {
            let mut made = create_beside(&at(name)).expect("a name is replaced");
            made.write_all(b"mine").expect("it is written");
        }
        assert_eq!(fs::read(at("precious")).expect("the file"), b"precious");
    }

    #[test]
    fn a_text_without_end_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        fs::write(&path, "words").expect("a file");
        assert_eq!(text_beside(&path), "words");
        let file = OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_len(1 << 40).expect("a file with a hole");
        assert_eq!(text_beside(&path), "");
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let (elsewhere, link) = (folder.path().join("elsewhere"), folder.path().join("link"));
        make_folder_beside(&elsewhere).expect("a folder");
        symlink(&elsewhere, &link).expect("a link");
        make_folder_beside(&link).expect_err("it is a link");
    }
}
