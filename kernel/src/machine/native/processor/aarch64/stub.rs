//! The way into machine code and back.
//!
//! Owns the instructions at the beginning of the memory: the entry, which saves the processor's
//! registers and loads those of machine code, the exits, which store them back, the calls of Rust,
//! and what arithmetic needs rarely.
//! INVARIANT: the registers that a caller may rely on (x19 to x29, sp, and the halves of d8 to d15,
//! which machine code does not use) are as they were.
//! It does not know the machine code of blocks.
//! Read next: `machine/native/enter.rs`.

use dynasmrt::{DynasmApi, DynasmLabelApi};

use super::{Aarch64, X16, X17, emit, words};
use crate::heap::kind::Kind;
use crate::machine::native::context;
use crate::machine::native::processor::{BOXED_FLONUM, Emit, LEAVING, OBJECT_TAG, Stubs};
use crate::machine::native::service::{self, Service};
use crate::value::{FLONUM_BIAS, FLONUM_TAGS};

/// The entry, at the beginning, and the exits.
pub(super) fn assemble() -> Option<(Vec<u8>, Stubs)> {
    let mut out = Aarch64::new(0);
    assemble_entry(&mut out);
    let starts = [
        start(&mut out, |out| emit!(out; mov x9, 0; b ->exit)),
        start(&mut out, |out| {
            emit!(out; mov x9, 1);
            assemble_exit(out);
        }),
        start(&mut out, |out| {
            emit!(out
                ; ldr x16, [x23, context::HOST_STACK as u32]
                ; mov sp, x16
                ; ldr x17, [x24, x10, lsl 3]
                ; b ->bottom
            );
        }),
        start(&mut out, |out| {
            emit!(out
                ; ldr x0, [x23, context::RESULT as u32]
                ; ldr x30, [sp], 16
                ; ret
            );
        }),
        start(&mut out, |out| {
            emit!(out
                ; ldr w10, [x23, context::POSITION as u32]
                ; ldr x11, [x23, context::ARGUMENT_COUNT as u32]
            );
            out.set(Aarch64::A, service::enter as Service as usize as u64);
        }),
        start(&mut out, assemble_service),
        start(&mut out, assemble_load_numbers),
        start(&mut out, assemble_box_flonum),
    ];
    let bytes = out.finish()?;
    let end = bytes.len();
    Some((bytes, Stubs { starts, end }))
}

/// The entry, which has the context and the address of the machine code as its arguments.
fn assemble_entry(out: &mut Aarch64) {
    emit!(out
        ; stp x29, x30, [sp, -64]!
        ; mov x29, sp
        ; stp x19, x20, [sp, 16]
        ; stp x21, x22, [sp, 32]
        ; stp x23, x24, [sp, 48]
        ; mov x23, x0
        ; ldr x19, [x23, context::BASE as u32]
        ; ldr x20, [x23, context::TOP as u32]
        ; ldr x21, [x23, context::HEAP as u32]
        ; ldr x22, [x23, context::FUEL as u32]
        ; ldr x24, [x23, context::TARGETS as u32]
        ; mov x16, sp
        ; str x16, [x23, context::HOST_STACK as u32]
        ; mov x17, x1
        ;->bottom:
    );
    load_first(out);
    emit!(out
        ; adr x16, ->returned
        ; str x16, [sp, -16]!
        ; blr x17
        ;->returned:
    );
    // The frame that control came in with returns x0, or control leaves.
    out.set(X16, LEAVING.to_bits());
    emit!(out
        ; cmp x0, x16
        ; b.eq ->leave
        ; ldur x10, [x19, -8]
        ; stur x0, [x19, -8]
        ; ubfx x11, x10, 8, 24
        ; sub x19, x19, x11, lsl 3
        ; lsr x10, x10, 32
        ; ldr x17, [x24, x10, lsl 3]
        ; b ->bottom
    );
}

/// Assembles a stub; returns where it begins.
fn start(out: &mut Aarch64, assemble: impl FnOnce(&mut Aarch64)) -> usize {
    let start = out.offset_bytes();
    assemble(out);
    start
}

/// Calls the service in A for the position in C, with D as what else it takes, and goes on where it
/// says.
fn assemble_service(out: &mut Aarch64) {
    emit!(out
        ; str x19, [x23, context::BASE as u32]
        ; str x20, [x23, context::TOP as u32]
        ; str x22, [x23, context::FUEL as u32]
        ; mov x0, x23
        ; mov w1, w10
        ; mov w2, w11
        ; blr x9
        ; mov x17, x0
        ; ldr x19, [x23, context::BASE as u32]
        ; ldr x20, [x23, context::TOP as u32]
        ; ldr x21, [x23, context::HEAP as u32]
        ; ldr x22, [x23, context::FUEL as u32]
        ; ldr w10, [x23, context::POSITION as u32]
    );
    load_first(out);
    emit!(out; br x17);
}

/// Loads the words in A and D as operands of an operation on flonums; the flags say not equal if
/// one has no equal flonum.
fn assemble_load_numbers(out: &mut Aarch64) {
    out.set(X17, FLONUM_TAGS);
    out.set(Aarch64::C, FLONUM_BIAS);
    for (word, operand) in [(Aarch64::A, 0), (Aarch64::D, 1)] {
        emit!(out
            ; lsr x16, x17, X(word)
            ; tst x16, 1
            ; b.ne >immediate
            ; tst X(word), 7
            ; b.eq >fixnum
            ; and x16, X(word), 7
            ; cmp x16, OBJECT_TAG as u32
            ; b.ne ->other
            ; add x16, x21, X(word)
            ; ldurb W(word), [x16, 1 - OBJECT_TAG]
            ; cmp XSP(word), Kind::Flonum as u32
            ; b.ne ->other
            ; ldur D(operand), [x16, 8 - OBJECT_TAG]
            ; b >done
            ;fixnum:
            ; asr X(word), X(word), 3
            ; scvtf D(operand), X(word)
            ; fcvtzs x16, D(operand)
            ; cmp x16, X(word)
            ; b.ne ->other
            ; b >done
            ;immediate:
            ; ror x16, X(word), 4
            ; sub x16, x16, x10
            ; fmov D(operand), x16
            ;done:
        );
    }
    emit!(out
        ; mov x11, x17
        ; cmp x11, x11
        ; ret
        ;->other:
        ; cmp sp, 0
        ; ret
    );
}

/// Makes a boxed flonum of the number in d0, with its word in A; the flags say not equal if it is
/// not a number, or there is no room.
fn assemble_box_flonum(out: &mut Aarch64) {
    emit!(out
        ; fcmp d0, d0
        ; b.vs >other
        ; add x11, x20, 16
        ; ldr x16, [x23, context::LIMIT as u32]
        ; cmp x11, x16
        ; b.hi >other
        ; add x16, x21, x20
    );
    out.set(Aarch64::A, BOXED_FLONUM.to_bits());
    emit!(out
        ; str x9, [x16]
        ; str d0, [x16, 8]
        ; add x9, x20, OBJECT_TAG as u32
        ; mov x20, x11
        ; cmp x11, x11
        ; ret
        ;other:
        ; cmp sp, 0
        ; ret
    );
}

/// Loads the registers that machine code expects at the beginning of a block.
fn load_first(out: &mut Aarch64) {
    for (register, processor) in Aarch64::FIRST.iter().enumerate() {
        emit!(out; ldr X(*processor), [x19, words(register) as u32]);
    }
}

/// Leaves for the position in C, with the kind of the exit in A.
fn assemble_exit(out: &mut Aarch64) {
    emit!(out
        ;->exit:
        ; add x11, sp, 16
        ; ldr x16, [x23, context::HOST_STACK as u32]
        ; cmp x11, x16
        ; b.ne ->from_deep
    );
    // A processor predicts returns well as long as each belongs to a call.
    out.set(Aarch64::RESULT, LEAVING.to_bits());
    emit!(out
        ; ldr x30, [sp], 16
        ; ret
        ;->from_deep:
        ; mov sp, x16
        ;->leave:
        ; mov w10, w10
        ; orr x0, x10, x9, lsl 32
        ; str x19, [x23, context::BASE as u32]
        ; str x20, [x23, context::TOP as u32]
        ; str x22, [x23, context::FUEL as u32]
        ; ldp x19, x20, [sp, 16]
        ; ldp x21, x22, [sp, 32]
        ; ldp x23, x24, [sp, 48]
        ; ldp x29, x30, [sp], 64
        ; ret
    );
}
