//! The recorded requests without a counterpart, found by their likeness to a new one.
//!
//! INVARIANT: a search takes time for the kinds of likeness, not for the requests that are left.
//! It does not say which requests have a counterpart. Read next: `comparison.rs`.

use std::collections::{BTreeMap, VecDeque};

use crate::record::key::{Arguments, Key, LedgerRequest};

/// Recorded requests without a counterpart, in order.
pub(in crate::history) struct Unmatched<'a> {
    left: Vec<Option<&'a LedgerRequest>>,
    /// For each kind of likeness, from the greatest to the least, the requests that share what it
    /// compares, in order.
    alike: [BTreeMap<Trait<'a>, VecDeque<usize>>; KINDS],
}

const KINDS: usize = 6;

/// What requests share that resemble each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Trait<'a> {
    what: &'a str,
    actor: Option<&'a str>,
    arguments: Option<&'a Arguments>,
    definition: Option<&'a str>,
}

/// The traits by which others resemble a request. The arguments count most, if the actor is the
/// same, then the actor, then the definition.
fn traits(key: &Key) -> [Trait<'_>; KINDS] {
    let [actor, definition] = [&key.actor, &key.definition].map(|text| Some(text.as_str()));
    let arguments = Some(&key.arguments);
    [
        (actor, arguments, definition),
        (actor, arguments, None),
        (actor, None, definition),
        (actor, None, None),
        (None, arguments, definition),
        (None, arguments, None),
    ]
    .map(|(actor, arguments, definition)| Trait {
        what: &key.what,
        actor,
        arguments,
        definition,
    })
}

impl<'a> Unmatched<'a> {
    pub(in crate::history) fn new(left: impl Iterator<Item = &'a LedgerRequest>) -> Self {
        let left: Vec<Option<&LedgerRequest>> = left.map(Some).collect();
        let mut alike: [BTreeMap<Trait<'_>, VecDeque<usize>>; KINDS] = Default::default();
        for (at, asked) in left.iter().flatten().enumerate() {
            for (kind, shared) in std::iter::zip(&mut alike, traits(&asked.key)) {
                kind.entry(shared).or_default().push_back(at);
            }
        }
        Self { left, alike }
    }

    /// Takes the first of the requests that resemble one most. Each has its tool, and its actor or
    /// its arguments.
    pub(in crate::history) fn take_nearest(&mut self, key: &'a Key) -> Option<&'a LedgerRequest> {
        for (kind, shared) in std::iter::zip(&mut self.alike, traits(key)) {
            let Some(waiting) = kind.get_mut(&shared) else { continue };
            while let Some(at) = waiting.pop_front() {
                if let Some(found) = self.left[at].take() {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns those that are left, in order.
    pub(in crate::history) fn rest(self) -> impl Iterator<Item = &'a LedgerRequest> {
        self.left.into_iter().flatten()
    }
}
