//! The way into machine code and back, and the memory that holds it.
//!
//! Owns the executable memory and the few instructions at its beginning: the entry, which saves the
//! processor's registers and loads those of machine code, and the two exits, which store them back.
//! INVARIANT: the memory is never writable and executable at once, and control enters it only at
//! the entry, with the address of an entry of a block and a context of the running machine.
//! It does not know what the machine code of blocks does.
//! Read next: `machine/native.rs`.
#![expect(unsafe_code, reason = "a call of machine code, and of Rust by machine code")]

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynasmApi, DynasmLabelApi, ExecutableBuffer, VecAssembler};

use super::super::Machine;
use super::super::execute::SlowPath;
use super::super::frame::Frame;
use super::context::{self, Context};
use crate::value::{Immediate, Value};

/// Four megabytes of addresses; memory is taken when it is written.
const CODE_BYTES_MAX: usize = 4 << 20;

/// How machine code came back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Exit {
    /// The interpreter executes the next instruction.
    Redo,
    /// The interpreter finishes the call of a primitive that the next instruction has made.
    Finish,
}

/// The memory that holds machine code.
pub(super) struct CodeMemory {
    buffer: ExecutableBuffer,
    stubs: Stubs,
}

/// Where the instructions at the beginning of the memory are.
#[derive(Clone, Copy)]
struct Stubs {
    exit: usize,
    finish: usize,
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

    /// The address of the exit for the interpreter to go on.
    pub(super) fn exit(&self) -> usize {
        self.buffer.as_ptr() as usize + self.stubs.exit
    }

    /// The address of the exit for the interpreter to finish the call of a primitive.
    pub(super) fn finish(&self) -> usize {
        self.buffer.as_ptr() as usize + self.stubs.finish
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
    slow.heap.bump_to(context.top_bytes / 8);
    slow.machine.argument_count = context.argument_count;
    frame.fuel = context.fuel;
    frame.move_to(context.base, left_at as u32 as usize);
    frame.reload_heap(slow.heap);
    if left_at >> 32 != 0 {
        return Exit::Finish;
    }
    slow.sample_exit(frame, position, fuel - frame.fuel);
    Exit::Redo
}

/// The address of the function that machine code calls for a primitive.
pub(super) fn call_primitive_address() -> usize {
    call_primitive as *const () as usize
}

/// Calls a primitive on behalf of machine code; returns whether nothing else is left to do.
extern "sysv64" fn call_primitive(context: *mut Context, first: *const Value, count: u32, number: u32) -> u32 {
    // SAFETY: machine code passes the context that `CodeMemory::run` has made, whose slow path is
    // borrowed for as long as machine code runs and used by nothing else meanwhile.
    let (context, slow) = unsafe {
        let context = &mut *context;
        let slow = &mut *context.slow.cast::<SlowPath<'_>>();
        (context, slow)
    };
    slow.heap.bump_to(context.top_bytes / 8);
    let first = (first as usize - slow.machine.stack_address()) / size_of::<Value>();
    let is_done = slow.compute_in_place(first, count as usize, number as usize);
    context.load_heap(slow.heap);
    u32::from(is_done)
}

impl Machine {
    fn stack_address(&self) -> usize {
        self.stack.as_ptr() as usize
    }
}

/// The entry, at the beginning, and the exits.
fn assemble_stubs() -> Option<(Vec<u8>, Stubs)> {
    let mut operations = VecAssembler::<X64Relocation>::new(0);
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
    let AssemblyOffset(exit) = operations.offset();
    dynasmrt::dynasm!(operations; .arch x64; xor eax, eax; jmp ->exit);
    let AssemblyOffset(finish) = operations.offset();
    dynasmrt::dynasm!(operations; .arch x64; mov eax, 1);
    assemble_exit(&mut operations);
    let bytes = operations.finalize().ok()?;
    let end = bytes.len();
    Some((bytes, Stubs { exit, finish, end }))
}

/// Leaves for the position in rcx, with the kind of the exit in rax.
fn assemble_exit(operations: &mut VecAssembler<X64Relocation>) {
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
