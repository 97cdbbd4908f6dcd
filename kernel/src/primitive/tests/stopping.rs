//! Primitives for long texts end their walks when the computation should stop.

use super::*;
use crate::heap::Flags;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const LENGTH: usize = 20_000;

/// The name of a primitive, the characters of its text, and its further arguments as data;
/// `other` is a text that differs in the last character. Without a stop, each outcome depends on
/// the end of the text.
const WALKS: &[(&str, [char; 2], &str)] = &[
    ("string-upcase", ['a', 'b'], ""),
    ("string-upcase", ['ß', 'b'], ""),
    ("string-downcase", ['A', 'B'], ""),
    ("string-downcase", ['Ä', 'B'], ""),
    ("string-downcase", ['Σ', 'B'], ""),
    ("string-foldcase", ['A', 'B'], ""),
    ("string-foldcase", ['ß', 'B'], ""),
    ("string-index", ['a', 'b'], "#\\b"),
    ("string-index", ['ß', 'b'], "#\\b"),
    ("string-contains", ['ß', 'b'], "\"b\""),
    ("string-prefix?", ['ß', 'b'], "other"),
    ("string-suffix?", ['ß', 'b'], "other"),
    ("string-trim", [' ', 'b'], ""),
    ("string-split", ['a', 'b'], "#\\a"),
    ("string->utf8", ['ß', 'b'], ""),
    ("string->list", ['a', 'b'], ""),
    ("string->vector", ['ß', 'b'], ""),
    ("string->symbol", ['ß', 'b'], ""),
    ("string-ci>?", ['b', '|'], "other"),
    ("string-ci=?", ['ß', 'b'], "other"),
];

fn text(heap: &mut Heap, characters: [char; 2]) -> Value {
    let mut text = String::from_iter([characters[0]].repeat(LENGTH));
    text.push(characters[1]);
    heap.string(&text).unwrap()
}

/// Returns the outcome of a call, during which the computation should stop or not.
fn outcome_of(walk: &(&str, [char; 2], &str), is_stopped: bool) -> String {
    let (name, characters, further) = *walk;
    let mut heap = heap();
    let text = text(&mut heap, characters);
    let mut arguments = vec![text];
    if further == "other" {
        arguments.push(self::text(&mut heap, [characters[0], 'z']));
    } else {
        arguments.extend(arguments_of(&mut heap, further));
    }
    stopping(&mut heap, is_stopped, |heap| {
        let result = call(heap, name, &arguments);
        (arguments.clone(), result)
    })
}

fn stopping(
    heap: &mut Heap,
    is_stopped: bool,
    work: impl FnOnce(&mut Heap) -> (Vec<Value>, Result<Value, PrimitiveError>),
) -> String {
    heap.stop_on(Some(Arc::new(AtomicBool::new(is_stopped))));
    let (arguments, result) = work(heap);
    heap.stop_on(None);
    outcome(heap, &arguments, &result)
}

#[test]
fn walks_along_texts_end_when_the_computation_should_stop() {
    for walk in WALKS {
        assert!(outcome_of(walk, true) != outcome_of(walk, false), "{walk:?}");
    }
}

#[test]
fn texts_of_lists_vectors_and_ports_end_when_the_computation_should_stop() {
    let sources = [
        ("string->list", "list->string"),
        ("string->vector", "vector->string"),
        ("open-input-string", "%read-line"),
        ("open-input-string", "%read-string"),
    ];
    for (source, primitive) in sources {
        let written = [false, true].map(|is_stopped| {
            let mut heap = heap();
            let text = text(&mut heap, ['ß', 'b']);
            let mut arguments = vec![call(&mut heap, source, &[text]).unwrap()];
            if primitive == "%read-string" {
                arguments.insert(0, Value::length(LENGTH + 1));
            }
            stopping(&mut heap, is_stopped, |heap| {
                (Vec::new(), call(heap, primitive, &arguments))
            })
        });
        assert_ne!(written[0], written[1], "{primitive}");
    }
}

#[test]
fn data_of_a_long_text_end_when_the_computation_should_stop() {
    let (datum, _) = read_one(&format!("({})", "1 ".repeat(LENGTH)), 0).unwrap().unwrap();
    let made = [false, true].map(|is_stopped| {
        let mut heap = heap();
        heap.stop_on(Some(Arc::new(AtomicBool::new(is_stopped))));
        let values = heap.values_of(&datum, Flags::NONE).unwrap();
        values.iter().filter(|value| value.is_some()).count()
    });
    assert!(made[1] < made[0] / 2, "{made:?}");
}
