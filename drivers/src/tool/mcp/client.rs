//! What a server can ask of us, and tell us: questions to the person, and progress.
//!
//! INVARIANT: a question of a server reaches the newest call that is under way there, and is
//! cancelled if there is none.
//! It answers no question by itself. Sampling and roots, which the revision of 2026 has given up,
//! are not offered.
//! Read next: `elicitation.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use duet_runtime::driver::BlobHash;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, JsonObject, ProgressNotificationParam, ProgressToken,
    TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use crate::live::Live;
use crate::tool::interface::Context;

/// The maximum number of questions of one call that wait.
const QUESTIONS_MAX: usize = 16;

/// Our side of a connection; clones belong to the same one.
#[derive(Clone, Default)]
pub(super) struct Client(Arc<State>);

#[derive(Default)]
struct State {
    /// Where the calls under way take questions, the newest last.
    listeners: Mutex<Vec<mpsc::Sender<Question>>>,
    /// The calls that show their progress, with their names, by the texts of their tokens.
    shown: Mutex<BTreeMap<String, (Live, String)>>,
}

/// A question of a server to the person.
pub(super) struct Question {
    /// The parameters of the server's request.
    pub(super) asked: Json,
    answer: oneshot::Sender<ElicitResult>,
}

impl Question {
    /// A digest of what the person sees, by which a repeated question is known.
    pub(super) fn digest(&self) -> BlobHash {
        let mut shown = self.asked.clone();
        if let Some(members) = shown.as_object_mut() {
            members.remove("_meta");
        }
        BlobHash::of(shown.to_string().as_bytes())
    }

    /// Answers the question; a malformed answer cancels it.
    pub(super) fn answer(self, said: Json) {
        let cancelled = || ElicitResult::new(ElicitationAction::Cancel);
        let result = serde_json::from_value(said).unwrap_or_else(|_| cancelled());
        // A server that gave the question up needs no answer.
        let _ = self.answer.send(result);
    }
}

/// The progress of a call, shown until this is dropped.
pub(super) struct Shown {
    client: Client,
    token: String,
}

impl Drop for Shown {
    fn drop(&mut self) {
        let mut shown = self.client.0.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((live, name)) = shown.remove(&self.token) {
            live.steps(&name, 1, 1);
        }
    }
}

impl Client {
    /// Takes questions for a new call.
    pub(super) fn listen(&self) -> mpsc::Receiver<Question> {
        let (sender, receiver) = mpsc::channel(QUESTIONS_MAX);
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.is_closed());
        listeners.push(sender);
        receiver
    }

    /// Shows the progress of a call.
    pub(super) fn show(&self, token: &ProgressToken, context: &Context) -> Shown {
        let mut shown = self.0.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let token = key(token);
        shown.insert(token.clone(), (context.live.clone(), context.tool.clone()));
        Shown {
            client: self.clone(),
            token,
        }
    }

    fn newest(&self) -> Option<mpsc::Sender<Question>> {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.is_closed());
        listeners.last().cloned()
    }

    async fn ask(&self, asked: Json) -> Option<ElicitResult> {
        let (answer, answered) = oneshot::channel();
        self.newest()?.send(Question { asked, answer }).await.ok()?;
        answered.await.ok()
    }
}

fn key(token: &ProgressToken) -> String {
    format!("{token:?}")
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default()),
        );
        capabilities.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())].into());
        ClientConfig::new(capabilities, Implementation::new("duet", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(request).unwrap_or_default();
        let cancelled = || ElicitResult::new(ElicitationAction::Cancel);
        Ok(self.ask(asked).await.unwrap_or_else(cancelled))
    }

    async fn on_progress(&self, said: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let shown = self.0.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((live, name)) = shown.get(&key(&said.progress_token)) else {
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast to an integer keeps to its range"
        )]
        let [done, total] = [said.progress, said.total.unwrap_or(0.0)].map(|steps| steps as u64);
        let label = said
            .message
            .map_or_else(|| name.clone(), |message| format!("{name}: {message}"));
        // The line stays until the call has its answer.
        live.steps(&label, done, total.max(done.saturating_add(1)));
    }
}
