//! Templates of calls, returns and entries.
//!
//! Owns the guard that makes calls of globals fast: the callee's code word is compared with the one
//! that the global's procedure had when the block was compiled. A call without it decides by the
//! word's parts.
//! INVARIANT: a call leaves before it has changed anything, and with its fuel, unless the frame of
//! the callee fits below the limit.
//! It does not enter primitives: Rust does.
//! Read next: `machine/native/template/primitive.rs`.

use dynasmrt::DynamicLabel;

use super::words;
use crate::code::ARITY_AT_ENTRY;
use crate::instruction::{Instruction, Opcode};
use crate::machine::native::assembler::Assembler;
use crate::machine::native::processor::{Condition, Processor};
use crate::machine::native::service::{self, Service};
use crate::machine::native::{Slot, context};
use crate::value::{Immediate, Value};

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
    /// Where the callee is entered by the code word in C.
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
    /// At the position in the code word in C.
    Computed,
}

impl CallSite {
    /// The register of the caller that is the callee's register 0.
    fn first(&self) -> usize {
        self.window.map_or(0, |window| window + 1)
    }
}

impl<P: Processor> Assembler<'_, P> {
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
        self.out.burn(leave);
    }

    pub(in super::super) fn count_call(&mut self, _: Instruction) {
        self.burn();
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
        self.out.copy(P::A, callee);
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
        self.out.load_context(P::A, context::GLOBALS);
        self.out.load_word(P::A, P::A, words(global));
        self.load_code_word(&site);
        let code_word = self.known_globals.code_word(global);
        match code_word.filter(|word| word.detail() as usize & 0xff == site.count) {
            Some(word) => self.enter_expected(&site, word),
            None => self.enter_any(&site),
        }
        self.after_call(&site);
    }

    /// Loads into C the code word of the callee in A. If it is no procedure object, Rust enters
    /// it; its code word is then one whose position is that of a stub.
    fn load_code_word(&mut self, site: &CallSite) {
        let (position, enter, count, is_global) = (self.position, site.enter, site.count, site.is_global);
        let other = self.cold(move |assembler| {
            assembler.position = position;
            if is_global {
                let leave = assembler.leave_refuelled();
                assembler.load(P::C, Value::UNDEFINED);
                assembler.out.compare(P::A, P::C);
                assembler.out.branch(Condition::Equal, leave);
            }
            assembler.out.set_position(position);
            assembler.out.set_argument_count(count);
            assembler.out.set(P::C, (Slot::Enter.index() as u64) << 32);
            assembler.out.jump(enter);
        });
        self.out.load_code_word(other);
    }

    /// Enters the callee in A with the code word in C, which is likely `expected`.
    fn enter_expected(&mut self, site: &CallSite, expected: Value) {
        let position = self.position;
        let leave = self.leave_refuelled();
        let unexpected = site.clone();
        let other = self.cold(move |assembler| {
            assembler.position = position;
            assembler.enter_any(&unexpected);
            if unexpected.window.is_some() {
                assembler.out.jump(unexpected.returned);
            }
        });
        self.load(P::D, expected);
        let frame_size = expected.detail() as usize >> 8;
        self.out.compare(P::C, P::D);
        self.out.branch(Condition::NotEqual, other);
        self.out.expect_room(site.first() + frame_size, leave);
        self.move_to_callee(site);
        let entry = expected.payload();
        let label = self.label_at(entry);
        self.transfer(site, label.map_or(Entry::Position(entry), Entry::Label));
    }

    /// Goes to the callee, whose frame is the running one.
    fn transfer(&mut self, site: &CallSite, entry: Entry) {
        match (entry, site.window.is_some()) {
            (Entry::Label(label), false) => self.out.jump(label),
            (Entry::Label(label), true) => self.out.call(label),
            (Entry::Position(position), false) => self.out.jump_to(position),
            (Entry::Position(position), true) => self.out.call_to(position),
            (Entry::Computed, false) => self.out.jump_to_callee(),
            (Entry::Computed, true) => self.out.call_callee(),
        }
    }

    /// Takes the result of a call that has returned, unless it was a tail call.
    fn after_call(&mut self, site: &CallSite) {
        self.registers.clear();
        if let Some(window) = site.window {
            self.out.place(site.returned);
            self.out.leave_frame(site.callee);
            self.write_result(window);
        }
    }

    /// Enters the callee in A with the code word in C.
    fn enter_any(&mut self, site: &CallSite) {
        let leave = self.leave_refuelled();
        let position = self.position;
        let (first, count, enter) = (site.first(), site.count, site.enter);
        let variadic = self.cold(move |assembler| {
            assembler.position = position;
            assembler.check_variadic(first, count);
            assembler.out.jump(enter);
        });
        self.out.compare_parameters(site.count as u8);
        self.out.branch(Condition::NotEqual, variadic);
        self.out.expect_room_for_callee(first, leave);
        self.out.place(enter);
        self.move_to_callee(site);
        self.transfer(site, Entry::Computed);
    }

    /// Leaves unless the callee with the code word in C looks at the number of its arguments
    /// itself and its frame fits, also with a word for each argument.
    fn check_variadic(&mut self, first: usize, count: usize) {
        let leave = self.leave_refuelled();
        self.out.compare_parameters(ARITY_AT_ENTRY);
        self.out.branch(Condition::NotEqual, leave);
        self.out.expect_room_for_arguments(first, count, leave);
        self.out.set_argument_count(count);
    }

    /// Makes the callee's frame the running one; uses D and keeps C.
    fn move_to_callee(&mut self, site: &CallSite) {
        self.load_first(site);
        if let Some(window) = site.window {
            self.load(P::D, self.return_point(window));
            self.put(window, P::D);
            if site.is_global {
                self.put(site.callee, P::A);
            }
            self.out.enter_frame(site.callee);
            return;
        }
        for register in 0..=site.count {
            let processor = P::FIRST.get(register).copied().unwrap_or(P::D);
            if processor == P::D {
                self.fetch(P::D, site.callee + register);
            }
            self.put(register, processor);
        }
    }

    /// Loads the callee in A and the first arguments into the registers that a callee expects.
    fn load_first(&mut self, site: &CallSite) {
        let places = 1..P::FIRST.len().min(1 + site.count);
        let (mut moves, mut loads) = (vec![(P::A, P::FIRST[0])], Vec::new());
        for place in places {
            match site.held[place] {
                Some(from) => moves.push((from, P::FIRST[place])),
                None => loads.push(place),
            }
        }
        // A register is written when no other move is to read it.
        while !moves.is_empty() {
            let is_free = |(_, to): &(u8, u8)| moves.iter().all(|(from, other)| from != to || other == to);
            let next = moves.iter().position(is_free);
            let (from, to) = moves.swap_remove(next.unwrap_or(0));
            if next.is_none() {
                loads.extend(P::FIRST.iter().position(|first| *first == to));
            } else if from != to {
                self.out.copy(to, from);
            }
        }
        for place in loads {
            self.fetch(P::FIRST[place], site.callee + place);
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
        self.out.expect_room(site.callee + frame_size, leave);
        self.out.copy(P::A, callee);
        self.move_to_callee(&site);
        let target = self.target(instruction.w_signed());
        self.transfer(&site, Entry::Label(target));
        self.after_call(&site);
    }

    /// Returns to the machine code after the call, or to the entry's, which looks at the frame's
    /// return point.
    pub(in super::super) fn return_value(&mut self, instruction: Instruction) {
        match self.registers.holding(instruction.a()) {
            Some(word) if word == P::RESULT => {}
            Some(word) => self.out.copy(P::RESULT, word),
            None => self.fetch(P::RESULT, instruction.a()),
        }
        self.out.return_to_caller();
        self.registers.clear();
    }

    pub(in super::super) fn arity_exact(&mut self, instruction: Instruction) {
        let leave = self.leave();
        self.out.compare_argument_count(instruction.a());
        self.out.branch(Condition::NotEqual, leave);
    }

    /// Makes the list of the arguments from the last to the first, in the interpreter's order.
    pub(in super::super) fn arity_rest(&mut self, instruction: Instruction) {
        let leave = self.leave();
        self.registers.clear();
        self.out.collect_rest(instruction.a(), leave);
    }

    pub(in super::super) fn arity_clause(&mut self, instruction: Instruction) {
        let target = self.target(instruction.w_signed());
        let is_exact = instruction.d() == 0;
        self.out.compare_argument_count(instruction.a());
        self.out.branch(
            if is_exact {
                Condition::NotEqual
            } else {
                Condition::Below
            },
            target,
        );
    }
}

/// Declares instructions that Rust executes.
macro_rules! controls {
    ($($name:ident $opcode:ident)*) => {
        impl<P: Processor> Assembler<'_, P> {
            $(pub(in super::super) fn $name(&mut self, _: Instruction) {
                controls!(@fast $name self);
                self.control(service::control::<{ Opcode::$opcode as u8 }>);
            })*
        }
    };
    (@fast underflow $assembler:ident) => { $assembler.out.underflow() };
    (@fast enter_continuation $assembler:ident) => { $assembler.out.enter_continuation() };
    (@fast $name:ident $assembler:ident) => {};
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
    call_traced CallTraced
    uncaught Uncaught
}

impl<P: Processor> Assembler<'_, P> {
    fn control(&mut self, service: Service) {
        self.out.exit_to(service as usize, self.position);
        self.registers.clear();
    }

    pub(in super::super) fn arity_fail(&mut self, _: Instruction) {
        self.leave_here();
    }
}
