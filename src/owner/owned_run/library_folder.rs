//! The folder beside a journal that keeps the compiled libraries of programs.
//!
//! INVARIANT: the folder is a cache: a program means the same with any contents of it, and without
//! it. A folder may come from somebody else, who could put other code there than the text of a
//! library says, so a file is used only with a seal of this account. A reader sees a whole file or
//! none, because a writer renames it when it is complete.
//! It does not decide which compiled library is up to date; `duet_modules::cache` does.
//! Read next: `libraries.rs`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
#[cfg(test)]
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use duet_journal::BlobHash;
use duet_journal::beside::{create_beside, make_folder_beside, read_beside};
use duet_modules::cache::CacheStore;

use crate::settings::state_folder;

/// The number of files from which on the oldest are removed.
const LIMIT_FILES: usize = 512;

/// The name of the file with the account's key.
const KEY: &str = "cache-key";

/// A folder with a file for each compiled library.
pub(super) struct Folder {
    /// Where it lies, and the key of the account; without both nothing is kept.
    place: Option<(PathBuf, Key)>,
}

/// The bytes that only this account has.
type Key = [u8; 32];

impl Folder {
    pub(super) fn new(path: Option<&Path>) -> Self {
        let path = path.map(Path::to_owned);
        Self {
            place: path.and_then(|path| Some((path, own_key(&state_folder::path(KEY)?).ok()?))),
        }
    }

    fn write(folder: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
        make_folder_beside(folder)?;
        #[expect(clippy::disallowed_methods, reason = "no two processes write one file")]
        let process = std::process::id();
        let incomplete = folder.join(format!("{key}.{process}"));
        create_beside(&incomplete)?.write_all(bytes)?;
        fs::rename(&incomplete, folder.join(key)).inspect_err(|_| drop(fs::remove_file(&incomplete)))
    }

    /// Removes the oldest files, if there are too many.
    fn trim(folder: &Path) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        if files.len() > LIMIT_FILES {
            files.sort();
            files.truncate(files.len() - LIMIT_FILES / 2);
            files.iter().try_for_each(|(_, path)| fs::remove_file(path))?;
        }
        Ok(())
    }
}

impl CacheStore for Folder {
    fn take(&self, key: &str) -> Option<Vec<u8>> {
        let (folder, own) = self.place.as_ref()?;
        let mut bytes = read_beside(&folder.join(key)).ok()?;
        let content = bytes.split_off(SEAL_BYTES.min(bytes.len()));
        (bytes == seal(own, key, &content).as_bytes()).then_some(content)
    }

    /// A library that cannot be kept is compiled again.
    fn put(&self, key: &str, bytes: &[u8]) {
        if let Some((folder, own)) = &self.place {
            let sealed = [seal(own, key, bytes).as_bytes(), bytes].concat();
            let _ = Self::write(folder, key, &sealed).and_then(|()| Self::trim(folder));
        }
    }
}

/// The length of a seal.
const SEAL_BYTES: usize = 32;

/// What only an account that has the key can make for these bytes under this name. BLAKE3 needs no
/// construction such as HMAC, because a hash says nothing about that of a longer text.
fn seal(own: &Key, name: &str, bytes: &[u8]) -> BlobHash {
    BlobHash::of(&[own, BlobHash::of(name.as_bytes()).as_bytes(), bytes].concat())
}

/// Reads the key of the account, and makes it if there is none.
fn own_key(path: &Path) -> io::Result<Key> {
    let mut key = Key::default();
    if let Ok(mut file) = File::open(path) {
        return file.read_exact(&mut key).map(|()| key);
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let mut options = OpenOptions::new();
    // Of two processes that begin together, one makes it, and the other keeps nothing this time.
    options.write(true).create_new(true).mode(0o600);
    options.open(path)?.write_all(&key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_library_that_another_account_has_put_there_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |byte: u8| Folder {
            place: Some((folder.path().join("cache"), [byte; 32])),
        };
        of(1).put("good", b"code");
        assert_eq!(of(1).take("good").as_deref(), Some(&b"code"[..]));
        assert_eq!(of(2).take("good"), None);
        let cache = folder.path().join("cache");
        fs::copy(cache.join("good"), cache.join("other")).expect("a file");
        assert_eq!(of(1).take("other"), None, "it is another library's");
        fs::write(cache.join("good"), b"short").expect("a file");
        assert_eq!(of(1).take("good"), None);
    }

    #[test]
    fn the_key_of_an_account_is_made_once_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/duet").join(KEY);
        let key = own_key(&path).expect("a key");
        assert_eq!(own_key(&path).expect("the key"), key);
        assert_ne!(key, Key::default());
        let mode = fs::metadata(&path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o77, 0);
    }
}
