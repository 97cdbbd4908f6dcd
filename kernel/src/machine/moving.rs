//! Moves frames that wait to the code of a changed text.
//!
//! Segments are immutable and shared, so a segment with a frame that moves is written anew, once,
//! and all links to it lead to the new one from then on, each with the limit of the same frame.
//! INVARIANT: who shares frames still does; prompts, winders and parameters stay.
//! It does not decide what moves; `code/moves.rs` does.

use std::collections::BTreeMap;

use super::MovedWord;
use super::segment::{limit_value, segment_of};
use crate::code::moves::{FrameMove, FrameVariable, Source};
use crate::datum::Datum;
use crate::heap::kind::link;
use crate::heap::{Heap, HeapFull, Kind};
use crate::value::{Immediate, Value};

/// The frames of a segment: for each its first word and its return point, outermost last.
struct Frames(Vec<(usize, Value)>);

impl Frames {
    /// The frames in the first `limit` words of a segment; nothing if these are no frames.
    fn of(heap: &Heap, segment: Value, limit: usize) -> Option<Frames> {
        let mut left = limit;
        let mut frames = Vec::new();
        if !heap.is_kind(segment, Kind::Frames) || limit > heap.object_length(segment) {
            return None;
        }
        while left > 0 {
            let point = heap.field(segment, left - 1);
            let length = point.detail() as usize;
            if !point.is_immediate(Immediate::Return) || !(1..=left).contains(&length) {
                return None;
            }
            left -= length;
            frames.push((left, point));
        }
        Some(Frames(frames))
    }
}

/// Returns the return points of all frames of the heap that wait, each once.
pub fn waiting_points(heap: &mut Heap) -> Vec<Value> {
    heap.expand();
    let mut points = BTreeMap::new();
    for (segment, limit) in segments(heap) {
        let frames = Frames::of(heap, segment, limit).map_or_else(Vec::new, |frames| frames.0);
        points.extend(frames.into_iter().map(|(_, point)| (point.to_bits(), point)));
    }
    points.into_values().collect()
}

/// The values that the person gives to variables which frames do not have.
#[derive(Debug, Default)]
pub struct GivenWords {
    /// The values of expressions, by the segment, the first word of the frame in it, and the number
    /// in [`FrameMove::computed`]. Frames that nobody can continue have none.
    pub computed: BTreeMap<(u64, usize, usize), Value>,
}

/// The values that a frame has for an expression which it needs.
#[derive(Clone, Debug)]
pub struct FrameInputs {
    /// Where the value of the expression belongs, as in [`GivenWords::computed`]; the segment is a
    /// reference.
    pub place: (Value, usize, usize),
    /// The number of the expression, and the names of its variables.
    pub expression: (usize, Vec<String>),
    /// The values of the variables.
    pub values: Vec<Value>,
}

/// Lists what frames need evaluated before they move, for the frames of these segments in order.
pub fn frame_inputs<'a>(
    heap: &mut Heap,
    ordered: &[Value],
    plan: &dyn Fn(Value) -> Option<&'a FrameMove>,
) -> Vec<FrameInputs> {
    heap.expand();
    let limits: BTreeMap<u64, usize> = segments(heap)
        .into_iter()
        .map(|(segment, limit)| (segment.to_bits(), limit))
        .collect();
    let mut found = Vec::new();
    for &segment in ordered {
        let limit = limits.get(&segment.to_bits()).copied().unwrap_or(0);
        let frames = Frames::of(heap, segment, limit).map_or_else(Vec::new, |frames| frames.0);
        for (first, point) in frames {
            let computed = plan(point).map_or(&[][..], |planned| &planned.computed);
            for (number, computed) in computed.iter().enumerate() {
                let value = |variable: &FrameVariable| {
                    let word = heap.field(segment, first + usize::from(variable.register));
                    if variable.is_in_cell {
                        heap.cell_value(word)
                    } else {
                        word
                    }
                };
                found.push(FrameInputs {
                    place: (segment, first, number),
                    expression: (computed.number, computed.names()),
                    values: computed.inputs.iter().map(value).collect(),
                });
            }
        }
    }
    found
}

/// Moves all frames of the heap for which `plan` returns a move, by return point; returns the words
/// that were copied for it.
///
/// # Errors
/// [`HeapFull`]; frames may have moved then, and the turn has to be taken back.
pub fn move_frames<'a>(
    heap: &mut Heap,
    literals: &[Datum],
    given: &GivenWords,
    plan: &dyn Fn(Value) -> Option<&'a FrameMove>,
) -> Result<Vec<MovedWord>, HeapFull> {
    heap.expand();
    let mut copied = Vec::new();
    let literals: Vec<Value> = literals
        .iter()
        .map(|datum| heap.literal(datum))
        .collect::<Result<_, _>>()?;
    let mut moved: BTreeMap<u64, (Value, BTreeMap<usize, usize>)> = BTreeMap::new();
    for (segment, limit) in segments(heap) {
        let Some(frames) = Frames::of(heap, segment, limit) else {
            continue;
        };
        if frames.0.iter().any(|(_, point)| plan(*point).is_some()) {
            let rewriting = Rewriting {
                segment,
                frames: &frames,
                literals: &literals,
                given,
            };
            moved.insert(segment.to_bits(), rewriting.write(heap, plan, &mut copied)?);
        }
    }
    for link in heap.objects_of(Kind::Link) {
        let (segment, limit) = segment_of(heap, link);
        let new = moved.get(&segment.to_bits());
        if let Some((new, end)) = new.and_then(|(new, ends)| Some((*new, *ends.get(&limit)?))) {
            heap.set_field(link, link::FRAMES, new);
            heap.set_field(link, link::LIMIT, limit_value(end));
        }
    }
    Ok(copied)
}

/// All segments with the largest number of words that a link counts.
fn segments(heap: &Heap) -> Vec<(Value, usize)> {
    let mut limits: BTreeMap<u64, (Value, usize)> = BTreeMap::new();
    for link in heap.objects_of(Kind::Link) {
        let (segment, limit) = segment_of(heap, link);
        let known = limits.entry(segment.to_bits()).or_insert((segment, 0));
        known.1 = known.1.max(limit);
    }
    limits.into_values().collect()
}

/// A segment that is written anew.
struct Rewriting<'a> {
    segment: Value,
    frames: &'a Frames,
    /// The literals that the person gives.
    literals: &'a [Value],
    given: &'a GivenWords,
}

impl Rewriting<'_> {
    /// Writes the segment anew; returns it, and where each frame ends in it by where it ended
    /// before. Adds the words that were `copied`.
    fn write<'a>(
        &self,
        heap: &mut Heap,
        plan: &dyn Fn(Value) -> Option<&'a FrameMove>,
        copied: &mut Vec<MovedWord>,
    ) -> Result<(Value, BTreeMap<usize, usize>), HeapFull> {
        let (mut words, mut ends) = (Vec::new(), BTreeMap::new());
        // For words of the new segment, those of the old one that they were, or their cells'.
        let mut former = Vec::new();
        for (first, point) in self.frames.0.iter().rev() {
            let (first, length) = (*first, point.detail() as usize);
            match plan(*point) {
                Some(FrameMove {
                    position, registers, ..
                }) => {
                    for source in registers {
                        if let Source::Register(register) | Source::Cell(register) = source {
                            former.push((words.len(), first + usize::from(*register)));
                        }
                        words.push(self.word(heap, first, *source)?);
                    }
                    former.push((words.len(), first + length - 1));
                    let distance = registers.len() as u32 + 1;
                    words.push(Value::immediate(Immediate::Return, *position, distance));
                }
                None => {
                    former.extend((first..first + length).map(|index| (words.len() + index - first, index)));
                    words.extend((first..first + length).map(|index| heap.field(self.segment, index)));
                }
            }
            ends.insert(first + length, words.len());
        }
        let segment = heap.make(Kind::Frames, &words)?;
        copied.extend(former.into_iter().map(|(word, index)| {
            let was = self.segment.index() + 1 + index;
            let is_in_new_cell = heap.is_kind(words[word], Kind::Cell) && words[word] != heap.word(was);
            let to = if is_in_new_cell {
                words[word].index() + 1
            } else {
                segment.index() + 1 + word
            };
            MovedWord { from: was, to }
        }));
        Ok((segment, ends))
    }

    /// The word of a register of the frame that begins at the word `first`.
    fn word(&self, heap: &mut Heap, first: usize, source: Source) -> Result<Value, HeapFull> {
        let before = |heap: &Heap, register: u16| heap.field(self.segment, first + usize::from(register));
        match source {
            Source::Nothing => Ok(Value::ZERO),
            Source::Register(register) => Ok(before(heap, register)),
            Source::Word(word) => Ok(word),
            Source::Given(number) => Ok(self.literals[number]),
            Source::Computed(number) => Ok(self.computed(first, number)),
            Source::Cell(register) => heap.make(Kind::Cell, &[before(heap, register)]),
            Source::GivenCell(number) => heap.make(Kind::Cell, &[self.literals[number]]),
            Source::ComputedCell(number) => heap.make(Kind::Cell, &[self.computed(first, number)]),
        }
    }
    /// The value of an expression for the frame that begins at the word `first`.
    fn computed(&self, first: usize, number: usize) -> Value {
        let place = (self.segment.to_bits(), first, number);
        self.given.computed.get(&place).copied().unwrap_or(Value::UNSPECIFIED)
    }
}
