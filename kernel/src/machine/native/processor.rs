//! What the templates ask of a processor.
//!
//! Owns the list of operations of which templates are made: moves and branches as every processor
//! has them, and the short protocols of the runtime (fuel, room for objects, the write barrier,
//! calls) that each processor does in its own way. Templates are written once; a processor is one
//! implementation of these traits. Its own set of templates would be a copy of what each
//! instruction means, which only tests could keep equal.
//! INVARIANT: an operation changes the registers that it names and the flags, and nothing else but
//! registers that the templates do not know. A branch is decided by the flags of the operation
//! before it.
//! It does not know instructions.
//! Read next: `machine/native/processor/x86_64.rs`.

mod aarch64;
mod x86_64;

use dynasmrt::DynamicLabel;

use super::SLOTS;
use crate::heap::kind::{Header, Kind};
use crate::value::{Immediate, Value};

pub(super) use aarch64::Aarch64;
pub(super) use x86_64::X86_64;

/// The processor that this program runs on; on others nothing runs as machine code.
#[cfg(target_arch = "aarch64")]
pub(super) type Host = Aarch64;
/// The processor that this program runs on; on others nothing runs as machine code.
#[cfg(not(target_arch = "aarch64"))]
pub(super) type Host = X86_64;

/// The tag that a pair's word has.
pub(super) const PAIR_TAG: i32 = 2;
/// The tag that a procedure object's word has.
pub(super) const PROCEDURE_TAG: i32 = 3;
/// The tag that another object's word has.
pub(super) const OBJECT_TAG: i32 = 6;
/// The binary logarithm of the bytes of a page.
const PAGE_BYTES_LOG: i8 = 9;
/// The flags of a page to which writes need no barrier.
const NOTED: i8 = crate::heap::PAGE_NOTED as i8;
/// The header of a boxed flonum.
const BOXED_FLONUM: Value = Header::new(Kind::Flonum, size_of::<f64>() as u32).to_value();
/// What leaves for the entry in place of a result; no register of a frame has it.
const LEAVING: Value = Value::immediate(Immediate::Header, 0, 0);

/// What a branch depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Equal,
    NotEqual,
    /// Of numbers without a sign.
    Below,
    BelowEqual,
    Above,
    AboveEqual,
    /// Of numbers with a sign.
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// The result has no room.
    Overflow,
}

/// A relation between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessEqual,
    Equal,
    Greater,
    GreaterEqual,
}

impl Relation {
    /// The condition between two fixnums; the opposite if `sense` is false.
    pub(super) fn signed(self, sense: bool) -> Condition {
        match (self, sense) {
            (Relation::Less, true) | (Relation::GreaterEqual, false) => Condition::Less,
            (Relation::Less, false) | (Relation::GreaterEqual, true) => Condition::GreaterEqual,
            (Relation::LessEqual, true) | (Relation::Greater, false) => Condition::LessEqual,
            (Relation::LessEqual, false) | (Relation::Greater, true) => Condition::Greater,
            (Relation::Equal, true) => Condition::Equal,
            (Relation::Equal, false) => Condition::NotEqual,
        }
    }

    /// The condition between two characters; the opposite if `sense` is false.
    pub(super) fn unsigned(self, sense: bool) -> Condition {
        match (self, sense) {
            (Relation::Less, true) | (Relation::GreaterEqual, false) => Condition::Below,
            (Relation::Less, false) | (Relation::GreaterEqual, true) => Condition::AboveEqual,
            (Relation::LessEqual, true) | (Relation::Greater, false) => Condition::BelowEqual,
            (Relation::LessEqual, false) | (Relation::Greater, true) => Condition::Above,
            (Relation::Equal, true) => Condition::Equal,
            (Relation::Equal, false) => Condition::NotEqual,
        }
    }
}

/// An operation on flonums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlonumOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Where the instructions at the beginning of the memory are, and where they end.
#[derive(Clone, Copy)]
pub(super) struct Stubs {
    /// By [`Slot`](super::Slot).
    pub(super) starts: [usize; SLOTS],
    pub(super) end: usize,
}

/// Registers, words and branches.
pub(super) trait Emit: Sized + 'static {
    /// A register that is free within an instruction; the callee at a call.
    const A: u8;
    /// Another: the position at a jump through the table, and the place of a write.
    const C: u8;
    /// Another: the header of an object, and the end of one that is made.
    const D: u8;
    /// The register that has the result at a return; one of the pool.
    const RESULT: u8;
    /// The registers that have the first registers of the frame at the beginning of a block; they
    /// are of the pool.
    const FIRST: [u8; 4];
    /// The registers that may hold copies of words of the frame. Calls do not keep them.
    const POOL: &'static [u8];

    /// Machine code that is to run at `address`.
    fn new(address: usize) -> Self;
    /// The machine code. `None` if a branch does not reach its label.
    fn finish(self) -> Option<Vec<u8>>;
    /// The bytes so far.
    fn offset_bytes(&self) -> usize;
    /// A label that is placed later.
    fn label(&mut self) -> DynamicLabel;
    fn place(&mut self, label: DynamicLabel);

    fn jump(&mut self, label: DynamicLabel);
    fn branch(&mut self, condition: Condition, label: DynamicLabel);

    fn copy(&mut self, to: u8, from: u8);
    fn set(&mut self, to: u8, bits: u64);
    fn shift_left(&mut self, to: u8, from: u8, bits: u8);
    fn shift_right(&mut self, to: u8, from: u8, bits: u8);
    fn shift_right_signed(&mut self, to: u8, from: u8, bits: u8);
    /// Takes one from the low half of D, for a branch on [`Condition::NotEqual`] to zero.
    fn count_down(&mut self);

    /// Loads a register of the frame.
    fn load_frame(&mut self, to: u8, register: usize);
    fn store_frame(&mut self, register: usize, from: u8);
    /// Loads a word of the [context](super::context).
    fn load_context(&mut self, to: u8, field: i8);
    /// Loads the word at this distance from an address.
    fn load_word(&mut self, to: u8, address: u8, offset: i32);

    fn compare(&mut self, left: u8, right: u8);
    fn compare_number(&mut self, left: u8, number: i32);
    /// Uses A.
    fn compare_value(&mut self, left: u8, value: Value);
    /// Compares the word at this distance from the address in C.
    fn compare_word(&mut self, offset: i32, word: u8);
    fn test_zero(&mut self, word: u8);
    /// Equal if the word is a fixnum.
    fn test_fixnum(&mut self, word: u8);
    /// Equal if both are fixnums; uses A.
    fn test_fixnums(&mut self, left: u8, right: u8);
    /// Equal if the word has this tag; uses C.
    fn test_tag(&mut self, word: u8, tag: i32);
    /// Equal if the word is a character; uses A.
    fn test_character(&mut self, word: u8);
}

/// Objects. An object is named by its word, and `offset` is that of a word or byte of it, less the
/// tag.
pub(super) trait EmitObjects: Emit {
    fn load_object(&mut self, to: u8, object: u8, offset: i32);
    /// Loads the word at the index, a fixnum.
    fn load_element(&mut self, to: u8, object: u8, index: u8, offset: i32);
    /// Loads the byte at the index in A.
    fn load_byte(&mut self, to: u8, object: u8, offset: i32);
    /// Loads the four bytes at the index in A, which counts fours.
    fn load_four_bytes(&mut self, to: u8, object: u8, offset: i32);
    fn compare_object(&mut self, object: u8, offset: i32, word: u8);
    fn compare_object_half(&mut self, object: u8, offset: i32, number: i32);
    fn compare_object_byte(&mut self, object: u8, offset: i32, byte: u8);
    /// Compares the kind in the header in D; uses A.
    fn compare_kind(&mut self, kind: i32);
    /// The same; uses C.
    fn compare_kind_beside(&mut self, kind: i32);
    /// Compares some bits of the low half of the header in D; uses A.
    fn compare_header(&mut self, mask: u64, header: i32);
    /// Compares some bits of the low half of an object's header; uses A.
    fn compare_header_of(&mut self, object: u8, offset: i32, mask: u64, header: i32);
    /// Branches if the object may equal another of the same type; uses A and C.
    fn branch_if_number(&mut self, object: u8, label: DynamicLabel);

    /// Sets C to the place in the heap of a part of an object.
    fn set_place(&mut self, object: u8, offset: i32);
    /// The same, at an index in bytes.
    fn set_place_at(&mut self, object: u8, index: u8, offset: i32);
    /// The same, from the address in C.
    fn set_place_from_address(&mut self, offset: i32);
    /// Branches unless a write at the place in C passes the barrier; uses A and D.
    fn pass_barrier(&mut self, otherwise: DynamicLabel);
    /// Writes at the place in C.
    fn store(&mut self, word: u8);
    fn store_byte(&mut self, byte: u8);
    /// Writes a fixnum as a byte at the place in C; uses A.
    fn store_fixnum_byte(&mut self, fixnum: u8);

    /// Branches unless `words` words are free; D is then the place behind them.
    fn reserve(&mut self, words: usize, otherwise: DynamicLabel);
    /// Writes a word of the object that is being made.
    fn store_new(&mut self, place: usize, word: u8);
    fn clear_new(&mut self, place: usize);
    /// Writes both words of the object that is being made.
    fn store_both_new(&mut self, first: u8, second: u8);
    /// The word of the object that has been made, which ends at the place in D.
    fn finish_new(&mut self, to: u8, tag: i32);

    /// Makes a character of the low bits of a register.
    fn make_character(&mut self, word: u8);
    /// Compares two characters; uses A and C.
    fn compare_characters(&mut self, left: u8, right: u8);
}

/// Numbers.
pub(super) trait EmitNumbers: Emit {
    /// The sum of two words, or overflow.
    fn add(&mut self, to: u8, left: u8, right: u8);
    fn add_number(&mut self, to: u8, left: u8, number: i32);
    fn subtract(&mut self, to: u8, left: u8, right: u8);
    fn negate(&mut self, to: u8, word: u8);
    /// The bits that are set in both words.
    fn and(&mut self, to: u8, left: u8, right: u8);
    /// The bits that are set in at least one of both words.
    fn or(&mut self, to: u8, left: u8, right: u8);
    /// The bits that are set in one of both words.
    fn exclusive_or(&mut self, to: u8, left: u8, right: u8);
    /// Shifts by the number of bits in C, which is below 64.
    fn shift_left_by_count(&mut self, to: u8, from: u8);
    /// The same, with copies of the sign.
    fn shift_right_signed_by_count(&mut self, to: u8, from: u8);
    /// The product of two fixnums; branches if the product is no fixnum.
    fn multiply(&mut self, to: u8, left: u8, right: u8, otherwise: DynamicLabel);
    /// A is the quotient of two fixnums as an integer, D their remainder as a fixnum.
    fn divide(&mut self, dividend: u8, divisor: u8);
    /// The fixnum of an integer, without regard for what has no room.
    fn make_fixnum(&mut self, to: u8, integer: u8);
    /// Branches if D has the same sign as the word; uses D.
    fn branch_if_same_sign(&mut self, word: u8, label: DynamicLabel);

    /// Loads the bias of flonums into C and the set of their tags into D.
    fn set_flonum_constants(&mut self);
    /// Branches if the word is a flonum, with the set of tags in D.
    fn branch_if_flonum(&mut self, word: u8, label: DynamicLabel);
    /// Loads a word as the left (0) or right (1) operand; branches unless it is a flonum. C and D
    /// have the constants; uses A.
    fn load_flonum(&mut self, operand: u8, word: u8, otherwise: DynamicLabel);
    /// Loads an integer as the right operand; uses A.
    fn load_right_integer(&mut self, integer: i16);
    /// Loads a fixnum as the left operand; uses A.
    fn load_left_fixnum(&mut self, fixnum: u8);
    /// Loads the words in A and D as the operands; branches unless each is an immediate or boxed
    /// flonum or a fixnum that a flonum equals. C and D then have the constants; uses A.
    fn load_numbers(&mut self, otherwise: DynamicLabel);
    /// The left operand becomes the result.
    fn compute_flonum(&mut self, operation: FlonumOperation);
    /// The left operand, if it is above zero, becomes its root.
    fn compute_root(&mut self, otherwise: DynamicLabel);
    /// Moves the bits of the left operand into A.
    fn take_flonum(&mut self);
    /// Changes the sign of the number in A.
    fn flip_sign(&mut self);
    /// Makes a word of the number in A; branches unless it is an immediate flonum. C and D have the
    /// constants.
    fn make_flonum(&mut self, to: u8, otherwise: DynamicLabel);
    /// Makes a boxed flonum of the left operand; branches if it is not a number, or there is no
    /// room. Uses A and D.
    fn box_flonum(&mut self, to: u8, otherwise: DynamicLabel);
    /// Jumps to the target on a relation between both operands, or on its opposite if `sense` is
    /// false; may jump to `next` otherwise. A relation with something that is no number is false.
    fn branch_on_flonums(&mut self, relation: Relation, sense: bool, target: DynamicLabel, next: DynamicLabel);
}

/// Fuel, frames, calls and exits.
pub(super) trait EmitCalls: Emit {
    /// Counts one unit of fuel; branches if there was none.
    fn burn(&mut self, otherwise: DynamicLabel);
    /// Takes back one unit of fuel.
    fn refuel(&mut self);
    /// Pays a unit of fuel for each 2^`shift` steps that D has counted down from `steps_max`;
    /// branches if there is less, and pays nothing then. Uses A.
    fn pay_for_steps(&mut self, steps_max: u64, shift: u8, otherwise: DynamicLabel);
    /// Leaves for the interpreter at a position.
    fn exit(&mut self, position: u32);
    /// Lets a [service](super::service) go on at a position.
    fn exit_to(&mut self, service: usize, position: u32);
    fn set_position(&mut self, position: u32);
    fn set_argument_count(&mut self, count: usize);
    fn compare_argument_count(&mut self, count: usize);

    /// Loads into C the code word of the procedure in A; branches if it is no procedure object.
    fn load_code_word(&mut self, otherwise: DynamicLabel);
    /// Compares the number of parameters in the code word in C.
    fn compare_parameters(&mut self, count: u8);
    /// Branches unless words up to this register are below the stack's limit; uses D.
    fn expect_room(&mut self, end: usize, otherwise: DynamicLabel);
    /// The same for a frame of the size in the code word in C, from this register on.
    fn expect_room_for_callee(&mut self, first: usize, otherwise: DynamicLabel);
    /// The same for a frame of that size or of the arguments, whatever is more.
    fn expect_room_for_arguments(&mut self, first: usize, count: usize, otherwise: DynamicLabel);
    /// Makes this register the frame's first.
    fn enter_frame(&mut self, register: usize);
    /// Undoes [`EmitCalls::enter_frame`].
    fn leave_frame(&mut self, register: usize);

    fn call(&mut self, label: DynamicLabel);
    fn jump_to(&mut self, position: u32);
    fn call_to(&mut self, position: u32);
    /// Jumps to the position in the code word in C.
    fn jump_to_callee(&mut self);
    fn call_callee(&mut self);
    /// Returns to after the call.
    fn return_to_caller(&mut self);

    /// Returns register 0, at the bottom of the stack, into the newest frame below. What needs more
    /// goes on behind, where Rust does it; a processor may leave all to Rust.
    fn underflow(&mut self) {}
    /// Enters the continuation in register 0 with one value, in the same way.
    fn enter_continuation(&mut self) {}

    /// Makes the list of the arguments after the required ones, from the last to the first; leaves
    /// if a required one is missing, or there is no room. Uses A, C and D.
    fn collect_rest(&mut self, required: usize, otherwise: DynamicLabel);
    /// Calls a primitive by [`service::call_primitive`](super::service::call_primitive) and pays
    /// for it; branches if there is something else to do.
    fn call_primitive(&mut self, first: usize, count: usize, number: u32, otherwise: DynamicLabel);

    /// The entry, at the beginning, and the exits.
    fn stubs() -> Option<(Vec<u8>, Stubs)>;
}

/// A processor.
pub(super) trait Processor: EmitObjects + EmitNumbers + EmitCalls {}

impl<P: EmitObjects + EmitNumbers + EmitCalls> Processor for P {}
