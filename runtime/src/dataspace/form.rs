//! Compiled patterns: a form, which many patterns share, and the constants that tell them apart.
//!
//! Owns [`Form`] (paths to check, to compare and to capture) and the terms under which facts and forms find each other.
//! INVARIANT: if a pattern matches a fact, each of the pattern's terms is among the fact's terms, unless the fact has too many to list.
//! It stores nothing; `index.rs` does.
//! Read next: `dataspace/index.rs`.

use duet_journal::PackedValue;
use preserves::{AtomClass, CompoundClass, IOValue, ValueClass, ValueImpl};

use super::pattern::{GroupKind, Pattern, Step};
use crate::value::{Fact, Tree};

/// The way from a value to a part of it.
pub(crate) type Path = Vec<Step>;

/// A pattern without its constants.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    /// Compounds that must be there, with kind and size.
    compounds: Vec<(Path, GroupKind, Option<u64>)>,
    /// Parts that must be there.
    present: Vec<Path>,
    /// Parts that must equal the pattern's constants.
    constants: Vec<Path>,
    /// Parts that are told to the observer.
    captures: Vec<Path>,
}

/// What a form reads out of a value that has its shape.
pub(crate) struct Reading {
    /// The canonical bytes of the constants, one after the other.
    pub(crate) constants: Vec<u8>,
    /// The captured parts.
    pub(crate) captures: Vec<IOValue>,
}

/// A pattern, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// The form.
    pub(crate) form: Form,
    /// The canonical bytes of the constants, one after the other.
    pub(crate) constants: Vec<u8>,
    /// Terms that every matching fact has.
    pub(crate) terms: Vec<Term>,
    /// Terms that every fact has that matches any pattern of this form.
    pub(crate) form_terms: Vec<Term>,
}

impl Compiled {
    /// Takes a pattern apart.
    pub(crate) fn of(pattern: &Pattern) -> Self {
        let mut compiled = Self {
            form: Form::default(),
            constants: Vec::new(),
            terms: Vec::new(),
            form_terms: Vec::new(),
        };
        compiled.add(pattern, &mut Vec::new(), PathHash::ROOT);
        // INVARIANT: neither becomes empty, for the whole value is at depth 0.
        compiled.terms.retain(|term| term.depth <= TERM_DEPTH_MAX);
        compiled.form_terms.retain(|term| term.depth <= TERM_DEPTH_MAX);
        compiled
    }

    fn add(&mut self, pattern: &Pattern, path: &mut Path, hash: PathHash) {
        match pattern {
            Pattern::Discard => {
                self.form.present.push(path.clone());
                self.add_term(hash.present());
            }
            Pattern::Bind(inner) => {
                self.form.captures.push(path.clone());
                self.add(inner, path, hash);
            }
            Pattern::Literal(literal) => {
                self.form.constants.push(path.clone());
                self.constants.extend_from_slice(literal.bytes());
                self.terms.push(hash.content(literal.value().value()));
                self.form_terms.push(hash.present());
            }
            Pattern::Group { kind, size, entries } => {
                self.form.compounds.push((path.clone(), kind.clone(), *size));
                self.add_term(hash.compound(kind));
                for (step, inner) in entries {
                    path.push(step.clone());
                    self.add(inner, path, hash.step(step));
                    path.pop();
                }
            }
        }
    }

    fn add_term(&mut self, term: Term) {
        self.terms.push(term);
        self.form_terms.push(term);
    }
}

impl Form {
    /// Reads constants and captures out of `value`; `None` if it does not have the shape.
    pub(crate) fn read(&self, value: &IOValue) -> Option<Reading> {
        let find = |path: &Path| {
            path.iter()
                .try_fold(value.value().clone(), |part: Tree, step| step.take(&part))
        };
        for (path, kind, size) in &self.compounds {
            find(path).filter(|part| kind.admits(*size, part))?;
        }
        for path in &self.present {
            find(path)?;
        }
        let mut constants = Vec::new();
        for path in &self.constants {
            // INVARIANT: a part of a fact is within the limits that the fact is within.
            constants.extend(PackedValue::from_value(&find(path)?.into()).ok()?.into_bytes());
        }
        let captures = self
            .captures
            .iter()
            .map(|path| find(path).map(IOValue::from))
            .collect::<Option<_>>()?;
        Some(Reading { constants, captures })
    }
}

/// Parts deeper than this many steps are not listed as terms.
const TERM_DEPTH_MAX: u8 = 4;

/// A fact with more terms than this is not listed under all of them, and is found by scanning.
const TERM_COUNT_MAX: usize = 96;

/// A hash of one observation about a value: what stands at which path.
///
/// Different observations may collide; whoever finds a candidate by a term checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    depth: u8,
    hash: u64,
}

impl Term {
    /// Returns the term as a key of an index.
    pub(crate) fn number(self) -> u64 {
        self.hash
    }
}

/// The terms of a fact.
pub(crate) struct Terms {
    /// The terms.
    pub(crate) terms: Vec<Term>,
    /// Whether these are all; if not, `terms` has no use.
    pub(crate) is_complete: bool,
}

impl Terms {
    /// Lists what can be observed about `fact`.
    pub(crate) fn of(fact: &Fact) -> Self {
        let mut terms = Self {
            terms: Vec::new(),
            is_complete: true,
        };
        terms.add(fact.value().value(), PathHash::ROOT);
        terms
    }

    fn add(&mut self, value: &Tree, hash: PathHash) {
        if !self.is_complete || hash.depth > TERM_DEPTH_MAX {
            return;
        }
        if self.terms.len() + 2 > TERM_COUNT_MAX {
            self.is_complete = false;
            return;
        }
        self.terms.push(hash.present());
        self.terms.push(hash.content(value));
        match value.value_class() {
            ValueClass::Compound(CompoundClass::Record | CompoundClass::Sequence) => {
                for (index, part) in (0..).zip(value.iter()).take(TERM_COUNT_MAX) {
                    self.add(&part, hash.index(index));
                }
            }
            ValueClass::Compound(CompoundClass::Dictionary) => {
                for (key, part) in value.entries().take(TERM_COUNT_MAX) {
                    self.add(&part, hash.key(&key));
                }
            }
            ValueClass::Compound(CompoundClass::Set) | ValueClass::Atomic(_) | ValueClass::Embedded => {}
        }
    }
}

/// A path, hashed step by step with FNV-1a, so that a term costs the same at any depth.
#[derive(Clone, Copy)]
struct PathHash {
    depth: u8,
    hash: u64,
}

impl PathHash {
    const ROOT: Self = Self {
        depth: 0,
        hash: 0xcbf2_9ce4_8422_2325,
    };

    fn index(self, index: u64) -> Self {
        Self {
            depth: self.depth.saturating_add(1),
            hash: mix(mix(self.hash, b"i"), &index.to_le_bytes()),
        }
    }

    fn key(self, key: &Tree) -> Self {
        Self {
            depth: self.depth.saturating_add(1),
            hash: content(mix(self.hash, b"k"), key),
        }
    }

    fn step(self, step: &Step) -> Self {
        match step {
            Step::Index(index) => self.index(*index),
            Step::Key(key) => self.key(key.value().value()),
        }
    }

    fn term(self, hash: u64) -> Term {
        Term {
            depth: self.depth,
            hash,
        }
    }

    fn present(self) -> Term {
        self.term(mix(self.hash, b"p"))
    }

    fn compound(self, kind: &GroupKind) -> Term {
        let hash = mix(self.hash, b"c");
        self.term(match kind {
            GroupKind::Record(label) => labelled(hash, label.value().value()),
            GroupKind::Sequence => mix(hash, b"s"),
            GroupKind::Dictionary => mix(hash, b"d"),
        })
    }

    fn content(self, value: &Tree) -> Term {
        self.term(content(mix(self.hash, b"c"), value))
    }
}

fn mix(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Hashes an atom wholly, and of a compound what [`GroupKind`] tells: its kind, and a record's label.
fn content(hash: u64, value: &Tree) -> u64 {
    match value.value_class() {
        ValueClass::Atomic(class) => atom(hash, &class, value),
        ValueClass::Compound(CompoundClass::Record) => labelled(hash, &value.label()),
        ValueClass::Compound(CompoundClass::Sequence) => mix(hash, b"s"),
        ValueClass::Compound(CompoundClass::Dictionary) => mix(hash, b"d"),
        ValueClass::Compound(CompoundClass::Set) => mix(hash, b"t"),
        ValueClass::Embedded => mix(hash, b"e"),
    }
}

fn labelled(hash: u64, label: &Tree) -> u64 {
    // A label that is itself a record would make this recur; its kind alone will do.
    if label.is_record() {
        mix(hash, b"rr")
    } else {
        content(mix(hash, b"r"), label)
    }
}

fn atom(hash: u64, class: &AtomClass, value: &Tree) -> u64 {
    match class {
        AtomClass::Boolean => mix(hash, if value.as_boolean() == Some(true) { b"1" } else { b"0" }),
        AtomClass::Double => mix(hash, &value.as_double().unwrap_or_default().to_bits().to_le_bytes()),
        AtomClass::SignedInteger => match value.as_i64() {
            Some(Ok(number)) => mix(mix(hash, b"n"), &number.to_le_bytes()),
            Some(Err(_)) | None => mix(hash, b"N"),
        },
        AtomClass::String => mix(mix(hash, b"\""), value.as_string().unwrap_or_default().as_bytes()),
        AtomClass::ByteString => mix(mix(hash, b"#"), &value.as_bytestring().unwrap_or_default()),
        AtomClass::Symbol => mix(mix(hash, b"'"), value.as_symbol().unwrap_or_default().as_bytes()),
    }
}
