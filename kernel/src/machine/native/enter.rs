//! The way into machine code and back, and the memory that holds it.
//!
//! Owns the executable memory and the stubs at its beginning: the entry, which saves the
//! processor's registers and loads those of machine code, the exits, which store them back, and the
//! calls of Rust.
//! INVARIANT: the memory is never writable and executable at once, and control enters it only at
//! the entry, with the address of an entry of a block and a context of the running machine.
//! INVARIANT: above its own words, a run has one address on the host's stack for each return point
//! that it has pushed and not popped, in the same order; the first is the entry's. Every call uses
//! fuel, so a slice bounds their number.
//! It does not know what the machine code of blocks does.
//! Read next: `machine/native/service.rs`.
#![expect(unsafe_code, reason = "a call of machine code, and of Rust by machine code")]

use std::panic::resume_unwind;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi, ExecutableBuffer, VecAssembler};

use super::super::execute::{SLICE, SlowPath};
use super::super::frame::Frame;
use super::super::{Machine, OVERRUN_WORDS};
use super::SLOTS;
use super::assembler::{FIRST, displacement};
use super::context::{self, Context};
use super::service::{self, Service};
use crate::value::{Immediate, Value};

/// Four megabytes of addresses; memory is taken when it is written.
const CODE_BYTES_MAX: usize = 4 << 20;

/// How machine code came back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Exit {
    /// The interpreter executes the next instruction.
    Redo,
    /// The machine stops.
    Stop,
}

/// The memory that holds machine code.
pub(super) struct CodeMemory {
    buffer: ExecutableBuffer,
    stubs: Stubs,
}

/// Where the instructions at the beginning of the memory are, and where they end.
#[derive(Clone, Copy)]
struct Stubs {
    /// By [`Slot`].
    starts: [usize; SLOTS],
    end: usize,
}

/// Whether this processor runs the machine code that the templates emit.
pub(super) const IS_SUPPORTED: bool = cfg!(all(target_arch = "x86_64", not(miri)));

impl CodeMemory {
    /// Memory with the entry and the exits. `None` where the system or the processor does not run
    /// such code.
    pub(super) fn new() -> Option<CodeMemory> {
        if !IS_SUPPORTED {
            return None;
        }
        let (bytes, stubs) = assemble_stubs()?;
        let buffer = ExecutableBuffer::new(CODE_BYTES_MAX).ok()?;
        let memory = CodeMemory { buffer, stubs };
        memory.append(&bytes)
    }

    /// The addresses of the stubs, by [`Slot`].
    pub(super) fn stubs(&self) -> [usize; SLOTS] {
        self.stubs.starts.map(|start| self.buffer.as_ptr() as usize + start)
    }

    /// The address at which the next machine code will be.
    pub(super) fn next_address(&self) -> usize {
        self.buffer.as_ptr() as usize + self.buffer.len()
    }

    /// Whether there is room for this many bytes.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        bytes <= CODE_BYTES_MAX - self.buffer.len()
    }

    /// Appends machine code that was assembled for [`CodeMemory::next_address`]. `None`, and all is
    /// lost, if the system does not let the memory change.
    pub(super) fn append(self, bytes: &[u8]) -> Option<CodeMemory> {
        let start = self.buffer.len();
        let mut writable = self.buffer.make_mut().ok()?;
        writable.set_len(start + bytes.len());
        writable[start..].copy_from_slice(bytes);
        let buffer = writable.make_exec().ok()?;
        Some(CodeMemory { buffer, ..self })
    }

    /// Forgets all machine code but the entry and the exits.
    pub(super) fn clear(self) -> Option<CodeMemory> {
        let mut writable = self.buffer.make_mut().ok()?;
        writable.set_len(self.stubs.end);
        let buffer = writable.make_exec().ok()?;
        Some(CodeMemory { buffer, ..self })
    }

    /// The address of the entry.
    pub(super) fn entry(&self) -> usize {
        self.buffer.as_ptr() as usize
    }
}

type Operations = VecAssembler<X64Relocation>;

/// What leaves for the entry in place of a result; no register of a frame has it.
const LEAVING: Value = Value::immediate(Immediate::Header, 0, 0);

/// Where machine code begins.
#[derive(Clone, Copy)]
pub(super) struct WayIn {
    /// The address of the entry of the memory.
    pub(super) entry: usize,
    /// The address of the block's machine code.
    pub(super) target: usize,
    /// The addresses by code position.
    pub(super) targets: *const usize,
}

/// Runs machine code from the frame's next instruction on until it leaves; the frame's next
/// instruction is then the one before which it left.
pub(in super::super) fn run(frame: &mut Frame, slow: &mut SlowPath<'_>) -> Exit {
    let (position, fuel) = (frame.pc(), frame.fuel);
    debug_assert!(
        fuel <= SLICE as i64,
        "the addresses of a slice's calls fit the host's stack"
    );
    let way_in = slow.machine.native.way_in(position);
    let mut context = Context::new();
    (context.base, context.stack_limit) = (frame.base(), frame.limit());
    context.fuel = frame.fuel;
    context.targets = way_in.targets;
    context.argument_count = slow.machine.argument_count;
    context.load_heap(slow.heap);
    context.slow = std::ptr::from_mut(slow).cast();
    // SAFETY: a memory begins with the entry, which has this signature. The target is an entry of a
    // block that was assembled for where it is, the templates keep the invariants of
    // `machine/frame.rs`, and nothing changes the memory or the table while machine code runs.
    let left_at = unsafe {
        let entry: unsafe extern "sysv64" fn(*mut Context, usize) -> u64 =
            std::mem::transmute(std::ptr::without_provenance::<u8>(way_in.entry));
        entry(&raw mut context, way_in.target)
    };
    if let Some(payload) = context.panic {
        resume_unwind(payload);
    }
    slow.heap.bump_to(context.top_bytes / 8);
    slow.machine.argument_count = context.argument_count;
    frame.fuel = context.fuel;
    frame.reload(slow.machine, slow.heap);
    frame.move_to(context.base, left_at as u32 as usize);
    if left_at >> 32 != 0 {
        return Exit::Stop;
    }
    slow.sample_exit(frame, position, fuel - frame.fuel);
    Exit::Redo
}

impl Machine {
    /// The index of a word of the stack.
    pub(super) fn index_on_stack(&self, word: *const Value) -> usize {
        (word as usize - self.stack.as_ptr() as usize) / size_of::<Value>()
    }
}

/// The entry, at the beginning, and the exits.
fn assemble_stubs() -> Option<(Vec<u8>, Stubs)> {
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
        start(&mut operations, |operations| {
            dynasmrt::dynasm!(operations
                ; .arch x64
                ; mov rsi, [BYTE r14 + context::RESULT]
                ; ret
            )
        }),
        start(&mut operations, |operations| {
            dynasmrt::dynasm!(operations
                ; .arch x64
                ; mov ecx, [BYTE r14 + context::POSITION]
                ; mov edx, [BYTE r14 + context::ARGUMENT_COUNT]
                ; mov rax, QWORD service::enter as Service as usize as i64
            );
        }),
        start(&mut operations, assemble_service),
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

/// Loads the registers that machine code expects at the beginning of a block. The frame may have
/// fewer, but the stack has words above it.
fn load_first(operations: &mut Operations) {
    const { assert!(FIRST.len() <= OVERRUN_WORDS) };
    for (register, processor) in FIRST.iter().enumerate() {
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
