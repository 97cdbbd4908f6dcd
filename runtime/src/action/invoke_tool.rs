//! `invoke-tool`: the actor calls a tool. The driver performs the call once the turn is durable;
//! the program awaits the result by its tag.

use preserves::IOValue;

use super::{Act, Claims, Need, Needs, needing};
use crate::capability::Authority;
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::{CapabilityId, FacetId, RequestId, Resource};
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::{Question, Request};

/// Calls a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct InvokeTool {
    /// The id of the call.
    pub request: RequestId,
    /// The facet that calls; if it stops, nobody waits for the result any more.
    pub facet: FacetId,
    /// The role in which the program calls.
    pub role: IOValue,
    /// The name of the tool, which is also that of the capability.
    pub tool: String,
    /// The argument.
    pub payload: Fact,
    /// The program's name for the result.
    pub tag: String,
    /// The capability value through which the actor calls, whose caveats the argument has passed;
    /// `None` if the manifest grants the tool.
    pub via: Option<CapabilityId>,
}
codec_struct!(InvokeTool "invoke-tool" { request, facet, role, tool, payload, tag, via });

impl Act for InvokeTool {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if let Some(via) = self.via {
            draft.state.require(via, &self.authority())?;
        }
        draft.state.count_call(draft.actor);
        let question = Question::Tool {
            name: self.tool.clone(),
            payload: self.payload.clone(),
        };
        enter(draft, self.request, self.facet, question, self.tag.clone())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request));
        match self.via {
            Some(via) => claims.going_through(via, self.authority()),
            None => claims,
        }
    }

    fn needs(&self) -> Needs<'_> {
        match self.via {
            Some(_) => Needs::new(),
            None => needing(Need::of(&self.tool)),
        }
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Tool {
                name: self.tool.clone(),
                payload: self.payload.clone(),
            },
        ))
    }

    fn show(&self) -> String {
        let via = self.via.map(|via| format!(" through {via}")).unwrap_or_default();
        format!(
            "{} {:?}{via} as {}, tag {:?}",
            self.tool, self.payload, self.request, self.tag
        )
    }
}

impl InvokeTool {
    fn authority(&self) -> Authority {
        Authority::Tool {
            name: self.tool.clone(),
        }
    }
}

/// Adds a request without a tag to the state; its name serves as the tag.
pub(super) fn enter_untagged(
    draft: &mut Draft,
    id: RequestId,
    facet: FacetId,
    question: Question,
) -> Result<(), Refusal> {
    let tag = draft.names.name("request", id.0);
    enter(draft, id, facet, question, tag)
}

/// Adds a request to the state.
pub(super) fn enter(
    draft: &mut Draft,
    id: RequestId,
    facet: FacetId,
    question: Question,
    tag: String,
) -> Result<(), Refusal> {
    draft.facet_mut(facet)?.requests.insert(id);
    let key = draft.key(id);
    let request = Request {
        actor: draft.actor,
        facet,
        question,
        tag,
        key,
        handle: None,
        answer: None,
        kept: None,
    };
    draft.state.requests.insert(id, request);
    Ok(())
}
