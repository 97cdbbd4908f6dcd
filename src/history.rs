//! The journal as commands see it: addresses, records, and what a person lays beside them.
//!
//! Read next: `history/journal.rs`.

pub(crate) mod journal;
pub(crate) mod damage;
pub(crate) mod silence;
pub(crate) mod records;
pub(crate) mod prompts;
pub(crate) mod marks;
pub(crate) mod moves;
pub(crate) mod changes;
pub(crate) mod following;
pub(crate) mod origins;
pub(crate) mod turn;
pub(crate) mod waiting;
pub(crate) mod asked;
pub(crate) mod grants;
pub(crate) mod export_file;
