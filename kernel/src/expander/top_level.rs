//! Top levels that persist from one text to the next.
//!
//! Owns the top levels of a running program's `eval` and of interactive sessions: any number of
//! them in one session, which share its libraries. A mutable one takes definitions and imports; an
//! immutable one keeps its initial imports, and its texts are expressions; a sandbox keeps its
//! initial imports and takes definitions.
//! INVARIANT: the unit of a text depends only on the texts that this top level received before, and
//! their order; so the texts suffice to make the top level again.
//! It does not know which libraries were evaluated where: each expansion names all that its unit
//! needs.
//! Read next: `unit.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::unit::UnitExpander;
use super::{Expander, Expansion, LIMIT_TRANSFORMER_CALLS, Libraries, Module};
use crate::core::Unit;
use crate::datum::Name;
use crate::diagnostic::Diagnostic;
use crate::syntax::binding::Binding;
use crate::unit::GlobalName;

/// A top level.
#[derive(Debug)]
pub struct TopLevel(Module);

/// The meaning of a name at a top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is unbound.
    Nothing,
    /// A form or a macro.
    Keyword,
    /// A procedure of the machine.
    Primitive,
    /// A variable.
    Global(GlobalName),
}

impl TopLevel {
    /// Returns a number that grows with every definition and import, even in texts with errors.
    pub fn changes(&self) -> u64 {
        self.0.changes
    }

    /// Lets unbound names such as `$7` stand for calls of a procedure with their number.
    #[must_use]
    pub fn with_numbered_names(self, procedure: GlobalName) -> Self {
        Self(Module {
            numbered: Some(procedure),
            ..self.0
        })
    }
}

/// The numbers of the things in a session that may refer to syntax.
#[derive(PartialEq, Eq)]
struct Holders {
    macros: usize,
    /// Texts that were read.
    sources: usize,
    pattern_variables: usize,
    constants: usize,
}

impl Holders {
    fn with_one_more_source(self) -> Self {
        let sources = self.sources + 1;
        Self { sources, ..self }
    }
}

impl Expander {
    /// Makes a mutable top level in which the default libraries are visible.
    ///
    /// # Errors
    /// Every error found in them.
    pub fn interactive_top_level(
        &mut self,
        name: &str,
        libraries: &mut dyn Libraries,
    ) -> Result<TopLevel, Vec<Diagnostic>> {
        let module = self.new_module(Name::from(name), true);
        let mut unit = UnitExpander::new(self, libraries, module);
        unit.import_defaults();
        let (module, expansion) = unit.finish();
        expansion.map(|_| TopLevel(module))
    }

    /// Makes a mutable top level called `name` that sees the same names as the first program,
    /// including its definitions.
    ///
    /// Later definitions there belong to the program's scope in this session; a new expansion of
    /// the program does not have them.
    pub fn program_top_level(&self, name: &str) -> Option<TopLevel> {
        let module = self.program.clone()?;
        Some(TopLevel(Module {
            name: Name::from(name),
            is_interactive: true,
            ..module
        }))
    }

    /// Makes an immutable top level with the import sets in `imports`.
    ///
    /// # Errors
    /// Every error found.
    pub fn immutable_top_level(
        &mut self,
        imports: &str,
        libraries: &mut dyn Libraries,
    ) -> Result<TopLevel, Vec<Diagnostic>> {
        let name = format!("(environment {imports})");
        let module = self.new_module(Name::from(name.as_str()), false);
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let mut unit = UnitExpander::new(self, libraries, module);
        unit.import_sets(&name, imports);
        let (module, expansion) = unit.finish();
        expansion.map(|_| TopLevel(module))
    }

    /// Makes a sandbox called `name`: a top level with the import sets in `imports` that takes
    /// definitions. Its texts cannot name anything else: they can neither import, define libraries,
    /// include files nor write procedural macros. (Such a macro can name the internal definitions
    /// of the libraries whose macros it uses.)
    ///
    /// # Errors
    /// Every error found.
    pub fn sandbox(
        &mut self,
        name: &str,
        imports: &str,
        libraries: &mut dyn Libraries,
    ) -> Result<TopLevel, Vec<Diagnostic>> {
        let module = self.new_module(Name::from(name), true);
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let mut unit = UnitExpander::new(self, libraries, module);
        unit.import_sets(name, imports);
        let (module, expansion) = unit.finish();
        expansion.map(|_| {
            TopLevel(Module {
                is_sealed: true,
                ..module
            })
        })
    }

    /// Expands a text at a top level, whose macros make at most `nodes_max` syntax nodes; those
    /// that stay, because texts define macros, count for all texts together. The units are those
    /// of all libraries that must be evaluated first, and last the text's own.
    ///
    /// # Errors
    /// Every error found. Definitions and imports before an error stay in force, and
    /// [`TopLevel::changes`] counts them.
    pub fn expand_at(
        &mut self,
        top: TopLevel,
        name: &str,
        text: &str,
        nodes_max: u32,
        libraries: &mut dyn Libraries,
    ) -> (TopLevel, Result<Expansion, Vec<Diagnostic>>) {
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let (mark, before) = (self.syntax.mark(), self.holders());
        let is_interactive = top.0.is_interactive;
        let mut unit = UnitExpander::new(self, libraries, top.0);
        (unit.nodes_max, unit.nodes_made) = (nodes_max, unit.module.nodes_kept);
        if is_interactive {
            unit.interaction(name, text);
        } else {
            unit.expressions(name, text);
        }
        let has_macros = unit.has_macros;
        if has_macros {
            unit.module.nodes_kept = unit.nodes_made;
        }
        let (module, expansion) = unit.finish();
        let expansion = expansion.and_then(|mut expansion| {
            if let Some(own) = expansion.units.pop() {
                expansion.units = self.needed(&module.imports, &own, libraries)?;
                expansion.units.push(own);
            }
            Ok(expansion)
        });
        if !has_macros && self.holders() == before.with_one_more_source() {
            self.syntax.drop_since(mark);
        }
        (TopLevel(module), expansion)
    }

    fn holders(&self) -> Holders {
        Holders {
            macros: self.macros.len(),
            sources: self.sources.len(),
            pattern_variables: self.pattern_variables.len(),
            constants: self.constants.length(),
        }
    }

    /// Returns the meaning of a name at a top level.
    pub fn meaning_at(&self, top: &TopLevel, name: &str) -> Meaning {
        let mut bindings = self.syntax.bindings.names_in(&self.syntax.sets, top.0.scopes);
        let found = bindings.find(|(symbol, _)| self.syntax.symbols.name(*symbol).as_str() == name);
        match found.map(|(_, binding)| binding) {
            Some(Binding::Form(_) | Binding::Macro(_)) => Meaning::Keyword,
            Some(Binding::Primitive(_)) => Meaning::Primitive,
            Some(Binding::Global(global)) => Meaning::Global(self.globals[global as usize].clone()),
            Some(Binding::Local { .. } | Binding::Pattern(_)) | None => Meaning::Nothing,
        }
    }

    /// Returns the names visible at a top level, each with whether it is a keyword; in alphabetical
    /// order.
    pub fn names_at(&self, top: &TopLevel) -> Vec<(Name, bool)> {
        self.names_in(top.0.scopes)
    }

    /// Returns the units of the libraries that must be evaluated before a unit of a module with
    /// these imports: each after those it imports.
    fn needed(
        &mut self,
        imports: &[Name],
        unit: &Arc<Unit>,
        libraries: &mut dyn Libraries,
    ) -> Result<Vec<Arc<Unit>>, Vec<Diagnostic>> {
        let order = self.import_order(imports);
        let is_eager = |name: &&Name| self.libraries.get(*name).is_some_and(|library| !library.is_on_demand);
        let mut wanted: BTreeSet<Name> = order.iter().filter(is_eager).cloned().collect();
        let mut units: Vec<Arc<Unit>> = vec![Arc::clone(unit)];
        units.extend(wanted.iter().filter_map(|name| self.library_units.get(name)).cloned());
        while let Some(unit) = units.pop() {
            for global in &unit.globals {
                let library = &global.name.library;
                if wanted.insert(library.clone()) {
                    self.finish_library(library, libraries)?;
                    units.extend(self.library_units.get(library).cloned());
                }
            }
        }
        let is_wanted = |name: &&Name| wanted.contains(*name);
        let units = order
            .iter()
            .filter(is_wanted)
            .filter_map(|name| self.library_units.get(name));
        Ok(units.cloned().collect())
    }

    /// Returns the libraries that are imported, directly or through others, each once and after its
    /// own imports.
    fn import_order(&self, imports: &[Name]) -> Vec<Name> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        // Each entry: a library, and whether its imports are already in the order.
        let mut pending: Vec<(&Name, bool)> = imports.iter().rev().map(|name| (name, false)).collect();
        while let Some((name, is_ready)) = pending.pop() {
            if is_ready {
                order.push(name.clone());
            } else if seen.insert(name) {
                pending.push((name, true));
                let imports = self.libraries.get(name).map_or(&[][..], |library| &library.imports);
                pending.extend(imports.iter().rev().map(|name| (name, false)));
            }
        }
        order
    }
}
