//! Equivalence, booleans, and unique objects.
//!
//! INVARIANT: comparison also ends for cyclic objects, and its depth uses no Rust stack.
//! It does not compare itself.
//! Read next: `heap/equality.rs`.

use super::argument::wrong_type;
use super::cost;
use crate::value::Value;

primitives! {
    /// Returns whether two objects are identical. Booleans, characters, symbols, keywords and most
    /// numbers are compared by value; exact integers beyond 61 bits, ratios and some inexact reals
    /// are identical only to themselves.
    "eq?" "object₁ object₂" [2, 2] free => |_, arguments| Ok(Value::boolean(arguments[0] == arguments[1]));

    /// Returns whether two objects are the same: numbers by exactness and value, all others as by
    /// `eq?`.
    "eqv?" "object₁ object₂" [2, 2] counted => |context, arguments| {
        Ok(Value::boolean(context.heap.eqv(arguments[0], arguments[1])))
    };

    /// Returns whether two objects have the same structure and content: pairs, vectors, strings,
    /// bytevectors and dataspace records by their parts, dictionaries and sets by their entries in
    /// any order, all others as by `eqv?`. Also ends for cyclic objects.
    "equal?" "object₁ object₂" [2, 2] counted => |context, arguments| {
        Ok(Value::boolean(context.heap.equal(arguments[0], arguments[1])))
    };

    /// Returns a hash of the object, an exact integer from 0 below 2⁶⁰: the same for objects that
    /// are `equal?`, in every run. Mutation of a part that is hashed changes it.
    "%hash" "object" [1, 1] counted => |context, arguments| Ok(Value::length(context.heap.hash(arguments[0]) as usize));

    /// Returns a number that distinguishes the object from most others and stays the same as long
    /// as it lives; `#f` for a pair, which has no room for one.
    "%identity" "object" [1, 1] free => |context, arguments| {
        let identity = context.heap.identity(arguments[0]);
        Ok(identity.map_or(Value::FALSE, |identity| Value::length(identity as usize)))
    };

    /// Returns whether the argument is `#f`.
    "not" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(!arguments[0].is_true()));

    /// Returns whether the argument is `#t` or `#f`.
    "boolean?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(is_boolean(arguments[0])));

    /// Returns whether all arguments, booleans, are the same.
    /// Fails with `wrong-type` if one is not a boolean.
    "boolean=?" "boolean₁ boolean₂ …" [1, _] (cost::arguments) => |_, arguments| {
        match arguments.iter().position(|argument| !is_boolean(*argument)) {
            Some(argument) => Err(wrong_type(argument, "a boolean")),
            None => Ok(Value::boolean(arguments.iter().all(|argument| *argument == arguments[0]))),
        }
    };

    /// Returns the end-of-file object.
    "eof-object" "" [0, 0] free => |_, _| Ok(Value::EOF);

    /// Returns whether the argument is the end-of-file object.
    "eof-object?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(arguments[0] == Value::EOF));

    /// Returns the object that stands for an optional argument that was not given.
    "default-object" "" [0, 0] free => |_, _| Ok(Value::DEFAULT);

    /// Returns whether the argument is the object that stands for an optional argument that was not
    /// given.
    "default-object?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(arguments[0] == Value::DEFAULT));
}

fn is_boolean(value: Value) -> bool {
    value == Value::TRUE || value == Value::FALSE
}
