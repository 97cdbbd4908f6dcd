//! `stats`: the turns, actions and bytes of a run's history.
//!
//! INVARIANT: a turn, a part and a blob count once, however many branches lead to them.
//! Read next: `history/records.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{BlobHash, Record, RecordHash, RunId, Sequence, Store};
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::{Body, TurnRecord, payload_bytes};
use duet_runtime::state::event::{Cause, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form::as_json;
use super::log::line::duration;
use super::project::Project;
use super::run_times::RunTimes;
use crate::history::journal::Place;
use crate::history::origins::{Origin, Origins};
use crate::history::records::Records;
use crate::history::turn;
use crate::history::turn::line::is_failure;
use crate::text::error::CommandError;
use crate::text::view::{Told, View};

/// Counts the turns, actions and bytes of a run's history.
///
/// Duet counts turns, inputs, actions and failures on all branches of a run, each shared turn once,
/// the calls of each tool and those that failed, and the bytes of records, of their parts, of
/// snapshots and of other blobs, each blob once. A large record is stored in parts that other
/// records share. The payload of a turn is what its record has of events and actions; the rest is
/// who, why, verdicts and hashes.
///
///   duet stats review --json
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    pub(crate) address: Option<String>,
    /// Shows when the run began, and how long it took up to its newest turn; terminals always show
    /// both.
    #[arg(long)]
    times: bool,
}

/// The counts.
#[derive(Default)]
struct Counts {
    records: usize,
    /// The records that were counted, if the run has several branches.
    seen: Option<BTreeSet<RecordHash>>,
    blobs: BTreeSet<BlobHash>,
    record_bytes: usize,
    /// The parts of large records.
    parts: u64,
    part_bytes: usize,
    /// The bytes of turns, with their parts.
    turn_bytes: usize,
    /// Those of turns that are events and actions.
    payload_bytes: usize,
    snapshots: u64,
    snapshot_bytes: usize,
    pinned_bytes: usize,
    inputs: u64,
    failures: u64,
    /// The attempts that the gate refused.
    refused: usize,
    fuel: u64,
    actions: BTreeMap<&'static str, u64>,
    tools: BTreeMap<String, Calls>,
}

/// The calls of a tool.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
struct Calls {
    calls: u64,
    /// The calls whose answers tell of a failure, of the tool or of the program that it ran.
    failed: u64,
}

/// The counts of a run.
pub(crate) struct Report {
    run: RunId,
    branches: usize,
    /// The time of its beginning, and that of the newest turn on all branches.
    times: RunTimes,
    /// Whether the times are shown, wherever it is printed.
    has_times: bool,
    counts: Counts,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    run: String,
    /// The number of its branches.
    branches: usize,
    /// When its beginning became durable, in milliseconds since 1970, if that is known.
    began_ms: Option<u64>,
    /// How long after that its newest turn did, in milliseconds.
    duration_ms: Option<u64>,
    /// The number of its turns, without the beginning.
    turns: usize,
    /// Turns that an input caused.
    inputs: u64,
    /// Turns that failed.
    failures: u64,
    /// Attempts that the gate refused.
    refused: usize,
    fuel: u64,
    /// The actions by their kinds.
    actions: BTreeMap<String, u64>,
    /// The calls by the names of their tools.
    tools: BTreeMap<String, Calls>,
    record_bytes: usize,
    /// The parts of large records.
    parts: u64,
    part_bytes: usize,
    /// The bytes of turns, with their parts.
    turn_bytes: usize,
    /// Those of turns that are events and actions.
    payload_bytes: usize,
    snapshots: u64,
    snapshot_bytes: usize,
    /// The bytes of blobs that the first record names.
    pinned_bytes: usize,
}

/// Counts.
///
/// # Errors
/// If there is no such run, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve(request.address.as_deref())?;
    let heads = look.store.heads(&place.run)?;
    let mut counts = Counts {
        seen: (heads.len() > 1).then(BTreeSet::new),
        ..Counts::default()
    };
    let mut times = RunTimes::default();
    for head in &heads {
        let found = RunTimes::of(look.store, &place.run, head)?;
        times = RunTimes {
            began_ms: found.began_ms,
            newest_ms: times.newest_ms.max(found.newest_ms),
        };
        let place = Place {
            branch: head.branch.clone(),
            head: head.clone(),
            ..place.clone()
        };
        counts.branch(look.store, &place)?;
    }
    Ok(Report {
        run: place.run,
        branches: heads.len(),
        times,
        has_times: request.times,
        counts,
    })
}

impl Report {
    /// The number of turns, without the beginning.
    fn turns(&self) -> usize {
        self.counts.records.saturating_sub(1)
    }

    fn times_text(&self, has_times: bool) -> String {
        let took = self.times.duration_ms().filter(|_| has_times).map(duration);
        let text = took.map(|took| format!("began      {}, took {took}\n  ", self.times.began()));
        text.unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        let (turns, counts) = (self.turns(), &self.counts);
        let named = |(name, count): (&&str, &u64)| ((*name).to_owned(), *count);
        as_json(&Form {
            run: self.run.to_string(),
            branches: self.branches,
            began_ms: self.times.began_ms,
            duration_ms: self.times.duration_ms(),
            turns,
            inputs: counts.inputs,
            failures: counts.failures,
            refused: counts.refused,
            fuel: counts.fuel,
            actions: counts.actions.iter().map(named).collect(),
            tools: counts.tools.clone(),
            record_bytes: counts.record_bytes,
            parts: counts.parts,
            part_bytes: counts.part_bytes,
            turn_bytes: counts.turn_bytes,
            payload_bytes: counts.payload_bytes,
            snapshots: counts.snapshots,
            snapshot_bytes: counts.snapshot_bytes,
            pinned_bytes: counts.pinned_bytes,
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let (turns, counts) = (self.turns(), &self.counts);
        let stored_bytes = counts.record_bytes + counts.part_bytes;
        let each = stored_bytes / (turns + 1);
        let mut text = format!(
            "{}: {}\n  \
               {}turns      {turns}, {} of them from inputs, {} failed\n  \
               refused    {}\n  \
               fuel       {}\n\
             {}  \
               records    {}, {each} each; those of turns {:.2} times their payload\n  \
               parts      {}, {} of those of large records\n  \
               snapshots  {}, {}, {} % of the records\n  \
               pinned     {}\n",
            self.run,
            counted(self.branches, "branch"),
            self.times_text(self.has_times || view.columns.is_some()),
            counts.inputs,
            counts.failures,
            counted(counts.refused, "attempt"),
            counts.fuel,
            counts.tools_text(),
            counted(stored_bytes, "byte"),
            counts.turn_bytes as f64 / counts.payload_bytes.max(1) as f64,
            counts.parts,
            counted(counts.part_bytes, "byte"),
            counts.snapshots,
            counted(counts.snapshot_bytes, "byte"),
            100 * counts.snapshot_bytes / stored_bytes.max(1),
            counted(counts.pinned_bytes, "byte"),
        );
        text.extend(
            counts
                .actions
                .iter()
                .map(|(action, count)| format!("  {action:<16} {count}\n")),
        );
        Told::data(text)
    }
}

impl Counts {
    /// The calls of each tool, a line each.
    fn tools_text(&self) -> String {
        let width = self.tools.keys().map(|tool| tool.chars().count()).max().unwrap_or(0);
        let line = |(tool, Calls { calls, failed }): (&String, &Calls)| {
            let calls = counted(*calls, "call");
            format!("  tool       {tool:<width$}  {calls}, {failed} failed\n")
        };
        self.tools.iter().map(line).collect()
    }

    /// Counts the blobs of a record that were not counted before.
    fn add_blobs(&mut self, store: &dyn Store, record: &Record) -> Result<(), CommandError> {
        for part in record.parts() {
            if self.blobs.insert(part) {
                self.parts += 1;
                self.part_bytes += store.blob(&part)?.len();
            }
        }
        let is_pinned = record.header().sequence == Sequence::FIRST;
        for blob in record.blobs() {
            if self.blobs.insert(blob) {
                let length = store.blob(&blob)?.len();
                *(if is_pinned {
                    &mut self.pinned_bytes
                } else {
                    &mut self.snapshot_bytes
                }) += length;
            }
        }
        Ok(())
    }

    /// Counts a branch from its head back to the first turn that was counted before.
    fn branch(&mut self, store: &dyn Store, place: &Place) -> Result<(), CommandError> {
        // Answers that tell of failures, with the turns in which they came.
        let mut failed: BTreeMap<RequestId, Sequence> = BTreeMap::new();
        for record in Records::newest_first(store, place) {
            let record = record?;
            if self.seen.as_mut().is_some_and(|seen| !seen.insert(record.hash())) {
                break;
            }
            self.records += 1;
            self.record_bytes += record.as_bytes().len();
            self.snapshots += u64::from(record.header().snapshot.is_some());
            let part_bytes = self.part_bytes;
            self.add_blobs(store, &record)?;
            let part_bytes = self.part_bytes - part_bytes;
            if let Body::Turn(turn) = turn::body(&record)? {
                self.turn_bytes += record.as_bytes().len() + part_bytes;
                self.payload_bytes += payload_bytes(record.body_view());
                self.inputs += u64::from(turn.cause == (Cause::Input {}));
                self.failures += u64::from(turn::is_failed_turn(&turn));
                self.fuel += turn.fuel;
                for action in &turn.actions {
                    *self.actions.entry(action.name()).or_default() += 1;
                }
                self.refused += turn.attempts.len();
                self.count_calls(&turn, record.header().sequence, &mut failed);
            }
        }
        // Their calls are in turns that this branch shares with one that was counted before.
        let mut origins = Origins::of(place.source(store)).thorough();
        for (request, at) in failed {
            if let Origin::Tool { tool, .. } = origins.request(request, at)? {
                self.tools.entry(tool).or_default().failed += 1;
            }
        }
        Ok(())
    }

    /// Counts the calls of a turn, whose answers came in turns that were counted before.
    fn count_calls(&mut self, turn: &TurnRecord, at: Sequence, failed: &mut BTreeMap<RequestId, Sequence>) {
        for call in turn.calls() {
            let calls = self.tools.entry(call.tool.clone()).or_default();
            calls.calls += 1;
            calls.failed += u64::from(failed.remove(&call.request).is_some());
        }
        for event in &turn.events {
            if let Event::Answered { request, outcome } = event
                && is_failure(outcome)
            {
                failed.insert(*request, at);
            }
        }
    }
}
