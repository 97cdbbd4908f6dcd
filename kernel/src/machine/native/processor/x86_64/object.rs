//! Objects.
//!
//! INVARIANT: an object's address is the heap's first word's and the object's word; the tag is part
//! of the displacement.
//! It does not know kinds of objects.
//! Read next: `machine/native/processor/x86_64/number.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::{X86_64, displacement, emit};
use crate::heap::kind::Kind;
use crate::machine::native::context;
use crate::machine::native::processor::{Emit, EmitObjects, NOTED, OBJECT_TAG, PAGE_BYTES_LOG};
use crate::value::Value;

impl EmitObjects for X86_64 {
    fn load_object(&mut self, to: u8, object: u8, offset: i32) {
        emit!(self; mov Rq(to), [r12 + Rq(object) + offset]);
    }

    fn load_element(&mut self, to: u8, object: u8, index: u8, offset: i32) {
        emit!(self
            ; lea rax, [r12 + Rq(object) + offset]
            ; mov Rq(to), [rax + Rq(index)]
        );
    }

    fn load_byte(&mut self, to: u8, object: u8, offset: i32) {
        emit!(self
            ; lea Rq(to), [r12 + Rq(object) + offset]
            ; movzx Rd(to), BYTE [Rq(to) + rax]
        );
    }

    fn load_four_bytes(&mut self, to: u8, object: u8, offset: i32) {
        emit!(self
            ; lea Rq(to), [r12 + Rq(object) + offset]
            ; mov Rd(to), DWORD [Rq(to) + rax * 4]
        );
    }

    fn compare_object(&mut self, object: u8, offset: i32, word: u8) {
        emit!(self; cmp [r12 + Rq(object) + offset], Rq(word));
    }

    fn compare_object_half(&mut self, object: u8, offset: i32, number: i32) {
        emit!(self; cmp DWORD [r12 + Rq(object) + offset], number);
    }

    fn compare_object_byte(&mut self, object: u8, offset: i32, byte: u8) {
        emit!(self; cmp BYTE [r12 + Rq(object) + offset], byte as i8);
    }

    fn compare_kind(&mut self, kind: i32) {
        emit!(self; movzx eax, dx; cmp eax, kind);
    }

    fn compare_kind_beside(&mut self, kind: i32) {
        emit!(self; movzx ecx, dx; cmp ecx, kind);
    }

    fn compare_header(&mut self, mask: u64, header: i32) {
        emit!(self; mov eax, edx; and eax, mask as i32; cmp eax, header);
    }

    fn compare_header_of(&mut self, object: u8, offset: i32, mask: u64, header: i32) {
        emit!(self
            ; mov eax, [r12 + Rq(object) + offset]
            ; and eax, mask as i32
            ; cmp eax, header
        );
    }

    fn branch_if_number(&mut self, object: u8, label: DynamicLabel) {
        emit!(self
            ; movzx eax, BYTE [r12 + Rq(object) + 1 - OBJECT_TAG]
            ; mov ecx, eax
            ; and ecx, !(Kind::Ratio as i32 ^ Kind::Complex as i32)
            ; cmp ecx, Kind::Ratio as i32 & Kind::Complex as i32
            ; je =>label
            ; and eax, !(Kind::Bignum as i32 ^ Kind::Flonum as i32)
            ; cmp eax, Kind::Bignum as i32 & Kind::Flonum as i32
            ; je =>label
        );
    }

    fn set_place(&mut self, object: u8, offset: i32) {
        emit!(self; lea rcx, [Rq(object) + offset]);
    }

    fn set_place_at(&mut self, object: u8, index: u8, offset: i32) {
        emit!(self; lea rcx, [Rq(object) + Rq(index) + offset]);
    }

    fn set_place_from_address(&mut self, offset: i32) {
        emit!(self; add rcx, offset; sub rcx, r12);
    }

    fn pass_barrier(&mut self, otherwise: DynamicLabel) {
        let done = self.label();
        emit!(self
            ; cmp rcx, [BYTE r14 + context::BARRIER]
            ; jae =>done
            ; mov rdx, rcx
            ; shr rdx, PAGE_BYTES_LOG
            ; mov rax, [BYTE r14 + context::PAGE_FLAGS]
            ; cmp BYTE [rax + rdx], NOTED
            ; jne =>otherwise
            ;=>done
        );
    }

    fn store(&mut self, word: u8) {
        emit!(self; mov [r12 + rcx], Rq(word));
    }

    fn store_byte(&mut self, byte: u8) {
        emit!(self; mov [r12 + rcx], Rb(byte));
    }

    fn store_fixnum_byte(&mut self, fixnum: u8) {
        emit!(self
            ; mov eax, Rd(fixnum)
            ; shr eax, 3
            ; mov [r12 + rcx], al
        );
    }

    fn reserve(&mut self, words: usize, otherwise: DynamicLabel) {
        emit!(self
            ; lea rdx, [rbp + displacement(words)]
            ; cmp rdx, [BYTE r14 + context::LIMIT]
            ; ja =>otherwise
        );
    }

    fn store_new(&mut self, place: usize, word: u8) {
        if place == 0 {
            emit!(self; mov [r12 + rbp], Rq(word));
        } else {
            emit!(self; mov [r12 + rbp + displacement(place)], Rq(word));
        }
    }

    fn clear_new(&mut self, place: usize) {
        emit!(self; mov QWORD [r12 + rbp + displacement(place)], 0);
    }

    fn store_both_new(&mut self, first: u8, second: u8) {
        emit!(self
            ; mov [r12 + rbp], Rq(first)
            ; mov [r12 + rbp + 8], Rq(second)
        );
    }

    fn finish_new(&mut self, to: u8, tag: i32) {
        emit!(self; lea Rq(to), [rbp + tag]; mov rbp, rdx);
    }

    fn make_character(&mut self, word: u8) {
        emit!(self
            ; shl Rq(word), 32
            ; or Rq(word), Value::character('\0').to_bits() as i32
        );
    }

    fn compare_characters(&mut self, left: u8, right: u8) {
        emit!(self
            ; mov rax, Rq(left)
            ; shr rax, 32
            ; mov rcx, Rq(right)
            ; shr rcx, 32
            ; cmp eax, ecx
        );
    }
}
