//! The alignment of two versions of a unit: which form of the new one is which of the old one, and
//! which variable.
//!
//! Top-level forms are matched first, definitions by name. Within a pair of them, equal forms are
//! matched wherever they stand, the largest first, then what stands at the same place of matched
//! forms, then equal forms that are left. Where several are alike, they are matched in order if
//! there are as many as before; otherwise none of them is matched, because nobody can say which is
//! which.
//! INVARIANT: each form and each variable is matched with at most one; the alignment depends on the
//! two units only.
//! It does not know frames; `code/moves.rs` does. Read next: `code/moves.rs`.

mod lists;
mod side;

use std::collections::{BTreeMap, BTreeSet};

use self::lists::{Likeness, Listed, Standing};
use self::side::{Hash, Side};
use super::{Core, CoreId, Unit, VariableId};
use crate::datum::Name;

/// Which form and which variable of a unit is which of an earlier version of it.
#[derive(Debug, Default)]
pub struct Alignment {
    nodes: BTreeMap<CoreId, CoreId>,
    variables: BTreeMap<VariableId, VariableId>,
    /// The top-level forms by number, old and new.
    tops: Vec<(usize, usize)>,
    /// The number of the top-level form that each node is part of, for both units.
    tops_of: [BTreeMap<CoreId, usize>; 2],
}

impl Alignment {
    /// Aligns two versions of a unit.
    pub fn of(old: &Unit, new: &Unit) -> Self {
        let sides = [Side::of(old), Side::of(new)];
        let mut matching = Matching {
            sides: &sides,
            alignment: Alignment {
                tops_of: [sides[0].tops_of_nodes(), sides[1].tops_of_nodes()],
                ..Alignment::default()
            },
            taken: BTreeSet::new(),
            taken_variables: BTreeSet::new(),
            pending: Vec::new(),
        };
        for (before, now) in matching.in_lists(&sides[0].tops, &sides[1].tops, false) {
            // Whether a migration has been evaluated makes no difference.
            if sides[0].migrations.contains(&before) {
                continue;
            }
            let number = |tops: &[CoreId], node: CoreId| tops.iter().position(|top| *top == node);
            if let (Some(before), Some(now)) = (number(&sides[0].tops, before), number(&sides[1].tops, now)) {
                matching.alignment.tops.push((before, now));
            }
            matching.forms(before, now);
        }
        matching.alignment
    }

    /// Returns the form of the new unit that a form of the old one has become.
    pub fn node(&self, node: CoreId) -> Option<CoreId> {
        self.nodes.get(&node).copied()
    }

    /// Returns the variable of the new unit that a variable of the old one has become.
    pub fn variable(&self, variable: VariableId) -> Option<VariableId> {
        self.variables.get(&variable).copied()
    }

    /// Returns the number of the top-level form of the new unit that a form is part of.
    pub fn new_top(&self, node: CoreId) -> Option<usize> {
        self.tops_of[1].get(&node).copied()
    }

    /// Returns the number of the top-level form of the old unit that has become the one of the new
    /// unit with a number.
    pub fn old_top(&self, new: usize) -> Option<usize> {
        let mut tops = self.tops.iter();
        tops.find(|(_, now)| *now == new).map(|(before, _)| *before)
    }

    /// Whether the same top-level forms stand before two top-level forms, and the same after them:
    /// that of the old unit that `old` is part of, and that of the new one.
    pub fn keeps_order(&self, old: CoreId, new: CoreId) -> bool {
        let (Some(old), Some(new)) = (self.tops_of[0].get(&old), self.tops_of[1].get(&new)) else {
            return false;
        };
        self.tops.iter().all(|(before, now)| before.cmp(old) == now.cmp(new))
    }
}

/// An alignment in progress.
struct Matching<'a> {
    sides: &'a [Side<'a>; 2],
    alignment: Alignment,
    taken: BTreeSet<CoreId>,
    taken_variables: BTreeSet<VariableId>,
    /// Pairs that stand at the same place of matched forms.
    pending: Vec<(CoreId, CoreId)>,
}

impl Matching<'_> {
    /// Aligns two top-level forms.
    fn forms(&mut self, old: CoreId, new: CoreId) {
        self.equal_forms(old, new);
        self.pending.push((old, new));
        while let Some((old, new)) = self.pending.pop() {
            self.descend(old, new);
        }
        self.equal_forms(old, new);
        self.variables(old, new);
    }

    fn is_free(&self, old: CoreId, new: CoreId) -> bool {
        !self.alignment.nodes.contains_key(&old) && !self.taken.contains(&new)
    }

    fn record(&mut self, old: CoreId, new: CoreId) {
        if self.is_free(old, new) {
            self.alignment.nodes.insert(old, new);
            self.taken.insert(new);
        }
    }

    fn record_variable(&mut self, old: VariableId, new: VariableId) {
        if !self.alignment.variables.contains_key(&old) && self.taken_variables.insert(new) {
            self.alignment.variables.insert(old, new);
        }
    }

    /// Matches the equal forms in two forms that are left, the largest first, where there are as
    /// many in both.
    fn equal_forms(&mut self, old: CoreId, new: CoreId) {
        let [before, now] = self.sides;
        let old_forms: Vec<CoreId> = before
            .inside(old)
            .into_iter()
            .filter(|id| before.is_compound(*id))
            .collect();
        let (mut olds, mut news): (BTreeMap<Hash, Vec<CoreId>>, BTreeMap<Hash, Vec<CoreId>>) = Default::default();
        for id in &old_forms {
            if !self.alignment.nodes.contains_key(id) {
                olds.entry(before.hash(*id)).or_default().push(*id);
            }
        }
        for id in now.inside(new) {
            if now.is_compound(id) && !self.taken.contains(&id) {
                news.entry(now.hash(id)).or_default().push(id);
            }
        }
        for id in old_forms {
            let hash = before.hash(id);
            let (Some(olds), Some(news)) = (olds.get(&hash), news.get(&hash)) else {
                continue;
            };
            let place = olds.iter().position(|other| *other == id);
            if let Some(place) = place.filter(|_| olds.len() == news.len())
                && self.is_free(id, news[place])
            {
                self.whole(id, news[place]);
            }
        }
    }

    /// Matches two equal forms and all their parts.
    fn whole(&mut self, old: CoreId, new: CoreId) {
        let [before, now] = self.sides;
        for (old, new) in before.inside(old).into_iter().zip(now.inside(new)) {
            self.record(old, new);
            self.binders(old, new);
        }
    }

    /// Matches two forms that stand at the same place, if they are alike, and puts off their parts.
    fn descend(&mut self, old: CoreId, new: CoreId) {
        let [before, now] = self.sides;
        if self.alignment.node(old) == Some(new) {
            return;
        }
        let is_list = |side: &Side<'_>, id| matches!(side.node(id), Core::Sequence(_));
        if is_list(before, old) || is_list(now, new) {
            let list = |side: &Side<'_>, id| {
                if let Core::Sequence(forms) = side.node(id) {
                    forms.clone()
                } else {
                    vec![id]
                }
            };
            if is_list(before, old) && is_list(now, new) {
                self.record(old, new);
            }
            let pairs = self.in_lists(&list(before, old), &list(now, new), true);
            self.pending.extend(pairs);
            return;
        }
        if !self.is_free(old, new) || !self.is_alike(old, new) {
            return;
        }
        self.record(old, new);
        self.binders(old, new);
        let pairs = self.parts_of(old, new);
        self.pending.extend(pairs);
    }

    /// Whether two forms are of a kind, calls of the same procedure.
    fn is_alike(&self, old: CoreId, new: CoreId) -> bool {
        let [before, now] = self.sides;
        match (before.node(old), now.node(new)) {
            (Core::Call { procedure: one, .. }, Core::Call { procedure: other, .. }) => {
                match (before.node(*one), now.node(*other)) {
                    (Core::Local(one), Core::Local(other)) => match self.alignment.variable(*one) {
                        Some(known) => known == *other,
                        None => before.name(*one) == now.name(*other),
                    },
                    (Core::Lambda(_), Core::Lambda(_)) => true,
                    _ => before.hash(*one) == now.hash(*other),
                }
            }
            (Core::SetLocal(..), Core::SetLocal(..))
            | (Core::SetGlobal(..), Core::SetGlobal(..))
            | (Core::DefineGlobal(..), Core::DefineGlobal(..)) => before.label(old) == now.label(new),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }

    /// The parts of two forms that stand at the same place.
    fn parts_of(&self, old: CoreId, new: CoreId) -> Vec<(CoreId, CoreId)> {
        let [before, now] = self.sides;
        match (before.node(old), now.node(new)) {
            (
                Core::Call {
                    procedure: one,
                    arguments: olds,
                },
                Core::Call {
                    procedure: other,
                    arguments: news,
                },
            ) => {
                let mut pairs = self.in_lists(olds, news, olds.len() == news.len());
                pairs.push((*one, *other));
                pairs
            }
            (
                Core::Let {
                    bindings: olds,
                    body: one,
                }
                | Core::Letrec {
                    bindings: olds,
                    body: one,
                },
                Core::Let {
                    bindings: news,
                    body: other,
                }
                | Core::Letrec {
                    bindings: news,
                    body: other,
                },
            ) => {
                let value_of = |variable| {
                    news.iter()
                        .find(|(other, _)| *other == variable)
                        .map(|(_, value)| *value)
                };
                let pair = |(variable, value): &(VariableId, CoreId)| {
                    Some((*value, value_of(self.alignment.variable(*variable)?)?))
                };
                let mut pairs: Vec<_> = olds.iter().filter_map(pair).collect();
                pairs.push((*one, *other));
                pairs
            }
            _ => before.parts(old).into_iter().zip(now.parts(new)).collect(),
        }
    }

    /// Matches the variables that two matched forms bind: by name, then procedures' parameters by
    /// position, and bindings of equal values.
    fn binders(&mut self, old: CoreId, new: CoreId) {
        let [before, now] = self.sides;
        match (before.node(old), now.node(new)) {
            (Core::Lambda(olds), Core::Lambda(news)) if olds.len() == news.len() => {
                for (one, other) in olds.iter().zip(news) {
                    let (one, other) = (before.lambda(*one), now.lambda(*other));
                    self.by_name(&one.parameters, &other.parameters);
                    if one.parameters.len() == other.parameters.len() {
                        for (old, new) in one.parameters.iter().zip(&other.parameters) {
                            self.record_variable(*old, *new);
                        }
                    }
                    if let (Some(old), Some(new)) = (one.rest, other.rest) {
                        self.record_variable(old, new);
                    }
                }
            }
            (
                Core::Let { bindings: olds, .. } | Core::Letrec { bindings: olds, .. },
                Core::Let { bindings: news, .. } | Core::Letrec { bindings: news, .. },
            ) => {
                let variables =
                    |bindings: &[(VariableId, CoreId)]| bindings.iter().map(|(id, _)| *id).collect::<Vec<_>>();
                self.by_name(&variables(olds), &variables(news));
                let is_left = |(variable, _): &&(VariableId, CoreId)| self.alignment.variable(*variable).is_none();
                let left: Vec<_> = olds.iter().filter(is_left).collect();
                for (variable, value) in left {
                    let is_equal = |(_, other): &&(VariableId, CoreId)| self.is_equal(*value, *other);
                    let is_lone = olds.len() == 1 && news.len() == 1;
                    let both_loop = |(_, other): &&(VariableId, CoreId)| {
                        is_lone
                            && matches!(before.node(*value), Core::Lambda(_))
                            && matches!(now.node(*other), Core::Lambda(_))
                    };
                    let mut found = news.iter().filter(|binding| is_equal(binding) || both_loop(binding));
                    if let (Some((other, _)), None) = (found.next(), found.next()) {
                        self.record_variable(*variable, *other);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether two forms are equal but for the names of variables.
    fn is_equal(&self, old: CoreId, new: CoreId) -> bool {
        let [before, now] = self.sides;
        let (olds, news) = (before.inside(old), now.inside(new));
        let (bound, others) = (before.bound_in(old), now.bound_in(new));
        let renamed: BTreeMap<VariableId, VariableId> = bound.iter().copied().zip(others.iter().copied()).collect();
        let is_same = |one: &VariableId, other: &VariableId| match renamed
            .get(one)
            .copied()
            .or_else(|| self.alignment.variable(*one))
        {
            Some(known) => known == *other,
            None => before.name(*one) == now.name(*other),
        };
        let mut pairs = olds.iter().zip(&news);
        olds.len() == news.len()
            && bound.len() == others.len()
            && pairs.all(|(old, new)| match (before.node(*old), now.node(*new)) {
                (Core::Local(one), Core::Local(other)) => is_same(one, other),
                (Core::SetLocal(one, _), Core::SetLocal(other, _)) => is_same(one, other),
                (Core::Lambda(one), Core::Lambda(other)) => one.len() == other.len(),
                (Core::Let { bindings: one, .. }, Core::Let { bindings: other, .. })
                | (Core::Letrec { bindings: one, .. }, Core::Letrec { bindings: other, .. }) => {
                    one.len() == other.len()
                }
                _ => before.label(*old) == now.label(*new),
            })
    }

    fn by_name(&mut self, olds: &[VariableId], news: &[VariableId]) {
        let [before, now] = self.sides;
        for old in olds {
            let new = news.iter().find(|new| now.name(**new) == before.name(*old));
            if let Some(new) = new {
                self.record_variable(*old, *new);
            }
        }
    }

    /// Pairs the forms of two lists that nothing matches yet: equal ones, then alike ones, then the
    /// rest in order if it `may_differ` and there are as many in both.
    fn in_lists(&self, olds: &[CoreId], news: &[CoreId], may_differ: bool) -> Vec<(CoreId, CoreId)> {
        let [mut before, mut now] = [
            Listed::of(&self.sides[0], olds, |id| self.alignment.nodes.contains_key(&id)),
            Listed::of(&self.sides[1], news, |id| self.taken.contains(&id)),
        ];
        // Where the forms stand that are matched.
        let mut matched: Vec<Standing> = Vec::new();
        for (old, form) in olds.iter().enumerate() {
            let new = self.alignment.node(*form);
            let new = new.and_then(|new| news.iter().position(|other| *other == new));
            matched.extend(new.map(|new| Standing { old, new }));
        }
        let mut pairs = Vec::new();
        for likeness in Likeness::ALL {
            if likeness == Likeness::Any && !may_differ {
                break;
            }
            let mut found: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
            for (number, listed) in [&before, &now].into_iter().enumerate() {
                for place in &listed.left {
                    if let Some(key) = listed.key(*place, likeness) {
                        found.entry(key).or_default()[number].push(*place);
                    }
                }
            }
            let found = found.into_values().filter(|[olds, news]| olds.len() == news.len());
            let found = found.flat_map(|[olds, news]| olds.into_iter().zip(news));
            let found: Vec<Standing> = found
                .map(|(old, new)| Standing { old, new })
                .filter(|pair| {
                    likeness == Likeness::Equal || !before.is_only_placed(pair.old) || !pair.crosses_any(&matched)
                })
                .collect();
            before.left.retain(|place| found.iter().all(|pair| pair.old != *place));
            now.left.retain(|place| found.iter().all(|pair| pair.new != *place));
            pairs.extend(found.iter().map(|pair| (olds[pair.old], news[pair.new])));
            matched.extend(found);
        }
        pairs
    }

    /// Matches the variables of two forms that are left: those that equal forms use, and those
    /// whose names nothing else has. Then forgets uses of variables that are not the same.
    fn variables(&mut self, old: CoreId, new: CoreId) {
        let [before, now] = self.sides;
        let inside = before.inside(old);
        for id in &inside {
            let Some(other) = self.alignment.node(*id) else {
                continue;
            };
            if let (Core::Local(one), Core::Local(other)) = (before.node(*id), now.node(other))
                && before.name(*one) == now.name(*other)
            {
                self.record_variable(*one, *other);
            }
        }
        let (olds, news) = (before.bound_in(old), now.bound_in(new));
        let lone = |side: &Side<'_>, variables: &[VariableId], name: &Name| {
            let mut found = variables.iter().filter(|variable| side.name(**variable) == name);
            found.next().copied().filter(|_| found.next().is_none())
        };
        for variable in &olds {
            let name = before.name(*variable);
            if let (Some(_), Some(other)) = (lone(before, &olds, name), lone(now, &news, name)) {
                self.record_variable(*variable, other);
            }
        }
        for id in inside {
            if let (Core::Local(one), Some(other)) = (before.node(id), self.alignment.node(id))
                && let Core::Local(other) = now.node(other)
                && self.alignment.variable(*one) != Some(*other)
            {
                self.alignment.nodes.remove(&id);
            }
        }
    }
}
