//! The choice of which parts of programs run as machine code.
//!
//! Owns the option and the variable that choose, and the choice of this process.
//! INVARIANT: programs do the same with every choice, so no journal has it.
//! It compiles nothing; `duet_kernel::machine` does.
//! Read next: `owner/owned_run.rs`.

use std::sync::atomic::{AtomicBool, Ordering};

use duet_kernel::machine::NativeMode;
use duet_runtime::scheme::SchemePrograms;
use serde::{Deserialize, Serialize};

use crate::text::error::CommandError;

/// The variable that chooses: `auto`, `always` or `never`.
pub(crate) const VARIABLE: &str = "DUET_NATIVE";

/// The variable that lets the machine collect at every safepoint, and end a slice of fuel with each
/// unit, if it is `1`: for tests of the machine.
const VARIABLE_OF_STRESS: &str = "DUET_STRESS";

/// The option of a command that runs programs.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NativeArgument {
    /// Interprets everything, where Duet otherwise compiles what runs often to machine code. The
    /// program does the same; see also the variable DUET_NATIVE.
    #[arg(long)]
    no_native: bool,
}

impl NativeArgument {
    /// Makes the choice for this process.
    pub(crate) fn apply(&self) {
        IS_FORBIDDEN.fetch_or(self.no_native, Ordering::Relaxed);
    }
}

/// Whether the person has forbidden machine code. The command sets it before it compiles a program.
static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Makes the choice of this process that of a program.
pub(crate) fn choose(programs: &mut SchemePrograms) {
    programs.set_native(mode());
    programs.set_stress(is_stressed().unwrap_or_default());
}

/// The choice of this process.
fn mode() -> NativeMode {
    if IS_FORBIDDEN.load(Ordering::Relaxed) {
        return NativeMode::Never;
    }
    chosen().unwrap_or_default()
}

/// Checks the variables.
///
/// # Errors
/// If one has another value.
pub(crate) fn check() -> Result<(), CommandError> {
    chosen()?;
    is_stressed()?;
    Ok(())
}

fn is_stressed() -> Result<bool, CommandError> {
    #[expect(clippy::disallowed_methods, reason = "programs do the same with every value")]
    let value = std::env::var_os(VARIABLE_OF_STRESS);
    match value.as_deref().map(|value| value.to_str().unwrap_or_default()) {
        None | Some("" | "0") => Ok(false),
        Some("1") => Ok(true),
        Some(_) => {
            let problem = CommandError::usage(format!("the variable {VARIABLE_OF_STRESS} has an unknown value"));
            Err(problem.advise("its values are 0 and 1"))
        }
    }
}

fn chosen() -> Result<NativeMode, CommandError> {
    #[expect(clippy::disallowed_methods, reason = "programs do the same with every value")]
    let value = std::env::var_os(VARIABLE);
    match value.as_deref().map(|value| value.to_str().unwrap_or_default()) {
        None | Some("" | "auto") => Ok(NativeMode::Auto),
        Some("always") => Ok(NativeMode::Always),
        Some("never") => Ok(NativeMode::Never),
        Some(_) => {
            let problem = CommandError::usage(format!("the variable {VARIABLE} has an unknown value"));
            Err(problem.advise("its values are auto, always and never"))
        }
    }
}
