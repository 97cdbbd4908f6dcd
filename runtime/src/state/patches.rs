//! The changed texts that a run has taken on since it began.
//!
//! INVARIANT: only a person's input adds a text; going back to before that input takes it back.
//! It does not know what a text means; `../scheme/versions.rs` does.
//! Read next: `../action/patch.rs`.

use std::sync::Arc;

use crate::codec_struct;
use crate::model::changed_text::ChangedText;

/// A changed text, with the turn that took it on.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The number of the turn.
    pub turn: u64,
    /// The text.
    pub text: ChangedText,
    /// The libraries that actors had evaluated and that the text before does not import.
    pub libraries: Vec<String>,
}
codec_struct!(Patched "patched-text" { turn, text, libraries });

/// All changed texts of a run, the oldest first.
pub type Patches = Arc<Vec<Patched>>;
