//! The waits of a run's fibers at a turn, in words and as data.
//!
//! It does not know since when they wait; `origins.rs` does. Read next: `../verb/waits.rs`.

use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::{ActorId, FiberId, WaitId};
use duet_runtime::state::RunState;
use duet_runtime::state::actor::{Actor, Condition, Wait};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::history::turn::line;
use crate::text::query::spelled_packed;
use crate::text::value_json;

/// A fiber that waits.
pub(crate) struct Waiting {
    /// Its wait; none if another fiber has to wake it.
    pub(crate) wait: Option<WaitId>,
    pub(crate) actor: ActorId,
    /// The actor by role and number, and the name of the fiber.
    pub(crate) name: String,
    pub(crate) fiber: FiberId,
    /// The conditions, or what the other fiber will have done.
    pub(crate) conditions: Vec<String>,
    /// The conditions as data.
    pub(crate) awaited: Vec<Awaited>,
}

/// A condition of a wait.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Awaited {
    /// A fact or message that matches.
    Fact {
        /// The pattern, as it would be typed.
        words: String,
        /// The pattern as a value.
        pattern: Json,
        /// Whether a procedure of the program must accept it, too.
        is_judged: bool,
    },
    /// The answer to a request.
    Answer {
        request: u64,
        /// The condition as a sentence has it.
        words: String,
    },
}

impl Awaited {
    fn of(awaited: &Condition) -> Self {
        match awaited {
            Condition::Matching { pattern, .. } | Condition::Accepted { pattern, .. } => Self::Fact {
                words: spelled_packed(pattern),
                pattern: value_json::of(&pattern.encode()),
                is_judged: matches!(awaited, Condition::Accepted { .. }),
            },
            Condition::Answer { request } => Self::Answer {
                request: request.0,
                words: condition(awaited),
            },
        }
    }
}

/// Lists the waits of fibers, and the fibers that sleep until another one wakes them.
pub(crate) fn waits(state: &RunState) -> Vec<Waiting> {
    let of_actor = |(id, actor): (&ActorId, &Actor)| {
        let name = line::actor(*id, actor.role.as_deref());
        let waits = actor.waits.iter().map(|(wait, found)| Waiting {
            wait: Some(*wait),
            actor: *id,
            name: name.clone(),
            fiber: found.fiber,
            conditions: found.conditions.iter().map(condition).collect(),
            awaited: found.conditions.iter().map(Awaited::of).collect(),
        });
        let sleepers = actor.fibers.iter().filter_map(|(fiber, found)| {
            Some(Waiting {
                wait: None,
                actor: *id,
                name: name.clone(),
                fiber: *fiber,
                conditions: vec![found.sleep.as_deref()?.until.to_string()],
                awaited: Vec::new(),
            })
        });
        waits.chain(sleepers).collect::<Vec<_>>()
    };
    state
        .actors
        .iter()
        .flat_map(|(id, actor)| of_actor((id, actor)))
        .collect()
}

/// The facts that a wait is for; nothing if it is for answers only, which the requests tell.
pub(crate) fn facts(wait: &Wait) -> Option<String> {
    let is_fact = |condition: &&Condition| !matches!(condition, Condition::Answer { .. });
    let patterns: Vec<String> = wait.conditions.iter().filter(is_fact).map(condition).collect();
    (!patterns.is_empty()).then(|| patterns.join(" or "))
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Matching { pattern, .. } => spelled_packed(pattern),
        Condition::Accepted { pattern, .. } => format!("{} that a predicate accepts", spelled_packed(pattern)),
        Condition::Answer { request } => format!("the answer to {request}"),
    }
}

impl Waiting {
    /// The conditions in words.
    pub(crate) fn conditions(&self) -> String {
        self.conditions.join(" or ")
    }

    /// The wait in words.
    pub(crate) fn line(&self) -> String {
        let (fiber, conditions) = (self.fiber, self.conditions());
        match self.wait {
            Some(wait) => format!("{:<10} {:<8} {fiber} for {conditions}", wait.to_string(), self.name),
            None => format!("{:<10} {:<8} {fiber} until {conditions}", "-", self.name),
        }
    }
}
