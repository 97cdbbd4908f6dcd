//! Tool calls under way: started in order, with a maximum number at the same time, each answered.
//!
//! Calls that work on this machine and calls that wait for something outside stand in lanes of
//! their own. So hundreds of models can be asked at the same time without as many processes, and a
//! call that waits for a peer for hours holds up none that writes a file.
//! INVARIANT: the calls of a lane start in the order of their effects, and each call gets exactly
//! one answer, even if the tool panics.
//! It does not know which calls a fiber still waits for; `world.rs` does.
//! Read next: `tool.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duet_runtime::driver::{Asking, Input};
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::live::Live;
use crate::report::{Report, Reporter};
use crate::tool::arguments::integer;
use crate::tool::description::Description;
use crate::tool::failure::Kind;
use crate::tool::interface::{Call, Context, Outcome, Tool};
use crate::tool::secret::Secrets;
use crate::tool::undo_log::UndoLog;

/// The maximum time that [`Dispatch::stop`] waits for the calls that it abandons.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// The maximum number of calls that wait for something outside at the same time.
const WAITING_CALLS_MAX: usize = 4096;

/// A call to be made.
pub(crate) struct Job {
    pub(crate) request: RequestId,
    pub(crate) key: String,
    /// Who asks what, if that is known.
    pub(crate) asking: Option<Box<Asking>>,
    /// The name by which the tool was called.
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) payload: IOValue,
    pub(crate) undo_log: UndoLog,
    pub(crate) secrets: Secrets,
    pub(crate) live: Live,
    pub(crate) is_time_virtual: bool,
}

impl Job {
    /// What the tool may know about the call; `leaving` is true when the process gives it up.
    pub(crate) fn context(&self, leaving: Arc<AtomicBool>) -> Context {
        Context {
            key: self.key.clone(),
            asking: self.asking.clone(),
            tool: self.name.clone(),
            undo_log: self.undo_log.clone(),
            secrets: self.secrets.clone(),
            live: self.live.clone(),
            leaving,
            is_time_virtual: self.is_time_virtual,
        }
    }
}

/// A message to the worker.
enum Message {
    Start(Box<Job>),
    /// The worker abandons the call with this key.
    Cancel(String),
}

/// The calls of one world.
pub(crate) struct Dispatch {
    calls_max: usize,
    reports: Reporter,
    /// `None` before the first call, because most runs make none and ending a task takes two thread
    /// switches.
    worker: Option<Worker>,
}

/// The task that runs calls.
struct Worker {
    messages: mpsc::UnboundedSender<Message>,
    /// The task stops when this is dropped; nothing is ever sent.
    running: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Worker {
    fn begin(runtime: &Handle, calls_max: usize, reports: Reporter) -> Self {
        let (messages, queue) = mpsc::unbounded_channel();
        let (running, stopped) = oneshot::channel();
        let task = runtime.spawn(run_calls(queue, stopped, calls_max, reports));
        Self {
            messages,
            running,
            task,
        }
    }

    fn send(&self, message: Message) {
        // The receiver lives until `stop`.
        let _ = self.messages.send(message);
    }
}

impl Dispatch {
    /// Prepares for calls, of which at most `calls_max`, at least 1, work on this machine at the
    /// same time.
    pub(crate) fn new(calls_max: usize, reports: Reporter) -> Self {
        Self {
            calls_max: calls_max.max(1),
            reports,
            worker: None,
        }
    }

    /// Starts a call, or queues it if too many run.
    pub(crate) fn start(&mut self, runtime: &Handle, job: Job) {
        let begin = || Worker::begin(runtime, self.calls_max, self.reports.clone());
        let worker = self.worker.get_or_insert_with(begin);
        worker.send(Message::Start(Box::new(job)));
    }

    /// Abandons a call that runs or waits; a process of the call is killed.
    pub(crate) fn cancel(&self, key: String) {
        if let Some(worker) = &self.worker {
            worker.send(Message::Cancel(key));
        }
    }

    /// Abandons all calls. When it returns, their processes have ended and their files are closed,
    /// unless that takes longer than two seconds.
    pub(crate) fn stop(self, runtime: &Handle) {
        if let Some(Worker { running, task, .. }) = self.worker {
            drop(running);
            let _ = runtime.block_on(async { timeout(STOP_WAIT, task).await });
        }
    }
}

/// Calls that share a maximum.
struct Lane {
    calls_max: usize,
    waiting: VecDeque<Box<Job>>,
    calls: JoinSet<()>,
    under_way: BTreeMap<String, UnderWay>,
}

/// A call that nobody has withdrawn.
struct UnderWay {
    task: AbortHandle,
    /// Whether it is given up because the process ends.
    leaving: Arc<AtomicBool>,
}

impl Lane {
    fn new(calls_max: usize) -> Self {
        Self {
            calls_max,
            waiting: VecDeque::new(),
            calls: JoinSet::new(),
            under_way: BTreeMap::new(),
        }
    }

    fn cancel(&mut self, key: &str) {
        self.waiting.retain(|job| job.key != key);
        if let Some(call) = self.under_way.remove(key) {
            call.task.abort();
        }
    }

    /// Gives up the calls that nobody has withdrawn, because the process ends.
    async fn leave(&mut self) {
        for call in self.under_way.values() {
            call.leaving.store(true, Ordering::Relaxed);
        }
        self.calls.shutdown().await;
    }

    /// Starts the calls for which there is room.
    fn fill(&mut self, reports: &Reporter) {
        while self.calls.len() < self.calls_max
            && let Some(job) = self.waiting.pop_front()
        {
            let key = job.key.clone();
            let leaving = Arc::default();
            let task = begin(&mut self.calls, *job, Arc::clone(&leaving), reports);
            self.under_way
                .extend(task.map(|task| (key, UnderWay { task, leaving })));
        }
    }

    fn forget_finished(&mut self) {
        self.under_way.retain(|_, call| !call.task.is_finished());
    }
}

async fn run_calls(
    mut messages: mpsc::UnboundedReceiver<Message>,
    mut stopped: oneshot::Receiver<()>,
    calls_max: usize,
    reports: Reporter,
) {
    let mut local = Lane::new(calls_max);
    let mut waiting = Lane::new(WAITING_CALLS_MAX);
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            Some(message) = messages.recv() => match message {
                Message::Start(job) => {
                    let lane = if job.tool.waits() { &mut waiting } else { &mut local };
                    lane.waiting.push_back(job);
                }
                Message::Cancel(key) => {
                    local.cancel(&key);
                    waiting.cancel(&key);
                }
            },
            Some(_) = local.calls.join_next() => local.forget_finished(),
            Some(_) = waiting.calls.join_next() => waiting.forget_finished(),
        }
        local.fill(&reports);
        waiting.fill(&reports);
    }
    // A withdrawal that was sent before the end counts, even where the end was seen first.
    while let Ok(message) = messages.try_recv() {
        if let Message::Cancel(key) = message {
            local.cancel(&key);
            waiting.cancel(&key);
        }
    }
    local.leave().await;
    waiting.leave().await;
}

/// Starts a call; if the tool panics at once, the failure is reported and nothing is returned.
fn begin(calls: &mut JoinSet<()>, job: Job, leaving: Arc<AtomicBool>, reports: &Reporter) -> Option<AbortHandle> {
    let mut promise = Promise {
        reports: reports.clone(),
        owed: Some((job.request, job.key.clone())),
    };
    let context = job.context(leaving);
    // A panic here would end all other calls; dropping the promise reports the failure.
    let first = AssertUnwindSafe(|| job.tool.call(job.payload.clone(), context.clone()));
    let call = catch_unwind(first).ok()?;
    Some(calls.spawn(async move { promise.keep(call_with_retries(&*job.tool, call, job.payload, context).await) }))
}

/// Waits for a call, and repeats it under the same key as its tool declares.
async fn call_with_retries(tool: &dyn Tool, call: Call, payload: IOValue, context: Context) -> Outcome {
    let Description { retry, idempotent, .. } = tool.description();
    let mut outcome = within_time_limit(tool, call).await;
    let mut delay = Duration::from_millis(retry.delay_ms);
    for _ in 1..retry.attempts_max {
        // A server that could not be reached has done nothing; one that gave no answer may have
        // acted.
        let may_help =
            |kind: &str| kind == Kind::Unavailable.as_str() || (*idempotent && kind == Kind::Timeout.as_str());
        if !outcome.as_ref().is_err_and(|failure| may_help(&failure.kind)) {
            break;
        }
        sleep(delay).await;
        delay = delay.saturating_mul(2);
        outcome = within_time_limit(tool, tool.call(payload.clone(), context.clone())).await;
    }
    outcome
}

/// Waits for a call up to the tool's time limit.
async fn within_time_limit(tool: &dyn Tool, call: Call) -> Outcome {
    let Some(limit_ms) = tool.description().timeout_ms else {
        return call.await;
    };
    timeout(Duration::from_millis(limit_ms), call)
        .await
        .unwrap_or_else(|_| {
            let message = format!(
                "{} gave no answer within {limit_ms} ms; it may still take effect",
                tool.description().name
            );
            Err(Kind::Timeout.with(message, [("timeout-ms", integer(limit_ms))]))
        })
}

/// An answer that is due; dropping it unanswered reports a failure.
struct Promise {
    reports: Reporter,
    owed: Option<(RequestId, String)>,
}

impl Promise {
    fn keep(&mut self, outcome: Outcome) {
        if let Some((request, key)) = self.owed.take() {
            // The world may have been dropped.
            let _ = self.reports.send(Report::Answered {
                key,
                request,
                input: Input::ToolResult { request, outcome },
            });
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.keep(Err(Kind::Failed.because("the tool broke down")));
    }
}
