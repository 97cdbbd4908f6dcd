//! The assembler of one block: the order of its instructions, its labels, entries and exits.
//!
//! Owns what all templates share. The [processor](super::processor) says which of its registers
//! hold the state of the machine, and which may hold copies of registers of the frame.
//! INVARIANT: an instruction writes its registers to the frame, and where it cannot go on it leaves
//! with nothing of it done, so the interpreter can execute it from its beginning. Where control can
//! come in, no copy of a register is assumed.
//! It does not know what instructions do; the templates do.
//! Read next: `machine/native/template/`, `machine/native/registers.rs`.

use std::ops::Range;

use dynasmrt::DynamicLabel;

use super::processor::{Condition, PAIR_TAG, Processor};
use super::registers::Registers;
use super::service::{self, Service};
use crate::code::{ARITY_AT_ENTRY, CodeSpace};
use crate::heap::LiveRegisters;
use crate::instruction::{Instruction, Opcode};
use crate::instruction_table;
use crate::value::Value;

/// What a block's machine code depends on besides the block.
pub(super) trait KnownGlobals {
    /// The code word of the procedure that a global holds, if it holds one now; calls of the global
    /// are fast as long as it does.
    fn code_word(&self, global: usize) -> Option<Value>;
}

/// The machine code of a block.
pub(super) struct Assembly {
    pub(super) bytes: Vec<u8>,
    /// The positions at which control may come in, with the offsets of their machine code.
    pub(super) entries: Vec<(u32, usize)>,
    /// The offset of each instruction, and of the end of the last.
    pub(super) places: Vec<usize>,
    pub(super) end: usize,
}

/// The rest of an instruction, placed behind the block.
type ColdPath<'a, P> = Box<dyn FnOnce(&mut Assembler<'a, P>) + 'a>;

/// How an exit continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExitKind {
    /// The interpreter executes the instruction.
    Redo,
    /// The same, and counts the fuel that has been counted already.
    Refuel,
    /// Rust finishes the call of a primitive that has been made.
    Finish,
}

pub(super) struct Assembler<'a, P> {
    /// The machine code so far.
    pub(super) out: P,
    pub(super) registers: Registers,
    pub(super) code: &'a CodeSpace,
    pub(super) known_globals: &'a dyn KnownGlobals,
    /// The position of the block's first instruction.
    start: u32,
    /// The position of the present instruction.
    pub(super) position: u32,
    /// The labels of the block's instructions.
    labels: Vec<DynamicLabel>,
    exits: Vec<(DynamicLabel, u32, ExitKind)>,
    cold_paths: Vec<(DynamicLabel, ColdPath<'a, P>)>,
    /// The positions at which control may come in so far, with the offsets of their machine code.
    entries: Vec<(u32, usize)>,
    /// The offset of each instruction so far.
    places: Vec<usize>,
    /// The register of the frame that has the same word as the processor's register for results,
    /// because the present instruction has called a procedure.
    returned: Option<usize>,
    /// Whether the present instruction only leaves.
    has_left: bool,
}

/// Assembles the block of these positions, to run at `address`. `None` if it
/// cannot be encoded.
pub(super) fn assemble<P: Processor>(
    code: &CodeSpace,
    block: Range<u32>,
    address: usize,
    known_globals: &dyn KnownGlobals,
) -> Option<Assembly> {
    let instructions = &code.instructions()[block.start as usize..block.end as usize];
    let mut out = P::new(address);
    let labels = instructions.iter().map(|_| out.label()).collect();
    let mut assembler = Assembler {
        out,
        registers: Registers::new(P::POOL),
        code,
        known_globals,
        start: block.start,
        position: block.start,
        labels,
        exits: Vec::new(),
        cold_paths: Vec::new(),
        entries: Vec::new(),
        places: Vec::new(),
        returned: None,
        has_left: false,
    };
    assembler.assemble_all(instructions);
    let end = assembler.out.offset_bytes();
    assembler.assemble_cold_paths();
    assembler.assemble_exits();
    let bytes = assembler.out.finish()?;
    Some(Assembly {
        bytes,
        entries: assembler.entries,
        places: assembler.places,
        end,
    })
}

macro_rules! declare_templates {
    ($(
        $name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($operands:tt)*],
        $documentation:literal;
    )*) => {
        impl<P: Processor> Assembler<'_, P> {
            /// Emits the machine code of one instruction.
            fn assemble_instruction(&mut self, instruction: Instruction) {
                match instruction.code() {
                    $($code => self.$method(instruction),)*
                    _ => self.leave_here(),
                }
            }
        }
    };
}

instruction_table!(declare_templates);

impl<'a, P: Processor> Assembler<'a, P> {
    fn assemble_all(&mut self, instructions: &[Instruction]) {
        let is_target = jump_targets(instructions);
        for (offset, instruction) in instructions.iter().enumerate() {
            self.position = self.start + offset as u32;
            if is_target[offset] {
                self.registers.clear();
            } else if offset == 0 {
                self.bind_first();
            }
            let label = self.labels[offset];
            self.out.place(label);
            let place = self.out.offset_bytes();
            self.places.push(place);
            let is_open = offset == 0 || self.registers.is_empty();
            let returned = self.returned.take();
            self.registers.unpin();
            self.has_left = false;
            self.assemble_instruction(*instruction);
            if self.has_left {
                continue;
            }
            if is_open {
                self.entries.push((self.position, place));
            } else if let Some(register) = returned {
                self.enter_with_result(register, label);
            }
        }
    }

    /// Notes the copies that processor registers have at the beginning of the block.
    fn bind_first(&mut self) {
        let code_word = self
            .code
            .block_at(self.start)
            .map(|block| block.code_word.detail() as u8);
        let parameters = code_word.filter(|arity| *arity != ARITY_AT_ENTRY).unwrap_or(0);
        for (register, processor) in P::FIRST.iter().enumerate().take(1 + usize::from(parameters)) {
            self.registers.bind(register, *processor);
        }
    }

    /// Lets control come in at the present position, before which a call has put its result into a
    /// register of the frame and into the processor's register for results.
    fn enter_with_result(&mut self, register: usize, label: DynamicLabel) {
        let position = self.position;
        self.cold(move |assembler| {
            let place = assembler.out.offset_bytes();
            assembler.entries.push((position, place));
            assembler.fetch(P::RESULT, register);
            assembler.out.jump(label);
        });
    }

    /// Notes that the present instruction has called a procedure, which has returned a result, and
    /// stores it to a register of the frame.
    pub(super) fn write_result(&mut self, register: usize) {
        self.registers.clear();
        self.write(register, P::RESULT);
        self.returned = Some(register);
    }

    /// Places the cold paths, and those that they have themselves.
    fn assemble_cold_paths(&mut self) {
        while let Some((label, path)) = self.cold_paths.pop() {
            self.out.place(label);
            path(self);
        }
    }

    fn assemble_exits(&mut self) {
        for (label, position, kind) in std::mem::take(&mut self.exits) {
            self.out.place(label);
            match kind {
                ExitKind::Redo => self.out.exit(position),
                ExitKind::Refuel => {
                    self.out.refuel();
                    self.out.exit(position);
                }
                ExitKind::Finish => self.out.exit_to(service::finish as Service as usize, position),
            }
        }
    }

    /// A label that is placed later.
    pub(super) fn label(&mut self) -> DynamicLabel {
        self.out.label()
    }

    /// The label of the instruction at this distance from the next one.
    pub(super) fn target(&self, distance: i32) -> DynamicLabel {
        let offset = (self.position - self.start) as usize + 1;
        self.labels[offset.wrapping_add_signed(distance as isize)]
    }

    /// The label of the instruction at a position, if the block has that instruction.
    pub(super) fn label_at(&self, position: u32) -> Option<DynamicLabel> {
        let offset = position.checked_sub(self.start)?;
        self.labels.get(offset as usize).copied()
    }

    /// Where the present instruction goes for the interpreter to execute it.
    pub(super) fn leave(&mut self) -> DynamicLabel {
        self.exit(ExitKind::Redo)
    }

    /// The same after the instruction has counted fuel.
    pub(super) fn leave_refuelled(&mut self) -> DynamicLabel {
        self.exit(ExitKind::Refuel)
    }

    /// Where the call of a primitive goes that needs Rust to finish it.
    pub(super) fn finish(&mut self) -> DynamicLabel {
        self.exit(ExitKind::Finish)
    }

    fn exit(&mut self, kind: ExitKind) -> DynamicLabel {
        let position = self.position;
        let same = self.exits.iter().rev().take_while(|exit| exit.1 == position);
        if let Some((label, ..)) = same.into_iter().find(|exit| exit.2 == kind) {
            return *label;
        }
        let label = self.label();
        self.exits.push((label, position, kind));
        label
    }

    /// Leaves the whole instruction to the interpreter.
    pub(super) fn leave_here(&mut self) {
        self.out.exit(self.position);
        self.has_left = true;
        self.registers.clear();
    }

    /// Places the rest of the instruction behind the block; returns its label.
    pub(super) fn cold(&mut self, path: impl FnOnce(&mut Assembler<'a, P>) + 'a) -> DynamicLabel {
        let label = self.label();
        self.cold_at(label, path);
        label
    }

    /// The same with its label.
    pub(super) fn cold_at(&mut self, label: DynamicLabel, path: impl FnOnce(&mut Assembler<'a, P>) + 'a) {
        self.cold_paths.push((label, Box::new(path)));
    }

    /// Lets Rust execute the present instruction, which has been executed at this place: a service
    /// does it behind the block, from where control goes on here.
    pub(super) fn or_by(&mut self, service: Service, slow: DynamicLabel) {
        self.join(slow, move |assembler| {
            assembler.out.exit_to(service as usize, assembler.position);
        });
    }

    /// Places another way of executing the present instruction behind the block: it ends where
    /// control may also come in, after which both ways are one.
    pub(super) fn join(&mut self, other: DynamicLabel, path: impl FnOnce(&mut Assembler<'a, P>) + 'a) {
        self.forget_dead();
        let done = self.label();
        self.out.place(done);
        let position = self.position;
        let (copies, pairs) = (self.registers.copies(), self.registers.pairs());
        self.cold_at(other, move |assembler| {
            assembler.position = position;
            path(assembler);
            assembler.enter_next();
            assembler.expect_pairs_next(&pairs);
            for (register, processor) in copies {
                assembler.fetch(processor, register);
            }
            assembler.out.jump(done);
        });
    }

    /// Leaves before the instruction after the present one unless these registers of the frame hold
    /// pairs: an entry from outside need not have passed the tests before.
    fn expect_pairs_next(&mut self, registers: &[usize]) {
        self.position += 1;
        for register in registers {
            let leave = self.leave();
            self.fetch(P::D, *register);
            self.out.test_tag(P::D, PAIR_TAG);
            self.out.branch(Condition::NotEqual, leave);
        }
        self.position -= 1;
    }

    /// Lets control come in here for the position after the present one.
    fn enter_next(&mut self) {
        let place = self.out.offset_bytes();
        self.entries.push((self.position + 1, place));
    }

    /// Forgets what is known of the registers that are dead after the present instruction, so that
    /// a path on which Rust may have collected can join.
    fn forget_dead(&mut self) {
        if let Some(map) = self.code.live_at(self.position + 1) {
            let is_live = |register: usize| {
                let bits = map.get(register / 64).copied().unwrap_or(0);
                bits >> (register % 64) & 1 == 1
            };
            self.registers.keep(is_live);
        }
    }

    /// The processor register that holds a register of the frame.
    pub(super) fn read(&mut self, register: usize) -> u8 {
        if let Some(processor) = self.registers.holding(register) {
            return processor;
        }
        let processor = self.registers.take();
        self.fetch(processor, register);
        self.registers.bind(register, processor);
        processor
    }

    /// Loads a register of the frame into a processor register.
    pub(super) fn fetch(&mut self, processor: u8, register: usize) {
        self.out.load_frame(processor, register);
    }

    /// A processor register for the instruction's result.
    pub(super) fn result(&mut self) -> u8 {
        self.registers.take()
    }

    /// Stores a processor register to a register of the frame.
    pub(super) fn write(&mut self, register: usize, processor: u8) {
        self.put(register, processor);
        self.registers.forget(register);
        self.registers.bind(register, processor);
    }

    /// Stores a processor register, of which nothing is noted, to a register of the frame.
    pub(super) fn put(&mut self, register: usize, processor: u8) {
        self.out.store_frame(register, processor);
    }
}

/// Which instructions of a block some jump leads to. A call of the block itself is no jump.
fn jump_targets(instructions: &[Instruction]) -> Vec<bool> {
    let mut is_target = vec![false; instructions.len()];
    for (offset, instruction) in instructions.iter().enumerate() {
        let distance = instruction.jump_distance();
        if let Some(distance) = distance.filter(|_| instruction.opcode() != Some(Opcode::CallSelf)) {
            is_target[(offset + 1).wrapping_add_signed(distance as isize)] = true;
        }
    }
    is_target
}
