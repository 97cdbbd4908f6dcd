//! The places at which clients come in: sockets in the file system, and TCP on this machine.
//!
//! INVARIANT: only the user of the files can open the socket; a TCP address is one of this machine.
//! A socket that a dead server left is replaced, one at which somebody listens is not, and a file
//! that is no socket stays.
//! It does not know what clients send. Read next: `connection.rs`.

use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::arrival::Arrival;
use super::gate::Gate;
use super::rate_limit::RateLimits;
use super::{connection, websocket};
use crate::door::{Near, is_left_behind};
use crate::pending::{Metered, PendingClients};

/// The maximum number of clients with a reference at a time.
const CLIENTS_MAX: usize = 4_096;

/// A place at which clients come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port of this machine; 0 stands for a free one.
    Tcp(SocketAddr),
    /// A port of this machine at which clients speak WebSocket.
    WebSocket(SocketAddr),
}

impl FromStr for Address {
    type Err = ServerError;

    /// Reads `tcp:127.0.0.1:8001`, `ws:127.0.0.1:8002`, `unix:/path`, or a path.
    fn from_str(text: &str) -> Result<Self, ServerError> {
        let socket = text.strip_prefix("ws://").map(|rest| rest.trim_end_matches('/'));
        let socket = socket.or_else(|| text.strip_prefix("ws:"));
        let Some(address) = socket.or_else(|| text.strip_prefix("tcp:")) else {
            return Ok(Self::Unix(PathBuf::from(text.strip_prefix("unix:").unwrap_or(text))));
        };
        let port = address
            .strip_prefix("localhost:")
            .map(|port| format!("127.0.0.1:{port}"));
        let parsed = port.as_deref().unwrap_or(address).parse::<SocketAddr>();
        let address = parsed.map_err(|_| ServerError::NoAddress(text.to_owned()))?;
        if !address.ip().is_loopback() {
            return Err(ServerError::NotHere(address));
        }
        Ok(if socket.is_some() {
            Self::WebSocket(address)
        } else {
            Self::Tcp(address)
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::WebSocket(address) => write!(f, "ws://{address}"),
        }
    }
}

/// Why there is no server.
#[derive(Debug)]
pub enum ServerError {
    /// The text is no address.
    NoAddress(String),
    /// The address is not one of this machine.
    NotHere(SocketAddr),
    /// Another process listens there.
    Taken(Address),
    /// A file that is no socket is there.
    NoSocket(PathBuf),
    /// The system refuses it.
    System(io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress(text) => write!(
                f,
                "`{text}` is no address, which is written tcp:127.0.0.1:8001, ws:127.0.0.1:8002, unix:/path/to/socket \
                 or as a path"
            ),
            Self::NotHere(address) => write!(f, "{address} can be reached from other machines"),
            Self::Taken(address) => write!(f, "another process listens at {address}"),
            Self::NoSocket(path) => write!(f, "`{}` is a file and no socket", path.display()),
            Self::System(_) => write!(f, "the system does not let this process listen"),
        }
    }
}

impl std::error::Error for ServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::System(error) = self {
            Some(error)
        } else {
            None
        }
    }
}

impl From<io::Error> for ServerError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The maximum number of connections, more than a process has files.
const CONNECTIONS_MAX: u32 = 1 << 20;

/// How long a server that closes waits for its connections, and then for its threads.
const FAREWELL: Duration = Duration::from_millis(300);

/// The places of a server.
#[derive(Clone)]
struct Places {
    /// Has a permit once the server is open.
    open: Arc<Semaphore>,
    pending: PendingClients,
    clients: Arc<Semaphore>,
    /// Has all permits while nobody is connected.
    connections: Arc<Semaphore>,
    rate_limits: RateLimits,
}

/// A server that is open; dropping it closes it.
pub struct Server {
    runtime: Option<Runtime>,
    gate: Arc<dyn Gate>,
    places: Places,
    next_name: Arc<AtomicU64>,
    /// A word that tells the connections of this server from those of an earlier one.
    prefix: String,
    /// The origins of the web pages that may reach it.
    origins: Arc<[String]>,
    sockets: Vec<PathBuf>,
}

impl Drop for Server {
    fn drop(&mut self) {
        for path in &self.sockets {
            // The next server at this path removes it otherwise.
            let _left = fs::remove_file(path);
        }
        if let Some(runtime) = self.runtime.take() {
            // Each client still receives the reason why the server closes.
            let connections = &self.places.connections;
            let _late = runtime.block_on(async { timeout(FAREWELL, connections.acquire_many(CONNECTIONS_MAX)).await });
            runtime.shutdown_timeout(FAREWELL);
        }
    }
}

impl Server {
    /// Makes a server that listens nowhere yet; clients wait until it [opens](Self::open). The
    /// prefix begins the names of its connections; web pages of the origins may reach it, and of no
    /// others.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(gate: Arc<dyn Gate>, prefix: String, origins: &[String]) -> Result<Self, ServerError> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(2).thread_name("duet-server").enable_all();
        Ok(Self {
            runtime: Some(builder.build()?),
            gate,
            places: Places {
                open: Arc::new(Semaphore::new(0)),
                pending: PendingClients::default(),
                clients: Arc::new(Semaphore::new(CLIENTS_MAX)),
                connections: Arc::new(Semaphore::new(CONNECTIONS_MAX as usize)),
                rate_limits: RateLimits::default(),
            },
            next_name: Arc::default(),
            prefix,
            origins: origins.into(),
            sockets: Vec::new(),
        })
    }

    /// Serves the clients that wait, and those that come.
    pub fn open(&self) {
        self.places.open.add_permits(1);
    }

    /// Listens at an address too; returns it with the port.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn listen(&mut self, address: &Address) -> Result<Address, ServerError> {
        let Some(runtime) = &self.runtime else {
            return Ok(address.clone());
        };
        let _guard = runtime.enter();
        match address {
            Address::Unix(path) => {
                let near = Near::of(path)?;
                let listener = bind(&near.path, address)?;
                fs::set_permissions(path, Permissions::from_mode(0o600))?;
                self.sockets.push(path.clone());
                let admit = self.admit();
                runtime.spawn(async move {
                    loop {
                        let stream = listener.accept().await.map(|(stream, _)| stream);
                        admit.one(stream, connection::serve).await;
                    }
                });
                Ok(address.clone())
            }
            Address::Tcp(wanted) | Address::WebSocket(wanted) => {
                let listener = runtime.block_on(TcpListener::bind(wanted)).map_err(|error| {
                    if error.kind() == io::ErrorKind::AddrInUse {
                        ServerError::Taken(address.clone())
                    } else {
                        error.into()
                    }
                })?;
                let bound = listener.local_addr()?;
                let (admit, origins) = (self.admit(), Arc::clone(&self.origins));
                let is_plain = matches!(address, Address::Tcp(_));
                runtime.spawn(async move {
                    loop {
                        let stream = listener.accept().await.map(|(stream, _)| stream);
                        if let Ok(stream) = &stream {
                            // Without it small packets would wait for each other.
                            let _slow = stream.set_nodelay(true);
                        }
                        let origins = Arc::clone(&origins);
                        if is_plain {
                            admit.one(stream, connection::serve).await;
                        } else {
                            let serve = |stream, arrival| websocket::serve(stream, arrival, origins);
                            admit.one(stream, serve).await;
                        }
                    }
                });
                Ok(if is_plain {
                    Address::Tcp(bound)
                } else {
                    Address::WebSocket(bound)
                })
            }
        }
    }

    fn admit(&self) -> Admit {
        Admit {
            gate: Arc::clone(&self.gate),
            places: self.places.clone(),
            next_name: Arc::clone(&self.next_name),
            prefix: self.prefix.clone(),
        }
    }
}

fn bind(path: &Path, address: &Address) -> Result<UnixListener, ServerError> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            if !fs::metadata(path)?.file_type().is_socket() {
                return Err(ServerError::NoSocket(path.to_owned()));
            }
            if !is_left_behind(path) {
                return Err(ServerError::Taken(address.clone()));
            }
            fs::remove_file(path)?;
            Ok(UnixListener::bind(path)?)
        }
        bound => Ok(bound?),
    }
}

/// Lets clients in.
struct Admit {
    gate: Arc<dyn Gate>,
    places: Places,
    next_name: Arc<AtomicU64>,
    prefix: String,
}

impl Admit {
    /// Serves a client, in a task of its own.
    async fn one<S, Served>(
        &self,
        stream: io::Result<S>,
        serve: impl FnOnce(Metered<S>, Arrival) -> Served + Send + 'static,
    ) where
        S: Send + 'static,
        Served: Future<Output = ()> + Send + 'static,
    {
        // A failure concerns one client, or the number of open files, which may fall again.
        let Ok(stream) = stream else {
            return tokio::time::sleep(Duration::from_millis(100)).await;
        };
        if self.places.open.acquire().await.is_err() {
            return;
        }
        let number = self.next_name.fetch_add(1, Ordering::Relaxed) + 1;
        let pending = Arc::new(self.places.pending.enter());
        let stream = Metered::new(stream, Arc::clone(&pending));
        let arrival = Arrival {
            name: format!("{}{number}", self.prefix),
            gate: Arc::clone(&self.gate),
            pending,
            clients: Arc::clone(&self.places.clients),
            rate_limits: self.places.rate_limits.clone(),
        };
        let Ok(permit) = Arc::clone(&self.places.connections).acquire_owned().await else {
            return;
        };
        tokio::spawn(async move {
            serve(stream, arrival).await;
            drop(permit);
        });
    }
}
