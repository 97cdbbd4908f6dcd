//! One of two units that are aligned: its forms, their hashes, and what tells one from another.
//!
//! Read next: `lists.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::forms::{FormKind, TopForm};
use crate::core::{Core, CoreId, LambdaId, Unit, VariableId};
use crate::datum::{Datum, Name, Node};

/// The hash of a form; variables count by name.
pub(super) type Hash = [u8; 32];

/// One of the two units.
pub(super) struct Side<'a> {
    pub(super) unit: &'a Unit,
    pub(super) tops: Vec<CoreId>,
    /// Those of the top-level forms that are migrations.
    pub(super) migrations: BTreeSet<CoreId>,
    /// The hashes of the nodes that the body reaches.
    hashes: BTreeMap<CoreId, Hash>,
}

impl<'a> Side<'a> {
    pub(super) fn of(unit: &'a Unit) -> Self {
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

    pub(super) fn node(&self, id: CoreId) -> &'a Core {
        &self.unit.nodes[id.0 as usize]
    }

    pub(super) fn hash(&self, id: CoreId) -> Hash {
        self.hashes.get(&id).copied().unwrap_or_default()
    }

    pub(super) fn parts(&self, id: CoreId) -> Vec<CoreId> {
        let mut parts = Vec::new();
        self.unit.push_parts(id, &mut parts);
        parts
    }

    pub(super) fn inside(&self, form: CoreId) -> Vec<CoreId> {
        self.unit.inside(form)
    }

    pub(super) fn tops_of_nodes(&self) -> BTreeMap<CoreId, usize> {
        let tops = self.tops.iter().enumerate();
        tops.flat_map(|(number, top)| self.inside(*top).into_iter().map(move |node| (node, number)))
            .collect()
    }

    pub(super) fn name(&self, variable: VariableId) -> &'a Name {
        &self.unit.variables[variable.0 as usize].name
    }

    pub(super) fn lambda(&self, id: LambdaId) -> &'a crate::core::Lambda {
        &self.unit.lambdas[id.0 as usize]
    }

    pub(super) fn names(&self, variables: impl IntoIterator<Item = VariableId>) -> String {
        let names = variables.into_iter().map(|variable| self.name(variable).as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn global(&self, id: crate::core::GlobalId) -> String {
        let name = &self.unit.globals[id.0 as usize].name;
        format!("{} {}", name.library, name.name)
    }

    /// What a node says without its parts.
    pub(super) fn label(&self, id: CoreId) -> String {
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
    pub(super) fn key(&self, id: CoreId, is_close: bool) -> String {
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

    /// What tells the form at a place of a list from others, if it has an unnamed procedure: the
    /// datum before it, or the first operand of a call that has one procedure, such as the pattern
    /// of a handler.
    pub(super) fn identity(&self, list: &[CoreId], place: usize) -> Option<Hash> {
        let form = list[place];
        if let Core::Lambda(_) = self.node(form) {
            let before = *list.get(place.checked_sub(1)?)?;
            let is_name = matches!(self.node(before), Core::Constant(_)) && self.is_named_data(before);
            return is_name.then(|| self.hash(before));
        }
        let Core::Call { arguments, .. } = self.node(form) else {
            return None;
        };
        let (first, others) = arguments.split_first()?;
        let with_procedures = || others.iter().filter(|other| self.has_procedure(**other)).count();
        let is_name = self.is_named_data(*first) && with_procedures() == 1;
        is_name.then(|| self.hash(*first))
    }

    /// Whether a form denotes the same data wherever it stands, with a name or a text among them.
    pub(super) fn is_named_data(&self, form: CoreId) -> bool {
        let inside = self.inside(form);
        let is_steady = |id: &CoreId| {
            matches!(
                self.node(*id),
                Core::Constant(_) | Core::Primitive(_) | Core::Global(_) | Core::Call { .. }
            )
        };
        let is_name = |id: &CoreId| matches!(self.node(*id), Core::Constant(datum) if is_name(datum));
        inside.iter().all(is_steady) && inside.iter().any(is_name)
    }

    /// Whether a form has an unnamed procedure.
    pub(super) fn has_procedure(&self, form: CoreId) -> bool {
        let inside = self.inside(form);
        inside.iter().any(|id| matches!(self.node(*id), Core::Lambda(_)))
    }

    /// Whether a form gives a name to its value.
    pub(super) fn is_definition(&self, form: CoreId) -> bool {
        matches!(
            self.node(form),
            Core::DefineGlobal(..) | Core::SetGlobal(..) | Core::SetLocal(..)
        )
    }

    /// What a call says beside its first operand.
    pub(super) fn rest(&self, form: CoreId) -> Option<String> {
        let Core::Call { procedure, arguments } = self.node(form) else {
            return None;
        };
        let parts = arguments.iter().skip(1).chain([procedure]);
        let hashes = parts.map(|part| blake3::Hash::from_bytes(self.hash(*part)).to_string());
        Some(hashes.collect::<Vec<_>>().join(" "))
    }

    /// Whether a form has parts.
    pub(super) fn is_compound(&self, id: CoreId) -> bool {
        !self.parts(id).is_empty()
    }

    /// The variables that forms inside a form bind.
    pub(super) fn bound_in(&self, form: CoreId) -> Vec<VariableId> {
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

/// Whether a datum has a symbol or a text.
fn is_name(datum: &Datum) -> bool {
    let mut nodes = datum.nodes.iter();
    nodes.any(|node| matches!(node, Node::Symbol(_) | Node::String(_)))
}
