//! Snapshots of whole heaps.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::graphs::{HERE, Recipe, build, recipes};
use super::*;
use crate::heap::Register;

const LIMITS: Limits = Limits { bytes_max: 64 << 20 };

/// Where the chunks of a run of snapshots are kept.
#[derive(Default)]
struct Kept(BTreeMap<ChunkName, Vec<u8>>);

impl Kept {
    fn keep(&mut self, snapshot: &Snapshot) {
        for chunk in &snapshot.chunks {
            self.0.insert(chunk.name, chunk.bytes.clone());
        }
    }

    fn restore(&self, root: &Chunk) -> Result<Heap, ImageError> {
        restore(root, LIMITS, &mut |name| self.0.get(&name).cloned(), &HERE)
    }
}

/// What decides a heap's future: its words, registers and thresholds.
fn state(heap: &Heap) -> (Vec<u64>, Vec<Value>, [usize; 3], bool) {
    let statistics = heap.statistics();
    let sizes = [statistics.words_used, statistics.words_old, statistics.words_live];
    let registers = Register::ALL.iter().map(|&register| heap.register(register)).collect();
    (heap.old_words().to_vec(), registers, sizes, heap.is_collection_due())
}

/// A step of a program; the values it works on are all in one list of the heap.
#[derive(Clone, Debug)]
enum Step {
    Build(Vec<Recipe>),
    Write(usize, usize),
    Large(u16, bool),
    Drop,
    Turn(Vec<Recipe>, bool),
    Major,
    Snapshot,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => recipes().prop_map(Step::Build),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(place, value)| Step::Write(place, value)),
        1 => (any::<u16>(), any::<bool>()).prop_map(|(length, raw)| Step::Large(length % 3000, raw)),
        1 => Just(Step::Drop),
        2 => (recipes(), any::<bool>()).prop_map(|(recipes, commit)| Step::Turn(recipes, commit)),
        1 => Just(Step::Major),
        3 => Just(Step::Snapshot),
    ]
}

fn keep(heap: &mut Heap, value: Value) {
    let list = heap.cons(value, heap.register(Register::Runtime0)).unwrap();
    heap.set_register(Register::Runtime0, list);
}

fn take(heap: &mut Heap, step: &Step) {
    match step {
        Step::Build(recipes) => {
            let nodes = build(heap, recipes, &HERE);
            let vector = heap.make(Kind::Vector, &nodes).unwrap();
            keep(heap, vector);
        }
        Step::Write(place, value) => {
            let list = heap.register(Register::Runtime0);
            if list.is_pair() && heap.is_kind(heap.car(list), Kind::Vector) && heap.object_length(heap.car(list)) > 0 {
                let vector = heap.car(list);
                heap.set_field(vector, place % heap.object_length(vector), Value::small(*value as i32));
            }
        }
        Step::Large(length, true) => {
            let bytes = heap.bytevector(&vec![3; usize::from(*length)]).unwrap();
            keep(heap, bytes);
        }
        Step::Large(length, false) => {
            let vector = heap
                .make_vector(usize::from(*length), heap.register(Register::Runtime0))
                .unwrap();
            keep(heap, vector);
        }
        Step::Drop => heap.set_register(Register::Runtime0, Value::NIL),
        Step::Turn(recipes, commit) => {
            heap.begin_turn();
            take(heap, &Step::Write(3, 4));
            take(heap, &Step::Build(recipes.clone()));
            heap.collect_minor(&mut [], &AllLive);
            take(heap, &Step::Write(1, 5));
            if *commit { heap.commit_turn() } else { heap.abort_turn() }
        }
        Step::Major => heap.collect_major(&mut [], &AllLive),
        Step::Snapshot => heap.collect_minor(&mut [], &AllLive),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_restored_heap_is_the_heap_and_goes_on_alike(steps in prop::collection::vec(step(), 1..14)) {
        let mut heap = Heap::new(LIMITS);
        let mut kept = Kept::default();
        for (place, step) in steps.iter().enumerate() {
            take(&mut heap, step);
            if !matches!(step, Step::Snapshot) {
                continue;
            }
            let taken = snapshot(&mut heap, &HERE).unwrap();
            kept.keep(&taken);
            let mut restored = kept.restore(&taken.root).unwrap();
            prop_assert_eq!(state(&restored), state(&heap));
            prop_assert_eq!(&snapshot(&mut restored, &HERE).unwrap().root, &taken.root);
            restored.forget_snapshot();
            prop_assert_eq!(&snapshot(&mut restored, &HERE).unwrap().root, &taken.root);
            let mut original = heap.clone();
            for step in &steps[place + 1..] {
                take(&mut original, step);
                take(&mut restored, step);
            }
            original.collect_minor(&mut [], &AllLive);
            restored.collect_minor(&mut [], &AllLive);
            prop_assert_eq!(state(&restored), state(&original));
        }
    }

    #[test]
    fn damage_is_an_error_or_another_heap(
        recipes in recipes(),
        chunk: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut heap = Heap::new(LIMITS);
        take(&mut heap, &Step::Build(recipes));
        heap.collect_minor(&mut [], &AllLive);
        let taken = snapshot(&mut heap, &HERE).unwrap();
        let mut kept = Kept::default();
        kept.keep(&taken);
        // The damaged chunk gets its right name everywhere, so that it is the decoder that must notice.
        let chunk = chunk.index(taken.chunks.len() + 1);
        let original = taken.chunks.get(chunk).unwrap_or(&taken.root);
        let mut bytes = original.bytes.clone();
        for (place, byte) in &changes {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        let damaged = Chunk::new(bytes);
        let mut root = taken.root.clone();
        if chunk == taken.chunks.len() {
            root = damaged;
        } else {
            let place = root.bytes.windows(32).position(|window| window == original.name.0).unwrap();
            root.bytes[place..place + 32].copy_from_slice(&damaged.name.0);
            root = Chunk::new(root.bytes);
            kept.0.insert(damaged.name, damaged.bytes);
        }
        if let Ok(mut restored) = kept.restore(&root) {
            exercise(&mut restored);
        }
    }
}

/// Uses everything in a heap of unknown content: collections, hashing, equality, tables, symbols and another snapshot.
pub(super) fn exercise(heap: &mut Heap) {
    heap.collect_major(&mut [], &AllLive);
    let global = heap.register(Register::Runtime0);
    exercise_value(heap, global);
    heap.intern("a").unwrap();
    heap.root(global).unwrap();
    heap.collect_minor(&mut [], &AllLive);
    snapshot(heap, &HERE).unwrap();
}

pub(super) fn exercise_value(heap: &mut Heap, value: Value) {
    heap.hash(value);
    assert!(heap.equal(value, value));
    let mut pending = vec![value];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(value) = pending.pop() {
        if !value.is_reference() || !seen.insert(value.index()) {
            continue;
        }
        match heap.kind_of(value) {
            None => pending.extend([heap.car(value), heap.cdr(value)]),
            Some(Kind::Dictionary | Kind::Set) => {
                let mut ordinal = 0;
                while let Some(entry) = heap.table_next(value, ordinal) {
                    heap.table_get(value, entry.key);
                    pending.extend([entry.key, entry.value]);
                    ordinal = entry.ordinal + 1;
                }
                heap.table_put(value, Value::small(12_345), Value::NIL).unwrap();
            }
            Some(Kind::String | Kind::Symbol) => assert!(heap.string_text(value).chars().count() < 100),
            Some(Kind::Bignum | Kind::Ratio | Kind::Flonum | Kind::Complex) => {
                assert!(heap.as_complex(value).is_some())
            }
            Some(kind) if kind.is_raw() => assert_eq!(heap.raw_bytes(value).len(), heap.object_length(value)),
            Some(_) => pending.extend((0..heap.object_length(value)).map(|field| heap.field(value, field))),
        }
    }
}

#[test]
fn an_unchanged_range_is_not_written_again() {
    let mut heap = Heap::new(LIMITS);
    let vector = heap.make_vector(100_000, Value::small(7)).unwrap();
    heap.set_register(Register::Runtime0, vector);
    heap.collect_minor(&mut [], &AllLive);
    let first = snapshot(&mut heap, &HERE).unwrap();
    assert_eq!(first.chunks.len(), 196);
    heap.begin_turn();
    heap.set_field(heap.register(Register::Runtime0), 60_000, Value::TRUE);
    heap.commit_turn();
    heap.collect_minor(&mut [], &AllLive);
    let second = snapshot(&mut heap, &HERE).unwrap();
    assert_eq!(
        second.chunks.len(),
        1 + 1,
        "the written range, and the last one, behind which survivors would have gone"
    );
    heap.set_field(heap.register(Register::Runtime0), 60_000, Value::small(7));
    let third = snapshot(&mut heap, &HERE).unwrap();
    assert_eq!(third.name(), first.name());
}

#[test]
fn a_missing_or_malformed_chunk_is_named() {
    let mut heap = Heap::new(LIMITS);
    heap.intern("symbol").unwrap();
    heap.collect_minor(&mut [], &AllLive);
    let taken = snapshot(&mut heap, &HERE).unwrap();
    let name = taken.chunks[0].name;
    assert_eq!(
        Kept::default().restore(&taken.root).err(),
        Some(ImageError::MissingChunk(name))
    );
    let mut kept = Kept::default();
    kept.0.insert(name, b"something else".to_vec());
    let refused = kept.restore(&taken.root).err();
    assert!(
        matches!(refused, Some(ImageError::Malformed { chunk, .. }) if chunk == name),
        "{refused:?}"
    );
}

#[test]
fn a_snapshot_far_beyond_the_limit_is_refused() {
    let mut heap = Heap::new(LIMITS);
    // What a limit allows leniently is a megaword more than twice itself.
    let vector = heap.make_vector((1 << 20) + 100, Value::ZERO).unwrap();
    heap.set_register(Register::Runtime0, vector);
    heap.collect_minor(&mut [], &AllLive);
    let taken = snapshot(&mut heap, &HERE).unwrap();
    let mut kept = Kept::default();
    kept.keep(&taken);
    let tiny = Limits { bytes_max: 64 };
    let refused = restore(&taken.root, tiny, &mut |name| kept.0.get(&name).cloned(), &HERE);
    assert_eq!(refused.err(), Some(ImageError::HeapFull));
}

#[test]
fn a_page_that_promotion_fills_up_is_written_again() {
    let mut heap = Heap::new(LIMITS);
    let vector = heap.make_vector(507, Value::ZERO).unwrap();
    heap.set_register(Register::Runtime0, vector);
    heap.collect_minor(&mut [], &AllLive);
    let mut kept = Kept::default();
    kept.keep(&snapshot(&mut heap, &HERE).unwrap());
    keep(&mut heap, Value::TRUE);
    keep(&mut heap, Value::TRUE);
    heap.begin_turn();
    heap.collect_minor(&mut [], &AllLive);
    heap.commit_turn();
    let taken = snapshot(&mut heap, &HERE).unwrap();
    kept.keep(&taken);
    assert_eq!(state(&kept.restore(&taken.root).unwrap()), state(&heap));
}
