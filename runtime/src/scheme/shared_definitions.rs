//! The part of a main program that its entities evaluate: definitions that only define.
//!
//! An entity shares nothing with the program, so it evaluates the program's procedures, record
//! types and constants for itself. It must not do what the program does: a definition whose value a
//! call of a procedure computes is left out, and so is each definition that uses one.
//! INVARIANT: the unit has no effect besides its definitions, and mentions no variable of the
//! program that it does not define.
//! (If each entity evaluated the whole program, it would spawn and ask again.)
//! It does not choose the other units of an entity. Read next: `entity.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::PrimitiveKind;
use duet_kernel::core::{Core, CoreId, GlobalId, Unit};
use duet_kernel::datum::Name;

/// The definitions of a program that its entities share.
#[derive(Debug)]
pub(super) struct SharedDefinitions {
    /// The unit that defines them.
    pub(super) unit: Arc<Unit>,
    /// For each variable of the program that no entity has, the variable that it depends on and
    /// that the program computes.
    computed: BTreeMap<GlobalId, GlobalId>,
}

/// A definition at the top level of the program.
struct Definition {
    node: CoreId,
    global: GlobalId,
    value: CoreId,
}

impl SharedDefinitions {
    /// Chooses the definitions of a program; `None` if no unit registers a role.
    pub(super) fn of(program: &Unit, units: &[Arc<Unit>], code: &CodeSpace) -> Option<Self> {
        if program.compiled.is_some() || !units.iter().any(|unit| registers(unit)) {
            return None;
        }
        let (definitions, others) = top_level(program);
        let survey = Survey { unit: program, code };
        let computed = survey.computed(&definitions, &others);
        let shared = definitions.iter().filter(|one| !computed.contains_key(&one.global));
        let body: Vec<CoreId> = shared.map(|one| one.node).collect();
        let unit = program.with_forms(&body);
        let unit = Arc::new(unit);
        Some(Self { unit, computed })
    }

    /// Returns whether entities have this variable of the program.
    pub(super) fn has(&self, name: &Name) -> bool {
        let mut own = self.unit.globals.iter().filter(|global| global.is_defined_here);
        own.any(|global| global.name.name == *name)
    }

    /// Returns the variable that this one depends on and that the program computes.
    pub(super) fn culprit(&self, name: &Name) -> Option<&Name> {
        let name_of = |global: &GlobalId| &self.unit.globals[global.0 as usize].name.name;
        let (_, culprit) = self.computed.iter().find(|(global, _)| name_of(global) == name)?;
        Some(name_of(culprit))
    }
}

fn registers(unit: &Unit) -> bool {
    const PRIMITIVE: &str = "register-entity!";
    match &unit.compiled {
        Some(compiled) => compiled.primitives.iter().any(|name| name.as_str() == PRIMITIVE),
        None => unit
            .nodes
            .iter()
            .any(|node| matches!(node, Core::Primitive(name) if name.as_str() == PRIMITIVE)),
    }
}

/// Lists the definitions and the other forms at the top level of a program.
fn top_level(program: &Unit) -> (Vec<Definition>, Vec<CoreId>) {
    let (mut definitions, mut others) = (Vec::new(), Vec::new());
    let mut pending = vec![program.body];
    while let Some(node) = pending.pop() {
        let form = &program.nodes[node.0 as usize];
        if let Core::Sequence(forms) = form {
            pending.extend(forms.iter().rev());
        } else if let &Core::DefineGlobal(global, value) = form {
            definitions.push(Definition { node, global, value });
        } else {
            others.push(node);
        }
    }
    (definitions, others)
}

/// What the expressions of a program mention and do.
struct Survey<'a> {
    unit: &'a Unit,
    code: &'a CodeSpace,
}

impl Survey<'_> {
    /// Returns the variables that no entity has, each with the one that the program computes.
    fn computed(&self, definitions: &[Definition], others: &[CoreId]) -> BTreeMap<GlobalId, GlobalId> {
        let defined: BTreeSet<GlobalId> = definitions.iter().map(|one| one.global).collect();
        let own = (0..)
            .zip(&self.unit.globals)
            .map(|(number, global)| (GlobalId(number), global));
        let own = own.filter(|(_, global)| global.name.library == self.unit.name);
        let missing = own.map(|(number, _)| number).filter(|number| !defined.contains(number));
        let by_call = definitions
            .iter()
            .filter(|one| !self.only_defines(one.value))
            .map(|one| one.global);
        let assigned = others.iter().flat_map(|form| self.assigned(*form));
        let mut computed: BTreeMap<GlobalId, GlobalId> = missing
            .chain(by_call)
            .chain(assigned)
            .map(|global| (global, global))
            .collect();
        let mentioned: Vec<(GlobalId, BTreeSet<GlobalId>)> = definitions
            .iter()
            .map(|one| (one.global, self.mentioned(one.value)))
            .collect();
        loop {
            let depends = |(user, used): &(GlobalId, BTreeSet<GlobalId>)| {
                let culprit = used.iter().find_map(|global| computed.get(global))?;
                (!computed.contains_key(user)).then_some((*user, *culprit))
            };
            let found: Vec<(GlobalId, GlobalId)> = mentioned.iter().filter_map(depends).collect();
            if found.is_empty() {
                return computed;
            }
            computed.extend(found);
        }
    }

    /// Returns whether evaluating an expression calls nothing but primitives that compute a value
    /// from their arguments.
    fn only_defines(&self, expression: CoreId) -> bool {
        self.evaluated(expression).iter().all(|node| {
            if let Core::Call { procedure, .. } = node {
                let operator = &self.unit.nodes[procedure.0 as usize];
                return matches!(operator, Core::Primitive(name) if self.is_function(name));
            }
            !matches!(node, Core::SetGlobal(..))
        })
    }

    fn is_function(&self, name: &Name) -> bool {
        let mut primitives = self.code.primitives().iter();
        let found = primitives.find(|primitive| primitive.name == name.as_str());
        found.is_some_and(|primitive| matches!(primitive.kind(), PrimitiveKind::Function { .. }))
    }

    /// Lists the globals that evaluating an expression assigns.
    fn assigned(&self, expression: CoreId) -> Vec<GlobalId> {
        let nodes = self.evaluated(expression).into_iter();
        let assigned = nodes.filter_map(|node| {
            let Core::SetGlobal(global, _) = node else { return None };
            Some(*global)
        });
        assigned.collect()
    }

    /// Lists the globals that an expression mentions, in procedures too.
    fn mentioned(&self, expression: CoreId) -> BTreeSet<GlobalId> {
        let nodes = self.nodes(expression, |_| true).into_iter();
        let mentioned = nodes.filter_map(|node| {
            let (Core::Global(global) | Core::SetGlobal(global, _)) = node else {
                return None;
            };
            Some(*global)
        });
        mentioned.collect()
    }

    /// Lists the nodes that the evaluation of an expression reaches, so no bodies of procedures.
    fn evaluated(&self, expression: CoreId) -> Vec<&Core> {
        self.nodes(expression, |node| !matches!(node, Core::Lambda(_)))
    }

    /// Lists an expression and its parts, but not the parts of a node that `enters` refuses.
    fn nodes(&self, expression: CoreId, enters: impl Fn(&Core) -> bool) -> Vec<&Core> {
        let (mut found, mut pending) = (Vec::new(), vec![expression]);
        while let Some(id) = pending.pop() {
            let node = &self.unit.nodes[id.0 as usize];
            found.push(node);
            if enters(node) {
                self.unit.push_parts(id, &mut pending);
            }
        }
        found
    }
}
