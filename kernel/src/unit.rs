//! Compiled units: relocatable code with the names it needs.
//!
//! Owns what the compiler produces for one library, program or interaction, and its hash.
//! INVARIANT: nothing in a unit depends on load order: globals, primitives and constants are unit-local tables of names and data.
//! It does not execute or place anything; `code.rs` does. Read next: `compiler.rs`.

use crate::core::GlobalName;
use crate::datum::{Datum, Name, Span};
use crate::instruction::Instruction;

/// What one [`core::Unit`](crate::core::Unit) compiles to.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledUnit {
    /// The unit's name, for listings.
    pub name: Name,
    /// All code, block after block.
    pub instructions: Vec<Instruction>,
    /// The procedures, by position; block 0 takes no arguments and evaluates the unit's body.
    pub blocks: Vec<Block>,
    /// Literals, by the number instructions use.
    pub constants: Vec<Datum>,
    /// Globals, by the number instructions use.
    pub globals: Vec<GlobalName>,
    /// Primitives, by the number instructions use.
    pub primitives: Vec<Name>,
    /// The source of instructions: from this offset on, until the next entry.
    pub spans: Vec<(u32, Span)>,
}

/// One procedure's code.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The procedure's name, if it has one.
    pub name: Option<Name>,
    /// The offset of its first instruction in the unit.
    pub start: u32,
    /// One past its last instruction.
    pub end: u32,
    /// Registers it uses, windows of its calls included.
    pub frame_size: u16,
    /// The exact number of arguments, if a closure's code word can say it; otherwise the first instructions decide.
    pub arity: Option<u8>,
    /// How many values its closures capture.
    pub captured: u16,
}

/// The greatest arity that a code word can say.
pub const EXACT_ARITY_MAX: usize = 254;

impl std::fmt::Debug for Instruction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.description() {
            Some(row) => {
                write!(formatter, "{}", row.mnemonic)?;
                row.operands
                    .iter()
                    .try_for_each(|(field, _)| write!(formatter, " {}", self.operand(*field)))
            }
            None => write!(formatter, "#<word {:#x}>", self.to_bits()),
        }
    }
}

impl CompiledUnit {
    /// BLAKE3 of everything that the unit means; what spans and names say to people is part of it.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(self.name.0.as_bytes());
        for instruction in &self.instructions {
            add(&instruction.to_bits().to_le_bytes());
        }
        for block in &self.blocks {
            add(block.name.as_ref().map_or("", |name| &name.0).as_bytes());
            add(
                &[block.start, block.end, block.frame_size.into(), block.captured.into()]
                    .map(u32::to_le_bytes)
                    .concat(),
            );
            add(&[block.arity.is_some().into(), block.arity.unwrap_or(0)]);
        }
        for constant in &self.constants {
            add(&constant.to_bytes());
        }
        for global in &self.globals {
            add(global.library.0.as_bytes());
            add(global.name.0.as_bytes());
        }
        for primitive in &self.primitives {
            add(primitive.0.as_bytes());
        }
        for (offset, span) in &self.spans {
            add(&[*offset, span.start, span.end].map(u32::to_le_bytes).concat());
        }
        *hasher.finalize().as_bytes()
    }
}
