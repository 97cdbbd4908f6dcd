//! Equality: `eqv?` and `equal?`.
//!
//! Owns comparison without recursion: a stack of goals, so that neither depth nor cycles use the
//! Rust stack. After many steps, in intervals, and always for tables, a comparison assumes that the
//! two objects it compares are equal until it finds a difference (a union-find); the search for a
//! table's matching key may undo assumptions.
//! INVARIANT: it ends for every pair of values, in time nearly linear in their size unless tables
//! have colliding keys, and charges for it. When the computation has to end, it ends at once.
//! It does not allocate in the heap.
//! Read next: `heap/hash.rs`.
//!
//! Source: Adams and Dybvig, "Efficient nondestructive equality checking for trees and graphs",
//! ICFP 2008; R7RS 6.1.

use std::collections::BTreeMap;

use super::kind::{Flags, Kind, Sameness};
use super::rate;
use super::{Heap, Spent, Steps};
use crate::value::Value;

/// Comparisons of pairs and vectors before assumptions are recorded; acyclic data of this size
/// costs nothing extra.
const STEPS_UNRECORDED: usize = 1000;
/// Comparisons recorded in a row, counted from the last that recorded ones decided. Data that share
/// or cycle thus stay recorded, while those that do not pay for a twentieth.
const STEPS_RECORDED: usize = 40;
/// Comparisons between such rows are fewer than this, by a fixed sequence without period that data
/// could match.
const STEPS_BETWEEN: u64 = 1600;

impl Heap {
    /// Whether two values are the same to `eqv?`.
    #[inline]
    pub fn eqv(&self, a: Value, b: Value) -> bool {
        a == b || (a.is_object() && b.is_object() && self.eqv_objects(a, b))
    }

    fn eqv_objects(&self, a: Value, b: Value) -> bool {
        let (Some(header_a), Some(header_b)) = (self.header(a), self.header(b)) else {
            return false;
        };
        if header_a.kind != header_b.kind {
            return false;
        }
        match header_a.kind.sameness() {
            Sameness::Number => {
                self.charge(u64::from(header_a.kind == Kind::Bignum));
                let (bytes_a, bytes_b) = (self.raw_bytes(a), self.raw_bytes(b));
                if bytes_a.len() != bytes_b.len() {
                    return false;
                }
                self.charge_for_bytes(bytes_a.len());
                header_a.flags.has(Flags::NEGATIVE) == header_b.flags.has(Flags::NEGATIVE) && bytes_a == bytes_b
            }
            Sameness::Numbers => {
                self.charge(rate::limbs(self, a) + rate::limbs(self, b));
                self.as_complex(a) == self.as_complex(b)
            }
            Sameness::Identity | Sameness::Name | Sameness::Text | Sameness::Bytes => false,
            Sameness::Parts | Sameness::Record | Sameness::Table => false,
        }
    }

    /// Whether two values are `equal?`: dataspace records, dictionaries and sets by their parts
    /// like vectors, the last two in any order.
    pub fn equal(&self, a: Value, b: Value) -> bool {
        if self.eqv(a, b) {
            return true;
        }
        if !(a.is_reference() && b.is_reference()) {
            return false;
        }
        let mut steps = STEPS_QUICK;
        let known = self.equal_quickly(a, b, DEPTH_QUICK, &mut steps);
        self.charge(OF_OBJECTS + (STEPS_QUICK - steps) as u64 / rate::NODES);
        if let Some(truth) = known {
            return truth;
        }
        let mut comparison = Comparison {
            heap: self,
            unrecorded: STEPS_UNRECORDED,
            recorded: STEPS_RECORDED,
            sequence: 1,
            assumed: Assumptions::default(),
            steps: Steps::default(),
        };
        comparison.run(a, b)
    }

    /// Whether two values are `equal?`, if texts, bytes and few pairs, nested at most `depth` deep,
    /// decide it.
    fn equal_quickly(&self, a: Value, b: Value, depth: usize, steps: &mut usize) -> Option<bool> {
        let (mut a, mut b) = (a, b);
        loop {
            if self.eqv(a, b) {
                return Some(true);
            }
            if !(a.is_pair() && b.is_pair()) {
                *steps = steps.checked_sub(STEPS_OF_LEAF)?;
                return self.equal_without_parts(a, b);
            }
            *steps = steps.checked_sub(1)?;
            if !self.equal_quickly(self.car(a), self.car(b), depth.checked_sub(1)?, steps)? {
                return Some(false);
            }
            (a, b) = (self.cdr(a), self.cdr(b));
        }
    }

    /// Whether two values that are not `eqv?` and not both pairs are `equal?`, unless their parts
    /// decide it.
    fn equal_without_parts(&self, a: Value, b: Value) -> Option<bool> {
        let (Some(header_a), Some(header_b)) = (self.header(a), self.header(b)) else {
            return Some(false);
        };
        if header_a.kind != header_b.kind {
            return Some(false);
        }
        match header_a.kind.sameness() {
            Sameness::Text => Some(self.equal_texts(a, b)),
            Sameness::Bytes => Some(self.equal_bytes(a, b)),
            Sameness::Parts | Sameness::Record | Sameness::Table => None,
            Sameness::Identity | Sameness::Name | Sameness::Number | Sameness::Numbers => Some(false),
        }
    }
}

impl Heap {
    fn equal_texts(&self, a: Value, b: Value) -> bool {
        let (length_a, length_b) = (self.string_length(a), self.string_length(b));
        if length_a != length_b {
            return false;
        }
        self.charge_for_bytes(length_a);
        self.same_text(a, b)
    }

    fn equal_bytes(&self, a: Value, b: Value) -> bool {
        let (bytes_a, bytes_b) = (self.raw_bytes(a), self.raw_bytes(b));
        if bytes_a.len() != bytes_b.len() {
            return false;
        }
        self.charge_for_bytes(bytes_a.len());
        bytes_a == bytes_b
    }

    fn charge_for_bytes(&self, bytes: usize) {
        self.charge(bytes as u64 / rate::BYTES);
    }
}

/// What a comparison of two objects costs, however little they have.
const OF_OBJECTS: u64 = 1;
/// What a comparison of texts, bytes or numbers costs, in steps, besides their length.
const STEPS_OF_LEAF: usize = 4;
/// Fields of vectors and records that are looked at in a step.
const FIELDS_OF_STEP: u64 = 8;

/// What an entry of a table costs besides its key and its value, in steps.
const STEPS_OF_ENTRY: u64 = 24;

/// Pairs that [`Heap::equal`] compares before it records assumptions.
const STEPS_QUICK: usize = 128;
/// How deep their cars may nest.
const DEPTH_QUICK: usize = 8;

/// Something to be shown.
enum Goal {
    /// All of these are equal.
    All(Vec<(Value, Value)>),
    /// Every entry of one table has an equal one in the other, which has as many.
    Match(Match),
}

/// The progress of a comparison of two tables.
struct Match {
    a: Value,
    b: Value,
    /// The first ordinal of `a` not yet compared.
    next: usize,
    /// The candidates in `b` for the key under comparison, last first.
    candidates: Vec<usize>,
    /// The entry of `a` under comparison and the candidate whose key is being compared; nothing
    /// while values are compared.
    trying: Option<(usize, usize)>,
    /// The assumptions to return to if the key under comparison differs.
    checkpoint: usize,
}

/// The result of comparing two values without their parts.
enum Verdict {
    Equal,
    Different,
    Parts,
    Tables,
}

struct Comparison<'a> {
    heap: &'a Heap,
    /// How many comparisons are still not to be recorded.
    unrecorded: usize,
    /// How many are then to be recorded; with a table in play, all.
    recorded: usize,
    /// Where the sequence of [`STEPS_BETWEEN`] stands.
    sequence: u64,
    assumed: Assumptions,
    steps: Steps<{ rate::NODES }>,
}

impl Comparison<'_> {
    fn run(&mut self, a: Value, b: Value) -> bool {
        let mut goals = vec![Goal::All(vec![(a, b)])];
        let mut shown = None;
        while let Some(mut goal) = goals.pop() {
            let step = match &mut goal {
                Goal::All(pairs) => self.compare_all(pairs, shown.take()),
                Goal::Match(table) => self.compare_tables(table, shown.take()),
            };
            match step {
                Advance::Done(truth) => shown = Some(truth),
                Advance::First(subgoal) => goals.extend([goal, subgoal]),
            }
        }
        shown == Some(true)
    }

    fn compare_all(&mut self, pairs: &mut Vec<(Value, Value)>, shown: Option<bool>) -> Advance {
        if shown == Some(false) {
            return Advance::Done(false);
        }
        while let Some((a, b)) = pairs.pop() {
            if self.steps.walk(self.heap, 1).is_err() {
                return Advance::Done(false);
            }
            let leaf = if a.is_pair() || a.to_bits() == b.to_bits() {
                0
            } else {
                STEPS_OF_LEAF as u64
            };
            if self.steps.walk(self.heap, leaf).is_err() {
                return Advance::Done(false);
            }
            match self.look(a, b) {
                Verdict::Equal => {}
                Verdict::Different => return Advance::Done(false),
                Verdict::Parts => {
                    if self.push_parts(a, b, pairs).is_err() {
                        return Advance::Done(false);
                    }
                }
                Verdict::Tables => return Advance::First(Goal::Match(Match::new(a, b, &self.assumed))),
            }
        }
        Advance::Done(true)
    }

    /// Advances the comparison of two tables by one entry; `shown` is the outcome of the last
    /// subgoal.
    fn compare_tables(&mut self, table: &mut Match, shown: Option<bool>) -> Advance {
        let heap = self.heap;
        match (shown, table.trying.take()) {
            (Some(true), Some((ordinal, candidate))) => {
                let entry_a = heap.table_entry(table.a, ordinal);
                let entry_b = heap.table_entry(table.b, candidate);
                return Advance::First(Goal::All(vec![(entry_a.value, entry_b.value)]));
            }
            (Some(false), Some((ordinal, _))) => {
                self.assumed.return_to(table.checkpoint);
                return table.try_next(heap, ordinal);
            }
            (Some(false), None) => return Advance::Done(false),
            (Some(true) | None, _) => {}
        }
        let Some(entry) = heap.table_next(table.a, table.next) else {
            return Advance::Done(true);
        };
        table.next = entry.ordinal + 1;
        if self.steps.walk(self.heap, STEPS_OF_ENTRY).is_err() {
            return Advance::Done(false);
        }
        table.checkpoint = self.assumed.checkpoint();
        let hash = heap.entry_hash(table.a, entry.ordinal);
        table.candidates = heap
            .entries_with_hash(table.b, hash)
            .filter(|&ordinal| {
                heap.entry_hash(table.b, ordinal) == hash && heap.table_entry(table.b, ordinal).key != Value::ABSENT
            })
            .collect();
        table.candidates.reverse();
        table.try_next(heap, entry.ordinal)
    }

    fn look(&mut self, a: Value, b: Value) -> Verdict {
        let heap = self.heap;
        if heap.eqv(a, b) {
            return Verdict::Equal;
        }
        if a.is_pair() && b.is_pair() {
            return self.assume(a, b, Verdict::Parts);
        }
        let (Some(header_a), Some(header_b)) = (heap.header(a), heap.header(b)) else {
            return Verdict::Different;
        };
        if header_a.kind != header_b.kind {
            return Verdict::Different;
        }
        let same_length = header_a.length == header_b.length;
        match header_a.kind.sameness() {
            Sameness::Text => Verdict::from(heap.equal_texts(a, b)),
            Sameness::Bytes => Verdict::from(heap.equal_bytes(a, b)),
            Sameness::Parts if same_length => self.assume(a, b, Verdict::Parts),
            Sameness::Record if same_length && heap.is_labelled(a) && heap.is_labelled(b) => {
                self.assume(a, b, Verdict::Parts)
            }
            Sameness::Table if heap.is_by_identity(a) || heap.is_by_identity(b) => Verdict::Different,
            Sameness::Table if heap.table_count(a) == heap.table_count(b) => {
                (self.unrecorded, self.recorded) = (0, usize::MAX);
                self.assume(a, b, Verdict::Tables)
            }
            Sameness::Parts | Sameness::Record | Sameness::Table => Verdict::Different,
            Sameness::Identity | Sameness::Name | Sameness::Number | Sameness::Numbers => Verdict::Different,
        }
    }

    /// `verdict`, unless the two are assumed equal already; from now on they are.
    fn assume(&mut self, a: Value, b: Value, verdict: Verdict) -> Verdict {
        if self.unrecorded > 0 {
            self.unrecorded -= 1;
            return verdict;
        }
        if self.assumed.unite(a.to_bits(), b.to_bits()) {
            self.recorded = self.recorded.max(STEPS_RECORDED);
            return Verdict::Equal;
        }
        self.recorded -= 1;
        if self.recorded == 0 {
            self.recorded = STEPS_RECORDED;
            // Source: Knuth, MMIX's linear congruential sequence; its high bits are the good ones.
            self.sequence = self
                .sequence
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            self.unrecorded = usize::try_from((self.sequence >> 33) % STEPS_BETWEEN).unwrap_or(0);
        }
        verdict
    }

    fn push_parts(&mut self, a: Value, b: Value, pairs: &mut Vec<(Value, Value)>) -> Result<(), Spent> {
        let heap = self.heap;
        if a.is_pair() {
            pairs.push((heap.cdr(a), heap.cdr(b)));
            pairs.push((heap.car(a), heap.car(b)));
            return Ok(());
        }
        self.steps.walk(heap, heap.object_length(a) as u64 / FIELDS_OF_STEP)?;
        let fields = heap.field_words(a).iter().zip(heap.field_words(b));
        let differing = fields.rev().filter(|(a, b)| a != b);
        pairs.extend(differing.map(|(&a, &b)| (Value::from_bits(a), Value::from_bits(b))));
        Ok(())
    }
}

/// The next step of a comparison of tables.
enum Advance {
    /// The goal is shown or refuted.
    Done(bool),
    /// This must be decided before the goal.
    First(Goal),
}

impl From<bool> for Verdict {
    fn from(truth: bool) -> Verdict {
        if truth { Verdict::Equal } else { Verdict::Different }
    }
}

impl Match {
    fn new(a: Value, b: Value, assumed: &Assumptions) -> Match {
        Match {
            a,
            b,
            next: 0,
            candidates: Vec::new(),
            trying: None,
            checkpoint: assumed.checkpoint(),
        }
    }

    /// Compares the key at `ordinal` with the next candidate's.
    fn try_next(&mut self, heap: &Heap, ordinal: usize) -> Advance {
        let Some(candidate) = self.candidates.pop() else {
            return Advance::Done(false);
        };
        self.trying = Some((ordinal, candidate));
        let key_a = heap.table_entry(self.a, ordinal).key;
        let key_b = heap.table_entry(self.b, candidate).key;
        Advance::First(Goal::All(vec![(key_a, key_b)]))
    }
}

/// Classes of objects assumed equal, with a history that can be taken back.
#[derive(Default)]
struct Assumptions {
    nodes: BTreeMap<u64, usize>,
    /// Each node's parent, itself at a root.
    parents: Vec<usize>,
    sizes: Vec<usize>,
    /// The roots that ceased to be roots, in order.
    history: Vec<usize>,
}

impl Assumptions {
    /// Assumes that two objects are equal; whether that was assumed already.
    fn unite(&mut self, a: u64, b: u64) -> bool {
        let (root_a, root_b) = (self.root(a), self.root(b));
        if root_a == root_b {
            return true;
        }
        let (parent, child) = if self.sizes[root_a] < self.sizes[root_b] {
            (root_b, root_a)
        } else {
            (root_a, root_b)
        };
        self.parents[child] = parent;
        self.sizes[parent] += self.sizes[child];
        self.history.push(child);
        false
    }

    fn root(&mut self, object: u64) -> usize {
        let fresh = self.parents.len();
        let mut node = *self.nodes.entry(object).or_insert(fresh);
        if node == fresh {
            self.parents.push(fresh);
            self.sizes.push(1);
        }
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    fn checkpoint(&self) -> usize {
        self.history.len()
    }

    fn return_to(&mut self, checkpoint: usize) {
        for child in self.history.drain(checkpoint..).rev() {
            let parent = std::mem::replace(&mut self.parents[child], child);
            self.sizes[parent] -= self.sizes[child];
        }
    }
}
