//! Output of durable turns that a process may not have shown before it ended.
//!
//! INVARIANT: no such output is forgotten in silence: whoever continues the run reads how many
//! lines there are and where. A line may have been shown already, because nothing says how far the
//! process came.
//! It marks nothing; `output_mark.rs` does.
//! Read next: `output_mark.rs`.

use duet_journal::store::one_by_one;
use duet_journal::{Sequence, Store};
use duet_runtime::driver::{Drivers, Effect, EffectKind, Stream};
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Body;

use super::OwnedRun;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;

/// The output of turns, oldest first.
struct Unshown {
    /// The turns that have some.
    turns: Vec<Sequence>,
    effects: Vec<Effect>,
}

impl OwnedRun {
    /// Tells the person of output that may not have been shown, once.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn tell_unshown(&mut self, store: &dyn Store, terminal: &mut Terminal) -> Result<(), CommandError> {
        let unshown = self.unshown(store)?;
        if let [first, ..] = unshown.turns[..] {
            let name = &self.place.name;
            terminal.message(say![
                unshown.described(),
                " may not have been shown, because the process ended while it wrote; it may have been shown too\n",
                Way::turn("show", name, first),
                " shows what a turn wrote; ",
                Way::at("resume", name).with("--replay-output"),
                " shows such output again before it goes on",
            ]);
        }
        self.forget_unshown();
        Ok(())
    }

    /// Shows the output that may not have been shown, once.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn replay_unshown(&mut self, store: &dyn Store, terminal: &mut Terminal) -> Result<(), CommandError> {
        let unshown = self.unshown(store)?;
        if unshown.turns.is_empty() {
            terminal.message(format!("all output of {} was shown", self.place.name));
        } else {
            terminal.message(format!(
                "here is {} again, which may have been shown already:",
                unshown.described()
            ));
            self.world.perform(unshown.effects);
        }
        self.forget_unshown();
        Ok(())
    }

    /// Shows output of turns that are durable already.
    pub(crate) fn show(&mut self, output: Vec<EffectKind>) {
        let effects = output.into_iter().map(|kind| Effect {
            request: RequestId(0),
            key: String::new(),
            asking: None,
            kind,
        });
        self.world.perform(effects.collect());
    }

    fn forget_unshown(&mut self) {
        if let Some(mark) = self.world.mark() {
            mark.note_told();
        }
    }

    /// Finds the output of the turns behind the mark.
    fn unshown(&mut self, store: &dyn Store) -> Result<Unshown, CommandError> {
        let mut found = Unshown {
            turns: Vec::new(),
            effects: Vec::new(),
        };
        let (Some(before), Some(newest)) = (self.world.mark().and_then(|mark| mark.untold()), self.run.head()) else {
            return Ok(found);
        };
        let (run, branch) = (self.run.id(), self.run.branch());
        let is_here = store
            .closed_at(run, branch, before.sequence)
            .is_ok_and(|record| record.is_some_and(|record| record.hash() == before.hash));
        let (Some(first), Some(end)) = (before.sequence.next(), newest.sequence.next()) else {
            return Ok(found);
        };
        if !is_here || first >= end {
            return Ok(found);
        }
        for record in one_by_one(store, run, branch, first..end)? {
            let record = record?;
            let Ok(Body::Turn(turn)) = Body::decode(&record.body()) else {
                continue;
            };
            let effects = turn.actions.iter().flat_map(|action| action.effects());
            let effects = effects.filter(|(_, kind)| kind.is_output());
            let shown = effects.map(|(request, kind)| Effect {
                request,
                key: String::new(),
                asking: None,
                kind,
            });
            let count = found.effects.len();
            found.effects.extend(shown);
            if found.effects.len() > count {
                found.turns.push(record.header().sequence);
            }
        }
        Ok(found)
    }
}

impl Unshown {
    /// How much it is, and of which turns.
    fn described(&self) -> String {
        let lines = match self.lines() {
            1 => "1 line of output".to_owned(),
            lines => format!("{lines} lines of output"),
        };
        match self.turns[..] {
            [first, .., last] => format!("{lines} of turns {first} to {last}"),
            [only] => format!("{lines} of turn {only}"),
            [] => lines,
        }
    }

    /// The number of lines; one without an end counts too.
    fn lines(&self) -> usize {
        let mut lines = 0;
        let mut open = [false; 2];
        for effect in &self.effects {
            match &effect.kind {
                EffectKind::Write { stream, bytes } => {
                    let open = &mut open[usize::from(*stream == Stream::Error)];
                    lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                    *open = bytes.last().map_or(*open, |last| *last != b'\n');
                }
                EffectKind::Log { .. } | EffectKind::Failure { .. } => lines += 1,
                EffectKind::Tool { .. }
                | EffectKind::Proceed { .. }
                | EffectKind::Read { .. }
                | EffectKind::Timer { .. }
                | EffectKind::Alarm { .. }
                | EffectKind::Ask { .. }
                | EffectKind::Withdraw
                | EffectKind::Progress { .. }
                | EffectKind::Peer { .. } => {}
            }
        }
        lines + open.into_iter().filter(|open| *open).count()
    }
}
