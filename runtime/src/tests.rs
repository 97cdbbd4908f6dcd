//! Support for the tests of several modules.
//!
//! INVARIANT: nothing here is compiled into the product.
//! It tests nothing itself.
//! Read next: `tests/script.rs`.

pub(crate) mod script;
