//! A server: clients reach runs of this process over sockets, by Syndicate's protocol.
//!
//! Owns the listeners, the connections and what they may take up. A [`Gate`] says what a sturdy
//! reference gives; a [`Host`] hands what a client says to a run, which the client's connection
//! hears of the same way.
//! INVARIANT: a client costs a bounded amount of memory, however much it sends and however little
//! it reads; nothing that it sends stops the server or another client.
//! It knows neither Scheme nor the meaning of a fact.
//! Read next: `serve/relay.rs`, then `serve/connection.rs`.
//!
//! Rejected: a limit of packets in a second. A client waits instead while its packets wait for the
//! run (`connection`), so the pace of the run is the limit, and a fast client needs no allowance.
//!
//! Source: the Syndicate protocol, <https://synit.org/book/protocol.html>.

mod connection;
pub mod host;
mod listener;
mod membrane;
mod pace;
mod relay;
mod websocket;

use duet_runtime::model::manifest::Manifest;
use preserves::IOValue;

pub use listener::{Address, Server, ServerError};

use self::host::Host;

/// What a sturdy reference gives.
pub struct Admission {
    /// The run.
    pub host: Host,
    /// The name of the grant, for whose clients a pace is kept.
    pub grant: String,
    /// The rights in its dataspace.
    pub manifest: Manifest,
    /// The caveats, the newest last.
    pub caveats: Vec<IOValue>,
}

/// Decides about sturdy references.
pub trait Gate: Send + Sync {
    /// Says what a reference gives. `<branch NAME REFERENCE>` in its place gives the same on a
    /// branch of the run that the server executes, and `<fork NAME REFERENCE>` on one that begins
    /// now at the newest turn. `<approve QUESTION ANSWER REFERENCE>` first answers what the session
    /// of the reference wants approved. The reference has to grant both.
    ///
    /// # Errors
    /// Why it gives nothing, for the client.
    fn resolve(&self, reference: &IOValue) -> Result<Admission, String>;

    /// Says whether what was resolved before would still be let in.
    ///
    /// # Errors
    /// Why not, for the client.
    fn check(&self, reference: &IOValue) -> Result<(), String>;
}
