//! Sources of libraries: trees of files addressed by relative paths.
//!
//! Owns the trait and its implementations.
//! INVARIANT: paths are relative, use `/`, and contain no `..`; the resolver sees to it.
//! It does not know what the files contain.
//! Read next: `source/directory.rs`.

mod directory;
mod embedded;

pub use directory::Directory;
pub use embedded::Embedded;

use duet_kernel::expander::{Ahead, SourceError};

/// A tree of source files.
pub trait Source {
    /// The text at a path, `None` if there is none.
    ///
    /// # Errors
    /// [`SourceError`] if there is a file that cannot be read as text.
    fn read(&self, path: &str) -> Result<Option<String>, SourceError>;

    /// What messages call the file at a path; unique among all sources of a resolver.
    fn display_name(&self, path: &str) -> String;

    /// The paths of library files, for hints; in a fixed order.
    fn paths(&self) -> Vec<String>;

    /// What was kept of the library at a path when it was compiled ahead.
    fn ahead(&self, _path: &str) -> Option<Ahead> {
        None
    }
}
