//! The world as a run sees it: effects are performed, inputs come.
//!
//! INVARIANT: whatever was started and can be answered is answered exactly once, unless it is withdrawn; an answer names the effect it was given to,
//! never a later one that has the same number after a rewind.
//! It does not decide what is durable or who is waiting: the runtime hands over only what may happen.
//! Read next: `dispatch.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use duet_runtime::driver::{Drivers, Effect, EffectKind, Input, check_result};
use duet_runtime::model::identity::RequestId;
use preserves::{IOValue, ValueImpl};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::ask::Question;
use crate::console::Console;
use crate::dispatch::{Dispatch, Job};
use crate::huge_pages;
use crate::inlet::{Demand, Inlet, Wish};
use crate::tool::keeper::{Keeper, Kept};
use crate::tool::secret::Secrets;
use crate::tool::{Registry, clock};

/// A shorter timer does not tell when it will have run out; it begins anew in another process. In milliseconds.
pub const TIMER_TOLD_MS_MIN: u64 = 1_000;

/// Why nothing is approved where nobody is there.
const NOBODY: &str = "nobody is there to approve it";

/// What a [`World`] is made of.
pub struct Settings {
    /// The tools that can be called.
    pub tools: Registry,
    /// How many tool calls run at the same time, at least 1; more wait their turn.
    pub tool_calls_max: usize,
    /// Where output goes.
    pub console: Console,
    /// Where the program's input comes from.
    pub input: Box<dyn Read + Send>,
    /// Who answers questions.
    pub person: Person,
    /// What tools are told and the core is not.
    pub secrets: Secrets,
    /// Answers given ahead, as they would be typed; used in order before the person is asked.
    pub answers: Vec<String>,
    /// Whether Ctrl-C becomes [`Input::Interrupt`] instead of ending the process.
    pub is_interruptible: bool,
}

/// Where the person's answers come from.
pub enum Person {
    /// The person types on the program's input, which is a terminal.
    AtInput,
    /// The person types elsewhere: on a terminal while the input is a file or a pipe.
    At(Box<dyn Read + Send>),
    /// Nobody is there just now: questions stay open.
    Away,
    /// Nobody will ever be there: what needs approval is refused; other questions stay open.
    Never,
}

impl Person {
    /// Finds the person of this process: at standard input, else at the controlling terminal, else nowhere.
    pub fn find() -> Self {
        if io::stdin().is_terminal() {
            return Self::AtInput;
        }
        match File::open("/dev/tty") {
            Ok(terminal) if io::stderr().is_terminal() => Self::At(Box::new(terminal)),
            Ok(_) | Err(_) => Self::Away,
        }
    }
}

impl Settings {
    /// Settings for this process: its standard streams, its person, Ctrl-C as input, eight tool calls at a time.
    pub fn standard(tools: Registry, answers: Vec<String>) -> Self {
        Self {
            tools,
            tool_calls_max: 8,
            console: Console::standard(),
            input: Box::new(io::stdin()),
            person: Person::find(),
            secrets: Secrets::default(),
            answers,
            is_interruptible: true,
        }
    }
}

/// What the parts of the world tell the core.
pub(crate) enum Report {
    /// The effect with this key is answered.
    Answered {
        key: String,
        request: RequestId,
        input: Input,
    },
    /// The effect with this key tells something before it is answered: a call what it is about to replace, a timer when it will have run out.
    Told {
        key: String,
        request: RequestId,
        input: Input,
    },
    /// The effect with this key will not be answered: the person has left the question open (end of file).
    Unanswered { key: String, request: RequestId },
    /// The person wants the run to stop.
    Interrupt,
}

/// Performs effects on threads of its own and brings back inputs.
pub struct World {
    tools: Registry,
    secrets: Secrets,
    console: Arc<Mutex<Console>>,
    input: Lane,
    person: Questions,
    answers: VecDeque<String>,
    /// What was started and can still be answered, with the key of the effect that started it.
    open: BTreeMap<RequestId, String>,
    /// Calls that start once all effects that were handed out together are known: one may be the consent to another.
    jobs: Vec<Job>,
    /// Where calls wait for the journal's consent to what they replace.
    consents: BTreeMap<RequestId, oneshot::Sender<Kept>>,
    /// Keys of calls under way for which nobody waits, because their number has become another effect's.
    orphans: BTreeSet<String>,
    reports: Receiver<Report>,
    reporter: Sender<Report>,
    is_output_close_known: bool,
    huge_pages: huge_pages::Watch,
    /// `None` only while the world is being dropped.
    engine: Option<Engine>,
}

/// What runs beside the core.
struct Engine {
    runtime: Runtime,
    calls: Dispatch,
}

/// A stream that is read from the first time somebody waits for it.
struct Lane {
    inlet: Inlet,
    source: Option<Box<dyn Read + Send>>,
}

enum Questions {
    OnInput,
    On(Lane),
    Open,
    /// Open, except that nothing is approved.
    Denied,
}

impl World {
    /// Makes a world. Nothing is read or written before the first effect.
    ///
    /// # Errors
    /// If the operating system gives no threads or, with `is_interruptible`, no signals.
    pub fn new(settings: Settings) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("duet-drivers")
            .enable_all()
            .build()?;
        let (reporter, reports) = channel();
        if settings.is_interruptible {
            watch_interrupts(&runtime, reporter.clone())?;
        }
        let calls = Dispatch::new(settings.tool_calls_max, reporter.clone());
        let engine = Engine { runtime, calls };
        let console = Arc::new(Mutex::new(settings.console));
        let lane = |source| Lane {
            inlet: Inlet::new(reporter.clone(), Arc::clone(&console)),
            source: Some(source),
        };
        let input = lane(settings.input);
        let person = match settings.person {
            Person::AtInput => Questions::OnInput,
            Person::At(terminal) => Questions::On(lane(terminal)),
            Person::Away => Questions::Open,
            Person::Never => Questions::Denied,
        };
        Ok(Self {
            tools: settings.tools,
            secrets: settings.secrets,
            console,
            input,
            person,
            answers: settings.answers.into(),
            open: BTreeMap::new(),
            jobs: Vec::new(),
            consents: BTreeMap::new(),
            orphans: BTreeSet::new(),
            reports,
            reporter,
            is_output_close_known: false,
            huge_pages: huge_pages::Watch::default(),
            engine: Some(engine),
        })
    }

    /// The tools that can be called.
    pub fn tools(&self) -> &Registry {
        &self.tools
    }

    /// Says whether standard output was closed by its reader, as by `| head`; a run is then told to stop by [`Input::Interrupt`], and should end quietly.
    pub fn is_output_closed(&self) -> bool {
        self.console().is_output_closed()
    }

    fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn perform_one(&mut self, effect: Effect) {
        let Effect { request, key, kind } = effect;
        match kind {
            EffectKind::Tool { name, payload } => {
                if self.begin(request, &key) {
                    self.call(request, key, &name, payload);
                }
            }
            EffectKind::Proceed { note, contents } => self.proceed(request, &key, Kept { note, contents }),
            EffectKind::Write { stream, bytes } => self.console().write(stream, &bytes),
            EffectKind::Read { length_bytes_max } => {
                if self.begin(request, &key) {
                    self.read(Demand {
                        request,
                        key,
                        wish: Wish::Bytes(length_bytes_max.max(1)),
                    });
                }
            }
            EffectKind::Ask { prompt } => {
                if self.begin(request, &key) {
                    self.ask(request, key, &prompt);
                }
            }
            EffectKind::Timer { delay_ms } => {
                if self.begin(request, &key) {
                    self.start_timer(request, key, delay_ms);
                }
            }
            EffectKind::Alarm { at_ms } => {
                if self.begin(request, &key) {
                    self.time(request, key, at_ms.saturating_sub(clock::now_ms()));
                }
            }
            EffectKind::Withdraw => self.withdraw(request),
            EffectKind::Log { text } => self.console().line(&text),
            EffectKind::Progress { label, done, total } => self.console().progress(&label, done, total),
        }
    }

    /// Notes that a request is open; `false` if this very effect was started before and is still under way.
    ///
    /// After a rewind another effect may have the number of one that is still under way: the earlier one then no longer waits for anything.
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

    /// Lets a call go on whose journal has consented.
    fn proceed(&mut self, request: RequestId, key: &str, kept: Kept) {
        if self.open.get(&request).is_some_and(|open| open == key)
            && let Some(consent) = self.consents.remove(&request)
        {
            // The call may have failed meanwhile, for instance by its time limit.
            let _ = consent.send(kept);
        }
    }

    fn call(&mut self, request: RequestId, key: String, name: &str, payload: IOValue) {
        let tool = match self.tools.find(name) {
            Ok(tool) => Arc::clone(tool),
            Err(failure) => {
                let input = Input::ToolResult {
                    request,
                    outcome: Err(failure),
                };
                return self.report(Report::Answered { key, request, input });
            }
        };
        let (keeper, consent) = Keeper::new(request, key.clone(), self.reporter.clone());
        self.consents.insert(request, consent);
        self.jobs.push(Job {
            request,
            key,
            name: name.to_owned(),
            payload: if tool.description().takes_secrets {
                self.secrets.reveal(&payload)
            } else {
                payload
            },
            tool,
            keeper,
        });
    }

    /// Reports when a long timer will have run out, so that it can go on in another process, and then after a while that it has.
    fn start_timer(&self, request: RequestId, key: String, delay_ms: u64) {
        if delay_ms >= TIMER_TOLD_MS_MIN {
            let at_ms = clock::now_ms().saturating_add(delay_ms);
            let input = Input::Due { request, at_ms };
            self.report(Report::Told {
                key: key.clone(),
                request,
                input,
            });
        }
        self.time(request, key, delay_ms);
    }

    /// Reports after a while; a timer that is withdrawn runs on, and its report concerns nobody.
    fn time(&self, request: RequestId, key: String, delay_ms: u64) {
        let Some(engine) = &self.engine else { return };
        let reporter = self.reporter.clone();
        engine.runtime.spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            let input = Input::Elapsed { request };
            let _ = reporter.send(Report::Answered { key, request, input });
        });
    }

    fn ask(&mut self, request: RequestId, key: String, prompt: &IOValue) {
        let question = Question::read(prompt);
        if let Some(line) = self.answers.pop_front() {
            match question.answer(&line) {
                Ok(value) => {
                    self.console().line(&format!("{}{line}", question.shown()));
                    return self.report(Report::Answered {
                        key,
                        request,
                        input: Input::Answer { request, value },
                    });
                }
                Err(error) => self.console().line(&format!(
                    "{}\nthe answer given ahead does not fit: {error}",
                    question.shown()
                )),
            }
        }
        let demand = |key| Demand {
            request,
            key,
            wish: Wish::Answer(question),
        };
        match &mut self.person {
            Questions::OnInput => self.read(demand(key)),
            Questions::On(lane) => lane.demand(self.engine.as_ref(), demand(key)),
            Questions::Denied if is_approval(prompt) => {
                let value = IOValue::new(NOBODY.to_owned());
                self.report(Report::Answered {
                    key,
                    request,
                    input: Input::Answer { request, value },
                });
            }
            Questions::Open | Questions::Denied => {
                self.open.remove(&request);
            }
        }
    }

    fn read(&mut self, demand: Demand) {
        self.input.demand(self.engine.as_ref(), demand);
    }

    fn withdraw(&mut self, request: RequestId) {
        let key = self.open.remove(&request);
        self.jobs.retain(|job| job.request != request);
        self.forget(request);
        if let (Some(key), Some(engine)) = (key, &self.engine) {
            engine.calls.cancel(key);
        }
    }

    /// Takes away whoever waits for a stream under this number.
    fn forget(&mut self, request: RequestId) {
        self.consents.remove(&request);
        self.input.inlet.forget(request);
        if let Questions::On(lane) = &self.person {
            lane.inlet.forget(request);
        }
    }

    /// Adds a report of the core's own; its receiver lives as long as `self`.
    fn report(&self, report: Report) {
        let _ = self.reporter.send(report);
    }

    /// Takes a report; finds nothing in one that concerns nobody any more.
    fn admit(&mut self, report: Report) -> Option<Input> {
        match self.without_secrets(report) {
            Report::Interrupt => Some(Input::Interrupt),
            Report::Unanswered { key, request } => {
                self.close(request, &key);
                None
            }
            Report::Told { key, request, input } => {
                let is_open = self.open.get(&request).is_some_and(|open| *open == key);
                is_open.then_some(input)
            }
            Report::Answered { key, request, input } if self.close(request, &key) => Some(input),
            Report::Answered { key, input, .. } => self.orphan(key, input),
        }
    }

    /// Masks secrets in what is reported. A call whose contents would bring one into the journal fails, and does nothing.
    fn without_secrets(&mut self, report: Report) -> Report {
        let failed = |request, failure| Input::ToolResult {
            request,
            outcome: Err(failure),
        };
        // What is too deep to be recorded is too deep to be looked through.
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
            Report::Told { key, request, input } => match self.secrets.mask_input(input) {
                Ok(input) => Report::Told { key, request, input },
                Err(failure) => {
                    self.consents.remove(&request);
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
            Report::Unanswered { .. } | Report::Interrupt => report,
        }
    }

    /// Makes of a result that comes too late one that nobody waits for; of a call that was abandoned, nothing is told.
    fn orphan(&mut self, key: String, input: Input) -> Option<Input> {
        let Input::ToolResult { outcome, .. } = input else {
            return None;
        };
        let is_orphan = self.orphans.remove(&key);
        is_orphan.then_some(Input::Orphaned { key, outcome })
    }

    /// Notes that an effect needs no answer any more; `false` if it did not need one before.
    fn close(&mut self, request: RequestId, key: &str) -> bool {
        let is_open = self.open.get(&request).is_some_and(|open| open == key);
        if is_open {
            self.open.remove(&request);
            self.consents.remove(&request);
        }
        is_open
    }
}

impl Drivers for World {
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.perform_one(effect);
        }
        for job in std::mem::take(&mut self.jobs) {
            if let Some(Engine { runtime, calls }) = &mut self.engine {
                calls.start(runtime, job);
            }
        }
        self.console().flush();
        if !self.is_output_close_known && self.is_output_closed() {
            self.is_output_close_known = true;
            self.report(Report::Interrupt);
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        loop {
            if let Some(input) = self.poll_input() {
                return Some(input);
            }
            if self.open.is_empty() && self.orphans.is_empty() {
                return None;
            }
            // `self` holds a sender, so that the channel cannot have ended.
            let report = self.reports.recv().ok()?;
            if let Some(input) = self.admit(report) {
                return Some(input);
            }
        }
    }

    fn poll_input(&mut self) -> Option<Input> {
        self.huge_pages.note_turn();
        loop {
            let report = self.reports.try_recv().ok()?;
            if let Some(input) = self.admit(report) {
                return Some(input);
            }
        }
    }
}

impl Drop for World {
    /// Stops the tools that are under way, kills their processes, and leaves the terminal clean.
    fn drop(&mut self) {
        self.input.inlet.close();
        if let Questions::On(lane) = &self.person {
            lane.inlet.close();
        }
        self.console().finish();
        if let Some(Engine { runtime, calls }) = self.engine.take() {
            calls.stop(&runtime);
            // A thread may be waiting for a key that is never pressed; it ends with the process.
            runtime.shutdown_background();
        }
    }
}

impl Lane {
    fn demand(&mut self, engine: Option<&Engine>, demand: Demand) {
        self.inlet.demand(demand);
        if let Some(engine) = engine
            && let Some(source) = self.source.take()
        {
            let inlet = self.inlet.clone();
            engine.runtime.spawn_blocking(move || inlet.serve(source));
        }
    }
}

/// Says whether a question is whether something may be done.
fn is_approval(prompt: &IOValue) -> bool {
    prompt.is_record() && prompt.label().as_symbol().is_some_and(|label| label == "approve")
}

/// Turns every Ctrl-C into a report. The handler is in place when this returns.
fn watch_interrupts(runtime: &Runtime, reporter: Sender<Report>) -> io::Result<()> {
    let _guard = runtime.enter();
    let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    runtime
        .spawn(async move { while interrupts.recv().await.is_some() && reporter.send(Report::Interrupt).is_ok() {} });
    Ok(())
}

#[cfg(test)]
mod tests;
