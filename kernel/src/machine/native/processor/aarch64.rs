//! Machine code of aarch64.
//!
//! Owns the choice of registers, and words and branches:
//!
//! | register | word |
//! |---|---|
//! | x19 | the address of register 0 of the frame |
//! | x20 | the offset of the heap's next free word, in bytes |
//! | x21 | the address of the heap's first word |
//! | x22 | fuel |
//! | x23 | the address of the [context](super::super::context) |
//! | x24 | the addresses by code position |
//! | x0–x7 | copies of registers of the frame; x0 is the result at a return |
//! | x1–x4 | at the beginning of a block: the first registers of the frame |
//! | x9, x10, x11 | A, C and D |
//! | x16, x17 | free within an operation; x17 is the address at a jump through the table |
//! | sp | the host's stack: 16 bytes for each call since the entry that has not returned |
//!
//! INVARIANT: no operand is out of the range that an instruction has for it: one that does not fit
//! is first loaded into x17. A branch that does not reach its label, a megabyte away, is an error
//! of the whole block, which is then interpreted.
//! It does not know instructions of the machine.
//! Read next: `machine/native/processor/aarch64/call.rs`.

mod call;
mod number;
mod object;
mod stub;

use dynasmrt::aarch64::Aarch64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};

use super::{Condition, Emit};
use crate::value::{Immediate, Value};

/// Emits machine code.
macro_rules! emit {
    ($processor:expr; $($code:tt)*) => {
        dynasmrt::dynasm!($processor.operations ; .arch aarch64 ; $($code)*)
    };
}
use emit;

/// The register that has the address of register 0 of the frame.
const FRAME: u8 = 19;
/// The register that has the offset of the heap's next free word.
const FREE: u8 = 20;
/// Registers that are free within an operation.
const X16: u8 = 16;
const X17: u8 = 17;

/// The machine code of aarch64 so far.
pub(in super::super) struct Aarch64 {
    operations: VecAssembler<Aarch64Relocation>,
}

/// The bytes of this many words.
const fn words(count: usize) -> i64 {
    8 * count as i64
}

/// An offset of a whole word as the load of a word has it, if it is in its range.
fn scaled(offset: i64) -> Option<u32> {
    let is_in_range = offset % 8 == 0 && (0..8 * 4096).contains(&offset);
    is_in_range.then_some(offset as u32)
}

impl Aarch64 {
    /// Adds a number to a word; uses x17.
    fn add_constant(&mut self, to: u8, word: u8, number: i64) {
        match number {
            0..4096 => emit!(self; add XSP(to), XSP(word), number as u32),
            -4095..0 => emit!(self; sub XSP(to), XSP(word), -number as u32),
            _ => {
                self.set(X17, number as u64);
                emit!(self; add X(to), X(word), x17);
            }
        }
    }

    /// Compares a word with a word of the context; uses x16.
    fn compare_context(&mut self, word: u8, field: i8) {
        emit!(self; ldr x16, [x23, field as u32]; cmp X(word), x16);
    }

    /// Loads the word at this distance from an address; uses x17.
    fn load_at(&mut self, to: u8, address: u8, offset: i64) {
        if let Some(offset) = scaled(offset) {
            emit!(self; ldr X(to), [X(address), offset]);
        } else {
            self.set(X17, offset as u64);
            emit!(self; ldr X(to), [X(address), x17]);
        }
    }

    /// Stores at this distance from an address; uses x17.
    fn store_at(&mut self, address: u8, offset: i64, from: u8) {
        if let Some(offset) = scaled(offset) {
            emit!(self; str X(from), [X(address), offset]);
        } else {
            self.set(X17, offset as u64);
            emit!(self; str X(from), [X(address), x17]);
        }
    }
}

impl Emit for Aarch64 {
    const A: u8 = 9;
    const C: u8 = 10;
    const D: u8 = 11;
    const RESULT: u8 = 0;
    const FIRST: [u8; 4] = [1, 2, 3, 4];
    const POOL: &'static [u8] = &[0, 1, 2, 3, 4, 5, 6, 7];

    fn new(address: usize) -> Aarch64 {
        Aarch64 {
            operations: VecAssembler::new(address),
        }
    }

    fn finish(self) -> Option<Vec<u8>> {
        self.operations.finalize().ok()
    }

    fn offset_bytes(&self) -> usize {
        let AssemblyOffset(offset) = self.operations.offset();
        offset
    }

    fn label(&mut self) -> DynamicLabel {
        self.operations.new_dynamic_label()
    }

    fn place(&mut self, label: DynamicLabel) {
        emit!(self; =>label);
    }

    fn jump(&mut self, label: DynamicLabel) {
        emit!(self; b =>label);
    }

    fn branch(&mut self, condition: Condition, label: DynamicLabel) {
        match condition {
            Condition::Equal => emit!(self; b.eq =>label),
            Condition::NotEqual => emit!(self; b.ne =>label),
            Condition::Below => emit!(self; b.lo =>label),
            Condition::BelowEqual => emit!(self; b.ls =>label),
            Condition::Above => emit!(self; b.hi =>label),
            Condition::AboveEqual => emit!(self; b.hs =>label),
            Condition::Less => emit!(self; b.lt =>label),
            Condition::LessEqual => emit!(self; b.le =>label),
            Condition::Greater => emit!(self; b.gt =>label),
            Condition::GreaterEqual => emit!(self; b.ge =>label),
            Condition::Overflow => emit!(self; b.vs =>label),
        }
    }

    fn copy(&mut self, to: u8, from: u8) {
        emit!(self; mov X(to), X(from));
    }

    /// An instruction sets a quarter of the register and clears or fills the rest; each of the next
    /// ones sets another quarter.
    fn set(&mut self, to: u8, bits: u64) {
        let quarters = [0, 16, 32, 48].map(|shift| (shift, bits >> shift & 0xffff));
        let count = |rest: u64| quarters.iter().filter(|(_, quarter)| *quarter == rest).count();
        let rest = if count(0xffff) > count(0) { 0xffff } else { 0 };
        let mut others = quarters.iter().filter(|(_, quarter)| *quarter != rest);
        let (shift, quarter) = *others.next().unwrap_or(&(0, rest));
        if rest == 0 {
            emit!(self; movz X(to), quarter as u32, lsl shift);
        } else {
            emit!(self; movn X(to), (quarter ^ rest) as u32, lsl shift);
        }
        for (shift, quarter) in others {
            emit!(self; movk X(to), *quarter as u32, lsl *shift);
        }
    }

    fn shift_left(&mut self, to: u8, from: u8, bits: u8) {
        emit!(self; lsl X(to), X(from), u32::from(bits));
    }

    fn shift_right(&mut self, to: u8, from: u8, bits: u8) {
        emit!(self; lsr X(to), X(from), u32::from(bits));
    }

    fn shift_right_signed(&mut self, to: u8, from: u8, bits: u8) {
        emit!(self; asr X(to), X(from), u32::from(bits));
    }

    fn count_down(&mut self) {
        emit!(self; subs w11, w11, 1);
    }

    fn load_frame(&mut self, to: u8, register: usize) {
        self.load_at(to, FRAME, words(register));
    }

    fn store_frame(&mut self, register: usize, from: u8) {
        self.store_at(FRAME, words(register), from);
    }

    fn load_context(&mut self, to: u8, field: i8) {
        emit!(self; ldr X(to), [x23, field as u32]);
    }

    fn load_word(&mut self, to: u8, address: u8, offset: i32) {
        self.load_at(to, address, offset.into());
    }

    fn compare(&mut self, left: u8, right: u8) {
        emit!(self; cmp X(left), X(right));
    }

    fn compare_number(&mut self, left: u8, number: i32) {
        if (0..4096).contains(&number) {
            emit!(self; cmp XSP(left), number as u32);
        } else {
            self.set(X17, i64::from(number) as u64);
            emit!(self; cmp X(left), x17);
        }
    }

    fn compare_value(&mut self, left: u8, value: Value) {
        self.set(X17, value.to_bits());
        emit!(self; cmp X(left), x17);
    }

    fn compare_word(&mut self, offset: i32, word: u8) {
        self.load_at(X16, Self::C, offset.into());
        emit!(self; cmp x16, X(word));
    }

    fn test_zero(&mut self, word: u8) {
        emit!(self; cmp XSP(word), 0);
    }

    fn test_fixnum(&mut self, word: u8) {
        emit!(self; tst X(word), 7);
    }

    fn test_fixnums(&mut self, left: u8, right: u8) {
        if left == right {
            return self.test_fixnum(left);
        }
        emit!(self; orr x16, X(left), X(right); tst x16, 7);
    }

    fn test_tag(&mut self, word: u8, tag: i32) {
        emit!(self; and x16, X(word), 7; cmp x16, tag as u32);
    }

    fn test_character(&mut self, word: u8) {
        emit!(self; and x16, X(word), 0xff; cmp x16, Immediate::Character as u32);
    }
}
