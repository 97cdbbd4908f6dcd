//! Requests over HTTP that the page of a browser may have sent: every page can reach the ports of
//! this machine.
//!
//! INVARIANT: a request without the marks of a browser comes from a program.
//! It does not know what a request asks for.
//! Read next: `host/http.rs`, `host/page.rs`, `tool/webhook/intake.rs`.
//!
//! Source: Fetch, "The `Origin` header"; Fetch Metadata, section 2.

use std::net::IpAddr;

use hyper::http::uri::Authority;
use hyper::{HeaderMap, Uri};

/// Says whether the page of a browser may have sent a request. Browsers send `origin` with each
/// request that crosses sites or has a body, and `sec-fetch-site` with all. A page whose host name
/// leads to this machine (DNS rebinding) counts as the same site, but has that name in `host`.
pub(crate) fn may_be_of_a_page(headers: &HeaderMap, uri: &Uri) -> bool {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_marked = header("origin").is_some() || header("sec-fetch-site").is_some_and(|site| site != "none");
    let authority = uri.authority().map(Authority::as_str).or_else(|| header("host"));
    is_marked || !authority.is_none_or(is_this_machine)
}

/// Says whether a request is addressed to this machine at a port, by any of its own names; a page
/// whose host name leads here (DNS rebinding) has that name in `host`.
pub(crate) fn is_addressed_here(headers: &HeaderMap, port: u16) -> bool {
    let host = headers.get("host").and_then(|host| host.to_str().ok());
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| host.port_u16() == Some(port) && is_this_machine(host.as_str()))
}

/// Says whether a request comes from the page that the server itself serves, or from a program.
pub(crate) fn is_of_own_page(headers: &HeaderMap) -> bool {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_near = header("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let own = header("host").map(|host| format!("http://{host}"));
    is_near && header("origin").is_none_or(|origin| own.as_deref() == Some(origin))
}

/// Says whether an authority is an address of this machine, whatever the port.
fn is_this_machine(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
