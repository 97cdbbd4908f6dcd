//! A journal for people: each turn as the runtime prints it, under its number.
//!
//! INVARIANT: the text shows every part of a turn's record, up to the width of a line.
//! Read next: `../crash/course.rs`.

use duet_journal::{Record, Sequence};

use super::witness::turn_of;

/// The maximum width of a line; longer lines are cut.
const LINE_CHARACTERS_MAX: usize = 150;

/// Shows the turns in `records`.
pub(crate) fn readable(records: &[Record]) -> String {
    let turns = records
        .iter()
        .filter_map(|record| Some((record.header().sequence, turn_of(record)?)));
    let lines = turns.flat_map(|(sequence, turn)| {
        let text = format!("turn {sequence}: {turn}");
        text.lines().map(cut).collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS_MAX) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// The position of the first record whose turn has an action of this kind.
pub(crate) fn first_with(records: &[Record], kind: &str) -> Sequence {
    let has_kind =
        |record: &&Record| turn_of(record).is_some_and(|turn| turn.actions.iter().any(|action| action.name() == kind));
    let found = records.iter().find(has_kind);
    found
        .unwrap_or_else(|| panic!("no turn has an action {kind}"))
        .header()
        .sequence
}
