//! Snapshots of whole heaps.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::graphs::{HERE, Recipe, build, recipes};
use super::*;
use crate::heap::{Flags, Register};

const LIMITS: Limits = Limits { bytes_max: 64 << 20 };

/// Where the chunks of a run of snapshots are kept.
#[derive(Default)]
struct Kept(BTreeMap<ChunkName, Vec<u8>>);

impl Kept {
    fn keep(&mut self, snapshot: &Snapshot) {
        for chunk in snapshot.chunks.iter().chain([&snapshot.root]) {
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
    Mark,
    Back(usize),
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
        2 => Just(Step::Mark),
        1 => any::<usize>().prop_map(Step::Back),
        4 => Just(Step::Snapshot),
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
            if list.is_pair()
                && heap.is_kind(heap.car(list), Kind::Bytevector)
                && heap.object_length(heap.car(list)) > 0
            {
                let bytes = heap.car(list);
                let place = place % heap.object_length(bytes);
                heap.raw_range_mut(bytes, place, place + 1)[0] = *value as u8;
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
        // Marks and where to go back to are numbered by `travel`.
        Step::Mark | Step::Back(_) => {}
        Step::Snapshot => heap.collect_minor(&mut [], &AllLive),
    }
}

/// Takes a step, and marks or goes back if it says so.
fn travel(heap: &mut Heap, step: &Step, marks: &mut u64) {
    match step {
        Step::Mark => {
            *marks += 1;
            heap.make_savepoint(*marks, marks.saturating_sub(2));
        }
        Step::Back(number) if *marks > 0 => {
            let number = 1 + *number as u64 % *marks;
            if heap.restore_savepoint(number) {
                *marks = number - 1;
            }
        }
        _ => take(heap, step),
    }
}

/// The snapshot that a heap has if it has had none.
fn whole(heap: &Heap) -> Snapshot {
    let mut heap = heap.clone();
    heap.forget_snapshot();
    snapshot(&mut heap, &HERE).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_restored_heap_is_the_heap_and_goes_on_alike(
        steps in prop::collection::vec(step(), 1..20),
        length in 0u16..9000,
    ) {
        let mut heap = Heap::new(LIMITS);
        let mut kept = Kept::default();
        let mut marks = 0;
        // Of a heap of some size the changes are small.
        take(&mut heap, &Step::Large(length, length % 2 == 0));
        for (place, step) in steps.iter().enumerate() {
            travel(&mut heap, step, &mut marks);
            if !matches!(step, Step::Snapshot) {
                continue;
            }
            let taken = snapshot(&mut heap, &HERE).unwrap();
            kept.keep(&taken);
            let mut restored = kept.restore(&taken.root).unwrap();
            prop_assert_eq!(state(&restored), state(&heap));
            prop_assert_eq!(whole(&restored).root, whole(&heap).root);
            let again = snapshot(&mut restored, &HERE).unwrap();
            kept.keep(&again);
            prop_assert_eq!(state(&kept.restore(&again.root).unwrap()), state(&heap));
            let mut original = heap.clone();
            for step in &steps[place + 1..] {
                take(&mut original, step);
                take(&mut restored, step);
            }
            original.collect_minor(&mut [], &AllLive);
            restored.collect_minor(&mut [], &AllLive);
            prop_assert_eq!(state(&restored), state(&original));
            let later = snapshot(&mut restored, &HERE).unwrap();
            kept.keep(&later);
            prop_assert_eq!(state(&kept.restore(&later.root).unwrap()), state(&original));
        }
    }

    #[test]
    fn damage_is_an_error_or_another_heap(
        recipes in recipes(),
        chunk: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        is_changed in any::<bool>(),
    ) {
        let mut heap = Heap::new(LIMITS);
        take(&mut heap, &Step::Large(3000, true));
        take(&mut heap, &Step::Build(recipes.clone()));
        heap.collect_minor(&mut [], &AllLive);
        let mut taken = snapshot(&mut heap, &HERE).unwrap();
        let mut kept = Kept::default();
        kept.keep(&taken);
        if is_changed {
            take(&mut heap, &Step::Write(1, 5));
            take(&mut heap, &Step::Build(recipes));
            heap.collect_minor(&mut [], &AllLive);
            taken = snapshot(&mut heap, &HERE).unwrap();
        }
        // The damaged chunk gets its right name everywhere, so that it is the decoder that must
        // notice.
        let chunk = chunk.index(taken.chunks.len() + 1);
        let original = taken.chunks.get(chunk).unwrap_or(&taken.root);
        let damaged = Chunk::new(damage(&original.bytes, &changes, cut));
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

/// Bytes of which some have been changed and the last cut off.
fn damage(bytes: &[u8], changes: &[(prop::sample::Index, u8)], cut: Option<prop::sample::Index>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
    bytes
}

/// Uses everything in a heap of unknown content: collections, hashing, equality, tables, symbols
/// and another snapshot.
fn exercise(heap: &mut Heap) {
    heap.collect_major(&mut [], &AllLive);
    let global = heap.register(Register::Runtime0);
    exercise_value(heap, global);
    heap.intern("a").unwrap();
    heap.root(global).unwrap();
    heap.collect_minor(&mut [], &AllLive);
    snapshot(heap, &HERE).unwrap();
}

fn exercise_value(heap: &mut Heap, value: Value) {
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

/// A heap of one vector of 100,000 small integers, in which 50,000 words cannot be counted
/// together.
fn large() -> Heap {
    let mut heap = Heap::new(LIMITS);
    let vector = heap.make_vector(100_000, Value::small(7)).unwrap();
    (0..50_000).for_each(|place| heap.set_field(vector, place, Value::small(place as i32)));
    heap.set_register(Register::Runtime0, vector);
    heap.collect_minor(&mut [], &AllLive);
    heap
}

/// Writes words of the heap's vector, each in a turn of its own.
fn write(heap: &mut Heap, places: impl Iterator<Item = usize>) {
    for place in places {
        heap.begin_turn();
        heap.set_field(heap.register(Register::Runtime0), place, Value::TRUE);
        heap.commit_turn();
    }
    heap.collect_minor(&mut [], &AllLive);
}

#[test]
fn a_snapshot_says_which_words_have_changed() {
    let mut heap = large();
    let first = snapshot(&mut heap, &HERE).unwrap();
    assert_eq!((first.chunks.len(), first.excused_bytes > 0), (196, true));
    heap.make_savepoint(1, 0);
    write(&mut heap, (0..100).map(|number| number * 1000));
    let second = snapshot(&mut heap, &HERE).unwrap();
    assert_eq!((second.chunks.len(), second.excused_bytes), (0, 0));
    let length = second.root.bytes.len();
    assert!(length < 100 * 6 + 200, "a word takes its distance and itself: {length}");
    let mut kept = Kept::default();
    kept.keep(&first);
    kept.keep(&second);
    assert_eq!(state(&kept.restore(&second.root).unwrap()), state(&heap));
}

#[test]
fn without_a_mark_the_words_of_a_page_count_as_changed() {
    let mut heap = large();
    snapshot(&mut heap, &HERE).unwrap();
    write(&mut heap, std::iter::once(60_000));
    let length = snapshot(&mut heap, &HERE).unwrap().root.bytes.len();
    heap.make_savepoint(1, 0);
    write(&mut heap, std::iter::once(60_100));
    assert!(snapshot(&mut heap, &HERE).unwrap().root.bytes.len() < length);
}

#[test]
fn a_whole_snapshot_comes_again_when_changes_have_become_as_long() {
    let mut heap = large();
    let first = snapshot(&mut heap, &HERE).unwrap();
    let (mut said, mut place) = (0, 0);
    let again = loop {
        heap.make_savepoint(1 + said, 0);
        write(&mut heap, (0..2000).map(|number| (place + number * 7) % 100_000));
        place += 300;
        let taken = snapshot(&mut heap, &HERE).unwrap();
        if !taken.chunks.is_empty() {
            break taken;
        }
        said += taken.root.bytes.len() as u64;
    };
    let whole: usize = first.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    assert!(said > whole as u64, "{said} of {whole}");
    assert!(again.chunks.len() < 196, "what has not changed is not written again");
    assert!(again.excused_bytes > 0);
}

/// A heap of some kinds of objects, over more than one range.
fn sample() -> Heap {
    let mut heap = Heap::new(LIMITS);
    let numbers = heap.make_vector(1500, Value::small(7)).unwrap();
    (0..900).for_each(|place| heap.set_field(numbers, place, Value::small(place as i32 * 3)));
    let bytes = heap
        .bytevector(&(0..5000).map(|byte| byte as u8).collect::<Vec<_>>())
        .unwrap();
    let text = heap.string("a golden sn\u{e4}pshot").unwrap();
    let name = heap.intern("golden").unwrap();
    let number = heap
        .make_raw(Kind::Flonum, Flags::NONE, &1e300f64.to_le_bytes())
        .unwrap();
    let list = heap.list(&[text, name, number, HERE.primitive(1)], Value::NIL).unwrap();
    let closure = heap.make(Kind::Closure, &[HERE.entry(3), list]).unwrap();
    let all = heap.make(Kind::Vector, &[numbers, bytes, closure]).unwrap();
    heap.set_register(Register::Runtime0, all);
    heap.collect_minor(&mut [], &AllLive);
    heap
}

/// The chunks of a file, each behind its length in four bytes, little-endian; the root is the last.
fn golden(mut bytes: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (chunk, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        chunks.push(Chunk::new(chunk.to_vec()));
        bytes = rest;
    }
    chunks
}

/// A snapshot of the sample, what changed of it, and the root of that; `golden_snapshot` says how
/// the file is made.
const GOLDEN: &[u8] = include_bytes!("../../../tests/golden/snapshot.bin");

/// The chunks of a snapshot of the sample and of one of what changed of it, as the golden file has
/// them.
fn golden_snapshot() -> Vec<u8> {
    let mut heap = sample();
    let whole = snapshot(&mut heap, &HERE).unwrap();
    write_number(&mut heap);
    let changes = snapshot(&mut heap, &HERE).unwrap();
    assert!(changes.chunks.is_empty(), "what changed is said");
    let chunks = whole.chunks.iter().chain([&whole.root, &changes.root]);
    let framed = chunks.flat_map(|chunk| [&(chunk.bytes.len() as u32).to_le_bytes()[..], &chunk.bytes].concat());
    framed.collect()
}

#[test]
fn the_golden_snapshot_is_read_and_still_written() {
    let mut expected = sample();
    write_number(&mut expected);
    let mut chunks = golden(GOLDEN);
    let root = chunks.pop().unwrap();
    let mut kept = Kept::default();
    kept.0.extend(chunks.into_iter().map(|chunk| (chunk.name, chunk.bytes)));
    assert_eq!(state(&kept.restore(&root).unwrap()), state(&expected));
    assert!(golden_snapshot() == GOLDEN, "the bytes of snapshots have changed");
}

#[test]
fn a_snapshot_of_another_version_is_refused() {
    let mut heap = sample();
    let root = snapshot(&mut heap, &HERE).unwrap().root;
    let version = b"\xb4\xb3\x04heap\xb0\x01".len();
    let mut bytes = root.bytes;
    assert_eq!(bytes[version], 1);
    bytes[version] = 3;
    let refused = Kept::default().restore(&Chunk::new(bytes)).err();
    assert_eq!(refused, Some(ImageError::UnknownVersion(3)));
    let said = refused.map(|error| error.to_string());
    assert_eq!(
        said.as_deref(),
        Some("the image is of version 3, this program reads version 1")
    );
}

/// Changes a number of the sample.
fn write_number(heap: &mut Heap) {
    let numbers = heap.field(heap.register(Register::Runtime0), 0);
    heap.begin_turn();
    heap.set_field(numbers, 700, Value::TRUE);
    heap.commit_turn();
    heap.collect_minor(&mut [], &AllLive);
}

#[test]
fn what_does_not_fit_the_heap_is_named() {
    let mut heap = Heap::new(LIMITS);
    let closure = heap.make(Kind::Closure, &[HERE.entry(140)]).unwrap();
    heap.set_register(Register::Runtime0, closure);
    heap.collect_minor(&mut [], &AllLive);
    let taken = snapshot(&mut heap, &HERE).unwrap();
    let mut kept = Kept::default();
    kept.keep(&taken);
    let mut fetch = |name| kept.0.get(&name).cloned();
    let few = Loaded { base: 0, units: 1 };
    let unit = HERE.name_of_position(HERE.entry(140).payload()).unwrap();
    let refused = restore(&taken.root, LIMITS, &mut fetch, &few).err();
    assert_eq!(refused, Some(ImageError::UnknownCode(unit)));
    let unnamed = Chunk {
        name: taken.root.name,
        bytes: b"something else".to_vec(),
    };
    assert_eq!(
        kept.restore(&unnamed).err(),
        Some(ImageError::WrongName(taken.root.name))
    );
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
        matches!(refused, Some(ImageError::Packed { chunk, .. }) if chunk == name),
        "{refused:?}"
    );
}

#[test]
fn a_snapshot_far_beyond_the_limit_is_refused() {
    let mut heap = Heap::new(LIMITS);
    // Lenient allocation stops at twice the limit and a megaword more.
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
