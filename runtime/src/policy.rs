//! Policy: what the keyed entries of the dataspace say about a proposal.
//!
//! Owns the entries (`policy.*`, `constraint.*`, `goal.*`, `fact.*`, each a versioned JSON text),
//! the constraints among them, and the ruling on a proposal.
//! INVARIANT: a ruling is a pure function of the snapshot, the principal and the proposal; anything
//! absent, unknown or malformed makes it stricter, never milder.
//! It does not know actors, turns or the journal; `gate.rs` asks it.
//! The modules are in suggested reading order. Read next: `gate.rs`.
//!
//! Source: SS-01, "Symbolic Substrate".

pub mod ruling;
pub mod json;
pub mod path;
pub mod predicate;
pub mod constraint;
pub mod document;
pub mod entry;
pub mod keyed;
pub mod authority;
pub mod evidence;
pub mod token;
pub mod place;
pub mod item;
pub mod card;
pub mod proposal;

pub use duet_schema as schema;
