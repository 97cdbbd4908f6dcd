//! One server: the connection to it while there is one.
//!
//! INVARIANT: at most one connection is open at a time, and a call that finds it ended opens the
//! next one.
//! It does not know what a request means; `request.rs` does.
//! Read next: `link.rs`.

use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use rmcp::model::ClientRequest;
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::link::Link;
use super::listing::{self, Listing, Pages, Unlisted};
use super::oauth::{self, Tokens};
use super::request::Request;
use super::settings::{Login, Settings, Transport};
use super::task::{self, Task, TaskState};
use super::web::Bearer;
use crate::tool::arguments::integer;
use crate::tool::failure::Kind;
use crate::tool::interface::Context;

/// The maximum number of attempts to ask for a task, and the delay before the second; it doubles.
const TASK_ATTEMPTS_MAX: u32 = 6;
const TASK_DELAY: Duration = Duration::from_millis(500);

/// A server.
pub struct Server {
    settings: Settings,
    bearer: Bearer,
    link: Mutex<Option<Arc<Link>>>,
}

impl Server {
    /// Makes a server that is not connected yet.
    pub fn new(settings: Settings) -> Self {
        let bearer = match &settings.place {
            Transport::Url { url, login } => match login {
                Login::None => Bearer::None,
                Login::Token(key) => Bearer::Fixed(key.value.clone()),
                Login::OAuth(credentials) => Bearer::Given(Arc::new(Tokens::new((**credentials).clone(), url))),
            },
            Transport::Program { .. } | Transport::Refused(_) => Bearer::None,
        };
        Self {
            settings,
            bearer,
            link: Mutex::new(None),
        }
    }

    /// Its description.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The connection; a new one if there is none.
    async fn link(&self) -> Result<Arc<Link>, ToolFailure> {
        let mut kept = self.link.lock().await;
        if let Some(link) = kept.as_ref().filter(|link| link.is_open()) {
            return Ok(Arc::clone(link));
        }
        *kept = None;
        if let Bearer::Given(tokens) = &self.bearer {
            // A failure has better words here than in the library's error.
            tokens.get(None).await?;
        }
        let limit_ms = self.settings.start_timeout_ms;
        let opening = Link::open(&self.settings, &self.bearer);
        let link = timeout(Duration::from_millis(limit_ms), opening)
            .await
            .unwrap_or_else(|_| {
                let message = format!(
                    "the MCP server `{}` gave no answer within {limit_ms} ms of its start; `start_timeout_ms` in its \
                 configuration gives it more",
                    self.settings.name
                );
                Err(Kind::Unavailable.with(message, [("timeout-ms", integer(limit_ms))]))
            })?;
        let link = Arc::new(link);
        *kept = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Asks for its tools. A list that breaks off counts as far as it came.
    ///
    /// # Errors
    /// As [`perform`](Self::perform), if no tool is known.
    pub(super) async fn tools(&self) -> Result<Listing, Unlisted> {
        let limit_ms = self.settings.start_timeout_ms;
        let (mut pages, mut is_started) = (Pages::default(), false);
        let listing = async {
            let link = self.link().await?;
            is_started = true;
            link.list("tools", &Context::default(), &mut pages).await?;
            Ok(Json::Null)
        };
        let late = |_| {
            let name = &self.settings.name;
            Err(Kind::Timeout.because(format!(
                "the MCP server `{name}` did not list its tools within {limit_ms} ms"
            )))
        };
        let listed = timeout(Duration::from_millis(limit_ms), listing).await;
        if let Err(failure) = self.masked(listed.unwrap_or_else(late)).await {
            if pages.all.is_empty() {
                return Err(Unlisted { failure, is_started });
            }
            pages.fault = Some(failure.message);
        }
        let Ok(Json::Array(all)) = self.masked(Ok(Json::Array(pages.all))).await else {
            return Ok(Listing::default());
        };
        Ok(listing::read(&self.settings, &Pages { all, ..pages }))
    }

    /// Performs a request.
    ///
    /// # Errors
    /// `denied` if nobody has allowed the server, `unavailable` if it does not start, `failed` if
    /// it ends or the tool fails, `timeout`, `output-limit`, `bad-argument` and `no-such-tool` as
    /// the server says, `bad-result` if its answer is not of the protocol.
    pub(super) async fn perform(&self, request: Request, context: &Context) -> Result<Json, ToolFailure> {
        let outcome = self.perform_openly(request, context).await;
        self.masked(outcome).await
    }

    /// Masks the access token in what the server says, if there is one.
    async fn masked(&self, outcome: Result<Json, ToolFailure>) -> Result<Json, ToolFailure> {
        let Bearer::Given(tokens) = &self.bearer else {
            return outcome;
        };
        let Some(token) = tokens.known().await else {
            return outcome;
        };
        let masked = |text: String| oauth::masked(&text, &token);
        match outcome {
            // A token has no characters that JSON escapes.
            Ok(value) => match value.to_string() {
                text if text.contains(&token) => Ok(serde_json::from_str(&masked(text)).unwrap_or_default()),
                _ => Ok(value),
            },
            Err(failure) => Err(ToolFailure {
                message: masked(failure.message),
                ..failure
            }),
        }
    }

    async fn perform_openly(&self, request: Request, context: &Context) -> Result<Json, ToolFailure> {
        let link = self.link().await?;
        match request {
            Request::Tools => Ok(listing::read(&self.settings, &link.all("tools", context).await?).shown()),
            Request::List(what) => Ok(Json::Array(link.all(what, context).await?.all)),
            Request::Answer(answer) => link.answer(answer, context).await,
            Request::Once(method) => link.call(*method, context).await,
            Request::Task(task) => {
                drop(link);
                self.wait_for(task, context).await
            }
        }
    }

    /// Waits until a task has a result or asks the person. The server may start again meanwhile.
    async fn wait_for(&self, task: Task, context: &Context) -> Result<Json, ToolFailure> {
        if self.link().await.is_ok_and(|link| link.has_older_tasks()) {
            return self.wait_for_older(task, context).await;
        }
        let mut waiting = task::Waiting::new(&task, context);
        if let Some(update) = task.update() {
            self.about(&task, &update, &mut waiting, context).await?;
        }
        let shown = context.live.until_dropped();
        loop {
            let answer = self.about(&task, &task.question(), &mut waiting, context).await?;
            match task.read(&self.settings.name, answer) {
                Ok(TaskState::Works { interval, says }) => {
                    if !says.is_empty() {
                        shown.says(&context.tool, &says);
                    }
                    sleep(interval).await;
                }
                Ok(TaskState::Ends(result)) => {
                    waiting.is_over();
                    return Ok(result);
                }
                Err(failure) => {
                    waiting.is_over();
                    return Err(failure);
                }
            }
        }
    }

    /// Waits for a task of the revision of 2025 in the same way.
    async fn wait_for_older(&self, task: Task, context: &Context) -> Result<Json, ToolFailure> {
        let mut waiting = task::Waiting::new(&task, context);
        let shown = context.live.until_dropped();
        let (name, mut answer) = (&self.settings.name, task.own_answer());
        let (mut attempt, mut delay) = (1, TASK_DELAY);
        loop {
            if answer.is_none() {
                let state = self.about(&task, &task.question(), &mut waiting, context).await;
                let works = state.and_then(|state| task.read_older(name, &state));
                let works = works.inspect_err(|_| waiting.is_over())?;
                if let Some(TaskState::Works { interval, says }) = works {
                    if !says.is_empty() {
                        shown.says(&context.tool, &says);
                    }
                    sleep(interval).await;
                    continue;
                }
            }
            let link = self.link().await?;
            waiting.through(Arc::clone(&link));
            let outcome = link.result_of_task(&task.id, answer.clone(), context).await;
            let kind = outcome.as_ref().err().map(|failure| &*failure.kind);
            if kind == Some(Kind::Timeout.as_str()) {
                // The task works on after its question.
                answer = None;
                continue;
            }
            if kind.is_some() && !link.is_open() && attempt < TASK_ATTEMPTS_MAX {
                sleep(delay).await;
                (attempt, delay) = (attempt + 1, delay.saturating_mul(2));
                continue;
            }
            waiting.is_over();
            let result = outcome.map_err(|failure| task::unknown(name, &task, failure))?;
            return task.result(name, result);
        }
    }

    /// Sends a request about a task, again if the connection breaks, because a task outlives it.
    async fn about(
        &self,
        task: &Task,
        message: &ClientRequest,
        waiting: &mut task::Waiting,
        context: &Context,
    ) -> Result<Json, ToolFailure> {
        let (mut attempt, mut delay) = (1, TASK_DELAY);
        loop {
            let answer = match self.link().await {
                Ok(link) => {
                    waiting.through(Arc::clone(&link));
                    link.request(message.clone(), context).await
                }
                Err(failure) => Err(failure),
            };
            match answer {
                Err(failure) if attempt < TASK_ATTEMPTS_MAX && is_broken(&failure) => {}
                answer => return answer.map_err(|failure| task::unknown(&self.settings.name, task, failure)),
            }
            sleep(delay).await;
            attempt += 1;
            delay = delay.saturating_mul(2);
        }
    }

    /// Ends the server, if it runs.
    pub(crate) async fn stop(&self) {
        if let Some(link) = self.link.lock().await.take() {
            link.close().await;
        }
    }
}

/// Says whether a failure may be one of the connection, after which the server may be there again.
fn is_broken(failure: &ToolFailure) -> bool {
    let kinds = [Kind::Unavailable, Kind::Failed, Kind::Timeout];
    kinds.iter().any(|kind| kind.as_str() == failure.kind)
}
