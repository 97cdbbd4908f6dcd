//! Large values in parts that are stored once: cutting a value, and joining its parts.
//!
//! A turn that calls a model repeats the whole conversation, so its body repeats most bytes of
//! earlier ones. A value of [`LARGE_BYTES`] and more is therefore cut at places that the bytes just
//! before them decide (content-defined chunking): equal stretches of two values give equal parts,
//! wherever they stand. Each part is a blob. The names of many parts are cut in the same way into
//! parts of their own, so few names are left, and a value costs little beyond its new parts. The
//! first and the last part stand in the value itself, because most values differ there.
//! Cutting between the elements of lists would share no more, and would need a walk over every
//! value and a second way for long strings.
//! INVARIANT: joining the parts of a value gives its bytes, or an error that names the part.
//!
//! It does not know what the values mean, nor where blobs are stored. Read next: `record.rs`.
//!
//! Source: `journal/FORMAT.md`, "Parts"; Xia and others, "FastCDC" (2016).

mod cut;
mod named;

pub use cut::cut;
pub use named::NamedParts;

use crate::error::StoreError;
use crate::identity::BlobHash;
use crate::packed::{Compound, MAX_VALUE_BYTES, PackedError, PackedLimits, PackedValue, PackedWriter, Reader, Token};

/// Values below this length, in bytes, are stored whole.
pub const LARGE_BYTES: usize = 16 << 10;

/// The minimum length of a part, in bytes, except for the first, the last, and those of names.
const PART_BYTES_MIN: usize = 512;

/// The maximum length of a part, in bytes: its row fills a page of the database and no more.
const PART_BYTES_MAX: usize = 4000;

/// The maximum number of levels of names: with three, the largest value has few names left.
const LEVELS_MAX: u64 = 3;

/// The label of a value in parts.
const LABEL: &str = "parts";

/// How a value in parts begins, and no other value of a journal.
const BEGINNING: &[u8] = b"\xb4\xb3\x05parts";

/// A value in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InParts {
    /// The length of the value, in bytes.
    length_bytes: u64,
    /// How many times names stand for lists of names: 0 if `names` are those of the parts.
    levels: u64,
    /// The first bytes.
    first: Vec<u8>,
    names: Vec<BlobHash>,
    /// The last bytes.
    last: Vec<u8>,
    /// The parts, also those of names, that no record before names.
    pub(crate) added: Vec<BlobHash>,
    /// The value in few words, by whoever wrote it, for readers who can do without the parts.
    pub(crate) outline: Vec<String>,
}

impl InParts {
    /// Says whether a value is one in parts.
    pub fn is_one(value: &[u8]) -> bool {
        value.starts_with(BEGINNING)
    }

    /// Reads a value in parts from its packed bytes.
    ///
    /// # Errors
    /// [`PackedError`] if they are none.
    pub fn read(bytes: &[u8]) -> Result<Self, PackedError> {
        let mut reader = Reader::new(bytes, PackedLimits::default())?;
        reader.record(LABEL)?;
        let read = Self {
            length_bytes: reader.expect("the length of a value", up_to(MAX_VALUE_BYTES as u64))?,
            levels: reader.expect("the number of levels of names", up_to(LEVELS_MAX))?,
            first: reader.byte_string("the first bytes")?.to_vec(),
            names: read_names(&mut reader)?,
            last: reader.byte_string("the last bytes")?.to_vec(),
            added: read_names(&mut reader)?,
            outline: read_outline(&mut reader)?,
        };
        reader.end()?;
        reader.finish()?;
        Ok(read)
    }

    /// Writes the packed bytes.
    ///
    /// # Errors
    /// [`PackedError`] if there are too many names.
    pub fn pack(&self) -> Result<PackedValue, PackedError> {
        PackedValue::write(|out| {
            out.record(LABEL, |out| {
                out.unsigned(self.length_bytes);
                out.unsigned(self.levels);
                out.byte_string(&self.first);
                write_names(out, &self.names);
                out.byte_string(&self.last);
                write_names(out, &self.added);
                out.sequence(|out| self.outline.iter().for_each(|word| out.string(word)));
            });
        })
    }

    /// Returns the first bytes of the value, which hold at least its beginning.
    pub fn first(&self) -> &[u8] {
        &self.first
    }

    /// Joins the parts, which `fetch` reads by their names.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] if the parts do not make up a value of this length; an error of
    /// `fetch`.
    pub fn join(&self, fetch: Fetch<'_>) -> Result<Vec<u8>, StoreError> {
        let mut names = self.names.clone();
        for _ in 0..self.levels {
            names = self.below(&names, fetch)?;
        }
        let mut joined = self.first.clone();
        let rest_bytes = self.last.len() as u64;
        for name in &names {
            let before_bytes = joined.len();
            fetch(name, &mut joined)?;
            let is_part = (PART_BYTES_MIN..=PART_BYTES_MAX).contains(&(joined.len() - before_bytes));
            // The same few parts again and again would be long.
            if !is_part || joined.len() as u64 + rest_bytes > self.length_bytes {
                return Err(WRONG);
            }
        }
        joined.extend(&self.last);
        if joined.len() as u64 == self.length_bytes {
            Ok(joined)
        } else {
            Err(WRONG)
        }
    }

    /// Reads the names that names stand for, not more than the value can have parts.
    fn below(&self, names: &[BlobHash], fetch: Fetch<'_>) -> Result<Vec<BlobHash>, StoreError> {
        let mut below = Vec::new();
        let mut list = Vec::new();
        for name in names {
            list.clear();
            fetch(name, &mut list)?;
            let (found, rest) = list.as_chunks();
            below.extend(found.iter().map(|name| BlobHash(*name)));
            if found.is_empty() || !rest.is_empty() || (below.len() * PART_BYTES_MIN) as u64 > self.length_bytes {
                return Err(WRONG);
            }
        }
        Ok(below)
    }
}

/// Finds a blob by its name and appends its bytes.
pub type Fetch<'a> = &'a mut dyn FnMut(&BlobHash, &mut Vec<u8>) -> Result<(), StoreError>;

/// Finds each blob by reading it.
pub fn fetching(
    mut read: impl FnMut(&BlobHash) -> Result<Vec<u8>, StoreError>,
) -> impl FnMut(&BlobHash, &mut Vec<u8>) -> Result<(), StoreError> {
    move |name, bytes| {
        bytes.extend(read(name)?);
        Ok(())
    }
}

const WRONG: StoreError = StoreError::Inconsistent {
    what: "the parts of a large value do not make up the value",
};

/// Returns the value that `bytes` are, or stand for.
///
/// # Errors
/// As [`InParts::read`] and [`InParts::join`].
pub fn whole(bytes: Vec<u8>, fetch: Fetch<'_>) -> Result<Vec<u8>, StoreError> {
    if !InParts::is_one(&bytes) {
        return Ok(bytes);
    }
    InParts::read(&bytes).map_err(|_| WRONG)?.join(fetch)
}

fn up_to(max: u64) -> impl Fn(Token<'_>) -> Option<u64> {
    move |token| {
        let Token::Integer(digits) = token else { return None };
        let small = |digits: &[u8]| digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit));
        let is_small = digits.len() <= 4 && digits.first().is_none_or(|first| *first < 0x80);
        is_small.then(|| small(digits)).filter(|number| *number <= max)
    }
}

fn read_names(reader: &mut Reader<'_>) -> Result<Vec<BlobHash>, PackedError> {
    reader.open(Compound::Sequence, "names of parts")?;
    let mut names = Vec::new();
    while !reader.is_at_end() {
        names.push(reader.expect("the name of a part", |token| {
            if let Token::ByteString(bytes) = token {
                BlobHash::from_slice(bytes)
            } else {
                None
            }
        })?);
    }
    reader.end()?;
    Ok(names)
}

fn read_outline(reader: &mut Reader<'_>) -> Result<Vec<String>, PackedError> {
    reader.open(Compound::Sequence, "the outline of a value")?;
    let mut outline = Vec::new();
    while !reader.is_at_end() {
        outline.push(reader.string("a word of an outline")?.to_owned());
    }
    reader.end()?;
    Ok(outline)
}

fn write_names(out: &mut PackedWriter, names: &[BlobHash]) {
    out.sequence(|out| names.iter().for_each(|name| out.byte_string(name.as_bytes())));
}

#[cfg(test)]
mod tests;
