//! The JSON of a log.
//!
//! INVARIANT: a turn is a whole record or a turn in words, as the request wants it.
//! It lists nothing. Read next: `../form.rs`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cursor, Turn, What};
use crate::history::turn::json::{CauseForm, TurnForm};
use crate::history::turn::line::Piece;

impl Turn {
    pub(super) fn form(&self) -> ListedForm {
        if let Some(whole) = &self.whole {
            return ListedForm::Whole(Box::new(whole.clone()));
        }
        let what = match &self.what {
            What::Begins(program) => WhatForm::Begins {
                program: program.clone(),
            },
            What::Taken {
                actor,
                id,
                strand,
                cause,
                heard,
                did,
            } => WhatForm::Taken {
                actor: ActorForm {
                    id: *id,
                    name: actor.clone(),
                },
                strand: strand.clone(),
                cause: cause.clone(),
                heard: heard.clone(),
                did: did.clone(),
            },
        };
        ListedForm::Brief(Box::new(BriefForm {
            turn: self.number,
            record: self.record.to_string(),
            parent: self.parent.map(|parent| parent.to_string()),
            stamp_ms: self.stamp_ms,
            branches: self.ends.clone(),
            is_failed: self.is_failed,
            what,
        }))
    }
}

/// What the command line prints as JSON: whole records, the newest first.
pub(crate) type Form = Vec<TurnForm>;

/// A page of turns.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PageForm {
    /// The branch that is meant.
    pub(super) branch: String,
    pub(super) turns: Vec<ListedForm>,
    /// Where older turns begin, if there may be some.
    pub(super) more: Option<Cursor>,
}

/// A turn: in words, or the whole record.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ListedForm {
    Whole(Box<TurnForm>),
    Brief(Box<BriefForm>),
}

/// A turn in words.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BriefForm {
    turn: u64,
    record: String,
    parent: Option<String>,
    /// When it became durable, in milliseconds since 1970, if that is known.
    stamp_ms: Option<u64>,
    /// The branches that end here.
    branches: Vec<String>,
    is_failed: bool,
    #[serde(flatten)]
    what: WhatForm,
}

/// What happened.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WhatForm {
    /// The run of this program began.
    Begins { program: String },
    /// An actor took a turn.
    Taken {
        actor: ActorForm,
        /// The name of the fiber that ran first, if it has one.
        strand: Option<String>,
        cause: CauseForm,
        heard: Vec<Piece>,
        did: Vec<Piece>,
    },
}

/// An actor.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ActorForm {
    id: u64,
    /// Its role and number.
    name: String,
}
