//! Builds one unit of the core language.
//!
//! Owns the arenas of the unit under construction.
//! INVARIANT: each node has at most one parent; a global occurs once in the unit's table.
//! It does not resolve names.
//! Read next: `unit.rs`.

use std::collections::BTreeMap;

use crate::core::{Core, CoreId, Global, GlobalId, Lambda, LambdaId, Unit, Variable, VariableId};
use crate::datum::{Name, Span};
use crate::unit::GlobalName;

#[derive(Debug, Default)]
pub(super) struct Builder {
    nodes: Vec<Core>,
    spans: Vec<Span>,
    variables: Vec<Variable>,
    lambdas: Vec<Lambda>,
    globals: Vec<Global>,
    /// Maps a global's number in the session to its number in the unit.
    global_ids: BTreeMap<u32, GlobalId>,
}

impl Builder {
    pub(super) fn node(&mut self, core: Core, span: Span) -> CoreId {
        self.nodes.push(core);
        self.spans.push(span);
        CoreId(index(self.nodes.len() - 1))
    }

    /// Gives a node that only binds or chooses, and so never fails, the source of the form around
    /// it.
    pub(super) fn widen(&mut self, id: CoreId, span: Span) {
        let node = id.0 as usize;
        if matches!(
            self.nodes[node],
            Core::If { .. } | Core::Let { .. } | Core::Letrec { .. }
        ) {
            self.spans[node] = span;
        }
    }

    /// Returns the number of nodes.
    pub(super) fn length(&self) -> u32 {
        index(self.nodes.len())
    }

    pub(super) fn get(&self, id: CoreId) -> &Core {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn variable(&mut self, name: Name) -> VariableId {
        self.variables.push(Variable {
            name,
            is_assigned: false,
        });
        VariableId(index(self.variables.len() - 1))
    }

    pub(super) fn variable_name(&self, id: VariableId) -> &Name {
        &self.variables[id.0 as usize].name
    }

    pub(super) fn mark_variable_assigned(&mut self, id: VariableId) {
        self.variables[id.0 as usize].is_assigned = true;
    }

    pub(super) fn lambda(&mut self, lambda: Lambda) -> LambdaId {
        self.lambdas.push(lambda);
        LambdaId(index(self.lambdas.len() - 1))
    }

    /// Returns a global's number in the unit, given its number and name in the session.
    pub(super) fn global(&mut self, session: u32, name: &GlobalName) -> GlobalId {
        let globals = &mut self.globals;
        *self.global_ids.entry(session).or_insert_with(|| {
            globals.push(Global {
                name: name.clone(),
                is_defined_here: false,
                is_assigned: false,
            });
            GlobalId(index(globals.len() - 1))
        })
    }

    pub(super) fn mark_global_defined(&mut self, id: GlobalId) {
        let global = &mut self.globals[id.0 as usize];
        global.is_assigned |= global.is_defined_here;
        global.is_defined_here = true;
    }

    pub(super) fn mark_global_assigned(&mut self, id: GlobalId) {
        self.globals[id.0 as usize].is_assigned = true;
    }

    pub(super) fn finish(self, name: Name, body: CoreId, is_interactive: bool) -> Unit {
        let Self {
            nodes,
            spans,
            variables,
            lambdas,
            globals,
            ..
        } = self;
        Unit {
            name,
            nodes,
            spans,
            integrated: Vec::new(),
            integrated_nodes: BTreeMap::new(),
            variables,
            lambdas,
            globals,
            body,
            is_interactive,
            is_counted: false,
            compiled: None,
        }
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
