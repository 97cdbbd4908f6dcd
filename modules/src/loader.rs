//! Loading: from a text to evaluated-in-order units in a code space.
//!
//! Owns the chain expander → compiler → code space for programs, their libraries and interactions.
//! INVARIANT: units are loaded in dependency order, each once per loader; loading the same texts in the same order gives the same units, hash for hash.
//! It evaluates nothing. Read next: `resolver.rs`.

use duet_kernel::code::{CodeSpace, LoadError};
use duet_kernel::compiler::{CompileError, compile};
use duet_kernel::core::Unit;
use duet_kernel::datum::{Name, SourceId};
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Expander, Expansion, LibraryName, PrimitiveSignature, SourceText};
use duet_kernel::unit::CompiledUnit;

use crate::resolver::Resolver;
use crate::source::Source;

/// Expands, compiles and loads texts into one code space.
pub struct Loader {
    expander: Expander,
    resolver: Resolver,
}

/// A text that was loaded.
#[derive(Debug)]
pub struct Loaded {
    /// The units to evaluate, by number in the code space, in order; the last is the text itself.
    pub units: Vec<usize>,
    /// What is suspicious but no error.
    pub warnings: Vec<Diagnostic>,
}

/// Why a text cannot be loaded. The code space may hold libraries that it needed and that are sound.
#[derive(Debug)]
pub enum ProgramError {
    /// The text, or a library that it needs, is not a program.
    Source(Vec<Diagnostic>),
    /// A unit exceeds what the compiler can do.
    Compile {
        /// The unit.
        unit: Name,
        /// Why.
        error: CompileError,
    },
    /// A unit cannot be placed.
    Code {
        /// The unit.
        unit: Name,
        /// Why.
        error: LoadError,
    },
}

impl std::fmt::Display for ProgramError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProgramError::Source(diagnostics) => write!(formatter, "the program has {} errors", diagnostics.len()),
            ProgramError::Compile { unit, error } => write!(formatter, "{unit} cannot be compiled: {error}"),
            ProgramError::Code { unit, error } => write!(formatter, "{unit} cannot be loaded: {error}"),
        }
    }
}

impl std::error::Error for ProgramError {}

/// The libraries that a program without any `import` sees.
const DEFAULT_LIBRARIES: &[&str] = &["duet base", "duet dataspace"];

impl Loader {
    /// A loader whose programs may use the primitives of `code` and the libraries of `sources`; the first source that has one wins.
    pub fn new(code: &CodeSpace, sources: Vec<Box<dyn Source>>) -> Loader {
        let signatures = code.primitives().iter().map(|primitive| PrimitiveSignature {
            name: Name::from(primitive.name),
            minimum: primitive.least.into(),
            maximum: primitive.most.map(usize::from),
        });
        let defaults = DEFAULT_LIBRARIES.iter().map(|name| library_name(name)).collect();
        Loader {
            expander: Expander::new(signatures.collect::<Vec<_>>(), defaults),
            resolver: Resolver::new(sources),
        }
    }

    /// Loads a program and the libraries it needs that are not loaded yet.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn program(&mut self, code: &mut CodeSpace, name: &str, text: &str) -> Result<Loaded, ProgramError> {
        let expansion = self
            .expander
            .expand_program(name, text, &mut self.resolver)
            .map_err(ProgramError::Source)?;
        load(code, expansion)
    }

    /// Loads one input of an interactive session.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn interaction(&mut self, code: &mut CodeSpace, name: &str, text: &str) -> Result<Loaded, ProgramError> {
        let expansion = self
            .expander
            .expand_interaction(name, text, &mut self.resolver)
            .map_err(ProgramError::Source)?;
        load(code, expansion)
    }

    /// The source text that a span belongs to.
    pub fn source(&self, id: SourceId) -> Option<&SourceText> {
        self.expander.source(id)
    }
}

fn library_name(words: &str) -> LibraryName {
    LibraryName {
        parts: words.split(' ').map(Name::from).collect(),
    }
}

fn load(code: &mut CodeSpace, expansion: Expansion) -> Result<Loaded, ProgramError> {
    let units = expansion
        .units
        .iter()
        .map(|unit| load_unit(code, unit))
        .collect::<Result<_, _>>()?;
    Ok(Loaded {
        units,
        warnings: expansion.warnings,
    })
}

fn load_unit(code: &mut CodeSpace, unit: &Unit) -> Result<usize, ProgramError> {
    let compiled: CompiledUnit = compile(unit, code).map_err(|error| ProgramError::Compile {
        unit: unit.name.clone(),
        error,
    })?;
    code.load(&compiled).map_err(|error| ProgramError::Code {
        unit: unit.name.clone(),
        error,
    })
}
