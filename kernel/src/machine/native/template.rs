//! The templates: for each instruction, the machine code that does the same.
//!
//! Owns the list of files, which is that of the instructions' methods in `machine/execute/`.
//! Templates emit operations of the [processor](super::processor).
//! INVARIANT: a template computes what the instruction's method in `machine/execute/` computes, in
//! the same frame, with the same fuel and the same words of the heap.
//! It does not raise conditions, collect or grow the stack: for these an instruction leaves, or a
//! service executes it.
//! Read next: `machine/native/template/value.rs`.

mod bits;
mod call;
mod character;
mod jump;
mod number;
mod object;
mod port;
mod primitive;
mod value;

/// The bytes of this many words.
const fn words(count: usize) -> i32 {
    8 * count as i32
}
