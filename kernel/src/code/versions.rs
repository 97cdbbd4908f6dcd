//! Versions of a unit: which procedure of a changed text takes the place of which of an earlier
//! one.
//!
//! A procedure is known by its expression, if the alignment of the two texts knows what has become
//! of it. Else it is known by its path, if all procedures of it have names: its name, its number
//! among those of that name in the procedure around it, and the path of that one. Closures over a
//! block can take the code of another only if they have captured the same variables in the same
//! order, in cells or not.
//! INVARIANT: a block that takes the place of another reads no captured value that the closures
//! over the other do not have, and has a frame of at least its size.
//! It does not rewrite closures; `heap/closures.rs` does.
//! Read next: `heap/closures.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::CodeSpace;
use crate::compiler::{ScopedVariable, UnitVariables};
use crate::core::CoreId;
use crate::core::alignment::Alignment;
use crate::instruction::{Instruction, Opcode, Role};
use crate::unit::{CompiledUnit, GlobalName};
use crate::value::Value;

/// A procedure of a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// Its name and number at each level, outermost first.
    path: Vec<Step>,
    /// The number of its block in the unit.
    pub block: usize,
    captured: Vec<ScopedVariable>,
    /// Its expression.
    pub form: Option<CoreId>,
}

/// One level of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    name: String,
    /// Its number among those of that name, and how many there are.
    number: usize,
    count: usize,
}

impl Procedure {
    /// Returns its path for people, such as `handler in start`.
    pub fn shown(&self) -> String {
        let names = self.path.iter().rev().map(|step| match &*step.name {
            "" => "lambda",
            name => name,
        });
        names.collect::<Vec<_>>().join(" in ")
    }

    /// Whether it and all procedures around it have names.
    fn is_named(&self) -> bool {
        self.path.iter().all(|step| !step.name.is_empty())
    }

    /// Returns the name of the definition that it is the value of; nothing for one inside another.
    pub fn definition(&self) -> Option<&str> {
        match &self.path[..] {
            [step] if !step.name.is_empty() => Some(&step.name),
            _ => None,
        }
    }
}

/// Lists the procedures of a compiled unit, without the body of the unit.
pub fn procedures(unit: &CompiledUnit, variables: &UnitVariables) -> Vec<Procedure> {
    let (captured, forms) = (variables.captured(), variables.forms());
    let mut found = Vec::new();
    let mut pending = vec![(0, Vec::new())];
    let mut seen = vec![false; unit.blocks.len()];
    while let Some((number, path)) = pending.pop() {
        let block = &unit.blocks[number];
        let inside = blocks_in(&unit.instructions[block.start as usize..block.end as usize]);
        let name_of = |number: usize| {
            let name = unit.blocks[number].name.as_ref();
            name.map_or("", |name| name.as_str()).to_owned()
        };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        inside
            .iter()
            .for_each(|inner| *counts.entry(name_of(*inner)).or_default() += 1);
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for inner in inside {
            if std::mem::replace(&mut seen[inner], true) {
                continue;
            }
            let name = name_of(inner);
            let number = numbers.entry(name.clone()).or_default();
            let step = Step {
                count: counts[&name],
                number: *number,
                name,
            };
            *number += 1;
            let path: Vec<Step> = path.iter().cloned().chain([step]).collect();
            found.push(Procedure {
                path: path.clone(),
                block: inner,
                captured: captured.get(inner).cloned().unwrap_or_default(),
                form: forms.get(inner).copied().flatten(),
            });
            pending.push((inner, path));
        }
    }
    found
}

/// Lists the blocks over which instructions make closures, in order.
fn blocks_in(instructions: &[Instruction]) -> Vec<usize> {
    let block = |instruction: &Instruction| {
        let operands = instruction.description().map_or(&[][..], |row| row.operands);
        let is_block = operands.iter().any(|(_, role)| *role == Role::Block);
        is_block.then(|| instruction.w() as usize)
    };
    instructions.iter().filter_map(block).collect()
}

/// A procedure of a changed text that takes the place of an earlier one, by the numbers of their
/// blocks in their units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The earlier one.
    pub old: usize,
    /// The one that takes its place.
    pub new: usize,
    /// Whether it captures the same variables, so that closures over the old one can have its code.
    pub is_alike: bool,
}

/// Returns the successor of each of the procedures that has one.
pub fn successors(before: &[Procedure], now: &[Procedure], alignment: &Alignment) -> Vec<Successor> {
    let become_of = |old: &Procedure| alignment.node(old.form?);
    let known: BTreeSet<CoreId> = before.iter().filter_map(become_of).collect();
    let successor = |old: &Procedure| {
        let new = match become_of(old) {
            Some(form) => now.iter().find(|new| new.form == Some(form)),
            None if old.form.is_none() || old.is_named() => now
                .iter()
                .find(|new| old.path == new.path && new.form.is_none_or(|form| !known.contains(&form))),
            None => None,
        };
        let new = new?;
        Some(Successor {
            old: old.block,
            new: new.block,
            is_alike: old.captured == new.captured,
        })
    };
    before.iter().filter_map(successor).collect()
}

/// A procedure that the body of a loaded unit defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinedProcedure {
    /// The global whose value it is.
    pub name: GlobalName,
    /// The number of its block in the space.
    pub block: usize,
}

impl CodeSpace {
    /// Lists the procedures that the body of a unit defines, by the unit's number.
    pub fn defined_procedures(&self, unit: usize) -> Vec<DefinedProcedure> {
        let (mut made, mut found) = (BTreeMap::new(), Vec::new());
        for instruction in self.instructions_of(self.units[unit].entry_block) {
            match instruction.opcode() {
                Some(Opcode::Closure) => {
                    made.insert(instruction.a(), instruction.w() as usize);
                }
                Some(Opcode::DefineGlobal) => found.extend(made.get(&instruction.a()).map(|block| DefinedProcedure {
                    name: self.globals[instruction.w() as usize].clone(),
                    block: *block,
                })),
                Some(_) | None => {}
            }
        }
        found
    }

    /// A block, and those of all procedures in it.
    pub fn blocks_within(&self, block: usize) -> BTreeSet<usize> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![block]);
        while let Some(block) = pending.pop() {
            if found.insert(block) {
                pending.extend(blocks_in(self.instructions_of(block)));
            }
        }
        found
    }

    fn instructions_of(&self, block: usize) -> &[Instruction] {
        let block = &self.blocks[block];
        &self.instructions[block.start as usize..block.end as usize]
    }

    /// The number in the space of a block of a unit.
    pub fn block_number(&self, unit: usize, block: usize) -> usize {
        self.units[unit].entry_block + block
    }

    /// Whether the code of a block reads, assigns or calls a global.
    pub fn mentions_global(&self, block: usize, name: &GlobalName) -> bool {
        let Some(number) = self.find_global(name) else {
            return false;
        };
        let mut own = self.instructions_of(block).iter();
        own.any(|instruction| {
            let operands = instruction.description().map_or(&[][..], |row| row.operands);
            let is_global = operands.iter().any(|(_, role)| matches!(role, Role::Global));
            is_global && instruction.w() == number
        })
    }

    /// From now on, new closures over the first block of each pair carry the word of the second,
    /// and those over all other blocks their own.
    pub fn redirect(&mut self, pairs: &BTreeMap<usize, usize>) {
        for block in &mut self.blocks {
            block.made_word = block.code_word;
        }
        for (from, to) in pairs {
            self.blocks[*from].made_word = self.blocks[*to].code_word;
        }
    }

    /// The words that closures over the first block of each pair take, by the position of their
    /// code.
    pub fn replacements(&self, pairs: &BTreeMap<usize, usize>) -> BTreeMap<u32, Value> {
        let word = |(from, to): (&usize, &usize)| (self.blocks[*from].start, self.blocks[*to].code_word);
        pairs.iter().map(word).collect()
    }
}
