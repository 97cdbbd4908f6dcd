//! Captured frames: which of their words the code will still read.
//!
//! Owns the clearing of dead registers. A register that the code writes before it reads it again
//! may hold the head of a long list, so the collector treats it as empty. It clears such words in
//! the copy only, because continuations share segments and an abort needs the old words.
//! INVARIANT: a word is cleared only if [`LiveRegisters`] says that the code does not read it.
//! It does not know instructions; `code/liveness.rs` does.
//! Read next: `heap/collect.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::kind::{Header, Kind, payload_words};
use crate::value::{Immediate, Value};

/// Tells which registers of a frame the code reads after a position.
pub trait LiveRegisters {
    /// The registers that the code from `position` on may read before it writes them, a bit each,
    /// from bit 0 of the first word; `None` means all.
    fn live_at(&self, position: u32) -> Option<&[u64]>;
}

/// Every register may be read; for heaps without code.
#[derive(Clone, Copy, Debug)]
pub struct AllLive;

impl LiveRegisters for AllLive {
    fn live_at(&self, _: u32) -> Option<&[u64]> {
        None
    }
}

/// Clears the dead registers of the frames in `words`, from the last word, a return point,
/// downwards; stops at words that are no frames.
pub(crate) fn clear_dead_frames<W: Copy>(
    words: &mut [W],
    live: &dyn LiveRegisters,
    to_value: impl Fn(W) -> Value,
    empty: W,
) {
    let mut end = words.len();
    let mut known = Known {
        live,
        entries: [None; KNOWN],
    };
    while let Some(&last) = words[..end].last() {
        let point = to_value(last);
        let length = point.detail() as usize;
        if !point.is_immediate(Immediate::Return) || !(2..=end).contains(&length) {
            return;
        }
        if let Some(map) = known.live_at(point.payload()) {
            clear_dead(&mut words[end - length..end - 1], map, empty);
        }
        end -= length;
    }
}

/// Clears those of `registers` that have no bit in `map`.
pub(crate) fn clear_dead<W: Copy>(registers: &mut [W], map: &[u64], empty: W) {
    for (register, word) in registers.iter_mut().enumerate() {
        let bits = map.get(register / 64).copied().unwrap_or(0);
        if bits >> (register % 64) & 1 == 0 {
            *word = empty;
        }
    }
}

/// Clears the dead registers of the words of a [`Kind::Frames`] if it is a segment whose every
/// frame counts.
pub(crate) fn clear_dead_words(words: &mut [u64], live: &dyn LiveRegisters) {
    if is_segment(words) {
        clear_dead_frames(words, live, Value::from_bits, Value::ZERO.to_bits());
    }
}

/// Whether the words of a [`Kind::Frames`] are frames, which begin with a register, and not the
/// return points of a backtrace.
fn is_segment(words: &[u64]) -> bool {
    words
        .first()
        .is_some_and(|&word| !Value::from_bits(word).is_immediate(Immediate::Return))
}

/// The segments that a collection has copied, and how many words of each the links refer to so far.
///
/// A link refers to the first words of its segment only, because the frames above have returned. So
/// links decide how far a segment is scanned.
#[derive(Default)]
pub(super) struct Segments {
    /// The number of scanned words, by the index of the segment's header in the copy.
    scanned: BTreeMap<usize, usize>,
}

impl Segments {
    /// Notes the object at `index` of the copy, a [`Kind::Frames`] or a [`Kind::Link`]; returns
    /// whether it is a segment, which only links cause to be scanned.
    #[inline(always)]
    pub(super) fn is_segment(&mut self, copy: &[u64], index: usize) -> bool {
        let header = Value::from_bits(copy[index]);
        let is_frames = Header::from_value(header).is_some_and(|header| header.kind == Kind::Frames);
        let is_segment = is_frames && is_segment(&copy[index + 1..][..payload_words(header)]);
        if is_segment {
            self.scanned.entry(index).or_insert(0);
        }
        is_segment
    }

    /// Clears the dead registers in the first `limit` words of the segment at `index` of the copy,
    /// and returns the places to scan now.
    pub(super) fn claim(
        &mut self,
        copy: &mut [u64],
        index: usize,
        limit: usize,
        live: &dyn LiveRegisters,
    ) -> Range<usize> {
        let (first, length) = (index + 1, payload_words(Value::from_bits(copy[index])));
        if !is_segment(&copy[first..][..length]) {
            return first..first;
        }
        let scanned = self.scanned.entry(index).or_insert(0);
        let places = first + *scanned..first + limit.min(length).max(*scanned);
        *scanned = places.end - first;
        clear_dead_frames(&mut copy[places.clone()], live, Value::from_bits, Value::ZERO.to_bits());
        places
    }

    /// Clears the words of copied segments that no link refers to.
    pub(super) fn finish(self, copy: &mut [u64]) {
        for (index, scanned) in self.scanned {
            let length = payload_words(Value::from_bits(copy[index]));
            copy[index + 1 + scanned..=index + length].fill(Value::ZERO.to_bits());
        }
    }
}

/// Whether a header is that of a [`Kind::Frames`] or a [`Kind::Link`].
#[inline(always)]
pub(super) fn belongs_to_stack(header: Value) -> bool {
    const { assert!(Kind::Frames as u8 + 1 == Kind::Link as u8) };
    ((header.to_bits() >> 8) as u8).wrapping_sub(Kind::Frames as u8) <= 1
}

/// Whether a header is that of a [`Kind::Link`].
#[inline(always)]
pub(super) fn is_link(header: Value) -> bool {
    (header.to_bits() >> 8) as u8 == Kind::Link as u8
}

/// The number of positions that [`Known`] caches.
const KNOWN: usize = 8;

/// The result of [`LiveRegisters::live_at`].
type Map<'a> = Option<&'a [u64]>;

/// A cache of answers, because the frames of a deep recursion return to few positions.
struct Known<'a> {
    live: &'a dyn LiveRegisters,
    entries: [Option<(u32, Map<'a>)>; KNOWN],
}

impl<'a> Known<'a> {
    #[inline(always)]
    fn live_at(&mut self, position: u32) -> Map<'a> {
        let entry = &mut self.entries[position as usize % KNOWN];
        match entry {
            Some((known, map)) if *known == position => *map,
            _ => {
                let map = self.live.live_at(position);
                *entry = Some((position, map));
                map
            }
        }
    }
}
