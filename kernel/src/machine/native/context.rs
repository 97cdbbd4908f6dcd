//! The words that machine code shares with Rust.
//!
//! Owns their layout. Machine code finds each at its offset from the register that holds the
//! context's address; the entry loads some into registers, the exit stores them back.
//! INVARIANT: the heap's words here are those of the heap whenever machine code runs; everything in
//! Rust that may move or grow the heap renews them before it returns to machine code.
//! It does not run anything.
//! Read next: `machine/native/enter.rs`.

#![expect(unsafe_code, reason = "the table of targets is known by its address")]

use std::any::Any;
use std::ffi::c_void;
use std::mem::offset_of;

use super::super::Machine;
use super::super::execute::SlowPath;
use super::super::frame::Frame;
use super::Slot;
use crate::heap::{Heap, Register};
use crate::value::Value;

/// What machine code reads and writes besides frames and objects.
#[repr(C)]
pub(super) struct Context {
    /// Register 0 of the running frame.
    pub(super) base: *mut Value,
    /// Fuel left.
    pub(super) fuel: i64,
    /// Frames end at or below this word.
    pub(super) stack_limit: *mut Value,
    /// The addresses by code position.
    pub(super) targets: *const usize,
    /// The number of arguments of the call being entered, for entries that check it.
    pub(super) argument_count: usize,
    /// The position where machine code goes on after Rust.
    pub(super) position: u32,
    /// The result of a procedure that Rust has executed.
    pub(super) result: Value,
    /// The host's stack pointer at the entry.
    pub(super) host_stack: usize,
    /// The host's stack pointer of the machine code that has called Rust.
    pub(super) caller_stack: usize,
    /// The first word of the heap.
    pub(super) heap: *mut u64,
    /// The offset of the next free word. It stands apart from the limit, because a processor stalls
    /// when it loads two words at once of which one has just been stored.
    pub(super) top_bytes: usize,
    /// Writes from this offset on need no barrier.
    barrier_bytes: usize,
    /// Allocation up to this offset needs no slow path.
    limit_bytes: usize,
    /// The flags of the pages below it.
    page_flags: *const u8,
    /// The first global.
    globals: *const u64,
    /// The first literal.
    constants: *const u64,
    /// The slow path, for what Rust does on behalf of machine code.
    pub(super) slow: *mut c_void,
    /// The bottom of the stack.
    stack: *mut Value,
    /// The heap's registers.
    registers: *mut Value,
    /// The machine, which knows what is left of the newest segment below the stack.
    machine: *mut Machine,
    /// A panic of what Rust did.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl Context {
    /// A context of which the heap's words are still to be loaded.
    pub(super) fn new() -> Context {
        Context {
            base: std::ptr::null_mut(),
            fuel: 0,
            stack_limit: std::ptr::null_mut(),
            targets: std::ptr::null(),
            argument_count: 0,
            slow: std::ptr::null_mut(),
            position: 0,
            result: Value::ZERO,
            host_stack: 0,
            caller_stack: 0,
            heap: std::ptr::null_mut(),
            top_bytes: 0,
            limit_bytes: 0,
            barrier_bytes: 0,
            page_flags: std::ptr::null(),
            globals: std::ptr::null(),
            constants: std::ptr::null(),
            stack: std::ptr::null_mut(),
            registers: std::ptr::null_mut(),
            machine: std::ptr::null_mut(),
            panic: None,
        }
    }

    /// The running frame, with this next position.
    #[inline(always)]
    pub(super) fn frame(&self, slow: &mut SlowPath<'_>, position: u32) -> Frame {
        let mut frame = Frame::new(slow.machine, slow.heap, slow.code);
        frame.fuel = self.fuel;
        frame.move_to(self.base, position as usize);
        frame
    }

    /// Loads the frame's words.
    #[inline(always)]
    pub(super) fn load_frame(&mut self, frame: &Frame) {
        (self.base, self.stack_limit) = (frame.base(), frame.limit());
        self.stack = frame.stack();
        self.fuel = frame.fuel;
        self.position = frame.pc() as u32;
    }

    /// Lets machine code go through continuations.
    pub(super) fn load_machine(&mut self, machine: &mut Machine, heap: &mut Heap) {
        (self.registers, self.machine) = (heap.registers_pointer(), std::ptr::from_mut(machine));
    }

    /// The address of a stub.
    pub(super) fn slot(&self, slot: Slot) -> usize {
        // SAFETY: the stubs' addresses lie before the targets.
        unsafe { *self.targets.offset(slot.index()) }
    }

    /// The address of the machine code at the position.
    pub(super) fn target(&self) -> usize {
        // SAFETY: each position of the code space has a target.
        unsafe { *self.targets.add(self.position as usize) }
    }

    /// Loads the heap's words after objects may have been made and nothing collected.
    #[inline(always)]
    pub(super) fn load_free(&mut self, heap: &mut Heap) {
        if heap.words_pointer() != self.heap {
            return self.load_heap(heap);
        }
        let free = heap.free_range();
        (self.top_bytes, self.limit_bytes) = (free.start * 8, free.end * 8);
    }

    /// Loads the heap's words.
    #[inline(always)]
    pub(super) fn load_heap(&mut self, heap: &mut Heap) {
        let words = heap.words_pointer();
        let elements = |table: Value| words.cast_const().wrapping_byte_add((table.index() + 1) * 8);
        self.globals = elements(heap.register(Register::Globals));
        self.constants = elements(heap.register(Register::Constants));
        self.heap = words;
        let free = heap.free_range();
        (self.top_bytes, self.limit_bytes) = (free.start * 8, free.end * 8);
        let (barrier_limit, flags) = heap.barrier();
        (self.barrier_bytes, self.page_flags) = (barrier_limit * 8, flags);
    }
}

/// The offset of a field, as machine code has it in its operands.
macro_rules! offsets {
    ($($name:ident = $field:ident;)*) => {
        $(pub(super) const $name: i8 = {
            assert!(offset_of!(Context, $field) < 128, "the offset has the size of a short operand");
            offset_of!(Context, $field) as i8
        };)*
    };
}

/// The offsets of fields that lie further away.
pub(super) const STACK: i32 = offset_of!(Context, stack) as i32;
pub(super) const REGISTERS: i32 = offset_of!(Context, registers) as i32;
pub(super) const MACHINE: i32 = offset_of!(Context, machine) as i32;

offsets! {
    BASE = base;
    FUEL = fuel;
    STACK_LIMIT = stack_limit;
    TARGETS = targets;
    ARGUMENT_COUNT = argument_count;
    POSITION = position;
    RESULT = result;
    HOST_STACK = host_stack;
    CALLER_STACK = caller_stack;
    HEAP = heap;
    TOP = top_bytes;
    LIMIT = limit_bytes;
    BARRIER = barrier_bytes;
    PAGE_FLAGS = page_flags;
    GLOBALS = globals;
    CONSTANTS = constants;
}
