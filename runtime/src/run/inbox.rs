//! The inputs that wait for their turns.
//!
//! INVARIANT: inputs come before the batches of actors, but after [`AHEAD_MAX`] inputs in a row all
//! batches that wait then come first, so that clients that speak all the time stop no actor, and
//! actors that never rest stop no input. A timer that has run out comes after the batches that its
//! actor has by then: whoever waits for a fact until then receives it if it is there.
//! It makes no turns of inputs; `input.rs` does. Read next: `../run.rs`.

use std::collections::VecDeque;

use crate::driver::Input;
use crate::model::identity::RequestId;
use crate::state::event::Event;

/// The maximum number of inputs that wait here; others wait in the world.
pub(super) const AHEAD_MAX: usize = 64;

/// The inputs that wait.
#[derive(Default)]
pub(crate) struct Inbox {
    pub(super) inputs: VecDeque<Input>,
    /// The number of inputs taken in a row.
    in_row: usize,
    /// The number of batches that come before the next input.
    owed: usize,
    /// Whether the next input, a timer, has waited for the batches of its actor.
    has_waited: bool,
}

impl Inbox {
    /// Says whether more inputs may wait here.
    pub(super) fn has_room(&self) -> bool {
        self.inputs.len() < AHEAD_MAX
    }

    /// Takes the next input, unless the next of this many batches comes first. `ahead` says how
    /// many there are up to the last one for the actor that made a request.
    pub(super) fn take(&mut self, batches: usize, ahead: impl FnOnce(RequestId) -> usize) -> Option<Input> {
        if self.owed == 0 && self.in_row >= AHEAD_MAX {
            (self.owed, self.in_row) = (batches, 0);
        }
        if self.owed == 0
            && !self.has_waited
            && let Some(Input::Elapsed { request }) = self.inputs.front()
        {
            (self.owed, self.has_waited) = (ahead(*request), true);
        }
        if batches == 0 {
            self.owed = 0;
        }
        if self.owed > 0 {
            self.owed -= 1;
            return None;
        }
        self.has_waited = false;
        let input = self.inputs.pop_front();
        self.in_row = if input.is_some() { self.in_row + 1 } else { 0 };
        input
    }

    /// Takes the next inputs as long as they say when timers of one actor will run out; timers that
    /// start together are noted in one turn.
    pub(super) fn take_more_due(&mut self, is_of_actor: impl Fn(RequestId) -> bool) -> Vec<Event> {
        let mut due = Vec::new();
        while let Some(Input::Due { request, at_ms }) = self.inputs.front()
            && is_of_actor(*request)
        {
            due.push(Event::Due {
                request: *request,
                at_ms: *at_ms,
            });
            self.inputs.pop_front();
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_their_turn_however_many_inputs_come() {
        let mut inbox = Inbox::default();
        let mut batches = 0;
        let mut order = String::new();
        for _ in 0..4 * AHEAD_MAX {
            while inbox.has_room() {
                inbox.inputs.push_back(Input::Abandon);
            }
            // Each input makes one batch.
            match inbox.take(batches, |_| 0) {
                Some(_) => {
                    batches += 1;
                    order.push('i');
                }
                None => {
                    batches -= 1;
                    order.push('b');
                }
            }
        }
        let (inputs, batches) = ("i".repeat(AHEAD_MAX), "b".repeat(AHEAD_MAX));
        assert_eq!(order, format!("{inputs}{batches}{inputs}{batches}"));
    }

    #[test]
    fn an_input_comes_before_the_batches_of_actors_that_never_rest() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.take(1_000, |_| 0), None);
        inbox.inputs.push_back(Input::Abandon);
        assert_eq!(inbox.take(1_000, |_| 0), Some(Input::Abandon));
    }

    #[test]
    fn a_timer_waits_once_for_the_batches_of_its_actor() {
        let mut inbox = Inbox::default();
        let elapsed = |number| Input::Elapsed {
            request: RequestId(number),
        };
        for number in [0, 1] {
            inbox.inputs.push_back(elapsed(number));
            assert_eq!(inbox.take(5, |_| 2), None);
            assert_eq!(inbox.take(4, |_| 2), None);
            assert_eq!(inbox.take(3, |_| 2), Some(elapsed(number)));
        }
    }
}
