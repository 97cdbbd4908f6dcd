//! A connection to a server: requests, and the calls that wait for a person.
//!
//! A server of the revisions up to 2025 asks the person in the middle of a call. Then the call's
//! result is the question, and the call itself waits here for the answer.
//! INVARIANT: a request gets one answer or one failure; a request that is given up is cancelled at
//! the server.
//! It does not start programs; `program.rs` does.
//! Read next: `client.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams, ProtocolVersion, RequestId,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, PeerRequestOptions, RunningService,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Receiver;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::client::{Client, Question};
use super::elicitation;
use super::failed;
use super::listing::Pages;
use super::mend::Lines;
use super::older;
use super::probe::{LateAnswer, Probed};
use super::program::{End, Program};
use super::request::{Answer, Method};
use super::settings::{Settings, Transport};
use super::web::{self, Bearer};
use crate::tool::failure::Kind;
use crate::tool::interface::Context;

/// The maximum number of things in a list of a server.
const LISTED_MAX: usize = 10_000;

/// The maximum time that the last words to a server take when the connection is closed.
const FAREWELL_WAIT: Duration = Duration::from_secs(1);

/// Messages to a server about calls that were given up.
type Farewells = Arc<Mutex<JoinSet<()>>>;

/// A connection to a server.
pub(super) struct Link {
    name: String,
    timeout: Duration,
    peer: Peer<RoleClient>,
    service: tokio::sync::Mutex<Option<RunningService<RoleClient, Client>>>,
    client: Client,
    program: Option<Program>,
    /// The calls that wait for a person, by what the program gives back with the answer.
    suspended: Mutex<BTreeMap<String, Suspended>>,
    suspended_count: AtomicU64,
    farewells: Farewells,
    /// Whether the server makes tasks of calls by the revision of 2025.
    has_older_tasks: bool,
    /// The tools whose calls can be such tasks, once the server has listed its tools.
    with_tasks: Mutex<Option<BTreeSet<String>>>,
}

/// A call under way.
struct Following {
    running: Running,
    questions: Receiver<Question>,
}

/// What a call under way comes to.
enum Followed {
    Answer(Result<Json, ToolFailure>),
    Question(Question),
}

impl Following {
    /// Waits until the call has its answer or asks the person.
    async fn next(&mut self) -> Followed {
        tokio::select! {
            biased;
            answer = &mut self.running.0 => {
                let broke = |error| Err(Kind::Failed.because(format!("the call broke down: {error}")));
                Followed::Answer(answer.unwrap_or_else(broke))
            }
            Some(question) = self.questions.recv() => Followed::Question(question),
        }
    }
}

/// A call that waits for a person.
struct Suspended {
    question: Question,
    following: Following,
}

/// The task of a call; dropping it gives the call up.
struct Running(JoinHandle<Result<Json, ToolFailure>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells the server that nobody waits for an answer any more, unless the answer came.
struct Waiting {
    peer: Peer<RoleClient>,
    farewells: Farewells,
    request: Option<RequestId>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let peer = self.peer.clone();
            say(&self.farewells, async move {
                let param = CancelledNotificationParam::new(Some(request), Some("nobody waits for it".to_owned()));
                // A server that has ended needs no word of it.
                let _ = peer.notify_cancelled(param).await;
            });
        }
    }
}

/// Says something to a server for which nobody waits.
fn say(farewells: &Farewells, words: impl Future<Output = ()> + Send + 'static) {
    // A call that ends with the process has no runtime any more, and no server.
    if let Ok(runtime) = Handle::try_current() {
        let mut farewells = farewells.lock().unwrap_or_else(PoisonError::into_inner);
        while farewells.try_join_next().is_some() {}
        farewells.spawn_on(words, &runtime);
    }
}

impl Link {
    /// Starts a server, or connects to it, and agrees on a revision of the protocol.
    ///
    /// # Errors
    /// As `Server::perform`.
    pub(super) async fn open(settings: &Settings, bearer: &Bearer) -> Result<Self, ToolFailure> {
        let newest = || vec![ProtocolVersion::V_2026_07_28];
        let probing = ClientLifecycleMode::Auto {
            preferred_versions: newest(),
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let first = if settings.is_of_2025 {
            ClientLifecycleMode::Initialize
        } else {
            probing
        };
        match Self::open_as(settings, bearer, first).await {
            // Some servers end when the first message is not the handshake.
            Err(Unopened { is_cut: true, .. }) => {
                Self::open_as(settings, bearer, ClientLifecycleMode::Initialize).await
            }
            Err(Unopened { is_modern: true, .. }) => {
                let preferred_versions = newest();
                Self::open_as(settings, bearer, ClientLifecycleMode::Discover { preferred_versions }).await
            }
            opened => opened,
        }
        .map_err(|unopened| unopened.failure)
    }

    async fn open_as(settings: &Settings, bearer: &Bearer, mode: ClientLifecycleMode) -> Result<Self, Unopened> {
        let (client, late) = (Client::default(), LateAnswer::default());
        let (service, program) = match &settings.place {
            Transport::Refused(why) => return Err(Kind::Denied.because(why.clone()).into()),
            Transport::Url { url, .. } => {
                let transport = Probed::new(web::transport(url, bearer.clone(), &settings.headers), late.clone());
                let service = client.clone().serve_with_lifecycle(transport, mode).await;
                let refuse = |error| Unopened {
                    is_modern: late.came(),
                    ..failed::at_start(&settings.name, &error, End::default()).into()
                };
                (service.map_err(refuse)?, None)
            }
            Transport::Program { .. } => {
                let (mut program, (output, input)) = Program::start(settings).await?;
                // The program's lines have a limit; the library drops longer ones without a word.
                let transport = AsyncRwTransport::new_client(Lines::new(output), input);
                let transport = transport.with_max_line_length(usize::MAX);
                let transport = Probed::new(transport, late.clone());
                match client.clone().serve_with_lifecycle(transport, mode).await {
                    Ok(service) => (service, Some(program)),
                    Err(error) => {
                        let is_cut = matches!(error, ClientInitializeError::ConnectionClosed(_));
                        let failure = failed::at_start(&settings.name, &error, program.ended().await);
                        let is_modern = late.came();
                        return Err(Unopened {
                            failure,
                            is_cut,
                            is_modern,
                        });
                    }
                }
            }
        };
        let server = service.peer().peer_info();
        Ok(Self {
            has_older_tasks: server.is_some_and(|server| older::makes_tasks(&server.capabilities)),
            with_tasks: Mutex::default(),
            name: settings.name.clone(),
            timeout: Duration::from_millis(settings.timeout_ms),
            peer: service.peer().clone(),
            service: tokio::sync::Mutex::new(Some(service)),
            client,
            program,
            suspended: Mutex::default(),
            suspended_count: AtomicU64::new(0),
            farewells: Farewells::default(),
        })
    }

    /// Says whether the server can still be asked.
    pub(super) fn is_open(&self) -> bool {
        !self.peer.is_transport_closed()
    }

    /// The server's side, for messages without an answer.
    pub(super) fn peer(&self) -> Peer<RoleClient> {
        self.peer.clone()
    }

    /// Says something to the server for which nobody waits, at the latest before the connection is
    /// closed.
    pub(super) fn farewell(&self, words: impl Future<Output = ()> + Send + 'static) {
        say(&self.farewells, words);
    }

    /// Ends the connection, and the program.
    pub(super) async fn close(&self) {
        let farewells = std::mem::take(&mut *self.farewells.lock().unwrap_or_else(PoisonError::into_inner));
        // One that takes longer is given up.
        let _ = timeout(FAREWELL_WAIT, farewells.join_all()).await;
        if let Some(mut service) = self.service.lock().await.take() {
            // A task that panicked has ended, too.
            let _ = service.close().await;
        }
        if let Some(program) = &self.program {
            program.stop().await;
        }
    }

    /// Asks for a whole list.
    pub(super) async fn all(&self, what: &str, context: &Context) -> Result<Pages, ToolFailure> {
        let mut pages = Pages::default();
        self.list(what, context, &mut pages).await?;
        Ok(pages)
    }

    /// Asks for a list in as many pages as the server makes of it; those that come stay in `pages`
    /// if the list breaks off. A cursor that the server has given before ends the list.
    pub(super) async fn list(&self, what: &str, context: &Context, pages: &mut Pages) -> Result<(), ToolFailure> {
        let mut cursors = BTreeSet::new();
        let mut cursor = None;
        let all = &mut pages.all;
        loop {
            let page = match self.request(listing(what, cursor), context).await {
                // A server without such things need not know the question.
                Err(failure) if failure.kind == Kind::NoSuchTool.as_str() => break,
                page => page?,
            };
            if let Some(kind) = page.as_object().and_then(elicitation::foreign_kind) {
                let message = format!("the MCP server `{}` answers with a list of the type {kind}", self.name);
                return Err(Kind::BadResult.because(format!("{message}, which Duet does not know")));
            }
            let Some(found) = page.get(what).and_then(Json::as_array) else {
                let message = format!("the MCP server `{}` answers with no list of its {what}", self.name);
                return Err(Kind::BadResult.because(message));
            };
            let next = page.get("nextCursor").and_then(Json::as_str);
            let Some(next) = next.filter(|next| !next.is_empty()).map(str::to_owned) else {
                all.extend(found.iter().cloned());
                break;
            };
            // A page that came by a repeated cursor has come before.
            if !cursors.insert(next.clone()) {
                pages.is_going_round = true;
                break;
            }
            all.extend(found.iter().cloned());
            if all.len() > LISTED_MAX || found.is_empty() {
                let message = format!("the MCP server `{}` lists more than {LISTED_MAX} {what}", self.name);
                return Err(Kind::OutputLimit.because(message));
            }
            cursor = Some(next);
        }
        if what == "tools" && self.has_older_tasks {
            let known = older::with_tasks(all);
            *self.with_tasks.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        }
        Ok(())
    }

    /// Says whether the server makes tasks of calls by the revision of 2025.
    pub(super) fn has_older_tasks(&self) -> bool {
        self.has_older_tasks
    }

    /// The message of a call, which wants a task of it if the tool can have one by the revision of
    /// 2025.
    async fn message(&self, method: Method, context: &Context) -> ClientRequest {
        let Some(params) = method.called().filter(|_| self.has_older_tasks) else {
            return method.message();
        };
        let known = |tools: &Option<BTreeSet<String>>| Some(tools.as_ref()?.contains(&*params.name));
        let mut can_be = known(&self.with_tasks.lock().unwrap_or_else(PoisonError::into_inner));
        if can_be.is_none() {
            // A process that goes on with a run has not listed the tools. Where that fails, the
            // call shows why.
            let _ = self.all("tools", context).await;
            can_be = known(&self.with_tasks.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match can_be {
            Some(true) => older::call(params),
            Some(false) | None => method.message(),
        }
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn request(&self, request: ClientRequest, context: &Context) -> Result<Json, ToolFailure> {
        self.requesting(request, context).await
    }

    fn requesting(
        &self,
        request: ClientRequest,
        context: &Context,
    ) -> impl Future<Output = Result<Json, ToolFailure>> + Send + 'static {
        let options = PeerRequestOptions::with_timeout(self.timeout).reset_timeout_on_progress();
        let (peer, client, context) = (self.peer.clone(), self.client.clone(), context.clone());
        let (name, fault) = (self.name.clone(), self.program.as_ref().map(Program::fault));
        let farewells = Arc::clone(&self.farewells);
        async move {
            let failed = |error| failed::of(&name, error, fault.as_ref());
            let handle = peer.send_request_with_option(request, options).await;
            let handle = match handle {
                Ok(handle) => handle,
                Err(error) => return Err(failed(error).await),
            };
            let mut waiting = Waiting {
                peer,
                farewells,
                request: Some(handle.id.clone()),
            };
            let _shown = client.show(&handle.progress_token, &context);
            let answer = handle.await_response().await;
            waiting.request = None;
            match answer {
                Ok(result) => serde_json::to_value(result).map_err(|error| {
                    Kind::BadResult.because(format!("the MCP server `{name}` answers badly: {error}"))
                }),
                Err(error) => Err(failed(error).await),
            }
        }
    }

    /// Sends a request whose answer may be a question to the person.
    pub(super) async fn call(&self, method: Method, context: &Context) -> Result<Json, ToolFailure> {
        let (shown, is_call) = (method.shown(), method.is_call());
        let message = self.message(method, context).await;
        let result = self.follow(self.following(message, context)).await?;
        elicitation::result_of(&self.name, &shown, is_call, result)
    }

    /// Begins a request that may ask the person.
    fn following(&self, message: ClientRequest, context: &Context) -> Following {
        let questions = self.client.listen();
        let running = Running(tokio::spawn(self.requesting(message, context)));
        Following { running, questions }
    }

    /// Waits for the result of a task of the revision of 2025, or a question of it. An answer goes
    /// to the wait that asked; if that is not there any more, because its process has ended, to the
    /// same question once the server asks it again.
    pub(super) async fn result_of_task(
        &self,
        id: &str,
        mut answer: Option<(String, Json)>,
        context: &Context,
    ) -> Result<Json, ToolFailure> {
        let asked = answer
            .as_ref()
            .and_then(|(own, _)| self.suspensions(|all| all.remove(own)));
        let mut following = match (asked, &answer) {
            (Some(Suspended { question, following }), Some((_, said))) => {
                question.answer(said.clone());
                answer = None;
                following
            }
            _ => self.following(older::result(id), context),
        };
        loop {
            let question = match following.next().await {
                Followed::Answer(result) => return result,
                Followed::Question(question) => question,
            };
            let own = format!("{}{id}/{}", elicitation::OWN_STATE, question.digest());
            match answer.take_if(|(name, _)| *name == own) {
                Some((_, said)) => question.answer(said),
                None => return Ok(self.suspend(own, Suspended { question, following })),
            }
        }
    }

    /// Goes on with a call that waits for a person, or repeats it with the answers, as its server
    /// wants it.
    pub(super) async fn answer(&self, answer: Answer, context: &Context) -> Result<Json, ToolFailure> {
        let Answer {
            mut method,
            responses,
            state,
        } = answer;
        let own = state
            .as_deref()
            .filter(|state| state.starts_with(elicitation::OWN_STATE));
        let Some(own) = own else {
            method.answered(responses, state);
            return self.call(method, context).await;
        };
        let Some(suspended) = self.suspensions(|all| all.remove(own)) else {
            return Err(Kind::NotFound.because(format!(
                "the call of {} does not wait for an answer any more, because its server or this process has ended; \
                 call it again",
                method.shown()
            )));
        };
        suspended
            .question
            .answer(responses.into_values().next().unwrap_or_default());
        let result = self.follow(suspended.following).await?;
        elicitation::result_of(&self.name, &method.shown(), method.is_call(), result)
    }

    /// Waits until a call has its answer or asks the person.
    async fn follow(&self, mut following: Following) -> Result<Json, ToolFailure> {
        let question = match following.next().await {
            Followed::Answer(result) => return result,
            Followed::Question(question) => question,
        };
        let number = self.suspended_count.fetch_add(1, Ordering::Relaxed);
        let state = format!("{}{number}", elicitation::OWN_STATE);
        Ok(self.suspend(state, Suspended { question, following }))
    }

    /// Lets a call wait for a person; returns the question in the form of 2026.
    fn suspend(&self, state: String, suspended: Suspended) -> Json {
        let asked = json!({
            "resultType": "input_required",
            "inputRequests": { "answer": { "method": "elicitation/create", "params": suspended.question.asked } },
            "requestState": state,
        });
        self.suspensions(|all| all.insert(state, suspended));
        asked
    }

    fn suspensions<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Suspended>) -> T) -> T {
        change(&mut self.suspended.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why a connection was not opened.
struct Unopened {
    failure: ToolFailure,
    /// Whether the server ended before it answered.
    is_cut: bool,
    /// Whether it has said, too late, that it speaks the revision of 2026.
    is_modern: bool,
}

impl From<ToolFailure> for Unopened {
    fn from(failure: ToolFailure) -> Self {
        Self {
            failure,
            is_cut: false,
            is_modern: false,
        }
    }
}

fn listing(what: &str, cursor: Option<String>) -> ClientRequest {
    let mut params = PaginatedRequestParams::default();
    params.cursor = cursor;
    let params = params.cursor.is_some().then_some(params);
    macro_rules! request {
        ($variant:ident) => {
            ClientRequest::$variant($variant {
                params,
                ..Default::default()
            })
        };
    }
    match what {
        "tools" => request!(ListToolsRequest),
        "resources" => request!(ListResourcesRequest),
        "resourceTemplates" => request!(ListResourceTemplatesRequest),
        _ => request!(ListPromptsRequest),
    }
}
