//! The output of two runs, line by line.
//!
//! INVARIANT: a line counts as shown before only if the other run showed it, in the same order
//! among the lines of its stream.
//! It shows nothing. Read next: `report.rs`.

use std::collections::BTreeMap;

use duet_runtime::driver::{EffectKind, Stream};
use duet_runtime::record::key::LedgerOutput;
use schemars::JsonSchema;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Where output goes: each place has an order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Output,
    Error,
    /// The log, and reports of failures.
    Told,
}

/// A line of output, or a report.
struct Piece {
    way: Way,
    /// What it says.
    text: String,
    shown: EffectKind,
}

/// The lines or facts that only one of two runs has, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LinesApart {
    pub(crate) before: Vec<String>,
    pub(crate) now: Vec<String>,
}

/// Returns the output of the second run that the first has not shown.
pub(super) fn unseen([before, now]: &[Vec<LedgerOutput>; 2]) -> Vec<EffectKind> {
    let now = pieces(now);
    let (_, unseen) = alone(&pieces(before), &now);
    let unseen = now.into_iter().zip(unseen).filter(|(_, is_alone)| *is_alone);
    unseen.map(|(piece, _)| piece.shown).collect()
}

/// Returns the lines that only one of two runs shows.
pub(super) fn apart([before, now]: &[Vec<LedgerOutput>; 2]) -> LinesApart {
    let [before, now] = [before, now].map(|shown| pieces(shown));
    let (lost, new) = alone(&before, &now);
    let lines = |pieces: &[Piece], alone: &[bool]| {
        let pieces = pieces.iter().zip(alone).filter(|(_, is_alone)| **is_alone);
        pieces
            .map(|(piece, _)| piece.text.trim_end_matches('\n').to_owned())
            .collect()
    };
    LinesApart {
        before: lines(&before, &lost),
        now: lines(&now, &new),
    }
}

/// Says of each piece whether only its own run shows it.
fn alone(before: &[Piece], now: &[Piece]) -> (Vec<bool>, Vec<bool>) {
    let mut found = (vec![false; before.len()], vec![false; now.len()]);
    for way in [Way::Output, Way::Error, Way::Told] {
        let of_way = |pieces: &[Piece]| -> Vec<usize> {
            let positions = pieces.iter().enumerate().filter(|(_, piece)| piece.way == way);
            positions.map(|(position, _)| position).collect()
        };
        let (old, new) = (of_way(before), of_way(now));
        let texts = |pieces: &[Piece], positions: &[usize]| -> Vec<String> {
            positions
                .iter()
                .map(|position| pieces[*position].text.clone())
                .collect()
        };
        let differences = capture_diff_slices(Algorithm::Myers, &texts(before, &old), &texts(now, &new));
        for difference in differences {
            if matches!(difference, DiffOp::Equal { .. }) {
                continue;
            }
            difference.old_range().for_each(|index| found.0[old[index]] = true);
            difference.new_range().for_each(|index| found.1[new[index]] = true);
        }
    }
    found
}

/// Cuts output into lines, whatever parts it was written in.
fn pieces(shown: &[LedgerOutput]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: BTreeMap<Way, (Stream, Vec<u8>)> = BTreeMap::new();
    for LedgerOutput { output, .. } in shown {
        let EffectKind::Write { stream, bytes } = output else {
            pieces.extend(report(output));
            continue;
        };
        let way = match stream {
            Stream::Output => Way::Output,
            Stream::Error => Way::Error,
        };
        let line = &mut open.entry(way).or_insert_with(|| (*stream, Vec::new())).1;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.last() == Some(&b'\n') {
                pieces.push(written(way, *stream, std::mem::take(line)));
            }
        }
    }
    let unended = open.into_iter().filter(|(_, (_, line))| !line.is_empty());
    pieces.extend(unended.map(|(way, (stream, line))| written(way, stream, line)));
    pieces
}

fn written(way: Way, stream: Stream, bytes: Vec<u8>) -> Piece {
    Piece {
        way,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        shown: EffectKind::Write { stream, bytes },
    }
}

/// A line of the log, or the report of a failure.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is output")]
fn report(output: &EffectKind) -> Option<Piece> {
    let text = match output {
        EffectKind::Log { text, .. } => text.clone(),
        EffectKind::Failure { failed, .. } => failed.failure.to_string(),
        _ => return None,
    };
    Some(Piece {
        way: Way::Told,
        text,
        shown: output.clone(),
    })
}

#[cfg(test)]
mod tests {
    use duet_journal::Sequence;

    use super::*;

    fn shown(parts: &[(Stream, &str)]) -> Vec<LedgerOutput> {
        let parts = parts.iter().map(|(stream, text)| LedgerOutput {
            turn: Sequence::FIRST,
            output: EffectKind::Write {
                stream: *stream,
                bytes: text.as_bytes().to_vec(),
            },
        });
        parts.collect()
    }

    #[test]
    fn only_lines_that_were_not_shown_are_left_however_they_were_written() {
        use Stream::{Error, Output};
        let before = shown(&[(Output, "one\ntw"), (Error, "warning\n"), (Output, "o\nthree")]);
        for (now, unseen) in [
            (&[(Output, "one\ntwo\nthree"), (Error, "warning\n")][..], &[][..]),
            (&[(Output, "zero\none\ntwo\nthree")], &["zero\n"]),
            (&[(Output, "one\n2\nthree\n")], &["2\n", "three\n"]),
            (&[(Error, "one\n")], &["one\n"]),
        ] {
            let now = shown(now);
            let expected: Vec<String> = unseen.iter().map(|text| (*text).to_owned()).collect();
            let found = super::unseen(&[before.clone(), now]);
            let found = found.into_iter().map(|effect| {
                let EffectKind::Write { bytes, .. } = effect else {
                    return String::new();
                };
                String::from_utf8(bytes).expect("text")
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
