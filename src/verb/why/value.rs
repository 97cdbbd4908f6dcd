//! The expressions, variables and inputs that a value came from, in the turn that made it and in
//! those before.
//!
//! Duet takes the turn again with a trace, on a run of its own that it throws away. A value that
//! was there before the turn, or came with an event of it, leads further back. Then Duet takes more
//! turns before it again in one trace, in which each actor's heap keeps its origins from turn to
//! turn: the turn that last wrote a variable, a field or a waiting frame is then the one that its
//! origin names, an answer leads to the arguments of its call, and a fact to the expression that
//! asserted it. The number of turns grows fourfold, or to the turn of the call, until nothing is
//! open, the run's first turn is reached, or [`INSTRUCTIONS_MAX`] instructions were followed.
//! INVARIANT: all traces for one question follow at most that many instructions.
//! Read next: `../../../runtime/src/scheme/slice.rs`.

use std::ops::RangeInclusive;

use duet_journal::Sequence;
use duet_kernel::machine::Cut;
use duet_runtime::history::passing::to_trace;
use duet_runtime::record::Body;
use duet_runtime::run::Run;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::scheme::{How, SchemeActor, SchemePrograms, Slice, ValueStep, Wanted};
use schemars::JsonSchema;
use serde::Serialize;

use super::FORM_CHARACTERS;
use crate::history::journal::Place;
use crate::history::turn;
use crate::owner::owned_run::{self, compiled};
use crate::text::error::CommandError;
use crate::text::render::{SourceTexts, TextForm};
use crate::verb::project::ProjectReader;

/// The maximum length of a value in words.
const VALUE_CHARACTERS: usize = 60;

/// The maximum number of instructions that Duet follows for one question.
const INSTRUCTIONS_MAX: u64 = 10_000_000;

/// What taking a turn again counts for, besides its instructions.
const TURN_INSTRUCTIONS: u64 = 1_000;

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
    /// The expression asserted it or sent it, and a later turn received it.
    Sent,
    /// It was there before the first turn that was followed.
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
    /// The turn in which it came to be; for what was there earlier, the first turn that was
    /// followed.
    turn: u64,
    /// The expression; null if it is not in a text of the program, or only used the value.
    by: Option<TextForm>,
}

/// The values that led to others.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Values {
    /// Each step stands before those that led to it, shorter chains first.
    pub(super) steps: Vec<Step>,
    /// How many further steps are known and left out.
    pub(super) left_out: usize,
    /// Whether Duet stopped before it had followed everything: it follows only so many
    /// instructions, and only until the program's memory is full.
    pub(super) is_cut: bool,
    /// Why it stopped.
    #[serde(skip)]
    pub(super) cut: Option<Cut>,
    /// The first turn that was followed; null if none was.
    pub(super) since: Option<u64>,
    /// The turn that made what is explained.
    #[serde(skip)]
    made: u64,
}

/// The expression that performed an action, and where its values came from.
pub(super) struct Explained {
    pub(super) by: Option<TextForm>,
    pub(super) value: Option<String>,
    pub(super) values: Values,
    /// The names among which the wanted one is not, if it is none.
    pub(super) missing: Option<Vec<String>>,
}

/// Explains a part of the turn at a place, by taking it and turns before it again; nothing if that
/// is not possible.
///
/// # Errors
/// If nobody waits for the answer any more.
pub(super) fn explained(
    look: &ProjectReader<'_>,
    place: &Place,
    wanted: &Wanted,
    most: usize,
) -> Result<Option<Explained>, CommandError> {
    let at = place.at().number();
    let (mut best, mut count, mut left) = (None::<Traced>, 1, INSTRUCTIONS_MAX);
    let mut first = at;
    loop {
        look.go_on()?;
        let traced = traced(look, place, wanted, &Extent { first, left, most });
        let Some(Ok(traced)) = traced.transpose() else {
            break;
        };
        left = traced.left;
        let cut = traced.explained.values.cut;
        if let (Some(best), true) = (&mut best, cut.is_some()) {
            best.explained.values.stop(cut);
            break;
        }
        let (is_open, before, is_cut) = (traced.is_open, traced.before, cut.is_some());
        best = Some(traced);
        if !is_open || is_cut || first <= 1 {
            break;
        }
        count *= TURNS_GROWTH;
        let needed = before.map_or(u64::MAX, Sequence::number);
        first = at.saturating_sub(count - 1).min(needed).max(1);
    }
    Ok(best.map(|best| best.explained))
}

/// How many times more turns are taken again if a value leads further back.
const TURNS_GROWTH: u64 = 4;

/// The extent of a trace.
struct Extent {
    /// The number of the first turn.
    first: u64,
    /// How many instructions may be followed.
    left: u64,
    most: usize,
}

/// The result of one trace.
struct Traced {
    explained: Explained,
    is_open: bool,
    /// The turn to which it leads.
    before: Option<Sequence>,
    /// How many instructions may still be followed.
    left: u64,
}

fn traced(
    look: &ProjectReader<'_>,
    place: &Place,
    wanted: &Wanted,
    extent: &Extent,
) -> Result<Option<Traced>, CommandError> {
    let (at, source) = (place.at(), place.source(look.store));
    let position = |number: u64| Sequence::new(number).map_err(|error| CommandError::problem(error.to_string()));
    let Some(before) = extent.first.checked_sub(1) else {
        return Ok(None);
    };
    let pinned = compiled::pinned(look.store, place)?;
    let mut run = source.restore(Some(position(before)?), pinned.programs, Snapshots::Use)?;
    let programs = run.programs_mut::<SchemePrograms>();
    if matches!(wanted, Wanted::Failed(_)) {
        programs.watch_failures();
    }
    programs.begin_trace(extent.left);
    let mut spent = 0;
    for number in extent.first..=at.number() {
        look.go_on()?;
        spent += TURN_INSTRUCTIONS;
        let left = run
            .programs::<SchemePrograms>()
            .instructions_left()
            .saturating_sub(spent);
        if left == 0 && number < at.number() {
            return Ok(Some(Traced::nothing()));
        }
        take(
            look,
            place,
            &mut run,
            position(number)?,
            number == at.number() && !wanted.is_after(),
        )?;
    }
    if let Wanted::Parked(actor, ..) = wanted {
        run.programs_mut::<SchemePrograms>().look_at_traced(*actor);
    }
    let programs = run.programs::<SchemePrograms>();
    let left = programs.instructions_left().saturating_sub(spent);
    let actors = |actor| run.instance::<SchemePrograms>(actor);
    let Some(slice) = programs.slice(&actors, wanted, extent.most) else {
        return Ok(None);
    };
    let texts = SourceTexts::of(programs.expander());
    Ok(Some(Traced {
        is_open: slice.is_open,
        before: slice.before,
        left,
        explained: Explained {
            by: slice.origin.as_ref().and_then(|origin| texts.form_at(origin)),
            value: slice.value.clone(),
            values: Values::of(&slice, &texts, extent.first..=at.number()),
            missing: slice.missing,
        },
    }))
}

/// Takes a turn again; one that is asked about in the middle stays as it is then, a failure
/// included.
fn take(
    look: &ProjectReader<'_>,
    place: &Place,
    run: &mut Run,
    at: Sequence,
    is_left_open: bool,
) -> Result<(), CommandError> {
    let source = place.source(look.store);
    let Body::Turn(turn) = turn::body(&owned_run::record_at(look.store, place, at)?)? else {
        return Err(CommandError::problem("the record is none of a turn"));
    };
    let traced = to_trace(&source, &turn, at)?;
    let restarted = traced.is_restart.then(|| run.instance::<SchemePrograms>(traced.actor));
    let former = restarted.flatten().map(SchemeActor::copy_of_heap);
    run.programs_mut::<SchemePrograms>().begin_traced_turn(traced, former);
    if !is_left_open {
        return Ok(source.repeat(run, at)?);
    }
    let record = look.store.closed_at(&place.run, &place.branch, at)?;
    let record = record.ok_or_else(|| CommandError::problem("the record is missing"))?;
    Ok(run.take_again(&record)?)
}

impl Traced {
    /// A trace that was given up.
    fn nothing() -> Self {
        Self {
            explained: Explained {
                by: None,
                value: None,
                values: Values {
                    is_cut: true,
                    cut: Some(Cut::Instructions),
                    ..Values::default()
                },
                missing: None,
            },
            is_open: true,
            before: None,
            left: 0,
        }
    }
}

impl Values {
    /// The values of turns, of which the last made what is explained.
    fn of(slice: &Slice, texts: &SourceTexts, turns: RangeInclusive<u64>) -> Self {
        Self {
            steps: slice.steps.iter().map(|step| Step::of(step, texts)).collect(),
            left_out: slice.left_out,
            is_cut: slice.cut.is_some(),
            cut: slice.cut,
            since: Some(*turns.start()),
            made: *turns.end(),
        }
    }

    /// Notes why Duet stopped.
    fn stop(&mut self, cut: Option<Cut>) {
        self.is_cut |= cut.is_some();
        self.cut = self.cut.or(cut);
    }

    /// The steps in words, each further in than what it led to.
    pub(super) fn text(&self) -> String {
        self.steps.iter().map(|step| step.line(self.made)).collect()
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
                How::Sent => Sort::Sent,
                How::Earlier => Sort::Earlier,
            },
            turn: step.turn.number(),
            by: step.origin.as_ref().and_then(|origin| texts.form_at(origin)),
        }
    }

    /// The step in words; `made` is the turn that made what is explained.
    fn line(&self, made: u64) -> String {
        let indent = "  ".repeat(self.depth.min(20) + 1);
        let line = |text: &str, most| duet_drivers::text::line(&turn::short(text, most)).into_owned();
        let value = line(&self.value, VALUE_CHARACTERS);
        let is_here = self.turn == made;
        let sort = match self.sort {
            Sort::Literal => " literal in".to_owned(),
            Sort::Computed => String::new(),
            Sort::Answered => " the run's answer to".to_owned(),
            Sort::Input if is_here => " came in with the turn".to_owned(),
            Sort::Input => format!(" came in with turn {}", self.turn),
            Sort::Sent => " passed on by".to_owned(),
            Sort::Earlier if is_here => " was there before the turn".to_owned(),
            Sort::Earlier => format!(" was there before turn {}", self.turn),
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
        let turn = match self.sort {
            Sort::Literal | Sort::Computed | Sort::Answered | Sort::Sent if !is_here => {
                format!(" in turn {}", self.turn)
            }
            Sort::Literal | Sort::Computed | Sort::Answered | Sort::Sent | Sort::Input | Sort::Earlier => String::new(),
        };
        format!("{indent}{value} ←{sort}{}{turn}\n", by.unwrap_or_default())
    }
}
