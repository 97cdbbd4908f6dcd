//! `duet expand`: a program after macro expansion.

use std::sync::Arc;

use annotate_snippets::Level;
use duet_kernel::code::CodeSpace;
use duet_kernel::core::Unit;
use duet_kernel::expander::Expander;
use duet_kernel::transformer::TransformerMachine;
use duet_runtime::scheme::host;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::launch::Launch;
use crate::render::{self, Texts};
use crate::session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Locals are written name.number, globals of the program @name, others @(library)name. The libraries that it needs are not shown.";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let code = CodeSpace::new(&host::primitives());
    let units = units(arguments, &code, terminal)?;
    if let Some(program) = units.last() {
        terminal.data(&format!("{program}\n"))?;
    }
    Ok(Code::OK)
}

/// Expands the program that the arguments name: the libraries it needs, then itself.
pub(super) fn units(arguments: &Arguments, code: &CodeSpace, terminal: &Terminal) -> Result<Vec<Arc<Unit>>, Failure> {
    let launch = Launch::read(arguments.word(0).unwrap_or_default(), None, Vec::new())?;
    let mut expander = Expander::new(code.signatures(), session::default_libraries())
        .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
    let mut libraries = session::libraries(&launch.path);
    let name = launch.path.display().to_string();
    let expansion = expander
        .expand_program(&name, &launch.text, &mut libraries)
        .map_err(|errors| {
            let texts = Texts::of(&expander);
            Failure::Shown(render::diagnostics(&Level::ERROR, &errors, &texts, terminal.is_styled))
        })?;
    Ok(expansion.units)
}
