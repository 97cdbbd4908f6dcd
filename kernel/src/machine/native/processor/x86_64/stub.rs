//! The way into machine code and back.
//!
//! Owns the instructions at the beginning of the memory: the entry, which saves the processor's
//! registers and loads those of machine code, the exits, which store them back, the calls of Rust,
//! and what arithmetic needs rarely.
//! INVARIANT: the registers that a caller may rely on are as they were.
//! It does not know the machine code of blocks.
//! Read next: `machine/native/enter.rs`.

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi, VecAssembler};

use super::{X86_64, continuation, displacement};
use crate::heap::kind::Kind;
use crate::machine::native::context;
use crate::machine::native::processor::{BOXED_FLONUM, Emit, LEAVING, OBJECT_TAG, Stubs};
use crate::machine::native::service::{self, Service};
use crate::value::{FLONUM_BIAS, FLONUM_TAGS};

type Operations = VecAssembler<X64Relocation>;

/// The entry, at the beginning, and the exits.
pub(super) fn assemble() -> Option<(Vec<u8>, Stubs)> {
    let mut operations = Operations::new(0);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; push rbx; push rbp; push r12; push r13; push r14; push r15
        // Calls of Rust need a stack that is aligned to 16 bytes.
        ; sub rsp, 8
        ; mov r14, rdi
        ; mov rbx, [BYTE r14 + context::BASE]
        ; mov rbp, [BYTE r14 + context::TOP]
        ; mov r12, [BYTE r14 + context::HEAP]
        ; mov r13, [BYTE r14 + context::FUEL]
        ; mov r15, [BYTE r14 + context::TARGETS]
        ; mov [BYTE r14 + context::HOST_STACK], rsp
        ; mov rax, rsi
        ;->bottom:
    );
    load_first(&mut operations);
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; call rax
        // The frame that control came in with returns rsi, or control leaves.
        ; cmp rsi, LEAVING.to_bits() as i32
        ; je ->leave
        ; mov rcx, [rbx - 8]
        ; mov [rbx - 8], rsi
        ; mov edx, ecx
        ; shr edx, 8
        ; neg rdx
        ; lea rbx, [rbx + rdx * 8]
        ; shr rcx, 32
        ; mov rax, [r15 + rcx * 8]
        ; jmp ->bottom
    );
    let starts = [
        start(
            &mut operations,
            |operations| dynasmrt::dynasm!(operations; .arch x64; xor eax, eax; jmp ->exit),
        ),
        start(&mut operations, |operations| {
            dynasmrt::dynasm!(operations; .arch x64; mov eax, 1);
            assemble_exit(operations);
        }),
        start(&mut operations, |operations| {
            dynasmrt::dynasm!(operations
                ; .arch x64
                ; mov rsp, [BYTE r14 + context::HOST_STACK]
                ; mov rax, [r15 + rcx * 8]
                ; jmp ->bottom
            )
        }),
        start(
            &mut operations,
            |operations| dynasmrt::dynasm!(operations; .arch x64; mov rsi, [BYTE r14 + context::RESULT]; ret),
        ),
        start(&mut operations, |operations| {
            continuation::capture(operations);
            dynasmrt::dynasm!(operations
                ; .arch x64
                ; mov ecx, [BYTE r14 + context::POSITION]
                ; mov edx, [BYTE r14 + context::ARGUMENT_COUNT]
                ; mov rax, QWORD service::enter as Service as usize as i64
            );
        }),
        start(&mut operations, assemble_service),
        start(&mut operations, assemble_load_numbers),
        start(&mut operations, assemble_box_flonum),
    ];
    let bytes = operations.finalize().ok()?;
    let end = bytes.len();
    Some((bytes, Stubs { starts, end }))
}

/// Assembles a stub; returns where it begins.
fn start(operations: &mut Operations, assemble: impl FnOnce(&mut Operations)) -> usize {
    let AssemblyOffset(start) = operations.offset();
    assemble(operations);
    start
}

/// Calls the service in rax for the position in rcx, with edx as what else it takes, and goes on
/// where it says.
fn assemble_service(operations: &mut Operations) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov [BYTE r14 + context::BASE], rbx
        ; mov [BYTE r14 + context::TOP], rbp
        ; mov [BYTE r14 + context::FUEL], r13
        ; mov [BYTE r14 + context::CALLER_STACK], rsp
        // Rust needs a stack that is aligned to 16 bytes.
        ; and rsp, -16
        ; mov rdi, r14
        ; mov esi, ecx
        ; call rax
        ; mov rsp, [BYTE r14 + context::CALLER_STACK]
        ; mov rbx, [BYTE r14 + context::BASE]
        ; mov rbp, [BYTE r14 + context::TOP]
        ; mov r12, [BYTE r14 + context::HEAP]
        ; mov r13, [BYTE r14 + context::FUEL]
        ; mov ecx, [BYTE r14 + context::POSITION]
    );
    load_first(operations);
    dynasmrt::dynasm!(operations; .arch x64; jmp rax);
}

/// Loads the words in rax and rdx as operands of an operation on flonums; the flags say not equal
/// if one has no equal flonum.
fn assemble_load_numbers(operations: &mut Operations) {
    const RAX: u8 = 0;
    for (word, operand) in [(RAX, 0), (X86_64::D, 1)] {
        dynasmrt::dynasm!(operations
            ; .arch x64
            ; mov rcx, QWORD FLONUM_TAGS as i64
            ; bt rcx, Rq(word)
            ; jc >immediate
            ; test Rb(word), 7
            ; jz >fixnum
            ; lea ecx, [Rq(word) - OBJECT_TAG]
            ; test cl, 7
            ; jnz ->other
            ; cmp BYTE [r12 + Rq(word) + 1 - OBJECT_TAG], Kind::Flonum as u8 as i8
            ; jne ->other
            ; movsd Rx(operand), QWORD [r12 + Rq(word) + 8 - OBJECT_TAG]
            ; jmp >done
            ;fixnum:
            ; sar Rq(word), 3
            ; cvtsi2sd Rx(operand), Rq(word)
            ; cvttsd2si rcx, Rx(operand)
            ; cmp rcx, Rq(word)
            ; jne ->other
            ; jmp >done
            ;immediate:
            ; ror Rq(word), 4
            ; mov rcx, QWORD FLONUM_BIAS as i64
            ; sub Rq(word), rcx
            ; movq Rx(operand), Rq(word)
            ;done:
        );
    }
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; mov rdx, QWORD FLONUM_TAGS as i64
        ; mov rcx, QWORD FLONUM_BIAS as i64
        ; cmp eax, eax
        ; ret
        ;->other:
        ; test rsp, rsp
        ; ret
    );
}

/// Makes a boxed flonum of the number in xmm0, with its word in rax; the flags say not equal if it
/// is not a number, or there is no room.
fn assemble_box_flonum(operations: &mut Operations) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ; ucomisd xmm0, xmm0
        ; jp >other
        ; lea rdx, [rbp + 16]
        ; cmp rdx, [BYTE r14 + context::LIMIT]
        ; ja >other
        ; mov rax, QWORD BOXED_FLONUM.to_bits() as i64
        ; mov [r12 + rbp], rax
        ; movsd QWORD [r12 + rbp + 8], xmm0
        ; lea rax, [rbp + OBJECT_TAG]
        ; mov rbp, rdx
        ; cmp eax, eax
        ; ret
        ;other:
        ; test rsp, rsp
        ; ret
    );
}

/// Loads the registers that machine code expects at the beginning of a block.
pub(super) fn load_first(operations: &mut Operations) {
    for (register, processor) in X86_64::FIRST.iter().enumerate() {
        dynasmrt::dynasm!(operations; .arch x64; mov Rq(*processor), [rbx + displacement(register)]);
    }
}

/// Leaves for the position in rcx, with the kind of the exit in rax.
fn assemble_exit(operations: &mut Operations) {
    dynasmrt::dynasm!(operations
        ; .arch x64
        ;->exit:
        ; lea rdx, [rsp + 8]
        ; cmp rdx, [BYTE r14 + context::HOST_STACK]
        ; jne ->from_deep
        // A processor predicts returns well as long as each belongs to a call.
        ; mov esi, LEAVING.to_bits() as i32
        ; ret
        ;->from_deep:
        ; mov rsp, [BYTE r14 + context::HOST_STACK]
        ;->leave:
        ; shl rax, 32
        ; mov ecx, ecx
        ; or rax, rcx
        ; mov [BYTE r14 + context::BASE], rbx
        ; mov [BYTE r14 + context::TOP], rbp
        ; mov [BYTE r14 + context::FUEL], r13
        ; add rsp, 8
        ; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx
        ; ret
    );
}
