//! A world in memory: files, a person, a console, and a list of all requests.
//!
//! INVARIANT: the world performs an effect only if the ledger has the turn that asked for it;
//! performed effects stay, whatever happens to the process.
//! It answers as the built-in tools do; unknown calls fail as theirs do.
//! Read next: `scenario.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use duet_drivers::tool::arguments::{bytes, content, dictionary, integer, string};
use duet_drivers::tool::failure::Kind;
use duet_drivers::tool::interface::Outcome;
use duet_journal::Sequence;
use duet_runtime::driver::{Drivers, Effect, EffectKind, Input, Stream};
use duet_runtime::model::identity::RequestId;
use preserves::{IOValue, Value, ValueImpl};

use super::witness::Ledger;

/// Files by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A performed effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Performed {
    /// The turn that asked for it.
    pub(crate) turn: Sequence,
    /// The effect.
    pub(crate) effect: Effect,
}

/// The moment at which the world performs effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At once; the answers are ready at the next step.
    Eager,
    /// When the run is idle: an effect that a run asks for just before a crash never happens.
    Lazy,
}

/// The double of the world.
#[derive(Clone)]
pub(crate) struct World {
    /// The workspace.
    pub(crate) files: Files,
    /// The person's answer to every question; nothing if the person is absent.
    pub(crate) person: Option<String>,
    /// Standard output.
    pub(crate) console: String,
    /// The lines of its log.
    pub(crate) logged: Vec<String>,
    /// All performed effects, oldest first.
    pub(crate) performed: Vec<Performed>,
    /// The numbers that `counter/add` added, in order.
    pub(crate) added: Vec<u64>,
    pace: Pace,
    ledger: Ledger,
    begun: VecDeque<Effect>,
    answers: VecDeque<Input>,
    /// Running timers with their ends, in milliseconds of a clock that advances only while the run
    /// is idle.
    timers: BTreeSet<(u64, RequestId)>,
    now_ms: u64,
}

impl World {
    /// A world in which nothing has happened.
    pub(crate) fn new(files: Files, person: Option<&str>, pace: Pace) -> Self {
        Self {
            files,
            person: person.map(str::to_owned),
            console: String::new(),
            logged: Vec::new(),
            performed: Vec::new(),
            added: Vec::new(),
            pace,
            ledger: Ledger::default(),
            begun: VecDeque::new(),
            answers: VecDeque::new(),
            timers: BTreeSet::new(),
            now_ms: 0,
        }
    }

    /// Shows the same world to another process: effects under way and unread answers are lost.
    pub(crate) fn meet(&mut self, ledger: Ledger) {
        self.ledger = ledger;
        self.begun.clear();
        self.answers.clear();
        self.timers.clear();
    }

    /// The moment at which it performs effects.
    pub(crate) fn pace(&self) -> Pace {
        self.pace
    }

    /// Finishes the effects under way, as at an orderly end.
    pub(crate) fn finish(&mut self) {
        while let Some(effect) = self.begun.pop_front() {
            self.act(effect);
        }
    }

    /// The calls of a tool: key and payload of each, in their order.
    pub(crate) fn calls(&self, tool: &str) -> Vec<(String, IOValue)> {
        let call = |performed: &Performed| match &performed.effect.kind {
            EffectKind::Tool { name, payload } if name == tool => Some((performed.effect.key.clone(), payload.value())),
            EffectKind::Tool { .. }
            | EffectKind::Write { .. }
            | EffectKind::Read { .. }
            | EffectKind::Ask { .. }
            | EffectKind::Timer { .. }
            | EffectKind::Alarm { .. }
            | EffectKind::Withdraw
            | EffectKind::Proceed { .. }
            | EffectKind::Log { .. }
            | EffectKind::Failure { .. }
            | EffectKind::Progress { .. }
            | EffectKind::Peer { .. } => None,
        };
        self.performed.iter().filter_map(call).collect()
    }

    fn act(&mut self, effect: Effect) {
        let turn = self.ledger.turn_that_asked(&without_texts(&effect));
        let request = effect.request;
        match &effect.kind {
            EffectKind::Tool { name, payload } => {
                let outcome = self.use_tool(name, &payload.value());
                self.answers.push_back(Input::ToolResult { request, outcome });
            }
            EffectKind::Write {
                stream: Stream::Output,
                bytes,
            } => {
                self.console.push_str(&String::from_utf8_lossy(bytes));
            }
            EffectKind::Ask { .. } => {
                let said = self.person.iter().map(|text| Input::Answer {
                    request,
                    value: IOValue::new(text.clone()),
                });
                self.answers.extend(said);
            }
            EffectKind::Read { .. } => self.answers.push_back(Input::Chunk {
                request,
                bytes: Vec::new(),
            }),
            EffectKind::Alarm { at_ms, .. } => {
                self.timers.insert((*at_ms, request));
            }
            EffectKind::Timer { delay_ms } => {
                self.timers.insert((self.now_ms + delay_ms, request));
            }
            EffectKind::Withdraw => {
                self.timers.retain(|(_, timer)| *timer != request);
                self.answers
                    .retain(|answer| !matches!(answer, Input::Answer { request: asked, .. } if *asked == request));
            }
            EffectKind::Failure { failed, .. } => self.logged.push(format!(
                "{} failed in turn {}: {}",
                failed.name(),
                failed.turn,
                failed.failure
            )),
            EffectKind::Log { text, .. } => self.logged.push(text.clone()),
            EffectKind::Write {
                stream: Stream::Error, ..
            }
            | EffectKind::Proceed { .. }
            | EffectKind::Progress { .. }
            | EffectKind::Peer { .. } => {}
        }
        self.performed.push(Performed { turn, effect });
    }

    /// Lets time pass until the next timer runs out, if one runs.
    fn pass_time(&mut self) -> Option<()> {
        let (due_ms, request) = self.timers.pop_first()?;
        self.now_ms = due_ms;
        self.answers.push_back(Input::Elapsed { request });
        Some(())
    }

    fn use_tool(&mut self, name: &str, payload: &IOValue) -> Outcome {
        match name {
            "workspace/list" => Ok(self.list()),
            "workspace/read" => self.read(payload),
            "workspace/write" => self.write(payload),
            "clock/millisecond" => Ok(integer(self.now_ms)),
            "chance/integer" => Ok(integer(4)),
            "chance/real" => Ok(IOValue::new(0.5)),
            "counter/add" => {
                self.added.push(payload.as_u64().and_then(Result::ok).unwrap_or(0));
                Ok(integer(self.added.as_slice().iter().sum()))
            }
            "model/chat" => chat(payload),
            _ => Err(Kind::NoSuchTool.because(format!("no tool is called `{name}`"))),
        }
    }

    /// As `workspace/list` does with `recursive`: no hidden entries, in the order of the paths,
    /// folders too.
    fn list(&self) -> IOValue {
        let mut entries: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for (path, bytes) in self.files.iter().filter(|(path, _)| !path.starts_with('.')) {
            entries.extend(path.match_indices('/').map(|(end, _)| (&path[..end], None)));
            entries.insert(path, Some(bytes.len()));
        }
        let entry = |(path, size_bytes): (&str, Option<usize>)| {
            dictionary([
                ("path", IOValue::new(path.to_owned())),
                (
                    "kind",
                    IOValue::symbol(if size_bytes.is_some() { "file" } else { "directory" }),
                ),
                ("size_bytes", integer(size_bytes.unwrap_or(0) as u64)),
            ])
        };
        IOValue::new(entries.into_iter().map(entry).collect::<Vec<_>>())
    }

    fn read(&self, payload: &IOValue) -> Outcome {
        let path = text_field(payload, "path");
        let Some(found) = self.files.get(&path) else {
            let details = [("path", IOValue::new(path.clone()))];
            return Err(Kind::NotFound.with(format!("there is no `{path}` in the workspace"), details));
        };
        let size_bytes = integer(found.len() as u64);
        let fields = [
            ("content", content(found.clone(), false).0),
            ("size_bytes", size_bytes),
            ("next", IOValue::new(false)),
        ];
        Ok(dictionary(fields))
    }

    fn write(&mut self, payload: &IOValue) -> Outcome {
        let path = text_field(payload, "path");
        let new = field(payload, "content")
            .and_then(|value| bytes(&value))
            .unwrap_or_default();
        let previous = self.files.insert(path, new.clone());
        let is_changed = previous.as_ref() != Some(&new);
        let previous = previous.map_or_else(|| IOValue::new(false), |bytes| content(bytes, false).0);
        Ok(dictionary([
            ("size_bytes", integer(new.len() as u64)),
            ("changed", IOValue::new(is_changed)),
            ("previous", previous),
        ]))
    }
}

/// A model that gives the replies in the request's `options.replies`, one for each turn: that after
/// as many messages of the assistant as the conversation has.
fn chat(payload: &IOValue) -> Outcome {
    let items = |holder: Option<IOValue>, name| -> Vec<IOValue> {
        let list = holder.and_then(|holder| field(&holder, name));
        list.map_or_else(Vec::new, |list| list.iter().map(IOValue::from).collect())
    };
    let messages = items(Some(payload.clone()), "messages");
    let said = messages
        .as_slice()
        .iter()
        .filter(|message| text_field(message, "role") == "assistant");
    let reply = items(field(payload, "options"), "replies")
        .into_iter()
        .nth(said.count());
    reply.ok_or_else(|| Kind::Unavailable.because("the model has no reply left"))
}

fn field(payload: &IOValue, name: &'static str) -> Option<IOValue> {
    payload.get(&Value::symbol(name)).map(IOValue::from)
}

fn text_field(payload: &IOValue, name: &'static str) -> String {
    field(payload, name)
        .and_then(|value| string(&value))
        .unwrap_or_default()
}

/// A report of a failure as the turn asked for it; the run adds the texts.
fn without_texts(effect: &Effect) -> Effect {
    let mut asked = effect.clone();
    if let EffectKind::Failure { texts, .. } = &mut asked.kind {
        texts.clear();
    }
    asked
}

impl Drivers for World {
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            // An effect that never happens needs a durable turn too; but timers may start before.
            if effect.kind.leaves_process() {
                self.ledger.turn_that_asked(&without_texts(&effect));
            }
            match self.pace {
                Pace::Eager => self.act(effect),
                Pace::Lazy => self.begun.push_back(effect),
            }
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        while self.answers.is_empty() {
            match self.begun.pop_front() {
                Some(effect) => self.act(effect),
                None => self.pass_time()?,
            }
        }
        self.answers.pop_front()
    }

    fn poll_input(&mut self) -> Option<Input> {
        match self.pace {
            Pace::Eager => self.answers.pop_front(),
            Pace::Lazy => None,
        }
    }
}
