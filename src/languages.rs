//! The languages of other systems, read into programs.
//!
//! Read next: `languages/migrate.rs`.

pub(crate) mod migrate;
