//! Ports: constructors, closing, predicates, and the console's ports.
//!
//! A port is a buffer of bytes in the heap; text is UTF-8. A string or bytevector port is only
//! that. The host fills and empties a console port: reading returns `#f` where the buffer lacks
//! data, and the library then waits for input and supplies it. Writing fills the buffer; the host
//! empties it whenever the program stops running, and writing returns whether the port should be
//! emptied earlier.
//! INVARIANT: nothing here blocks or reaches the outside world, so a turn that is undone has
//! neither read nor written.
//! It does not know the contents.
//! Read next: `primitive/port/buffer.rs`, `primitive/read.rs`, `primitive/print.rs`.
//!
//! Source: R7RS 6.13.1.

pub(super) mod buffer;
#[cfg(test)]
mod tests;

use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::kind::port;
use crate::heap::{Heap, Kind, Register};
use crate::value::Value;
use buffer::flag;

/// The number of buffered bytes at which an output port should be emptied.
const PENDING_BYTES: usize = 1 << 18;
/// Standard input, output and error.
const STREAMS: usize = 3;

primitives! {
    /// Returns whether the argument is a port.
    "port?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Port)))
    };

    /// Returns whether the argument is a port that can be read from, open or not.
    "input-port?" "object" [1, 1] free => |context, arguments| is_port_with(context, arguments, flag::INPUT);

    /// Returns whether the argument is a port that can be written to, open or not.
    "output-port?" "object" [1, 1] free => |context, arguments| is_port_with(context, arguments, flag::OUTPUT);

    /// Returns whether the argument is a port of characters.
    "textual-port?" "object" [1, 1] free => |context, arguments| is_port_with(context, arguments, flag::TEXTUAL);

    /// Returns whether the argument is a port of bytes.
    "binary-port?" "object" [1, 1] free => |context, arguments| {
        let heap = &context.heap;
        let is_binary = heap.is_kind(arguments[0], Kind::Port) && !buffer::has(heap, arguments[0], flag::TEXTUAL);
        Ok(Value::boolean(is_binary))
    };

    /// Returns whether the argument is a port that can be read from and is open.
    /// Fails with `wrong-type` if the argument is not a port.
    "input-port-open?" "port" [1, 1] free => |context, arguments| is_open_with(context, arguments, flag::INPUT);

    /// Returns whether the argument is a port that can be written to and is open.
    /// Fails with `wrong-type` if the argument is not a port.
    "output-port-open?" "port" [1, 1] free => |context, arguments| is_open_with(context, arguments, flag::OUTPUT);

    /// Closes a port. The buffered output of a console port stays until the host takes it.
    /// Fails with `wrong-type` if the argument is not a port.
    "close-port" "port" [1, 1] free => |context, arguments| close(context, arguments, 0, "a port");

    /// Closes an input port.
    /// Fails with `wrong-type` if the argument is not an input port.
    "close-input-port" "port" [1, 1] free => |context, arguments| {
        close(context, arguments, flag::INPUT, "an input port")
    };

    /// Closes an output port. The buffered output of a console port stays until the host takes it.
    /// Fails with `wrong-type` if the argument is not an output port.
    "close-output-port" "port" [1, 1] free => |context, arguments| {
        close(context, arguments, flag::OUTPUT, "an output port")
    };

    /// Makes a port that delivers the present characters of `string`.
    /// Fails with `wrong-type` if the argument is not a string.
    "open-input-string" "string" [1, 1] (cost::port_of_text) => |context, arguments| {
        if !context.heap.is_string(arguments[0]) {
            return Err(PrimitiveError::WrongType { argument: 0, expected: "a string" });
        }
        let text = context.heap.string_text(arguments[0]);
        Ok(buffer::make_input(context.heap, flag::TEXTUAL, text.as_bytes())?)
    };

    /// Makes a port that collects characters for `get-output-string`.
    "open-output-string" "" [0, 0] (cost::port) => |context, _| {
        Ok(buffer::make(context.heap, flag::OUTPUT | flag::TEXTUAL, Value::FALSE)?)
    };

    /// Makes a string of the characters written so far to a port of `open-output-string`.
    /// Fails with `wrong-type` if the argument is not such a port.
    "get-output-string" "port" [1, 1] counted => |context, arguments| {
        let expected = "a string output port";
        let port = collecting_port_at(context.heap, arguments, flag::TEXTUAL, expected)?;
        let bytes = buffer::pending(context.heap, port);
        let length = bytes.len();
        context.heap.charge(cost::decoding(bytes));
        Ok(buffer::text(context.heap, port, length)?)
    };

    /// Makes a port that delivers the present bytes of `bytevector`.
    /// Fails with `wrong-type` if the argument is not a bytevector.
    "open-input-bytevector" "bytevector" [1, 1] (cost::port_of_bytes) => |context, arguments| {
        let bytes = bytevector_at(context.heap, arguments, 0)?.to_vec();
        Ok(buffer::make_input(context.heap, 0, &bytes)?)
    };

    /// Makes a port that collects bytes for `get-output-bytevector`.
    "open-output-bytevector" "" [0, 0] (cost::port) => |context, _| {
        Ok(buffer::make(context.heap, flag::OUTPUT, Value::FALSE)?)
    };

    /// Makes a bytevector of the bytes written so far to a port of `open-output-bytevector`.
    /// Fails with `wrong-type` if the argument is not such a port.
    "get-output-bytevector" "port" [1, 1] counted => |context, arguments| {
        let port = collecting_port_at(context.heap, arguments, 0, "a bytevector output port")?;
        let bytes = buffer::pending(context.heap, port).to_vec();
        context.heap.charge(bytes.len() as u64 / cost::BYTES);
        Ok(context.heap.bytevector(&bytes)?)
    };

    /// Returns the console port of a stream: 0 for standard input, 1 for standard output, 2 for
    /// standard error; always the same port.
    /// Fails with `wrong-type` if the argument is not an exact integer, with `out-of-range` if it
    /// is not a stream.
    "%console-port" "stream" [1, 1] free => |context, arguments| {
        let stream = arguments[0].as_fixnum().and_then(|stream| usize::try_from(stream).ok());
        let Some(stream) = stream else {
            return Err(PrimitiveError::WrongType { argument: 0, expected: "a stream number: 0, 1 or 2" });
        };
        if stream >= STREAMS {
            return Err(PrimitiveError::OutOfRange { argument: 0 });
        }
        let ports = console_ports(context.heap)?;
        Ok(context.heap.field(ports, stream))
    };

    /// Returns the stream number of a console port, the procedure in the place of the console after
    /// `%set-port-receiver!`, or `#f` for any other port.
    /// Fails with `wrong-type` if the argument is not a port.
    "%port-stream" "port" [1, 1] free => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, 0, "a port")?;
        Ok(context.heap.field(port, port::STREAM))
    };

    /// Sets whether a console output port should be emptied at each newline; initially only that of
    /// standard error is.
    /// Fails with `wrong-type` if the first argument is not a console output port.
    "%set-port-line-buffered!" "port on?" [2, 2] free => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, flag::CONSOLE | flag::OUTPUT, "a console output port")?;
        buffer::set_flag(context.heap, port, flag::LINE_BUFFERED, arguments[1].is_true());
        Ok(Value::UNSPECIFIED)
    };

    /// Puts `receiver` in the place of the console from now on. The library calls this procedure
    /// after each write to an output port, with the bytes of the characters in UTF-8, and whenever
    /// an input port lacks data, without arguments, for bytes. An input port that was at its end is
    /// there no longer.
    /// Fails with `wrong-type` if the first argument is not a console port.
    "%set-port-receiver!" "port receiver" [2, 2] free => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, flag::CONSOLE, "a console port")?;
        context.heap.set_field(port, port::STREAM, arguments[1]);
        if buffer::has(context.heap, port, flag::OUTPUT) {
            buffer::set_flag(context.heap, port, flag::UNBUFFERED, true);
        } else {
            buffer::set_flag(context.heap, port, flag::AT_END, false);
        }
        Ok(Value::UNSPECIFIED)
    };

    /// Takes the buffered bytes of a console output port as a bytevector, and empties the buffer,
    /// if `force?` is true, or there are at least 262144 bytes, or the port is line-buffered and a
    /// newline is among them. Returns `#f` otherwise, if the buffer is empty, and for other output
    /// ports.
    /// Fails with `wrong-type` if the first argument is not an output port.
    "%port-take-pending!" "port force?" [2, 2] counted => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, flag::OUTPUT, "an output port")?;
        context.heap.charge(buffer::pending(context.heap, port).len() as u64 / cost::BYTES);
        take_pending(context.heap, port, arguments[1].is_true())
    };

    /// Returns appends the bytes of `bytevector` to the input of a console input port; an empty
    /// bytevector marks the end of the file.
    /// Fails with `wrong-type` if the first argument is not a console input port or the second not
    /// a bytevector.
    "%port-supply!" "port bytevector" [2, 2] counted => |context, arguments| {
        let port = port_at(context.heap, arguments, 0, flag::CONSOLE | flag::INPUT, "a console input port")?;
        let bytes = bytevector_at(context.heap, arguments, 1)?.to_vec();
        context.heap.charge(bytes.len() as u64 / cost::BYTES);
        buffer::append(context.heap, port, &bytes)?;
        buffer::set_flag(context.heap, port, flag::AT_END, bytes.is_empty());
        Ok(Value::UNSPECIFIED)
    };
}

/// Returns the argument, which must be a port with all of `flags`.
pub(super) fn port_at(
    heap: &Heap,
    arguments: &[Value],
    argument: usize,
    flags: i64,
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    let port = arguments[argument];
    if heap.is_kind(port, Kind::Port) && buffer::has(heap, port, flags) {
        Ok(port)
    } else {
        Err(PrimitiveError::WrongType { argument, expected })
    }
}

/// Returns the argument, which must be an open port with all of `flags`.
#[inline]
pub(super) fn open_port_at(
    heap: &Heap,
    arguments: &[Value],
    argument: usize,
    flags: i64,
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    let port = arguments[argument];
    if heap.is_kind(port, Kind::Port) && buffer::has(heap, port, flags | flag::OPEN) {
        return Ok(port);
    }
    port_at(heap, arguments, argument, flags, expected)?;
    Err(PrimitiveError::Condition {
        kind: "port-closed",
        message: "the port is closed".to_owned(),
        irritants: vec![port],
    })
}

/// Returns the bytes of the argument, which must be a bytevector.
pub(super) fn bytevector_at<'a>(
    heap: &'a Heap,
    arguments: &[Value],
    argument: usize,
) -> Result<&'a [u8], PrimitiveError> {
    if heap.is_kind(arguments[argument], Kind::Bytevector) {
        Ok(heap.raw_bytes(arguments[argument]))
    } else {
        Err(PrimitiveError::WrongType {
            argument,
            expected: "a bytevector",
        })
    }
}

/// Returns the first argument, which must be an output port that collects; textual if `textual` is
/// that flag, binary if it is 0.
fn collecting_port_at(
    heap: &Heap,
    arguments: &[Value],
    textual: i64,
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    let port = port_at(heap, arguments, 0, flag::OUTPUT | textual, expected)?;
    let is_textual = buffer::has(heap, port, flag::TEXTUAL);
    if buffer::has(heap, port, flag::CONSOLE) || is_textual != (textual != 0) {
        return Err(PrimitiveError::WrongType { argument: 0, expected });
    }
    Ok(port)
}

fn is_port_with(context: &Context<'_>, arguments: &[Value], flags: i64) -> Result<Value, PrimitiveError> {
    let is_port = context.heap.is_kind(arguments[0], Kind::Port);
    Ok(Value::boolean(
        is_port && buffer::has(context.heap, arguments[0], flags),
    ))
}

fn is_open_with(context: &Context<'_>, arguments: &[Value], flags: i64) -> Result<Value, PrimitiveError> {
    let port = port_at(context.heap, arguments, 0, 0, "a port")?;
    Ok(Value::boolean(buffer::has(context.heap, port, flags | flag::OPEN)))
}

fn close(
    context: &mut Context<'_>,
    arguments: &[Value],
    flags: i64,
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    let port = port_at(context.heap, arguments, 0, flags, expected)?;
    buffer::set_flag(context.heap, port, flag::OPEN, false);
    Ok(Value::UNSPECIFIED)
}

fn console_ports(heap: &mut Heap) -> Result<Value, PrimitiveError> {
    let known = heap.register(Register::Ports);
    if known.is_true() {
        return Ok(known);
    }
    let textual = flag::CONSOLE | flag::TEXTUAL;
    let mut ports = [Value::FALSE; STREAMS];
    for (stream, port) in ports.iter_mut().enumerate() {
        let flags = match stream {
            0 => flag::INPUT | textual,
            1 => flag::OUTPUT | textual,
            _ => flag::OUTPUT | flag::LINE_BUFFERED | textual,
        };
        *port = buffer::make(heap, flags, Value::length(stream))?;
    }
    let ports = heap.make(Kind::Vector, &ports)?;
    heap.set_register(Register::Ports, ports);
    Ok(ports)
}

/// Returns whether a port is a console output port that should be emptied.
#[inline]
pub(super) fn wants_emptying(heap: &Heap, port: Value) -> bool {
    buffer::has(heap, port, flag::CONSOLE | flag::OUTPUT)
        && (buffer::pending(heap, port).len() >= PENDING_BYTES
            || heap.is_console_prompt() && !buffer::pending(heap, port).is_empty()
            || buffer::has(heap, port, flag::UNBUFFERED)
            || buffer::has(heap, port, flag::LINE_BUFFERED | flag::NEWLINE_PENDING))
}

fn take_pending(heap: &mut Heap, port: Value, is_forced: bool) -> Result<Value, PrimitiveError> {
    let is_wanted = is_forced || wants_emptying(heap, port);
    if !is_wanted || !buffer::has(heap, port, flag::CONSOLE) || buffer::pending(heap, port).is_empty() {
        return Ok(Value::FALSE);
    }
    let taken = buffer::copy_pending(heap, port)?;
    empty(heap, port);
    Ok(taken)
}

fn empty(heap: &mut Heap, port: Value) {
    buffer::clear(heap, port);
    buffer::set_flag(heap, port, flag::NEWLINE_PENDING, false);
}

/// Takes the buffered output of one of the console's ports: 1 for standard output, 2 for standard
/// error. `None` if there is nothing.
///
/// # Panics
/// If `stream` is not an output stream.
pub fn take_console_output(heap: &mut Heap, stream: usize) -> Option<Vec<u8>> {
    assert!(stream == 1 || stream == 2, "only output streams are emptied");
    let port = console_output(heap, stream)?;
    let bytes = buffer::pending(heap, port).to_vec();
    empty(heap, port);
    Some(bytes)
}

/// Returns whether a console output port has buffered output.
pub fn has_console_output(heap: &Heap) -> bool {
    (1..STREAMS).any(|stream| console_output(heap, stream).is_some())
}

/// Returns the console's output port of a stream, if it has buffered output for the console.
fn console_output(heap: &Heap, stream: usize) -> Option<Value> {
    let ports = heap.register(Register::Ports);
    let port = ports.is_true().then(|| heap.field(ports, stream))?;
    let has_receiver = buffer::has(heap, port, flag::UNBUFFERED);
    (!has_receiver && !buffer::pending(heap, port).is_empty()).then_some(port)
}
