//! Packed values that are shared: one, or several one after the other.
//!
//! INVARIANT: the bytes are canonical values and nothing else, because they were copied out of what was checked; so two values, or lists of
//! values, are equal exactly if their bytes are.
//! It does not know what the values are for.
//! Read next: `packed/view.rs`.

use std::fmt;
use std::sync::Arc;

use super::{PackedValue, Parts, View};

/// A value as canonical packed bytes; cheap to clone. The order is that of the bytes: for maps, where any order will do.
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

/// A list of values as canonical packed bytes; cheap to clone. The order is that of the bytes: for maps, where any order will do.
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
        Parts::of(self)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let packed = |text: &str| PackedValue::from_value(&text.parse().expect("well formed")).expect("within limits");
        for texts in [&[][..], &["5"], &["<p [1 {}]>", "\"x\"", "#t", "#:1"]] {
            let each: Vec<PackedValue> = texts.iter().copied().map(packed).collect();
            let views: Vec<View<'_>> = each.iter().map(PackedValue::view).collect();
            let values = PackedValues::of(&views);
            let shared: Vec<SharedValue> = views.iter().copied().map(SharedValue::from).collect();
            assert_eq!(shared.iter().map(SharedValue::view).collect::<Vec<_>>(), views);
            assert_eq!(values.iter().collect::<Vec<_>>(), views);
            assert_eq!(values.first(), views.first().copied());
            let bytes: Vec<u8> = views.iter().flat_map(|view| view.as_bytes().to_vec()).collect();
            assert_eq!(values.as_bytes(), bytes);
        }
    }
}
