//! The common moves of continuations: capture of the frames below, re-entry, and the return into
//! the newest frame that was captured.
//!
//! Owns copies of three fast paths of `machine/capture.rs`, word for word, for programs that
//! capture continuations often: a call of Rust took as long as such a move.
//! INVARIANT: what goes on behind a move has found everything as it was before.
//! It does not make room, run winders or cross prompts; the [services](super::super::super::service)
//! do.
//! Read next: `machine/capture.rs`.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};

use super::displacement;
use super::stub::load_first;
use crate::code::builtin::{CONTINUATION_WORD, control_primitive};
use crate::heap::kind::{Header, captured, link, padded};
use crate::heap::{Kind, Register};
use crate::machine::native::processor::{OBJECT_TAG, PROCEDURE_TAG};
use crate::machine::native::{Slot, context};
use crate::machine::segment::CAPTURE_WORDS;
use crate::machine::{Machine, underflow_point};
use crate::primitive::ControlBlock;
use crate::value::Value;

type Operations = VecAssembler<X64Relocation>;

/// The primitive that calls its argument with the current continuation.
const CAPTURE: Value = control_primitive(ControlBlock::CallWithContinuation);
/// The words of the machine that say what is left of the first segment.
const REMAINING: i32 = offset_of!(Machine, remaining) as i32;
const COUNTED: i32 = offset_of!(Machine, counted) as i32;
/// Bytes of a link, and of a continuation.
const LINK_BYTES: i32 = 8 * padded(1 + link::LENGTH) as i32;
const CONTINUATION_BYTES: i32 = 8 * padded(1 + captured::LENGTH) as i32;
/// The place in a header of its kind.
const KIND_BYTE: i32 = 1;
/// How far a number is shifted in the word of a fixnum.
const FIXNUM_SHIFT: i8 = Value::length(1).to_bits().trailing_zeros() as i8;

const _: () = assert!(
    captured::LENGTH == 4 && link::LENGTH == 3,
    "the words are written one by one"
);

/// The place of a field from the word of its object.
const fn field(index: usize, tag: i32) -> i32 {
    displacement(1 + index) - tag
}

/// The place of one of the heap's registers.
const fn register(register: Register) -> i32 {
    displacement(register as usize)
}

/// Returns register 0, at the bottom of the stack, into the newest frame below; goes on behind if
/// there is a prompt or nothing.
pub(super) fn underflow(operations: &mut Operations) {
    let otherwise = operations.new_dynamic_label();
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rdx, [r14 + context::MACHINE]
        ; mov rcx, [rdx + REMAINING]
        ; test rcx, rcx
        ; jz =>otherwise
        ; mov rdi, [r14 + context::REGISTERS]
        ; mov r8, [rdi + register(Register::Continuation)]
        ; mov rsi, [rbx]
    );
    load_newest(operations);
    dynasmrt::dynasm!(operations; .arch x64; =>otherwise);
}

/// Enters the continuation in register 0 with one value; goes on behind if it is a composable one,
/// begins with a prompt, or has other winders.
pub(super) fn reenter(operations: &mut Operations) {
    let otherwise = operations.new_dynamic_label();
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; cmp QWORD [BYTE r14 + context::ARGUMENT_COUNT], 1
        ; jne =>otherwise
        ; mov rax, [rbx]
        ; mov rcx, QWORD CONTINUATION_WORD.to_bits() as i64
        ; cmp rcx, [r12 + rax + field(0, PROCEDURE_TAG)]
        ; jne =>otherwise
        ; mov rdi, [r14 + context::REGISTERS]
        ; mov rcx, [r12 + rax + field(captured::WINDERS, PROCEDURE_TAG)]
        ; cmp rcx, [rdi + register(Register::Winders)]
        ; jne =>otherwise
        ; mov r8, [r12 + rax + field(captured::LINK, PROCEDURE_TAG)]
    );
    expect_link(operations, otherwise);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rcx, [r12 + r8 + field(link::LIMIT, OBJECT_TAG)]
        ; shr rcx, FIXNUM_SHIFT
        ; mov rdx, [r14 + context::MACHINE]
        ; mov [rdx + COUNTED], rcx
        ; mov r9, [r12 + rax + field(captured::DYNAMIC, PROCEDURE_TAG)]
        ; mov [rdi + register(Register::Dynamic)], r9
        ; mov [rdi + register(Register::Continuation)], r8
        ; mov rsi, [rbx + 8]
    );
    load_newest(operations);
    dynasmrt::dynasm!(operations; .arch x64; =>otherwise);
}

/// Branches unless the chain in r8 begins with a link; uses rcx.
fn expect_link(operations: &mut Operations, otherwise: DynamicLabel) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; lea ecx, [r8 - OBJECT_TAG]
        ; test cl, 7
        ; jnz =>otherwise
        ; cmp BYTE [r12 + r8 + KIND_BYTE - OBJECT_TAG], Kind::Link as i8
        ; jne =>otherwise
    );
}

/// Loads the newest frame of the chain in r8, of whose first segment as many words are left as rcx
/// says, to the bottom of the stack, and goes on there with the result in rsi. The machine is in
/// rdx.
fn load_newest(operations: &mut Operations) {
    let next = operations.new_dynamic_label();
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rax, [r12 + r8 + field(link::FRAMES, OBJECT_TAG)]
        ; lea rdi, [r12 + rax + field(0, OBJECT_TAG)]
        // The last word is the return point, which says how many words the frame has.
        ; mov r9, [rdi + rcx * 8 - 8]
        ; mov r10d, r9d
        ; shr r10d, 8
        ; sub rcx, r10
        ; mov [rdx + REMAINING], rcx
        ; lea rdi, [rdi + rcx * 8]
        ; mov rbx, [r14 + context::STACK]
        ; mov QWORD [rbx], underflow_point().to_bits() as i32
        ; add rbx, 8
        ; xor ecx, ecx
        ;=>next
        ; mov rax, [rdi + rcx * 8]
        ; mov [rbx + rcx * 8], rax
        ; inc rcx
        ; cmp rcx, r10
        ; jb =>next
        ; mov [rbx + r10 * 8 - 8], rsi
        ; shr r9, 32
        ; mov rcx, r9
        ; jmp QWORD [BYTE r15 + Slot::Restart.offset_bytes()]
    );
}

/// Where a primitive is entered: calls the closure in register 1 with the continuation below the
/// frame, if it captures that; goes on behind otherwise, and where the words are not free.
///
/// The objects are those of `Frame::capture_below`, in the same order.
pub(super) fn capture(operations: &mut Operations) {
    let [otherwise, linked, empty, unmoved] = [(); 4].map(|()| operations.new_dynamic_label());
    expect_capture(operations, otherwise);
    write_rest(operations);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rcx, rdx
        ; test rdx, rdx
        ; jz =>empty
    );
    write_segment(operations);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rcx, rdx
        ; jmp =>linked
        // The head of the chain counts as many words as it says, and whatever is no link none.
        ;=>empty
        ; lea esi, [r8 - OBJECT_TAG]
        ; test esi, 7
        ; jnz =>linked
        ; cmp BYTE [r12 + r8 + KIND_BYTE - OBJECT_TAG], Kind::Link as i8
        ; jne =>linked
        ; mov rcx, [r12 + r8 + field(link::LIMIT, OBJECT_TAG)]
        ; shr rcx, FIXNUM_SHIFT
        ;=>linked
        ; mov [r10 + REMAINING], rcx
        ; mov [r10 + COUNTED], rcx
        ; mov [r9 + register(Register::Continuation)], r8
    );
    write_continuation(operations);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov QWORD [rdi], underflow_point().to_bits() as i32
        ; lea rbx, [rdi + 8]
        ; mov [rbx], rax
        ; mov [rbx + 8], rsi
        ; mov rcx, r11
        ; shr rcx, 32
        ; test rdx, rdx
        ; jz =>unmoved
        ; jmp QWORD [BYTE r15 + Slot::Restart.offset_bytes()]
        // The frame is where it was, and so are the addresses on the host's stack.
        ;=>unmoved
    );
    load_first(operations);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; jmp QWORD [r15 + rcx * 8]
        ;=>otherwise
    );
}

/// Branches unless register 0 captures for a closure of one parameter in register 1, and the words
/// for it are free. Then rax is that closure, r11 its code word, rdx the number of words below the
/// frame, rdi the bottom of the stack, r8 the chain below, r9 the heap's registers and r10 the
/// machine.
fn expect_capture(operations: &mut Operations, otherwise: DynamicLabel) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; cmp QWORD [BYTE r14 + context::ARGUMENT_COUNT], 1
        ; jne =>otherwise
        ; mov rcx, QWORD CAPTURE.to_bits() as i64
        ; cmp rcx, [rbx]
        ; jne =>otherwise
        ; mov rax, [rbx + 8]
        ; lea ecx, [rax - PROCEDURE_TAG]
        ; test cl, 7
        ; jnz =>otherwise
        ; mov rcx, [r12 + rax + field(0, PROCEDURE_TAG)]
        ; cmp ch, 1
        ; jne =>otherwise
        ; mov r11, rcx
        ; mov rdi, [r14 + context::STACK]
        ; mov rdx, rbx
        ; sub rdx, rdi
        ; shr rdx, 3
        ; dec rdx
        ; lea rcx, [rbp + rdx * 8 + displacement(1 + CAPTURE_WORDS)]
        ; cmp rcx, [BYTE r14 + context::LIMIT]
        ; ja =>otherwise
        ; mov r9, [r14 + context::REGISTERS]
        ; mov r10, [r14 + context::MACHINE]
        ; mov r8, [r9 + register(Register::Continuation)]
    );
}

/// Writes a continuation of the chain in r8, and puts it into rsi. The heap's registers are in r9.
fn write_continuation(operations: &mut Operations) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rsi, QWORD Header::new(Kind::Closure, captured::LENGTH as u32).to_value().to_bits() as i64
        ; mov [r12 + rbp], rsi
        ; mov rsi, QWORD CONTINUATION_WORD.to_bits() as i64
        ; mov [r12 + rbp + displacement(1)], rsi
        ; mov [r12 + rbp + displacement(1 + captured::LINK)], r8
        ; mov rsi, [r9 + register(Register::Winders)]
        ; mov [r12 + rbp + displacement(1 + captured::WINDERS)], rsi
        ; mov rsi, [r9 + register(Register::Dynamic)]
        ; mov [r12 + rbp + displacement(1 + captured::DYNAMIC)], rsi
        ; mov QWORD [r12 + rbp + displacement(1 + captured::LENGTH)], 0
        ; lea rsi, [rbp + PROCEDURE_TAG]
        ; add rbp, CONTINUATION_BYTES
    );
}

/// Makes the head of the chain in r8 count wholly: writes a link for what is left of its segment,
/// if only a part is. The machine is in r10; uses rcx and rsi.
fn write_rest(operations: &mut Operations) {
    let [left, whole] = [(); 2].map(|()| operations.new_dynamic_label());
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rcx, [r10 + REMAINING]
        ; cmp rcx, [r10 + COUNTED]
        ; je =>whole
        ; mov rsi, [r12 + r8 + field(link::NEXT, OBJECT_TAG)]
        ; test rcx, rcx
        ; jnz =>left
        ; mov r8, rsi
        ; jmp =>whole
        ;=>left
        ; mov [r12 + rbp + displacement(1 + link::NEXT)], rsi
        ; mov rsi, [r12 + r8 + field(link::FRAMES, OBJECT_TAG)]
    );
    write_link(operations);
    dynasmrt::dynasm!(operations; .arch x64; =>whole);
}

/// Writes a link to rcx words of the segment in rsi, whose next link is written already, and puts
/// it into r8; uses rcx and rsi.
fn write_link(operations: &mut Operations) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov [r12 + rbp + displacement(1 + link::FRAMES)], rsi
        ; shl rcx, FIXNUM_SHIFT
        ; mov [r12 + rbp + displacement(1 + link::LIMIT)], rcx
        ; mov rsi, QWORD Header::new(Kind::Link, link::LENGTH as u32).to_value().to_bits() as i64
        ; mov [r12 + rbp], rsi
        ; lea r8, [rbp + OBJECT_TAG]
        ; add rbp, LINK_BYTES
    );
}

/// Writes a segment of the rdx words, at least one, above the bottom of the stack in rdi, and a
/// link to all of it before the chain in r8, which is in r8 then; uses rbx, rcx and rsi.
fn write_segment(operations: &mut Operations) {
    let [next, padding] = [(); 2].map(|()| operations.new_dynamic_label());
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rsi, rdx
        ; shl rsi, 32
        ; or rsi, Header::new(Kind::Frames, 0).to_value().to_bits() as i32
        ; mov [r12 + rbp], rsi
        ; lea rsi, [r12 + rbp]
        ; xor ecx, ecx
        ;=>next
        ; inc rcx
        ; mov rbx, [rdi + rcx * 8]
        ; mov [rsi + rcx * 8], rbx
        ; cmp rcx, rdx
        ; jb =>next
        // An even number of words and the header need one more.
        ; inc rcx
        ; test cl, 1
        ; jz =>padding
        ; mov QWORD [rsi + rcx * 8], 0
        ; inc rcx
        ;=>padding
        ; lea rsi, [rbp + OBJECT_TAG]
        ; lea rbp, [rbp + rcx * 8]
        ; mov [r12 + rbp + displacement(1 + link::NEXT)], r8
        ; mov rcx, rdx
    );
    write_link(operations);
}
