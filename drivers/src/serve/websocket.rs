//! WebSocket: the packets of a client in messages, for clients that have no other socket.
//!
//! Each packet for the client is a message of its own: of text if the client writes text, otherwise
//! binary. The messages of the client are read one after the other, whatever their kind.
//! INVARIANT: a page of the web reaches the server only if whoever started it has named the page's
//! origin. A message is as limited as a packet, before it is whole.
//! It does not know packets; `connection.rs` does. Read next: `connection.rs`.
//!
//! Source: RFC 6455; the Syndicate protocol, "Transports".

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::ORIGIN;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::arrival::Arrival;
use super::connection::{self, PACKET_LIMITS, PATIENCE, Queue};
use crate::page::may_be_of_a_page;
use crate::pending::Metered;

/// The number of bytes of a client that wait for the connection to read them.
const INBOUND_BYTES: usize = 64 << 10;

/// The stream of a client.
type Stream = Metered<TcpStream>;

/// Serves a client until it goes, or has to.
pub(super) async fn serve(stream: Stream, arrival: Arrival, origins: Arc<[String]>) {
    let accepted = tokio::select! {
        // A client that does not complete the handshake has the time for half a packet.
        accepted = timeout(PATIENCE, accept(stream, &origins)) => accepted,
        _why = arrival.pending.must_go() => return,
    };
    let Ok(Ok(socket)) = accepted else { return };
    let (inbound, reading) = duplex(INBOUND_BYTES);
    let (queue, packets) = unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let pump = tokio::spawn(pump(socket, inbound, packets, Arc::clone(&waiting)));
    connection::converse(reading, Queue { queue, waiting }, arrival, pump).await;
}

#[expect(clippy::result_large_err, reason = "the library's type for a refusal")]
async fn accept(
    stream: Stream,
    origins: &[String],
) -> Result<WebSocketStream<Stream>, tokio_tungstenite::tungstenite::Error> {
    let length_max = Some(PACKET_LIMITS.bytes_max);
    let config = WebSocketConfig::default()
        .max_message_size(length_max)
        .max_frame_size(length_max);
    let check = |request: &Request, response: Response| match request.headers().get(ORIGIN) {
        Some(origin) if !origins.iter().any(|known| known.as_bytes() == origin.as_bytes()) => Err(refusal()),
        // A page whose host name leads to this machine has that name in `host`.
        None if may_be_of_a_page(request.headers(), request.uri()) => Err(refusal()),
        Some(_) | None => Ok(response),
    };
    accept_hdr_async_with_config(stream, check, Some(config)).await
}

fn refusal() -> ErrorResponse {
    let why = "pages of this origin may not reach the server; `duet serve --origin ORIGIN` lets them";
    let mut refusal = ErrorResponse::new(Some(why.to_owned()));
    *refusal.status_mut() = StatusCode::FORBIDDEN;
    refusal
}

/// Carries bytes between the messages of a socket and a connection, until either ends.
async fn pump(
    mut socket: WebSocketStream<Stream>,
    inbound: DuplexStream,
    mut packets: UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
) {
    // Once it is dropped, the connection hears that the client has gone, and ends the queue.
    let mut inbound = Some(inbound);
    loop {
        tokio::select! {
            message = socket.next(), if inbound.is_some() => {
                let bytes = match message {
                    Some(Ok(Message::Binary(bytes))) => bytes,
                    // The end of a message ends its last token, as a line end does.
                    Some(Ok(Message::Text(text))) => [text.as_bytes(), b"\n"].concat().into(),
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                    Some(Err(tokio_tungstenite::tungstenite::Error::Capacity(error))) => {
                        let error = format!("<error {:?} #f>", error.to_string());
                        // The client may have gone.
                        let _gone = socket.send(Message::text(error)).await;
                        inbound = None;
                        continue;
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => {
                        inbound = None;
                        continue;
                    }
                };
                if let Some(open) = &mut inbound
                    && open.write_all(&bytes).await.is_err()
                {
                    inbound = None;
                }
            }
            packet = packets.recv() => {
                let Some(packet) = packet else { break };
                let length = packet.len();
                if socket.send(message(packet)).await.is_err() {
                    return;
                }
                waiting.fetch_sub(length, Ordering::Relaxed);
            }
        }
    }
    let _closed = socket.close(None).await;
}

/// Makes a message of a packet; what begins with a byte from 0x80 on is packed, and no text.
fn message(packet: Vec<u8>) -> Message {
    match String::from_utf8(packet) {
        Ok(text) => Message::text(text),
        Err(packed) => Message::binary(packed.into_bytes()),
    }
}
