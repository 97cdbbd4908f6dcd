//! When answers came: the shortest delays of recorded answers that repeat their order.
//!
//! INVARIANT: on a clock that moves only when everything waits, the calls of a run that have these
//! delays are answered in the order of its records, and its timers run out where they did.
//! It records nothing; `answers.rs` does.

use std::collections::BTreeMap;

use duet_journal::Sequence;
use duet_runtime::driver::EffectKind;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::key::{Ledger, LedgerRequest};
use duet_runtime::state::event::Event;

/// How much later than another an answer comes that the other has overtaken, in milliseconds. On a
/// clock that does not wait, what the other leads to has about this time.
const STEP_MS: u64 = 10;

/// The time of a run on such a clock.
#[derive(Default)]
struct Timeline {
    /// The present moment, in milliseconds.
    now_ms: u64,
    /// The moments that began with a turn, in order.
    begun: Vec<(Sequence, u64)>,
    /// The last request that was answered at the present moment, by its position.
    newest: Option<usize>,
}

impl Timeline {
    /// The moment of a turn.
    fn at(&self, turn: Sequence) -> u64 {
        let later = self.begun.partition_point(|(begun, _)| *begun <= turn);
        later.checked_sub(1).map_or(0, |place| self.begun[place].1)
    }

    /// Lets the request at a position be answered in a turn, no earlier than at a moment.
    fn answer(&mut self, position: usize, turn: Sequence, earliest_ms: u64) {
        let moment = self.now_ms.max(earliest_ms);
        // Of two answers at one moment, that to the earlier request would come first.
        let is_overtaken = moment == self.now_ms && self.newest.is_some_and(|newest| position < newest);
        let moment = if is_overtaken { moment + STEP_MS } else { moment };
        if moment > self.now_ms {
            self.now_ms = moment;
            self.begun.push((turn, moment));
            self.newest = None;
        }
        self.newest = self.newest.max(Some(position));
    }
}

/// Returns the delays of the calls that were answered, in milliseconds, without those of none.
pub(crate) fn delays(ledger: &Ledger) -> BTreeMap<RequestId, u64> {
    let asked: BTreeMap<RequestId, (usize, &LedgerRequest)> = (0..)
        .zip(&ledger.asked)
        .map(|(position, asked)| (asked.request, (position, asked)))
        .collect();
    let mut timeline = Timeline::default();
    let mut delays = BTreeMap::new();
    for heard in &ledger.heard {
        let Event::Answered { request, .. } = &heard.event else {
            continue;
        };
        let Some((position, asked)) = asked.get(request) else {
            continue;
        };
        let asked_ms = timeline.at(asked.turn);
        let length_ms = if let EffectKind::Timer { delay_ms } | EffectKind::Alarm { delay_ms, .. } = asked.question {
            delay_ms
        } else {
            0
        };
        timeline.answer(*position, heard.turn, asked_ms.saturating_add(length_ms));
        let delay_ms = timeline.now_ms - asked_ms;
        if delay_ms > 0 {
            delays.insert(*request, delay_ms);
        }
    }
    delays
}
