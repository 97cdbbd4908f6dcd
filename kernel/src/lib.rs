//! Duet's Scheme: reader, expander, compiler, machine, and the images of values and continuations.
//!
//! In suggested reading order. INVARIANT: each module uses only those before it, except the pairs
//! that `tests/it/modules.rs` names.

pub mod number;
pub mod datum;
pub mod diagnostic;
pub mod instruction;
pub mod unit;
pub mod core;
pub mod syntax;
pub mod form;
pub mod expander;
pub mod value;
mod listing;
pub mod heap;
pub mod compiler;
pub mod names;
pub mod printer;
pub mod primitive;
pub mod code;
pub mod machine;
pub mod transformer;
pub mod boundary;
pub mod image;
