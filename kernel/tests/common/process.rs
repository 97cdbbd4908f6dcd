//! Programs compiled without libraries, and code spaces that have loaded them in some order.

#[path = "bare.rs"]
mod bare;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::unit::CompiledUnit;

use bare::{NoLibraries, expander};

/// Compiles a program of one unit on the bare kernel library.
pub(crate) fn compiled(name: &str, text: &str) -> CompiledUnit {
    let code = CodeSpace::new(&[]);
    let mut expander = expander(&code);
    let expansion = expander.expand_program(name, text, &mut NoLibraries);
    let units = expansion.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).units;
    assert_eq!(units.len(), 1, "one program is one unit");
    compile(&units[0], &code).unwrap()
}

/// Makes a code space with these units, in this order.
pub(crate) fn code_of(units: &[&CompiledUnit]) -> CodeSpace {
    let mut code = CodeSpace::new(&[]);
    for unit in units {
        code.load(unit).unwrap();
    }
    code
}
