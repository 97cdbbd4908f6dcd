//! The libraries that programs see.
//!
//! INVARIANT: a program finds the same libraries whether they are kept compiled or not.
//! It does not decide which compiled library is up to date; `duet_modules::cache` does.
//! Read next: `ahead.rs`, `library_folder.rs`.

use std::path::Path;

use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError, SourceText};
use duet_modules::cache::{CacheStore, Cached};
use duet_modules::resolver::Resolver;
use duet_modules::source::directory::Directory;
use duet_modules::source::embedded::Embedded;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::scheme::grants::covers;

use super::ahead;

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
        covers(self.manifest, capability)
    }
}
