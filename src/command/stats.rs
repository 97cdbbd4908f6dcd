//! `duet stats`: what the history of a run consists of, and how much it takes.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{BlobHash, RecordHash, Sequence, Store};
use duet_runtime::record::{Body, told_and_done_bytes};
use duet_runtime::state::event::Cause;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::session;
use crate::terminal::Terminal;
use crate::turn;

pub(super) const DETAILS: &str = "\
It counts turns, inputs, actions and failures on all branches of a run, each shared turn once, and the bytes of records, of
snapshots and of other blobs, each blob once. What the turns were told and did is the part of the records that holds their events and actions;
the rest is who, why, verdicts and hashes.

    duet stats review --json";

/// What was counted.
#[derive(Default)]
struct Counted {
    seen: BTreeSet<RecordHash>,
    blobs: BTreeSet<BlobHash>,
    record_bytes: usize,
    /// Those of turns.
    turn_record_bytes: usize,
    /// Those of turns that are events and actions.
    told_and_done_bytes: usize,
    snapshots: u64,
    snapshot_bytes: usize,
    pinned_bytes: usize,
    inputs: u64,
    failures: u64,
    fuel: u64,
    actions: BTreeMap<&'static str, u64>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let store = journal.open_to_read()?;
    let place = journal.resolve(&store, arguments.word(0))?;
    let heads = store.heads(&place.run)?;
    let mut counted = Counted::default();
    for head in &heads {
        let place = Place {
            branch: head.branch.clone(),
            head: head.clone(),
            ..place.clone()
        };
        counted.branch(&store, &place)?;
    }
    let turns = counted.seen.len().saturating_sub(1);
    if arguments.has("json") {
        terminal.json(&json!({
            "run": place.run.as_str(),
            "branches": heads.len(),
            "turns": turns,
            "inputs": counted.inputs,
            "failures": counted.failures,
            "fuel": counted.fuel,
            "actions": counted.actions,
            "record_bytes": counted.record_bytes,
            "turn_record_bytes": counted.turn_record_bytes,
            "told_and_done_bytes": counted.told_and_done_bytes,
            "snapshots": counted.snapshots,
            "snapshot_bytes": counted.snapshot_bytes,
            "pinned_bytes": counted.pinned_bytes,
        }))?;
        return Ok(Code::OK);
    }
    let each = counted.record_bytes / (turns + 1);
    let mut text = format!(
        "{}: {} branches\n  turns      {turns}, {} of them from inputs, {} failed\n  fuel       {}\n  records    {} bytes, {each} each; those of turns {:.2} times what they were told and did\n  snapshots  {}, {} bytes, {} % of the records\n  pinned     {} bytes\n",
        place.run,
        heads.len(),
        counted.inputs,
        counted.failures,
        counted.fuel,
        counted.record_bytes,
        counted.turn_record_bytes as f64 / counted.told_and_done_bytes.max(1) as f64,
        counted.snapshots,
        counted.snapshot_bytes,
        100 * counted.snapshot_bytes / counted.record_bytes.max(1),
        counted.pinned_bytes,
    );
    text.extend(
        counted
            .actions
            .iter()
            .map(|(action, count)| format!("  {action:<16} {count}\n")),
    );
    terminal.data(&text)?;
    Ok(Code::OK)
}

impl Counted {
    /// Counts a branch from its head back to what was counted before.
    fn branch(&mut self, store: &dyn Store, place: &Place) -> Result<(), Failure> {
        let mut at = Some(place.head.sequence);
        while let Some(position) = at {
            let record = session::record_at(store, place, position)?;
            if !self.seen.insert(record.hash()) {
                break;
            }
            self.record_bytes += record.as_bytes().len();
            self.snapshots += u64::from(record.header().snapshot.is_some());
            for blob in record.blobs() {
                if self.blobs.insert(blob) {
                    let length = store.blob(&blob)?.len();
                    let is_pinned = position == Sequence::FIRST;
                    *(if is_pinned {
                        &mut self.pinned_bytes
                    } else {
                        &mut self.snapshot_bytes
                    }) += length;
                }
            }
            if let Body::Turn(turn) = turn::body(&record)? {
                self.turn_record_bytes += record.as_bytes().len();
                self.told_and_done_bytes += told_and_done_bytes(record.body_view());
                self.inputs += u64::from(turn.cause == (Cause::Input {}));
                self.failures += u64::from(turn::is_failed(&Body::Turn(turn.clone())));
                self.fuel += turn.fuel;
                for action in &turn.actions {
                    *self.actions.entry(action.name()).or_default() += 1;
                }
            }
            at = position
                .number()
                .checked_sub(1)
                .and_then(|before| Sequence::new(before).ok());
        }
        Ok(())
    }
}
