//! The memory of the process: every byte is counted, and where there is no more, the process ends
//! with a message.
//!
//! Owns the global allocator. Rust aborts where an allocation fails, and has no stable hook, so the
//! allocator itself ends the process. A run's own limit stops its programs long before; this is for
//! what no limit of a run can stop: a machine that has less than it says, and work of Duet itself
//! that grows without end.
//! Small blocks are those of mimalloc; `large` makes the large ones.
//! INVARIANT: the process ends here with [`EXIT_CODE`] and one message, never by a signal.
//! The journal is sound then, because it is at every moment: a commit is whole or absent, and no
//! effect of a turn that is not durable has left.
//! It is a crate because every turn allocates: a build may leave the command unoptimised, but not
//! this, and the compiler puts the entries of an allocator into the crate that registers it. So a
//! program that links this crate has its allocator. It decides no limit of a run;
//! `src/world/launch.rs` does. Read next: `src/owner/owned_run/measure.rs`.
#![expect(
    unsafe_code,
    reason = "`GlobalAlloc` is an unsafe trait; the work is passed on to mimalloc and to the system"
)]

mod large;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use mimalloc::MiMalloc;

/// The exit code of a process that ends for want of memory.
pub const EXIT_CODE: u8 = 5;

/// The allocator of the command.
struct CountedMemory;

#[global_allocator]
static ALLOCATOR: CountedMemory = CountedMemory;

/// The bytes that the process holds, but for what threads have not added yet.
static HELD: AtomicIsize = AtomicIsize::new(0);
/// The bytes at which the process ends.
static HELD_MAX: AtomicIsize = AtomicIsize::new(isize::MAX);
/// Whether the process is ending, which may allocate a little.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// A thread adds its changes to the sum when they exceed this many bytes, because atomic additions
/// would take a tenth of a turn. A thread that ends loses at most as much.
const PORTION_BYTES: isize = 4096;

thread_local! {
    /// The changes of this thread that are not in the sum yet.
    static CHANGES: Cell<isize> = const { Cell::new(0) };
    /// Whether this thread ends the process; all others wait for that.
    static IS_ENDER: Cell<bool> = const { Cell::new(false) };
}

/// Returns the bytes that the process holds.
pub fn bytes_held() -> u64 {
    u64::try_from(HELD.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Lets the process hold this many bytes more than now, and end when it would exceed them.
pub fn end_beyond(bytes_further: u64) {
    let further = isize::try_from(bytes_further).unwrap_or(isize::MAX);
    let max = HELD.load(Ordering::Relaxed).saturating_add(further);
    HELD_MAX.store(max, Ordering::Relaxed);
}

// SAFETY: each method passes its arguments on to mimalloc, or to `large` by the layout alone; both
// keep the contract of the trait; the counting neither allocates nor unwinds.
// No method is `#[inline]`: those would be compiled with the command, as little optimised as it.
unsafe impl GlobalAlloc for CountedMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if large::is_large(layout) {
            return given(large::allocate(layout.size()), layout.size());
        }
        // SAFETY: the caller keeps the contract.
        given(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if large::is_large(layout) {
            return given(large::allocate_zeroed(layout.size()), layout.size());
        }
        // SAFETY: the caller keeps the contract.
        given(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        if large::is_large(layout) {
            // SAFETY: the block was made as a large one, because of its layout.
            return unsafe { large::free(pointer, layout.size()) };
        }
        // SAFETY: the caller keeps the contract.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that the size is allowed with this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let moved = match (large::is_large(layout), large::is_large(new_layout)) {
            // SAFETY: the caller keeps the contract.
            (false, false) => unsafe { MiMalloc.realloc(pointer, layout, new_size) },
            // SAFETY: the block was made as a large one, because of its layout.
            (true, true) => unsafe { large::reallocate(pointer, layout.size(), new_size) },
            (true, false) | (false, true) => {
                // SAFETY: the caller keeps the contract; both blocks have the copied bytes.
                return unsafe {
                    let moved = self.alloc(new_layout);
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(pointer, layout.size().min(new_size));
                        self.dealloc(pointer, layout);
                    }
                    moved
                };
            }
        };
        let moved = given(moved, new_size);
        count(-signed(layout.size()));
        moved
    }
}

/// Counts what mimalloc gave, and ends the process if it gave nothing.
fn given(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end(&format_args!("the system refuses Duet {bytes} further bytes of memory"));
    }
    count(signed(bytes));
    pointer
}

/// The size of an object; none exceeds `isize::MAX`.
fn signed(bytes: usize) -> isize {
    bytes.cast_signed()
}

fn count(change: isize) {
    let added = CHANGES.try_with(|changes| {
        let sum = changes.get() + change;
        let is_small = sum.abs() < PORTION_BYTES;
        changes.set(if is_small { sum } else { 0 });
        if is_small { 0 } else { sum }
    });
    // A thread that is ending has no place for its changes any more.
    let added = added.unwrap_or(change);
    if added != 0 {
        let held = HELD.fetch_add(added, Ordering::Relaxed) + added;
        if added > 0 && held > HELD_MAX.load(Ordering::Relaxed) {
            end(&format_args!(
                "Duet itself would take more than {held} bytes of memory for this run"
            ));
        }
    }
}

/// Ends the process with a message. It takes no memory itself.
#[cold]
#[expect(
    clippy::disallowed_methods,
    reason = "nobody above can be told; a store that is not synced is sound"
)]
fn end(what: &std::fmt::Arguments<'_>) {
    let is_first = !IS_ENDING.swap(true, Ordering::Relaxed);
    if IS_ENDER.try_with(|ender| ender.replace(is_first || ender.get())) == Ok(true) {
        // The end of the process takes memory: at a limit of Duet's own there is some left.
        return;
    }
    if !is_first {
        loop {
            std::thread::yield_now();
        }
    }
    let mut text = [0_u8; 1024];
    let mut cursor = Cursor::new(&mut text[..]);
    let written = writeln!(
        cursor,
        "error: {what}\n |\n = note: all durable turns are in the journal, and no effect of any other turn has left\n \
         = help: `duet resume RUN` goes on after the last durable turn\n = help: `duet run PROGRAM --memory-limit \
         SIZE` stops a program before the system does; `ulimit -v` shows the system's limit"
    );
    let length = usize::try_from(cursor.position()).unwrap_or(0);
    if written.is_ok() {
        // Whoever closed standard error does not want to know.
        let _ = rustix::io::write(std::io::stderr(), &text[..length]);
    }
    std::process::exit(i32::from(EXIT_CODE));
}
