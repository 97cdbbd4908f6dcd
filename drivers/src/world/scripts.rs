//! Calls and questions that a script of the run's own program answers, under `duet test`.
//!
//! The program names the tools with the tool `test/script`. From then on the dataspace receives
//! each call of these as the message `<test/call id tool payload asker>`, and the call waits
//! until the program answers it with the tool `test/answer`. Questions to the person are calls of
//! `person`, requests for approval calls of `approval`. `test/calls` lists all calls so far, and
//! `test/seed` draws a number that no recording has.
//!
//! The script is a procedure of the program, so its answers are turns and inputs like all others:
//! the journal has them, and a replay needs no script. The call itself passes the gate as ever, and
//! cancelling, time limits and the virtual clock see a call that has not returned yet.
//! Rejected: a hook in `invoke-tool!`. It sees the calls of one actor only, and a call that it
//! answers is in no record, so neither policy nor `duet log` nor recorded answers know of it.
//! Rejected: an action of its own. An input that tells something and a call that answers exist.
//! INVARIANT: a scripted tool is never called, whether or not the script has an answer.
//! It chooses no answer; `(duet test)` does. Read next: `../world.rs`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use duet_runtime::driver::packed::PackedError;
use duet_runtime::driver::{Input, ToolFailure};
use duet_runtime::model::codec::{Codec, Fields};
use duet_runtime::model::grant::Grant;
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::value::Fact;
use preserves::{IOValue, ValueImpl};

use super::{Order, World};
use crate::ask::Question;
use crate::prepared::covers;
use crate::report::Report;
use crate::tool::arguments::{Arguments, integer, string};
use crate::tool::chance::{fresh_bits, number_below};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::returns::Returns;

/// The beginning of the names of the tools for tests.
const TESTS: &str = "test/";

/// The tools for tests that a program calls, as a manifest names them.
pub const SCRIPTING: [&str; 4] = ["test/script", "test/answer", "test/calls", "test/seed"];

/// The limit of a seed, which is never drawn.
const SEED_LIMIT: u64 = 1_000_000_000;

/// The name under which a question to the person is a call; it is that of the capability to ask.
const PERSON: &str = "person";

/// The name under which a request for approval is a call.
const APPROVAL: &str = "approval";

/// The tools that scripts answer, and the calls of the run.
#[derive(Default)]
pub(super) struct Scripts {
    /// Whether there may be scripts.
    is_allowed: bool,
    /// The names of the scripted tools; one may end in `*`.
    names: BTreeSet<String>,
    /// The calls that wait for a script.
    waiting: BTreeMap<RequestId, Waiting>,
    /// All calls, oldest first.
    calls: Vec<Called>,
}

/// A call, in the words of a script.
#[derive(Clone)]
pub(super) struct Called {
    name: String,
    payload: Fact,
    /// The path of the actor that called, if it is known.
    by: String,
}

/// A call that waits for a script.
struct Waiting {
    key: String,
    what: Scripted,
}

/// The sort of a call.
enum Scripted {
    /// The call of a tool.
    Call { name: String },
    /// A question to the person.
    Question(Question),
    /// A request for approval.
    Approval,
}

impl Called {
    fn of(order: &Order) -> Self {
        let asking = order.asking.as_deref();
        Self {
            name: order.name.clone(),
            payload: order.payload.clone(),
            by: asking.map_or_else(String::new, |asking| asking.asker.actor.clone()),
        }
    }

    /// A question to the person, or a request to approve what has these names.
    ///
    /// # Errors
    /// [`PackedError`] if no record could hold it; the question itself is in one.
    pub(super) fn question(prompt: &IOValue, approves: &[String]) -> Result<Self, PackedError> {
        let (name, payload) = if approves.is_empty() {
            (PERSON, Fact::new(prompt.clone())?)
        } else {
            (
                APPROVAL,
                Fact::write(|out| out.sequence(|out| approves.iter().for_each(|name| out.string(name))))?,
            )
        };
        Ok(Self {
            name: name.to_owned(),
            payload,
            by: String::new(),
        })
    }

    fn listed(&self) -> IOValue {
        IOValue::new(vec![self.name.encode(), self.payload.value(), self.by.encode()])
    }
}

impl Scripts {
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            ..Self::default()
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| covers(pattern, name))
    }

    /// The number of calls that wait for a script.
    pub(super) fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Forgets a call that was answered or withdrawn.
    pub(super) fn forget(&mut self, request: RequestId) {
        self.waiting.remove(&request);
    }
}

const fn own(name: &'static str, summary: &'static str, payload: &'static [Field], returns: Returns) -> Description {
    Description {
        name: Cow::Borrowed(name),
        summary: Cow::Borrowed(summary),
        payload: Cow::Borrowed(payload),
        result: Cow::Borrowed("what `(duet test)` expects"),
        returns,
        needs: &[],
        effect: EffectClass::Pure,
        idempotent: true,
        timeout_ms: None,
        retry: Retry::NEVER,
        takes_secrets: false,
    }
}

static SCRIPT: Description = own(
    "test/script",
    "lets the program answer the calls of tools",
    const { &[Field::required("tools", Shape::Values, "the names of the tools")] },
    Returns::Flag,
);

static ANSWER: Description = own(
    "test/answer",
    "answers a call",
    const {
        &[
            Field::required("call", Shape::Text, "the id of the call"),
            Field::optional("returns", Shape::Anything, "the result"),
            Field::optional(
                "fails",
                Shape::Anything,
                "the failure, `<failure kind message details>`",
            ),
        ]
    },
    Returns::Flag,
);

static CALLS: Description = own(
    "test/calls",
    "lists the calls of tools",
    const { &[Field::optional("tool", Shape::Text, "the name, which may end in `*`")] },
    Returns::List(&Returns::Anything),
);

/// Says whether a script may have a name: that of a tool, because it is granted, or of questions.
fn can_be_scripted(name: &str) -> bool {
    let is_right = |prefix: &&str| name.starts_with(prefix);
    let is_tool = name.contains('/') && !["dataspace", "policy/", TESTS].iter().any(is_right);
    is_tool || name == PERSON || name == APPROVAL
}

/// The tools that a call scripts, if it does.
pub fn scripted_by(name: &str, payload: &Fact) -> Option<Vec<String>> {
    if name != SCRIPT.name {
        return None;
    }
    let payload = payload.value();
    let mut arguments = Arguments::read(&SCRIPT, &payload).ok()?;
    arguments.required("tools", strings).ok()
}

impl World {
    /// Takes the call of a tool for tests, or of a scripted one; returns any other.
    pub(super) fn direct(&mut self, order: Order) -> Option<Order> {
        if !self.scripts.is_allowed {
            return Some(order);
        }
        if order.name.starts_with(TESTS) {
            let outcome = match &order.name[TESTS.len()..] {
                "script" => self.script(&order.payload.value()),
                "answer" => self.answer_scripted(&order.payload.value()),
                "calls" => self.calls(&order.payload.value()),
                "seed" => number_below(SEED_LIMIT, fresh_bits).map(integer),
                _ => return Some(order),
            };
            self.return_to(order.request, order.key, outcome);
            return None;
        }
        let called = Called::of(&order);
        self.scripts.calls.push(called.clone());
        if !self.scripts.has(&order.name) {
            return Some(order);
        }
        let waiting = Waiting {
            key: order.key,
            what: Scripted::Call { name: order.name },
        };
        self.tell_script(order.request, waiting, called);
        None
    }

    /// Lets a script answer a question; says whether there is one for it.
    pub(super) fn direct_question(
        &mut self,
        request: RequestId,
        key: &str,
        question: &Question,
        called: Called,
    ) -> bool {
        if !self.scripts.is_allowed {
            return false;
        }
        self.scripts.calls.push(called.clone());
        if !self.scripts.has(&called.name) {
            return false;
        }
        let waiting = Waiting {
            key: key.to_owned(),
            what: if called.name == APPROVAL {
                Scripted::Approval
            } else {
                Scripted::Question(question.clone())
            },
        };
        self.tell_script(request, waiting, called);
        true
    }

    fn tell_script(&mut self, request: RequestId, waiting: Waiting, called: Called) {
        let Called { name, payload, by } = called;
        let value = Fact::write(|out| {
            out.record("test/call", |out| {
                out.string(&waiting.key);
                out.string(&name);
                out.packed(payload.view());
                out.string(&by);
            });
        });
        match value {
            Ok(value) => {
                self.scripts.waiting.insert(request, waiting);
                self.report(Report::Unasked(Input::Tell { value, stays: false }));
            }
            Err(error) => {
                let failure = Kind::BadArgument.because(format!("no script can receive the call: {error}"));
                self.return_to(request, waiting.key, Err(failure));
            }
        }
    }

    fn return_to(&self, request: RequestId, key: String, outcome: Outcome) {
        let input = Input::ToolResult { request, outcome };
        self.report(Report::Answered { key, request, input });
    }

    /// Begins to script tools. The program may call them, because nothing happens outside.
    fn script(&mut self, payload: &IOValue) -> Outcome {
        let mut arguments = Arguments::read(&SCRIPT, payload)?;
        let tools = arguments.required("tools", strings)?;
        if let Some(strange) = tools.as_slice().iter().find(|name| !can_be_scripted(name)) {
            let message = format!("`{strange}` cannot be scripted: it is not the name of a tool, as `http/get` is");
            return Err(Kind::BadArgument.because(message));
        }
        self.scripts.names.extend(tools.as_slice().iter().cloned());
        let grant = Grant {
            manifest: tools.into_iter().filter(|name| name != APPROVAL).collect(),
            tools: Vec::new(),
            policy: Vec::new(),
            note: IOValue::new(false),
        };
        self.report(Report::Unasked(Input::Grant { grant }));
        Ok(IOValue::new(true))
    }

    /// Answers a call that waits for its script; says whether it still waited.
    fn answer_scripted(&mut self, payload: &IOValue) -> Outcome {
        let mut arguments = Arguments::read(&ANSWER, payload)?;
        let call = arguments.required("call", string)?;
        let failure = arguments.optional("fails", read_failure)?;
        let value = arguments.optional("returns", |value| Some(value.clone()))?;
        let found = self.scripts.waiting.iter().find(|(_, waiting)| waiting.key == call);
        let Some(request) = found.map(|(request, _)| *request) else {
            return Ok(IOValue::new(false));
        };
        let Some(waiting) = self.scripts.waiting.remove(&request) else {
            return Ok(IOValue::new(false));
        };
        let answer = match failure {
            Some(failure) => Ok(failed(request, failure)),
            None => self.input_of(request, &waiting.what, value.unwrap_or(IOValue::new(false))),
        };
        let (input, outcome) = match answer {
            Ok(input) => (input, Ok(IOValue::new(true))),
            // The program hears of it too, so that nothing waits for ever.
            Err(failure) => (failed(request, failure.clone()), Err(failure)),
        };
        let key = waiting.key;
        self.report(Report::Answered { key, request, input });
        outcome
    }

    /// Makes the input that answers a scripted call with a value.
    fn input_of(&self, request: RequestId, what: &Scripted, value: IOValue) -> Result<Input, ToolFailure> {
        match what {
            Scripted::Call { name } => {
                let tool = self.tools.find(name).ok();
                let returns = tool.map(|tool| tool.description().returns);
                if let Some(Err(misfit)) = returns.map(|returns| returns.check(&value)) {
                    let message = format!("{name} never returns what its script does: {misfit}");
                    return Err(Kind::BadResult.because(message));
                }
                let outcome = Ok(value);
                Ok(Input::ToolResult { request, outcome })
            }
            Scripted::Question(question) => {
                let value = match value.as_string() {
                    Some(line) => question.answer(&line).map_err(|error| {
                        Kind::BadResult.because(format!("the script's answer does not fit: {error}"))
                    })?,
                    None if question.takes(&value) => value,
                    None => {
                        return Err(
                            Kind::BadResult.because("the script's answer is none of the choices, and no string")
                        );
                    }
                };
                Ok(Input::Answer { request, value })
            }
            Scripted::Approval => Ok(Input::Answer { request, value }),
        }
    }

    /// Lists the calls whose names are those of a pattern.
    fn calls(&self, payload: &IOValue) -> Outcome {
        let mut arguments = Arguments::read(&CALLS, payload)?;
        let pattern = arguments.optional("tool", string)?;
        let is_wanted = |name: &str| pattern.as_ref().is_none_or(|pattern| covers(pattern, name));
        let calls = self.scripts.calls.iter().filter(|called| is_wanted(&called.name));
        Ok(IOValue::new(calls.map(Called::listed).collect::<Vec<_>>()))
    }
}

fn failed(request: RequestId, failure: ToolFailure) -> Input {
    let outcome = Err(failure);
    Input::ToolResult { request, outcome }
}

fn strings(value: &IOValue) -> Option<Vec<String>> {
    Vec::<String>::decode(value).ok()
}

fn read_failure(value: &IOValue) -> Option<ToolFailure> {
    let mut fields = Fields::of(value, "failure", 3).ok()?;
    let kind: IOValue = fields.read("kind").ok()?;
    Some(ToolFailure {
        kind: kind.as_symbol()?.into_owned(),
        message: fields.read("message").ok()?,
        details: fields.read("details").ok()?,
    })
}
