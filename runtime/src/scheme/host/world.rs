//! Tools, people, the console, the log, the clock.
//!
//! INVARIANT: programs learn of the outside world only from the run's first record and from answers
//! to requests, which the journal records too.
//! It does not perform any effect; drivers do.
//! Read next: `file.rs`.

use duet_journal::packed::framing::read_text;
use duet_kernel::boundary::LIMITS;
use duet_kernel::heap::Kind;
use duet_kernel::machine::Instance;
use duet_kernel::primitive::take_console_output;
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;
use preserves::IOValue;

use super::call::{COPIED_BYTES, Call, DONE, Fault, Reply, host_procedures};
use super::capability::pass;
use crate::capability::Authority;
use crate::driver::{Stream, check_foreign};
use crate::model::codec::Codec;
use crate::model::identity::CapabilityId;
use crate::model::value::Fact;
use crate::scheme::convert::{self, Class};
use crate::state::refusal::Refusal;
use crate::turn::activation::Activation;
use crate::turn::task::{Until, WaitCondition};

/// The maximum length of an object in a log line, in characters.
const LOG_CHARACTERS: usize = 4096;

/// Bytes of Preserves text that are read for a unit of fuel.
const READ_BYTES: u64 = 16;

/// The maximum number of bytes in one request to read.
const READ_BYTES_MAX: u64 = 1 << 20;

host_procedures! {
    /// Calls a tool in a role. `capability` names the tool or is a capability for it, whose caveats
    /// the payload passes before anything is done or recorded; `payload` is its argument. Returns
    /// the tag under which `(tool-result :tag tag)` awaits the result, by default a unique one.
    /// Fails with `capability-denied` if the tool was not granted, or the caveats do not let the
    /// payload pass.
    "invoke-tool!" "role capability payload [:tag tag]" [3, 5] => invoke_tool;

    /// A text that no other call in this run returns, and that a replay returns again. The turn's
    /// record says for which property of which role it was drawn.
    "generate-request-id!" "role property" [2, 2] => |call| {
        let (role, property) = (call.datum(0)?, call.datum(1)?);
        let name = call.turn.generate_request_id(role, property)?;
        call.string(&name)
    };

    /// Shows a line of text to whoever follows the run; of an object that is no string, its written
    /// form. Needs `console`.
    "log!" "text" [1, 1] => |call| {
        let text = call.argument(0);
        let heap = &call.instance.heap;
        let text = if heap.is_string(text) {
            heap.string_text(text)
        } else {
            write_limited(heap, call.code, text, LOG_CHARACTERS)
        };
        heap.charge(text.len() as u64 / COPIED_BYTES);
        call.turn.log(text)?;
        DONE
    };

    /// Shows a failure that the program has taken, with its place and its trace, to whoever follows
    /// the run. `what` names what failed, `object` is what it raised. With `cause`, nothing has
    /// raised `object`, and the place is that where the condition `cause` was raised, or else that
    /// of this call.
    "%report-failure" "what object [cause]" [2, 3] => |call| {
        let what = call.text(0, "a string or symbol")?;
        let object = call.argument(1);
        if let Some(expander) = call.expander {
            let cause = call.arguments.get(2).copied().filter(|cause| *cause != Value::FALSE);
            let frames = cause.map_or_else(Vec::new, |cause| {
                let raised = convert::frames_of(&call.instance.heap, call.code, cause);
                if raised.is_empty() { call.frames() } else { raised }
            });
            let failure = convert::failure(&call.instance.heap, call.code, expander, object, frames);
            call.turn.report_taken(what, failure)?;
        }
        DONE
    };

    /// Keeps what the program has told people in this turn, even if it fails next: a main program
    /// then commits it first.
    "%keep-told!" "" [0, 0] => |call| {
        call.turn.keep_told();
        DONE
    };

    /// Shows how far a piece of work has come. Needs `console`.
    "progress!" "label done total" [3, 3] => |call| {
        let label = call.text(0, "a string or symbol")?;
        let (done, total) = (call.natural(1)?, call.natural(2)?);
        call.turn.progress(label, done, total)?;
        DONE
    };

    /// Writes bytes, if any, to the console: to standard output for stream 1, standard error for 2.
    /// They leave once the turn is durable; in a main program the turn commits here. What the
    /// console's ports hold goes before.
    "%console-write" "stream bytevector" [2, 2] => console_write;

    /// Reads at most `count` bytes from standard input, at least one unless it is at its end, and
    /// waits for them.
    "%console-read" "count" [1, 1] => |call| {
        let length = call.natural(0)?.min(READ_BYTES_MAX);
        let request = call.turn.read(length)?;
        Ok(answer(request))
    };

    /// Reads a value from Preserves text. Fails with `read-error` if the text is not one value, or
    /// if the value has an embedded one.
    "%text->value" "text" [1, 1] => |call| {
        let text = call.text(0, "a string")?;
        call.instance.heap.charge(text.len() as u64 / READ_BYTES);
        let fault = |message: &str| Fault::condition_of("read-error", message, Vec::new());
        let value = read_text(&text, LIMITS).map_err(|error| fault(&error.to_string()))?;
        check_foreign(&value).map_err(|unfit| fault(&unfit.to_string()))?;
        convert::enter(&mut call.instance.heap, &value).map(Reply::Value).map_err(Fault::Boundary)
    };

    /// Answers a question of this actor by the name in its `user-input-request` fact, in the place
    /// of a person; returns whether there is one.
    "%answer!" "name value" [2, 2] => |call| {
        let (name, value) = (call.text(0, "the name of a question")?, call.datum(1)?);
        let is_open = call.turn.answer_own(&name, value)?;
        Ok(Reply::Value(if is_open { Value::TRUE } else { Value::FALSE }))
    };

    /// The program's name and arguments, a list of strings.
    "command-line" "" [0, 0] => |call| {
        let mut list = Value::NIL;
        for argument in call.command_line.iter().rev() {
            let argument = call.instance.heap.string(argument)?;
            list = call.instance.heap.cons(argument, list)?;
        }
        Ok(Reply::Value(list))
    };

    /// Returns the seconds since 1970 by the clock of the world; a replay returns the same.
    "current-second" "" [0, 0] => |call| call_tool(call, "clock/second", IOValue::new(false));

    /// Returns the milliseconds since 1970 by the clock of the world; a replay returns the same.
    /// The fiber waits for the answer, so the turn ends. Fails with `capability-denied` without
    /// `clock/millisecond`, which every main program has.
    "current-time" "" [0, 0] => |call| call_tool(call, "clock/millisecond", IOValue::new(false));

    /// With an exact integer, one from 0 to below it, each as likely as the others; without, a real
    /// number from 0 to below 1. The world draws it; a replay returns the same.
    /// The fiber waits for the answer, so the turn ends. Fails with `capability-denied` without
    /// `chance/*`, which every main program has.
    "random" "[below]" [0, 1] => random;

    /// Returns the jiffies since some moment by the clock of the world; a replay returns the same.
    "current-jiffy" "" [0, 0] => |call| call_tool(call, "clock/jiffy", IOValue::new(false));

    /// How many jiffies a second has.
    "jiffies-per-second" "" [0, 0] => |_| Ok(Reply::Value(Value::small(1_000_000)));
}

fn random(call: &mut Call<'_>) -> Result<Reply, Fault> {
    if call.arguments.is_empty() {
        return call_tool(call, "chance/real", IOValue::new(false));
    }
    let below = call.argument(0).as_fixnum().and_then(|below| u64::try_from(below).ok());
    let below = below.filter(|below| *below > 0);
    let below = below.ok_or_else(|| call.wrong_type(0, "an exact integer above 0"))?;
    let payload = [(IOValue::symbol("below"), below.encode())];
    let payload: preserves::Map<IOValue, IOValue> = payload.into_iter().collect();
    call_tool(call, "chance/integer", IOValue::new(payload))
}

fn invoke_tool(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let role = call.datum(0)?;
    let options = call.options(call.arguments.get(3..).unwrap_or_default(), ["tag"]);
    let [tag] = options.ok_or_else(|| call.wrong_type(3, "`:tag` and a tag"))?;
    let name = |tag| {
        call.name_of(tag)
            .ok_or_else(|| call.wrong_type(4, "a string or symbol"))
    };
    let tag = tag.map(name).transpose()?;
    let (tool, payload, via) = match call.name_of(call.argument(1)) {
        Some(tool) => (tool, call.fact(2)?, None),
        None => through(call)?,
    };
    let tag = call.turn.invoke_tool(role, tool, payload, tag, via)?;
    call.string(&tag)
}

/// Passes a tool's payload through a capability.
fn through(call: &mut Call<'_>) -> Result<(String, Fact, Option<CapabilityId>), Fault> {
    const EXPECTED: &str = "the name of a tool or a capability for one";
    let payload = call.datum(2)?;
    let Some(via) = convert::referent(&call.instance.heap, Class::Capability, call.argument(1)) else {
        return Err(call.wrong_type(1, EXPECTED));
    };
    let tool = |authority| {
        if let Authority::Tool { name } = authority {
            Some(name)
        } else {
            None
        }
    };
    let (tool, passed) = pass(call, 1, payload, EXPECTED, tool)?;
    let payload = passed.ok_or_else(|| {
        let message = format!("invoke-tool!: the capability for `{tool}` does not let this payload pass");
        Fault::condition_of("capability-denied", &message, vec![call.argument(2)])
    })?;
    let payload = Fact::new(payload).map_err(Refusal::Value)?;
    Ok((tool, payload, Some(CapabilityId(via))))
}

fn console_write(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let stream = match call.argument(0).as_fixnum() {
        Some(1) => Stream::Output,
        Some(2) => Stream::Error,
        _ => return Err(call.wrong_type(0, "stream 1 or 2")),
    };
    let bytes = call.argument(1);
    if !call.instance.heap.is_kind(bytes, Kind::Bytevector) {
        return Err(call.wrong_type(1, "a bytevector"));
    }
    let bytes = call.instance.heap.raw_bytes(bytes).to_vec();
    if !bytes.is_empty() {
        call.turn.write(stream, bytes)?;
    }
    if call.turn.commits_on_write() {
        Ok(Reply::Park(Until::Flushed))
    } else {
        DONE
    }
}

/// Moves the output in the console's ports into the turn; returns whether there was any. Refused
/// output is lost.
pub(in crate::scheme) fn release_console(instance: &mut Instance, turn: &mut Activation) -> Result<bool, Fault> {
    let mut is_any = false;
    for (stream, number) in [(Stream::Output, 1), (Stream::Error, 2)] {
        let Some(bytes) = take_console_output(&mut instance.heap, number) else {
            continue;
        };
        turn.write(stream, bytes)?;
        is_any = true;
    }
    Ok(is_any)
}

/// Calls a tool and waits for its result.
pub(super) fn call_tool(call: &mut Call<'_>, tool: &str, payload: IOValue) -> Result<Reply, Fault> {
    let payload = Fact::new(payload).map_err(Refusal::Value)?;
    let tag = call
        .turn
        .invoke_tool(IOValue::new(false), tool.to_owned(), payload, None, None)?;
    match call.turn.tool_call(&tag) {
        Some(request) => Ok(answer(request)),
        None => Err(Fault::condition_of("refused", "the call was not entered", Vec::new())),
    }
}

fn answer(request: crate::model::identity::RequestId) -> Reply {
    Reply::Park(Until::Condition {
        wanted: vec![WaitCondition::Answer(request)],
        is_edge: false,
    })
}
