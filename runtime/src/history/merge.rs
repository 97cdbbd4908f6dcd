//! Merging two branches: a three-way comparison of their facts.
//!
//! Owns the definition of a conflict. Records with the same label and first field are versions of
//! one resource, unless some side has several of them. If both sides changed a resource in
//! different ways, the merge takes neither version, and the conflict becomes a fact. Facts that
//! only show what a computation waits for are no part of a merge.
//! INVARIANT: a side that changed nothing decides nothing; merging the same branch again changes
//! nothing more.
//! It changes no run; a run receives a merge as an input.
//! Read next: `../turn/activation/deliver.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::packed::PackedError;
use preserves::{IOValue, ValueImpl};

use super::relation::part;
use super::shadow::Shadow;
use crate::action::Need;
use crate::action::exit::MAIN;
use crate::driver::Input;
use crate::gate::Principal;
use crate::gate::right::lack_of;
use crate::model::codec::{Codec, label_of, record};
use crate::model::identity::ActorId;
use crate::model::manifest::Right;
use crate::model::value::Fact;
use crate::run::error::RunError;
use crate::run::source::BranchPart;
use crate::state::RunState;

/// Labels of facts that belong to a running computation.
const UNDER_WAY: [&str; 2] = ["Observe", "user-input-request"];

/// The facts that a branch takes over from another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merge {
    /// Facts to assert, in the order of their bytes, without the conflicts.
    pub asserted: Vec<IOValue>,
    /// Facts to retract, in the order of their bytes.
    pub retracted: Vec<IOValue>,
    /// Resources that both sides changed in different ways.
    pub conflicts: Vec<Conflict>,
}

/// A resource that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Its version at the last shared turn, if there was one.
    pub base: Option<IOValue>,
    /// Its version on this branch.
    pub ours: Option<IOValue>,
    /// Its version on the other branch.
    pub theirs: Option<IOValue>,
}

impl Conflict {
    /// Returns the fact that shows it to programs: `<merge-conflict base ours theirs>`, each a list
    /// of one version, or `#f`.
    pub fn fact(&self) -> IOValue {
        let versions = [&self.base, &self.ours, &self.theirs].map(Codec::encode);
        record("merge-conflict", versions.into())
    }
}

/// The versions of one resource on the three sides.
#[derive(Default)]
struct Versions<'a> {
    base: Vec<&'a IOValue>,
    ours: Vec<&'a IOValue>,
    theirs: Vec<&'a IOValue>,
}

impl Merge {
    /// Returns the inputs that merge into a run in `state`: one for each actor that has something
    /// to change, the main program's last.
    pub fn inputs(&self, state: &RunState) -> Vec<Input> {
        let asserted = self.new_facts(state);
        let mut retracted: BTreeMap<ActorId, Vec<IOValue>> = BTreeMap::new();
        for fact in &self.retracted {
            let holders = state.held.iter().filter(|(_, held)| held.fact.value() == *fact);
            let actors: BTreeSet<ActorId> = holders.map(|(_, held)| held.actor).collect();
            for actor in actors {
                retracted.entry(actor).or_default().push(fact.clone());
            }
        }
        let main = retracted.remove(&MAIN).unwrap_or_default();
        let is_main_changed = !asserted.is_empty() || !main.is_empty();
        let others = retracted.into_iter().map(|(actor, retracted)| Input::Merge {
            actor,
            asserted: Vec::new(),
            retracted,
        });
        let main = is_main_changed.then_some(Input::Merge {
            actor: MAIN,
            asserted,
            retracted: main,
        });
        others.chain(main).collect()
    }

    /// Returns the first fact that the main program of a run in `state` has no right to assert.
    pub fn forbidden(&self, state: &RunState) -> Option<IOValue> {
        let principal = Principal {
            actor: MAIN,
            manifest: &state.actor(MAIN)?.manifest,
        };
        let is_forbidden = |fact: &IOValue| {
            let fact = Fact::new(fact.clone());
            fact.is_ok_and(|fact| lack_of(state.before(), principal, &Need::Value(Right::Assert, &fact)).is_some())
        };
        self.new_facts(state).into_iter().find(is_forbidden)
    }

    /// Lists the facts and the conflicts to assert in a run in `state`.
    fn new_facts(&self, state: &RunState) -> Vec<IOValue> {
        let is_new = |fact: &IOValue| state.held.iter().all(|(_, held)| held.fact.value() != *fact);
        let conflicts = self.conflicts.iter().map(Conflict::fact).filter(is_new);
        [self.asserted.clone(), conflicts.collect()].concat()
    }
}

/// Finds what a branch takes over from another one, each at a given turn.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn between(ours: BranchPart<'_>, theirs: BranchPart<'_>) -> Result<Merge, RunError> {
    let facts = |part: BranchPart<'_>| Ok::<_, RunError>(Shadow::at(&part.source, part.end)?.facts());
    let base = match part(ours, theirs)?.shared {
        Some(shared) => facts(ours.source.up_to(shared))?,
        None => Vec::new(),
    };
    Ok(three_way(&base, &facts(ours)?, &facts(theirs)?)?)
}

/// Compares the facts of two branches with those at the last shared turn.
///
/// # Errors
/// [`PackedError`] if a fact is too large.
pub(crate) fn three_way(base: &[IOValue], ours: &[IOValue], theirs: &[IOValue]) -> Result<Merge, PackedError> {
    let mut resources: BTreeMap<Vec<u8>, Versions<'_>> = BTreeMap::new();
    for fact in base.iter().filter(|fact| is_settled(fact)) {
        resources.entry(thing(fact)?).or_default().base.push(fact);
    }
    for fact in ours.iter().filter(|fact| is_settled(fact)) {
        resources.entry(thing(fact)?).or_default().ours.push(fact);
    }
    for fact in theirs.iter().filter(|fact| is_settled(fact)) {
        resources.entry(thing(fact)?).or_default().theirs.push(fact);
    }
    let mut merge = Merge::default();
    for versions in resources.values() {
        versions.merge(&mut merge)?;
    }
    Ok(merge)
}

fn is_settled(fact: &IOValue) -> bool {
    !label_of(fact).is_some_and(|label| UNDER_WAY.contains(&label.as_str()))
}

/// Returns the key of the resource that a fact describes.
fn thing(fact: &IOValue) -> Result<Vec<u8>, PackedError> {
    if fact.is_record() && fact.len() >= 2 {
        let key: Vec<IOValue> = vec![fact.label().into(), fact.index(0).into()];
        return Ok(Fact::new(IOValue::new(key))?.bytes().to_vec());
    }
    Ok(Fact::new(fact.clone())?.bytes().to_vec())
}

impl Versions<'_> {
    fn merge(&self, into: &mut Merge) -> Result<(), PackedError> {
        let is_one = [&self.base, &self.ours, &self.theirs]
            .iter()
            .all(|versions| versions.len() <= 1);
        let has_changed = |side: &[&IOValue]| !(same(side, &self.base));
        if is_one && has_changed(&self.ours) && has_changed(&self.theirs) {
            if !same(&self.ours, &self.theirs) {
                let first = |versions: &[&IOValue]| versions.first().map(|fact| (*fact).clone());
                let conflict = Conflict {
                    base: first(&self.base),
                    ours: first(&self.ours),
                    theirs: first(&self.theirs),
                };
                // `Merge::inputs` leaves out a conflict whose fact is asserted already.
                into.conflicts.push(conflict);
            }
            return Ok(());
        }
        let has = |side: &[&IOValue], fact: &IOValue| side.contains(&fact);
        for fact in &self.theirs {
            if !has(&self.base, fact) && !has(&self.ours, fact) {
                into.asserted.push((*fact).clone());
            }
        }
        for fact in &self.base {
            if !has(&self.theirs, fact) && has(&self.ours, fact) {
                into.retracted.push((*fact).clone());
            }
        }
        Ok(())
    }
}

fn same(left: &[&IOValue], right: &[&IOValue]) -> bool {
    left.len() == right.len() && left.iter().all(|fact| right.contains(fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Vec<IOValue> {
        let all: IOValue = format!("[{text}]").parse().expect("well formed");
        all.iter().map(IOValue::from).collect()
    }

    fn merged(base: &str, ours: &str, theirs: &str) -> Merge {
        three_way(&facts(base), &facts(ours), &facts(theirs)).expect("small")
    }

    #[track_caller]
    fn check(sides: [&str; 3], asserted: &str, retracted: &str, conflicts: &str) {
        let merge = merged(sides[0], sides[1], sides[2]);
        assert_eq!(merge.asserted, facts(asserted), "asserted");
        assert_eq!(merge.retracted, facts(retracted), "retracted");
        let told: Vec<IOValue> = merge.conflicts.iter().map(Conflict::fact).collect();
        assert_eq!(told, facts(conflicts), "conflicts");
    }

    #[test]
    fn what_one_side_changed_is_taken_over() {
        check(["", "", "<a 1>"], "<a 1>", "", "");
        check(["<a 1>", "<a 1>", ""], "", "<a 1>", "");
        check(["<a 1>", "", "<a 1>"], "", "", "");
        check(["<s x 1>", "<s x 1>", "<s x 2>"], "<s x 2>", "<s x 1>", "");
        check(["<s x 1>", "<s x 2>", "<s x 1>"], "", "", "");
        check(["", "<a 1>", "<a 1> <a 2>"], "<a 2>", "", "");
    }

    #[test]
    fn what_both_changed_alike_is_no_conflict_and_otherwise_is_one() {
        check(["<s x 1>", "<s x 2>", "<s x 2>"], "", "", "");
        let told = "<merge-conflict [<s x 1>] [<s x 2>] [<s x 3>]>";
        check(["<s x 1>", "<s x 2>", "<s x 3>"], "", "", told);
        check(
            ["<s x 1>", "", "<s x 3>"],
            "",
            "",
            "<merge-conflict [<s x 1>] #f [<s x 3>]>",
        );
        check(
            ["", "<s x 2>", "<s x 3>"],
            "",
            "",
            "<merge-conflict #f [<s x 2>] [<s x 3>]>",
        );
    }

    #[test]
    fn things_of_which_a_side_has_several_are_a_set() {
        check(["<e a 1>", "<e a 1> <e a 2>", "<e a 3>"], "<e a 3>", "<e a 1>", "");
    }

    #[test]
    fn facts_about_computations_stay_out() {
        check(
            ["<Observe 1 2>", "<Observe 1 2>", "<user-input-request a b c>"],
            "",
            "",
            "",
        );
    }

    proptest::proptest! {
        #[test]
        fn a_side_that_changed_nothing_decides_nothing_and_a_merge_is_done_once(
            base in proptest::collection::btree_set((0..3_u8, 0..3_u8), 0..6),
            theirs in proptest::collection::btree_set((0..3_u8, 0..3_u8), 0..6),
            ours in proptest::collection::btree_set((0..3_u8, 0..3_u8), 0..6),
        ) {
            let text = |pairs: &std::collections::BTreeSet<(u8, u8)>| {
                pairs.iter().map(|(key, version)| format!("<s {key} {version}>")).collect::<Vec<_>>().join(" ")
            };
            let apply = |ours: &str, merge: &Merge| {
                let mut facts = facts(ours);
                facts.retain(|fact| !merge.retracted.contains(fact));
                facts.extend(merge.asserted.clone());
                facts.sort_by(crate::model::value::compare);
                facts
            };
            let (base, ours, theirs) = (text(&base), text(&ours), text(&theirs));
            proptest::prop_assert_eq!(merged(&base, &ours, &base), Merge::default());
            let taken = merged(&base, &base, &theirs);
            proptest::prop_assert!(taken.conflicts.is_empty());
            proptest::prop_assert_eq!(apply(&base, &taken), facts(&theirs));
            let merge = merged(&base, &ours, &theirs);
            let after: Vec<String> = apply(&ours, &merge).iter().map(|fact| format!("{fact:?}")).collect();
            let again = merged(&base, &after.join(" "), &theirs);
            proptest::prop_assert!(again.asserted.is_empty() && again.retracted.is_empty(), "{:?}", again);
        }
    }
}
