//! Listings of compiled units.
//!
//! Owns the text form of instructions: how each role of an operand is written. The instruction
//! table says which roles an instruction has. Registers are written `r1`, numbers `#1`, targets of
//! jumps as offsets in the unit, globals as in listings of the core language.
//! INVARIANT: any unit can be listed, verified or not; a number that names nothing is listed as the
//! number.
//! It is not read back.
//! Read next: `instruction.rs`.

use std::fmt;

use crate::datum;
use crate::instruction::{Field, Instruction, Role};
use crate::unit::{Block, CompiledUnit};
use crate::value::{Immediate, Value};

/// The maximum of characters of a literal that are shown.
const SHOWN_CHARACTERS: usize = 60;

impl fmt::Display for CompiledUnit {
    /// Writes one block after the other, one instruction on a line, behind its offset.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.noted(&|_| None).fmt(formatter)
    }
}

/// A text to write under the instruction at an offset of the unit.
type Note<'a> = &'a dyn Fn(usize) -> Option<String>;

/// The listing of a unit with notes.
struct NotedListing<'a> {
    unit: &'a CompiledUnit,
    note: Note<'a>,
}

impl fmt::Display for NotedListing<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blocks = self.unit.blocks.iter().enumerate();
        blocks.try_for_each(|(number, block)| self.unit.write_block(formatter, number, block, self.note))
    }
}

/// The listing of one procedure.
struct BlockListing<'a> {
    unit: &'a CompiledUnit,
    number: usize,
}

impl fmt::Display for BlockListing<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = self.unit.blocks.get(self.number);
        block.map_or(Ok(()), |block| {
            self.unit.write_block(formatter, self.number, block, &|_| None)
        })
    }
}

impl CompiledUnit {
    /// The listing of the procedure whose first instruction is at an offset of the unit.
    pub fn procedure_at(&self, offset: u32) -> Option<impl fmt::Display + '_> {
        let number = self.blocks.iter().position(|block| block.start == offset)?;
        Some(BlockListing { unit: self, number })
    }

    /// The listing with lines under instructions, which `note` gives for their offsets.
    pub fn noted<'a>(&'a self, note: &'a dyn Fn(usize) -> Option<String>) -> impl fmt::Display + 'a {
        NotedListing { unit: self, note }
    }

    fn write_block(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        number: usize,
        block: &Block,
        note: Note<'_>,
    ) -> fmt::Result {
        self.write_head(formatter, number, block)?;
        let code = self.instructions.iter().enumerate();
        let length = block.end.saturating_sub(block.start) as usize;
        for (offset, instruction) in code.skip(block.start as usize).take(length) {
            self.write_instruction(formatter, offset, instruction)?;
            let note = note(offset).unwrap_or_default();
            note.lines().try_for_each(|line| writeln!(formatter, "       {line}"))?;
        }
        Ok(())
    }

    fn write_head(&self, formatter: &mut fmt::Formatter<'_>, number: usize, block: &Block) -> fmt::Result {
        write!(formatter, "block {number}: {}", self.block_name(number))?;
        write!(formatter, ", {} registers", block.frame_size)?;
        match block.captured {
            0 => writeln!(formatter),
            captured => writeln!(formatter, ", captures {captured}"),
        }
    }

    fn block_name(&self, number: usize) -> &str {
        let name = self.blocks.get(number).and_then(|block| block.name.as_ref());
        match name {
            Some(name) => name.as_str(),
            None if number == 0 => "the unit",
            None => "an unnamed procedure",
        }
    }

    fn write_instruction(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        offset: usize,
        instruction: &Instruction,
    ) -> fmt::Result {
        let Some(row) = instruction.description() else {
            return writeln!(formatter, "{offset:>5}  {instruction:?}");
        };
        let mut line = format!("{offset:>5}  {:<18}", row.mnemonic);
        for (field, role) in row.operands {
            let text = self.operand(instruction, offset, *field, *role);
            if !text.is_empty() {
                line.push(' ');
                line.push_str(&text);
            }
        }
        writeln!(formatter, "{}", line.trim_end())
    }

    /// An operand as text; `None` for its usual value.
    fn operand(&self, instruction: &Instruction, offset: usize, field: Field, role: Role) -> String {
        let number = instruction.operand(field);
        let index = number as usize;
        let signed = match field {
            Field::b => i64::from(instruction.b_signed()),
            Field::c => i64::from(instruction.c_signed()),
            Field::w => i64::from(instruction.w_signed()),
            Field::a | Field::d => i64::from(number),
        };
        let or_number = |text: Option<String>| text.unwrap_or_else(|| number.to_string());
        match role {
            Role::Out | Role::In | Role::Captures | Role::Window | Role::Arguments0 => format!("r{number}"),
            Role::Arguments => format!("({number})"),
            Role::Count => format!("/{number}"),
            Role::Spelling | Role::HasRest if number == 0 => String::new(),
            Role::Spelling => format!("as {number}"),
            Role::HasRest => "with rest".to_owned(),
            Role::Small | Role::Integer => format!("#{signed}"),
            // The payload, which follows, says it all.
            Role::Class => String::new(),
            Role::Payload => self.immediate(instruction),
            Role::Constant => or_number(self.constants.get(index).map(|datum| shortened(&datum.to_string()))),
            Role::Global => or_number(self.globals.get(index).map(|global| {
                if global.library == self.name {
                    format!("@{}", global.name)
                } else {
                    format!("@{}{}", global.library, global.name)
                }
            })),
            Role::Block => format!("block {number}: {}", self.block_name(index)),
            Role::Primitive => or_number(self.primitives.get(index).map(ToString::to_string)),
            Role::Target16 | Role::Target32 | Role::Entry => {
                let next = i64::try_from(offset + 1).unwrap_or(i64::MAX);
                format!("→ {}", next.saturating_add(signed))
            }
        }
    }

    fn immediate(&self, instruction: &Instruction) -> String {
        let (class, payload) = (instruction.d(), instruction.w());
        let constants = [
            (Value::FALSE, "#f"),
            (Value::TRUE, "#t"),
            (Value::NIL, "()"),
            (Value::UNSPECIFIED, "#unspecified"),
            (Value::EOF, "#eof"),
            (Value::UNDEFINED, "#undefined"),
            (Value::ABSENT, "#absent"),
            (Value::DEFAULT, "#default"),
        ];
        let known = if class == Immediate::Constant as usize {
            let value = Value::immediate(Immediate::Constant, payload, 0);
            let found = constants.iter().find(|(constant, _)| *constant == value);
            found.map(|(_, name)| (*name).to_owned())
        } else if class == Immediate::Primitive as usize {
            self.primitives.get(payload as usize).map(ToString::to_string)
        } else if class == Immediate::Character as usize {
            char::from_u32(payload).map(|character| format!("{character:?}"))
        } else {
            None
        };
        known.unwrap_or_else(|| format!("#<immediate {class:#x} {payload}>"))
    }
}

/// The beginning of a text that is too long to show.
pub(crate) fn shortened(text: &str) -> String {
    datum::shortened(text, SHOWN_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::Name;
    use crate::instruction::{Opcode, TABLE};

    fn unit(instruction: Instruction) -> CompiledUnit {
        CompiledUnit {
            instructions: vec![instruction],
            blocks: vec![Block {
                name: None,
                start: 0,
                end: 1,
                frame_size: 4,
                arity: Some(0),
                captured: 0,
            }],
            ..CompiledUnit::empty(Name::from("(test)"))
        }
    }

    #[test]
    fn every_instruction_is_listed_by_its_row() {
        for row in TABLE {
            let listing = unit(Instruction::daw(row.opcode, 1, 2, 3)).to_string();
            let line = listing.lines().nth(1).unwrap_or_default();
            let mnemonic = line.split_whitespace().nth(1);
            assert_eq!(mnemonic, Some(row.mnemonic));
            let silent = row.operands.iter().filter(|(_, role)| *role == Role::Class).count();
            let operands = line.split_whitespace().skip(2).count();
            assert!(operands + silent >= row.operands.len(), "{line}");
        }
    }

    #[test]
    fn what_names_nothing_is_a_number() {
        for (instruction, expected) in [
            (
                Instruction::daw(Opcode::Constant, 0, 1, 7),
                "    0  constant           r1 7\n",
            ),
            (
                Instruction::daw(Opcode::Global, 0, 1, 9),
                "    0  global             r1 9\n",
            ),
            (
                Instruction::daw(Opcode::Closure, 0, 1, 5),
                "    0  closure            r1 block 5: an unnamed procedure\n",
            ),
            (
                Instruction::daw(Opcode::Immediate, 0x5f, 1, 5),
                "    0  immediate          r1 #<immediate 0x5f 5>\n",
            ),
            (
                Instruction::daw(Opcode::Jump, 0, 0, -1_i32 as u32),
                "    0  jump               → 0\n",
            ),
            (Instruction::from_bits(0xff), "    0  #<word 0xff>\n"),
        ] {
            let listing = unit(instruction).to_string();
            assert_eq!(listing, format!("block 0: the unit, 4 registers\n{expected}"));
        }
    }
}
