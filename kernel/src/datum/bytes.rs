//! Data as bytes: the hash of a unit covers them, and a unit that is compiled ahead stores them.
//!
//! INVARIANT: two data have the same bytes only if they are the same, node for node; bytes that
//! belong to no datum decode to nothing and never cause a panic.
//! It knows nothing of units.
//! Read next: `unit/bytes.rs`.

use std::sync::Arc;

use super::{Datum, Name, Node, NodeId};
use crate::number::{Complex, Number};

impl Datum {
    /// Returns a byte string that two data share only if they are the same, node for node.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.root.0.to_le_bytes().to_vec();
        for node in &self.nodes {
            node.write_bytes(&mut bytes);
        }
        bytes
    }

    /// Returns the datum that [`Datum::to_bytes`] encoded.
    pub fn from_bytes(bytes: &[u8]) -> Option<Datum> {
        let (root, mut rest) = bytes.split_first_chunk::<4>()?;
        let root = NodeId(u32::from_le_bytes(*root));
        let mut nodes = Vec::new();
        while let Some((tag, after)) = rest.split_first() {
            let (length, after) = after.split_first_chunk::<8>()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (content, after) = after.split_at_checked(length)?;
            nodes.push(Node::read_bytes(*tag, content)?);
            rest = after;
        }
        let is_there = |id: &NodeId| (id.0 as usize) < nodes.len();
        let is_whole = |node: &Node| match node {
            Node::Pair(first, second) => is_there(first) && is_there(second),
            Node::Vector(elements) => elements.iter().all(is_there),
            Node::Nil
            | Node::Boolean(_)
            | Node::Number(_)
            | Node::Complex(_)
            | Node::Character(_)
            | Node::String(_)
            | Node::Symbol(_)
            | Node::Keyword(_)
            | Node::Bytevector(_) => true,
        };
        (is_there(&root) && nodes.iter().all(is_whole)).then_some(Datum { nodes, root })
    }
}

impl Node {
    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        let (tag, content): (u8, Vec<u8>) = match self {
            Node::Nil => (0, Vec::new()),
            Node::Boolean(truth) => (1, vec![(*truth).into()]),
            Node::Number(Number::Flonum(number)) => (2, number.to_bits().to_le_bytes().to_vec()),
            Node::Number(number) => (3, number.to_string().into_bytes()),
            Node::Complex(number) => (11, number.to_string().into_bytes()),
            Node::Character(character) => (4, u32::from(*character).to_le_bytes().to_vec()),
            Node::String(text) => (5, text.as_bytes().to_vec()),
            Node::Symbol(name) => (6, name.0.as_bytes().to_vec()),
            Node::Keyword(name) => (7, name.0.as_bytes().to_vec()),
            Node::Bytevector(content) => (8, content.to_vec()),
            Node::Pair(first, second) => (9, [first.0, second.0].map(u32::to_le_bytes).concat()),
            Node::Vector(elements) => (
                10,
                elements.iter().flat_map(|element| element.0.to_le_bytes()).collect(),
            ),
        };
        bytes.push(tag);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }

    fn read_bytes(tag: u8, content: &[u8]) -> Option<Node> {
        let text = || std::str::from_utf8(content).ok();
        let word = || content.try_into().ok().map(u32::from_le_bytes);
        Some(match tag {
            0 if content.is_empty() => Node::Nil,
            1 => match content {
                [0] => Node::Boolean(false),
                [1] => Node::Boolean(true),
                _ => return None,
            },
            2 => Node::Number(Number::Flonum(f64::from_bits(u64::from_le_bytes(
                content.try_into().ok()?,
            )))),
            3 => Node::Number(Number::parse(text()?, 10)?),
            4 => Node::Character(char::from_u32(word()?)?),
            5 => Node::String(Arc::from(text()?)),
            6 => Node::Symbol(Name::from(text()?)),
            7 => Node::Keyword(Name::from(text()?)),
            8 => Node::Bytevector(Arc::from(content)),
            9 => {
                let (first, second) = content.split_first_chunk::<4>()?;
                let second: [u8; 4] = second.try_into().ok()?;
                Node::Pair(NodeId(u32::from_le_bytes(*first)), NodeId(u32::from_le_bytes(second)))
            }
            10 => {
                let (elements, rest) = content.as_chunks::<4>();
                let elements = elements.iter().map(|element| NodeId(u32::from_le_bytes(*element)));
                rest.is_empty().then(|| Node::Vector(elements.collect()))?
            }
            11 => Node::Complex(Box::new(Complex::parse(text()?, 10)?)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::datum::SourceId;
    use crate::datum::reader::read_all;

    fn check(text: &str) {
        let (reading, errors) = read_all(text, SourceId(0));
        assert!(errors.is_empty(), "{text}: {errors:?}");
        let datum = Datum {
            nodes: reading.nodes,
            root: reading.forms[0],
        };
        assert_eq!(Datum::from_bytes(&datum.to_bytes()), Some(datum), "{text}");
    }

    #[test]
    fn every_datum_has_bytes_of_its_own() {
        check("(1 -2.5 3/4 123456789012345678901234567890 1+2i 1.5-2.5i)");
        check(r#"(a |b c| :key "text" #\x #\newline #t #f () #u8(1 2) #(1 (2 . 3)))"#);
        check("#0=(1 . #0#)");
    }

    #[test]
    fn what_is_cut_short_or_points_nowhere_is_nothing() {
        let bytes = Datum::symbol(Name::from("abc")).to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Datum::from_bytes(&bytes[..length]), None, "{length}");
        }
        let nowhere = Datum {
            nodes: vec![Node::Pair(NodeId(0), NodeId(7))],
            root: NodeId(0),
        };
        assert_eq!(Datum::from_bytes(&nowhere.to_bytes()), None);
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_are_a_datum_or_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(datum) = Datum::from_bytes(&bytes) {
                prop_assert!((datum.root.0 as usize) < datum.nodes.len());
            }
        }
    }
}
