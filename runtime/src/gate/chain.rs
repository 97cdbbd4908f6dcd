//! What a capability stands for, as the gate sees it: by the state before the turn and what the turn has made.
//!
//! INVARIANT: a chain that leads nowhere, is revoked, or is longer than the longest allowed gives nothing.
//! It does not apply caveats; `state/chain.rs` says which there are.
//! Read next: `../capability.rs`.

use std::collections::BTreeMap;

use crate::capability::{Authority, CHAIN_MAX};
use crate::model::identity::CapabilityId;
use crate::state::before::StateBefore;

/// What the capabilities that a turn makes stand for.
pub(crate) type Conveyed = BTreeMap<CapabilityId, Authority>;

/// Says whether a capability gave `wanted` before a turn, or does so since the turn began; the gate asks.
///
/// `made` has the capabilities that the turn has made so far. One that the turn has revoked is refused when it is used.
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
            // Making a narrower one is allowed whatever the wider one stands for.
            Some(_) if matches!(wanted, Authority::Capability { capability: wider } if *wider == next) => return true,
            Some(Authority::Capability { capability: wider }) => next = *wider,
            Some(authority) => return authority == wanted,
        }
    }
    false
}
