//! The hosts that a run may reach.
//!
//! INVARIANT: an address is on the list only if the list names it; no pattern stands for addresses.
//! It resolves no name; `address.rs` does. Read next: `address.rs`.

use std::net::IpAddr;
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use crate::tool::failure::Kind;

/// The allowed hosts: `name`, or `*.name` for all its subdomains; each at `:port`, or without a
/// port at 80 and 443.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<[ListedHost]>);

#[derive(Clone, Debug)]
struct ListedHost {
    /// The name or address in lower case; a `*` at its beginning stands for subdomains.
    name: String,
    port: Option<u16>,
}

impl Hosts {
    /// Takes a list.
    ///
    /// # Errors
    /// The first entry whose port is no number from 1 to 65535.
    pub fn of(names: &[String]) -> Result<Self, String> {
        let entries = names
            .iter()
            .map(|name| ListedHost::read(name).ok_or_else(|| name.clone()));
        Ok(Self(entries.collect::<Result<_, _>>()?))
    }

    /// Says whether a host is allowed at a port.
    pub fn include(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        self.0.iter().any(|entry| entry.includes(&host, port))
    }
}

impl ListedHost {
    fn read(entry: &str) -> Option<Self> {
        let entry = entry.to_ascii_lowercase();
        Some(match entry.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => Self {
                name: name.to_owned(),
                port: Some(port.parse().ok().filter(|port| *port > 0)?),
            },
            _ => Self {
                name: entry,
                port: None,
            },
        })
    }

    fn includes(&self, host: &str, port: u16) -> bool {
        let is_port = self.port.map_or(port == 80 || port == 443, |at| at == port);
        let is_name = match self.name.strip_prefix('*') {
            // The parts of an address are no domains.
            Some(suffix) => {
                let is_below = suffix.starts_with('.') && host.len() > suffix.len() && host.ends_with(suffix);
                is_below && host.parse::<IpAddr>().is_err()
            }
            None => host == self.name,
        };
        is_port && is_name
    }
}

/// The failure of a call to a host that is not on the list.
pub(super) fn not_listed(host: &str, port: u16) -> ToolFailure {
    let message = format!(
        "`{host}` at port {port} is not on the list of hosts; a person allows it with \
         `--allow-host {host}:{port}`, a manifest with `(hosts \"{host}:{port}\")`"
    );
    Kind::Denied.with(message, [("host", IOValue::new(host.to_owned()))])
}
