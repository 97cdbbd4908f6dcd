//! Compiled patterns: a form, which many patterns share, and the constants that distinguish them.
//!
//! Owns [`Form`] (paths to check, to compare and to capture) and the terms under which facts and
//! forms find each other.
//! INVARIANT: if a pattern matches a fact, each of the pattern's terms is among the fact's terms,
//! unless the fact has too many to list.
//! It stores nothing; `index.rs` does.
//! Read next: `index.rs`.

use duet_journal::packed::{Class, View};
use smallvec::{SmallVec, smallvec};

use super::notice::Captures;
use super::pattern::{GroupKind, Pattern, Step};
use crate::model::value::Fact;

/// The steps from a value to a part of it.
pub(crate) type Path = Vec<Step>;

/// A pattern without its constants.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    /// Compounds that must be present, with kind and size.
    compounds: Vec<(Path, GroupKind, Option<u64>)>,
    /// Parts that must be present.
    present: Vec<Path>,
    /// Parts that must equal the pattern's constants.
    constants: Vec<Path>,
    /// Parts that the observer receives.
    captures: Vec<Path>,
}

/// The canonical bytes of the constants, concatenated; mostly short. With the byte that says
/// whether they are inline, 23 bytes fill three words.
pub(crate) type Constants = SmallVec<[u8; 23]>;

/// The parts that a form reads from a value of its shape.
pub(crate) struct Reading<'a> {
    /// The constants.
    pub(crate) constants: Constants,
    /// The captured parts.
    captures: SmallVec<[View<'a>; 4]>,
}

/// A pattern, divided into form and constants.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// The form.
    pub(crate) form: Form,
    /// The constants.
    pub(crate) constants: Constants,
    /// Terms that every matching fact has; empty if every fact may match.
    pub(crate) terms: Vec<Term>,
    /// Terms of every fact that matches any pattern of this form; at least one.
    pub(crate) form_terms: Vec<Term>,
}

impl Compiled {
    /// Compiles a pattern.
    pub(crate) fn of(pattern: &Pattern) -> Self {
        let mut compiled = Self {
            form: Form::default(),
            constants: Constants::new(),
            terms: Vec::new(),
            form_terms: Vec::new(),
        };
        compiled.add(pattern, &mut Vec::new(), PathHash::ROOT);
        compiled.terms.retain(|term| term.depth <= TERM_DEPTH_MAX);
        compiled.form_terms.retain(|term| term.depth <= TERM_DEPTH_MAX);
        if compiled.form_terms.is_empty() {
            compiled.form_terms.push(Term::ANY);
        }
        compiled
    }

    fn add(&mut self, pattern: &Pattern, path: &mut Path, hash: PathHash) {
        match pattern {
            Pattern::Discard => self.form.present.push(path.clone()),
            Pattern::Bind(inner) => {
                self.form.captures.push(path.clone());
                self.add(inner, path, hash);
            }
            Pattern::Literal(literal) => {
                self.form.constants.push(path.clone());
                self.constants.extend_from_slice(literal.bytes());
                self.terms.push(hash.content(literal.view()));
            }
            Pattern::Group { kind, size, entries } => {
                self.form.compounds.push((path.clone(), kind.clone(), *size));
                let term = hash.compound(kind);
                self.terms.push(term);
                self.form_terms.push(term);
                for (step, inner) in entries {
                    path.push(step.clone());
                    self.add(inner, path, hash.step(step));
                    path.pop();
                }
            }
        }
    }
}

/// Returns the constants of a pattern, which its form leaves out.
pub(crate) fn constants_of(pattern: &Pattern) -> Constants {
    fn add(pattern: &Pattern, constants: &mut Constants) {
        match pattern {
            Pattern::Discard => {}
            Pattern::Bind(inner) => add(inner, constants),
            Pattern::Literal(literal) => constants.extend_from_slice(literal.bytes()),
            Pattern::Group { entries, .. } => entries.iter().for_each(|(_, inner)| add(inner, constants)),
        }
    }
    let mut constants = Constants::new();
    add(pattern, &mut constants);
    constants
}

impl Form {
    /// Reads constants and captures from `value`; returns `None` if the value does not have the
    /// form's shape.
    pub(crate) fn read<'a>(&self, value: View<'a>) -> Option<Reading<'a>> {
        let find = |path: &Path| {
            let mut part = value;
            for step in path {
                part = step.find(part)?;
            }
            Some(part)
        };
        for (path, kind, size) in &self.compounds {
            find(path).filter(|part| kind.is_kind_of(*size, *part))?;
        }
        for path in &self.present {
            find(path)?;
        }
        let mut constants = Constants::new();
        for path in &self.constants {
            constants.extend_from_slice(find(path)?.as_bytes());
        }
        let mut captures = SmallVec::new();
        for path in &self.captures {
            captures.push(find(path)?);
        }
        Some(Reading { constants, captures })
    }
}

impl Reading<'_> {
    /// Copies the captures.
    pub(crate) fn captures(&self) -> Captures {
        Captures::of(&self.captures)
    }
}

/// Parts deeper than this number of steps have no terms.
const TERM_DEPTH_MAX: u8 = 4;

/// A fact with more terms than this has no list of terms, and the index finds it by a scan.
const TERM_COUNT_MAX: usize = 96;

/// A hash of one observation about a value: the content at a path.
///
/// Different observations may collide, so the code that finds a candidate by a term checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    depth: u8,
    hash: u64,
}

impl Term {
    /// The term of every fact; the postings do not list facts under it.
    pub(crate) const ANY: Self = Self { depth: 0, hash: 0 };

    /// Says whether it describes a part of a value, as opposed to the whole.
    pub(crate) fn is_of_a_part(self) -> bool {
        self.depth > 0
    }

    /// Returns the term as a key of an index.
    pub(crate) fn number(self) -> u64 {
        self.hash
    }
}

/// The terms of a fact.
pub(crate) struct Terms {
    /// The terms of its parts and of their kinds.
    parts: Vec<Term>,
    /// Whether `parts` is complete; if not, it is unusable.
    is_complete: bool,
}

impl Terms {
    /// Lists the observations about `fact`.
    pub(crate) fn of(fact: &Fact) -> Self {
        let mut terms = Self {
            parts: Vec::with_capacity(8),
            is_complete: true,
        };
        terms.add(fact.view(), PathHash::ROOT);
        terms
    }

    /// Makes the term of the fact as a whole, which no pattern has.
    pub(crate) fn whole(fact: &Fact) -> Term {
        PathHash::ROOT.term(mix(mix(PathHash::ROOT.hash, b"w"), fact.bytes()))
    }

    /// Returns the terms of the parts and of their kinds; `None` if there are too many to list.
    pub(crate) fn parts(&self) -> Option<&[Term]> {
        self.is_complete.then_some(&self.parts)
    }

    fn add(&mut self, value: View<'_>, hash: PathHash) {
        if !self.is_complete || hash.depth > TERM_DEPTH_MAX {
            return;
        }
        if self.parts.len() >= TERM_COUNT_MAX {
            self.is_complete = false;
            return;
        }
        self.parts.push(hash.content(value));
        for (index, part) in (0..).zip(value.items()).take(TERM_COUNT_MAX) {
            self.add(part, hash.index(index));
        }
        for (key, part) in value.entries().take(TERM_COUNT_MAX) {
            self.add(part, hash.key(key));
        }
    }
}

/// Whether the index lists forms under terms of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The index lists some forms under terms of parts.
    Wanted,
    /// The index lists every form under a term of a whole fact.
    Unwanted,
}

/// The terms of a fact that lead to the forms that may match it.
pub(crate) struct FormTerms {
    terms: SmallVec<[Term; 4]>,
    /// The number of parts visited so far.
    looked_at: usize,
}

impl FormTerms {
    /// Lists the term of every fact and the terms of this one, with those of its parts if they are
    /// `wanted`; `None` if it has too many parts.
    pub(crate) fn of(fact: &Fact, wanted: Parts) -> Option<SmallVec<[Term; 4]>> {
        let mut found = Self {
            terms: smallvec![Term::ANY],
            looked_at: 0,
        };
        let is_complete = match (wanted, fact.view().class()) {
            (Parts::Wanted, _) => found.look_at(fact.view(), || PathHash::ROOT),
            (Parts::Unwanted, Class::Record | Class::Sequence | Class::Dictionary) => {
                found.terms.push(PathHash::ROOT.content(fact.view()));
                true
            }
            (Parts::Unwanted, Class::Atom | Class::Set | Class::Embedded) => true,
        };
        is_complete.then_some(found.terms)
    }

    /// Adds the terms of a part; returns false if there are too many parts.
    fn look_at(&mut self, part: View<'_>, hash: impl FnOnce() -> PathHash) -> bool {
        self.looked_at += 1;
        if self.looked_at > TERM_COUNT_MAX {
            return false;
        }
        match part.class() {
            Class::Atom | Class::Set | Class::Embedded => true,
            Class::Record | Class::Sequence | Class::Dictionary => self.add(part, hash()),
        }
    }

    fn add(&mut self, compound: View<'_>, hash: PathHash) -> bool {
        if hash.depth > TERM_DEPTH_MAX {
            return true;
        }
        self.terms.push(hash.content(compound));
        let mut items = (0..).zip(compound.items());
        let mut entries = compound.entries();
        items.all(|(index, part)| self.look_at(part, || hash.index(index)))
            && entries.all(|(key, part)| self.look_at(part, || hash.key(key)))
    }
}

/// A path, hashed step by step, so that a term costs the same at any depth.
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

    fn key(self, key: View<'_>) -> Self {
        Self {
            depth: self.depth.saturating_add(1),
            hash: mix(mix(self.hash, b"k"), key.as_bytes()),
        }
    }

    fn step(self, step: &Step) -> Self {
        match step {
            Step::Index(index) => self.index(*index),
            Step::Key(key) => self.key(key.view()),
        }
    }

    fn term(self, hash: u64) -> Term {
        Term {
            depth: self.depth,
            hash,
        }
    }

    fn compound(self, kind: &GroupKind) -> Term {
        self.term(match kind {
            GroupKind::Record(label) => mix(mix(self.hash, b"r"), label.bytes()),
            GroupKind::Sequence => mix(self.hash, b"s"),
            GroupKind::Dictionary => mix(self.hash, b"d"),
        })
    }

    /// Makes the term of an atom from its whole content, and of a compound from its [`GroupKind`]:
    /// its kind, and a record's label.
    fn content(self, value: View<'_>) -> Term {
        self.term(match value.class() {
            Class::Atom => mix(mix(self.hash, b"a"), value.as_bytes()),
            Class::Record => mix(mix(self.hash, b"r"), value.label().map_or(&[], View::as_bytes)),
            Class::Sequence => mix(self.hash, b"s"),
            Class::Dictionary => mix(self.hash, b"d"),
            Class::Set => mix(self.hash, b"t"),
            Class::Embedded => mix(self.hash, b"e"),
        })
    }
}

/// Mixes bytes into a hash, eight at a time; the last chunk includes its length.
pub(super) fn mix(hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = rest.len() as u8 + 1;
    let words = words.iter().chain([&last]);
    words.fold(hash, |hash, word| {
        let product = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 29)
    })
}
