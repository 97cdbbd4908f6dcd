//! Programs compiled without libraries, and code spaces that have loaded them in some order.

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, Libraries, LibraryName, PrimitiveSignature, SourceError, SourceText};
use duet_kernel::unit::CompiledUnit;

struct NoLibraries;

impl Libraries for NoLibraries {
    fn library(&mut self, _: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok(None)
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("no file {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

/// Compiles a program of one unit on the bare kernel library.
pub(crate) fn compiled(name: &str, text: &str) -> CompiledUnit {
    let code = CodeSpace::new(&[]);
    let kernel = LibraryName {
        parts: vec![Name::from("duet"), Name::from("kernel")],
    };
    let signatures = code.primitives().iter().map(|primitive| PrimitiveSignature {
        name: Name::from(primitive.name),
        minimum: primitive.least.into(),
        maximum: primitive.most.map(usize::from),
    });
    let mut expander = Expander::new(signatures.collect::<Vec<_>>(), vec![kernel]);
    let expansion = expander.expand_program(name, text, &mut NoLibraries);
    let units = expansion.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).units;
    assert_eq!(units.len(), 1, "one program is one unit");
    compile(&units[0], &code).unwrap()
}

/// A code space with these units, in this order.
pub(crate) fn code_of(units: &[&CompiledUnit]) -> CodeSpace {
    let mut code = CodeSpace::new(&[]);
    for unit in units {
        code.load(unit).unwrap();
    }
    code
}
