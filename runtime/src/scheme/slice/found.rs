//! The steps of a slice, the order in which they are shown, and how texts and places are compared.
//!
//! INVARIANT: a step stands behind the one to which it led. It finds none; `../slice.rs` does.

use std::collections::BTreeMap;

use duet_kernel::datum::Span;
use duet_kernel::machine::OriginId;

/// A value, or a call of the host that passed a value on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    Value(OriginId),
    /// The action by which a value came into the event of a later turn: the number of the turn that
    /// received it, and of the source among those of its events.
    Sent {
        value: OriginId,
        received: usize,
        source: usize,
    },
}

/// A step that is part of a slice.
pub(super) struct SliceStep {
    pub(super) node: Node,
    pub(super) depth: usize,
    /// The step to which it led.
    pub(super) parent: Option<usize>,
    /// How many steps lead to it, itself included.
    pub(super) weight: usize,
}

/// Counts the steps that lead to each step.
pub(super) fn weighed(mut found: Vec<SliceStep>) -> Vec<SliceStep> {
    for index in (0..found.len()).rev() {
        let weight = found[index].weight;
        if let Some(parent) = found[index].parent {
            debug_assert!(parent < index, "a step stands behind the one to which it led");
            found[parent].weight += weight;
        }
    }
    found
}

/// The order in which steps are shown: each before those that led to it, shorter chains first.
pub(super) fn ordered(found: &[SliceStep]) -> Vec<usize> {
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, step) in found.iter().enumerate() {
        children.entry(step.parent).or_default().push(index);
    }
    for siblings in children.values_mut() {
        siblings.sort_by_key(|index| std::cmp::Reverse(found[*index].weight));
    }
    let mut left = children.remove(&None).unwrap_or_default();
    let mut order = Vec::new();
    while let Some(index) = left.pop() {
        order.push(index);
        left.extend(children.remove(&Some(index)).unwrap_or_default());
    }
    order
}

/// Whether a text has another, not as a part of a longer word.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_apart = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
    !word.is_empty()
        && text
            .match_indices(word)
            .any(|(at, _)| is_apart(text[..at].chars().next_back()) && is_apart(text[at + word.len()..].chars().next()))
}

/// Whether a place lies in another.
pub(super) fn contains(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}
