//! Documents: the JSON values of entries, which paths read.
//!
//! INVARIANT: a document that is malformed is an error for whoever reads it, never absent.
//! It does not hold documents; `entry.rs` does.
//! Read next: `path.rs`.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// Finds documents by the keys of their entries.
pub trait Documents: fmt::Debug {
    /// Returns the object under a key; an entry that has expired is absent.
    fn document(&self, key: &str) -> Option<Result<&Value, &Malformed>>;
}

/// Why a constraint, or what it reads, cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub Cow<'static, str>);

impl Malformed {
    /// Makes one of a clause.
    pub fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}
