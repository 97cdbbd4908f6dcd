//! Damaged images.

use proptest::prelude::*;

use super::graphs::{HERE, build, recipes};
use super::snapshots::{damage, exercise_value};
use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damage_is_an_error_or_other_values(
        recipes in recipes(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut heap = roomy();
        let nodes = build(&mut heap, &recipes, &HERE);
        let image = freeze(&heap, &nodes, &HERE).unwrap();
        let bytes = damage(&image.root.bytes, &changes, cut);
        let unnamed = Chunk { name: image.root.name, bytes: bytes.clone() };
        if unnamed.bytes != image.root.bytes {
            let error = thaw(&Image { root: unnamed, chunks: Vec::new() }, &mut roomy(), &HERE);
            prop_assert_eq!(error, Err(ImageError::WrongName(image.root.name)));
        }
        let mut target = roomy();
        let damaged = Image { root: Chunk::new(bytes), chunks: image.chunks };
        if let Ok(values) = thaw(&damaged, &mut target, &HERE) {
            let mut values = values;
            target.collect_major(&mut [&mut values], &AllLive);
            values.iter().for_each(|&value| exercise_value(&mut target, value));
            freeze(&target, &values, &HERE).unwrap();
        }
    }

    #[test]
    fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let image = Image { root: Chunk::new(bytes), chunks: Vec::new() };
        prop_assert!(thaw(&image, &mut roomy(), &HERE).is_err());
    }
}

#[test]
fn what_is_missing_is_named() {
    let mut heap = roomy();
    let closure = heap.make(Kind::Closure, &[HERE.entry(140)]).unwrap();
    let image = freeze(&heap, &[closure, HERE.primitive(2)], &HERE).unwrap();
    let few = Loaded { base: 0, units: 1 };
    let unit = HERE.name_of_position(HERE.entry(140).payload()).unwrap();
    assert_eq!(thaw(&image, &mut roomy(), &few), Err(ImageError::UnknownCode(unit)));
    let foreign = heap
        .make(Kind::Closure, &[Value::immediate(Immediate::Code, 5000, 0)])
        .unwrap();
    assert_eq!(
        freeze(&heap, &[foreign], &HERE),
        Err(ImageError::UnnamedCode { position: 5000 })
    );
    let mut cramped = Heap::new(Limits { bytes_max: 8 });
    assert_eq!(thaw(&image, &mut cramped, &HERE), Err(ImageError::HeapFull));
    let list = (0..1000).fold(Value::NIL, |list, number| {
        heap.cons(Value::small(number), list).unwrap()
    });
    let mut image = freeze(&heap, &[list], &HERE).unwrap();
    assert_eq!(image.chunks.len(), 4);
    let last = image.chunks.pop().unwrap();
    assert_eq!(
        thaw(&image, &mut roomy(), &HERE),
        Err(ImageError::MissingChunk(last.name))
    );
}

#[test]
fn deep_and_long_values_need_no_rust_stack() {
    let mut heap = roomy();
    let deep = (0..200_000).fold(Value::NIL, |inner, _| heap.cons(inner, Value::TRUE).unwrap());
    let image = freeze(&heap, &[deep], &HERE).unwrap();
    let mut target = roomy();
    let thawed = thaw(&image, &mut target, &HERE).unwrap();
    assert_eq!(freeze(&target, &thawed, &HERE).unwrap(), image);
}
