//! A server of HTTP for clients of which each has to prove that it may come in.
//!
//! INVARIANT: connections of strangers have the limits of the lobby, and those who are let in have
//! their number of places; one connection that fails costs nobody else anything.
//! It does not know what a proof is, nor what is asked for; the clerk does.
//! Read next: `lobby.rs`, `host/http.rs`.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::lobby::{Lobby, Stranger};

/// The maximum number of clients with a right to an answer at the same time; more are refused.
const CLIENTS_MAX: usize = 256;

/// The maximum length of the headers, in bytes.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The time in which a client has to send the headers, and then the message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers requests.
pub(crate) trait Clerk: Clone + Send + Sync + 'static {
    /// What answers consist of.
    type Body: Body<Data = Bytes, Error = Infallible> + Send + 'static;

    /// Answers a request of a visit.
    fn answer(&self, visit: &Visit, request: Request<Incoming>) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A connection, whose client is a stranger until a request of it has a right to an answer.
pub(crate) struct Visit {
    stranger: Stranger,
    places: Arc<Semaphore>,
    place: OnceLock<OwnedSemaphorePermit>,
}

impl Visit {
    /// Lets the client in; says whether there is a place for it.
    pub(crate) fn admit(&self) -> bool {
        if self.place.get().is_none() {
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                return false;
            };
            // Requests of one connection come one after the other.
            let _only = self.place.set(place);
            self.stranger.admit();
        }
        true
    }
}

/// Serves clients at an address until the process ends. `announce` gets the address, whose port may
/// have been chosen by the system, and makes the clerk.
///
/// # Errors
/// If the address cannot be used.
pub(crate) async fn receive<C: Clerk>(address: SocketAddr, announce: impl FnOnce(SocketAddr) -> C) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let clerk = announce(listener.local_addr()?);
    receive_at(listener, clerk).await;
    Ok(())
}

/// Serves the clients of a listener for ever.
pub(crate) async fn receive_at<C: Clerk>(listener: TcpListener, clerk: C) {
    let (lobby, places) = (Lobby::default(), Arc::new(Semaphore::new(CLIENTS_MAX)));
    loop {
        // A failure concerns one client, or the number of open files, which may fall again.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let visit = Visit {
            stranger: lobby.enter(),
            places: Arc::clone(&places),
            place: OnceLock::new(),
        };
        tokio::spawn(serve(clerk.clone(), Arc::new(visit), stream));
    }
}

/// Serves a connection until it ends, or its client is a stranger and has to go.
async fn serve<C: Clerk>(clerk: C, visit: Arc<Visit>, stream: TcpStream) {
    let visitor = Arc::clone(&visit);
    let service = service_fn(move |request| {
        let (clerk, visit) = (clerk.clone(), Arc::clone(&visitor));
        async move { Ok::<_, Infallible>(clerk.answer(&visit, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A connection that breaks costs its own requests.
        _ended = connection => {}
        _why = visit.stranger.must_go() => {}
    }
}

/// Why a request has no message.
pub(crate) struct NoMessage {
    pub(crate) status: StatusCode,
    pub(crate) why: &'static str,
}

/// Reads the message of a request.
///
/// # Errors
/// If it is too long, or does not come in time.
pub(crate) async fn message(body: Incoming, bytes_max: usize) -> Result<Bytes, NoMessage> {
    let refused = |status, why| NoMessage { status, why };
    match timeout(PATIENCE, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(_)) => Err(refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the message is too long, or broke off",
        )),
        Err(_) => Err(refused(StatusCode::REQUEST_TIMEOUT, "the message did not come in time")),
    }
}

/// Compares a token with the one that is wanted, without telling by its time where the difference
/// is.
pub(crate) fn is_same(wanted: &[u8], given: &[u8]) -> bool {
    let pairs = wanted.iter().zip(given);
    wanted.len() == given.len() && pairs.fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}
