//! References that the gatekeeper has refused, for the journals of the runs.
//!
//! The run that a reference names hears of its refusal, or the first of all if the server hosts no
//! such run: a message that programs may observe, `<gatekeeper/refused KIND WHY COUNT>`.
//! INVARIANT: of each kind and run there is at most one message in [`SPAN_MS`], so that a flood of
//! references does not fill the disk; the counts of the messages add up to all refusals, but for
//! those of the last span before the server ends.
//! It judges nothing; `gatekeeper.rs` does. Read next: `gatekeeper.rs`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use duet_drivers::serve::host::{Host, Refusal};

use crate::owner::gatekeeper::{Hosts, Refused};

/// The time in milliseconds between two messages of a kind in a run.
const SPAN_MS: u64 = 60_000;

/// The maximum length of a reason, in characters.
const WHY_CHARACTERS: usize = 200;

/// The refusals that were not given to a run yet, by kind and run.
pub(crate) struct Refusals {
    hosts: Hosts,
    counts: Mutex<BTreeMap<(&'static str, String), Count>>,
}

#[derive(Default)]
struct Count {
    count: u64,
    why: String,
    /// When a run received the last message, in milliseconds since 1970.
    told_ms: u64,
}

impl Refusals {
    pub(crate) fn of(hosts: Hosts) -> Self {
        Self {
            hosts,
            counts: Mutex::default(),
        }
    }

    /// Counts a refusal, and tells the run that it concerns if it was not told of one of its kind
    /// lately.
    pub(crate) fn note(&self, refused: &Refused, now_ms: u64) {
        let Some((address, _)) = self.recipient(refused.run.as_deref()) else {
            return;
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counts.entry((refused.kind, address)).or_default();
        known.count += 1;
        known.why = refused.why.chars().take(WHY_CHARACTERS).collect();
        drop(counts);
        self.flush(now_ms);
    }

    /// Tells the runs of what was counted, where the time has come.
    pub(crate) fn flush(&self, now_ms: u64) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for ((kind, address), known) in counts.iter_mut() {
            if known.count == 0 || now_ms.saturating_sub(known.told_ms) < SPAN_MS {
                continue;
            }
            let Some((_, host)) = self.recipient(Some(address)) else {
                continue;
            };
            host.note_refusal(Refusal {
                kind,
                why: known.why.clone(),
                count: known.count,
            });
            (known.count, known.told_ms) = (0, now_ms);
        }
    }

    /// The run itself, or the first of all.
    fn recipient(&self, run: Option<&str>) -> Option<(String, Host)> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let named = run.and_then(|run| hosts.get_key_value(run));
        let (address, host) = named.or_else(|| hosts.first_key_value())?;
        Some((address.clone(), host.clone()))
    }
}
