//! The trace of a computation: for each value, what made it and from which other values.
//!
//! Owns a shadow of the stack and of the heap: for each word the number of the origin of its value.
//! Who asks for a value follows the origins backwards, which is a dynamic slice.
//! INVARIANT: tracing changes neither the result of a computation nor its fuel; the heap does not
//! collect while a computation is traced, so a word keeps its place.
//! It does not know texts. Read next: `tracing/step.rs`.

mod access;
mod chain;
mod contents;
mod decision;
mod moved;
mod primitive;
mod step;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::heap::{Heap, Kind, TableEntry};
use crate::value::Value;
use contents::Contents;
use decision::Decisions;
use moved::{BeforeMove, Former};

pub use moved::MovedWord;

/// The number of an origin in its trace; 0 stands for none.
pub type OriginId = u32;

/// How a value came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// An instruction of the text names it: a literal or a procedure. Its parts are the conditions
    /// that chose it among others, the nearest first.
    Literal,
    /// An instruction or a primitive computed it from its parts.
    Computed,
    /// A call returned it; its only part is what the procedure returned.
    Returned,
    /// The host answered a call; its parts are the arguments.
    Answered,
    /// The host passed it to the computation at its beginning.
    Given,
    /// The traced computation found it in a variable or an object.
    Found,
    /// A condition chose it, a variable's value, among others; the first part is the variable's,
    /// the others are the conditions, the nearest first.
    Chosen,
    /// A jump computed it, a truth, from its parts.
    Tested,
    /// It is no value, but a condition that chose one; its part is what was tested, if that was
    /// traced.
    Condition,
    /// It is no value, but a call that is in progress.
    Call,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The value; nothing for a call.
    pub value: Value,
    /// How it came to be.
    pub sort: Sort,
    /// The position in the code of the instruction that made or found it.
    pub position: u32,
    /// The call in which it was made.
    pub caller: OriginId,
    first_part: u32,
}

/// A piece of output, and the value that was written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The number of the console's stream.
    pub stream: usize,
    /// The first byte, counted from the beginning of the turn.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The origin of the value.
    pub origin: OriginId,
}

/// A call of a host procedure.
#[derive(Clone, Debug)]
pub struct HostCall {
    /// The number of the primitive.
    pub primitive: u32,
    /// The position in the code of the call's instruction.
    pub position: u32,
    /// The call, as an origin; that of the procedure around it if it is a tail call.
    pub call: OriginId,
    /// The origins of the arguments and of the parts that they had at the call.
    pub leaves: Vec<OriginId>,
    /// The arguments and their origins.
    pub arguments: Vec<(Value, OriginId)>,
}

/// What a trace knows of one heap.
#[derive(Debug, Default)]
struct Shadow {
    /// The origin of each word.
    words: Vec<OriginId>,
    /// The bytes written to each port that is not the console's.
    ports: BTreeMap<usize, Vec<OriginId>>,
    /// The characters and bytes put into strings and bytevectors.
    contents: Arc<Contents>,
    /// The words that were written after their objects were made.
    changed: BTreeSet<usize>,
    /// How often objects had changed their places when the trace last followed them.
    moves: Option<u64>,
    /// The table of the globals.
    globals: Option<Value>,
    /// The heap before each collection that the trace has followed.
    former: Vec<Former>,
}

/// Why a trace ended before the computation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It has followed as many instructions as it may.
    Instructions,
    /// The memory was full, so that the heap had to collect.
    Memory,
}

/// The maximum of words of an argument whose origins a host call keeps.
const LEAVES_MAX: usize = 512;

/// The trace of a computation.
#[derive(Debug)]
pub struct Trace {
    origins: Vec<Origin>,
    parts: Vec<OriginId>,
    stack: Vec<OriginId>,
    /// The heap that computes.
    heap: Shadow,
    /// The number of that heap's owner, and the heaps of others.
    owner: u64,
    others: BTreeMap<u64, Shadow>,
    /// The words that the turn has given other origins, with those before, and its ports, contents
    /// and table of the globals before.
    undo: Vec<(usize, OriginId)>,
    ports_before: BTreeMap<usize, Vec<OriginId>>,
    contents_before: Arc<Contents>,
    globals_before: Option<Value>,
    /// The heap before the turn's first collection.
    before_move: Option<BeforeMove>,
    written: Vec<Written>,
    /// The bytes that the turn has written to each stream of the console so far.
    streamed: [usize; 3],
    calls: Vec<HostCall>,
    /// The arguments of the host's call that is not answered yet.
    awaited: Option<Vec<OriginId>>,
    /// The origins of the values that the next computation receives, if the host has read them from
    /// the heap.
    passed: Option<Vec<OriginId>>,
    /// The tests that decided which instructions were executed.
    decisions: Decisions,
    /// The inputs of an instruction, between instructions; kept for its room.
    scratch: Vec<(Value, OriginId)>,
    /// Instructions that may still be traced.
    left: u64,
    cut: Option<Cut>,
}

impl Trace {
    /// A trace of at most this many instructions.
    pub fn new(instructions_max: u64) -> Self {
        let none = Origin {
            value: Value::UNSPECIFIED,
            sort: Sort::Call,
            position: u32::MAX,
            caller: 0,
            first_part: 0,
        };
        Self {
            origins: vec![none],
            parts: Vec::new(),
            stack: Vec::new(),
            heap: Shadow::default(),
            owner: 0,
            others: BTreeMap::new(),
            undo: Vec::new(),
            ports_before: BTreeMap::new(),
            contents_before: Arc::default(),
            globals_before: None,
            before_move: None,
            written: Vec::new(),
            streamed: [0; 3],
            calls: Vec::new(),
            awaited: None,
            passed: None,
            decisions: Decisions::default(),
            scratch: Vec::new(),
            left: instructions_max,
            cut: None,
        }
    }

    /// Returns an origin.
    pub fn origin(&self, id: OriginId) -> Option<&Origin> {
        self.origins.get(id as usize).filter(|_| id > 0)
    }

    /// Returns the origins from whose values an origin's value was made.
    pub fn parts(&self, id: OriginId) -> &[OriginId] {
        let start = self
            .origins
            .get(id as usize)
            .map_or(0, |origin| origin.first_part as usize);
        let end = self.origins.get(id as usize + 1).map(|next| next.first_part as usize);
        self.parts
            .get(start..end.unwrap_or(self.parts.len()))
            .unwrap_or_default()
    }

    /// Returns the pieces of output in the order in which they were written.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// Returns the calls of host procedures so far.
    pub fn calls(&self) -> &[HostCall] {
        &self.calls
    }

    /// Begins a turn on the heap of this owner.
    pub fn begin_turn(&mut self, owner: u64) {
        if owner != self.owner {
            let next = self.others.remove(&owner).unwrap_or_default();
            let last = std::mem::replace(&mut self.heap, next);
            self.others.insert(self.owner, last);
            self.owner = owner;
        }
        self.streamed = [0; 3];
        self.undo.clear();
        self.before_move = None;
        self.ports_before = self.heap.ports.clone();
        self.contents_before = Arc::clone(&self.heap.contents);
        self.globals_before = self.heap.globals;
        self.stack.clear();
        self.awaited = None;
        self.passed = None;
    }

    /// Takes back what the turn has done to the heap.
    pub fn abort_turn(&mut self) {
        self.take_move_back();
        for (index, id) in std::mem::take(&mut self.undo).into_iter().rev() {
            set(&mut self.heap.words, index, id);
        }
        self.heap.ports = self.ports_before.clone();
        self.heap.contents = Arc::clone(&self.contents_before);
        self.heap.globals = self.globals_before;
        self.streamed = [0; 3];
        self.stack.clear();
        self.awaited = None;
        self.passed = None;
    }

    /// Says that the next computation receives what these words of the heap hold.
    pub fn pass(&mut self, words: &[usize]) {
        self.passed = Some(words.iter().map(|word| self.heap_word(*word)).collect());
    }

    /// Returns the number that the next origin has.
    pub fn next_id(&self) -> OriginId {
        self.origins.len() as OriginId
    }

    /// Returns the number of instructions that may still be traced.
    pub fn instructions_left(&self) -> u64 {
        self.left
    }

    /// Returns the origin of the word of the stack at an index; 0 if nobody knows one.
    pub fn on_stack(&self, index: usize) -> OriginId {
        self.stack_word(index)
    }

    /// Returns the origin of the word of the heap at an index; 0 if nobody knows one.
    pub fn in_heap(&self, index: usize) -> OriginId {
        self.heap_word(index)
    }

    /// Returns why the trace ended before the computation did, if it did.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Counts an instruction; false if there may be no more.
    pub(super) fn count(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.cut.get_or_insert(Cut::Instructions);
        }
        self.cut.is_none()
    }

    /// Readies the trace and the heap for a run of the machine.
    pub(super) fn prepare(&mut self, heap: &mut Heap) {
        let moves = heap.moves_count();
        // Words that have moved have no origins any more.
        if *self.heap.moves.get_or_insert(moves) != moves {
            self.cut.get_or_insert(Cut::Memory);
        }
        self.follow_globals(heap);
        heap.put_off_collections();
    }

    fn add(&mut self, origin: Origin, parts: &[OriginId]) -> OriginId {
        let id = self.origins.len() as OriginId;
        let first_part = self.parts.len() as u32;
        self.parts.extend(parts.iter().filter(|part| **part != 0));
        self.origins.push(Origin { first_part, ..origin });
        id
    }

    fn made(&mut self, sort: Sort, value: Value, at: Place, parts: &[OriginId]) -> OriginId {
        let origin = Origin {
            value,
            sort,
            position: at.position,
            caller: at.caller,
            first_part: 0,
        };
        self.add(origin, parts)
    }

    fn stack_word(&self, index: usize) -> OriginId {
        self.stack.get(index).copied().unwrap_or(0)
    }

    fn set_stack(&mut self, index: usize, id: OriginId) {
        set(&mut self.stack, index, id);
    }

    fn heap_word(&self, index: usize) -> OriginId {
        self.heap.words.get(index).copied().unwrap_or(0)
    }

    fn set_heap(&mut self, index: usize, id: OriginId) {
        let before = self.heap_word(index);
        if before != id {
            self.undo.push((index, before));
            set(&mut self.heap.words, index, id);
        }
    }

    /// Gives a word of an object that was made before another origin.
    fn change_heap(&mut self, index: usize, id: OriginId) {
        self.set_heap(index, id);
        self.heap.changed.insert(index);
    }

    /// The origin of a word of the heap, which is found if nobody knows another.
    fn found_in_heap(&mut self, index: usize, value: Value, at: Place) -> OriginId {
        let known = self.heap_word(index);
        if known != 0 {
            return known;
        }
        let id = self.made(Sort::Found, value, at, &[]);
        self.set_heap(index, id);
        id
    }

    /// The origin of a word of the stack, which is found if nobody knows another.
    fn found_on_stack(&mut self, index: usize, value: Value, at: Place) -> OriginId {
        let known = self.stack_word(index);
        if known != 0 {
            return known;
        }
        let id = self.made(Sort::Found, value, at, &[]);
        self.set_stack(index, id);
        id
    }

    /// Returns the keys of a dictionary, and its values with their origins.
    pub fn members(&self, heap: &Heap, dictionary: Value) -> Vec<(Value, (Value, OriginId))> {
        if !heap.is_kind(dictionary, Kind::Dictionary) {
            return Vec::new();
        }
        let member = |entry: TableEntry| {
            let word = heap.table_word(dictionary, entry.ordinal);
            (entry.key, (entry.value, self.heap_word(word)))
        };
        entries_of(heap, dictionary).map(member).collect()
    }

    /// Returns the origins of values and of the parts that they have now, each value with its own
    /// origin.
    pub fn leaves(&self, heap: &Heap, values: &[(Value, OriginId)]) -> Vec<OriginId> {
        let mut left: Vec<(Value, OriginId)> = values.iter().rev().copied().collect();
        let mut leaves = Vec::new();
        while let Some((value, id)) = left.pop() {
            if leaves.len() + left.len() > LEAVES_MAX {
                break;
            }
            let words = words_of(heap, value);
            if words.is_empty() {
                leaves.extend(self.whole(heap, value, id));
            }
            for index in words.into_iter().rev() {
                let part = heap.word(index);
                // A part that nobody traced came with the whole.
                let known = self.heap_word(index);
                left.push((part, if known == 0 { id } else { known }));
            }
        }
        leaves
    }
}

/// Where a value is made.
#[derive(Clone, Copy, Debug)]
struct Place {
    position: u32,
    caller: OriginId,
}

/// The indices of the words that hold the parts of a pair, a vector, a record or a dictionary.
fn words_of(heap: &Heap, value: Value) -> Vec<usize> {
    let index = if value.is_reference() { value.index() } else { 0 };
    if value.is_pair() {
        return vec![index, index + 1];
    }
    match heap.kind_of(value) {
        Some(Kind::Vector | Kind::Values) => (index + 1..index + 1 + heap.object_length(value)).collect(),
        Some(Kind::Record) => (index + 2..index + 1 + heap.object_length(value).max(1)).collect(),
        Some(Kind::Dictionary) => {
            let entries = entries_of(heap, value);
            entries.map(|entry| heap.table_word(value, entry.ordinal)).collect()
        }
        _ => Vec::new(),
    }
}

/// The first entries of a dictionary.
fn entries_of(heap: &Heap, dictionary: Value) -> impl Iterator<Item = TableEntry> {
    let next = |ordinal| heap.table_next(dictionary, ordinal);
    let entries = std::iter::successors(next(0), move |entry: &TableEntry| {
        heap.table_next(dictionary, entry.ordinal + 1)
    });
    entries.take(LEAVES_MAX)
}

fn set(shadow: &mut Vec<OriginId>, index: usize, id: OriginId) {
    if index >= shadow.len() {
        if id == 0 {
            return;
        }
        shadow.resize((index + 1).next_power_of_two(), 0);
    }
    shadow[index] = id;
}
