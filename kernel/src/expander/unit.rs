//! The expansion of one unit: expressions.
//!
//! Owns the dispatch on the meaning of a form's head, macro rewriting, references, calls, and the
//! collection of errors.
//! INVARIANT: nesting is bounded by [`LIMIT_NESTING`]; an error in one form is recorded, and
//! expansion continues with its neighbours.
//! It does not know the core forms themselves.
//! Read next: `body.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::body::Context;
use super::builder::Builder;
use super::demand::Waiting;
use super::{Expander, Expansion, LIMIT_EXPANSION_NODES, LIMIT_NESTING, Libraries, Module, Transformer};
use crate::core::{Core, CoreId, GlobalId, Unit};
use crate::datum::Name;
use crate::diagnostic::{Diagnostic, DiagnosticKind, FormError, similar_names};
use crate::form::{FORMS, Row};
use crate::syntax::binding::{Ambiguity, Binding};
use crate::syntax::rules::Use;
use crate::syntax::scope::Scope;
use crate::syntax::{Identifier, Shape, Syntax};

/// The number of errors after which expansion stops.
const LIMIT_ERRORS: usize = 100;

/// The number of unbound names of one unit for which similar names are looked up.
const SUGGESTIONS_MAX: usize = 100;

/// The number of `include` forms in one unit after which a file is assumed to include itself.
const LIMIT_INCLUSIONS: u32 = 1000;

/// The stack that another level of nesting needs, and the amount added if it is not there; in
/// bytes.
const STACK_RESERVE_BYTES: usize = 1 << 20;
const STACK_GROWTH_BYTES: usize = 8 << 20;

/// The state of expanding one unit.
pub(crate) struct UnitExpander<'a> {
    pub(crate) session: &'a mut Expander,
    pub(crate) libraries: &'a mut dyn Libraries,
    pub(crate) module: Module,
    pub(super) builder: Builder,
    /// The number of this unit in the session.
    pub(super) number: u32,
    /// The scopes of the unit's bindings and macro uses, in ascending order. They are removed from
    /// syntax that its code quotes, because another phase cannot see these bindings, and templates
    /// in different places of one transformer would not match.
    pub(crate) local_scopes: Vec<Scope>,
    /// The top-level forms, once expanded.
    pub(super) body: Option<CoreId>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Unbound names: errors if there are other errors, else warnings.
    unbound: Vec<Diagnostic>,
    /// The names that are in `unbound`.
    unbound_names: BTreeSet<Name>,
    /// Whether unbound names are always errors, because nobody would see a warning.
    is_strict: bool,
    depth: u32,
    /// The number of syntax nodes at the start.
    first_node: u32,
    /// The maximum number of syntax nodes that its macros make.
    pub(super) nodes_max: u32,
    /// The number that they have made, with those of earlier texts that stay.
    pub(super) nodes_made: u32,
    /// Whether it has defined macros, whose templates refer to syntax.
    pub(super) has_macros: bool,
    /// The number of `include` forms followed.
    inclusions: u32,
    /// Globals of this unit whose names had another meaning before, by their numbers in the
    /// session.
    pub(super) shadowed: BTreeMap<u32, Shadowed>,
    /// The item of the top level that is being expanded.
    pub(super) item: usize,
    /// Set by an error that makes further errors likely to be repetitions.
    is_abandoned: bool,
    /// The name of the definition or binding whose value the next expression is.
    name_hint: Option<Name>,
    /// Whether the next expression is an argument of a call.
    is_argument: bool,
}

/// A variable or primitive whose name a definition of the unit takes over.
pub(super) struct Shadowed {
    /// The previous meaning of the name.
    pub(super) import: Binding,
    /// The first item of the top level that uses the name.
    pub(super) first_use: Option<usize>,
}

/// The kind of a form, by the meaning of its head.
pub(crate) enum Head {
    Form(&'static Row),
    Macro(u32, Identifier),
    /// A call, or not a list.
    Expression,
}

impl<'a> UnitExpander<'a> {
    pub(super) fn new(session: &'a mut Expander, libraries: &'a mut dyn Libraries, module: Module) -> Self {
        let first_node = session.syntax.length();
        session.units_begun += 1;
        let number = session.units_begun;
        Self {
            number,
            local_scopes: Vec::new(),
            session,
            libraries,
            module,
            builder: Builder::default(),
            body: None,
            errors: Vec::new(),
            warnings: Vec::new(),
            unbound: Vec::new(),
            unbound_names: BTreeSet::new(),
            is_strict: false,
            depth: 0,
            first_node,
            nodes_max: LIMIT_EXPANSION_NODES,
            nodes_made: 0,
            has_macros: false,
            inclusions: 0,
            shadowed: BTreeMap::new(),
            item: 0,
            is_abandoned: false,
            name_hint: None,
            is_argument: false,
        }
    }

    /// Resumes a library between its passes.
    pub(super) fn resume(session: &'a mut Expander, libraries: &'a mut dyn Libraries, waiting: Waiting) -> Self {
        let Waiting {
            module,
            builder,
            number,
            context,
            place,
            position: _,
        } = waiting;
        let mut unit = Self::new(session, libraries, module);
        unit.session.units_begun -= 1;
        (unit.builder, unit.number) = (builder, number);
        unit.is_strict = true;
        unit.body = unit.second_pass(context, place);
        unit
    }

    /// Runs the first pass over a library's body; the rest is for later.
    pub(super) fn suspend(&mut self, body: &[Syntax], place: Syntax) -> Waiting {
        let context = self.first_pass(body);
        Waiting {
            module: self.module.clone(),
            builder: std::mem::take(&mut self.builder),
            number: self.number,
            context,
            place,
            position: 0,
        }
    }

    /// Refuses a form by which a text could name more than its sandbox imports.
    pub(crate) fn require_unsealed(&self, place: Syntax, form: &'static str) -> Result<(), FormError> {
        if self.module.is_sealed {
            return Err(self.failure(place, DiagnosticKind::NotInSandbox { form }));
        }
        Ok(())
    }

    /// Returns the module and, if there were no errors, the unit.
    pub(super) fn finish(mut self) -> (Module, Result<Expansion, Vec<Diagnostic>>) {
        if !self.errors.is_empty() || self.is_strict && !self.unbound.is_empty() {
            if !self.module.is_interactive {
                self.errors.append(&mut self.unbound);
                self.errors.sort_by_key(|error| (error.span.source.0, error.span.start));
            }
            return (self.module, Err(self.errors));
        }
        self.warnings.append(&mut self.unbound);
        // Later code for transformers may assign any definition for them.
        let is_interactive = self.module.is_interactive || self.module.proper_name.is_some();
        let name = self.module.name.clone();
        let unit = self.body.take().map(|body| Unit {
            is_counted: self.session.is_counted,
            ..self.builder.finish(name, body, is_interactive)
        });
        (
            self.module,
            Ok(Expansion {
                units: unit.into_iter().map(Arc::new).collect(),
                warnings: self.warnings,
            }),
        )
    }

    /// Expands an expression; an error is recorded, and the expression becomes an unspecified
    /// value.
    pub(crate) fn expression(&mut self, syntax: Syntax) -> CoreId {
        let expanded = self.nested(syntax, |unit| unit.dispatch(syntax));
        let expanded = expanded.map(|node| self.widened(node, syntax));
        expanded.unwrap_or_else(|failure| {
            self.report(failure);
            self.node(Core::Unspecified, syntax)
        })
    }

    /// Expands an expression that is the value of a definition or binding of this name.
    pub(crate) fn named_expression(&mut self, syntax: Syntax, name: Name) -> CoreId {
        self.name_hint = Some(name);
        self.expression(syntax)
    }

    /// Expands each expression; the value is that of the last.
    pub(crate) fn sequence(&mut self, forms: &[Syntax], place: Syntax) -> CoreId {
        let expanded = forms.iter().map(|form| self.expression(*form)).collect();
        self.sequence_node(expanded, place)
    }

    /// Runs `expand` one level deeper.
    pub(crate) fn nested<T>(
        &mut self,
        place: Syntax,
        expand: impl FnOnce(&mut Self) -> Result<T, FormError>,
    ) -> Result<T, FormError> {
        if self.depth >= LIMIT_NESTING {
            return Err(self.failure(place, DiagnosticKind::TooDeep { limit: LIMIT_NESTING }));
        }
        // With labels a short text denotes a form that is infinite, or doubles at each level.
        // The text itself may be immense.
        let length = self.session.syntax.length() - self.first_node;
        if self.builder.length() > self.nodes_max || length > LIMIT_EXPANSION_NODES {
            return Err(self.too_large(place));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(STACK_RESERVE_BYTES, STACK_GROWTH_BYTES, || expand(self));
        self.depth -= 1;
        result
    }

    fn dispatch(&mut self, mut syntax: Syntax) -> Result<CoreId, FormError> {
        let name = self.name_hint.take();
        loop {
            if self.is_abandoned {
                return Ok(self.node(Core::Unspecified, syntax));
            }
            match self.head(syntax)? {
                Head::Form(row) => {
                    let Some(expand) = row.expression else {
                        return Err(self.misplaced(syntax, row));
                    };
                    self.name_hint = name;
                    let expanded = expand(self, syntax);
                    self.name_hint = None;
                    return expanded;
                }
                Head::Macro(index, keyword) => syntax = self.rewrite(index, keyword, syntax, None)?,
                Head::Expression => return self.plain(syntax),
            }
        }
    }

    /// Takes the name of the definition or binding whose value the current form is.
    pub(crate) fn take_name(&mut self) -> Option<Name> {
        self.name_hint.take()
    }

    /// Classifies a form by the meaning of its first element.
    pub(crate) fn head(&mut self, syntax: Syntax) -> Result<Head, FormError> {
        if let Some(identifier) = self.session.syntax.identifier(syntax) {
            let binding = self.resolve(syntax, identifier)?;
            if let Some(Binding::Macro(index)) = binding {
                self.read_macro(index)?;
            }
            return Ok(match binding {
                Some(Binding::Macro(index)) if self.is_procedural(index) => Head::Macro(index, identifier),
                Some(_) | None => Head::Expression,
            });
        }
        let Some((first, _)) = self.session.syntax.pair(syntax) else {
            return Ok(Head::Expression);
        };
        let Some(identifier) = self.session.syntax.identifier(first) else {
            return Ok(Head::Expression);
        };
        Ok(match self.resolve(first, identifier)? {
            Some(Binding::Form(row)) => Head::Form(&FORMS[usize::from(row)]),
            Some(Binding::Macro(index)) => Head::Macro(index, identifier),
            Some(Binding::Local { .. } | Binding::Pattern(_) | Binding::Global(_) | Binding::Primitive(_)) | None => {
                Head::Expression
            }
        })
    }

    /// Rewrites a macro use once. A definition context records the scope of the use, because
    /// definitions that the use makes do not have it.
    pub(crate) fn rewrite(
        &mut self,
        index: u32,
        keyword: Identifier,
        form: Syntax,
        context: Option<&mut Context>,
    ) -> Result<Syntax, FormError> {
        let origin = self.session.syntax.origin(form);
        let steps = self
            .session
            .syntax
            .origin_details(origin)
            .map_or(0, |origin| origin.depth);
        if steps >= LIMIT_NESTING {
            return Err(self.failure(form, DiagnosticKind::TooDeep { limit: LIMIT_NESTING }));
        }
        self.read_macro(index)?;
        self.within_extent(form, |unit| unit.rewrite_once(index, keyword, form, context))
    }

    fn rewrite_once(
        &mut self,
        index: u32,
        keyword: Identifier,
        form: Syntax,
        context: Option<&mut Context>,
    ) -> Result<Syntax, FormError> {
        let Expander { syntax, macros, .. } = &mut *self.session;
        let definition = &macros[index as usize];
        let mut form = form;
        // Identifiers of a use and of a template can clash only if both belong to one module.
        if definition.module == self.module.scope {
            let scope = syntax.sets.fresh();
            self.local_scopes.push(scope);
            form = syntax.add_scope(form, scope);
            if let Some(context) = context {
                context.use_scopes = syntax.sets.insert(context.use_scopes, scope);
            }
        }
        let macro_use = Use {
            form,
            keyword: keyword.symbol,
            definition: definition.definition,
        };
        match &definition.transformer {
            Transformer::Rules(rules) => rules.expand(syntax, macro_use),
            Transformer::Ahead(_) => Err(self.lost_macro(macro_use.form, macro_use.keyword)),
            Transformer::Procedure { id, .. } => {
                let id = *id;
                self.apply_transformer(id, macro_use)
            }
        }
    }

    /// Expands syntax that is neither a form nor a macro use.
    fn plain(&mut self, syntax: Syntax) -> Result<CoreId, FormError> {
        match self.session.syntax.shape(syntax) {
            Shape::Nil => Err(self.failure(syntax, DiagnosticKind::EmptyCombination)),
            Shape::Identifier(identifier) => self.reference(syntax, identifier),
            Shape::Pair(..) => self.call(syntax),
            Shape::Vector | Shape::Atom => Ok(self.constant(syntax)),
        }
    }

    fn reference(&mut self, syntax: Syntax, identifier: Identifier) -> Result<CoreId, FormError> {
        let binding = self.resolve(syntax, identifier)?;
        self.check_phase(syntax, identifier, binding)?;
        let core = match binding {
            Some(Binding::Local { variable, .. }) => Core::Local(variable),
            Some(Binding::Global(global)) => {
                if let Some(shadowed) = self.shadowed.get_mut(&global) {
                    shadowed.first_use.get_or_insert(self.item);
                }
                Core::Global(self.global_id(global))
            }
            Some(Binding::Pattern(_)) => {
                let name = self.name_of(identifier);
                return Err(self.failure(syntax, DiagnosticKind::PatternVariableAsExpression { name }));
            }
            Some(Binding::Primitive(index)) => Core::Primitive(self.session.primitives[index as usize].name.clone()),
            Some(Binding::Form(_) | Binding::Macro(_)) => {
                let name = self.name_of(identifier);
                return Err(self.failure(syntax, DiagnosticKind::KeywordAsExpression { name }));
            }
            None => match self.numbered(syntax, identifier) {
                Some(call) => call,
                None => Core::Global(self.unbound(syntax, identifier)),
            },
        };
        let reference = self.node(core, syntax);
        Ok(self.limited(reference, binding, syntax))
    }

    /// Finds the visible names that an unbound one may stand for. Beyond
    /// [`SUGGESTIONS_MAX`] unbound names it finds none, because each search compares all names.
    fn similar_to(&self, name: &Name, identifier: Identifier) -> Vec<Name> {
        if self.unbound.len() >= SUGGESTIONS_MAX {
            return Vec::new();
        }
        let store = &self.session.syntax;
        let visible = store.bindings.visible(&store.sets, identifier.scopes);
        let visible = visible.into_iter().map(|symbol| store.symbols.name(symbol));
        similar_names(name.as_str(), visible)
    }

    /// Makes an unbound name a global that only a later text can define.
    pub(crate) fn unbound(&mut self, place: Syntax, identifier: Identifier) -> GlobalId {
        let name = self.name_of(identifier);
        // Report each name once.
        if self.unbound_names.insert(name.clone()) {
            let kind = DiagnosticKind::Unbound {
                similar: self.similar_to(&name, identifier),
                name: name.clone(),
                is_argument: self.is_argument,
            };
            let failure = self.failure(place, kind);
            self.unbound.push(*failure);
        }
        let library = self
            .module
            .open_library
            .clone()
            .unwrap_or_else(|| self.module.name.clone());
        let global = self.session.global(&library, &name);
        if library == self.module.name {
            self.note_look_alike(&name);
        }
        self.global_id(global)
    }

    fn call(&mut self, syntax: Syntax) -> Result<CoreId, FormError> {
        let Some(parts) = self.session.syntax.list(syntax) else {
            return Err(self.failure(syntax, DiagnosticKind::ImproperCombination));
        };
        let procedure = self.expression(parts[0]);
        let arguments: Vec<_> = parts[1..].iter().map(|part| self.argument(*part)).collect();
        if let Core::Primitive(name) = self.builder.get(procedure).clone() {
            self.check_count(syntax, name, arguments.len());
        }
        Ok(self.node(Core::Call { procedure, arguments }, syntax))
    }

    fn argument(&mut self, syntax: Syntax) -> CoreId {
        self.is_argument = self.session.syntax.identifier(syntax).is_some();
        let expanded = self.expression(syntax);
        self.is_argument = false;
        expanded
    }

    /// Warns of a primitive that is called with too few or too many arguments; the call itself
    /// would raise a condition.
    fn check_count(&mut self, place: Syntax, name: Name, given: usize) {
        let Some(index) = self.session.primitive_index.get(&name) else {
            return;
        };
        let signature = &self.session.primitives[*index as usize];
        let (minimum, maximum) = (signature.minimum, signature.maximum);
        if given < minimum || maximum.is_some_and(|maximum| given > maximum) {
            let kind = DiagnosticKind::WrongArgumentCount {
                name,
                given,
                minimum,
                maximum,
            };
            let warning = self.failure(place, kind);
            self.warnings.push(*warning);
        }
    }

    fn misplaced(&self, syntax: Syntax, row: &Row) -> FormError {
        let name = Name::from(row.name);
        let kind = match row.definition {
            Some(_) => DiagnosticKind::DefinitionAsExpression { name },
            None => DiagnosticKind::KeywordAsExpression { name },
        };
        self.failure(syntax, kind)
    }

    /// Returns the meaning of an identifier.
    pub(crate) fn resolve(&self, place: Syntax, identifier: Identifier) -> Result<Option<Binding>, FormError> {
        self.session.syntax.resolve(identifier).map_err(|Ambiguity| {
            let name = self.name_of(identifier);
            self.failure(place, DiagnosticKind::Ambiguous { name })
        })
    }

    /// Returns whether a syntax object is an identifier that means this core form.
    pub(crate) fn is_keyword(&self, syntax: Syntax, name: &str) -> bool {
        let Some(identifier) = self.session.syntax.identifier(syntax) else {
            return false;
        };
        match self.session.syntax.resolve(identifier) {
            Ok(Some(Binding::Form(row))) => FORMS[usize::from(row)].name == name,
            _ => false,
        }
    }

    /// Returns the elements of a core form, including its keyword.
    pub(crate) fn parts(&mut self, form: Syntax) -> Result<Vec<Syntax>, FormError> {
        self.session.syntax.list(form).ok_or_else(|| self.malformed(form))
    }

    /// Returns the elements of a list that a core form contains.
    pub(crate) fn list_in(&mut self, form: Syntax, list: Syntax) -> Result<Vec<Syntax>, FormError> {
        self.session
            .syntax
            .list(list)
            .ok_or_else(|| self.malformed_at(form, list))
    }

    /// Returns the identifier that a core form requires at a place.
    pub(crate) fn identifier_in(&mut self, form: Syntax, place: Syntax) -> Result<Identifier, FormError> {
        self.session
            .syntax
            .identifier(place)
            .ok_or_else(|| self.malformed_at(form, place))
    }

    /// Returns the error that a core form does not match its grammar.
    pub(crate) fn malformed(&mut self, form: Syntax) -> FormError {
        self.malformed_at(form, form)
    }

    /// Returns the error that a core form does not match its grammar, at a part of it.
    pub(crate) fn malformed_at(&mut self, form: Syntax, part: Syntax) -> FormError {
        let grammar = match self.head(form) {
            Ok(Head::Form(row)) => row.grammar,
            // A library's declarations are not bound in it.
            _ => {
                let keyword = self.session.syntax.pair(form).map(|(head, _)| self.text_of(head));
                let row = keyword.and_then(|keyword| FORMS.iter().find(|row| row.name == keyword));
                row.map_or("a declaration of a library", |row| row.grammar)
            }
        };
        self.failure(part, DiagnosticKind::Malformed { grammar })
    }

    pub(crate) fn failure(&self, place: Syntax, kind: DiagnosticKind) -> FormError {
        self.session.syntax.failure(place, kind)
    }

    /// Records an error.
    #[expect(
        clippy::boxed_local,
        reason = "a failure is boxed where it arises and unboxed only here"
    )]
    pub(crate) fn report(&mut self, failure: FormError) {
        let is_fatal = matches!(
            failure.kind,
            DiagnosticKind::TooDeep { .. } | DiagnosticKind::TooLarge { .. } | DiagnosticKind::Stopped
        );
        if !self.is_abandoned {
            self.errors.push(*failure);
        }
        self.is_abandoned |= is_fatal || self.errors.len() >= LIMIT_ERRORS;
    }

    /// Records the diagnostics of another unit.
    pub(super) fn absorb(&mut self, errors: Vec<Diagnostic>, warnings: Vec<Diagnostic>) {
        self.errors.extend(errors);
        self.warnings.extend(warnings);
    }

    /// Counts an `include` form.
    pub(super) fn count_inclusion(&mut self, place: Syntax) -> Result<(), FormError> {
        self.inclusions += 1;
        if self.inclusions <= LIMIT_INCLUSIONS {
            return Ok(());
        }
        Err(self.failure(
            place,
            DiagnosticKind::TooDeep {
                limit: LIMIT_INCLUSIONS,
            },
        ))
    }

    /// Stops expanding, because further errors would only repeat one.
    pub(super) fn abandon(&mut self) {
        self.is_abandoned = true;
    }

    /// Returns the number of nesting levels around the current form.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// Counts the nesting levels around this unit as its own.
    pub(super) fn continue_nesting(&mut self, depth: u32) {
        self.depth = depth;
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    pub(crate) fn name_of(&self, identifier: Identifier) -> Name {
        self.session.syntax.symbols.name(identifier.symbol).clone()
    }
}
