//! Fuel, frames, calls and exits.
//!
//! INVARIANT: a call leaves the address after it on the host's stack, where the return takes it, so
//! that the processor predicts the return.
//! It does not know which procedures are called.
//! Read next: `machine/native/processor/x86_64/object.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{X86_64, continuation, displacement, emit};
use crate::machine::native::processor::{Emit, EmitCalls, PAIR_TAG, PROCEDURE_TAG, Stubs};
use crate::machine::native::{Slot, context, service};
use crate::value::Value;

impl EmitCalls for X86_64 {
    fn burn(&mut self, otherwise: DynamicLabel) {
        emit!(self; sub r13, 1; js =>otherwise);
    }

    fn refuel(&mut self) {
        emit!(self; inc r13);
    }

    fn pay_for_steps(&mut self, steps_max: u64, shift: u8, otherwise: DynamicLabel) {
        emit!(self
            ; mov eax, steps_max as i32
            ; sub eax, edx
            ; shr eax, shift as i8
            ; cmp r13, rax
            ; jl =>otherwise
            ; sub r13, rax
        );
    }

    fn exit(&mut self, position: u32) {
        emit!(self
            ; mov ecx, position as i32
            ; jmp QWORD [BYTE r15 + Slot::Exit.offset_bytes()]
        );
    }

    fn exit_to(&mut self, service: usize, position: u32) {
        emit!(self
            ; mov ecx, position as i32
            ; mov rax, QWORD service as i64
            ; jmp QWORD [BYTE r15 + Slot::Service.offset_bytes()]
        );
    }

    fn set_position(&mut self, position: u32) {
        emit!(self; mov DWORD [BYTE r14 + context::POSITION], position as i32);
    }

    fn set_argument_count(&mut self, count: usize) {
        emit!(self; mov QWORD [BYTE r14 + context::ARGUMENT_COUNT], count as i32);
    }

    fn compare_argument_count(&mut self, count: usize) {
        emit!(self; cmp QWORD [BYTE r14 + context::ARGUMENT_COUNT], count as i32);
    }

    fn load_code_word(&mut self, otherwise: DynamicLabel) {
        emit!(self
            ; lea ecx, [rax - PROCEDURE_TAG]
            ; test cl, 7
            ; jnz =>otherwise
            ; mov rcx, [r12 + rax + 8 - PROCEDURE_TAG]
        );
    }

    fn compare_parameters(&mut self, count: u8) {
        emit!(self; cmp ch, count as i8);
    }

    fn expect_room(&mut self, end: usize, otherwise: DynamicLabel) {
        emit!(self
            ; lea rdx, [rbx + displacement(end)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>otherwise
        );
    }

    fn expect_room_for_callee(&mut self, first: usize, otherwise: DynamicLabel) {
        emit!(self
            ; mov edx, ecx
            ; shr edx, 16
            ; lea rdx, [rbx + rdx * 8 + displacement(first)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>otherwise
        );
    }

    fn expect_room_for_arguments(&mut self, first: usize, count: usize, otherwise: DynamicLabel) {
        let is_large = self.label();
        emit!(self
            ; mov edx, ecx
            ; shr edx, 16
            ; cmp edx, 1 + count as i32
            ; jae =>is_large
            ; mov edx, 1 + count as i32
            ;=>is_large
            ; lea rdx, [rbx + rdx * 8 + displacement(first + 1)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>otherwise
        );
    }

    fn enter_frame(&mut self, register: usize) {
        emit!(self; add rbx, displacement(register));
    }

    fn leave_frame(&mut self, register: usize) {
        emit!(self; sub rbx, displacement(register));
    }

    fn call(&mut self, label: DynamicLabel) {
        emit!(self; call =>label);
    }

    fn jump_to(&mut self, position: u32) {
        emit!(self
            ; mov ecx, position as i32
            ; jmp QWORD [r15 + 8 * position as i32]
        );
    }

    fn call_to(&mut self, position: u32) {
        emit!(self
            ; mov ecx, position as i32
            ; call QWORD [r15 + 8 * position as i32]
        );
    }

    fn jump_to_callee(&mut self) {
        emit!(self; sar rcx, 32; jmp QWORD [r15 + rcx * 8]);
    }

    fn call_callee(&mut self) {
        emit!(self; sar rcx, 32; call QWORD [r15 + rcx * 8]);
    }

    fn return_to_caller(&mut self) {
        emit!(self; ret);
    }

    fn underflow(&mut self) {
        continuation::underflow(&mut self.operations);
    }

    fn enter_continuation(&mut self) {
        continuation::reenter(&mut self.operations);
    }

    fn collect_rest(&mut self, required: usize, otherwise: DynamicLabel) {
        let (next, done) = (self.label(), self.label());
        emit!(self
            ; mov rcx, [BYTE r14 + context::ARGUMENT_COUNT]
            ; sub rcx, required as i32
            ; jb =>otherwise
            ; mov rdx, rcx
            ; shl rdx, 4
            ; add rdx, rbp
            ; cmp rdx, [BYTE r14 + context::LIMIT]
            ; ja =>otherwise
        );
        self.set(Self::A, Value::NIL.to_bits());
        emit!(self
            ; test rcx, rcx
            ; jz =>done
            ;=>next
            ; mov rdx, [rbx + rcx * 8 + displacement(required)]
            ; mov [r12 + rbp], rdx
            ; mov [r12 + rbp + 8], rax
            ; lea rax, [rbp + PAIR_TAG]
            ; add rbp, 16
            ; dec rcx
            ; jnz =>next
            ;=>done
            ; mov [rbx + displacement(required + 1)], rax
        );
    }

    fn call_primitive(&mut self, first: usize, count: usize, number: u32, otherwise: DynamicLabel) {
        emit!(self
            ; mov [BYTE r14 + context::TOP], rbp
            ; mov rdi, r14
            ; lea rsi, [rbx + displacement(first)]
            ; mov edx, count as i32
            ; mov ecx, number as i32
            ; mov rax, QWORD service::call_primitive as *const () as i64
            // Rust needs a stack that is aligned to 16 bytes.
            ; mov [BYTE r14 + context::CALLER_STACK], rsp
            ; and rsp, -16
            ; call rax
            ; mov rsp, [BYTE r14 + context::CALLER_STACK]
            ; mov r12, [BYTE r14 + context::HEAP]
            ; mov rbp, [BYTE r14 + context::TOP]
            ; test rax, rax
            ; js =>otherwise
            ; sub r13, rax
        );
    }

    fn stubs() -> Option<(Vec<u8>, Stubs)> {
        super::stub::assemble()
    }
}
