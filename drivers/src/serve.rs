//! A server: clients reach runs of this process over sockets, by Syndicate's protocol.
//!
//! Owns the listeners, the connections and what they may take up. A [`Gate`] says what a sturdy
//! reference gives; a [`Host`](host::Host) hands what a client says to a run, which the client's
//! connection hears of the same way.
//! INVARIANT: a client costs a bounded amount of memory, however much it sends and however little
//! it reads; nothing that it sends stops the server or another client.
//! It knows neither Scheme nor the meaning of a fact.
//! Read next: `serve/relay.rs`, then `serve/connection.rs`.
//!
//! Rejected: a limit of packets in a second. A client waits instead while its packets wait for the
//! run (`connection`), so the pace of the run is the limit, and a fast client needs no allowance.
//!
//! Source: the Syndicate protocol, <https://synit.org/book/protocol.html>.

mod arrival;
mod connection;
mod gate;
pub mod host;
mod listener;
mod membrane;
mod rate_limit;
mod relay;
mod websocket;

pub use gate::{Admission, Gate};
pub use listener::{Address, Server, ServerError};
