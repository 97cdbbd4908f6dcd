//! Where libraries come from: sources, the search among them, and the image of libraries compiled
//! ahead.
//!
//! Owns the way from a library's name to its text or to its compiled form.
//! INVARIANT: each module uses only those before it.
//! It does not know import sets, load order or expansion; the kernel's expander asks it through
//! `duet_kernel::expander::Libraries`.
//! In suggested reading order.

pub mod image;
pub mod source;
pub mod resolver;
pub mod compile;
pub mod cache;
