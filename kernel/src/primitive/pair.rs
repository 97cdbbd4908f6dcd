//! Pairs, and making and splitting lists.
//!
//! INVARIANT: every walk along a chain of pairs ends, even if the chain is cyclic.
//! It does not search (`primitive/list.rs`).
//! Read next: `primitive/accessor.rs`.

use super::argument::{Pairs, count_at, list_length, number_at, pair_at, wrong_type};
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::Heap;
use crate::number::Number;
use crate::value::Value;

primitives! {
    /// Makes a pair of two values.
    "cons" "car cdr" [2, 2] free => |context, arguments| Ok(context.heap.cons(arguments[0], arguments[1])?);

    /// Returns the first part of a pair.
    /// Fails with `wrong-type` if the argument is not a pair.
    "car" "pair" [1, 1] free => |context, arguments| Ok(context.heap.car(pair_at(arguments, 0)?));

    /// Returns the second part of a pair.
    /// Fails with `wrong-type` if the argument is not a pair.
    "cdr" "pair" [1, 1] free => |context, arguments| Ok(context.heap.cdr(pair_at(arguments, 0)?));

    /// Replaces the first part of a pair.
    /// Fails with `wrong-type` if the first argument is not a pair.
    "set-car!" "pair object" [2, 2] free => |context, arguments| {
        context.heap.set_car(pair_at(arguments, 0)?, arguments[1]);
        Ok(Value::UNSPECIFIED)
    };

    /// Replaces the second part of a pair.
    /// Fails with `wrong-type` if the first argument is not a pair.
    "set-cdr!" "pair object" [2, 2] free => |context, arguments| {
        context.heap.set_cdr(pair_at(arguments, 0)?, arguments[1]);
        Ok(Value::UNSPECIFIED)
    };

    /// Returns whether the argument is a pair.
    "pair?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(arguments[0].is_pair()));

    /// Returns whether the argument is the empty list.
    "null?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(arguments[0] == Value::NIL));

    /// Returns whether the argument is a proper list: a chain of pairs that ends in the empty list.
    /// A cyclic chain is not.
    "list?" "object" [1, 1] counted => |context, arguments| {
        Ok(Value::boolean(list_length(context.heap, arguments[0]).is_some()))
    };

    /// Makes a list of the arguments.
    "list" "object …" [0, _] (cost::arguments) => |context, arguments| Ok(context.heap.list(arguments, Value::NIL)?);

    /// Makes a list of all arguments except the last, which becomes its tail.
    "cons*" "object … tail" [1, _] (cost::arguments) => |context, arguments| {
        let (tail, elements) = arguments.split_last().ok_or(wrong_type(0, "a tail"))?;
        Ok(context.heap.list(elements, *tail)?)
    };

    /// Makes a list of `k` elements, all `fill` (default unspecified).
    /// Fails with `wrong-type` if `k` is not an exact integer, with `out-of-range` if it is
    /// negative.
    "make-list" "k [fill]" [1, 2] (cost::new_pairs) => |context, arguments| {
        let length = room_for(context.heap, count_at(context.heap, arguments, 0)?)?;
        let fill = arguments.get(1).copied().unwrap_or(Value::UNSPECIFIED);
        let mut list = Value::NIL;
        for _ in 0..length {
            list = context.heap.cons(fill, list)?;
        }
        Ok(list)
    };

    /// Makes the list of `count` numbers `start`, `start + step`, `start + 2·step`, …; the defaults
    /// are 0 and 1.
    /// Fails with `wrong-type` if `count` is not an exact integer or the others are not numbers,
    /// with `out-of-range` if `count` is negative.
    "iota" "count [start [step]]" [1, 3] (cost::numbers) => iota;

    /// Returns the number of elements of a list, an exact integer.
    /// Fails with `wrong-type` if the argument is not a proper list; a cyclic chain is not.
    "length" "list" [1, 1] counted => |context, arguments| match list_length(context.heap, arguments[0]) {
        Some(length) => Ok(Value::length(length)),
        None => Err(wrong_type(0, "a proper list")),
    };

    /// Makes a list that concatenates all the lists. The last argument is shared, not copied, and
    /// may be any object.
    /// Fails with `wrong-type` if another argument is not a proper list.
    "append" "list … object" [0, _] counted => append;

    /// Makes a list of the same elements in reverse order.
    /// Fails with `wrong-type` if the argument is not a proper list.
    "reverse" "list" [1, 1] counted => |context, arguments| {
        let length = list_length(context.heap, arguments[0]).ok_or(wrong_type(0, "a proper list"))?;
        context.heap.charge(length as u64 / cost::PAIRS);
        let (mut rest, mut reversed) = (arguments[0], Value::NIL);
        while rest.is_pair() {
            reversed = context.heap.cons(context.heap.car(rest), reversed)?;
            rest = context.heap.cdr(rest);
        }
        Ok(reversed)
    };

    /// Returns the list without its first `k` elements; it is shared, not copied.
    /// Fails with `wrong-type` if `k` is not an exact integer, with `out-of-range` if it is
    /// negative or there are fewer elements.
    "list-tail" "list k" [2, 2] counted => |context, arguments| tail_at(context, arguments);

    /// Returns the element of a list at index `k`, from 0.
    /// Fails with `wrong-type` if `k` is not an exact integer, with `out-of-range` if there is no
    /// such element.
    "list-ref" "list k" [2, 2] counted => |context, arguments| Ok(context.heap.car(place_at(context, arguments)?));

    /// Replaces the element of a list at index `k`, from 0.
    /// Fails with `wrong-type` if `k` is not an exact integer, with `out-of-range` if there is no
    /// such element.
    "list-set!" "list k object" [3, 3] counted => |context, arguments| {
        let place = place_at(context, arguments)?;
        context.heap.set_car(place, arguments[2]);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes a list of the same elements. The tail of the last pair is shared; an object that is
    /// not a pair is returned as it is.
    /// Fails with `wrong-type` if the chain is cyclic.
    "list-copy" "object" [1, 1] counted => |context, arguments| {
        let mut elements = Vec::new();
        let tail = acyclic_end(context.heap, arguments, |pair| elements.push(pair))?;
        context.heap.spend(elements.len() as u64 / cost::PAIRS)?;
        for pair in elements.iter_mut() {
            *pair = context.heap.car(*pair);
        }
        Ok(context.heap.list(&elements, tail)?)
    };

    /// Returns the last pair of a chain of pairs.
    /// Fails with `wrong-type` if the argument is not a pair or the chain is cyclic.
    "last-pair" "pair" [1, 1] counted => |context, arguments| {
        let mut last = pair_at(arguments, 0)?;
        acyclic_end(context.heap, arguments, |pair| last = pair)?;
        Ok(last)
    };
}

/// Returns `length`, if that many pairs fit into the heap.
fn room_for(heap: &Heap, length: usize) -> Result<usize, PrimitiveError> {
    if heap.would_exceed(length.saturating_mul(2)) {
        Err(PrimitiveError::HeapFull)
    } else {
        Ok(length)
    }
}

fn iota(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let count = room_for(context.heap, count_at(context.heap, arguments, 0)?)?;
    let given = |argument: usize, default: i64| match arguments.get(argument) {
        Some(_) => number_at(context.heap, arguments, argument),
        None => Ok(Number::Fixnum(default)),
    };
    let (start, step) = (given(1, 0)?, given(2, 1)?);
    let mut list = Value::NIL;
    for place in (0..count as i64).rev() {
        let number = start.add(&step.mul(&Number::Fixnum(place))?)?;
        let element = context.heap.number(&number)?;
        list = context.heap.cons(element, list)?;
    }
    Ok(list)
}

fn append(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let Some((last, lists)) = arguments.split_last() else {
        return Ok(Value::NIL);
    };
    for (argument, list) in lists.iter().enumerate() {
        list_length(context.heap, *list).ok_or(wrong_type(argument, "a proper list"))?;
    }
    let mut appended = *last;
    for argument in (0..lists.len()).rev() {
        // One list at a time, so that many references to a long one exceed the heap's limit and not
        // the process's memory.
        let list = arguments[argument];
        let length = list_length(context.heap, list).ok_or(wrong_type(argument, "a proper list"))?;
        context.heap.spend(length as u64 / cost::ELEMENTS)?;
        context.heap.spend(length as u64 / cost::PAIRS)?;
        appended = context.heap.copy_list(list, length, appended)?;
    }
    Ok(appended)
}

/// Returns the rest of the list `arguments[0]` after `arguments[1]` pairs.
fn tail_at(context: &Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let count = count_at(context.heap, arguments, 1)?;
    let mut pairs = Pairs::of(arguments[0]);
    while pairs.passed < count && pairs.next(context.heap).is_some() {}
    context.heap.spend(0)?;
    if pairs.passed == count {
        return Ok(pairs.rest);
    }
    if !pairs.rest.is_pair() {
        return Err(PrimitiveError::OutOfRange { argument: 1 });
    }
    let mut tail = pairs.rest;
    for _ in 0..(count - pairs.passed) % pairs.period() {
        tail = context.heap.cdr(tail);
    }
    Ok(tail)
}

/// Returns the pair of the list `arguments[0]` that holds the element at the index `arguments[1]`.
fn place_at(context: &Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let tail = tail_at(context, arguments)?;
    if tail.is_pair() {
        Ok(tail)
    } else {
        Err(PrimitiveError::OutOfRange { argument: 1 })
    }
}

/// Returns the tail of the last pair of the chain `arguments[0]`; visits every pair once.
fn acyclic_end(heap: &Heap, arguments: &[Value], mut visit: impl FnMut(Value)) -> Result<Value, PrimitiveError> {
    let mut pairs = Pairs::of(arguments[0]);
    while let Some(pair) = pairs.next(heap) {
        visit(pair);
    }
    if pairs.rest.is_pair() {
        Err(wrong_type(0, "a list without cycle"))
    } else {
        Ok(pairs.rest)
    }
}
