//! `tree`: where the branches of a run begin.
//!
//! INVARIANT: a branch begins at the newest turn that it shares with a branch before it in the
//! list; the first begins nowhere.
//! Read next: `branches.rs`, `../../runtime/src/history/relation.rs`.

use duet_journal::Head;
use duet_runtime::run::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::project::{Project, ProjectReader};
use crate::history::journal::{FIRST_BRANCH, Place};
use crate::text::error::CommandError;
use crate::text::view::{Told, View};

/// Says where the branches of a run begin.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    pub(crate) address: Option<String>,
}

/// The branches of a run, each after those from which it may have been forked.
pub(crate) struct Report {
    run: String,
    branches: Vec<Branch>,
}

/// A branch, and where it begins.
struct Branch {
    head: Head,
    /// The position of the branch that it leaves, and the last turn that both share.
    from: Option<(usize, u64)>,
}

/// The branches before a branch with which it is compared; the first branch is always one.
const COMPARED: usize = 40;

/// Finds where the branches begin.
///
/// # Errors
/// If there is no such run, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve(request.address.as_deref())?;
    let mut heads = look.store.heads(&place.run)?;
    heads.sort_by_key(|head| head.branch.as_str() != FIRST_BRANCH);
    let mut branches = Vec::new();
    for (position, head) in heads.iter().enumerate() {
        look.go_on()?;
        branches.push(Branch {
            from: begin(&look, &place, &heads[..position], head)?,
            head: head.clone(),
        });
    }
    Ok(Report {
        run: place.run.to_string(),
        branches,
    })
}

/// Finds the branch with which a branch shares most turns, and how far.
fn begin(
    look: &ProjectReader<'_>,
    place: &Place,
    before: &[Head],
    head: &Head,
) -> Result<Option<(usize, u64)>, CommandError> {
    let source = |head: &Head| Place {
        branch: head.branch.clone(),
        head: head.clone(),
        ..place.clone()
    };
    let own = source(head);
    let mut found: Option<(usize, u64)> = None;
    for (position, other) in before.iter().enumerate() {
        if position > 0 && position + COMPARED < before.len() {
            continue;
        }
        let other_place = source(other);
        let end = head.sequence.number().min(other.sequence.number()) + 1;
        let both: [Source<'_>; 2] = [own.source(look.store), other_place.source(look.store)];
        let count = both[0].count_shared(&both[1], end)?;
        if let Some(turn) = count.checked_sub(1)
            && found.is_none_or(|(_, most)| turn > most)
        {
            found = Some((position, turn));
        }
    }
    Ok(found)
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        let branches = self.branches.iter().map(|branch| {
            let from = branch.from.map(
                |(position, turn)| json!({ "branch": self.branches[position].head.branch.as_str(), "turn": turn }),
            );
            json!({
                "branch": branch.head.branch.as_str(),
                "turn": branch.head.sequence.number(),
                "from": from,
            })
        });
        json!({ "run": self.run, "branches": branches.collect::<Vec<_>>() })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let line = |branch: &Branch| {
            let from = branch.from.map(|(position, turn)| {
                let name = &self.branches[position].head.branch;
                format!(" from {name}@{turn}")
            });
            let head = &branch.head;
            format!("{}@{}{}\n", head.branch, head.sequence, from.unwrap_or_default())
        };
        Told::data(self.branches.iter().map(line).collect::<String>())
    }
}
