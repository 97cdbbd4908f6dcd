//! The values that statements are given.
//!
//! INVARIANT: a value says its own type, so no statement has to be prepared to find it out.
//! It is sent nowhere from here. Read next: `gathering.rs`.

use tokio_postgres::types::{ToSql, Type};

/// A value that a statement is given.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
    Texts(Vec<String>),
    Integers(Vec<i64>),
    MaybeIntegers(Vec<Option<i64>>),
    ByteStrings(Vec<Vec<u8>>),
    MaybeByteStrings(Vec<Option<Vec<u8>>>),
}

impl Value {
    pub(crate) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(value) => (value, Type::TEXT),
            Self::Integer(value) => (value, Type::INT8),
            Self::Bytes(value) => (value, Type::BYTEA),
            Self::Texts(value) => (value, Type::TEXT_ARRAY),
            Self::Integers(value) => (value, Type::INT8_ARRAY),
            Self::MaybeIntegers(value) => (value, Type::INT8_ARRAY),
            Self::ByteStrings(value) => (value, Type::BYTEA_ARRAY),
            Self::MaybeByteStrings(value) => (value, Type::BYTEA_ARRAY),
        }
    }

    /// Appends the elements of another array of the same type.
    ///
    /// # Panics
    /// If one is no array, or the types differ.
    pub(crate) fn extend(&mut self, other: Self) {
        match (self, other) {
            (Self::Texts(all), Self::Texts(more)) => all.extend(more),
            (Self::Integers(all), Self::Integers(more)) => all.extend(more),
            (Self::MaybeIntegers(all), Self::MaybeIntegers(more)) => all.extend(more),
            (Self::ByteStrings(all), Self::ByteStrings(more)) => all.extend(more),
            (Self::MaybeByteStrings(all), Self::MaybeByteStrings(more)) => all.extend(more),
            (all, more) => unreachable!("columns of one type are joined, not {all:?} and {more:?}"),
        }
    }
}
