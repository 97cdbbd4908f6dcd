//! Graphs of every kind, with sharing and cycles, in one heap and another.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;
use crate::heap::Register;

/// A recipe for one node; numbers choose earlier or later nodes to refer to.
#[derive(Clone, Debug)]
pub(super) enum Recipe {
    Integer(i64),
    Flonum(u64),
    Character(char),
    Constant(u8),
    Primitive(u32),
    Text(String, bool),
    Symbol(String),
    Keyword(String),
    Bytes(Vec<u8>, bool),
    Big(Vec<u8>),
    Ratio(Vec<u8>),
    Complex(Vec<u8>, f64),
    Pair(usize, usize),
    Object(u8, Vec<usize>),
    Closure(u32, Vec<usize>),
    Frames(Vec<(bool, u32)>, Vec<usize>),
    Chain(usize),
    Table(bool, Vec<(usize, usize)>),
    RecordType(String),
    Record(usize, Vec<usize>),
    Opaque(u16, u16, usize),
}

pub(super) fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let node = 0usize..40;
    let nodes = prop::collection::vec(node.clone(), 0..6);
    let bytes = prop::collection::vec(any::<u8>(), 0..20);
    let recipe = prop_oneof![
        any::<i64>().prop_map(Recipe::Integer),
        prop_oneof![
            any::<f64>().prop_map(f64::to_bits),
            (-99i32..99).prop_map(|n| f64::from(n).to_bits())
        ]
        .prop_map(Recipe::Flonum),
        any::<char>().prop_map(Recipe::Character),
        (0u8..5).prop_map(Recipe::Constant),
        any::<u32>().prop_map(|place| Recipe::Primitive(place % 4)),
        ("[aλ𝄞]{0,9}", any::<bool>()).prop_map(|(text, literal)| Recipe::Text(text, literal)),
        "[aλ]{0,3}".prop_map(Recipe::Symbol),
        "[ab]{1,3}".prop_map(Recipe::Keyword),
        (bytes.clone(), any::<bool>()).prop_map(|(bytes, literal)| Recipe::Bytes(bytes, literal)),
        bytes.clone().prop_map(Recipe::Big),
        bytes.clone().prop_map(Recipe::Ratio),
        (bytes, any::<f64>()).prop_map(|(bytes, imaginary)| Recipe::Complex(bytes, imaginary)),
        (node.clone(), node.clone()).prop_map(|(car, cdr)| Recipe::Pair(car, cdr)),
        (any::<u8>(), nodes.clone()).prop_map(|(kind, fields)| Recipe::Object(kind, fields)),
        (0u32..150, nodes.clone()).prop_map(|(place, captured)| Recipe::Closure(place, captured)),
        (prop::collection::vec((any::<bool>(), 0u32..150), 0..4), nodes.clone())
            .prop_map(|(points, values)| Recipe::Frames(points, values)),
        node.clone().prop_map(Recipe::Chain),
        (
            any::<bool>(),
            prop::collection::vec((node.clone(), node.clone()), 0..14)
        )
            .prop_map(|(dictionary, entries)| Recipe::Table(dictionary, entries)),
        "[a-z]{1,4}".prop_map(Recipe::RecordType),
        (node.clone(), nodes).prop_map(|(label, fields)| Recipe::Record(label, fields)),
        (any::<u16>(), any::<u16>(), node).prop_map(|(class, id, payload)| Recipe::Opaque(class, id, payload)),
    ];
    prop::collection::vec(recipe, 1..40)
}

/// Builds the nodes; references are filled in once all exist, tables last.
pub(super) fn build(heap: &mut Heap, recipes: &[Recipe], code: &Loaded) -> Vec<Value> {
    let nodes: Vec<Value> = recipes.iter().map(|recipe| shell(heap, recipe, code)).collect();
    let at = |place: &usize| nodes[place % nodes.len()];
    for (recipe, &node) in recipes.iter().zip(&nodes) {
        match recipe {
            Recipe::Pair(car, cdr) => {
                heap.set_car(node, at(car));
                heap.set_cdr(node, at(cdr));
            }
            Recipe::Object(_, fields) => {
                let (start, end) = open_fields(heap, node);
                fill(heap, node, start, &fields[..fields.len().min(end - start)], &at);
            }
            Recipe::Closure(_, fields) => fill(heap, node, 1, fields, &at),
            Recipe::Frames(points, fields) => fill(heap, node, points.len(), fields, &at),
            Recipe::Record(label, fields) => {
                heap.set_field(node, 0, at(label));
                fill(heap, node, 1, fields, &at);
            }
            Recipe::Chain(handler) => heap.set_field(node, prompt_link::HANDLER, at(handler)),
            Recipe::Opaque(_, _, payload) => heap.set_field(node, opaque::PAYLOAD, at(payload)),
            _ => {}
        }
    }
    for (recipe, &node) in recipes.iter().zip(&nodes) {
        if let Recipe::Table(_, entries) = recipe {
            entries
                .iter()
                .for_each(|(key, value)| heap.table_put(node, at(key), at(value)).unwrap());
        }
    }
    nodes
}

fn fill(heap: &mut Heap, node: Value, start: usize, fields: &[usize], at: &impl Fn(&usize) -> Value) {
    for (field, place) in fields.iter().enumerate().take(heap.object_length(node) - start) {
        heap.set_field(node, start + field, at(place));
    }
}

fn shell(heap: &mut Heap, recipe: &Recipe, code: &Loaded) -> Value {
    match recipe {
        Recipe::Integer(integer) => heap.integer(*integer).unwrap(),
        Recipe::Flonum(bits) => heap.flonum(f64::from_bits(*bits)).unwrap(),
        Recipe::Character(character) => Value::character(*character),
        Recipe::Constant(index) => {
            [Value::FALSE, Value::TRUE, Value::NIL, Value::UNSPECIFIED, Value::EOF][usize::from(*index)]
        }
        Recipe::Primitive(place) => code.primitive(*place),
        Recipe::Text(text, literal) => {
            let string = heap.string(text).unwrap();
            if *literal {
                heap.make_immutable(string);
            }
            string
        }
        Recipe::Symbol(name) => heap.intern(name).unwrap(),
        Recipe::Keyword(name) => heap.keyword(name).unwrap(),
        Recipe::Bytes(bytes, literal) => {
            let object = heap.bytevector(bytes).unwrap();
            if *literal {
                heap.make_immutable(object);
            }
            object
        }
        Recipe::Big(bytes) => heap.big_integer(&BigInt::from_signed_bytes_le(bytes)).unwrap(),
        Recipe::Ratio(bytes) => {
            let numerator: BigInt = BigInt::from_signed_bytes_le(bytes) * 2 + 1;
            let numerator = heap.big_integer(&numerator).unwrap();
            heap.make(Kind::Ratio, &[numerator, Value::small(2)]).unwrap()
        }
        Recipe::Complex(bytes, imaginary) => {
            let real = heap.big_integer(&BigInt::from_signed_bytes_le(bytes)).unwrap();
            let imaginary = heap.flonum(*imaginary).unwrap();
            heap.make(Kind::Complex, &[real, imaginary]).unwrap()
        }
        _ => compound_shell(heap, recipe, code),
    }
}

fn compound_shell(heap: &mut Heap, recipe: &Recipe, code: &Loaded) -> Value {
    match recipe {
        Recipe::Pair(..) => heap.cons(Value::NIL, Value::NIL).unwrap(),
        Recipe::Object(kind, fields) => object_shell(heap, *kind, fields.len()),
        Recipe::Closure(place, captured) => {
            let closure = heap.allocate(Kind::Closure, 1 + captured.len()).unwrap();
            heap.set_field(closure, 0, code.entry(*place));
            closure
        }
        Recipe::Frames(points, values) => frames_shell(heap, points, values.len(), code),
        Recipe::Chain(_) => chain_shell(heap, code),
        Recipe::Table(dictionary, _) => if *dictionary {
            heap.make_dictionary()
        } else {
            heap.make_set()
        }
        .unwrap(),
        Recipe::RecordType(name) => {
            let (name, fields) = (heap.intern(name).unwrap(), heap.make_vector(0, Value::NIL).unwrap());
            heap.make_record_type(name, fields, Value::FALSE).unwrap()
        }
        Recipe::Record(_, fields) => heap.allocate(Kind::Record, 1 + fields.len()).unwrap(),
        Recipe::Opaque(class, id, _) => heap.make_opaque((*class).into(), (*id).into(), Value::NIL).unwrap(),
        atom => panic!("{atom:?} is made whole"),
    }
}

/// Return points and entries, then room for values.
fn frames_shell(heap: &mut Heap, points: &[(bool, u32)], values: usize, code: &Loaded) -> Value {
    let frames = heap.allocate(Kind::Frames, points.len() + values).unwrap();
    for (field, &(is_return, place)) in points.iter().enumerate() {
        let point = if is_return {
            code.returning(place, place)
        } else {
            code.entry(place)
        };
        heap.set_field(frames, field, point);
    }
    frames
}

/// A continuation chain: a prompt, then two segments that share their frames.
fn chain_shell(heap: &mut Heap, code: &Loaded) -> Value {
    let closure = heap.make(Kind::Closure, &[code.entry(3)]).unwrap();
    let words = [
        closure,
        Value::TRUE,
        code.returning(3, 3),
        closure,
        code.returning(4, 2),
    ];
    let frames = heap.make(Kind::Frames, &words).unwrap();
    let older = heap.make(Kind::Link, &[frames, Value::small(3), Value::NIL]).unwrap();
    let segment = heap.make(Kind::Link, &[frames, Value::small(5), older]).unwrap();
    assert_eq!(heap.object_length(segment), link::LENGTH);
    prompt_shell(heap, segment)
}

fn prompt_shell(heap: &mut Heap, next: Value) -> Value {
    let fields = [Value::TRUE, Value::FALSE, next, Value::NIL, Value::NIL];
    heap.make(Kind::PromptLink, &fields).unwrap()
}

fn object_shell(heap: &mut Heap, kind: u8, length: usize) -> Value {
    let kinds = [Kind::Vector, Kind::Cell, Kind::Values, Kind::Promise, Kind::Condition];
    let more = [Kind::PromptTag, Kind::PromptLink, Kind::Port, Kind::Environment];
    match [&kinds[..], &more].concat()[usize::from(kind) % 9] {
        Kind::Cell => heap.make_cell(Value::NIL).unwrap(),
        Kind::Promise => heap.allocate(Kind::Promise, 2).unwrap(),
        Kind::PromptTag => heap.allocate(Kind::PromptTag, 1).unwrap(),
        Kind::Condition => {
            let name = heap.intern("error").unwrap();
            heap.make(Kind::Condition, &[name; condition::LENGTH]).unwrap()
        }
        Kind::Port => {
            let buffer = heap.bytevector(&[1; 8]).unwrap();
            heap.make(
                Kind::Port,
                &[Value::ZERO, buffer, Value::small(2), Value::small(8), Value::FALSE],
            )
            .unwrap()
        }
        Kind::PromptLink => prompt_shell(heap, Value::NIL),
        kind => heap.allocate(kind, length).unwrap(),
    }
}

/// The fields of an object of several kinds that may hold anything.
fn open_fields(heap: &Heap, object: Value) -> (usize, usize) {
    match heap.kind_of(object) {
        Some(Kind::Condition) => (condition::KIND + 1, condition::LENGTH),
        Some(Kind::PromptLink) => (0, 2),
        Some(Kind::Port) => (port::STREAM, port::LENGTH),
        _ => (0, heap.object_length(object)),
    }
}

/// Checks that two graphs in two heaps are the same, node for node.
pub(super) fn check_isomorphic(a: (&Heap, &Loaded), b: (&Heap, &Loaded), roots_a: &[Value], roots_b: &[Value]) {
    let ((heap_a, code_a), (heap_b, code_b)) = (a, b);
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    let mut pending: Vec<(Value, Value)> = roots_a.iter().copied().zip(roots_b.iter().copied()).collect();
    assert_eq!(roots_a.len(), roots_b.len());
    while let Some((a, b)) = pending.pop() {
        if !a.is_reference() {
            check_immediate(a, b, code_a, code_b);
            continue;
        }
        assert!(b.is_reference());
        let met = there.insert(a.to_bits(), b.to_bits());
        assert_eq!(back.insert(b.to_bits(), a.to_bits()).is_some(), met.is_some());
        if let Some(met) = met {
            assert_eq!(met, b.to_bits(), "sharing differs");
            continue;
        }
        let (Some(header_a), Some(header_b)) = (heap_a.header(a), heap_b.header(b)) else {
            assert!(a.is_pair() && b.is_pair());
            pending.extend([(heap_a.car(a), heap_b.car(b)), (heap_a.cdr(a), heap_b.cdr(b))]);
            continue;
        };
        assert_eq!(header_a, header_b);
        match header_a.kind {
            Kind::String | Kind::Symbol => assert_eq!(heap_a.string_text(a), heap_b.string_text(b)),
            Kind::Dictionary | Kind::Set => {
                let entries = |heap: &Heap, table| -> Vec<Value> {
                    std::iter::successors(heap.table_next(table, 0), |entry| {
                        heap.table_next(table, entry.ordinal + 1)
                    })
                    .flat_map(|entry| [entry.key, entry.value])
                    .collect()
                };
                let (entries_a, entries_b) = (entries(heap_a, a), entries(heap_b, b));
                assert_eq!(entries_a.len(), entries_b.len());
                pending.extend(entries_a.into_iter().zip(entries_b));
            }
            Kind::RecordType => pending.push((heap_a.field(a, 0), heap_b.field(b, 0))),
            kind if kind.is_raw() => assert_eq!(heap_a.raw_bytes(a), heap_b.raw_bytes(b)),
            _ => pending
                .extend((0..header_a.length as usize).map(|field| (heap_a.field(a, field), heap_b.field(b, field)))),
        }
    }
}

fn check_immediate(a: Value, b: Value, code_a: &Loaded, code_b: &Loaded) {
    if a.is_immediate(Immediate::Code) || a.is_immediate(Immediate::Return) {
        assert_eq!(a.detail(), b.detail());
        assert_eq!(
            code_a.name_of_position(a.payload()),
            code_b.name_of_position(b.payload())
        );
    } else if a.is_immediate(Immediate::Primitive) {
        assert_eq!(code_a.primitive_name(a.payload()), code_b.primitive_name(b.payload()));
    } else {
        assert_eq!(a, b);
    }
}

pub(super) const HERE: Loaded = Loaded { base: 1000, units: 3 };
const THERE: Loaded = Loaded { base: 77, units: 5 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_restored_graph_is_the_one_of_the_snapshot(
        recipes in recipes(),
        keys in prop::collection::vec(0usize..40, 1..6),
    ) {
        let mut heap_a = roomy();
        let nodes = build(&mut heap_a, &recipes, &HERE);
        let roots: Vec<Value> = keys.iter().map(|key| nodes[key % nodes.len()]).collect();
        let roots_a = heap_a.make(Kind::Vector, &roots).unwrap();
        heap_a.set_register(Register::Runtime0, roots_a);
        heap_a.collect_minor(&mut [], &HERE);
        let taken = snapshot(&mut heap_a, &HERE).unwrap();
        for chunk in taken.chunks.iter().chain([&taken.root]) {
            let value = preserves::read_iovalue_packed(&chunk.bytes, false).unwrap();
            prop_assert_eq!(preserves::write_iovalue_packed(&value, false).unwrap(), chunk.bytes.clone());
        }
        let fetch = |name: ChunkName| {
            let found = taken.chunks.iter().find(|chunk| chunk.name == name);
            found.map(|chunk| chunk.bytes.clone())
        };
        let heap_b = restore(&taken.root, Limits { bytes_max: 64 << 20 }, &mut { fetch }, &THERE).unwrap();
        let [roots_a, roots_b] = [&heap_a, &heap_b].map(|heap| [heap.register(Register::Runtime0)]);
        check_isomorphic((&heap_a, &HERE), (&heap_b, &THERE), &roots_a, &roots_b);
        prop_assert_eq!(graph(&heap_a, &roots_a, &HERE), graph(&heap_b, &roots_b, &THERE));
    }

    #[test]
    fn a_graph_does_not_depend_on_where_its_objects_lie(recipes in recipes()) {
        let (mut heap_a, mut heap_b) = (roomy(), roomy());
        heap_b.list(&[Value::TRUE; 9], Value::NIL).unwrap();
        let nodes_a = build(&mut heap_a, &recipes, &HERE);
        let nodes_b = build(&mut heap_b, &recipes, &THERE);
        prop_assert_eq!(graph(&heap_a, &nodes_a, &HERE), graph(&heap_b, &nodes_b, &THERE));
    }
}

#[test]
fn a_deep_graph_needs_no_rust_stack() {
    let mut heap = roomy();
    let deep = (0..200_000).fold(Value::NIL, |inner, _| heap.cons(inner, Value::TRUE).unwrap());
    assert!(graph(&heap, &[deep], &HERE).unwrap().len() > 200_000);
}

#[test]
fn code_without_a_name_is_named_by_its_position() {
    let mut heap = roomy();
    let foreign = Value::immediate(Immediate::Code, 5000, 0);
    let foreign = heap.make(Kind::Closure, &[foreign]).unwrap();
    let unnamed = ImageError::UnnamedCode { position: 5000 };
    assert_eq!(graph(&heap, &[foreign], &HERE), Err(unnamed.clone()));
    heap.set_register(Register::Runtime0, foreign);
    heap.collect_minor(&mut [], &AllLive);
    assert_eq!(snapshot(&mut heap, &HERE), Err(unnamed));
}
