//! The world as a run sees it: it performs effects and returns inputs.
//!
//! INVARIANT: each effect that can be answered gets exactly one answer, unless it is withdrawn; no
//! later effect that has the same number after a rewind receives it.
//! It does not decide whether an effect may happen or who waits for it; the runtime does.
//! Read next: `world/settings.rs`, `dispatch.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use duet_runtime::driver::{Asking, Drivers, Effect, EffectKind, Input, check_result};
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::value::Fact;
use preserves::IOValue;
use tokio::sync::oneshot;

use crate::ask::Question;
use crate::clock::WorldClock;
use crate::console::Console;
use crate::dispatch::{Dispatch, Job};
use crate::door::{Door, Request};
use crate::input::{InputStream, PendingRead, ReadKind};
use crate::prepared::{Prepared, PreparedAnswer};
use crate::report::{Arrived, Report, Reporter};
use crate::serve::host::Guests;
use crate::threads::Threads;
use crate::timers::{Moment, Timer, Timers};
use crate::tool::Registry;
use crate::tool::interface::Outcome;
use crate::tool::secret::Secrets;
use crate::tool::undo_log::UndoNote;
use crate::waker::{Stop, Waker};
use happening::Due;
pub use happening::Happening;
use lazy_input::LazyInput;
use scripts::{Called, Scripts};
pub use settings::{Person, Settings};

/// The answer to a request for approval without a person.
const NOBODY: &str = "nobody is there to approve it";

/// Performs effects on threads of its own and returns inputs.
pub struct World {
    tools: Registry,
    secrets: Secrets,
    console: Arc<Mutex<Console>>,
    input: LazyInput,
    person: AnswerSource,
    prepared: Prepared,
    /// The requests that can still be answered, each with the key of the effect that started it.
    open: BTreeMap<RequestId, String>,
    /// Calls that start when all effects of one batch are known, because one effect may acknowledge
    /// another's undo note.
    jobs: Vec<Job>,
    /// The open calls that never return.
    silent: BTreeSet<RequestId>,
    /// The outcomes of open calls that return when their timers run out.
    delayed: BTreeMap<RequestId, Outcome>,
    /// Where calls wait until their undo notes are durable.
    acknowledgements: BTreeMap<RequestId, oneshot::Sender<UndoNote>>,
    /// The keys of running calls whose request number now belongs to another effect; no fiber waits
    /// for them.
    orphans: BTreeSet<String>,
    timers: Timers,
    clock: WorldClock,
    reports: Receiver<Arrived>,
    /// The next report, if it had to be looked at before its time.
    ahead: Option<Arrived>,
    reporter: Reporter,
    stop: Stop,
    /// Whether the process is asked to end.
    is_terminated: Arc<AtomicBool>,
    is_output_close_known: bool,
    /// What other processes ask for, oldest first.
    asked: VecDeque<Request>,
    /// What executes here, as requests name it.
    name: Arc<Mutex<String>>,
    /// Where they ask; it closes before the engine stops.
    door: Option<Door>,
    /// The clients of a server.
    guests: Guests,
    scripts: Scripts,
    /// `None` only while the world is being dropped.
    engine: Option<Engine>,
}

/// The threads and tasks beside the thread that runs turns.
struct Engine {
    threads: Threads,
    calls: Dispatch,
}

/// Where answers to questions come from.
enum AnswerSource {
    OnInput,
    On(LazyInput),
    Open,
    /// Open, except that nothing is approved.
    Denied,
}

/// A call of a tool that is wanted.
struct Order {
    request: RequestId,
    key: String,
    asking: Option<Box<Asking>>,
    name: String,
    payload: Fact,
}

impl World {
    /// Makes a world. It reads and writes nothing before the first effect.
    ///
    /// # Errors
    /// If the operating system, with `is_interruptible`, gives no threads or no signals.
    pub fn new(settings: Settings) -> io::Result<Self> {
        let threads = Threads::default();
        let (reporter, reports) = Reporter::new(settings.clock.clone());
        let stop = Stop::default();
        if settings.is_interruptible {
            Waker::new(&threads, &reporter, &stop).watch_interrupts()?;
        }
        let calls = Dispatch::new(settings.tool_calls_max, reporter.clone());
        let engine = Engine { threads, calls };
        let console = Arc::new(Mutex::new(settings.console));
        let lazy = |source| {
            let redactor = settings.secrets.redactor();
            LazyInput::new(
                InputStream::new(reporter.clone(), Arc::clone(&console), redactor),
                source,
            )
        };
        let input = lazy(settings.input);
        let person = match settings.person {
            Person::AtInput => AnswerSource::OnInput,
            Person::At(terminal) => AnswerSource::On(lazy(terminal)),
            Person::Away => AnswerSource::Open,
            Person::Never => AnswerSource::Denied,
        };
        Ok(Self {
            tools: settings.tools,
            secrets: settings.secrets,
            console,
            input,
            person,
            prepared: settings.prepared,
            open: BTreeMap::new(),
            jobs: Vec::new(),
            silent: BTreeSet::new(),
            delayed: BTreeMap::new(),
            acknowledgements: BTreeMap::new(),
            orphans: BTreeSet::new(),
            timers: Timers::counting(settings.counted),
            clock: settings.clock,
            reports,
            ahead: None,
            reporter,
            stop,
            is_terminated: Arc::default(),
            is_output_close_known: false,
            asked: VecDeque::new(),
            name: Arc::default(),
            door: None,
            guests: Guests::default(),
            scripts: Scripts::new(settings.is_scriptable),
            engine: Some(engine),
        })
    }

    /// The tools that can be called.
    pub fn tools(&self) -> &Registry {
        &self.tools
    }

    /// Says whether an effect in progress can still answer.
    pub fn is_expecting(&self) -> bool {
        // The program itself answers a scripted call, or else nobody does.
        self.open.len() > self.unanswerable() || !self.orphans.is_empty() || self.guests.is_open
    }

    fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn perform_one(&mut self, effect: Effect, now: Moment) {
        let Effect {
            request,
            key,
            asking,
            kind,
        } = effect;
        match kind {
            EffectKind::Tool { name, payload } => {
                if self.begin(request, &key) {
                    let order = Order {
                        request,
                        key,
                        asking,
                        name,
                        payload,
                    };
                    if let Some(order) = self.direct(order) {
                        self.call(order);
                    }
                }
            }
            EffectKind::Proceed { note, contents } => self.proceed(request, &key, UndoNote { note, contents }),
            EffectKind::Write { stream, bytes } => self.console().write(stream, &bytes),
            EffectKind::Read { length_bytes_max } => {
                if self.begin(request, &key) {
                    self.read(PendingRead {
                        request,
                        key,
                        wanted: ReadKind::Bytes(length_bytes_max.max(1)),
                    });
                }
            }
            EffectKind::Ask { prompt, approves } => {
                if self.begin(request, &key) {
                    self.ask(request, key, &prompt, &approves);
                }
            }
            EffectKind::Timer { delay_ms } => {
                if self.begin(request, &key) {
                    self.start_timer(request, key, delay_ms, now);
                }
            }
            EffectKind::Alarm { at_ms, delay_ms } => {
                if self.begin(request, &key) {
                    let timer = Timer {
                        request,
                        key,
                        at_ms,
                        delay_ms,
                    };
                    self.timers.go_on(timer, now);
                }
            }
            EffectKind::Withdraw => self.withdraw(request),
            // Duet's own messages begin lines there, so no line of a program's does.
            EffectKind::Log { text, by_program } => {
                let mark = if by_program { "log: " } else { "" };
                self.console().line(format!("{mark}{}", text.replace('\n', "\n  ")));
            }
            EffectKind::Failure { failed, .. } => {
                let text = format!(
                    "error: {} failed in turn {}: {}",
                    failed.name(),
                    failed.turn,
                    failed.failure
                );
                self.console().line(&text);
            }
            EffectKind::Peer { peer, told } => self.tell_client(peer, told),
            EffectKind::Progress { label, done, total } => self.console().progress(&label, done, total),
        }
    }

    /// Marks a request as open; returns `false` if the same effect is still under way.
    ///
    /// After a rewind another effect may have the number of one that is still under way; the
    /// earlier one then becomes an orphan.
    fn begin(&mut self, request: RequestId, key: &str) -> bool {
        match self.open.insert(request, key.to_owned()) {
            Some(before) if before == key => return false,
            Some(before) => {
                self.orphans.insert(before);
                self.forget(request);
            }
            None => {}
        }
        true
    }

    fn ask(&mut self, request: RequestId, key: String, prompt: &IOValue, approves: &[String]) {
        let question = Question::read(prompt);
        match self.prepared.answer(&question, approves) {
            Some(Ok(PreparedAnswer { value, shown, by })) => {
                self.console().line(format!("{}{shown}", question.shown()));
                let input = Input::Prepared { request, value, by };
                return self.report(Report::Answered { key, request, input });
            }
            Some(Err(error)) => self.console().line(format!(
                "{}\nthe answer given ahead does not fit: {error}",
                question.shown()
            )),
            None => {}
        }
        let called = Called::question(prompt, approves);
        if called.is_ok_and(|called| self.direct_question(request, &key, &question, called)) {
            return;
        }
        let pending = |key| PendingRead {
            request,
            key,
            wanted: ReadKind::Answer(question),
        };
        match &mut self.person {
            AnswerSource::OnInput => self.read(pending(key)),
            AnswerSource::On(terminal) => {
                let begun = terminal.add(self.engine.as_ref().map(|engine| &engine.threads), pending(key));
                self.tell_unread(begun);
            }
            AnswerSource::Denied if !approves.is_empty() => {
                let value = IOValue::new(NOBODY.to_owned());
                self.report(Report::Answered {
                    key,
                    request,
                    input: Input::Answer { request, value },
                });
            }
            AnswerSource::Open | AnswerSource::Denied => {
                self.open.remove(&request);
            }
        }
    }

    fn read(&mut self, pending: PendingRead) {
        let begun = self
            .input
            .add(self.engine.as_ref().map(|engine| &engine.threads), pending);
        self.tell_unread(begun);
    }

    /// Says that an input cannot be read, if it cannot.
    fn tell_unread(&self, begun: io::Result<()>) {
        if let Err(error) = begun {
            self.console().line(format!("the input cannot be read: {error}"));
        }
    }

    fn withdraw(&mut self, request: RequestId) {
        let key = self.open.remove(&request);
        self.jobs.retain(|job| job.request != request);
        self.forget(request);
        if let (Some(key), Some(engine)) = (key, &self.engine) {
            engine.calls.cancel(key);
        }
    }

    /// Drops the pending reads and the acknowledgement of a request.
    fn forget(&mut self, request: RequestId) {
        self.acknowledgements.remove(&request);
        self.scripts.forget(request);
        self.silent.remove(&request);
        self.delayed.remove(&request);
        self.timers.stop(request);
        self.input.stream.forget(request);
        if let AnswerSource::On(terminal) = &self.person {
            terminal.stream.forget(request);
        }
    }

    /// Sends a report to this world itself; the receiver lives as long as `self`.
    fn report(&self, report: Report) {
        let _ = self.reporter.send(report);
    }

    /// Converts a report to an input; returns nothing if no fiber waits for it.
    fn admit(&mut self, report: Report) -> Option<Input> {
        match self.without_secrets(report) {
            Report::Interrupt => self.stop.take().then_some(Input::Interrupt),
            Report::Wake => None,
            Report::Unasked(input) => Some(input),
            Report::Asked(request) => {
                self.asked.push_back(request);
                None
            }
            Report::ClientRequest(request) => self.admit_request(request),
            Report::Unanswered { key, request } => {
                self.close(request, &key);
                None
            }
            Report::Interim { key, request, input } => {
                let is_open = self.open.get(&request).is_some_and(|open| *open == key);
                is_open.then_some(input)
            }
            Report::Answered { key, request, input } if self.close(request, &key) => Some(input),
            Report::Answered { key, input, .. } => self.orphan(key, input),
        }
    }

    /// Masks secrets in a report. A call fails before it changes anything if its undo note would
    /// store a secret in the journal.
    fn without_secrets(&mut self, report: Report) -> Report {
        let failed = |request, failure| Input::ToolResult {
            request,
            outcome: Err(failure),
        };
        // A result too deep to be recorded is also too deep to be searched for secrets.
        let fitting = |input: Input| {
            if let Input::ToolResult {
                request,
                outcome: Ok(value),
            } = &input
                && let Err(failure) = check_result(value)
            {
                return failed(*request, failure);
            }
            input
        };
        match report {
            Report::Answered { key, request, input } => {
                let input = self
                    .secrets
                    .mask_input(fitting(input))
                    .unwrap_or_else(|failure| failed(request, failure));
                Report::Answered { key, request, input }
            }
            Report::Interim { key, request, input } => match self.secrets.mask_input(input) {
                Ok(input) => Report::Interim { key, request, input },
                Err(failure) => {
                    self.acknowledgements.remove(&request);
                    if let Some(engine) = &self.engine {
                        engine.calls.cancel(key.clone());
                    }
                    Report::Answered {
                        key,
                        request,
                        input: failed(request, failure),
                    }
                }
            },
            Report::Unanswered { .. } | Report::Interrupt | Report::Wake | Report::Unasked(_) => report,
            Report::Asked(_) | Report::ClientRequest(_) => report,
        }
    }

    /// Converts a late result to an orphaned one; drops the result of a call that was abandoned.
    fn orphan(&mut self, key: String, input: Input) -> Option<Input> {
        let Input::ToolResult { outcome, .. } = input else {
            return None;
        };
        let is_orphan = self.orphans.remove(&key);
        is_orphan.then_some(Input::Orphaned { key, outcome })
    }

    /// Marks a request as answered; returns `false` if it was not open.
    fn close(&mut self, request: RequestId, key: &str) -> bool {
        let is_open = self.open.get(&request).is_some_and(|open| open == key);
        if is_open {
            self.open.remove(&request);
            self.acknowledgements.remove(&request);
            self.scripts.forget(request);
            self.silent.remove(&request);
        }
        is_open
    }
}

impl Drivers for World {
    fn judge_places(&mut self, is_judged: bool) {
        self.tools.judge_places(is_judged);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        // Timers of one batch start together, whatever the machine does meanwhile.
        let now = Moment::now(&self.clock);
        for effect in effects {
            self.perform_one(effect, now);
        }
        for job in std::mem::take(&mut self.jobs) {
            self.start(job);
        }
        self.console().settle();
        if !self.is_output_close_known && self.is_output_closed() {
            self.is_output_close_known = true;
            self.stop.note();
            self.report(Report::Interrupt);
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        loop {
            match self.next_happening() {
                Happening::Input(input) => return Some(input),
                Happening::Nothing => return None,
                Happening::Woken | Happening::Asked => {}
            }
        }
    }

    /// A request of another process waits until whoever runs turns has taken it; what came later
    /// waits behind it.
    fn poll_input(&mut self) -> Option<Input> {
        while self.asked.is_empty() {
            match self.next_due()? {
                Due::Timer(input) => return Some(input),
                Due::Report(report) => {
                    if let Some(input) = self.admit(report) {
                        return Some(input);
                    }
                }
            }
        }
        None
    }
}

impl Drop for World {
    /// Stops running tools, kills their processes and clears the progress line.
    fn drop(&mut self) {
        self.asked.clear();
        self.guests.dismiss();
        let runtime = self.engine.as_ref().and_then(|engine| engine.threads.begun());
        if let (Some(door), Some(runtime)) = (self.door.take(), &runtime) {
            door.close(runtime);
        }
        self.input.stream.close();
        if let AnswerSource::On(terminal) = &self.person {
            terminal.stream.close();
        }
        self.console().finish();
        let Some(Engine { threads, calls }) = self.engine.take() else {
            return;
        };
        if let Some(runtime) = runtime {
            calls.stop(&runtime);
            servers::stop(&runtime, &self.tools);
        }
        // A thread may wait for a key that the person never presses; it ends with the process.
        threads.end();
    }
}

mod calls;
mod due;
mod happening;
mod interruptions;
mod lazy_input;
pub mod scripts;
mod servers;
mod settings;
mod streams;
mod incoming;

#[cfg(test)]
mod tests;
