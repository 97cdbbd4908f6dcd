//! Snapshots of what has changed since the snapshot before.
//!
//! INVARIANT: of the words below those that stay where they are, the changed ones are written, each
//! as what it is part of: a header, a value, or bytes. It does not find out what has changed.
//! Read next: `heap/last_snapshot.rs`.

use super::*;
use crate::heap::PAGE_WORDS;

/// At most one word in this many may have changed.
const UNCHANGED_SHARE: usize = 4;
/// The maximum number of these snapshots in a row: restoring reads each of them from the store.
pub(in crate::image) const CHANGES_MAX: u32 = 256;

/// Whether it is shorter, in the long run, to say what has changed than to write changed ranges:
/// what has been said since the last whole snapshot is to be no longer than that.
pub(super) fn are_worth_it(heap: &Heap) -> bool {
    heap.last_snapshot().is_some_and(|stored| {
        let length = heap.old_words().len();
        let changed: usize = stored.changed().map(|(_, words)| words.count_ones() as usize).sum();
        (changed + length - stored.kept()) * UNCHANGED_SHARE <= length
            && stored.changes < CHANGES_MAX
            && stored.changes_bytes <= stored.full.length_bytes()
    })
}

/// Takes a snapshot that says what has changed.
pub(super) fn snapshot(heap: &mut Heap, code: &dyn CodeNames) -> Result<Snapshot, ImageError> {
    let Some(stored) = heap.last_snapshot() else {
        return Err(ImageError::WrongShape(None));
    };
    let (previous, kept) = (stored.root, stored.kept());
    let pages: Vec<(usize, u64)> = stored.changed().collect();
    let mut names = NamesWriter::new(code);
    let registers = registers(heap, &mut names)?;
    let runs = runs(heap, &pages);
    let words = heap.old_words();
    let mut encoding = CodeWriter::default();
    encoding.varint(runs.len() as u64);
    let mut passed = 0;
    for Run { words: run, is_raw } in runs {
        encoding.varint((run.start - passed) as u64);
        encoding.varint((run.len() * 2 + usize::from(is_raw)) as u64);
        passed = run.end;
        if is_raw {
            encoding.raw(bytemuck::cast_slice(&words[run]));
            continue;
        }
        for place in run {
            match header_at(words, place) {
                Some(header) => {
                    encoding.byte(HEADER);
                    encoding.header(header);
                }
                None => put_word(&mut encoding, place, Value::from_bits(words[place]), &mut names)?,
            }
        }
    }
    let mut index = kept;
    while index < words.len() {
        index = object(&mut encoding, words, index..words.len(), &mut names)?;
    }
    let encoding = encoding.finish();
    let root = write_chunk("changes", |out| {
        out.unsigned(VERSION);
        out.byte_string(&previous);
        out.unsigned(words.len() as u64);
        out.unsigned(heap.words_live() as u64);
        out.unsigned(kept as u64);
        out.byte_string(&registers);
        out.byte_string(&encoding);
        names.write(out);
    });
    heap.record_changes(root.name.0, root.bytes.len() as u64);
    Ok(Snapshot {
        root,
        chunks: Vec::new(),
        excused_bytes: 0,
    })
}

/// Words that follow each other and are written alike.
struct Run {
    words: Range<usize>,
    is_raw: bool,
}

/// The changed words of pages, each told by its bit, as runs of one kind.
fn runs(heap: &mut Heap, pages: &[(usize, u64)]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &(start, changed) in pages {
        let mut index = heap.object_covering(start);
        let words = heap.old_words();
        let end = (start + PAGE_WORDS).min(words.len());
        while index < end {
            let header = header_at(words, index);
            let next = index + header.map_or(2, Header::object_words);
            let is_raw = header.is_some_and(|header| header.kind.is_raw());
            for place in index.max(start)..next.min(end) {
                if changed >> (place - start) & 1 == 0 {
                    continue;
                }
                let is_raw = is_raw && place > index;
                match runs.last_mut() {
                    Some(run) if run.words.end == place && run.is_raw == is_raw => run.words.end += 1,
                    _ => runs.push(Run {
                        words: place..place + 1,
                        is_raw,
                    }),
                }
            }
            index = next;
        }
    }
    runs
}
