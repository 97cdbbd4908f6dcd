//! Data as a text describes them: constants of programs, not yet values of a heap.
//!
//! Owns the flat representation of a datum, names and source spans.
//! INVARIANT: a datum is one arena; nothing here recurses on its depth, and a datum may be cyclic
//! (datum labels).
//! It does not evaluate and knows nothing of heaps.
//! Read next: `datum/reader.rs`.

pub(crate) mod atom;
mod bytes;
pub(crate) mod case;
pub mod lexer;
mod printer;
pub mod reader;

use std::fmt;
use std::sync::Arc;

use crate::number::{Complex, Number};

/// The text of a symbol or keyword. Cloning is cheap; comparison is by content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub Arc<str>);

impl Name {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns a text, or its beginning and `…` if it has more than `characters_max` characters.
pub fn shortened(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The name that programs know: one that begins with `%` stands for the library's procedure.
pub(crate) fn public_name(name: &str) -> &str {
    name.strip_prefix('%').unwrap_or(name)
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl fmt::Display for Name {
    /// Shows the bare text, without the bars that `write` may need.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Identifies a source text within the session that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A range of a source text, `start..end`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Identifies one node of a [`Datum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One node of a [`Datum`].
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// The empty list.
    Nil,
    /// `#t` or `#f`.
    Boolean(bool),
    /// A real number.
    Number(Number),
    /// A number that is not real.
    Complex(Box<Complex>),
    /// A character.
    Character(char),
    /// A string; literal strings are immutable.
    String(Arc<str>),
    /// A symbol.
    Symbol(Name),
    /// A keyword; the name is without its colon.
    Keyword(Name),
    /// A bytevector.
    Bytevector(Arc<[u8]>),
    /// A pair of two nodes.
    Pair(NodeId, NodeId),
    /// A vector.
    Vector(Vec<NodeId>),
}

/// A datum: nodes that refer to each other by index, so that depth costs no stack and cycles are
/// allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// The node of the whole datum.
    pub root: NodeId,
}

impl Datum {
    /// Returns one of its nodes.
    ///
    /// # Panics
    /// If the id belongs to another datum.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Returns a datum of one node.
    pub fn of(node: Node) -> Datum {
        Datum {
            nodes: vec![node],
            root: NodeId(0),
        }
    }

    /// Returns a symbol.
    pub fn symbol(name: Name) -> Datum {
        Datum::of(Node::Symbol(name))
    }
}
