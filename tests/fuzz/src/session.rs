//! The whole way of a text to its value, on a small budget, for the targets that compile and
//! evaluate.
//!
//! Owns one expander and one code space, which know the standard library; each text gets a top
//! level and an instance of its own.
//! INVARIANT: what a text comes to does not depend on the texts before it.
//! Read next: `evaluation.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::core::Unit;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, LIMIT_EXPANSION_NODES, LibraryName};
use duet_kernel::heap::Limits;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::transformer::TransformerMachine;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::scheme::host;

/// The most memory that a text's heap may take.
pub const LIMITS: Limits = Limits { bytes_max: 4 << 20 };

/// The number of texts after which everything is made anew, because expanders and code spaces only
/// grow.
const TEXTS_MAX: u32 = 400;

/// What the texts see without an import.
const DEFAULTS: [&[&str]; 2] = [&["duet", "base"], &["duet", "control"]];

/// An expander with what its units become.
pub struct Session {
    /// The code of all units.
    pub code: CodeSpace,
    expander: Expander,
    libraries: Resolver,
    units: BTreeMap<Name, (Arc<Unit>, usize)>,
    names: Option<Rc<[String]>>,
    texts: u32,
    /// Whether a text may have defined a library, which later texts would find in the place of a
    /// standard one.
    has_own_libraries: bool,
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Lends the thread's session; one that panics is gone.
pub fn with<T>(work: impl FnOnce(&mut Session) -> T) -> T {
    let kept = SESSION.with_borrow_mut(Option::take);
    let mut session = kept
        .filter(|session| session.texts < TEXTS_MAX && !session.has_own_libraries)
        .unwrap_or_else(Session::new);
    let result = work(&mut session);
    SESSION.set(Some(session));
    result
}

impl Session {
    /// A session that has seen no text.
    pub fn new() -> Self {
        let code = CodeSpace::new(&host::primitives());
        let defaults = DEFAULTS.map(|parts| LibraryName {
            parts: parts.iter().copied().map(Name::from).collect(),
        });
        let expander = Expander::new(code.signatures(), defaults.to_vec())
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        Self {
            code,
            expander,
            libraries: Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]),
            units: BTreeMap::new(),
            names: None,
            texts: 0,
            has_own_libraries: false,
        }
    }

    /// The names of procedures that a text finds in the library and, behind `kernel/`, in the
    /// kernel.
    pub fn library_names(&mut self) -> Rc<[String]> {
        Rc::clone(self.names.get_or_insert_with(|| {
            let kernel = self
                .code
                .primitives()
                .iter()
                .map(|primitive| format!("kernel/{}", primitive.name));
            let top = self.expander.interactive_top_level("(names)", &mut self.libraries);
            let top = top.expect("the standard library has no errors");
            let visible = self.expander.names_at(&top).into_iter();
            let visible = visible
                .filter(|(_, is_keyword)| !is_keyword)
                .map(|(name, _)| name.as_str().to_owned());
            visible.chain(kernel).collect()
        }))
    }

    /// Compiles a text; the numbers of the units to be evaluated, in order, or what is wrong with
    /// the text.
    ///
    /// # Errors
    /// The messages.
    pub fn compile(&mut self, text: &str) -> Result<Vec<usize>, Vec<String>> {
        self.texts += 1;
        self.has_own_libraries |= ["define-library", "define-module"]
            .iter()
            .any(|form| text.contains(form));
        let top = self.expander.interactive_top_level("(text)", &mut self.libraries);
        let top = top.expect("the standard library has no errors");
        let (_, expansion) = self
            .expander
            .expand_at(top, "text", text, LIMIT_EXPANSION_NODES, &mut self.libraries);
        let expansion = match expansion {
            Ok(expansion) => expansion,
            Err(errors) => return Err(errors.iter().map(|error| self.shown(error)).collect()),
        };
        let own = expansion.units.len().saturating_sub(1);
        let mut numbers = Vec::new();
        for (position, unit) in expansion.units.iter().enumerate() {
            if let Some((known, number)) = self.units.get(&unit.name)
                && Arc::ptr_eq(known, unit)
            {
                numbers.push(*number);
                continue;
            }
            let compiled = compile(unit, &self.code).map_err(|error| vec![error.to_string()])?;
            let number = self
                .code
                .load_apart(&compiled)
                .map_err(|error| vec![error.to_string()])?;
            if position < own {
                self.units.insert(unit.name.clone(), (Arc::clone(unit), number));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// A message, whose spans must be parts of their texts.
    fn shown(&self, error: &duet_kernel::diagnostic::Diagnostic) -> String {
        let span = error.span;
        if let Some(source) = self.expander.source(span.source) {
            let part = source.text.get(span.start as usize..span.end as usize);
            assert!(part.is_some(), "a span is a part of the text: {span:?}");
        }
        format!("{} {}", error.kind, error.hint().unwrap_or_default())
    }

    /// Makes an instance in which all units but the last one are evaluated, and the procedure that
    /// evaluates that one; nothing if they do not fit.
    pub fn instance(&self, machine: &mut Machine, units: &[usize]) -> Option<(Instance, duet_kernel::value::Value)> {
        let mut instance = Instance::new(LIMITS);
        let (own, libraries) = units.split_last()?;
        for unit in libraries {
            instance.link_apart(&self.code, *unit).ok()?;
            let procedure = instance.unit_procedure(&self.code, *unit).ok()?;
            machine.start(&mut instance, procedure, &[]);
            let outcome = machine.run(&mut instance, &self.code, &mut 1_000_000).ok()?;
            assert!(
                matches!(outcome, Outcome::Finished(_)),
                "a library evaluates: {outcome:?}"
            );
        }
        instance.link_apart(&self.code, *own).ok()?;
        let procedure = instance.unit_procedure(&self.code, *own).ok()?;
        Some((instance, procedure))
    }
}
