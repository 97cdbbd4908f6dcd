//! The running frame: the words that the dispatch keeps in processor registers, the heap's words,
//! and the only unsafe code of the kernel.
//!
//! Owns unchecked access. Bounds checks on registers, instructions and pairs cost 10 to 35 % of the
//! run time of fib, nqueens and deriv (measured); so these accesses go unchecked, and other code
//! makes the checks once:
//!
//! INVARIANT: `code` points at a code space, or at a copy of it in which the native tier has
//! replaced byte codes. Every instruction was verified
//! (`code/verify.rs`): register operands lie below the frame size, jumps inside their block.
//! INVARIANT: `base .. base + frame size` lies inside the machine's stack: the entry to a block
//! checks it against the limit.
//! INVARIANT: every reference in a register or in the heap points at an object of this instance's
//! heap, and `heap` is the heap's words; it is renewed after every step that may move them.
//! INVARIANT: any frame of the code fits at the bottom of the stack, because a run makes room for
//! the largest. Segments consist of such frames, and a link's limit is the end of one of them;
//! `image/shape.rs` checks this for images.
//!
//! Debug builds check each access against the ends of stack, code and heap, so the test suites run
//! with the checks.
//!
//! It does not allocate or collect, and nothing outside `machine` can call it.
//! Read next: `machine/execute.rs`.
#![expect(
    unsafe_code,
    reason = "unchecked access to registers, instructions and fields; see the invariants above"
)]

use crate::code::CodeSpace;
use crate::heap::{Heap, Kind};
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::Machine;

/// The state that every instruction uses. Slow paths take it by value and return it, so that the
/// compiler need not keep it in memory.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// The next instruction.
    next: *const Instruction,
    base: *mut Value,
    heap: HeapWords,
    /// Fuel left; below zero, the computation stops.
    pub(super) fuel: i64,
    /// Frames end at or below this word.
    limit: *mut Value,
    code: *const Instruction,
    stack: *mut Value,
    /// The ends of stack and code, for the checks of debug builds.
    #[cfg(debug_assertions)]
    reach: Bounds,
}

/// The words of a frame that pass from instruction to instruction.
#[cfg(not(debug_assertions))]
pub(super) struct Words {
    pub(super) next: *const Instruction,
    pub(super) base: *mut Value,
    pub(super) heap: HeapWords,
    pub(super) fuel: i64,
}

/// The number of instructions and of stack words.
#[cfg(debug_assertions)]
#[derive(Clone, Copy)]
struct Bounds {
    instructions: usize,
    stack_words: usize,
}

impl Frame {
    pub(super) fn new(machine: &mut Machine, heap: &mut Heap, code: &CodeSpace) -> Frame {
        let stream = machine.native.stream(code);
        let stack = machine.stack.as_mut_ptr();
        // SAFETY: `base` and `soft_limit` are indices into the stack.
        let (base, limit) = unsafe { (stack.add(machine.base), stack.add(machine.soft_limit)) };
        Frame {
            next: stream.as_ptr(),
            base,
            heap: HeapWords::of(heap),
            fuel: 0,
            limit,
            code: stream.as_ptr(),
            stack,
            #[cfg(debug_assertions)]
            reach: Bounds {
                instructions: stream.len(),
                stack_words: machine.stack.len(),
            },
        }
    }

    /// The words that pass from instruction to instruction.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn words(self) -> Words {
        Words {
            next: self.next,
            base: self.base,
            heap: self.heap,
            fuel: self.fuel,
        }
    }

    /// The frame of these words and those of `other`, which only slow paths change.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn from_words(words: Words, other: &Frame) -> Frame {
        Frame {
            next: words.next,
            base: words.base,
            heap: words.heap,
            fuel: words.fuel,
            limit: other.limit,
            code: other.code,
            stack: other.stack,
        }
    }

    /// Frames end at or below this word.
    #[inline(always)]
    pub(super) fn limit(&self) -> *mut Value {
        self.limit
    }

    /// The bottom of the stack.
    #[inline(always)]
    pub(super) fn stack(&self) -> *mut Value {
        self.stack
    }

    /// Replaces the words that a slow path may change.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn set_words(&mut self, words: Words, limit: *mut Value) {
        (self.next, self.base, self.heap) = (words.next, words.base, words.heap);
        (self.fuel, self.limit) = (words.fuel, limit);
    }

    /// Takes the stack's address after a slow path.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn set_stack(&mut self, after: &Frame) {
        self.stack = after.stack;
    }

    /// Takes the address of the instructions after machine code has run.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn set_code(&mut self, after: &Frame) {
        self.code = after.code;
    }

    /// The byte code of the next instruction.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn next_code(&self) -> usize {
        // SAFETY: as for `fetch`.
        unsafe { (*self.next).code().into() }
    }

    #[inline(always)]
    fn check_register(&self, register: usize) {
        #[cfg(debug_assertions)]
        assert!(
            self.base_index() + register < self.reach.stack_words,
            "register {register} lies above the stack"
        );
        let _ = register;
    }

    /// Writes the frame back to where safe code expects it.
    pub(super) fn store(self, machine: &mut Machine) {
        machine.base = self.base_index();
    }

    /// Renews the pointers after safe code has run.
    pub(super) fn reload(&mut self, machine: &mut Machine, heap: &mut Heap) {
        #[cfg(debug_assertions)]
        {
            self.reach.stack_words = machine.stack.len();
        }
        self.stack = machine.stack.as_mut_ptr();
        // SAFETY: `base` and `soft_limit` are indices into the stack.
        unsafe {
            self.base = self.stack.add(machine.base);
            self.limit = self.stack.add(machine.soft_limit);
        }
        self.reload_heap(heap);
    }

    /// Renews the heap's words after they may have moved.
    #[inline(always)]
    pub(super) fn reload_heap(&mut self, heap: &mut Heap) {
        self.heap = HeapWords::of(heap);
    }

    /// The heap's words, until they move.
    #[inline(always)]
    pub(super) fn heap(&self) -> HeapWords {
        self.heap
    }

    /// The index of register 0 in the stack.
    pub(super) fn base_index(self) -> usize {
        // SAFETY: both point into the stack, `base` at or above its start.
        unsafe { self.base.offset_from(self.stack) as usize }
    }

    /// The position of the next instruction.
    #[inline(always)]
    pub(super) fn pc(&self) -> usize {
        // SAFETY: both point into the code space, or one past its end.
        unsafe { self.next.offset_from(self.code) as usize }
    }

    /// Continues at a position of the code space.
    #[inline(always)]
    pub(super) fn jump_to(&mut self, position: usize) {
        // Only `fetch` follows the pointer, and says why it may.
        self.next = self.code.wrapping_add(position);
    }

    /// The word that is register 0.
    pub(super) fn base(&self) -> *mut Value {
        self.base
    }

    /// Makes `base`, which machine code has reached by calls and returns, register 0, and continues
    /// at a position of the code space.
    pub(super) fn move_to(&mut self, base: *mut Value, position: usize) {
        self.base = base;
        self.jump_to(position);
    }

    /// Continues at the same position of `stream`, the code space or a copy of it.
    pub(super) fn follow(&mut self, stream: &[Instruction]) {
        let position = self.pc();
        self.code = stream.as_ptr();
        self.jump_to(position);
    }

    /// Makes the last fetched instruction the next one again.
    pub(super) fn step_back(&mut self) {
        self.next = self.next.wrapping_sub(1);
    }

    /// Takes the next instruction.
    #[inline(always)]
    pub(super) fn fetch<'a>(&mut self) -> &'a Instruction {
        #[cfg(debug_assertions)]
        assert!(
            self.pc() < self.reach.instructions,
            "position {} lies beyond the code",
            self.pc()
        );
        // SAFETY: no verified block runs past its end, and calls and returns go to positions of the
        // code space only, which nothing changes while the machine runs.
        let instruction = unsafe { &*self.next };
        self.next = self.next.wrapping_add(1);
        instruction
    }

    /// Jumps by a distance counted from the next instruction.
    #[inline(always)]
    pub(super) fn branch(&mut self, distance: isize) {
        self.next = self.next.wrapping_offset(distance);
    }

    #[inline(always)]
    pub(super) fn get(&self, register: usize) -> Value {
        self.check_register(register);
        // SAFETY: operands of verified instructions lie inside the frame.
        unsafe { *self.base.add(register) }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, register: usize, value: Value) {
        self.check_register(register);
        // SAFETY: as for `get`.
        unsafe { *self.base.add(register) = value }
    }

    /// Whether a frame of `words` whose register 0 is `register` of this one fits below the limit.
    #[inline(always)]
    pub(super) fn has_room(&self, register: usize, words: usize) -> bool {
        // The comparison does not follow the sum, which may lie outside the stack.
        self.base.wrapping_add(register + words) <= self.limit
    }

    /// Moves the frame up so that register 0 is what was `register`, leaving a return point in the
    /// slot below.
    #[inline(always)]
    pub(super) fn push(&mut self, register: usize, return_point: Value) {
        debug_assert!(register > 0, "the return point lies below register 0");
        self.check_register(register);
        // SAFETY: a window lies inside the frame, so `register - 1` and `register` do.
        unsafe {
            *self.base.add(register - 1) = return_point;
            self.base = self.base.add(register);
        }
    }

    /// Returns `value` through the slot below the frame.
    #[inline(always)]
    pub(super) fn pop(&mut self, value: Value) {
        // SAFETY: every frame has a return point below it, at the bottom the one for underflow; its
        // distance leads to the caller's register 0.
        unsafe {
            let slot = self.base.sub(1);
            let point = *slot;
            debug_assert!(point.is_immediate(Immediate::Return) && (point.detail() as usize) <= self.base_index());
            *slot = value;
            self.base = self.base.sub(point.detail() as usize);
            self.jump_to(point.payload() as usize);
        }
    }

    /// Makes the bottom of the stack, with a return point for underflow below it, the frame.
    #[inline(always)]
    pub(super) fn move_to_bottom(&mut self) {
        // SAFETY: the stack has a word below its first frame, and many more.
        unsafe {
            *self.stack = super::underflow_point();
            self.base = self.stack.add(1);
        }
    }

    /// The frames below this one, from the first on the stack up to the return point that leads
    /// back to the last.
    #[inline(always)]
    pub(super) fn frames_below(&self) -> &[Value] {
        let words = self.base_index().saturating_sub(1);
        // SAFETY: all of the stack up to `base` is in use, and no one writes to it while it is
        // borrowed from here.
        unsafe { std::slice::from_raw_parts(self.stack.wrapping_add(1), words) }
    }

    /// The first words of the frame at the bottom of the stack, which is as large as any frame of
    /// the code.
    #[inline(always)]
    pub(super) fn bottom(&mut self, words: usize) -> &mut [Value] {
        debug_assert!(
            self.stack.wrapping_add(1 + words) <= self.limit,
            "{words} words fit the stack"
        );
        // SAFETY: the part of the stack in use has room for the largest frame of the code, and for
        // the word below it; `&mut self` is the only way to them.
        unsafe { std::slice::from_raw_parts_mut(self.stack.add(1), words) }
    }

    /// `count` registers from `register` on.
    #[inline(always)]
    pub(super) fn registers(&self, register: usize, count: usize) -> &[Value] {
        self.check_register(register + count);
        // SAFETY: as for `get`, and no one writes to the registers while they are borrowed from
        // here.
        unsafe { std::slice::from_raw_parts(self.base.add(register), count) }
    }

    /// Moves `count` words, at least one, from `register` on down to register 0.
    #[inline(always)]
    pub(super) fn slide(&mut self, register: usize, count: usize) {
        let mut index = 0;
        // Most calls pass so few words that setting up a vectorised loop would take longer.
        while index < 4 {
            self.set(index, self.get(register + index));
            index += 1;
            if index == count {
                return;
            }
        }
        while index < count {
            self.set(index, self.get(register + index));
            index += 1;
        }
    }

    /// Part `offset` of a pair.
    #[inline(always)]
    pub(super) fn pair_field(&self, pair: Value, offset: usize) -> Value {
        self.heap.pair_field(pair, offset)
    }

    /// Word `offset` of a procedure object, counted from its header.
    #[inline(always)]
    pub(super) fn procedure_field(&self, procedure: Value, offset: usize) -> Value {
        debug_assert!(procedure.is_procedure_object());
        self.heap.word(procedure.procedure_offset_bytes() + 8 * offset)
    }

    /// Word `offset` of another object, counted from its header.
    #[inline(always)]
    pub(super) fn object_field(&self, object: Value, offset: usize) -> Value {
        debug_assert!(object.is_object());
        self.heap.word(object.object_offset_bytes() + 8 * offset)
    }

    /// The dispatch's target for a byte code that is not in the table.
    #[inline(always)]
    pub(super) fn no_such_instruction() -> ! {
        debug_assert!(false, "a byte code that is not in the table");
        // SAFETY: every loaded instruction was verified to be one of the table.
        unsafe { std::hint::unreachable_unchecked() }
    }

    /// Fills a word of a new object.
    #[inline(always)]
    pub(super) fn fill(&mut self, index: usize, value: Value) {
        self.heap.fill(index, value);
    }
}

/// A heap's words, until they move.
#[derive(Clone, Copy)]
pub(super) struct HeapWords {
    first: *mut u64,
    #[cfg(debug_assertions)]
    count: usize,
}

impl HeapWords {
    #[inline(always)]
    pub(super) fn of(heap: &mut Heap) -> HeapWords {
        HeapWords {
            #[cfg(debug_assertions)]
            count: heap.words_count(),
            first: heap.words_pointer(),
        }
    }

    #[inline(always)]
    fn check(self, index: usize, count: usize) {
        #[cfg(debug_assertions)]
        assert!(
            index + count <= self.count,
            "{count} words from {index} lie beyond the heap"
        );
        let _ = (index, count);
    }

    #[inline(always)]
    fn word(self, offset_bytes: usize) -> Value {
        self.check(offset_bytes / 8, 1);
        // SAFETY: references point at objects of this heap, offsets are multiples of eight, and
        // callers ask only for words that the object's kind has.
        Value::from_bits(unsafe { *self.first.byte_add(offset_bytes) })
    }

    /// Part `offset` of a pair.
    #[inline(always)]
    pub(super) fn pair_field(self, pair: Value, offset: usize) -> Value {
        debug_assert!(pair.is_pair());
        self.word(pair.pair_offset_bytes() + 8 * offset)
    }

    /// Field `field` of a closure: its code word, then what it captured.
    #[inline(always)]
    pub(super) fn closure_field(self, closure: Value, field: usize) -> Value {
        debug_assert!(closure.is_procedure_object());
        self.word(closure.procedure_offset_bytes() + 8 * (1 + field))
    }

    /// Field `field` of another object.
    #[inline(always)]
    pub(super) fn field(self, object: Value, field: usize) -> Value {
        debug_assert!(object.is_object());
        self.word(object.object_offset_bytes() + 8 * (1 + field))
    }

    /// Whether the word is an object of `kind`, which is not that of closures.
    #[inline(always)]
    pub(super) fn is_kind(self, value: Value, kind: Kind) -> bool {
        value.is_object() && self.word(value.object_offset_bytes()).to_bits() >> 8 & 0xff == kind as u64
    }

    /// Fills a word of a new object, or writes one that has passed the write barrier.
    #[inline(always)]
    pub(super) fn fill(self, index: usize, value: Value) {
        self.check(index, 1);
        // SAFETY: `index` was just given out by the heap, or is that of a word of a live object.
        unsafe { *self.first.add(index) = value.to_bits() }
    }

    /// Fills the words of a new object from `index` on.
    #[inline(always)]
    pub(super) fn fill_all(self, index: usize, values: &[Value]) {
        self.check(index, values.len());
        // SAFETY: as for `fill`; a heap's words are no part of the stack.
        unsafe { copy_few(values.as_ptr().cast(), self.first.add(index), values.len()) }
    }

    /// Copies the fields of an object from `field` on.
    #[inline(always)]
    pub(super) fn copy_out(self, object: Value, field: usize, values: &mut [Value]) {
        self.check(object.index() + 1 + field, values.len());
        // SAFETY: as for `word`; a heap's words are no part of the stack.
        unsafe {
            let from = self.first.byte_add(object.object_offset_bytes()).add(1 + field);
            copy_few(from, values.as_mut_ptr().cast(), values.len());
        }
    }

    /// Copies `count` words of an object to a new one at `index`.
    #[inline(always)]
    pub(super) fn copy_object(self, object: Value, index: usize, count: usize) {
        self.check(object.index(), count);
        self.check(index, count);
        // SAFETY: as for `word` and `fill`; a new object does not overlap another.
        unsafe {
            let from = self.first.byte_add(object.object_offset_bytes());
            std::ptr::copy_nonoverlapping(from, self.first.add(index), count);
        }
    }
}

/// Copies with more words than this call the general procedure.
const FEW_WORDS: usize = 32;

/// Copies words. There are few as a rule, so a call would take longer.
///
/// Machine code has just stored most of them one by one. A processor that loads several words at
/// once waits until such stores have reached its cache, so they are loaded one by one, too; the
/// loads are volatile, because the compiler would join others.
///
/// # Safety
/// There are `count` words to read and as many to write, and none is both.
#[inline(always)]
unsafe fn copy_few(from: *const u64, to: *mut u64, count: usize) {
    // SAFETY: the caller vouches for the words; each copy ends at or before the last.
    unsafe {
        if count > FEW_WORDS {
            return std::ptr::copy_nonoverlapping(from, to, count);
        }
        let mut copied = 0;
        while copied + 2 <= count {
            let words = [from.add(copied).read_volatile(), from.add(copied + 1).read_volatile()];
            to.add(copied).write(words[0]);
            to.add(copied + 1).write(words[1]);
            copied += 2;
        }
        if copied < count {
            to.add(copied).write(from.add(copied).read_volatile());
        }
    }
}
