//! The bare kernel library, with which the programs of these tests are expanded.
//!
//! INVARIANT: a program that imports or includes anything does not compile here.

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, Libraries, LibraryName, SourceError, SourceText};

/// Finds no library and no file.
pub(crate) struct NoLibraries;

impl Libraries for NoLibraries {
    fn library(&mut self, _: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok(None)
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("no file {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

/// Makes an expander that knows the primitives of a code space.
pub(crate) fn expander(code: &CodeSpace) -> Expander {
    let kernel = LibraryName {
        parts: vec![Name::from("duet"), Name::from("kernel")],
    };
    Expander::new(code.signatures(), vec![kernel])
}
