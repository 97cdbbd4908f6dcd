//! `timer`: the program waits for a time; its end arrives as a recorded input. The program never
//! reads a clock.

use super::invoke_tool::enter_untagged;
use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::{FacetId, RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// The capability to start timers.
pub const CAPABILITY: &str = "clock/timer";

/// Starts a timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer {
    /// The id of the timer.
    pub request: RequestId,
    /// The facet that waits; if it stops, the runtime withdraws the timer.
    pub facet: FacetId,
    /// The delay in milliseconds.
    pub delay_ms: u64,
}
codec_struct!(Timer "timer" { request, facet, delay_ms });

impl Act for Timer {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        enter_untagged(draft, self.request, self.facet, self.question())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(CAPABILITY))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let effect = self.question().effect();
        effect.map(|effect| (self.request, effect))
    }

    fn show(&self) -> String {
        format!("of {} ms as {}", self.delay_ms, self.request)
    }
}

impl Timer {
    fn question(&self) -> Question {
        Question::Timer {
            delay_ms: self.delay_ms,
        }
    }
}
