//! Searching lists.
//!
//! INVARIANT: a search visits each pair once, and fails at the end of a cyclic chain.
//! It does not call procedures: the forms of `member` and `assoc` that take one are Scheme.
//! Read next: `primitive/equivalence.rs`.

use super::argument::{Pairs, wrong_type};
use super::{Context, PrimitiveError, cost};
use crate::heap::{Heap, Steps};
use crate::value::Value;

primitives! {
    /// Returns the first tail of a list whose first element is `eq?` to `object`, or `#f`.
    /// Fails with `wrong-type` if the list is not proper and has no such element before its end.
    "memq" "object list" [2, 2] counted => |context, arguments| member(context, arguments, |_, a, b| a == b);

    /// Returns the first tail of a list whose first element is `eqv?` to `object`, or `#f`.
    /// Fails with `wrong-type` if the list is not proper and has no such element before its end.
    "memv" "object list" [2, 2] counted => |context, arguments| member(context, arguments, Heap::eqv);

    /// Returns the first tail of a list whose first element is `equal?` to `object`, or `#f`.
    /// Fails with `wrong-type` if the list is not proper and has no such element before its end.
    "%member" "object list" [2, 2] counted => |context, arguments| if arguments[0].is_reference() {
        member(context, arguments, equal_in_steps())
    } else {
        member(context, arguments, |_, a, b| a == b)
    };

    /// Returns the first pair of a list of pairs whose car is `eq?` to `object`, or `#f`.
    /// Fails with `wrong-type` if an element before it is not a pair, or if the list is not proper
    /// and has no such pair before its end.
    "assq" "object alist" [2, 2] counted => |context, arguments| associate(context, arguments, |_, a, b| a == b);

    /// Returns the first pair of a list of pairs whose car is `eqv?` to `object`, or `#f`.
    /// Fails with `wrong-type` if an element before it is not a pair, or if the list is not proper
    /// and has no such pair before its end.
    "assv" "object alist" [2, 2] counted => |context, arguments| associate(context, arguments, Heap::eqv);

    /// Returns the first pair of a list of pairs whose car is `equal?` to `object`, or `#f`.
    /// Fails with `wrong-type` if an element before it is not a pair, or if the list is not proper
    /// and has no such pair before its end.
    "%assoc" "object alist" [2, 2] counted => |context, arguments| if arguments[0].is_reference() {
        associate(context, arguments, equal_in_steps())
    } else {
        associate(context, arguments, |_, a, b| a == b)
    };
}

/// Returns `equal?`, which charges for each comparison besides the walk along the list.
fn equal_in_steps() -> impl FnMut(&Heap, Value, Value) -> bool {
    let mut steps = Steps::<{ cost::ELEMENTS }>::default();
    move |heap, a, b| {
        steps.step(heap);
        heap.equal(a, b)
    }
}

fn member(
    context: &Context<'_>,
    arguments: &[Value],
    mut same: impl FnMut(&Heap, Value, Value) -> bool,
) -> Result<Value, PrimitiveError> {
    let mut pairs = Pairs::of(arguments[1]);
    while let Some(pair) = pairs.next(context.heap) {
        if same(context.heap, arguments[0], context.heap.car(pair)) {
            return Ok(pair);
        }
    }
    nothing_in(&pairs)
}

fn associate(
    context: &Context<'_>,
    arguments: &[Value],
    mut same: impl FnMut(&Heap, Value, Value) -> bool,
) -> Result<Value, PrimitiveError> {
    let mut pairs = Pairs::of(arguments[1]);
    while let Some(pair) = pairs.next(context.heap) {
        let entry = context.heap.car(pair);
        if !entry.is_pair() {
            return Err(wrong_type(1, "a list of pairs"));
        }
        if same(context.heap, arguments[0], context.heap.car(entry)) {
            return Ok(entry);
        }
    }
    nothing_in(&pairs)
}

/// Returns `#f` if the walk along a list ended properly; fails otherwise.
fn nothing_in(pairs: &Pairs) -> Result<Value, PrimitiveError> {
    if pairs.rest == Value::NIL {
        Ok(Value::FALSE)
    } else {
        Err(wrong_type(1, "a proper list"))
    }
}
