//! The failures of servers, worded for people.
//!
//! INVARIANT: a failure names the server, and says whether a call may have had its effect.
//! It does not decide whether to try again.
//! Read next: `program.rs`.

use duet_runtime::driver::ToolFailure;
use rmcp::ServiceError;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;

use super::mend::is_unreadable;
use super::program::{End, Fault};
use crate::tool::arguments::integer;
use crate::tool::failure::Kind;

/// The maximum length of a server's words in a failure, in characters.
const SAID_CHARACTERS_MAX: usize = 1_000;

/// The failure of a server that did not start.
pub(super) fn at_start(name: &str, error: &ClientInitializeError, end: End) -> ToolFailure {
    if let Some(limit) = end.limit(name) {
        return limit;
    }
    if error.is_authorization_required() {
        return unauthorized(name, error.auth_challenge());
    }
    let message = format!(
        "the MCP server `{name}` does not start, or cannot be reached{}",
        end.after(&why(error))
    );
    Kind::Unavailable.because(message)
}

/// Says why a connection was not opened, to follow a message.
fn why(error: &ClientInitializeError) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list is the library's, and open")]
    match error {
        ClientInitializeError::ConnectionClosed(_) => String::new(),
        ClientInitializeError::TransportError { error, .. } => format!(": {}", of_transport(error)),
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_) => {
            ": its first answer is not of the protocol".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => why(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let known: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            let known = match known.as_slice() {
                [] => "no revision".to_owned(),
                known => format!("the revisions {}", shortened(&known.join(", "))),
            };
            format!(": it speaks {known}, Duet those of 2026-07-28 and 2025-11-25")
        }
        other => format!(": {}", shortened(&other.to_string())),
    }
}

/// The failure of a request.
pub(super) async fn of(name: &str, error: ServiceError, fault: Option<&Fault>) -> ToolFailure {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the list is the library's, and open")]
    match error {
        ServiceError::McpError(error) if is_unreadable(error.data.as_ref()) => {
            let why = shortened(&error.message);
            Kind::BadResult.because(format!(
                "the answer of the MCP server `{name}` is not of the protocol: {why}"
            ))
        }
        ServiceError::McpError(error) => {
            let kind = match error.code {
                ErrorCode::METHOD_NOT_FOUND => Kind::NoSuchTool,
                ErrorCode::INVALID_PARAMS => Kind::BadArgument,
                ErrorCode::RESOURCE_NOT_FOUND => Kind::NotFound,
                _ => Kind::Failed,
            };
            let said = shortened(&error.message);
            let message = format!("the MCP server `{name}` refuses: {said} (code {})", error.code.0);
            kind.because(message)
        }
        ServiceError::Timeout { timeout } => {
            let limit_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            let message = format!(
                "the MCP server `{name}` gave no answer and made no progress within {limit_ms} ms; the call may still \
                 take effect; `timeout_ms` in its configuration gives it more"
            );
            Kind::Timeout.with(message, [("timeout-ms", integer(limit_ms))])
        }
        ServiceError::UnexpectedResponse => {
            Kind::BadResult.because(format!("the answer of the MCP server `{name}` is not of the protocol"))
        }
        error if error.is_authorization_required() => unauthorized(name, error.auth_challenge()),
        ServiceError::TransportClosed | ServiceError::Cancelled { .. } => ended(name, fault).await,
        ServiceError::TransportSend(error) => {
            let said = of_transport(&error);
            Kind::Failed.because(format!("the connection to the MCP server `{name}` broke: {said}"))
        }
        other => {
            let said = shortened(&other.to_string());
            Kind::Failed.because(format!("the connection to the MCP server `{name}` broke: {said}"))
        }
    }
}

/// The failure of a server that wants a token, or another one, with what it says of it.
fn unauthorized(name: &str, challenge: Option<&str>) -> ToolFailure {
    let challenge = shortened(challenge.unwrap_or_default());
    if challenge.starts_with("the authorization server") {
        return Kind::Denied.because(format!("the MCP server `{name}` wants a token: {challenge}"));
    }
    let part = |(words, parameter): (&str, &str)| {
        let (_, rest) = challenge.split_once(&format!("{parameter}=\""))?;
        let (value, _) = rest.split_once('"')?;
        (!value.is_empty()).then(|| format!("; {words} {value}"))
    };
    let parts = [
        ("it says:", "error_description"),
        ("its authorization server is named by", "resource_metadata"),
        ("the scope is", "scope"),
    ];
    let said: String = parts.into_iter().filter_map(part).collect();
    Kind::Denied.because(format!(
        "the MCP server `{name}` wants a token, or another one; `token` or `oauth` in its configuration gives it one \
         (`duet servers --help`){said}"
    ))
}

async fn ended(name: &str, fault: Option<&Fault>) -> ToolFailure {
    let end = match fault {
        Some(fault) => fault.end().await,
        None => End::default(),
    };
    if let Some(limit) = end.limit(name) {
        return limit;
    }
    Kind::Failed.because(format!(
        "the MCP server `{name}` ended before it answered{}; the call may have had its effect, and the next call \
         starts the server again",
        end.shown()
    ))
}

/// The words of a transport, without the library's own.
fn of_transport(error: &DynamicTransportError) -> String {
    let said = error.error.to_string();
    let own = ["Client error: ", "unexpected server response: "];
    let said = own.iter().find_map(|words| said.strip_prefix(words)).unwrap_or(&said);
    shortened(said)
}

fn shortened(text: &str) -> String {
    text.chars().take(SAID_CHARACTERS_MAX).collect()
}
