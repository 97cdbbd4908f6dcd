//! Strings, symbols, numbers and literals.

use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

use super::*;
use crate::datum::{Datum, Name, Node, NodeId};
use crate::number::Number;

proptest! {
    #[test]
    fn strings_are_sequences_of_characters(text in "[a-zé𝄞]{0,20}", index: prop::sample::Index, to: char) {
        let mut heap = roomy();
        let mut characters: Vec<char> = text.chars().collect();
        let string = heap.string(&text).unwrap();
        prop_assert_eq!(heap.string_length(string), characters.len());
        prop_assert_eq!(heap.string_text(string), text.clone());
        prop_assert_eq!(heap.string_ref(string, characters.len()), None);
        if !characters.is_empty() {
            let index = index.index(characters.len());
            prop_assert_eq!(heap.string_ref(string, index), Some(characters[index]));
            heap.string_set(string, index, to).unwrap();
            characters[index] = to;
            prop_assert_eq!(heap.string_text(string), characters.iter().collect::<String>());
            let part = heap.substring(string, index, characters.len()).unwrap();
            prop_assert_eq!(heap.string_text(part), characters[index..].iter().collect::<String>());
        }
        let symbol = heap.intern(&text).unwrap();
        prop_assert_eq!(heap.intern(&text).unwrap(), symbol);
        prop_assert_eq!(heap.symbol_name(symbol), text);
    }

    #[test]
    fn characters_are_copied_as_if_at_once(
        from in "[a-cλ]{4,8}",
        to in "[x-zμ]{4,8}",
        from_start in 0usize..3,
        to_start in 0usize..3,
        within: bool,
    ) {
        let mut heap = roomy();
        let source = heap.string(&from).unwrap();
        let target = if within { source } else { heap.string(&to).unwrap() };
        let copied: Vec<char> = from.chars().skip(from_start).take(2).collect();
        let mut expected: Vec<char> = if within { from.chars().collect() } else { to.chars().collect() };
        expected[to_start..to_start + 2].copy_from_slice(&copied);
        heap.copy_characters(source, from_start, target, to_start, 2).unwrap();
        prop_assert_eq!(heap.string_text(target), expected.iter().collect::<String>());
    }

    #[test]
    fn numbers_round_trip(bytes in prop::collection::vec(any::<u8>(), 1..40), small: i64, bits: u64) {
        let mut heap = roomy();
        let big: BigInt = BigInt::from_signed_bytes_le(&bytes) << 64;
        let ratio = BigRational::new(big.clone() * 2 + 1, BigInt::from(2));
        let mut numbers = vec![Number::Ratio(Box::new(ratio)), Number::Flonum(f64::from_bits(bits))];
        numbers.push(if big == BigInt::ZERO { Number::Fixnum(0) } else { Number::Big(big) });
        let is_fixnum = Value::fixnum(small).is_some();
        numbers.push(if is_fixnum { Number::Fixnum(small) } else { Number::Big(BigInt::from(small)) });
        for number in numbers {
            let (value, again) = (heap.number(&number).unwrap(), heap.number(&number).unwrap());
            prop_assert!(heap.is_number(value) && heap.eqv(value, again));
            prop_assert_eq!(heap.as_number(value), Some(number));
        }
    }
}

#[test]
fn literals_keep_sharing_and_cycles_and_are_immutable() {
    let nodes = vec![
        Node::Pair(NodeId(1), NodeId(0)),
        Node::Vector(vec![NodeId(2), NodeId(2), NodeId(0), NodeId(3)]),
        Node::String(Arc::from("shared")),
        Node::Keyword(Name(Arc::from("key"))),
        Node::Nil,
    ];
    let mut heap = roomy();
    let pair = heap.literal(&Datum { nodes, root: NodeId(0) }).unwrap();
    assert_eq!(heap.cdr(pair), pair);
    let vector = heap.car(pair);
    let string = heap.field(vector, 0);
    assert_eq!((heap.field(vector, 1), heap.field(vector, 2)), (string, pair));
    assert_eq!(heap.field(vector, 3), heap.keyword("key").unwrap());
    assert!(heap.is_immutable(vector) && heap.is_immutable(string));
    check_integrity(&heap);
}

#[test]
fn a_symbol_that_somebody_else_made_is_not_the_interned_one() {
    let mut heap = roomy();
    let (symbol, keyword) = (heap.intern("twin").unwrap(), heap.keyword("twin").unwrap());
    assert!(heap.is_interned(symbol) && heap.is_interned(keyword));
    let words: Vec<Value> = heap
        .field_words(symbol)
        .iter()
        .map(|word| Value::from_bits(*word))
        .collect();
    let twin = heap.make(Kind::Symbol, &words).unwrap();
    assert_eq!(heap.symbol_name(twin), "twin");
    assert!(!heap.is_interned(twin));
    let other = heap.make(Kind::Keyword, &[symbol]).unwrap();
    assert!(!heap.is_interned(other));
}
