//! Compositions of `car` and `cdr`.
//!
//! INVARIANT: the letters of a name are the path, applied from the right.
//! It does not mutate.
//! Read next: `primitive/list.rs`.

use super::argument::wrong_type;
use super::{Context, PrimitiveError};
use crate::value::Value;

primitives! {
    /// Returns the same as `(car (car pair))`.
    /// Fails with `wrong-type` if there is no such part.
    "caar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"aa", "an object that has a caar");

    /// Returns the same as `(car (cdr pair))`.
    /// Fails with `wrong-type` if there is no such part.
    "cadr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"ad", "an object that has a cadr");

    /// Returns the same as `(cdr (car pair))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"da", "an object that has a cdar");

    /// Returns the same as `(cdr (cdr pair))`.
    /// Fails with `wrong-type` if there is no such part.
    "cddr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"dd", "an object that has a cddr");

    /// Returns the same as `(car (car (car pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "caaar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"aaa", "an object that has a caaar");

    /// Returns the same as `(car (car (cdr pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "caadr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"aad", "an object that has a caadr");

    /// Returns the same as `(car (cdr (car pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "cadar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"ada", "an object that has a cadar");

    /// Returns the same as `(car (cdr (cdr pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "caddr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"add", "an object that has a caddr");

    /// Returns the same as `(cdr (car (car pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdaar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"daa", "an object that has a cdaar");

    /// Returns the same as `(cdr (car (cdr pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdadr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"dad", "an object that has a cdadr");

    /// Returns the same as `(cdr (cdr (car pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "cddar" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"dda", "an object that has a cddar");

    /// Returns the same as `(cdr (cdr (cdr pair)))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdddr" "pair" [1, 1] free => |context, arguments| follow(context, arguments, b"ddd", "an object that has a cdddr");

    /// Returns the same as `(car (car (car (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "caaaar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"aaaa", "an object that has a caaaar")
    };

    /// Returns the same as `(car (car (car (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "caaadr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"aaad", "an object that has a caaadr")
    };

    /// Returns the same as `(car (car (cdr (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "caadar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"aada", "an object that has a caadar")
    };

    /// Returns the same as `(car (car (cdr (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "caaddr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"aadd", "an object that has a caaddr")
    };

    /// Returns the same as `(car (cdr (car (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cadaar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"adaa", "an object that has a cadaar")
    };

    /// Returns the same as `(car (cdr (car (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cadadr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"adad", "an object that has a cadadr")
    };

    /// Returns the same as `(car (cdr (cdr (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "caddar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"adda", "an object that has a caddar")
    };

    /// Returns the same as `(car (cdr (cdr (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cadddr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"addd", "an object that has a cadddr")
    };

    /// Returns the same as `(cdr (car (car (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdaaar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"daaa", "an object that has a cdaaar")
    };

    /// Returns the same as `(cdr (car (car (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdaadr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"daad", "an object that has a cdaadr")
    };

    /// Returns the same as `(cdr (car (cdr (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdadar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"dada", "an object that has a cdadar")
    };

    /// Returns the same as `(cdr (car (cdr (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdaddr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"dadd", "an object that has a cdaddr")
    };

    /// Returns the same as `(cdr (cdr (car (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cddaar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"ddaa", "an object that has a cddaar")
    };

    /// Returns the same as `(cdr (cdr (car (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cddadr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"ddad", "an object that has a cddadr")
    };

    /// Returns the same as `(cdr (cdr (cdr (car pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cdddar" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"ddda", "an object that has a cdddar")
    };

    /// Returns the same as `(cdr (cdr (cdr (cdr pair))))`.
    /// Fails with `wrong-type` if there is no such part.
    "cddddr" "pair" [1, 1] free => |context, arguments| {
        follow(context, arguments, b"dddd", "an object that has a cddddr")
    };
}

/// Returns the part of the argument at the end of `path`.
fn follow(
    context: &Context<'_>,
    arguments: &[Value],
    path: &[u8],
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    path.iter().rev().try_fold(arguments[0], |part, letter| match letter {
        _ if !part.is_pair() => Err(wrong_type(0, expected)),
        b'a' => Ok(context.heap.car(part)),
        _ => Ok(context.heap.cdr(part)),
    })
}
