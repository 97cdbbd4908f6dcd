//! Fuel, frames, calls and exits.
//!
//! INVARIANT: a call leaves the address after it on the host's stack, where the return takes it. It
//! is a `bl` all the same, and the return a `ret`, so that the processor predicts the return; x30
//! itself keeps nothing, so Rust may be called anywhere.
//! INVARIANT: the stack pointer is a multiple of 16, as the processor demands where it is used.
//! It does not know which procedures are called.
//! Read next: `machine/native/processor/aarch64/object.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{Aarch64, FRAME, X16, X17, emit, words};
use crate::machine::native::processor::{Emit, EmitCalls, PAIR_TAG, PROCEDURE_TAG, Stubs};
use crate::machine::native::{Slot, context, service};
use crate::value::Value;

impl Aarch64 {
    /// Pushes the address of a label; uses x16.
    fn push(&mut self, label: DynamicLabel) {
        emit!(self; adr x16, =>label; str x16, [sp, -16]!);
    }

    /// Loads into x17 the address of a stub.
    fn load_slot(&mut self, slot: Slot) {
        emit!(self; ldur x17, [x24, i32::from(slot.offset_bytes())]);
    }

    /// Calls a stub that returns; uses x16 and x30.
    pub(super) fn call_slot(&mut self, slot: Slot) {
        self.load_slot(slot);
        emit!(self; blr x17);
    }

    /// Loads into x17 the address of the machine code at the position in the code word in C, and
    /// into C the position.
    fn load_callee(&mut self) {
        emit!(self; asr x10, x10, 32; ldr x17, [x24, x10, lsl 3]);
    }

    /// The same for a position that is known.
    fn load_target(&mut self, position: u32) {
        self.set(Self::C, position.into());
        emit!(self; ldr x17, [x24, x10, lsl 3]);
    }

    /// Calls the machine code at x17.
    fn call_loaded(&mut self) {
        let returned = self.label();
        self.push(returned);
        emit!(self; blr x17; =>returned);
    }

    /// Branches unless the words from an address up to a register are below the stack's limit.
    fn expect_below(&mut self, address: u8, register: usize, otherwise: DynamicLabel) {
        self.add_constant(Self::D, address, words(register));
        self.compare_context(Self::D, context::STACK_LIMIT);
        emit!(self; b.hi =>otherwise);
    }
}

impl EmitCalls for Aarch64 {
    fn burn(&mut self, otherwise: DynamicLabel) {
        emit!(self; subs x22, x22, 1; b.mi =>otherwise);
    }

    fn refuel(&mut self) {
        emit!(self; add x22, x22, 1);
    }

    fn pay_for_steps(&mut self, steps_max: u64, shift: u8, otherwise: DynamicLabel) {
        self.set(Self::A, steps_max);
        emit!(self
            ; sub X(Self::A), X(Self::A), X(Self::D)
            ; lsr X(Self::A), X(Self::A), u32::from(shift)
            ; cmp x22, X(Self::A)
            ; b.lt =>otherwise
            ; sub x22, x22, X(Self::A)
        );
    }

    fn exit(&mut self, position: u32) {
        self.set(Self::C, position.into());
        self.load_slot(Slot::Exit);
        emit!(self; br x17);
    }

    fn exit_to(&mut self, service: usize, position: u32) {
        self.set(Self::C, position.into());
        self.set(Self::A, service as u64);
        self.load_slot(Slot::Service);
        emit!(self; br x17);
    }

    fn set_position(&mut self, position: u32) {
        self.set(X16, position.into());
        emit!(self; str w16, [x23, context::POSITION as u32]);
    }

    fn set_argument_count(&mut self, count: usize) {
        self.set(X16, count as u64);
        emit!(self; str x16, [x23, context::ARGUMENT_COUNT as u32]);
    }

    fn compare_argument_count(&mut self, count: usize) {
        emit!(self; ldr x16, [x23, context::ARGUMENT_COUNT as u32]);
        self.compare_number(X16, count as i32);
    }

    fn load_code_word(&mut self, otherwise: DynamicLabel) {
        self.test_tag(Self::A, PROCEDURE_TAG);
        emit!(self
            ; b.ne =>otherwise
            ; add x16, x21, x9
            ; ldur x10, [x16, 8 - PROCEDURE_TAG]
        );
    }

    fn compare_parameters(&mut self, count: u8) {
        emit!(self; ubfx x16, x10, 8, 8; cmp x16, u32::from(count));
    }

    fn expect_room(&mut self, end: usize, otherwise: DynamicLabel) {
        self.expect_below(FRAME, end, otherwise);
    }

    fn expect_room_for_callee(&mut self, first: usize, otherwise: DynamicLabel) {
        emit!(self; ubfx x11, x10, 16, 16; add x11, x19, x11, lsl 3);
        self.expect_below(Self::D, first, otherwise);
    }

    fn expect_room_for_arguments(&mut self, first: usize, count: usize, otherwise: DynamicLabel) {
        emit!(self; ubfx x11, x10, 16, 16);
        self.set(X16, 1 + count as u64);
        emit!(self
            ; cmp x11, x16
            ; csel x11, x11, x16, hs
            ; add x11, x19, x11, lsl 3
        );
        self.expect_below(Self::D, first + 1, otherwise);
    }

    fn enter_frame(&mut self, register: usize) {
        self.add_constant(FRAME, FRAME, words(register));
    }

    fn leave_frame(&mut self, register: usize) {
        self.add_constant(FRAME, FRAME, -words(register));
    }

    fn call(&mut self, label: DynamicLabel) {
        let returned = self.label();
        self.push(returned);
        emit!(self; bl =>label; =>returned);
    }

    fn jump_to(&mut self, position: u32) {
        self.load_target(position);
        emit!(self; br x17);
    }

    fn call_to(&mut self, position: u32) {
        self.load_target(position);
        self.call_loaded();
    }

    fn jump_to_callee(&mut self) {
        self.load_callee();
        emit!(self; br x17);
    }

    fn call_callee(&mut self) {
        self.load_callee();
        self.call_loaded();
    }

    fn return_to_caller(&mut self) {
        emit!(self; ldr x30, [sp], 16; ret);
    }

    fn collect_rest(&mut self, required: usize, otherwise: DynamicLabel) {
        let (next, done) = (self.label(), self.label());
        self.set(X16, required as u64);
        emit!(self
            ; ldr x10, [x23, context::ARGUMENT_COUNT as u32]
            ; subs x10, x10, x16
            ; b.lo =>otherwise
            ; add x11, x20, x10, lsl 4
        );
        self.compare_context(Self::D, context::LIMIT);
        emit!(self; b.hi =>otherwise);
        self.set(Self::A, Value::NIL.to_bits());
        self.add_constant(X17, FRAME, words(required));
        emit!(self
            ; cbz x10, =>done
            ;=>next
            ; ldr x11, [x17, x10, lsl 3]
            ; add x16, x21, x20
            ; stp x11, x9, [x16]
            ; add x9, x20, PAIR_TAG as u32
            ; add x20, x20, 16
            ; subs x10, x10, 1
            ; b.ne =>next
            ;=>done
        );
        self.store_frame(required + 1, Self::A);
    }

    fn call_primitive(&mut self, first: usize, count: usize, number: u32, otherwise: DynamicLabel) {
        emit!(self; str x20, [x23, context::TOP as u32]; mov x0, x23);
        self.add_constant(1, FRAME, words(first));
        self.set(2, count as u64);
        self.set(3, number.into());
        self.set(X17, service::call_primitive as *const () as u64);
        emit!(self
            ; blr x17
            ; ldr x21, [x23, context::HEAP as u32]
            ; ldr x20, [x23, context::TOP as u32]
            ; cmp x0, 0
            ; b.mi =>otherwise
            ; sub x22, x22, x0
        );
    }

    fn stubs() -> Option<(Vec<u8>, Stubs)> {
        super::stub::assemble()
    }
}
