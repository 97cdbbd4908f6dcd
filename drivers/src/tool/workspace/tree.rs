//! The tree of files that tools see: the root without the files of journals.
//!
//! Owns the only handle of the root.
//! INVARIANT: nothing that a tool opens, lists or changes belongs to a journal, by whatever path,
//! link or name it is reached: what an open handle names decides, not the path that led to it.
//! It does not keep processes out, which reach files as the operating system lets them.
//! Read next: `tool/workspace/apply.rs`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, File, Metadata, MetadataExt as _};

/// The name of the folder in which a journal is, unless a person names a file.
const FOLDER: &str = ".duet";

/// The maximum depth of a journal's folders, in levels.
const DEPTH_MAX: usize = 8;

/// The device and the number of a file, which all of its names share.
type Identity = (u64, u64);

/// The tree below a root.
pub(crate) struct Tree {
    dir: Dir,
    journals: Vec<Files>,
    /// Whether a path that goes through a link is refused.
    refuses_links: AtomicBool,
}

/// The files of a journal.
struct Files {
    /// The folder that they are in.
    folder: PathBuf,
    /// The beginning of their names; without it, everything in the folder is the journal's.
    name: Option<OsString>,
    /// The folder once it was there, whatever its name is by now.
    open: OnceLock<Dir>,
}

/// The reason for which a file is refused.
#[derive(Debug)]
struct OfJournal;

impl fmt::Display for OfJournal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("it belongs to the journal, which no tool reaches")
    }
}

impl std::error::Error for OfJournal {}

fn refusal() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, OfJournal)
}

/// The reason for which a path through a link is refused.
#[derive(Debug)]
struct ThroughLink;

impl fmt::Display for ThroughLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("it goes through a link, while policy judges paths as they are written")
    }
}

impl std::error::Error for ThroughLink {}

/// Says whether an error is the refusal of a path through a link.
pub(crate) fn is_through_link(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<ThroughLink>())
}

/// Says whether an error is the refusal of a journal's file.
pub(crate) fn is_of_journal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<OfJournal>())
}

impl Tree {
    /// Opens the directory `root`.
    ///
    /// # Errors
    /// If it is no directory, may not be read, or is a journal's own.
    pub(crate) fn open_root(root: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        let journals = vec![Files {
            folder: root.join(FOLDER),
            name: None,
            open: OnceLock::new(),
        }];
        Ok(Self {
            dir,
            journals,
            refuses_links: AtomicBool::new(false),
        })
    }

    /// Keeps tools out of one more journal, which need not exist yet.
    ///
    /// # Errors
    /// If the root belongs to the journal.
    pub(crate) fn keep_out_of(&mut self, journal: &Path) -> io::Result<()> {
        let journal = std::path::absolute(journal)?;
        let folder = journal.parent().unwrap_or(Path::new("/")).to_owned();
        let is_own_folder = folder.file_name().is_some_and(is_journal_folder);
        self.journals.push(Files {
            folder,
            name: (!is_own_folder).then(|| journal.file_name().unwrap_or_default().to_owned()),
            open: OnceLock::new(),
        });
        self.admit(&self.dir.dir_metadata()?)
    }

    /// Refuses paths through links from now on, or no longer.
    pub(crate) fn refuse_links(&self, is_refused: bool) {
        self.refuses_links.store(is_refused, Ordering::Relaxed);
    }

    /// Refuses a path through a journal's folder and, if links are refused, through a link; the
    /// last component may be one that is not followed.
    fn admit_way(&self, path: &Path, is_last_followed: bool) -> io::Result<()> {
        admit_name(path)?;
        if !self.refuses_links.load(Ordering::Relaxed) {
            return Ok(());
        }
        let count = path.components().count();
        let followed = if is_last_followed {
            count
        } else {
            count.saturating_sub(1)
        };
        let mut way = PathBuf::new();
        for component in path.components().take(followed) {
            way.push(component);
            let metadata = self.dir.symlink_metadata(&way);
            if metadata.is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, ThroughLink));
            }
        }
        Ok(())
    }

    /// Opens a file or a directory to read it.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        self.admit_way(path, true)?;
        let file = self.dir.open(path)?;
        self.admit(&file.metadata()?)?;
        Ok(file)
    }

    /// The metadata of the file that a path leads to.
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.admit_way(path, true)?;
        self.admitted(self.dir.metadata(path)?)
    }

    /// The metadata of a path's last component, which may be a link.
    pub(crate) fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.admit_way(path, false)?;
        self.admitted(self.dir.symlink_metadata(path)?)
    }

    /// The path that a link names.
    pub(crate) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.symlink_metadata(path)?;
        self.dir.read_link_contents(path)
    }

    /// The path without links.
    pub(crate) fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.metadata(path)?;
        let resolved = self.dir.canonicalize(path)?;
        admit_name(&resolved)?;
        Ok(resolved)
    }

    /// The entries of a directory, without those of journals.
    pub(crate) fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.admit_way(path, true)?;
        let directory = self.dir.open_dir(path)?;
        let kept = self.identities()?;
        admit(&kept, &directory.dir_metadata()?)?;
        let mut entries = Vec::new();
        for entry in directory.entries()? {
            let entry = entry?;
            // An entry that vanishes meanwhile is its reader's concern.
            let is_kept = entry.metadata().is_ok_and(|metadata| admit(&kept, &metadata).is_err());
            if !is_kept && !is_journal_folder(&entry.file_name()) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Opens the directory in which the last component of a path may be changed, and returns the
    /// component.
    pub(crate) fn place(&self, path: &Path) -> io::Result<(Dir, PathBuf)> {
        self.admit_way(path, false)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = self.dir.open_dir(parent.unwrap_or(Path::new(".")))?;
        let metadata = directory.dir_metadata()?;
        self.admit(&metadata)?;
        for journal in &self.journals {
            journal.admit_name_in(identity(&metadata), name)?;
        }
        Ok((directory, name.into()))
    }

    /// Makes a directory and those above it.
    pub(crate) fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.admit_way(path, true)?;
        self.dir.create_dir_all(path)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        directory.remove_dir(name)
    }

    fn admitted(&self, metadata: Metadata) -> io::Result<Metadata> {
        self.admit(&metadata)?;
        Ok(metadata)
    }

    fn admit(&self, metadata: &Metadata) -> io::Result<()> {
        admit(&self.identities()?, metadata)
    }

    /// The identities of all files and folders of the journals, as they are now.
    fn identities(&self) -> io::Result<BTreeSet<Identity>> {
        let mut found = BTreeSet::new();
        for journal in &self.journals {
            journal.identities(&mut found)?;
        }
        Ok(found)
    }
}

impl Files {
    /// The folder, if it is there.
    fn dir(&self) -> io::Result<Option<&Dir>> {
        if self.open.get().is_none() {
            match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
                Ok(dir) => drop(self.open.set(dir)),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.open.get())
    }

    fn identities(&self, found: &mut BTreeSet<Identity>) -> io::Result<()> {
        let Some(dir) = self.dir()? else { return Ok(()) };
        if self.name.is_none() {
            found.insert(identity(&dir.dir_metadata()?));
        }
        for entry in dir.entries()? {
            let entry = entry?;
            if self.has(&entry.file_name()) {
                collect(&entry, DEPTH_MAX, found)?;
            }
        }
        Ok(())
    }

    /// Whether a name in the folder is the journal's.
    fn has(&self, name: &OsStr) -> bool {
        self.name
            .as_ref()
            .is_none_or(|own| name.as_encoded_bytes().starts_with(own.as_encoded_bytes()))
    }

    /// Refuses a name in a directory if it is one of the journal's, also if there is no such file.
    fn admit_name_in(&self, directory: Identity, name: &OsStr) -> io::Result<()> {
        let Some(dir) = self.dir()? else { return Ok(()) };
        if identity(&dir.dir_metadata()?) == directory && self.has(name) {
            return Err(refusal());
        }
        Ok(())
    }
}

/// Adds an entry and what is below it; entries that vanish meanwhile are left out.
fn collect(entry: &DirEntry, depth: usize, found: &mut BTreeSet<Identity>) -> io::Result<()> {
    let metadata = match entry.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    found.insert(identity(&metadata));
    if metadata.is_dir() && depth > 0 {
        for inner in entry.open_dir()?.entries()? {
            collect(&inner?, depth - 1, found)?;
        }
    }
    Ok(())
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

fn admit(kept: &BTreeSet<Identity>, metadata: &Metadata) -> io::Result<()> {
    match kept.contains(&identity(metadata)) {
        true => Err(refusal()),
        false => Ok(()),
    }
}

/// Refuses a path through a folder that is named as a journal's, whether there is one or not.
fn admit_name(path: &Path) -> io::Result<()> {
    match path.iter().any(is_journal_folder) {
        true => Err(refusal()),
        false => Ok(()),
    }
}

fn is_journal_folder(name: &OsStr) -> bool {
    // Some file systems do not tell the cases apart.
    name.eq_ignore_ascii_case(FOLDER)
}
