//! Writes one canonical value part by part.
//!
//! INVARIANT: the entries of a set or dictionary are sorted by their bytes and free of duplicates
//! when it is closed; lengths and integers have their shortest form. The first fault is kept, and
//! no value comes of it.
//! It does not know where values come from.
//! Read next: `view.rs`.

use num_bigint::BigInt;

use crate::error::{PackedError, PackedFault};
use crate::format::{Compound, MAX_DEPTH, PackedLimits, tag, varint};
use crate::reader::check;
use crate::view::View;

/// A set or dictionary that is being written.
#[derive(Debug)]
struct Ordered {
    /// How many compound values are open inside which its values are, itself included.
    depth: usize,
    /// Where its values start.
    starts: Vec<usize>,
}

/// Writes canonical bytes of one value. The first fault is kept and reported at the end.
#[derive(Debug)]
pub struct PackedWriter {
    bytes: Vec<u8>,
    limits: PackedLimits,
    /// How many compound values are open.
    depth: usize,
    /// At this depth the start of a value must be noted: that of the innermost value in `ordered`,
    /// or 0, where values are counted.
    noted_depth: usize,
    /// Values outside all others.
    count: usize,
    ordered: Vec<Ordered>,
    fault: Option<PackedError>,
}

/// Room for this many bytes is taken at once: enough for most facts and records.
const ROOM_BYTES: usize = 256;

impl Default for PackedWriter {
    fn default() -> Self {
        Self::new(PackedLimits::default(), ROOM_BYTES)
    }
}

impl PackedWriter {
    /// Begins a value within limits, with room for this many bytes.
    pub fn new(limits: PackedLimits, room_bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(room_bytes),
            limits,
            depth: 0,
            noted_depth: 0,
            count: 0,
            ordered: Vec::new(),
            fault: None,
        }
    }

    /// Begins a value within limits, with room for most values.
    pub fn within(limits: PackedLimits) -> Self {
        Self::new(limits, ROOM_BYTES)
    }

    /// Returns how many bytes have been written.
    #[inline]
    pub fn length_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Says whether something was too deep or repeated so far.
    pub fn has_fault(&self) -> bool {
        self.fault.is_some()
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// [`PackedFault::TooDeep`] or [`PackedFault::TooLarge`]; [`PackedFault::Repeated`] for a set
    /// or dictionary with equal elements or keys.
    ///
    /// # Panics
    /// If not exactly one value was written, or one is still open.
    pub fn finish(self) -> Result<Vec<u8>, PackedError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let (length_bytes, limit_bytes) = (self.bytes.len(), self.limits.bytes_max);
        if length_bytes > limit_bytes {
            let fault = PackedFault::TooLarge {
                length_bytes,
                limit_bytes,
            };
            return Err(PackedError {
                offset_bytes: limit_bytes,
                fault,
            });
        }
        assert_eq!((self.count, self.depth), (1, 0), "exactly one value is written");
        Ok(self.bytes)
    }

    /// Writes a record labelled with a symbol; `fields` writes the fields.
    #[inline]
    pub fn record(&mut self, label: &str, fields: impl FnOnce(&mut Self)) {
        self.enter(tag::RECORD);
        self.symbol(label);
        fields(self);
        self.leave();
    }

    /// Writes a sequence; `items` writes the items.
    #[inline]
    pub fn sequence(&mut self, items: impl FnOnce(&mut Self)) {
        self.enter(tag::SEQUENCE);
        items(self);
        self.leave();
    }

    /// Writes an embedded value; `inner` writes what is embedded, which must be one value.
    pub fn embedded(&mut self, inner: impl FnOnce(&mut Self)) {
        self.enter(tag::EMBEDDED);
        inner(self);
        self.depth -= 1;
    }

    /// Begins a compound value, whose parts are written next, in whatever order if it is a set or
    /// dictionary. A record is given its label first, a dictionary a value after each key, an
    /// embedded value its one content.
    pub fn open(&mut self, compound: Compound) {
        self.enter(compound.tag());
        if compound.values_per_entry().is_some() {
            self.noted_depth = self.depth;
            self.ordered.push(Ordered {
                depth: self.depth,
                starts: Vec::new(),
            });
        }
    }

    /// Ends the value that was opened last, a `compound`.
    pub fn close(&mut self, compound: Compound) {
        if let Some(values) = compound.values_per_entry() {
            let starts = self.ordered.pop().map_or_else(Vec::new, |ended| ended.starts);
            self.noted_depth = self.ordered.last().map_or(0, |outer| outer.depth);
            self.sort(&starts, values);
        }
        match compound {
            Compound::Embedded => self.depth -= 1,
            Compound::Record | Compound::Sequence | Compound::Set | Compound::Dictionary => self.leave(),
        }
    }

    /// Writes a boolean.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.begin();
        self.bytes.push(if value { tag::TRUE } else { tag::FALSE });
    }

    /// Writes a double, bit for bit.
    pub fn double(&mut self, number: f64) {
        self.atom(tag::DOUBLE, &number.to_bits().to_be_bytes());
    }

    /// Writes a non-negative integer.
    #[inline]
    pub fn unsigned(&mut self, number: u64) {
        self.begin();
        let out = &mut self.bytes;
        match number {
            0 => out.extend_from_slice(&[tag::INTEGER, 0]),
            1..0x80 => out.extend_from_slice(&[tag::INTEGER, 1, number as u8]),
            0x80..0x8000 => out.extend_from_slice(&[tag::INTEGER, 2, (number >> 8) as u8, number as u8]),
            _ => put_large(out, number.into()),
        }
    }

    /// Writes an integer.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        match u64::try_from(number) {
            Ok(number) => self.unsigned(number),
            Err(_) => self.wide_integer(number.into()),
        }
    }

    /// Writes an integer of up to 128 bits.
    pub(crate) fn wide_integer(&mut self, number: i128) {
        self.begin();
        put_large(&mut self.bytes, number);
    }

    /// Writes an integer of any size.
    pub fn big_integer(&mut self, number: &BigInt) {
        match i128::try_from(number) {
            Ok(number) => self.wide_integer(number),
            Err(_) => self.atom(tag::INTEGER, &number.to_signed_bytes_be()),
        }
    }

    /// Writes a string.
    #[inline]
    pub fn string(&mut self, text: &str) {
        self.atom(tag::STRING, text.as_bytes());
    }

    /// Writes a symbol.
    #[inline]
    pub fn symbol(&mut self, name: &str) {
        self.atom(tag::SYMBOL, name.as_bytes());
    }

    /// Writes a byte string.
    pub fn byte_string(&mut self, bytes: &[u8]) {
        self.atom(tag::BYTE_STRING, bytes);
    }

    /// Writes a value that is packed already.
    pub fn packed(&mut self, value: View<'_>) {
        self.begin();
        let bytes = value.as_bytes();
        // A packed value is at most MAX_DEPTH deep, and each level takes at least two bytes of it.
        let room = self.limits.depth_max.saturating_sub(self.depth);
        let may_be_deep = room < MAX_DEPTH && bytes.len() / 2 > room && self.fault.is_none();
        if may_be_deep && !value.is_within(room) {
            let limits = PackedLimits {
                depth_max: room,
                ..PackedLimits::NONE
            };
            let start = self.bytes.len();
            self.fault = check(bytes, limits).err().map(|error| error.moved_by(start));
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Lets `parts` write what they may leave unfinished if [`is_over`](Self::is_over); what they
    /// opened then counts as closed.
    pub(crate) fn attempt(&mut self, parts: impl FnOnce(&mut Self)) {
        let (depth, ordered) = (self.depth, self.ordered.len());
        parts(self);
        if self.depth != depth {
            self.depth = depth;
            self.ordered.truncate(ordered);
            self.noted_depth = self.ordered.last().map_or(0, |outer| outer.depth);
        }
    }

    /// Says whether [`finish`](Self::finish) will give an error whatever is written next, so that
    /// nothing more need be written.
    pub fn is_over(&self) -> bool {
        self.fault.is_some() || self.bytes.len() > self.limits.bytes_max
    }

    #[inline]
    fn begin(&mut self) {
        if self.depth == self.noted_depth {
            self.note();
        }
    }

    fn note(&mut self) {
        match self.ordered.last_mut() {
            Some(innermost) => innermost.starts.push(self.bytes.len()),
            None => self.count += 1,
        }
    }

    #[inline]
    fn atom(&mut self, tag: u8, content: &[u8]) {
        self.begin();
        put_atom(&mut self.bytes, tag, content);
    }

    #[inline]
    fn enter(&mut self, tag: u8) {
        self.begin();
        self.depth += 1;
        if self.depth > self.limits.depth_max && self.fault.is_none() {
            self.fault = Some(PackedError {
                offset_bytes: self.bytes.len(),
                fault: PackedFault::TooDeep {
                    limit: self.limits.depth_max,
                },
            });
        }
        self.bytes.push(tag);
    }

    #[inline]
    fn leave(&mut self) {
        self.bytes.push(tag::END);
        self.depth -= 1;
    }

    /// Sorts the entries that begin at every `values`-th start and reach to the end of the bytes.
    fn sort(&mut self, starts: &[usize], values: usize) {
        let Some(&first) = starts.first() else { return };
        let end_of = |place: usize| starts.get(place).copied().unwrap_or(self.bytes.len());
        let mut entries: Vec<(&[u8], &[u8])> = (0..starts.len())
            .step_by(values)
            .map(|place| {
                let start = starts[place];
                let key = &self.bytes[start..end_of(place + 1)];
                (key, &self.bytes[start..end_of(place + values)])
            })
            .collect();
        if entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            return;
        }
        entries.sort_unstable();
        let is_repeated = entries.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let sorted: Vec<&[u8]> = entries.iter().map(|(_, entry)| *entry).collect();
        let sorted = sorted.concat();
        self.bytes[first..].copy_from_slice(&sorted);
        if is_repeated && self.fault.is_none() {
            self.fault = Some(PackedError {
                offset_bytes: first,
                fault: PackedFault::Repeated,
            });
        }
    }
}

/// Appends an atom: its tag, the length, the bytes.
#[inline]
fn put_atom(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    if content.len() < 0x80 {
        out.extend_from_slice(&[tag, content.len() as u8]);
    } else {
        out.push(tag);
        varint::put(out, content.len() as u64);
    }
    out.extend_from_slice(content);
}

/// Appends an integer in its shortest form: as many leading bytes that repeat the sign go as leave
/// the sign. Zero has no bytes.
fn put_large(out: &mut Vec<u8>, number: i128) {
    let bytes = number.to_be_bytes();
    let sign_bits = if number < 0 {
        number.leading_ones()
    } else {
        number.leading_zeros()
    };
    let start = if number == 0 {
        bytes.len()
    } else {
        (sign_bits as usize - 1) / 8
    };
    put_atom(out, tag::INTEGER, &bytes[start..]);
}
