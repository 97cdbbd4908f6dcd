//! Definition contexts: bodies and top levels.
//!
//! Owns the two passes over a sequence of definitions and expressions: the first rewrites macro
//! uses until every definition is known, the second expands values and expressions.
//! INVARIANT: no expression is expanded before all names of its context are bound.
//! It does not know which forms define.
//! Read next: `library.rs`.

use std::collections::BTreeMap;

use super::unit::{Head, Shadowed, UnitExpander};
use super::{Macro, Transformer};
use crate::core::{Core, CoreId, Lambda, VariableId};
use crate::datum::Name;
use crate::diagnostic::{DiagnosticKind, FormError, Note, NoteKind};
use crate::syntax::binding::Binding;
use crate::syntax::scope::ScopeSet;
use crate::syntax::{Identifier, Syntax};

/// A sequence of definitions and expressions during its first pass.
#[derive(Debug)]
pub(crate) struct Context {
    is_top_level: bool,
    /// Scopes of the macro uses that produced the current form. They are removed from the names
    /// that the form defines.
    pub(crate) use_scopes: ScopeSet,
    /// The remaining forms, the next one last, with the scopes of the macro uses that produced
    /// them.
    pending: Vec<(Syntax, ScopeSet)>,
    items: Vec<Deferred>,
    /// The identifiers that this body has defined, each with its newest place.
    defined: BTreeMap<Identifier, Syntax>,
    /// Whether a form has an error, so that nobody knows what it would have been.
    has_failed: bool,
}

/// One task for the second pass.
#[derive(Debug)]
enum Deferred {
    Define {
        target: DefinitionTarget,
        value: Value,
        place: Syntax,
    },
    Evaluate(Value, Syntax),
}

/// The variable of a definition.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DefinitionTarget {
    /// A global, by its number in the session.
    Global(u32),
    Local(VariableId),
}

/// The source of an item's code.
#[derive(Debug)]
pub(crate) enum Value {
    /// An expression.
    Expression(Syntax),
    /// A procedure: its formals and body.
    Procedure(Syntax, Vec<Syntax>),
    /// A body of its own.
    Body(Vec<Syntax>),
    /// The values of an expression, received by the procedure that the code evaluates to.
    Received(Syntax, CoreId),
    /// Finished code.
    Ready(CoreId),
}

impl Context {
    fn new(is_top_level: bool, forms: &[Syntax]) -> Self {
        let use_scopes = ScopeSet::EMPTY;
        let pending = forms.iter().rev().map(|form| (*form, use_scopes)).collect();
        Self {
            is_top_level,
            use_scopes,
            pending,
            items: Vec::new(),
            defined: BTreeMap::new(),
            has_failed: false,
        }
    }

    /// Returns whether this is the top level of a program, library or interaction.
    pub(crate) fn is_top_level(&self) -> bool {
        self.is_top_level
    }

    /// Replaces the current form by other forms.
    pub(crate) fn splice(&mut self, forms: &[Syntax]) {
        self.splice_from(forms, self.use_scopes);
    }

    /// Replaces the current form by other forms, and removes these scopes from the names that they
    /// define.
    pub(crate) fn splice_from(&mut self, forms: &[Syntax], use_scopes: ScopeSet) {
        self.pending.extend(forms.iter().rev().map(|form| (*form, use_scopes)));
    }

    /// Takes all remaining forms.
    pub(crate) fn take_rest(&mut self) -> Vec<Syntax> {
        let rest = std::mem::take(&mut self.pending);
        rest.into_iter().rev().map(|(form, _)| form).collect()
    }

    pub(crate) fn define(&mut self, target: DefinitionTarget, value: Value, place: Syntax) {
        self.items.push(Deferred::Define { target, value, place });
    }

    /// Adds an item without a name, to be evaluated in order.
    pub(crate) fn evaluate(&mut self, value: Value, place: Syntax) {
        self.items.push(Deferred::Evaluate(value, place));
    }
}

impl UnitExpander<'_> {
    /// Expands the body of a procedure or binding form; its forms have the scope of the bound
    /// names.
    pub(crate) fn body(&mut self, forms: &[Syntax], place: Syntax) -> CoreId {
        let body = self.nested(place, |unit| {
            let mut context = Context::new(false, forms);
            unit.discover(&mut context);
            unit.finish_body(context, place)
        });
        body.unwrap_or_else(|failure| {
            self.report(failure);
            self.node(Core::Unspecified, place)
        })
    }

    /// Expands the top level of the unit; `None` if nothing is left to evaluate.
    pub(crate) fn top_level(&mut self, forms: &[Syntax]) -> Option<CoreId> {
        let context = self.first_pass(forms);
        self.second_pass(context, *forms.first()?)
    }

    /// Finds the definitions among the forms of a top level.
    pub(super) fn first_pass(&mut self, forms: &[Syntax]) -> Context {
        let mut context = Context::new(true, forms);
        self.discover(&mut context);
        context
    }

    /// Expands the values and expressions of a top level; `None` if there are none.
    pub(super) fn second_pass(&mut self, context: Context, place: Syntax) -> Option<CoreId> {
        let mut code = Vec::with_capacity(context.items.len());
        let mut inherited = Vec::new();
        // The last item so far whose evaluation may call a procedure.
        let mut last_active = None;
        for (position, item) in context.items.into_iter().enumerate() {
            self.item = position;
            let (target, value) = self.item(item);
            let is_inert = matches!(
                self.node_at(value),
                Core::Lambda(_) | Core::Constant(_) | Core::Unspecified | Core::Primitive(_)
            );
            last_active = if is_inert { last_active } else { Some(position) };
            code.push(match target {
                Some((DefinitionTarget::Global(global), place)) => {
                    inherited.extend(self.inherited(global, last_active, place));
                    self.define_global(global, value, place)
                }
                Some((DefinitionTarget::Local(_), _)) | None => value,
            });
        }
        code.splice(..0, inherited);
        (!code.is_empty()).then(|| self.sequence_node(code, place))
    }

    /// Makes code that initialises a global with the import that it shadows.
    ///
    /// A program may use an imported name and define it later; until then, the variable has the
    /// import's value. The code is omitted if no earlier evaluation can have used the name.
    fn inherited(&mut self, global: u32, last_active: Option<usize>, place: Syntax) -> Option<CoreId> {
        let shadowed = self.shadowed.remove(&global)?;
        if last_active? < shadowed.first_use? {
            return None;
        }
        let import = match shadowed.import {
            Binding::Global(other) => Core::Global(self.global_id(other)),
            Binding::Primitive(index) => Core::Primitive(self.session.primitives[index as usize].name.clone()),
            Binding::Local { .. } | Binding::Pattern(_) | Binding::Form(_) | Binding::Macro(_) => return None,
        };
        let import = self.node(import, place);
        Some(self.define_global(global, import, place))
    }

    /// Runs the first pass.
    fn discover(&mut self, context: &mut Context) {
        while let Some((form, use_scopes)) = context.pending.pop() {
            context.use_scopes = use_scopes;
            if self.is_abandoned() {
                return;
            }
            if let Err(failure) = self.discover_form(context, form) {
                context.has_failed = true;
                self.report(failure);
            }
        }
    }

    fn discover_form(&mut self, context: &mut Context, form: Syntax) -> Result<(), FormError> {
        match self.head(form)? {
            Head::Macro(index, keyword) => {
                let rewritten = self.rewrite(index, keyword, form, Some(context))?;
                context.splice(&[rewritten]);
            }
            Head::Form(row) => match row.definition {
                Some(define) => define(self, context, form)?,
                None => context.evaluate(Value::Expression(form), form),
            },
            Head::Expression => match self.loaded(context, form) {
                Some(forms) => context.splice(&forms),
                None => context.evaluate(Value::Expression(form), form),
            },
        }
        Ok(())
    }

    /// Runs the second pass of a body: `letrec*` around the expressions after the last definition.
    fn finish_body(&mut self, context: Context, place: Syntax) -> Result<CoreId, FormError> {
        let is_definition = |item: &Deferred| matches!(item, Deferred::Define { .. });
        let definitions = context.items.iter().rposition(is_definition).map_or(0, |last| last + 1);
        if context.items.len() == definitions && !context.has_failed && !self.is_abandoned() {
            return Err(self.failure(place, DiagnosticKind::EmptyBody));
        }
        let mut bindings = Vec::new();
        let mut code = Vec::new();
        for (index, item) in context.items.into_iter().enumerate() {
            let (target, value) = self.item(item);
            match target {
                Some((DefinitionTarget::Local(variable), _)) => bindings.push((variable, value)),
                Some((DefinitionTarget::Global(_), _)) | None if index < definitions => {
                    bindings.push((self.temporary("_"), value))
                }
                Some((DefinitionTarget::Global(_), _)) | None => code.push(value),
            }
        }
        let body = self.sequence_node(code, place);
        Ok(if bindings.is_empty() {
            body
        } else {
            self.node(Core::Letrec { bindings, body }, place)
        })
    }

    /// Runs the second pass of one item; returns its target, if it is a definition, and its code.
    fn item(&mut self, item: Deferred) -> (Option<(DefinitionTarget, Syntax)>, CoreId) {
        match item {
            Deferred::Evaluate(value, place) => (None, self.value(value, None, place)),
            Deferred::Define { target, value, place } => {
                let name = match target {
                    DefinitionTarget::Global(global) => self.session.globals[global as usize].name.clone(),
                    DefinitionTarget::Local(variable) => self.variable_name(variable),
                };
                (Some((target, place)), self.value(value, Some(name), place))
            }
        }
    }

    fn value(&mut self, value: Value, name: Option<Name>, place: Syntax) -> CoreId {
        match value {
            Value::Expression(form) => match name {
                Some(name) => self.named_expression(form, name),
                None => self.expression(form),
            },
            Value::Ready(code) => code,
            Value::Body(forms) => self.body(&forms, place),
            Value::Received(expression, receiver) => {
                let body = self.expression(expression);
                let span = self.session.syntax.span(place);
                let lambda = Lambda {
                    name: None,
                    parameters: Vec::new(),
                    rest: None,
                    body,
                    span,
                };
                let producer = self.lambda_node(lambda, place);
                self.primitive_call("call-with-values", vec![producer, receiver], place)
            }
            Value::Procedure(formals, body) => {
                let lambda = self.nested(place, |unit| unit.procedure(formals, &body, place, name));
                match lambda {
                    Ok(lambda) => self.node(Core::Lambda(vec![lambda]), place),
                    Err(failure) => {
                        self.report(failure);
                        self.node(Core::Unspecified, place)
                    }
                }
            }
        }
    }

    /// Binds the identifier that a definition names, as a variable.
    pub(crate) fn define_variable(
        &mut self,
        context: &mut Context,
        form: Syntax,
        name: Syntax,
    ) -> Result<DefinitionTarget, FormError> {
        let identifier = self.defined_identifier(context, form, name)?;
        if context.is_top_level {
            self.warn_if_repeated(context, identifier, name);
            if self.is_defined_in_other_phase(identifier) {
                let kind = DiagnosticKind::DuplicateBinding {
                    name: self.name_of(identifier),
                };
                return Err(self.failure(name, kind));
            }
            return Ok(DefinitionTarget::Global(self.bind_global(identifier)));
        }
        self.check_once(context, identifier, name)?;
        Ok(DefinitionTarget::Local(self.bind_local(identifier)))
    }

    /// Binds the identifier that names a record type. A repeated definition at top level gets its
    /// own global, so that the procedures of an earlier one keep their type.
    pub(crate) fn define_type(
        &mut self,
        context: &mut Context,
        form: Syntax,
        name: Syntax,
    ) -> Result<DefinitionTarget, FormError> {
        let identifier = self.defined_identifier(context, form, name)?;
        if context.is_top_level && self.global_here(identifier).is_some() {
            self.warn_if_repeated(context, identifier, name);
            let global_name = self.fresh_global_name(&self.name_of(identifier));
            return Ok(DefinitionTarget::Global(
                self.bind_global_name(identifier, &global_name),
            ));
        }
        self.define_variable(context, form, name)
    }

    /// Binds the identifier that a definition names, as a keyword.
    pub(crate) fn define_keyword(
        &mut self,
        context: &mut Context,
        form: Syntax,
        name: Syntax,
        binding: Binding,
    ) -> Result<(), FormError> {
        let identifier = self.defined_identifier(context, form, name)?;
        if context.is_top_level {
            self.warn_if_repeated(context, identifier, name);
        } else {
            self.check_once(context, identifier, name)?;
        }
        self.session.syntax.bind(identifier, binding);
        self.module.changes += u64::from(context.is_top_level);
        Ok(())
    }

    /// Adds a macro to the session.
    pub(crate) fn add_macro(&mut self, transformer: Transformer, place: Syntax) -> Binding {
        self.has_macros = true;
        let definition = Macro {
            transformer,
            module: self.module.scope,
            definition: self.session.syntax.span(place),
        };
        if let Some(number) = self.module.reserved_macros.next() {
            self.session.macros[number as usize] = definition;
            return Binding::Macro(number);
        }
        self.session.macros.push(definition);
        Binding::Macro(u32::try_from(self.session.macros.len() - 1).unwrap_or(u32::MAX))
    }

    fn check_once(&mut self, context: &mut Context, identifier: Identifier, name: Syntax) -> Result<(), FormError> {
        if context.defined.insert(identifier, name).is_none() {
            return Ok(());
        }
        let kind = DiagnosticKind::DuplicateBinding {
            name: self.name_of(identifier),
        };
        Err(self.failure(name, kind))
    }

    /// Warns of a second definition of a name in one text: nothing of the first is left from there
    /// on, whoever used it before. A later text of an interaction may define a name anew.
    fn warn_if_repeated(&mut self, context: &mut Context, identifier: Identifier, name: Syntax) {
        // The text is expanded a second time, for the use of its macros.
        let is_told = self.module.proper_name.is_some();
        let Some(first) = context.defined.insert(identifier, name).filter(|_| !is_told) else {
            return;
        };
        let kind = DiagnosticKind::DefinedAgain {
            name: self.name_of(identifier),
        };
        let mut warning = self.failure(name, kind);
        warning.notes.push(Note {
            kind: NoteKind::DefinedHere,
            span: self.session.syntax.span(first),
        });
        self.absorb(Vec::new(), vec![*warning]);
    }

    fn defined_identifier(&mut self, context: &Context, form: Syntax, name: Syntax) -> Result<Identifier, FormError> {
        let mut name = name;
        let mut use_scopes = context.use_scopes;
        while let Some((scope, rest)) = self.session.syntax.sets.split(use_scopes) {
            name = self.session.syntax.remove_scope(name, scope);
            use_scopes = rest;
        }
        self.identifier_in(form, name)
    }

    /// Returns the global of a definition at top level. An identifier that a macro introduced gets
    /// a unique name.
    fn bind_global(&mut self, identifier: Identifier) -> u32 {
        if let Some(global) = self.global_here(identifier) {
            return global;
        }
        let plain = self.name_of(identifier);
        let is_plain = identifier.scopes == self.module.scopes && !self.module.renamed.contains(&plain);
        let name = if is_plain {
            plain
        } else {
            self.fresh_global_name(&plain)
        };
        let import = self.session.syntax.resolve(identifier).ok().flatten();
        let global = self.bind_global_name(identifier, &name);
        if let Some(import) = import {
            let first_use = None;
            self.shadowed.insert(global, Shadowed { import, first_use });
        }
        global
    }

    /// Returns the global of this module that the identifier already names.
    fn global_here(&self, identifier: Identifier) -> Option<u32> {
        let store = &self.session.syntax;
        let bound = store
            .bindings
            .bound_in(&store.sets, identifier.symbol, identifier.scopes);
        match bound {
            Some(Binding::Global(global)) if self.session.globals[global as usize].library == self.module.name => {
                Some(global)
            }
            Some(_) | None => None,
        }
    }

    fn bind_global_name(&mut self, identifier: Identifier, name: &Name) -> u32 {
        let module = self.module.name.clone();
        let global = self.session.global(&module, name);
        self.session.syntax.bind(identifier, Binding::Global(global));
        self.module.changes += 1;
        self.note_look_alike(name);
        global
    }

    fn fresh_global_name(&mut self, plain: &Name) -> Name {
        let candidates = (1_u64..).map(|number| Name::from(format!("{plain}~{number}").as_str()));
        let is_free = |name: &Name| !self.module.renamed.contains(name) && !self.module.look_alikes.contains(name);
        let name = candidates.into_iter().find(is_free).unwrap_or_else(|| plain.clone());
        self.module.renamed.insert(name.clone());
        name
    }

    /// Records the name of a global that looks like one assigned to a definition of a macro.
    pub(super) fn note_look_alike(&mut self, name: &Name) {
        if name.as_str().contains('~') {
            self.module.look_alikes.insert(name.clone());
        }
    }
}
