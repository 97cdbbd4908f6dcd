//! What must hold for every input, whatever its bytes: one target per kind of input.
//!
//! Owns the targets; each is a function of bytes that panics if something does not hold. libFuzzer
//! feeds them on a nightly compiler, `tests/it/fuzz.rs` replays the corpus and mutates it on a
//! stable one.
//! INVARIANT: a target's verdict depends on its bytes alone, so an input that failed once fails
//! again.
//! Read next: `session.rs`, which evaluates programs for several of them.

pub mod choice;
pub mod session;
pub mod grammar;
pub mod reader;
pub mod program;
pub mod evaluation;
pub mod generated;
pub mod image;
pub mod packed;
pub mod record;
pub mod log;
pub mod history;

/// A target: what it is called, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets. Each has a folder of that name in `corpus/` and a program of that name in
/// `fuzz_targets/`.
pub const TARGETS: &[Target] = &[
    ("reader", reader::run),
    ("program", program::run),
    ("evaluation", evaluation::run),
    ("generated", generated::run),
    ("image", image::run),
    ("packed", packed::run),
    ("record", record::run),
    ("log", log::run),
    ("history", history::run),
];
