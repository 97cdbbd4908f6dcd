//! Tool calls under way: started in order, so many at a time, each answered.
//!
//! INVARIANT: calls start in the order in which they were handed over, and each is answered exactly once, even if the tool panics.
//! It does not know which calls are still wanted: `world.rs` does.
//! Read next: `tool.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::tool::arguments::integer;
use crate::tool::description::Description;
use crate::tool::failure::Kind;
use crate::tool::keeper::Keeper;
use crate::tool::{Call, Context, Outcome, Tool};
use crate::world::Report;

/// How long [`Dispatch::stop`] waits for calls that are being abandoned.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// A call to be made.
pub(crate) struct Job {
    pub(crate) request: RequestId,
    pub(crate) key: String,
    /// The name by which the tool was called.
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) payload: IOValue,
    pub(crate) keeper: Keeper,
}

/// What the core wants.
enum Order {
    Start(Box<Job>),
    /// Abandon the call with this key.
    Cancel(String),
}

/// The calls of one world.
pub(crate) struct Dispatch {
    calls_max: usize,
    reports: Sender<Report>,
    /// `None` before the first call: most runs make none, and a task takes two changes of threads to end.
    maker: Option<Maker>,
}

/// The task that makes calls.
struct Maker {
    orders: mpsc::UnboundedSender<Order>,
    /// Dropped to stop; nothing is ever sent.
    going: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Maker {
    fn begin(runtime: &Runtime, calls_max: usize, reports: Sender<Report>) -> Self {
        let (orders, queue) = mpsc::unbounded_channel();
        let (going, stopped) = oneshot::channel();
        let task = runtime.spawn(make_calls(queue, stopped, calls_max, reports));
        Self { orders, going, task }
    }

    fn order(&self, order: Order) {
        // The other end is there until `stop`.
        let _ = self.orders.send(order);
    }
}

impl Dispatch {
    /// Makes ready for calls, of which `calls_max`, at least 1, run at the same time.
    pub(crate) fn new(calls_max: usize, reports: Sender<Report>) -> Self {
        Self {
            calls_max: calls_max.max(1),
            reports,
            maker: None,
        }
    }

    /// Hands over a call.
    pub(crate) fn start(&mut self, runtime: &Runtime, job: Job) {
        let begin = || Maker::begin(runtime, self.calls_max, self.reports.clone());
        let maker = self.maker.get_or_insert_with(begin);
        maker.order(Order::Start(Box::new(job)));
    }

    /// Abandons a call, if it is under way or waits its turn; a process that it runs is killed.
    pub(crate) fn cancel(&self, key: String) {
        if let Some(maker) = &self.maker {
            maker.order(Order::Cancel(key));
        }
    }

    /// Abandons all calls; when it returns, what they hold (processes, files) is let go, unless that takes unduly long.
    pub(crate) fn stop(self, runtime: &Runtime) {
        if let Some(Maker { going, task, .. }) = self.maker {
            drop(going);
            let _ = runtime.block_on(async { timeout(STOP_WAIT, task).await });
        }
    }
}

async fn make_calls(
    mut orders: mpsc::UnboundedReceiver<Order>,
    mut stopped: oneshot::Receiver<()>,
    calls_max: usize,
    reports: Sender<Report>,
) {
    let mut waiting: VecDeque<Box<Job>> = VecDeque::new();
    let mut calls = JoinSet::new();
    let mut under_way: BTreeMap<String, AbortHandle> = BTreeMap::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            Some(order) = orders.recv() => match order {
                Order::Start(job) => waiting.push_back(job),
                Order::Cancel(key) => {
                    waiting.retain(|job| job.key != key);
                    if let Some(call) = under_way.remove(&key) {
                        call.abort();
                    }
                }
            },
            Some(_) = calls.join_next() => under_way.retain(|_, call| !call.is_finished()),
        }
        while calls.len() < calls_max
            && let Some(job) = waiting.pop_front()
        {
            let key = job.key.clone();
            let call = begin(&mut calls, *job, &reports);
            under_way.extend(call.map(|call| (key, call)));
        }
    }
    calls.shutdown().await;
}

/// Starts a call; a tool that breaks down at once has been answered for.
fn begin(calls: &mut JoinSet<()>, job: Job, reports: &Sender<Report>) -> Option<AbortHandle> {
    let mut promise = Promise {
        reports: reports.clone(),
        owed: Some((job.request, job.key.clone())),
    };
    let context = Context {
        key: job.key,
        tool: job.name,
        keeper: job.keeper,
    };
    // A panic here would take all other calls with it; the broken promise tells of it.
    let first = AssertUnwindSafe(|| job.tool.call(job.payload.clone(), context.clone()));
    let call = catch_unwind(first).ok()?;
    Some(calls.spawn(async move { promise.keep(insist(&*job.tool, call, job.payload, context).await) }))
}

/// Waits for a call, and makes it again under the same key as often as its tool declares, if that may help.
async fn insist(tool: &dyn Tool, call: Call, payload: IOValue, context: Context) -> Outcome {
    let Description { retry, idempotent, .. } = tool.description();
    let mut outcome = attend(tool, call).await;
    let mut delay = Duration::from_millis(retry.delay_ms);
    for _ in 1..retry.attempts_max {
        // What cannot be reached has done nothing; what gave no answer may have.
        let is_worth_it =
            |kind: &str| kind == Kind::Unavailable.as_str() || (*idempotent && kind == Kind::Timeout.as_str());
        if !outcome.as_ref().is_err_and(|failure| is_worth_it(&failure.kind)) {
            break;
        }
        sleep(delay).await;
        delay = delay.saturating_mul(2);
        outcome = attend(tool, tool.call(payload.clone(), context.clone())).await;
    }
    outcome
}

/// Waits for a call within the time it is given.
async fn attend(tool: &dyn Tool, call: Call) -> Outcome {
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

/// A result that is owed; if it is never given, a failure is given in its place.
struct Promise {
    reports: Sender<Report>,
    owed: Option<(RequestId, String)>,
}

impl Promise {
    fn keep(&mut self, outcome: Outcome) {
        if let Some((request, key)) = self.owed.take() {
            // The core may be gone already.
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
