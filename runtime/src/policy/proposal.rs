//! A proposal: items that policy allows together or not at all.
//!
//! INVARIANT: the strictest ruling on any item, on an invariant or on a conflict of goals is the
//! ruling on the proposal.
//! It performs nothing.
//! Read next: `proofs/conform/case.rs`, then `../gate.rs`.
//!
//! Source: SS-01, "Arbitration contract".

use serde_json::Value;

use super::document::Documents;
use super::entry::Entries;
use super::item::{Case, Grounds, Item};
use super::ruling::{Code, Decision, OnFail, Ruling};

/// The prefix of the entries that list exclusive goals: at most one of an entry's `keys` may be
/// set.
const EXCLUSIVE: &str = "policy.exclusive.";

/// The prefix of the entries that name a reason for denial; the kernel answers such a denial by
/// going on with less instead of refusing outright.
const DEGRADE: &str = "policy.degrade.";

/// Judges a proposal; `earlier` calls of the same turn come before it.
pub fn judge(grounds: Grounds<'_>, items: &[Item], earlier: usize) -> Ruling {
    let mut after = grounds.entries.clone();
    for item in items {
        if let Item::Delta { key, text } = item {
            after.set(key, text.as_deref());
        }
    }
    judge_with(grounds, items, &after, earlier)
}

/// Judges a proposal that leads to the entries `after`.
pub(crate) fn judge_with(grounds: Grounds<'_>, items: &[Item], after: &Entries, earlier: usize) -> Ruling {
    if items.is_empty() {
        return Ruling::deny(Code::EmptyProposal, "");
    }
    let mut ruling = Ruling::allow();
    let mut calls = earlier;
    for item in items {
        let case = Case::of(item, grounds.tools);
        ruling = ruling.or_stricter(case.rule(grounds, after, calls));
        calls += usize::from(matches!(item, Item::Call { .. }));
    }
    let ruling = ruling.or_stricter(goal_ruling(grounds, items, after));
    degrade(ruling, grounds.entries)
}

/// Finds a set of exclusive goals of which the proposal sets one and more than one would be set. A
/// person decides which of them the program pursues.
fn goal_ruling(grounds: Grounds<'_>, items: &[Item], after: &Entries) -> Ruling {
    let set: Vec<&str> = items.iter().filter_map(set_goal).collect();
    if set.is_empty() {
        return Ruling::allow();
    }
    for (key, entry) in grounds.entries.under(EXCLUSIVE).chain(after.under(EXCLUSIVE)) {
        let document = entry.document.as_ref().ok();
        let goals = document.and_then(|document| strings(document.get("keys")?));
        let Some(goals) = goals else {
            return Ruling::deny(Code::ConstraintMalformed, "expected keys, a list of strings").by(key);
        };
        let present = goals.iter().filter(|goal| after.get(goal).is_some()).count();
        if present > 1 && !grounds.is_approved && goals.iter().any(|goal| set.contains(goal)) {
            let detail = format!("at most one of {}", goals.join(", "));
            return Ruling::fail(OnFail::Ask, Code::GoalConflict, detail).by(key);
        }
    }
    Ruling::allow()
}

fn set_goal(item: &Item) -> Option<&str> {
    match item {
        Item::Delta { key, text: Some(_) } if key.starts_with("goal.") => Some(key),
        Item::Delta { .. } | Item::Call { .. } => None,
    }
}

fn strings(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn degrade(mut ruling: Ruling, entries: &Entries) -> Ruling {
    if ruling.decision() == Decision::Deny
        && entries
            .document(&format!("{DEGRADE}{}", ruling.code.name()))
            .is_some_and(|entry| entry.is_ok())
    {
        ruling.on_fail = Some(OnFail::Degrade);
    }
    ruling
}
