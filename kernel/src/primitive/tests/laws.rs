//! Laws for arbitrary arguments, and facts about identity that rows cannot show.

use super::*;
use crate::number::Number;
use proptest::prelude::*;

fn list(heap: &mut Heap, numbers: &[i32]) -> Value {
    let elements: Vec<Value> = numbers.iter().map(|number| Value::small(*number)).collect();
    heap.list(&elements, Value::NIL).unwrap()
}

fn text(heap: &mut Heap, name: &str, arguments: &[&str]) -> String {
    let arguments: Vec<Value> = arguments.iter().map(|text| heap.string(text).unwrap()).collect();
    let value = call(heap, name, &arguments).unwrap();
    heap.string_text(value)
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-20i64..20).prop_map(Number::Fixnum),
        any::<i64>().prop_map(Number::from_i64),
        any::<i128>().prop_map(Number::from_i128),
        any::<f64>().prop_map(Number::Flonum),
        (-20i32..20).prop_map(|number| Number::Flonum(number.into())),
        (any::<i64>(), 1i64..1000).prop_map(|(a, b)| Number::from_ratio(a.into(), b.into()).unwrap()),
    ]
}

/// Checks that a primitive gives the same result for numbers as [`Number`].
fn check_numbers(
    name: &str,
    operands: &[&Number],
    expected: Result<Number, crate::number::NumberError>,
) -> Result<(), TestCaseError> {
    let mut heap = heap();
    let arguments: Vec<Value> = operands.iter().map(|number| heap.number(number).unwrap()).collect();
    let found = call(&mut heap, name, &arguments).map(|value| heap.as_number(value).unwrap());
    prop_assert_eq!(
        found,
        expected.map_err(PrimitiveError::Arithmetic),
        "{} {:?}",
        name,
        operands
    );
    Ok(())
}

/// Checks that a primitive and a predicate agree on strings.
fn check_relation(name: &str, arguments: &[&str], expected: bool) -> Result<(), TestCaseError> {
    let mut heap = heap();
    let arguments: Vec<Value> = arguments.iter().map(|text| heap.string(text).unwrap()).collect();
    prop_assert_eq!(
        call(&mut heap, name, &arguments),
        Ok(Value::boolean(expected)),
        "{}",
        name
    );
    Ok(())
}

proptest! {
    #[test]
    fn lists_keep_their_laws(a: Vec<i32>, b: Vec<i32>) {
        let mut heap = heap();
        let lists = [list(&mut heap, &a), list(&mut heap, &b)];
        let appended = call(&mut heap, "append", &lists).unwrap();
        let expected = list(&mut heap, &[a.clone(), b.clone()].concat());
        prop_assert!(heap.equal(appended, expected));
        prop_assert_eq!(call(&mut heap, "length", &[appended]), Ok(Value::length(a.len() + b.len())));
        let tail = call(&mut heap, "list-tail", &[appended, Value::length(a.len())]);
        prop_assert_eq!(tail, Ok(lists[1]), "the last list is shared");
        let reversed = call(&mut heap, "reverse", &[appended]).unwrap();
        let expected = list(&mut heap, &a.iter().chain(&b).rev().copied().collect::<Vec<_>>());
        prop_assert!(heap.equal(reversed, expected));
        let vector = call(&mut heap, "list->vector", &[appended]).unwrap();
        let back = call(&mut heap, "vector->list", &[vector]).unwrap();
        prop_assert!(heap.equal(back, appended));
    }

    #[test]
    fn walks_along_cyclic_lists_end(before in 0usize..20, period in 1usize..20, index in 0usize..10_000) {
        let mut heap = heap();
        let numbers: Vec<i32> = (0..before + period).map(|number| number as i32).collect();
        let chain = list(&mut heap, &numbers);
        let tail_at = |heap: &mut Heap, count| call(heap, "list-tail", &[chain, Value::length(count)]).unwrap();
        let (first, last) = (tail_at(&mut heap, before), tail_at(&mut heap, before + period - 1));
        heap.set_cdr(last, first);
        prop_assert_eq!(call(&mut heap, "list?", &[chain]), Ok(Value::FALSE));
        prop_assert!(call(&mut heap, "length", &[chain]).is_err());
        prop_assert!(call(&mut heap, "memq", &[Value::small(-1), chain]).is_err());
        let every = numbers.iter().all(|number| call(&mut heap, "memq", &[Value::small(*number), chain]).is_ok());
        prop_assert!(every, "each element is found");
        let expected = if index < before { index } else { before + (index - before) % period };
        let found = call(&mut heap, "list-ref", &[chain, Value::length(index)]);
        prop_assert_eq!(found, Ok(Value::length(expected)));
    }

    #[test]
    fn strings_are_as_rust_s(a in "[a-cλß😀 ]{0,8}", b in "[a-cλß😀 ]{0,3}", index in 0usize..12) {
        let heap = &mut heap();
        prop_assert_eq!(text(heap, "string-append", &[&a, &b, &a]), format!("{a}{b}{a}"));
        prop_assert_eq!(text(heap, "string-upcase", &[&a]), a.to_uppercase());
        prop_assert_eq!(text(heap, "string-trim", &[&a]), a.trim());
        check_relation("string<?", &[&a, &b], a < b)?;
        check_relation("string>=?", &[&a, &b], a >= b)?;
        check_relation("string=?", &[&a, &b], a == b)?;
        check_relation("string-prefix?", &[&b, &a], a.starts_with(&b))?;
        check_relation("string-suffix?", &[&b, &a], a.ends_with(&b))?;
        let [string, pattern] = [&a, &b].map(|text| heap.string(text).unwrap());
        let found = call(heap, "string-contains", &[string, pattern]);
        let expected = a.find(&b).map_or(Value::FALSE, |byte| Value::length(a[..byte].chars().count()));
        prop_assert_eq!(found, Ok(expected));
        let character = call(heap, "string-ref", &[string, Value::length(index)]).ok();
        prop_assert_eq!(character, a.chars().nth(index).map(Value::character));
        let bytes = call(heap, "string->utf8", &[string]).unwrap();
        prop_assert_eq!(heap.raw_bytes(bytes), a.as_bytes());
        let back = call(heap, "utf8->string", &[bytes]).unwrap();
        prop_assert!(heap.equal(back, string));
        let parts = call(heap, "string-split", &[string, Value::character('λ')]).unwrap();
        let expected: Vec<Value> = a.split('λ').map(|part| heap.string(part).unwrap()).collect();
        let expected = heap.list(&expected, Value::NIL).unwrap();
        prop_assert!(heap.equal(parts, expected));
    }

    #[test]
    fn copies_within_a_sequence_are_as_if_at_once(start in 0usize..9, length in 0usize..9, at in 0usize..9) {
        prop_assume!(start + length <= 9 && at + length <= 9);
        let mut expected = *b"123456789";
        expected.copy_within(start..start + length, at);
        let mut heap = heap();
        let string = heap.string("123456789").unwrap();
        let bytevector = heap.bytevector(b"123456789").unwrap();
        let vector = call(&mut heap, "string->vector", &[string]).unwrap();
        let copies = [("string-copy!", string), ("bytevector-copy!", bytevector), ("vector-copy!", vector)];
        for (name, sequence) in copies {
            let range = [start, start + length].map(Value::length);
            let arguments = [sequence, Value::length(at), sequence, range[0], range[1]];
            prop_assert_eq!(call(&mut heap, name, &arguments), Ok(Value::UNSPECIFIED));
        }
        prop_assert_eq!(heap.string_text(string).into_bytes(), expected.to_vec());
        prop_assert_eq!(heap.raw_bytes(bytevector), &expected);
        let copied = call(&mut heap, "vector->string", &[vector]).unwrap();
        prop_assert!(heap.equal(copied, string));
    }

    #[test]
    fn arithmetic_is_that_of_numbers(a in number(), b in number(), c in number()) {
        check_numbers("+", &[&a, &b], a.add(&b))?;
        check_numbers("-", &[&a, &b], a.sub(&b))?;
        check_numbers("*", &[&a, &b], a.mul(&b))?;
        check_numbers("/", &[&a, &b], a.div(&b))?;
        check_numbers("+", &[&a, &b, &c], a.add(&b).and_then(|sum| sum.add(&c)))?;
        check_numbers("-", &[&a, &b, &c], a.sub(&b).and_then(|rest| rest.sub(&c)))?;
        check_numbers("-", &[&a], Ok(a.negate()))?;
        check_numbers("max", &[&a, &b], Ok(a.max(&b)))?;
    }

    #[test]
    fn division_is_that_of_numbers(a: i64, b in prop_oneof![-3i64..4, any::<i64>()]) {
        let [a, b] = [a, b].map(Number::from_i64);
        check_numbers("quotient", &[&a, &b], a.quotient(&b))?;
        check_numbers("remainder", &[&a, &b], a.remainder(&b))?;
        check_numbers("modulo", &[&a, &b], a.modulo(&b))?;
        check_numbers("gcd", &[&a, &b], a.gcd(&b))?;
    }

    #[test]
    fn comparison_is_that_of_numbers(a in number(), b in number()) {
        let mut heap = heap();
        let arguments = [&a, &b].map(|number| heap.number(number).unwrap());
        let order = a.compare(&b);
        for (name, holds) in [
            ("=", order.is_some_and(|order| order.is_eq())),
            ("<", order.is_some_and(|order| order.is_lt())),
            (">", order.is_some_and(|order| order.is_gt())),
            ("<=", order.is_some_and(|order| order.is_le())),
            (">=", order.is_some_and(|order| order.is_ge())),
        ] {
            prop_assert_eq!(call(&mut heap, name, &arguments), Ok(Value::boolean(holds)), "{}", name);
        }
    }

    #[test]
    fn texts_of_numbers_are_read_back(number in number(), radix in 2i32..=36) {
        let mut heap = heap();
        let value = heap.number(&number).unwrap();
        let text = call(&mut heap, "number->string", &[value, Value::small(radix)]).unwrap();
        let back = call(&mut heap, "string->number", &[text, Value::small(radix)]).unwrap();
        prop_assert!(heap.eqv(back, value));
    }

    #[test]
    fn dictionaries_are_as_lists_of_their_last_values(entries: Vec<(u8, i32)>) {
        let mut heap = heap();
        let dictionary = call(&mut heap, "dictionary", &[]).unwrap();
        let mut expected: Vec<(u8, i32)> = Vec::new();
        for (key, value) in entries {
            let arguments = [dictionary, Value::small(key.into()), Value::small(value)];
            if value % 5 == 0 {
                call(&mut heap, "dictionary-delete!", &arguments[..2]).unwrap();
                expected.retain(|entry| entry.0 != key);
                continue;
            }
            call(&mut heap, "dictionary-set!", &arguments).unwrap();
            match expected.iter_mut().find(|entry| entry.0 == key) {
                Some(entry) => entry.1 = value,
                None => expected.push((key, value)),
            }
        }
        let keys = call(&mut heap, "dictionary-keys", &[dictionary]).unwrap();
        let values = call(&mut heap, "dictionary-values", &[dictionary]).unwrap();
        let expected_keys = list(&mut heap, &expected.iter().map(|entry| entry.0.into()).collect::<Vec<_>>());
        let expected_values = list(&mut heap, &expected.iter().map(|entry| entry.1).collect::<Vec<_>>());
        prop_assert!(heap.equal(keys, expected_keys));
        prop_assert!(heap.equal(values, expected_values));
        let alist = call(&mut heap, "dictionary->alist", &[dictionary]).unwrap();
        let back = call(&mut heap, "alist->dictionary", &[alist]).unwrap();
        prop_assert!(heap.equal(back, dictionary));
        let walk = call(&mut heap, "%dictionary-walk", &[dictionary]).unwrap();
        let (mut walked, mut place) = (Vec::new(), Value::ZERO);
        loop {
            let next = call(&mut heap, "%dictionary-next", &[walk, place]).unwrap();
            if next == Value::FALSE {
                break;
            }
            walked.push(heap.car(next));
            place = heap.cdr(next);
        }
        let walked = heap.list(&walked, Value::NIL).unwrap();
        prop_assert!(heap.equal(walked, values));
    }
}

#[test]
fn the_name_of_a_symbol_cannot_be_changed() {
    let mut heap = heap();
    let symbol = heap.intern("name").unwrap();
    let name = call(&mut heap, "symbol->string", &[symbol]).unwrap();
    let arguments = [name, Value::ZERO, Value::character('x')];
    let failure = PrimitiveError::Immutable { argument: 0 };
    assert_eq!(call(&mut heap, "string-set!", &arguments), Err(failure));
    let copy = call(&mut heap, "string-copy", &[name]).unwrap();
    let arguments = [copy, Value::ZERO, Value::character('x')];
    assert_eq!(call(&mut heap, "string-set!", &arguments), Ok(Value::UNSPECIFIED));
    assert_eq!(heap.symbol_name(symbol), "name");
}

#[test]
fn copies_are_of_their_own() {
    let mut heap = heap();
    let original = arguments_of(&mut heap, "@dictionary")[0];
    let copy = call(&mut heap, "dictionary-copy", &[original]).unwrap();
    call(&mut heap, "dictionary-set!", &[copy, Value::ZERO, Value::ZERO]).unwrap();
    assert_eq!(write(&heap, original), "{a 1 b 2}");
    assert_eq!(write(&heap, copy), "{a 1 b 2 0 0}");
}

#[test]
fn many_mentions_of_a_long_sequence_meet_the_heap_s_limit() {
    let mut heap = Heap::new(Limits { bytes_max: 1 << 20 });
    let string = call(&mut heap, "make-string", &[Value::small(100_000)]).unwrap();
    let vector = call(&mut heap, "make-vector", &[Value::small(10_000)]).unwrap();
    let chain = call(&mut heap, "make-list", &[Value::small(10_000)]).unwrap();
    let bytevector = call(&mut heap, "make-bytevector", &[Value::small(100_000)]).unwrap();
    let sequences = [
        ("string-append", string),
        ("vector-append", vector),
        ("append", chain),
        ("bytevector-append", bytevector),
    ];
    for (name, sequence) in sequences {
        let arguments = vec![sequence; 100_000];
        assert_eq!(
            call(&mut heap, name, &arguments),
            Err(PrimitiveError::HeapFull),
            "{name}"
        );
    }
}

/// Runs the loop of `force` in Scheme, where the thunk of the promise for `n` returns a promise for
/// `n` − 1, down to 0.
#[test]
fn a_chain_of_delayed_promises_is_forced_in_one_promise() {
    let mut heap = heap();
    let state_of = |heap: &mut Heap, promise| call(heap, "%promise-state", &[promise]).unwrap();
    let content_of = |heap: &mut Heap, promise| call(heap, "%promise-content", &[promise]).unwrap();
    let first = call(&mut heap, "%make-promise", &[Value::FALSE, Value::small(1000)]).unwrap();
    let mut others = Vec::new();
    while !state_of(&mut heap, first).is_true() {
        let count = content_of(&mut heap, first).as_fixnum().unwrap();
        let arguments = [Value::boolean(count == 1), Value::length(count as usize - 1)];
        let other = call(&mut heap, "%make-promise", &arguments).unwrap();
        call(&mut heap, "%promise-take!", &[first, other]).unwrap();
        others.push(other);
    }
    assert_eq!(others.len(), 1000);
    for other in others {
        assert_eq!(state_of(&mut heap, other), Value::TRUE);
        assert_eq!(content_of(&mut heap, other), Value::ZERO);
        call(&mut heap, "%promise-take!", &[first, other]).unwrap();
    }
    let (done, content) = (Value::TRUE, Value::small(7));
    call(&mut heap, "%promise-set!", &[first, done, content]).unwrap();
    assert_eq!(content_of(&mut heap, first), content);
}

#[test]
fn hashes_agree_where_equal_does() {
    let mut heap = heap();
    for (text, is_same) in [
        ("(1 \"λ\" #(a)) (1 \"λ\" #(a))", true),
        ("99999999999999999999 99999999999999999999", true),
        ("1 1.0", false),
        ("(a b) (b a)", false),
    ] {
        let arguments = arguments_of(&mut heap, text);
        let hashes = [0, 1].map(|place| call(&mut heap, "%hash", &[arguments[place]]).unwrap());
        assert_eq!(hashes[0] == hashes[1], is_same, "{text}");
    }
}
