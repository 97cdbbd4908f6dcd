//! `http/get` and `http/request`: one HTTP exchange with a server.
//!
//! INVARIANT: a connection is made only to a host on the list, at a public address unless the list
//! names the address; a redirection is returned and not followed, so that the list is checked for
//! each host.
//! It keeps no connection, cookie or cache.
//! Read next: `tool/http/exchange.rs`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use duet_runtime::driver::ToolFailure;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Uri};
use preserves::{IOValue, ValueImpl};

use super::arguments::{Arguments, bytes, positive, string};
use super::description::{Description, EffectClass, Field, Retry, Shape};
use super::failure::Kind;
use super::interface::{Call, Context, Outcome, Tool};
use crate::tool::returns::Returns;
use crate::tool::secret::Secrets;

pub(super) mod address;
pub(super) mod connection;
mod exchange;
mod hosts;
mod own_headers;
mod roots;

pub use hosts::Hosts;
use hosts::not_listed;
pub(super) use own_headers::KeyHeader;
pub use own_headers::OwnHeaders;
pub use roots::trust;

const TIMEOUT_MS: u64 = 30_000;
const BODY_BYTES_MAX: u64 = 1 << 20;

const URL: Field = Field::required("url", Shape::Address, "where; `http` or `https`, without a user");
const HEADERS: Field = Field::optional(
    "headers",
    Shape::Texts,
    "headers by name; without it none but the necessary ones",
);
const TIMEOUT: Field = Field::optional(
    "timeout_ms",
    Shape::Positive,
    "how long it may take, in milliseconds; without it 30,000",
);
const LIMIT: Field = Field::optional(
    "output_limit_bytes",
    Shape::Positive,
    "how much of the body is returned; without it 1 MiB",
);
const RESULT: &str = "{status: integer; headers: a dictionary from strings in lower case to strings; \
                      body: a string if UTF-8, else a bytevector; truncated: whether there was more}; \
                      a status of 400 or more is no failure";
const RETURNED: &[(&str, Returns)] = &[
    ("status", Returns::Integer),
    ("headers", Returns::Texts),
    ("body", Returns::Bytes),
    ("truncated", Returns::Flag),
];
const RETRY: Retry = Retry {
    attempts_max: 3,
    delay_ms: 250,
};

static GET: Description = Description {
    name: Cow::Borrowed("http/get"),
    summary: Cow::Borrowed("asks a server of the list for something, without changing anything there"),
    payload: Cow::Borrowed(&[URL, HEADERS, TIMEOUT, LIMIT]),
    result: Cow::Borrowed(RESULT),
    needs: &["net"],
    effect: EffectClass::Pure,
    idempotent: true,
    timeout_ms: None,
    retry: RETRY,
    returns: Returns::Fields(RETURNED),
    takes_secrets: true,
};

static REQUEST: Description = Description {
    name: Cow::Borrowed("http/request"),
    summary: Cow::Borrowed(
        "sends a server of the list a request; with the call's key as `idempotency-key`, \
         by which it can tell a repetition",
    ),
    payload: Cow::Borrowed(&[
        URL,
        Field::required("method", Shape::Text, "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS"),
        HEADERS,
        Field::optional("body", Shape::Bytes, "what is sent; without it nothing"),
        TIMEOUT,
        LIMIT,
        Field::REPEATABLE,
    ]),
    result: Cow::Borrowed(RESULT),
    needs: &["net"],
    effect: EffectClass::Irreversible,
    idempotent: false,
    timeout_ms: None,
    retry: RETRY,
    returns: Returns::Fields(RETURNED),
    takes_secrets: true,
};

/// The port of a URL: the one that it names, or that of its scheme.
pub(super) fn port(url: &Uri, is_secure: bool) -> Option<u16> {
    let named = url.authority()?.as_str().strip_prefix(url.host()?)?;
    match named.strip_prefix(':').filter(|digits| !digits.is_empty()) {
        None => Some(if is_secure { 443 } else { 80 }),
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse().ok(),
        Some(_) => None,
    }
}

/// One of the two tools.
pub struct Http {
    description: &'static Description,
    hosts: Hosts,
}

impl Http {
    /// Makes `http/get`.
    pub fn get(hosts: Hosts) -> Self {
        Self {
            description: &GET,
            hosts,
        }
    }

    /// Makes `http/request`.
    pub fn request(hosts: Hosts) -> Self {
        Self {
            description: &REQUEST,
            hosts,
        }
    }
}

impl Tool for Http {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let request = Exchange::read(self.description, &self.hosts, &payload, &context);
        Box::pin(async move { exchange::perform(request?).await as Outcome })
    }
}

/// A checked request and its destination.
struct Exchange {
    url: Uri,
    host: String,
    port: u16,
    hosts: Hosts,
    secrets: Secrets,
    is_secure: bool,
    method: Method,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
    timeout_ms: u64,
    output_limit_bytes: u64,
}

impl Exchange {
    fn read(
        description: &Description,
        hosts: &Hosts,
        payload: &IOValue,
        context: &Context,
    ) -> Result<Self, ToolFailure> {
        let mut fields = Arguments::read(description, payload)?;
        let refuse = |field: &'static str, problem: String| {
            let message = format!("field `{field}` of {}: {problem}", description.name);
            Kind::BadArgument.with(message, [("field", IOValue::symbol(field))])
        };
        let text = fields.required("url", string)?;
        let (url, is_secure) = read_url(&text).map_err(|problem| refuse("url", problem))?;
        let host = url.host().filter(|host| !host.is_empty());
        let host = host
            .ok_or_else(|| refuse("url", format!("`{text}` names no host")))?
            .to_owned();
        let port = port(&url, is_secure)
            .filter(|port| *port > 0)
            .ok_or_else(|| refuse("url", format!("the port of `{text}` is no number from 1 to 65535")))?;
        if !hosts.include(&host, port) {
            return Err(not_listed(&host, port));
        }
        let method = if description.name == GET.name {
            "GET".to_owned()
        } else {
            fields.required("method", string)?
        };
        let method =
            read_method(&method).ok_or_else(|| refuse("method", format!("`{method}` is none of {METHODS:?}")))?;
        let mut headers = match fields.optional("headers", read_headers)? {
            Some(Ok(headers)) => headers,
            Some(Err(name)) => return Err(refuse("headers", format!("`{name}` cannot be sent"))),
            None => Vec::new(),
        };
        let is_harmless = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&method);
        let name = HeaderName::from_static("idempotency-key");
        if !is_harmless && !headers.iter().any(|(known, _)| *known == name) {
            headers.extend(HeaderValue::from_str(&context.key).ok().map(|key| (name, key)));
        }
        let body = if description.name == GET.name {
            None
        } else {
            fields.optional("body", bytes)?
        };
        Ok(Self {
            body: body.unwrap_or_default(),
            timeout_ms: fields.optional("timeout_ms", positive)?.unwrap_or(TIMEOUT_MS),
            output_limit_bytes: fields
                .optional("output_limit_bytes", positive)?
                .unwrap_or(BODY_BYTES_MAX),
            url,
            host,
            port,
            hosts: hosts.clone(),
            secrets: context.secrets.clone(),
            is_secure,
            method,
            headers,
        })
    }
}

/// Reads a URL, and whether it is of `https`; the error says what is wrong with it.
pub(super) fn read_url(text: &str) -> Result<(Uri, bool), String> {
    let url: Uri = text.parse().map_err(|_| format!("`{text}` is no URL"))?;
    let is_secure = match url.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(format!("`{text}` begins neither with `http://` nor with `https://`")),
    };
    if url
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Err("it names a user; send an `authorization` header instead".to_owned());
    }
    Ok((url, is_secure))
}

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

fn read_method(name: &str) -> Option<Method> {
    let known = METHODS.iter().find(|known| **known == name)?;
    known.parse().ok()
}

/// Reads headers; the error is the name of a header that cannot be sent or that the caller may not
/// set.
pub(super) fn read_headers(value: &IOValue) -> Option<Result<Vec<(HeaderName, HeaderValue)>, String>> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in value.as_dictionary()? {
        let name = name.as_string().or_else(|| name.as_symbol())?.to_ascii_lowercase();
        texts.insert(name, value.as_string()?.into_owned());
    }
    let header = |(name, value): (String, String)| {
        let is_ours = ["host", "content-length", "transfer-encoding", "connection"].contains(&name.as_str());
        let read = (name.parse::<HeaderName>(), value.parse::<HeaderValue>());
        match read {
            (Ok(header), Ok(value)) if !is_ours => Ok((header, value)),
            _ => Err(name),
        }
    };
    Some(texts.into_iter().map(header).collect())
}

#[cfg(test)]
mod tests;
