//! Documents: the JSON values of entries, which paths read.
//!
//! INVARIANT: reading a malformed document is an error; it never counts as absent.
//! It does not hold documents; `entry.rs` does.
//! Read next: `path.rs`.

use std::borrow::Cow;
use std::fmt;

use duet_schema::NoSchema;
use serde_json::Value;

/// Finds documents by the keys of their entries.
pub trait Documents: fmt::Debug {
    /// Returns the object under a key; an expired entry counts as absent.
    fn document(&self, key: &str) -> Option<Result<&Value, &Malformed>>;
}

/// Why a constraint, or something that it reads, is malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub Cow<'static, str>);

impl Malformed {
    /// Makes a fault from a clause.
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

impl From<NoSchema> for Malformed {
    fn from(NoSchema(why): NoSchema) -> Self {
        Self(why)
    }
}
