//! The text of values: tables, cycles, sharing, depth and limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::datum::{Datum, Name, Node, NodeId};
use crate::heap::Limits;
use proptest::prelude::*;

struct NoNames;

impl Names for NoNames {
    fn primitive_name(&self, _: u32) -> &str {
        "car"
    }

    fn procedure_name(&self, position: u32) -> Option<&str> {
        (position == 7).then_some("square")
    }
}

fn heap() -> Heap {
    Heap::new(Limits { bytes_max: 1 << 30 })
}

fn text(heap: &Heap, value: Value, style: Style) -> String {
    print(heap, &NoNames, value, style, 1 << 20).unwrap()
}

/// Checks the text that `display` and `write` give for the value that `build` makes.
fn check(build: impl FnOnce(&mut Heap) -> Value, displayed: &str, written: &str) {
    let mut heap = heap();
    let value = build(&mut heap);
    assert_eq!(text(&heap, value, Style::Display), displayed);
    for style in [Style::Write, Style::Shared, Style::Simple] {
        assert_eq!(text(&heap, value, style), written, "{style:?}");
    }
}

fn symbols(heap: &mut Heap, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| heap.intern(name).unwrap()).collect()
}

fn list(heap: &mut Heap, names: &[&str]) -> Value {
    let elements = symbols(heap, names);
    heap.list(&elements, Value::NIL).unwrap()
}

#[test]
fn immediates() {
    for (value, expected) in [
        (Value::FALSE, "#f"),
        (Value::TRUE, "#t"),
        (Value::NIL, "()"),
        (Value::small(-12), "-12"),
        (Value::flonum(0.5).unwrap(), "0.5"),
        (Value::flonum(-0.0).unwrap(), "-0.0"),
        (Value::EOF, "#<eof>"),
        (Value::UNSPECIFIED, "#<unspecified>"),
        (Value::UNDEFINED, "#<undefined>"),
        (Value::DEFAULT, "#<default>"),
        (Value::immediate(Immediate::Primitive, 3, 0), "#<procedure car>"),
    ] {
        check(|_| value, expected, expected);
    }
}

#[test]
fn characters() {
    for (character, expected) in [
        ('a', "#\\a"),
        ('(', "#\\("),
        ('λ', "#\\λ"),
        (' ', "#\\space"),
        ('\n', "#\\newline"),
        ('\0', "#\\null"),
        ('\u{7f}', "#\\delete"),
        ('\u{1}', "#\\x1"),
        ('\u{a0}', "#\\xa0"),
        ('\u{feff}', "#\\xfeff"),
    ] {
        check(|_| Value::character(character), &character.to_string(), expected);
    }
}

#[test]
fn strings() {
    for (content, expected) in [
        ("", r#""""#),
        ("plain", r#""plain""#),
        ("a\"b\\c", r#""a\"b\\c""#),
        ("\n\t\r\u{7}\u{8}\u{1b}", r#""\n\t\r\a\b\x1b;""#),
        ("né|λ", r#""né|λ""#),
    ] {
        check(|heap| heap.string(content).unwrap(), content, expected);
    }
}

#[test]
fn symbols_stand_between_bars_when_they_would_read_as_something_else() {
    for (name, expected) in [
        ("abc", "abc"),
        ("...", "..."),
        ("+", "+"),
        ("-", "-"),
        ("->x", "->x"),
        ("1+", "1+"),
        ("λ", "λ"),
        (":", ":"),
        ("a:b", "a:b"),
        ("<point>", "<point>"),
        ("", "||"),
        (".", "|.|"),
        ("a b", "|a b|"),
        ("a|b", r"|a\|b|"),
        ("12", "|12|"),
        ("+5", "|+5|"),
        (".5x", ".5x"),
        ("1.2.3", "|1.2.3|"),
        ("1d2", "|1d2|"),
        ("+inf.0", "|+inf.0|"),
        ("1/2", "|1/2|"),
        ("#foo", "|#foo|"),
        (":key", "|:key|"),
        ("a(b", "|a(b|"),
        ("a{b", "|a{b|"),
        ("x\n", r"|x\n|"),
    ] {
        check(|heap| heap.intern(name).unwrap(), name, expected);
    }
}

#[test]
fn keywords() {
    for (name, displayed, written) in [
        ("key", ":key", ":key"),
        ("a b", ":a b", ":|a b|"),
        ("", ":", ":||"),
        ("12", ":12", ":12"),
    ] {
        check(|heap| heap.keyword(name).unwrap(), displayed, written);
    }
}

#[test]
fn lists_and_vectors() {
    check(|heap| list(heap, &["a", "b", "c"]), "(a b c)", "(a b c)");
    check(
        |heap| heap.list(&[Value::small(1), Value::small(2)], Value::small(3)).unwrap(),
        "(1 2 . 3)",
        "(1 2 . 3)",
    );
    check(
        |heap| {
            let string = heap.string("s").unwrap();
            let inner = heap.cons(string, Value::character('c')).unwrap();
            heap.make(Kind::Vector, &[inner, Value::NIL]).unwrap()
        },
        "#((s . c) ())",
        "#((\"s\" . #\\c) ())",
    );
    check(|heap| heap.make_vector(0, Value::FALSE).unwrap(), "#()", "#()");
    check(
        |heap| heap.bytevector(&[0, 17, 255]).unwrap(),
        "#u8(0 17 255)",
        "#u8(0 17 255)",
    );
    check(|heap| heap.bytevector(&[]).unwrap(), "#u8()", "#u8()");
}

#[test]
fn quotations_are_abbreviated() {
    for (name, expected) in [
        ("quote", "'x"),
        ("quasiquote", "`x"),
        ("unquote", ",x"),
        ("unquote-splicing", ",@x"),
    ] {
        check(|heap| list(heap, &[name, "x"]), expected, expected);
    }
    check(|heap| list(heap, &["quote"]), "(quote)", "(quote)");
    check(|heap| list(heap, &["quote", "a", "b"]), "(quote a b)", "(quote a b)");
    check(|heap| list(heap, &["a", "quote", "b"]), "(a quote b)", "(a quote b)");
    check(|heap| list(heap, &["unquote", "@x"]), "(unquote @x)", "(unquote @x)");
}

#[test]
fn records() {
    check(
        |heap| {
            let label = heap.intern("finding").unwrap();
            let text = heap.string("t").unwrap();
            heap.make_record(label, &[text, Value::small(2)]).unwrap()
        },
        "#[finding t 2]",
        "#[finding \"t\" 2]",
    );
    let point = |heap: &mut Heap, name: &str| {
        let name = heap.intern(name).unwrap();
        let fields = symbols(heap, &["x", "y"]);
        let fields = heap.make(Kind::Vector, &fields).unwrap();
        heap.make_record_type(name, fields, Value::FALSE).unwrap()
    };
    check(
        |heap| {
            let point = point(heap, "point");
            heap.make_record(point, &[Value::small(1), Value::small(2)]).unwrap()
        },
        "#<point x: 1 y: 2>",
        "#<point x: 1 y: 2>",
    );
    check(
        |heap| {
            let parent = point(heap, "<point>");
            let name = heap.intern("<point-3d>").unwrap();
            let fields = symbols(heap, &["z"]);
            let fields = heap.make(Kind::Vector, &fields).unwrap();
            let child = heap.make_record_type(name, fields, parent).unwrap();
            heap.make_record(child, &[1, 2, 3].map(Value::small)).unwrap()
        },
        "#<point-3d x: 1 y: 2 z: 3>",
        "#<point-3d x: 1 y: 2 z: 3>",
    );
    check(
        |heap| point(heap, "<point>"),
        "#<record-type point>",
        "#<record-type point>",
    );
}

#[test]
fn tables_keep_the_order_of_insertion() {
    check(
        |heap| {
            let dictionary = heap.make_dictionary().unwrap();
            for (key, value) in [("b", 2), ("a", 1)] {
                let key = heap.intern(key).unwrap();
                heap.table_put(dictionary, key, Value::small(value)).unwrap();
            }
            dictionary
        },
        "{b 2 a 1}",
        "{b 2 a 1}",
    );
    check(
        |heap| {
            let set = heap.make_set().unwrap();
            for member in ["z", "y"] {
                let member = heap.string(member).unwrap();
                heap.table_put(set, member, Value::FALSE).unwrap();
            }
            set
        },
        "#{z y}",
        "#{\"z\" \"y\"}",
    );
    check(|heap| heap.make_dictionary().unwrap(), "{}", "{}");
    check(|heap| heap.make_set().unwrap(), "#{}", "#{}");
}

#[test]
fn what_cannot_be_read_back_says_what_it_is() {
    check(
        |heap| {
            let kind = heap.intern("wrong-type").unwrap();
            let message = heap.string("expected a pair").unwrap();
            let irritant = heap.string("it").unwrap();
            let irritants = heap.list(&[irritant, Value::small(2)], Value::NIL).unwrap();
            heap.make(Kind::Condition, &[kind, message, irritants, Value::FALSE, Value::FALSE])
                .unwrap()
        },
        "#<condition wrong-type: expected a pair it 2>",
        "#<condition wrong-type: expected a pair \"it\" 2>",
    );
    for (position, expected) in [(7, "#<procedure square>"), (8, "#<procedure>")] {
        check(
            |heap| {
                heap.make(Kind::Closure, &[Value::immediate(Immediate::Code, position, 0)])
                    .unwrap()
            },
            expected,
            expected,
        );
    }
    check(
        |heap| heap.make(Kind::Values, &[Value::small(1), Value::small(2)]).unwrap(),
        "#<values 1 2>",
        "#<values 1 2>",
    );
    check(
        |heap| heap.allocate(Kind::Promise, 2).unwrap(),
        "#<promise>",
        "#<promise>",
    );
    check(
        |heap| heap.make_opaque(1, 7, Value::FALSE).unwrap(),
        "#<opaque 1:7>",
        "#<opaque 1:7>",
    );
}

/// Checks `write`, `write-shared` and a limited `write` of the same value.
fn check_labels(build: impl FnOnce(&mut Heap) -> Value, written: &str, shared: &str) {
    let mut heap = heap();
    let value = build(&mut heap);
    assert_eq!(text(&heap, value, Style::Write), written);
    assert_eq!(text(&heap, value, Style::Display), written);
    assert_eq!(text(&heap, value, Style::Shared), shared);
    assert_eq!(write_limited(&heap, &NoNames, value, 1000), written);
}

#[test]
fn labels_mark_cycles_and_on_demand_sharing() {
    check_labels(
        |heap| {
            let pair = heap.cons(Value::small(1), Value::NIL).unwrap();
            heap.set_cdr(pair, pair);
            pair
        },
        "#0=(1 . #0#)",
        "#0=(1 . #0#)",
    );
    check_labels(
        |heap| {
            let vector = heap.make_vector(2, Value::small(1)).unwrap();
            heap.set_field(vector, 1, vector);
            heap.cons(Value::NIL, vector).unwrap()
        },
        "(() . #0=#(1 #0#))",
        "(() . #0=#(1 #0#))",
    );
    check_labels(
        |heap| {
            let part = list(heap, &["a"]);
            heap.list(&[part, part], Value::NIL).unwrap()
        },
        "((a) (a))",
        "(#0=(a) #0#)",
    );
    check_labels(
        |heap| {
            let dictionary = heap.make_dictionary().unwrap();
            heap.table_put(dictionary, Value::small(1), dictionary).unwrap();
            dictionary
        },
        "#0={1 #0#}",
        "#0={1 #0#}",
    );
    check_labels(
        |heap| {
            let set = heap.make_set().unwrap();
            let member = list(heap, &["m"]);
            heap.table_put(set, member, Value::FALSE).unwrap();
            set
        },
        "#{(m)}",
        "#{(m)}",
    );
    check_labels(
        |heap| {
            let quote = heap.intern("quote").unwrap();
            let rest = heap.cons(Value::FALSE, Value::NIL).unwrap();
            heap.set_car(rest, rest);
            heap.cons(quote, rest).unwrap()
        },
        "(quote . #0=(#0#))",
        "(quote . #0=(#0#))",
    );
}

#[test]
fn limits_cut_off() {
    let mut heap = heap();
    let value = list(&mut heap, &["abc", "dëf", "ghi"]);
    for (limit, expected) in [(13, "(abc dëf ghi)"), (12, "(abc dëf gh…"), (7, "(abc d…"), (1, "…")] {
        assert_eq!(write_limited(&heap, &NoNames, value, limit), expected);
    }
    assert_eq!(
        print(&heap, &NoNames, value, Style::Write, 12),
        Err(TooLong { characters_max: 12 })
    );
    let cycle = heap.cons(Value::small(1), Value::NIL).unwrap();
    heap.set_cdr(cycle, cycle);
    assert_eq!(
        print(&heap, &NoNames, cycle, Style::Simple, 1000),
        Err(TooLong { characters_max: 1000 })
    );
}

#[test]
fn depth_costs_no_stack() {
    const DEPTH: usize = 1_000_000;
    let mut heap = heap();
    let mut nested = Value::NIL;
    for _ in 1..DEPTH {
        nested = heap.cons(nested, Value::NIL).unwrap();
    }
    let expected = "(".repeat(DEPTH) + &")".repeat(DEPTH);
    for style in [Style::Write, Style::Shared, Style::Simple] {
        assert!(print(&heap, &NoNames, nested, style, 2 * DEPTH).unwrap() == expected);
    }
    assert_eq!(write_limited(&heap, &NoNames, nested, 5), "((((…");
}

/// Data with arbitrary sharing and cycles: node `n` is a pair or vector of the nodes chosen for it.
fn graphs() -> impl Strategy<Value = Datum> {
    let node = (
        any::<bool>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        0..3i64,
    );
    prop::collection::vec(node, 1..12).prop_map(|nodes| {
        let count = nodes.len();
        let target = |index: &prop::sample::Index| NodeId(index.index(count) as u32);
        let nodes = nodes
            .iter()
            .map(|(is_vector, parts, number)| match (is_vector, parts.as_slice()) {
                (true, parts) => Node::Vector(parts.iter().map(target).collect()),
                (false, [car, cdr, ..]) => Node::Pair(target(car), target(cdr)),
                (false, _) => Node::Symbol(Name(format!("s{number}").into())),
            })
            .collect();
        Datum { nodes, root: NodeId(0) }
    })
}

proptest! {
    /// Every reference follows its definition, every label is defined once and used, and
    /// parentheses match.
    #[test]
    fn labels_of_any_graph_are_well_formed(datum in graphs()) {
        let mut heap = heap();
        let value = heap.literal(&datum).unwrap();
        for style in [Style::Write, Style::Shared] {
            let text = print(&heap, &NoNames, value, style, 1 << 20);
            let Ok(text) = text else {
                prop_assert_eq!(style, Style::Write);
                continue;
            };
            let mut defined = 0;
            for (place, _) in text.match_indices('#') {
                let rest = &text[place + 1..];
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                if digits == 0 {
                    continue;
                }
                let label: usize = rest[..digits].parse().unwrap();
                match rest.as_bytes()[digits] {
                    b'=' => {
                        prop_assert_eq!(label, defined);
                        defined += 1;
                        let reference = format!("#{label}#");
                        prop_assert!(text.contains(&reference));
                    }
                    sign => {
                        prop_assert_eq!(sign, b'#');
                        prop_assert!(label < defined);
                    }
                }
            }
            prop_assert_eq!(text.matches('(').count(), text.matches(')').count());
        }
    }
}

#[test]
fn a_long_text_stops_when_a_person_wants_it() {
    let mut heap = heap();
    let mut shared = Value::NIL;
    for _ in 0..60 {
        shared = heap.cons(shared, shared).expect("room");
    }
    heap.stop_on(Some(Arc::new(AtomicBool::new(true))));
    assert!(print(&heap, &NoNames, shared, Style::Write, usize::MAX).is_err());
    heap.stop_on(None);
    assert!(print(&heap, &NoNames, shared, Style::Shared, usize::MAX).is_ok());
}

#[test]
fn a_part_of_a_long_text_stops_too() {
    let mut heap = heap();
    heap.stop_on(Some(Arc::new(AtomicBool::new(true))));
    for part in ['a', 'ß', '\u{1}'] {
        let mut output = Output::new(&heap, usize::MAX);
        let characters = std::iter::repeat_n(part, 100_000);
        assert!(atom::write_delimited(characters, '"', &mut output).is_err(), "{part:?}");
        assert!(output.text.len() < 20_000, "{part:?}");
    }
}

#[test]
fn a_long_text_ends_when_there_is_no_fuel_for_it() {
    let mut heap = heap();
    let mut shared = Value::NIL;
    for _ in 0..60 {
        shared = heap.cons(shared, shared).expect("room");
    }
    heap.allow_fuel(Some(1000));
    assert!(print(&heap, &NoNames, shared, Style::Write, usize::MAX).is_err());
    assert!(heap.take_charge() > 1000);
    assert!(print(&heap, &NoNames, shared, Style::Shared, usize::MAX).is_ok());
}
