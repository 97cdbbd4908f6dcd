//! JSON Schema 2020-12, judged within a bounded number of steps.
//!
//! It is a crate because the validator's code is generic: whoever names it compiles it, and here
//! that is done beside the kernel and the journal.
//! INVARIANT: compiling and judging take a bounded number of steps, whoever wrote the schema.
//! It does not know policy and tools, which have schemas.
//! Read next: `schema.rs`.

mod depth;
mod reference;
mod cost;
mod schema;

pub use schema::{NoSchema, Schema, text_bytes};
