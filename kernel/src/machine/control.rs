//! Slow paths of continuations and prompts: entering and leaving them.
//!
//! INVARIANT: every move of control leaves the chain below the stack as `machine/segment.rs`
//! requires.
//! It does not raise conditions; `machine/signal.rs` does.
//! Read next: `machine/signal.rs`.

use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{captured, prompt_link};
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::instruction::Instruction;
use crate::primitive::cost;
use crate::value::Value;

use super::execute::{Flow, InUse, SlowPath};
use super::frame::HeapWords;
use super::segment::{
    CAPTURE_WORDS, LINK_WORDS, Links, copied_words, copy_chain, count_links, is_closure_over, make_composable, next_of,
    prompt_in, rebase_prompts,
};
use super::signal::control_global;
use super::{Frame, Outcome};

impl SlowPath<'_> {
    /// Returns register 0, at the bottom of the stack, into the continuation below.
    pub(super) fn underflow(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let value = frame.get(0);
        loop {
            if let Some(point) = frame.pop_frame(self.machine, self.heap) {
                frame.resume_at(point, value);
                return (frame, Flow::Next);
            }
            let chain = self.heap.register(Register::Continuation);
            if chain == Value::NIL {
                self.outcome = Some(Outcome::Finished(value));
                return (frame, Flow::Stop);
            }
            self.leave_prompt(frame.heap(), chain);
            self.machine.set_chain(self.heap, next_of(frame.heap(), chain));
        }
    }

    /// Removes the library's entry for the prompt that `chain` begins with, if it is one, from the
    /// dynamic environment: a pair ending in the tag.
    ///
    /// A frame that removed it would stand between the prompt and its body, and computations that
    /// continue in one prompt after another would accumulate such frames.
    #[inline(always)]
    fn leave_prompt(&mut self, words: HeapWords, chain: Value) {
        if !words.is_kind(chain, Kind::PromptLink) {
            return;
        }
        let dynamic = self.heap.register(Register::Dynamic);
        if dynamic.is_pair()
            && is_frame_of(
                words,
                words.pair_field(dynamic, 0),
                words.field(chain, prompt_link::TAG),
            )
        {
            self.heap.set_register(Register::Dynamic, words.pair_field(dynamic, 1));
        }
    }

    /// Ensures that `words` words are free; `frame_words` registers of the frame are in use.
    pub(super) fn prepare(&mut self, frame: &mut Frame, frame_words: usize, words: usize) -> Result<(), HeapFull> {
        if self.heap.has_free_words(words) {
            return Ok(());
        }
        if self.heap.is_nursery_full(words) {
            self.collect(frame, InUse::First(frame_words));
        }
        if self.heap.would_exceed(words) {
            self.collect_major(frame, InUse::First(frame_words));
        }
        let outcome = self.heap.reserve(words);
        frame.reload_heap(self.heap);
        outcome
    }

    /// Moves all below the frame, of which `frame_words` are in use, to the heap, leaving room
    /// there for `further` words.
    fn spill(&mut self, frame: &mut Frame, frame_words: usize, further: usize) -> Result<(), HeapFull> {
        self.prepare(frame, frame_words, frame.base_index() + CAPTURE_WORDS + further)?;
        frame.store(self.machine);
        self.machine.spill(self.heap, frame_words)?;
        self.machine.ensure_room(frame_words);
        frame.reload(self.machine, self.heap);
        Ok(())
    }

    /// Ensures that `words` words are free, with `frame_words` registers of the frame in use, and
    /// executes the instruction again.
    fn make_room_and_retry(&mut self, mut frame: Frame, frame_words: usize, words: usize) -> (Frame, Flow) {
        if self.prepare(&mut frame, frame_words, words).is_err() {
            return self.out_of_memory(frame);
        }
        frame.step_back();
        (frame, Flow::Next)
    }

    /// `(apply procedure argument … list)`
    pub(super) fn apply(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let count = self.machine.argument_count;
        let Some(length) = frame.list_length(count) else {
            return self.fail_entry(
                frame,
                "wrong-type",
                "the last argument of apply must be a proper list",
                vec![frame.get(count)],
            );
        };
        let total = count - 2 + length;
        if let Err(stopped) = self.make_frame(&mut frame, total, count + 1) {
            return stopped;
        }
        let list = frame.get(count);
        frame.slide(1, count - 1);
        frame.spread(count - 1, list);
        self.enter(frame, total)
    }

    /// Makes room for a call of `total` arguments in the frame, of which `used` registers are in
    /// use; or returns the outcome of the failure.
    fn make_frame(&mut self, frame: &mut Frame, total: usize, used: usize) -> Result<(), (Frame, Flow)> {
        if total > super::ARGUMENTS_MAX {
            return Err(self.fail_entry(*frame, "too-many-arguments", "a call passes too many arguments", vec![]));
        }
        if frame.has_room(0, total + 2) {
            return Ok(());
        }
        match self.grow_stack(*frame, total + 2, used) {
            Ok(grown) => {
                *frame = grown;
                Ok(())
            }
            Err(HeapFull) => Err(self.out_of_memory(*frame)),
        }
    }

    /// `(%call/cc procedure)` where the words for it are not free.
    pub(super) fn call_with_continuation(&mut self, frame: Frame) -> (Frame, Flow) {
        self.make_room_and_retry(frame, 2, frame.base_index() + CAPTURE_WORDS)
    }

    /// Calls a continuation with the arguments.
    pub(super) fn enter_continuation(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let count = self.machine.argument_count;
        if count == 1
            && let Some(words) = frame.words_to_reenter(frame.get(0))
        {
            return self.make_room_and_retry(frame, 2, words);
        }
        if self.prepare(&mut frame, count + 1, 2 * count + 4).is_err() {
            return self.out_of_memory(frame);
        }
        let continuation = frame.get(0);
        if count == 1
            && self.heap.field(continuation, 0) == CONTINUATION_WORD
            && self.heap.field(continuation, captured::WINDERS) == self.heap.register(Register::Winders)
        {
            let value = frame.get(1);
            return self.continue_with(frame, continuation, value);
        }
        let arguments: Vec<Value> = (1..=count).map(|register| frame.get(register)).collect();
        if is_closure_over(self.heap, continuation, COMPOSABLE_WORD) {
            return match self.heap.list(&arguments, Value::NIL) {
                Ok(list) => {
                    frame.set(1, continuation);
                    frame.set(2, list);
                    self.resume_composable(frame)
                }
                Err(HeapFull) => self.out_of_memory(frame),
            };
        }
        let winders = self.heap.field(continuation, captured::WINDERS);
        if winders != self.heap.register(Register::Winders)
            && let Some(rewind) = control_global(self.heap, self.code, "%rewind")
        {
            return match self.heap.list(&arguments, Value::NIL) {
                Ok(list) => {
                    frame.reload_heap(self.heap);
                    frame.set(0, rewind);
                    frame.set(1, continuation);
                    frame.set(2, list);
                    self.enter(frame, 2)
                }
                Err(HeapFull) => self.out_of_memory(frame),
            };
        }
        match arguments.as_slice() {
            [value] => self.continue_with(frame, continuation, *value),
            _ => match self.heap.make(Kind::Values, &arguments) {
                Ok(values) => self.continue_with(frame, continuation, values),
                Err(HeapFull) => self.out_of_memory(frame),
            },
        }
    }

    /// Drops the current computation for `continuation` and returns `value` to it.
    #[inline(always)]
    fn continue_with(&mut self, mut frame: Frame, continuation: Value, value: Value) -> (Frame, Flow) {
        self.machine.restore_continuation(self.heap, continuation);
        frame.reload(self.machine, self.heap);
        frame.set(0, value);
        self.underflow(frame)
    }

    /// `(%throw continuation values)`, where a thunk may stand for the values: it is called there.
    pub(super) fn throw(&mut self, mut frame: Frame) -> (Frame, Flow) {
        if !is_closure_over(self.heap, frame.get(1), CONTINUATION_WORD) {
            return self.fail_entry(
                frame,
                "wrong-type",
                "argument 1 of %throw must be a continuation",
                vec![frame.get(1)],
            );
        }
        if frame.get(2).is_procedure_object() {
            let (continuation, thunk) = (frame.get(1), frame.get(2));
            self.machine.restore_continuation(self.heap, continuation);
            self.start_at_bottom(&mut frame, 2);
            frame.set(0, thunk);
            return self.enter(frame, 0);
        }
        match self.values_of_list(&mut frame) {
            Ok(value) => {
                let continuation = frame.get(1);
                self.continue_with(frame, continuation, value)
            }
            Err(stopped) => stopped,
        }
    }

    /// The elements of the list in register 2 as one value; a procedure stands for itself.
    fn values_of_list(&mut self, frame: &mut Frame) -> Result<Value, (Frame, Flow)> {
        if frame.get(2).is_procedure_object() {
            return Ok(frame.get(2));
        }
        let Some(length) = frame.list_length(2) else {
            return Err(self.fail_entry(
                *frame,
                "wrong-type",
                "argument 2 must be a proper list",
                vec![frame.get(2)],
            ));
        };
        frame.charge_for_arguments(length);
        if self.prepare(frame, 3, length + 2).is_err() {
            return Err(self.out_of_memory(*frame));
        }
        let mut elements = Vec::with_capacity(length);
        let mut rest = frame.get(2);
        while rest.is_pair() {
            elements.push(self.heap.car(rest));
            rest = self.heap.cdr(rest);
        }
        match elements.as_slice() {
            [value] => Ok(*value),
            _ => self
                .heap
                .make(Kind::Values, &elements)
                .map_err(|HeapFull| self.out_of_memory(*frame)),
        }
    }

    /// `(%call-with-prompt tag thunk handler [frame])` where the words for it are not free.
    pub(super) fn call_with_prompt(&mut self, frame: Frame) -> (Frame, Flow) {
        self.make_room_and_retry(frame, 5, frame.base_index() + CAPTURE_WORDS)
    }

    /// `(%abort-to-prompt tag arguments)`
    pub(super) fn abort_to_prompt(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let Some(prompt) = self.find_prompt(&frame) else {
            return self.no_prompt(frame);
        };
        let list = frame.get(2);
        let Some(length) = frame.list_length(2).filter(|length| *length <= super::ARGUMENTS_MAX) else {
            return self.fail_entry(
                frame,
                "wrong-type",
                "argument 2 of %abort-to-prompt must be a proper list",
                vec![list],
            );
        };
        self.machine.leave_to(self.heap, prompt);
        self.start_at_bottom(&mut frame, length + 2);
        frame.set(0, self.heap.field(prompt, prompt_link::HANDLER));
        frame.spread(1, list);
        self.enter(frame, length)
    }

    /// `(%abort-with-continuation tag arguments otherwise)` where the prompt or the arguments are
    /// special, or the words for it are not free.
    pub(super) fn abort_with_continuation(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let length = frame.list_length(2);
        let (Some(length), Some(mut prompt)) = (
            length.filter(|length| *length < super::ARGUMENTS_MAX),
            frame.plain_prompt(self.heap, frame.get(1)),
        ) else {
            frame.set(0, frame.get(3));
            return self.enter(frame, 2);
        };
        let chain = self
            .machine
            .whole_links(frame.heap(), self.heap.register(Register::Continuation));
        let (copied, _) = copied_words(frame.heap(), Links::between(chain, prompt));
        // A collection makes a link of the rest of the first segment, which is copied then.
        let words = frame.base_index() + CAPTURE_WORDS + copied + LINK_WORDS;
        if !self.heap.has_free_words(words) {
            if self.prepare(&mut frame, 4, words).is_err() {
                return self.out_of_memory(frame);
            }
            prompt = self.find_prompt(&frame).unwrap_or(Value::NIL);
        }
        let list = frame.get(2);
        let handler = self.heap.field(prompt, prompt_link::HANDLER);
        let Some(continuation) = frame.cut_to_prompt(self.machine, self.heap, prompt) else {
            return self.out_of_memory(frame);
        };
        self.start_at_bottom(&mut frame, length + 3);
        frame.set(0, handler);
        frame.set(1, continuation);
        frame.spread(2, list);
        self.enter(frame, length + 1)
    }

    /// Begins a frame of `words` at the bottom of the stack, which is free.
    fn start_at_bottom(&mut self, frame: &mut Frame, words: usize) {
        self.machine.empty_stack();
        self.machine.ensure_room(words);
        frame.reload(self.machine, self.heap);
    }

    /// The nearest prompt with the tag in register 1.
    fn find_prompt(&self, frame: &Frame) -> Option<Value> {
        prompt_in(frame.heap(), self.heap.register(Register::Continuation), frame.get(1))
    }

    fn no_prompt(&mut self, frame: Frame) -> (Frame, Flow) {
        self.fail_entry(
            frame,
            "no-prompt",
            "there is no prompt with this tag",
            vec![frame.get(1)],
        )
    }

    /// `(%call-with-composable tag procedure)`
    pub(super) fn call_with_composable(&mut self, mut frame: Frame) -> (Frame, Flow) {
        let Some(prompt) = self.find_prompt(&frame) else {
            return self.no_prompt(frame);
        };
        let links = count_links(
            frame.heap(),
            Links::between(self.heap.register(Register::Continuation), prompt),
        );
        if self.spill(&mut frame, 3, (links + 2) * LINK_WORDS).is_err() {
            return self.out_of_memory(frame);
        }
        let inner = self
            .find_prompt(&frame)
            .map(|prompt| Links::between(self.heap.register(Register::Continuation), prompt));
        let made = inner.map_or(Ok(Value::FALSE), |inner| {
            let copy = copy_chain(self.heap, inner, Value::NIL)?;
            make_composable(self.heap, copy)
        });
        let continuation = match made {
            Ok(continuation) => continuation,
            Err(HeapFull) => return self.out_of_memory(frame),
        };
        frame.reload_heap(self.heap);
        frame.set(0, frame.get(2));
        frame.set(1, continuation);
        self.enter(frame, 1)
    }

    /// `(%resume-composable continuation values)`, where a thunk may stand for the values: it is
    /// called there.
    pub(super) fn resume_composable(&mut self, mut frame: Frame) -> (Frame, Flow) {
        if !is_closure_over(self.heap, frame.get(1), COMPOSABLE_WORD) {
            return self.fail_entry(
                frame,
                "wrong-type",
                "argument 1 of %resume-composable must be a composable continuation",
                vec![frame.get(1)],
            );
        }
        let is_thunk = frame.get(2).is_procedure_object();
        let value = match self.values_of_list(&mut frame) {
            Ok(value) => value,
            Err(stopped) => return stopped,
        };
        frame.set(2, value);
        let links = count_links(frame.heap(), Links::from(self.heap.field(frame.get(1), captured::LINK)));
        if self.spill(&mut frame, 3, (links + 1) * LINK_WORDS).is_err() {
            return self.out_of_memory(frame);
        }
        let chain = self.heap.field(frame.get(1), captured::LINK);
        let below = self.heap.register(Register::Continuation);
        match copy_chain(self.heap, Links::from(chain), below) {
            Ok(chain) => {
                rebase_prompts(self.heap, Links::between(chain, below), frame.get(1));
                self.machine.set_chain(self.heap, chain);
            }
            Err(HeapFull) => return self.out_of_memory(frame),
        }
        frame.reload_heap(self.heap);
        frame.set(0, frame.get(2));
        if is_thunk {
            return self.enter(frame, 0);
        }
        self.underflow(frame)
    }

    /// Calls register `a` with the values that register `b` stands for.
    pub(super) fn call_with_results(&mut self, mut frame: Frame, instruction: Instruction) -> (Frame, Flow) {
        frame.set(0, frame.get(instruction.a()));
        frame.set(1, frame.get(instruction.b()));
        if !self.heap.is_kind(frame.get(1), Kind::Values) {
            return self.enter(frame, 1);
        }
        let count = self.heap.object_length(frame.get(1));
        if let Err(stopped) = self.make_frame(&mut frame, count, 2) {
            return stopped;
        }
        frame.charge_for_arguments(count);
        let values = frame.get(1);
        for index in 0..count {
            frame.set(1 + index, self.heap.field(values, index));
        }
        self.enter(frame, count)
    }
}

impl Frame {
    /// The length of the proper list in a register, or more than a call may pass; `None` if it is
    /// none.
    #[inline(always)]
    pub(super) fn list_length(&self, register: usize) -> Option<usize> {
        let (mut rest, mut length) = (self.get(register), 0);
        while rest.is_pair() && length <= super::ARGUMENTS_MAX {
            length += 1;
            rest = self.pair_field(rest, 1);
        }
        (rest == Value::NIL || length > super::ARGUMENTS_MAX).then_some(length)
    }

    /// Puts the elements of a proper list into the registers from `register` on, and charges for
    /// them.
    #[inline(always)]
    pub(super) fn spread(&mut self, register: usize, list: Value) {
        let (mut rest, first) = (list, register);
        let mut register = first;
        while rest.is_pair() {
            self.set(register, self.pair_field(rest, 0));
            register += 1;
            rest = self.pair_field(rest, 1);
        }
        self.charge_for_arguments(register - first);
    }

    /// Charges for arguments or values that are passed by way of an object.
    #[inline(always)]
    pub(super) fn charge_for_arguments(&mut self, count: usize) {
        self.fuel -= count as i64 / cost::ELEMENTS as i64;
    }

    /// The nearest prompt with this tag, if the present winders are those outside of it, and so is
    /// the dynamic environment except for the prompt's own entry.
    #[inline(always)]
    pub(super) fn plain_prompt(&self, heap: &Heap, tag: Value) -> Option<Value> {
        let words = self.heap();
        let prompt = prompt_in(words, heap.register(Register::Continuation), tag)?;
        let dynamic = heap.register(Register::Dynamic);
        let is_plain = words.field(prompt, prompt_link::WINDERS) == heap.register(Register::Winders)
            && dynamic.is_pair()
            && words.pair_field(dynamic, 1) == words.field(prompt, prompt_link::DYNAMIC)
            && is_frame_of(words, words.pair_field(dynamic, 0), tag);
        is_plain.then_some(prompt)
    }
}

/// Whether a frame of the dynamic environment is the library's entry for a prompt: a pair ending in
/// the tag.
#[inline(always)]
fn is_frame_of(words: HeapWords, frame: Value, tag: Value) -> bool {
    frame.is_pair() && words.pair_field(frame, 1) == tag
}
