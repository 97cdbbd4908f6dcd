//! Compiled units: relocatable code with the names it needs.
//!
//! Owns the compiled form of one library, program or interaction, and its hash.
//! INVARIANT: nothing in a unit depends on load order: globals, primitives and constants are
//! unit-local tables of names and data.
//! It does not execute or place anything; `code.rs` does.
//! Read next: `unit/bytes.rs`, then `compiler.rs`.

mod bytes;

use crate::datum::{Datum, Name, Span};
use crate::instruction::{Instruction, Opcode};

/// The compiled form of one [`core::Unit`](crate::core::Unit).
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledUnit {
    /// The unit's name, for listings.
    pub name: Name,
    /// All code, block after block.
    pub instructions: Vec<Instruction>,
    /// The procedures, by position; block 0 takes no arguments and evaluates the unit's body.
    pub blocks: Vec<Block>,
    /// Literals, by their numbers in instructions.
    pub constants: Vec<Datum>,
    /// Globals, by their numbers in instructions.
    pub globals: Vec<GlobalName>,
    /// Primitives, by their numbers in instructions.
    pub primitives: Vec<Name>,
    /// The source of instructions: from this offset on, until the next entry.
    pub spans: Vec<(u32, Span)>,
    /// Calls that were replaced by the bodies of their procedures.
    pub integrated: Vec<IntegratedCall>,
    /// The integrated call, if any, that instructions come from: from this offset on, until the
    /// next entry.
    pub origins: Vec<(u32, Option<u32>)>,
}

impl CompiledUnit {
    /// A unit without code.
    pub(crate) fn empty(name: Name) -> CompiledUnit {
        CompiledUnit {
            name,
            instructions: Vec::new(),
            blocks: Vec::new(),
            constants: Vec::new(),
            globals: Vec::new(),
            primitives: Vec::new(),
            spans: Vec::new(),
            integrated: Vec::new(),
            origins: Vec::new(),
        }
    }
}

/// A mark in code whose executed lines are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The evaluation of an expression begins here.
    Expression = 1,
    /// The next instruction is the jump of a condition.
    Condition = 2,
}

impl Mark {
    /// The mark as an instruction: a jump to the next one, which takes no fuel.
    pub(crate) fn instruction(self) -> Instruction {
        Instruction::daw(Opcode::Jump, self as u8, 0, 0)
    }
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
    /// The number of registers it uses, including the windows of its calls.
    pub frame_size: u16,
    /// The exact number of arguments, if it fits a closure's code word; otherwise the first
    /// instructions check it.
    pub arity: Option<u8>,
    /// The number of values that its closures capture.
    pub captured: u16,
}

/// The identity of a global variable: stable across processes, independent of load order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalName {
    /// The library that defines it, as written: `(scheme base)`; the program's own top level is
    /// `(program)`.
    pub library: Name,
    /// The name inside that library, before any renaming by an import. Macro-introduced definitions
    /// get a distinct name from the expander.
    pub name: Name,
}

/// A call that was replaced by the body of the procedure it calls: no frame will tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegratedCall {
    /// The procedure's name.
    pub procedure: Name,
    /// The call.
    pub span: Span,
    /// The call whose body this one stands in; one that comes before it in the unit's list.
    pub around: Option<u32>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::Node;

    fn unit() -> CompiledUnit {
        CompiledUnit {
            name: Name("unit".into()),
            instructions: vec![Instruction::abc(Opcode::Return, 0, 0, 0)],
            blocks: vec![block(None, Some(0))],
            constants: vec![Datum::of(Node::Nil)],
            globals: vec![global("a", "b")],
            primitives: vec![Name("car".into())],
            spans: vec![(
                0,
                Span {
                    source: crate::datum::SourceId(0),
                    start: 0,
                    end: 1,
                },
            )],
            integrated: vec![integrated(None)],
            origins: vec![(0, None), (1, Some(0))],
        }
    }

    fn integrated(around: Option<u32>) -> IntegratedCall {
        IntegratedCall {
            procedure: Name("procedure".into()),
            span: Span {
                source: crate::datum::SourceId(1),
                start: 2,
                end: 3,
            },
            around,
        }
    }

    fn block(name: Option<&str>, arity: Option<u8>) -> Block {
        Block {
            name: name.map(|name| Name(name.into())),
            start: 0,
            end: 1,
            frame_size: 2,
            arity,
            captured: 0,
        }
    }

    fn global(library: &str, name: &str) -> GlobalName {
        GlobalName {
            library: Name(library.into()),
            name: Name(name.into()),
        }
    }

    #[test]
    fn a_unit_is_its_bytes_and_its_texts() {
        let bytes = unit().to_bytes();
        let sources = [0, 1].map(crate::datum::SourceId);
        assert_eq!(CompiledUnit::from_bytes(&bytes, sources), Some(unit()));
        assert_eq!(CompiledUnit::from_bytes(&bytes, []), None);
        let plain = CompiledUnit {
            integrated: Vec::new(),
            origins: Vec::new(),
            ..unit()
        };
        let start = plain.to_bytes().len();
        assert_eq!(CompiledUnit::from_bytes(&bytes[..start], sources), Some(plain));
        for length in (0..bytes.len()).filter(|length| *length != start) {
            let cut = CompiledUnit::from_bytes(&bytes[..length], sources);
            assert_eq!(cut, None, "{length}");
        }
    }

    #[test]
    fn whatever_differs_gives_another_hash() {
        let changes: &[fn(&mut CompiledUnit)] = &[
            |_| (),
            |unit| unit.name = Name("other".into()),
            |unit| unit.instructions[0] = Instruction::abc(Opcode::Return, 1, 0, 0),
            |unit| unit.instructions.push(unit.instructions[0]),
            |unit| unit.blocks[0] = block(Some(""), Some(0)),
            |unit| unit.blocks[0] = block(None, None),
            |unit| unit.blocks[0].captured = 1,
            |unit| unit.blocks[0].frame_size = 3,
            |unit| unit.blocks.clear(),
            |unit| unit.constants[0] = Datum::of(Node::Boolean(false)),
            |unit| unit.constants.clear(),
            |unit| unit.globals[0] = global("ab", ""),
            |unit| unit.globals.clear(),
            // The same names in sequence, but divided differently among the tables.
            |unit| unit.primitives = ["a", "b", "car"].map(|name| Name(name.into())).to_vec(),
            |unit| {
                unit.primitives = ["a", "b", "car"].map(|name| Name(name.into())).to_vec();
                unit.globals.clear();
            },
            |unit| unit.primitives.clear(),
            |unit| unit.spans[0].0 = 1,
            |unit| unit.spans.clear(),
            |unit| unit.integrated[0].span.end = 4,
            |unit| unit.integrated[0].procedure = Name("other".into()),
            |unit| unit.integrated.push(integrated(None)),
            |unit| unit.integrated.push(integrated(Some(0))),
            |unit| unit.origins.truncate(1),
            |unit| unit.origins[0].1 = Some(0),
            |unit| unit.origins[1].0 = 2,
        ];
        let mut hashes: Vec<[u8; 32]> = changes
            .iter()
            .map(|change| {
                let mut unit = unit();
                change(&mut unit);
                unit.hash()
            })
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), changes.len());
    }
}
