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

use std::collections::{BTreeMap, BTreeSet};

use super::forms::{FormKind, TopForm};
use super::{Core, CoreId, LambdaId, Unit, VariableId};
use crate::datum::Name;

/// The hash of a form; variables count by name.
type Hash = [u8; 32];

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

    /// Whether the same top-level forms stand before two top-level forms, and the same after them:
    /// that of the old unit that `old` is part of, and that of the new one.
    pub fn keeps_order(&self, old: CoreId, new: CoreId) -> bool {
        let (Some(old), Some(new)) = (self.tops_of[0].get(&old), self.tops_of[1].get(&new)) else {
            return false;
        };
        self.tops.iter().all(|(before, now)| before.cmp(old) == now.cmp(new))
    }
}

/// One of the two units.
struct Side<'a> {
    unit: &'a Unit,
    tops: Vec<CoreId>,
    /// Those of the top-level forms that are migrations.
    migrations: BTreeSet<CoreId>,
    /// The hashes of the nodes that the body reaches.
    hashes: BTreeMap<CoreId, Hash>,
}

impl<'a> Side<'a> {
    fn of(unit: &'a Unit) -> Self {
        let forms = unit.top_forms();
        let is_migration = |form: &&TopForm| matches!(form.kind, FormKind::Migration(_));
        let mut side = Self {
            unit,
            tops: forms.iter().map(|form| form.node).collect(),
            migrations: forms.iter().filter(is_migration).map(|form| form.node).collect(),
            hashes: BTreeMap::new(),
        };
        // Parts come after the form to which they belong.
        for node in side.inside(unit.body).into_iter().rev() {
            let mut hasher = blake3::Hasher::new();
            hasher.update(side.label(node).as_bytes());
            for part in side.parts(node) {
                hasher.update(&side.hash(part));
            }
            side.hashes.insert(node, *hasher.finalize().as_bytes());
        }
        side
    }

    fn node(&self, id: CoreId) -> &'a Core {
        &self.unit.nodes[id.0 as usize]
    }

    fn hash(&self, id: CoreId) -> Hash {
        self.hashes.get(&id).copied().unwrap_or_default()
    }

    fn parts(&self, id: CoreId) -> Vec<CoreId> {
        let mut parts = Vec::new();
        self.unit.push_parts(id, &mut parts);
        parts
    }

    /// A form and all forms in it, each before its parts.
    fn inside(&self, form: CoreId) -> Vec<CoreId> {
        let (mut found, mut pending) = (Vec::new(), vec![form]);
        while let Some(node) = pending.pop() {
            found.push(node);
            let first = pending.len();
            self.unit.push_parts(node, &mut pending);
            pending[first..].reverse();
        }
        found
    }

    fn tops_of_nodes(&self) -> BTreeMap<CoreId, usize> {
        let tops = self.tops.iter().enumerate();
        tops.flat_map(|(number, top)| self.inside(*top).into_iter().map(move |node| (node, number)))
            .collect()
    }

    fn name(&self, variable: VariableId) -> &'a Name {
        &self.unit.variables[variable.0 as usize].name
    }

    fn lambda(&self, id: LambdaId) -> &'a super::Lambda {
        &self.unit.lambdas[id.0 as usize]
    }

    fn names(&self, variables: impl IntoIterator<Item = VariableId>) -> String {
        let names = variables.into_iter().map(|variable| self.name(variable).as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    fn global(&self, id: super::GlobalId) -> String {
        let name = &self.unit.globals[id.0 as usize].name;
        format!("{} {}", name.library, name.name)
    }

    /// What a node says without its parts.
    fn label(&self, id: CoreId) -> String {
        match self.node(id) {
            Core::Constant(datum) => format!("constant {datum}"),
            Core::Unspecified => "unspecified".to_owned(),
            Core::CountCall => "count-call".to_owned(),
            Core::Local(variable) => format!("local {}", self.name(*variable)),
            Core::SetLocal(variable, _) => format!("set-local {}", self.name(*variable)),
            Core::Global(global) => format!("global {}", self.global(*global)),
            Core::SetGlobal(global, _) => format!("set-global {}", self.global(*global)),
            Core::DefineGlobal(global, _) => format!("define {}", self.global(*global)),
            Core::Primitive(name) => format!("primitive {name}"),
            Core::If { .. } => "if".to_owned(),
            Core::Lambda(clauses) => {
                let clauses = clauses.iter().map(|clause| {
                    let lambda = self.lambda(*clause);
                    let parameters = self.names(lambda.parameters.iter().copied());
                    format!("({parameters} . {})", self.names(lambda.rest))
                });
                format!("lambda {}", clauses.collect::<String>())
            }
            Core::Sequence(forms) => format!("sequence {}", forms.len()),
            Core::Let { bindings, .. } => format!("let {}", self.names(bindings.iter().map(|(id, _)| *id))),
            Core::Letrec { bindings, .. } => format!("letrec {}", self.names(bindings.iter().map(|(id, _)| *id))),
            Core::Call { arguments, .. } => format!("call {}", arguments.len()),
        }
    }

    /// What makes a node alike to others: of a call its procedure, and its first operand if the
    /// likeness `is_close`.
    fn key(&self, id: CoreId, is_close: bool) -> String {
        let node = self.node(id);
        if let Core::Call { procedure, arguments } = node {
            let first = arguments.first().filter(|_| is_close);
            let first = first.map(|first| blake3::Hash::from_bytes(self.hash(*first)).to_string());
            format!("call {} {}", self.label(*procedure), first.unwrap_or_default())
        } else if let (Core::If { test, .. }, true) = (node, is_close) {
            format!("if {}", blake3::Hash::from_bytes(self.hash(*test)))
        } else if !is_close && matches!(node, Core::Let { .. } | Core::Letrec { .. } | Core::Lambda(_)) {
            self.label(id).split(' ').next().unwrap_or_default().to_owned()
        } else {
            self.label(id)
        }
    }

    /// Whether a form has parts.
    fn is_compound(&self, id: CoreId) -> bool {
        !self.parts(id).is_empty()
    }

    /// The variables that forms inside a form bind.
    fn bound_in(&self, form: CoreId) -> Vec<VariableId> {
        let bound = self.inside(form).into_iter().flat_map(|node| {
            let node = self.node(node);
            if let Core::Let { bindings, .. } | Core::Letrec { bindings, .. } = node {
                bindings.iter().map(|(variable, _)| *variable).collect()
            } else if let Core::Lambda(clauses) = node {
                let clauses = clauses.iter().map(|clause| self.lambda(*clause));
                clauses
                    .flat_map(|lambda| lambda.parameters.iter().chain(&lambda.rest).copied())
                    .collect()
            } else {
                Vec::new()
            }
        });
        bound.collect()
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
        let [before, now] = self.sides;
        let mut pairs = Vec::new();
        let mut olds: Vec<CoreId> = olds
            .iter()
            .copied()
            .filter(|id| !self.alignment.nodes.contains_key(id))
            .collect();
        let mut news: Vec<CoreId> = news.iter().copied().filter(|id| !self.taken.contains(id)).collect();
        let key = |side: &Side<'_>, id: CoreId, level: usize| match level {
            0 => blake3::Hash::from_bytes(side.hash(id)).to_string(),
            1 => side.key(id, true),
            2 => side.key(id, false),
            _ => String::new(),
        };
        for level in 0..if may_differ { 4 } else { 3 } {
            let mut found: BTreeMap<String, [Vec<CoreId>; 2]> = BTreeMap::new();
            for id in &olds {
                found.entry(key(before, *id, level)).or_default()[0].push(*id);
            }
            for id in &news {
                found.entry(key(now, *id, level)).or_default()[1].push(*id);
            }
            let matched = found.into_values().filter(|[olds, news]| olds.len() == news.len());
            let matched: Vec<_> = matched.flat_map(|[olds, news]| olds.into_iter().zip(news)).collect();
            olds.retain(|id| matched.iter().all(|(old, _)| old != id));
            news.retain(|id| matched.iter().all(|(_, new)| new != id));
            pairs.extend(matched);
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
