//! Where a large value is cut.
//!
//! INVARIANT: the cuts depend on the bytes alone, so the same value has the same parts in every
//! process. It does not read blobs. Read next: `named.rs`.

use super::{InParts, LARGE_BYTES, NamedParts, PART_BYTES_MAX, PART_BYTES_MIN};
use crate::blob::Blob;
use crate::identity::BlobHash;

/// A part ends where these bits of the rolling hash are zero: on average 1,024 bytes after its
/// minimum length. They are high ones, because more bytes have a say in those.
const MASK: u64 = 0x3ff << 48;

/// A value has at most this many names; more are cut into parts.
const NAMES_MAX: usize = 64;

/// The lengths of a part of names, in names; on average [`GROUP_AVERAGE`] beyond the minimum.
const GROUP_MIN: usize = 16;
const GROUP_AVERAGE: u8 = 16;
const GROUP_MAX: usize = PART_BYTES_MAX / 32;

/// For each byte, what it adds to the rolling hash.
const GEAR: [u64; 256] = gear();

/// Draws the numbers by the generator SplitMix64 from the seed 0.
const fn gear() -> [u64; 256] {
    let mut numbers = [0; 256];
    let (mut state, mut at) = (0_u64, 0);
    while at < numbers.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[at] = mixed ^ mixed >> 31;
        at += 1;
    }
    numbers
}

/// Cuts a large value into parts, and returns it with those parts, also of names, that `named` does
/// not have yet; `None` if the value is small.
pub fn cut(value: &[u8], named: &mut NamedParts) -> Option<(InParts, Vec<Blob>)> {
    if value.len() < LARGE_BYTES {
        return None;
    }
    let (first, mut rest) = value.split_at(part_length(value));
    let mut added = Vec::new();
    let mut names = Vec::new();
    let mut length = part_length(rest);
    while length < rest.len() {
        names.push(keep(&rest[..length], named, &mut added));
        rest = &rest[length..];
        length = part_length(rest);
    }
    let mut levels = 0;
    while names.len() > NAMES_MAX {
        names = names_of_names(&names, named, &mut added);
        levels += 1;
    }
    let value = InParts {
        length_bytes: value.len() as u64,
        levels,
        first: first.to_vec(),
        names,
        last: rest.to_vec(),
        added: Vec::new(),
        outline: Vec::new(),
    };
    Some((value, added))
}

/// Returns the length of the first part of `bytes`, which is at least one byte if there are any.
fn part_length(bytes: &[u8]) -> usize {
    let end = bytes.len().min(PART_BYTES_MAX);
    let mut hash = 0_u64;
    for at in PART_BYTES_MIN.min(end)..end {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(bytes[at])]);
        if hash & MASK == 0 {
            return at + 1;
        }
    }
    end
}

fn keep(part: &[u8], named: &mut NamedParts, added: &mut Vec<Blob>) -> BlobHash {
    let name = BlobHash::of(part);
    if named.add(name) {
        added.push(Blob::of_part(name, part));
    }
    name
}

/// Cuts names into parts, each of which ends after a name whose first byte says so.
fn names_of_names(names: &[BlobHash], named: &mut NamedParts, added: &mut Vec<Blob>) -> Vec<BlobHash> {
    let mut above = Vec::new();
    let mut part = Vec::new();
    for name in names {
        part.extend(name.as_bytes());
        let count = part.len() / name.as_bytes().len();
        let is_end = count >= GROUP_MIN && name.as_bytes()[0].is_multiple_of(GROUP_AVERAGE);
        if is_end || count == GROUP_MAX {
            above.push(keep(&part, named, added));
            part.clear();
        }
    }
    if !part.is_empty() {
        above.push(keep(&part, named, added));
    }
    above
}
