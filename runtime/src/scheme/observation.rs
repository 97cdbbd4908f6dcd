//! Observing an actor from outside: evaluates an expression among the program's own names, and
//! writes its value.
//!
//! INVARIANT: observed instances are thrown away afterwards, and nothing here is part of what a run
//! does or records; so it works on programs that evaluate no texts of their own.
//! It does not keep an expression from acting; the caller that steps the run inspects its requests.
//! Read next: `interaction.rs`.

use duet_kernel::printer::{Style, print};
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::evaluation::EvaluationText;
use super::programs::{Fault, Observation, SchemePrograms};
use crate::turn::activation::Activation;
use crate::turn::task::End;

/// The maximum length of a written value, in characters.
const CHARACTERS_MAX: usize = 1 << 22;

impl SchemePrograms {
    /// Makes texts evaluate among the program's own names from here on, and keeps their values for
    /// [`observed`](Self::observed).
    ///
    /// The run must not go further than that, and must not be recorded.
    pub fn observe(&mut self) {
        self.observation = Some(Observation::default());
    }

    /// Returns the value of the newest text, as `write` shows it; `None` if the evaluation has not
    /// ended or has no specified value.
    pub fn observed(&mut self) -> Option<String> {
        self.observation.as_mut()?.shown.take()
    }

    pub(super) fn begin_observation(
        &mut self,
        actor: &mut SchemeActor,
        text: &str,
        turn: &mut Activation,
    ) -> Result<Option<End>, Fault> {
        let wanted = EvaluationText {
            environment: "",
            name: Some("input".to_owned()),
            text,
            sources: &[],
        };
        let units = match self.units(actor, &wanted, turn) {
            Ok(units) => units,
            Err(fault) => return Ok(Some(End::Failed(self.failure(&fault)))),
        };
        for unit in &units {
            actor.instance.link_apart(&self.code, *unit)?;
        }
        let units = units.into();
        self.observation = Some(Observation { units, shown: None });
        if self.start_observed(actor)? {
            Ok(None)
        } else {
            Ok(Some(End::Finished { is_true: true }))
        }
    }

    /// Takes the value of an evaluated unit, and starts the next unit; returns whether there was
    /// one.
    pub(super) fn observe_next(&mut self, actor: &mut SchemeActor, value: Value) -> Result<bool, Fault> {
        if self.start_observed(actor)? {
            return Ok(true);
        }
        if let Some(observation) = &mut self.observation
            && value != Value::UNSPECIFIED
        {
            let written = print(&actor.instance.heap, &self.code, value, Style::Write, CHARACTERS_MAX);
            observation.shown = Some(written.unwrap_or_else(|error| format!("#<{error}>")));
        }
        Ok(false)
    }

    fn start_observed(&mut self, actor: &mut SchemeActor) -> Result<bool, Fault> {
        let next = self
            .observation
            .as_mut()
            .and_then(|observation| observation.units.pop_front());
        let Some(unit) = next else { return Ok(false) };
        let procedure = actor.instance.unit_procedure(&self.code, unit)?;
        self.machine.start(&mut actor.instance, procedure, &[]);
        Ok(true)
    }
}
