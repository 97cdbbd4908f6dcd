//! Libraries that were compiled ahead and are used without reading their texts.
//!
//! Owns the stored form of such a library: its exports, its imports, and its compiled unit. The
//! text is read only if one of the library's macros is used, and then only the first pass runs over
//! it. So a program pays for the macros it uses, and for no other reading, expanding or compiling.
//! (Rejected: one image of the expander's whole state, because it fixes which libraries are loaded,
//! and in which order.)
//! INVARIANT: a text expands to the same units, byte for byte, whether its libraries were compiled
//! ahead or are read.
//! It does not decide whether a library is still up to date:
//! [`Libraries::ahead`](super::Libraries::ahead) does.
//! Read next: `ahead/bytes.rs`, then `demand.rs`.

mod bytes;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::unit::UnitExpander;
use super::{
    Expander, Expansion, HasChanged, KERNEL_LIBRARY, LIMIT_EXPANSION_NODES, Library, LibraryName, Macro, Requirement,
    SourceText, Transformer,
};
use crate::core::{Core, CoreId, Global, Unit};
use crate::datum::{Name, SourceId, Span};
use crate::diagnostic::{DiagnosticKind, FormError};
use crate::syntax::binding::Binding;
use crate::syntax::scope::{Scope, ScopeSet};
use crate::syntax::symbol::Symbol;
use crate::syntax::{Identifier, Syntax};
use crate::unit::{CompiledUnit, GlobalName};

/// The stored form of a library that was compiled ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The libraries it imports, each once, in order.
    imports: Vec<Name>,
    /// Its exports, by external name.
    exports: Vec<(Name, Export)>,
    /// The paths of the files that it includes, in order.
    includes: Vec<String>,
    /// The BLAKE3 hashes of its text and of those it includes.
    texts: Vec<[u8; 32]>,
    /// The capabilities that it and the libraries that it imports need.
    needs: Vec<Requirement>,
    /// The number of macros, in the order of their definitions, whose numbers other units may know.
    macros: u32,
    is_on_demand: bool,
    /// Whether its expansion has run code, which might make something else where other libraries
    /// have changed what the code reads.
    is_computed: bool,
    unit: Option<UnitBytes>,
}

/// A compiled unit as bytes, and for each span the index of its text among the library's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnitBytes {
    bytes: Vec<u8>,
    places: Vec<u8>,
}

/// The meaning of an exported name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Export {
    /// A form or primitive, by its name in the kernel's own library.
    Kernel(Name),
    Global(GlobalName),
    /// A macro, by its library and its number there.
    Macro(Name, u32),
}

/// A library of a session that was compiled ahead.
#[derive(Debug)]
pub(super) struct Stub {
    /// The numbers of its macros in the session.
    macros: Range<u32>,
    /// Its text and those it includes.
    texts: Vec<SourceText>,
    includes: Vec<String>,
    /// Its place in the order of loading.
    position: u32,
    /// Its unit, until it is delivered.
    unit: Option<UnitBytes>,
    progress: Progress,
    /// Whether a new definition of the library has replaced it.
    is_superseded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Unread,
    /// The first pass runs over its text.
    Reading,
    Read,
}

impl Ahead {
    /// Returns the libraries it imports.
    pub fn imports(&self) -> &[Name] {
        &self.imports
    }

    /// Returns the paths of the files that it includes, in the order of the `include` forms.
    pub fn includes(&self) -> &[String] {
        &self.includes
    }

    /// Returns whether its unit can be decoded.
    pub fn is_sound(&self) -> bool {
        self.unit.as_ref().is_none_or(|unit| {
            let sources = unit.places.iter().map(|place| SourceId(u32::from(*place)));
            let has_texts = unit.places.iter().all(|place| usize::from(*place) < self.texts.len());
            has_texts && CompiledUnit::from_bytes(&unit.bytes, sources).is_some()
        })
    }

    /// Returns the BLAKE3 hashes of its text and of those it includes.
    pub fn texts(&self) -> &[[u8; 32]] {
        &self.texts
    }
}

impl Expander {
    /// Returns whether each session makes the same of a library, whatever it has expanded before:
    /// the expansion of the library has changed nothing that transformers read, nor come after such
    /// a change.
    pub fn is_repeatable(&self, name: &Name) -> bool {
        self.computed.get(name) != Some(&HasChanged(true))
    }

    /// Returns the stored form of a library that this session has loaded, finished and compiled;
    /// `files` are its text and its included texts, by path. Returns nothing for a library that
    /// cannot be stored. The caller asks whether the library [is
    /// repeatable](Self::is_repeatable).
    pub fn keep(&self, name: &Name, files: &[(String, SourceText)], compiled: Option<&CompiledUnit>) -> Option<Ahead> {
        // A library between its passes has no unit yet.
        let library = self.libraries.get(name).filter(|_| !self.waiting.contains_key(name))?;
        let mut ordinals: BTreeMap<u32, (Name, u32)> = BTreeMap::new();
        let mut counts: BTreeMap<Scope, u32> = BTreeMap::new();
        for (number, definition) in (0..).zip(&self.macros) {
            // A macro whose text is unread stands in the module that imported it first.
            if matches!(definition.transformer, Transformer::Ahead(_)) {
                continue;
            }
            let count = counts.entry(definition.module).or_default();
            let home = self
                .libraries
                .iter()
                .find(|(_, library)| library.scope == Some(definition.module));
            if let Some((home, _)) = home {
                ordinals.insert(number, (home.clone(), *count));
            }
            *count += 1;
        }
        let mut exports = Vec::new();
        let mut macros = 0;
        for (symbol, binding) in &library.exports {
            let export = match binding {
                Binding::Form(_) | Binding::Primitive(_) => Export::Kernel(self.kernel_name(*binding)?),
                Binding::Global(global) => Export::Global(self.globals[*global as usize].clone()),
                Binding::Macro(number) => {
                    let known = ordinals.get(number).cloned();
                    let (home, ordinal) = known.or_else(|| self.macro_ahead(*number))?;
                    macros = if home == *name { macros.max(ordinal + 1) } else { macros };
                    Export::Macro(home, ordinal)
                }
                Binding::Local { .. } | Binding::Pattern(_) => return None,
            };
            exports.push((self.syntax.symbols.name(*symbol).clone(), export));
        }
        let unit = match compiled {
            Some(compiled) => Some(self.unit_bytes(compiled, files)?),
            None => None,
        };
        Some(Ahead {
            imports: library.imports.clone(),
            exports,
            includes: files.iter().skip(1).map(|(path, _)| path.clone()).collect(),
            texts: files.iter().map(|(_, text)| hash_of(&text.text)).collect(),
            needs: library.needs.clone(),
            macros,
            is_on_demand: library.is_on_demand,
            is_computed: self.computed.contains_key(name),
            unit,
        })
    }

    /// Returns the library and the number there of a macro that was compiled ahead.
    fn macro_ahead(&self, number: u32) -> Option<(Name, u32)> {
        let mut stubs = self.stubs.iter();
        let (home, stub) = stubs.find(|(_, stub)| stub.macros.contains(&number))?;
        Some((home.clone(), number - stub.macros.start))
    }

    /// Returns whether a library would be compiled to the same now: the imports that are loaded are
    /// those that it was compiled with, and the code that ran for it would find what it found. A
    /// program may define a library of the same name.
    pub(super) fn fits(&self, ahead: &Ahead) -> bool {
        let is_fixed = !ahead.is_computed || !self.has_changed;
        is_fixed
            && ahead.imports.iter().all(|import| {
                let is_ahead = self.stubs.get(import).is_some_and(|stub| !stub.is_superseded);
                is_ahead || import.as_str() == KERNEL_LIBRARY || !self.libraries.contains_key(import)
            })
    }

    /// Returns the name of a form or primitive in the kernel's own library.
    fn kernel_name(&self, binding: Binding) -> Option<Name> {
        let kernel = self.libraries.get(&Name::from(KERNEL_LIBRARY))?;
        let (symbol, _) = kernel.exports.iter().find(|(_, known)| **known == binding)?;
        Some(self.syntax.symbols.name(*symbol).clone())
    }

    fn unit_bytes(&self, compiled: &CompiledUnit, files: &[(String, SourceText)]) -> Option<UnitBytes> {
        let place = |span: &Span| {
            let source = self.source(span.source)?;
            let place = files.iter().position(|(_, file)| file.name == source.name)?;
            u8::try_from(place).ok()
        };
        Some(UnitBytes {
            bytes: compiled.to_bytes(),
            places: compiled.places().map(place).collect::<Option<_>>()?,
        })
    }

    /// Returns the unit of a library that was compiled ahead, the first time that it is needed.
    pub(super) fn take_unit_ahead(&mut self, name: &Name) -> Option<Arc<Unit>> {
        let stub = self.stubs.get_mut(name)?;
        let UnitBytes { bytes, places } = stub.unit.take()?;
        let position = stub.position;
        let first = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        self.sources.extend(stub.texts.iter().cloned());
        let sources = places.iter().map(|place| SourceId(first + u32::from(*place)));
        let compiled = CompiledUnit::from_bytes(&bytes, sources);
        assert!(compiled.is_some(), "what was compiled ahead of {name} is a unit");
        let unit = Arc::new(ahead_unit(compiled?));
        let units = vec![Arc::clone(&unit)];
        self.add_library_units(
            position,
            Expansion {
                units,
                warnings: Vec::new(),
            },
        );
        Some(unit)
    }

    /// Returns the numbers reserved for the macros of a library whose text is being read.
    pub(super) fn reserved_macros(&self, name: &Name) -> Option<Range<u32>> {
        let stub = self.stubs.get(name)?;
        (stub.progress == Progress::Reading).then(|| stub.macros.clone())
    }

    /// Returns the text that a library includes while it is read for its macros: one of the texts
    /// that were checked when the library was installed.
    pub(super) fn included_ahead(&self, library: &Name, path: &str) -> Option<SourceText> {
        let stub = self.stubs.get(library)?;
        let place = stub.includes.iter().position(|known| known == path)?;
        (stub.progress == Progress::Reading).then(|| stub.texts[1 + place].clone())
    }

    /// Drops the unit of a library that was compiled ahead, because a new definition of the library
    /// replaces it.
    pub(super) fn supersede_ahead(&mut self, name: &Name) {
        if let Some(stub) = self.stubs.get_mut(name) {
            stub.unit = None;
            stub.is_superseded = true;
        }
    }
}

impl UnitExpander<'_> {
    /// Adds a library that was compiled ahead to the session; returns `false` if it must be read
    /// because one of its texts is not available.
    pub(super) fn install(&mut self, library: &LibraryName, ahead: Ahead, place: Syntax) -> Result<bool, FormError> {
        let name = library.to_name();
        let Some(texts) = self.texts_of(library, &ahead) else {
            return Ok(false);
        };
        self.session.loading.push(name.clone());
        let loaded = self.nested(place, |unit| {
            ahead.imports.iter().try_for_each(|import| {
                if unit.session.libraries.contains_key(import) {
                    return Ok(());
                }
                unit.load(&LibraryName::parse(import), place)
            })
        });
        self.session.loading.pop();
        loaded?;
        let session = &mut *self.session;
        let position = session.loaded;
        session.loaded += 1;
        let macros = session.reserve_macros(&name, ahead.macros, self.module.scope, place);
        let stub = Stub {
            macros,
            texts,
            includes: ahead.includes,
            position,
            unit: ahead.unit,
            progress: Progress::Unread,
            is_superseded: false,
        };
        session.stubs.insert(name.clone(), stub);
        let mut exports = BTreeMap::new();
        for (external, export) in &ahead.exports {
            if let Some(binding) = session.exported(export) {
                exports.insert(session.syntax.symbols.intern(external), binding);
            }
        }
        session.libraries.insert(
            name.clone(),
            Library {
                exports,
                imports: ahead.imports,
                is_limited: ahead.needs.iter().any(|need| need.module == name),
                needs: ahead.needs,
                is_on_demand: ahead.is_on_demand,
                scope: None,
            },
        );
        if !ahead.is_on_demand {
            session.take_unit_ahead(&name);
        }
        Ok(true)
    }

    /// Requests the texts of a library in the order in which reading would.
    fn texts_of(&mut self, library: &LibraryName, ahead: &Ahead) -> Option<Vec<SourceText>> {
        let own = self.libraries.library(library).ok()??;
        let includer = own.name.clone();
        let mut texts = vec![own];
        for path in &ahead.includes {
            texts.push(self.libraries.include(&includer, path).ok()?);
        }
        Some(texts)
    }

    /// Runs the first pass over the text of a library that was compiled ahead, to define its
    /// macros.
    pub(super) fn read_for_macros(&mut self, name: &Name) -> Result<(), FormError> {
        let Some(stub) = self.session.stubs.get_mut(name) else {
            return Ok(());
        };
        stub.progress = Progress::Reading;
        let source = stub.texts[0].clone();
        let (forms, errors) = self.session.read(source, ScopeSet::EMPTY, false, LIMIT_EXPANSION_NODES);
        self.absorb(errors, Vec::new());
        self.libraries_of_file(&forms, name)?;
        if let Some(stub) = self.session.stubs.get_mut(name) {
            stub.progress = Progress::Read;
        }
        Ok(())
    }

    /// Reads the text of a macro's library, if it was not read yet.
    pub(crate) fn read_macro(&mut self, index: u32) -> Result<(), FormError> {
        match self.unread_home(index) {
            Some(library) => self.read_for_macros(&library),
            None => Ok(()),
        }
    }

    /// Returns the library whose text must be read before a macro can be used.
    fn unread_home(&self, index: u32) -> Option<Name> {
        match &self.session.macros[index as usize].transformer {
            Transformer::Ahead(library) => Some(library.clone()),
            Transformer::Rules(_) | Transformer::Procedure { .. } => None,
        }
    }

    /// Returns the error that the text of a library lacks a macro that it had when it was compiled.
    pub(super) fn lost_macro(&self, place: Syntax, keyword: Symbol) -> FormError {
        let keyword = self.session.syntax.symbols.name(keyword).clone();
        self.failure(place, DiagnosticKind::NoRuleMatches { keyword })
    }
}

impl Expander {
    /// Reserves numbers for the macros of a library; their definitions are known once the text is
    /// read.
    fn reserve_macros(&mut self, library: &Name, count: u32, module: Scope, place: Syntax) -> Range<u32> {
        let first = u32::try_from(self.macros.len()).unwrap_or(u32::MAX);
        let definition = self.syntax.span(place);
        self.macros.extend((0..count).map(|_| Macro {
            transformer: Transformer::Ahead(library.clone()),
            module,
            definition,
        }));
        first..first + count
    }

    fn exported(&mut self, export: &Export) -> Option<Binding> {
        match export {
            Export::Kernel(name) => {
                let symbol = self.syntax.symbols.intern(name);
                let scopes = self.kernel;
                self.syntax.resolve(Identifier { symbol, scopes }).ok().flatten()
            }
            Export::Global(name) => Some(Binding::Global(self.global(&name.library, &name.name))),
            Export::Macro(library, ordinal) => {
                let macros = &self.stubs.get(library)?.macros;
                Some(Binding::Macro(macros.start + ordinal))
            }
        }
    }
}

fn hash_of(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// Returns a unit that wraps its compiled form and lists the globals that it mentions.
fn ahead_unit(compiled: CompiledUnit) -> Unit {
    let globals = compiled.globals.iter().map(|name| Global {
        name: name.clone(),
        is_defined_here: name.library == compiled.name,
        is_assigned: false,
    });
    Unit {
        name: compiled.name.clone(),
        nodes: vec![Core::Unspecified],
        spans: vec![Span {
            source: SourceId(0),
            start: 0,
            end: 0,
        }],
        integrated: Vec::new(),
        integrated_nodes: BTreeMap::new(),
        variables: Vec::new(),
        lambdas: Vec::new(),
        globals: globals.collect(),
        body: CoreId(0),
        is_interactive: false,
        is_counted: false,
        compiled: Some(Arc::new(compiled)),
    }
}
