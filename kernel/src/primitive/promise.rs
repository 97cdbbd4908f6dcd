//! The raw parts of promises, over which `delay`, `delay-force` and `force` are written in Scheme.
//!
//! A promise holds its state and content itself, or refers to another promise that does. To force a
//! promise that is not done, Scheme calls its content, which returns another promise, and lets the
//! first share the state of the other; it repeats that until the first is done. No step leaves
//! anything behind, so a chain of `delay-force` runs in constant space.
//! INVARIANT: no promise refers to itself, directly or through others.
//! It does not call thunks.
//! Read next: `primitive/record.rs`.
//!
//! Source: R7RS 7.3, "Implementation of delay-force"; SRFI 45.

use super::PrimitiveError;
use super::argument::object_at;
use crate::heap::kind::promise;
use crate::heap::{Heap, Kind};
use crate::value::Value;

primitives! {
    /// Makes a promise. If `done?` is true, `content` is its value; else `content` is a thunk that
    /// returns a promise for the same value.
    "%make-promise" "done? content" [2, 2] free => |context, arguments| {
        let state = Value::boolean(arguments[0].is_true());
        Ok(context.heap.make(Kind::Promise, &[state, arguments[1]])?)
    };

    /// Returns whether the argument is a promise.
    "promise?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Promise)))
    };

    /// Returns whether a promise is done, that is, holds its value.
    /// Fails with `wrong-type` if the argument is not a promise.
    "%promise-state" "promise" [1, 1] free => |context, arguments| {
        let holder = holder_at(context.heap, arguments, 0)?;
        Ok(context.heap.field(holder, promise::STATE))
    };

    /// Returns the value of a promise that is done, or the thunk of one that is not.
    /// Fails with `wrong-type` if the argument is not a promise.
    "%promise-content" "promise" [1, 1] free => |context, arguments| {
        let holder = holder_at(context.heap, arguments, 0)?;
        Ok(context.heap.field(holder, promise::CONTENT))
    };

    /// Replaces the state and content of a promise and of all that share them.
    /// Fails with `wrong-type` if the first argument is not a promise.
    "%promise-set!" "promise done? content" [3, 3] free => |context, arguments| {
        let holder = holder_at(context.heap, arguments, 0)?;
        context.heap.set_field(holder, promise::STATE, Value::boolean(arguments[1].is_true()));
        context.heap.set_field(holder, promise::CONTENT, arguments[2]);
        Ok(Value::UNSPECIFIED)
    };

    /// Makes `promise` share the state and content of `other`.
    /// Fails with `wrong-type` if an argument is not a promise.
    "%promise-take!" "promise other" [2, 2] free => |context, arguments| {
        let holder = holder_at(context.heap, arguments, 0)?;
        let other = holder_at(context.heap, arguments, 1)?;
        if holder != other {
            let state = context.heap.field(other, promise::STATE);
            let content = context.heap.field(other, promise::CONTENT);
            context.heap.set_field(holder, promise::STATE, state);
            context.heap.set_field(holder, promise::CONTENT, content);
            context.heap.set_field(other, promise::STATE, holder);
            context.heap.set_field(other, promise::CONTENT, Value::UNSPECIFIED);
        }
        Ok(Value::UNSPECIFIED)
    };
}

/// Returns the promise that holds the state and content of the argument, which must be a promise.
fn holder_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    let mut holder = object_at(heap, arguments, argument, Kind::Promise, "a promise")?;
    loop {
        let state = heap.field(holder, promise::STATE);
        if !state.is_object() {
            return Ok(holder);
        }
        holder = state;
    }
}
