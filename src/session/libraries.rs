//! The libraries that programs see, and the folder that keeps them compiled.
//!
//! INVARIANT: the folder is a cache: a program means the same with any contents of it, and without
//! it. A reader sees a whole file or none, because a writer renames it when it is complete.
//! It does not decide which compiled library is up to date; `duet_modules::cache` does.
//! Read next: `ahead.rs`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use duet_journal::beside::{create_beside, make_folder_beside, read_beside};
use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};
use duet_modules::cache::{Cached, Shelf};
use duet_modules::resolver::Resolver;
use duet_modules::source::directory::Directory;
use duet_modules::source::embedded::Embedded;
use duet_runtime::model::manifest::Manifest;

use super::ahead;

/// The number of files from which on the oldest are removed.
const LIMIT_FILES: usize = 512;

/// All libraries of the standard library.
pub(super) fn standard_libraries() -> Vec<LibraryName> {
    Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]).names()
}

/// The variable that lists further folders with libraries, separated as in `PATH`.
const LIBRARY_PATH: &str = "DUET_LIBRARY_PATH";

/// Where the libraries of a program are found: in the standard library, else in the program's own
/// folder, else in the folders that a variable lists.
pub(crate) fn libraries(program: &Path) -> Resolver {
    let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = folder.unwrap_or(Path::new(".")).to_owned();
    #[expect(clippy::disallowed_methods, reason = "what is found there is pinned in the journal")]
    let listed = std::env::var_os(LIBRARY_PATH).unwrap_or_default();
    let further = std::env::split_paths(&listed).filter(|folder| !folder.as_os_str().is_empty());
    let folders = std::iter::once(own).chain(further);
    let folders = folders.map(|folder| Box::new(Directory::new(folder)) as Box<dyn duet_modules::source::Source>);
    let standard: Box<dyn duet_modules::source::Source> = Box::new(ahead::standard_library());
    Resolver::new(std::iter::once(standard).chain(folders).collect())
}

/// The libraries of a program, those that it compiled before from `shelf`.
pub(super) fn cached<'a>(program: &Path, manifest: &'a Manifest, shelf: &'a dyn Shelf) -> Cached<'a, Granted<'a>> {
    let granted = Granted {
        libraries: libraries(program),
        manifest,
    };
    let compiler = include_str!(concat!(env!("OUT_DIR"), "/compiler_version"));
    let capabilities = format!("{manifest:?}");
    Cached::new(granted, shelf, &[compiler.as_bytes(), capabilities.as_bytes()])
}

/// The libraries of a program that is granted what its manifest names.
pub(super) struct Granted<'a> {
    libraries: Resolver,
    manifest: &'a Manifest,
}

impl Libraries for Granted<'_> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.libraries.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.libraries.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.libraries.names()
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.libraries.ahead(name)
    }

    fn grants(&self, capability: &str) -> bool {
        self.manifest.grants(capability)
    }
}

/// A folder with a file for each compiled library.
pub(super) struct Folder {
    /// Where it lies; without a place nothing is kept.
    path: Option<PathBuf>,
}

impl Folder {
    pub(super) fn new(path: Option<&Path>) -> Self {
        Self {
            path: path.map(Path::to_owned),
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

impl Shelf for Folder {
    fn take(&self, key: &str) -> Option<Vec<u8>> {
        read_beside(&self.path.as_ref()?.join(key)).ok()
    }

    /// A library that cannot be kept is compiled again.
    fn put(&self, key: &str, bytes: &[u8]) {
        if let Some(folder) = &self.path {
            let _ = Self::write(folder, key, bytes).and_then(|()| Self::trim(folder));
        }
    }
}
