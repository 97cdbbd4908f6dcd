//! Asserting, sending and watching.
//!
//! INVARIANT: a value leaves the heap as a copy before it becomes part of an action.
//! It does not match patterns; the dataspace does.
//! Read next: `../../dataspace/pattern.rs`.

use duet_kernel::value::Value;

use super::call::{Call, DONE, Fault, Reply, host_procedures};
use super::capability::pass;
use crate::capability::Authority;
use crate::model::identity::{ActorId, FacetId, Handle, ObserverId};
use crate::model::value::Fact;
use crate::scheme::convert::Class;
use crate::state::refusal::Refusal;

host_procedures! {
    /// Asserts `value` for the current facet and returns the assertion's handle. Others, and this
    /// actor too, see it from the next turns on. Fails with `not-serializable` if a part of the
    /// value cannot leave the program, with `facet-stopped` if the current facet has stopped, with
    /// `capability-denied` without the right `dataspace/assert`. Through a capability the value
    /// first passes its caveats; if they do not let it pass, nothing is asserted and the answer is
    /// false.
    "assert!" "value [capability]" [1, 2] => |call| {
        let (via, value) = match call.arguments.len() {
            1 => (None, call.fact(0)?),
            _ => match admitted(call)? {
                Some(fact) => (Some(super::capability::capability(call, 1)?), fact),
                None => return Ok(Reply::Value(Value::FALSE)),
            },
        };
        let handle = call.turn.assert_through(via, value)?;
        call.refer(Class::Handle, handle.0)
    };

    /// Retracts an assertion of this actor. A handle that was retracted before or is another
    /// actor's is ignored.
    "retract!" "handle" [1, 1] => |call| {
        let handle = handle(call, 0)?;
        call.turn.retract(handle)?;
        DONE
    };

    /// Whether `object` is a handle.
    "%handle?" "object" [1, 1] => |call| Ok(Reply::Value(Value::boolean(handle(call, 0).is_ok())));

    /// Asserts `value` and then retracts `handle`, so that an equal value does not flicker; returns
    /// the new handle. Needs the right `dataspace/assert`.
    "update!" "handle value" [2, 2] => |call| {
        let old = handle(call, 0)?;
        let value = call.fact(1)?;
        let handle = call.turn.update(old, value)?;
        call.refer(Class::Handle, handle.0)
    };

    /// Tells `value`, once, to everyone who observes it; nothing stays. Needs the right
    /// `dataspace/message`.
    "message!" "value" [1, 1] => |call| {
        let value = call.fact(0)?;
        call.turn.message(value)?;
        DONE
    };

    /// Tells `value`, once, to those watches of a facet of an actor that it matches. If the facet
    /// is gone nothing happens. Needs the right `dataspace/message`. `(send! capability value)`
    /// sends through a capability for a facet; what its caveats do not let pass is not sent, and
    /// the answer is false.
    "send!" "actor facet value" [2, 3] => |call| {
        if call.arguments.len() == 2 {
            return send_through(call);
        }
        let actor = call.reference(0, Class::Actor, "an actor")?;
        let facet = facet(call, 1)?;
        let value = call.fact(2)?;
        call.turn.send(ActorId(actor), facet, value)?;
        DONE
    };

    /// Calls `handler` with an event for each match of `pattern`: `(added captures handle)`,
    /// `(removed captures handle)` or `(message captures)`. Matches that are there already come
    /// first, in a later turn. Returns a token for `unwatch`. Fails with `capability-denied`
    /// without the right `dataspace/observe` for everything that the pattern matches.
    "watch" "pattern handler" [2, 2] => |call| {
        let pattern = call.pattern(call.argument(0))?;
        let handler = call.procedure(1)?;
        let observer = call.turn.watch(&pattern, handler)?;
        call.refer(Class::Watch, observer.0)
    };

    /// Ends a watch. Its handler still sees each current match removed. Fails with `not-watching`
    /// if it has ended before.
    "unwatch" "token" [1, 1] => |call| {
        let observer = call.reference(0, Class::Watch, "a token of watch")?;
        call.turn.unwatch(ObserverId(observer))?;
        DONE
    };
}

fn handle(call: &Call<'_>, argument: usize) -> Result<Handle, Fault> {
    call.reference(argument, Class::Handle, "a handle").map(Handle)
}

/// Passes the value to be asserted through a capability, if there is one.
fn admitted(call: &mut Call<'_>) -> Result<Option<Fact>, Fault> {
    let is_it = |authority| (authority == Authority::Dataspace {}).then_some(());
    let value = call.datum(0)?;
    let ((), passed) = pass(call, 1, value, "a capability for the dataspace", is_it)?;
    Ok(passed.map(Fact::new).transpose().map_err(Refusal::Value)?)
}

fn send_through(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let value = call.datum(1)?;
    let to = |authority| match authority {
        Authority::Facet { actor, facet } => Some((actor, facet)),
        Authority::Tool { .. } | Authority::Dataspace {} | Authority::Capability { .. } => None,
    };
    let ((actor, facet), passed) = pass(call, 0, value, "a capability for a facet", to)?;
    let Some(value) = passed else {
        return Ok(Reply::Value(Value::FALSE));
    };
    let via = super::capability::capability(call, 0)?;
    let value = Fact::new(value).map_err(Refusal::Value)?;
    call.turn.send_through(Some(via), actor, facet, value)?;
    DONE
}

/// Returns a facet argument.
pub(super) fn facet(call: &Call<'_>, argument: usize) -> Result<FacetId, Fault> {
    call.reference(argument, Class::Facet, "a facet").map(FacetId)
}
