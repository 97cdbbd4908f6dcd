//! The authority of a capability as the gate sees it: from the state before the turn and the
//! capabilities that the turn made.
//!
//! INVARIANT: a chain that has no end, is revoked, or is longer than the maximum gives nothing.
//! It does not apply caveats; `../state/chain.rs` lists them.
//! Read next: `../capability.rs`.

use std::collections::BTreeMap;

use crate::capability::{Authority, CHAIN_MAX};
use crate::model::identity::CapabilityId;
use crate::state::before::StateBefore;

/// The authorities of the capabilities that a turn makes.
pub(crate) type Conveyed = BTreeMap<CapabilityId, Authority>;

/// Says whether a capability gave `wanted` before the turn, or does so through capabilities that
/// the turn made.
///
/// `made` has the capabilities that the turn made so far. If the turn has revoked one, the action
/// that uses it refuses it.
pub(crate) fn gives(
    before: StateBefore<'_>,
    made: Option<&Conveyed>,
    capability: CapabilityId,
    wanted: &Authority,
) -> bool {
    let mut next = capability;
    for _ in 0..=CHAIN_MAX {
        let known = before
            .capability(next)
            .filter(|known| !known.is_revoked)
            .map(|known| &known.from);
        match made.and_then(|made| made.get(&next)).or(known) {
            None => return false,
            // An actor may narrow a capability whatever its authority.
            Some(_) if matches!(wanted, Authority::Capability { capability: wider } if *wider == next) => return true,
            Some(Authority::Capability { capability: wider }) => next = *wider,
            Some(authority) => return authority == wanted,
        }
    }
    false
}
