//! One exchange with a provider, in as many attempts as it needs.
//!
//! INVARIANT: an attempt is repeated only if the provider could not be reached, was too busy, or
//! broke off its answer; the waits follow `retry-after` where the provider sends it.
//! It does not know what is in an answer; the protocols do.
//! Read next: `events.rs`, `protocol.rs`.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use duet_runtime::driver::ToolFailure;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use preserves::IOValue;
use serde_json::Value as Json;
use tokio::time::{sleep, timeout};

use super::chat::Reply;
use super::events::Events;
use super::posting::{Broken, Posting, error};
use super::provider::Provider;
use crate::clock::now_ms;
use crate::live::Live;
use crate::tool::arguments::integer;
use crate::tool::failure::Kind;
use crate::tool::http::connection::Server;
use crate::tool::http::{port, read_url};
use crate::tool::surrogate::{joined, marked, unmarked};

/// The maximum number of attempts of one call.
const ATTEMPTS_MAX: u32 = 5;

/// The longest wait before another attempt, whatever the provider says.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The length at which the answer of a failed request is cut, in characters.
const SHOWN_CHARACTERS_MAX: usize = 400;

/// The length at which an answer is cut that cannot be read, in characters.
const BEGINNING_CHARACTERS_MAX: usize = 80;

/// Why an attempt failed.
struct Failed {
    failure: ToolFailure,
    /// Whether another attempt may help, and how long the provider wants to be left alone.
    again: Option<Option<Duration>>,
}

impl From<ToolFailure> for Failed {
    fn from(failure: ToolFailure) -> Self {
        let is_passing = failure.kind == Kind::Unavailable.as_str();
        Self {
            failure,
            again: is_passing.then_some(None),
        }
    }
}

/// Sends a request and receives the reply.
///
/// # Errors
/// `denied` if the provider refuses the key, `bad-argument` if it refuses the request,
/// `rate-limited` or `unavailable` if it was too busy at all attempts, `timeout`, `output-limit`,
/// and `bad-result` if its answer is not of the protocol.
pub(super) async fn perform(provider: &Provider, posting: &Posting, live: &Live) -> Result<Reply, ToolFailure> {
    let mut wait = Duration::from_millis(provider.delay_ms);
    let mut attempt = 1;
    loop {
        let limit = Duration::from_millis(provider.timeout_ms);
        let outcome = timeout(limit, exchange(provider, posting, live)).await;
        let failed = match outcome {
            Ok(Ok(reply)) => return Ok(reply),
            Ok(Err(failed)) => failed,
            Err(_) => return Err(late(provider)),
        };
        match failed.again {
            Some(asked) if attempt < ATTEMPTS_MAX => {
                sleep(asked.unwrap_or(wait).min(WAIT_MAX)).await;
                wait = wait.saturating_mul(2);
                attempt += 1;
            }
            Some(_) => {
                let message = format!("{} (at each of {attempt} attempts)", failed.failure.message);
                return Err(ToolFailure {
                    message,
                    ..failed.failure
                });
            }
            None => return Err(failed.failure),
        }
    }
}

fn late(provider: &Provider) -> ToolFailure {
    let limit_ms = provider.timeout_ms;
    let message = format!(
        "the provider `{}` gave no whole answer within {limit_ms} ms; `timeout_ms` in its configuration gives it more",
        provider.name
    );
    Kind::Timeout.with(message, [("timeout-ms", integer(limit_ms))])
}

/// Makes one attempt.
async fn exchange(provider: &Provider, posting: &Posting, live: &Live) -> Result<Reply, Failed> {
    let wrong = |problem: String| Kind::BadArgument.because(format!("the provider `{}`: {problem}", provider.name));
    let text = format!("{}{}", provider.url.trim_end_matches('/'), posting.path);
    let (url, is_secure) = read_url(&text).map_err(wrong)?;
    let (Some(host), Some(port)) = (url.host(), port(&url, is_secure)) else {
        return Err(wrong(format!("`{text}` names no host and port")).into());
    };
    let server = Server { host, port, is_secure };
    let stream = server.connect(&server.addresses().await?).await?;
    let broken = |error: hyper::Error| broke_off(provider, &error.to_string());
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends when the response has been read or is dropped.
    tokio::spawn(connection);
    let request = request(provider, posting, &url).ok_or_else(|| wrong("its key cannot be sent".to_owned()))?;
    let response = sender.send_request(request).await.map_err(broken)?;
    if !response.status().is_success() {
        return Err(refused(provider, &text, response).await);
    }
    receive(provider, response, live).await
}

fn broke_off(provider: &Provider, how: &str) -> Failed {
    let message = format!("the provider `{}` broke off its answer: {how}", provider.name);
    Failed {
        failure: Kind::Failed.because(message),
        again: Some(None),
    }
}

fn request(provider: &Provider, posting: &Posting, url: &Uri) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::builder().method("POST").uri(url.path_and_query()?.as_str());
    let headers = request.headers_mut()?;
    headers.insert(HOST, HeaderValue::from_str(url.authority()?.as_str()).ok()?);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    for (name, value) in posting.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    provider.headers.apply(headers);
    if let Some(key) = &provider.key {
        provider.headers.show_key(&key.value, posting.key, headers).ok()?;
    }
    request.body(Full::new(Bytes::from(posting.body.to_string()))).ok()
}

/// Makes the failure of an answer whose status is not one of success.
async fn refused(provider: &Provider, url: &str, response: Response<Incoming>) -> Failed {
    let status = response.status().as_u16();
    let asked = asked_wait(response.headers());
    let body = whole(response.into_body()).await.unwrap_or_default();
    let body = without_mark(&body);
    // Some describe the failure of a stream in its first event.
    let event = body
        .trim_start()
        .strip_prefix("data:")
        .and_then(|event| event.lines().next());
    let described = serde_json::from_str::<Json>(&marked(event.unwrap_or(&body))).ok();
    let said = match described.as_ref().and_then(error) {
        Some(broken) => joined(broken.said()),
        None => body.into_owned(),
    };
    let said: String = said.chars().take(SHOWN_CHARACTERS_MAX).collect();
    let (kind, again) = match status {
        401 | 403 => (Kind::Denied, None),
        429 => (Kind::RateLimited, Some(asked)),
        408 | 409 | 500.. => (Kind::Unavailable, Some(asked)),
        _ => (Kind::BadArgument, None),
    };
    let advice = advice(provider, kind);
    let place = if status == 404 {
        format!(" at {url}")
    } else {
        String::new()
    };
    let message = format!(
        "the provider `{}` answers {status}{place}: {said}{advice}",
        provider.name
    );
    Failed {
        failure: kind.with(message, [("status", integer(u64::from(status)))]),
        again,
    }
}

/// Says what helps if a provider refuses the key.
fn advice(provider: &Provider, kind: Kind) -> &'static str {
    match (&provider.key, kind) {
        (None, Kind::Denied) => "; it has no key: `duet providers` says where to name one",
        (Some(_), Kind::Denied) => "; `duet providers` shows which variable holds its key",
        _ => "",
    }
}

/// Reads how long the provider wants to be left alone. A moment that has passed is no wish.
///
/// Source: RFC 9110, section 10.2.3.
fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let word = |name: &HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &HeaderName| word(name)?.parse::<f64>().ok();
    let date = |name: &HeaderName| httpdate::parse_http_date(word(name)?).ok();
    let milliseconds = number(&HeaderName::from_static("retry-after-ms"));
    if let Some(seconds) = milliseconds.map(|wait| wait / 1000.0).or_else(|| number(&RETRY_AFTER)) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // The server's own clock, if it tells it, may differ from this one.
    let now = date(&DATE).unwrap_or_else(|| UNIX_EPOCH + Duration::from_millis(now_ms()));
    let wait = date(&RETRY_AFTER)?.duration_since(now).ok()?;
    (!wait.is_zero()).then_some(wait)
}

/// Reads a body, up to the limit of an answer.
async fn whole(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        bytes.extend(frame?.into_data().unwrap_or_default());
        if bytes.len() > ANSWER_BYTES_MAX {
            break;
        }
    }
    Ok(bytes)
}

/// Receives the answer to a request that was accepted.
async fn receive(provider: &Provider, response: Response<Incoming>, live: &Live) -> Result<Reply, Failed> {
    let kind = response.headers().get(CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let mut answer = provider.protocol.answer();
    let mut events = Events::default();
    let mut length = 0;
    let mut body = response.into_body();
    if !is_stream {
        let bytes = whole(body)
            .await
            .map_err(|error| broke_off(provider, &error.to_string()))?;
        within_limit(provider, bytes.len())?;
        let said = without_mark(&bytes);
        let missing = || unusable(provider, Broken::Garbled("it has no reply".to_owned()));
        // Some call a stream by another name.
        if ["data:", "event:", ":"]
            .iter()
            .any(|word| said.trim_start().starts_with(word))
        {
            for event in events.push(said.trim_start().as_bytes()) {
                answer.event(&event).map_err(|broken| unusable(provider, broken))?;
            }
            return answer.reply().map(Reply::joined).ok_or_else(missing);
        }
        let json = serde_json::from_str(&marked(&said)).map_err(|error| {
            let shown: String = said.trim_start().chars().take(BEGINNING_CHARACTERS_MAX).collect();
            unusable(provider, Broken::Garbled(format!("it is no JSON ({error}): {shown}")))
        })?;
        answer.whole(&json).map_err(|broken| unusable(provider, broken))?;
        return answer.reply().map(Reply::joined).ok_or_else(missing);
    }
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broke_off(provider, &error.to_string()))?;
        let bytes = frame.into_data().unwrap_or_default();
        length += bytes.len();
        within_limit(provider, length)?;
        for event in events.push(&bytes) {
            answer.event(&event).map_err(|broken| unusable(provider, broken))?;
        }
        live.says(&provider.name, answer.said());
        if answer.is_over() {
            break;
        }
    }
    answer
        .reply()
        .map(Reply::joined)
        .ok_or_else(|| broke_off(provider, "the stream ended before the reply did"))
}

/// Returns a body as a text, without the byte order mark before it.
fn without_mark(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(unmarked(bytes))
}

fn within_limit(provider: &Provider, length: usize) -> Result<(), Failed> {
    if length <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "the answer of the provider `{}` is longer than {ANSWER_BYTES_MAX} bytes",
        provider.name
    );
    Err(Kind::OutputLimit
        .with(message, [("limit-bytes", integer(ANSWER_BYTES_MAX as u64))])
        .into())
}

fn unusable(provider: &Provider, broken: Broken) -> Failed {
    let (kind, again) = match broken {
        Broken::Passing(_) => (Kind::Unavailable, Some(None)),
        Broken::Denied(_) => (Kind::Denied, None),
        Broken::Refused(_) => (Kind::BadArgument, None),
        Broken::Failed(_) => (Kind::Failed, None),
        Broken::Garbled(_) => (Kind::BadResult, None),
    };
    let said: String = joined(broken.said()).chars().take(SHOWN_CHARACTERS_MAX).collect();
    let message = if kind == Kind::BadResult {
        let protocol = provider.protocol.name();
        format!(
            "the answer of the provider `{}` is not of the protocol {protocol}: {said}",
            provider.name
        )
    } else {
        format!(
            "the provider `{}` fails: {said}{}",
            provider.name,
            advice(provider, kind)
        )
    };
    let details = [("provider", IOValue::new(provider.name.clone()))];
    Failed {
        failure: kind.with(message, details),
        again,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_says_how_long_it_wants_to_be_left_alone() {
        let now = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (headers, seconds) in [
            (&[][..], None),
            (&[("retry-after", "3")], Some(3.0)),
            (&[("retry-after", "1.5")], Some(1.5)),
            (&[("retry-after-ms", "250"), ("retry-after", "3")], Some(0.25)),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), ("date", now)],
                Some(3.0),
            ),
            (
                &[("retry-after", "Sunday, 06-Nov-94 08:49:40 GMT"), ("date", now)],
                Some(3.0),
            ),
            (&[("retry-after", "Sun Nov  6 08:49:40 1994"), ("date", now)], Some(3.0)),
            (&[("retry-after", now), ("date", now)], None),
            // The clock of this machine is later.
            (&[("retry-after", now)], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
        ] {
            let header = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            };
            let map: HeaderMap = headers.iter().map(header).collect();
            let wait = asked_wait(&map).map(|wait| wait.as_secs_f64());
            assert_eq!(wait, seconds, "{headers:?}");
        }
        let far = HeaderValue::from_static("Fri, 31 Dec 9999 23:59:59 GMT");
        let map: HeaderMap = [(RETRY_AFTER, far)].into_iter().collect();
        assert!(asked_wait(&map).is_some_and(|wait| wait > WAIT_MAX));
    }
}
