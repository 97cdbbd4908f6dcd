//! Templates of calls, returns and entries.
//!
//! Owns the guard that makes calls of globals fast: the callee's code word is compared with the one
//! that the global's procedure had when the block was compiled. A call without it decides by the
//! word's parts.
//! INVARIANT: a call leaves before it has changed anything, and with its fuel, unless the frame of
//! the callee fits below the limit.
//! It does not enter primitives: Rust does.
//! Read next: `machine/native/template/primitive.rs`.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};

use super::object::PAIR_TAG;
use super::value::PROCEDURE_TAG;
use crate::code::ARITY_AT_ENTRY;
use crate::instruction::{Instruction, Opcode};
use crate::machine::native::assembler::{Assembler, FIRST, RESULT, displacement, emit};
use crate::machine::native::service::{self, Service};
use crate::machine::native::{Slot, context};
use crate::value::{Immediate, Value};

/// The numbers of processor registers.
const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;

/// A call as its instruction describes it.
#[derive(Clone)]
struct CallSite {
    /// The register of the caller that receives the return point and then the result; `None` for a
    /// tail call.
    window: Option<usize>,
    /// The register of the caller that holds the callee, or would.
    callee: usize,
    /// The number of arguments.
    count: usize,
    /// Whether the callee comes from a global, so that it is still to be stored.
    is_global: bool,
    /// The processor registers that hold the callee and the arguments, where one does.
    held: Vec<Option<u8>>,
    /// Where the callee is entered by the code word in rcx.
    enter: DynamicLabel,
    /// Where the callee returns to.
    returned: DynamicLabel,
}

/// Where the machine code of a callee is.
#[derive(Clone, Copy)]
enum Entry {
    /// At a label of the block.
    Label(DynamicLabel),
    /// At a position that is known.
    Position(u32),
    /// At the position in rcx.
    Computed,
}

impl CallSite {
    /// The register of the caller that is the callee's register 0.
    fn first(&self) -> usize {
        self.window.map_or(0, |window| window + 1)
    }
}

impl<'a> Assembler<'a> {
    fn site(&mut self, instruction: Instruction, is_tail: bool, is_global: bool) -> CallSite {
        CallSite {
            window: (!is_tail).then_some(instruction.a()),
            callee: instruction.a() + 1,
            count: instruction.d(),
            is_global,
            held: Vec::new(),
            enter: self.label(),
            returned: self.label(),
        }
    }

    /// Counts one unit of fuel, or leaves.
    fn burn(&mut self) {
        let leave = self.leave_refuelled();
        emit!(self; sub r13, 1; js =>leave);
    }

    pub(in super::super) fn call(&mut self, instruction: Instruction) {
        let site = self.site(instruction, false, false);
        self.call_register(site);
    }

    pub(in super::super) fn tail_call(&mut self, instruction: Instruction) {
        let site = self.site(instruction, true, false);
        self.call_register(site);
    }

    fn call_register(&mut self, mut site: CallSite) {
        let callee = self.read(site.callee);
        site.held = self.held(&site);
        self.burn();
        emit!(self; mov rax, Rq(callee));
        self.load_code_word(&site);
        self.enter_any(&site);
        self.after_call(&site);
    }

    pub(in super::super) fn call_global(&mut self, instruction: Instruction) {
        let site = self.site(instruction, false, true);
        self.call_of_global(site, instruction.w() as usize);
    }

    pub(in super::super) fn tail_call_global(&mut self, instruction: Instruction) {
        let site = self.site(instruction, true, true);
        self.call_of_global(site, instruction.w() as usize);
    }

    /// The processor registers that hold the callee and the arguments.
    fn held(&mut self, site: &CallSite) -> Vec<Option<u8>> {
        (0..=site.count)
            .map(|place| self.registers.holding(site.callee + place))
            .collect()
    }

    fn call_of_global(&mut self, mut site: CallSite, global: usize) {
        site.held = self.held(&site);
        self.burn();
        emit!(self
            ; mov rax, [BYTE r14 + context::GLOBALS]
            ; mov rax, [rax + displacement(global)]
        );
        self.load_code_word(&site);
        let code_word = self.surroundings.code_word(global);
        match code_word.filter(|word| word.detail() as usize & 0xff == site.count) {
            Some(word) => self.enter_expected(&site, word),
            None => self.enter_any(&site),
        }
        self.after_call(&site);
    }

    /// Loads into rcx the code word of the callee in rax. If it is no procedure object, Rust enters
    /// it; its code word is then one whose position is that of a stub.
    fn load_code_word(&mut self, site: &CallSite) {
        let (position, enter, count, is_global) = (self.position, site.enter, site.count, site.is_global);
        let other = self.cold(move |assembler| {
            assembler.position = position;
            if is_global {
                let leave = assembler.leave_refuelled();
                assembler.load(RCX, Value::UNDEFINED);
                emit!(assembler; cmp rax, rcx; je =>leave);
            }
            emit!(assembler
                ; mov DWORD [BYTE r14 + context::POSITION], position as i32
                ; mov QWORD [BYTE r14 + context::ARGUMENT_COUNT], count as i32
                ; mov rcx, QWORD (Slot::Enter.index() as i64) << 32
                ; jmp =>enter
            );
        });
        emit!(self
            ; lea ecx, [rax - PROCEDURE_TAG]
            ; test cl, 7
            ; jnz =>other
            ; mov rcx, [r12 + rax + 8 - PROCEDURE_TAG]
        );
    }

    /// Enters the callee in rax with the code word in rcx, which is likely `expected`.
    fn enter_expected(&mut self, site: &CallSite, expected: Value) {
        let position = self.position;
        let leave = self.leave_refuelled();
        let unexpected = site.clone();
        let other = self.cold(move |assembler| {
            assembler.position = position;
            assembler.enter_any(&unexpected);
            if unexpected.window.is_some() {
                emit!(assembler; jmp =>unexpected.returned);
            }
        });
        self.load(RDX, expected);
        let frame_size = expected.detail() as usize >> 8;
        emit!(self
            ; cmp rcx, rdx
            ; jne =>other
            ; lea rdx, [rbx + displacement(site.first() + frame_size)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>leave
        );
        self.move_to_callee(site);
        let entry = expected.payload();
        let label = self.label_at(entry);
        self.transfer(site, label.map_or(Entry::Position(entry), Entry::Label));
    }

    /// Goes to the callee, whose frame is the running one.
    fn transfer(&mut self, site: &CallSite, entry: Entry) {
        match (entry, site.window.is_some()) {
            (Entry::Label(label), false) => emit!(self; jmp =>label),
            (Entry::Label(label), true) => emit!(self; call =>label),
            (Entry::Position(position), false) => emit!(self
                ; mov ecx, position as i32
                ; jmp QWORD [r15 + 8 * position as i32]
            ),
            (Entry::Position(position), true) => emit!(self
                ; mov ecx, position as i32
                ; call QWORD [r15 + 8 * position as i32]
            ),
            (Entry::Computed, false) => emit!(self; sar rcx, 32; jmp QWORD [r15 + rcx * 8]),
            (Entry::Computed, true) => emit!(self; sar rcx, 32; call QWORD [r15 + rcx * 8]),
        }
    }

    /// Takes the result of a call that has returned, unless it was a tail call.
    fn after_call(&mut self, site: &CallSite) {
        self.registers.clear();
        if let Some(window) = site.window {
            emit!(self; =>site.returned; sub rbx, displacement(site.callee));
            self.write_result(window);
        }
    }

    /// Enters the callee in rax with the code word in rcx.
    fn enter_any(&mut self, site: &CallSite) {
        let leave = self.leave_refuelled();
        let position = self.position;
        let (first, count, enter) = (site.first(), site.count, site.enter);
        let variadic = self.cold(move |assembler| {
            assembler.position = position;
            assembler.check_variadic(first, count);
            emit!(assembler; jmp =>enter);
        });
        emit!(self
            ; cmp ch, site.count as i8
            ; jne =>variadic
            ; mov edx, ecx
            ; shr edx, 16
            ; lea rdx, [rbx + rdx * 8 + displacement(site.first())]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>leave
            ;=>enter
        );
        self.move_to_callee(site);
        self.transfer(site, Entry::Computed);
    }

    /// Leaves unless the callee with the code word in rcx looks at the number of its arguments
    /// itself and its frame fits, also with a word for each argument.
    fn check_variadic(&mut self, first: usize, count: usize) {
        let (leave, is_large) = (self.leave_refuelled(), self.label());
        emit!(self
            ; cmp ch, ARITY_AT_ENTRY as i8
            ; jne =>leave
            ; mov edx, ecx
            ; shr edx, 16
            ; cmp edx, 1 + count as i32
            ; jae =>is_large
            ; mov edx, 1 + count as i32
            ;=>is_large
            ; lea rdx, [rbx + rdx * 8 + displacement(first + 1)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>leave
            ; mov QWORD [BYTE r14 + context::ARGUMENT_COUNT], count as i32
        );
    }

    /// Makes the callee's frame the running one; uses rdx and keeps rcx.
    fn move_to_callee(&mut self, site: &CallSite) {
        self.load_first(site);
        if let Some(window) = site.window {
            self.load(RDX, self.return_point(window));
            self.put(window, RDX);
            if site.is_global {
                self.put(site.callee, RAX);
            }
            emit!(self; add rbx, displacement(site.callee));
            return;
        }
        for register in 0..=site.count {
            let processor = FIRST.get(register).copied().unwrap_or(RDX);
            if processor == RDX {
                self.fetch(RDX, site.callee + register);
            }
            self.put(register, processor);
        }
    }

    /// Loads the callee in rax and the first arguments into the registers that a callee expects.
    fn load_first(&mut self, site: &CallSite) {
        let places = 1..FIRST.len().min(1 + site.count);
        let (mut moves, mut loads) = (vec![(RAX, FIRST[0])], Vec::new());
        for place in places {
            match site.held[place] {
                Some(from) => moves.push((from, FIRST[place])),
                None => loads.push(place),
            }
        }
        // A register is written when no other move is to read it.
        while !moves.is_empty() {
            let is_free = |(_, to): &(u8, u8)| moves.iter().all(|(from, other)| from != to || other == to);
            let next = moves.iter().position(is_free);
            let (from, to) = moves.swap_remove(next.unwrap_or(0));
            if next.is_none() {
                loads.extend(FIRST.iter().position(|first| *first == to));
            } else if from != to {
                emit!(self; mov Rq(to), Rq(from));
            }
        }
        for place in loads {
            self.fetch(FIRST[place], site.callee + place);
        }
    }

    /// The point after the present instruction, for a window that begins at `window`.
    fn return_point(&self, window: usize) -> Value {
        Value::immediate(Immediate::Return, self.position + 1, window as u32 + 1)
    }

    pub(in super::super) fn call_self(&mut self, instruction: Instruction) {
        let mut site = self.site(instruction, false, true);
        let callee = self.read(0);
        site.held = self.held(&site);
        self.burn();
        let leave = self.leave_refuelled();
        let block = self.code.block_at(self.position);
        let frame_size = block.map_or(0, |block| usize::from(block.frame_size));
        emit!(self
            ; lea rdx, [rbx + displacement(site.callee + frame_size)]
            ; cmp rdx, [BYTE r14 + context::STACK_LIMIT]
            ; ja =>leave
            ; mov rax, Rq(callee)
        );
        self.move_to_callee(&site);
        let target = self.target(instruction.w_signed());
        self.transfer(&site, Entry::Label(target));
        self.after_call(&site);
    }

    /// Returns to the machine code after the call, or to the entry's, which looks at the frame's
    /// return point.
    pub(in super::super) fn return_value(&mut self, instruction: Instruction) {
        match self.registers.holding(instruction.a()) {
            Some(RESULT) => {}
            Some(word) => emit!(self; mov Rq(RESULT), Rq(word)),
            None => self.fetch(RESULT, instruction.a()),
        }
        emit!(self; ret);
        self.registers.clear();
    }

    pub(in super::super) fn arity_exact(&mut self, instruction: Instruction) {
        let leave = self.leave();
        emit!(self; cmp QWORD [BYTE r14 + context::ARGUMENT_COUNT], instruction.a() as i32; jne =>leave);
    }

    /// Makes the list of the arguments from the last to the first, in the interpreter's order.
    pub(in super::super) fn arity_rest(&mut self, instruction: Instruction) {
        let required = instruction.a();
        let (leave, next, done) = (self.leave(), self.label(), self.label());
        self.registers.clear();
        emit!(self
            ; mov rcx, [BYTE r14 + context::ARGUMENT_COUNT]
            ; sub rcx, required as i32
            ; jb =>leave
            ; mov rdx, rcx
            ; shl rdx, 4
            ; add rdx, rbp
            ; cmp rdx, [BYTE r14 + context::LIMIT]
            ; ja =>leave
        );
        self.load(RAX, Value::NIL);
        emit!(self
            ; test rcx, rcx
            ; jz =>done
            ;=>next
            ; mov rdx, [rbx + rcx * 8 + displacement(required)]
            ; mov [r12 + rbp], rdx
            ; mov [r12 + rbp + 8], rax
            ; lea rax, [rbp + PAIR_TAG]
            ; add rbp, 16
            ; dec rcx
            ; jnz =>next
            ;=>done
            ; mov [rbx + displacement(required + 1)], rax
        );
    }

    pub(in super::super) fn arity_clause(&mut self, instruction: Instruction) {
        let target = self.target(instruction.w_signed());
        emit!(self; cmp QWORD [BYTE r14 + context::ARGUMENT_COUNT], instruction.a() as i32);
        if instruction.d() == 0 {
            emit!(self; jne =>target);
        } else {
            emit!(self; jb =>target);
        }
    }
}

/// Declares instructions that Rust executes.
macro_rules! controls {
    ($($name:ident $opcode:ident)*) => {
        impl Assembler<'_> {
            $(pub(in super::super) fn $name(&mut self, _: Instruction) {
                self.control(service::control::<{ Opcode::$opcode as u8 }>);
            })*
        }
    };
}

controls! {
    underflow Underflow
    apply Apply
    call_with_continuation CallWithContinuation
    enter_continuation EnterContinuation
    throw Throw
    call_with_prompt CallWithPrompt
    abort_to_prompt AbortToPrompt
    call_with_composable CallWithComposable
    resume_composable ResumeComposable
    call_with_results CallWithResults
    abort_with_continuation AbortWithContinuation
    uncaught Uncaught
}

impl Assembler<'_> {
    fn control(&mut self, service: Service) {
        emit!(self
            ; mov ecx, self.position as i32
            ; mov rax, QWORD service as usize as i64
            ; jmp QWORD [BYTE r15 + Slot::Service.offset_bytes()]
        );
        self.registers.clear();
    }

    pub(in super::super) fn arity_fail(&mut self, _: Instruction) {
        self.leave_here();
    }
}
