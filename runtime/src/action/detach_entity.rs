//! `detach-entity`: the actor frees a role of an entity inside it and forgets the exit hooks of the
//! entity. The entity's facet stops next, by actions of its own.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FacetId, Resource};
use crate::state::actor::ExitHook;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Forgets which facet plays a role, and its exit hooks.
#[derive(Clone, Debug, PartialEq)]
pub struct DetachEntity {
    /// The role.
    pub role: String,
    /// The entity's facet.
    pub facet: FacetId,
}
codec_struct!(DetachEntity "detach-entity" { role, facet });

impl Act for DetachEntity {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.acting_mut()?;
        let attached = actor.attached.remove(&self.role.as_str().into());
        if attached != Some(self.facet) {
            return Err(Refusal::NotAttached(self.role.clone()));
        }
        let is_its = |hook: &&ExitHook| hook.entity == Some(self.facet);
        if actor.exit_hooks.iter().any(|hook| is_its(&hook)) {
            let (its, others): (Vec<_>, Vec<_>) = actor.exit_hooks.iter().cloned().partition(|hook| is_its(&hook));
            actor.exit_hooks.clear();
            others.into_iter().for_each(|hook| actor.exit_hooks.push(hook));
            draft.outbox.released.extend(its.iter().map(|hook| hook.procedure));
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} from {}", self.role, self.facet)
    }
}
