//! How often each instruction was executed, and how each jump went.
//!
//! INVARIANT: counting changes neither the result of a computation nor its fuel.
//! It does not know texts. Read next: `execute/counted.rs`.

/// The counts of a machine, for all computations since they began.
#[derive(Clone, Debug, Default)]
pub struct Counts(Vec<Count>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    executed: u32,
    jumped: u32,
}

impl Counts {
    /// Notes that the instruction at a position was executed, and where the machine went on.
    pub(super) fn note(&mut self, position: usize, next: usize) {
        if self.0.len() <= position {
            self.0.resize(position + 1, Count::default());
        }
        let count = &mut self.0[position];
        count.executed = count.executed.saturating_add(1);
        if next != position + 1 {
            count.jumped = count.jumped.saturating_add(1);
        }
    }

    /// How often the instruction at a position was executed.
    pub fn executed(&self, position: u32) -> u32 {
        self.at(position).executed
    }

    /// How often the machine went on elsewhere than at the next instruction.
    pub fn jumped(&self, position: u32) -> u32 {
        self.at(position).jumped
    }

    fn at(&self, position: u32) -> Count {
        self.0.get(position as usize).copied().unwrap_or_default()
    }
}
