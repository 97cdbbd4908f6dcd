//! The code space: all units of a run in one sequence of instructions.
//!
//! Owns loading: each unit is verified, relocated and appended. Nothing moves or goes afterwards,
//! so a position names an instruction for the life of the run.
//! INVARIANT: every loaded instruction is valid: its operands lie inside its block's frame, its
//! unit's tables and its block's code. The machine relies on it.
//! It holds no values: constants stay data, and each instance makes its own.
//! Read next: `code/verify.rs`, `code/builtin.rs`, `machine.rs`.

pub(crate) mod builtin;
mod dependence;
pub mod fingerprint;
mod liveness;
pub mod moves;
mod relocation;
mod verify;
pub mod versions;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::compiler::{PrimitiveKind, Primitives};
use crate::core::INTERACTION;
use crate::datum::{Datum, Name, Node, Span};
use crate::expander::PrimitiveSignature;
use crate::heap::LiveRegisters;
use crate::instruction::{Instruction, Opcode};
use crate::names::Fingerprint;
use crate::primitive::{self, Names, Primitive, PrimitiveBody};
use crate::unit::{CompiledUnit, GlobalName, IntegratedCall, Mark};
use crate::value::{Immediate, Value};

pub(crate) use dependence::Dependence;
use liveness::Liveness;
use relocation::Relocation;
pub use verify::VerifyError;

/// The maximum number of instructions after one without a source whose sources are looked at.
const FOLLOWING_MAX: usize = 64;

/// Why a unit cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The unit is not well-formed.
    Invalid(VerifyError),
    /// The unit uses a primitive that this system does not have.
    UnknownPrimitive(Name),
    /// The code space is full: positions have 32 bits.
    Full,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Invalid(error) => write!(formatter, "the unit is malformed: {error}"),
            LoadError::UnknownPrimitive(name) => write!(formatter, "no primitive is called {}", name.0),
            LoadError::Full => formatter.write_str("the code space is full"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A procedure in the code space.
#[derive(Clone, Debug)]
pub struct LoadedBlock {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// The position of its first instruction.
    pub start: u32,
    /// One past its last instruction.
    pub end: u32,
    /// Words of a frame.
    pub frame_size: u16,
    /// How many values its closures capture.
    pub captured: u16,
    /// The word of closures over it.
    pub code_word: Value,
    /// The word that new closures over it carry: that of another block once its text has changed.
    pub(crate) made_word: Value,
    /// The live registers of its instructions, computed when first asked for.
    liveness: OnceLock<Option<Liveness>>,
}

/// A unit in the code space.
#[derive(Clone, Debug)]
pub struct LoadedUnit {
    /// Its name.
    pub name: Name,
    /// BLAKE3 of its content.
    pub hash: [u8; 32],
    /// The position of its first instruction.
    pub start: u32,
    /// One past its last instruction.
    pub end: u32,
    /// The entry of `blocks` that evaluates the unit.
    pub entry_block: usize,
    /// The numbers of its literals.
    pub constants: std::ops::Range<u32>,
    /// The numbers of the globals it mentions, in its own order.
    pub globals: Vec<u32>,
    /// The numbers of the primitives it mentions, in its own order.
    primitives: Vec<u32>,
    /// Whether only the instances that link it have it.
    pub(crate) is_apart: bool,
    /// Whether its literals and globals follow directly after those of the units before it, none of
    /// which is apart.
    pub(crate) is_dense: bool,
    spans: Vec<(u32, Span)>,
    integrated: Vec<IntegratedCall>,
    origins: Vec<(u32, Option<u32>)>,
}

/// The code of a run.
pub struct CodeSpace {
    instructions: Vec<Instruction>,
    blocks: Vec<LoadedBlock>,
    /// Words of the largest frame of all blocks.
    largest_frame: u16,
    units: Vec<LoadedUnit>,
    unit_numbers: BTreeMap<[u8; 32], usize>,
    constants: Vec<Datum>,
    globals: Vec<GlobalName>,
    global_numbers: BTreeMap<GlobalName, u32>,
    primitives: Vec<Primitive>,
    primitive_numbers: BTreeMap<&'static str, u32>,
    class_names: &'static [&'static str],
    /// Shared with no other code space.
    identity: Arc<()>,
}

impl CodeSpace {
    /// A code space with the machine's own unit, the kernel's primitives and those of the host.
    ///
    /// # Panics
    /// If two primitives share a name or the machine's own unit is malformed, which a test rules
    /// out.
    pub fn new(host_primitives: &[Primitive]) -> CodeSpace {
        let mut space = CodeSpace {
            instructions: Vec::new(),
            blocks: Vec::new(),
            largest_frame: 0,
            units: Vec::new(),
            unit_numbers: BTreeMap::new(),
            constants: Vec::new(),
            globals: Vec::new(),
            global_numbers: BTreeMap::new(),
            primitives: Vec::new(),
            primitive_numbers: BTreeMap::new(),
            class_names: &[],
            identity: Arc::new(()),
        };
        for primitive in primitive::all().copied().chain(host_primitives.iter().copied()) {
            let number = space.primitives.len() as u32;
            let before = space.primitive_numbers.insert(primitive.name, number);
            assert!(before.is_none(), "two primitives are called {}", primitive.name);
            space.primitives.push(primitive);
        }
        let loaded = space.load(&builtin::unit());
        assert!(loaded.is_ok(), "the machine's own unit is well-formed");
        space
    }

    /// Sets the names of the classes of opaque references, for writing them.
    #[must_use]
    pub fn with_class_names(mut self, names: &'static [&'static str]) -> CodeSpace {
        self.class_names = names;
        self
    }

    /// A code space for code that runs at expansion time: the primitives on syntax objects are
    /// requests.
    ///
    /// # Panics
    /// As [`CodeSpace::new`].
    pub fn for_transformers(host_primitives: &[Primitive]) -> CodeSpace {
        let mut space = CodeSpace::new(host_primitives);
        for primitive in primitive::syntax::TABLE {
            if let Some(number) = space.primitive_numbers.get(primitive.name) {
                space.primitives[*number as usize].body = PrimitiveBody::Host;
            }
        }
        space
    }

    /// Appends a unit and returns its number; a unit with the same content that is loaded already
    /// keeps its number.
    ///
    /// # Errors
    /// [`LoadError`]; the space is unchanged.
    pub fn load(&mut self, unit: &CompiledUnit) -> Result<usize, LoadError> {
        self.append(unit, false)
    }

    /// Appends a unit like [`CodeSpace::load`], for the instances that link it by
    /// [`Instance::link_apart`](crate::machine::Instance::link_apart) only.
    ///
    /// # Errors
    /// [`LoadError`]; the space is unchanged.
    pub fn load_apart(&mut self, unit: &CompiledUnit) -> Result<usize, LoadError> {
        self.append(unit, true)
    }

    fn append(&mut self, unit: &CompiledUnit, is_apart: bool) -> Result<usize, LoadError> {
        let hash = unit.hash();
        if let Some(number) = self.unit_numbers.get(&hash) {
            return Ok(*number);
        }
        verify::verify(unit).map_err(LoadError::Invalid)?;
        let start = u32::try_from(self.instructions.len()).map_err(|_| LoadError::Full)?;
        let end = u32::try_from(self.instructions.len() + unit.instructions.len()).map_err(|_| LoadError::Full)?;
        let primitives = unit.primitives.iter().map(|name| {
            self.primitive_numbers
                .get(&*name.0)
                .copied()
                .ok_or_else(|| LoadError::UnknownPrimitive(name.clone()))
        });
        let relocation = Relocation {
            primitives: primitives.collect::<Result<_, _>>()?,
            constants: self.constants.len() as u32,
            blocks: self.blocks.len() as u32,
            globals: unit.globals.iter().map(|name| self.global_number(name)).collect(),
        };
        self.instructions.extend(
            unit.instructions
                .iter()
                .map(|instruction| relocation.apply(*instruction)),
        );
        let entry_block = self.blocks.len();
        self.blocks.extend(unit.blocks.iter().map(|block| {
            let word = code_word(start + block.start, block.frame_size, block.arity);
            LoadedBlock {
                name: block.name.clone(),
                start: start + block.start,
                end: start + block.end,
                frame_size: block.frame_size,
                captured: block.captured,
                code_word: word,
                made_word: word,
                liveness: OnceLock::new(),
            }
        }));
        let frame_sizes = unit.blocks.iter().map(|block| block.frame_size);
        self.largest_frame = frame_sizes.fold(self.largest_frame, u16::max);
        self.constants.extend(unit.constants.iter().cloned());
        if is_apart {
            // Its value tells the instances that have linked the unit.
            self.constants.push(Datum::of(Node::Boolean(true)));
        }
        let is_dense = !is_apart && self.units.last().is_none_or(|before| before.is_dense);
        self.unit_numbers.insert(hash, self.units.len());
        self.units.push(LoadedUnit {
            name: unit.name.clone(),
            hash,
            start,
            end,
            entry_block,
            constants: relocation.constants..self.constants.len() as u32,
            globals: relocation.globals,
            primitives: relocation.primitives,
            is_apart,
            is_dense,
            spans: unit
                .spans
                .iter()
                .map(|(offset, span)| (start + offset, *span))
                .collect(),
            integrated: unit.integrated.clone(),
            origins: unit
                .origins
                .iter()
                .map(|(offset, call)| (start + offset, *call))
                .collect(),
        });
        Ok(self.units.len() - 1)
    }

    fn global_number(&mut self, name: &GlobalName) -> u32 {
        if let Some(number) = self.global_numbers.get(name) {
            return *number;
        }
        let number = self.globals.len() as u32;
        self.globals.push(name.clone());
        self.global_numbers.insert(name.clone(), number);
        number
    }

    /// Tells this code space from every other one for as long as it is held.
    pub(crate) fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// The instructions, by position.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// A block by its number.
    pub fn block(&self, number: usize) -> &LoadedBlock {
        &self.blocks[number]
    }

    /// The numbers of the blocks of a unit.
    pub fn blocks_of(&self, unit: usize) -> std::ops::Range<usize> {
        let unit = &self.units[unit];
        let after = self.blocks.partition_point(|block| block.start < unit.end);
        unit.entry_block..after
    }

    /// The blocks that begin at `position` or later.
    pub(crate) fn blocks_from(&self, position: u32) -> &[LoadedBlock] {
        let before = self.blocks.partition_point(|block| block.start < position);
        &self.blocks[before..]
    }

    /// Words of the largest frame of all blocks.
    pub(crate) fn largest_frame(&self) -> usize {
        self.largest_frame.into()
    }

    /// The block that the instruction at `position` belongs to.
    pub fn block_at(&self, position: u32) -> Option<&LoadedBlock> {
        let after = self.blocks.partition_point(|block| block.start <= position);
        self.blocks[..after].last().filter(|block| position < block.end)
    }

    /// Whether a block calls the procedure that runs it as such.
    pub(crate) fn calls_itself(&self, block: &LoadedBlock) -> bool {
        let instructions = &self.instructions[block.start as usize..block.end as usize];
        let is_such = |instruction: &Instruction| instruction.opcode() == Some(Opcode::CallSelf);
        instructions.iter().any(is_such)
    }

    /// The number of the block that the instruction at `position` belongs to.
    pub fn block_number_at(&self, position: u32) -> Option<usize> {
        let number = self
            .blocks
            .partition_point(|block| block.start <= position)
            .checked_sub(1)?;
        (position < self.blocks[number].end).then_some(number)
    }

    /// The units, in load order.
    pub fn units(&self) -> &[LoadedUnit] {
        &self.units
    }

    /// The unit with this hash.
    pub fn find_unit(&self, hash: &[u8; 32]) -> Option<&LoadedUnit> {
        Some(&self.units[*self.unit_numbers.get(hash)?])
    }

    /// The unit that the instruction at `position` belongs to.
    pub fn unit_at(&self, position: u32) -> Option<&LoadedUnit> {
        let after = self.units.partition_point(|unit| unit.start <= position);
        self.units[..after].last().filter(|unit| position < unit.end)
    }

    /// The source of the instruction at `position`.
    pub fn span_at(&self, position: u32) -> Option<Span> {
        let unit = self.unit_at(position)?;
        let after = unit.spans.partition_point(|(start, _)| *start <= position);
        unit.spans[..after].last().map(|(_, span)| *span)
    }

    /// The positions in counted code at which the evaluation of an expression begins, each with its
    /// source.
    pub fn expressions(&self) -> impl Iterator<Item = (u32, Span)> {
        let mark = Mark::Expression.instruction();
        let instructions = (0..).zip(&self.instructions);
        let marked = instructions.filter(move |(_, instruction)| **instruction == mark);
        marked.filter_map(|(position, _)| Some((position, self.span_at(position)?)))
    }

    /// The positions of the jumps of conditions in counted code, each with whether it jumps if its
    /// condition holds.
    pub fn conditional_jumps(&self) -> impl Iterator<Item = (u32, bool)> {
        let mark = Mark::Condition.instruction();
        let pairs = (1..).zip(self.instructions.windows(2));
        let marked = pairs.filter(move |(_, pair)| pair[0] == mark);
        marked.filter_map(|(position, pair)| Some((position, pair[1].jumps_if()?)))
    }

    /// The sources around an instruction that has none of its own, such as the load of a literal:
    /// that of the next instruction of its block that has one, those further on that are around all
    /// before them, and that of the last one before. The expression whose operand the value is has
    /// its instruction after those of the other operands.
    pub fn spans_around(&self, position: u32) -> impl Iterator<Item = Span> {
        let bounds = self.block_at(position).map(|block| block.start..block.end);
        let unit = self.unit_at(position);
        let around = unit.zip(bounds).into_iter().flat_map(move |(unit, bounds)| {
            let after = unit.spans.partition_point(|(start, _)| *start <= position);
            let (last, following) = (unit.spans[..after].last(), &unit.spans[after..]);
            let mut passed: Option<Span> = None;
            let following = following.iter().take(FOLLOWING_MAX).filter(move |(_, span)| {
                let before = passed.unwrap_or(*span);
                let (start, end) = (before.start.min(span.start), before.end.max(span.end));
                let is_same = before.source == span.source;
                passed = Some(if is_same { Span { start, end, ..before } } else { before });
                is_same && (start, end) == (span.start, span.end)
            });
            let around = following.chain(last);
            around.filter(move |(start, _)| bounds.contains(start))
        });
        around.map(|(_, span)| *span)
    }

    /// The integrated calls that the instruction at `position` comes from, innermost first.
    pub fn integrated_at(&self, position: u32) -> impl Iterator<Item = &IntegratedCall> {
        let unit = self.unit_at(position);
        let innermost = unit.and_then(|unit| {
            let after = unit.origins.partition_point(|(start, _)| *start <= position);
            unit.origins[..after].last().and_then(|(_, call)| *call)
        });
        let call = move |number: u32| unit.and_then(|unit| unit.integrated.get(number as usize));
        std::iter::successors(innermost, move |number| call(*number)?.around).filter_map(call)
    }

    /// All literals, by number.
    pub fn constants(&self) -> &[Datum] {
        &self.constants
    }

    /// All globals, by number.
    pub fn globals(&self) -> &[GlobalName] {
        &self.globals
    }

    /// The number of a global that some unit mentions.
    pub fn find_global(&self, name: &GlobalName) -> Option<u32> {
        self.global_numbers.get(name).copied()
    }

    /// Whether a unit of the global's library defines it, before or after the running code.
    /// Interactions go on for ever, so the answer for them is no.
    pub(crate) fn defines(&self, global: u32) -> bool {
        let library = &self.globals[global as usize].library;
        let is_definition =
            |instruction: &Instruction| instruction.opcode() == Some(Opcode::DefineGlobal) && instruction.w() == global;
        let of_library = self.units.iter().filter(|unit| unit.name == *library);
        library.as_str() != INTERACTION
            && of_library
                .flat_map(|unit| &self.instructions[unit.start as usize..unit.end as usize])
                .any(is_definition)
    }

    /// All primitives, by number.
    pub fn primitives(&self) -> &[Primitive] {
        &self.primitives
    }

    /// The signatures of the primitives, for an expander.
    pub fn signatures(&self) -> Vec<PrimitiveSignature> {
        let signature = |primitive: &Primitive| PrimitiveSignature {
            name: Name::from(primitive.name),
            minimum: primitive.least.into(),
            maximum: primitive.most.map(usize::from),
            is_host: matches!(primitive.body, PrimitiveBody::Host),
        };
        self.primitives.iter().map(signature).collect()
    }

    /// The primitive that a value stands for, if it stands for one.
    #[inline(always)]
    pub(crate) fn primitive_in(&self, value: Value) -> Option<&Primitive> {
        let is_primitive = value.is_immediate(Immediate::Primitive);
        is_primitive.then(|| &self.primitives[value.payload() as usize])
    }

    /// The value of the primitive with this name.
    pub fn primitive(&self, name: &str) -> Option<Value> {
        let number = self.primitive_numbers.get(name)?;
        Some(Value::immediate(Immediate::Primitive, *number, 0))
    }
}

impl LiveRegisters for CodeSpace {
    fn live_at(&self, position: u32) -> Option<&[u64]> {
        let block = self.block_at(position)?;
        let liveness = block.liveness.get_or_init(|| {
            let instructions = &self.instructions[block.start as usize..block.end as usize];
            let captured = |number: usize| self.blocks[number].captured.into();
            Liveness::of(instructions, block.frame_size.into(), captured)
        });
        let liveness = liveness.as_ref()?;
        Some(liveness.at((position - block.start) as usize))
    }
}

impl Primitives for CodeSpace {
    fn kind(&self, name: &str) -> Option<PrimitiveKind> {
        Some(self.primitives[*self.primitive_numbers.get(name)? as usize].kind())
    }
}

impl Names for CodeSpace {
    fn primitive_name(&self, position: u32) -> &str {
        self.primitives
            .get(position as usize)
            .map_or("?", |primitive| primitive.name)
    }

    fn procedure_name(&self, position: u32) -> Option<&str> {
        self.block_at(position)?.name.as_ref().map(|name| &*name.0)
    }

    fn fingerprint(&self, position: u32) -> Option<Fingerprint> {
        CodeSpace::fingerprint(self, position)
    }

    fn class_name(&self, class: i64) -> Option<&str> {
        self.class_names.get(usize::try_from(class).ok()?).copied()
    }
}

/// The arity byte of a code word whose entry checks the number of arguments.
pub(crate) const ARITY_AT_ENTRY: u8 = 255;

/// The word that closures over a block carry: position, frame size and exact arity.
pub(crate) const fn code_word(position: u32, frame_size: u16, arity: Option<u8>) -> Value {
    let arity = match arity {
        Some(arity) => arity,
        None => ARITY_AT_ENTRY,
    };
    Value::immediate(Immediate::Code, position, (frame_size as u32) << 8 | arity as u32)
}
