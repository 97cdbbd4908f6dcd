//! Tools as a run's first record describes them to policy.
//!
//! INVARIANT: a card holds for the whole run, whatever tools a later process has, so judging again
//! gives the same ruling.
//! It does not know what tools do; the drivers do.
//! Read next: `item.rs`.
//!
//! Source: SS-01, "Arbitration contract": tool call schemas.

use std::collections::BTreeSet;

use super::item::{ArgumentSchema, Tool, Tools};
use super::json;
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

impl Tools {
    /// Makes the tools of a run: those on cards, and any others, about which policy knows nothing.
    pub fn of_cards(cards: &[ToolCard]) -> Self {
        let known = cards.iter().map(|card| {
            // A text that is not JSON becomes a schema that accepts no arguments.
            let schema = || ArgumentSchema::of(json::parse(&card.schema).unwrap_or_default());
            let tool = Tool {
                capabilities: card.capabilities.iter().cloned().collect::<BTreeSet<_>>(),
                arguments: (!card.schema.is_empty()).then(schema),
                needs_approval: card.needs_approval,
            };
            (card.name.clone(), tool)
        });
        Self {
            known: known.collect(),
            is_open: true,
        }
    }
}
