//! Code that a program makes.
//!
//! INVARIANT: everything that is evaluated is a text, so the run can make the code again from its
//! records; a datum is written as text first.
//! It does not compile; `../interaction.rs` does.
//! Read next: `../interaction.rs`.

use duet_kernel::printer::{Style, print};
use duet_kernel::value::Value;

use super::call::{Call, Fault, Reply, host_procedures};
use crate::scheme::evaluation::SANDBOX;

/// The maximum length of a datum's written form, in characters.
const TEXT_CHARACTERS_MAX: usize = 1 << 22;

host_procedures! {
    /// Lists the definitions of `name`, a symbol, each as a dictionary with `name`, `call`, `place`
    /// and `documentation`; `()` if there are none. It knows the built-in definitions and those of
    /// the program's libraries. Raises `wrong-type`.
    "describe" "name" [1, 1] => |call| {
        Ok(Reply::Describe(call.text(0, "a symbol")?))
    };

    /// A list of procedures that, called in order, evaluate `expression`, a datum; the last has its
    /// values. `imports` is what `%environment` has returned, or the empty string for the
    /// environment that takes definitions. Raises `syntax-error`.
    "%compile" "expression imports" [2, 2] => |call| {
        let text = written(call, call.argument(0))?;
        let environment = call.text(1, "a string")?;
        Ok(Reply::Compile { text, environment })
    };

    /// A list of procedures that, called in order, evaluate the forms of `text`, a string; the last
    /// has the values of the last form. `environment` is as for `%compile`. If the text cannot be
    /// read or expanded, the record `(failure kind message irritants origin backtrace)`.
    "%compile-text" "text environment" [2, 2] => |call| {
        let text = call.text(0, "a string")?;
        let environment = call.text(1, "a string")?;
        Ok(Reply::CompileText { text, environment })
    };

    /// The import sets of a list, as a string that stands for the environment in which is visible
    /// what they provide. Raises `syntax-error`.
    "%environment" "import-sets" [1, 1] => |call| {
        // An environment with nothing in it is not the one that takes definitions.
        Ok(Reply::Environment(format!("{} ", import_sets(call, 0)?)))
    };

    /// Returns whether `value` is data that can leave the actor: in facts, messages and calls.
    "%data?" "value" [1, 1] => |call| Ok(Reply::Value(Value::boolean(call.leave(call.argument(0)).is_ok())));

    /// The sandbox with this number of the actor, as a string that stands for an environment: in it
    /// is visible what the import sets provide, and what its texts define. Raises `syntax-error`.
    "%sandbox" "number import-sets" [2, 2] => |call| {
        let number = call.natural(0)?;
        Ok(Reply::Environment(format!("{SANDBOX}{number} {}", import_sets(call, 1)?)))
    };
}

/// Writes the import sets of the list that is an argument.
fn import_sets(call: &Call<'_>, argument: usize) -> Result<String, Fault> {
    let mut sets = Vec::new();
    let mut rest = call.argument(argument);
    while rest.is_pair() {
        sets.push(written(call, call.instance.heap.car(rest))?);
        rest = call.instance.heap.cdr(rest);
    }
    Ok(sets.join(" "))
}

fn written(call: &Call<'_>, value: Value) -> Result<String, Fault> {
    let text = print(&call.instance.heap, call.code, value, Style::Write, TEXT_CHARACTERS_MAX);
    text.map_err(|error| Fault::condition_of("too-large", &error.to_string(), Vec::new()))
}
