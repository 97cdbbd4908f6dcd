//! The evaluation of an expression at a turn of the past.
//!
//! The program stands still meanwhile: its handlers, fibers and entities do not run, whatever the
//! expression asserts or sends; fibers and handlers of the expression itself do.
//! INVARIANT: evaluation leaves no trace: the journal gets no record and the world no effect.
//! It does not restore the run; its caller does. Read next: the crate's `verb/act/eval.rs`.

use duet_runtime::driver::{EffectKind, Input, Stream};
use duet_runtime::model::failure::Failure;
use duet_runtime::record::{Body, Outcome};
use duet_runtime::run::{Run, Step};
use duet_runtime::scheme::SchemePrograms;

use super::newest_evaluation;
use crate::history::turn;
use crate::text::error::CommandError;

/// The outcome of an expression.
pub(crate) enum ExpressionOutcome {
    /// It was evaluated.
    Value {
        /// The text that it wrote to standard output.
        output: String,
        /// Its values as Scheme writes them, if it has any.
        written: Option<String>,
    },
    /// It raised a condition.
    Raised(Failure),
    /// It was abandoned, for this reason.
    Abandoned(String),
}

/// Evaluates an expression in a restored run, in at most `turns_max` turns.
///
/// # Errors
/// If the run cannot take a turn.
pub(crate) fn evaluate(run: &mut Run, text: &str, turns_max: u32) -> Result<ExpressionOutcome, CommandError> {
    run.programs_mut::<SchemePrograms>().observe();
    let since = run.state().counters.clone();
    run.hold_still(&since);
    let older = newest_evaluation(run.state());
    run.deliver(Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    });
    let mut output = String::new();
    for _ in 0..turns_max {
        let step = run.step()?;
        run.hold_still(&since);
        let newest = run.unflushed().and_then(|append| append.records.last().cloned());
        for effect in run.confirm_durable() {
            match written(effect.kind) {
                Ok(text) => output.push_str(&text),
                Err(why) => return Ok(ExpressionOutcome::Abandoned(why)),
            }
        }
        let is_over = newest_evaluation(run.state()) <= older;
        if let Some(Body::Turn(turn)) = newest.as_ref().map(turn::body).transpose()?
            && let (true, Outcome::Failed { failure }) = (is_over, turn.outcome)
        {
            return Ok(ExpressionOutcome::Raised(failure));
        }
        if is_over {
            let written = run.programs_mut::<SchemePrograms>().observed();
            return Ok(ExpressionOutcome::Value { output, written });
        }
        if step == Step::Idle {
            let why = "it waits for an event, and the program stands still meanwhile";
            return Ok(ExpressionOutcome::Abandoned(why.to_owned()));
        }
    }
    let why = format!("it takes more than {turns_max} turns");
    Ok(ExpressionOutcome::Abandoned(why))
}

/// Returns the text that an effect writes to standard output.
///
/// # Errors
/// Why nobody performs the effect.
fn written(kind: EffectKind) -> Result<String, String> {
    match kind {
        EffectKind::Write {
            stream: Stream::Output,
            bytes,
        } => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        EffectKind::Tool { name, .. } => Err(format!("it calls {name}")),
        EffectKind::Timer { .. } | EffectKind::Alarm { .. } => Err("it waits for time to pass".to_owned()),
        EffectKind::Read { .. } | EffectKind::Ask { .. } => Err("it asks a person".to_owned()),
        EffectKind::Write { .. }
        | EffectKind::Proceed { .. }
        | EffectKind::Withdraw
        | EffectKind::Log { .. }
        | EffectKind::Failure { .. }
        | EffectKind::Progress { .. }
        | EffectKind::Peer { .. } => Ok(String::new()),
    }
}

/// The error that an expression was abandoned.
pub(crate) fn abandoned(why: &str) -> CommandError {
    CommandError::problem(format!("the expression was abandoned: {why}"))
}
