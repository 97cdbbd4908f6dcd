//! `duet gc`: branches that nobody needs are given up, with what only they lead to.

use std::collections::BTreeSet;

use duet_journal::collect::Garbage;
use duet_journal::index::Index;
use duet_journal::{BranchName, Head, Store};
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{FIRST_BRANCH, Journal, Place, owner};
use crate::marks;
use crate::moves;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
The branches that `duet goto` and `duet undo` left behind, such as main.17, are given up, with the turns and blobs that nothing
else leads to. What was begun by `fork`, `amend` or a run itself stays, and so does a branch that leads to a marked turn which no
other leads to. Nothing that a branch needs which stays is touched; it all happens at once, or not at all.

  --keep BRANCH    keeps a branch all the same; may be given several times
  --turns N        keeps those that end less than N turns before the newest turn that stays
  --age DAYS       keeps those that were left behind less than so many days ago
  --forks          gives up every branch but the first, the one used last, and those to keep
  --dry-run        only says what would go

    duet gc review --dry-run
    duet gc review --turns 100 --age 7";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let is_dry = arguments.has("dry-run");
    let mut store = if is_dry {
        journal.open_to_read()?
    } else {
        journal.open_to_write("gc")?
    };
    let place = journal.resolve(&store, arguments.word(0))?;
    let rules = Rules::read(arguments)?;
    let given_up = rules.choose(&journal, &store, &place)?;
    let garbage = Garbage::find(&store, &place.run, |head| given_up.contains(&head.branch))?;
    if !is_dry && !garbage.branches.is_empty() {
        let epoch = store.claim(&place.run, &owner("gc"))?;
        store.remove(&garbage.removal(&place.run, epoch))?;
        store.compact()?;
        // It may say much of what is gone; while somebody uses it, it stays, and what it says of the rest is true.
        let _ = Index::remove(journal.path());
    }
    tell(&garbage, &place, (is_dry, arguments.has("json")), terminal)?;
    Ok(Code::OK)
}

fn tell(
    garbage: &Garbage,
    place: &Place,
    (is_dry, is_json): (bool, bool),
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if is_json {
        return terminal.json(&json!({
            "run": place.run.as_str(),
            "branches": garbage.branches.iter().map(BranchName::as_str).collect::<Vec<_>>(),
            "turns": garbage.records.len(),
            "record_bytes": garbage.record_bytes,
            "blobs": garbage.blobs.len(),
            "blob_bytes": garbage.blob_bytes,
            "removed": !is_dry,
        }));
    }
    for branch in &garbage.branches {
        terminal.data(&format!("{}/{branch}\n", place.run))?;
    }
    let (branches, turns, blobs) = (garbage.branches.len(), garbage.records.len(), garbage.blobs.len());
    let bytes = garbage.record_bytes + garbage.blob_bytes;
    let verb = if is_dry { "would go" } else { "are gone" };
    terminal.message(&format!(
        "{branches} branches, {turns} turns and {blobs} blobs {verb}, {bytes} bytes"
    ));
    Ok(())
}

/// What stays.
struct Rules {
    keep: Vec<String>,
    turns: u64,
    age_days: u64,
    is_forks: bool,
}

impl Rules {
    fn read(arguments: &Arguments) -> Result<Self, Failure> {
        let number = |option: &str| match arguments.one(option) {
            None => Ok(0),
            Some(text) => text
                .parse()
                .map_err(|_| Failure::usage(format!("--{option} takes a natural number, not `{text}`"))),
        };
        Ok(Self {
            keep: arguments.all("keep").to_vec(),
            turns: number("turns")?,
            age_days: number("age")?,
            is_forks: arguments.has("forks"),
        })
    }

    /// The branches to give up.
    fn choose(&self, journal: &Journal, store: &dyn Store, place: &Place) -> Result<BTreeSet<BranchName>, Failure> {
        let heads = store.heads(&place.run)?;
        if let Some(unknown) = self
            .keep
            .iter()
            .find(|keep| heads.iter().all(|head| head.branch.as_str() != **keep))
        {
            return Err(Failure::usage(format!("{} has no branch {unknown}", place.run))
                .advise(format!("`duet branches {}` lists them", place.run)));
        }
        let newest =
            |wanted: &dyn Fn(&&Head) -> bool| heads.iter().filter(wanted).map(|head| head.sequence.number()).max();
        let is_candidate = |head: &Head| self.is_candidate(head, &heads, place);
        let longest = newest(&|head| !is_candidate(head)).unwrap_or(0);
        let left = moves::left(journal, &place.run);
        let mut given_up = BTreeSet::new();
        for head in heads.iter().filter(|head| is_candidate(head)) {
            let is_recent = self.turns > 0 && head.sequence.number() + self.turns > longest;
            let since = left.get(&head.hash).copied();
            let is_young =
                self.age_days > 0 && since.is_none_or(|since| moves::now_s() < since + self.age_days * 86_400);
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
        self.is_forks || is_left_behind(name, heads)
    }

    /// Takes the first branch that leads to a marked turn from those to give up, if all that do are among them.
    fn spare_marked(
        &self,
        journal: &Journal,
        store: &dyn Store,
        place: &Place,
        heads: &[Head],
        given_up: &mut BTreeSet<BranchName>,
    ) -> Result<(), Failure> {
        for marked in marks::of(journal, &place.run).values() {
            let mut leading = Vec::new();
            for head in heads {
                let there = store.record_at(&place.run, &head.branch, marked.turn)?;
                if there.is_some_and(|record| record.hash() == marked.record) {
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

/// Says whether a branch was made to keep what another one left: its name is that one's, with the turn, and a number if that was taken.
fn is_left_behind(name: &str, heads: &[Head]) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    heads.iter().any(|head| {
        let rest = name
            .strip_prefix(head.branch.as_str())
            .and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| rest.split('.').all(is_number) && rest.split('.').count() <= 2)
    })
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
