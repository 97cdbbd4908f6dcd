//! `postpone`: the actor postpones attempts that policy wants later or with more evidence. They
//! wait until the entries change, and policy then judges them again; meanwhile the program can wait
//! for a called tool.

use super::invoke_tool::enter;
use super::propose::enter_calls;
use super::{Act, Action, Claims, Needs, listed, needs_of, to_value};
use crate::codec_struct;
use crate::model::identity::{FacetId, RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Postpones attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Postpone {
    /// The id of the request.
    pub request: RequestId,
    /// The facet that attempts; if it stops, the runtime drops the attempts.
    pub facet: FacetId,
    /// The attempts, which belong together.
    pub attempts: Vec<Action>,
}
codec_struct!(Postpone "postpone" { request, facet, attempts });

impl Act for Postpone {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        enter_calls(draft, self.request, &self.attempts)?;
        let name = draft.names.name("request", self.request.0);
        let question = Question::Postponed {
            attempts: to_value(&self.attempts)?,
        };
        enter(draft, self.request, self.facet, question, name)
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request));
        claims.attempting(&self.attempts)
    }

    fn needs(&self) -> Needs<'_> {
        needs_of(&self.attempts)
    }

    fn parts(&self) -> &[Action] {
        &self.attempts
    }

    fn show(&self) -> String {
        format!("{}, {}", listed(&self.attempts), self.request)
    }
}
