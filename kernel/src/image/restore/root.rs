//! The roots of snapshots: the size and registers of the heap, and the snapshot before.
//!
//! INVARIANT: the number of words that a root announces is within the limits.
//! It does not read the words. Read next: `image/snapshot.rs`.

use super::word_at;
use crate::heap::{Limits, Register, lenient};
use crate::image::chunk::ChunkReader;
use crate::image::code::CodeReader;
use crate::image::names::NamesReader;
use crate::image::{Chunk, CodeNames, ImageError, VERSION};
use crate::value::Value;

/// The maximum length of a range.
const RANGE_WORDS_MAX: u64 = 1 << 20;

/// A root as it is read.
pub(super) struct Root<'a> {
    /// How many words the heap has.
    pub(super) length: usize,
    pub(super) words_live: usize,
    pub(super) registers: [Value; Register::COUNT],
    pub(super) range_words: usize,
    pub(super) chunk_names: Vec<[u8; 32]>,
    /// What has changed since the snapshot before; `None` if this one is whole.
    pub(super) changes: Option<Changes<'a>>,
}

/// What has changed.
pub(super) struct Changes<'a> {
    /// The number of words that stay where they are.
    pub(super) kept: usize,
    pub(super) code: CodeReader<'a>,
    pub(super) names: NamesReader<'a>,
}

/// The name of the root of the snapshot that `root` changes, if it is not of a whole one.
pub(super) fn previous(root: &Chunk) -> Result<Option<[u8; 32]>, ImageError> {
    let mut reader = ChunkReader::new(root)?;
    if is_whole(&mut reader)? {
        return Ok(None);
    }
    reader.hash().map(Some)
}

/// Enters a root and checks its version; says whether it is that of a whole snapshot.
fn is_whole(reader: &mut ChunkReader<'_>) -> Result<bool, ImageError> {
    let label = reader.record(&["heap", "changes"])?;
    match reader.integer()? {
        VERSION => Ok(label == "heap"),
        version => Err(ImageError::UnknownVersion(version)),
    }
}

impl<'a> Root<'a> {
    pub(super) fn read(root: &'a Chunk, limits: Limits, code: &'a dyn CodeNames) -> Result<Root<'a>, ImageError> {
        let mut reader = ChunkReader::new(root)?;
        let is_whole = is_whole(&mut reader)?;
        if !is_whole {
            reader.hash()?;
        }
        let words_max = lenient(limits.bytes_max / 8);
        let length = usize::try_from(reader.integer()?)
            .ok()
            .filter(|&length| length <= words_max);
        let length = length.ok_or(ImageError::HeapFull)?;
        let words_live = usize::try_from(reader.integer()?).map_err(|_| ImageError::HeapFull)?;
        let third = reader.integer()?;
        let mut register_code = CodeReader::new(reader.bytes()?, reader.chunk());
        let encoding = if is_whole { None } else { Some(reader.bytes()?) };
        let names = NamesReader::read(&mut reader, code)?;
        let mut registers = [Value::FALSE; Register::COUNT];
        for register in &mut registers {
            *register = word_at(&mut register_code, 0, length, &names)?;
        }
        if !register_code.is_at_end() {
            return Err(ImageError::WrongShape(None));
        }
        let chunk_names = if is_whole {
            chunk_names(&mut reader)?
        } else {
            Vec::new()
        };
        reader.finish()?;
        let changes = encoding.map(|encoding| Changes {
            kept: usize::try_from(third).unwrap_or(usize::MAX),
            code: CodeReader::new(encoding, root.name),
            names,
        });
        let is_range = (64..=RANGE_WORDS_MAX).contains(&third) && third.is_multiple_of(64);
        if is_whole && !is_range {
            return Err(ImageError::WrongShape(None));
        }
        Ok(Root {
            length,
            words_live,
            registers,
            range_words: third as usize,
            chunk_names,
            changes,
        })
    }
}

fn chunk_names(reader: &mut ChunkReader<'_>) -> Result<Vec<[u8; 32]>, ImageError> {
    let mut names = Vec::new();
    reader.sequence()?;
    while !reader.is_at_end() {
        names.push(reader.hash()?);
    }
    reader.end()?;
    Ok(names)
}
