//! Large blocks: mappings of their own, which grow by moving their pages, and of which some are
//! kept for the next one.
//!
//! The heap of a program grows, and a collection copies it into a second one of the same size.
//! Fresh memory costs more than that copying: the system clears each page when it is first
//! written. So a block that grows takes its pages along, and a block that is freed is kept.
//! Huge pages would make the first writes cheaper where the system has some free; where it has to
//! move others to get them, a program took 25 % longer (measured). To keep the end of a block that
//! shrinks saved nothing.
//! INVARIANT: the length of a mapping is [`length_of`] the size that the caller names, so no block
//! has a header.
//! INVARIANT: at most [`KEPT_BYTES`] are kept, in at most [`KEPT_BLOCKS`] blocks.
//! It does not count; `lib.rs` does.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap, munmap};

/// A block of at least this many bytes is a mapping of its own.
const LARGE_BYTES: usize = 4 << 20;
/// The smallest page of any processor, at which every mapping begins.
const PAGE_BYTES: usize = 1 << 12;
/// Lengths are multiples of this, which is a multiple of every processor's page.
const STEP_BYTES: usize = 1 << 16;
/// The maximum of bytes in blocks that are kept.
const KEPT_BYTES: usize = 64 << 20;
/// The maximum of blocks that are kept.
const KEPT_BLOCKS: usize = 4;

/// The blocks that are kept.
static KEPT: Mutex<Kept> = Mutex::new(Kept {
    blocks: [Block::NONE; KEPT_BLOCKS],
});

/// Says whether a block has a mapping of its own.
pub(super) fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE_BYTES && layout.align() <= PAGE_BYTES
}

/// Makes a block whose bytes may be anything; null if the system has no memory.
pub(super) fn allocate(size: usize) -> *mut u8 {
    let length_bytes = length_of(size);
    let block = kept().take(length_bytes);
    let resized = block.map_or(null_mut(), |block| block.resized(length_bytes));
    if !resized.is_null() {
        return resized;
    }
    if let Some(block) = block {
        block.unmap();
    }
    map(length_bytes)
}

/// Makes a block of zeros; null if the system has no memory.
pub(super) fn allocate_zeroed(size: usize) -> *mut u8 {
    map(length_of(size))
}

/// Makes a block longer or shorter, with the bytes that it has; null, with the block as it was, if
/// the system has no memory.
///
/// # Safety
/// `start` is a large block of `old_size` bytes, which ends to be one if the result is not null.
pub(super) unsafe fn reallocate(start: *mut u8, old_size: usize, new_size: usize) -> *mut u8 {
    Block::of(start, old_size).resized(length_of(new_size))
}

/// Frees a block.
///
/// # Safety
/// `start` is a large block of `size` bytes, which nobody uses any more.
pub(super) unsafe fn free(start: *mut u8, size: usize) {
    kept().put(Block::of(start, size));
}

fn length_of(size: usize) -> usize {
    size.next_multiple_of(STEP_BYTES)
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fresh mapping; null if the system has no memory.
fn map(length_bytes: usize) -> *mut u8 {
    // SAFETY: an anonymous mapping at a place that the system chooses touches nothing else.
    let mapped = unsafe {
        mmap_anonymous(
            null_mut(),
            length_bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    };
    mapped.map_or(null_mut(), <*mut c_void>::cast)
}

/// A mapping that this module has made.
#[derive(Clone, Copy)]
struct Block {
    /// Its address; 0 stands for no block.
    start: usize,
    length_bytes: usize,
}

impl Block {
    const NONE: Block = Block {
        start: 0,
        length_bytes: 0,
    };

    fn of(start: *mut u8, size: usize) -> Block {
        Block {
            start: start.expose_provenance(),
            length_bytes: length_of(size),
        }
    }

    fn address(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.start)
    }

    /// The block with another length, perhaps elsewhere; null if the system has no memory.
    fn resized(self, length_bytes: usize) -> *mut u8 {
        if self.length_bytes == length_bytes {
            return self.address().cast();
        }
        // SAFETY: the block is a mapping of this length that the caller has given up.
        let moved = unsafe { mremap(self.address(), self.length_bytes, length_bytes, MremapFlags::MAYMOVE) };
        moved.map_or(null_mut(), <*mut c_void>::cast)
    }

    fn unmap(self) {
        // SAFETY: the block is a mapping of this length that nobody uses any more. If the system
        // refuses, its memory stays in use, which harms nobody.
        let _ = unsafe { munmap(self.address(), self.length_bytes) };
    }
}

/// The blocks that are kept, the newest first.
struct Kept {
    blocks: [Block; KEPT_BLOCKS],
}

impl Kept {
    /// Takes the smallest block of at least this length that is at most twice as long, else the
    /// longest of those below.
    fn take(&mut self, length_bytes: usize) -> Option<Block> {
        let fits = |block: &Block| block.start != 0 && block.length_bytes / 2 <= length_bytes;
        let rank = |block: &Block| {
            let is_enough = block.length_bytes >= length_bytes;
            (
                is_enough,
                if is_enough {
                    usize::MAX - block.length_bytes
                } else {
                    block.length_bytes
                },
            )
        };
        let candidates = self.blocks.iter().enumerate().filter(|(_, block)| fits(block));
        let (place, block) = candidates.max_by_key(|(_, block)| rank(block))?;
        let block = *block;
        self.blocks[place..].rotate_left(1);
        self.blocks[KEPT_BLOCKS - 1] = Block::NONE;
        Some(block)
    }

    /// Keeps a block, unless it is too long; frees the oldest ones that are too many for that.
    fn put(&mut self, block: Block) {
        if block.length_bytes > KEPT_BYTES {
            return block.unmap();
        }
        self.blocks.rotate_right(1);
        let mut left_out = std::mem::replace(&mut self.blocks[0], block);
        let mut last = KEPT_BLOCKS;
        loop {
            if left_out.start != 0 {
                left_out.unmap();
            }
            if self.blocks.iter().map(|block| block.length_bytes).sum::<usize>() <= KEPT_BYTES {
                return;
            }
            last -= 1;
            left_out = std::mem::replace(&mut self.blocks[last], Block::NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(start: *mut u8, size: usize) -> &'static mut [u8] {
        assert!(!start.is_null());
        // SAFETY: the tests pass blocks that they have just made, and use one name for each.
        unsafe { std::slice::from_raw_parts_mut(start, size) }
    }

    #[test]
    fn a_block_keeps_its_bytes_when_it_grows_and_shrinks() {
        let size = LARGE_BYTES + 5;
        let start = allocate(size);
        let bytes = bytes_of(start, size);
        bytes[0] = 1;
        bytes[size - 1] = 2;
        // SAFETY: the block has this size.
        let longer = unsafe { reallocate(start, size, 9 * size) };
        let bytes = bytes_of(longer, 9 * size);
        assert_eq!((bytes[0], bytes[size - 1], bytes[9 * size - 1]), (1, 2, 0));
        // SAFETY: the block has this size.
        let shorter = unsafe { reallocate(longer, 9 * size, size) };
        let bytes = bytes_of(shorter, size);
        assert_eq!((bytes[0], bytes[size - 1]), (1, 2));
        // SAFETY: the block has this size, and is not used again.
        unsafe { free(shorter, size) };
    }

    #[test]
    fn a_block_of_zeros_has_only_zeros() {
        let size = 2 * LARGE_BYTES;
        let start = allocate(size);
        bytes_of(start, size).fill(7);
        // SAFETY: the block has this size, and is not used again.
        unsafe { free(start, size) };
        let start = allocate_zeroed(size);
        assert!(bytes_of(start, size).iter().all(|byte| *byte == 0));
        // SAFETY: the block has this size, and is not used again.
        unsafe { free(start, size) };
    }

    /// Blocks that stand for mappings without being any; none of them is unmapped.
    fn pretended(lengths: &[usize]) -> Kept {
        let mut blocks = [Block::NONE; KEPT_BLOCKS];
        for ((start, length_bytes), block) in (1..).zip(lengths).zip(&mut blocks) {
            *block = Block {
                start,
                length_bytes: *length_bytes,
            };
        }
        Kept { blocks }
    }

    #[test]
    fn the_block_that_fits_best_is_used_again() {
        let taken = |wanted: usize| pretended(&[5, 40, 20, 10]).take(wanted).map(|block| block.length_bytes);
        assert_eq!(taken(10), Some(10));
        assert_eq!(taken(18), Some(20));
        // The longest one below grows.
        assert_eq!(taken(50), Some(40));
        // One that is much too long is left for others.
        assert_eq!(taken(1), None);
        assert_eq!(pretended(&[]).take(10).map(|block| block.length_bytes), None);
    }

    #[test]
    fn a_block_that_was_taken_is_no_longer_there() {
        let mut kept = pretended(&[5, 40, 20]);
        assert_eq!(kept.take(40).map(|block| block.length_bytes), Some(40));
        assert_eq!(kept.blocks.map(|block| block.length_bytes), [5, 20, 0, 0]);
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let mut kept = pretended(&[]);
        let block = |length_bytes: usize| Block::of(map(length_bytes), length_bytes);
        for _ in 0..9 {
            kept.put(block(LARGE_BYTES));
        }
        assert_eq!(kept.blocks.map(|block| block.length_bytes), [LARGE_BYTES; KEPT_BLOCKS]);
        kept.put(block(KEPT_BYTES - LARGE_BYTES));
        assert_eq!(
            kept.blocks.map(|block| block.length_bytes),
            [KEPT_BYTES - LARGE_BYTES, LARGE_BYTES, 0, 0]
        );
        kept.put(block(KEPT_BYTES + STEP_BYTES));
        assert_eq!(kept.blocks[0].length_bytes, KEPT_BYTES - LARGE_BYTES);
        kept.blocks
            .into_iter()
            .filter(|block| block.start != 0)
            .for_each(Block::unmap);
    }
}
