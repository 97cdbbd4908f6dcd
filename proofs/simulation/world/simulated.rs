//! A simulated world: a person, a clock and a few tools, whose answers a seed draws.
//!
//! INVARIANT: what it says depends only on what it was asked, and on the numbers it is given.
//! It does not choose the numbers; `proofs/simulation/operation.rs` does.
//! Read next: `driven.rs`.

use std::collections::BTreeSet;

use duet_runtime::driver::{Effect, EffectKind, Input, ToolFailure};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::inflight::Recovery;
use preserves::IOValue;

use super::{Ledger, WorldError};

/// A person, a clock and a few tools.
#[derive(Default)]
pub(crate) struct Simulated {
    open: Vec<Effect>,
    /// Calls that have reported the contents that they replace, and wait.
    kept: BTreeSet<RequestId>,
    ledger: Ledger,
    seconds: u64,
}

impl Simulated {
    /// Does what a durable turn has asked for.
    ///
    /// # Errors
    /// [`WorldError`].
    pub(crate) fn perform(&mut self, effects: Vec<Effect>, recovery: &Recovery) -> Result<(), WorldError> {
        for effect in effects {
            self.ledger.enter(&effect, recovery)?;
            match &effect.kind {
                EffectKind::Tool { .. }
                | EffectKind::Ask { .. }
                | EffectKind::Read { .. }
                | EffectKind::Timer { .. }
                | EffectKind::Alarm { .. } => {
                    self.open.push(effect);
                }
                EffectKind::Proceed { .. } => {
                    self.open.retain(|open| open.request != effect.request);
                    self.kept.remove(&effect.request);
                    self.open.push(effect);
                }
                EffectKind::Withdraw => self.open.retain(|open| open.request != effect.request),
                EffectKind::Write { .. }
                | EffectKind::Log { .. }
                | EffectKind::Failure { .. }
                | EffectKind::Progress { .. }
                | EffectKind::Peer { .. } => {}
            }
        }
        Ok(())
    }

    /// Answers one of the open requests, if there is any.
    pub(crate) fn answer(&mut self, which: u64, what: u64) -> Option<Input> {
        let position = which.checked_rem(self.open.len() as u64)?;
        let position = usize::try_from(position).ok()?;
        let request = self.open.get(position)?.request;
        if self.kept.contains(&request) {
            // It waits for the word to go on.
            return None;
        }
        if what % 5 == 4 && matches!(self.open[position].kind, EffectKind::Tool { .. }) {
            self.kept.insert(request);
            return Some(Input::Kept {
                request,
                note: what.encode(),
                contents: Vec::new(),
            });
        }
        let effect = self.open.remove(position);
        match effect.kind {
            EffectKind::Tool { name, payload } => Some(Input::ToolResult {
                request,
                outcome: self.outcome(&name, &payload.value(), what),
            }),
            EffectKind::Proceed { note, .. } => Some(Input::ToolResult {
                request,
                outcome: self.outcome("proceed", &note, what),
            }),
            EffectKind::Ask { .. } => Some(Input::Answer {
                request,
                value: what.encode(),
            }),
            EffectKind::Timer { delay_ms } => {
                self.wait(delay_ms.div_ceil(1000));
                Some(Input::Elapsed { request })
            }
            EffectKind::Alarm { .. } => Some(Input::Elapsed { request }),
            EffectKind::Read { .. } => Some(Input::Chunk {
                request,
                bytes: if what == 0 {
                    Vec::new()
                } else {
                    format!("line {what}\n").into_bytes()
                },
            }),
            EffectKind::Write { .. }
            | EffectKind::Withdraw
            | EffectKind::Log { .. }
            | EffectKind::Failure { .. }
            | EffectKind::Progress { .. }
            | EffectKind::Peer { .. } => None,
        }
    }

    fn outcome(&self, name: &str, payload: &IOValue, what: u64) -> Result<IOValue, ToolFailure> {
        if what % 4 == 3 {
            return Err(ToolFailure {
                kind: "failed".to_owned(),
                message: format!("{name} failed"),
                details: vec![payload.clone()],
            });
        }
        if name.starts_with("clock/") {
            return Ok(self.seconds.encode());
        }
        Ok(vec![payload.clone(), what.encode()].encode())
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, seconds: u64) {
        self.seconds += seconds;
    }

    /// The process that heard the answers has ended; what was under way is not heard of any more.
    pub(crate) fn forget(&mut self) {
        self.open.clear();
        self.kept.clear();
    }
}
