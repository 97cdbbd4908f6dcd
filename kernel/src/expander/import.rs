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
use super::{KERNEL_LIBRARY, LibraryName};
use crate::datum::{Name, Node};
use crate::diagnostic::{DiagnosticKind, FormError, Note, NoteKind, similar_names};
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

impl UnitExpander<'_> {
    /// Binds the names of the import sets of `form` at the top level of this module.
    pub(crate) fn import(&mut self, form: Syntax, sets: &[Syntax]) {
        for set in sets {
            match self.import_set(form, *set) {
                Ok(Some(set)) => self.bind_imports(set.names),
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
            self.bind_imports(names);
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

    fn bind_imports(&mut self, names: BTreeMap<Symbol, Binding>) {
        let scopes = self.module.scopes;
        self.module.changes += 1;
        for (symbol, binding) in names {
            self.session.syntax.bind(Identifier { symbol, scopes }, binding);
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
        Ok(self.session.libraries.get(&name).map(|library| library.exports.clone()))
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
        let (forms, mut errors) = self.session.read(source, ScopeSet::EMPTY, false);
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
        let mut known: Vec<Name> = self.libraries.names().iter().map(LibraryName::to_name).collect();
        known.extend(
            self.session
                .libraries
                .keys()
                .filter(|name| name.as_str() != KERNEL_LIBRARY)
                .cloned(),
        );
        let similar = similar_names(name.as_str(), known.iter());
        self.failure(place, DiagnosticKind::UnknownLibrary { name, similar })
    }
}
