//! What modules list, as a limit of their code.
//!
//! INVARIANT: a module's code uses no capability that the module does not list, whatever the actor
//! may do.
//! It does not judge; `activation/right.rs` does. Read next: `activation/right.rs`.

use crate::model::manifest::Manifest;

/// The capabilities that a module lists.
#[derive(Clone, Debug)]
pub(crate) struct ModuleLimit {
    /// The module's name.
    pub(crate) module: String,
    /// What it lists.
    pub(crate) listed: Manifest,
}
