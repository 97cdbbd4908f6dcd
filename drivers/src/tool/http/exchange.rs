//! One request on a connection of its own, and its response.
//!
//! INVARIANT: a failure of the kind `unavailable` means that the request was not sent.
//! It does not check the list of hosts; `../http.rs` does.
//! Read next: `../http.rs`.

use std::time::Duration;

use bytes::Bytes;
use duet_runtime::driver::ToolFailure;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use preserves::{IOValue, Map, Value};
use tokio::time::timeout;

use super::Exchange;
use super::address::admitted;
use super::connection::{Server, Stream};
use crate::tool::arguments::{content, dictionary, integer};
use crate::tool::failure::Kind;
use crate::tool::interface::Outcome;
use crate::tool::secret::stream::Redactor;

/// Performs an exchange within its time limit.
pub(super) async fn perform(exchange: Exchange) -> Outcome {
    let limit_ms = exchange.timeout_ms;
    let late = |_| {
        let message = format!("the server gave no answer within {limit_ms} ms; the request may have had its effect");
        Err(Kind::Timeout.with(message, [("timeout-ms", integer(limit_ms))]))
    };
    timeout(Duration::from_millis(limit_ms), converse(exchange))
        .await
        .unwrap_or_else(late)
}

async fn converse(exchange: Exchange) -> Outcome {
    let server = Server {
        host: &exchange.host,
        port: exchange.port,
        is_secure: exchange.is_secure,
    };
    let found = server.addresses().await?;
    let admitted = admitted(&exchange.hosts, &exchange.host, &found)?;
    let stream = server.connect(&admitted).await?;
    send(stream, exchange).await
}

async fn send(stream: Box<dyn Stream>, exchange: Exchange) -> Outcome {
    let failed = |error: hyper::Error| Kind::Failed.because(format!("the exchange failed: {error}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let limit_bytes = exchange.output_limit_bytes;
    let redactor = exchange.secrets.redactor();
    let request = request(exchange)?;
    let conversation = async move {
        let response = sender.send_request(request).await.map_err(failed)?;
        receive(response, limit_bytes, redactor).await
    };
    // The connection must be polled for the conversation to proceed; it may end first.
    tokio::pin!(connection);
    tokio::pin!(conversation);
    tokio::select! {
        outcome = &mut conversation => outcome,
        _ = &mut connection => conversation.await,
    }
}

fn request(exchange: Exchange) -> Result<Request<Full<Bytes>>, ToolFailure> {
    let refuse = |what: &str| Kind::BadArgument.because(format!("the request cannot be sent: {what}"));
    let path = exchange
        .url
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let host = exchange
        .url
        .authority()
        .map_or(exchange.host, |authority| authority.as_str().to_owned());
    let mut request = Request::builder().method(exchange.method).uri(path);
    let headers = request.headers_mut().ok_or_else(|| refuse("its URL has no path"))?;
    headers.insert(
        HOST,
        HeaderValue::from_str(&host).map_err(|_| refuse("its host cannot be named"))?,
    );
    headers.extend(exchange.headers);
    request
        .body(Full::new(Bytes::from(exchange.body)))
        .map_err(|error| refuse(&error.to_string()))
}

/// Reads the response, and at most `limit_bytes` of its body.
async fn receive(response: Response<Incoming>, limit_bytes: u64, mut redactor: Redactor) -> Outcome {
    let (head, mut body) = response.into_parts();
    let mut bytes: Vec<u8> = Vec::new();
    let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
    // Secrets are masked before the body is cut.
    while let Some(frame) = body.frame().await.filter(|_| bytes.len() <= limit) {
        let frame = frame.map_err(|error| Kind::Failed.because(format!("the response broke off: {error}")))?;
        if let Ok(chunk) = frame.into_data() {
            bytes.extend(redactor.push(&chunk));
        }
    }
    bytes.extend(redactor.finish());
    let is_truncated = bytes.len() > limit;
    bytes.truncate(limit);
    Ok(dictionary([
        ("status", integer(u64::from(head.status.as_u16()))),
        ("headers", headers_value(&head.headers)),
        ("body", content(bytes, is_truncated).0),
        ("truncated", IOValue::new(is_truncated)),
    ]))
}

/// Makes a dictionary of headers; several of one name are joined by commas, as HTTP allows.
fn headers_value(headers: &HeaderMap) -> IOValue {
    let names = headers.keys().map(|name| {
        let values: Vec<_> = headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        (Value::new(name.as_str().to_owned()), IOValue::new(values.join(", ")))
    });
    IOValue::new(names.collect::<Map<Value<IOValue>, IOValue>>())
}
