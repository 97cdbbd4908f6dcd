//! `duet gc`: removes branches that were left behind, with the turns and blobs that only they lead
//! to.

use std::collections::BTreeSet;

use duet_journal::collect::Garbage;
use duet_journal::{BranchName, Head, RunId, Store, StoreError};
use duet_runtime::model::counted::counted;
use duet_runtime::run::heads::kept_up_to;
use duet_runtime::run::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::journal::{FIRST_BRANCH, Journal, Place};
use crate::history::records::hash_at;
use crate::history::{marks, moves};
use crate::owner::doors;
use crate::text::error::CommandError;
use crate::text::saying::{Saying, Way, say};
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Removes branches that were left behind, and frees their space.
///
/// Duet removes the branches that `duet goto` and `duet undo` left behind, such as main.17, with
/// the turns and blobs that no other branch leads to. Branches that `fork`, `amend` or a run itself
/// began stay, and so does a branch that is the only one to lead to a marked turn. All of it
/// happens at once, or nothing.
///
///   duet gc review --dry-run
///   duet gc review --turns 100 --age 7
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a run or a branch.
    address: Option<String>,
    /// Keeps this branch in any case; may be given several times.
    #[arg(long, value_name = "BRANCH")]
    keep: Vec<String>,
    /// Keeps branches that end less than N turns before the newest turn that stays.
    #[arg(long, value_name = "N", default_value_t = 0)]
    turns: u64,
    /// Keeps branches that were left behind less than this number of days ago.
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    age: u64,
    /// Removes every branch but the first, the one used last, and those to keep.
    #[arg(long)]
    forks: bool,
    /// Lists the branches and removes none.
    #[arg(long)]
    dry_run: bool,
}

/// What goes, or would.
pub(crate) struct Report {
    run: RunId,
    garbage: Garbage,
    is_dry: bool,
    /// Whether space was to be given back while other processes write.
    is_large: bool,
}

/// Removes branches that were left behind.
///
/// # Errors
/// If there is no such branch, or another process executes the run.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let find = |store: &dyn Store| -> Result<(RunId, BTreeSet<BranchName>), CommandError> {
        let place = journal.resolve(store, request.address.as_deref())?;
        Ok((place.run.clone(), request.choose(&journal, store, &place)?))
    };
    if request.dry_run {
        let store = project.look()?.store;
        let (run, given_up) = find(store)?;
        let garbage = Garbage::find(store, &run, |head| given_up.contains(&head.branch))?;
        return Ok(Report {
            run,
            garbage,
            is_dry: true,
            is_large: false,
        });
    }
    let mut store = project.change("gc")?;
    let (run, given_up) = find(&*store)?;
    let gone = |head: &Head| given_up.contains(&head.branch);
    let mut garbage = Garbage::find(&*store, &run, gone)?;
    let is_any = !garbage.branches.is_empty();
    if is_any {
        let epoch = store.claim(&run, &doors::successor(&*store, &run, "gc")?)?;
        while let Err(error) = store.remove(&garbage.removal(&run, epoch)) {
            let StoreError::Overtaken = error else {
                return Err(error.into());
            };
            garbage = Garbage::find(&*store, &run, gone)?;
        }
    }
    drop(store);
    Ok(Report {
        run,
        garbage,
        is_dry: false,
        is_large: is_any && !project.compact("gc")?,
    })
}

/// Says that the journal's file stays as large as it is.
pub(crate) fn space_later() -> Saying {
    say![
        "other processes write the journal: the next ",
        Way::of("gc"),
        " without them gives space back",
    ]
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    run: String,
    /// The branches that nothing needs.
    branches: Vec<String>,
    /// How many turns only they lead to.
    turns: usize,
    record_bytes: u64,
    blobs: usize,
    blob_bytes: u64,
    /// Whether they are gone, and not only found.
    removed: bool,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let garbage = &self.garbage;
        as_json(&Form {
            run: self.run.to_string(),
            branches: garbage.branches.iter().map(ToString::to_string).collect(),
            turns: garbage.records.len(),
            record_bytes: garbage.record_bytes,
            blobs: garbage.blobs.len(),
            blob_bytes: garbage.blob_bytes,
            removed: !self.is_dry,
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let garbage = &self.garbage;
        let lines = garbage.branches.iter().map(|branch| format!("{}/{branch}\n", self.run));
        let mut told = Told::data(lines.collect::<String>());
        if self.is_large {
            told = told.say(space_later());
        }
        let (branches, turns, blobs) = (garbage.branches.len(), garbage.records.len(), garbage.blobs.len());
        let bytes = garbage.record_bytes + garbage.blob_bytes;
        let verb = if self.is_dry { "would go" } else { "are gone" };
        told.say(format!(
            "{}, {} and {} {verb}, {}",
            counted(branches, "branch"),
            counted(turns, "turn"),
            counted(blobs, "blob"),
            counted(bytes, "byte")
        ))
    }
}

impl Request {
    /// The branches to remove.
    fn choose(
        &self,
        journal: &Journal,
        store: &dyn Store,
        place: &Place,
    ) -> Result<BTreeSet<BranchName>, CommandError> {
        let heads = store.heads(&place.run)?;
        if let Some(unknown) = self
            .keep
            .iter()
            .find(|keep| heads.iter().all(|head| head.branch.as_str() != **keep))
        {
            return Err(CommandError::usage(format!("{} has no branch {unknown}", place.run))
                .advise(say![Way::at("branches", &place.run), " lists them"]));
        }
        let newest =
            |wanted: &dyn Fn(&&Head) -> bool| heads.iter().filter(wanted).map(|head| head.sequence.number()).max();
        let is_candidate = |head: &Head| self.is_candidate(head, &heads, place);
        let longest = newest(&|head| !is_candidate(head)).unwrap_or(0);
        let left = moves::left(journal, &place.run)?;
        let mut given_up = BTreeSet::new();
        for head in heads.iter().filter(|head| is_candidate(head)) {
            let is_recent = self.turns > 0 && head.sequence.number() + self.turns > longest;
            let since = left.get(&head.hash).copied();
            let is_young = self.age > 0 && since.is_none_or(|since| moves::now_s() < since + self.age * 86_400);
            if !is_recent && !is_young {
                given_up.insert(head.branch.clone());
            }
        }
        self.spare_marked(journal, store, place, &heads, &mut given_up)?;
        Ok(given_up)
    }

    fn is_candidate(&self, head: &Head, heads: &[Head], place: &Place) -> bool {
        let name = head.branch.as_str();
        if name == FIRST_BRANCH || head.branch == place.branch || self.keep.iter().any(|keep| keep == name) {
            return false;
        }
        self.forks || is_left_behind(name, heads)
    }

    /// If all branches that lead to a marked turn are to be removed, keeps the first of them.
    fn spare_marked(
        &self,
        journal: &Journal,
        store: &dyn Store,
        place: &Place,
        heads: &[Head],
        given_up: &mut BTreeSet<BranchName>,
    ) -> Result<(), CommandError> {
        for marked in marks::of(journal, &place.run)?.values() {
            let mut leading = Vec::new();
            for head in heads {
                if hash_at(Source::new(store, &place.run, &head.branch), marked.turn)? == Some(marked.record) {
                    leading.push(&head.branch);
                }
            }
            if leading.iter().all(|branch| given_up.contains(*branch))
                && let Some(first) = leading.first()
            {
                given_up.remove(*first);
            }
        }
        Ok(())
    }
}

/// Whether a branch was made to keep turns that another one left.
fn is_left_behind(name: &str, heads: &[Head]) -> bool {
    heads.iter().any(|head| kept_up_to(name, &head.branch).is_some())
}

#[cfg(test)]
mod tests {
    use duet_journal::{RecordHash, Sequence};

    use super::*;

    #[test]
    fn branches_left_behind_are_known_by_their_names() {
        let head = |name: &str| Head {
            branch: BranchName::new(name).expect("a name"),
            sequence: Sequence::FIRST,
            hash: RecordHash::of(b""),
        };
        let heads = ["main", "try.2", "what-if"].map(head);
        for (name, expected) in [
            ("main.17", true),
            ("main.17.2", true),
            ("try.2.5", true),
            ("main", false),
            ("what-if", false),
            ("main.x", false),
            ("main.1.2.3", false),
            ("other.3", false),
            ("main.", false),
        ] {
            assert_eq!(is_left_behind(name, &heads), expected, "{name}");
        }
    }
}
