//! Packed values that are shared: one, or several one after the other.
//!
//! INVARIANT: the bytes are canonical values and nothing else, because they were copied out of
//! checked values; so two values, or lists of values, are equal exactly if their bytes are.
//! It does not know what the values are for.
//! Read next: `tree.rs`.

use std::fmt;
use std::sync::Arc;

use crate::value::PackedValue;
use crate::view::{Parts, View};

/// A value as canonical packed bytes; cheap to clone. Its order is that of the bytes, for maps that
/// need any order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedValue(Arc<[u8]>);

impl SharedValue {
    /// Looks into the value.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View::checked(&self.0)
    }

    /// Returns the canonical bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<PackedValue> for SharedValue {
    fn from(value: PackedValue) -> Self {
        Self(value.as_bytes().into())
    }
}

impl From<View<'_>> for SharedValue {
    fn from(value: View<'_>) -> Self {
        Self(value.as_bytes().into())
    }
}

/// A list of values as canonical packed bytes; cheap to clone. Its order is that of the bytes, for
/// maps that need any order.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedValues(Arc<[u8]>);

impl PackedValues {
    /// Copies values.
    pub fn of(values: &[View<'_>]) -> Self {
        match values {
            [] => Self::default(),
            [value] => Self(value.as_bytes().into()),
            values => {
                let mut bytes = Vec::with_capacity(values.iter().map(|value| value.as_bytes().len()).sum());
                values
                    .iter()
                    .for_each(|value| bytes.extend_from_slice(value.as_bytes()));
                Self(bytes.into())
            }
        }
    }

    /// Walks over the values.
    pub fn iter(&self) -> Parts<'_> {
        Parts::of(&self.0)
    }

    /// Returns the first value.
    pub fn first(&self) -> Option<View<'_>> {
        self.iter().next()
    }

    /// Returns the canonical bytes of the values, one after the other.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a PackedValues {
    type Item = View<'a>;
    type IntoIter = Parts<'a>;

    fn into_iter(self) -> Parts<'a> {
        self.iter()
    }
}

impl fmt::Debug for PackedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
