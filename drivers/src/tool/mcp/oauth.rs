//! Access tokens that an authorization server gives for credentials of the person.
//!
//! The person names the authorization server. A server that wants a token can name one, too, but
//! whoever has taken that server over would then be sent the credentials.
//! INVARIANT: credentials go to the configured URL and nowhere else; an access token goes to its
//! server, and is masked wherever that server repeats it. A refresh token that the authorization
//! server replaces is kept for the next process, and never in a journal.
//! It opens no browser: a person logs in with another program and configures the refresh token.
//! Read next: `kept_token.rs`, `web.rs`.
//!
//! Source: RFC 6749, sections 2.3.1, 4.4, 5 and 6; RFC 6750; RFC 8707.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::kept_token::KeptToken;
use super::web::{Sending, send};
use crate::tool::failure::Kind;
use crate::tool::model::Key;

/// The time limit of a request for a token.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The maximum length of the server's words in a failure, in characters.
const SAID_CHARACTERS_MAX: usize = 400;

/// A token is renewed this long before it expires.
const RENEWED_BEFORE: Duration = Duration::from_secs(30);

/// The credentials of a person, and where they are good for tokens.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The URL of the authorization server's token endpoint.
    pub token_url: String,
    /// The name of the client.
    pub client_id: String,
    /// The client's password, if it has one.
    pub client_secret: Option<Key>,
    /// The token for new tokens; without it the client asks in its own name.
    pub refresh_token: Option<Key>,
    /// The rights that the token should give.
    pub scope: Option<String>,
    /// The file that keeps the token by which the authorization server replaces `refresh_token`;
    /// without one it lasts as long as the process.
    pub kept_in: Option<PathBuf>,
}

/// The way to the tokens of one server.
pub(super) struct Tokens {
    credentials: Credentials,
    /// The server that they are for.
    resource: String,
    kept: Mutex<Kept>,
    /// Where the newest refresh token is kept for other processes.
    file: Option<KeptToken>,
}

/// What the authorization server gave last.
#[derive(Default)]
struct Kept {
    token: Option<AccessToken>,
    /// The refresh token that replaces the configured one, if no file keeps it.
    refresh_token: Option<String>,
}

/// An access token.
#[derive(Clone)]
struct AccessToken {
    text: String,
    expires: Option<Instant>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tokens")
    }
}

impl Tokens {
    pub(super) fn new(credentials: Credentials, resource: &str) -> Self {
        let refresh_token = credentials.refresh_token.as_ref().map(|key| &*key.value);
        let file = credentials.kept_in.as_ref().zip(refresh_token).map(|(path, token)| {
            let parts = [&credentials.token_url, &credentials.client_id, token];
            KeptToken::new(path, parts)
        });
        Self {
            file,
            credentials,
            resource: resource.to_owned(),
            kept: Mutex::default(),
        }
    }

    /// Returns a token; a new one if there is none, it expires, or its server has `refused` it.
    ///
    /// # Errors
    /// `denied` if the authorization server refuses the credentials, `unavailable` if it cannot be
    /// reached, `bad-result` if its answer is malformed, `failed` if a new refresh token cannot be
    /// kept; then this process has it, and the next call goes on.
    pub(super) async fn get(self: &Arc<Self>, refused: Option<&str>) -> Result<String, ToolFailure> {
        let (tokens, refused) = (Arc::clone(self), refused.map(str::to_owned));
        // A call that is given up must not lose the refresh token that is on its way.
        let got = tokio::spawn(async move { tokens.newest(refused.as_deref()).await });
        got.await
            .unwrap_or_else(|_| Err(self.unreachable("the request broke down")))
    }

    async fn newest(&self, refused: Option<&str>) -> Result<String, ToolFailure> {
        let mut kept = self.kept.lock().await;
        let is_good = |token: &&AccessToken| {
            let is_fresh = token.expires.is_none_or(|end| Instant::now() < end);
            is_fresh && refused != Some(&*token.text)
        };
        if let Some(token) = kept.token.as_ref().filter(is_good) {
            return Ok(token.text.clone());
        }
        let asked = self.ask_and_keep(&mut kept);
        let late = |_| Err(self.unreachable("it does not answer, or another process waits for its answer"));
        timeout(TIMEOUT, asked).await.unwrap_or_else(late)
    }

    /// Asks for a token with the newest refresh token, and keeps what comes.
    async fn ask_and_keep(&self, kept: &mut Kept) -> Result<String, ToolFailure> {
        let locked = match &self.file {
            Some(file) => Some(file.lock().await),
            None => None,
        };
        let of_file = locked.as_ref().and_then(|locked| locked.as_ref().ok()?.read());
        let newer = kept.refresh_token.clone().or(of_file);
        let answer = self.ask(newer.as_deref()).await?;
        let (token, next) = self.read(&answer)?;
        let text = token.text.clone();
        kept.token = Some(token);
        if let Some(next) = next.filter(|next| Some(next) != newer.as_ref()) {
            kept.refresh_token = Some(next.clone());
            if let Some(locked) = locked {
                let written = locked.and_then(|locked| locked.write(&next));
                written.map_err(|error| self.unkept(&error))?;
                kept.refresh_token = None;
            }
        }
        Ok(text)
    }

    fn unkept(&self, error: &io::Error) -> ToolFailure {
        let url = &self.credentials.token_url;
        let path = self.file.as_ref().map(|file| file.path().display().to_string());
        Kind::Failed.because(format!(
            "the authorization server at {url} has replaced the refresh token, and the new one cannot be kept in `{}` \
             for the next process: {error}; this process has it, so call again",
            path.unwrap_or_default()
        ))
    }

    /// Returns the token that would be masked, if there is one.
    pub(super) async fn known(&self) -> Option<String> {
        self.kept.lock().await.token.as_ref().map(|token| token.text.clone())
    }

    /// Asks for a token.
    async fn ask(&self, newer: Option<&str>) -> Result<Json, ToolFailure> {
        let Credentials {
            token_url,
            client_id,
            client_secret,
            refresh_token,
            scope,
            kept_in: _,
        } = &self.credentials;
        let refresh_token = newer.or(refresh_token.as_ref().map(|key| &*key.value));
        let mut fields = match refresh_token {
            Some(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
            None => vec![("grant_type", "client_credentials")],
        };
        fields.push(("resource", &self.resource));
        fields.extend(scope.as_ref().map(|scope| ("scope", &**scope)));
        let mut headers = HeaderMap::new();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        match client_secret {
            Some(secret) => {
                headers.insert(AUTHORIZATION, self.basic(client_id, &secret.value)?);
            }
            None => fields.push(("client_id", client_id)),
        }
        let body = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect::<Vec<_>>()
            .join("&");
        let response = send(Sending::new(Method::POST, token_url, headers, body.into_bytes()))
            .await
            .map_err(|error| self.unreachable(&error.to_string()))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| self.unreachable(&error.to_string()))?.to_bytes();
        let answer: Option<Json> = serde_json::from_slice(&body).ok();
        if status.is_success() {
            return answer.ok_or_else(|| self.no_token("it is no JSON"));
        }
        Err(self.refusal(status, &answer.unwrap_or_default(), newer.is_some()))
    }

    fn basic(&self, name: &str, password: &str) -> Result<HeaderValue, ToolFailure> {
        let pair = base64::encode(format!("{}:{}", encoded(name), encoded(password)));
        let value = HeaderValue::from_str(&format!("Basic {pair}"));
        let mut value = value.map_err(|_| self.unreachable("its client cannot be named"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Reads a token, and a new refresh token.
    fn read(&self, answer: &Json) -> Result<(AccessToken, Option<String>), ToolFailure> {
        let text = |name: &str| answer.get(name).and_then(Json::as_str);
        let is_bearer = text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
        if !is_bearer {
            return Err(self.no_token("its `token_type` is not `Bearer`"));
        }
        let token = text("access_token").filter(|token| is_token(token));
        let token = token.ok_or_else(|| self.no_token("it has no `access_token` that can be sent"))?;
        let lasts = answer.get("expires_in").and_then(Json::as_u64).map(Duration::from_secs);
        let expires = lasts.and_then(|lasts| {
            let before = if lasts > RENEWED_BEFORE * 2 {
                RENEWED_BEFORE
            } else {
                Duration::ZERO
            };
            Instant::now().checked_add(lasts - before)
        });
        let token = AccessToken {
            text: token.to_owned(),
            expires,
        };
        Ok((token, text("refresh_token").map(str::to_owned)))
    }

    fn unreachable(&self, why: &str) -> ToolFailure {
        let url = &self.credentials.token_url;
        Kind::Unavailable.because(format!("the authorization server at {url} cannot be reached: {why}"))
    }

    fn no_token(&self, why: &str) -> ToolFailure {
        let url = &self.credentials.token_url;
        Kind::BadResult.because(format!(
            "the answer of the authorization server at {url} holds no token: {why}"
        ))
    }

    fn refusal(&self, status: StatusCode, answer: &Json, is_newer: bool) -> ToolFailure {
        let text = |name: &str| answer.get(name).and_then(Json::as_str);
        let said = [text("error"), text("error_description")];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        let said: String = said.join(": ").chars().take(SAID_CHARACTERS_MAX).collect();
        let said = if said.is_empty() {
            format!("HTTP {status}")
        } else {
            said
        };
        let url = &self.credentials.token_url;
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return self.unreachable(&said);
        }
        let secrets = [&self.credentials.client_secret, &self.credentials.refresh_token];
        let named: Vec<&str> = secrets
            .iter()
            .filter_map(|key| key.as_ref().map(|key| &*key.variable))
            .collect();
        let named = if named.is_empty() {
            "`client_id`".to_owned()
        } else {
            named.join(" and ")
        };
        let newer = if is_newer {
            "; the refresh token was the one that it gave last, and a new one in the variable takes its place"
        } else {
            ""
        };
        Kind::Denied.because(format!(
            "the authorization server at {url} gives no token: {said}; look at {named} and the rest of `oauth` in the \
             configuration{newer}"
        ))
    }
}

/// Everything that a form encodes. Some servers compare the name of a client as it is written, so
/// nothing else may be encoded.
const OF_FORM: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'*')
    .remove(b' ');

/// Encodes a text for a form.
///
/// Source: RFC 6749, appendix B; the WHATWG URL standard, "application/x-www-form-urlencoded".
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, OF_FORM).to_string().replace(' ', "+")
}

/// Says whether a text has the form of a token.
fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_token)
}

/// Replaces a token in a text.
pub(super) fn masked(text: &str, token: &str) -> String {
    text.replace(token, "{{secret:access token}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_as_forms_are() {
        for (text, expected) in [
            ("3f2b-11_a.b*", "3f2b-11_a.b*"),
            ("x~y-z w", "x%7Ey-z+w"),
            ("a+b&c=d%", "a%2Bb%26c%3Dd%25"),
            ("ä", "%C3%A4"),
        ] {
            assert_eq!(encoded(text), expected);
        }
    }
}
