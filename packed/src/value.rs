//! One packed value that owns its bytes.
//!
//! INVARIANT: the bytes of a [`PackedValue`] are exactly one value in canonical form, at most
//! [`MAX_DEPTH`](crate::MAX_DEPTH) deep.
//! It does not convert to and from trees; `tree.rs` does.
//! Read next: `shared.rs`.

use crate::error::PackedError;
use crate::format::PackedLimits;
use crate::reader::check;
use crate::view::View;
use crate::writer::PackedWriter;

/// One Preserves value as canonical packed bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PackedValue(Vec<u8>);

impl PackedValue {
    /// Checks that `bytes` are one canonical value and takes them.
    ///
    /// # Errors
    /// [`PackedError`], with the offset of the first byte that is wrong.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, PackedError> {
        check(&bytes, PackedLimits::default())?;
        Ok(Self(bytes))
    }

    /// Makes a value of what `parts` writes, which must be exactly one value, without a tree of it.
    ///
    /// # Errors
    /// As [`PackedWriter::finish`].
    ///
    /// # Panics
    /// If `parts` writes no value or several.
    pub fn write(parts: impl FnOnce(&mut PackedWriter)) -> Result<Self, PackedError> {
        let mut writer = PackedWriter::default();
        parts(&mut writer);
        Self::written(writer)
    }

    /// Takes the value that a writer has written, whose limit of depth is at most
    /// [`MAX_DEPTH`](crate::MAX_DEPTH).
    ///
    /// # Errors
    /// As [`PackedWriter::finish`].
    ///
    /// # Panics
    /// If the writer has written no value or several.
    pub fn written(writer: PackedWriter) -> Result<Self, PackedError> {
        let bytes = writer.finish()?;
        debug_assert_eq!(
            check(&bytes, PackedLimits::default()),
            Ok(()),
            "a writer writes one canonical value"
        );
        Ok(Self(bytes))
    }

    /// Looks into the value.
    pub fn view(&self) -> View<'_> {
        View::checked(&self.0)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Gives the bytes away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
