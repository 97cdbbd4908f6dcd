//! The files that a client may name: those beneath the folders of a server.
//!
//! INVARIANT: a file is opened once, beneath a folder that was opened when the server began; who
//! exchanges names or links meanwhile gets nothing outside. The command receives the text, so no
//! process opens the name again.
//! It does not know the use of a file. Read next: `command.rs`.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

/// The maximum length of a file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The flag of `open` by which a pipe without a writer does not wait for one.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// The folders of a server; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Folders(Vec<Folder>);

#[derive(Clone, Debug)]
struct Folder {
    /// Its path without links.
    path: PathBuf,
    open: Arc<Dir>,
}

/// What a path names.
#[derive(Debug)]
pub enum Named {
    /// A file.
    File {
        /// Its text.
        text: String,
        /// The folder beneath which it was found, without links.
        within: PathBuf,
    },
    /// A folder, by its path without links.
    Folder(PathBuf),
}

/// Why a path names nothing that a client may have.
#[derive(Debug)]
pub enum Unnamed {
    /// It leads outside.
    Outside,
    /// There is nothing.
    Missing,
    /// It is a device, a pipe or a socket.
    NoFile,
    /// The file is longer than this many bytes.
    TooLong(u64),
    /// The file is no text.
    NoText,
    /// The system refuses it.
    System(io::Error),
}

impl fmt::Display for Unnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("it lies outside the folders of this server"),
            Self::Missing => f.write_str("there is no such file"),
            Self::NoFile => f.write_str("it is neither a file nor a folder"),
            Self::TooLong(most) => write!(f, "it is longer than {most} bytes"),
            Self::NoText => f.write_str("it is not UTF-8 text"),
            Self::System(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Unnamed {}

impl From<io::Error> for Unnamed {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            Self::Missing
        } else if error.kind() == io::ErrorKind::InvalidData {
            Self::NoText
        } else {
            Self::System(error)
        }
    }
}

impl Folders {
    /// Opens the folders.
    ///
    /// # Errors
    /// The path of the one that cannot be opened, and why.
    pub fn open(paths: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let open = |path: &PathBuf| {
            let open = Dir::open_ambient_dir(path, ambient_authority());
            let found = open.and_then(|open| Ok((path.canonicalize()?, open)));
            let (path, open) = found.map_err(|error| (path.clone(), error))?;
            Ok(Folder {
                path,
                open: Arc::new(open),
            })
        };
        paths.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// Reads what a path names, which is relative to the current directory.
    ///
    /// # Errors
    /// [`Unnamed`].
    pub fn read(&self, named: &Path) -> Result<Named, Unnamed> {
        // The path without links says only in which folder to look; the folder itself decides.
        let found = named.canonicalize()?;
        let mut within = self.0.iter().filter_map(|folder| {
            let rest = found.strip_prefix(&folder.path).ok()?;
            Some((folder, rest))
        });
        let (folder, rest) = within.next().ok_or(Unnamed::Outside)?;
        if rest.as_os_str().is_empty() {
            return Ok(Named::Folder(found));
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        let file = folder.open.open_with(rest, &options).map_err(|error| {
            // A link that leads out of the folder.
            if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
                Unnamed::Outside
            } else {
                error.into()
            }
        })?;
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Ok(Named::Folder(found));
        }
        if !kind.is_file() {
            return Err(Unnamed::NoFile);
        }
        let mut text = String::new();
        let length = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
        if length as u64 > FILE_BYTES_MAX {
            return Err(Unnamed::TooLong(FILE_BYTES_MAX));
        }
        Ok(Named::File {
            text,
            within: folder.path.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "links are exchanged while files are opened")]
    fn links_that_are_exchanged_lead_nowhere_outside() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("key"), "key-of-somebody").unwrap();
        fs::write(inside.path().join("one"), "inside").unwrap();
        symlink(outside.path().join("key"), inside.path().join("two")).unwrap();
        let folders = Folders::open(&[inside.path().to_owned()]).unwrap();
        let [one, two, spare] = ["one", "two", "spare"].map(|name| inside.path().join(name));
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    fs::rename(&one, &spare).unwrap();
                    fs::rename(&two, &one).unwrap();
                    fs::rename(&spare, &two).unwrap();
                }
            });
            let mut counts = (0, 0);
            for _ in 0..2_000 {
                match folders.read(&one) {
                    Ok(Named::File { text, .. }) => {
                        assert_eq!(text, "inside");
                        counts.0 += 1;
                    }
                    Ok(Named::Folder(_)) => panic!("no folder is there"),
                    Err(_) => counts.1 += 1,
                }
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(counts.0 + counts.1, 2_000);
        });
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let inside = tempfile::tempdir().unwrap();
        let folders = Folders::open(&[inside.path().to_owned()]).unwrap();
        let path = |name: &str| inside.path().join(name);
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        fs::write(path("bytes"), b"\xff").unwrap();
        let refused = |name: &Path| folders.read(name).map(|_| ()).unwrap_err().to_string();
        assert!(
            refused(&path("socket")).starts_with("it cannot be read"),
            "{}",
            refused(&path("socket"))
        );
        assert_eq!(refused(&path("bytes")), "it is not UTF-8 text");
        assert_eq!(refused(&path("none")), "there is no such file");
        assert_eq!(
            refused(Path::new("/dev/null")),
            "it lies outside the folders of this server"
        );
    }
}
