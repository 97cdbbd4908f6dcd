//! The way into machine code and back, and the memory that holds it.
//!
//! Owns the executable memory and the call of its beginning, where the stubs of the
//! [processor](super::processor) are.
//! INVARIANT: the memory is never writable and executable at once, and control enters it only at
//! the entry, with the address of an entry of a block and a context of the running machine.
//! INVARIANT: above its own words, a run has one address on the host's stack for each return point
//! that it has pushed and not popped, in the same order; the first is the entry's. Every call uses
//! fuel, so a slice bounds their number.
//! It does not know what the machine code of blocks does.
//! Read next: `machine/native/service.rs`.
#![expect(unsafe_code, reason = "a call of machine code, and of Rust by machine code")]

use std::panic::resume_unwind;

use dynasmrt::ExecutableBuffer;
use dynasmrt::cache_control::{prepare_for_execution, synchronize_icache};

use super::super::execute::{SLICE, SlowPath};
use super::super::frame::Frame;
use super::super::{Machine, OVERRUN_WORDS};
use super::SLOTS;
use super::context::Context;
use super::processor::{Emit, EmitCalls, Host, Stubs};
use crate::value::Value;

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

/// Whether this processor and system run the machine code that the templates emit, and call Rust as
/// it does. The system of Apple's aarch64 changes memory for each thread in a way of its own.
pub(super) const IS_SUPPORTED: bool = cfg!(all(
    not(miri),
    any(
        all(target_arch = "x86_64", unix),
        all(target_arch = "aarch64", target_endian = "little", target_os = "linux"),
    )
));

/// A callee's first registers are loaded whether its frame has them or not; the stack has words
/// above every frame.
const _: () = assert!(Host::FIRST.len() <= OVERRUN_WORDS);

impl CodeMemory {
    /// Memory with the entry and the exits. `None` where the system or the processor does not run
    /// such code.
    pub(super) fn new() -> Option<CodeMemory> {
        if !IS_SUPPORTED {
            return None;
        }
        let (bytes, stubs) = Host::stubs()?;
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
    ///
    /// An aarch64 fetches instructions past its cache of data, and may have fetched those that were
    /// here before. So each line is cleaned to where both caches meet (`dc cvau`), then its
    /// instructions are forgotten (`ic ivau`) on every processor, and the pipeline on this one
    /// (`isb`). An x86-64 sees to this itself.
    pub(super) fn append(self, bytes: &[u8]) -> Option<CodeMemory> {
        let start = self.buffer.len();
        let mut writable = self.buffer.make_mut().ok()?;
        writable.set_len(start + bytes.len());
        writable[start..].copy_from_slice(bytes);
        let buffer = writable.make_exec().ok()?;
        synchronize_icache(&buffer[start..]);
        prepare_for_execution(&buffer[start..]);
        Some(CodeMemory { buffer, ..self })
    }

    /// Makes the processor forget instructions that it has fetched too early. Another processor
    /// than the one that has written the machine code may run it, after the machine has moved to
    /// another thread.
    pub(super) fn prepare(&self) {
        prepare_for_execution(&self.buffer);
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
    context.load_frame(frame);
    context.load_machine(slow.machine, slow.heap);
    context.targets = way_in.targets;
    context.argument_count = slow.machine.argument_count;
    context.load_heap(slow.heap);
    context.slow = std::ptr::from_mut(slow).cast();
    // SAFETY: a memory begins with the entry, which has this signature. The target is an entry of a
    // block that was assembled for where it is, the templates keep the invariants of
    // `machine/frame.rs`, and nothing changes the memory or the table while machine code runs.
    let left_at = unsafe {
        let entry: unsafe extern "C" fn(*mut Context, usize) -> u64 =
            std::mem::transmute(std::ptr::without_provenance::<u8>(way_in.entry));
        entry(&raw mut context, way_in.target)
    };
    if let Some(payload) = context.panic {
        resume_unwind(payload);
    }
    slow.heap.bump_to(context.top_bytes / 8);
    slow.machine.argument_count = context.argument_count;
    frame.fuel = context.fuel;
    slow.machine.native.count_fuel(fuel - context.fuel);
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
