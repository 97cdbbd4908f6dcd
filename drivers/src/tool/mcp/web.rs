//! Streamable HTTP with Duet's own HTTP client, one connection for each request.
//!
//! INVARIANT: no answer fills the memory: each is cut at a limit, which is a failure.
//! It does not know the messages; the library does.
//! Read next: `../http/connection.rs`.
//!
//! Source: Model Context Protocol 2025-11-25 and 2026-07-28, "Streamable HTTP".

#![expect(clippy::disallowed_types, reason = "the library hands headers over in such a table")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use duet_runtime::driver::ToolFailure;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::{Value as Json, json};
use sse_stream::{Error as SseError, Sse, SseStream};
use tokio_stream::Stream;

use super::mend::{mended, unreadable};
use super::oauth::Tokens;
use crate::tool::failure::Kind;
use crate::tool::http::connection::Server;
use crate::tool::http::{KeyHeader, OwnHeaders};
use crate::tool::http::{port, read_url};
use crate::tool::surrogate::unmarked;

/// The maximum length of an answer to one message, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The maximum length of a stream of notifications, in bytes; then it is opened again.
const STREAM_BYTES_MAX: usize = 64 << 20;

/// A hint for URLs that no longer are those of MCP servers.
const OF_2024: &str = "URLs that end in `/sse` mostly belong to the transport of 2024, which Duet does not speak; \
                       the server may have another one, such as `/mcp`";

/// The maximum length of an error that is repeated, in characters.
const ERROR_CHARACTERS_MAX: usize = 400;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BOTH_KINDS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Failures of HTTP as the library wants them.
type Failed = StreamableHttpError<io::Error>;

/// Events as the library wants them.
type Events = Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>;

/// The client.
#[derive(Clone)]
pub(super) struct Web {
    bearer: Bearer,
    headers: Arc<OwnHeaders>,
}

/// The token that each request has.
#[derive(Clone)]
pub(super) enum Bearer {
    None,
    Fixed(String),
    Given(Arc<Tokens>),
}

/// The headers that the library chooses.
struct Headers {
    session: Option<Arc<str>>,
    custom: HashMap<HeaderName, HeaderValue>,
}

impl Headers {
    fn with(self, more: HeaderMap) -> Result<HeaderMap, Failed> {
        let mut all: HeaderMap = self.custom.into_iter().collect();
        all.extend(more);
        if let Some(session) = self.session {
            all.insert(SESSION, HeaderValue::from_str(&session).map_err(failed)?);
        }
        Ok(all)
    }
}

/// A request to be sent.
#[derive(Clone)]
pub(super) struct Sending<'a> {
    method: Method,
    url: &'a str,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(method: Method, url: &'a str, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            method,
            url,
            headers,
            body,
        }
    }
}

impl Web {
    /// Sends a request with a token; once more with a new one if the server refuses the token and
    /// there can be another.
    async fn ask(&self, mut sending: Sending<'_>) -> Result<Response<Incoming>, Failed> {
        self.headers.apply(&mut sending.headers);
        let token = match &self.bearer {
            Bearer::None => return send(sending).await,
            Bearer::Fixed(token) => return send(self.authorized(sending, token)?).await,
            Bearer::Given(tokens) => tokens.get(None).await.map_err(refused_token)?,
        };
        let response = send(self.authorized(sending.clone(), &token)?).await?;
        let Bearer::Given(tokens) = &self.bearer else {
            return Ok(response);
        };
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let token = tokens.get(Some(&token)).await.map_err(refused_token)?;
        send(self.authorized(sending, &token)?).await
    }

    fn authorized<'a>(&self, mut sending: Sending<'a>, token: &str) -> Result<Sending<'a>, Failed> {
        let shown = self.headers.show_key(token, KeyHeader::BEARER, &mut sending.headers);
        shown.map_err(failed)?;
        Ok(sending)
    }
}

/// Makes the transport to a server.
pub(super) fn transport(url: &str, bearer: Bearer, headers: &OwnHeaders) -> StreamableHttpClientTransport<Web> {
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let headers = Arc::new(headers.clone());
    StreamableHttpClientTransport::with_client(Web { bearer, headers }, config)
}

/// The failure of a request for which there is no token.
fn refused_token(failure: ToolFailure) -> Failed {
    if failure.kind == Kind::Denied.as_str() {
        return StreamableHttpError::AuthRequired(AuthRequiredError::new(failure.message));
    }
    failed(failure.message)
}

fn failed(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failed {
    StreamableHttpError::Client(io::Error::other(problem))
}

/// Sends a request on a connection of its own.
pub(super) async fn send(sending: Sending<'_>) -> Result<Response<Incoming>, Failed> {
    let (url, is_secure) = read_url(sending.url).map_err(failed)?;
    let (Some(host), Some(port), Some(authority)) = (url.host(), port(&url, is_secure), url.authority()) else {
        return Err(failed("the URL names no host and port"));
    };
    let server = Server { host, port, is_secure };
    let reached = |failure: ToolFailure| failed(failure.message);
    let addresses = server.addresses().await.map_err(reached)?;
    let stream = server.connect(&addresses).await.map_err(reached)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // It ends when the response has been read or is dropped.
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(sending.method).uri(path);
    let own = request.headers_mut().ok_or_else(|| failed("the URL has no path"))?;
    *own = sending.headers;
    own.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(failed)?);
    let request = request.body(Full::new(Bytes::from(sending.body))).map_err(failed)?;
    sender.send_request(request).await.map_err(failed)
}

/// Reads a body up to the limit.
async fn whole(response: Response<Incoming>) -> Result<Bytes, Failed> {
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(failed)
}

/// Takes a body apart as events with one message each; `asked` is the request that it answers.
fn events(response: Response<Incoming>, limit_bytes: usize, asked: Option<RequestId>) -> Events {
    let body = Limited::new(response.into_body(), limit_bytes).map_err(io::Error::other);
    let events = SseStream::from_bytes_stream(body.into_data_stream());
    Box::pin(events.flat_map(move |event| stream::iter(formed(event, asked.as_ref()))))
}

/// Brings the messages of an event into form.
fn formed(event: Result<Sse, SseError>, asked: Option<&RequestId>) -> Vec<Result<Sse, SseError>> {
    let id = asked.map(|id| json!(id));
    let mended = |event: &Sse| mended(event.data.as_ref()?.as_bytes(), id.as_ref());
    let (event, mut messages) = match event.map(|event| (mended(&event), event)) {
        Ok((Some(messages), event)) => (event, messages),
        Ok((None, event)) => return vec![Ok(event)],
        Err(error) => return vec![Err(error)],
    };
    if messages.is_empty() {
        messages.extend(id.map(|id| unreadable(&id, "an event of it is no JSON")));
    }
    let with = |message: Json| Sse {
        data: Some(message.to_string()),
        ..event.clone()
    };
    messages.into_iter().map(with).map(Ok).collect()
}

/// Reads the answer to a request; whatever id it names, it answers that one.
fn answer(body: &[u8], asked: &RequestId) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    let id = json!(asked);
    let read: Result<ServerJsonRpcMessage, _> = match mended(body, Some(&id)) {
        None => serde_json::from_slice(body),
        Some(messages) => {
            let answer = messages.into_iter().rfind(|message| message.get("method").is_none());
            serde_json::from_value(answer.unwrap_or_else(|| unreadable(&id, "it is no JSON")))
        }
    };
    let instead = |why: &str| serde_json::from_value(unreadable(&id, why));
    match read {
        Ok(JsonRpcMessage::Response(answer)) => Ok(ServerJsonRpcMessage::response(answer.result, asked.clone())),
        Ok(JsonRpcMessage::Error(error)) => Ok(ServerJsonRpcMessage::error(error.error, Some(asked.clone()))),
        Ok(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_)) => instead("it answers nothing"),
        Err(error) => instead(&error.to_string()),
    }
}

fn is_kind(response: &Response<Incoming>, kind: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    found.is_some_and(|found| found.len() >= kind.len() && found[..kind.len()].eq_ignore_ascii_case(kind.as_bytes()))
}

fn text_header(response: &Response<Incoming>, name: &HeaderName) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

/// Makes the answer of a response whose status is not one of success.
///
/// A server of an older revision refuses the probe with an error of HTTP; the library understands
/// it as an error of the protocol.
async fn refused(
    uri: &str,
    message: &ClientJsonRpcMessage,
    response: Response<Incoming>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let is_authorization = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
    // Many servers want a token without saying so in a header.
    let bare = (status == StatusCode::UNAUTHORIZED).then(String::new);
    if is_authorization && let Some(challenge) = text_header(&response, &WWW_AUTHENTICATE).or(bare) {
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
    }
    let session = text_header(&response, &SESSION);
    let place = text_header(&response, &LOCATION).filter(|_| status.is_redirection());
    let body = whole(response).await.unwrap_or_default();
    let mut said: String = String::from_utf8_lossy(&body)
        .chars()
        .take(ERROR_CHARACTERS_MAX)
        .collect();
    if let Some(place) = place {
        said = format!("it leads to {place}; give that URL");
    } else if uri.trim_end_matches('/').ends_with("/sse") {
        said = format!("{}; {OF_2024}", said.trim_end());
    }
    if !is_authorization
        && let JsonRpcMessage::Request(request) = message
        && let ClientRequest::DiscoverRequest(_) = request.request
        && status.is_client_error()
    {
        let error = match serde_json::from_slice(unmarked(&body)) {
            Ok(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("HTTP {status}: {said}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match serde_json::from_slice(unmarked(&body)) {
        Ok(ServerJsonRpcMessage::Error(mut error)) if !is_authorization => {
            // A server that refuses a request before it reads it does not know its id.
            if let JsonRpcMessage::Request(asked) = message {
                error.id = Some(asked.id.clone());
            }
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session))
        }
        _ => {
            let said = Cow::Owned(format!("HTTP {status}: {said}"));
            Err(StreamableHttpError::UnexpectedServerResponse(said))
        }
    }
}

impl StreamableHttpClient for Web {
    type Error = io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let mut kinds = HeaderMap::new();
        kinds.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        kinds.insert(ACCEPT, BOTH_KINDS);
        let is_in_session = session.is_some();
        let headers = Headers { session, custom }.with(kinds)?;
        let response = self.ask(Sending::new(Method::POST, &uri, headers, body)).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && is_in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(&uri, &message, response).await;
        }
        let session = text_header(&response, &SESSION);
        let JsonRpcMessage::Request(asked) = message else {
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        if is_kind(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(
                events(response, ANSWER_BYTES_MAX, Some(asked.id)),
                session,
            ));
        }
        if !is_kind(&response, "application/json") {
            let kind = text_header(&response, &CONTENT_TYPE).unwrap_or_else(|| "no type".to_owned());
            let why = format!("it answers with {kind}, and not with JSON or events; is this the URL of an MCP server?");
            return Err(failed(why));
        }
        let answer = answer(&whole(response).await?, &asked.id)?;
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let session = Some(session);
        let headers = Headers { session, custom }.with(HeaderMap::new())?;
        // A server need not know sessions that are deleted.
        self.ask(Sending::new(Method::DELETE, &uri, headers, Vec::new()))
            .await
            .map(|_| ())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failed> {
        let mut kinds = HeaderMap::new();
        kinds.insert(ACCEPT, BOTH_KINDS);
        if let Some(last_event) = last_event {
            kinds.insert(LAST_EVENT, HeaderValue::from_str(&last_event).map_err(failed)?);
        }
        let headers = Headers { session, custom }.with(kinds)?;
        let response = self.ask(Sending::new(Method::GET, &uri, headers, Vec::new())).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() || !is_kind(&response, "text/event-stream") {
            let said = Cow::Owned(format!("HTTP {}", response.status()));
            return Err(StreamableHttpError::UnexpectedServerResponse(said));
        }
        Ok(events(response, STREAM_BYTES_MAX, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(event: &str, asked: Option<&RequestId>) -> Vec<String> {
        let event = Sse::default().data(event);
        let all = formed(Ok(event), asked).into_iter();
        all.map(|event| event.unwrap().data.unwrap()).collect()
    }

    #[test]
    fn each_event_has_one_message_that_can_be_read() {
        let id = RequestId::Number(3);
        let sound = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
        assert_eq!(data(sound, Some(&id)), [sound]);
        assert_eq!(data(&format!("[{sound},{sound}]"), Some(&id)).len(), 2);
        let broken = data("{NaN", Some(&id));
        assert!(broken.len() == 1 && broken[0].contains("is no JSON"), "{broken:?}");
        assert_eq!(data("{NaN", None), [""; 0]);
        let nobody = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
        let refused = data(nobody, Some(&id));
        assert!(refused.len() == 1 && refused[0].contains("\"id\":3"), "{refused:?}");
        assert_eq!(data(nobody, None), [nobody]);
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_an_error_of_its_request() {
        let id = RequestId::Number(3);
        for body in [
            "",
            "<html>",
            "[]",
            "{\"id\":3,\"result\":NaN}",
            "{\"id\":3}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"no\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":1,\"message\":\"no\"}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}",
        ] {
            let answer = serde_json::to_value(answer(body.as_bytes(), &id).unwrap()).unwrap();
            assert_eq!(answer["id"], 3, "{body}");
            assert!(answer["error"]["message"].is_string(), "{body}: {answer}");
        }
        let batch =
            r#"[{"jsonrpc":"2.0","id":3,"result":{"a":1}},{"jsonrpc":"2.0","method":"notifications/progress"}]"#;
        let answer = serde_json::to_value(answer(batch.as_bytes(), &id).unwrap()).unwrap();
        assert_eq!(answer["result"]["a"], 1, "{answer}");
    }

    #[test]
    fn a_mark_before_an_answer_is_ignored() {
        let body = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":1}}";
        let answer = answer(body.as_bytes(), &RequestId::Number(3)).unwrap();
        assert_eq!(serde_json::to_value(answer).unwrap()["result"]["a"], 1);
    }
}
