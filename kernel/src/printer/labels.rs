//! The parts of a value that need a datum label.
//!
//! INVARIANT: every cycle of the value passes through a labelled part, so a printer that follows
//! the labels ends.
//! It does not write text.
//! Read next: `printer.rs`.

use std::collections::BTreeMap;

use super::{STEPS, is_private_field};
use crate::heap::kind::record;
use crate::heap::{Heap, Kind, Mark, Marks, Steps};
use crate::value::Value;

/// The number of parts that are visited before any is marked; most values are smaller and need no
/// marks.
const STEPS_UNMARKED: usize = 256;

/// The labelled parts, by word index, and the numbers assigned so far.
#[derive(Default)]
pub(super) struct Labels {
    numbers: BTreeMap<usize, Option<u32>>,
    next: u32,
}

/// The way to mention a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// The part has no label.
    Plain,
    /// The definition of this label.
    First(u32),
    /// A reference to this label.
    Again(u32),
}

impl Labels {
    /// Labels the first part of each cycle, in printing order; labels nothing if there are more
    /// than `steps_max` parts.
    pub(super) fn of_cycles(heap: &Heap, value: Value, steps_max: usize) -> Labels {
        let mut labels = Labels::default();
        if is_small_tree(heap, value) {
            return labels;
        }
        let mut marks = Marks::default();
        let (mut steps, mut paid) = (0, Steps::<STEPS>::default());
        let mut children = Vec::new();
        let mut work = vec![(value, false)];
        while let Some((part, is_leaving)) = work.pop() {
            if is_leaving {
                marks.set(part, Mark::Done);
                continue;
            }
            if !is_compound(heap, part) {
                continue;
            }
            match marks.get(part) {
                Mark::Done => {}
                Mark::Open => {
                    labels.numbers.insert(part.index(), None);
                }
                Mark::Never => {
                    steps += 1;
                    if steps > steps_max || paid.walk(heap, 1).is_err() {
                        return Labels::default();
                    }
                    marks.set(part, Mark::Open);
                    work.push((part, true));
                    push_children(heap, part, &mut children);
                    work.extend(children.drain(..).rev().map(|child| (child, false)));
                }
            }
        }
        labels
    }

    /// Labels the parts that occur more than once.
    pub(super) fn of_shared(heap: &Heap, value: Value) -> Labels {
        let mut labels = Labels::default();
        let mut marks = Marks::default();
        let mut steps = Steps::<STEPS>::default();
        let mut work = vec![value];
        while let Some(part) = work.pop() {
            if !is_compound(heap, part) {
                continue;
            }
            if steps.walk(heap, 1).is_err() {
                return labels;
            }
            if marks.get(part) == Mark::Never {
                marks.set(part, Mark::Done);
                push_children(heap, part, &mut work);
            } else {
                labels.numbers.insert(part.index(), None);
            }
        }
        labels
    }

    /// Returns whether a part has a label.
    pub(super) fn is_labelled(&self, part: Value) -> bool {
        !self.numbers.is_empty() && part.is_reference() && self.numbers.contains_key(&part.index())
    }

    /// Returns the way to mention a part, and numbers it the first time.
    pub(super) fn mention(&mut self, part: Value) -> Mention {
        if self.numbers.is_empty() || !part.is_reference() {
            return Mention::Plain;
        }
        match self.numbers.get_mut(&part.index()) {
            None => Mention::Plain,
            Some(Some(number)) => Mention::Again(*number),
            Some(unnumbered) => {
                let number = self.next;
                *unnumbered = Some(number);
                self.next += 1;
                Mention::First(number)
            }
        }
    }
}

/// Returns whether the value has few parts even when shared ones count each time, which rules out a
/// cycle.
fn is_small_tree(heap: &Heap, value: Value) -> bool {
    let mut work = vec![value];
    let mut steps = 0;
    while let Some(part) = work.pop() {
        if is_compound(heap, part) {
            steps += part_size(heap, part);
            if steps > STEPS_UNMARKED {
                return false;
            }
            push_children(heap, part, &mut work);
        }
    }
    true
}

/// Returns whether a value has parts that the printer shows.
fn is_compound(heap: &Heap, value: Value) -> bool {
    value.is_pair() || heap.kind_of(value).is_some_and(is_compound_kind)
}

fn is_compound_kind(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Vector | Kind::Record | Kind::Dictionary | Kind::Set | Kind::Values | Kind::Condition | Kind::PromptTag
    )
}

fn part_size(heap: &Heap, part: Value) -> usize {
    match heap.kind_of(part) {
        None => 1,
        Some(Kind::Dictionary | Kind::Set) => 1 + heap.table_count(part),
        Some(_) => 1 + heap.object_length(part),
    }
}

/// Adds the parts of a compound value, in the order in which they are printed.
fn push_children(heap: &Heap, part: Value, children: &mut Vec<Value>) {
    if part.is_pair() {
        children.extend([heap.car(part), heap.cdr(part)]);
    } else if heap.is_kind(part, Kind::Dictionary) || heap.is_kind(part, Kind::Set) {
        let mut ordinal = 0;
        while let Some(entry) = heap.table_next(part, ordinal) {
            children.extend([entry.key, entry.value]);
            // A set's entry shows its member once.
            children.truncate(children.len() - usize::from(heap.is_kind(part, Kind::Set)));
            ordinal = entry.ordinal + 1;
        }
    } else if heap.is_kind(part, Kind::Record) {
        let shown = (0..heap.record_length(part)).filter(|place| !is_private_field(heap, part, *place));
        children.push(heap.record_label(part));
        children.extend(shown.map(|place| heap.field(part, record::FIELDS + place)));
    } else {
        children.extend(heap.field_words(part).iter().map(|&word| Value::from_bits(word)));
    }
}
