//! The card of a tool: what records say of it.
//!
//! INVARIANT: a card holds as long as the run, whatever tools a later process has, so judging again
//! gives the same ruling.
//! It does not know what tools do; the drivers do.
//! Read next: `grant.rs`, `../policy/card.rs`.

use crate::codec_struct;

/// What policy knows about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCard {
    /// Its name; `prefix/*` stands for every name that begins with `prefix/`.
    pub name: String,
    /// The capabilities that a call needs besides the one of its own name, such as `fs.read` or
    /// `net`; constraints and tokens refer to them.
    pub capabilities: Vec<String>,
    /// The JSON Schema of its arguments; if empty, any arguments are valid.
    pub schema: String,
    /// Whether a person must approve each call.
    pub needs_approval: bool,
}
codec_struct!(ToolCard "tool-card" { name, capabilities, schema, needs_approval });
