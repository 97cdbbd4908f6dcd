//! The vocabulary of a run: values, identities, addresses and their encodings.
//!
//! INVARIANT: nothing here depends on a run's state, so every other module may use it.
//! It does not know how a turn uses a value.
//! Read next: `model/codec.rs`, `model/value.rs`, `model/identity.rs`.

pub mod address;
pub mod card;
pub mod codec;
pub mod counted;
pub mod changed_text;
pub mod failure;
pub mod fixed;
pub mod grant;
pub mod identity;
pub mod limits;
pub mod manifest;
pub mod moment;
pub mod peer;
pub mod value;
