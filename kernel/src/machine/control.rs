//! Continuations and prompts: how control enters and leaves them.
//!
//! INVARIANT: whatever moves control leaves the chain below the stack as `machine/segment.rs` wants it.
//! Read next: `machine/signal.rs`.

use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{captured, prompt_link};
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::instruction::Instruction;
use crate::value::Value;

use super::execute::{Cold, Flow, InUse};
use super::frame::HeapWords;
use super::segment::{
    CAPTURE_WORDS, LINK_WORDS, copied_words, copy_chain, is_closure_over, links_between, make_composable, next_of,
    prompt_in, rebase_prompts,
};
use super::signal::control_global;
use super::{Hot, Outcome};

impl Cold<'_> {
    /// Returns register 0, at the bottom of the stack, into the continuation below.
    pub(super) fn underflow(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let value = hot.get(0);
        loop {
            if let Some(point) = hot.take_frame(self.machine, self.heap) {
                hot.go_on_at(point, value);
                return (hot, Flow::Next);
            }
            let chain = self.heap.register(Register::Continuation);
            if chain == Value::NIL {
                self.outcome = Some(Outcome::Finished(value));
                return (hot, Flow::Stop);
            }
            self.leave_prompt(hot.heap(), chain);
            self.machine.set_chain(self.heap, next_of(hot.heap(), chain));
        }
    }

    /// Takes off what the library put on the dynamic state for the prompt that `chain` begins with, if it is one: a pair ending in the tag.
    ///
    /// A frame that did so would stand between the prompt and its body, and computations that go on in one prompt after another would gather such frames.
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

    /// Makes sure that `words` can be allocated without fail; `frame_words` registers of the frame are in use.
    pub(super) fn prepare(&mut self, hot: &mut Hot, frame_words: usize, words: usize) -> Result<(), HeapFull> {
        if self.heap.has_at_hand(words) {
            return Ok(());
        }
        if self.heap.is_nursery_full(words) {
            self.collect(hot, InUse::First(frame_words));
        }
        if self.heap.would_exceed(words) {
            self.collect_major(hot, InUse::First(frame_words));
        }
        let outcome = self.heap.reserve(words);
        hot.reload_heap(self.heap);
        outcome
    }

    /// Moves all below the frame, of which `frame_words` are in use, to the heap, leaving room there for `further` words.
    fn spill(&mut self, hot: &mut Hot, frame_words: usize, further: usize) -> Result<(), HeapFull> {
        self.prepare(hot, frame_words, hot.base_index() + CAPTURE_WORDS + further)?;
        hot.store(self.machine);
        self.machine.spill(self.heap, frame_words)?;
        self.machine.ensure_room(frame_words);
        hot.reload(self.machine, self.heap);
        Ok(())
    }

    /// Makes sure that `words` can be allocated without fail, with `frame_words` registers of the frame in use, and executes the instruction again.
    fn make_room_and_retry(&mut self, mut hot: Hot, frame_words: usize, words: usize) -> (Hot, Flow) {
        if self.prepare(&mut hot, frame_words, words).is_err() {
            return self.out_of_memory(hot);
        }
        hot.step_back();
        (hot, Flow::Next)
    }

    /// `(apply procedure argument … list)`
    pub(super) fn apply(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let count = self.machine.argument_count;
        let Some(length) = hot.list_length(count) else {
            let irritants = vec![hot.get(count)];
            return self.fail_entry(
                hot,
                "wrong-type",
                "the last argument of apply must be a proper list",
                irritants,
            );
        };
        let total = count - 2 + length;
        if let Err(stopped) = self.make_frame(&mut hot, total, count + 1) {
            return stopped;
        }
        let list = hot.get(count);
        hot.slide(1, count - 1);
        hot.spread(count - 1, list);
        self.enter(hot, total)
    }

    /// Makes room for a call of `total` arguments in the frame, of which `used` registers are in use; or gives the outcome of having none.
    fn make_frame(&mut self, hot: &mut Hot, total: usize, used: usize) -> Result<(), (Hot, Flow)> {
        if total > super::ARGUMENTS_MAX {
            return Err(self.fail_entry(*hot, "too-many-arguments", "a call passes too many arguments", vec![]));
        }
        if hot.has_room(0, total + 2) {
            return Ok(());
        }
        match self.grow_stack(*hot, total + 2, used) {
            Ok(grown) => {
                *hot = grown;
                Ok(())
            }
            Err(HeapFull) => Err(self.out_of_memory(*hot)),
        }
    }

    /// `(%call/cc procedure)` where the words for it are not at hand.
    pub(super) fn call_with_continuation(&mut self, hot: Hot) -> (Hot, Flow) {
        self.make_room_and_retry(hot, 2, hot.base_index() + CAPTURE_WORDS)
    }

    /// A continuation is called with arguments.
    pub(super) fn enter_continuation(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let count = self.machine.argument_count;
        if count == 1
            && let Some(words) = hot.words_to_reenter(hot.get(0))
        {
            return self.make_room_and_retry(hot, 2, words);
        }
        if self.prepare(&mut hot, count + 1, 2 * count + 4).is_err() {
            return self.out_of_memory(hot);
        }
        let continuation = hot.get(0);
        if count == 1
            && self.heap.field(continuation, 0) == CONTINUATION_WORD
            && self.heap.field(continuation, captured::WINDERS) == self.heap.register(Register::Winders)
        {
            let value = hot.get(1);
            return self.continue_with(hot, continuation, value);
        }
        let arguments: Vec<Value> = (1..=count).map(|register| hot.get(register)).collect();
        if is_closure_over(self.heap, continuation, COMPOSABLE_WORD) {
            return match self.heap.list(&arguments, Value::NIL) {
                Ok(list) => {
                    hot.set(1, continuation);
                    hot.set(2, list);
                    self.resume_composable(hot)
                }
                Err(HeapFull) => self.out_of_memory(hot),
            };
        }
        let winders = self.heap.field(continuation, captured::WINDERS);
        if winders != self.heap.register(Register::Winders)
            && let Some(rewind) = control_global(self.heap, self.code, "%rewind")
        {
            return match self.heap.list(&arguments, Value::NIL) {
                Ok(list) => {
                    hot.reload_heap(self.heap);
                    hot.set(0, rewind);
                    hot.set(1, continuation);
                    hot.set(2, list);
                    self.enter(hot, 2)
                }
                Err(HeapFull) => self.out_of_memory(hot),
            };
        }
        match arguments.as_slice() {
            [value] => self.continue_with(hot, continuation, *value),
            _ => match self.heap.make(Kind::Values, &arguments) {
                Ok(values) => self.continue_with(hot, continuation, values),
                Err(HeapFull) => self.out_of_memory(hot),
            },
        }
    }

    /// Drops the current computation for `continuation` and returns `value` to it.
    #[inline(always)]
    fn continue_with(&mut self, mut hot: Hot, continuation: Value, value: Value) -> (Hot, Flow) {
        self.machine.restore_continuation(self.heap, continuation);
        hot.reload(self.machine, self.heap);
        hot.set(0, value);
        self.underflow(hot)
    }

    /// `(%throw continuation values)`
    pub(super) fn throw(&mut self, mut hot: Hot) -> (Hot, Flow) {
        if !is_closure_over(self.heap, hot.get(1), CONTINUATION_WORD) {
            let irritants = vec![hot.get(1)];
            return self.fail_entry(
                hot,
                "wrong-type",
                "argument 1 of %throw must be a continuation",
                irritants,
            );
        }
        match self.values_of_list(&mut hot) {
            Ok(value) => {
                let continuation = hot.get(1);
                self.continue_with(hot, continuation, value)
            }
            Err(stopped) => stopped,
        }
    }

    /// The elements of the list in register 2 as one value.
    fn values_of_list(&mut self, hot: &mut Hot) -> Result<Value, (Hot, Flow)> {
        let Some(length) = hot.list_length(2) else {
            let irritants = vec![hot.get(2)];
            return Err(self.fail_entry(*hot, "wrong-type", "argument 2 must be a proper list", irritants));
        };
        if self.prepare(hot, 3, length + 2).is_err() {
            return Err(self.out_of_memory(*hot));
        }
        let mut elements = Vec::with_capacity(length);
        let mut rest = hot.get(2);
        while rest.is_pair() {
            elements.push(self.heap.car(rest));
            rest = self.heap.cdr(rest);
        }
        match elements.as_slice() {
            [value] => Ok(*value),
            _ => self
                .heap
                .make(Kind::Values, &elements)
                .map_err(|HeapFull| self.out_of_memory(*hot)),
        }
    }

    /// `(%call-with-prompt tag thunk handler [frame])` where the words for it are not at hand.
    pub(super) fn call_with_prompt(&mut self, hot: Hot) -> (Hot, Flow) {
        self.make_room_and_retry(hot, 5, hot.base_index() + CAPTURE_WORDS)
    }

    /// `(%abort-to-prompt tag arguments)`
    pub(super) fn abort_to_prompt(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let Some(prompt) = self.find_prompt(&hot) else {
            return self.no_prompt(hot);
        };
        let list = hot.get(2);
        let Some(length) = hot.list_length(2).filter(|length| *length <= super::ARGUMENTS_MAX) else {
            return self.fail_entry(
                hot,
                "wrong-type",
                "argument 2 of %abort-to-prompt must be a proper list",
                vec![list],
            );
        };
        self.machine.leave_to(self.heap, prompt);
        self.start_at_bottom(&mut hot, length + 2);
        hot.set(0, self.heap.field(prompt, prompt_link::HANDLER));
        hot.spread(1, list);
        self.enter(hot, length)
    }

    /// `(%abort-with-continuation tag arguments otherwise)` where the prompt or the arguments are special, or the words for it are not at hand.
    pub(super) fn abort_with_continuation(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let length = hot.list_length(2);
        let (Some(length), Some(mut prompt)) = (
            length.filter(|length| *length < super::ARGUMENTS_MAX),
            hot.plain_prompt(self.heap, hot.get(1)),
        ) else {
            hot.set(0, hot.get(3));
            return self.enter(hot, 2);
        };
        let chain = self
            .machine
            .whole_links(hot.heap(), self.heap.register(Register::Continuation));
        let (copied, _) = copied_words(hot.heap(), (chain, prompt));
        let words = hot.base_index() + CAPTURE_WORDS + copied;
        if !self.heap.has_at_hand(words) {
            if self.prepare(&mut hot, 4, words).is_err() {
                return self.out_of_memory(hot);
            }
            prompt = self.find_prompt(&hot).unwrap_or(Value::NIL);
        }
        let list = hot.get(2);
        let handler = self.heap.field(prompt, prompt_link::HANDLER);
        let Some(continuation) = hot.cut_to_prompt(self.machine, self.heap, prompt) else {
            return self.out_of_memory(hot);
        };
        self.start_at_bottom(&mut hot, length + 3);
        hot.set(0, handler);
        hot.set(1, continuation);
        hot.spread(2, list);
        self.enter(hot, length + 1)
    }

    /// Begins a frame of `words` at the bottom of the stack, which is free.
    fn start_at_bottom(&mut self, hot: &mut Hot, words: usize) {
        self.machine.empty_stack();
        self.machine.ensure_room(words);
        hot.reload(self.machine, self.heap);
    }

    /// The nearest prompt with the tag in register 1.
    fn find_prompt(&self, hot: &Hot) -> Option<Value> {
        prompt_in(hot.heap(), self.heap.register(Register::Continuation), hot.get(1))
    }

    fn no_prompt(&mut self, hot: Hot) -> (Hot, Flow) {
        let irritants = vec![hot.get(1)];
        self.fail_entry(hot, "no-prompt", "there is no prompt with this tag", irritants)
    }

    /// `(%call-with-composable tag procedure)`
    pub(super) fn call_with_composable(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let Some(prompt) = self.find_prompt(&hot) else {
            return self.no_prompt(hot);
        };
        let links = links_between(hot.heap(), self.heap.register(Register::Continuation), prompt);
        if self.spill(&mut hot, 3, (links + 2) * LINK_WORDS).is_err() {
            return self.out_of_memory(hot);
        }
        let ends = self
            .find_prompt(&hot)
            .map(|prompt| (self.heap.register(Register::Continuation), prompt));
        let made = ends.map_or(Ok(Value::FALSE), |ends| {
            let copy = copy_chain(self.heap, ends, Value::NIL)?;
            make_composable(self.heap, copy)
        });
        let continuation = match made {
            Ok(continuation) => continuation,
            Err(HeapFull) => return self.out_of_memory(hot),
        };
        hot.reload_heap(self.heap);
        hot.set(0, hot.get(2));
        hot.set(1, continuation);
        self.enter(hot, 1)
    }

    /// `(%resume-composable continuation values)`
    pub(super) fn resume_composable(&mut self, mut hot: Hot) -> (Hot, Flow) {
        if !is_closure_over(self.heap, hot.get(1), COMPOSABLE_WORD) {
            let irritants = vec![hot.get(1)];
            return self.fail_entry(
                hot,
                "wrong-type",
                "argument 1 of %resume-composable must be a composable continuation",
                irritants,
            );
        }
        let value = match self.values_of_list(&mut hot) {
            Ok(value) => value,
            Err(stopped) => return stopped,
        };
        hot.set(2, value);
        let links = links_between(hot.heap(), self.heap.field(hot.get(1), captured::LINK), Value::NIL);
        if self.spill(&mut hot, 3, (links + 1) * LINK_WORDS).is_err() {
            return self.out_of_memory(hot);
        }
        let chain = self.heap.field(hot.get(1), captured::LINK);
        let below = self.heap.register(Register::Continuation);
        match copy_chain(self.heap, (chain, Value::NIL), below) {
            Ok(chain) => {
                rebase_prompts(self.heap, (chain, below), hot.get(1));
                self.machine.set_chain(self.heap, chain);
            }
            Err(HeapFull) => return self.out_of_memory(hot),
        }
        hot.reload_heap(self.heap);
        hot.set(0, hot.get(2));
        self.underflow(hot)
    }

    /// Calls register `a` with the values that register `b` stands for.
    pub(super) fn call_with_results(&mut self, mut hot: Hot, instruction: Instruction) -> (Hot, Flow) {
        hot.set(0, hot.get(instruction.a()));
        hot.set(1, hot.get(instruction.b()));
        if !self.heap.is_kind(hot.get(1), Kind::Values) {
            return self.enter(hot, 1);
        }
        let count = self.heap.object_length(hot.get(1));
        if let Err(stopped) = self.make_frame(&mut hot, count, 2) {
            return stopped;
        }
        let values = hot.get(1);
        for index in 0..count {
            hot.set(1 + index, self.heap.field(values, index));
        }
        self.enter(hot, count)
    }
}

impl Hot {
    /// The length of the proper list in a register, if it is one, that a call may pass, or more than that.
    #[inline(always)]
    pub(super) fn list_length(&self, register: usize) -> Option<usize> {
        let (mut rest, mut length) = (self.get(register), 0);
        while rest.is_pair() && length <= super::ARGUMENTS_MAX {
            length += 1;
            rest = self.pair_field(rest, 1);
        }
        (rest == Value::NIL || length > super::ARGUMENTS_MAX).then_some(length)
    }

    /// Puts the elements of a proper list into the registers from `register` on.
    #[inline(always)]
    pub(super) fn spread(&mut self, register: usize, list: Value) {
        let (mut rest, mut register) = (list, register);
        while rest.is_pair() {
            self.set(register, self.pair_field(rest, 0));
            register += 1;
            rest = self.pair_field(rest, 1);
        }
    }

    /// The nearest prompt with this tag, if the winders in force are those outside of it, and the dynamic environment too but for the frame of the prompt itself.
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

/// Whether a frame of the dynamic environment is what the library puts there for a prompt: a pair ending in the tag.
#[inline(always)]
fn is_frame_of(words: HeapWords, frame: Value, tag: Value) -> bool {
    frame.is_pair() && words.pair_field(frame, 1) == tag
}
