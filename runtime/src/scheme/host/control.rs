//! Fibers, waits, facets and actors.
//!
//! INVARIANT: a procedure that waits or stops a facet parks the fiber; the turn does the rest.
//! It does not read wait descriptors; `../descriptor.rs` does.
//! Read next: `../descriptor.rs`.

use duet_kernel::value::Value;

use super::call::{Call, DONE, Fault, Reply, host_procedures};
use super::dataspace::facet;
use crate::action::spawn_fiber::NAME_CHARACTERS_MAX;
use crate::model::identity::{FacetId, FiberId};
use crate::scheme::convert::Class;
use crate::scheme::descriptor;
use crate::turn::task::Until;

host_procedures! {
    /// Parks the fiber until what the descriptor describes is there, and returns it; of a list of
    /// descriptors, until one of them is, and returns a pair of its position and the value. If
    /// `edge?` is true, only what comes after the call counts.
    "%await" "descriptor edge?" [2, 2] => wait;

    /// Requires that this actor may wait for what the descriptor describes, and that there is such
    /// a wait; begins none.
    "%check-await" "descriptor" [1, 1] => |call| {
        descriptor::check(call, call.argument(0))?;
        DONE
    };

    /// Lets everything go first that is on its way; the turn commits.
    "yield" "" [0, 0] => |_| Ok(Reply::Park(Until::Yielded));

    /// The number of this fiber in its actor, for `%wake`.
    "%current-fiber" "" [0, 0] => |call| Ok(Reply::Value(Value::length(call.turn.fiber().0 as usize)));

    /// Parks the fiber until another one of this actor wakes it; the turn commits. `until` says for
    /// people what that fiber will have done. With `fiber`, a number or `#f` for the main program,
    /// the fiber also goes on when that one has ended.
    "%sleep" "until [fiber]" [1, 2] => |call| {
        let text = call.text(0, "a string")?;
        let ends = if call.arguments.len() > 1 { parked(call, 1)? } else { None };
        Ok(Reply::Park(Until::Woken { text, ends }))
    };

    /// Returns whether a fiber of this actor is parked: that with this number, or for `#f` the main
    /// program.
    "%fiber-waits?" "fiber" [1, 1] => |call| Ok(Reply::Value(Value::boolean(parked(call, 0)?.is_some())));

    /// Lets a fiber of this actor continue that sleeps.
    "%wake" "fiber" [1, 1] => |call| {
        let fiber = call.natural(0)?;
        call.turn.wake(FiberId(fiber))?;
        DONE
    };

    /// Makes a fiber in `facet`, by default the current one, that calls `thunk` in this turn, after
    /// the present fiber has parked. `name`, a symbol or string of at most 100 characters, tells
    /// people in the log and in lists of waits which fiber it is.
    "spawn" "thunk [facet [name]]" [1, 3] => |call| {
        let facet = facet_or(call, 1)?;
        let name = if call.arguments.len() > 2 { Some(fiber_name(call, 2)?) } else { None };
        let thunk = call.procedure(0)?;
        call.turn.spawn(facet, thunk, name)?;
        DONE
    };

    /// Makes a fiber in the current facet that calls `thunk` in this turn, after the present fiber
    /// has parked. If a later turn of the fiber fails, that turn is undone, the fiber ends, and
    /// `on-failure` is called with the record `(failure kind message irritants origin backtrace)`.
    /// With `fuel`, the fiber fails with `out-of-fuel` when it has used that many units. Returns
    /// the number of the fiber, for `%cancel`.
    "%spawn-guarded" "thunk on-failure [fuel]" [2, 3] => |call| {
        let fuel_max = if call.arguments.len() > 2 { Some(call.natural(2)?) } else { None };
        let (thunk, guard) = (call.procedure(0)?, call.procedure(1)?);
        let fiber = call.turn.spawn_guarded(thunk, guard, fuel_max)?;
        Ok(Reply::Value(Value::length(fiber.0 as usize)))
    };

    /// Ends a fiber of `%spawn-guarded` that waits, without a call of its `on-failure`. Fails with
    /// `refused` if there is no such fiber.
    "%cancel" "fiber" [1, 1] => |call| {
        let fiber = call.natural(0)?;
        call.turn.cancel(FiberId(fiber))?;
        DONE
    };

    /// Makes a facet in `parent`, by default in the current one, and returns it. It lives until it
    /// is stopped.
    "spawn-facet!" "[parent]" [0, 1] => |call| {
        let parent = facet_or(call, 0)?;
        let facet = call.turn.spawn_facet(parent, None)?;
        call.refer(Class::Facet, facet.0)
    };

    /// Has `thunk` called in a fiber of its own, in the current facet, which has to wait or end
    /// before the fuel of the turn's handlers is used: other fibers go on in the next turn.
    "%spawn-undivided" "thunk" [1, 1] => |call| {
        let thunk = call.procedure(0)?;
        call.turn.spawn_undivided(thunk)?;
        DONE
    };

    /// Makes a facet in `parent` that `fiber` uses, and returns it. It also stops when the fiber is
    /// ended from outside or fails.
    "%spawn-facet-for!" "parent fiber" [2, 2] => |call| {
        let (parent, user) = (facet_or(call, 0)?, FiberId(call.natural(1)?));
        let facet = call.turn.spawn_facet(parent, Some(user))?;
        call.refer(Class::Facet, facet.0)
    };

    /// Stops a facet, by default the current one: the facets inside it first, then its stop hooks
    /// run, then its assertions are retracted. Its fibers vanish; no `dynamic-wind` after thunk
    /// runs. A call that stops the fiber's own facet does not return.
    "stop-facet!" "[facet]" [0, 1] => |call| Ok(Reply::Park(Until::Stopped(facet_or(call, 0)?)));

    /// Whether `object` is a facet.
    "%facet?" "object" [1, 1] => |call| {
        let is_facet = call.reference(0, Class::Facet, "a facet").is_ok();
        Ok(Reply::Value(Value::boolean(is_facet)))
    };

    /// Has `thunk` called, in the surrounding facet, when the current facet stops.
    "on-stop" "thunk" [1, 1] => |call| {
        let thunk = call.procedure(0)?;
        call.turn.on_stop(thunk)?;
        DONE
    };

    /// The facet that the fiber belongs to.
    "current-facet" "" [0, 0] => |call| {
        let facet = call.turn.facet();
        call.refer(Class::Facet, facet.0)
    };

    /// The actor that the fiber belongs to.
    "current-actor" "" [0, 0] => |call| {
        let actor = call.turn.actor();
        call.refer(Class::Actor, actor.0)
    };

    /// Ends the actor; for the main program, the run. `#t` and no value mean success, `#f` failure,
    /// an exact integer is the exit code.
    "%exit" "[result]" [0, 1] => |call| {
        let code = match call.arguments.first() {
            None => 0,
            Some(&Value::TRUE) => 0,
            Some(result) => result.as_fixnum().map_or(1, code_of),
        };
        Ok(Reply::Exit(code))
    };
}

/// Returns the exit code of an exact integer: its last eight bits, because a system has no more.
/// Where these are zero, another integer than 0 becomes 255, because it means failure.
fn code_of(integer: i64) -> u64 {
    match integer.rem_euclid(256) {
        0 if integer != 0 => 255,
        code => code.unsigned_abs(),
    }
}

/// Returns the parked fiber that an argument designates, if there is one.
fn parked(call: &Call<'_>, argument: usize) -> Result<Option<FiberId>, Fault> {
    if !call.argument(argument).is_true() {
        return Ok(call.turn.parked_main());
    }
    let fiber = FiberId(call.natural(argument)?);
    Ok(call.turn.is_parked(fiber).then_some(fiber))
}

fn wait(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let (mut rest, is_edge) = (call.argument(0), call.argument(1).is_true());
    if !rest.is_pair() || descriptor::is_datum(call, rest) {
        let wanted = descriptor::begin(call, &[rest])?;
        return Ok(Reply::Park(Until::Condition { wanted, is_edge }));
    }
    let mut descriptors = Vec::new();
    while rest.is_pair() {
        descriptors.push(call.instance.heap.car(rest));
        rest = call.instance.heap.cdr(rest);
    }
    let wanted = descriptor::begin(call, &descriptors)?;
    Ok(Reply::Choose(Until::Condition { wanted, is_edge }))
}

/// Returns the name of a fiber that is an argument.
fn fiber_name(call: &Call<'_>, argument: usize) -> Result<String, Fault> {
    const EXPECTED: &str = "a symbol or string of at most 100 characters";
    let name = call.text(argument, EXPECTED)?;
    if name.chars().count() > NAME_CHARACTERS_MAX {
        return Err(call.wrong_type(argument, EXPECTED));
    }
    Ok(name)
}

/// Returns the facet that is an argument, by default the current one.
pub(super) fn facet_or(call: &Call<'_>, argument: usize) -> Result<FacetId, Fault> {
    if call.arguments.len() > argument {
        facet(call, argument)
    } else {
        Ok(call.turn.facet())
    }
}
