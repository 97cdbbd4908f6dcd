//! A run that stands still while a person asks it a question: only what the question began goes on.
//!
//! INVARIANT: nothing that the run had begun before the question takes a turn.
//! It does not evaluate the question; the main program's actor does.
//! Read next: `input.rs`.

use crate::model::identity::Counters;
use crate::run::Run;
use crate::state::event::{Batch, Event, Queue, Subject};

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
    match event.subject() {
        Subject::Match(observer) | Subject::Observer(observer) => observer.0 >= since.observers,
        Subject::Facet(facet) => facet.0 >= since.facets,
        Subject::Fiber(fiber) => fiber.0 >= since.fibers,
        Subject::Wait(wait) => wait.0 >= since.waits,
        Subject::Actor(actor) => actor.0 >= since.actors,
        Subject::Request(request) => request.0 >= since.requests,
        Subject::Nothing => false,
    }
}
