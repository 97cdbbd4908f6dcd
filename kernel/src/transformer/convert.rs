//! Syntax objects in a heap, and heap values as syntax.
//!
//! INVARIANT: a reference is valid only with the store that it was made from; transformers of a
//! session share one store. Nothing here recurses on the depth of a value.
//! It does not check the arguments of operations.
//! Read next: `transformer/operation.rs`.

use std::collections::BTreeMap;

use crate::code::CodeSpace;
use crate::datum::{Name, Node};
use crate::diagnostic;
use crate::heap::kind::opaque;
use crate::heap::{Heap, HeapFull, Kind};
use crate::printer::write_limited;
use crate::syntax::Syntax;
use crate::syntax::procedural::Expanding;
use crate::syntax::rules::Match;
use crate::syntax::scope::ScopeSet;
use crate::value::Value;

/// The class of references to syntax objects; the id is the node, the payload the scopes.
const CLASS_SYNTAX: u32 = 1;
/// The class of references to variable transformers; the payload is the procedure.
const CLASS_VARIABLE_TRANSFORMER: u32 = 2;

/// The reason why a value is not syntax.
pub(super) enum NotSyntax {
    Symbol(Name),
    Value(Value),
    Circular,
}

impl NotSyntax {
    /// The same without the heap.
    pub(super) fn shown(self, heap: &Heap, code: &CodeSpace) -> diagnostic::NotSyntax {
        match self {
            Self::Symbol(name) => diagnostic::NotSyntax::Symbol(name),
            Self::Value(value) => {
                diagnostic::NotSyntax::Value(write_limited(heap, code, value, super::SHOWN_CHARACTERS))
            }
            Self::Circular => diagnostic::NotSyntax::Circular,
        }
    }
}

/// The reason why a conversion to syntax fails.
pub(super) enum Unconvertible {
    NotSyntax(NotSyntax),
    /// The session would have too many syntax nodes.
    TooMuch,
}

/// Returns a syntax object as a value.
pub(super) fn to_value(heap: &mut Heap, syntax: Syntax) -> Result<Value, HeapFull> {
    let (node, scopes) = syntax.to_numbers();
    heap.make_opaque(CLASS_SYNTAX, node, Value::length(scopes as usize))
}

/// Returns the syntax object, if the value is one.
pub(super) fn from_value(heap: &Heap, value: Value) -> Option<Syntax> {
    let number = |field| u32::try_from(heap.field(value, field).as_fixnum()?).ok();
    if !is_reference(heap, value, CLASS_SYNTAX) {
        return None;
    }
    Some(Syntax::from_numbers(number(opaque::ID)?, number(opaque::PAYLOAD)?))
}

/// Marks a procedure as one that rewrites assignments.
pub(super) fn make_variable_transformer(heap: &mut Heap, procedure: Value) -> Result<Value, HeapFull> {
    heap.make_opaque(CLASS_VARIABLE_TRANSFORMER, 0, procedure)
}

/// Returns the procedure, if the value is a variable transformer.
pub(super) fn variable_transformer(heap: &Heap, value: Value) -> Option<Value> {
    is_reference(heap, value, CLASS_VARIABLE_TRANSFORMER).then(|| heap.field(value, opaque::PAYLOAD))
}

fn is_reference(heap: &Heap, value: Value, class: u32) -> bool {
    heap.is_kind(value, Kind::Opaque) && heap.field(value, opaque::CLASS).as_fixnum() == Some(class.into())
}

/// The state of a pair or vector during a conversion.
enum Progress {
    Begun,
    Done(Syntax),
}

/// A task that remains to be done.
enum Pending {
    Visit(Value),
    Pair(Value),
    Vector(Value),
}

/// Converts a value to syntax: syntax objects as they are, pairs and vectors part by part. Symbols
/// get `symbol_scopes`; without these they are refused.
pub(super) fn to_syntax(
    heap: &Heap,
    value: Value,
    expanding: &mut Expanding<'_>,
    symbol_scopes: Option<ScopeSet>,
) -> Result<Syntax, Unconvertible> {
    let mut known: BTreeMap<u64, Progress> = BTreeMap::new();
    let mut tasks = vec![Pending::Visit(value)];
    let mut made: Vec<Syntax> = Vec::new();
    while let Some(task) = tasks.pop() {
        if expanding.store.length() > expanding.nodes_max {
            return Err(Unconvertible::TooMuch);
        }
        let step = expanding.step;
        match task {
            Pending::Visit(value) if value.is_pair() || heap.is_kind(value, Kind::Vector) => {
                match known.insert(value.to_bits(), Progress::Begun) {
                    Some(Progress::Begun) => return Err(Unconvertible::NotSyntax(NotSyntax::Circular)),
                    Some(Progress::Done(syntax)) => {
                        known.insert(value.to_bits(), Progress::Done(syntax));
                        made.push(syntax);
                    }
                    None if value.is_pair() => {
                        tasks.extend([
                            Pending::Pair(value),
                            Pending::Visit(heap.cdr(value)),
                            Pending::Visit(heap.car(value)),
                        ]);
                    }
                    None => {
                        tasks.push(Pending::Vector(value));
                        let fields = (0..heap.object_length(value)).rev();
                        tasks.extend(fields.map(|field| Pending::Visit(heap.field(value, field))));
                    }
                }
            }
            Pending::Visit(value) => {
                let leaf = leaf(heap, value, expanding, symbol_scopes).map_err(Unconvertible::NotSyntax)?;
                made.push(leaf);
            }
            Pending::Pair(value) => {
                let parts = made.split_off(made.len() - 2);
                let pair = expanding.store.make_pair_at(parts[0], parts[1], &step);
                known.insert(value.to_bits(), Progress::Done(pair));
                made.push(pair);
            }
            Pending::Vector(value) => {
                let elements = made.split_off(made.len() - heap.object_length(value));
                let vector = expanding.store.make_vector_at(elements, &step);
                known.insert(value.to_bits(), Progress::Done(vector));
                made.push(vector);
            }
        }
    }
    made.pop()
        .ok_or(Unconvertible::NotSyntax(NotSyntax::Value(Value::UNSPECIFIED)))
}

/// Converts a value without parts to syntax.
fn leaf(
    heap: &Heap,
    value: Value,
    expanding: &mut Expanding<'_>,
    symbol_scopes: Option<ScopeSet>,
) -> Result<Syntax, NotSyntax> {
    if let Some(syntax) = from_value(heap, value) {
        return Ok(syntax);
    }
    let step = expanding.step;
    if heap.is_symbol(value) {
        let name = Name::from(heap.symbol_name(value).as_str());
        let scopes = symbol_scopes.ok_or_else(|| NotSyntax::Symbol(name.clone()))?;
        return Ok(expanding.store.make_identifier_at(&name, scopes, &step));
    }
    let node = atom(heap, value).ok_or(NotSyntax::Value(value))?;
    Ok(expanding.store.make_atom_at(node, &step))
}

/// Returns the datum of a value without parts.
fn atom(heap: &Heap, value: Value) -> Option<Node> {
    if value == Value::NIL {
        return Some(Node::Nil);
    }
    if value == Value::TRUE || value == Value::FALSE {
        return Some(Node::Boolean(value == Value::TRUE));
    }
    if let Some(character) = value.as_character() {
        return Some(Node::Character(character));
    }
    if let Some(number) = heap.as_number(value) {
        return Some(Node::Number(number));
    }
    if heap.is_string(value) {
        return Some(Node::String(heap.string_text(value).into()));
    }
    if heap.is_kind(value, Kind::Bytevector) {
        return Some(Node::Bytevector(heap.raw_bytes(value).into()));
    }
    let is_keyword = heap.is_kind(value, Kind::Keyword);
    is_keyword.then(|| Node::Keyword(Name::from(heap.symbol_name(heap.field(value, 0)).as_str())))
}

/// Returns the match of a pattern variable as a value: a syntax object, or a list for each
/// ellipsis. The recursion is on the depth of ellipses.
pub(super) fn match_value(heap: &mut Heap, matched: &Match) -> Result<Value, HeapFull> {
    match matched {
        Match::Nothing => Ok(Value::FALSE),
        Match::One(syntax) => to_value(heap, *syntax),
        Match::Many(elements) => {
            let mut values = Vec::with_capacity(elements.len());
            for element in elements {
                values.push(match_value(heap, element)?);
            }
            heap.list(&values, Value::NIL)
        }
    }
}

/// Returns a value as the match of a pattern variable of some depth. The recursion is on that
/// depth.
pub(super) fn value_match(
    heap: &Heap,
    value: Value,
    depth: u32,
    expanding: &mut Expanding<'_>,
) -> Result<Match, Unconvertible> {
    let Some(inner) = depth.checked_sub(1) else {
        return to_syntax(heap, value, expanding, None).map(Match::One);
    };
    let elements = elements(heap, value, expanding).ok_or(Unconvertible::NotSyntax(NotSyntax::Value(value)))?;
    let mut matches = Vec::with_capacity(elements.len());
    for element in elements {
        matches.push(match element {
            Element::Value(value) => value_match(heap, value, inner, expanding)?,
            Element::Syntax(syntax) => {
                syntax_match(syntax, inner, expanding).ok_or(Unconvertible::NotSyntax(NotSyntax::Value(value)))?
            }
        });
    }
    Ok(Match::Many(matches))
}

fn syntax_match(syntax: Syntax, depth: u32, expanding: &mut Expanding<'_>) -> Option<Match> {
    let Some(inner) = depth.checked_sub(1) else {
        return Some(Match::One(syntax));
    };
    let elements = expanding.store.list(syntax)?;
    let matches = elements
        .into_iter()
        .map(|element| syntax_match(element, inner, expanding));
    matches.collect::<Option<Vec<_>>>().map(Match::Many)
}

/// An element of a list that consists partly of syntax objects.
pub(super) enum Element {
    Value(Value),
    Syntax(Syntax),
}

/// Returns the elements of a proper list: pairs, a syntax object, or pairs that end in a syntax
/// object.
pub(super) fn elements(heap: &Heap, list: Value, expanding: &mut Expanding<'_>) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    let mut rest = list;
    // Moves at half the pace, so that a circular list catches up with it.
    let mut follower = list;
    while rest.is_pair() {
        elements.push(Element::Value(heap.car(rest)));
        rest = heap.cdr(rest);
        if elements.len() % 2 == 0 {
            follower = heap.cdr(follower);
        }
        if rest == follower {
            return None;
        }
    }
    if rest == Value::NIL {
        return Some(elements);
    }
    let tail = expanding.store.list(from_value(heap, rest)?)?;
    elements.extend(tail.into_iter().map(Element::Syntax));
    Some(elements)
}
