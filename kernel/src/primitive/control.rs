//! Control: application, continuations, prompts, the dynamic environment and conditions.
//!
//! Read next: `code/builtin.rs`.

use super::fingerprint::fingerprint;
use super::{Context, ControlBlock, Cost, Primitive, PrimitiveBody, PrimitiveError, cost};
use crate::code::builtin::{COMPOSABLE_WORD, CONTINUATION_WORD};
use crate::heap::kind::{captured, condition, link, prompt_link};
use crate::heap::{Heap, Kind, Register, Steps};
use crate::value::{Immediate, Value};

/// Makes the row of a primitive that is a block of the machine's unit.
const fn control(
    name: &'static str,
    parameters: &'static str,
    arity: (u8, Option<u8>),
    block: ControlBlock,
    documentation: &'static str,
) -> Primitive {
    Primitive {
        name,
        parameters,
        least: arity.0,
        most: arity.1,
        documentation,
        cost: Cost::Counted,
        body: PrimitiveBody::Control(block),
    }
}

/// The primitives that transfer control.
pub(crate) const CONTROL_TABLE: &[Primitive] = &[
    control(
        "apply",
        "procedure argument … list",
        (2, None),
        ControlBlock::Apply,
        "Calls `procedure` with the arguments and the elements of `list`.\n\
         Fails with `wrong-type` if the last argument is not a proper list.",
    ),
    control(
        "%call/cc",
        "procedure",
        (1, Some(1)),
        ControlBlock::CallWithContinuation,
        "Calls `procedure` with the current continuation. Applying the continuation runs the winders\n\
         between the two places and returns the arguments to it.",
    ),
    control(
        "%throw",
        "continuation values",
        (2, Some(2)),
        ControlBlock::Throw,
        "Returns the elements of the list `values` to a continuation of `%call/cc`; runs no winders. If\n\
         `values` is a procedure, calls it there without arguments.",
    ),
    control(
        "%call-with-prompt",
        "tag thunk handler [frame]",
        (3, Some(4)),
        ControlBlock::CallWithPrompt,
        "Calls `thunk` under a prompt, with `frame` added to the dynamic environment. An abort to the\n\
         prompt calls `handler` instead.",
    ),
    control(
        "%abort-to-prompt",
        "tag arguments",
        (2, Some(2)),
        ControlBlock::AbortToPrompt,
        "Drops the computation up to and including the nearest prompt with this tag and calls its\n\
         handler with the elements of the list `arguments`. Runs no winders.\n\
         Fails with `no-prompt` if there is no such prompt.",
    ),
    control(
        "%call-with-composable",
        "tag procedure",
        (2, Some(2)),
        ControlBlock::CallWithComposable,
        "Calls `procedure` with the continuation up to the nearest prompt with this tag, which stays in\n\
         place.\n\
         Fails with `no-prompt` if there is no such prompt.",
    ),
    control(
        "%resume-composable",
        "continuation values",
        (2, Some(2)),
        ControlBlock::ResumeComposable,
        "Pushes a continuation of `%call-with-composable` on the current one and returns the elements of\n\
         the list `values` to it. Runs no winders. If `values` is a procedure, calls it there without\n\
         arguments.",
    ),
    control(
        "call-with-values",
        "producer consumer",
        (2, Some(2)),
        ControlBlock::CallWithValues,
        "Calls `consumer` with the values that `producer` returns.",
    ),
    control(
        "%uncaught",
        "object",
        (1, Some(1)),
        ControlBlock::Uncaught,
        "Ends the computation because nothing handles `object`.",
    ),
    control(
        "%abort-with-continuation",
        "tag arguments otherwise",
        (3, Some(3)),
        ControlBlock::AbortWithContinuation,
        "Drops the computation up to and including the nearest prompt with this tag and calls its\n\
         handler with the dropped part, a composable continuation, and the elements of the list\n\
         `arguments`. If there is no such prompt, or if the winders or the dynamic environment have\n\
         changed since it began, calls `otherwise` with tag and list instead.",
    ),
    control(
        "%call-traced",
        "procedure object [joins?]",
        (2, Some(3)),
        ControlBlock::CallTraced,
        "Calls `procedure` with `object`. A condition without a trace receives the frames that are\n\
         active. If `joins?` is true, the trace of another fiber goes on with them.",
    ),
];

primitives! {
    /// Returns its arguments to the continuation: one as itself, none or several as multiple
    /// values.
    "values" "object …" [0, _] (cost::arguments) => |context, arguments| match arguments {
        [value] => Ok(*value),
        _ => Ok(context.heap.make(Kind::Values, arguments)?),
    };

    /// Returns whether the argument can be called.
    "procedure?" "object" [1, 1] free => |_, arguments| Ok(Value::boolean(is_procedure(arguments[0])));

    /// Returns a list that tells the code of a procedure: the name of the library that defines it,
    /// a string; its name, a string, or `#f`; and a hash, a string of 64 digits. The hash is of its
    /// code, and of the values that it has captured as they are now: data, and the code of
    /// procedures. The names of variables are no part of it, nor are data in variables that are
    /// assigned. Fails with `wrong-type` if the argument is not a procedure.
    "%procedure-code" "procedure" [1, 1] counted => |context, arguments| {
        let found = fingerprint(context, arguments[0])?;
        let hash: String = found.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let library = context.heap.string(&found.library)?;
        let name = found.name.map_or(Ok(Value::FALSE), |name| context.heap.string(&name))?;
        let hash = context.heap.string(&hash)?;
        Ok(context.heap.list(&[library, name, hash], Value::NIL)?)
    };

    /// Returns the list of current winders, newest first; each is a pair of thunks.
    "%winders" "" [0, 0] free => |context, _| Ok(context.heap.register(Register::Winders));

    /// Replaces the list of winders.
    "%set-winders!" "winders" [1, 1] free => |context, arguments| {
        context.heap.set_register(Register::Winders, arguments[0]);
        Ok(Value::UNSPECIFIED)
    };

    /// Returns the current dynamic environment, which binds handlers and parameters.
    "%dynamic" "" [0, 0] free => |context, _| Ok(context.heap.register(Register::Dynamic));

    /// Replaces the dynamic environment.
    "%set-dynamic!" "environment" [1, 1] free => |context, arguments| {
        context.heap.set_register(Register::Dynamic, arguments[0]);
        Ok(Value::UNSPECIFIED)
    };

    /// Returns the winders of the nearest prompt with this tag, or `#f` if there is none.
    "%find-prompt" "tag" [1, 1] counted => |context, arguments| {
        let chain = context.heap.register(Register::Continuation);
        let prompt = find_prompt(context.heap, chain, arguments[0]);
        Ok(prompt.map_or(Value::FALSE, |prompt| context.heap.field(prompt, prompt_link::WINDERS)))
    };

    /// Returns the winders that were current when a continuation of `%call/cc` was captured.
    /// Fails with `wrong-type` if the argument is not a continuation.
    "%continuation-winders" "continuation" [1, 1] free => winders_of;

    /// Returns the winders that were current when a continuation of `%call-with-composable` was
    /// captured.
    /// Fails with `wrong-type` if the argument is not a continuation.
    "%composable-winders" "continuation" [1, 1] free => winders_of;

    /// Returns whether a prompt with this tag is in a continuation of `%call/cc`.
    /// Fails with `wrong-type` if the second argument is not a continuation.
    "%prompt-in?" "tag continuation" [2, 2] counted => |context, arguments| {
        let chain = captured_field(context, arguments, 1, captured::LINK)?;
        Ok(Value::boolean(find_prompt(context.heap, chain, arguments[0]).is_some()))
    };

    /// Makes a condition of a kind (a symbol), a message and a list of irritants.
    "%make-condition" "kind message irritants" [3, 3] free => |context, arguments| {
        let fields = [arguments[0], arguments[1], arguments[2], Value::FALSE, Value::FALSE];
        Ok(context.heap.make(Kind::Condition, &fields)?)
    };

    /// Returns whether the argument is a condition.
    "condition?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Condition)))
    };

    /// Returns the kind of a condition, a symbol.
    /// Fails with `wrong-type` if the argument is not a condition.
    "condition-kind" "condition" [1, 1] free => |context, arguments| {
        condition_field(context, arguments, condition::KIND)
    };

    /// Returns the message of a condition.
    /// Fails with `wrong-type` if the argument is not a condition.
    "condition-message" "condition" [1, 1] free => |context, arguments| {
        condition_field(context, arguments, condition::MESSAGE)
    };

    /// Returns the irritants of a condition, a list.
    /// Fails with `wrong-type` if the argument is not a condition.
    "condition-irritants" "condition" [1, 1] free => |context, arguments| {
        condition_field(context, arguments, condition::IRRITANTS)
    };

    /// Returns the procedure that raised a condition, a symbol, or `#f`.
    /// Fails with `wrong-type` if the argument is not a condition.
    "condition-origin" "condition" [1, 1] free => |context, arguments| {
        condition_field(context, arguments, condition::ORIGIN)
    };
}

fn winders_of(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    captured_field(context, arguments, 0, captured::WINDERS)
}

/// A field of an argument that must be a continuation.
fn captured_field(
    context: &Context<'_>,
    arguments: &[Value],
    argument: usize,
    field: usize,
) -> Result<Value, PrimitiveError> {
    let (heap, continuation) = (&context.heap, arguments[argument]);
    let is_continuation = heap.is_kind(continuation, Kind::Closure)
        && [CONTINUATION_WORD, COMPOSABLE_WORD].contains(&heap.field(continuation, 0));
    if is_continuation {
        Ok(heap.field(continuation, field))
    } else {
        Err(PrimitiveError::WrongType {
            argument,
            expected: "a continuation",
        })
    }
}

/// The nearest prompt with this tag in a chain of frames.
fn find_prompt(heap: &Heap, chain: Value, tag: Value) -> Option<Value> {
    const { assert!(link::NEXT == prompt_link::NEXT) };
    let mut rest = chain;
    let mut steps = Steps::<{ cost::ELEMENTS }>::default();
    while rest != Value::NIL {
        // Other links only say where the stack was cut, which costs nothing.
        if heap.is_kind(rest, Kind::PromptLink) {
            steps.step(heap);
            if heap.field(rest, prompt_link::TAG) == tag {
                return Some(rest);
            }
        }
        rest = heap.field(rest, link::NEXT);
    }
    None
}

/// Returns whether `value` can be called.
pub(crate) fn is_procedure(value: Value) -> bool {
    value.is_procedure_object() || value.is_immediate(Immediate::Primitive)
}

fn condition_field(context: &mut Context<'_>, arguments: &[Value], field: usize) -> Result<Value, PrimitiveError> {
    if context.heap.is_kind(arguments[0], Kind::Condition) {
        Ok(context.heap.field(arguments[0], field))
    } else {
        Err(PrimitiveError::WrongType {
            argument: 0,
            expected: "a condition",
        })
    }
}
