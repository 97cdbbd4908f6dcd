//! `patch`: the program's procedures have the code of a changed text from now on, in all actors,
//! because the person who owns the run gives the text. No program can perform it, so it needs no
//! right.

use std::sync::Arc;

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::changed_text::ChangedText;
use crate::state::draft::Draft;
use crate::state::patches::Patched;
use crate::state::refusal::Refusal;

/// Puts a changed text in the place of the one that the run executes.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The text.
    pub text: ChangedText,
    /// The procedures that do something else now.
    pub changed: Vec<String>,
    /// The definitions that are new.
    pub added: Vec<String>,
    /// The libraries that actors have evaluated and that the text before does not import.
    pub libraries: Vec<String>,
}
codec_struct!(Patch "patch" { text, changed, added, libraries });

impl Act for Patch {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        Arc::make_mut(&mut draft.state.patches).push(Patched {
            turn: draft.turn.number(),
            text: self.text.clone(),
            libraries: self.libraries.clone(),
        });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        let mut parts = Vec::new();
        for (what, names) in [
            ("changes", &self.changed),
            ("adds", &self.added),
            ("evaluates", &self.text.run),
        ] {
            if !names.is_empty() {
                parts.push(format!("{what} {}", names.join(", ")));
            }
        }
        if parts.is_empty() {
            parts.push("changes no procedure".to_owned());
        }
        parts.join("; ")
    }
}
