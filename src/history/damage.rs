//! The damage of a branch, in words.
//!
//! Read next: `../surface/command/fsck.rs`.

use duet_journal::verify::Damage;

/// Says what is wrong with a branch.
pub(crate) fn in_words(damage: &Damage) -> String {
    match damage {
        Damage::Unreadable { at, error } => format!("turn {at} cannot be read: {error}"),
        Damage::Misplaced { at, .. } => format!("the record at turn {at} does not follow the one before it"),
        Damage::WrongHead { .. } => "the last record is not the one that the branch names".to_owned(),
        Damage::Blob { at, blob, error } => format!("turn {at} refers to blob {blob}: {error}"),
    }
}
