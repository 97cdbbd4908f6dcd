//! Pairs and lists.
//!
//! Read next: `primitive/control.rs`.

use super::Failure;
use crate::value::Value;

primitives! {
    /// Makes a pair of two values.
    "cons" "car cdr" [2, 2] => |context, arguments| Ok(context.heap.cons(arguments[0], arguments[1])?);

    /// The first part of a pair. Fails with `wrong-type` if the argument is not a pair.
    "car" "pair" [1, 1] => |context, arguments| {
        expect_pair(arguments, 0)?;
        Ok(context.heap.car(arguments[0]))
    };

    /// The second part of a pair. Fails with `wrong-type` if the argument is not a pair.
    "cdr" "pair" [1, 1] => |context, arguments| {
        expect_pair(arguments, 0)?;
        Ok(context.heap.cdr(arguments[0]))
    };
}

fn expect_pair(arguments: &[Value], argument: usize) -> Result<(), Failure> {
    if arguments[argument].is_pair() {
        Ok(())
    } else {
        Err(Failure::WrongType {
            argument,
            expected: "a pair",
        })
    }
}
