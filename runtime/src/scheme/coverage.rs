//! Which lines of a program's texts were executed, and which ways its conditions went.
//!
//! A line counts if an expression begins on it, and is as often executed as the rarest procedure
//! with one there. The texts must be compiled with [`Source::is_counted`](super::Source), which marks
//! each expression.
//! INVARIANT: only texts of files are counted, and each of their lines once.
//! It does not run anything; `kernel/src/machine/counting.rs` counts. Read next: `programs.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::{SourceId, Span};
use duet_kernel::machine::Counts;

use super::convert::EMBEDDED;
use super::programs::SchemePrograms;

/// The counts of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCounts {
    /// How often each line with code was executed, by its number from 1.
    pub lines: BTreeMap<usize, u32>,
    /// The conditions, by line and place, with how often they were true and how often false.
    pub branches: BTreeMap<BranchPlace, [u32; 2]>,
}

/// The place of a condition in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchPlace {
    /// The line from 1.
    pub line: usize,
    /// The bytes of the expression that decides, or of the nearest one.
    pub bytes: (u32, u32),
    /// Its number among those of the same bytes.
    pub number: usize,
}

impl SchemePrograms {
    /// Counts executed instructions from here on, for all actors, without machine code.
    pub fn begin_coverage(&mut self) {
        self.machine.begin_counts();
    }

    /// Returns the counts so far of each text that is a file, by its name; none without
    /// [`begin_coverage`](Self::begin_coverage).
    pub fn coverage(&self) -> BTreeMap<String, TextCounts> {
        let Some(counts) = self.machine.counts() else {
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        let places = Places::of(&self.code, counts);
        for (id, source) in (0..).zip(self.present.expander.sources()) {
            if !source.name.starts_with(EMBEDDED) {
                let counts = places.in_text(SourceId(id), &source.text);
                texts.insert(source.name.clone(), counts);
            }
        }
        texts
    }
}

/// The counts by place.
#[derive(Default)]
struct Places {
    executed: BTreeMap<Key, Executed>,
    branches: BTreeMap<(Key, usize), [u32; 2]>,
}

/// The counts of an expression.
struct Executed {
    /// The block that has it; the last one, if several do.
    block: usize,
    /// Whether several blocks have it, because a form such as `define-record-type` made them.
    is_shared: bool,
    /// How often its block with the most executed it.
    count: u32,
}

/// A span, in an order: text, start, end.
type Key = (u32, u32, u32);

fn key(span: Span) -> Key {
    (span.source.0, span.start, span.end)
}

impl Places {
    fn of(code: &CodeSpace, counts: &Counts) -> Self {
        let mut places = Self::default();
        for (position, span) in code.expressions() {
            let block = code.block_number_at(position).unwrap_or_default();
            let found = places.executed.entry(key(span)).or_insert(Executed {
                block,
                is_shared: false,
                count: 0,
            });
            found.is_shared |= found.block != block;
            found.block = block;
            found.count = found.count.max(counts.executed(position));
        }
        let mut last = None;
        for (position, jumps_if) in code.conditional_jumps() {
            let Some(span) = code.span_at(position) else { continue };
            let block = code.block_number_at(position);
            let number = match last {
                Some((at, before, number)) if (at, before) == (block, span) => number + 1,
                Some(_) | None => 0,
            };
            last = Some((block, span, number));
            let jumped = counts.jumped(position);
            let stayed = counts.executed(position) - jumped;
            let ways = places.branches.entry((key(span), number)).or_default();
            for (way, count) in ways
                .iter_mut()
                .zip(if jumps_if { [jumped, stayed] } else { [stayed, jumped] })
            {
                *way = way.saturating_add(count);
            }
        }
        places
    }

    /// The counts of one text.
    fn in_text(&self, id: SourceId, text: &str) -> TextCounts {
        let starts: Vec<usize> = [0]
            .into_iter()
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let line = |start: u32| starts.partition_point(|begin| *begin <= start as usize);
        let range = (id.0, 0, 0)..(id.0 + 1, 0, 0);
        let mut blocks: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for ((_, start, _), executed) in self.executed.range(range.clone()) {
            let count = blocks.entry((line(*start), executed.block)).or_default();
            *count = (*count).max(executed.count);
        }
        let mut lines = BTreeMap::new();
        for ((line, _), executed) in blocks {
            let count = lines.entry(line).or_insert(executed);
            *count = executed.min(*count);
        }
        let is_own = |key: &Key| self.executed.get(key).is_some_and(|executed| !executed.is_shared);
        let branches = self.branches.range((range.start, 0)..(range.end, 0));
        let branches = branches.filter(|((key, _), _)| is_own(key));
        let branches = branches.map(|(((_, start, end), number), ways)| {
            let place = BranchPlace {
                line: line(*start),
                bytes: (*start, *end),
                number: *number,
            };
            (place, *ways)
        });
        TextCounts {
            lines,
            branches: branches.collect(),
        }
    }
}
