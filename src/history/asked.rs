//! Open requests in words: what each waits for, and for whom.
//!
//! Read next: `../verb/explain/standstill.rs`.

use duet_drivers::ask::Question as Asked;
use duet_runtime::model::moment::Moment;
use duet_runtime::state::request::{Question, Request as Asking};
use schemars::JsonSchema;
use serde::Serialize;

use crate::history::turn::line::payload_words;
use crate::text::value_text::abbreviated;

/// Who or what can end a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum For {
    /// A person who approves or refuses.
    Approval,
    /// A person who answers.
    Person,
    /// A fact or a message.
    Fact,
    /// Whoever executes the run, whose standard input it reads.
    Input,
    /// A tool.
    Tool,
    /// The clock.
    Time,
    /// Another computation of the run, or policy.
    Other,
}

/// What a request waits for, in words.
pub(crate) fn asked_words(request: &Asking) -> String {
    asked(request).1
}

/// Who can answer a request, and what it waits for, in words.
pub(crate) fn asked(request: &Asking) -> (For, String) {
    match &request.question {
        Question::Ask { prompt } => (For::Person, format!("the question {}", abbreviated(prompt))),
        Question::Approve { prompt, .. } => {
            let asked = Asked::read(prompt).shown();
            let first = asked.as_str().lines().next().unwrap_or_default().trim_end();
            (For::Approval, format!("the approval of {first}"))
        }
        Question::Deferred { name, .. } => (For::Other, format!("the approval of the call of {name}")),
        Question::Tool { name, payload } => {
            let words = format!("the result of {name} {}", payload_words(&payload.value()));
            (For::Tool, words.trim_end().to_owned())
        }
        Question::Timer { delay_ms } => (For::Time, format!("{delay_ms} ms to pass")),
        Question::Deadline { at_ms, .. } => (For::Time, format!("the time {}", Moment(*at_ms))),
        Question::Limit { delay_ms, of } => (
            For::Time,
            format!("{delay_ms} ms to pass, in which {of} can be approved"),
        ),
        Question::Read { .. } => (For::Input, "input".to_owned()),
        Question::Postponed { .. } => (For::Other, "policy to allow what it put off".to_owned()),
    }
}
