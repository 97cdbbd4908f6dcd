//! The running frame: the few words that the dispatch loop keeps in the processor's registers, and the only unsafe code of the kernel.
//!
//! Measured on fib, nqueens and deriv, bounds checks on registers, instructions and pairs cost a tenth to a third of the run time; so these accesses go unchecked, and the checks are made
//! once, elsewhere:
//!
//! INVARIANT: `code` points at a code space whose every instruction was verified (`code/verify.rs`): register operands lie below the frame size, jumps inside their block.
//! INVARIANT: `base .. base + frame size` lies inside the machine's stack: whoever enters a block has checked it against the limit.
//! INVARIANT: every reference in a register or in the heap points at an object of this instance's heap, and `heap` is the heap's words; it is taken anew after whatever may move them.
//!
//! Debug builds check each of these accesses against the ends of stack, code and heap, so the test suites run with the checks on.
//!
//! Nothing here can be called from outside `machine`. Read next: `machine/execute.rs`.
#![expect(
    unsafe_code,
    reason = "unchecked access to registers, instructions and fields; see the invariants above"
)]

use crate::code::CodeSpace;
use crate::heap::Heap;
use crate::instruction::Instruction;
use crate::value::{Immediate, Value};

use super::Machine;

/// What the instructions keep at hand. Slow paths take it by value and give it back, so that the compiler need not keep it in memory.
#[derive(Clone, Copy)]
pub(super) struct Hot {
    /// The next instruction.
    next: *const Instruction,
    base: *mut Value,
    heap: *mut u64,
    /// Fuel left; below zero, the computation stops.
    pub(super) fuel: i64,
    /// Frames end at or below this word.
    limit: *mut Value,
    code: *const Instruction,
    stack: *mut Value,
    /// What the pointers may reach, for the checks of debug builds.
    #[cfg(debug_assertions)]
    reach: Reach,
}

/// The words of a frame that pass from instruction to instruction: next, base, heap, fuel.
#[cfg(not(debug_assertions))]
pub(super) type Words = (*const Instruction, *mut Value, *mut u64, i64);

/// How many instructions, heap words and stack words there are.
#[cfg(debug_assertions)]
#[derive(Clone, Copy)]
struct Reach {
    instructions: usize,
    heap_words: usize,
    stack_words: usize,
}

impl Hot {
    pub(super) fn new(machine: &mut Machine, heap: &mut Heap, code: &CodeSpace) -> Hot {
        let stack = machine.stack.as_mut_ptr();
        // SAFETY: `base` and `soft_limit` are indices into the stack.
        let (base, limit) = unsafe { (stack.add(machine.base), stack.add(machine.soft_limit)) };
        Hot {
            next: code.instructions().as_ptr(),
            base,
            heap: heap.words_pointer(),
            fuel: 0,
            limit,
            code: code.instructions().as_ptr(),
            stack,
            #[cfg(debug_assertions)]
            reach: Reach {
                instructions: code.instructions().len(),
                heap_words: heap.words_count(),
                stack_words: machine.stack.len(),
            },
        }
    }

    /// The words that pass from instruction to instruction.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn words(self) -> Words {
        (self.next, self.base, self.heap, self.fuel)
    }

    /// The frame made of these words and those of `other` that change on detours only.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn from_words((next, base, heap, fuel): Words, other: &Hot) -> Hot {
        Hot {
            next,
            base,
            heap,
            fuel,
            limit: other.limit,
            code: other.code,
            stack: other.stack,
        }
    }

    /// Frames end at or below this word.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn limit(&self) -> *mut Value {
        self.limit
    }

    /// Takes over the words that a detour may change.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn set_words(&mut self, (next, base, heap, fuel): Words, limit: *mut Value) {
        (self.next, self.base, self.heap, self.fuel, self.limit) = (next, base, heap, fuel, limit);
    }

    /// Takes over where a detour has left the stack.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(super) fn set_stack(&mut self, after: &Hot) {
        self.stack = after.stack;
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

    #[cfg(debug_assertions)]
    fn check_heap(&self, index: usize) {
        assert!(index < self.reach.heap_words, "word {index} lies beyond the heap");
    }

    /// Writes the frame back to where safe code expects it.
    pub(super) fn store(self, machine: &mut Machine) {
        machine.base = self.base_index();
    }

    /// Takes over what safe code has changed.
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

    /// Takes the heap's words anew after they may have moved.
    #[inline(always)]
    pub(super) fn reload_heap(&mut self, heap: &mut Heap) {
        #[cfg(debug_assertions)]
        {
            self.reach.heap_words = heap.words_count();
        }
        self.heap = heap.words_pointer();
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

    /// Goes on at a position of the code space.
    #[inline(always)]
    pub(super) fn go_to(&mut self, position: usize) {
        // The pointer is followed by `fetch` only, which says why it may be.
        self.next = self.code.wrapping_add(position);
    }

    /// Makes the instruction that was fetched last the next one again.
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
        // SAFETY: no verified block runs past its end, and calls and returns go to positions of the code space only, which nothing changes while the machine runs.
        let instruction = unsafe { &*self.next };
        self.next = self.next.wrapping_add(1);
        instruction
    }

    /// The instruction that was fetched last.
    pub(super) fn last_instruction(&self) -> Instruction {
        debug_assert!(self.next > self.code, "an instruction was fetched");
        // SAFETY: before a jump or a call is made, the next instruction is preceded by the one that was fetched.
        unsafe { *self.next.wrapping_sub(1) }
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
        // The sum, which may leave the allocation, is compared and not followed.
        self.base.wrapping_add(register + words) <= self.limit
    }

    /// Moves the frame up so that register 0 is what was `register`, leaving a return point in the slot below.
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
        // SAFETY: every frame has a return point below it, at the bottom the one for underflow; its distance leads to the caller's register 0.
        unsafe {
            let slot = self.base.sub(1);
            let point = *slot;
            debug_assert!(point.is_immediate(Immediate::Return) && (point.detail() as usize) <= self.base_index());
            *slot = value;
            self.base = self.base.sub(point.detail() as usize);
            self.go_to(point.payload() as usize);
        }
    }

    /// Makes the bottom of the stack, with its return point for underflow, the frame.
    #[inline(always)]
    pub(super) fn move_to_bottom(&mut self) {
        // SAFETY: the stack has a word below its first frame, and many more.
        self.base = unsafe { self.stack.add(1) };
    }

    /// Moves `count` words from `register` on down to register 0.
    #[inline(always)]
    pub(super) fn slide(&mut self, register: usize, count: usize) {
        for index in 0..count {
            let value = self.get(register + index);
            self.set(index, value);
        }
    }

    /// Part `offset` of a pair.
    #[inline(always)]
    pub(super) fn pair_field(&self, pair: Value, offset: usize) -> Value {
        debug_assert!(pair.is_pair());
        self.word(pair.pair_offset_bytes() + 8 * offset)
    }

    /// Word `offset` of a procedure object, counted from its header.
    #[inline(always)]
    pub(super) fn procedure_field(&self, procedure: Value, offset: usize) -> Value {
        debug_assert!(procedure.is_procedure_object());
        self.word(procedure.procedure_offset_bytes() + 8 * offset)
    }

    /// Word `offset` of another object, counted from its header.
    #[inline(always)]
    pub(super) fn object_field(&self, object: Value, offset: usize) -> Value {
        debug_assert!(object.is_object());
        self.word(object.object_offset_bytes() + 8 * offset)
    }

    #[inline(always)]
    fn word(&self, offset_bytes: usize) -> Value {
        #[cfg(debug_assertions)]
        self.check_heap(offset_bytes / 8);
        // SAFETY: references point at objects of this heap, offsets are multiples of eight, and callers ask only for words that the object's kind has.
        Value::from_bits(unsafe { *self.heap.byte_add(offset_bytes) })
    }

    /// What the dispatch does for a byte code that is not in the table.
    #[inline(always)]
    pub(super) fn no_such_instruction() -> ! {
        debug_assert!(false, "a byte code that is not in the table");
        // SAFETY: every loaded instruction was verified to be one of the table.
        unsafe { std::hint::unreachable_unchecked() }
    }

    /// Fills a word of a fresh object.
    #[inline(always)]
    pub(super) fn fill(&mut self, index: usize, value: Value) {
        #[cfg(debug_assertions)]
        self.check_heap(index);
        // SAFETY: `index` was just given out by `Heap::bump`, or is that of a word of a live object.
        unsafe { *self.heap.add(index) = value.to_bits() }
    }
}
