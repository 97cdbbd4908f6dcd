//! Continuations and prompts: how control enters and leaves them.
//!
//! INVARIANT: whatever moves control leaves the chain below the stack as `machine/segment.rs` wants it.
//! Read next: `machine/signal.rs`.

use crate::heap::kind::prompt_link;
use crate::heap::{Heap, HeapFull, Kind, Register};
use crate::instruction::Instruction;
use crate::value::Value;

use super::builtin::{COMPOSABLE_BLOCK, CONTINUATION_BLOCK};
use super::execute::{Cold, Flow, InUse};
use super::segment::{
    CAPTURE_WORDS, LINK_WORDS, captured, copy_chain, find_prompt, is_closure_over, is_continuation, links_between,
    make_continuation, next_of, rebase_prompts,
};
use super::signal::control_global;
use super::{Hot, Outcome};

impl Cold<'_> {
    /// Returns register 0, at the bottom of the stack, into the continuation below.
    pub(super) fn underflow(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let value = hot.get(0);
        loop {
            let chain = self.heap.register(Register::Continuation);
            if chain == Value::NIL {
                self.outcome = Some(Outcome::Finished(value));
                return (hot, Flow::Stop);
            }
            if self.machine.has_frame(self.heap) {
                break;
            }
            self.leave_prompt(chain);
            let next = next_of(self.heap, chain);
            self.machine.set_chain(self.heap, next);
        }
        let point = self.machine.take_frame_making_room(self.heap);
        hot.reload(self.machine, self.heap);
        hot.set(point.detail() as usize - 1, value);
        hot.go_to(point.payload() as usize);
        (hot, Flow::Next)
    }

    /// Takes off what the library put on the dynamic state for the prompt that `chain` begins with, if it is one: a pair ending in the tag.
    ///
    /// A frame that did so would stand between the prompt and its body, and computations that go on in one prompt after another would gather such frames.
    #[inline(always)]
    fn leave_prompt(&mut self, chain: Value) {
        if !self.heap.is_kind(chain, Kind::PromptLink) {
            return;
        }
        let dynamic = self.heap.register(Register::Dynamic);
        if dynamic.is_pair() && self.is_frame_of(self.heap.car(dynamic), self.heap.field(chain, prompt_link::TAG)) {
            self.heap.set_register(Register::Dynamic, self.heap.cdr(dynamic));
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

    /// `(apply procedure argument … list)`
    pub(super) fn apply(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let count = self.machine.argument_count;
        let Some(length) = self.list_length(hot.get(count)) else {
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
        self.spread(&mut hot, count - 1, list);
        self.enter(hot, total)
    }

    /// The length of a proper list that a call may pass, or more than that.
    fn list_length(&self, list: Value) -> Option<usize> {
        let (mut rest, mut length) = (list, 0);
        while rest.is_pair() && length <= super::ARGUMENTS_MAX {
            length += 1;
            rest = self.heap.cdr(rest);
        }
        (rest == Value::NIL || length > super::ARGUMENTS_MAX).then_some(length)
    }

    /// Puts the elements of a proper list into the registers from `register` on.
    fn spread(&self, hot: &mut Hot, register: usize, list: Value) {
        let (mut rest, mut register) = (list, register);
        while rest.is_pair() {
            hot.set(register, self.heap.car(rest));
            register += 1;
            rest = self.heap.cdr(rest);
        }
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

    /// `(%call/cc procedure)`
    pub(super) fn call_with_continuation(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let continuation = match self
            .spill(&mut hot, 2, 0)
            .and_then(|()| make_continuation(self.heap, self.code))
        {
            Ok(continuation) => continuation,
            Err(HeapFull) => return self.out_of_memory(hot),
        };
        hot.reload_heap(self.heap);
        hot.set(0, hot.get(1));
        hot.set(1, continuation);
        self.enter(hot, 1)
    }

    /// A continuation is called with arguments.
    pub(super) fn enter_continuation(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let count = self.machine.argument_count;
        if self.prepare(&mut hot, count + 1, 2 * count + 4).is_err() {
            return self.out_of_memory(hot);
        }
        let continuation = hot.get(0);
        if count == 1
            && self.heap.field(continuation, 0) == self.code.block(CONTINUATION_BLOCK).code_word
            && self.heap.field(continuation, captured::WINDERS) == self.heap.register(Register::Winders)
        {
            let value = hot.get(1);
            return self.continue_with(hot, continuation, value);
        }
        let arguments: Vec<Value> = (1..=count).map(|register| hot.get(register)).collect();
        if is_closure_over(self.heap, self.code, continuation, COMPOSABLE_BLOCK) {
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
        if !is_continuation(self.heap, self.code, hot.get(1)) {
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
        let Some(length) = self.list_length(hot.get(2)) else {
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

    /// `(%call-with-prompt tag thunk handler [frame])`
    pub(super) fn call_with_prompt(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let has_frame = self.machine.argument_count > 3;
        if self.spill(&mut hot, 5, LINK_WORDS + 2).is_err() {
            return self.out_of_memory(hot);
        }
        let (tag_and_handler, frame) = ((hot.get(1), hot.get(3)), has_frame.then_some(hot.get(4)));
        if self.machine.put_prompt(self.heap, tag_and_handler, frame).is_err() {
            return self.out_of_memory(hot);
        }
        hot.reload_heap(self.heap);
        hot.set(0, hot.get(2));
        self.enter(hot, 0)
    }

    /// `(%abort-to-prompt tag arguments)`
    pub(super) fn abort_to_prompt(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let Some(prompt) = find_prompt(self.heap, hot.get(1)) else {
            return self.no_prompt(hot);
        };
        let list = hot.get(2);
        let Some(length) = self.list_length(list).filter(|length| *length <= super::ARGUMENTS_MAX) else {
            return self.fail_entry(
                hot,
                "wrong-type",
                "argument 2 of %abort-to-prompt must be a proper list",
                vec![list],
            );
        };
        self.machine.leave_to(self.heap, prompt);
        self.machine.ensure_room(length + 2);
        hot.reload(self.machine, self.heap);
        hot.set(0, self.heap.field(prompt, prompt_link::HANDLER));
        self.spread(&mut hot, 1, list);
        self.enter(hot, length)
    }

    /// `(%abort-with-continuation tag arguments otherwise)`
    pub(super) fn abort_with_continuation(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let length = self.list_length(hot.get(2));
        let (Some(length), Some(mut prompt)) = (
            length.filter(|length| *length < super::ARGUMENTS_MAX),
            self.plain_prompt(hot.get(1)),
        ) else {
            hot.set(0, hot.get(3));
            return self.enter(hot, 2);
        };
        let links = links_between(self.heap, self.heap.register(Register::Continuation), prompt);
        let words = hot.base_index() + CAPTURE_WORDS + links * LINK_WORDS;
        if !self.heap.has_at_hand(words) {
            if self.prepare(&mut hot, 4, words).is_err() {
                return self.out_of_memory(hot);
            }
            prompt = find_prompt(self.heap, hot.get(1)).unwrap_or(Value::NIL);
        }
        let list = hot.get(2);
        let handler = self.heap.field(prompt, prompt_link::HANDLER);
        let Ok(continuation) = self
            .machine
            .cut_to_prompt(self.heap, self.code, hot.base_index(), prompt)
        else {
            return self.out_of_memory(hot);
        };
        self.machine.ensure_room(length + 3);
        hot.reload(self.machine, self.heap);
        hot.set(0, handler);
        hot.set(1, continuation);
        self.spread(&mut hot, 2, list);
        self.enter(hot, length + 1)
    }

    /// The nearest prompt with this tag, if the winders in force are those outside of it, and the dynamic environment too but for the frame of the prompt itself.
    fn plain_prompt(&self, tag: Value) -> Option<Value> {
        let prompt = find_prompt(self.heap, tag)?;
        let dynamic = self.heap.register(Register::Dynamic);
        let is_plain = self.heap.field(prompt, prompt_link::WINDERS) == self.heap.register(Register::Winders)
            && dynamic.is_pair()
            && self.heap.cdr(dynamic) == self.heap.field(prompt, prompt_link::DYNAMIC)
            && self.is_frame_of(self.heap.car(dynamic), tag);
        is_plain.then_some(prompt)
    }

    /// Whether a frame of the dynamic environment is what the library puts there for a prompt: a pair ending in the tag.
    fn is_frame_of(&self, frame: Value, tag: Value) -> bool {
        frame.is_pair() && self.heap.cdr(frame) == tag
    }

    fn no_prompt(&mut self, hot: Hot) -> (Hot, Flow) {
        let irritants = vec![hot.get(1)];
        self.fail_entry(hot, "no-prompt", "there is no prompt with this tag", irritants)
    }

    /// `(%call-with-composable tag procedure)`
    pub(super) fn call_with_composable(&mut self, mut hot: Hot) -> (Hot, Flow) {
        let Some(prompt) = find_prompt(self.heap, hot.get(1)) else {
            return self.no_prompt(hot);
        };
        let links = links_between(self.heap, self.heap.register(Register::Continuation), prompt);
        if self.spill(&mut hot, 3, (links + 2) * LINK_WORDS).is_err() {
            return self.out_of_memory(hot);
        }
        let made = find_prompt(self.heap, hot.get(1)).map_or(Ok(Value::FALSE), |prompt| {
            let chain = self.heap.register(Register::Continuation);
            let copy = copy_chain(self.heap, chain, prompt, Value::NIL)?;
            let (winders, dynamic) = (
                self.heap.register(Register::Winders),
                self.heap.register(Register::Dynamic),
            );
            self.heap.make(
                Kind::Closure,
                &[self.code.block(COMPOSABLE_BLOCK).code_word, copy, winders, dynamic],
            )
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
        if !is_closure_over(self.heap, self.code, hot.get(1), COMPOSABLE_BLOCK) {
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
        let links = links_between(self.heap, self.heap.field(hot.get(1), captured::LINK), Value::NIL);
        if self.spill(&mut hot, 3, (links + 1) * LINK_WORDS).is_err() {
            return self.out_of_memory(hot);
        }
        let chain = self.heap.field(hot.get(1), captured::LINK);
        let below = self.heap.register(Register::Continuation);
        match copy_chain(self.heap, chain, Value::NIL, below) {
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

/// The winders that were in force where a continuation of either kind was captured.
pub(crate) fn continuation_winders(heap: &Heap, continuation: Value) -> Option<Value> {
    let has_fields = heap.is_kind(continuation, Kind::Closure) && heap.object_length(continuation) > captured::DYNAMIC;
    has_fields.then(|| heap.field(continuation, captured::WINDERS))
}
