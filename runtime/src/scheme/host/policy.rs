//! Policy: proposals, their answers, and explanations.
//!
//! INVARIANT: items that are proposed together all happen or none does.
//! It does not rule on anything; the gate does.
//! Read next: `../../turn/activation/arbitrate.rs`.

use duet_kernel::heap::{Heap, HeapFull};
use duet_kernel::value::Value;
use preserves::IOValue;

use super::call::{Call, Fault, Reply, host_procedures};
use crate::action::{Action, Assert, InvokeTool, Retract};
use crate::dataspace::pattern::Pattern;
use crate::gate::bench;
use crate::model::identity::{ActorId, Handle, RequestId};
use crate::model::value::Fact;
use crate::policy::ruling::Ruling;
use crate::scheme::convert::{self, Class};
use crate::state::refusal::Refusal;

/// The kind of condition that a program receives when policy forbids something.
pub(super) const DENIED: &str = "policy-denied";

host_procedures! {
    /// Returns the policy's answer to a proposal of all the items, without proposing them. The
    /// answer is a list of the decision, its consequence, the reason's code, the key of the entry
    /// that decided or `#f`, and an explanation. Each item is `(call tool payload)`,
    /// `(entry fact)` or `(remove handle)`.
    "%explain" "items" [1, 1] => |call| {
        let attempts = attempts(call, Ids::None)?;
        let ruling = call.turn.explain(&attempts);
        let mut parts = vec![call.instance.heap.intern(ruling.decision().name())?];
        parts.extend(parts_of(&mut call.instance.heap, &ruling)?);
        Ok(Reply::Value(call.instance.heap.list(&parts, Value::NIL)?))
    };

    /// Proposes items together, as `%explain` takes them: all of them happen or none. A pair of the
    /// name under which they wait for approval, or `#f`, and a list of what each gave: a tag, a
    /// handle, or `#f`. Fails with `policy-denied`.
    "%propose" "items" [1, 1] => propose;

    /// The time of the entry `fact.clock` before the turn, in milliseconds, or `#f`.
    "%policy-time" "" [0, 0] => |call| {
        let now = call.turn.policy_time_ms().map(IOValue::new);
        let heap = &mut call.instance.heap;
        let now = now.map_or(Ok(Value::FALSE), |now| convert::enter(heap, &now).map_err(Fault::Boundary))?;
        Ok(Reply::Value(now))
    };

    /// The proposals that wait for approval: lists of a name, what is asked, and the actor that
    /// proposes. Needs the right to observe the facts `<approval-request name prompt>`, which show
    /// the same.
    "pending-approvals" "" [0, 0] => |call| {
        let label = Fact::new(IOValue::symbol("approval-request")).map_err(Refusal::Value)?;
        call.turn.require_observing(&Pattern::record(label, vec![Pattern::Discard, Pattern::Discard]))?;
        let mut list = Value::NIL;
        for (name, prompt, actor) in call.turn.proposals().into_iter().rev() {
            let heap = &mut call.instance.heap;
            let name = heap.string(&name)?;
            let prompt = convert::enter(heap, &prompt).map_err(Fault::Boundary)?;
            let actor = convert::reference(heap, Class::Actor, actor.0)?;
            let entry = heap.list(&[name, prompt, actor], Value::NIL)?;
            list = call.instance.heap.cons(entry, list)?;
        }
        Ok(Reply::Value(list))
    };

    /// Approves a proposal by its name, in the place of a person: what was proposed happens once,
    /// if policy is still what it was. Needs the capability `policy/approve`. Fails with
    /// `no-such-proposal`.
    "approve!" "name" [1, 1] => |call| decide(call, IOValue::new(true));

    /// Rejects a proposal by its name, in the place of a person; whoever waits for it receives
    /// `why`, a string. Needs the capability `policy/approve`. Fails with `no-such-proposal`.
    "reject!" "name why" [2, 2] => |call| {
        let why = call.text(1, "a string")?;
        decide(call, IOValue::new(why))
    };

    /// The name of an actor, by default this one, in the keys of what policy grants it.
    "session-name" "[actor]" [0, 1] => |call| {
        let actor = match call.arguments.first() {
            None => call.turn.actor(),
            Some(_) => ActorId(call.reference(0, Class::Actor, "an actor")?),
        };
        call.string(&bench::session(actor))
    };
}

/// Makes the condition of a ruling. Its irritants are the consequence, the reason's code, the
/// deciding key, and the explanation.
pub(super) fn condition(heap: &mut Heap, procedure: &str, ruling: &Ruling) -> Result<Value, HeapFull> {
    let irritants = parts_of(heap, ruling)?;
    convert::make_condition(heap, DENIED, &format!("{procedure}: {ruling}"), &irritants)
}

fn parts_of(heap: &mut Heap, ruling: &Ruling) -> Result<Vec<Value>, HeapFull> {
    let on_fail = ruling
        .on_fail
        .map_or(Ok(Value::FALSE), |on_fail| heap.intern(on_fail.name()))?;
    let code = heap.intern(ruling.code.name())?;
    let key = ruling
        .decided_by
        .as_ref()
        .map_or(Ok(Value::FALSE), |key| heap.string(key))?;
    let detail = heap.string(&ruling.detail)?;
    Ok(vec![on_fail, code, key, detail])
}

fn decide(call: &mut Call<'_>, answer: IOValue) -> Result<Reply, Fault> {
    let name = call.text(0, "the name of a proposal")?;
    if call.turn.decide(&name, answer)? {
        super::call::DONE
    } else {
        let message = format!("{}: no proposal of this name waits for approval", call.procedure.name);
        Err(Fault::condition_of(
            "no-such-proposal",
            &message,
            vec![call.argument(0)],
        ))
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a proposal consists of three kinds, of which two give something"
)]
fn propose(call: &mut Call<'_>) -> Result<Reply, Fault> {
    let attempts = attempts(call, Ids::Fresh)?;
    let pending = call.turn.arbitrate(attempts.clone())?;
    let mut results = Value::NIL;
    for attempt in attempts.iter().rev() {
        let heap = &mut call.instance.heap;
        let result = match attempt {
            Action::InvokeTool(tool) => heap.string(&tool.tag)?,
            Action::Assert(assert) => convert::reference(heap, Class::Handle, assert.handle.0)?,
            _ => Value::FALSE,
        };
        results = heap.cons(result, results)?;
    }
    let name = match pending {
        Some(request) => {
            let name = call.turn.name("request", request.0);
            call.instance.heap.string(&name)?
        }
        None => Value::FALSE,
    };
    Ok(Reply::Value(call.instance.heap.cons(name, results)?))
}

/// Whether the attempts draw ids of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Fresh,
    None,
}

fn attempts(call: &mut Call<'_>, ids: Ids) -> Result<Vec<Action>, Fault> {
    let mut attempts = Vec::new();
    let mut rest = call.argument(0);
    while rest.is_pair() {
        let item = call.instance.heap.car(rest);
        attempts.push(attempt(call, item, ids)?);
        rest = call.instance.heap.cdr(rest);
    }
    if attempts.is_empty() {
        let message = format!(
            "{}: there is nothing in the proposal",
            call.procedure.name.trim_start_matches('%')
        );
        return Err(Fault::condition_of("empty-proposal", &message, Vec::new()));
    }
    Ok(attempts)
}

fn attempt(call: &mut Call<'_>, item: Value, ids: Ids) -> Result<Action, Fault> {
    let mut parts = Vec::new();
    let mut rest = item;
    while rest.is_pair() && parts.len() < 4 {
        parts.push(call.instance.heap.car(rest));
        rest = call.instance.heap.cdr(rest);
    }
    let kind = parts.first().and_then(|kind| call.name_of(*kind)).unwrap_or_default();
    match (kind.as_str(), &parts[..]) {
        ("call", [_, tool, payload]) => {
            let tool = call.name_of(*tool).ok_or_else(|| malformed(item))?;
            let payload = call.packed(*payload)?;
            let request = if ids == Ids::Fresh {
                call.turn.fresh_request()
            } else {
                RequestId(0)
            };
            let (facet, tag) = (call.turn.facet(), call.turn.name("request", request.0));
            Ok(InvokeTool {
                request,
                facet,
                role: IOValue::new(false),
                tool,
                payload,
                tag,
                via: None,
            }
            .into())
        }
        ("entry", [_, fact]) => {
            let value = call.leave(*fact)?;
            let value = Fact::new(value).map_err(Refusal::Value)?;
            let handle = if ids == Ids::Fresh {
                call.turn.fresh_handle()
            } else {
                Handle(0)
            };
            Ok(Assert {
                facet: call.turn.facet(),
                handle,
                value,
            }
            .into())
        }
        ("remove", [_, handle]) => {
            let handle =
                convert::referent(&call.instance.heap, Class::Handle, *handle).ok_or_else(|| malformed(item))?;
            let ignored = call.turn.why_not_retract(Handle(handle));
            Ok(Retract {
                handle: Handle(handle),
                ignored,
            }
            .into())
        }
        _ => Err(malformed(item)),
    }
}

fn malformed(item: Value) -> Fault {
    Fault::condition_of(
        "bad-item",
        "expected (call tool payload), (entry fact) or (remove handle)",
        vec![item],
    )
}
