//! `duet expand`: prints a program after macro expansion.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::Level;
use duet_kernel::code::CodeSpace;
use duet_kernel::core::Unit;
use duet_kernel::expander::Expander;
use duet_kernel::transformer::TransformerMachine;
use duet_runtime::scheme::host;

use crate::owner::owned_run;
use crate::text::error::{CommandError, ExitCode};
use crate::text::render::{self, SourceTexts};
use crate::text::terminal::Terminal;
use crate::world::launch::{Launch, Program};

/// Shows a program after macro expansion.
///
/// Locals are written name.number, globals of the program @name, others @(library)name. The
/// libraries that the program needs are not shown.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The program.
    file: PathBuf,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let code = CodeSpace::new(&host::primitives());
    let units = units(&arguments.file, &code, terminal)?;
    if let Some(program) = units.last() {
        terminal.data(format!("{program}\n"))?;
    }
    Ok(ExitCode::OK)
}

/// Expands a program: the libraries that it needs, then itself.
pub(super) fn units(program: &Path, code: &CodeSpace, terminal: &Terminal) -> Result<Vec<Arc<Unit>>, CommandError> {
    let launch = Launch::read(Program::at(program), None, Vec::new())?;
    let mut expander = Expander::new(code.signatures(), owned_run::default_libraries())
        .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
    let mut libraries = owned_run::libraries(&launch.path);
    let name = launch.path.display().to_string();
    let expansion = expander
        .expand_program(&name, &launch.text, &mut libraries)
        .map_err(|errors| {
            let texts = SourceTexts::of(&expander);
            CommandError::Shown(render::diagnostics(&Level::ERROR, &errors, &texts, terminal.is_styled))
        })?;
    Ok(expansion.units)
}
