//! The world of a simulated run: its open requests, its actions, and its clock.
//!
//! INVARIANT: a tool that must not be repeated acts at most once under a key, over all processes
//! and branches; the world reports the first call that would make the tool act again. A key never
//! means two different calls.
//! Read next: `course.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_runtime::driver::{Effect, EffectKind, Input, ToolFailure};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::inflight::Recovery;
use preserves::IOValue;

/// A person, a clock and a few tools.
#[derive(Default)]
pub(crate) struct World {
    open: Vec<Effect>,
    /// Calls that have reported the contents that they replace, and wait.
    kept: BTreeSet<RequestId>,
    /// For what each key was used, and how often.
    done: BTreeMap<String, (EffectKind, u64)>,
    seconds: u64,
}

/// A call that was made again although it must not be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeated {
    /// The key under which it was made.
    pub(crate) key: String,
}

impl World {
    /// Does what a durable turn has asked for.
    ///
    /// # Errors
    /// [`Repeated`].
    pub(crate) fn perform(&mut self, effects: Vec<Effect>, recovery: &Recovery) -> Result<(), Repeated> {
        for effect in effects {
            match &effect.kind {
                EffectKind::Tool { name, .. } => {
                    self.act(&effect, recovery.repeatable.contains(name))?;
                    self.open.push(effect);
                }
                EffectKind::Ask { .. }
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
                | EffectKind::Progress { .. } => {}
            }
        }
        Ok(())
    }

    fn act(&mut self, effect: &Effect, is_repeatable: bool) -> Result<(), Repeated> {
        let first = || (effect.kind.clone(), 0);
        let (kind, count) = self.done.entry(effect.key.clone()).or_insert_with(first);
        *count += 1;
        if *kind != effect.kind || (*count > 1 && !is_repeatable) {
            return Err(Repeated {
                key: effect.key.clone(),
            });
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
                outcome: self.outcome(&name, &payload, what),
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
            | EffectKind::Progress { .. } => None,
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

    /// An answer to a request that has had one, or that was never made.
    pub(crate) fn answer_again(request: u64) -> Input {
        Input::Answer {
            request: RequestId(request),
            value: "again".to_owned().encode(),
        }
    }
}
