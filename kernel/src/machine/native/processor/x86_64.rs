//! Machine code of x86-64.
//!
//! Owns the choice of registers, and words and branches:
//!
//! | register | word |
//! |---|---|
//! | rbx | the address of register 0 of the frame |
//! | rbp | the offset of the heap's next free word, in bytes |
//! | r12 | the address of the heap's first word |
//! | r13 | fuel |
//! | r14 | the address of the [context](super::super::context) |
//! | r15 | the addresses by code position |
//! | rsi, rdi, r8–r11 | copies of registers of the frame; rsi is the result at a return |
//! | rdi, r8–r10 | at the beginning of a block: the first registers of the frame |
//! | rax, rcx, rdx | A, C and D |
//! | rsp | the host's stack: an address for each call since the entry that has not returned |
//!
//! INVARIANT: operands in memory have the shortest displacement that always fits.
//! It does not know instructions of the machine.
//! Read next: `machine/native/processor/x86_64/call.rs`.

mod call;
mod continuation;
mod number;
mod object;
mod stub;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};

use super::{Condition, Emit};
use crate::value::{Immediate, Value};

/// Emits machine code.
macro_rules! emit {
    ($processor:expr; $($code:tt)*) => {
        dynasmrt::dynasm!($processor.operations ; .arch x64 ; $($code)*)
    };
}
use emit;

/// The machine code of x86-64 so far.
pub(in super::super) struct X86_64 {
    operations: VecAssembler<X64Relocation>,
}

/// The offset of a register of the frame from its register 0.
const fn displacement(register: usize) -> i32 {
    8 * register as i32
}

/// The same where it fits a byte, which makes an instruction three bytes shorter.
fn short_displacement(register: usize) -> Option<i8> {
    i8::try_from(displacement(register)).ok()
}

impl Emit for X86_64 {
    const A: u8 = 0;
    const C: u8 = 1;
    const D: u8 = 2;
    const RESULT: u8 = 6;
    const FIRST: [u8; 4] = [7, 8, 9, 10];
    const POOL: &'static [u8] = &[6, 7, 8, 9, 10, 11];

    fn new(address: usize) -> X86_64 {
        X86_64 {
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
        emit!(self; jmp =>label);
    }

    fn branch(&mut self, condition: Condition, label: DynamicLabel) {
        match condition {
            Condition::Equal => emit!(self; je =>label),
            Condition::NotEqual => emit!(self; jne =>label),
            Condition::Below => emit!(self; jb =>label),
            Condition::BelowEqual => emit!(self; jbe =>label),
            Condition::Above => emit!(self; ja =>label),
            Condition::AboveEqual => emit!(self; jae =>label),
            Condition::Less => emit!(self; jl =>label),
            Condition::LessEqual => emit!(self; jle =>label),
            Condition::Greater => emit!(self; jg =>label),
            Condition::GreaterEqual => emit!(self; jge =>label),
            Condition::Overflow => emit!(self; jo =>label),
        }
    }

    fn copy(&mut self, to: u8, from: u8) {
        emit!(self; mov Rq(to), Rq(from));
    }

    fn set(&mut self, to: u8, bits: u64) {
        if let Ok(low) = u32::try_from(bits) {
            emit!(self; mov Rd(to), low as i32);
        } else if let Ok(low) = i32::try_from(bits as i64) {
            emit!(self; mov Rq(to), DWORD low);
        } else {
            emit!(self; mov Rq(to), QWORD bits as i64);
        }
    }

    fn shift_left(&mut self, to: u8, from: u8, bits: u8) {
        if to != from {
            self.copy(to, from);
        }
        emit!(self; shl Rq(to), bits as i8);
    }

    fn shift_right(&mut self, to: u8, from: u8, bits: u8) {
        if to != from {
            self.copy(to, from);
        }
        emit!(self; shr Rq(to), bits as i8);
    }

    fn shift_right_signed(&mut self, to: u8, from: u8, bits: u8) {
        if to != from {
            self.copy(to, from);
        }
        emit!(self; sar Rq(to), bits as i8);
    }

    fn count_down(&mut self) {
        emit!(self; dec edx);
    }

    fn load_frame(&mut self, to: u8, register: usize) {
        match short_displacement(register) {
            Some(short) => emit!(self; mov Rq(to), [BYTE rbx + short]),
            None => emit!(self; mov Rq(to), [rbx + displacement(register)]),
        }
    }

    fn store_frame(&mut self, register: usize, from: u8) {
        match short_displacement(register) {
            Some(short) => emit!(self; mov [BYTE rbx + short], Rq(from)),
            None => emit!(self; mov [rbx + displacement(register)], Rq(from)),
        }
    }

    fn load_context(&mut self, to: u8, field: i8) {
        emit!(self; mov Rq(to), [BYTE r14 + field]);
    }

    fn load_word(&mut self, to: u8, address: u8, offset: i32) {
        // An address in a register that is known takes a byte less.
        match address {
            Self::A => emit!(self; mov Rq(to), [rax + offset]),
            Self::C => emit!(self; mov Rq(to), [rcx + offset]),
            _ => emit!(self; mov Rq(to), [Rq(address) + offset]),
        }
    }

    fn compare(&mut self, left: u8, right: u8) {
        emit!(self; cmp Rq(left), Rq(right));
    }

    fn compare_number(&mut self, left: u8, number: i32) {
        emit!(self; cmp Rq(left), DWORD number);
    }

    fn compare_value(&mut self, left: u8, value: Value) {
        if let Ok(low) = i32::try_from(value.to_bits()) {
            emit!(self; cmp Rq(left), DWORD low);
        } else {
            self.set(Self::A, value.to_bits());
            emit!(self; cmp Rq(left), rax);
        }
    }

    fn compare_word(&mut self, offset: i32, word: u8) {
        emit!(self; cmp [rcx + offset], Rq(word));
    }

    fn test_zero(&mut self, word: u8) {
        emit!(self; test Rq(word), Rq(word));
    }

    fn test_fixnum(&mut self, word: u8) {
        emit!(self; test Rd(word), 7);
    }

    fn test_fixnums(&mut self, left: u8, right: u8) {
        if left == right {
            return self.test_fixnum(left);
        }
        emit!(self
            ; mov eax, Rd(left)
            ; or eax, Rd(right)
            ; test al, 7
        );
    }

    fn test_tag(&mut self, word: u8, tag: i32) {
        emit!(self; lea ecx, [Rq(word) - tag]; test cl, 7);
    }

    fn test_character(&mut self, word: u8) {
        emit!(self; movzx eax, Rb(word); cmp eax, Immediate::Character as i32);
    }
}
