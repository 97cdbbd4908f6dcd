//! The template of calls of primitives.
//!
//! INVARIANT: before machine code calls Rust, the heap knows every object that machine code has
//! made, and afterwards machine code loads the heap's words anew.
//! It does not finish calls that fail or after which a collection is due.
//! Read next: `machine/native/enter.rs`.

use dynasmrt::{DynasmApi, DynasmLabelApi};

use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, displacement, emit};
use crate::machine::native::context;
use crate::machine::native::service;
use crate::primitive::PrimitiveBody;

impl Assembler<'_> {
    pub(in super::super) fn call_primitive(&mut self, instruction: Instruction) {
        let number = instruction.w();
        let body = self.code.primitives()[number as usize].body;
        if !matches!(body, PrimitiveBody::Function(_)) {
            return self.leave_here();
        }
        let finish = self.finish();
        emit!(self
            ; mov [BYTE r14 + context::TOP], rbp
            ; mov rdi, r14
            ; lea rsi, [rbx + displacement(instruction.a())]
            ; mov edx, instruction.d() as i32
            ; mov ecx, number as i32
            ; mov rax, QWORD service::call_primitive as *const () as i64
            // Rust needs a stack that is aligned to 16 bytes.
            ; mov [BYTE r14 + context::CALLER_STACK], rsp
            ; and rsp, -16
            ; call rax
            ; mov rsp, [BYTE r14 + context::CALLER_STACK]
            ; mov r12, [BYTE r14 + context::HEAP]
            ; mov rbp, [BYTE r14 + context::TOP]
            ; test eax, eax
            ; jz =>finish
        );
        self.registers.clear();
    }
}
