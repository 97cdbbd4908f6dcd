//! The steps of a slice, and the order in which they are shown.
//!
//! INVARIANT: a step stands behind the one to which it led. It finds none; `../slice.rs` does.

use std::collections::BTreeMap;

use super::Node;

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
