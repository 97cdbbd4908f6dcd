//! The JSON of `duet work --status`.
//!
//! INVARIANT: the schema follows from these types. Read next: `member.rs`.

use std::collections::BTreeMap;

use duet_journal::Owner;
use schemars::JsonSchema;
use serde::Serialize;

use super::member::Member;

/// The workers of a journal, and what waits for one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    /// The workers that live.
    workers: Vec<WorkerForm>,
    /// Runs that can go on and that no process executes.
    ready: Vec<String>,
}

/// A worker.
#[derive(Serialize, JsonSchema)]
struct WorkerForm {
    /// The number of its process.
    process: u32,
    /// Whether it is on this host.
    is_here: bool,
    /// When it last said that it lives, in milliseconds since 1970.
    seen_ms: u64,
    /// How many runs it executes at once.
    concurrency: usize,
    /// Which runs it takes; none means all.
    patterns: Vec<String>,
    /// The names of the workspaces that it declares.
    workspaces: Vec<String>,
    /// The address at which it takes webhooks in, if it does.
    webhooks: Option<String>,
    /// The runs that it executes.
    running: Vec<String>,
    /// The runs that it leaves to others, with the reasons.
    left: BTreeMap<String, String>,
}

impl Form {
    pub(crate) fn of(members: &[Member], ready: Vec<String>) -> Self {
        let worker = |member: &Member| {
            let process = member.process();
            WorkerForm {
                process: process.as_ref().map_or(0, |owner| owner.process),
                is_here: process.as_ref().is_some_and(Owner::is_here),
                seen_ms: process.as_ref().map_or(0, |owner| owner.seen_ms),
                concurrency: member.concurrency,
                patterns: member.patterns.clone(),
                workspaces: member.workspaces.clone(),
                webhooks: member.webhooks.clone(),
                running: member.running.clone(),
                left: member.left.clone(),
            }
        };
        Self {
            workers: members.iter().map(worker).collect(),
            ready,
        }
    }
}
