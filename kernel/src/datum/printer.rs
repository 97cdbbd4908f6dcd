//! The printer: data to text that reads back as the same data.
//!
//! Owns the external representation of constants, with datum labels where a datum contains itself.
//! INVARIANT: reading what it prints gives an equal datum; it keeps its own stack.
//! It does not print values of a heap.
//! Read next: `reader.rs`, its inverse.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::atom::{write_character, write_delimited, write_keyword, write_symbol};
use super::{Datum, Node, NodeId};

impl fmt::Display for Datum {
    /// Writes the external representation, as `write` does.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut labels = cycle_heads(self);
        let mut next_label = 0;
        let mut work = vec![Pending::Node(self.root)];
        while let Some(task) = work.pop() {
            match task {
                Pending::Text(text) => formatter.write_str(text)?,
                Pending::Node(id) => {
                    if let Some(text) = label(&mut labels, &mut next_label, id) {
                        formatter.write_str(&text)?;
                        if text.ends_with('#') {
                            continue;
                        }
                    }
                    open(self, id, formatter, &mut work)?;
                }
                Pending::Tail(id) => tail(self, id, &labels, formatter, &mut work)?,
            }
        }
        Ok(())
    }
}

/// A task that remains to be done; the last one is next.
enum Pending {
    Text(&'static str),
    Node(NodeId),
    /// Prints the rest of a list and its closing parenthesis.
    Tail(NodeId),
}

fn open(datum: &Datum, id: NodeId, formatter: &mut fmt::Formatter<'_>, work: &mut Vec<Pending>) -> fmt::Result {
    match datum.node(id) {
        Node::Pair(first, rest) => {
            formatter.write_char('(')?;
            work.extend([Pending::Tail(*rest), Pending::Node(*first)]);
            Ok(())
        }
        Node::Vector(elements) => {
            formatter.write_str("#(")?;
            work.push(Pending::Text(")"));
            for (index, element) in elements.iter().enumerate().rev() {
                work.push(Pending::Node(*element));
                if index > 0 {
                    work.push(Pending::Text(" "));
                }
            }
            Ok(())
        }
        atom @ (Node::Nil
        | Node::Boolean(_)
        | Node::Number(_)
        | Node::Complex(_)
        | Node::Character(_)
        | Node::String(_)
        | Node::Symbol(_)
        | Node::Keyword(_)
        | Node::Bytevector(_)) => write_atom(atom, formatter),
    }
}

fn tail(
    datum: &Datum,
    id: NodeId,
    labels: &BTreeMap<NodeId, Option<u32>>,
    formatter: &mut fmt::Formatter<'_>,
    work: &mut Vec<Pending>,
) -> fmt::Result {
    if *datum.node(id) == Node::Nil {
        return formatter.write_char(')');
    }
    if let Node::Pair(first, rest) = datum.node(id)
        && !labels.contains_key(&id)
    {
        formatter.write_char(' ')?;
        work.extend([Pending::Tail(*rest), Pending::Node(*first)]);
        return Ok(());
    }
    formatter.write_str(" . ")?;
    work.extend([Pending::Text(")"), Pending::Node(id)]);
    Ok(())
}

/// Returns the label to print at a node: `#n=` the first time, `#n#` afterwards, nothing if no
/// cycle begins there.
fn label(labels: &mut BTreeMap<NodeId, Option<u32>>, next: &mut u32, id: NodeId) -> Option<String> {
    let slot = labels.get_mut(&id)?;
    Some(match slot {
        Some(number) => format!("#{number}#"),
        None => {
            *slot = Some(*next);
            *next += 1;
            format!("#{}=", *next - 1)
        }
    })
}

/// Returns the nodes that contain themselves, where the search enters their cycles.
fn cycle_heads(datum: &Datum) -> BTreeMap<NodeId, Option<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Never,
        Open,
        Done,
    }
    let mut visits = vec![Visit::Never; datum.nodes.len()];
    let mut heads = BTreeMap::new();
    let mut work = vec![(datum.root, false)];
    while let Some((id, is_leaving)) = work.pop() {
        let visit = &mut visits[id.0 as usize];
        match (is_leaving, *visit) {
            (true, _) => *visit = Visit::Done,
            (false, Visit::Done) => {}
            (false, Visit::Open) => {
                heads.insert(id, None);
            }
            (false, Visit::Never) => {
                *visit = Visit::Open;
                work.push((id, true));
                if let Node::Pair(first, rest) = datum.node(id) {
                    work.extend([(*first, false), (*rest, false)]);
                } else if let Node::Vector(elements) = datum.node(id) {
                    work.extend(elements.iter().map(|child| (*child, false)));
                }
            }
        }
    }
    heads
}

fn write_atom(node: &Node, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match node {
        Node::Nil => formatter.write_str("()"),
        Node::Boolean(value) => formatter.write_str(if *value { "#t" } else { "#f" }),
        Node::Number(number) => write!(formatter, "{number}"),
        Node::Complex(number) => write!(formatter, "{number}"),
        Node::Character(character) => write_character(*character, formatter),
        Node::String(text) => write_delimited(text.chars(), '"', formatter),
        Node::Symbol(name) => write_symbol(name.as_str(), formatter),
        Node::Keyword(name) => write_keyword(name.as_str(), formatter),
        Node::Bytevector(bytes) => {
            formatter.write_str("#u8(")?;
            for (index, byte) in bytes.iter().enumerate() {
                let blank = if index > 0 { " " } else { "" };
                write!(formatter, "{blank}{byte}")?;
            }
            formatter.write_char(')')
        }
        Node::Pair(..) | Node::Vector(_) => Ok(()),
    }
}
