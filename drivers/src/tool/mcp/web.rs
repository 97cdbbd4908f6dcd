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
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};
use tokio_stream::Stream;

use crate::tool::http::connection::Server;
use crate::tool::http::{port, read_url};

/// The maximum length of an answer to one message, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The maximum length of a stream of notifications, in bytes; then it is opened again.
const STREAM_BYTES_MAX: usize = 64 << 20;

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
pub(super) struct Web;

/// The headers that the library chooses.
struct Headers {
    session: Option<Arc<str>>,
    token: Option<String>,
    custom: HashMap<HeaderName, HeaderValue>,
}

/// Makes the transport to a server.
pub(super) fn transport(url: &str, token: Option<&str>) -> StreamableHttpClientTransport<Web> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(str::to_owned);
    StreamableHttpClientTransport::with_client(Web, config)
}

fn failed(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failed {
    StreamableHttpError::Client(io::Error::other(problem))
}

/// Sends a request on a connection of its own.
async fn send(
    (method, url): (Method, &str),
    headers: Headers,
    (more, body): (HeaderMap, Vec<u8>),
) -> Result<Response<Incoming>, Failed> {
    let (url, is_secure) = read_url(url).map_err(failed)?;
    let (Some(host), Some(port), Some(authority)) = (url.host(), port(&url, is_secure), url.authority()) else {
        return Err(failed("the URL names no host and port"));
    };
    let server = Server { host, port, is_secure };
    let reached = |failure: duet_runtime::driver::ToolFailure| failed(failure.message);
    let addresses = server.addresses().await.map_err(reached)?;
    let stream = server.connect(&addresses).await.map_err(reached)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // It ends when the response has been read or is dropped.
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(method).uri(path);
    let own = request.headers_mut().ok_or_else(|| failed("the URL has no path"))?;
    own.extend(headers.custom);
    own.extend(more);
    own.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(failed)?);
    if let Some(session) = headers.session {
        own.insert(SESSION, HeaderValue::from_str(&session).map_err(failed)?);
    }
    if let Some(token) = headers.token {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(failed)?;
        value.set_sensitive(true);
        own.insert(AUTHORIZATION, value);
    }
    let request = request.body(Full::new(Bytes::from(body))).map_err(failed)?;
    sender.send_request(request).await.map_err(failed)
}

/// Reads a body up to the limit.
async fn whole(response: Response<Incoming>) -> Result<Bytes, Failed> {
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(failed)
}

/// Takes a body apart as events.
fn events(response: Response<Incoming>, limit_bytes: usize) -> Events {
    let body = Limited::new(response.into_body(), limit_bytes).map_err(io::Error::other);
    Box::pin(SseStream::from_bytes_stream(body.into_data_stream()))
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
    message: &ClientJsonRpcMessage,
    response: Response<Incoming>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let is_authorization = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
    if is_authorization && let Some(challenge) = text_header(&response, &WWW_AUTHENTICATE) {
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
    }
    let session = text_header(&response, &SESSION);
    let body = whole(response).await.unwrap_or_default();
    let said: String = String::from_utf8_lossy(&body)
        .chars()
        .take(ERROR_CHARACTERS_MAX)
        .collect();
    if !is_authorization
        && let JsonRpcMessage::Request(request) = message
        && let ClientRequest::DiscoverRequest(_) = request.request
        && status.is_client_error()
    {
        let error = match serde_json::from_slice(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("HTTP {status}: {said}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match serde_json::from_slice(&body) {
        Ok(error @ JsonRpcMessage::Error(_)) if !is_authorization => {
            Ok(StreamableHttpPostResponse::Json(error, session))
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
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let mut kinds = HeaderMap::new();
        kinds.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        kinds.insert(ACCEPT, BOTH_KINDS);
        let is_in_session = session.is_some();
        let headers = Headers { session, token, custom };
        let response = send((Method::POST, &uri), headers, (kinds, body)).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && is_in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(&message, response).await;
        }
        let session = text_header(&response, &SESSION);
        if !matches!(message, JsonRpcMessage::Request(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if is_kind(&response, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(
                events(response, ANSWER_BYTES_MAX),
                session,
            ));
        }
        if !is_kind(&response, "application/json") {
            let kind = text_header(&response, &CONTENT_TYPE);
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let answer = serde_json::from_slice(&whole(response).await?)?;
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let headers = Headers {
            session: Some(session),
            token,
            custom,
        };
        // A server need not know sessions that are deleted.
        send((Method::DELETE, &uri), headers, (HeaderMap::new(), Vec::new()))
            .await
            .map(|_| ())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failed> {
        let mut kinds = HeaderMap::new();
        kinds.insert(ACCEPT, BOTH_KINDS);
        if let Some(last_event) = last_event {
            kinds.insert(LAST_EVENT, HeaderValue::from_str(&last_event).map_err(failed)?);
        }
        let headers = Headers { session, token, custom };
        let response = send((Method::GET, &uri), headers, (kinds, Vec::new())).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() || !is_kind(&response, "text/event-stream") {
            let said = Cow::Owned(format!("HTTP {}", response.status()));
            return Err(StreamableHttpError::UnexpectedServerResponse(said));
        }
        Ok(events(response, STREAM_BYTES_MAX))
    }
}
