//! The question about the newest revision, and servers that are slow to answer it.
//!
//! The library asks a server about the revision of 2026 and begins the older handshake if it hears
//! nothing for 10 s. A program that takes longer to start finds both questions when it reads; to
//! the library its answer to the first is then a fault of the second. A server that knows no such
//! question may answer it with an empty result, as it answers whatever it does not know.
//! INVARIANT: once the handshake has begun, no answer to the first question comes through; before,
//! an answer that names no revisions is one that the question is not known.
//! It does not choose the revision. Read next: `link.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::{Value as Json, json};

/// Completes an answer about the revision, whose hints for caches many servers leave out; says
/// whether there was anything to complete.
pub(super) fn complete(message: &mut Json) -> bool {
    let result = message.get_mut("result").and_then(Json::as_object_mut);
    let Some(result) = result.filter(|result| result.get("supportedVersions").is_some_and(Json::is_array)) else {
        return false;
    };
    let is_scope = |scope: &Json| ["public", "private"].iter().any(|known| scope == known);
    let mut is_changed = false;
    // Anything longer, or for more people, would be an invention.
    for (name, default, is_good) in [
        ("ttlMs", json!(0), result.get("ttlMs").is_some_and(Json::is_u64)),
        (
            "cacheScope",
            json!("private"),
            result.get("cacheScope").is_some_and(is_scope),
        ),
        (
            "resultType",
            json!("complete"),
            result.get("resultType").is_some_and(Json::is_string),
        ),
        (
            "capabilities",
            json!({}),
            result.get("capabilities").is_some_and(Json::is_object),
        ),
    ] {
        if !is_good {
            result.insert(name.to_owned(), default);
            is_changed = true;
        }
    }
    is_changed
}

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

    /// Takes an answer to the question that names no revisions as one that it is not known.
    fn understood(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        match message {
            JsonRpcMessage::Response(answer)
                if self.probe.as_ref() == Some(&answer.id)
                    && !matches!(answer.result, ServerResult::DiscoverResult(_)) =>
            {
                let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "its answer names no revisions", None);
                JsonRpcMessage::Error(JsonRpcError::new(Some(answer.id), error))
            }
            other @ (JsonRpcMessage::Request(_)
            | JsonRpcMessage::Response(_)
            | JsonRpcMessage::Notification(_)
            | JsonRpcMessage::Error(_)) => other,
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
        let is_modern = |answer: &ServerResult| matches!(answer, ServerResult::DiscoverResult(_));
        if is_late && matches!(message, JsonRpcMessage::Response(answer) if is_modern(&answer.result)) {
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
                return Some(self.understood(message));
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
        check(&both[..1], &[answer(0)], &[0], false).await;
        check(&both, &[error, answer(1)], &[1], false).await;
        check(&both, &[answer(0), answer(1)], &[1], false).await;
        let mut modern = json!({ "jsonrpc": "2.0", "id": 0, "result": { "supportedVersions": ["2026-07-28"] } });
        complete(&mut modern);
        check(&both, &[modern, answer(1)], &[1], true).await;
    }

    #[tokio::test]
    async fn an_answer_that_names_no_revisions_says_that_the_question_is_not_known() {
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": {} });
        let said = Said([serde_json::from_value(answer).unwrap()].into());
        let mut probed = Probed::new(said, LateAnswer::default());
        probed.send(asked(0, "server/discover")).await.unwrap();
        let came = serde_json::to_value(probed.receive().await.unwrap()).unwrap();
        assert_eq!(came["error"]["code"], -32_601, "{came}");
    }

    #[test]
    fn hints_that_are_missing_or_unknown_get_cautious_values() {
        let versions = json!(["2026-07-28"]);
        let mut short = json!({ "id": 0, "result": { "supportedVersions": versions, "cacheScope": "session" } });
        assert!(complete(&mut short));
        let expected = json!({ "supportedVersions": versions, "cacheScope": "private", "ttlMs": 0,
            "resultType": "complete", "capabilities": {} });
        assert_eq!(short["result"], expected);
        assert!(!complete(&mut short));
        assert!(!complete(&mut json!({ "id": 0, "result": {} })));
    }
}
