//! `duet fork --sample`: branches that ask the same thing again.
//!
//! INVARIANT: all branches begin at the same turn, which the question is part of and its answer is
//! not.
//! It does not compare what they come to; `duet diff` does.
//! Read next: `verb/act/fork.rs`.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use duet_journal::{BranchName, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::driver::EffectKind;
use duet_runtime::history::input::{What, recorded};
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::Body;
use duet_runtime::run::heads;
use duet_runtime::run::source::BranchClaim;

use crate::history::journal::{self, Place};
use crate::history::turn;
use crate::owner::doors;
use crate::owner::owned_run;
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::verb::project::Project;
use crate::world::world_options::WorldOptions;

use super::Report;

/// The name of branches for which the person gives none.
const NAME: &str = "sample";

/// The samples that a person wants, as branches whose names are one name with numbers.
pub(super) struct Samples<'a> {
    count: NonZeroUsize,
    name: &'a str,
}

impl<'a> Samples<'a> {
    /// Takes the name that the person gives, if there is one.
    ///
    /// # Errors
    /// If there are several.
    pub(super) fn named(count: NonZeroUsize, names: &'a [String]) -> Result<Self, CommandError> {
        let name = match names {
            [] => NAME,
            [name] => name,
            _ => return Err(CommandError::usage("samples have one name, to which numbers are added")),
        };
        Ok(Self { count, name })
    }

    /// Makes the branches and goes on with each until it stops.
    ///
    /// # Errors
    /// If the address has no turn, or the journal fails.
    pub(super) fn begin(
        &self,
        project: &mut Project,
        address: &str,
        options: &WorldOptions,
    ) -> Result<Report, CommandError> {
        let mut store = project.change("fork")?;
        let place = project.journal().resolve_turn(&*store, Some(address))?;
        let Some(turn) = place.turn else {
            return Err(CommandError::usage("the samples of which turn?")
                .advise(Way::turn("fork", place.name(), "N").with(format!("--sample {}", self.count))));
        };
        let (before, request) = beginning(&*store, &place, turn)?;
        let options = WorldOptions {
            afresh: BTreeSet::from([request]),
            ..options.clone()
        };
        let branches = self.free_branches(&*store, &place)?;
        let owner = doors::successor(&*store, &place.run, "fork")?;
        heads::fork(
            &mut *store,
            BranchClaim::new(&place.run, &place.branch, &owner),
            before,
            &branches,
        )?;
        let mut code = ExitCode::OK;
        for branch in &branches {
            let address = journal::name(&place.run, branch);
            let begins = format!("{address} begins at {}", place.address(before));
            project.stage()?.message(begins);
            let forked = project.journal().resolve(&*store, Some(&address))?;
            let owned = project.resume(&forked, &mut *store, options.clone(), "fork")?;
            let ended = owned.drive(&mut *store, true, project.stage()?)?;
            if ended != ExitCode::OK {
                code = ended;
            }
        }
        Ok(Report {
            run: place.run,
            from: place.branch,
            turn: before,
            branches,
            code,
            is_sample: true,
        })
    }

    /// Finds the first names with a number that the run does not have.
    fn free_branches(&self, store: &dyn Store, place: &Place) -> Result<Vec<BranchName>, CommandError> {
        let Self { count, name } = self;
        let heads = store.heads(&place.run)?;
        let mut free = Vec::new();
        let mut number = 1_usize;
        while free.len() < count.get() {
            let branch = BranchName::new(format!("{name}-{number}"))
                .map_err(|error| CommandError::usage(format!("`{name}` cannot be a branch's name: {error}")))?;
            if heads.iter().all(|head| head.branch != branch) {
                free.push(branch);
            }
            number += 1;
        }
        Ok(free)
    }
}

/// The turn after which the branches begin, and the call that each makes again: the call that the
/// turn answers, or else the one that it makes.
fn beginning(store: &dyn Store, place: &Place, turn: Sequence) -> Result<(Sequence, RequestId), CommandError> {
    let source = place.source(store);
    let answered = recorded(&source, turn, turn)?
        .into_iter()
        .find_map(|said| match said.what {
            What::Answer {
                request,
                question: EffectKind::Tool { .. },
                ..
            } => Some(request),
            What::Answer { .. } | What::Unasked(_) => None,
        });
    let before = turn
        .number()
        .checked_sub(1)
        .and_then(|before| Sequence::new(before).ok());
    if let (Some(request), Some(before)) = (answered, before) {
        return Ok((before, request));
    }
    let Body::Turn(taken) = turn::body(&owned_run::record_at(store, place, turn)?)? else {
        return Err(asks_nothing(place, turn));
    };
    let mut made = taken.actions.iter().flat_map(Action::effects);
    let made = made.find(|(_, kind)| matches!(kind, EffectKind::Tool { .. }));
    made.map(|(request, _)| (turn, request))
        .ok_or_else(|| asks_nothing(place, turn))
}

fn asks_nothing(place: &Place, turn: Sequence) -> CommandError {
    CommandError::usage(format!("at {} no tool is asked, and none answers", place.address(turn))).advise(say![
        Way::at("log", place.name()),
        " shows the turns that ask a model or another tool",
    ])
}
