//! The inputs that wait for their turns.
//!
//! INVARIANT: inputs come before the batches of actors, but after [`AHEAD_MAX`] inputs in a row all
//! batches that wait then come first, so that clients that speak all the time stop no actor, and
//! actors that never rest stop no input.
//! It makes no turns of inputs; `input.rs` does. Read next: `../run.rs`.

use std::collections::VecDeque;

use crate::driver::Input;

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
}

impl Inbox {
    /// Says whether more inputs may wait here.
    pub(super) fn has_room(&self) -> bool {
        self.inputs.len() < AHEAD_MAX
    }

    /// Takes the next input, unless the next of this many batches comes first.
    pub(super) fn take(&mut self, batches: usize) -> Option<Input> {
        if self.owed == 0 && self.in_row >= AHEAD_MAX {
            (self.owed, self.in_row) = (batches, 0);
        }
        if batches == 0 {
            self.owed = 0;
        }
        if self.owed > 0 {
            self.owed -= 1;
            return None;
        }
        let input = self.inputs.pop_front();
        self.in_row = if input.is_some() { self.in_row + 1 } else { 0 };
        input
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
            match inbox.take(batches) {
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
        assert_eq!(inbox.take(1_000), None);
        inbox.inputs.push_back(Input::Abandon);
        assert_eq!(inbox.take(1_000), Some(Input::Abandon));
    }
}
