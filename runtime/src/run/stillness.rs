//! A run that stands still while a person asks it a question: only what the question began goes on.
//!
//! INVARIANT: nothing that the run had begun before the question takes a turn.
//! It does not evaluate the question; the main program's actor does.
//! Read next: `input.rs`.

use crate::model::identity::Counters;
use crate::run::Run;
use crate::state::event::{Batch, Event, Queue};

impl Run {
    /// Drops the events that concern what began before `since`, for a copy of a run that only
    /// answers a question. The caller repeats it after each step, because the question may assert a
    /// fact or send a message that the program waits for.
    pub fn hold_still(&mut self, since: &Counters) {
        let queue = std::mem::take(&mut self.state.queue);
        let mut kept = Queue::new();
        for Batch {
            to,
            from,
            cause,
            events,
        } in &queue
        {
            let is_new = to.0 >= since.actors;
            let events: Vec<Event> = events
                .iter()
                .filter(|event| is_new || begins_after(event, since))
                .cloned()
                .collect();
            if !events.is_empty() {
                kept.push_back(Batch {
                    to: *to,
                    from: *from,
                    cause: cause.clone(),
                    events,
                });
            }
        }
        self.state.queue = kept;
    }
}

/// Whether an event is for what has begun since.
fn begins_after(event: &Event, since: &Counters) -> bool {
    match event {
        Event::Added { observer, .. }
        | Event::Removed { observer, .. }
        | Event::Message { observer, .. }
        | Event::Closed { observer } => observer.0 >= since.observers,
        Event::Direct { facet, .. } | Event::Given { facet, .. } => facet.0 >= since.facets,
        Event::Resume { fiber } | Event::Sync { fiber, .. } | Event::Failed { fiber, .. } => fiber.0 >= since.fibers,
        Event::Settled { wait, .. } => wait.0 >= since.waits,
        Event::Ended { actor, .. } | Event::Restarted { actor } => actor.0 >= since.actors,
        Event::Answered { request, .. }
        | Event::Prepared { request, .. }
        | Event::Kept { request, .. }
        | Event::Due { request, .. }
        | Event::Reconsider { request } => request.0 >= since.requests,
        Event::Boot {}
        | Event::Orphaned { .. }
        | Event::Terminate {}
        | Event::Evaluate { .. }
        | Event::Abandon {}
        | Event::Merged { .. }
        | Event::Told { .. }
        | Event::Joined { .. }
        | Event::Granted { .. }
        | Event::Patched { .. }
        | Event::Restart {}
        | Event::Taken { .. }
        | Event::Said { .. } => false,
    }
}
