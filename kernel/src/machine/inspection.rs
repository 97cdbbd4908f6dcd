//! The frames of a computation that is parked, for people who look at it.
//!
//! INVARIANT: looking changes nothing; a word that the code reads no more is no value of a frame.
//! It does not know variables; `compiler/variables.rs` does.

use crate::code::CodeSpace;
use crate::heap::kind::{captured, link};
use crate::heap::{AllLive, Heap, Kind, LiveRegisters, Register};
use crate::value::{Immediate, Value};

use super::Machine;
use super::signal::{BacktraceEntry, call_position, entries};

/// Where the registers of a frame stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameWords {
    /// Nowhere.
    None,
    /// From this word of the stack on.
    Stack(usize),
    /// From this word of the heap on.
    Heap(usize),
}

/// A frame of a continuation.
#[derive(Clone, Debug)]
pub struct ParkedFrame {
    /// The position in the code of the call that it waits for.
    pub position: u32,
    /// Its return point.
    pub point: Value,
    /// The procedure and the place of that call; several if the compiler integrated calls.
    pub entries: Vec<BacktraceEntry>,
    /// The frame's registers, without those that are gone because it reads them no more.
    pub registers: Vec<Option<Value>>,
    /// Where the registers stand.
    pub words: FrameWords,
}

/// A raise of a condition.
#[derive(Clone, Debug)]
pub struct KeptRaise {
    /// The condition.
    pub condition: Value,
    /// The frames around it, innermost first.
    pub frames: Vec<ParkedFrame>,
    /// Whether it, or a later raise of the condition, ended the fiber of a strand.
    pub ends_strand: bool,
    /// The number of collections before it.
    collections: u64,
}

/// A raise that happens.
pub(super) struct Raised {
    pub(super) condition: Value,
    /// Whether the condition was not raised before.
    pub(super) is_first: bool,
    /// The base of the frame that raises.
    pub(super) base: usize,
}

/// The maximum number of raises that are kept.
const RAISES_MAX: usize = 16;

impl ParkedFrame {
    /// The frame of a return point, without its registers.
    pub fn at(code: &CodeSpace, point: Value) -> Option<Self> {
        FrameReading { code, live: &AllLive }.frame(point, FrameWords::None, std::iter::empty())
    }

    /// Returns a value that the procedure captured.
    pub fn captured(&self, heap: &Heap, index: u16) -> Option<Value> {
        let closure = self.registers.first().copied().flatten()?;
        let field = usize::from(index) + 1;
        let is_there = heap.is_kind(closure, Kind::Closure) && field < heap.object_length(closure);
        is_there.then(|| heap.field(closure, field))
    }
}

/// Returns the value in a cell; `None` if there is none yet.
pub fn cell_value(heap: &Heap, cell: Value) -> Option<Value> {
    let value = heap.is_kind(cell, Kind::Cell).then(|| heap.field(cell, 0))?;
    (value != Value::UNDEFINED).then_some(value)
}

/// Returns the frames of a continuation, innermost first, at most `most`.
pub fn parked_frames(heap: &Heap, code: &CodeSpace, continuation: Value, most: usize) -> Vec<ParkedFrame> {
    let mut frames = Vec::new();
    if heap.is_kind(continuation, Kind::Closure) && heap.object_length(continuation) >= captured::LENGTH {
        let chain = heap.field(continuation, captured::LINK);
        let reading = FrameReading { code, live: code };
        reading.add_chain(heap, chain, None, most, &mut frames);
    }
    frames
}

/// The code whose frames are read, and what it says of their registers.
struct FrameReading<'a> {
    code: &'a CodeSpace,
    live: &'a dyn LiveRegisters,
}

impl FrameReading<'_> {
    /// Adds the frames of a chain, of whose first segment only the first `remaining` words count.
    fn add_chain(
        &self,
        heap: &Heap,
        mut chain: Value,
        mut remaining: Option<usize>,
        most: usize,
        frames: &mut Vec<ParkedFrame>,
    ) {
        while chain != Value::NIL && frames.len() < most {
            let first = remaining.take();
            if heap.is_kind(chain, Kind::Link) {
                let segment = heap.field(chain, link::FRAMES);
                let counted = heap.field(chain, link::LIMIT).as_fixnum().unwrap_or(0);
                let counted = first.unwrap_or_else(|| usize::try_from(counted).unwrap_or(0));
                let mut left = counted.min(heap.object_length(segment));
                while left > 0 && frames.len() < most {
                    let point = heap.field(segment, left - 1);
                    let length = point.detail() as usize;
                    if !point.is_immediate(Immediate::Return) || !(1..=left).contains(&length) {
                        return;
                    }
                    let registers = (left - length..left - 1).map(|index| heap.field(segment, index));
                    let words = FrameWords::Heap(segment.index() + 1 + left - length);
                    frames.extend(self.frame(point, words, registers));
                    left -= length;
                }
            }
            chain = heap.field(chain, link::NEXT);
        }
    }

    /// The frame with this return point and these registers, as far as they are live.
    fn frame(&self, point: Value, words: FrameWords, registers: impl Iterator<Item = Value>) -> Option<ParkedFrame> {
        let position = call_position(self.code, point)?;
        let procedure = self.code.block_at(position)?.name.clone();
        let live = self.live.live_at(point.payload());
        let is_live = |register: usize| {
            let word = |map: &[u64]| map.get(register / 64).copied().unwrap_or(0);
            live.is_none_or(|map| word(map) >> (register % 64) & 1 == 1)
        };
        let registers = registers.enumerate();
        Some(ParkedFrame {
            position,
            point,
            entries: entries(self.code, position, procedure),
            registers: registers
                .map(|(register, value)| is_live(register).then_some(value))
                .collect(),
            words,
        })
    }
}

impl Machine {
    /// Keeps the frames of the next computations that end with a raise that nobody caught, at most
    /// `most` of each, with all values that variables in scope have had. The machine then keeps
    /// what it would give up, and does the same otherwise. Machine code gives up more: it has to be
    /// [off](Self::set_native).
    pub fn keep_raised_frames(&mut self, most: usize) {
        self.kept_frames_max = most;
    }

    /// Returns the frames around the last raise that nobody caught, innermost first, if they were
    /// to be [kept](Self::keep_raised_frames). They are those of the heap until it changes.
    pub fn take_raised_frames(&mut self) -> Vec<ParkedFrame> {
        std::mem::take(&mut self.kept_frames)
    }

    /// Returns whether registers keep values that the code does not read again.
    pub(super) fn keeps_dead_registers(&self) -> bool {
        self.kept_frames_max > 0
    }

    /// Returns the raises of conditions since the last call, oldest first, if frames were to be
    /// [kept](Self::keep_raised_frames); only those since which the heap has not collected, so that
    /// their frames are those of the heap until it changes.
    pub fn take_raises(&mut self, heap: &Heap) -> Vec<KeptRaise> {
        let mut raises = std::mem::take(&mut self.kept_raises);
        raises.retain(|raise| raise.collections == collections(heap));
        raises
    }

    /// Keeps the raise of a condition. A condition that is raised again has come from where it was
    /// raised first.
    pub(super) fn keep_raise(&mut self, heap: &Heap, code: &CodeSpace, raised: &Raised) {
        let Raised {
            condition,
            is_first,
            base,
        } = *raised;
        let ends_strand = ends_strand(heap);
        let known = self.kept_raises.iter_mut().rfind(|raise| raise.condition == condition);
        match known {
            Some(known) => known.ends_strand |= ends_strand,
            None if is_first => {
                if self.kept_raises.len() == RAISES_MAX {
                    self.kept_raises.remove(0);
                }
                self.kept_raises.push(KeptRaise {
                    condition,
                    frames: self.frames_around(heap, code, base),
                    ends_strand,
                    collections: collections(heap),
                });
            }
            None => {}
        }
    }

    /// Keeps the frames around the running one, if somebody has asked for them.
    pub(super) fn keep_frames(&mut self, heap: &Heap, code: &CodeSpace) {
        self.kept_frames = self.frames_around(heap, code, self.base);
    }

    fn frames_around(&self, heap: &Heap, code: &CodeSpace, mut base: usize) -> Vec<ParkedFrame> {
        let (most, mut frames) = (self.kept_frames_max, Vec::new());
        let reading = FrameReading { code, live: &AllLive };
        while base > 1 && frames.len() < most {
            let point = self.stack[base - 1];
            let first = base - point.detail() as usize;
            let registers = self.stack[first..base - 1].iter().copied();
            frames.extend(reading.frame(point, FrameWords::Stack(first), registers));
            base = first;
        }
        let chain = heap.register(Register::Continuation);
        reading.add_chain(heap, chain, Some(self.remaining), most, &mut frames);
        frames
    }
}

fn collections(heap: &Heap) -> u64 {
    let statistics = heap.statistics();
    statistics.collections_minor + statistics.collections_major
}

/// Whether only the end of the running fiber handles what is raised there, and others wait for that
/// fiber: it has a joint, and the innermost handler that is not running is its last.
fn ends_strand(heap: &Heap) -> bool {
    let list = |register| {
        let pair = |value: Value| value.is_pair().then_some(value);
        std::iter::successors(pair(heap.register(register)), move |last| pair(heap.cdr(*last))).map(|at| heap.car(at))
    };
    let base = list(Register::Winders).last().filter(|base| base.is_pair());
    if !base.is_some_and(|base| heap.car(base).as_fixnum().is_some() && heap.cdr(base).is_true()) {
        return false;
    }
    let (mut masked, mut is_handled) = (0, false);
    for frame in list(Register::Dynamic).filter(|frame| frame.is_pair()) {
        let kind = heap.car(frame);
        let kind = heap.is_kind(kind, Kind::Symbol).then(|| heap.symbol_name(kind));
        match kind.as_deref() {
            Some("%mask") => masked += 1,
            Some("%handler" | "%guard") if is_handled => return false,
            Some("%handler" | "%guard") if masked > 0 => masked -= 1,
            Some("%handler" | "%guard") => is_handled = true,
            Some(_) | None => {}
        }
    }
    is_handled
}
