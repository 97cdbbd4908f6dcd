//! A changed text of a run's program, as the person gives it.
//!
//! INVARIANT: it has all that compiling the text again needs and the run does not have.
//! It does not compare texts; `../scheme/change.rs` does.
//! Read next: `../state/patches.rs`.

use preserves::IOValue;

use crate::codec_struct;

/// A program that takes the place of the one that a run executes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedText {
    /// Its description, as a first record has it.
    pub program: IOValue,
    /// The texts that the description names and the run does not have.
    pub texts: Vec<String>,
    /// The definitions to evaluate although the run has a value for them, by name, and the
    /// expressions to evaluate, by number.
    pub run: Vec<String>,
    /// Values for variables that the new text needs and waiting frames do not have, each as
    /// `NAME=EXPRESSION`.
    pub values: Vec<String>,
}
codec_struct!(ChangedText "changed-text" { program, texts, run, values });
