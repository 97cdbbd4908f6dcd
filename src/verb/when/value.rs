//! The value of an expression at a turn, and the turn in which it changes.
//!
//! The program stands still while the expression is evaluated, as for `duet eval`.
//! INVARIANT: evaluation leaves no trace: each turn is restored for itself, and what was evaluated
//! is dropped.
//! It prints nothing. Read next: `owner/owned_run/expression.rs`.

use duet_journal::Sequence;

use crate::history::journal::Place;
use crate::owner::owned_run::expression::{self, ExpressionOutcome};
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::render::message_of;
use crate::verb::project::ProjectReader;

/// The maximum number of turns of an expression.
const TURNS_MAX: u32 = 1_000;

/// The value of an expression at a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Valued {
    /// Its value as Scheme writes it, with what it displayed.
    Value(String),
    /// The condition that it raised.
    Raised(String),
    /// The run was over.
    Over,
}

impl Valued {
    pub(super) fn words(&self) -> String {
        match self {
            Self::Value(value) => value.clone(),
            Self::Raised(why) => format!("an error ({why})"),
            Self::Over => "nothing, for the run is over".to_owned(),
        }
    }
}

/// A change of an expression's value between two turns, one right after the other.
#[derive(Debug)]
pub(super) struct ValueChange {
    pub(super) at: Sequence,
    pub(super) before: Valued,
    pub(super) after: Valued,
}

/// Evaluates an expression at turns of a branch.
pub(super) struct Values<'a> {
    pub(super) look: &'a ProjectReader<'a>,
    pub(super) place: &'a Place,
    pub(super) text: &'a str,
}

impl Values<'_> {
    /// Finds a turn in which the value changes between the first turn and the place: by bisection,
    /// so another change may come before it; `None` if the value is the same at both ends.
    ///
    /// # Errors
    /// If a turn cannot be restored, the text is no expression, or the expression wants to act.
    pub(super) fn bisect(&self) -> Result<Option<ValueChange>, CommandError> {
        let (mut low, mut high) = (1, self.last()?);
        if low >= high {
            return Ok(None);
        }
        let mut before = self.at(low)?;
        let mut after = self.at(high)?;
        if before == after {
            return Ok(None);
        }
        while high - low > 1 {
            self.look.go_on()?;
            let middle = low + (high - low) / 2;
            let value = self.at(middle)?;
            if value == before {
                low = middle;
            } else {
                (high, after) = (middle, value);
            }
        }
        before = if low == 1 { before } else { self.at(low)? };
        Ok(Some(ValueChange {
            at: position(high)?,
            before,
            after,
        }))
    }

    /// Finds the first turn in which the value changes; reads all turns up to it.
    ///
    /// # Errors
    /// As [`bisect`](Self::bisect).
    pub(super) fn first(&self) -> Result<Option<ValueChange>, CommandError> {
        let last = self.last()?;
        if last == 0 {
            return Ok(None);
        }
        let mut before = self.at(1)?;
        for number in 2..=last {
            self.look.go_on()?;
            let after = self.at(number)?;
            if after != before {
                let at = position(number)?;
                return Ok(Some(ValueChange { at, before, after }));
            }
            before = after;
        }
        Ok(None)
    }

    /// The value at the last turn; `None` if the run was over at each.
    ///
    /// # Errors
    /// As [`bisect`](Self::bisect).
    pub(super) fn newest(&self) -> Result<Option<Valued>, CommandError> {
        let last = self.last()?;
        if last == 0 { Ok(None) } else { self.at(last).map(Some) }
    }

    /// The last turn at which the run was not over.
    fn last(&self) -> Result<u64, CommandError> {
        let mut last = self.place.at().number();
        while last > 0
            && compiled::sight(self.look.store, &self.place_of(last)?)?
                .state()
                .exit
                .is_some()
        {
            last -= 1;
        }
        Ok(last)
    }

    fn place_of(&self, number: u64) -> Result<Place, CommandError> {
        Ok(Place {
            turn: Some(position(number)?),
            ..self.place.clone()
        })
    }

    /// The value at a turn.
    pub(super) fn at(&self, number: u64) -> Result<Valued, CommandError> {
        let mut run = owned_run::restore(self.look.store, &self.place_of(number)?)?;
        if run.state().exit.is_some() {
            return Ok(Valued::Over);
        }
        match expression::evaluate(&mut run, self.text, TURNS_MAX)? {
            ExpressionOutcome::Value { output, written } => {
                let mut shown = output;
                shown.extend(written);
                Ok(Valued::Value(shown))
            }
            // A text that is no expression has no value at any turn.
            ExpressionOutcome::Raised(failure) if failure.kind == "syntax-error" => Err(CommandError::problem(
                format!("`{}` is no expression: {}", self.text, message_of(&failure)),
            )),
            ExpressionOutcome::Raised(failure) => {
                Ok(Valued::Raised(format!("{}: {}", failure.kind, message_of(&failure))))
            }
            ExpressionOutcome::Abandoned(why) => Err(expression::abandoned(&why)),
        }
    }
}

fn position(number: u64) -> Result<Sequence, CommandError> {
    Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()))
}
