//! Data as heap values.
//!
//! INVARIANT: sharing and cycles of the datum are sharing and cycles of the value; strings, vectors
//! and bytevectors of program text are immutable.
//! It does not turn values back into data. Read next: `datum.rs`.

use super::kind::Flags;
use super::{Heap, HeapFull, Kind};
use crate::datum::{Datum, Node, NodeId};
use crate::value::Value;

impl Heap {
    /// The value of a datum of program text.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn literal(&mut self, datum: &Datum) -> Result<Value, HeapFull> {
        let values = self.values_of(datum, Flags::IMMUTABLE)?;
        Ok(values[datum.root.0 as usize].unwrap_or(Value::NIL))
    }

    /// The values of a datum's nodes by their ids, `None` for those that it does not reach; its
    /// strings, vectors and bytevectors have these flags.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn values_of(&mut self, datum: &Datum, flags: Flags) -> Result<Vec<Option<Value>>, HeapFull> {
        let mut values: Vec<Option<Value>> = vec![None; datum.nodes.len()];
        let mut pending = vec![datum.root];
        let mut passed = 0;
        while let Some(id) = pending.pop() {
            passed += 1;
            if self.ends_walk(passed) {
                break;
            }
            if values[id.0 as usize].is_some() {
                continue;
            }
            let node = &datum.nodes[id.0 as usize];
            values[id.0 as usize] = Some(self.node_shell(node, flags)?);
            match node {
                Node::Pair(car, cdr) => pending.extend([*cdr, *car]),
                Node::Vector(elements) => pending.extend(elements.iter().rev()),
                Node::Nil | Node::Boolean(_) | Node::Number(_) | Node::Complex(_) | Node::Character(_) => {}
                Node::String(_) | Node::Symbol(_) | Node::Keyword(_) | Node::Bytevector(_) => {}
            }
        }
        self.fill_shells(datum, &values);
        Ok(values)
    }

    /// The value of a node; the parts of pairs and vectors are left open.
    fn node_shell(&mut self, node: &Node, flags: Flags) -> Result<Value, HeapFull> {
        match node {
            Node::Nil => Ok(Value::NIL),
            Node::Boolean(truth) => Ok(Value::boolean(*truth)),
            Node::Number(number) => self.number(number),
            Node::Complex(number) => self.complex(number),
            Node::Character(character) => Ok(Value::character(*character)),
            Node::String(text) => {
                let string = self.string(text)?;
                self.set_flags(string, flags);
                Ok(string)
            }
            Node::Symbol(name) => self.intern(&name.0),
            Node::Keyword(name) => self.keyword(&name.0),
            Node::Bytevector(bytes) => self.make_raw(Kind::Bytevector, flags, bytes),
            Node::Pair(..) => self.cons(Value::UNSPECIFIED, Value::UNSPECIFIED),
            Node::Vector(elements) => {
                let vector = self.allocate(Kind::Vector, elements.len())?;
                self.set_flags(vector, flags);
                Ok(vector)
            }
        }
    }

    fn fill_shells(&mut self, datum: &Datum, values: &[Option<Value>]) {
        let value_of = |id: &NodeId| values[id.0 as usize].unwrap_or(Value::UNSPECIFIED);
        for (node, value) in datum.nodes.iter().zip(values) {
            match (node, value) {
                (Node::Pair(car, cdr), Some(pair)) => {
                    self.set_car(*pair, value_of(car));
                    self.set_cdr(*pair, value_of(cdr));
                }
                (Node::Vector(elements), Some(vector)) => {
                    for (place, element) in elements.iter().enumerate() {
                        self.set_field(*vector, place, value_of(element));
                    }
                }
                _ => {}
            }
        }
    }
}
