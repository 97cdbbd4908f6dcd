//! The expander: source text to units of the core language.
//!
//! Owns a session: source texts, library instances, global names, and the persistent top level of
//! interactions.
//! INVARIANT: a library is expanded once in a session; its unit is delivered before the first unit
//! that needs it, whatever fails in between.
//! It touches no file: texts come from the caller and from [`Libraries`].
//! Read next: `expander/unit.rs`, then `form.rs`.

mod ahead;
mod body;
mod builder;
mod demand;
mod extent;
mod forgetting;
mod import;
mod libraries;
mod library;
mod limits;
mod macros;
mod node;
mod procedural;
mod top_level;
mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::core::{INTERACTION, Unit, VariableId};
use crate::datum::reader::read_within;
use crate::datum::{Name, SourceId};
use crate::diagnostic::Diagnostic;
use crate::form::FORMS;
use crate::syntax::binding::Binding;
use crate::syntax::procedural::{Constants, Evaluated, Expanding, TransformerFault, TransformerId};
use crate::syntax::rules::Auxiliary;
use crate::syntax::rules::template::Multiplicity;
use crate::syntax::scope::{Scope, ScopeSet};
use crate::syntax::symbol::Symbol;
use crate::syntax::{Identifier, Syntax, SyntaxStore};
use crate::unit::GlobalName;
pub use ahead::Ahead;
use ahead::Stub;
pub(crate) use body::{Context, DefinitionTarget, Value};
use demand::Waiting;
use forgetting::Before;
use import::Importing;
pub use libraries::{Libraries, LibraryName, SourceError, SourceText};
pub(crate) use library::FEATURES;
pub(crate) use macros::{Macro, Transformer};
pub use top_level::{Meaning, TopLevel};
pub(crate) use unit::{Head, UnitExpander};

/// The library that exports every core form and every primitive.
pub const KERNEL_LIBRARY: &str = "(duet kernel)";

/// The maximum nesting of forms, and of macro uses that produce macro uses.
pub const LIMIT_NESTING: u32 = 10_000;

/// The maximum number of syntax nodes that the macros of one unit make.
pub const LIMIT_EXPANSION_NODES: u32 = 1 << 23;

/// The maximum number of procedure calls by the transformers of one text and of the libraries that
/// it needs.
pub const LIMIT_TRANSFORMER_CALLS: u64 = 200_000_000;

/// Runs code at expansion time: procedural macros, the libraries that they import, and the bodies
/// of `begin-for-syntax`.
///
/// Evaluation is cumulative: globals that one unit defines are available to the next. A failed call
/// leaves no trace.
pub trait Transformers: fmt::Debug + Send {
    /// Evaluates a unit and classifies its value as a transformer.
    ///
    /// # Errors
    /// [`TransformerFault`].
    fn evaluate(&mut self, unit: &Unit, expanding: &mut Expanding<'_>) -> Result<Evaluated, TransformerFault>;

    /// Calls a transformer with a form and returns the form that it makes.
    ///
    /// # Errors
    /// [`TransformerFault`].
    fn apply(
        &mut self,
        transformer: TransformerId,
        form: Syntax,
        expanding: &mut Expanding<'_>,
    ) -> Result<Syntax, TransformerFault>;

    /// Says whether evaluations and calls since the last question have changed a variable or an
    /// object that was there before them.
    fn take_changed(&mut self) -> bool;
}

/// The name and arity of a primitive procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimitiveSignature {
    /// Its stable name.
    pub name: Name,
    /// The fewest arguments.
    pub minimum: usize,
    /// The most arguments, if there is a limit.
    pub maximum: Option<usize>,
    /// Whether the host performs it.
    pub is_host: bool,
}

/// The result of expanding a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// Units to evaluate in order: libraries needed for the first time, each after those it
    /// imports, then the text itself.
    pub units: Vec<Arc<Unit>>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// An expansion session.
#[derive(Debug)]
pub struct Expander {
    pub(crate) syntax: SyntaxStore,
    pub(crate) macros: Vec<Macro>,
    pub(crate) primitives: Vec<PrimitiveSignature>,
    primitive_index: BTreeMap<Name, u32>,
    globals: Vec<GlobalName>,
    global_index: BTreeMap<GlobalName, u32>,
    sources: Vec<SourceText>,
    libraries: BTreeMap<Name, Library>,
    /// Libraries whose expansion has begun, outermost first.
    loading: Vec<Name>,
    /// The libraries that the texts being expanded define further down.
    announced: Vec<Name>,
    /// Units of libraries that no expansion has delivered yet, in the order in which the libraries
    /// were loaded.
    undelivered: BTreeMap<u32, Arc<Unit>>,
    /// On-demand libraries between their two passes.
    waiting: BTreeMap<Name, Waiting>,
    /// Libraries that were compiled ahead.
    stubs: BTreeMap<Name, Stub>,
    /// The libraries that single texts have brought.
    brought: BTreeMap<Name, Before>,
    /// The number of libraries loaded.
    loaded: u32,
    /// The unit of each library that has one.
    library_units: BTreeMap<Name, Arc<Unit>>,
    /// Runs procedural macros, if they are supported.
    transformers: Option<Box<dyn Transformers>>,
    /// The number of procedure calls left to transformers for the current text.
    transformer_calls: u64,
    /// The libraries that were evaluated for transformers.
    instantiated: BTreeSet<Name>,
    /// The libraries whose expansion has run code, and those of them where that code has changed
    /// something, or another library's has before.
    computed: BTreeMap<Name, HasChanged>,
    /// Whether code has changed what other code may read, but for evaluations of whole libraries.
    /// From then on the forms that a transformer makes may depend on earlier expansions.
    has_changed: bool,
    pub(crate) constants: Constants,
    pub(crate) pattern_variables: Vec<PatternVariable>,
    /// The number of units begun.
    units_begun: u32,
    default_imports: Vec<LibraryName>,
    interaction: Option<Module>,
    /// The top level of the first program.
    program: Option<Module>,
    programs: u32,
    /// The identifiers of core forms, in the scope of the kernel's own library.
    kernel: ScopeSet,
    /// Whether the units that it makes are counted.
    is_counted: bool,
}

/// Whether the code that ran for a library may have met what other code has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HasChanged(bool);

/// A pattern variable of `syntax-case`: the variable that holds its match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternVariable {
    pub(crate) symbol: Symbol,
    /// The unit of the variable.
    pub(crate) unit: u32,
    pub(crate) variable: VariableId,
    pub(crate) multiplicity: Multiplicity,
}

/// A capability that a module declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The module.
    pub module: Name,
    /// The capability.
    pub capability: Name,
}

/// An expanded library.
#[derive(Clone, Debug)]
struct Library {
    exports: BTreeMap<Symbol, Binding>,
    /// The libraries it imports, each once, in order.
    imports: Vec<Name>,
    /// The capabilities that it and the libraries that it imports need.
    needs: Vec<Requirement>,
    /// Whether its own code may use the capabilities that it declares, and no others.
    is_limited: bool,
    /// Whether it is finished only on demand.
    is_on_demand: bool,
    /// The scope of its definitions, if its text was read.
    scope: Option<Scope>,
}

/// A top level: that of one library, one program, or all interactions.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) name: Name,
    pub(crate) scope: Scope,
    /// The set of only that scope.
    pub(crate) scopes: ScopeSet,
    pub(crate) is_interactive: bool,
    /// Whether its texts can name only the initial imports and their own definitions.
    pub(crate) is_sealed: bool,
    /// The library of names that nothing defines yet, if later texts may define them.
    pub(crate) open_library: Option<Name>,
    /// The procedure that unbound names such as `$7` call with their number, if there is one.
    numbered: Option<GlobalName>,
    /// The name of the module proper, if this is its phase for transformers.
    pub(crate) proper_name: Option<Name>,
    /// Names assigned to definitions that macros introduced.
    renamed: BTreeSet<Name>,
    /// Names of its globals that look like such assigned names.
    look_alikes: BTreeSet<Name>,
    /// The libraries it imports, each once, in order.
    imports: Vec<Name>,
    /// The capabilities that it and the libraries that it imports need.
    needs: Vec<Requirement>,
    /// The text of the capabilities that its own code may use, if it declares them.
    limits: Option<Name>,
    /// The import sets whose names are bound at its top level, in order.
    import_sets: Vec<Importing>,
    /// The number of bindings made at its top level so far.
    pub(crate) changes: u64,
    /// The number of syntax nodes that macros have made in texts that define macros.
    nodes_kept: u32,
    /// Numbers reserved for its next macros.
    reserved_macros: Range<u32>,
}

impl Expander {
    /// Starts a session with these primitives, in which programs without `import` see these
    /// libraries.
    pub fn new(primitives: impl IntoIterator<Item = PrimitiveSignature>, default_imports: Vec<LibraryName>) -> Self {
        let primitives: Vec<_> = primitives.into_iter().collect();
        let names = primitives.iter().map(|primitive| primitive.name.clone());
        let primitive_index = names.zip(0..).collect();
        let mut syntax = SyntaxStore::default();
        let scope = syntax.sets.fresh();
        let kernel = syntax.sets.insert(ScopeSet::EMPTY, scope);
        let mut expander = Self {
            syntax,
            macros: Vec::new(),
            primitives,
            primitive_index,
            globals: Vec::new(),
            global_index: BTreeMap::new(),
            sources: Vec::new(),
            libraries: BTreeMap::new(),
            loading: Vec::new(),
            announced: Vec::new(),
            undelivered: BTreeMap::new(),
            waiting: BTreeMap::new(),
            stubs: BTreeMap::new(),
            brought: BTreeMap::new(),
            loaded: 0,
            library_units: BTreeMap::new(),
            transformers: None,
            transformer_calls: 0,
            instantiated: BTreeSet::new(),
            computed: BTreeMap::new(),
            has_changed: false,
            constants: Constants::default(),
            pattern_variables: Vec::new(),
            units_begun: 0,
            default_imports,
            interaction: None,
            program: None,
            programs: 0,
            kernel,
            is_counted: false,
        };
        let forms = FORMS
            .iter()
            .map(|row| Name::from(row.name))
            .zip((0..).map(Binding::Form));
        let primitives = expander
            .primitives
            .iter()
            .map(|primitive| primitive.name.clone())
            .zip((0..).map(Binding::Primitive));
        let mut exports = BTreeMap::new();
        for (name, binding) in primitives.chain(forms).collect::<Vec<_>>() {
            let symbol = expander.syntax.symbols.intern(&name);
            expander.syntax.bind(Identifier { symbol, scopes: kernel }, binding);
            exports.insert(symbol, binding);
        }
        expander.libraries.insert(
            Name::from(KERNEL_LIBRARY),
            Library {
                exports,
                imports: Vec::new(),
                needs: Vec::new(),
                is_limited: false,
                is_on_demand: false,
                scope: None,
            },
        );
        expander
    }

    /// Returns the capabilities that a library and those that it imports need.
    pub fn requirements(&self, library: &Name) -> &[Requirement] {
        self.libraries.get(library).map_or(&[], |library| &library.needs)
    }

    /// Returns the session with something that runs procedural macros. Without it, `syntax-rules`
    /// is the only kind of macro.
    #[must_use]
    pub fn with_transformers(mut self, transformers: Box<dyn Transformers>) -> Self {
        self.transformers = Some(transformers);
        self
    }

    /// Expands a program.
    ///
    /// A program without any `import` sees the default libraries; otherwise it sees what it
    /// imports.
    ///
    /// # Errors
    /// Every error found in one pass over the program and the libraries it needs. Libraries
    /// expanded without error stay expanded.
    pub fn expand_program(
        &mut self,
        name: &str,
        text: &str,
        libraries: &mut dyn Libraries,
    ) -> Result<Expansion, Vec<Diagnostic>> {
        self.programs += 1;
        let module_name = if self.programs == 1 {
            "(program)".to_owned()
        } else {
            format!("(program {})", self.programs)
        };
        let mut module = self.new_module(Name::from(module_name.as_str()), false);
        module.open_library = Some(Name::from(INTERACTION));
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let mut unit = UnitExpander::new(self, libraries, module);
        unit.program(name, text);
        let (module, expansion) = unit.finish();
        self.program.get_or_insert(module);
        self.deliver(expansion, libraries)
    }

    /// Expands a library that no program has imported yet: one that the machine needs, or one to
    /// compile ahead.
    ///
    /// # Errors
    /// Every error found in it and in the libraries it needs.
    pub fn expand_library(
        &mut self,
        name: &LibraryName,
        libraries: &mut dyn Libraries,
    ) -> Result<Expansion, Vec<Diagnostic>> {
        let expansion = self.require_library(name, libraries);
        self.finish_library(&name.to_name(), libraries)?;
        self.deliver(expansion, libraries)
    }

    /// Expands one input of an interactive session, in the top level that all interactions share.
    ///
    /// An undefined name is only a warning, because a later input may define it.
    ///
    /// # Errors
    /// Every error found. Definitions of keywords and imports that were expanded before an error
    /// stay in force.
    pub fn expand_interaction(
        &mut self,
        name: &str,
        text: &str,
        libraries: &mut dyn Libraries,
    ) -> Result<Expansion, Vec<Diagnostic>> {
        let known = self.interaction.take();
        let is_first = known.is_none();
        let module = known.unwrap_or_else(|| self.new_module(Name::from("(program)"), true));
        self.transformer_calls = LIMIT_TRANSFORMER_CALLS;
        let mut unit = UnitExpander::new(self, libraries, module);
        if is_first {
            unit.import_defaults();
        }
        unit.interaction(name, text);
        let (module, expansion) = unit.finish();
        self.interaction = Some(module);
        self.deliver(expansion, libraries)
    }

    /// Returns the source text of a span.
    pub fn source(&self, id: SourceId) -> Option<&SourceText> {
        self.sources.get(id.0 as usize)
    }

    /// Returns all source texts, by their ids.
    pub fn sources(&self) -> &[SourceText] {
        &self.sources
    }

    /// Gives the session more source texts, which another one with the same first texts has read,
    /// or other names of those that it has. Texts that it reads later come after them.
    pub fn set_sources(&mut self, sources: Vec<SourceText>) {
        debug_assert!(sources.len() >= self.sources.len(), "ids of texts stay what they are");
        self.sources = sources;
    }

    /// Returns the names visible at the interactive top level, for completion, each with whether it
    /// is a keyword; in alphabetical order.
    pub fn interaction_names(&self) -> Vec<(Name, bool)> {
        let scopes = self.interaction.as_ref().map(|module| module.scopes);
        scopes.map_or_else(Vec::new, |scopes| self.names_in(scopes))
    }

    /// Returns the names bound in exactly these scopes, each with whether it is a keyword; in
    /// alphabetical order.
    fn names_in(&self, scopes: ScopeSet) -> Vec<(Name, bool)> {
        let bindings = self.syntax.bindings.names_in(&self.syntax.sets, scopes);
        let mut names: Vec<_> = bindings
            .map(|(symbol, binding)| {
                let is_keyword = matches!(binding, Binding::Form(_) | Binding::Macro(_));
                (self.syntax.symbols.name(symbol).clone(), is_keyword)
            })
            .collect();
        names.sort();
        names
    }

    fn new_module(&mut self, name: Name, is_interactive: bool) -> Module {
        let scope = self.syntax.sets.fresh();
        let scopes = self.syntax.sets.insert(ScopeSet::EMPTY, scope);
        Module {
            scope,
            scopes,
            open_library: is_interactive.then(|| name.clone()),
            name,
            is_interactive,
            is_sealed: false,
            numbered: None,
            proper_name: None,
            renamed: BTreeSet::new(),
            look_alikes: BTreeSet::new(),
            imports: Vec::new(),
            import_sets: Vec::new(),
            changes: 0,
            nodes_kept: 0,
            needs: Vec::new(),
            limits: None,
            reserved_macros: 0..0,
        }
    }

    /// Stores a text and reads it, with `nodes_max` nodes at most; the forms get the given scopes.
    fn read(
        &mut self,
        source: SourceText,
        scopes: ScopeSet,
        folds_case: bool,
        nodes_max: u32,
    ) -> (Vec<Syntax>, Vec<Diagnostic>) {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        let (reading, errors) = read_within(&source.text, id, folds_case, nodes_max);
        self.sources.push(source);
        (
            self.syntax.import(reading, scopes),
            errors.into_iter().map(Diagnostic::from).collect(),
        )
    }

    fn global(&mut self, library: &Name, name: &Name) -> u32 {
        let global = GlobalName {
            library: library.clone(),
            name: name.clone(),
        };
        if let Some(index) = self.global_index.get(&global) {
            return *index;
        }
        let index = u32::try_from(self.globals.len()).unwrap_or(u32::MAX);
        self.globals.push(global.clone());
        self.global_index.insert(global, index);
        index
    }

    /// Returns the identifier of a form in the kernel's own library.
    fn kernel_identifier(&mut self, name: &str) -> Identifier {
        Identifier {
            symbol: self.syntax.symbols.intern(&Name::from(name)),
            scopes: self.kernel,
        }
    }

    pub(crate) fn auxiliary(&mut self) -> Auxiliary {
        Auxiliary {
            ellipsis: self.kernel_identifier("..."),
            underscore: self.kernel_identifier("_"),
        }
    }
}

#[cfg(test)]
mod tests;
