//! One request on a connection of its own, and its response.
//!
//! INVARIANT: a failure of the kind `unavailable` means that the request was not sent.
//! It does not decide whom to speak to; `http.rs` has.
//! Read next: `http.rs`.

use std::sync::{Arc, OnceLock};
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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::Order;
use crate::tool::Outcome;
use crate::tool::arguments::{content, dictionary, integer};
use crate::tool::failure::Kind;

/// Makes the exchange within its time.
pub(super) async fn exchange(order: Order) -> Outcome {
    let limit_ms = order.timeout_ms;
    let late = |_| {
        let message = format!("the server gave no answer within {limit_ms} ms; the request may have had its effect");
        Err(Kind::Timeout.with(message, [("timeout-ms", integer(limit_ms))]))
    };
    timeout(Duration::from_millis(limit_ms), converse(order))
        .await
        .unwrap_or_else(late)
}

async fn converse(order: Order) -> Outcome {
    let place = format!("{}:{}", order.host, order.port);
    let unavailable =
        |error: &dyn std::fmt::Display| Kind::Unavailable.because(format!("`{place}` cannot be reached: {error}"));
    let address = (order.host.trim_matches(['[', ']']), order.port);
    let stream = TcpStream::connect(address).await.map_err(|error| unavailable(&error))?;
    if !order.is_secure {
        return send(stream, order).await;
    }
    let name = ServerName::try_from(address.0.to_owned()).map_err(|error| unavailable(&error))?;
    let secured = TlsConnector::from(configuration()?).connect(name, stream).await;
    send(secured.map_err(|error| unavailable(&error))?, order).await
}

/// What is trusted, found out once.
fn configuration() -> Result<Arc<ClientConfig>, ToolFailure> {
    static CONFIGURATION: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();
    let make = || {
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .ok()?;
        Some(Arc::new(versions.with_root_certificates(roots).with_no_client_auth()))
    };
    CONFIGURATION
        .get_or_init(make)
        .clone()
        .ok_or_else(|| Kind::Failed.because("TLS cannot be set up"))
}

async fn send(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, order: Order) -> Outcome {
    let failed = |error: hyper::Error| Kind::Failed.because(format!("the exchange failed: {error}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let limit_bytes = order.output_limit_bytes;
    let request = request(order)?;
    let conversation = async move {
        let response = sender.send_request(request).await.map_err(failed)?;
        receive(response, limit_bytes).await
    };
    // The connection ends with the conversation, whichever side is done first.
    tokio::pin!(connection);
    tokio::pin!(conversation);
    tokio::select! {
        told = &mut conversation => told,
        _ = &mut connection => conversation.await,
    }
}

fn request(order: Order) -> Result<Request<Full<Bytes>>, ToolFailure> {
    let refuse = |what: &str| Kind::BadArgument.because(format!("the request cannot be sent: {what}"));
    let path = order.url.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let host = order
        .url
        .authority()
        .map_or(order.host, |authority| authority.as_str().to_owned());
    let mut request = Request::builder().method(order.method).uri(path);
    let headers = request.headers_mut().ok_or_else(|| refuse("its URL has no path"))?;
    headers.insert(
        HOST,
        HeaderValue::from_str(&host).map_err(|_| refuse("its host cannot be named"))?,
    );
    headers.extend(order.headers);
    request
        .body(Full::new(Bytes::from(order.body)))
        .map_err(|error| refuse(&error.to_string()))
}

/// Takes the response in, as far as it is wanted.
async fn receive(response: Response<Incoming>, limit_bytes: u64) -> Outcome {
    let (head, mut body) = response.into_parts();
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_truncated = false;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Kind::Failed.because(format!("the response broke off: {error}")))?;
        let Ok(chunk) = frame.into_data() else { continue };
        let room = usize::try_from(limit_bytes)
            .unwrap_or(usize::MAX)
            .saturating_sub(bytes.len());
        bytes.extend_from_slice(&chunk[..room.min(chunk.len())]);
        if chunk.len() > room {
            is_truncated = true;
            break;
        }
    }
    Ok(dictionary([
        ("status", integer(u64::from(head.status.as_u16()))),
        ("headers", headers_value(&head.headers)),
        ("body", content(bytes, is_truncated).0),
        ("truncated", IOValue::new(is_truncated)),
    ]))
}

/// Makes a dictionary of headers; several of one name are joined by commas, as HTTP has it.
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
