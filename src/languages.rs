//! The data that people write beside programs, and the languages of other systems.
//!
//! Read next: `languages/migrate.rs`.

pub(crate) mod datum;
pub(crate) mod migrate;
