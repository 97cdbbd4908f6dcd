//! Code that a program makes.
//!
//! INVARIANT: everything that is evaluated is a text, so the run can make the code again from its
//! records; a datum is written as text first.
//! It does not compile; `../interaction.rs` does.
//! Read next: `../interaction.rs`.

use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::{read_all, read_first};
use duet_kernel::printer::{Style, print};
use duet_kernel::value::Value;

use super::call::{Call, Fault, Reply, host_procedures};
use crate::model::failure::file_line;
use crate::scheme::evaluation::SANDBOX;

/// The maximum length of a datum's written form, in characters.
const TEXT_CHARACTERS_MAX: usize = 1 << 22;

/// The cost of looking for a name in the texts of all libraries.
const DESCRIPTION_FUEL: u64 = 4_000;

host_procedures! {
    /// Lists the definitions of `name`, a symbol, each as a dictionary with `name`, `call`, `place`
    /// and `documentation`; `()` if there are none. It knows the built-in definitions and those of
    /// the program's libraries. Raises `wrong-type`.
    "describe" "name" [1, 1] => |call| {
        call.instance.heap.charge(DESCRIPTION_FUEL);
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
    /// has the values of the last form. `environment` is as for `%compile`; `name` is the name of
    /// the text in messages. If the text cannot be read or expanded, the record `(failure kind
    /// message irritants origin backtrace)`.
    "%compile-text" "text environment [name]" [2, 3] => |call| {
        let text = call.text(0, "a string")?;
        let environment = call.text(1, "a string")?;
        let name = (call.arguments.len() > 2).then(|| call.text(2, "a string")).transpose()?;
        Ok(Reply::CompileText { text, environment, name })
    };

    /// The forms of a file's `text`, a string, as a list: each a pair of a name, which tells `path`
    /// and the line where the form begins, and a text in which it stands in its column. If the text
    /// cannot be read to its end, the last element is the message, a string.
    "%forms" "text path" [2, 2] => |call| {
        let text = call.text(0, "a string")?;
        let path = call.text(1, "a string")?;
        let heap = &mut call.instance.heap;
        let mut list = Vec::new();
        for form in placed_forms(&text, &path) {
            list.push(match form {
                Ok((name, text)) => {
                    let (name, text) = (heap.string(&name)?, heap.string(&text)?);
                    heap.cons(name, text)?
                }
                Err(message) => heap.string(&message)?,
            });
        }
        Ok(Reply::Value(heap.list(&list, Value::NIL)?))
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

/// The forms of a text, each with a name that tells its line; and why the rest cannot be read.
fn placed_forms(text: &str, path: &str) -> Vec<Result<(String, String), String>> {
    let mut forms = Vec::new();
    let (mut at, mut line, mut folds_case) = (0, 1, false);
    loop {
        let next = match read_first(&text[at..], folds_case) {
            Ok(Some(next)) => next,
            Ok(None) => return forms,
            Err(error) => {
                let before = &text[at..at + error.span.start as usize];
                let line = line + before.matches('\n').count();
                forms.push(Err(format!("{path}:{line}: {}", error.problem)));
                return forms;
            }
        };
        let form = &text[at..at + next.end];
        let start = start_of(form);
        let line_before = text[..at + start].rsplit('\n').next().unwrap_or_default();
        // In a longer line the column is not worth its blanks.
        let column = line_before.chars().take(COLUMNS_MAX + 1).count() % (COLUMNS_MAX + 1);
        let mut placed = " ".repeat(column) + &form[start..];
        let mut first = line + form[..start].matches('\n').count();
        if next.folds_case {
            placed.insert_str(0, "#!fold-case\n");
            first -= 1;
        }
        forms.push(Ok((file_line(path, first), placed)));
        line += form.matches('\n').count();
        (at, folds_case) = (at + next.end, next.folds_case);
    }
}

/// The maximum number of blanks before a form, which keep its column.
const COLUMNS_MAX: usize = 200;

/// The offset of the first datum of a text, behind blanks and comments.
fn start_of(text: &str) -> usize {
    let (reading, _) = read_all(text, SourceId(0));
    let first = reading.forms.first();
    first.map_or(0, |form| reading.spans[form.0 as usize].start as usize)
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
