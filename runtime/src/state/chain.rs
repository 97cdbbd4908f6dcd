//! Chains of capabilities: from a capability to its authority.
//!
//! INVARIANT: a chain has no revoked link; a capability with a revoked link has no chain.
//! It does not judge actions; `../gate.rs` does.
//! Read next: `draft.rs`.

use preserves::IOValue;

use crate::capability::{Authority, Capability, Caveat};
use crate::model::identity::{ActorId, CapabilityId};
use crate::state::RunState;
use crate::state::refusal::Refusal;

/// Why a capability gives nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// The capability, or one that it comes from, is revoked, or its actor has ended.
    Revoked,
}

impl RunState {
    /// Lists a capability and those that it comes from.
    ///
    /// # Errors
    /// [`Lapse`] if one of them gives nothing.
    pub fn chain(&self, capability: CapabilityId) -> Result<Vec<&Capability>, Lapse> {
        let mut chain = Vec::new();
        let mut next = Some(capability);
        while let Some(id) = next {
            let link = self
                .capabilities
                .get(&id)
                .filter(|link| !link.is_revoked)
                .ok_or(Lapse::Revoked)?;
            next = match link.from {
                Authority::Capability { capability } => Some(capability),
                Authority::Tool { .. } | Authority::Dataspace {} | Authority::Facet { .. } => None,
            };
            chain.push(link);
        }
        Ok(chain)
    }

    /// Returns the actor that made the first capability of a chain, whose right it gives.
    ///
    /// # Errors
    /// [`Lapse`] if the capability gives nothing.
    pub fn maker(&self, capability: CapabilityId) -> Result<ActorId, Lapse> {
        let chain = self.chain(capability)?;
        chain.last().map(|link| link.owner).ok_or(Lapse::Revoked)
    }

    /// Says whether a capability gives the right to call a tool.
    pub(crate) fn is_for_tool(&self, capability: CapabilityId) -> bool {
        let mut next = capability;
        while let Some(link) = self.capabilities.get(&next).filter(|link| !link.is_revoked) {
            match link.from {
                Authority::Tool { .. } => return true,
                Authority::Dataspace {} | Authority::Facet { .. } => return false,
                Authority::Capability { capability } => next = capability,
            }
        }
        false
    }

    /// Checks that the chain of a capability ends at `authority`.
    ///
    /// # Errors
    /// [`Refusal::Revoked`], [`Refusal::Unfit`].
    pub fn require(&self, capability: CapabilityId, authority: &Authority) -> Result<(), Refusal> {
        let chain = self.chain(capability).map_err(|_| Refusal::Revoked(capability))?;
        let is_fit = chain.last().is_some_and(|link| link.from == *authority);
        is_fit.then_some(()).ok_or(Refusal::Unfit(capability))
    }

    /// Returns the authority at the end of a capability's chain, and the caveats that a value
    /// passes on the way, in this order.
    ///
    /// # Errors
    /// [`Refusal::Revoked`].
    pub(crate) fn way_through(&self, capability: CapabilityId) -> Result<(Authority, Vec<Caveat>), Refusal> {
        let chain = self.chain(capability).map_err(|_| Refusal::Revoked(capability))?;
        let authority = chain.last().map(|link| link.from.clone());
        let caveats = chain.iter().flat_map(|link| link.caveats.iter().rev().cloned());
        Ok((authority.ok_or(Refusal::Revoked(capability))?, caveats.collect()))
    }

    /// Returns the payload of a call of a tool in the form in which the caveats of a capability for
    /// it judge the payload: with its paths and addresses as the tool uses them. `None` if that of
    /// one is not known.
    ///
    /// # Errors
    /// [`Refusal::Revoked`].
    pub(crate) fn as_judged(
        &self,
        capability: CapabilityId,
        tool: &str,
        payload: IOValue,
    ) -> Result<Option<IOValue>, Refusal> {
        let chain = self.chain(capability).map_err(|_| Refusal::Revoked(capability))?;
        if chain.iter().all(|link| link.caveats.is_empty()) {
            return Ok(Some(payload));
        }
        Ok(match self.before().tools().find(tool) {
            Some(tool) => tool.as_used(&payload),
            None => Some(payload),
        })
    }
}
