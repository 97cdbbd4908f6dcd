//! The refresh token that an authorization server gave last, in a file of the person's account.
//!
//! A token that the server has replaced is spent, so the configured one is good only once. The file
//! says which credentials its token replaces; with other credentials it says nothing.
//! INVARIANT: only the account that owns the file can read it, and of several processes one at a
//! time spends the token and keeps the next.
//! It does not ask for tokens. Read next: `oauth.rs`.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use duet_runtime::driver::BlobHash;
use serde_json::{Value as Json, json};
use tokio::time::sleep;

/// The interval between two attempts to lock the file.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum length of the file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The place of a token.
pub(super) struct KeptToken {
    path: PathBuf,
    /// A digest of the credentials whose refresh token it replaces.
    replaces: String,
}

/// The place of a token, which no other process reads or writes meanwhile.
pub(super) struct Locked<'a> {
    kept: &'a KeptToken,
    _lock: File,
}

impl KeptToken {
    /// The place of the token that replaces the one of these credentials.
    pub(super) fn new(path: &Path, credentials: [&str; 3]) -> Self {
        let lengths = credentials.map(|part| format!("{} {part}", part.len()));
        Self {
            path: path.to_owned(),
            replaces: BlobHash::of(lengths.concat().as_bytes()).to_string(),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until no other process uses the token.
    ///
    /// # Errors
    /// If the folder cannot be made or written.
    pub(super) async fn lock(&self) -> io::Result<Locked<'_>> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let lock = owned(&self.path.with_extension("lock"))?;
        loop {
            match lock.try_lock() {
                Ok(()) => {
                    return Ok(Locked {
                        kept: self,
                        _lock: lock,
                    });
                }
                Err(TryLockError::WouldBlock) => sleep(LOCK_INTERVAL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

impl Locked<'_> {
    /// Reads the token; nothing if there is none for these credentials.
    pub(super) fn read(&self) -> Option<String> {
        let path = &self.kept.path;
        let file = fs::metadata(path).ok()?;
        let is_good = file.is_file() && file.len() <= FILE_BYTES_MAX;
        let text = is_good.then(|| fs::read(path).ok()).flatten()?;
        let kept: Json = serde_json::from_slice(&text).ok()?;
        let member = |name: &str| kept.get(name).and_then(Json::as_str);
        let token = member("refresh_token").filter(|_| member("replaces") == Some(&self.kept.replaces));
        token.map(str::to_owned)
    }

    /// Keeps a token in the place of the one before.
    ///
    /// # Errors
    /// If the file cannot be written; the one before is as it was.
    pub(super) fn write(&self, token: &str) -> io::Result<()> {
        let beside = self.kept.path.with_extension("new");
        let mut file = owned(&beside)?;
        file.set_len(0)?;
        let text = json!({ "replaces": self.kept.replaces, "refresh_token": token });
        file.write_all(text.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(beside, &self.kept.path)
    }
}

/// Opens a file to write it, which only its owner can read.
fn owned(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_token_is_for_the_credentials_that_it_replaces_and_for_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("oauth/mail.json");
        let kept = KeptToken::new(&path, ["https://a/token", "desk", "first"]);
        let locked = kept.lock().await.expect("a lock");
        assert_eq!(locked.read(), None);
        locked.write("second").expect("a file");
        locked.write("3").expect("a file");
        assert_eq!(locked.read().as_deref(), Some("3"));
        drop(locked);
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        let other = KeptToken::new(&path, ["https://a/token", "desk", "another"]);
        assert_eq!(other.lock().await.expect("a lock").read(), None);
        fs::write(&path, "{").expect("a file");
        assert_eq!(kept.lock().await.expect("a lock").read(), None);
    }

    #[tokio::test]
    async fn one_at_a_time_has_the_token() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = KeptToken::new(&folder.path().join("mail.json"), ["", "", ""]);
        let locked = kept.lock().await.expect("a lock");
        let waits = tokio::time::timeout(LOCK_INTERVAL * 3, kept.lock()).await;
        assert!(waits.is_err());
        drop(locked);
        assert!(kept.lock().await.is_ok());
    }
}
