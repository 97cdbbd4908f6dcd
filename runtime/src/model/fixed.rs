//! Entries of policy that whoever runs a program lays down.
//!
//! INVARIANT: nobody holds a fixed entry, so no program can change or remove it; a program that
//! enters another text under its key is refused.
//! It does not read the entries; `../policy/entry.rs` does.
//! Read next: `grant.rs`.

use crate::codec_struct;

/// A fixed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedEntry {
    /// The key, such as `constraint.no_secrets`.
    pub key: String,
    /// The JSON text.
    pub text: String,
}
codec_struct!(FixedEntry "fixed-entry" { key, text });
