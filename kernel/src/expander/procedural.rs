//! Code that runs while a program is expanded: transformer expressions, uses of procedural macros,
//! `begin-for-syntax`.
//!
//! Owns the two phases. A module has one scope and two sets of definitions: those for the program
//! and those for its transformers. Each set is a list of units; units of the second are evaluated
//! at once, together with the libraries that they mention.
//! INVARIANT: no code refers to a variable of the other phase; a library is evaluated for
//! transformers at most once in a session.
//! It does not run anything itself; an implementor of [`Transformers`](super::Transformers) does.
//! Read next: `form/syntax_case.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::unit::UnitExpander;
use super::{Expander, HasChanged, Module, Transformer, Transformers};
use crate::core::{Core, CoreId, Unit};
use crate::datum::{Datum, Name, Node, Span};
use crate::diagnostic::{DiagnosticKind, FormError, Note, NoteKind, TransformerProblem};
use crate::syntax::binding::Binding;
use crate::syntax::procedural::{Constant, Evaluated, Expanding, TransformerFault, TransformerId};
use crate::syntax::rules::{ExpansionStep, Use};
use crate::syntax::{Identifier, Syntax};

/// The suffix of the name of a module's phase for transformers. It cannot clash with a library's
/// name, which ends with a parenthesis.
const FOR_SYNTAX: &str = " for syntax";

/// The code that ran, for messages.
#[derive(Clone, Copy)]
struct Run<'a> {
    /// The macro, or the form that contains the code.
    keyword: &'a Name,
    /// The use, or the code.
    place: Syntax,
    /// The place of the macro's definition.
    definition: Option<Span>,
}

impl Expander {
    /// Returns whether procedural macros are supported.
    pub(crate) fn can_run_transformers(&self) -> bool {
        self.transformers.is_some()
    }

    /// Returns whether the code that ran last has changed something.
    fn take_changed(&mut self) -> bool {
        let transformers = self.transformers.as_mut();
        transformers.is_some_and(|transformers| transformers.take_changed())
    }

    /// Runs an action at expansion time, as part of a step.
    fn run<T>(
        &mut self,
        step: ExpansionStep,
        nodes_max: u32,
        run: impl FnOnce(&mut dyn Transformers, &mut Expanding<'_>) -> Result<T, TransformerFault>,
    ) -> Result<T, TransformerFault> {
        let Self {
            syntax: store,
            constants,
            transformers,
            transformer_calls,
            ..
        } = self;
        let Some(transformers) = transformers else {
            return Err(TransformerFault::Uncompilable(
                "nothing runs procedural macros here".to_owned(),
            ));
        };
        let mut expanding = Expanding {
            store,
            constants,
            step,
            nodes_max,
            calls_left: transformer_calls,
        };
        run(&mut **transformers, &mut expanding)
    }

    /// Returns the libraries that a unit mentions, directly or through others, and that were not
    /// evaluated for transformers yet; each after those it mentions.
    fn missing_libraries(&self, unit: &Arc<Unit>) -> Vec<Arc<Unit>> {
        let mut seen: BTreeSet<&Name> = self.instantiated.iter().collect();
        let mut path = vec![(unit, 0)];
        let mut order = Vec::new();
        while let Some((unit, next)) = path.last_mut() {
            let Some(global) = unit.globals.get(*next) else {
                order.push(Arc::clone(unit));
                path.pop();
                continue;
            };
            *next += 1;
            if let Some((library, unit)) = self.library_units.get_key_value(&global.name.library)
                && seen.insert(library)
            {
                path.push((unit, 0));
            }
        }
        order.pop();
        order
    }
}

impl UnitExpander<'_> {
    /// Expands code for transformers and evaluates it; returns `None` if there is no code.
    pub(crate) fn evaluate_for_syntax(
        &mut self,
        keyword: &Name,
        place: Syntax,
        expand: impl FnOnce(&mut UnitExpander<'_>) -> Option<CoreId>,
    ) -> Result<Option<Evaluated>, FormError> {
        self.require_unsealed(place, "procedural macro")?;
        let module = self.face_for_syntax();
        let (module, expansion) = self.nested(place, |unit| {
            let depth = unit.depth();
            let mut inner = UnitExpander::new(unit.session, unit.libraries, module);
            inner.continue_nesting(depth);
            inner.body = expand(&mut inner);
            Ok(inner.finish())
        })?;
        self.module.renamed = module.renamed;
        self.module.look_alikes = module.look_alikes;
        self.module.changes += 1;
        let expansion = match expansion {
            Ok(expansion) => expansion,
            Err(mut errors) => {
                let last = errors.pop();
                self.absorb(errors, Vec::new());
                return last.map_or(Ok(None), |last| Err(Box::new(last)));
            }
        };
        self.absorb(Vec::new(), expansion.warnings);
        let run = Run {
            keyword,
            place,
            definition: None,
        };
        let mut evaluated = None;
        for unit in &expansion.units {
            evaluated = Some(self.evaluate_unit(unit, run)?);
        }
        Ok(evaluated)
    }

    /// Returns this module as its transformers see it.
    fn face_for_syntax(&self) -> Module {
        let module = self.module.clone();
        if module.proper_name.is_some() {
            return module;
        }
        Module {
            name: Name::from(format!("{}{FOR_SYNTAX}", module.name).as_str()),
            proper_name: Some(module.name),
            ..module
        }
    }

    fn evaluate_unit(&mut self, unit: &Arc<Unit>, run: Run<'_>) -> Result<Evaluated, FormError> {
        if let Err(mut errors) = self.session.finish_mentioned(unit, self.libraries) {
            let last = errors.pop();
            self.absorb(errors, Vec::new());
            return Err(last.map_or_else(|| self.malformed(run.place), Box::new));
        }
        for library in self.session.missing_libraries(unit) {
            self.evaluate(&library, run)
                .map_err(|fault| self.library_fault(&library.name, fault, run))?;
            self.session.instantiated.insert(library.name.clone());
            self.session.take_changed();
        }
        let evaluated = self.evaluate(unit, run);
        self.note_computed();
        evaluated.map_err(|fault| self.fault(fault, run))
    }

    fn evaluate(&mut self, unit: &Unit, run: Run<'_>) -> Result<Evaluated, TransformerFault> {
        let store = &mut self.session.syntax;
        let step = ExpansionStep {
            scope: store.sets.fresh(),
            span: store.span(run.place),
            origin: store.origin(run.place),
        };
        let nodes_max = self.nodes_limit();
        self.session.run(step, nodes_max, |transformers, expanding| {
            transformers.evaluate(unit, expanding)
        })
    }

    /// Notes that code has run for this module.
    fn note_computed(&mut self) {
        let library = self.module.proper_name.as_ref().unwrap_or(&self.module.name);
        let has_changed = self.session.take_changed();
        self.session.has_changed |= has_changed;
        let has_changed = HasChanged(self.session.has_changed);
        let computed = &mut self.session.computed;
        if computed.get(library).is_none_or(|known| *known < has_changed) {
            computed.insert(library.clone(), has_changed);
        }
    }

    /// Rewrites a use of a procedural macro.
    pub(super) fn apply_transformer(&mut self, id: TransformerId, macro_use: Use) -> Result<Syntax, FormError> {
        let step = ExpansionStep::begin(&mut self.session.syntax, macro_use);
        let nodes_max = self.nodes_limit();
        let form = macro_use.form;
        let made = self.session.run(step, nodes_max, |transformers, expanding| {
            transformers.apply(id, form, expanding)
        });
        self.note_computed();
        let made = made.map(|made| self.session.syntax.made_in(step.origin, made));
        made.map_err(|fault| {
            let keyword = self.session.syntax.symbols.name(macro_use.keyword).clone();
            let run = Run {
                keyword: &keyword,
                place: form,
                definition: Some(macro_use.definition),
            };
            self.fault(fault, run)
        })
    }

    /// Returns the error for code that needs a library, when evaluating the library failed.
    fn library_fault(&self, library: &Name, fault: TransformerFault, run: Run<'_>) -> FormError {
        self.fault(
            fault,
            Run {
                keyword: library,
                ..run
            },
        )
    }

    fn fault(&self, fault: TransformerFault, run: Run<'_>) -> FormError {
        let keyword = run.keyword.clone();
        let mut notes = Vec::new();
        let failed = |problem| DiagnosticKind::Transformer {
            keyword: keyword.clone(),
            problem,
        };
        let (place, kind) = match fault {
            TransformerFault::Raised { message, form, span } => {
                notes.extend(span.map(|span| (NoteKind::RaisedHere, span)));
                match form {
                    Some(form) => (form, DiagnosticKind::Raised { message }),
                    None => (run.place, failed(TransformerProblem::Raised(message))),
                }
            }
            TransformerFault::NoMatch(form) if form == run.place => (
                form,
                DiagnosticKind::NoRuleMatches {
                    keyword: keyword.clone(),
                },
            ),
            TransformerFault::NoMatch(form) => (form, failed(TransformerProblem::NoClauseMatches)),
            TransformerFault::Template(problem) => (run.place, DiagnosticKind::BadRule(problem)),
            TransformerFault::NotSyntax(problem) => (run.place, failed(TransformerProblem::NotSyntax(problem))),
            TransformerFault::Endless(limit) => (run.place, failed(TransformerProblem::Endless(limit))),
            TransformerFault::TooMuchMemory(limit) => (run.place, failed(TransformerProblem::TooLarge(limit))),
            TransformerFault::TooMuchSyntax => {
                let limit = self.nodes_max;
                (run.place, DiagnosticKind::TooLarge { limit })
            }
            TransformerFault::Uncompilable(message) => (run.place, failed(TransformerProblem::Raised(message))),
        };
        let mut failure = self.failure(place, kind);
        let step = run
            .definition
            .map(|definition| (NoteKind::InExpansionOf(run.keyword.clone()), definition));
        let notes = notes.into_iter().chain(step);
        failure
            .notes
            .splice(0..0, notes.map(|(kind, span)| Note { kind, span }));
        failure
    }

    /// Refuses a variable of the other phase.
    pub(crate) fn check_phase(
        &self,
        place: Syntax,
        identifier: Identifier,
        binding: Option<Binding>,
    ) -> Result<(), FormError> {
        let proper_name = self.module.proper_name.as_ref();
        let is_here = match binding {
            Some(Binding::Local { unit, .. }) => unit == self.number,
            Some(Binding::Pattern(number)) => self.session.pattern_variables[number as usize].unit == self.number,
            Some(Binding::Global(global)) => {
                let library = &self.session.globals[global as usize].library;
                match proper_name {
                    Some(proper_name) => library != proper_name,
                    None => !library.as_str().ends_with(FOR_SYNTAX),
                }
            }
            Some(Binding::Form(_) | Binding::Macro(_) | Binding::Primitive(_)) | None => true,
        };
        if is_here {
            return Ok(());
        }
        let kind = DiagnosticKind::OutOfPhase {
            name: self.name_of(identifier),
            is_used_for_syntax: proper_name.is_some(),
        };
        Err(self.failure(place, kind))
    }

    /// Returns whether the other phase of this module defines the identifier.
    pub(super) fn is_defined_in_other_phase(&self, identifier: Identifier) -> bool {
        let store = &self.session.syntax;
        let bound = store
            .bindings
            .bound_in(&store.sets, identifier.symbol, identifier.scopes);
        let Some(Binding::Global(global)) = bound else {
            return false;
        };
        let library = &self.session.globals[global as usize].library;
        match &self.module.proper_name {
            Some(proper_name) => library == proper_name,
            None => library.as_str().strip_suffix(FOR_SYNTAX) == Some(self.module.name.as_str()),
        }
    }

    /// Returns whether a macro may rewrite an identifier that is not the head of a form.
    pub(super) fn is_procedural(&self, index: u32) -> bool {
        let transformer = &self.session.macros[index as usize].transformer;
        matches!(transformer, Transformer::Procedure { .. })
    }

    /// Returns whether a macro rewrites assignments to its keyword.
    pub(crate) fn rewrites_assignments(&self, index: u32) -> bool {
        let transformer = &self.session.macros[index as usize].transformer;
        matches!(
            transformer,
            Transformer::Procedure {
                rewrites_assignments: true,
                ..
            }
        )
    }

    /// Makes code for the name of a pattern, template or rules.
    pub(crate) fn syntax_constant(&mut self, constant: Constant, place: Syntax) -> CoreId {
        let name = self.session.constants.add(&self.module.name, constant);
        self.node(Core::Constant(Datum::of(Node::String(name.into()))), place)
    }
}
