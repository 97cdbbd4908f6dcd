//! A server of HTTP for clients of which each has to prove that it may come in.
//!
//! INVARIANT: pending clients have the limits of `pending.rs`, and those that are let in have
//! their number of places; one connection that fails costs nobody else anything.
//! It does not know what a proof is, nor what is asked for; the responder does.
//! Read next: `pending.rs`, `host/http.rs`.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::pending::{PendingClient, PendingClients};

/// The maximum number of clients with a right to an answer at the same time; more are refused.
const CLIENTS_MAX: usize = 256;

/// The maximum length of the headers, in bytes.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The length of the parts in which a message is kept until it is whole, in bytes: a small message
/// takes little, a long one has few.
const PART_BYTES: usize = 16 << 10;

/// The time in which a client has to send the headers, and then the message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers requests.
pub(crate) trait Responder: Clone + Send + Sync + 'static {
    /// What answers consist of.
    type Body: Body<Data = Bytes, Error = Infallible> + Send + 'static;

    /// Answers a request of a client.
    fn answer(&self, client: &Client, request: Request<Incoming>) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A client, which is pending until a request of it has a right to an answer.
pub(crate) struct Client {
    pending: PendingClient,
    places: Arc<Semaphore>,
    place: OnceLock<OwnedSemaphorePermit>,
}

impl Client {
    /// Lets the client in; says whether there is a place for it.
    pub(crate) fn admit(&self) -> bool {
        if self.place.get().is_none() {
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                return false;
            };
            // Requests of one connection come one after the other.
            let _only = self.place.set(place);
            self.pending.admit();
        }
        true
    }
}

/// Serves clients at an address until the process ends. `announce` gets the address, whose port may
/// have been chosen by the system, and makes the responder.
///
/// # Errors
/// If the address cannot be used.
pub(crate) async fn receive<C: Responder>(
    address: SocketAddr,
    announce: impl FnOnce(SocketAddr) -> C,
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let responder = announce(listener.local_addr()?);
    serve_at(listener, responder).await;
    Ok(())
}

/// Serves the clients of a listener for ever.
pub(crate) async fn serve_at<C: Responder>(listener: TcpListener, responder: C) {
    let (pending, places) = (PendingClients::default(), Arc::new(Semaphore::new(CLIENTS_MAX)));
    loop {
        // A failure concerns one client, or the number of open files, which may fall again.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let client = Client {
            pending: pending.enter(),
            places: Arc::clone(&places),
            place: OnceLock::new(),
        };
        tokio::spawn(serve(responder.clone(), Arc::new(client), stream));
    }
}

/// Serves a connection until it ends, or its client is pending and has to go.
async fn serve<C: Responder>(responder: C, client: Arc<Client>, stream: TcpStream) {
    let served_client = Arc::clone(&client);
    let service = service_fn(move |request| {
        let (responder, client) = (responder.clone(), Arc::clone(&served_client));
        async move { Ok::<_, Infallible>(responder.answer(&client, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A connection that breaks costs its own requests.
        _ended = served => {}
        _why = client.pending.must_go() => {}
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
pub(crate) async fn message(body: Incoming, bytes_max: usize, client: &Client) -> Result<Bytes, NoMessage> {
    let refused = |status, why| NoMessage { status, why };
    match timeout(PATIENCE, whole(body, bytes_max, &client.pending)).await {
        Ok(Some(read)) => Ok(read),
        Ok(None) => Err(refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the message is too long, or broke off",
        )),
        Err(_) => Err(refused(StatusCode::REQUEST_TIMEOUT, "the message did not come in time")),
    }
}

/// Reads a whole body of at most `bytes_max` bytes, and counts its bytes while the client is
/// pending; `None` if the body is longer, or breaks off.
pub(crate) async fn whole(mut body: Incoming, bytes_max: usize, client: &PendingClient) -> Option<Bytes> {
    // Frames are copied, because small ones would keep the large buffers of which they are parts;
    // into parts, because one buffer that grows takes twice the space of what is in it.
    let (mut parts, mut length_bytes) = (Vec::<BytesMut>::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if data.len() > bytes_max - length_bytes {
            return None;
        }
        length_bytes += data.len();
        client.hold(data.len());
        match parts.last_mut() {
            Some(part) if part.capacity() - part.len() >= data.len() => part.extend_from_slice(&data),
            Some(_) | None => {
                let mut part = BytesMut::with_capacity(PART_BYTES.max(data.len()));
                part.extend_from_slice(&data);
                parts.push(part);
            }
        }
    }
    let mut read = BytesMut::with_capacity(length_bytes);
    parts.iter().for_each(|part| read.extend_from_slice(part));
    Some(read.freeze())
}

/// The token that a value of the header `authorization` has, if it has one; the name of its scheme
/// is written in letters of any size.
///
/// Source: RFC 9110, section 11.1; RFC 6750, section 2.1.
pub(crate) fn bearer(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, token) = value.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim_ascii())
}

/// Compares a token with the one that is wanted, without telling by its time where the difference
/// is.
pub(crate) fn is_same(wanted: &[u8], given: &[u8]) -> bool {
    let pairs = wanted.iter().zip(given);
    wanted.len() == given.len() && pairs.fold(0, |differences, (one, other)| differences | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_of_a_token_is_written_in_letters_of_any_size() {
        for value in ["Bearer s 4", "bearer s 4", "BEARER  s 4"] {
            assert_eq!(bearer(value.as_bytes()), Some(&b"s 4"[..]), "{value}");
        }
        for value in ["", "Bearer", "Basic s", "Bearers s"] {
            assert_eq!(bearer(value.as_bytes()), None, "{value}");
        }
    }
}
