//! `IOValue` to canonical bytes and back, without recursion.
//!
//! INVARIANT: `decode(encode(v))` equals `v` without its annotations, for integers of any size.
//! It does not trust its own sets and dictionaries: `encode` scans a value that has one.
//! Read next: `record.rs`.

use num_bigint::BigInt;
use preserves::{
    AtomClass, CompoundClass, IOValue, Map, Set, SignedInteger, Value, ValueClass, ValueImpl, signed_integer,
};

use super::build::too_large;
use super::write::{atom, tag};
use super::{Compound, MAX_DEPTH, MAX_VALUE_BYTES, PackedError, PackedFault, Scanner, Token, check};

type Tree = Value<IOValue>;

/// What the encoder does next.
enum Step {
    /// Writes a value.
    Value(Tree),
    /// Notes that an element of a set, or an entry of a dictionary, starts here.
    Part,
    /// Sorts the parts noted since the last unsorted container began, then ends it.
    EndSorted,
    /// Ends a record or sequence.
    End,
    /// Leaves an embedded value.
    Leave,
}

struct Encoder {
    out: Vec<u8>,
    steps: Vec<Step>,
    /// For each open set and dictionary, where its parts start.
    parts: Vec<Vec<usize>>,
    depth: usize,
    /// Whether there is a set or dictionary, whose parts may turn out the same without their annotations.
    has_sorted: bool,
}

/// Appends `value`, which stands inside `depth` others, canonically.
///
/// # Errors
/// [`PackedFault::TooDeep`], [`PackedFault::TooLarge`], [`PackedFault::Order`]; part of the value may then have been appended.
pub(super) fn encode(out: &mut Vec<u8>, value: &IOValue, depth: usize) -> Result<(), PackedError> {
    let start = out.len();
    let mut encoder = Encoder {
        out: std::mem::take(out),
        steps: vec![Step::Value(value.value().clone())],
        parts: Vec::new(),
        depth,
        has_sorted: false,
    };
    let encoded = encoder.encode();
    *out = encoder.out;
    encoded?;
    if encoder.has_sorted {
        check(&out[start..], MAX_DEPTH.saturating_sub(depth)).map_err(|error| PackedError {
            offset_bytes: start + error.offset_bytes,
            ..error
        })?;
    }
    Ok(())
}

impl Encoder {
    fn encode(&mut self) -> Result<(), PackedError> {
        while let Some(step) = self.steps.pop() {
            let offset_bytes = self.out.len();
            match step {
                Step::Value(value) => self.value(&value),
                Step::Part => self
                    .parts
                    .last_mut()
                    .expect("a part is inside a set or dictionary")
                    .push(offset_bytes),
                Step::EndSorted => self.end_sorted(),
                Step::End => self.end(),
                Step::Leave => self.depth -= 1,
            }
            if self.depth > MAX_DEPTH {
                let fault = PackedFault::TooDeep { limit: MAX_DEPTH };
                return Err(PackedError { offset_bytes, fault });
            }
            if self.out.len() > MAX_VALUE_BYTES {
                return Err(too_large(self.out.len()));
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Tree) {
        match value.value_class() {
            ValueClass::Atomic(class) => self.atom(&class, value),
            ValueClass::Compound(class) => self.compound(&class, value),
            ValueClass::Embedded => {
                self.open(tag::EMBEDDED, Step::Leave);
                let inner = value.as_embedded().expect("the class says embedded");
                self.steps.push(Step::Value(inner.value().clone()));
            }
        }
    }

    fn atom(&mut self, class: &AtomClass, value: &Tree) {
        let out = &mut self.out;
        match class {
            AtomClass::Boolean => out.push(if value.as_boolean() == Some(true) {
                tag::TRUE
            } else {
                tag::FALSE
            }),
            AtomClass::Double => {
                let number = value.as_double().expect("the class says double");
                atom(out, tag::DOUBLE, &number.to_bits().to_be_bytes());
            }
            AtomClass::SignedInteger => {
                let number = value.as_signed_integer().expect("the class says integer");
                integer_to(out, &number);
            }
            AtomClass::String => atom(out, tag::STRING, text(value.as_string()).as_bytes()),
            AtomClass::Symbol => atom(out, tag::SYMBOL, text(value.as_symbol()).as_bytes()),
            AtomClass::ByteString => {
                atom(
                    out,
                    tag::BYTE_STRING,
                    &value.as_bytestring().expect("the class says byte string"),
                );
            }
        }
    }

    fn compound(&mut self, class: &CompoundClass, value: &Tree) {
        match class {
            CompoundClass::Record => {
                self.open(tag::RECORD, Step::End);
                self.push_reversed(value.iter().map(Step::Value));
                self.steps.push(Step::Value(value.label()));
            }
            CompoundClass::Sequence => {
                self.open(tag::SEQUENCE, Step::End);
                self.push_reversed(value.iter().map(Step::Value));
            }
            CompoundClass::Set => {
                self.open_sorted(tag::SET);
                self.push_reversed(value.iter().flat_map(|v| [Step::Part, Step::Value(v)]));
            }
            CompoundClass::Dictionary => {
                self.open_sorted(tag::DICTIONARY);
                let steps = value
                    .entries()
                    .flat_map(|(k, v)| [Step::Part, Step::Value(k), Step::Value(v)]);
                self.push_reversed(steps);
            }
        }
    }

    fn open(&mut self, tag: u8, end: Step) {
        self.out.push(tag);
        self.steps.push(end);
        self.depth += 1;
    }

    fn open_sorted(&mut self, tag: u8) {
        self.has_sorted = true;
        self.open(tag, Step::EndSorted);
        self.parts.push(Vec::new());
    }

    fn push_reversed(&mut self, steps: impl Iterator<Item = Step>) {
        let bottom = self.steps.len();
        self.steps.extend(steps);
        self.steps[bottom..].reverse();
    }

    fn end(&mut self) {
        self.out.push(tag::END);
        self.depth -= 1;
    }

    fn end_sorted(&mut self) {
        let starts = self.parts.pop().expect("a sorted container was opened");
        if let Some(&first) = starts.first() {
            let ends = starts.clone().into_iter().skip(1).chain([self.out.len()]);
            let mut parts: Vec<&[u8]> = starts
                .into_iter()
                .zip(ends)
                .map(|(start, end)| &self.out[start..end])
                .collect();
            parts.sort_unstable();
            let sorted = parts.concat();
            self.out.truncate(first);
            self.out.extend(sorted);
        }
        self.end();
    }
}

fn text<'a>(text: Option<std::borrow::Cow<'a, str>>) -> std::borrow::Cow<'a, str> {
    text.expect("the class says text")
}

fn integer_to(out: &mut Vec<u8>, number: &SignedInteger) {
    let number: i128 = match number.repr() {
        signed_integer::SignedIntegerRepr::I128(number) => *number,
        signed_integer::SignedIntegerRepr::U128(number) => {
            return atom(out, tag::INTEGER, &BigInt::from(*number).to_signed_bytes_be());
        }
        signed_integer::SignedIntegerRepr::Big(number) => {
            return atom(out, tag::INTEGER, &number.to_signed_bytes_be());
        }
    };
    let bytes = number.to_be_bytes();
    // The sign must survive: as many leading sign bits go as leave one. Zero has no bytes.
    let sign_bits = if number < 0 {
        number.leading_ones()
    } else {
        number.leading_zeros()
    } as usize;
    let start = if number == 0 { bytes.len() } else { (sign_bits - 1) / 8 };
    atom(out, tag::INTEGER, &bytes[start..]);
}

fn integer(bytes: &[u8]) -> SignedInteger {
    if bytes.len() > 16 {
        return SignedInteger::from(BigInt::from_signed_bytes_be(bytes));
    }
    let is_negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start = if is_negative { -1 } else { 0 };
    SignedInteger::from(
        bytes
            .iter()
            .fold(start, |number: i128, &byte| number << 8 | i128::from(byte)),
    )
}

/// Decodes bytes that must be one canonical value.
pub(super) fn decode(bytes: &[u8], max_depth: usize) -> Result<IOValue, PackedError> {
    let mut scanner = Scanner::new(bytes, max_depth)?;
    let mut open: Vec<Vec<Tree>> = vec![Vec::new()];
    while let Some(token) = scanner.next()? {
        let value = match token {
            Token::Boolean(value) => Value::new(value),
            Token::Double(number) => Value::new(number),
            Token::Integer(bytes) => Value::new(integer(bytes)),
            Token::String(text) => Value::new(text.to_owned()),
            Token::ByteString(bytes) => Value::bytes(bytes.to_vec()),
            Token::Symbol(text) => Value::symbol(text.to_owned()),
            Token::Open(_) => {
                open.push(Vec::new());
                continue;
            }
            Token::Close(kind) => build(kind, open.pop().expect("the scanner closes what it opened")),
        };
        open.last_mut().expect("the outermost list is never closed").push(value);
    }
    let value = open.pop().and_then(|mut values| values.pop());
    Ok(value.expect("a scan that ends has seen one value").into())
}

fn build(kind: Compound, mut values: Vec<Tree>) -> Tree {
    match kind {
        Compound::Record => {
            let fields = values.split_off(1);
            Value::record(values.swap_remove(0), fields)
        }
        Compound::Sequence => Value::new(values),
        Compound::Set => Value::new(values.into_iter().collect::<Set<Tree>>()),
        Compound::Dictionary => {
            let mut values = values.into_iter();
            let pairs = std::iter::from_fn(|| values.next().zip(values.next()));
            Value::new(pairs.collect::<Map<Tree, Tree>>())
        }
        Compound::Embedded => Value::embedded(IOValue::from(values.swap_remove(0))),
    }
}
