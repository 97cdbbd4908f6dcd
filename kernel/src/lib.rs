//! Duet's Scheme: reader, expander, compiler, machine, and the images of values and continuations.
//!
//! In suggested reading order; each module may use only those before it.

pub mod compiler;
pub mod core;
pub mod datum;
pub mod instruction;
pub mod heap;
pub mod number;
pub mod unit;
pub mod value;
