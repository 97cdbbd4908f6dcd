//! The compiler: core forms → instructions.
//!
//! Owns the analysis of a unit (captured variables, loops, cells) and destination-driven code
//! generation in one pass per procedure. The core tree is compiled straight to register code after
//! two analyses. A further intermediate form (CPS or SSA) was rejected, because windows give calls
//! their registers for free, and inlining and unboxing can work on the core tree itself.
//! INVARIANT: an assigned variable lives in a cell, so that re-entering a continuation never rolls
//! an assignment back; every other variable is a register or is copied into closures.
//! It does not know heaps or scopes.
//! Read next: `compiler/analysis.rs`, then `compiler/expression.rs`.

mod analysis;
mod binding;
mod call;
mod emitter;
mod expression;
mod inline;
mod integrate;
mod test;
mod variables;

pub(crate) use expression::literal_word;
pub use variables::{Content, Home, Place, ScopedVariable, Site, UnitVariables, ValuePlace};

use std::collections::BTreeMap;

use crate::core::{CoreId, LambdaId, Unit, VariableId};
use crate::datum::{Datum, Name, Node};
use crate::unit::{Block, CompiledUnit};

use analysis::Analysis;
use emitter::Emitter;
use expression::Context;
use integrate::Copies;

/// The maximum nesting of expressions; the compiler refuses deeper programs.
const NESTING_MAX: usize = 20_000;

/// The properties of a primitive that the compiler needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimitiveKind {
    /// A function that returns to its caller and takes this range of arguments.
    Function {
        /// The fewest arguments.
        least: u8,
        /// The most, if bounded.
        most: Option<u8>,
    },
    /// Any other primitive (control, requests to the host), called like a procedure.
    Procedure,
}

/// Resolves names of primitives.
pub trait Primitives {
    /// Returns the kind of the primitive with this name.
    fn kind(&self, name: &str) -> Option<PrimitiveKind>;
}

/// The reason why a unit cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// A primitive that this system does not have.
    UnknownPrimitive(Name),
    /// A procedure needs more registers than a frame can have.
    TooManyRegisters,
    /// A procedure captures more variables than a closure can hold.
    TooManyCaptured,
    /// The unit has more instructions, constants or globals than 32 bits can count.
    TooLarge,
    /// Expressions nest deeper than the limit.
    TooDeep,
    /// A conditional jump spans more than 16 bits. The compiler handles it itself: it generates the
    /// block again with long jumps.
    JumpTooLong,
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::UnknownPrimitive(name) => write!(formatter, "no primitive is called {}", name.0),
            CompileError::TooManyRegisters => write!(formatter, "a procedure needs more than 65,000 registers"),
            CompileError::TooManyCaptured => write!(formatter, "a procedure captures more than 65,000 variables"),
            CompileError::TooLarge => write!(formatter, "the unit is too large"),
            CompileError::TooDeep => write!(formatter, "expressions nest deeper than {NESTING_MAX} levels"),
            CompileError::JumpTooLong => write!(formatter, "a jump spans more than 32,000 instructions"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles a unit.
///
/// # Errors
/// [`CompileError`] if the unit exceeds a limit of the instruction format or names an unknown
/// primitive.
pub fn compile(unit: &Unit, primitives: &dyn Primitives) -> Result<CompiledUnit, CompileError> {
    match &unit.compiled {
        Some(compiled) => Ok(CompiledUnit::clone(compiled)),
        None => generate(unit, primitives, false).map(|(compiled, _)| compiled),
    }
}

/// Compiles a unit as [`compile`] does, and returns where its variables are; `None` for a unit that
/// was compiled ahead, whose core forms are not there.
///
/// # Errors
/// As [`compile`].
pub fn variables_of(unit: &Unit, primitives: &dyn Primitives) -> Result<Option<UnitVariables>, CompileError> {
    match &unit.compiled {
        Some(_) => Ok(None),
        None => generate(unit, primitives, true).map(|(_, variables)| Some(variables)),
    }
}

/// Generates a unit's code, with where its variables are if `notes_variables` is set.
fn generate(
    unit: &Unit,
    primitives: &dyn Primitives,
    notes_variables: bool,
) -> Result<(CompiledUnit, UnitVariables), CompileError> {
    let integration = match unit.is_counted {
        true => None,
        false => integrate::integrate(unit, primitives),
    };
    let unit = integration.as_ref().map_or(unit, |integration| &integration.unit);
    let analysis = Analysis::of(unit)?;
    let mut compiler = Compiler {
        unit,
        analysis: &analysis,
        primitives,
        output: CompiledUnit {
            name: unit.name.clone(),
            instructions: Vec::new(),
            blocks: Vec::new(),
            constants: Vec::new(),
            globals: unit.globals.iter().map(|global| global.name.clone()).collect(),
            primitives: Vec::new(),
            spans: Vec::new(),
            integrated: unit.integrated.clone(),
            origins: Vec::new(),
        },
        copies: integration.as_ref().map(|integration| &integration.copies),
        literals: BTreeMap::new(),
        symbols: BTreeMap::new(),
        primitive_numbers: BTreeMap::new(),
        finished: Vec::new(),
        notes_variables,
        firsts: BTreeMap::new(),
        valued: None,
        depth: 0,
    };
    compiler.entry_block()?;
    let (compiled, mut variables) = compiler.finish();
    if notes_variables && let Some(integration) = integration {
        variables.set_copies(integration.copies);
        variables.set_integrated(&compiled);
    }
    Ok((compiled, variables))
}

/// A generated procedure before it has its place in the unit.
struct FinishedBlock {
    block: Block,
    emitter: Emitter,
}

struct Compiler<'a> {
    unit: &'a Unit,
    analysis: &'a Analysis,
    primitives: &'a dyn Primitives,
    output: CompiledUnit,
    copies: Option<&'a Copies>,
    /// The numbers of literals by their nodes before integration.
    literals: BTreeMap<CoreId, u32>,
    symbols: BTreeMap<Name, u32>,
    primitive_numbers: BTreeMap<Name, u32>,
    /// Blocks by number; a number is assigned before its block is generated.
    finished: Vec<Option<FinishedBlock>>,
    notes_variables: bool,
    /// The first part of `(or first second)`, by the variable that holds its value.
    firsts: BTreeMap<VariableId, CoreId>,
    /// The predicate's call whose value is being made by jumps.
    valued: Option<CoreId>,
    depth: usize,
}

impl Compiler<'_> {
    fn entry_block(&mut self) -> Result<(), CompileError> {
        let body = self.unit.body;
        let name = Some(self.unit.name.clone());
        // Not a tail call, because a last call in tail position would leave no frame that shows its
        // place in the text.
        self.block(name, Some(0), 0, |compiler, emitter| {
            emitter.is_body = true;
            compiler.effectful(emitter, Context::Tail, |compiler, emitter, target| {
                compiler.expression(emitter, body, Context::Register(target))
            })
        })?;
        Ok(())
    }

    /// Generates a block and returns its number; generates it again with long jumps if short ones
    /// do not reach.
    fn block(
        &mut self,
        name: Option<Name>,
        arity: Option<u8>,
        captured: usize,
        mut generate: impl FnMut(&mut Self, &mut Emitter) -> Result<(), CompileError>,
    ) -> Result<u32, CompileError> {
        let number = self.finished.len();
        let captured = u16::try_from(captured).map_err(|_| CompileError::TooManyCaptured)?;
        for has_long_jumps in [false, true] {
            self.finished.truncate(number);
            self.finished.push(None);
            let mut emitter = Emitter::new(has_long_jumps, self.notes_variables);
            generate(self, &mut emitter)?;
            match emitter.resolve() {
                Err(CompileError::JumpTooLong) if !has_long_jumps => continue,
                outcome => outcome?,
            }
            let frame_size = emitter.frame_size()?;
            let block = Block {
                name,
                start: 0,
                end: 0,
                frame_size,
                arity,
                captured,
            };
            self.finished[number] = Some(FinishedBlock { block, emitter });
            break;
        }
        u32::try_from(number).map_err(|_| CompileError::TooLarge)
    }

    fn finish(mut self) -> (CompiledUnit, UnitVariables) {
        let mut variables = match self.notes_variables {
            true => UnitVariables::of(self.unit, |variable| self.is_boxed(variable)),
            false => UnitVariables::none(),
        };
        for finished in std::mem::take(&mut self.finished).into_iter().flatten() {
            let start = self.output.instructions.len() as u32;
            let FinishedBlock { mut block, mut emitter } = finished;
            let noted = emitter.take_variables();
            let (instructions, places) = emitter.into_code();
            block.start = start;
            block.end = start + instructions.len() as u32;
            self.output.instructions.extend(instructions);
            self.originate(start, None);
            let mut before = None;
            for (offset, place) in places {
                if before != Some(place.span) {
                    self.output.spans.push((start + offset, place.span));
                }
                before = Some(place.span);
                self.originate(start + offset, place.integrated);
            }
            variables.push(&block, noted);
            self.output.blocks.push(block);
        }
        (self.output, variables)
    }

    /// Records the integrated call of the instructions from an offset of the unit on.
    fn originate(&mut self, offset: u32, call: Option<u32>) {
        let origins = &mut self.output.origins;
        if origins.last().is_some_and(|(start, _)| *start == offset) {
            origins.pop();
        }
        if origins.last().and_then(|(_, last)| *last) != call {
            origins.push((offset, call));
        }
    }

    /// The number of a literal's object. Each form that is read is one object, wherever
    /// optimisation has put copies of it.
    fn literal_number(&mut self, id: CoreId, datum: &Datum) -> u32 {
        let id = self.copies.map_or(id, |copies| copies.literal_of(id));
        if let Some(number) = self.literals.get(&id) {
            return *number;
        }
        let number = self.constant_number(datum);
        self.literals.insert(id, number);
        number
    }

    fn constant_number(&mut self, datum: &Datum) -> u32 {
        let next = self.output.constants.len() as u32;
        if let Node::Symbol(name) = &datum.nodes[datum.root.0 as usize] {
            let number = *self.symbols.entry(name.clone()).or_insert(next);
            if number != next {
                return number;
            }
        }
        self.output.constants.push(datum.clone());
        next
    }

    fn primitive_number(&mut self, name: &Name) -> u32 {
        let next = self.output.primitives.len() as u32;
        let number = *self.primitive_numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.output.primitives.push(name.clone());
        }
        number
    }

    fn node(&self, id: CoreId) -> &crate::core::Core {
        &self.unit.nodes[id.0 as usize]
    }

    fn lambda(&self, id: LambdaId) -> &crate::core::Lambda {
        &self.unit.lambdas[id.0 as usize]
    }

    /// Runs `step` one level deeper, and grows the stack if necessary.
    fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, CompileError>) -> Result<T, CompileError> {
        if self.depth >= NESTING_MAX {
            return Err(CompileError::TooDeep);
        }
        self.depth += 1;
        let outcome = stacker::maybe_grow(STACK_RED_ZONE_BYTES, STACK_GROWTH_BYTES, || step(self));
        self.depth -= 1;
        outcome
    }
}

const STACK_RED_ZONE_BYTES: usize = 128 * 1024;
const STACK_GROWTH_BYTES: usize = 4 * 1024 * 1024;
