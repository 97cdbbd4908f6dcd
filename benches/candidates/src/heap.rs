//! The context of a run (code, stack, heap, globals) and a copying collector that all candidates share.
//!
//! The heap vector holds a static part (procedures, flonum constants), then two half spaces. Every object of the half
//! spaces is two words: a pair, or a box header and the bits of a flonum.
//!
//! INVARIANT: a stack slot written since the last collection holds a live reference; older slots above the live frames
//! have been zeroed.

use crate::code::Format;
use crate::word::Value;

const HALF_BYTES: usize = 1 << 20;
const STACK_WORDS: usize = 1 << 13;
/// Widest frame, in words; the collector scans this far above the base.
const FRAME_WORDS: usize = 256;

/// Everything a run needs besides its registers.
pub struct Context<F> {
    pub code: Vec<F>,
    pub constants: Vec<u64>,
    pub globals: Vec<u64>,
    pub stack: Vec<u64>,
    pub stack_end: *mut u64,
    pub heap: Vec<u64>,
    /// First byte offset that may not be allocated.
    pub limit: usize,
    /// End of the static part.
    movable: usize,
    pub collections: usize,
    pub executed: u64,
}

impl<F: Format> Context<F> {
    /// Takes the static part of the heap, already filled.
    pub fn new(code: Vec<F>, constants: Vec<u64>, globals: Vec<u64>, mut heap: Vec<u64>) -> Self {
        let movable = heap.len() * 8;
        heap.resize((movable + 2 * HALF_BYTES) / 8, 0);
        let mut stack = vec![0; STACK_WORDS];
        let stack_end = stack.as_mut_ptr().wrapping_add(STACK_WORDS - FRAME_WORDS);
        let limit = movable + HALF_BYTES;
        Context { code, constants, globals, stack, stack_end, heap, limit, movable, collections: 0, executed: 0 }
    }

    pub fn first_free(&self) -> usize {
        self.limit - HALF_BYTES
    }

    /// Copies what the stack reaches to the other half space and returns the first free byte offset.
    #[cold]
    #[inline(never)]
    pub fn collect<V: Value>(&mut self, base: usize) -> usize {
        self.collections += 1;
        let mut free = if self.first_free() == self.movable { self.limit } else { self.movable };
        self.limit = free + HALF_BYTES;
        let mut scan = free;
        let live = base + FRAME_WORDS;
        for slot in 0..live {
            self.stack[slot] = self.moved::<V>(self.stack[slot], &mut free);
        }
        self.stack[live..].fill(0);
        while scan < free {
            if self.heap[scan / 8] != V::BOX_HEADER {
                self.heap[scan / 8] = self.moved::<V>(self.heap[scan / 8], &mut free);
                self.heap[scan / 8 + 1] = self.moved::<V>(self.heap[scan / 8 + 1], &mut free);
            }
            scan += 16;
        }
        assert!(free + HALF_BYTES / 2 < self.limit, "the live data outgrew the experiment");
        free
    }

    fn moved<V: Value>(&mut self, word: u64, free: &mut usize) -> u64 {
        let (old, new) = match (V::pair(word), V::boxed(word)) {
            (Some(old), _) => (old, V::make_pair(*free)),
            (None, Some(old)) => (old, V::make_boxed(*free)),
            (None, None) => return word,
        };
        if old < self.movable {
            return word;
        }
        let i = old / 8;
        if self.heap[i] == V::FORWARDED {
            return self.heap[i + 1];
        }
        self.heap.copy_within(i..i + 2, *free / 8);
        *free += 16;
        self.heap[i] = V::FORWARDED;
        self.heap[i + 1] = new;
        new
    }
}
