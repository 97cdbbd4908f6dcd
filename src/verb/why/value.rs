//! The expressions, variables and inputs that a value came from, in the turn that made it.
//!
//! INVARIANT: it takes the turn again on a run of its own, which it throws away.
//! Read next: `../../../runtime/src/scheme/tracing.rs`.

use duet_journal::Sequence;
use duet_runtime::record::Body;
use duet_runtime::scheme::{How, SchemePrograms, Slice, ValueStep, Wanted};
use schemars::JsonSchema;
use serde::Serialize;

use super::{By, FORM_CHARACTERS};
use crate::journal::Place;
use crate::render::SourceTexts;
use crate::session;
use crate::turn;
use crate::verb::project::Look;

/// The maximum length of a value in words.
const VALUE_CHARACTERS: usize = 60;

/// How a value came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sort {
    /// The text has it.
    Literal,
    /// The expression computed it.
    Computed,
    /// The expression asked the run for it.
    Answered,
    /// It came with an event of the turn.
    Input,
    /// It was there before the turn.
    Earlier,
}

/// A value, and the expression that it came from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Step {
    /// How many steps lead from here to what is explained.
    depth: usize,
    /// The value, as it would be written.
    value: String,
    sort: Sort,
    /// The expression; null if it is not in a text of the program.
    by: Option<By>,
}

/// The values that led to others.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Values {
    /// Each step stands before those that led to it, shorter chains first.
    pub(super) steps: Vec<Step>,
    /// How many further steps are known and left out.
    pub(super) left_out: usize,
    /// Whether the turn was longer than what Duet follows of one.
    pub(super) is_cut: bool,
}

/// The expression that performed an action, and where its values came from.
pub(super) struct Explained {
    pub(super) by: Option<By>,
    pub(super) values: Values,
}

/// Explains a part of the turn at a place, by taking it again; nothing if that is not possible.
pub(super) fn explained(look: &Look<'_>, place: &Place, wanted: &Wanted, most: usize) -> Option<Explained> {
    let at = place.at();
    let record = look.store.closed_at(&place.run, &place.branch, at).ok()??;
    let Body::Turn(taken) = turn::body(&session::record_at(look.store, place, at).ok()?).ok()? else {
        return None;
    };
    let before = Place {
        turn: Sequence::new(at.number().checked_sub(1)?).ok(),
        ..place.clone()
    };
    let mut run = session::restore(look.store, &before).ok()?;
    run.programs_mut::<SchemePrograms>().begin_trace();
    run.take_again(&record).ok()?;
    let (programs, actor) = run.lend::<SchemePrograms>(taken.actor)?;
    let slice = programs.slice(actor, wanted, most)?;
    let texts = SourceTexts::of(programs.expander());
    Some(Explained {
        by: slice.origin.as_ref().and_then(|origin| By::of(&texts, origin)),
        values: Values::of(&slice, &texts),
    })
}

impl Values {
    fn of(slice: &Slice, texts: &SourceTexts) -> Self {
        Self {
            steps: slice.steps.iter().map(|step| Step::of(step, texts)).collect(),
            left_out: slice.left_out,
            is_cut: slice.is_cut,
        }
    }

    /// The steps in words, each further in than what it led to.
    pub(super) fn text(&self) -> String {
        self.steps.iter().map(Step::line).collect()
    }
}

impl Step {
    fn of(step: &ValueStep, texts: &SourceTexts) -> Self {
        Self {
            depth: step.depth,
            value: step.value.clone(),
            sort: match step.how {
                How::Literal => Sort::Literal,
                How::Computed => Sort::Computed,
                How::Answered => Sort::Answered,
                How::Input => Sort::Input,
                How::Earlier => Sort::Earlier,
            },
            by: step.origin.as_ref().and_then(|origin| By::of(texts, origin)),
        }
    }

    fn line(&self) -> String {
        let indent = "  ".repeat(self.depth.min(20) + 1);
        let line = |text: &str, most| duet_drivers::text::line(&turn::short(text, most)).into_owned();
        let value = line(&self.value, VALUE_CHARACTERS);
        let sort = match self.sort {
            Sort::Literal => " literal in",
            Sort::Computed => "",
            Sort::Answered => " the run's answer to",
            Sort::Input => " came in with the turn",
            Sort::Earlier => " was there before the turn",
        };
        let by = self.by.as_ref().map(|by| {
            let form = line(&by.form, FORM_CHARACTERS);
            let joint = if matches!(self.sort, Sort::Input | Sort::Earlier) {
                ":"
            } else {
                ""
            };
            format!("{joint} {form} at {}:{}", duet_drivers::text::line(&by.source), by.line)
        });
        format!("{indent}{value} ←{sort}{}\n", by.unwrap_or_default())
    }
}
