//! Objects.
//!
//! INVARIANT: an object's address is the sum of the heap's first word's and the object's word; the
//! tag is part of the offset, so words of objects are loaded at offsets that are no multiples of
//! eight, which is why these are small or added before.
//! It does not know kinds of objects.
//! Read next: `machine/native/processor/aarch64/number.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{Aarch64, FREE, X16, X17, emit, scaled, words};
use crate::heap::kind::Kind;
use crate::machine::native::context;
use crate::machine::native::processor::{Emit, EmitObjects, NOTED, OBJECT_TAG, PAGE_BYTES_LOG};
use crate::value::Value;

impl Aarch64 {
    /// Sets x16 so that a part of an object is at the offset that this returns, from −256 to 255;
    /// uses x17.
    fn address(&mut self, object: u8, offset: i32) -> i32 {
        emit!(self; add x16, x21, X(object));
        if (-256..256).contains(&offset) {
            return offset;
        }
        self.add_constant(X16, X16, offset.into());
        0
    }

    /// Compares the bits of `mask` in the low half of x16; uses x17.
    fn compare_masked(&mut self, mask: u64, header: i32) {
        self.set(X17, mask);
        emit!(self; and w16, w16, w17);
        self.set(X17, u64::from(header as u32));
        emit!(self; cmp w16, w17);
    }
}

impl EmitObjects for Aarch64 {
    fn load_object(&mut self, to: u8, object: u8, offset: i32) {
        let offset = self.address(object, offset);
        emit!(self; ldur X(to), [x16, offset]);
    }

    fn load_element(&mut self, to: u8, object: u8, index: u8, offset: i32) {
        let offset = self.address(object, offset);
        emit!(self; add x16, x16, X(index); ldur X(to), [x16, offset]);
    }

    fn load_byte(&mut self, to: u8, object: u8, offset: i32) {
        let offset = self.address(object, offset);
        emit!(self; add x16, x16, x9; ldurb W(to), [x16, offset]);
    }

    fn load_four_bytes(&mut self, to: u8, object: u8, offset: i32) {
        let offset = self.address(object, offset);
        emit!(self; add x16, x16, x9, lsl 2; ldur W(to), [x16, offset]);
    }

    fn compare_object(&mut self, object: u8, offset: i32, word: u8) {
        let offset = self.address(object, offset);
        emit!(self; ldur x16, [x16, offset]; cmp x16, X(word));
    }

    fn compare_object_half(&mut self, object: u8, offset: i32, number: i32) {
        let offset = self.address(object, offset);
        emit!(self; ldur w16, [x16, offset]);
        self.set(X17, u64::from(number as u32));
        emit!(self; cmp w16, w17);
    }

    fn compare_object_byte(&mut self, object: u8, offset: i32, byte: u8) {
        let offset = self.address(object, offset);
        emit!(self; ldurb w16, [x16, offset]; cmp w16, u32::from(byte));
    }

    fn compare_kind(&mut self, kind: i32) {
        emit!(self; mov x16, x11);
        self.compare_masked(0xffff, kind);
    }

    fn compare_kind_beside(&mut self, kind: i32) {
        self.compare_kind(kind);
    }

    fn compare_header(&mut self, mask: u64, header: i32) {
        emit!(self; mov x16, x11);
        self.compare_masked(mask, header);
    }

    fn compare_header_of(&mut self, object: u8, offset: i32, mask: u64, header: i32) {
        let offset = self.address(object, offset);
        emit!(self; ldur w16, [x16, offset]);
        self.compare_masked(mask, header);
    }

    fn branch_if_number(&mut self, object: u8, label: DynamicLabel) {
        let offset = self.address(object, 1 - OBJECT_TAG);
        emit!(self; ldurb w9, [x16, offset]);
        for (one, other) in [(Kind::Ratio, Kind::Complex), (Kind::Bignum, Kind::Flonum)] {
            emit!(self; mov x16, x9);
            self.compare_masked(0xff & !(one as u64 ^ other as u64), one as i32 & other as i32);
            emit!(self; b.eq =>label);
        }
    }

    fn set_place(&mut self, object: u8, offset: i32) {
        self.add_constant(Self::C, object, offset.into());
    }

    fn set_place_at(&mut self, object: u8, index: u8, offset: i32) {
        emit!(self; add x10, X(object), X(index));
        self.add_constant(Self::C, Self::C, offset.into());
    }

    fn set_place_from_address(&mut self, offset: i32) {
        self.add_constant(Self::C, Self::C, offset.into());
        emit!(self; sub x10, x10, x21);
    }

    fn pass_barrier(&mut self, otherwise: DynamicLabel) {
        let done = self.label();
        self.compare_context(Self::C, context::BARRIER);
        emit!(self
            ; b.hs =>done
            ; lsr x16, x10, PAGE_BYTES_LOG as u32
            ; ldr x17, [x23, context::PAGE_FLAGS as u32]
            ; ldrb w16, [x17, x16]
            ; cmp w16, u32::from(NOTED as u8)
            ; b.ne =>otherwise
            ;=>done
        );
    }

    fn store(&mut self, word: u8) {
        emit!(self; str X(word), [x21, x10]);
    }

    fn store_byte(&mut self, byte: u8) {
        emit!(self; strb W(byte), [x21, x10]);
    }

    fn store_fixnum_byte(&mut self, fixnum: u8) {
        emit!(self; lsr x16, X(fixnum), 3; strb w16, [x21, x10]);
    }

    fn reserve(&mut self, count: usize, otherwise: DynamicLabel) {
        self.add_constant(Self::D, FREE, words(count));
        self.compare_context(Self::D, context::LIMIT);
        emit!(self; b.hi =>otherwise);
    }

    fn store_new(&mut self, place: usize, word: u8) {
        emit!(self; add x16, x21, x20);
        self.store_at(X16, words(place), word);
    }

    fn clear_new(&mut self, place: usize) {
        emit!(self; add x16, x21, x20);
        if let Some(offset) = scaled(words(place)) {
            emit!(self; str xzr, [x16, offset]);
        } else {
            self.set(X17, words(place) as u64);
            emit!(self; str xzr, [x16, x17]);
        }
    }

    fn store_both_new(&mut self, first: u8, second: u8) {
        emit!(self; add x16, x21, x20; stp X(first), X(second), [x16]);
    }

    fn finish_new(&mut self, to: u8, tag: i32) {
        emit!(self; add XSP(to), x20, tag as u32; mov x20, x11);
    }

    fn make_character(&mut self, word: u8) {
        self.set(X16, Value::character('\0').to_bits());
        emit!(self; orr X(word), x16, X(word), lsl 32);
    }

    fn compare_characters(&mut self, left: u8, right: u8) {
        emit!(self
            ; lsr x16, X(left), 32
            ; lsr x17, X(right), 32
            ; cmp x16, x17
        );
    }
}
