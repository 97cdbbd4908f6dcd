//! `spawn-actor`: an actor comes into being when the turn commits, and is told to run its program.

use preserves::IOValue;

use super::{Act, Claims, Thing};
use crate::actor::{Actor, Manifest};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::event::Event;
use crate::identity::{ActorId, FacetId};

/// Makes an actor.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnActor {
    /// What it is known by.
    pub actor: ActorId,
    /// Its root facet.
    pub root: FacetId,
    /// The facet of the acting actor with which it ends.
    pub link: FacetId,
    /// What it runs.
    pub program: IOValue,
    /// What it may do: at most what the acting actor may.
    pub manifest: Manifest,
}
codec_struct!(SpawnActor "spawn-actor" { actor, root, link, program, manifest });

/// The capability to make actors.
pub const CAPABILITY: &str = "spawn";

impl Act for SpawnActor {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.facet_mut(self.link)?.linked.insert(self.actor);
        let link = Some((draft.actor, self.link));
        let actor = Actor::new(self.program.clone(), self.manifest.clone(), link, self.root);
        draft.state.actors.insert(self.actor, actor);
        draft.outbox.push(self.actor, Event::Boot {});
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Thing::Facet(self.link))
            .making(Thing::Actor(self.actor))
            .making(Thing::Facet(self.root))
            .needing(CAPABILITY)
            .granting(self.manifest.clone())
    }

    fn show(&self) -> String {
        format!("{} running {:?}, linked to {}", self.actor, self.program, self.link)
    }
}
