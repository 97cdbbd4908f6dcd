//! Files and the environment, through tools.
//!
//! INVARIANT: each procedure makes one call of one tool, which is also the capability it needs, and
//! waits for the result; so everything that a program learns of files is an input of its run.
//! It does not know ports; the library of ports reads and writes whole files.
//! Read next: `world.rs`.

use preserves::{IOValue, Map, Value};

use super::call::{Call, Fault, host_procedures};
use super::world::call_tool;

/// The maximum size of one piece of a file, in bytes.
const PIECE_BYTES: u64 = 1 << 20;

host_procedures! {
    /// A piece of a file from the byte `offset` on: a dictionary of `content`, a string if the
    /// bytes are UTF-8, else a bytevector, and `next`, the offset of the piece after it or `#f`.
    /// Fails with `capability-denied` without `workspace/read`, and as that tool does.
    "%file-read" "path offset" [2, 2] => |call| {
        let path = path_at(call)?;
        let (offset, length) = (number(call.natural(1)?), number(PIECE_BYTES));
        call_tool(call, "workspace/read", fields([("path", path), ("offset", offset), ("length", length)]))
    };

    /// Replaces what is in a file by a string, as UTF-8, or a bytevector; makes the file if there
    /// is none. Fails with `capability-denied` without `workspace/write`, and as that tool does.
    "%file-write" "path content" [2, 2] => |call| {
        let (path, content) = (path_at(call)?, call.datum(1)?);
        call_tool(call, "workspace/write", fields([("path", path), ("content", content)]))
    };

    /// Whether there is something at a path. Fails with `capability-denied` without
    /// `workspace/exists`, and as that tool does.
    "%file-exists?" "path" [1, 1] => |call| {
        let path = path_at(call)?;
        call_tool(call, "workspace/exists", fields([("path", path)]))
    };

    /// Deletes a file. Fails with `capability-denied` without `workspace/delete`, and as that tool
    /// does.
    "%file-delete" "path" [1, 1] => |call| {
        let path = path_at(call)?;
        call_tool(call, "workspace/delete", fields([("path", path)]))
    };

    /// Returns the value of an environment variable, a string, or `#f` if it is not set; a replay
    /// returns the same. Fails with `capability-denied` without `environment/NAME`.
    "get-environment-variable" "name" [1, 1] => |call| {
        let expected = "a string";
        if !call.instance.heap.is_string(call.argument(0)) {
            return Err(call.wrong_type(0, expected));
        }
        let name = call.text(0, expected)?;
        call_tool(call, &format!("environment/{name}"), fields([]))
    };

    /// Returns all environment variables, a list of lists of name and value; a replay returns the
    /// same. Fails with `capability-denied` without `environment/*`.
    "%environment-variables" "" [0, 0] => |call| call_tool(call, "environment/*", fields([]));
}

fn path_at(call: &Call<'_>) -> Result<IOValue, Fault> {
    if call.instance.heap.is_string(call.argument(0)) {
        call.datum(0)
    } else {
        Err(call.wrong_type(0, "a path, which is a string"))
    }
}

fn number(number: u64) -> IOValue {
    IOValue::new(preserves::SignedInteger::from(u128::from(number)))
}

fn fields<const N: usize>(entries: [(&'static str, IOValue); N]) -> IOValue {
    let entries: Map<Value<IOValue>, IOValue> = entries
        .into_iter()
        .map(|(name, value)| (Value::symbol(name), value))
        .collect();
    IOValue::new(entries)
}
