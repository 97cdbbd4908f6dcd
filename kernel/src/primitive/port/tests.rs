//! Ports: reading returns what was written, however the input is split.

use proptest::prelude::*;

use crate::heap::{Heap, Limits};
use crate::primitive::{Context, PrimitiveBody, PrimitiveError, all};
use crate::printer::Anonymous;
use crate::value::Value;

fn heap() -> Heap {
    Heap::new(Limits { bytes_max: 1 << 26 })
}

/// Calls a primitive by name, as the machine does.
fn call(heap: &mut Heap, name: &str, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let primitive = all().find(|primitive| primitive.name == name).unwrap();
    assert!(arguments.len() >= usize::from(primitive.least));
    assert!(primitive.most.is_none_or(|most| arguments.len() <= usize::from(most)));
    match primitive.body {
        PrimitiveBody::Function(function) => function(
            &mut Context {
                heap,
                names: &Anonymous,
            },
            arguments,
        ),
        PrimitiveBody::Control(_) | PrimitiveBody::Host => panic!("{name} computes no value"),
    }
}

fn done(heap: &mut Heap, name: &str, arguments: &[Value]) -> Value {
    call(heap, name, arguments).unwrap()
}

fn input_string(heap: &mut Heap, text: &str) -> Value {
    let string = heap.string(text).unwrap();
    done(heap, "open-input-string", &[string])
}

fn input_bytes(heap: &mut Heap, bytes: &[u8]) -> Value {
    let bytes = heap.bytevector(bytes).unwrap();
    done(heap, "open-input-bytevector", &[bytes])
}

fn console(heap: &mut Heap, stream: i32) -> Value {
    done(heap, "%console-port", &[Value::small(stream)])
}

fn supply(heap: &mut Heap, bytes: &[u8]) {
    let port = console(heap, 0);
    let bytes = heap.bytevector(bytes).unwrap();
    done(heap, "%port-supply!", &[port, bytes]);
}

fn write_string(heap: &mut Heap, port: Value, text: &str) {
    let string = heap.string(text).unwrap();
    done(heap, "%write-string", &[string, port]);
}

fn written(heap: &mut Heap, port: Value) -> String {
    let string = done(heap, "get-output-string", &[port]);
    heap.string_text(string)
}

/// Returns the text that `%port-take-pending!` takes.
fn taken(heap: &mut Heap, port: Value, force: bool) -> Option<String> {
    let bytes = done(heap, "%port-take-pending!", &[port, Value::boolean(force)]);
    bytes
        .is_true()
        .then(|| String::from_utf8(heap.raw_bytes(bytes).to_vec()).unwrap())
}

/// Shows the result of a reading procedure as a short text.
fn shown(heap: &Heap, value: Value) -> String {
    match value {
        Value::FALSE | Value::DEFAULT => "more".to_owned(),
        Value::EOF => "eof".to_owned(),
        _ if heap.is_string(value) => heap.string_text(value),
        _ => crate::printer::write_limited(heap, &Anonymous, value, 100),
    }
}

/// Reads from a fresh port with each step in turn, and checks the results.
fn check_reads(make: impl FnOnce(&mut Heap) -> Value, steps: &[(&str, Option<i32>, &str)]) {
    let mut heap = heap();
    let port = make(&mut heap);
    for (place, (name, count, expected)) in steps.iter().enumerate() {
        let arguments: Vec<Value> = count.map(Value::small).into_iter().chain([port]).collect();
        let answer = done(&mut heap, name, &arguments);
        assert_eq!(shown(&heap, answer), *expected, "step {place}: {name}");
    }
}

#[test]
fn string_ports_are_read() {
    check_reads(
        |heap| input_string(heap, "aλ\n😀b"),
        &[
            ("%peek-char", None, "#\\a"),
            ("%read-char", None, "#\\a"),
            ("%char-ready?", None, "#t"),
            ("%read-char", None, "#\\λ"),
            ("%read-char", None, "#\\newline"),
            ("%read-string", Some(0), ""),
            ("%read-string", Some(5), "😀b"),
            ("%read-string", Some(0), ""),
            ("%read-string", Some(1), "eof"),
            ("%read-char", None, "eof"),
            ("%peek-char", None, "eof"),
            ("%read-line", None, "eof"),
            ("%char-ready?", None, "#t"),
        ],
    );
}

#[test]
fn lines_end_with_newline_return_or_both() {
    check_reads(
        |heap| input_string(heap, "one\ntwo\r\nthree\rfour\n\nlast"),
        &[
            ("%read-line", None, "one"),
            ("%read-line", None, "two"),
            ("%read-line", None, "three"),
            ("%read-line", None, "four"),
            ("%read-line", None, ""),
            ("%read-line", None, "last"),
            ("%read-line", None, "eof"),
        ],
    );
}

#[test]
fn data_are_read() {
    check_reads(
        |heap| {
            input_string(
                heap,
                " (a . #(1 \"s\")) ; comment\n'x #0=(b . #0#) last #!fold-case ABC D #!no-fold-case E",
            )
        },
        &[
            ("%read", None, "(a . #(1 \"s\"))"),
            ("%read-char", None, "#\\space"),
            ("%read", None, "'x"),
            ("%read", None, "#0=(b . #0#)"),
            ("%read", None, "last"),
            ("%read", None, "abc"),
            ("%read", None, "d"),
            ("%read", None, "E"),
            ("%read", None, "eof"),
            ("%read-char", None, "eof"),
        ],
    );
    let long = format!("({}) after", "word ".repeat(5000));
    let expected = format!("({})", vec!["word"; 5000].join(" "));
    let mut heap = heap();
    let port = input_string(&mut heap, &long);
    let datum = done(&mut heap, "%read", &[port]);
    let text = crate::printer::print(&heap, &Anonymous, datum, crate::printer::Style::Write, 1 << 20).unwrap();
    assert_eq!(text, expected);
    let after = done(&mut heap, "%read", &[port]);
    assert_eq!(shown(&heap, after), "after");
}

#[test]
fn data_that_are_read_may_be_changed() {
    let mut heap = heap();
    let port = input_string(&mut heap, "#(\"s\" #u8(1) #0=(\"t\" . #0#))");
    let vector = done(&mut heap, "%read", &[port]);
    let [string, bytes, pair] = [0, 1, 2].map(|place| heap.field(vector, place));
    for part in [vector, string, bytes, heap.car(pair)] {
        assert!(!heap.is_immutable(part));
    }
}

#[test]
fn data_come_to_the_console_in_pieces() {
    let mut heap = heap();
    let port = console(&mut heap, 0);
    for (piece, expected) in [
        ("(a ", "more"),
        ("#\\spa", "more"),
        ("ce \u{ce}", "more"),
        ("b)", "(a #\\space \u{fffd}b)"),
        ("sym", "more"),
        ("bol ", "symbol"),
        (" ; comment\n", "more"),
        ("\"x\"", "x"),
        ("12", "more"),
        ("", "12"),
    ] {
        let bytes: Vec<u8> = piece.chars().map(|character| character as u8).collect();
        supply(&mut heap, &bytes);
        let datum = done(&mut heap, "%read", &[port]);
        assert_eq!(shown(&heap, datum), expected, "{piece}");
    }
}

#[test]
fn a_malformed_datum_is_reported_and_passed_over() {
    let mut heap = heap();
    for (text, next) in [(") a", "a"), ("#<x> b", "b"), ("(c", "eof"), ("\"d", "eof")] {
        let port = input_string(&mut heap, text);
        let outcome = call(&mut heap, "%read", &[port]);
        let is_read_error = matches!(outcome, Err(PrimitiveError::Condition { kind: "read-error", .. }));
        assert!(is_read_error, "{text}: {outcome:?}");
        let datum = done(&mut heap, "%read", &[port]);
        assert_eq!(shown(&heap, datum), next);
    }
}

#[test]
fn bytevector_ports_are_read() {
    check_reads(
        |heap| input_bytes(heap, &[1, 2, 255, 3]),
        &[
            ("%peek-u8", None, "1"),
            ("%read-u8", None, "1"),
            ("%u8-ready?", None, "#t"),
            ("%read-bytevector", Some(2), "#u8(2 255)"),
            ("%read-bytevector", Some(2), "#u8(3)"),
            ("%read-bytevector", Some(2), "eof"),
            ("%read-bytevector", Some(0), "#u8()"),
            ("%read-u8", None, "eof"),
            ("%peek-u8", None, "eof"),
            ("%port-needs-input?", None, "more"),
        ],
    );
}

#[test]
fn the_console_says_when_it_lacks_data() {
    let mut heap = heap();
    let port = console(&mut heap, 0);
    let read = |heap: &mut Heap, name: &str| {
        let answer = done(heap, name, &[port]);
        shown(heap, answer)
    };
    assert_eq!(read(&mut heap, "%read-char"), "more");
    assert_eq!(read(&mut heap, "%port-needs-input?"), "#t");
    supply(&mut heap, b"ab");
    assert_eq!(read(&mut heap, "%port-needs-input?"), "more");
    assert_eq!(read(&mut heap, "%read-line"), "more");
    assert_eq!(read(&mut heap, "%read-char"), "#\\a");
    supply(&mut heap, b"c\r");
    assert_eq!(read(&mut heap, "%read-line"), "more");
    supply(&mut heap, b"\nd\xce");
    assert_eq!(read(&mut heap, "%read-line"), "bc");
    assert_eq!(read(&mut heap, "%read-char"), "#\\d");
    assert_eq!(read(&mut heap, "%peek-char"), "more");
    supply(&mut heap, b"\xbb\xce");
    assert_eq!(read(&mut heap, "%read-char"), "#\\λ");
    supply(&mut heap, b"");
    assert_eq!(read(&mut heap, "%read-char"), "#\\\u{fffd}");
    assert_eq!(read(&mut heap, "%read-char"), "eof");
    assert_eq!(read(&mut heap, "%read-line"), "eof");
    supply(&mut heap, b"x");
    assert_eq!(read(&mut heap, "%read-char"), "#\\x");
    assert_eq!(read(&mut heap, "%read-char"), "more");
}

#[test]
fn the_console_is_emptied_when_it_wants_to_be() {
    let mut heap = heap();
    let port = console(&mut heap, 1);
    assert_eq!(taken(&mut heap, port, true), None);
    write_string(&mut heap, port, "héllo");
    assert_eq!(taken(&mut heap, port, false), None);
    assert_eq!(taken(&mut heap, port, true).as_deref(), Some("héllo"));
    assert_eq!(taken(&mut heap, port, true), None);
    write_string(&mut heap, port, "a\nb");
    assert_eq!(taken(&mut heap, port, false), None);
    done(&mut heap, "%set-port-line-buffered!", &[port, Value::TRUE]);
    assert_eq!(taken(&mut heap, port, false).as_deref(), Some("a\nb"));
    write_string(&mut heap, port, "c");
    assert_eq!(taken(&mut heap, port, false), None);
    done(&mut heap, "%write-char", &[Value::character('\n'), port]);
    assert_eq!(taken(&mut heap, port, false).as_deref(), Some("c\n"));
    done(&mut heap, "%set-port-line-buffered!", &[port, Value::FALSE]);
    write_string(&mut heap, port, "d\n");
    assert_eq!(taken(&mut heap, port, false), None);
    write_string(&mut heap, port, &"e".repeat((1 << 18) - 3));
    assert_eq!(taken(&mut heap, port, false), None);
    write_string(&mut heap, port, "f");
    assert_eq!(taken(&mut heap, port, false).map(|text| text.len()), Some(1 << 18));
    let string_port = done(&mut heap, "open-output-string", &[]);
    write_string(&mut heap, string_port, "kept\n");
    assert_eq!(taken(&mut heap, string_port, true), None);
    assert_eq!(written(&mut heap, string_port), "kept\n");
}

#[test]
fn there_is_one_console() {
    let mut heap = heap();
    let ports: Vec<Value> = (0..3).map(|stream| console(&mut heap, stream)).collect();
    for (stream, &port) in ports.iter().enumerate() {
        assert_eq!(console(&mut heap, stream as i32), port);
        assert_eq!(done(&mut heap, "%port-stream", &[port]), Value::length(stream));
    }
    assert_ne!(ports[1], ports[2]);
    assert_eq!(
        call(&mut heap, "%console-port", &[Value::small(3)]),
        Err(PrimitiveError::OutOfRange { argument: 0 })
    );
    assert!(call(&mut heap, "%console-port", &[Value::small(-1)]).is_err());
}

#[test]
fn integers_are_written_as_the_printer_shows_them() {
    let mut heap = heap();
    for integer in [
        0,
        7,
        -1,
        10,
        -905,
        1 << 40,
        crate::number::FIXNUM_MAX,
        crate::number::FIXNUM_MIN,
    ] {
        let port = done(&mut heap, "open-output-string", &[]);
        let value = Value::fixnum(integer).unwrap();
        done(&mut heap, "%write", &[value, port]);
        assert_eq!(written(&mut heap, port), integer.to_string());
    }
}

#[test]
fn objects_are_written() {
    let mut heap = heap();
    let port = done(&mut heap, "open-output-string", &[]);
    let string = heap.string("a\"λ").unwrap();
    let part = heap.list(&[string], Value::NIL).unwrap();
    let object = heap.list(&[part, part, Value::character('c')], Value::NIL).unwrap();
    for (name, expected) in [
        ("%display", "((a\"λ) (a\"λ) c)"),
        ("%write", "((\"a\\\"λ\") (\"a\\\"λ\") #\\c)"),
        ("%write-shared", "(#0=(\"a\\\"λ\") #0# #\\c)"),
        ("%write-simple", "((\"a\\\"λ\") (\"a\\\"λ\") #\\c)"),
    ] {
        let before = written(&mut heap, port);
        done(&mut heap, name, &[object, port]);
        assert_eq!(written(&mut heap, port), before + expected);
    }
    let port = done(&mut heap, "open-output-string", &[]);
    done(&mut heap, "%display", &[string, port]);
    done(&mut heap, "%display", &[Value::character('é'), port]);
    done(&mut heap, "%write-string", &[string, port, Value::small(1)]);
    done(
        &mut heap,
        "%write-string",
        &[string, port, Value::ZERO, Value::small(1)],
    );
    assert_eq!(written(&mut heap, port), "a\"λé\"λa");
    let limited = done(&mut heap, "%write-limited", &[object, Value::small(6)]);
    assert_eq!(heap.string_text(limited), "((\"a\\…");
}

#[test]
fn an_endless_text_exhausts_memory_and_leaves_the_port_as_it_was() {
    let mut heap = Heap::new(Limits { bytes_max: 1 << 16 });
    let port = done(&mut heap, "open-output-string", &[]);
    write_string(&mut heap, port, "before");
    let cycle = heap.cons(Value::TRUE, Value::NIL).unwrap();
    heap.set_cdr(cycle, cycle);
    assert_eq!(
        call(&mut heap, "%write-simple", &[cycle, port]),
        Err(PrimitiveError::HeapFull)
    );
    assert_eq!(written(&mut heap, port), "before");
}

#[test]
fn bytes_are_written() {
    let mut heap = heap();
    let port = done(&mut heap, "open-output-bytevector", &[]);
    let bytes = heap.bytevector(&[1, 2, 3]).unwrap();
    done(&mut heap, "%write-u8", &[Value::small(255), port]);
    done(&mut heap, "%write-bytevector", &[bytes, port]);
    done(
        &mut heap,
        "%write-bytevector",
        &[bytes, port, Value::small(1), Value::small(2)],
    );
    let collected = done(&mut heap, "get-output-bytevector", &[port]);
    assert_eq!(heap.raw_bytes(collected), [255, 1, 2, 3, 2]);
}

#[test]
fn predicates_tell_ports_apart() {
    let mut heap = heap();
    let ports = [
        input_string(&mut heap, ""),
        done(&mut heap, "open-output-string", &[]),
        input_bytes(&mut heap, &[]),
        done(&mut heap, "open-output-bytevector", &[]),
        console(&mut heap, 0),
        console(&mut heap, 2),
        Value::TRUE,
    ];
    for (name, expected) in [
        ("port?", "111111-"),
        ("input-port?", "1-1-1--"),
        ("output-port?", "-1-1-1-"),
        ("textual-port?", "11--11-"),
        ("binary-port?", "--11---"),
    ] {
        let answers: String = ports
            .iter()
            .map(|&port| {
                if done(&mut heap, name, &[port]).is_true() {
                    '1'
                } else {
                    '-'
                }
            })
            .collect();
        assert_eq!(answers, expected, "{name}");
    }
}

#[test]
fn closed_ports_refuse() {
    let mut heap = heap();
    let input = input_string(&mut heap, "abc");
    let output = done(&mut heap, "open-output-string", &[]);
    write_string(&mut heap, output, "kept");
    assert!(call(&mut heap, "close-output-port", &[input]).is_err());
    assert!(done(&mut heap, "input-port-open?", &[input]).is_true());
    done(&mut heap, "close-input-port", &[input]);
    done(&mut heap, "close-port", &[output]);
    assert!(!done(&mut heap, "input-port-open?", &[input]).is_true());
    assert!(!done(&mut heap, "output-port-open?", &[output]).is_true());
    for (name, arguments) in [
        ("%read-char", vec![input]),
        ("%write-char", vec![Value::character('x'), output]),
        ("%write", vec![Value::TRUE, output]),
    ] {
        let Err(PrimitiveError::Condition { kind, irritants, .. }) = call(&mut heap, name, &arguments) else {
            panic!("{name} must refuse");
        };
        assert_eq!((kind, irritants), ("port-closed", vec![*arguments.last().unwrap()]));
    }
    assert_eq!(written(&mut heap, output), "kept");
}

#[test]
fn arguments_are_checked() {
    let mut heap = heap();
    let text_in = input_string(&mut heap, "abc");
    let text_out = done(&mut heap, "open-output-string", &[]);
    let bytes_in = input_bytes(&mut heap, &[1]);
    let bytes_out = done(&mut heap, "open-output-bytevector", &[]);
    let console_out = console(&mut heap, 1);
    let string = heap.string("abc").unwrap();
    let three = Value::small(3);
    for (name, arguments, argument) in [
        ("%read-char", vec![bytes_in], 0),
        ("%read-char", vec![text_out], 0),
        ("%read-char", vec![three], 0),
        ("%read-u8", vec![text_in], 0),
        ("%read-string", vec![Value::TRUE, text_in], 0),
        ("%read-string", vec![Value::small(-1), text_in], 0),
        ("%write-char", vec![Value::character('x'), text_in], 1),
        ("%write-char", vec![Value::character('x'), bytes_out], 1),
        ("%write-char", vec![string, text_out], 0),
        ("%write-string", vec![three, text_out], 0),
        ("%write-string", vec![string, text_out, Value::small(4)], 2),
        (
            "%write-string",
            vec![string, text_out, Value::small(2), Value::small(1)],
            2,
        ),
        ("%write-string", vec![string, text_out, Value::ZERO, Value::small(4)], 3),
        ("%write-u8", vec![Value::small(256), bytes_out], 0),
        ("%write-u8", vec![three, text_out], 1),
        ("%write-bytevector", vec![string, bytes_out], 0),
        ("get-output-string", vec![bytes_out], 0),
        ("get-output-string", vec![text_in], 0),
        ("get-output-string", vec![console_out], 0),
        ("get-output-bytevector", vec![text_out], 0),
        ("open-input-string", vec![three], 0),
        ("open-input-bytevector", vec![string], 0),
        ("%port-supply!", vec![text_in, string], 0),
        ("%port-take-pending!", vec![text_in, Value::FALSE], 0),
        ("%write-limited", vec![three, Value::ZERO], 1),
    ] {
        let place = match call(&mut heap, name, &arguments) {
            Err(PrimitiveError::WrongType { argument, .. } | PrimitiveError::OutOfRange { argument }) => argument,
            outcome => panic!("{name}: {outcome:?}"),
        };
        assert_eq!(place, argument, "{name}");
    }
}

#[test]
fn an_aborted_turn_has_neither_read_nor_written() {
    let mut heap = heap();
    let input = input_string(&mut heap, "abc");
    let output = done(&mut heap, "open-output-string", &[]);
    write_string(&mut heap, output, "before");
    heap.begin_turn();
    done(&mut heap, "%read-char", &[input]);
    write_string(&mut heap, output, &"x".repeat(1000));
    supply(&mut heap, b"lost");
    heap.abort_turn();
    assert_eq!(done(&mut heap, "%read-char", &[input]), Value::character('a'));
    assert_eq!(written(&mut heap, output), "before");
    let console = console(&mut heap, 0);
    assert_eq!(done(&mut heap, "%read-char", &[console]), Value::FALSE);
}

/// Bytes with many beginnings, middles and ends of characters among them.
fn torn_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[a-zλ€😀\r\n]{0,3}".prop_map(String::into_bytes),
        prop::collection::vec(
            prop_oneof![0x80u8..=0xff, prop::sample::select(vec![0xe2, 0x82, 0xf0, 0x9f, 0xed])],
            0..3
        ),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn text_is_decoded_the_same_however_it_comes(
        bytes in torn_text(),
        cuts in prop::collection::vec(1usize..7, 1..20),
    ) {
        let mut heap = heap();
        let port = console(&mut heap, 0);
        let (mut text, mut rest, mut cuts) = (String::new(), &bytes[..], cuts.iter().cycle());
        loop {
            let character = done(&mut heap, "%read-char", &[port]);
            match character.as_character() {
                Some(character) => text.push(character),
                None if character == Value::EOF => break,
                None => {
                    let (chunk, later) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
                    supply(&mut heap, chunk);
                    rest = later;
                }
            }
        }
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn what_is_written_reads_back(pieces in prop::collection::vec(".{0,40}", 0..20), count in 1i32..9) {
        let mut heap = heap();
        let port = done(&mut heap, "open-output-string", &[]);
        for (place, piece) in pieces.iter().enumerate() {
            if place % 2 == 0 {
                write_string(&mut heap, port, piece);
            } else {
                for character in piece.chars() {
                    done(&mut heap, "%write-char", &[Value::character(character), port]);
                }
            }
        }
        let text = pieces.concat();
        prop_assert_eq!(&written(&mut heap, port), &text);
        let port = input_string(&mut heap, &text);
        let mut read = String::new();
        loop {
            let piece = done(&mut heap, "%read-string", &[Value::small(count), port]);
            if piece == Value::EOF {
                break;
            }
            read.push_str(&heap.string_text(piece));
        }
        prop_assert_eq!(read, text);
    }

    #[test]
    fn buffers_lose_nothing(steps in prop::collection::vec((0usize..200, 0usize..200), 1..60)) {
        let mut heap = heap();
        let port = console(&mut heap, 0);
        let (mut supplied, mut read) = (0u32, 0u32);
        for (in_count, out_count) in steps {
            let bytes: Vec<u8> = (0..in_count as u32).map(|place| ((supplied + place) % 96) as u8 + 32).collect();
            supplied += in_count as u32;
            if !bytes.is_empty() {
                supply(&mut heap, &bytes.iter().map(|&byte| byte.min(126)).collect::<Vec<_>>());
            }
            for _ in 0..out_count {
                let character = done(&mut heap, "%read-char", &[port]);
                let Some(character) = character.as_character() else {
                    prop_assert_eq!(read, supplied);
                    break;
                };
                prop_assert_eq!(character, char::from(((read % 96) as u8 + 32).min(126)));
                read += 1;
            }
        }
    }
}
