//! The analysis of a unit before code generation: captured variables, cells and loops.
//!
//! INVARIANT: every use of a loop variable is a call with the right number of arguments, in tail
//! position of its own binding form; so its body can live in the frame of the procedure around it.
//! It generates nothing.
//! Read next: `compiler/expression.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Core, CoreId, LambdaId, Unit, VariableId};

use super::{CompileError, NESTING_MAX, STACK_GROWTH_BYTES, STACK_RED_ZONE_BYTES};

/// The results, by node and variable.
pub(super) struct Analysis {
    /// The number of references to each variable, without assignments.
    references: Vec<u32>,
    /// The variables of enclosing procedures that each procedure expression uses, in order of first
    /// use.
    free: BTreeMap<CoreId, Vec<VariableId>>,
    /// The order in which the bindings of each `Letrec` are made, keyed by its body.
    plans: BTreeMap<CoreId, Vec<BindingStep>>,
    /// Variables of `Letrec` forms that some procedure can see before they have their values.
    checked: BTreeSet<VariableId>,
    /// Variables of `Letrec` forms that are loops, with their procedure.
    loops: BTreeMap<VariableId, LambdaId>,
}

impl Analysis {
    pub(super) fn of(unit: &Unit) -> Result<Analysis, CompileError> {
        let mut walk = Walk {
            unit,
            analysis: Analysis {
                references: vec![0; unit.variables.len()],
                free: BTreeMap::new(),
                plans: BTreeMap::new(),
                checked: BTreeSet::new(),
                loops: BTreeMap::new(),
            },
            depth: 0,
        };
        walk.uses(unit.body)?;
        Ok(walk.analysis)
    }

    pub(super) fn references(&self, variable: VariableId) -> u32 {
        self.references[variable.0 as usize]
    }

    pub(super) fn free_of(&self, procedure: CoreId) -> &[VariableId] {
        self.free.get(&procedure).map_or(&[], Vec::as_slice)
    }

    /// Returns the order in which to make the bindings of the `Letrec` with this body, without
    /// loops.
    pub(super) fn plan_of(&self, body: CoreId) -> &[BindingStep] {
        self.plans.get(&body).map_or(&[], Vec::as_slice)
    }

    /// Returns whether reads of the variable must check that it has a value.
    pub(super) fn is_checked(&self, variable: VariableId) -> bool {
        self.checked.contains(&variable)
    }

    pub(super) fn loop_of(&self, variable: VariableId) -> Option<LambdaId> {
        self.loops.get(&variable).copied()
    }
}

/// One step of making the bindings of a `Letrec`; bindings by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BindingStep {
    /// Make closures that may refer to each other.
    Closures(Vec<usize>),
    /// Evaluate an initialiser.
    Value(usize),
}

/// Variables that a form uses and does not bind, in order of first use.
#[derive(Default)]
struct Uses {
    order: Vec<VariableId>,
    set: BTreeSet<VariableId>,
}

impl Uses {
    fn add(&mut self, variable: VariableId) {
        if self.set.insert(variable) {
            self.order.push(variable);
        }
    }

    fn merge(&mut self, other: Uses) {
        if self.order.is_empty() {
            *self = other;
        } else {
            other.order.into_iter().for_each(|variable| self.add(variable));
        }
    }

    fn remove(&mut self, variable: VariableId) {
        if self.set.remove(&variable) {
            self.order.retain(|used| *used != variable);
        }
    }
}

struct Walk<'a> {
    unit: &'a Unit,
    analysis: Analysis,
    depth: usize,
}

impl Walk<'_> {
    fn uses(&mut self, id: CoreId) -> Result<Uses, CompileError> {
        if self.depth >= NESTING_MAX {
            return Err(CompileError::TooDeep);
        }
        self.depth += 1;
        let uses = stacker::maybe_grow(STACK_RED_ZONE_BYTES, STACK_GROWTH_BYTES, || self.uses_of_node(id));
        self.depth -= 1;
        uses
    }

    fn uses_of_node(&mut self, id: CoreId) -> Result<Uses, CompileError> {
        let unit = self.unit;
        match &unit.nodes[id.0 as usize] {
            Core::Constant(_) | Core::Unspecified | Core::CountCall | Core::Global(_) | Core::Primitive(_) => {
                Ok(Uses::default())
            }
            Core::Local(variable) => {
                self.analysis.references[variable.0 as usize] += 1;
                let mut uses = Uses::default();
                uses.add(*variable);
                Ok(uses)
            }
            Core::SetLocal(variable, value) => {
                let mut uses = self.uses(*value)?;
                uses.add(*variable);
                Ok(uses)
            }
            Core::SetGlobal(_, value) | Core::DefineGlobal(_, value) => self.uses(*value),
            Core::If {
                test,
                consequent,
                alternative,
            } => self.uses_of_all(&[*test, *consequent, *alternative]),
            Core::Sequence(forms) => self.uses_of_all(forms),
            Core::Call { procedure, arguments } => {
                let mut uses = self.uses(*procedure)?;
                uses.merge(self.uses_of_all(arguments)?);
                Ok(uses)
            }
            Core::Let { bindings, body } => {
                let mut uses = self.uses(*body)?;
                bindings.iter().for_each(|(variable, _)| uses.remove(*variable));
                for (_, initialiser) in bindings {
                    uses.merge(self.uses(*initialiser)?);
                }
                Ok(uses)
            }
            Core::Letrec { bindings, body } => self.uses_of_letrec(bindings, *body),
            Core::Lambda(clauses) => self.uses_of_procedure(id, clauses),
        }
    }

    fn uses_of_all(&mut self, forms: &[CoreId]) -> Result<Uses, CompileError> {
        let mut uses = Uses::default();
        for form in forms {
            uses.merge(self.uses(*form)?);
        }
        Ok(uses)
    }

    fn uses_of_procedure(&mut self, id: CoreId, clauses: &[LambdaId]) -> Result<Uses, CompileError> {
        let unit = self.unit;
        let mut uses = Uses::default();
        for clause in clauses {
            let lambda = &unit.lambdas[clause.0 as usize];
            let mut inner = self.uses(lambda.body)?;
            lambda
                .parameters
                .iter()
                .chain(&lambda.rest)
                .for_each(|parameter| inner.remove(*parameter));
            uses.merge(inner);
        }
        self.analysis.free.insert(id, uses.order.clone());
        Ok(uses)
    }

    fn uses_of_letrec(&mut self, bindings: &[(VariableId, CoreId)], body: CoreId) -> Result<Uses, CompileError> {
        let mut uses = Uses::default();
        let mut used_by = Vec::with_capacity(bindings.len());
        for (_, initialiser) in bindings {
            let inner = self.uses(*initialiser)?;
            used_by.push(inner.set.clone());
            uses.merge(inner);
        }
        uses.merge(self.uses(body)?);
        bindings.iter().for_each(|(variable, _)| uses.remove(*variable));
        self.find_loops(bindings, body)?;
        let plan = self.plan(bindings, &used_by);
        self.analysis.plans.insert(body, plan);
        Ok(uses)
    }

    /// Orders the bindings so that procedures are made as late as their first use allows. Then most
    /// variables have their values before a procedure captures them, and need no cell.
    fn plan(&mut self, bindings: &[(VariableId, CoreId)], used_by: &[BTreeSet<VariableId>]) -> Vec<BindingStep> {
        let is_procedure = |position: usize| {
            let (variable, initialiser) = bindings[position];
            !self.unit.variables[variable.0 as usize].is_assigned
                && matches!(self.unit.nodes[initialiser.0 as usize], Core::Lambda(_))
        };
        let (mut procedures, values): (Vec<usize>, Vec<usize>) = (0..bindings.len())
            .filter(|position| self.analysis.loop_of(bindings[*position].0).is_none())
            .partition(|position| is_procedure(*position));
        let mut steps = Vec::new();
        let mut checked = Vec::new();
        for (done, value) in values.iter().enumerate() {
            let needed = reachable(*value, &procedures, bindings, used_by);
            procedures.retain(|position| !needed.contains(position));
            for user in needed.iter().chain([value]) {
                checked.extend(
                    values[done..]
                        .iter()
                        .map(|later| bindings[*later].0)
                        .filter(|later| used_by[*user].contains(later)),
                );
            }
            if !needed.is_empty() {
                steps.push(BindingStep::Closures(needed));
            }
            steps.push(BindingStep::Value(*value));
        }
        if !procedures.is_empty() {
            steps.push(BindingStep::Closures(procedures));
        }
        self.analysis.checked.extend(checked);
        steps
    }

    /// Marks bindings as loops if every reference to them is a tail call from the body or from
    /// another such loop.
    fn find_loops(&mut self, bindings: &[(VariableId, CoreId)], body: CoreId) -> Result<(), CompileError> {
        let unit = self.unit;
        let mut candidates: BTreeMap<VariableId, LambdaId> = bindings
            .iter()
            .filter(|(variable, _)| !unit.variables[variable.0 as usize].is_assigned)
            .filter_map(|(variable, initialiser)| Some((*variable, fixed_arity_clause(unit, *initialiser)?)))
            .collect();
        loop {
            let mut calls = BTreeMap::new();
            self.count_tail_calls(body, &candidates, &mut calls)?;
            for lambda in candidates.values() {
                self.count_tail_calls(unit.lambdas[lambda.0 as usize].body, &candidates, &mut calls)?;
            }
            let before = candidates.len();
            candidates.retain(|variable, _| {
                let count = calls.get(variable).copied().unwrap_or(0);
                count > 0 && count == self.analysis.references(*variable)
            });
            if candidates.len() == before {
                break;
            }
        }
        self.analysis.loops.extend(candidates);
        Ok(())
    }

    /// Counts the calls of `candidates` with the right number of arguments in tail position of
    /// `id`.
    fn count_tail_calls(
        &mut self,
        id: CoreId,
        candidates: &BTreeMap<VariableId, LambdaId>,
        calls: &mut BTreeMap<VariableId, u32>,
    ) -> Result<(), CompileError> {
        let unit = self.unit;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match &unit.nodes[id.0 as usize] {
                Core::If {
                    consequent,
                    alternative,
                    ..
                } => pending.extend([*consequent, *alternative]),
                Core::Sequence(forms) => pending.extend(forms.last()),
                Core::Let { body, .. } => pending.push(*body),
                Core::Letrec { bindings, body } => {
                    pending.push(*body);
                    let loops = bindings
                        .iter()
                        .filter_map(|(variable, _)| self.analysis.loop_of(*variable));
                    pending.extend(loops.map(|lambda| unit.lambdas[lambda.0 as usize].body));
                }
                Core::Call { procedure, arguments } => {
                    if let Core::Local(variable) = &unit.nodes[procedure.0 as usize]
                        && let Some(lambda) = candidates.get(variable)
                        && unit.lambdas[lambda.0 as usize].parameters.len() == arguments.len()
                    {
                        *calls.entry(*variable).or_insert(0) += 1;
                    }
                }
                Core::Constant(_)
                | Core::Unspecified
                | Core::CountCall
                | Core::Local(_)
                | Core::SetLocal(..)
                | Core::Global(_)
                | Core::SetGlobal(..)
                | Core::DefineGlobal(..)
                | Core::Primitive(_)
                | Core::Lambda(_) => {}
            }
        }
        Ok(())
    }
}

/// Returns the positions in `procedures` that the initialiser at `start` uses, directly or through
/// each other, in order.
fn reachable(
    start: usize,
    procedures: &[usize],
    bindings: &[(VariableId, CoreId)],
    used_by: &[BTreeSet<VariableId>],
) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut pending = vec![start];
    while let Some(position) = pending.pop() {
        for procedure in procedures {
            if used_by[position].contains(&bindings[*procedure].0) && found.insert(*procedure) {
                pending.push(*procedure);
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the clause of a procedure expression, if it has exactly one and no rest list.
pub(super) fn fixed_arity_clause(unit: &Unit, id: CoreId) -> Option<LambdaId> {
    let Core::Lambda(clauses) = &unit.nodes[id.0 as usize] else {
        return None;
    };
    let [clause] = clauses.as_slice() else { return None };
    unit.lambdas[clause.0 as usize].rest.is_none().then_some(*clause)
}
