//! Fingerprints of procedures: a hash of what the code of a procedure does.
//!
//! INVARIANT: a fingerprint depends on the instructions and on what they name (literals, globals,
//! primitives, the procedures inside), never on positions in the code space, on the order of
//! loading or on where the text stands. Names of procedures and variables are no part of it.
//! It does not know what a closure has captured. Read next: `primitive/control.rs`.

use std::collections::BTreeMap;

use super::CodeSpace;
use crate::instruction::{Instruction, Role};
use crate::names::Fingerprint;
use crate::value::Immediate;

/// Instructions that are hashed for a unit of fuel.
const INSTRUCTIONS: u64 = 16;

/// What an instruction names by a number of the code space.
enum Mention {
    Named(String),
    Procedure(usize),
}

impl CodeSpace {
    /// Takes the fingerprint of the procedure whose code starts at `position`.
    pub fn fingerprint(&self, position: u32) -> Option<Fingerprint> {
        let first = self.blocks.partition_point(|block| block.start < position);
        let block = self.blocks.get(first).filter(|block| block.start == position)?;
        let mut hasher = blake3::Hasher::new();
        // The procedures inside are hashed in the order in which they are mentioned first.
        let mut ordinals = BTreeMap::from([(first, 0)]);
        let mut order = vec![first];
        let (mut next, mut length) = (0, 0);
        while let Some(number) = order.get(next).copied() {
            next += 1;
            let block = &self.blocks[number];
            let (start, end) = (block.start as usize, block.end as usize);
            length += (end - start) as u64;
            feed(&mut hasher, &format!("{} {}", block.captured, block.code_word.detail()));
            for instruction in &self.instructions[start..end] {
                let mentions = self.mentions(instruction);
                let own = mentions.iter().fold(*instruction, |own, _| own.with_w(0));
                hasher.update(&own.to_bits().to_le_bytes());
                for mention in mentions {
                    match mention {
                        Mention::Named(name) => feed(&mut hasher, &name),
                        Mention::Procedure(number) => {
                            let ordinal = *ordinals.entry(number).or_insert_with(|| {
                                order.push(number);
                                order.len() - 1
                            });
                            feed(&mut hasher, &ordinal.to_string());
                        }
                    }
                }
            }
        }
        Some(Fingerprint {
            library: self.unit_at(position)?.name.as_str().to_owned(),
            name: block.name.as_ref().map(|name| name.as_str().to_owned()),
            hash: *hasher.finalize().as_bytes(),
            fuel: length / INSTRUCTIONS,
        })
    }

    /// What an instruction names; at most one thing, by its operand `w`.
    fn mentions(&self, instruction: &Instruction) -> Vec<Mention> {
        let operands = instruction.description().map_or(&[][..], |row| row.operands);
        let is_primitive = instruction.d() == Immediate::Primitive as usize;
        let number = instruction.w() as usize;
        let mention = |role: &Role| match role {
            Role::Constant => Some(Mention::Named(self.constants.get(number)?.to_string())),
            Role::Global => {
                let global = self.globals.get(number)?;
                Some(Mention::Named(format!("{} {}", global.library, global.name)))
            }
            Role::Primitive => Some(Mention::Named(self.primitives.get(number)?.name.to_owned())),
            Role::Payload if is_primitive => Some(Mention::Named(self.primitives.get(number)?.name.to_owned())),
            Role::Block => Some(Mention::Procedure(number)),
            Role::Out
            | Role::In
            | Role::Captures
            | Role::Window
            | Role::Arguments0
            | Role::Arguments
            | Role::Count
            | Role::Spelling
            | Role::HasRest
            | Role::Small
            | Role::Integer
            | Role::Class
            | Role::Payload
            | Role::Target16
            | Role::Target32
            | Role::Entry => None,
        };
        operands.iter().filter_map(|(_, role)| mention(role)).collect()
    }
}

/// Hashes a text of any length, so that it cannot be taken for the beginning of another one.
fn feed(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}
