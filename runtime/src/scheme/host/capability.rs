//! Capabilities: making, narrowing, revoking and signing them.
//!
//! INVARIANT: a program holds capabilities only as opaque references.
//! It does not apply caveats; the turn does.
//! Read next: `../../turn/activation/operation.rs`.

use duet_kernel::heap::Kind;
use preserves::IOValue;

use super::call::{Call, DONE, Fault, Reply, host_procedures};
use crate::capability::sturdy::{SturdyError, SturdyRef};
use crate::capability::{Authority, Caveat, CaveatError};
use crate::model::identity::{ActorId, CapabilityId};
use crate::scheme::convert::{self, Class};
use duet_kernel::value::Value;

host_procedures! {
    /// Makes a capability for a tool that the manifest grants. Whoever has it can call the tool,
    /// granted it or not. Fails with `capability-denied` if the tool was not granted.
    "tool-capability" "tool" [1, 1] => |call| {
        let name = call.text(0, "the name of a tool")?;
        make(call, Authority::Tool { name }, Vec::new())
    };

    /// Makes a capability for asserting what this actor may assert: `(assert! value capability)`.
    /// Fails with `capability-denied` if this actor may assert nothing.
    "dataspace-capability" "" [0, 0] => |call| make(call, Authority::Dataspace {}, Vec::new());

    /// Makes a capability for sending to a facet what this actor may send: `(send! capability
    /// value)`. To a facet of this actor others may send anything. Fails with `capability-denied`
    /// if it is another actor's and this actor may send nothing.
    "facet-capability" "actor facet" [2, 2] => |call| {
        let actor = ActorId(call.reference(0, Class::Actor, "an actor")?);
        let facet = super::dataspace::facet(call, 1)?;
        make(call, Authority::Facet { actor, facet }, Vec::new())
    };

    /// Makes a capability that gives what another one gives, as far as the caveats let it pass:
    /// `(rewrite pattern template)`, `(alternatives rewrite …)`, `(reject pattern)`; one that is
    /// none of these lets nothing pass. The last caveat is applied first. Fails with `bad-caveat`
    /// if one cannot be used, with `capability-denied` if the capability has been revoked.
    "attenuate" "capability caveat ..." [1, _] => |call| {
        let capability = capability(call, 0)?;
        let mut caveats = Vec::new();
        for position in 1..call.arguments.len() {
            caveats.push(caveat(&call.datum(position)?)?);
        }
        make(call, Authority::Capability { capability }, caveats)
    };

    /// Takes a capability back, and with it all that were made of it. Fails with
    /// `capability-denied` if another actor made it.
    "revoke!" "capability" [1, 1] => |call| {
        let capability = capability(call, 0)?;
        call.turn.revoke(capability)?;
        DONE
    };

    /// Whether an object is a capability, revoked or not.
    "capability?" "object" [1, 1] => |call| {
        let is_one = convert::referent(&call.instance.heap, Class::Capability, call.argument(0)).is_some();
        Ok(Reply::Value(Value::boolean(is_one)))
    };

    /// Signs a name with a secret key, a bytevector: a record `<ref {oid: name, sig: bytes}>` that
    /// can be written down and sent anywhere. The caveats narrow it, the last one applied first.
    "sturdyref" "name key caveat ..." [2, _] => |call| {
        let (name, key) = (call.datum(0)?, key(call, 1)?);
        let signed = SturdyRef::mint(name, &key).map_err(bad_reference)?;
        narrowed(call, signed, 2)
    };

    /// Narrows a sturdy reference by further caveats; needs no key.
    "attenuate-sturdyref" "reference caveat ..." [1, _] => |call| {
        let signed = SturdyRef::from_value(&call.datum(0)?).map_err(bad_reference)?;
        narrowed(call, signed, 1)
    };

    /// Makes of a sturdy reference the capability that it stands for: the given one, narrowed by
    /// the reference's caveats. Fails with `bad-sturdyref` if the reference was not signed with
    /// this key.
    "resolve-sturdyref" "reference key capability" [3, 3] => |call| {
        let signed = SturdyRef::from_value(&call.datum(0)?).map_err(bad_reference)?;
        signed.validate(&key(call, 1)?).map_err(bad_reference)?;
        let capability = capability(call, 2)?;
        make(call, Authority::Capability { capability }, signed.caveats().to_vec())
    };

    /// The name that a sturdy reference was made for; says nothing about its signature.
    "sturdyref-name" "reference" [1, 1] => |call| {
        let signed = SturdyRef::from_value(&call.datum(0)?).map_err(bad_reference)?;
        enter(call, signed.oid())
    };
}

fn make(call: &mut Call<'_>, from: Authority, caveats: Vec<Caveat>) -> Result<Reply, Fault> {
    let made = call.turn.attenuate(from, caveats)?;
    call.refer(Class::Capability, made.0)
}

fn narrowed(call: &mut Call<'_>, mut signed: SturdyRef, first: usize) -> Result<Reply, Fault> {
    for position in first..call.arguments.len() {
        signed = signed
            .attenuate(caveat(&call.datum(position)?)?)
            .map_err(bad_reference)?;
    }
    enter(call, &signed.to_value())
}

fn enter(call: &mut Call<'_>, value: &IOValue) -> Result<Reply, Fault> {
    let entered = convert::enter(&mut call.instance.heap, value).map_err(Fault::Boundary)?;
    Ok(Reply::Value(entered))
}

fn caveat(value: &IOValue) -> Result<Caveat, Fault> {
    Caveat::read(value).map_err(|error: CaveatError| Fault::condition_of("bad-caveat", &error.to_string(), Vec::new()))
}

fn bad_reference(error: SturdyError) -> Fault {
    let message = match &error {
        SturdyError::Caveat(inner) => format!("{error}: {inner}"),
        SturdyError::Packed(inner) => format!("{error}: {inner}"),
        SturdyError::Malformed | SturdyError::Signature => error.to_string(),
    };
    Fault::condition_of("bad-sturdyref", &message, Vec::new())
}

fn key(call: &Call<'_>, argument: usize) -> Result<Vec<u8>, Fault> {
    let key = call.argument(argument);
    if call.instance.heap.is_kind(key, Kind::Bytevector) {
        return Ok(call.instance.heap.raw_bytes(key).to_vec());
    }
    Err(call.wrong_type(argument, "a bytevector, the secret key"))
}

/// Returns a capability argument.
pub(super) fn capability(call: &Call<'_>, argument: usize) -> Result<CapabilityId, Fault> {
    call.reference(argument, Class::Capability, "a capability")
        .map(CapabilityId)
}

/// Passes a value through a capability that must have a particular kind of authority; returns
/// `None` if the caveats reject it.
pub(super) fn pass<T>(
    call: &mut Call<'_>,
    argument: usize,
    value: IOValue,
    expected: &'static str,
    read: impl FnOnce(Authority) -> Option<T>,
) -> Result<(T, Option<IOValue>), Fault> {
    let capability = capability(call, argument)?;
    let authority = call.turn.authority(capability)?;
    let authority = read(authority).ok_or_else(|| call.wrong_type(argument, expected))?;
    Ok((authority, call.turn.pass(capability, value)?))
}
