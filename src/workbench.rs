//! The workbench of an author: the formatter, and the tests of programs.
//!
//! Read next: `workbench/testing.rs`.

pub mod format;
pub(crate) mod testing;
