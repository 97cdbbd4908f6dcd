//! Runtime values to packed bytes and back, for records and snapshots.
//!
//! Owns the [`Codec`] trait, its errors, and two tables-in-a-macro,
//! [`codec_struct!`](crate::codec_struct) and [`codec_enum!`](crate::codec_enum), from which both
//! directions follow.
//! INVARIANT: decoding is strict: what was written of a value reads back as that value, and
//! whatever [`Codec::write`] does not write is refused.
//! It reads values, not bytes: lengths, depth and canonical form are the journal's to check.
//! Read next: `record.rs`.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use duet_journal::packed::{PackedValues, PackedWriter, View, write_tree};
use duet_kernel::datum::shortened;
use preserves::{IOValue, Value, ValueImpl};

use crate::model::counted::counted;
use crate::model::value::Fact;

/// Says why a value is not the encoding of what was expected.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodeError {
    /// A value of another kind.
    Kind {
        /// What should stand there.
        expected: &'static str,
        /// What does, shortened.
        found: String,
    },
    /// A record of the right label with another number of fields.
    Arity {
        /// The label.
        label: &'static str,
        /// How many fields it has.
        expected: usize,
        /// How many were found.
        found: usize,
    },
    /// A number beyond what the field can hold.
    OutOfRange {
        /// What should stand there.
        expected: &'static str,
        /// The number.
        found: u64,
    },
    /// A version of the format that this code does not read.
    Version {
        /// The version that this program reads.
        expected: u64,
        /// Which it is.
        found: u64,
    },
    /// An error inside a field.
    Field {
        /// The record's label.
        label: &'static str,
        /// The field's name.
        field: &'static str,
        /// The error there.
        source: Box<DecodeError>,
    },
    /// A value that has the right shape and contradicts another one.
    Inconsistent {
        /// What does not hold.
        what: &'static str,
    },
}

impl DecodeError {
    /// Reports that `found` is not `expected`.
    pub fn kind(expected: &'static str, found: &IOValue) -> Self {
        const SHOWN_CHARACTERS: usize = 60;
        let found = shortened(&format!("{found:?}"), SHOWN_CHARACTERS);
        Self::Kind { expected, found }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Arity { label, expected, found } => {
                let was = if *found == 1 { "was" } else { "were" };
                write!(f, "`{label}` has {}, {found} {was} found", counted(*expected, "field"))
            }
            Self::OutOfRange { expected, found } => write!(f, "expected {expected}, found the number {found}"),
            Self::Version { expected, found } => write!(f, "expected version {expected}, found version {found}"),
            Self::Field { label, field, .. } => write!(f, "field `{field}` of `{label}` is wrong"),
            Self::Inconsistent { what } => write!(f, "it does not hold that {what}"),
        }
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Field { source, .. } => Some(source),
            Self::Kind { .. } | Self::Arity { .. } | Self::OutOfRange { .. } => None,
            Self::Version { .. } | Self::Inconsistent { .. } => None,
        }
    }
}

/// A type with one representation as a Preserves value.
pub trait Codec: Sized {
    /// Writes the bytes of the representation.
    fn write(&self, out: &mut PackedWriter);

    /// Reads the tree of what [`write`](Self::write) writes.
    fn encode(&self) -> IOValue {
        write_tree(|out| self.write(out))
    }

    /// Reads a value from its representation.
    ///
    /// # Errors
    /// [`DecodeError`] if `value` is not the tree of what [`write`](Self::write) would write.
    fn decode(value: &IOValue) -> Result<Self, DecodeError>;

    /// Names the fields of a record of this type with a label, in order; none if the type has no
    /// such record.
    fn fields_of(_label: &str) -> &'static [&'static str] {
        &[]
    }

    /// Lists the labels of the records of this type, if it is one of several kinds.
    fn labels() -> &'static [&'static str] {
        &[]
    }
}

/// Makes a record `<label field …>`.
pub fn record(label: &'static str, fields: Vec<IOValue>) -> IOValue {
    IOValue::record(IOValue::symbol(label), fields)
}

/// Returns the symbol that labels a record, if `value` is one with such a label.
pub fn label_of(value: &IOValue) -> Option<String> {
    if !value.is_record() {
        return None;
    }
    let label: Value<IOValue> = value.value().label();
    label.as_symbol().map(|name| name.into_owned())
}

/// Says whether `value` is a record with this symbol as its label.
pub fn is_labelled(value: &IOValue, label: &str) -> bool {
    value.is_record() && value.value().label().as_symbol().is_some_and(|name| name == label)
}

/// The fields of a record `<label field …>`, read in order.
pub struct Fields {
    label: &'static str,
    values: Vec<IOValue>,
    next: usize,
}

impl Fields {
    /// Takes a record apart.
    ///
    /// # Errors
    /// [`DecodeError::Kind`] or [`DecodeError::Arity`].
    pub fn of(value: &IOValue, label: &'static str, arity: usize) -> Result<Self, DecodeError> {
        if !is_labelled(value, label) {
            return Err(DecodeError::kind(label, value));
        }
        let found = value.value().len();
        if found != arity {
            return Err(DecodeError::Arity {
                label,
                expected: arity,
                found,
            });
        }
        Ok(Self {
            label,
            values: value.value().iter().map(IOValue::from).collect(),
            next: 0,
        })
    }

    /// Takes apart a sequence in which a record's fields stand without its label.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn of_sequence(value: &IOValue, label: &'static str, arity: usize) -> Result<Self, DecodeError> {
        let values: Vec<IOValue> = Codec::decode(value)?;
        let found = values.len();
        if found != arity {
            return Err(DecodeError::Arity {
                label,
                expected: arity,
                found,
            });
        }
        Ok(Self { label, values, next: 0 })
    }

    /// Decodes the next field, which is called `name`.
    ///
    /// # Errors
    /// [`DecodeError::Field`] with what is wrong inside.
    pub fn read<T: Codec>(&mut self, name: &'static str) -> Result<T, DecodeError> {
        let (label, found) = (self.label, self.values.len());
        let value = self.values.as_slice().get(self.next).ok_or(DecodeError::Arity {
            label,
            expected: self.next + 1,
            found,
        })?;
        self.next += 1;
        T::decode(value).map_err(|source| DecodeError::Field {
            label,
            field: name,
            source: Box::new(source),
        })
    }
}

/// Implements [`Codec`] for a struct: `codec_struct!(Type "label" { field, … });`.
#[macro_export]
macro_rules! codec_struct {
    ($type:ident $label:literal { $($field:ident),* $(,)? }) => {
        impl $crate::model::codec::Codec for $type {
            #[allow(unused_variables, reason = "a struct may have no fields")]
            fn write(&self, out: &mut duet_journal::packed::PackedWriter) {
                out.record($label, |out| { $($crate::model::codec::Codec::write(&self.$field, out);)* });
            }

            fn decode(value: &preserves::IOValue) -> Result<Self, $crate::model::codec::DecodeError> {
                const NAMES: &[&str] = &[$(stringify!($field)),*];
                #[allow(unused_mut, unused_variables, reason = "a struct may have no fields")]
                let mut fields = $crate::model::codec::Fields::of(value, $label, NAMES.len())?;
                Ok(Self { $($field: fields.read(stringify!($field))?),* })
            }

            fn fields_of(label: &str) -> &'static [&'static str] {
                if label == $label { &[$(stringify!($field)),*] } else { &[] }
            }
        }
    };
}

/// Implements [`Codec`] for an enum of structs: `codec_enum!(Type "a type" { Variant "label" {
/// field, … } … });`.
#[macro_export]
macro_rules! codec_enum {
    ($type:ident $what:literal { $($variant:ident $label:literal { $($field:ident),* $(,)? })+ }) => {
        impl $crate::model::codec::Codec for $type {
            #[allow(unused_variables, reason = "a variant may have no fields")]
            fn write(&self, out: &mut duet_journal::packed::PackedWriter) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        out.record($label, |out| { $($crate::model::codec::Codec::write($field, out);)* });
                    })+
                }
            }

            fn decode(value: &preserves::IOValue) -> Result<Self, $crate::model::codec::DecodeError> {
                match $crate::model::codec::label_of(value).as_deref() {
                    $(Some($label) => {
                        const NAMES: &[&str] = &[$(stringify!($field)),*];
                        #[allow(unused_mut, unused_variables, reason = "a variant may have no fields")]
                        let mut fields = $crate::model::codec::Fields::of(value, $label, NAMES.len())?;
                        Ok(Self::$variant { $($field: fields.read(stringify!($field))?),* })
                    })+
                    _ => Err($crate::model::codec::DecodeError::kind($what, value)),
                }
            }

            fn fields_of(label: &str) -> &'static [&'static str] {
                match label {
                    $($label => &[$(stringify!($field)),*],)+
                    _ => &[],
                }
            }

            fn labels() -> &'static [&'static str] {
                &[$($label),+]
            }
        }
    };
}

impl Codec for IOValue {
    fn write(&self, out: &mut PackedWriter) {
        out.value(self);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Ok(value.clone())
    }
}

impl Codec for bool {
    fn write(&self, out: &mut PackedWriter) {
        out.boolean(*self);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        value.as_boolean().ok_or_else(|| DecodeError::kind("a boolean", value))
    }
}

impl Codec for u64 {
    fn write(&self, out: &mut PackedWriter) {
        out.unsigned(*self);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let number = value
            .as_u64()
            .ok_or_else(|| DecodeError::kind("a non-negative integer", value))?;
        number.map_err(|_| DecodeError::kind("an integer below 2^64", value))
    }
}

impl Codec for Arc<str> {
    fn write(&self, out: &mut PackedWriter) {
        out.string(self);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        String::decode(value).map(Self::from)
    }
}

impl Codec for String {
    fn write(&self, out: &mut PackedWriter) {
        out.string(self);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        value
            .as_string()
            .map(|text| text.into_owned())
            .ok_or_else(|| DecodeError::kind("a string", value))
    }
}

/// Bytes, encoded as one byte string rather than as a sequence of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

impl Codec for Bytes {
    fn write(&self, out: &mut PackedWriter) {
        out.byte_string(&self.0);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let bytes = value
            .as_bytestring()
            .ok_or_else(|| DecodeError::kind("a byte string", value))?;
        Ok(Self(bytes.into_owned()))
    }
}

impl<T: Codec> Codec for Box<T> {
    fn write(&self, out: &mut PackedWriter) {
        T::write(self, out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        T::decode(value).map(Self::new)
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if !value.is_sequence() {
            return Err(DecodeError::kind("a sequence", value));
        }
        value.value().iter().map(|item| T::decode(&item.into())).collect()
    }
}

impl<T: Codec> Codec for Arc<[T]> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Vec::decode(value).map(Arc::from)
    }
}

impl Codec for PackedValues {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|value| out.packed(value)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let values: Vec<Fact> = Vec::decode(value)?;
        let views: Vec<View<'_>> = values.iter().map(Fact::view).collect();
        Ok(Self::of(&views))
    }
}

/// Nothing is `#f`, something is a sequence of one, so that no content is mistaken for its absence.
impl<T: Codec> Codec for Option<T> {
    fn write(&self, out: &mut PackedWriter) {
        match self {
            Some(content) => out.sequence(|out| content.write(out)),
            None => out.boolean(false),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if value.as_boolean() == Some(false) {
            return Ok(None);
        }
        if value.is_sequence() && value.value().len() == 1 {
            return T::decode(&value.value().index(0).into()).map(Some);
        }
        Err(DecodeError::kind("#f or a sequence of one", value))
    }
}

impl<A: Codec, B: Codec> Codec for (A, B) {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| {
            self.0.write(out);
            self.1.write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if !value.is_sequence() || value.value().len() != 2 {
            return Err(DecodeError::kind("a sequence of two", value));
        }
        Ok((
            A::decode(&value.value().index(0).into())?,
            B::decode(&value.value().index(1).into())?,
        ))
    }
}

impl<T: Codec> Codec for Result<T, IOValue> {
    fn write(&self, out: &mut PackedWriter) {
        match self {
            Ok(content) => out.record("ok", |out| content.write(out)),
            Err(fault) => out.record("error", |out| Codec::write(fault, out)),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if label_of(value).as_deref() == Some("ok") {
            return Ok(Ok(Fields::of(value, "ok", 1)?.read("value")?));
        }
        Ok(Err(Fields::of(value, "error", 1)?.read("fault")?))
    }
}

/// Writes the entries of a map, each as a sequence of its key and its value.
pub(crate) fn write_entries<'a, K: Codec, V: Codec + 'a>(
    out: &mut PackedWriter,
    entries: impl Iterator<Item = (impl Borrow<K>, &'a V)>,
) {
    out.sequence(|out| {
        for (key, value) in entries {
            out.sequence(|out| {
                key.borrow().write(out);
                value.write(out);
            });
        }
    });
}

/// Decodes the entries of a map, which must stand in the order of their keys.
pub(crate) fn decode_entries<K: Codec + Ord, V: Codec, M: FromIterator<(K, V)>>(
    value: &IOValue,
) -> Result<M, DecodeError> {
    let pairs: Vec<(K, V)> = Codec::decode(value)?;
    if pairs.is_sorted_by(|(left, _), (right, _)| left < right) {
        Ok(pairs.into_iter().collect())
    } else {
        Err(DecodeError::Inconsistent {
            what: "the keys are in ascending order",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Shape {
        Point {},
        Box { width: u64, name: Option<String> },
    }
    codec_enum!(Shape "a shape" { Point "point" {} Box "box" { width, name } });

    #[track_caller]
    fn check(text: &str, expected: Result<Shape, &str>) {
        let value: IOValue = text.parse().expect("the case is well formed");
        let decoded = Shape::decode(&value);
        if let Ok(shape) = &decoded {
            assert_eq!(shape.encode(), value, "encoding gives the value back");
        }
        assert_eq!(
            decoded.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn decoding_is_strict() {
        check("<point>", Ok(Shape::Point {}));
        check(
            "<box 3 [\"a\"]>",
            Ok(Shape::Box {
                width: 3,
                name: Some("a".into()),
            }),
        );
        check("<box 3 #f>", Ok(Shape::Box { width: 3, name: None }));
        check("point", Err("expected a shape, found point"));
        check("<point 1>", Err("`point` has 0 fields, 1 was found"));
        check("<box 3>", Err("`box` has 2 fields, 1 was found"));
        check("<box -3 #f>", Err("field `width` of `box` is wrong"));
        check("<circle>", Err("expected a shape, found <circle>"));
        check("[1 2]", Err("expected a shape, found [1, 2]"));
    }
}
