//! References of all kinds, against a walk that first finds every object and then looks at each
//! reference.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::code::CodeSpace;
use crate::heap::{AllLive, Limits};

const LIMITS: Limits = Limits { bytes_max: 1 << 20 };

/// A heap of lists, strings and vectors, in the order in which a collection leaves them.
fn heap() -> Heap {
    let mut heap = Heap::new(LIMITS);
    let mut all = Value::NIL;
    for number in 0..12 {
        let string = heap.string(&"x".repeat(number)).unwrap();
        let vector = heap.make_vector(number, string).unwrap();
        all = heap.cons(vector, all).unwrap();
        all = heap.cons(string, all).unwrap();
    }
    let roots = heap.make_vector(1, all).unwrap();
    heap.set_register(Register::Dynamic, roots);
    heap.collect_major(&mut [], &AllLive);
    heap
}

/// The objects by their indices, with the places of their fields.
fn objects(words: &[u64]) -> BTreeMap<usize, (Option<Kind>, Vec<usize>)> {
    let (mut found, mut index) = (BTreeMap::new(), 0);
    while index < words.len() {
        let header = Header::from_value(Value::from_bits(words[index]));
        let fields = match header {
            None => vec![index, index + 1],
            Some(header) if header.kind.is_raw() => Vec::new(),
            Some(header) => (index + 1..=index + header.length as usize).collect(),
        };
        found.insert(index, (header.map(|header| header.kind), fields));
        index += header.map_or(2, Header::object_words);
    }
    found
}

/// Whether every reference leads to an object that fits it, of strings to characters.
fn is_sound(words: &[u64]) -> bool {
    let objects = objects(words);
    let fits = |kind: Option<Kind>, word: Value| {
        let target = objects.get(&word.index()).map(|(kind, _)| *kind);
        match kind {
            Some(Kind::String) => word.is_object() && target == Some(Some(Kind::NarrowCharacters)),
            _ if word.is_pair() => target == Some(None),
            _ if word.is_object() => target.flatten().is_some_and(|kind| !kind.is_procedure()),
            _ => !word.is_reference(),
        }
    };
    let mut all = objects
        .values()
        .flat_map(|(kind, fields)| fields.iter().map(|field| (*kind, *field)));
    all.all(|(kind, field)| fits(kind, Value::from_bits(words[field])))
}

/// The words with some fields replaced, as a heap with the other's registers, and whether that
/// passes.
fn passes(heap: &Heap, words: &[u64]) -> bool {
    let mut raw = Raw::default();
    for (index, (kind, _)) in objects(words) {
        if kind.is_some_and(Kind::is_raw) {
            let header = Header::from_value(Value::from_bits(words[index])).unwrap();
            raw.set(index + 1..index + header.object_words());
        }
    }
    let registers = std::array::from_fn(|place| heap.register(Register::ALL[place]));
    let restored = Heap::from_words(LIMITS, words.to_vec(), registers, words.len()).unwrap();
    check(&restored, &CodeSpace::new(&[]), &raw).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_passes_has_an_object_that_fits_where_each_reference_leads(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5), 0..3),
    ) {
        let heap = heap();
        let mut words = heap.old_words().to_vec();
        // What the kernel keeps for itself has shapes of its own.
        let kinds = [None, Some(Kind::String), Some(Kind::Vector)];
        let of_kinds = objects(&words).into_values().filter(|(kind, _)| kinds.contains(kind));
        let fields: Vec<usize> = of_kinds.flat_map(|(_, fields)| fields).collect();
        for (field, target, class) in changes {
            let half = target.index(words.len() / 2 + 2) * 2;
            // References to what lies nearby and beyond the end, of each class; and what is none.
            let word = match class {
                0 => Value::pair_at(half),
                1 => Value::procedure_at(half),
                2 | 3 => Value::object_at(half),
                _ => Value::small(half as i32),
            };
            words[fields[field.index(fields.len())]] = word.to_bits();
        }
        prop_assert_eq!(passes(&heap, &words), is_sound(&words));
    }
}
