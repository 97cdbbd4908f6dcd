//! How a request proves that its sender knows the secret.
//!
//! INVARIANT: the time of a comparison does not tell how much of a guess is right.
//! It does not know what a request asks for. Read next: `intake.rs`.
//!
//! Source: RFC 6750 for the token; GitHub, "Validating webhook deliveries", for the signature.

use duet_runtime::driver::ToolFailure;
use hyper::HeaderMap;
use ring::{digest, hmac};

use crate::http_server::bearer;
use crate::token::sendable;
use crate::tool::failure::Kind;
use crate::tool::secret::stand_in;

/// The headers in which GitLab and Telegram send a token.
const TOKENS: [&str; 2] = ["x-gitlab-token", "x-telegram-bot-api-secret-token"];

/// The header that has a signature.
const SIGNATURE: &str = "x-hub-signature-256";

/// What a request must have.
pub(super) struct Proof {
    /// The digest of the token.
    token: Option<digest::Digest>,
    key: Option<hmac::Key>,
}

impl Proof {
    /// Demands a token, a signature by a key, both or nothing.
    ///
    /// # Errors
    /// `bad-argument` for a secret that everybody knows: an empty one, or the stand-in of a
    /// variable that is not set; and for a token that no client can send.
    pub(super) fn new(token: Option<String>, key: Option<String>) -> Result<Self, ToolFailure> {
        if [&token, &key].into_iter().flatten().any(String::is_empty) {
            return Err(Kind::BadArgument.because("the secret of webhook/listen is empty"));
        }
        if let Some(name) = [&token, &key].into_iter().flatten().find_map(|text| stand_in(text)) {
            return Err(Kind::BadArgument.because(format!(
                "the secret of webhook/listen is the stand-in of `{name}`, which is no secret of this run; set the \
                 variable, and name it by `(secrets {name})` in the manifest or by `--secret {name}`"
            )));
        }
        let token = token.as_deref().map(sendable).transpose();
        let token = token.map_err(|why| Kind::BadArgument.because(format!("no client can send it: {why}")))?;
        Ok(Self {
            token: token.map(|token| digest::digest(&digest::SHA256, token.as_bytes())),
            key: key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes())),
        })
    }

    /// Says whether everybody may send requests.
    pub(super) fn is_open(&self) -> bool {
        self.token.is_none() && self.key.is_none()
    }

    /// Says whether a request has it.
    pub(super) fn is_given(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let has_token = self.token.as_ref().is_none_or(|token| {
            let of_scheme = header("authorization").and_then(|value| bearer(value.as_bytes()));
            let given = of_scheme.or_else(|| TOKENS.iter().find_map(|name| header(name)).map(str::as_bytes));
            // Digests are compared, so that equal first letters tell nothing.
            given.is_some_and(|given| digest::digest(&digest::SHA256, given).as_ref() == token.as_ref())
        });
        has_token
            && self.key.as_ref().is_none_or(|key| {
                let given = header(SIGNATURE).and_then(|value| value.strip_prefix("sha256="));
                let tag = given.and_then(hexadecimal);
                tag.is_some_and(|tag| hmac::verify(key, body, &tag).is_ok())
            })
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
