//! Sources of libraries: trees of files addressed by relative paths.
//!
//! Owns the trait that each source implements.
//! INVARIANT: paths are relative, use `/`, and contain no `..`; the resolver ensures it.
//! It does not know what the files contain.
//! Read next: `source/directory.rs`, `source/embedded.rs`.

pub mod directory;
pub mod embedded;

use duet_kernel::expander::{Ahead, SourceError};

/// A tree of source files.
pub trait Source {
    /// The text at a path, `None` if there is none.
    ///
    /// # Errors
    /// [`SourceError`] if there is a file that cannot be read as text.
    fn read(&self, path: &str) -> Result<Option<String>, SourceError>;

    /// The name of the file at a path in messages; unique among all sources of a resolver.
    fn display_name(&self, path: &str) -> String;

    /// The paths of library files, for hints; in a fixed order.
    fn paths(&self) -> Vec<String>;

    /// The library at a path as it was compiled ahead, if it was.
    fn ahead(&self, _path: &str) -> Option<Ahead> {
        None
    }
}
