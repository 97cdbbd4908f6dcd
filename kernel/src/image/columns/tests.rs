//! Columns are read as they were written.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::ops::Range;

use proptest::prelude::*;

use super::super::chunk::ChunkReader;
use super::super::tests::Loaded;
use super::super::{ChunkName, write_chunk};
use super::*;

const HERE: Loaded = Loaded { base: 1000, units: 3 };
/// How many words the heap has in which the words of a test stand.
const LENGTH: usize = 1 << 32;

/// Words that may stand in a field at an index of [`LENGTH`] words.
fn value() -> impl Strategy<Value = Value> {
    let index = (0..LENGTH / 2).prop_map(|half| half * 2);
    let fixnum = |(integer, shift): (i64, u32)| Value::fixnum(integer >> shift).unwrap_or(Value::ZERO);
    prop_oneof![
        4 => (any::<i64>(), 0u32..64).prop_map(fixnum),
        2 => any::<f64>().prop_map(|number| Value::flonum(number).unwrap_or(Value::ZERO)),
        1 => any::<i32>().prop_map(|number| Value::flonum(number.into()).unwrap()),
        1 => any::<char>().prop_map(Value::character),
        2 => prop::sample::select(vec![Value::FALSE, Value::TRUE, Value::NIL, Value::DEFAULT]),
        2 => (index.clone(), 0u32..32).prop_map(|(index, shift)| Value::pair_at(index >> shift & !1)),
        1 => index.clone().prop_map(Value::procedure_at),
        1 => index.prop_map(Value::object_at),
        1 => any::<u16>().prop_map(|place| HERE.entry(place.into())),
        1 => (any::<u16>(), 2u32..900).prop_map(|(place, words)| HERE.returning(place.into(), words)),
        1 => (0u32..4).prop_map(|place| HERE.primitive(place)),
    ]
}

/// A header, or values, or bytes.
#[derive(Clone, Debug)]
enum Part {
    Header(Header),
    Values(Vec<Value>),
    Bytes(Vec<u64>),
}

fn part() -> impl Strategy<Value = Part> {
    let repeated = (value(), 0usize..9).prop_map(|(value, count)| Part::Values(vec![value; count]));
    let word = (any::<u64>(), 0u32..64).prop_map(|(word, shift)| word >> shift);
    let header = (any::<bool>(), any::<u32>(), 0u32..32).prop_map(|(is_vector, length, shift)| {
        let kind = if is_vector { Kind::Vector } else { Kind::Bytevector };
        Header::new(kind, length >> shift)
    });
    prop_oneof![
        header.prop_map(Part::Header),
        prop::collection::vec(value(), 0..9).prop_map(Part::Values),
        repeated,
        prop::collection::vec(word, 0..5).prop_map(Part::Bytes),
        (any::<u64>(), 0usize..9).prop_map(|(word, count)| Part::Bytes(vec![word; count])),
    ]
}

/// The words and which of them are bytes.
fn words_of(parts: &[Part]) -> Vec<(u64, bool)> {
    let words = parts.iter().flat_map(|part| match part {
        Part::Header(header) => vec![(header.to_value().to_bits(), false)],
        Part::Values(values) => values.iter().map(|value| (value.to_bits(), false)).collect(),
        Part::Bytes(words) => words.iter().map(|word| (*word, true)).collect(),
    });
    words.collect()
}

proptest! {
    #[test]
    fn words_are_read_as_they_were_written(parts in prop::collection::vec(part(), 0..20), place in 0..5000usize) {
        let mut names = NamesWriter::new(&HERE);
        let mut writer = ColumnsWriter::default();
        let mut index = place;
        for part in &parts {
            match part {
                Part::Header(header) => {
                    writer.header(*header);
                    index += 1;
                }
                Part::Values(values) => {
                    let words: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
                    writer.words(index, &words, false, &mut names).unwrap();
                    index += words.len();
                }
                Part::Bytes(words) => {
                    writer.words(index, words, true, &mut names).unwrap();
                    index += words.len();
                }
            }
        }
        let (kinds, bytes) = writer.finish();
        let table = write_chunk("names", |out| names.write(out));
        let mut reader = ChunkReader::new(&table).unwrap();
        reader.record(&["names"]).unwrap();
        let names = NamesReader::read(&mut reader, &HERE).unwrap();
        let expected = words_of(&parts);
        let read = read(&kinds, &bytes, place..place + expected.len(), &names);
        prop_assert_eq!(read, Ok(expected.clone()));
        if let Some((_, cut)) = bytes.split_last() {
            let read = self::read(&kinds, cut, place..place + expected.len(), &names);
            prop_assert!(read.is_err());
        }
    }
}

/// The words of a range as columns say.
fn read(
    kinds: &[u8],
    bytes: &[u8],
    range: Range<usize>,
    names: &NamesReader<'_>,
) -> Result<Vec<(u64, bool)>, ImageError> {
    let (mut words, mut raw) = (vec![0; range.start], Raw::default());
    let mut restored = RestoredWords {
        words: &mut words,
        raw: &mut raw,
        length: LENGTH,
    };
    ColumnsReader::new(kinds, CodeReader::new(bytes, ChunkName([0; 32]))).read(&mut restored, range.end, names)?;
    Ok(range.map(|place| (words[place], raw.has(place))).collect())
}
