//! Libraries as the expander asks for them: by name, from whoever finds their texts.
//!
//! INVARIANT: a name and its text in parentheses determine each other.
//! It finds nothing; the caller does. Read next: `library.rs`, `import.rs`.

use std::fmt;
use std::sync::Arc;

use super::Ahead;
use crate::datum::Name;

/// Finds the sources of libraries and included files.
///
/// The caller implements it; the expander itself never reads a file.
pub trait Libraries {
    /// Returns the source of a library, `None` if there is no such library.
    ///
    /// # Errors
    /// [`SourceError`] if the library should exist but cannot be read.
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError>;

    /// Returns the text for `(include path)` in the source named `includer`.
    ///
    /// # Errors
    /// [`SourceError`] if it cannot be read.
    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError>;

    /// Returns the names of the known libraries, for hints.
    fn names(&self) -> Vec<LibraryName>;

    /// Returns where a library that is missing was looked for, and what to do, for hints.
    fn advice(&self, _name: &LibraryName) -> Option<String> {
        None
    }

    /// Returns a library that was compiled ahead, if its texts and those of all libraries that it
    /// imports have not changed since.
    fn ahead(&mut self, _name: &LibraryName) -> Option<Ahead> {
        None
    }

    /// Returns whether whoever imports a module may use a capability that the module requires. By
    /// default everything is granted, for expansion without running.
    fn grants(&self, _capability: &str) -> bool {
        true
    }
}

/// The name of a library: symbols and exact non-negative integers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LibraryName {
    /// The parts, as text.
    pub parts: Vec<Name>,
}

impl LibraryName {
    /// Returns the name in parentheses, by which units and globals refer to the library.
    pub fn to_name(&self) -> Name {
        Name::from(self.to_string().as_str())
    }

    /// Returns the library with this name, the inverse of [`LibraryName::to_name`].
    pub fn parse(name: &Name) -> Self {
        let inside = name.as_str();
        let inside = inside
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .unwrap_or(inside);
        Self {
            parts: inside.split(' ').map(Name::from).collect(),
        }
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.parts.iter().map(Name::as_str).collect();
        write!(formatter, "({})", parts.join(" "))
    }
}

/// A source text and its name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// A file path, or another name that [`Libraries::include`] understands as an includer.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

/// The reason why a source is not available: one lower-case clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError(pub String);

impl fmt::Display for SourceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SourceError {}
