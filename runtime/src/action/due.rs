//! `due`: the actor records when a timer will run out. If the process ends before, the timer
//! continues with the rest of its time.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{RequestId, Resource};
use crate::model::moment::Moment;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Records when a timer will run out.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The timer.
    pub request: RequestId,
    /// The moment in milliseconds since 1970.
    pub at_ms: u64,
}
codec_struct!(Due "due" { request, at_ms });

impl Act for Due {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let request = draft.state.requests.get_mut(&self.request);
        let request = request.ok_or(Refusal::NoRequest(self.request))?;
        let question = &request.question;
        let delay_ms = question.length_ms().ok_or(Refusal::NoRequest(self.request))?;
        request.question = Question::Deadline {
            at_ms: self.at_ms,
            delay_ms,
            of: question.limits(),
        };
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Request(self.request))
    }

    fn show(&self) -> String {
        format!("{} at {}", self.request, Moment(self.at_ms))
    }
}
