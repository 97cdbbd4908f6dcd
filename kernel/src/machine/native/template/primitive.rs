//! The template of calls of primitives, and the work in line of those that programs call most.
//!
//! INVARIANT: before machine code calls Rust, the heap knows every object that machine code has
//! made, and afterwards machine code loads the heap's words anew.
//! INVARIANT: what is in line computes what the primitive does, in objects of the same words; where
//! the primitive would fail or needs more, machine code calls it.
//! It does not finish calls that fail or after which a collection is due; Rust does.
//! Read next: `machine/native/service.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::object::{PAIR_TAG, header_bits};
use super::value::OBJECT_TAG;
use crate::heap::KIND_AND_MUTABILITY_MASK;
use crate::heap::kind::{Header, Kind, padded, record, record_type};
use crate::instruction::Instruction;
use crate::machine::native::assembler::{Assembler, displacement, emit};
use crate::machine::native::{context, service};
use crate::primitive::PrimitiveBody;
use crate::value::{Immediate, Value};

/// Lists longer than this are searched by the primitive, which looks for cycles.
const PAIRS_MAX: i32 = 1024;

/// Objects with more fields are made by the primitive.
const FIELDS_MAX: usize = 16;

/// Applies a primitive to the words in these registers of the frame; branches to the label where
/// the primitive has to be called. Returns the processor register with the result.
type Inline<'a> = fn(&mut Assembler<'a>, Call, DynamicLabel) -> u8;

/// The call of a primitive.
#[derive(Clone, Copy)]
struct Call {
    /// The first register of the frame with an argument, which receives the result.
    first: usize,
    count: usize,
    number: u32,
}

impl<'a> Assembler<'a> {
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
        match Assembler::inline_of(primitive.name, call.count) {
            Some(inline) => self.call_in_line(call, inline),
            None => {
                self.call_function(call);
                self.registers.clear();
            }
        }
    }

    /// The inline code for a primitive with this many arguments, if there is any.
    fn inline_of(name: &str, count: usize) -> Option<Inline<'a>> {
        Some(match (name, count) {
            ("vector", 1..FIELDS_MAX) => Assembler::make_vector,
            ("%make-record", 1..FIELDS_MAX) => Assembler::make_record,
            ("string-set!", 3) => Assembler::string_set,
            ("char->integer", 1) => Assembler::character_to_integer,
            ("number?", 1) => Assembler::is_number,
            ("assq", 2) => Assembler::associate,
            ("-", 1) => Assembler::negate,
            ("sqrt", 1) => Assembler::square_root,
            ("inexact", 1) => Assembler::inexact,
            _ => return None,
        })
    }

    /// Calls Rust.
    fn call_function(&mut self, call: Call) {
        let finish = self.finish();
        emit!(self
            ; mov [BYTE r14 + context::TOP], rbp
            ; mov rdi, r14
            ; lea rsi, [rbx + displacement(call.first)]
            ; mov edx, call.count as i32
            ; mov ecx, call.number as i32
            ; mov rax, QWORD service::call_primitive as *const () as i64
            // Rust needs a stack that is aligned to 16 bytes.
            ; mov [BYTE r14 + context::CALLER_STACK], rsp
            ; and rsp, -16
            ; call rax
            ; mov rsp, [BYTE r14 + context::CALLER_STACK]
            ; mov r12, [BYTE r14 + context::HEAP]
            ; mov rbp, [BYTE r14 + context::TOP]
            ; test eax, eax
            ; jz =>finish
        );
    }

    /// Applies a primitive in line; behind the block it is called where that is not enough.
    fn call_in_line(&mut self, call: Call, inline: Inline<'a>) {
        let (slow, done) = (self.label(), self.label());
        let result = inline(self, call, slow);
        self.write(call.first, result);
        emit!(self; =>done);
        let (position, copies) = (self.position, self.registers.copies());
        self.cold_at(slow, move |assembler| {
            assembler.position = position;
            assembler.call_function(call);
            // Control can also come in here.
            assembler.enter_next();
            for (register, processor) in copies {
                assembler.fetch(processor, register);
            }
            emit!(assembler; jmp =>done);
        });
    }

    /// Makes an object of the words in registers of the frame; rdx is the offset behind it.
    fn make_object(&mut self, kind: Kind, (first, count): (usize, usize)) -> u8 {
        let header = Header::new(kind, count as u32).to_value();
        self.load(0, header);
        emit!(self; mov [r12 + rbp], rax);
        if padded(1 + count) != 1 + count {
            emit!(self; mov QWORD [r12 + rbp + displacement(1 + count)], 0);
        }
        for place in 0..count {
            self.registers.unpin();
            let word = self.read(first + place);
            emit!(self; mov [r12 + rbp + displacement(1 + place)], Rq(word));
        }
        let result = self.result();
        emit!(self; lea Rq(result), [rbp + OBJECT_TAG]; mov rbp, rdx);
        result
    }

    fn make_vector(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        self.reserve_or(padded(1 + call.count), slow);
        self.make_object(Kind::Vector, (call.first, call.count))
    }

    fn make_record(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        const { assert!(record::LABEL == 0 && record::FIELDS == 1) };
        let record_type = self.read(call.first);
        self.expect_kind(record_type, Kind::RecordType, slow);
        emit!(self
            ; mov rax, [r12 + Rq(record_type) + displacement(1 + record_type::FIELD_NAMES) - OBJECT_TAG]
            ; cmp DWORD [r12 + rax + 4 - OBJECT_TAG], call.count as i32 - 1
            ; jne =>slow
        );
        self.reserve_or(padded(1 + call.count), slow);
        self.make_object(Kind::Record, (call.first, call.count))
    }

    fn string_set(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (string, index) = (self.read(call.first), self.read(call.first + 1));
        let (character, result) = (self.read(call.first + 2), self.result());
        self.expect_object(string, slow);
        emit!(self
            ; mov eax, [r12 + Rq(string) - OBJECT_TAG]
            ; and eax, KIND_AND_MUTABILITY_MASK as i32
            ; cmp eax, header_bits(Kind::String)
            ; jne =>slow
            ; mov Rq(result), [r12 + Rq(string) + 8 - OBJECT_TAG]
            ; mov rdx, [r12 + Rq(result) - OBJECT_TAG]
            ; movzx ecx, dx
            ; cmp ecx, header_bits(Kind::NarrowCharacters)
            ; jne =>slow
            ; shr rdx, 32
        );
        self.expect_index(index, slow);
        emit!(self
            ; lea rcx, [Rq(result) + rax + 8 - OBJECT_TAG]
            ; mov Rq(result), Rq(character)
            ; shr Rq(result), 32
            ; cmp Rd(result), 0x7f
            ; ja =>slow
            ; movzx eax, Rb(character)
            ; cmp eax, Immediate::Character as i32
            ; jne =>slow
        );
        self.pass_barrier(slow);
        emit!(self; mov [r12 + rcx], Rb(result));
        self.load(result, Value::UNSPECIFIED);
        result
    }

    fn character_to_integer(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (character, result) = (self.read(call.first), self.result());
        emit!(self
            ; movzx eax, Rb(character)
            ; cmp eax, Immediate::Character as i32
            ; jne =>slow
            ; mov Rq(result), Rq(character)
            ; shr Rq(result), 32
            ; shl Rq(result), 3
        );
        result
    }

    /// An object is looked at by the primitive.
    fn is_number(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (word, result, done) = (self.read(call.first), self.result(), self.label());
        self.load(result, Value::TRUE);
        self.load(2, Value::from_bits(crate::value::FLONUM_TAGS));
        emit!(self; test Rd(word), 7; jz =>done; bt rdx, Rq(word); jc =>done);
        emit!(self; lea ecx, [Rq(word) - OBJECT_TAG]; test cl, 7; jz =>slow);
        self.load(result, Value::FALSE);
        emit!(self; =>done);
        result
    }

    /// Searches a list of pairs.
    fn associate(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (key, list, result) = (self.read(call.first), self.read(call.first + 1), self.result());
        let (next, end, found) = (self.label(), self.label(), self.label());
        emit!(self
            ; mov rax, Rq(list)
            ; mov edx, PAIRS_MAX
            ;=>next
            ; lea ecx, [rax - PAIR_TAG]
            ; test cl, 7
            ; jnz =>end
            ; mov Rq(result), [r12 + rax - PAIR_TAG]
            ; lea ecx, [Rq(result) - PAIR_TAG]
            ; test cl, 7
            ; jnz =>slow
            ; cmp [r12 + Rq(result) - PAIR_TAG], Rq(key)
            ; je =>found
            ; mov rax, [r12 + rax + 8 - PAIR_TAG]
            ; dec edx
            ; jnz =>next
            ; jmp =>slow
            ;=>end
        );
        self.load(result, Value::NIL);
        emit!(self; cmp rax, Rq(result); jne =>slow);
        self.load(result, Value::FALSE);
        emit!(self; =>found);
        result
    }

    fn negate(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        let (fixnum, done) = (self.label(), self.label());
        emit!(self; test Rd(number), 7; jz =>fixnum);
        self.load_flonum(number, slow);
        emit!(self; movq rax, xmm0; btc rax, 63);
        self.store_flonum(result, slow);
        emit!(self
            ; jmp =>done
            ;=>fixnum
            ; mov Rq(result), Rq(number)
            ; neg Rq(result)
            ; jo =>slow
            ;=>done
        );
        result
    }

    /// The root of a flonum above zero.
    fn square_root(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        self.load_flonum(number, slow);
        emit!(self
            ; xorps xmm1, xmm1
            ; ucomisd xmm0, xmm1
            ; jbe =>slow
            ; sqrtsd xmm0, xmm0
            ; movq rax, xmm0
        );
        self.store_flonum(result, slow);
        result
    }

    /// The flonum of a fixnum.
    fn inexact(&mut self, call: Call, slow: DynamicLabel) -> u8 {
        let (number, result) = (self.read(call.first), self.result());
        emit!(self
            ; test Rd(number), 7
            ; jnz =>slow
            ; mov rax, Rq(number)
            ; sar rax, 3
            ; cvtsi2sd xmm0, rax
            ; movq rax, xmm0
        );
        self.load_flonum_constants();
        self.store_flonum(result, slow);
        result
    }
}
