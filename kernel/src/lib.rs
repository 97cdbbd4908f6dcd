//! Duet's Scheme: reader, expander, compiler, machine, and the images of values and continuations.
//!
//! In suggested reading order; each module may use only those before it.

pub mod number;
pub mod datum;
pub mod diagnostic;
pub mod core;
pub mod syntax;
pub mod form;
pub mod expander;
pub mod instruction;
pub mod unit;
pub mod compiler;
pub mod value;
mod listing;
pub mod heap;
pub mod machine;
pub mod printer;
pub mod boundary;
pub mod primitive;
pub mod code;
pub mod transformer;
pub mod image;
