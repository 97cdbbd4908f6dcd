//! How the programs of a test run: interpreted, or as machine code.
//!
//! INVARIANT: a test has the same answers in every way.
//! It chooses for whole programs only.
//! Read next: `session.rs`.

use duet_kernel::machine::NativeMode;

/// Whether the variable of the command asks for stress.
#[expect(clippy::disallowed_methods, reason = "the environment chooses the way")]
pub(crate) fn is_stressed() -> bool {
    std::env::var_os("DUET_STRESS").is_some_and(|value| value == "1")
}

/// The way that the variable of the command chooses.
#[expect(clippy::disallowed_methods, reason = "the environment chooses the way")]
pub(crate) fn mode() -> NativeMode {
    match std::env::var("DUET_NATIVE").as_deref() {
        Ok("always") => NativeMode::Always,
        Ok("never") => NativeMode::Never,
        _ => NativeMode::Auto,
    }
}
