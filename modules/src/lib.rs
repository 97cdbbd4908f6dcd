//! Duet's libraries: where the sources of library names are found.
//!
//! Owns the search: sources in order, each a tree of `.sld` files addressed by library name.
//! It does not expand libraries; the kernel's expander asks it through `duet_kernel::expander::Libraries`.
//! In suggested reading order.

pub mod image;
pub mod resolver;
pub mod source;
