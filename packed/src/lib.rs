//! Preserves in bytes: one writer and one strict reader of the canonical packed form, and one
//! reader of whatever others write, packed or text.
//!
//! A value has exactly one canonical form, so equal values have equal bytes and a hash can name a
//! value. [`PackedWriter`] writes that form part by part, [`Reader`] reads it token by token, and a
//! [`PackedValue`] is bytes that one of them has vouched for.
//! INVARIANT: writing and reading are inverse, and every form of a value except the canonical one
//! is refused.
//!
//! The `preserves` crate accepts other forms, misreads integers from −2¹²⁸ to −2¹²⁷ − 1 and
//! overflows the stack on deep input, so no byte from outside reaches its reader; only its trees
//! are used. This crate does not know what values mean.
//!
//! [`framing`] reads streams and texts from outside; its values are canonical, too.
//!
//! `duet-journal` and `duet-kernel` use this crate. The runtime uses it through the journal, which
//! re-exports it as `duet_journal::packed`: the runtime packs values in order to record them, and
//! so has one road to the bytes and no edge of its own.
//!
//! Read next: `format.rs`, then the modules in the order in which they stand here.
//!
//! Source: Preserves 0.996, "Binary Syntax" and "Canonical Form for Binary Syntax".

mod error;
mod format;
mod reader;
mod view;
mod writer;

mod value;
mod shared;
mod tree;

pub mod framing;

pub use error::{PackedError, PackedFault};
pub use format::{Compound, MAX_DEPTH, MAX_VALUE_BYTES, PackedLimits, varint};
pub use reader::{Reader, Token, check};
pub use shared::{PackedValues, SharedValue};
pub use tree::{read_value, write_tree};
pub use value::PackedValue;
pub use view::{Class, Parts, View};
pub use writer::PackedWriter;
