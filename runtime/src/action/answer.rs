//! `answer`: the actor answers a question of its own, in the place of a person. The fiber that asks
//! receives the answer as if the person had given it.

use preserves::IOValue;

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Answers a question of the acting actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question.
    pub request: RequestId,
    /// The answer.
    pub value: IOValue,
}
codec_struct!(Answer "answer" { request, value });

impl Act for Answer {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        crate::model::value::Fact::new(self.value.clone())?;
        let (request, outcome) = (self.request, Ok(self.value.clone()));
        draft.outbox.push(draft.actor, Event::Answered { request, outcome });
        draft.outbox.withdrawn.push(request);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Request(self.request))
    }

    fn show(&self) -> String {
        format!("{} with {:?}", self.request, self.value)
    }
}
