//! Macros, as an expansion session knows them.
//!
//! It rewrites no use; `syntax/rules.rs` and `expander/procedural.rs` do.

use crate::datum::{Name, Span};
use crate::syntax::procedural::TransformerId;
use crate::syntax::rules::Rules;
use crate::syntax::scope::Scope;

/// A macro: the way it rewrites its uses.
#[derive(Debug)]
pub(crate) struct Macro {
    pub(crate) transformer: Transformer,
    /// The module it is defined in.
    pub(crate) module: Scope,
    pub(crate) definition: Span,
}

/// The kinds of transformers.
#[derive(Debug)]
pub(crate) enum Transformer {
    Rules(Rules),
    /// The macro of a library that was compiled ahead, whose text has not been read yet.
    Ahead(Name),
    /// A procedure that runs at expansion time.
    Procedure {
        id: TransformerId,
        /// Whether it rewrites assignments to its keyword.
        rewrites_assignments: bool,
    },
}
