//! The authority of a capability as the gate sees it: from the state before the turn and the
//! capabilities that the turn made.
//!
//! INVARIANT: a chain that has no end, is revoked, or is longer than the maximum gives nothing.
//! It does not apply caveats; `../state/chain.rs` lists them.
//! Read next: `../capability.rs`.

use std::collections::BTreeMap;

use crate::capability::{Authority, CHAIN_MAX};
use crate::model::identity::{ActorId, CapabilityId};
use crate::state::before::StateBefore;

/// The authorities of the capabilities that a turn makes.
pub(crate) type Conveyed = BTreeMap<CapabilityId, Authority>;

/// Returns the actor whose right a capability gave before the turn, or gives through capabilities
/// that the turn made; `None` if it does not give `wanted`.
///
/// `made` has the capabilities that the turn made so far, and their maker. If the turn has revoked
/// one, the action that uses it refuses it.
pub(crate) fn giver(
    before: StateBefore<'_>,
    made: Option<&Conveyed>,
    maker: ActorId,
    capability: CapabilityId,
    wanted: &Authority,
) -> Option<ActorId> {
    let mut next = capability;
    for _ in 0..=CHAIN_MAX {
        let known = before
            .capability(next)
            .filter(|known| !known.is_revoked)
            .map(|known| (known.owner, &known.from));
        let made = made.and_then(|made| Some((maker, made.get(&next)?)));
        match made.or(known)? {
            // An actor may narrow a capability whatever its authority.
            (owner, _) if matches!(wanted, Authority::Capability { capability: wider } if *wider == next) => {
                return Some(owner);
            }
            (_, Authority::Capability { capability: wider }) => next = *wider,
            (owner, authority) => return (authority == wanted).then_some(owner),
        }
    }
    None
}
