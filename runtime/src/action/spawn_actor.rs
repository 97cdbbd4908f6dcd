//! `spawn-actor`: the turn makes an actor, which runs its program after the commit. It knows the
//! roles that the acting actor knows.

use preserves::IOValue;
use smallvec::smallvec;

use super::{Act, Claims, Need, Needs};
use crate::codec_struct;
use crate::model::identity::{ActorId, FacetId, Resource};
use crate::model::manifest::Manifest;
use crate::model::value::Fact;
use crate::state::actor::{Actor, Monitor};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Makes an actor; takes the procedure that receives its end, if `monitor` is set.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnActor {
    /// The id of the actor.
    pub actor: ActorId,
    /// Its root facet.
    pub root: FacetId,
    /// The role that it plays.
    pub role: String,
    /// The facet of the acting actor whose stop ends the new one, if any.
    pub link: Option<FacetId>,
    /// The facet of the acting actor in which the procedure is called when the new actor ends, if
    /// any.
    pub monitor: Option<FacetId>,
    /// The program.
    pub program: IOValue,
    /// The maximum size of its heap in bytes, if it is not that of the run's other actors.
    pub heap_bytes_max: Option<u64>,
    /// The maximum number of its assertions, if it is limited.
    pub facts_max: Option<u64>,
    /// Its capabilities by name: at most those of the acting actor.
    pub manifest: Manifest,
}
codec_struct!(SpawnActor "spawn-actor" {
    actor, root, role, link, monitor, program, heap_bytes_max, facts_max, manifest
});

/// The capability to make actors.
pub const CAPABILITY: &str = "spawn";

impl Act for SpawnActor {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if let Some(link) = self.link {
            draft.facet_mut(link)?.linked.insert(self.actor);
        }
        let link = self.link.map(|link| (draft.actor, link));
        let program = Fact::new(self.program.clone())?;
        let mut actor = Actor::new(Some(program), self.manifest.clone(), link, self.root);
        actor.heap_bytes_max = self.heap_bytes_max;
        actor.facts_max = self.facts_max;
        actor.role = Some(self.role.as_str().into());
        actor.roles = draft.acting()?.roles.clone();
        if let Some(facet) = self.monitor {
            draft.facet_mut(facet)?.monitored.insert(self.actor);
            let procedure = draft.take_callable()?;
            let monitor = Monitor { facet, procedure };
            draft.acting_mut()?.monitors.insert(self.actor, monitor);
            actor.monitored_by = Some(draft.actor);
        }
        draft.state.actors.insert(self.actor, actor);
        draft.outbox.push(self.actor, Event::Boot {});
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = [self.link, self.monitor].into_iter().flatten();
        claims
            .fold(Claims::default(), |claims, facet| claims.using(Resource::Facet(facet)))
            .making(Resource::Actor(self.actor))
            .making(Resource::Facet(self.root))
    }

    fn needs(&self) -> Needs<'_> {
        smallvec![Need::of(CAPABILITY), Need::Manifest(&self.manifest)]
    }

    fn show(&self) -> String {
        let linked = self.link.map_or_else(String::new, |link| format!(", linked to {link}"));
        let watched = self
            .monitor
            .map_or_else(String::new, |facet| format!(", its end told in {facet}"));
        let memory = self
            .heap_bytes_max
            .map_or_else(String::new, |bytes| format!(", in at most {bytes} bytes"));
        let facts = self
            .facts_max
            .map_or_else(String::new, |facts| format!(", with at most {facts} assertions"));
        format!(
            "{} as {} running {:?}{linked}{watched}{memory}{facts}",
            self.actor, self.role, self.program
        )
    }
}
