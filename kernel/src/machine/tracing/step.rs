//! What one instruction does to the origins of values.
//!
//! INVARIANT: an instruction that only made room, and is executed again, changes no origin.
//! Read next: `primitive.rs`, `../execute/traced.rs`.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an instruction that has no arm is traced by the roles of its operands in the table"
)]

use std::ops::Range;

use crate::code::{CodeSpace, builtin};
use crate::heap::kind::link;
use crate::heap::{Heap, Kind, Register};
use crate::instruction::{Instruction, Opcode, Role};
use crate::primitive::{Primitive, PrimitiveBody};
use crate::value::{Immediate, Value};

use super::super::frame::Frame;
use super::chain::{Loaded, continuation, newest};
use super::words::TableBefore;
use super::{HostCall, OriginId, Place, Sort, Trace};

/// What an instruction reads.
pub(in crate::machine) struct Before {
    pub(super) base: usize,
    pub(super) instruction: Instruction,
    pub(super) opcode: Opcode,
    pub(super) at: Place,
    /// The top of the heap.
    pub(super) top: usize,
    /// The procedure that it calls.
    callee: Option<Value>,
    /// The values that it reads, or passes.
    pub(super) inputs: Vec<(Value, OriginId)>,
    /// The frame that it may load, and the value that it returns to that frame.
    loaded: Option<Loaded>,
    /// The bytes that a port held.
    pub(super) pending: usize,
    /// The dictionary or the set to which it may add.
    pub(super) table: Option<TableBefore>,
}

impl Before {
    /// The primitive that the instruction calls.
    fn primitive<'a>(&self, code: &'a CodeSpace) -> Option<&'a Primitive> {
        let number = match (self.opcode, self.callee) {
            (Opcode::CallPrimitive, _) => self.instruction.w(),
            (_, Some(callee)) if callee.is_immediate(Immediate::Primitive) => callee.payload(),
            _ => return None,
        };
        code.primitives().get(number as usize)
    }
}

/// The code, and the number of arguments of the procedure that begins.
#[derive(Clone, Copy)]
struct CodeAndCount<'a> {
    code: &'a CodeSpace,
    argument_count: usize,
}

impl Trace {
    /// Notes with which values a run begins: those of a call of the procedure at `base`.
    pub(in crate::machine) fn begin(&mut self, words: &[Value], base: usize) {
        let caller = self.stack_word(base - 1);
        let position = self.origin(caller).map_or(u32::MAX, |call| call.position);
        let at = Place {
            position,
            caller: self.origin(caller).map_or(0, |call| call.caller),
        };
        let awaited = self.awaited.take();
        let passed = self.passed.take().unwrap_or_default();
        let is_answer = words.first() == Some(&builtin::returner());
        if let (true, Some(value)) = (is_answer, words.get(1)) {
            let id = match awaited {
                Some(arguments) => self.made(Sort::Answered, *value, at, &arguments),
                None => {
                    let at = Place {
                        position: u32::MAX,
                        caller: 0,
                    };
                    self.made(Sort::Given, *value, at, &[])
                }
            };
            self.set_stack(base - 1, id);
            return;
        }
        if awaited.is_none() {
            self.set_stack(base - 1, 0);
        }
        for (index, value) in words.iter().enumerate().skip(1) {
            let parts = awaited.as_deref().unwrap_or_default();
            let id = match passed.get(index - 1) {
                Some(0) => self.made(Sort::Found, *value, at, &[]),
                Some(known) => *known,
                None if awaited.is_some() => self.made(Sort::Answered, *value, at, parts),
                None => self.made(Sort::Given, *value, at, parts),
            };
            self.set_stack(base + index, id);
        }
    }

    /// Forgets the call of the host that is not answered.
    pub(in crate::machine) fn forget_call(&mut self) {
        self.awaited = None;
    }

    /// Notes that the frames of the stack have become words of the heap from `top` on.
    pub(in crate::machine) fn note_spilled(&mut self, heap: &Heap, top: usize) {
        self.note_chain(heap, heap.register(Register::Continuation), top);
    }

    fn note_chain(&mut self, heap: &Heap, mut chain: Value, top: usize) {
        while chain.is_reference() && chain.index() >= top {
            if heap.is_kind(chain, Kind::Link) {
                let segment = heap.field(chain, link::FRAMES);
                if segment.index() >= top {
                    let length = heap.object_length(segment);
                    for index in 0..length {
                        self.set_heap(segment.index() + 1 + index, self.stack_word(1 + index));
                    }
                    self.set_stack(0, self.stack_word(length));
                }
            }
            chain = heap.field(chain, link::NEXT);
        }
    }

    /// Reads what the next instruction reads.
    pub(in crate::machine) fn before(
        &mut self,
        frame: &Frame,
        heap: &Heap,
        code: &CodeSpace,
        state: (usize, usize),
    ) -> Option<Before> {
        let position = frame.pc() as u32;
        let instruction = *code.instructions().get(frame.pc())?;
        let opcode = instruction.opcode()?;
        let base = frame.base_index();
        let at = Place {
            position,
            caller: self.stack_word(base.saturating_sub(1)),
        };
        let (argument_count, remaining) = state;
        let mut before = Before {
            base,
            instruction,
            opcode,
            at,
            top: heap.free_range().start,
            callee: None,
            inputs: std::mem::take(&mut self.scratch),
            loaded: None,
            pending: 0,
            table: None,
        };
        before.inputs.clear();
        let registers = self.callee_and_operands(&mut before, frame, heap, CodeAndCount { code, argument_count })?;
        for register in registers {
            before.inputs.push(self.register(frame, register, at));
        }
        self.arguments_in_heap(&mut before, frame, heap, argument_count);
        let primitive = before.primitive(code);
        before.table = primitive.and_then(|primitive| TableBefore::read(heap, primitive.name, &before.inputs));
        let chain = match opcode {
            Opcode::Underflow => Some((heap.register(Register::Continuation), remaining)),
            Opcode::EnterContinuation => continuation(heap, frame.get(0)),
            Opcode::Throw | Opcode::ResumeComposable => continuation(heap, frame.get(1)),
            _ => None,
        };
        before.loaded = chain.and_then(|(chain, remaining)| {
            let value = before.inputs.first().map_or(0, |(_, id)| *id);
            newest(heap, chain, remaining, value)
        });
        Some(before)
    }

    /// Reads what is called and the operands that the table names; returns the registers that are
    /// read besides.
    fn callee_and_operands(
        &mut self,
        before: &mut Before,
        frame: &Frame,
        heap: &Heap,
        code: CodeAndCount<'_>,
    ) -> Option<Range<usize>> {
        let (instruction, at) = (before.instruction, before.at);
        let (a, d) = (instruction.a(), instruction.d());
        Some(match before.opcode {
            Opcode::Call | Opcode::TailCall => {
                before.callee = Some(frame.get(a + 1));
                a + 2..a + 2 + d
            }
            Opcode::CallGlobal | Opcode::TailCallGlobal => {
                let globals = heap.register(Register::Globals);
                before.callee = Some(heap.field(globals, instruction.w() as usize));
                a + 2..a + 2 + d
            }
            Opcode::CallSelf => {
                before.callee = Some(frame.get(0));
                a + 2..a + 2 + d
            }
            Opcode::CallPrimitive => a..a + d,
            Opcode::Closure => a..a + usize::from(code.code.block(instruction.w() as usize).captured),
            Opcode::ArityRest => a + 1..code.argument_count + 1,
            Opcode::Apply => {
                before.callee = Some(frame.get(1));
                2..code.argument_count
            }
            Opcode::CallWithContinuation => {
                before.callee = Some(frame.get(1));
                0..0
            }
            Opcode::CallTraced => {
                before.callee = Some(frame.get(1));
                2..3
            }
            Opcode::CallWithPrompt => {
                before.callee = Some(frame.get(2));
                0..0
            }
            Opcode::AbortToPrompt | Opcode::AbortWithContinuation => 0..0,
            Opcode::Underflow => 0..1,
            Opcode::EnterContinuation => 1..2,
            Opcode::Throw | Opcode::ResumeComposable => 0..0,
            _ => {
                let operands = instruction.description()?.operands.iter();
                for (field, _) in operands.filter(|(_, role)| *role == Role::In) {
                    let register = instruction.operand(*field) as usize;
                    before.inputs.push(self.register(frame, register, at));
                }
                0..0
            }
        })
    }

    /// Reads the arguments that stand in lists and in other objects of the heap.
    fn arguments_in_heap(&mut self, before: &mut Before, frame: &Frame, heap: &Heap, argument_count: usize) {
        let (a, at) = (before.instruction.a(), before.at);
        match before.opcode {
            Opcode::Apply => {
                let list = frame.get(argument_count);
                self.push_elements(heap, list, at, &mut before.inputs);
            }
            Opcode::CallWithContinuation => before.inputs.push((Value::UNSPECIFIED, 0)),
            Opcode::AbortToPrompt | Opcode::AbortWithContinuation | Opcode::Throw | Opcode::ResumeComposable => {
                if before.opcode == Opcode::AbortWithContinuation {
                    before.inputs.push((Value::UNSPECIFIED, 0));
                }
                self.push_elements(heap, frame.get(2), at, &mut before.inputs);
            }
            Opcode::CallWithResults => {
                before.callee = Some(frame.get(a));
                let (results, id) = self.register(frame, before.instruction.b(), at);
                before.inputs.clear();
                if heap.is_kind(results, Kind::Values) {
                    for index in 0..heap.object_length(results) {
                        let value = heap.field(results, index);
                        let id = self.found_in_heap(results.index() + 1 + index, value, at);
                        before.inputs.push((value, id));
                    }
                } else {
                    before.inputs.push((results, id));
                }
            }
            Opcode::CallPrimitive => before.pending = super::primitive::pending(heap, &before.inputs),
            _ if before.callee.is_some() => before.pending = super::primitive::pending(heap, &before.inputs),
            _ => {}
        }
    }

    fn register(&mut self, frame: &Frame, register: usize, at: Place) -> (Value, OriginId) {
        let value = frame.get(register);
        (value, self.found_on_stack(frame.base_index() + register, value, at))
    }

    fn push_elements(&mut self, heap: &Heap, list: Value, at: Place, inputs: &mut Vec<(Value, OriginId)>) {
        let mut rest = list;
        while rest.is_pair() && inputs.len() < super::super::ARGUMENTS_MAX {
            let value = heap.car(rest);
            inputs.push((value, self.found_in_heap(rest.index(), value, at)));
            rest = heap.cdr(rest);
        }
    }

    /// Notes what the instruction has done.
    pub(in crate::machine) fn after(&mut self, mut before: Before, frame: &Frame, heap: &mut Heap, code: &CodeSpace) {
        let is_again = frame.pc() as u32 == before.at.position && frame.base_index() == before.base;
        if !is_again {
            if before.callee.is_some() {
                self.after_call(&mut before, frame, heap, code);
            } else if !self.after_move(&before, frame, heap, code) {
                self.after_plain(&before, frame, heap, code);
            }
        }
        self.scratch = before.inputs;
    }

    /// Calls.
    fn after_call(&mut self, before: &mut Before, frame: &Frame, heap: &mut Heap, code: &CodeSpace) {
        let is_new_frame = matches!(before.opcode, Opcode::Call | Opcode::CallGlobal | Opcode::CallSelf);
        let window = before.base + before.instruction.a();
        let callee = before.callee.unwrap_or(Value::UNSPECIFIED);
        let primitive = before.primitive(code);
        if let Some(primitive) = primitive.filter(|found| matches!(found.body, PrimitiveBody::Function(_))) {
            if is_new_frame && frame.base_index() == before.base {
                let value = frame.get(before.instruction.a());
                let id = self.primitive(before, primitive, value, heap, before.at);
                self.set_stack(window, id);
                return;
            }
            let slot = before.base - 1;
            if !is_new_frame && frame.base_index() < before.base {
                let value = frame.get(slot - frame.base_index());
                let id = self.primitive(before, primitive, value, heap, before.at);
                self.return_to(slot, value, id);
                return;
            }
        }
        let call = if is_new_frame {
            let id = self.made(Sort::Call, Value::UNSPECIFIED, before.at, &[]);
            self.set_stack(window, id);
            id
        } else {
            before.at.caller
        };
        if primitive.is_none() {
            self.pass_on(code, before.at, call);
        }
        self.note_spilled(heap, before.top);
        let base = frame.base_index();
        self.set_stack(base - 1, call);
        for (index, (_, id)) in before.inputs.iter().enumerate() {
            self.set_stack(base + 1 + index, *id);
        }
        if primitive.is_some_and(|found| matches!(found.body, PrimitiveBody::Host)) {
            let leaves = self.leaves(heap, &before.inputs);
            self.awaited = Some(before.inputs.iter().map(|(_, id)| *id).collect());
            self.calls.push(HostCall {
                primitive: callee.payload(),
                position: before.at.position,
                call,
                leaves,
                arguments: before.inputs.clone(),
            });
        }
    }

    /// Puts the origin of what a procedure returns into the slot of its call.
    fn return_to(&mut self, slot: usize, value: Value, id: OriginId) {
        let call = self.stack_word(slot);
        let at = self
            .origin(call)
            .filter(|origin| origin.sort == Sort::Call)
            .map(|call| Place {
                position: call.position,
                caller: call.caller,
            });
        let id = at.map_or(id, |at| self.made(Sort::Returned, value, at, &[id]));
        self.set_stack(slot, id);
    }

    /// Traces a return or another transfer of control; false if the instruction is neither.
    fn after_move(&mut self, before: &Before, frame: &Frame, heap: &Heap, code: &CodeSpace) -> bool {
        match before.opcode {
            Opcode::Return => {
                if let Some(input) = before.inputs.first() {
                    let id = self.chosen(code, before.at, *input);
                    self.return_to(before.base - 1, input.0, id);
                    self.forget_tests(before.at.caller);
                }
            }
            Opcode::Underflow | Opcode::EnterContinuation | Opcode::Throw | Opcode::ResumeComposable => {
                self.note_spilled(heap, before.top);
                self.load(before, frame);
            }
            Opcode::AbortToPrompt | Opcode::AbortWithContinuation | Opcode::CallWithComposable => {
                self.note_spilled(heap, before.top);
                if let Some((chain, _)) = continuation(heap, frame.get(1)) {
                    self.note_chain(heap, chain, before.top);
                }
                for (index, (_, id)) in before.inputs.iter().enumerate() {
                    self.set_stack(frame.base_index() + 1 + index, *id);
                }
            }
            _ => return false,
        }
        true
    }

    /// Notes the registers of a frame that has come from the heap.
    fn load(&mut self, before: &Before, frame: &Frame) {
        let Some(loaded) = before
            .loaded
            .as_ref()
            .filter(|loaded| loaded.point.payload() as usize == frame.pc())
        else {
            return;
        };
        let base = frame.base_index();
        let call = self.heap_word(loaded.first + loaded.count - 1);
        for index in 0..loaded.count {
            self.set_stack(base + index, self.heap_word(loaded.first + index));
        }
        let below = loaded.below.map_or(0, |index| self.heap_word(index));
        self.set_stack(base - 1, below);
        let at = match self.origin(call) {
            Some(call) => Place {
                position: call.position,
                caller: call.caller,
            },
            None => Place {
                position: loaded.point.payload().saturating_sub(1),
                caller: below,
            },
        };
        let mut id = loaded.value;
        match self.origins.get_mut(id as usize) {
            Some(origin) if origin.sort == Sort::Given && origin.position == u32::MAX => {
                (origin.position, origin.caller) = (at.position, at.caller);
            }
            Some(origin) if origin.sort != Sort::Returned && call != 0 => {
                let value = origin.value;
                id = self.made(Sort::Returned, value, at, &[id]);
            }
            _ => {}
        }
        self.set_stack(base + loaded.count - 1, id);
    }

    /// Instructions that compute, read or write.
    fn after_plain(&mut self, before: &Before, frame: &Frame, heap: &mut Heap, code: &CodeSpace) {
        let (instruction, at) = (before.instruction, before.at);
        if frame.base_index() != before.base {
            self.raised(before, frame, heap);
            return;
        }
        let input = |index: usize| before.inputs.get(index).copied().unwrap_or((Value::UNSPECIFIED, 0));
        let out = before.base + instruction.a();
        let globals = heap.register(Register::Globals);
        let global = globals.index() + 1 + instruction.w() as usize;
        match before.opcode {
            Opcode::Move => self.set_stack(out, input(0).1),
            Opcode::Small | Opcode::Immediate | Opcode::Constant => {
                let conditions = self.conditions(code, at);
                let id = self.made(Sort::Literal, frame.get(instruction.a()), at, &conditions);
                self.set_stack(out, id);
            }
            Opcode::Global => {
                let id = self.found_in_heap(global, frame.get(instruction.a()), at);
                self.set_stack(out, id);
            }
            Opcode::SetGlobal | Opcode::DefineGlobal => self.set_heap(global, input(0).1),
            Opcode::Free => {
                let index = frame.get(0).index() + 2 + instruction.b();
                let id = self.found_in_heap(index, frame.get(instruction.a()), at);
                self.set_stack(out, id);
            }
            Opcode::Closure => {
                let closure = frame.get(instruction.a());
                for (index, (_, id)) in before.inputs.iter().enumerate() {
                    self.set_heap(closure.index() + 2 + index, *id);
                }
                let id = self.made(Sort::Literal, closure, at, &[]);
                self.set_stack(out, id);
            }
            Opcode::ArityRest => self.after_rest(before, frame, heap),
            Opcode::CallPrimitive => {
                let primitive = &code.primitives()[instruction.w() as usize];
                let id = self.primitive(before, primitive, frame.get(instruction.a()), heap, at);
                self.set_stack(out, id);
            }
            _ => self.after_access(before, frame, heap),
        }
        if matches!(
            before.opcode,
            Opcode::Move | Opcode::Global | Opcode::Free | Opcode::CellRef
        ) {
            let id = self.chosen(code, at, (frame.get(instruction.a()), self.stack_word(out)));
            self.set_stack(out, id);
        }
    }

    /// The condition that an instruction has raised.
    fn raised(&mut self, before: &Before, frame: &Frame, heap: &Heap) {
        let call = self.made(Sort::Call, Value::UNSPECIFIED, before.at, &[]);
        self.note_spilled(heap, before.top);
        let base = frame.base_index();
        self.set_stack(base - 1, call);
        let parts: Vec<OriginId> = before.inputs.iter().map(|(_, id)| *id).collect();
        let id = self.made(Sort::Computed, frame.get(1), before.at, &parts);
        self.set_stack(base + 1, id);
    }
}
