//! The differences in an actor's memory between two times: its globals, and everything that they
//! lead to.
//!
//! INVARIANT: comparing changes nothing; the order of the differences depends on the program alone,
//! and a comparison that takes too many steps is cut off and marked so.
//! It does not compare parked computations and ports.
//! Read next: `inspection.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use duet_kernel::heap::{Heap, Kind};
use duet_kernel::machine::Instance;
use duet_kernel::printer::write_limited;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::entity::PROGRAM;
use super::programs::SchemePrograms;

/// A copy of an actor's memory.
pub struct Remembered {
    instance: Instance,
}

/// The differences from a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first differences, in the order of the globals' names.
    pub places: Vec<Difference>,
    /// The number of further differences.
    pub more: usize,
    /// The number of library globals that were defined since.
    pub defined: usize,
    /// Whether the comparison was cut off, so that there may be more.
    pub is_cut_off: bool,
    /// The words in use before and after, garbage included.
    pub words: (usize, usize),
}

/// A place whose value differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The global, then the path from its value: `table["a"]`, `points[3].x`.
    pub place: String,
    /// The earlier value, as text; `None` if the place is new.
    pub before: Option<String>,
    /// The later value, as text; `None` if the place is gone.
    pub after: Option<String>,
}

/// The maximum length of a value's text, in characters.
const CHARACTERS: usize = 60;
/// The maximum length of the text by which table keys are compared, in characters.
const KEY_CHARACTERS: usize = 400;
/// The maximum number of differences that are listed.
const PLACES_MAX: usize = 40;
/// The maximum number of pairs of values that are compared.
const STEPS_MAX: usize = 20_000_000;

impl SchemePrograms {
    /// Copies an actor's memory, for a later comparison.
    pub fn remember(&self, actor: &SchemeActor) -> Remembered {
        let mut instance = Instance::clone(&actor.instance);
        instance.heap.expand();
        Remembered { instance }
    }

    /// Lists the differences between a copy and the actor; without a copy, the actor is new.
    pub fn differences(&self, before: Option<&Remembered>, now: &SchemeActor) -> Differences {
        let now = self.remember(now);
        let empty = Instance::new(super::process_limits::heap_limits(
            &crate::model::limits::Limits::default(),
        ));
        let before = before.map_or(&empty, |before| &before.instance);
        let mut comparison = Comparison {
            programs: self,
            heaps: (&before.heap, &now.instance.heap),
            seen: BTreeSet::new(),
            steps_left: STEPS_MAX,
            nodes: Vec::new(),
            pending: Vec::new(),
            found: Differences::default(),
        };
        let mut globals: Vec<&GlobalName> = self.code.globals().iter().collect();
        globals.sort_unstable();
        for global in globals {
            let value = |instance: &Instance| instance.global(&self.code, global);
            comparison.global(global, value(before), value(&now.instance));
        }
        let words = |heap: &Heap| heap.statistics().words_used;
        comparison.found.words = (words(&before.heap), words(&now.instance.heap));
        comparison.found
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
enum Step {
    Global(String),
    Element(usize),
    /// The tail of an improper list.
    Rest,
    Field(String),
    Entry(String),
    Captured(usize),
}

struct Comparison<'a> {
    programs: &'a SchemePrograms,
    heaps: (&'a Heap, &'a Heap),
    /// The pairs of objects that were compared, so that cycles end.
    seen: BTreeSet<(u64, u64)>,
    steps_left: usize,
    /// Steps, each with the index of the step before.
    nodes: Vec<(usize, Step)>,
    pending: Vec<(usize, Value, Value)>,
    found: Differences,
}

impl Comparison<'_> {
    fn global(&mut self, global: &GlobalName, before: Option<Value>, after: Option<Value>) {
        let is_library =
            global.library.as_str() != PROGRAM && self.programs.present.library_units.contains_key(&global.library);
        let Some(after) = after else { return };
        let Some(before) = before else {
            if is_library {
                self.found.defined += 1;
            } else {
                let node = self.node(usize::MAX, || Step::Global(global.name.as_str().to_owned()));
                self.differ(node, None, Some(after));
            }
            return;
        };
        if before == after && !self.is_object(before) {
            return;
        }
        let name = match is_library {
            true => format!("{} {}", global.library.as_str(), global.name.as_str()),
            false => global.name.as_str().to_owned(),
        };
        let node = self.node(usize::MAX, || Step::Global(name));
        self.pending.push((node, before, after));
        while let Some((node, before, after)) = self.pending.pop() {
            if self.steps_left == 0 {
                self.found.is_cut_off = true;
                self.pending.clear();
                return;
            }
            self.steps_left -= 1;
            let parts = self.pending.len();
            self.compare(node, before, after);
            self.pending[parts..].reverse();
        }
    }

    fn is_object(&self, value: Value) -> bool {
        value.is_pair() || self.heaps.0.kind_of(value).is_some()
    }

    fn node(&mut self, parent: usize, step: impl FnOnce() -> Step) -> usize {
        self.nodes.push((parent, step()));
        self.nodes.len() - 1
    }

    fn compare(&mut self, node: usize, before: Value, after: Value) {
        let (old, new) = self.heaps;
        let kinds = |heap: &Heap, value: Value| (value.is_pair(), heap.kind_of(value));
        let ((is_pair, kind), now) = (kinds(old, before), kinds(new, after));
        if (is_pair, kind) != now || (!is_pair && kind.is_none()) {
            if (is_pair, kind) != now || before != after {
                self.differ(node, Some(before), Some(after));
            }
            return;
        }
        if !self.seen.insert((before.to_bits(), after.to_bits())) {
            return;
        }
        match kind {
            None => self.lists(node, before, after),
            Some(kind) => self.objects(node, kind, before, after),
        }
    }

    /// Compares two lists element by element, and what remains of the longer one.
    fn lists(&mut self, node: usize, mut before: Value, mut after: Value) {
        let (old, new) = self.heaps;
        let mut position = 0;
        while before.is_pair() && after.is_pair() && self.steps_left > 0 {
            self.steps_left -= 1;
            self.part(node, || Step::Element(position), old.car(before), new.car(after));
            (before, after, position) = (old.cdr(before), new.cdr(after), position + 1);
            if before.is_pair() && after.is_pair() && !self.seen.insert((before.to_bits(), after.to_bits())) {
                return;
            }
        }
        self.part(node, || Step::Rest, before, after);
    }

    fn objects(&mut self, node: usize, kind: Kind, before: Value, after: Value) {
        let (old, new) = self.heaps;
        let lengths = (old.object_length(before), new.object_length(after));
        match kind {
            Kind::String => self.leaves(node, before, after, |heap, value| heap.string_text(value)),
            Kind::Symbol | Kind::Keyword | Kind::Ratio | Kind::Complex => {
                let code = &self.programs.code;
                self.leaves(node, before, after, |heap, value| {
                    write_limited(heap, code, value, usize::MAX)
                });
            }
            Kind::NarrowCharacters | Kind::WideCharacters | Kind::Bytevector | Kind::Bignum | Kind::Flonum => {
                self.leaves(node, before, after, |heap, value| {
                    (heap.flags(value).bits(), heap.raw_bytes(value).to_vec())
                });
            }
            Kind::Dictionary => self.tables(node, before, after),
            Kind::Set => self.sets(node, before, after),
            Kind::Closure if old.field(before, 0) != new.field(after, 0) || lengths.0 != lengths.1 => {
                self.differ(node, Some(before), Some(after));
            }
            Kind::Closure => (1..lengths.0).for_each(|place| {
                self.part(
                    node,
                    || Step::Captured(place),
                    old.field(before, place),
                    new.field(after, place),
                );
            }),
            Kind::Cell => self.pending.push((node, old.field(before, 0), new.field(after, 0))),
            Kind::Vector | Kind::Values if lengths.0 == lengths.1 => (0..lengths.0).for_each(|place| {
                self.part(
                    node,
                    || Step::Element(place),
                    old.field(before, place),
                    new.field(after, place),
                );
            }),
            Kind::Record if lengths.0 == lengths.1 => self.records(node, before, after),
            Kind::Promise | Kind::Condition if lengths.0 == lengths.1 => (0..lengths.0).for_each(|place| {
                self.part(
                    node,
                    || Step::Field(place.to_string()),
                    old.field(before, place),
                    new.field(after, place),
                );
            }),
            Kind::Vector | Kind::Values | Kind::Record | Kind::Promise | Kind::Condition => {
                self.differ(node, Some(before), Some(after));
            }
            Kind::RecordType
            | Kind::PromptTag
            | Kind::Frames
            | Kind::Link
            | Kind::PromptLink
            | Kind::Port
            | Kind::Environment
            | Kind::Opaque => {}
        }
    }

    fn leaves<T: PartialEq>(&mut self, node: usize, before: Value, after: Value, of: impl Fn(&Heap, Value) -> T) {
        if of(self.heaps.0, before) != of(self.heaps.1, after) {
            self.differ(node, Some(before), Some(after));
        }
    }

    fn records(&mut self, node: usize, before: Value, after: Value) {
        let (old, new) = self.heaps;
        let label = old.record_label(before);
        self.part(node, || Step::Field("label".to_owned()), label, new.record_label(after));
        for place in 0..old.record_length(before) {
            let name = || {
                // A record with a label of its own has no type, and its fields have no names.
                let has_type = old.is_kind(label, Kind::RecordType) && !old.is_labelled(before);
                let named = has_type.then(|| duet_kernel::printer::field_name(old, label, place));
                Step::Field(
                    named
                        .flatten()
                        .map_or_else(|| place.to_string(), |name| old.symbol_name(name).replace('%', "")),
                )
            };
            let first = old.object_length(before) - old.record_length(before);
            self.part(
                node,
                name,
                old.field(before, first + place),
                new.field(after, first + place),
            );
        }
    }

    fn tables(&mut self, node: usize, before: Value, after: Value) {
        let mut earlier: BTreeMap<String, Value> = self.entries(self.heaps.0, before).into_iter().collect();
        for (key, value) in self.entries(self.heaps.1, after) {
            match earlier.remove(&key) {
                Some(held) => self.part(node, || Step::Entry(key), held, value),
                None => {
                    let node = self.node(node, || Step::Entry(key));
                    self.differ(node, None, Some(value));
                }
            }
        }
        for (key, value) in earlier {
            let node = self.node(node, || Step::Entry(key));
            self.differ(node, Some(value), None);
        }
    }

    fn sets(&mut self, node: usize, before: Value, after: Value) {
        let keys = |entries: Vec<(String, Value)>| entries.into_iter().map(|(key, _)| key).collect::<BTreeSet<_>>();
        if keys(self.entries(self.heaps.0, before)) != keys(self.entries(self.heaps.1, after)) {
            self.differ(node, Some(before), Some(after));
        }
    }

    /// Lists the entries of a table, in its order, with keys as text.
    fn entries(&self, heap: &Heap, table: Value) -> Vec<(String, Value)> {
        let mut entries = Vec::with_capacity(heap.table_count(table));
        let mut next = heap.table_next(table, 0);
        while let Some(entry) = next {
            let key = write_limited(heap, &self.programs.code, entry.key, KEY_CHARACTERS);
            entries.push((key, entry.value));
            next = heap.table_next(table, entry.ordinal + 1);
        }
        entries
    }

    /// Compares parts of values at once if they are simple, otherwise queues them.
    fn part(&mut self, parent: usize, step: impl FnOnce() -> Step, before: Value, after: Value) {
        let is_simple = !self.is_object(before);
        if is_simple && before == after {
            return;
        }
        let node = self.node(parent, step);
        if is_simple {
            self.differ(node, Some(before), Some(after));
        } else {
            self.pending.push((node, before, after));
        }
    }

    fn differ(&mut self, node: usize, before: Option<Value>, after: Option<Value>) {
        if self.found.places.len() >= PLACES_MAX {
            self.found.more += 1;
            return;
        }
        let shown = |heap, value| write_limited(heap, &self.programs.code, value, CHARACTERS);
        let difference = Difference {
            place: self.place(node),
            before: before.map(|value| shown(self.heaps.0, value)),
            after: after.map(|value| shown(self.heaps.1, value)),
        };
        self.found.places.push(difference);
    }

    fn place(&self, node: usize) -> String {
        let mut steps = Vec::new();
        let mut next = self.nodes.get(node);
        while let Some((parent, step)) = next {
            steps.push(step);
            next = self.nodes.get(*parent);
        }
        let mut place = String::new();
        for step in steps.into_iter().rev() {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Global(name) => write!(place, "{name}"),
                Step::Element(position) => write!(place, "[{position}]"),
                Step::Rest => write!(place, "[rest]"),
                Step::Field(name) => write!(place, ".{name}"),
                Step::Entry(key) => write!(place, "[{key}]"),
                Step::Captured(position) => write!(place, " captured {position}"),
            };
        }
        place
    }
}
