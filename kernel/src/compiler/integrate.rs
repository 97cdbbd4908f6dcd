//! Integrates calls of small global procedures: the procedure's body replaces the call.
//!
//! So the procedures of `define-record-type` and one-line procedures become instructions at their
//! calls.
//! The body is preceded by the count of the call, so that a program takes the same fuel whatever is
//! integrated.
//! INVARIANT: a call is replaced only where the global certainly holds the procedure: it is defined
//! once, never assigned, in a unit that no later one can change, and nothing that runs before its
//! definition can reach the call.
//! INVARIANT: a literal is one object however often its form is copied.
//! It knows no registers.
//! Read next: `compiler/analysis.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Core, CoreId, GlobalId, Unit, Variable, VariableId};
use crate::datum::Span;
use crate::unit::IntegratedCall;

use super::analysis::fixed_arity_clause;
use super::{PrimitiveKind, Primitives};

/// The maximum number of nodes in an integrated body.
const NODES_MAX: usize = 20;
/// The number of rounds; each integrates calls in the bodies that the previous one copied.
const ROUNDS: usize = 3;

/// A procedure that may be integrated.
struct Template {
    parameters: Vec<VariableId>,
    body: CoreId,
    /// The position of its definition among the top-level forms.
    position: usize,
    /// The span of the procedure. Generated bodies have no better spans inside; then a copied node
    /// gets the span of the call.
    span: Span,
}

/// A unit with small procedures integrated at their calls.
pub(super) struct Integration {
    pub(super) unit: Unit,
    pub(super) copies: Copies,
}

/// Where the nodes and variables come from that integration has added.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    /// The call that was replaced, and the node of its procedure's body that was copied.
    nodes: BTreeMap<CoreId, (CoreId, CoreId)>,
    /// The call that was replaced, and the parameter of its procedure.
    variables: BTreeMap<VariableId, (CoreId, VariableId)>,
    /// The literal of which each copied literal is a copy.
    literals: BTreeMap<CoreId, CoreId>,
    /// For each integrated call, by its index in the unit's list, the parameters of its procedure
    /// and the literals or variables that stand for them.
    parameters: BTreeMap<u32, Vec<(VariableId, Core)>>,
}

impl Copies {
    /// The calls in whose procedures a node stands, outermost first, then the node: all of them
    /// nodes of the unit before integration.
    pub(super) fn path_of(&self, node: CoreId) -> Vec<CoreId> {
        // The recursion is at most as deep as the number of rounds.
        match self.nodes.get(&node) {
            Some((call, original)) => {
                let mut path = self.path_of(*call);
                path.extend(self.path_of(*original));
                path
            }
            None => vec![node],
        }
    }

    /// The literal of the unit before integration from which a literal comes.
    pub(super) fn literal_of(&self, mut literal: CoreId) -> CoreId {
        while let Some(original) = self.literals.get(&literal) {
            literal = *original;
        }
        literal
    }

    /// The parameters of the procedure of an integrated call, each with the literal or the variable
    /// that stands for it.
    pub(super) fn parameters_of(&self, call: u32) -> &[(VariableId, Core)] {
        self.parameters.get(&call).map_or(&[], Vec::as_slice)
    }

    /// Whether the parameter of a replaced call has become a variable of its own; the calls are
    /// those of the unit before integration, outermost first.
    pub(super) fn has_own(&self, calls: &[CoreId], parameter: VariableId) -> bool {
        let mut variables = self.variables.values();
        variables.any(|(call, own)| *own == parameter && self.path_of(*call) == calls)
    }

    /// Whether a variable is a parameter of a procedure that was integrated.
    pub(super) fn is_parameter(&self, variable: VariableId) -> bool {
        self.variables.contains_key(&variable)
    }

    /// The calls in whose procedures a variable stands, outermost first, and the variable of the
    /// unit before integration.
    pub(super) fn origin_of(&self, variable: VariableId) -> (Vec<CoreId>, VariableId) {
        match self.variables.get(&variable) {
            Some((call, parameter)) => (self.path_of(*call), *parameter),
            None => (Vec::new(), variable),
        }
    }
}

/// Returns the unit with small procedures integrated at their calls; nothing if there are none.
pub(super) fn integrate(unit: &Unit, primitives: &dyn Primitives) -> Option<Integration> {
    if unit.is_interactive {
        return None;
    }
    let mut integrated: Option<Unit> = None;
    let mut copies = Copies::default();
    for _ in 0..ROUNDS {
        let current = integrated.as_ref().unwrap_or(unit);
        let forms = top_level_forms(current);
        let templates = templates(current, &forms, primitives);
        let inert = forms.iter().take_while(|form| is_inert(current, **form)).count();
        let calls = calls(current, &forms, &templates, inert);
        if calls.is_empty() {
            break;
        }
        let mut rewriting = Rewriting {
            original: current,
            late: late_variables(current),
            unit: current.clone(),
            copies: &mut copies,
        };
        for call in calls {
            rewriting.replace(call, &templates);
        }
        integrated = Some(rewriting.unit);
    }
    integrated.map(|unit| Integration { unit, copies })
}

/// Returns the forms that the unit's body evaluates in sequence.
fn top_level_forms(unit: &Unit) -> Vec<CoreId> {
    let mut forms = Vec::new();
    let mut pending = vec![unit.body];
    while let Some(id) = pending.pop() {
        if let Core::Sequence(parts) = &unit.nodes[id.0 as usize] {
            pending.extend(parts.iter().rev());
        } else {
            forms.push(id);
        }
    }
    forms
}

/// Returns whether evaluating the form calls no procedure of the program.
fn is_inert(unit: &Unit, form: CoreId) -> bool {
    let mut pending = vec![form];
    while let Some(id) = pending.pop() {
        match &unit.nodes[id.0 as usize] {
            Core::Constant(_) | Core::Unspecified | Core::Lambda(_) | Core::Primitive(_) => {}
            Core::DefineGlobal(_, value) => pending.push(*value),
            Core::Call { procedure, arguments } => {
                let operator = &unit.nodes[procedure.0 as usize];
                let is_inert = |name: &str| matches!(name, "%make-record-type" | "%migrate-records");
                if !matches!(operator, Core::Primitive(name) if is_inert(&name.0)) {
                    return false;
                }
                pending.extend(arguments);
            }
            Core::Local(_)
            | Core::CountCall
            | Core::SetLocal(..)
            | Core::Global(_)
            | Core::SetGlobal(..)
            | Core::If { .. }
            | Core::Sequence(_)
            | Core::Let { .. }
            | Core::Letrec { .. } => return false,
        }
    }
    true
}

fn templates(unit: &Unit, forms: &[CoreId], primitives: &dyn Primitives) -> BTreeMap<GlobalId, Template> {
    let definitions = forms.iter().enumerate().filter_map(|(position, form)| {
        let Core::DefineGlobal(global, value) = &unit.nodes[form.0 as usize] else {
            return None;
        };
        let lambda = &unit.lambdas[fixed_arity_clause(unit, *value)?.0 as usize];
        let is_constant = !unit.globals[global.0 as usize].is_assigned
            && lambda
                .parameters
                .iter()
                .all(|parameter| !unit.variables[parameter.0 as usize].is_assigned);
        (is_constant && is_small(unit, lambda.body, *global, primitives)).then(|| {
            let template = Template {
                parameters: lambda.parameters.clone(),
                body: lambda.body,
                position,
                span: lambda.span,
            };
            (*global, template)
        })
    });
    definitions.collect()
}

/// Returns whether a procedure's body is small, binds nothing and does not mention the procedure
/// itself.
fn is_small(unit: &Unit, body: CoreId, own: GlobalId, primitives: &dyn Primitives) -> bool {
    let mut pending = vec![body];
    let mut count = 0;
    while let Some(id) = pending.pop() {
        let node = &unit.nodes[id.0 as usize];
        count += usize::from(!matches!(node, Core::Sequence(_) | Core::CountCall));
        let fits = match node {
            Core::Constant(_) | Core::Unspecified | Core::CountCall | Core::Local(_) => true,
            Core::Global(global) => *global != own,
            Core::Primitive(name) => matches!(primitives.kind(&name.0), Some(PrimitiveKind::Function { .. })),
            Core::Call { procedure, arguments } => {
                pending.push(*procedure);
                pending.extend(arguments);
                true
            }
            Core::If {
                test,
                consequent,
                alternative,
            } => {
                pending.extend([*test, *consequent, *alternative]);
                true
            }
            Core::Sequence(forms) => {
                pending.extend(forms);
                forms
                    .iter()
                    .any(|form| matches!(unit.nodes[form.0 as usize], Core::CountCall))
            }
            Core::SetLocal(..)
            | Core::SetGlobal(..)
            | Core::DefineGlobal(..)
            | Core::Lambda(_)
            | Core::Let { .. }
            | Core::Letrec { .. } => false,
        };
        if !fits || count > NODES_MAX {
            return false;
        }
    }
    true
}

/// Returns the calls to replace, inner ones after those around them.
fn calls(unit: &Unit, forms: &[CoreId], templates: &BTreeMap<GlobalId, Template>, inert: usize) -> Vec<CoreId> {
    let mut found = Vec::new();
    for (place, form) in forms.iter().enumerate() {
        let mut pending = vec![*form];
        while let Some(id) = pending.pop() {
            if let Core::Call { procedure, arguments } = &unit.nodes[id.0 as usize]
                && let Core::Global(global) = &unit.nodes[procedure.0 as usize]
                && let Some(template) = templates.get(global)
                && template.parameters.len() == arguments.len()
                && (template.position < place || template.position <= inert)
            {
                found.push(id);
            }
            unit.push_parts(id, &mut pending);
        }
    }
    found
}

/// Returns the variables that may be read before they have their values.
fn late_variables(unit: &Unit) -> BTreeSet<VariableId> {
    let bindings = unit.nodes.iter().filter_map(|node| {
        if let Core::Letrec { bindings, .. } = node {
            Some(bindings)
        } else {
            None
        }
    });
    bindings.flatten().map(|(variable, _)| *variable).collect()
}

struct Rewriting<'a> {
    /// The unit before this round, from which bodies are copied.
    original: &'a Unit,
    unit: Unit,
    late: BTreeSet<VariableId>,
    copies: &'a mut Copies,
}

impl Rewriting<'_> {
    /// Replaces a call by the body of its procedure.
    fn replace(&mut self, call: CoreId, templates: &BTreeMap<GlobalId, Template>) {
        let Core::Call { procedure, arguments } = self.unit.nodes[call.0 as usize].clone() else {
            return;
        };
        let Core::Global(global) = self.unit.nodes[procedure.0 as usize] else {
            return;
        };
        let Some(template) = templates.get(&global) else {
            return;
        };
        let (mut parameters, mut values) = (Vec::new(), BTreeMap::new());
        let mut bindings = Vec::new();
        for (parameter, argument) in template.parameters.iter().zip(arguments) {
            let node = &self.unit.nodes[argument.0 as usize];
            let value = if self.is_steady(node) {
                Substitute {
                    node: node.clone(),
                    literal: matches!(node, Core::Constant(_)).then_some(argument),
                }
            } else {
                let variable = self.fresh(*parameter);
                self.copies.variables.insert(variable, (call, *parameter));
                bindings.push((variable, argument));
                Substitute {
                    node: Core::Local(variable),
                    literal: None,
                }
            };
            parameters.push((*parameter, value.node.clone()));
            values.insert(*parameter, value);
        }
        let mut copying = Copying {
            own: template.span,
            replaced: call,
            call: self.unit.spans[call.0 as usize],
            values,
            integrated: BTreeMap::new(),
            around: self.integrate(
                IntegratedCall {
                    procedure: self.unit.globals[global.0 as usize].name.name.clone(),
                    span: self.unit.spans[call.0 as usize],
                    around: self.unit.integrated_nodes.get(&call).copied(),
                },
                parameters,
            ),
        };
        let body = self.copy(template.body, &mut copying);
        let count = self.add(Core::CountCall, call);
        let counted = Core::Sequence(vec![count, body]);
        self.unit.nodes[call.0 as usize] = if bindings.is_empty() {
            counted
        } else {
            let body = self.add(counted, call);
            Core::Let { bindings, body }
        };
    }

    /// Adds a node with the place of a call.
    fn add(&mut self, node: Core, call: CoreId) -> CoreId {
        let id = CoreId(self.unit.nodes.len() as u32);
        self.unit.nodes.push(node);
        self.unit.spans.push(self.unit.spans[call.0 as usize]);
        if let Some(origin) = self.unit.integrated_nodes.get(&call).copied() {
            self.unit.integrated_nodes.insert(id, origin);
        }
        id
    }

    /// Returns whether the form is a literal, or a variable that always has the same value.
    fn is_steady(&self, node: &Core) -> bool {
        if let Core::Local(variable) = node {
            !self.unit.variables[variable.0 as usize].is_assigned && !self.late.contains(variable)
        } else {
            matches!(node, Core::Constant(_) | Core::Unspecified)
        }
    }

    fn fresh(&mut self, like: VariableId) -> VariableId {
        let variable = VariableId(self.unit.variables.len() as u32);
        let name = self.unit.variables[like.0 as usize].name.clone();
        self.unit.variables.push(Variable {
            name,
            is_assigned: false,
        });
        variable
    }

    /// Numbers a replaced call, for backtraces; omits procedures that are internal to a library.
    fn integrate(&mut self, call: IntegratedCall, parameters: Vec<(VariableId, Core)>) -> Option<u32> {
        if call.procedure.as_str().starts_with('%') {
            return call.around;
        }
        let number = self.unit.integrated.len() as u32;
        self.unit.integrated.push(call);
        self.copies.parameters.insert(number, parameters);
        Some(number)
    }

    /// Returns the number, in the copy, of a call that was integrated in the template's body, or of
    /// the call that is being replaced.
    fn integrated_in_copy(&mut self, call: Option<u32>, copying: &mut Copying) -> Option<u32> {
        let Some(number) = call else {
            return copying.around;
        };
        if let Some(copied) = copying.integrated.get(&number) {
            return *copied;
        }
        // The recursion is at most as deep as the number of rounds.
        let original = self.original.integrated[number as usize].clone();
        let around = self.integrated_in_copy(original.around, copying);
        let parameters = self.copies.parameters_of(number).iter();
        let parameters = parameters.map(|(parameter, value)| {
            let outer = if let Core::Local(variable) = value {
                copying.values.get(variable).map(|value| &value.node)
            } else {
                None
            };
            (*parameter, outer.unwrap_or(value).clone())
        });
        let parameters = parameters.collect();
        let copied = self.integrate(IntegratedCall { around, ..original }, parameters);
        copying.integrated.insert(number, copied);
        copied
    }

    /// Copies a node of a template, which is small.
    fn copy(&mut self, id: CoreId, copying: &mut Copying) -> CoreId {
        let original = self.original;
        let node = &original.nodes[id.0 as usize];
        let mut literal = matches!(node, Core::Constant(_)).then_some(id);
        let node = if let Core::Local(variable) = node {
            let value = copying.values.get(variable);
            literal = value.and_then(|value| value.literal);
            value.map_or(node, |value| &value.node).clone()
        } else if let Core::Call { procedure, arguments } = node {
            Core::Call {
                procedure: self.copy(*procedure, copying),
                arguments: arguments.iter().map(|part| self.copy(*part, copying)).collect(),
            }
        } else if let Core::If {
            test,
            consequent,
            alternative,
        } = node
        {
            Core::If {
                test: self.copy(*test, copying),
                consequent: self.copy(*consequent, copying),
                alternative: self.copy(*alternative, copying),
            }
        } else if let Core::Sequence(forms) = node {
            Core::Sequence(forms.iter().map(|form| self.copy(*form, copying)).collect())
        } else {
            node.clone()
        };
        let copy = CoreId(self.unit.nodes.len() as u32);
        self.unit.nodes.push(node);
        self.copies.nodes.insert(copy, (copying.replaced, id));
        if let Some(literal) = literal {
            self.copies.literals.insert(copy, literal);
        }
        let own = original.spans[id.0 as usize];
        self.unit
            .spans
            .push(if own == copying.own { copying.call } else { own });
        let origin = self.integrated_in_copy(original.integrated_nodes.get(&id).copied(), copying);
        if let Some(origin) = origin {
            self.unit.integrated_nodes.insert(copy, origin);
        }
        copy
    }
}

/// What stands in the place of a parameter.
struct Substitute {
    node: Core,
    /// The node of the literal that it is, if it is one.
    literal: Option<CoreId>,
}

/// The state of copying a template's body to a call.
struct Copying {
    /// The span of the whole template; nodes with this span get that of the call.
    own: Span,
    /// The call that is replaced, and its place.
    replaced: CoreId,
    call: Span,
    /// The values of the parameters.
    values: BTreeMap<VariableId, Substitute>,
    /// The integrated call of the copied nodes, an index in the unit's list.
    around: Option<u32>,
    /// Maps the calls that were integrated in the template's body to their copies.
    integrated: BTreeMap<u32, Option<u32>>,
}
