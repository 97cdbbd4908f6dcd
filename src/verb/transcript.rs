//! `transcript`: conversations with language models, as one reads them.
//!
//! A call has the whole conversation so far; a later call whose messages begin with those of an
//! earlier one goes on with it.
//! INVARIANT: each message appears once, with the turn in which it was first said; one call at a
//! time is in memory, besides the report. The index beside the journal names the turns that have
//! calls of models, and Duet reads no others.
//! Read next: `text/exchange.rs`.

use std::collections::BTreeMap;

use duet_drivers::text;
use duet_journal::{RecordHash, Sequence};
use duet_runtime::action::Action;
use duet_runtime::action::invoke_tool::InvokeTool;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::TurnRecord;
use duet_runtime::run::tool_failure;
use duet_runtime::state::event::Event;
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::Project;
use crate::history::records::chosen_turns;
use crate::text::error::CommandError;
use crate::text::exchange::{self, Usage, WantedCall, content, field, list, text_field};
use crate::text::similar::advice;
use crate::text::value_json;
use crate::text::value_text::{abbreviated, shown};
use crate::text::view::{Told, View};

/// Shows the conversations of a run with language models.
///
/// Each conversation is shown whole, from its first message on, with the numbers of the turns in
/// which it was said, the tools that the model asked for and what they returned. Conversations of
/// agents that work at the same time stand one after the other.
///
///   duet transcript desk
///   duet transcript desk reviewer
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// The role in which the program asks.
    agent: Option<String>,
}

/// The conversations.
pub(crate) struct Report {
    name: String,
    conversations: Vec<Conversation>,
    notes: Vec<String>,
}

/// A conversation.
struct Conversation {
    agent: String,
    model: String,
    usage: Usage,
    said: Vec<Said>,
    /// Whether the newest reply stands there, so that a call that repeats it adds it no more.
    has_reply: bool,
}

/// A message.
struct Said {
    turn: Sequence,
    role: String,
    content: String,
    /// The calls that a model asks for.
    calls: Vec<WantedCall>,
}

/// The report as JSON.
pub(crate) type Form = Vec<ConversationForm>;

/// A conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConversationForm {
    /// The role of the program that asks.
    agent: String,
    model: String,
    input_tokens: u64,
    output_tokens: u64,
    /// US dollars; null if no price is known.
    usd: Option<f64>,
    messages: Vec<MessageForm>,
}

/// A message.
#[derive(Serialize, JsonSchema)]
struct MessageForm {
    turn: u64,
    /// `system`, `user`, `assistant`, `tool`, or `failed` for a question without an answer.
    role: String,
    content: String,
    /// The calls that the model asks for.
    calls: Vec<CallForm>,
}

/// A call that a model asks for.
#[derive(Serialize, JsonSchema)]
struct CallForm {
    name: String,
    arguments: Json,
}

/// Shows conversations.
///
/// # Errors
/// If there is no such turn or agent, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let mut reading = Reading::default();
    let (chosen, notes) = look.turns_of_tool(&place, exchange::TOOL)?;
    for turn in chosen_turns(place.source(look.store), &chosen) {
        look.go_on()?;
        let (at, turn) = turn?;
        reading.read(&turn, at, request.agent.as_deref());
    }
    let name = place.address(place.at());
    if let Some(agent) = &request.agent {
        require_agent(agent, &reading.agents, &name)?;
    }
    Ok(Report {
        name,
        conversations: reading.conversations,
        notes,
    })
}

/// Requires that an agent has asked a model, if any has.
fn require_agent(agent: &str, known: &[String], name: &str) -> Result<(), CommandError> {
    if known.is_empty() || known.iter().any(|known| known == agent) {
        return Ok(());
    }
    let error = CommandError::usage(format!("no agent `{agent}` has asked a language model up to {name}"));
    Err(error.advise(advice(agent, known)))
}

/// The conversations that were read so far.
#[derive(Default)]
struct Reading {
    conversations: Vec<Conversation>,
    /// The conversation that each call without an answer goes on with.
    asked: BTreeMap<RequestId, usize>,
    /// All agents, in the order in which they first asked.
    agents: Vec<String>,
    /// The conversations by what was said in them: the agent and all messages.
    known: BTreeMap<RecordHash, usize>,
}

impl Reading {
    fn read(&mut self, turn: &TurnRecord, at: Sequence, agent: Option<&str>) {
        for event in &turn.events {
            if let Event::Answered { request, outcome } = event
                && let Some(position) = self.asked.remove(request)
            {
                self.conversations[position].hear(outcome, at);
            }
        }
        for call in turn.actions.iter().flat_map(Action::done).filter_map(Action::call) {
            if call.tool != exchange::TOOL {
                continue;
            }
            let role = shown(&call.role);
            if !self.agents.contains(&role) {
                self.agents.push(role.clone());
            }
            if agent.is_none_or(|agent| agent == role) {
                self.ask(call, role, at);
            }
        }
    }

    fn ask(&mut self, call: &InvokeTool, role: String, at: Sequence) {
        let payload = call.payload.value();
        let messages = field(&payload, "messages").and_then(|messages| list(&messages));
        let messages = messages.unwrap_or_default();
        let mut hashes = vec![RecordHash::of(role.as_bytes())];
        for message in &messages {
            let before = hashes.last().map(ToString::to_string).unwrap_or_default();
            hashes.push(RecordHash::of(format!("{before} {message:?}").as_bytes()));
        }
        // The longest beginning that was said before; the role alone is no conversation.
        let begun = (1..hashes.len())
            .rev()
            .find_map(|length| Some((length, *self.known.get(&hashes[length])?)));
        let (told, position) = begun.unwrap_or_else(|| {
            let model = text_field(&payload, "model").unwrap_or_else(|| "default".to_owned());
            self.conversations.push(Conversation {
                agent: role,
                model,
                usage: Usage::default(),
                said: Vec::new(),
                has_reply: false,
            });
            (0, self.conversations.len() - 1)
        });
        let conversation = &mut self.conversations[position];
        for message in messages.iter().skip(told) {
            let said = Said::of(message, at);
            if !std::mem::take(&mut conversation.has_reply) || said.role != "assistant" {
                conversation.said.push(said);
            }
        }
        if let Some(hash) = hashes.last() {
            self.known.insert(*hash, position);
        }
        self.asked.insert(call.request, position);
    }
}

impl Conversation {
    fn hear(&mut self, outcome: &Result<IOValue, IOValue>, turn: Sequence) {
        let said = |role: &str, content: String, calls| Said {
            turn,
            role: role.to_owned(),
            content,
            calls,
        };
        match outcome {
            Ok(result) => {
                if let Some(heard) = exchange::heard(result) {
                    self.usage.add(&heard.usage);
                    if let Some(model) = heard.model {
                        self.model = model;
                    }
                }
                self.said.push(said("assistant", content(result), calls(result)));
                self.has_reply = true;
            }
            Err(fault) => {
                let why = tool_failure(fault).map_or_else(
                    || abbreviated(fault),
                    |failure| format!("{}: {}", failure.kind, failure.message),
                );
                self.said.push(said("failed", why, Vec::new()));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}, model {}: {}\n",
            text::line(&self.agent),
            text::line(&self.model),
            self.usage.told(|number| number.to_string())
        );
        for said in &self.said {
            text.push_str(&said.text());
        }
        text
    }
}

impl Said {
    fn of(message: &IOValue, turn: Sequence) -> Self {
        Self {
            turn,
            role: text_field(message, "role").unwrap_or_else(|| "?".to_owned()),
            content: content(message),
            calls: calls(message),
        }
    }

    /// The turn and the role, then the words, each line on its own.
    fn text(&self) -> String {
        let before = format!("  @{:<5} {:<10}", self.turn, text::line(&self.role));
        let calls = self
            .calls
            .iter()
            .map(|call| format!("wants {} {}", call.name, shown(&arguments(call))));
        let lines: Vec<String> = self.content.lines().map(str::to_owned).chain(calls).collect();
        let width = before.chars().count();
        let line = |(position, line): (usize, &String)| {
            let before = if position == 0 { before.as_str() } else { "" };
            format!("{before:width$} {}", text::line(line)).trim_end().to_owned() + "\n"
        };
        if lines.is_empty() {
            return format!("{before} (nothing)\n");
        }
        lines.iter().enumerate().map(line).collect()
    }

    fn form(&self) -> MessageForm {
        let calls = self.calls.iter().map(|call| CallForm {
            name: call.name.clone(),
            arguments: value_json::of(&arguments(call)),
        });
        MessageForm {
            turn: self.turn.number(),
            role: self.role.clone(),
            content: self.content.clone(),
            calls: calls.collect(),
        }
    }
}

/// The calls that a message asks for.
fn calls(message: &IOValue) -> Vec<WantedCall> {
    let calls = field(message, "tool_calls").and_then(|calls| list(&calls));
    calls
        .unwrap_or_default()
        .as_slice()
        .iter()
        .map(WantedCall::of)
        .collect()
}

/// The arguments of a call; `#f` if the model names none.
fn arguments(call: &WantedCall) -> IOValue {
    call.arguments.clone().unwrap_or_else(|| IOValue::new(false))
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let conversations = self.conversations.iter().map(|conversation| ConversationForm {
            agent: conversation.agent.clone(),
            model: conversation.model.clone(),
            input_tokens: conversation.usage.input_tokens,
            output_tokens: conversation.usage.output_tokens,
            usd: conversation.usage.usd,
            messages: conversation.said.iter().map(Said::form).collect(),
        });
        as_json(&conversations.collect::<Form>())
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let texts: Vec<String> = self.conversations.iter().map(Conversation::text).collect();
        let told = Told::data(texts.join("\n"));
        let told = self.notes.iter().fold(told, |told, note| told.say(note));
        if texts.is_empty() {
            return told.say(format!("no language model was asked up to {}", self.name));
        }
        told
    }
}
