//! The calls and results of chosen procedures, as lines for people.
//!
//! Owns which globals are followed, and the calls of the running computation that have not
//! returned. The depth of a call is the number of words below its frame, on the stack and in the
//! segments of the heap, which stays the same while frames move between them.
//! INVARIANT: following changes neither the result of a computation nor its fuel.
//! It does not know who reads the lines. Read next: `execute/followed.rs`.

use crate::code::{ARITY_AT_ENTRY, CodeSpace};
use crate::heap::kind::link;
use crate::heap::{Heap, Kind, Register};
use crate::instruction::Opcode;
use crate::printer::write_limited;
use crate::unit::GlobalName;
use crate::value::Value;

use super::NativeMode;
use super::frame::Frame;

/// The characters of an argument or result that a line shows.
const CHARACTERS_MAX: usize = 200;
/// The lines that are kept until somebody takes them.
const LINES_MAX: usize = 10_000;
/// The level up to which lines are indented; beyond it they have the number of the level.
const LEVELS_MAX: usize = 20;

/// The depths of the calls of a computation that have not returned, outermost first.
#[derive(Clone, Debug, Default)]
pub struct OpenCalls(Vec<i64>);

impl OpenCalls {
    /// Whether all calls have returned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The calls of chosen procedures.
#[derive(Debug)]
pub(super) struct Calls {
    followed: Vec<GlobalName>,
    open: OpenCalls,
    /// The open calls of the computation that was captured last.
    captured: OpenCalls,
    lines: Vec<String>,
    omitted: usize,
    /// Which blocks ran as machine code before.
    pub(super) mode_before: NativeMode,
}

/// What an instruction has left behind.
pub(super) struct Step<'a> {
    pub(super) frame: &'a Frame,
    /// The index of register 0 before.
    pub(super) base_before: usize,
    pub(super) argument_count: usize,
    /// The words of the newest segment that are not returned into yet.
    pub(super) remaining: usize,
    pub(super) heap: &'a Heap,
    pub(super) code: &'a CodeSpace,
}

impl Calls {
    pub(super) fn new(mode_before: NativeMode) -> Self {
        Self {
            followed: Vec::new(),
            open: OpenCalls::default(),
            captured: OpenCalls::default(),
            lines: Vec::new(),
            omitted: 0,
            mode_before,
        }
    }

    pub(super) fn follow(&mut self, followed: Vec<GlobalName>) {
        self.followed = followed;
    }

    /// Forgets the open calls of a computation that goes on nowhere.
    pub(super) fn forget_open(&mut self) {
        self.open = OpenCalls::default();
    }

    /// Keeps the open calls of a computation that is captured.
    pub(super) fn capture(&mut self) {
        self.captured = std::mem::take(&mut self.open);
    }

    pub(super) fn take_captured(&mut self) -> OpenCalls {
        std::mem::take(&mut self.captured)
    }

    pub(super) fn reinstate(&mut self, open: OpenCalls) {
        self.open = open;
    }

    pub(super) fn take_lines(&mut self) -> Vec<String> {
        let omitted = std::mem::take(&mut self.omitted);
        if omitted > 0 {
            self.lines.push(format!("… and {omitted} more lines"));
        }
        std::mem::take(&mut self.lines)
    }

    /// Notes what an instruction that moves control has left behind: a call that was entered, or
    /// one that was left, by a return unless `is_jump`.
    pub(super) fn note(&mut self, step: &Step<'_>, is_jump: bool) {
        if let (false, Some(depth)) = (self.open.is_empty(), depth(step)) {
            while self.open.0.last().is_some_and(|open| *open > depth) {
                if !is_jump && let Some(offset) = step.base_before.checked_sub(1 + step.frame.base_index()) {
                    let result = written(step, step.frame.get(offset));
                    self.tell('<', &result);
                }
                self.open.0.pop();
            }
        }
        if let Some((name, depth)) = self.followed(step).zip(depth(step)) {
            let mut call = format!("({}", name.name);
            for argument in step.frame.registers(1, argument_count(step)) {
                call.push(' ');
                call.push_str(&written(step, *argument));
            }
            call.push(')');
            // A call in tail position returns what the call that it replaces returns.
            if self.open.0.last() != Some(&depth) {
                self.open.0.push(depth);
            }
            self.tell('>', &call);
        }
    }

    /// The global whose procedure has just been entered, if it is followed.
    fn followed(&self, step: &Step<'_>) -> Option<GlobalName> {
        let callee = step.frame.get(0);
        if !callee.is_procedure_object() || step.heap.field(callee, 0).payload() as usize != step.frame.pc() {
            return None;
        }
        let globals = step.heap.register(Register::Globals);
        let is_callee = |name: &&GlobalName| {
            let number = step.code.find_global(name).map(|number| number as usize);
            let number = number.filter(|number| *number < step.heap.object_length(globals));
            number.is_some_and(|number| step.heap.field(globals, number) == callee)
        };
        self.followed.iter().find(is_callee).cloned()
    }

    fn tell(&mut self, sign: char, what: &str) {
        if self.lines.len() == LINES_MAX {
            self.omitted += 1;
            return;
        }
        let level = self.open.0.len().saturating_sub(1);
        let indent = if level > LEVELS_MAX {
            format!("{:LEVELS_MAX$}[{level}] ", "")
        } else {
            " ".repeat(level)
        };
        self.lines.push(format!("{sign}{indent}{what}"));
    }
}

/// Whether an instruction may enter or leave a call.
pub(super) fn moves_control(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Call
            | Opcode::TailCall
            | Opcode::CallGlobal
            | Opcode::TailCallGlobal
            | Opcode::CallSelf
            | Opcode::Return
            | Opcode::Apply
            | Opcode::CallWithContinuation
            | Opcode::CallWithPrompt
            | Opcode::CallWithComposable
            | Opcode::CallWithResults
            | Opcode::CallTraced
    ) || jumps(opcode)
}

/// Whether an instruction leaves calls that do not return.
pub(super) fn jumps(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::EnterContinuation
            | Opcode::Throw
            | Opcode::AbortToPrompt
            | Opcode::AbortWithContinuation
            | Opcode::ResumeComposable
    )
}

/// The number of words below the running frame; `None` if the chain of segments is damaged.
fn depth(step: &Step<'_>) -> Option<i64> {
    let heap = step.heap;
    let mut words = step.frame.base_index() as i64 - 1;
    let mut chain = heap.register(Register::Continuation);
    let mut remaining = Some(step.remaining as i64);
    while chain != Value::NIL {
        let first = remaining.take();
        if heap.is_kind(chain, Kind::Link) {
            words += first.or_else(|| heap.field(chain, link::LIMIT).as_fixnum())?;
        }
        chain = heap.field(chain, link::NEXT);
    }
    Some(words)
}

/// The number of arguments with which the procedure in register 0 has just been entered.
fn argument_count(step: &Step<'_>) -> usize {
    let arity = step.heap.field(step.frame.get(0), 0).detail() & 0xff;
    if arity == u32::from(ARITY_AT_ENTRY) {
        step.argument_count
    } else {
        arity as usize
    }
}

/// Writes a value for people; the computation does not pay for that.
fn written(step: &Step<'_>, value: Value) -> String {
    let due = step.heap.take_charge();
    let text = write_limited(step.heap, step.code, value, CHARACTERS_MAX);
    step.heap.take_charge();
    step.heap.charge(due);
    text
}
