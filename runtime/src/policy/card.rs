//! The cards of tools, read for policy.
//!
//! INVARIANT: equal cards give equal tools, and of two cards of one name the later holds.
//! It does not know what tools do; the drivers do.
//! Read next: `item.rs`.
//!
//! Source: SS-01, "Arbitration contract": tool call schemas.

use std::collections::BTreeSet;

use super::item::{ArgumentSchema, Tool, Tools};
use crate::model::card::ToolCard;

impl Tools {
    /// Makes the tools of a run: those on cards, and any others, about which policy knows nothing.
    pub(crate) fn of_cards(cards: &[ToolCard]) -> Self {
        let mut tools = Self {
            is_open: true,
            ..Self::default()
        };
        tools.describe(cards);
        tools
    }

    /// Adds tools, or replaces those of the same names.
    pub(crate) fn describe(&mut self, cards: &[ToolCard]) {
        self.known.extend(cards.iter().map(|card| {
            let tool = Tool {
                capabilities: card.capabilities.iter().cloned().collect::<BTreeSet<_>>(),
                arguments: (!card.schema.is_empty()).then(|| ArgumentSchema::of_text(&card.schema)),
                needs_approval: card.needs_approval,
            };
            (card.name.clone(), tool)
        }));
    }
}
