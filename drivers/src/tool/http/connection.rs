//! A connection to a server, plain or secured.
//!
//! INVARIANT: a failure here means that nothing was sent.
//! It does not choose the addresses; its callers do.
//! Read next: `exchange.rs`.

use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

use super::address::admitted;
use super::hosts::{Hosts, not_listed};
use super::roots::configuration;
use crate::tool::failure::Kind;

/// The time limit for opening a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connects to a port of a host without TLS, if it is on the list of hosts.
///
/// # Errors
/// `denied` if it is not, or leads to a private network; `unavailable` if nobody answers in time.
pub(in crate::tool) async fn reach(hosts: &Hosts, host: &str, port: u16) -> Result<TcpStream, ToolFailure> {
    if !hosts.include(host, port) {
        return Err(not_listed(host, port));
    }
    let is_secure = false;
    let server = Server { host, port, is_secure };
    let found = server.addresses().await?;
    let admitted = admitted(hosts, host, &found)?;
    let late = |_| Err(Kind::Unavailable.because(format!("`{host}:{port}` does not answer")));
    let connecting = server.connect_plain(&admitted);
    timeout(PATIENCE, connecting).await.unwrap_or_else(late)
}

/// The bytes of a connection.
pub(in crate::tool) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// The destination of a connection.
pub(in crate::tool) struct Server<'a> {
    /// A name or an address; one of version 6 may stand in brackets.
    pub(in crate::tool) host: &'a str,
    pub(in crate::tool) port: u16,
    /// Whether it is spoken to by TLS.
    pub(in crate::tool) is_secure: bool,
}

impl Server<'_> {
    fn bare_host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    fn unavailable(&self, error: &dyn Display) -> ToolFailure {
        Kind::Unavailable.because(format!("`{}:{}` cannot be reached: {error}", self.host, self.port))
    }

    fn insecure(&self, error: &std::io::Error) -> ToolFailure {
        let fault = error.get_ref().and_then(|fault| fault.downcast_ref());
        if matches!(fault, Some(rustls::Error::InvalidMessage(_))) {
            return self.unavailable(&"it does not speak TLS; `http:` in place of `https:` does without");
        }
        self.unavailable(error)
    }

    /// Finds the addresses of its host.
    ///
    /// # Errors
    /// `unavailable` if there are none at the moment.
    pub(in crate::tool) async fn addresses(&self) -> Result<Vec<SocketAddr>, ToolFailure> {
        let found = lookup_host((self.bare_host(), self.port)).await;
        Ok(found.map_err(|error| self.unavailable(&error))?.collect())
    }

    /// Connects to the first of the addresses that answers, without TLS.
    ///
    /// # Errors
    /// `unavailable` if none does.
    pub(in crate::tool) async fn connect_plain(&self, addresses: &[SocketAddr]) -> Result<TcpStream, ToolFailure> {
        let stream = TcpStream::connect(addresses).await;
        stream.map_err(|error| self.unavailable(&error))
    }

    /// Connects to the first of the addresses that answers.
    ///
    /// # Errors
    /// `unavailable` if none does.
    pub(in crate::tool) async fn connect(&self, addresses: &[SocketAddr]) -> Result<Box<dyn Stream>, ToolFailure> {
        let stream = self.connect_plain(addresses).await?;
        if !self.is_secure {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(self.bare_host().to_owned()).map_err(|error| self.unavailable(&error))?;
        let secured = TlsConnector::from(configuration()?).connect(name, stream).await;
        Ok(Box::new(secured.map_err(|error| self.insecure(&error))?))
    }
}
