//! The question about the newest revision, and servers that are slow to answer it.
//!
//! The library asks a server about the revision of 2026 and begins the older handshake if it hears
//! nothing for 10 s. A program that takes longer to start finds both questions when it reads; to
//! the library its answer to the first is then a fault of the second.
//! INVARIANT: once the handshake has begun, no answer to the first question comes through.
//! It does not choose the revision. Read next: `link.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;

/// A transport that drops a late answer about the revision.
pub(super) struct Probed<T> {
    transport: T,
    /// The question about the revision.
    probe: Option<RequestId>,
    /// Whether the handshake has begun.
    is_given_up: bool,
    answer: LateAnswer,
}

/// Whether the server has said, too late, that it speaks the revision of 2026; clones share it.
#[derive(Clone, Default)]
pub(super) struct LateAnswer(Arc<AtomicBool>);

impl LateAnswer {
    /// Says whether it has.
    pub(super) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<T> Probed<T> {
    pub(super) fn new(transport: T, answer: LateAnswer) -> Self {
        Self {
            transport,
            probe: None,
            is_given_up: false,
            answer,
        }
    }

    fn note(&mut self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Request(asked) = message {
            if matches!(asked.request, ClientRequest::DiscoverRequest(_)) {
                self.probe = Some(asked.id.clone());
            }
            self.is_given_up |= matches!(asked.request, ClientRequest::InitializeRequest(_));
        }
    }

    /// Says whether a message is a late answer.
    fn is_late(&self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let is_late = self.is_given_up && id.is_some() && id == self.probe.as_ref();
        if is_late && matches!(message, JsonRpcMessage::Response(_)) {
            self.answer.0.store(true, Ordering::Relaxed);
        }
        is_late
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probed<T> {
    type Error = T::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.note(&message);
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = self.transport.receive().await?;
            if !self.is_late(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use serde_json::{Value as Json, json};

    use super::*;

    /// A server that has said everything already.
    struct Said(VecDeque<ServerJsonRpcMessage>);

    impl Transport<RoleClient> for Said {
        type Error = io::Error;

        fn send(&mut self, _: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.0.pop_front()
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn asked(id: u32, method: &str) -> ClientJsonRpcMessage {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap()
    }

    /// Lets a server answer after some requests; requires the ids of the answers that come through,
    /// and whether the late answer was one of the revision of 2026.
    async fn check(requests: &[&str], answers: &[Json], ids: &[u32], is_modern: bool) {
        let answers = answers
            .iter()
            .map(|answer| serde_json::from_value(answer.clone()).unwrap());
        let late = LateAnswer::default();
        let mut probed = Probed::new(Said(answers.collect()), late.clone());
        for (id, method) in requests.iter().enumerate() {
            probed.send(asked(u32::try_from(id).unwrap(), method)).await.unwrap();
        }
        let mut came = Vec::new();
        while let Some(message) = probed.receive().await {
            let id = serde_json::to_value(&message).unwrap()["id"].as_u64().unwrap();
            came.push(u32::try_from(id).unwrap());
        }
        assert_eq!((&*came, late.came()), (ids, is_modern));
    }

    #[tokio::test]
    async fn an_answer_about_the_revision_is_dropped_once_the_handshake_has_begun() {
        let error = json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": -32601, "message": "no" } });
        let answer = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        let both = ["server/discover", "initialize"];
        check(&both[..1], std::slice::from_ref(&error), &[0], false).await;
        check(&both, &[error, answer(1)], &[1], false).await;
        check(&both, &[answer(0), answer(1)], &[1], true).await;
    }
}
