//! The template of calls of primitives, and the work in line of those that programs call most.
//!
//! INVARIANT: before machine code calls Rust, the heap knows every object that machine code has
//! made, and afterwards machine code loads the heap's words anew.
//! INVARIANT: what is in line computes what the primitive does, in objects of the same words; where
//! the primitive would fail or needs more, machine code calls it.
//! It does not finish calls that fail or after which a collection is due; Rust does.
//! Read next: `machine/native/service.rs`.

use std::ops::Range;

use dynasmrt::DynamicLabel;

use super::character::ASCII_MAX;
use super::object::header_bits;
use super::words;
use crate::heap::KIND_AND_MUTABILITY_MASK;
use crate::heap::kind::{Flags, Header, Kind, padded, record, record_type, symbol};
use crate::instruction::Instruction;
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, OBJECT_TAG, PAIR_TAG, Processor};
use crate::primitive::{PrimitiveBody, cost};
use crate::value::Value;

/// Lists that are longer are searched by the primitive, which looks for cycles and for a person who
/// stops the computation.
const PAIRS_MAX: u64 = 4096;

/// A walk costs a unit of fuel for two to the power of this many pairs.
const PAIRS_SHIFT: u8 = cost::ELEMENTS.trailing_zeros() as u8;
const _: () = assert!(cost::ELEMENTS == 1 << PAIRS_SHIFT);

/// Objects with more fields are made by the primitive.
const FIELDS_MAX: usize = 16;

/// Applies a primitive to the words in these registers of the frame; branches to the label where
/// the primitive has to be called. Returns the processor register with the result.
type Inline<'a, P> = fn(&mut Assembler<'a, P>, Call, DynamicLabel) -> u8;

/// The name of a primitive, the numbers of arguments, and what is done in line.
type InLine<'a, P> = (&'static str, Range<usize>, Inline<'a, P>);

/// The call of a primitive.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// The first register of the frame with an argument, which receives the result.
    pub(super) first: usize,
    count: usize,
    number: u32,
}

impl<'a, P: Processor> Assembler<'a, P> {
    pub(in super::super) fn call_primitive(&mut self, instruction: Instruction) {
        let call = Call {
            first: instruction.a(),
            count: instruction.d(),
            number: instruction.w(),
        };
        let primitive = &self.code.primitives()[call.number as usize];
        if !matches!(primitive.body, PrimitiveBody::Function(_)) {
            return self.leave_here();
        }
        match Self::inline_of(primitive.name, call.count) {
            Some(inline) => self.call_in_line(call, inline),
            None => {
                self.call_function(call);
                self.registers.clear();
            }
        }
    }

    /// The inline code for a primitive with this many arguments, if there is any.
    fn inline_of(name: &str, count: usize) -> Option<Inline<'a, P>> {
        let is_it = |row: &&InLine<'a, P>| row.0 == name && row.1.contains(&count);
        Self::IN_LINE.iter().find(is_it).map(|row| row.2)
    }

    /// The primitives that have inline code for some numbers of arguments.
    const IN_LINE: [InLine<'a, P>; 35] = [
        ("vector", 1..FIELDS_MAX, Self::make_vector),
        ("values", 2..FIELDS_MAX, Self::make_values),
        ("make-vector", 1..3, Self::make_filled_vector),
        ("%make-record", 1..FIELDS_MAX, Self::make_record),
        ("string-set!", 3..4, Self::string_set),
        ("char->integer", 1..2, Self::character_to_integer),
        ("symbol->string", 1..2, Self::symbol_to_string),
        ("number?", 1..2, Self::is_number),
        ("assq", 2..3, Self::associate),
        ("assv", 2..3, Self::associate_eqv),
        ("memq", 2..3, Self::member),
        ("memv", 2..3, Self::member_eqv),
        ("length", 1..2, Self::length),
        ("even?", 1..2, Self::is_even),
        ("odd?", 1..2, Self::is_odd),
        ("-", 1..2, Self::negate),
        ("sqrt", 1..2, Self::square_root),
        ("bitwise-and", 2..3, Self::bitwise_and),
        ("bitwise-ior", 2..3, Self::bitwise_or),
        ("bitwise-xor", 2..3, Self::bitwise_xor),
        ("bitwise-not", 1..2, Self::bitwise_not),
        ("arithmetic-shift", 2..3, Self::arithmetic_shift),
        ("inexact", 1..2, Self::inexact),
        ("char-alphabetic?", 1..2, Self::is_alphabetic),
        ("char-numeric?", 1..2, Self::is_numeric),
        ("char-whitespace?", 1..2, Self::is_whitespace),
        ("char-upper-case?", 1..2, Self::is_upper_case),
        ("char-lower-case?", 1..2, Self::is_lower_case),
        ("char-upcase", 1..2, Self::upcase),
        ("char-downcase", 1..2, Self::downcase),
        ("char-foldcase", 1..2, Self::downcase),
        ("digit-value", 1..2, Self::digit_value),
        ("%read-char", 1..2, Self::read_character),
        ("%peek-char", 1..2, Self::peek_character),
        ("%write-char", 2..3, Self::write_character),
    ];

    /// Calls Rust.
    fn call_function(&mut self, call: Call) {
        let finish = self.finish();
        self.out.call_primitive(call.first, call.count, call.number, finish);
    }

    /// Applies a primitive in line; behind the block it is called where that is not enough.
    fn call_in_line(&mut self, call: Call, inline: Inline<'a, P>) {
        let slow = self.label();
        let result = inline(self, call, slow);
        self.write(call.first, result);
        self.join(slow, move |assembler| assembler.call_function(call));
    }

    /// Makes an object of the words in registers of the frame; D is the place behind it.
    fn make_object(&mut self, kind: Kind, first: usize, count: usize) -> u8 {
        let header = Header::new(kind, count as u32).to_value();
        self.load(P::A, header);
        self.out.store_new(0, P::A);
        if padded(1 + count) != 1 + count {
            self.out.clear_new(1 + count);
        }
        for place in 0..count {
            self.registers.unpin();
            let word = self.read(first + place);
            self.out.store_new(1 + place, word);
        }
        let result = self.result();
        self.out.finish_new(result, OBJECT_TAG);
        result
    }

    fn make_vector(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.out.reserve(padded(1 + call.count), slow);
        self.make_object(Kind::Vector, call.first, call.count)
    }

    fn make_values(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.out.reserve(padded(1 + call.count), slow);
        self.make_object(Kind::Values, call.first, call.count)
    }

    /// Makes a vector of few elements, which costs no fuel.
    fn make_filled_vector(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        const WORDS_MAX: usize = padded(1 + FIELDS_MAX);
        let length = self.read(call.first);
        let fill = if call.count > 1 {
            self.read(call.first + 1)
        } else {
            let fill = self.result();
            self.load(fill, Value::UNSPECIFIED);
            fill
        };
        let (result, next, done) = (self.result(), self.label(), self.label());
        self.out.test_fixnum(length);
        self.out.branch(Condition::NotEqual, slow);
        self.out.compare_number(length, words(FIELDS_MAX));
        self.out.branch(Condition::Above, slow);
        self.out.reserve(WORDS_MAX, slow);
        // The header and the elements, up to a multiple of two words.
        self.out.add_number(result, length, words(2));
        self.out.shift_right(result, result, 4);
        self.out.shift_left(result, result, 4);
        self.out.add_number(P::D, P::D, -words(WORDS_MAX));
        self.out.add(P::D, P::D, result);
        self.out.shift_left(P::A, length, 29);
        self.out.add_number(P::A, P::A, header_bits(Kind::Vector));
        self.out.store_new(0, P::A);
        self.out.set(P::A, 0);
        self.out.set_place(P::D, -words(1));
        self.out.finish_new(result, OBJECT_TAG);
        // An empty vector has a word of padding, too.
        self.out.store(P::A);
        self.out.copy(P::A, length);
        self.out.place(next);
        self.out.test_zero(P::A);
        self.out.branch(Condition::Equal, done);
        self.out.set_place_at(result, P::A, -OBJECT_TAG);
        self.out.store(fill);
        self.out.add_number(P::A, P::A, -words(1));
        self.out.jump(next);
        self.out.place(done);
        result
    }

    fn make_record(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        const { assert!(record::LABEL == 0 && record::FIELDS == 1) };
        let record_type = self.read(call.first);
        self.expect_kind(record_type, Kind::RecordType, slow);
        let names = words(1 + record_type::FIELD_NAMES) - OBJECT_TAG;
        self.out.load_object(P::A, record_type, names);
        self.out
            .compare_object_half(P::A, 4 - OBJECT_TAG, call.count as i32 - 1);
        self.out.branch(Condition::NotEqual, slow);
        self.out.reserve(padded(1 + call.count), slow);
        self.make_object(Kind::Record, call.first, call.count)
    }

    fn string_set(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (string, index) = (self.read(call.first), self.read(call.first + 1));
        let (character, result) = (self.read(call.first + 2), self.result());
        self.expect_object(string, slow);
        self.out
            .compare_header_of(string, -OBJECT_TAG, KIND_AND_MUTABILITY_MASK, header_bits(Kind::String));
        self.out.branch(Condition::NotEqual, slow);
        self.out.load_object(result, string, 8 - OBJECT_TAG);
        self.out.load_object(P::D, result, -OBJECT_TAG);
        self.out.compare_kind_beside(header_bits(Kind::NarrowCharacters));
        self.out.branch(Condition::NotEqual, slow);
        self.out.shift_right(P::D, P::D, 32);
        self.expect_index(index, slow);
        self.out.set_place_at(result, P::A, 8 - OBJECT_TAG);
        self.out.shift_right(result, character, 32);
        self.out.compare_number(result, ASCII_MAX);
        self.out.branch(Condition::Above, slow);
        self.out.test_character(character);
        self.out.branch(Condition::NotEqual, slow);
        self.out.pass_barrier(slow);
        self.out.store_byte(result);
        self.load(result, Value::UNSPECIFIED);
        result
    }

    fn character_to_integer(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (character, result) = (self.read(call.first), self.result());
        self.out.test_character(character);
        self.out.branch(Condition::NotEqual, slow);
        self.out.shift_right(result, character, 32);
        self.out.shift_left(result, result, 3);
        result
    }

    /// Makes an immutable string that shares the characters of the name.
    fn symbol_to_string(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        const { assert!(symbol::STORAGE == 0 && padded(2) == 2) };
        let (name, result) = (self.read(call.first), self.result());
        self.expect_kind(name, Kind::Symbol, slow);
        self.out
            .load_object(result, name, words(1 + symbol::STORAGE) - OBJECT_TAG);
        self.out.reserve(2, slow);
        let header = Header {
            kind: Kind::String,
            flags: Flags::IMMUTABLE,
            length: 1,
        };
        self.load(P::A, header.to_value());
        self.out.store_both_new(P::A, result);
        self.out.finish_new(result, OBJECT_TAG);
        result
    }

    /// An object other than a symbol is looked at by the primitive.
    fn is_number(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (word, result) = (self.read(call.first), self.result());
        let (done, other) = (self.label(), self.label());
        self.load(result, Value::TRUE);
        self.out.set(P::D, crate::value::FLONUM_TAGS);
        self.out.test_fixnum(word);
        self.out.branch(Condition::Equal, done);
        self.out.branch_if_flonum(word, done);
        self.out.test_tag(word, OBJECT_TAG);
        self.out.branch(Condition::NotEqual, other);
        self.out.compare_object_byte(word, 1 - OBJECT_TAG, Kind::Symbol as u8);
        self.out.branch(Condition::NotEqual, slow);
        self.out.place(other);
        self.load(result, Value::FALSE);
        self.out.place(done);
        result
    }

    /// Searches a list of pairs.
    fn associate(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (key, list, result) = (self.read(call.first), self.read(call.first + 1), self.result());
        let (next, end, found, done) = (self.label(), self.label(), self.label(), self.label());
        self.out.copy(P::A, list);
        self.out.set(P::D, PAIRS_MAX);
        self.out.place(next);
        self.out.test_tag(P::A, PAIR_TAG);
        self.out.branch(Condition::NotEqual, end);
        self.out.load_object(result, P::A, -PAIR_TAG);
        self.out.test_tag(result, PAIR_TAG);
        self.out.branch(Condition::NotEqual, slow);
        self.out.compare_object(result, -PAIR_TAG, key);
        self.out.branch(Condition::Equal, found);
        self.out.load_object(P::A, P::A, 8 - PAIR_TAG);
        self.out.count_down();
        self.out.branch(Condition::NotEqual, next);
        self.out.jump(slow);
        self.out.place(end);
        self.load(result, Value::NIL);
        self.out.compare(P::A, result);
        self.out.branch(Condition::NotEqual, slow);
        self.load(result, Value::FALSE);
        self.out.jump(done);
        self.out.place(found);
        self.out.count_down();
        self.out.place(done);
        self.out.pay_for_steps(PAIRS_MAX, PAIRS_SHIFT, slow);
        result
    }

    /// The same by `eqv?`, which is `eq?` for a key that is no object.
    fn associate_eqv(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.expect_no_object(call.first, slow);
        self.associate(call, slow)
    }

    fn member_eqv(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.expect_no_object(call.first, slow);
        self.member(call, slow)
    }

    fn expect_no_object(&mut self, register: usize, slow: DynamicLabel) {
        let word = self.read(register);
        self.out.test_tag(word, OBJECT_TAG);
        self.out.branch(Condition::Equal, slow);
    }

    /// Searches a list.
    fn member(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (key, list, result) = (self.read(call.first), self.read(call.first + 1), self.result());
        let (next, end, found, done) = (self.label(), self.label(), self.label(), self.label());
        self.out.copy(result, list);
        self.out.set(P::D, PAIRS_MAX);
        self.out.place(next);
        self.out.test_tag(result, PAIR_TAG);
        self.out.branch(Condition::NotEqual, end);
        self.out.compare_object(result, -PAIR_TAG, key);
        self.out.branch(Condition::Equal, found);
        self.out.load_object(result, result, 8 - PAIR_TAG);
        self.out.count_down();
        self.out.branch(Condition::NotEqual, next);
        self.out.jump(slow);
        self.out.place(end);
        self.load(P::A, Value::NIL);
        self.out.compare(result, P::A);
        self.out.branch(Condition::NotEqual, slow);
        self.load(result, Value::FALSE);
        self.out.jump(done);
        self.out.place(found);
        self.out.count_down();
        self.out.place(done);
        self.out.pay_for_steps(PAIRS_MAX, PAIRS_SHIFT, slow);
        result
    }

    /// Counts the pairs of a list.
    fn length(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (list, result) = (self.read(call.first), self.result());
        let (next, end) = (self.label(), self.label());
        self.out.copy(P::A, list);
        self.out.set(P::D, PAIRS_MAX);
        self.out.place(next);
        self.out.test_tag(P::A, PAIR_TAG);
        self.out.branch(Condition::NotEqual, end);
        self.out.load_object(P::A, P::A, 8 - PAIR_TAG);
        self.out.count_down();
        self.out.branch(Condition::NotEqual, next);
        self.out.jump(slow);
        self.out.place(end);
        self.load(result, Value::NIL);
        self.out.compare(P::A, result);
        self.out.branch(Condition::NotEqual, slow);
        self.out.set(P::A, PAIRS_MAX);
        self.out.subtract(result, P::A, P::D);
        self.out.make_fixnum(result, result);
        self.out.pay_for_steps(PAIRS_MAX, PAIRS_SHIFT, slow);
        result
    }

    fn is_even(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.has_last_bit(call, slow, Condition::Equal)
    }

    fn is_odd(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.has_last_bit(call, slow, Condition::NotEqual)
    }

    /// Whether the last bit of a fixnum, compared with zero, meets the condition.
    fn has_last_bit(&mut self, call: Call, slow: DynamicLabel, wanted: Condition) -> u8 {
        let (number, result, done) = (self.read(call.first), self.result(), self.label());
        self.out.test_fixnum(number);
        self.out.branch(Condition::NotEqual, slow);
        self.load(result, Value::TRUE);
        self.out.shift_left(P::A, number, 60);
        self.out.test_zero(P::A);
        self.out.branch(wanted, done);
        self.load(result, Value::FALSE);
        self.out.place(done);
        result
    }

    fn negate(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        let (fixnum, done) = (self.label(), self.label());
        self.out.test_fixnum(number);
        self.out.branch(Condition::Equal, fixnum);
        self.load_flonum(number, slow);
        self.out.take_flonum();
        self.out.flip_sign();
        self.out.make_flonum(result, slow);
        self.out.jump(done);
        self.out.place(fixnum);
        self.out.negate(result, number);
        self.out.branch(Condition::Overflow, slow);
        self.out.place(done);
        result
    }

    /// The root of a flonum above zero.
    fn square_root(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        self.load_flonum(number, slow);
        self.out.compute_root(slow);
        self.out.take_flonum();
        self.out.make_flonum(result, slow);
        result
    }

    /// The flonum of a fixnum.
    fn inexact(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        self.out.test_fixnum(number);
        self.out.branch(Condition::NotEqual, slow);
        self.out.load_left_fixnum(number);
        self.out.take_flonum();
        self.out.set_flonum_constants();
        self.out.make_flonum(result, slow);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::CodeSpace;
    use crate::machine::native::processor::Host;

    #[test]
    fn what_is_done_in_line_is_a_primitive_of_that_name() {
        let code = CodeSpace::new(&[]);
        for (name, counts, _) in Assembler::<Host>::IN_LINE {
            let primitive = code.primitives().iter().find(|primitive| primitive.name == name);
            let primitive = primitive.unwrap_or_else(|| panic!("{name}"));
            assert!(matches!(primitive.body, PrimitiveBody::Function(_)), "{name}");
            assert!(counts.into_iter().all(|count| primitive.accepts(count)), "{name}");
        }
    }
}
