//! Imports: library names, import sets, and the libraries that they name.
//!
//! Owns the meaning of `only`, `except`, `prefix` and `rename`, and the loading of a library at its
//! first import.
//! INVARIANT: a library that imports itself, directly or through others, is an error and never a
//! loop.
//! It does not find sources.
//! Read next: `library.rs`.

use std::collections::BTreeMap;

use super::unit::UnitExpander;
use super::{KERNEL_LIBRARY, LIMIT_EXPANSION_NODES, LibraryName, Requirement};
use crate::datum::{Name, Node};
use crate::diagnostic::{Conflict, DiagnosticKind, FormError, Note, NoteKind, similar_names};
use crate::number::Number;
use crate::syntax::binding::Binding;
use crate::syntax::scope::ScopeSet;
use crate::syntax::symbol::Symbol;
use crate::syntax::{Identifier, Syntax};

/// The maximum length of a chain of libraries that load each other.
const LIMIT_CHAIN: u32 = 200;

/// The names that an import set provides.
struct ImportSet {
    /// Its name in messages.
    library: Name,
    names: BTreeMap<Symbol, Binding>,
}

/// An import set whose names are bound.
#[derive(Clone, Debug)]
pub(super) struct Importing {
    /// Its library.
    library: Name,
    /// The form and the set in it; `None` for a default library.
    source: Option<(Syntax, Syntax)>,
}

/// A name that an import set bound to another meaning than before.
struct Replaced {
    symbol: Symbol,
    earlier: Binding,
    binding: Binding,
}

impl UnitExpander<'_> {
    /// Binds the names of the import sets of `form` at the top level of this module.
    pub(crate) fn import(&mut self, form: Syntax, sets: &[Syntax]) {
        for set in sets {
            match self.import_set(form, *set) {
                Ok(Some(names)) => {
                    let importing = Importing {
                        library: names.library,
                        source: Some((form, *set)),
                    };
                    self.bind_imports(importing, names.names);
                }
                Ok(None) => {}
                Err(failure) => {
                    self.report(failure);
                    // Stop, because each name of the failed import would be another error.
                    self.abandon();
                }
            }
        }
    }

    /// Binds the exports of the default libraries.
    pub(super) fn import_defaults(&mut self) {
        for library in self.session.default_imports.clone() {
            let names = self.require(&library);
            let importing = Importing {
                library: library.to_name(),
                source: None,
            };
            self.bind_imports(importing, names);
        }
    }

    /// Returns the exports of a library that no text imported.
    pub(super) fn require(&mut self, library: &LibraryName) -> BTreeMap<Symbol, Binding> {
        let place = self.session.syntax.make_nothing();
        match self.exports(library, place) {
            Ok(names) => names.unwrap_or_default(),
            Err(failure) => {
                self.report(failure);
                self.abandon();
                BTreeMap::new()
            }
        }
    }

    fn bind_imports(&mut self, importing: Importing, names: BTreeMap<Symbol, Binding>) {
        let scopes = self.module.scopes;
        self.module.changes += 1;
        let mut replaced = Vec::new();
        for (symbol, binding) in names {
            let earlier = self.session.syntax.bind(Identifier { symbol, scopes }, binding);
            replaced.extend(earlier.filter(|earlier| *earlier != binding).map(|earlier| Replaced {
                symbol,
                earlier,
                binding,
            }));
        }
        // Nobody wrote the default imports: of two meanings of a name, the later library's counts.
        let is_written = importing.source.is_some() || self.module.is_interactive;
        if is_written && !replaced.is_empty() {
            self.report_replaced(&importing, &replaced);
        }
        self.module.import_sets.push(importing);
    }

    /// Reports names that an import set gives another meaning: as errors, or as warnings at the top
    /// level of interactions.
    ///
    /// Source: R7RS 5.2 (an error), 5.7 (an interaction's import replaces).
    fn report_replaced(&mut self, importing: &Importing, replaced: &[Replaced]) {
        let place = match importing.source {
            Some((_, set)) => set,
            None => self.session.syntax.make_nothing(),
        };
        for (earlier, names) in self.earlier_imports(importing, replaced) {
            let conflict = Conflict {
                names,
                earlier: earlier.as_ref().map(|earlier| earlier.library.clone()),
                later: importing.library.clone(),
            };
            if self.module.is_interactive {
                let warning = self.failure(place, DiagnosticKind::ImportReplaces(conflict));
                self.absorb(Vec::new(), vec![*warning]);
                continue;
            }
            let mut failure = self.failure(place, DiagnosticKind::ConflictingImports(conflict));
            failure.notes.extend(earlier.and_then(|earlier| {
                Some(Note {
                    span: self.session.syntax.span(earlier.source?.1),
                    kind: NoteKind::ImportedHere(earlier.library),
                })
            }));
            self.report(failure);
        }
    }

    /// Groups replaced names by the import set that bound them before; those without one are
    /// definitions.
    fn earlier_imports(&mut self, importing: &Importing, replaced: &[Replaced]) -> Vec<(Option<Importing>, Vec<Name>)> {
        let earlier_sets = self.module.import_sets.clone();
        let mut rest: Vec<&Replaced> = replaced.iter().collect();
        let mut groups = Vec::new();
        for earlier in earlier_sets.into_iter().rev() {
            let Some(names) = self.names_again(&earlier) else {
                continue;
            };
            let (found, others) = rest
                .into_iter()
                .partition(|replaced| names.get(&replaced.symbol) == Some(&replaced.earlier));
            rest = others;
            let is_same_library = earlier.library == importing.library;
            groups.push((Some(earlier), self.conflicting(found, is_same_library)));
        }
        // A library that an interaction defines again has other macros.
        let is_redefined = self
            .module
            .import_sets
            .iter()
            .any(|earlier| earlier.library == importing.library);
        groups.push((None, self.conflicting(rest, is_redefined)));
        groups.retain(|(_, names)| !names.is_empty());
        groups
    }

    /// Returns the names of replaced bindings, without the macros of a library that was defined
    /// again.
    fn conflicting(&self, replaced: Vec<&Replaced>, is_same_library: bool) -> Vec<Name> {
        let is_redefinition = |replaced: &&&Replaced| {
            is_same_library
                && matches!(
                    (replaced.earlier, replaced.binding),
                    (Binding::Macro(_), Binding::Macro(_))
                )
        };
        let mut names: Vec<_> = replaced
            .iter()
            .filter(|replaced| !is_redefinition(replaced))
            .map(|replaced| self.session.syntax.symbols.name(replaced.symbol).clone())
            .collect();
        names.sort();
        names
    }

    /// Returns the names that an import set provided.
    fn names_again(&mut self, importing: &Importing) -> Option<BTreeMap<Symbol, Binding>> {
        match importing.source {
            Some((form, set)) => self.import_set(form, set).ok().flatten().map(|set| set.names),
            None => {
                let library = self.session.libraries.get(&importing.library);
                library.map(|library| library.exports.clone())
            }
        }
    }

    /// Returns the names of an import set; `None` if its library has errors of its own, which are
    /// recorded.
    fn import_set(&mut self, form: Syntax, set: Syntax) -> Result<Option<ImportSet>, FormError> {
        self.nested(set, |unit| {
            let parts = unit.list_in(form, set)?;
            let is_narrowed = parts
                .get(1)
                .is_some_and(|inner| unit.session.syntax.pair(*inner).is_some());
            let narrowing = parts.first().map(|first| unit.text_of(*first)).filter(|_| is_narrowed);
            match narrowing.as_deref() {
                Some("only") => unit.narrow(form, &parts, Self::only),
                Some("except") => unit.narrow(form, &parts, Self::except),
                Some("prefix") => unit.narrow(form, &parts, Self::prefix),
                Some("rename") => unit.narrow(form, &parts, Self::rename),
                // R6RS: phases of an import. Here every import also serves transformers.
                Some("for") => unit.import_set(form, parts[1]),
                _ => {
                    let name = unit.library_name(form, set)?;
                    let names = unit.exports(&name, set)?;
                    Ok(names.map(|names| ImportSet {
                        library: name.to_name(),
                        names,
                    }))
                }
            }
        })
    }

    fn narrow(
        &mut self,
        form: Syntax,
        parts: &[Syntax],
        apply: fn(&mut Self, Syntax, ImportSet, &[Syntax]) -> Result<ImportSet, FormError>,
    ) -> Result<Option<ImportSet>, FormError> {
        match self.import_set(form, parts[1])? {
            Some(set) => apply(self, form, set, &parts[2..]).map(Some),
            None => Ok(None),
        }
    }

    fn only(&mut self, form: Syntax, set: ImportSet, names: &[Syntax]) -> Result<ImportSet, FormError> {
        let mut kept = BTreeMap::new();
        for name in names {
            let (symbol, binding) = self.named_in(form, &set, *name)?;
            kept.insert(symbol, binding);
        }
        Ok(ImportSet { names: kept, ..set })
    }

    fn except(&mut self, form: Syntax, mut set: ImportSet, names: &[Syntax]) -> Result<ImportSet, FormError> {
        for name in names {
            let (symbol, _) = self.named_in(form, &set, *name)?;
            set.names.remove(&symbol);
        }
        Ok(set)
    }

    fn prefix(&mut self, form: Syntax, set: ImportSet, arguments: &[Syntax]) -> Result<ImportSet, FormError> {
        let [prefix] = *arguments else {
            return Err(self.malformed(form));
        };
        let prefix = self.identifier_in(form, prefix)?;
        let prefix = self.name_of(prefix);
        let mut names = BTreeMap::new();
        for (symbol, binding) in set.names {
            let symbols = &mut self.session.syntax.symbols;
            let prefixed = Name::from(format!("{prefix}{}", symbols.name(symbol)).as_str());
            names.insert(symbols.intern(&prefixed), binding);
        }
        Ok(ImportSet { names, ..set })
    }

    fn rename(&mut self, form: Syntax, set: ImportSet, pairs: &[Syntax]) -> Result<ImportSet, FormError> {
        let mut renamed = Vec::new();
        for pair in pairs {
            let parts = self.list_in(form, *pair)?;
            let [from, to] = parts[..] else {
                return Err(self.malformed_at(form, *pair));
            };
            let (from, binding) = self.named_in(form, &set, from)?;
            let to = self.identifier_in(form, to)?;
            renamed.push((from, to.symbol, binding));
        }
        let mut names = set.names;
        for (from, _, _) in &renamed {
            names.remove(from);
        }
        names.extend(renamed.into_iter().map(|(_, to, binding)| (to, binding)));
        Ok(ImportSet { names, ..set })
    }

    fn named_in(&mut self, form: Syntax, set: &ImportSet, name: Syntax) -> Result<(Symbol, Binding), FormError> {
        let identifier = self.identifier_in(form, name)?;
        if let Some(binding) = set.names.get(&identifier.symbol) {
            return Ok((identifier.symbol, *binding));
        }
        let text = self.name_of(identifier);
        let symbols = &self.session.syntax.symbols;
        let similar = similar_names(text.as_str(), set.names.keys().map(|symbol| symbols.name(*symbol)));
        let kind = DiagnosticKind::NotExported {
            library: set.library.clone(),
            name: text,
            similar,
        };
        Err(self.failure(name, kind))
    }

    /// Reads a library name.
    pub(crate) fn library_name(&mut self, form: Syntax, place: Syntax) -> Result<LibraryName, FormError> {
        let parts = self.list_in(form, place)?;
        let texts: Option<Vec<Name>> = parts.iter().map(|part| self.library_name_part(*part)).collect();
        match texts {
            Some(parts) if !parts.is_empty() => Ok(LibraryName { parts }),
            _ => Err(self.malformed_at(form, place)),
        }
    }

    fn library_name_part(&self, part: Syntax) -> Option<Name> {
        if let Some(identifier) = self.session.syntax.identifier(part) {
            return Some(self.name_of(identifier));
        }
        match self.session.syntax.atom(part) {
            Some(Node::Number(Number::Fixnum(number))) if *number >= 0 => Some(Name::from(number.to_string().as_str())),
            _ => None,
        }
    }

    /// Returns the text of an identifier; empty for other syntax.
    pub(crate) fn text_of(&self, syntax: Syntax) -> String {
        let identifier = self.session.syntax.identifier(syntax);
        identifier.map_or_else(String::new, |identifier| self.name_of(identifier).to_string())
    }

    /// Returns whether a library exists, loaded or not.
    pub(crate) fn has_library(&mut self, name: &LibraryName) -> bool {
        self.session.libraries.contains_key(&name.to_name()) || matches!(self.libraries.library(name), Ok(Some(_)))
    }

    /// Returns the exports of a library, and loads it if necessary; `None` if it has errors, which
    /// are recorded.
    pub(super) fn exports(
        &mut self,
        library: &LibraryName,
        place: Syntax,
    ) -> Result<Option<BTreeMap<Symbol, Binding>>, FormError> {
        let name = library.to_name();
        if !self.session.libraries.contains_key(&name) {
            self.load(library, place)?;
        }
        if !self.module.imports.contains(&name) {
            self.module.imports.push(name.clone());
        }
        let Some(library) = self.session.libraries.get(&name) else {
            return Ok(None);
        };
        if library.needs.is_empty() {
            return Ok(Some(library.exports.clone()));
        }
        let (needs, exports) = (library.needs.clone(), library.exports.clone());
        let is_granted = self.are_granted(&needs, place);
        Ok(is_granted.then_some(exports))
    }

    /// Says whether the importer has all capabilities that a library needs; reports those that it
    /// lacks.
    fn are_granted(&mut self, needs: &[Requirement], place: Syntax) -> bool {
        let mut are_granted = true;
        for need in needs {
            self.need(need.clone());
            if self.libraries.grants(need.capability.as_str()) {
                continue;
            }
            let kind = DiagnosticKind::NotGranted {
                module: need.module.clone(),
                capability: need.capability.clone(),
            };
            let failure = self.failure(place, kind);
            self.report(failure);
            are_granted = false;
        }
        if !are_granted {
            // The names of the library would be further errors.
            self.abandon();
        }
        are_granted
    }

    /// Notes a capability that this module needs, itself or by what it imports.
    pub(super) fn need(&mut self, requirement: Requirement) {
        if !self.module.needs.contains(&requirement) {
            self.module.needs.push(requirement);
        }
    }

    pub(super) fn load(&mut self, library: &LibraryName, place: Syntax) -> Result<(), FormError> {
        let name = library.to_name();
        if let Some(position) = self.session.loading.iter().position(|loading| *loading == name) {
            let cycle = self.session.loading[position..].to_vec();
            return Err(self.failure(place, DiagnosticKind::ImportCycle { cycle }));
        }
        if self.session.loading.len() >= LIMIT_CHAIN as usize {
            return Err(self.failure(place, DiagnosticKind::TooDeep { limit: LIMIT_CHAIN }));
        }
        if let Some(ahead) = self.libraries.ahead(library)
            && self.session.fits(&ahead)
            && self.install(library, ahead, place)?
        {
            return Ok(());
        }
        let source = match self.libraries.library(library) {
            Ok(Some(source)) => source,
            Ok(None) => return Err(self.unknown_library(name, place)),
            Err(error) => {
                let kind = DiagnosticKind::SourceUnavailable { name, reason: error.0 };
                return Err(self.failure(place, kind));
            }
        };
        let file = Name::from(source.name.as_str());
        let (forms, mut errors) = self.session.read(source, ScopeSet::EMPTY, false, LIMIT_EXPANSION_NODES);
        let is_readable = errors.is_empty();
        let note = Note {
            kind: NoteKind::ImportedHere(name.clone()),
            span: self.session.syntax.span(place),
        };
        for error in &mut errors {
            error.notes.push(note.clone());
        }
        self.absorb(errors, Vec::new());
        if !is_readable {
            self.abandon();
            return Ok(());
        }
        if !self.libraries_of_file(&forms, &name)? {
            return Err(self.failure(place, DiagnosticKind::LibraryNotInFile { library: name, file }));
        }
        Ok(())
    }

    fn unknown_library(&mut self, name: Name, place: Syntax) -> FormError {
        if self.session.announced.contains(&name) {
            let importer = self.session.loading.last().cloned();
            return self.failure(place, DiagnosticKind::LibraryDefinedLater { name, importer });
        }
        let mut known: Vec<Name> = self.libraries.names().iter().map(LibraryName::to_name).collect();
        known.extend(
            self.session
                .libraries
                .keys()
                .filter(|name| name.as_str() != KERNEL_LIBRARY)
                .cloned(),
        );
        let similar = similar_names(name.as_str(), known.iter());
        let advice = self.libraries.advice(&LibraryName::parse(&name));
        let kind = DiagnosticKind::UnknownLibrary { name, similar, advice };
        self.failure(place, kind)
    }
}
