//! The forms at the top level of a unit, to compare two texts form by form.
//!
//! INVARIANT: the digest of a form depends on what it says after expansion, never on where it
//! stands, how it is indented or which other forms there are.
//! It does not compare. Read next: `code/versions.rs`.

use std::collections::BTreeMap;

use super::{Core, CoreId, LambdaId, Unit, VariableId};
use crate::datum::{Name, Node, Span};

/// The kind of a form at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// The definition of a procedure.
    Procedure(Name),
    /// The definition of a type of records.
    RecordType(Name),
    /// Another definition.
    Data(Name),
    /// How records of a type become those of a changed definition.
    Migration(Box<Migration>),
    /// An expression, for what it does.
    Expression,
}

/// How records that a run has made become records of a changed definition of their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The name of the type in the text.
    pub record_type: Name,
    /// The fields of an old record whose values the procedure takes.
    pub fields: Vec<Name>,
    /// The procedure, which returns the new record.
    pub procedure: CoreId,
}

/// A form at the top level.
#[derive(Clone, Debug)]
pub struct TopForm {
    /// Its kind.
    pub kind: FormKind,
    /// The hash of what it says.
    pub digest: [u8; 32],
    /// Where it stands.
    pub span: Span,
    /// The form.
    pub node: CoreId,
}

impl TopForm {
    /// Returns the name that the form defines.
    pub fn name(&self) -> Option<&Name> {
        match &self.kind {
            FormKind::Procedure(name) | FormKind::RecordType(name) | FormKind::Data(name) => Some(name),
            FormKind::Migration(_) | FormKind::Expression => None,
        }
    }
}

impl Unit {
    /// Lists the forms at the top level, in order; none of a unit that was compiled ahead.
    pub fn top_forms(&self) -> Vec<TopForm> {
        let (mut forms, mut pending) = (Vec::new(), vec![self.body]);
        while let Some(node) = pending.pop() {
            match &self.nodes[node.0 as usize] {
                Core::Sequence(parts) => pending.extend(parts.iter().rev()),
                Core::Unspecified => {}
                Core::Constant(_)
                | Core::CountCall
                | Core::Local(_)
                | Core::SetLocal(..)
                | Core::Global(_)
                | Core::SetGlobal(..)
                | Core::DefineGlobal(..)
                | Core::Primitive(_)
                | Core::If { .. }
                | Core::Lambda(_)
                | Core::Let { .. }
                | Core::Letrec { .. }
                | Core::Call { .. } => forms.push(self.top_form(node)),
            }
        }
        forms
    }

    fn top_form(&self, node: CoreId) -> TopForm {
        let kind = if let Core::DefineGlobal(global, value) = &self.nodes[node.0 as usize] {
            let name = self.globals[global.0 as usize].name.name.clone();
            let value = &self.nodes[value.0 as usize];
            if matches!(value, Core::Lambda(_)) {
                FormKind::Procedure(name)
            } else if self.field_names(value).is_some() {
                FormKind::RecordType(name)
            } else {
                FormKind::Data(name)
            }
        } else {
            let migration = self
                .migration(node)
                .map(|migration| FormKind::Migration(Box::new(migration)));
            migration.unwrap_or(FormKind::Expression)
        };
        TopForm {
            kind,
            digest: self.digest(node),
            span: self.spans[node.0 as usize],
            node,
        }
    }

    /// Returns the names of the fields of a record type that the unit defines, in order.
    pub fn record_fields(&self, record_type: &Name) -> Option<Vec<Name>> {
        let forms = self.top_forms();
        let form = forms.iter().find(
            |form| matches!(&form.kind, FormKind::RecordType(name) if written_type(name) == record_type.as_str()),
        )?;
        let Core::DefineGlobal(_, value) = &self.nodes[form.node.0 as usize] else {
            return None;
        };
        self.field_names(&self.nodes[value.0 as usize])
    }

    /// The names of the fields of the record type that a form makes.
    fn field_names(&self, form: &Core) -> Option<Vec<Name>> {
        match self.primitive_call(form, "%make-record-type")? {
            [_, fields] => self.constant_names(*fields),
            _ => None,
        }
    }

    fn migration(&self, form: CoreId) -> Option<Migration> {
        let operands = self.primitive_call(&self.nodes[form.0 as usize], "%migrate-records")?;
        let [record_type, fields, procedure] = operands else {
            return None;
        };
        let Core::Constant(name) = &self.nodes[record_type.0 as usize] else {
            return None;
        };
        let Node::Symbol(name) = &name.nodes[name.root.0 as usize] else {
            return None;
        };
        Some(Migration {
            record_type: name.clone(),
            fields: self.constant_names(*fields)?,
            procedure: *procedure,
        })
    }

    /// The operands of a form that calls this primitive.
    fn primitive_call<'a>(&self, form: &'a Core, primitive: &str) -> Option<&'a [CoreId]> {
        let Core::Call { procedure, arguments } = form else {
            return None;
        };
        let operator = &self.nodes[procedure.0 as usize];
        matches!(operator, Core::Primitive(name) if name.as_str() == primitive).then_some(&arguments[..])
    }

    /// A constant list of symbols.
    fn constant_names(&self, form: CoreId) -> Option<Vec<Name>> {
        let Core::Constant(datum) = &self.nodes[form.0 as usize] else {
            return None;
        };
        let (mut rest, mut names) = (datum.root, Vec::new());
        while let Node::Pair(first, next) = &datum.nodes[rest.0 as usize] {
            let Node::Symbol(name) = &datum.nodes[first.0 as usize] else {
                return None;
            };
            names.push(name.clone());
            rest = *next;
        }
        matches!(datum.nodes[rest.0 as usize], Node::Nil).then_some(names)
    }

    /// Returns the unit with some of its top-level forms and no others.
    #[must_use]
    pub fn with_forms(&self, forms: &[CoreId]) -> Unit {
        let mut unit = self.clone();
        let defined = |node: &CoreId| {
            let Core::DefineGlobal(global, _) = &self.nodes[node.0 as usize] else {
                return None;
            };
            Some(*global)
        };
        let defined: Vec<_> = forms.iter().filter_map(defined).collect();
        for (number, global) in (0..).zip(&mut unit.globals) {
            global.is_defined_here &= defined.contains(&super::GlobalId(number));
        }
        unit.body = CoreId(unit.nodes.len() as u32);
        unit.spans.push(self.spans[self.body.0 as usize]);
        unit.nodes.push(if forms.is_empty() {
            Core::Unspecified
        } else {
            Core::Sequence(forms.to_vec())
        });
        unit
    }

    /// Hashes a form; variables count by the order in which they come.
    fn digest(&self, form: CoreId) -> [u8; 32] {
        let mut digest = Digest::default();
        let mut pending = vec![form];
        while let Some(node) = pending.pop() {
            self.feed(node, &mut digest);
            let first = pending.len();
            self.push_parts(node, &mut pending);
            pending[first..].reverse();
        }
        *digest.hasher.finalize().as_bytes()
    }

    /// Hashes a node without its parts.
    fn feed(&self, node: CoreId, digest: &mut Digest) {
        match &self.nodes[node.0 as usize] {
            Core::Constant(datum) => digest.text("constant", &datum.to_string()),
            Core::Unspecified => digest.count("unspecified", 0),
            Core::CountCall => digest.count("count-call", 0),
            Core::Local(variable) => digest.variable("local", *variable),
            Core::SetLocal(variable, _) => digest.variable("set-local", *variable),
            Core::Global(global) => digest.text("global", &self.global_text(*global)),
            Core::SetGlobal(global, _) => digest.text("set-global", &self.global_text(*global)),
            Core::DefineGlobal(global, _) => digest.text("define", &self.global_text(*global)),
            Core::Primitive(name) => digest.text("primitive", name.as_str()),
            Core::If { .. } => digest.count("if", 3),
            Core::Lambda(clauses) => {
                digest.count("lambda", clauses.len());
                clauses.iter().for_each(|clause| self.feed_clause(*clause, digest));
            }
            Core::Sequence(forms) => digest.count("sequence", forms.len()),
            Core::Let { bindings, .. } => {
                digest.count("let", bindings.len());
                bindings.iter().for_each(|(id, _)| digest.variable("bind", *id));
            }
            Core::Letrec { bindings, .. } => {
                digest.count("letrec", bindings.len());
                bindings.iter().for_each(|(id, _)| digest.variable("bind", *id));
            }
            Core::Call { arguments, .. } => digest.count("call", arguments.len()),
        }
    }

    fn feed_clause(&self, clause: LambdaId, digest: &mut Digest) {
        let lambda = &self.lambdas[clause.0 as usize];
        digest.text("name", lambda.name.as_ref().map_or("", Name::as_str));
        digest.count("parameters", lambda.parameters.len());
        let parameters = lambda.parameters.iter().chain(&lambda.rest);
        parameters.for_each(|id| digest.variable("parameter", *id));
    }

    fn global_text(&self, global: super::GlobalId) -> String {
        let name = &self.globals[global.0 as usize].name;
        format!("{} {}", name.library, name.name)
    }
}

/// The name of a record type in its text, by the name of the variable that has it: where the text
/// uses the name for the constructor, the variable has another.
pub fn written_type(variable: &Name) -> &str {
    variable.as_str().strip_suffix(" type").unwrap_or(variable.as_str())
}

/// A hash in progress.
#[derive(Default)]
struct Digest {
    hasher: blake3::Hasher,
    variables: BTreeMap<VariableId, usize>,
}

impl Digest {
    fn text(&mut self, tag: &str, text: &str) {
        for part in [tag, text] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part.as_bytes());
        }
    }

    fn count(&mut self, tag: &str, count: usize) {
        self.text(tag, &count.to_string());
    }

    fn variable(&mut self, tag: &str, variable: VariableId) {
        let next = self.variables.len();
        let number = *self.variables.entry(variable).or_insert(next);
        self.count(tag, number);
    }
}
