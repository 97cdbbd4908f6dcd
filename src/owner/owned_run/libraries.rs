//! The libraries that programs see.
//!
//! INVARIANT: a program finds the same libraries whether they are kept compiled or not.
//! It does not decide which compiled library is up to date; `duet_modules::cache` does.
//! Read next: `ahead.rs`, `library_folder.rs`.

use std::path::{Path, PathBuf};

use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};
use duet_modules::cache::{CacheStore, Cached};
use duet_modules::resolver::{self, Resolver};
use duet_modules::source::Source;
use duet_modules::source::directory::Directory;
use duet_modules::source::embedded::Embedded;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::scheme::grants::covers;

use super::ahead;
use std::fs;

/// All libraries of the standard library.
pub(super) fn standard_libraries() -> Vec<LibraryName> {
    Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]).names()
}

/// The libraries of a program: in the standard library, else in the program's own folder, else in
/// the folders that a variable lists.
pub(crate) struct ProgramLibraries {
    resolver: Resolver,
    /// The folders, in the order of the search.
    folders: Vec<PathBuf>,
}

/// The variable that lists further folders with libraries, separated as in `PATH`.
const LIBRARY_PATH: &str = "DUET_LIBRARY_PATH";

/// The folders that the variable lists.
pub(crate) fn library_path() -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "what is found there is pinned in the journal")]
    let listed = std::env::var_os(LIBRARY_PATH).unwrap_or_default();
    let folders = std::env::split_paths(&listed);
    folders.filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// Finds the libraries of a program.
pub(crate) fn libraries(program: &Path) -> ProgramLibraries {
    let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = folder.unwrap_or(Path::new(".")).to_owned();
    let folders: Vec<PathBuf> = std::iter::once(own).chain(library_path()).collect();
    let mut sources: Vec<Box<dyn Source>> = vec![Box::new(ahead::standard_library())];
    for folder in &folders {
        sources.push(Box::new(Directory::new(folder)));
    }
    ProgramLibraries {
        resolver: Resolver::new(sources),
        folders,
    }
}

impl Libraries for ProgramLibraries {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.resolver.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.resolver.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.resolver.names()
    }

    fn advice(&self, name: &LibraryName) -> Option<String> {
        let path = resolver::library_path(name)?;
        let shown = |folder: &PathBuf| match folder.to_str() {
            Some(".") => "the present folder".to_owned(),
            _ => format!("`{}`", folder.display()),
        };
        let folders: Vec<String> = self.folders.iter().map(shown).collect();
        Some(format!(
            "no `{path}` is in {}: put it there, or list its folder in {LIBRARY_PATH}",
            folders.join(" or ")
        ))
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.resolver.ahead(name)
    }
}

/// The libraries of a program that may use what a manifest grants.
pub(super) fn granted<'a>(program: &Path, manifest: &'a Manifest) -> Granted<'a> {
    Granted {
        libraries: libraries(program),
        manifest,
    }
}

/// The libraries of a program, those that it compiled before from `shelf`.
pub(super) fn cached<'a>(program: &Path, manifest: &'a Manifest, shelf: &'a dyn CacheStore) -> Cached<'a, Granted<'a>> {
    let granted = granted(program, manifest);
    let compiler = include_str!(concat!(env!("OUT_DIR"), "/compiler_version"));
    let capabilities = format!("{manifest:?}");
    Cached::new(granted, shelf, &[compiler.as_bytes(), capabilities.as_bytes()])
}

/// The libraries of a program that is granted what its manifest names.
pub(super) struct Granted<'a> {
    libraries: ProgramLibraries,
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

    fn advice(&self, name: &LibraryName) -> Option<String> {
        self.libraries.advice(name)
    }

    fn ahead(&mut self, name: &LibraryName) -> Option<Ahead> {
        self.libraries.ahead(name)
    }

    fn grants(&self, capability: &str) -> bool {
        covers(self.manifest, capability)
    }
}

/// The maximum number of sources that are listed.
const SOURCES_MAX: usize = 2_000;

/// Lists the files that may be sources of a test that cannot be compiled, because it does not say
/// which it reads; and the folders in which one may come into being: those beside and below the
/// test, and those of the library path.
pub(crate) fn sources(test: &Path) -> Vec<String> {
    let is_source = |path: &Path| {
        path.extension()
            .is_some_and(|ending| ending == "scm" || ending == "sld")
    };
    let mut found = Vec::new();
    let mut folders = library_path();
    folders.push(test.parent().unwrap_or(Path::new("")).to_owned());
    while let Some(folder) = folders.pop() {
        let here = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &folder
        };
        found.push(here.display().to_string());
        // What cannot be read, the test cannot read either.
        for entry in fs::read_dir(here).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => folders.push(path),
                Ok(kind) if kind.is_file() && is_source(&path) => found.push(path.display().to_string()),
                Ok(_) | Err(_) => {}
            }
            if found.len() >= SOURCES_MAX {
                return found;
            }
        }
    }
    found
}
