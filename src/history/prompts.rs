//! The runs of prompts, told from those of other programs.
//!
//! Read next: `../surface/repl/session.rs`.

use duet_journal::{Sequence, Store};
use duet_runtime::model::codec::Codec;
use duet_runtime::run::source::genesis;
use preserves::{IOValue, ValueImpl};

use crate::history::journal::Place;
use crate::history::records::record_at;
use crate::text::error::CommandError;

/// The name of the program of a prompt.
pub(crate) const NAME: &str = "repl";

/// Says whether a program is that of a prompt, which takes texts.
pub(crate) fn is_prompt(program: &IOValue) -> bool {
    program.is_record() && IOValue::from(program.index(0)) == NAME.to_owned().encode()
}

/// Says whether a run is that of a prompt.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn is_of_prompt(store: &dyn Store, place: &Place) -> Result<bool, CommandError> {
    let first = record_at(store, place, Sequence::FIRST)?;
    Ok(is_prompt(&genesis(&first)?.program))
}
