//! Searching lists.
//!
//! INVARIANT: a search looks at each pair once and fails rather than run round a cyclic chain. The forms of `member` and `assoc` that take
//! a procedure are Scheme. Read next: `primitive/equivalence.rs`.

use super::argument::{Pairs, wrong_type};
use super::{Context, Failure};
use crate::heap::Heap;
use crate::value::Value;

primitives! {
    /// The first tail of a list whose first element is the same as `object` to `eq?`, or `#f`. Fails with `wrong-type` if the list is not proper and nothing was found before its end.
    "memq" "object list" [2, 2] => |context, arguments| member(context, arguments, |_, a, b| a == b);

    /// The first tail of a list whose first element is the same as `object` to `eqv?`, or `#f`. Fails with `wrong-type` if the list is not proper and nothing was found before its end.
    "memv" "object list" [2, 2] => |context, arguments| member(context, arguments, Heap::eqv);

    /// The first tail of a list whose first element is `equal?` to `object`, or `#f`. Fails with `wrong-type` if the list is not proper and nothing was found before its end.
    "%member" "object list" [2, 2] => |context, arguments| member(context, arguments, Heap::equal);

    /// The first pair of a list of pairs whose first part is the same as `object` to `eq?`, or `#f`. Fails with `wrong-type` if an element before it is not a pair, or the list is not proper and nothing was found before its end.
    "assq" "object alist" [2, 2] => |context, arguments| associate(context, arguments, |_, a, b| a == b);

    /// The first pair of a list of pairs whose first part is the same as `object` to `eqv?`, or `#f`. Fails with `wrong-type` if an element before it is not a pair, or the list is not proper and nothing was found before its end.
    "assv" "object alist" [2, 2] => |context, arguments| associate(context, arguments, Heap::eqv);

    /// The first pair of a list of pairs whose first part is `equal?` to `object`, or `#f`. Fails with `wrong-type` if an element before it is not a pair, or the list is not proper and nothing was found before its end.
    "%assoc" "object alist" [2, 2] => |context, arguments| associate(context, arguments, Heap::equal);
}

fn member(
    context: &Context<'_>,
    arguments: &[Value],
    same: impl Fn(&Heap, Value, Value) -> bool,
) -> Result<Value, Failure> {
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
    same: impl Fn(&Heap, Value, Value) -> bool,
) -> Result<Value, Failure> {
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

/// `#f`, if the walk that ended was along a proper list.
fn nothing_in(pairs: &Pairs) -> Result<Value, Failure> {
    if pairs.rest == Value::NIL {
        Ok(Value::FALSE)
    } else {
        Err(wrong_type(1, "a proper list"))
    }
}
