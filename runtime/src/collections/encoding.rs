//! Encoding and decoding of the collections.
//!
//! INVARIANT: decoding is strict: the keys of a map and the members of a set must be in ascending
//! order.
//! It does not know what the collections hold.
//! Read next: `../model/codec.rs`.

use std::sync::Arc;

use duet_journal::packed::PackedWriter;
use im::{OrdSet, Vector};
use preserves::IOValue;

use crate::collections::ordered::{Key, Ordered};
use crate::model::codec::{Codec, DecodeError, decode_entries, write_entries};

impl<T: Codec + Clone> Codec for Vector<T> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Vec::decode(value).map(Self::from)
    }
}

impl<T: Codec + Ord + Clone> Codec for OrdSet<T> {
    fn write(&self, out: &mut PackedWriter) {
        out.sequence(|out| self.iter().for_each(|item| item.write(out)));
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let items: Vec<T> = Codec::decode(value)?;
        if items.is_sorted_by(|left, right| left < right) {
            Ok(items.into_iter().collect())
        } else {
            Err(DecodeError::Inconsistent {
                what: "the members are in ascending order",
            })
        }
    }
}

impl<K: Codec + Key + Clone, V: Codec + Clone> Codec for Ordered<K, V> {
    fn write(&self, out: &mut PackedWriter) {
        write_entries::<K, V>(out, self.iter());
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        decode_entries(value)
    }
}

impl<T: Codec> Codec for Arc<T> {
    fn write(&self, out: &mut PackedWriter) {
        T::write(self, out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        T::decode(value).map(Self::new)
    }
}
