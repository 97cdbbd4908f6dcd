//! How the machine reaches code, stack and heap: raw pointers, unchecked indices or checked indices.
//!
//! The three do the same; only the price of each access differs.

use crate::code::{Format, Op};
use crate::heap::Context;

/// Program counter, frame base and heap of a running machine.
pub trait Memory<F: Format>: Sized {
    fn start(context: &mut Context<F>, pc: usize, base: usize) -> Self;
    fn next(&mut self) -> F::View;
    fn extension(&mut self) -> F;
    fn op(byte: u8) -> Op;
    fn branch(&mut self, offset: isize);
    fn pc(&self, context: &Context<F>) -> usize;
    fn set_pc(&mut self, context: &Context<F>, pc: usize);
    fn base(&self, context: &Context<F>) -> usize;
    fn slide(&mut self, words: isize);
    /// Whether `words` more fit above the base.
    fn fits(&self, context: &Context<F>, words: usize) -> bool;
    /// Register `i` of the current frame; -1 is the return word.
    fn get(&self, i: isize) -> u64;
    fn set(&mut self, i: isize, word: u64);
    fn load(&self, offset_bytes: usize) -> u64;
    fn store(&mut self, offset_bytes: usize, word: u64);
    fn constant(context: &Context<F>, number: usize) -> u64;
    fn global(context: &Context<F>, number: usize) -> u64;
}

/// Raw pointers into the vectors that the context owns.
pub struct Raw<F> {
    pub pc: *const F,
    pub base: *mut u64,
    pub heap: *mut u8,
}

// SAFETY (all of it): pc, registers and offsets come from the assembler, the allocator and stack checks.
impl<F: Format> Memory<F> for Raw<F> {
    fn start(context: &mut Context<F>, pc: usize, base: usize) -> Self {
        unsafe {
            Raw {
                pc: context.code.as_ptr().add(pc),
                base: context.stack.as_mut_ptr().add(base),
                heap: context.heap.as_mut_ptr().cast(),
            }
        }
    }
    #[inline(always)]
    fn next(&mut self) -> F::View {
        unsafe {
            let word = &*self.pc;
            self.pc = self.pc.add(1);
            word.view()
        }
    }
    #[inline(always)]
    fn extension(&mut self) -> F {
        unsafe {
            let word = *self.pc;
            self.pc = self.pc.add(1);
            word
        }
    }
    #[inline(always)]
    fn op(byte: u8) -> Op {
        unsafe { Op::trusted(byte) }
    }
    #[inline(always)]
    fn branch(&mut self, offset: isize) {
        self.pc = unsafe { self.pc.offset(offset) };
    }
    #[inline(always)]
    fn pc(&self, context: &Context<F>) -> usize {
        unsafe { self.pc.offset_from_unsigned(context.code.as_ptr()) }
    }
    #[inline(always)]
    fn set_pc(&mut self, context: &Context<F>, pc: usize) {
        self.pc = unsafe { context.code.as_ptr().add(pc) };
    }
    #[inline(always)]
    fn base(&self, context: &Context<F>) -> usize {
        unsafe { self.base.offset_from(context.stack.as_ptr()) as usize }
    }
    #[inline(always)]
    fn slide(&mut self, words: isize) {
        self.base = unsafe { self.base.offset(words) };
    }
    #[inline(always)]
    fn fits(&self, context: &Context<F>, words: usize) -> bool {
        self.base.wrapping_add(words) <= context.stack_end
    }
    #[inline(always)]
    fn get(&self, i: isize) -> u64 {
        unsafe { *self.base.offset(i) }
    }
    #[inline(always)]
    fn set(&mut self, i: isize, word: u64) {
        unsafe { *self.base.offset(i) = word }
    }
    #[inline(always)]
    fn load(&self, offset_bytes: usize) -> u64 {
        unsafe { *self.heap.add(offset_bytes).cast() }
    }
    #[inline(always)]
    fn store(&mut self, offset_bytes: usize, word: u64) {
        unsafe { *self.heap.add(offset_bytes).cast() = word }
    }
    #[inline(always)]
    fn constant(context: &Context<F>, number: usize) -> u64 {
        unsafe { *context.constants.get_unchecked(number) }
    }
    #[inline(always)]
    fn global(context: &Context<F>, number: usize) -> u64 {
        unsafe { *context.globals.get_unchecked(number) }
    }
}

/// Slices and indices; `CHECKED` decides whether each access is bounds-checked.
pub struct Indexed<F: 'static, const CHECKED: bool> {
    code: &'static [F],
    stack: &'static mut [u64],
    heap: &'static mut [u64],
    pc: usize,
    base: usize,
}

#[inline(always)]
fn at<T, const CHECKED: bool>(slice: &[T], i: usize) -> &T {
    if CHECKED { &slice[i] } else { unsafe { slice.get_unchecked(i) } }
}

#[inline(always)]
fn put<const CHECKED: bool>(slice: &mut [u64], i: usize, word: u64) {
    if CHECKED {
        slice[i] = word;
    } else {
        unsafe { *slice.get_unchecked_mut(i) = word }
    }
}

impl<F: Format, const CHECKED: bool> Memory<F> for Indexed<F, CHECKED> {
    fn start(context: &mut Context<F>, pc: usize, base: usize) -> Self {
        // SAFETY: the context outlives the run and touches its vectors only in the collector, never during an access.
        unsafe {
            Indexed {
                code: std::slice::from_raw_parts(context.code.as_ptr(), context.code.len()),
                stack: std::slice::from_raw_parts_mut(context.stack.as_mut_ptr(), context.stack.len()),
                heap: std::slice::from_raw_parts_mut(context.heap.as_mut_ptr(), context.heap.len()),
                pc,
                base,
            }
        }
    }
    #[inline(always)]
    fn next(&mut self) -> F::View {
        let word = at::<_, CHECKED>(self.code, self.pc);
        self.pc += 1;
        word.view()
    }
    #[inline(always)]
    fn extension(&mut self) -> F {
        let word = *at::<_, CHECKED>(self.code, self.pc);
        self.pc += 1;
        word
    }
    #[inline(always)]
    fn op(byte: u8) -> Op {
        if CHECKED { Op::checked(byte).expect("valid instruction") } else { unsafe { Op::trusted(byte) } }
    }
    #[inline(always)]
    fn branch(&mut self, offset: isize) {
        self.pc = self.pc.wrapping_add_signed(offset);
    }
    #[inline(always)]
    fn pc(&self, _: &Context<F>) -> usize {
        self.pc
    }
    #[inline(always)]
    fn set_pc(&mut self, _: &Context<F>, pc: usize) {
        self.pc = pc;
    }
    #[inline(always)]
    fn base(&self, _: &Context<F>) -> usize {
        self.base
    }
    #[inline(always)]
    fn slide(&mut self, words: isize) {
        self.base = self.base.wrapping_add_signed(words);
    }
    #[inline(always)]
    fn fits(&self, _: &Context<F>, words: usize) -> bool {
        self.base + words <= self.stack.len()
    }
    #[inline(always)]
    fn get(&self, i: isize) -> u64 {
        *at::<_, CHECKED>(self.stack, self.base.wrapping_add_signed(i))
    }
    #[inline(always)]
    fn set(&mut self, i: isize, word: u64) {
        put::<CHECKED>(self.stack, self.base.wrapping_add_signed(i), word);
    }
    #[inline(always)]
    fn load(&self, offset_bytes: usize) -> u64 {
        *at::<_, CHECKED>(self.heap, offset_bytes / 8)
    }
    #[inline(always)]
    fn store(&mut self, offset_bytes: usize, word: u64) {
        put::<CHECKED>(self.heap, offset_bytes / 8, word);
    }
    #[inline(always)]
    fn constant(context: &Context<F>, number: usize) -> u64 {
        *at::<_, CHECKED>(&context.constants, number)
    }
    #[inline(always)]
    fn global(context: &Context<F>, number: usize) -> u64 {
        *at::<_, CHECKED>(&context.globals, number)
    }
}
