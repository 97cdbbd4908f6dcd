//! Clients that have not proved yet that they may come in.
//!
//! INVARIANT: pending clients have few places and a bounded part of the memory, of which the oldest
//! makes room for the next, and each a few seconds; so idle connections of others lock out nobody
//! who proves at once who he is.
//! It does not know what a proof is. Read next: `serve/listener.rs`, `http_server.rs`.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The maximum number of pending clients at the same time.
const CLIENTS_MAX: usize = 256;

/// The maximum number of bytes that a pending client may send.
const BYTES_MAX: usize = 64 << 10;

/// The maximum length of all messages together that pending clients have begun to send, in bytes.
const HELD_BYTES_MAX: usize = 64 << 20;

/// The time in which a client has to prove that it may come in.
const WAIT: Duration = Duration::from_secs(15);

/// The pending clients of a server; clones share them.
#[derive(Clone, Default)]
pub(crate) struct PendingClients(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    next: u64,
    /// In the order in which they came.
    by_number: BTreeMap<u64, Waiting>,
    /// The length of what they have sent, in bytes.
    held_bytes: usize,
}

/// A pending client in the table.
struct Waiting {
    out: Arc<Notify>,
    /// The length of what is kept of its message, in bytes.
    held_bytes: usize,
}

impl Table {
    fn remove(&mut self, number: u64) -> Option<Waiting> {
        let waiting = self.by_number.remove(&number)?;
        self.held_bytes -= waiting.held_bytes;
        Some(waiting)
    }

    /// Sends the oldest client away of those that are wanted; says whether there was one.
    fn send_away(&mut self, is_wanted: impl Fn(u64, &Waiting) -> bool) -> bool {
        let mut all = self.by_number.iter();
        let oldest = all.find(|(number, waiting)| is_wanted(**number, waiting));
        let oldest = oldest.map(|(number, _)| *number);
        let gone = oldest.and_then(|number| self.remove(number));
        gone.as_ref().inspect(|gone| gone.out.notify_one()).is_some()
    }
}

/// The place of a pending client; dropping it gives the place back.
pub(crate) struct PendingClient {
    all: PendingClients,
    number: u64,
    out: Arc<Notify>,
    end: Instant,
    sent_bytes: AtomicUsize,
}

/// The stream of a client, which ends when a pending client has sent too much.
pub(crate) struct Metered<S> {
    stream: S,
    client: Arc<PendingClient>,
}

impl PendingClients {
    /// Gives a place to a client; the oldest one has to go if there are too many.
    pub(crate) fn enter(&self) -> PendingClient {
        let out = Arc::new(Notify::new());
        let mut table = self.table();
        let number = table.next;
        table.next += 1;
        let waiting = Waiting {
            out: Arc::clone(&out),
            held_bytes: 0,
        };
        table.by_number.insert(number, waiting);
        if table.by_number.len() > CLIENTS_MAX {
            table.send_away(|_, _| true);
        }
        debug_assert!(table.by_number.len() <= CLIENTS_MAX, "pending clients have few places");
        PendingClient {
            all: self.clone(),
            number,
            out,
            end: Instant::now() + WAIT,
            sent_bytes: AtomicUsize::new(0),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingClient {
    /// Lets the client in: it has no longer to go. It may be called more than once.
    pub(crate) fn admit(&self) {
        self.all.table().remove(self.number);
    }

    /// Counts bytes of the client's message that are kept until it is let in; the oldest clients
    /// with a part of one have to go if all have sent too much.
    pub(crate) fn hold(&self, length_bytes: usize) {
        let mut table = self.all.table();
        let Some(own) = table.by_number.get_mut(&self.number) else {
            return;
        };
        own.held_bytes += length_bytes;
        table.held_bytes += length_bytes;
        while table.held_bytes > HELD_BYTES_MAX
            && table.send_away(|number, waiting| number != self.number && waiting.held_bytes > 0)
        {}
    }

    /// Says whether the client is still pending, or had to go.
    fn is_waiting(&self) -> bool {
        self.all.table().by_number.contains_key(&self.number)
    }

    /// Waits until the client has to go, and says why; for ever once it is let in.
    pub(crate) async fn must_go(&self) -> &'static str {
        tokio::select! {
            () = self.out.notified() => return "too many clients came that have proved nothing either",
            () = sleep_until(self.end) => {}
        }
        if !self.is_waiting() {
            std::future::pending::<()>().await;
        }
        "the client has proved in 15 seconds nothing by which it may come in"
    }
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, client: Arc<PendingClient>) -> Self {
        Self { stream, client }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let length = buffer.filled().len() - before;
        let sent = self.client.sent_bytes.fetch_add(length, Ordering::Relaxed) + length;
        if sent > BYTES_MAX && self.client.is_waiting() {
            // A reader that fails has read nothing.
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other("a client that has proved nothing sends too much")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for PendingClient {
    fn drop(&mut self) {
        self.admit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_pending_client_makes_room_and_who_is_let_in_stays() {
        let clients = PendingClients::default();
        let (first, second) = (clients.enter(), clients.enter());
        first.admit();
        let others: Vec<PendingClient> = (0..CLIENTS_MAX).map(|_| clients.enter()).collect();
        assert!(second.must_go().await.starts_with("too many"));
        let is_waiting = |client: &PendingClient| client.is_waiting();
        assert!(others.iter().all(is_waiting) && !is_waiting(&first) && !is_waiting(&second));
    }

    #[tokio::test]
    async fn the_oldest_messages_make_room_and_those_of_clients_that_are_let_in_do_not_count() {
        let clients = PendingClients::default();
        let [first, idle, second, third] = [(); 4].map(|()| clients.enter());
        let part = HELD_BYTES_MAX / 2;
        for client in [&first, &second, &third] {
            client.hold(part);
        }
        assert!(first.must_go().await.starts_with("too many"));
        assert!(!first.is_waiting() && idle.is_waiting() && second.is_waiting() && third.is_waiting());
        second.admit();
        second.hold(2 * HELD_BYTES_MAX);
        third.hold(part);
        assert!(third.is_waiting() && idle.is_waiting());
        drop(third);
        assert_eq!(clients.table().held_bytes, 0);
    }

    #[tokio::test]
    async fn a_pending_client_sends_little_and_who_is_let_in_much() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        for (is_let_in, is_read) in [(false, false), (true, true)] {
            let pending = Arc::new(PendingClients::default().enter());
            if is_let_in {
                pending.admit();
            }
            let (mut client, stream) = tokio::io::duplex(4 * BYTES_MAX);
            client.write_all(&vec![0; 2 * BYTES_MAX]).await.unwrap();
            drop(client);
            let read = Metered::new(stream, pending).read_to_end(&mut Vec::new()).await;
            assert_eq!(read.is_ok(), is_read);
        }
    }
}
