//! The integration tests of `duet-packed`, as one executable: each suite is a module.
//!
//! INVARIANT: every file beside this one is named here; `tests/it/tidy/modules.rs` checks it.
//! Read next: `canonical.rs`.

mod canonical;
mod parts;
