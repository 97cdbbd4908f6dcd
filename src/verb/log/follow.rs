//! A log of the branch of a run that goes on: the turns that come, oldest first.
//!
//! INVARIANT: each turn is listed once, and none that the filter leaves out.
//! It does not draw. Read next: `../log.rs`.

use std::num::NonZeroUsize;

use duet_runtime::record::Body;

use super::filter::Filter;
use super::times::Times;
use super::{Cursor, History, Request, Turn, perform};
use crate::history::following::Following;
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::turn;
use crate::text::error::CommandError;
use crate::verb::project::Project;

/// A branch that is followed.
pub(crate) struct FollowedBranch {
    place: Place,
    filter: Filter,
    /// The turns that were there, if few of them are wanted.
    first: Option<Vec<Turn>>,
    next: u64,
}

/// Begins to follow a branch: from its beginning, or from the newest turns that a limit leaves.
///
/// # Errors
/// As [`perform`].
pub(crate) fn follow(project: &mut Project, request: &mut Request) -> Result<FollowedBranch, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let filter = Filter::read(request, &look, &place)?;
    let mut first = None;
    if let Some(limit) = request.limit {
        // A page of the branch that is meant only.
        let mut wanted = Request {
            address: Some(format!("{}/{}@{}", place.run, place.branch, place.head.sequence)),
            // An actor or a tool that is not there yet may come: this is no first page, which asks.
            before: Some(Cursor(place.head.sequence.number() + 1, 0)),
            ..request.clone()
        };
        let (mut turns, mut left) = (Vec::new(), limit.get());
        loop {
            wanted.limit = NonZeroUsize::new(left);
            let report = perform(project, &wanted)?;
            left = left.saturating_sub(report.turns.len());
            turns.extend(report.turns);
            wanted.before = report.more;
            if left == 0 || report.more.is_none() {
                break;
            }
        }
        turns.reverse();
        first = Some(turns);
    }
    let next = if first.is_some() {
        place.head.sequence.number() + 1
    } else {
        0
    };
    Ok(FollowedBranch {
        place,
        filter,
        first,
        next,
    })
}

impl FollowedBranch {
    /// The branch.
    pub(crate) fn name(&self) -> String {
        self.place.name()
    }

    /// Waits a little, and lists the turns that have come, oldest first; `None` when all are listed
    /// and no process executes the run.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn next(&mut self, project: &mut Project, request: &Request) -> Result<Option<Vec<Turn>>, CommandError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let look = project.look()?;
        let mut following = Following::from(&self.place, self.next);
        let records = following.next(look.store)?;
        self.next = following.position();
        let lines = std::slice::from_ref(&self.place);
        let mut history = History {
            look: &look,
            lines,
            heads: &[],
            origins: vec![Origins::of(self.place.source(look.store))],
            ends: Vec::new(),
            times: Vec::new(),
            first: 0,
            texts: None,
        };
        let Some(records) = records else { return Ok(None) };
        let mut turns = Vec::new();
        for record in records {
            let (number, body) = (record.header().sequence.number(), turn::body(&record)?);
            let origins = &mut history.origins[0];
            if let Body::Turn(turn) = &body {
                origins.learn(turn, record.header().sequence);
            }
            if !self.filter.is_any() || self.filter.admits(&record, &body, origins)? {
                let at = Cursor(number, 0);
                history.times = vec![Times::between(number.saturating_sub(1), number + 1)];
                turns.push(history.turn(at, &record, request.is_whole)?);
            }
        }
        Ok(Some(turns))
    }
}
