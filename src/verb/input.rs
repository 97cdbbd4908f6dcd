//! `input`: the input of a turn as a text that a person edits.
//!
//! INVARIANT: the text is the one that `duet amend --editor` opens.
//! Read next: `act/amend.rs`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::project::Project;
use crate::text::error::CommandError;
use crate::text::view::{Told, View};
use crate::verb::act::amend::input_at;

/// Gives the input of a turn as a text to edit.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn.
    pub(crate) address: Option<String>,
}

/// The text; nothing if the turn has no input that can be changed.
pub(crate) struct Report(Option<String>);

/// Finds the text.
///
/// # Errors
/// If there is no such turn, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let input = input_at(look.store, &place)?;
    Ok(Report(input.map(|input| input.text)))
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        json!({ "text": self.0 })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        Told::data(self.0.clone().unwrap_or_default())
    }
}
