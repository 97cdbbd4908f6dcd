//! One value, written part by part by those who have no tree of it.
//!
//! INVARIANT: what is open is closed, since parts are written by closures; so the only faults are those of size and depth, and those of a
//! tree that is written as a part.
//! It does not write sets and dictionaries, except as parts of a tree.
//! Read next: `packed/value.rs`.

use preserves::IOValue;

use super::write::{atom, open_record, tag, unsigned};
use super::{MAX_DEPTH, MAX_VALUE_BYTES, PackedError, PackedFault, View, check, value};

/// Writes canonical bytes. The first fault is kept and reported at the end.
#[derive(Debug)]
pub struct PackedWriter {
    out: Vec<u8>,
    depth: usize,
    /// Values outside all others.
    count: usize,
    fault: Option<PackedError>,
}

/// Room for this many bytes is taken at once: enough for most facts and records.
const ROOM_BYTES: usize = 256;

impl Default for PackedWriter {
    fn default() -> Self {
        Self {
            out: Vec::with_capacity(ROOM_BYTES),
            depth: 0,
            count: 0,
            fault: None,
        }
    }
}

impl PackedWriter {
    /// Writes a record labelled with a symbol; `fields` writes the fields.
    pub fn record(&mut self, label: &str, fields: impl FnOnce(&mut Self)) {
        self.enter();
        open_record(&mut self.out, label);
        fields(self);
        self.leave();
    }

    /// Writes a sequence; `items` writes the items.
    pub fn sequence(&mut self, items: impl FnOnce(&mut Self)) {
        self.enter();
        self.out.push(tag::SEQUENCE);
        items(self);
        self.leave();
    }

    /// Writes an embedded value; `inner` writes what is embedded, which must be one value.
    pub fn embedded(&mut self, inner: impl FnOnce(&mut Self)) {
        self.enter();
        self.out.push(tag::EMBEDDED);
        inner(self);
        self.depth -= 1;
    }

    /// Writes a boolean.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.begin();
        self.out.push(if value { tag::TRUE } else { tag::FALSE });
    }

    /// Writes a non-negative integer.
    #[inline]
    pub fn unsigned(&mut self, number: u64) {
        self.begin();
        unsigned(&mut self.out, number);
    }

    /// Writes a string.
    #[inline]
    pub fn string(&mut self, text: &str) {
        self.atom(tag::STRING, text.as_bytes());
    }

    /// Writes a byte string.
    pub fn byte_string(&mut self, bytes: &[u8]) {
        self.atom(tag::BYTE_STRING, bytes);
    }

    /// Writes a tree without its annotations.
    pub fn value(&mut self, value: &IOValue) {
        self.begin();
        if self.fault.is_none() {
            self.fault = value::encode(&mut self.out, value, self.depth).err();
        }
    }

    /// Writes a value that is packed already.
    pub fn packed(&mut self, value: View<'_>) {
        self.begin();
        let bytes = value.as_bytes();
        // A compound takes two bytes at least, so short bytes cannot be deep, and need no look.
        let room = MAX_DEPTH.saturating_sub(self.depth);
        if self.fault.is_none() && bytes.len() / 2 > room {
            let start = self.out.len();
            self.fault = check(bytes, room).err().map(|error| PackedError {
                offset_bytes: start + error.offset_bytes,
                ..error
            });
        }
        self.out.extend_from_slice(bytes);
    }

    /// Returns the bytes.
    pub(super) fn finish(self) -> Result<Vec<u8>, PackedError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        assert_eq!(self.count, 1, "exactly one value is written");
        if self.out.len() > MAX_VALUE_BYTES {
            return Err(too_large(self.out.len()));
        }
        Ok(self.out)
    }

    #[inline]
    fn begin(&mut self) {
        self.count += usize::from(self.depth == 0);
    }

    #[inline]
    fn atom(&mut self, tag: u8, bytes: &[u8]) {
        self.begin();
        atom(&mut self.out, tag, bytes);
    }

    #[inline]
    fn enter(&mut self) {
        self.begin();
        self.depth += 1;
        if self.depth > MAX_DEPTH && self.fault.is_none() {
            self.fault = Some(PackedError {
                offset_bytes: self.out.len(),
                fault: PackedFault::TooDeep { limit: MAX_DEPTH },
            });
        }
    }

    #[inline]
    fn leave(&mut self) {
        self.out.push(tag::END);
        self.depth -= 1;
    }
}

/// The fault of a value of this length.
pub(super) fn too_large(length_bytes: usize) -> PackedError {
    let fault = PackedFault::TooLarge {
        length_bytes,
        limit_bytes: MAX_VALUE_BYTES,
    };
    PackedError {
        offset_bytes: MAX_VALUE_BYTES,
        fault,
    }
}
