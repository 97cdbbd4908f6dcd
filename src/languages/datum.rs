//! Lists and symbols of data that a person wrote: manifests and declarations of libraries.
//!
//! INVARIANT: a datum whose labels make it circular ends the walk; it never makes the walk endless.
//! It reads no text; the kernel's reader does.
//! Read next: `world/launch.rs`.

use duet_kernel::datum::{Datum, Node, NodeId};

/// The name that a symbol is.
pub(crate) fn symbol(datum: &Datum, id: NodeId) -> Option<&str> {
    if let Node::Symbol(name) = datum.node(id) {
        Some(name.as_str())
    } else {
        None
    }
}

/// The elements of a proper list, which labels may have made circular.
pub(crate) fn list(datum: &Datum, mut id: NodeId) -> Option<Vec<NodeId>> {
    let mut elements = Vec::new();
    while let Node::Pair(first, rest) = datum.node(id) {
        elements.push(*first);
        if elements.len() > datum.nodes.len() {
            return None;
        }
        id = *rest;
    }
    matches!(datum.node(id), Node::Nil).then_some(elements)
}
