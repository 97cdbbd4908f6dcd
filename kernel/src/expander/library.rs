//! Programs, interactions and libraries.
//!
//! Owns the top of a text: the initial imports of a program, and the declarations of
//! `define-library` and `define-module`.
//! INVARIANT: a library's body sees only the library's imports, whatever surrounds its definition.
//! It does not expand definitions or expressions.
//! Read next: `form.rs`.

use std::collections::BTreeMap;

use super::body::Context;
use super::demand::Waiting;
use super::limits::LIMITER;
use super::unit::UnitExpander;
use super::{Library, LibraryName, Requirement, SourceText};
use crate::core::Core;
use crate::datum::{Name, Node};
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::syntax::binding::Binding;
use crate::syntax::symbol::Symbol;
use crate::syntax::{Identifier, Syntax};
use crate::unit::GlobalName;

/// Forms that a program may use before its first import.
const PROGRAM_FORMS: [&str; 3] = ["import", "define-library", "define-module"];

/// The procedure that evaluates the forms of a file: its library and name.
const LOAD: (&str, &str) = ("(duet internal eval)", "load");

/// The features that `(features)` returns and `cond-expand` knows.
pub(crate) const FEATURES: [&str; 63] = [
    "r7rs",
    "exact-closed",
    "exact-complex",
    "full-unicode",
    "ratios",
    "duet",
    "duet-0.1",
    "srfi-0",
    "srfi-1",
    "srfi-2",
    "srfi-6",
    "srfi-8",
    "srfi-9",
    "srfi-11",
    "srfi-13",
    "srfi-14",
    "srfi-16",
    "srfi-23",
    "srfi-26",
    "srfi-27",
    "srfi-28",
    "srfi-31",
    "srfi-38",
    "srfi-39",
    "srfi-41",
    "srfi-43",
    "srfi-45",
    "srfi-48",
    "srfi-60",
    "srfi-61",
    "srfi-64",
    "srfi-69",
    "srfi-87",
    "srfi-98",
    "srfi-111",
    "srfi-113",
    "srfi-115",
    "srfi-117",
    "srfi-125",
    "srfi-128",
    "srfi-132",
    "srfi-133",
    "srfi-141",
    "srfi-143",
    "srfi-144",
    "srfi-145",
    "srfi-146",
    "srfi-151",
    "srfi-152",
    "srfi-158",
    "srfi-175",
    "srfi-189",
    "srfi-195",
    "srfi-197",
    "srfi-210",
    "srfi-219",
    "srfi-227",
    "srfi-232",
    "srfi-235",
    "regexp-non-greedy",
    "regexp-look-around",
    "regexp-backrefs",
    "regexp-unicode",
];

/// An item of an `export` declaration.
enum Export {
    /// An internal name under an external one.
    Name(Symbol, Symbol),
    /// All exports of another library.
    All(LibraryName),
}

/// The declarations of a library.
#[derive(Default)]
struct Declarations {
    /// Each with its place in the text.
    exports: Vec<(Export, Syntax)>,
    imports: Vec<(Syntax, Vec<Syntax>)>,
    body: Vec<Syntax>,
    /// Whether the library is finished only on demand.
    is_on_demand: bool,
}

impl UnitExpander<'_> {
    /// Expands the text of a program.
    pub(super) fn program(&mut self, name: &str, text: &str) {
        let Some(forms) = self.read_top_level(name, text) else {
            return;
        };
        let is_explicit = forms.iter().any(|form| self.head_text(*form) == "import");
        if !is_explicit {
            self.import_defaults();
        }
        self.bind_program_forms();
        self.main_body(&forms);
    }

    /// Expands the text of an interaction.
    pub(super) fn interaction(&mut self, name: &str, text: &str) {
        self.bind_program_forms();
        if let Some(forms) = self.read_top_level(name, text) {
            self.main_body(&forms);
        }
    }

    /// Expands the text of expressions and keeps the value of the last.
    pub(super) fn expressions(&mut self, name: &str, text: &str) {
        if let Some(forms) = self.read_top_level(name, text) {
            let place = match forms.first() {
                Some(first) => *first,
                None => self.session.syntax.make_nothing(),
            };
            self.body = Some(self.sequence(&forms, place));
        }
    }

    pub(super) fn import_sets(&mut self, name: &str, text: &str) {
        if let Some(sets) = self.read_top_level(name, text) {
            let form = self.session.syntax.make_nothing();
            self.import(form, &sets);
        }
    }

    /// Expands forms whose value is needed, even if there are none.
    fn main_body(&mut self, forms: &[Syntax]) {
        let body = self.announcing(forms, |unit| unit.top_level(forms));
        self.body = Some(body.unwrap_or_else(|| {
            let place = self.session.syntax.make_nothing();
            self.node(Core::Unspecified, place)
        }));
    }

    fn read_top_level(&mut self, name: &str, text: &str) -> Option<Vec<Syntax>> {
        let source = SourceText {
            name: name.to_owned(),
            text: text.into(),
        };
        let (forms, errors) = self.session.read(source, self.module.scopes, false, self.nodes_max);
        let is_readable = errors.is_empty();
        self.absorb(errors, Vec::new());
        // A form that could not be read may define names that the others use.
        is_readable.then_some(forms)
    }

    fn bind_program_forms(&mut self) {
        for name in PROGRAM_FORMS {
            let identifier = self.session.kernel_identifier(name);
            if let Ok(Some(binding)) = self.session.syntax.resolve(identifier) {
                let scopes = self.module.scopes;
                self.session.syntax.bind(Identifier { scopes, ..identifier }, binding);
            }
        }
    }

    /// Expands the forms of a text with the knowledge which libraries these define further down.
    fn announcing<T>(&mut self, forms: &[Syntax], expand: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.session.announced.clone();
        for form in forms {
            if !matches!(self.head_text(*form).as_str(), "define-library" | "define-module") {
                continue;
            }
            let name = self.session.syntax.list(*form).and_then(|parts| parts.get(1).copied());
            let name = name.and_then(|name| self.library_name(*form, name).ok());
            self.session.announced.extend(name.map(|name| name.to_name()));
        }
        let expanded = expand(self);
        self.session.announced = outer;
        expanded
    }

    /// Expands every library that a file defines; returns whether `wanted` is one of them.
    pub(super) fn libraries_of_file(&mut self, forms: &[Syntax], wanted: &Name) -> Result<bool, FormError> {
        self.announcing(forms, |unit| unit.announced_libraries(forms, wanted))
    }

    fn announced_libraries(&mut self, forms: &[Syntax], wanted: &Name) -> Result<bool, FormError> {
        let mut is_found = false;
        for (index, form) in forms.iter().enumerate() {
            let head = self.head_text(*form);
            if head != "define-library" && head != "define-module" {
                continue;
            }
            let rest = if head == "define-module" && !self.has_body(*form) {
                &forms[index + 1..]
            } else {
                &[]
            };
            let name = if self.session.is_brought(wanted) {
                self.bring_library(*form, rest)?
            } else {
                self.define_library(*form, rest)?
            };
            is_found |= name == *wanted;
            if !rest.is_empty() {
                break;
            }
        }
        Ok(is_found)
    }

    /// Expands `(define-library name declaration …)`, or a `define-module` form whose body is the
    /// rest of its file; returns its name.
    pub(crate) fn define_library(&mut self, form: Syntax, rest: &[Syntax]) -> Result<Name, FormError> {
        let parts = self.parts(form)?;
        let Some(name) = parts.get(1) else {
            return Err(self.malformed(form));
        };
        let name = self.library_name(form, *name)?.to_name();
        self.session.announced.retain(|announced| *announced != name);
        let mut module = self.session.new_module(name.clone(), false);
        let reserved = self.session.reserved_macros(&name);
        let is_ahead = reserved.is_some();
        if let Some(reserved) = reserved {
            module.reserved_macros = reserved;
        } else {
            self.session.supersede_ahead(&name);
        }
        let scopes = module.scopes;
        let mut own = |forms: &[Syntax]| -> Vec<Syntax> {
            forms
                .iter()
                .map(|form| self.session.syntax.rescope(*form, scopes))
                .collect()
        };
        let (declarations, rest) = (own(&parts[2..]), own(rest));
        self.session.loading.push(name.clone());
        let library = self.nested(form, |unit| {
            let depth = unit.depth();
            let mut inner = UnitExpander::new(unit.session, unit.libraries, module);
            inner.continue_nesting(depth);
            let (exports, waiting) = inner.library(form, &declarations, rest);
            let (module, expansion) = inner.finish();
            if is_ahead {
                // The session knew everything but its macros before.
                return Ok(None);
            }
            let position = unit.session.loaded;
            unit.session.loaded += 1;
            match expansion {
                Ok(expansion) => {
                    let warnings = unit.session.add_library_units(position, expansion);
                    unit.absorb(Vec::new(), warnings);
                    let is_on_demand = waiting.is_some();
                    if let Some(waiting) = waiting {
                        let name = waiting.module.name.clone();
                        unit.session.waiting.insert(name, Waiting { position, ..waiting });
                    }
                    Ok(exports.map(|exports| Library {
                        exports,
                        imports: module.imports,
                        needs: module.needs,
                        is_limited: module.limits.is_some(),
                        is_on_demand,
                        scope: Some(module.scope),
                    }))
                }
                Err(errors) => {
                    unit.absorb(errors, Vec::new());
                    unit.abandon();
                    Ok(None)
                }
            }
        });
        self.session.loading.pop();
        if let Some(library) = library? {
            self.session.libraries.insert(name.clone(), library);
        }
        Ok(name)
    }

    /// Returns whether a module form contains its body, instead of heading it.
    pub(crate) fn has_body(&mut self, form: Syntax) -> bool {
        let parts = self.session.syntax.list(form).unwrap_or_default();
        parts
            .iter()
            .skip(2)
            .any(|part| !matches!(self.head_text(*part).as_str(), "provide" | "require" | "capabilities"))
    }

    /// Expands a library; returns its exports and its remaining work.
    fn library(
        &mut self,
        form: Syntax,
        forms: &[Syntax],
        rest: Vec<Syntax>,
    ) -> (Option<BTreeMap<Symbol, Binding>>, Option<Waiting>) {
        let mut declarations = Declarations::default();
        for declaration in forms {
            if let Err(failure) = self.declaration(form, *declaration, &mut declarations) {
                self.report(failure);
            }
        }
        declarations.body.extend(rest);
        for (import, sets) in &declarations.imports {
            self.import(*import, sets);
        }
        let mut waiting = None;
        if let Some(place) = declarations.body.first().copied().filter(|_| !self.is_abandoned()) {
            let is_ahead = self.session.reserved_macros(&self.module.name).is_some();
            if declarations.is_on_demand || is_ahead {
                waiting = Some(self.suspend(&declarations.body, place));
            } else {
                self.body = self.top_level(&declarations.body);
            }
        }
        let exports = self.resolve_exports(declarations.exports);
        (exports.map_err(|failure| self.report(failure)).ok(), waiting)
    }

    fn declaration(&mut self, library: Syntax, form: Syntax, declarations: &mut Declarations) -> Result<(), FormError> {
        let parts = self.list_in(library, form)?;
        let arguments = parts.get(1..).unwrap_or_default();
        let is_module = self.head_text(library) == "define-module";
        match self.head_text(form).as_str() {
            "export" | "provide" => {
                for spec in arguments {
                    let export = self.export(library, *spec)?;
                    declarations.exports.push((export, *spec));
                }
            }
            "import" | "require" => declarations.imports.push((form, arguments.to_vec())),
            "begin" => declarations.body.extend(arguments),
            "include" => declarations.body.extend(self.include(form, arguments, false)?),
            "include-ci" => declarations.body.extend(self.include(form, arguments, true)?),
            "include-library-declarations" => {
                let included = self.include(form, arguments, false)?;
                self.declarations(library, &included, declarations)?;
            }
            "cond-expand" => {
                let chosen = self.choose_clause(form, arguments)?;
                self.declarations(library, &chosen, declarations)?;
            }
            "on-demand" if arguments.is_empty() => declarations.is_on_demand = true,
            "capabilities" if is_module => self.require_capabilities(library, arguments)?,
            _ if is_module => declarations.body.push(form),
            _ => return Err(self.malformed_at(library, form)),
        }
        Ok(())
    }

    /// Notes the capabilities that a module requires; every import of it asks for them. One is a
    /// name, or a list that the host understands, such as a right with patterns.
    fn require_capabilities(&mut self, library: Syntax, capabilities: &[Syntax]) -> Result<(), FormError> {
        self.exports(&LibraryName::parse(&Name::from(LIMITER.0)), library)?;
        for capability in capabilities {
            let written = match self.session.syntax.identifier(*capability) {
                Some(identifier) => self.name_of(identifier),
                None if self.session.syntax.pair(*capability).is_some() => {
                    let datum = self.session.syntax.datum(*capability);
                    Name::from(datum.to_string().as_str())
                }
                None => return Err(self.malformed_at(library, *capability)),
            };
            let requirement = Requirement {
                module: self.module.name.clone(),
                capability: written,
            };
            self.limit(requirement.capability.as_str());
            self.need(requirement);
        }
        if capabilities.is_empty() {
            self.limit("");
        }
        Ok(())
    }

    fn declarations(
        &mut self,
        library: Syntax,
        forms: &[Syntax],
        declarations: &mut Declarations,
    ) -> Result<(), FormError> {
        self.nested(library, |unit| {
            forms
                .iter()
                .try_for_each(|form| unit.declaration(library, *form, declarations))
        })
    }

    fn export(&mut self, library: Syntax, spec: Syntax) -> Result<Export, FormError> {
        if let Some(identifier) = self.session.syntax.identifier(spec) {
            return Ok(Export::Name(identifier.symbol, identifier.symbol));
        }
        let parts = self.list_in(library, spec)?;
        match parts[..] {
            [head, internal, external] if self.text_of(head) == "rename" => {
                let internal = self.identifier_in(library, internal)?;
                let external = self.identifier_in(library, external)?;
                Ok(Export::Name(internal.symbol, external.symbol))
            }
            [head, name] if self.text_of(head) == "all-from" => Ok(Export::All(self.library_name(library, name)?)),
            _ => Err(self.malformed_at(library, spec)),
        }
    }

    fn resolve_exports(&mut self, specs: Vec<(Export, Syntax)>) -> Result<BTreeMap<Symbol, Binding>, FormError> {
        let scopes = self.module.scopes;
        let mut exports = BTreeMap::new();
        for (export, place) in specs {
            let named = match export {
                Export::All(library) => self.exports(&library, place)?.unwrap_or_default(),
                Export::Name(symbol, external) => match self.resolve(place, Identifier { symbol, scopes })? {
                    Some(binding) => BTreeMap::from([(external, binding)]),
                    None => {
                        let name = self.session.syntax.symbols.name(symbol).clone();
                        let failure = self.failure(place, DiagnosticKind::ExportsUndefined { name });
                        self.report(failure);
                        continue;
                    }
                },
            };
            for (external, binding) in named {
                if exports
                    .insert(external, binding)
                    .is_some_and(|earlier| earlier != binding)
                {
                    let name = self.session.syntax.symbols.name(external).clone();
                    return Err(self.failure(place, DiagnosticKind::DuplicateExport { name }));
                }
            }
        }
        Ok(exports)
    }

    /// Returns the forms of included files, with the scopes of the including form.
    pub(crate) fn include(
        &mut self,
        form: Syntax,
        paths: &[Syntax],
        folds_case: bool,
    ) -> Result<Vec<Syntax>, FormError> {
        self.count_inclusion(form)?;
        let span = self.session.syntax.span(form);
        let includer = self
            .session
            .source(span.source)
            .map_or_else(String::new, |source| source.name.clone());
        let mut included = Vec::new();
        for path in paths {
            let Some(Node::String(path_text)) = self.session.syntax.atom(*path).cloned() else {
                return Err(self.malformed_at(form, *path));
            };
            let source = match self.session.included_ahead(&self.module.name, &path_text) {
                Some(source) => source,
                None => self.libraries.include(&includer, &path_text).map_err(|error| {
                    let name = Name::from(&*path_text);
                    self.failure(*path, DiagnosticKind::SourceUnavailable { name, reason: error.0 })
                })?,
            };
            let scopes = self.session.syntax.scopes(form);
            let (forms, errors) = self.session.read(source, scopes, folds_case, self.nodes_max);
            if !errors.is_empty() {
                self.absorb(errors, Vec::new());
                self.abandon();
            }
            included.extend(forms);
        }
        Ok(included)
    }

    /// Returns the forms of a file that a program loads at its top level by a literal path, so that
    /// they become part of the program, including their macros. Returns nothing if there is no such
    /// file yet, because the program may write it first.
    pub(super) fn loaded(&mut self, context: &Context, form: Syntax) -> Option<Vec<Syntax>> {
        if !context.is_top_level() || self.module.is_interactive || self.module.open_library.is_none() {
            return None;
        }
        let [procedure, path] = self.session.syntax.list(form)?[..] else {
            return None;
        };
        let identifier = self.session.syntax.identifier(procedure)?;
        let Ok(Some(Binding::Global(global))) = self.session.syntax.resolve(identifier) else {
            return None;
        };
        let GlobalName { library, name } = &self.session.globals[global as usize];
        if (library.as_str(), name.as_str()) != LOAD {
            return None;
        }
        self.include(form, &[path], false).ok()
    }

    /// Returns the forms of the first clause of a `cond-expand` whose requirement is met.
    pub(crate) fn choose_clause(&mut self, form: Syntax, clauses: &[Syntax]) -> Result<Vec<Syntax>, FormError> {
        for clause in clauses {
            let parts = self.list_in(form, *clause)?;
            let Some((requirement, forms)) = parts.split_first() else {
                return Err(self.malformed_at(form, *clause));
            };
            if self.holds(form, *requirement)? {
                return Ok(forms.to_vec());
            }
        }
        Err(self.failure(form, DiagnosticKind::NoClauseHolds))
    }

    fn holds(&mut self, form: Syntax, requirement: Syntax) -> Result<bool, FormError> {
        if self.session.syntax.identifier(requirement).is_some() {
            let feature = self.text_of(requirement);
            return Ok(feature == "else" || FEATURES.contains(&feature.as_str()));
        }
        self.nested(requirement, |unit| {
            let parts = unit.list_in(form, requirement)?;
            let Some((operator, operands)) = parts.split_first() else {
                return Err(unit.malformed_at(form, requirement));
            };
            match (unit.text_of(*operator).as_str(), operands) {
                ("and", _) => unit.all_hold(form, operands, true),
                ("or", _) => unit.all_hold(form, operands, false).map(|none_holds| !none_holds),
                ("not", [operand]) => Ok(!unit.holds(form, *operand)?),
                ("library", [name]) => {
                    let name = unit.library_name(form, *name)?;
                    Ok(unit.has_library(&name))
                }
                _ => Err(unit.malformed_at(form, requirement)),
            }
        })
    }

    /// Returns whether every requirement has the given value.
    fn all_hold(&mut self, form: Syntax, requirements: &[Syntax], value: bool) -> Result<bool, FormError> {
        for requirement in requirements {
            if self.holds(form, *requirement)? != value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the text of the identifier at the head of a form; empty if there is none.
    fn head_text(&mut self, form: Syntax) -> String {
        let head = self.session.syntax.pair(form).map(|(head, _)| head);
        head.map_or_else(String::new, |head| self.text_of(head))
    }
}
