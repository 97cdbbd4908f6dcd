//! Listings of the core language.
//!
//! Owns the text form of a unit, for `duet expand` and for tests.
//! INVARIANT: printing keeps its own stack, so the nesting of code has no limit.
//! Nothing reads a listing back.
//! Read next: `core.rs`.
//!
//! Locals are written `name.number`, globals of the unit's own library `@name`, others
//! `@(library)name`, primitives by their bare name.

use std::fmt;

use super::{Core, CoreId, GlobalId, LambdaId, Unit, VariableId};
use crate::datum::{Datum, Node};

impl fmt::Display for Unit {
    /// Writes each top-level form on a line of its own.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Core::Sequence(forms) = &self.nodes[self.body.0 as usize] else {
            return print(self, self.body, formatter);
        };
        for (index, form) in forms.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            print(self, *form, formatter)?;
        }
        Ok(())
    }
}

/// A task that remains to be done; the last one is next.
enum Pending {
    Text(String),
    Node(CoreId),
}

fn print(unit: &Unit, root: CoreId, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut work = vec![Pending::Node(root)];
    while let Some(task) = work.pop() {
        match task {
            Pending::Text(text) => formatter.write_str(&text)?,
            Pending::Node(id) => {
                let mut parts = Vec::new();
                expand(unit, id, &mut parts);
                work.extend(parts.into_iter().rev());
            }
        }
    }
    Ok(())
}

fn expand(unit: &Unit, id: CoreId, parts: &mut Vec<Pending>) {
    match &unit.nodes[id.0 as usize] {
        Core::Constant(datum) => text(parts, constant(datum)),
        Core::Unspecified => text(parts, "#unspecified"),
        Core::CountCall => text(parts, "#count-call"),
        Core::Local(variable) => text(parts, local(unit, *variable)),
        Core::SetLocal(variable, value) => form(parts, format!("set! {}", local(unit, *variable)), &[*value]),
        Core::Global(id) => text(parts, global(unit, *id)),
        Core::SetGlobal(id, value) => form(parts, format!("set! {}", global(unit, *id)), &[*value]),
        Core::DefineGlobal(id, value) => form(parts, format!("define {}", global(unit, *id)), &[*value]),
        Core::Primitive(name) => text(parts, name.as_str()),
        Core::If {
            test,
            consequent,
            alternative,
        } => form(parts, "if", &[*test, *consequent, *alternative]),
        Core::Lambda(clauses) => lambda(unit, clauses, parts),
        Core::Sequence(forms) => form(parts, "begin", forms),
        Core::Let { bindings, body } => binding(unit, "let", bindings, *body, parts),
        Core::Letrec { bindings, body } => binding(unit, "letrec", bindings, *body, parts),
        Core::Call { procedure, arguments } => {
            text(parts, "(");
            parts.push(Pending::Node(*procedure));
            operands(parts, arguments);
        }
    }
}

fn text(parts: &mut Vec<Pending>, text: impl Into<String>) {
    parts.push(Pending::Text(text.into()));
}

fn form(parts: &mut Vec<Pending>, head: impl Into<String>, arguments: &[CoreId]) {
    text(parts, "(");
    text(parts, head);
    operands(parts, arguments);
}

fn operands(parts: &mut Vec<Pending>, operands: &[CoreId]) {
    for operand in operands {
        text(parts, " ");
        parts.push(Pending::Node(*operand));
    }
    text(parts, ")");
}

fn binding(unit: &Unit, keyword: &str, bindings: &[(VariableId, CoreId)], body: CoreId, parts: &mut Vec<Pending>) {
    text(parts, format!("({keyword} ("));
    for (index, (variable, value)) in bindings.iter().enumerate() {
        let blank = if index > 0 { " " } else { "" };
        text(parts, format!("{blank}({} ", local(unit, *variable)));
        parts.push(Pending::Node(*value));
        text(parts, ")");
    }
    text(parts, ")");
    operands(parts, &[body]);
}

fn lambda(unit: &Unit, clauses: &[LambdaId], parts: &mut Vec<Pending>) {
    if let [only] = clauses {
        return clause(unit, *only, "lambda ", parts);
    }
    text(parts, "(case-lambda");
    for id in clauses {
        text(parts, " ");
        clause(unit, *id, "", parts);
    }
    text(parts, ")");
}

fn clause(unit: &Unit, id: LambdaId, keyword: &str, parts: &mut Vec<Pending>) {
    let lambda = &unit.lambdas[id.0 as usize];
    let names: Vec<_> = lambda
        .parameters
        .iter()
        .map(|parameter| local(unit, *parameter))
        .collect();
    let formals = match (lambda.rest, names.is_empty()) {
        (None, _) => format!("({})", names.join(" ")),
        (Some(rest), true) => local(unit, rest),
        (Some(rest), false) => format!("({} . {})", names.join(" "), local(unit, rest)),
    };
    text(parts, format!("({keyword}{formals} "));
    parts.push(Pending::Node(lambda.body));
    text(parts, ")");
}

fn constant(datum: &Datum) -> String {
    let is_self_evaluating = !matches!(datum.node(datum.root), Node::Symbol(_) | Node::Pair(..) | Node::Nil);
    if is_self_evaluating {
        datum.to_string()
    } else {
        format!("'{datum}")
    }
}

fn local(unit: &Unit, variable: VariableId) -> String {
    format!("{}.{}", unit.variables[variable.0 as usize].name, variable.0)
}

fn global(unit: &Unit, id: GlobalId) -> String {
    let name = &unit.globals[id.0 as usize].name;
    if name.library == unit.name {
        format!("@{}", name.name)
    } else {
        format!("@{}{}", name.library, name.name)
    }
}
