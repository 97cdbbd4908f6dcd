//! One connection: bytes in, packets to the relay, its actions done, bytes out.
//!
//! INVARIANT: a client may have [`PACKETS_MAX`] packets on their way to runs; until a run takes one
//! nothing more is read from it. It may leave [`QUEUE_BYTES_MAX`] bytes unread; then it is
//! disconnected, so that nobody waits for it.
//! It does not know what packets mean; `relay.rs` does. Read next: `relay.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use duet_runtime::driver::packed::PackedLimits;
use duet_runtime::model::codec::record;
use preserves::IOValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep_until, timeout};

use super::arrival::Arrival;
use super::gate::{Admission, Gate};
use super::rate_limit::RateLimits;
use super::relay::{Relay, RelayAction};
use crate::client_request::{ClientRequest, News, NewsSender};
use crate::framing::{Decoder, Encoding};
use crate::pending::PendingClient;

/// The limits of a packet.
pub(super) const PACKET_LIMITS: PackedLimits = PackedLimits {
    depth_max: 200,
    bytes_max: 4 << 20,
};

/// The maximum number of packets of a client that no run has taken yet.
const PACKETS_MAX: usize = 256;

/// The maximum number of bytes that a client may leave unread.
const QUEUE_BYTES_MAX: usize = 16 << 20;

/// How long the rest of a packet may take, and a client to take the last bytes.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How often references are checked again: a revoked or expired one ends the connection.
const CHECK: Duration = Duration::from_secs(1);

/// The bytes on their way to a client.
struct Outgoing {
    queue: UnboundedSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    encoding: Encoding,
}

impl Outgoing {
    /// Sends a packet.
    ///
    /// # Errors
    /// If the client does not read, or the packet cannot be written.
    fn send(&self, packet: &IOValue) -> Result<(), String> {
        let bytes = self.encoding.write(packet);
        let bytes = bytes.map_err(|error| format!("a packet for the client cannot be written: {error}"))?;
        let waiting = self.waiting.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if waiting > QUEUE_BYTES_MAX {
            return Err(format!("the client has left more than {QUEUE_BYTES_MAX} bytes unread"));
        }
        self.queue.send(bytes).map_err(|_| "the client has gone".to_owned())
    }
}

/// The packets on their way to a client, and the number of their bytes.
pub(super) struct Queue {
    pub(super) queue: UnboundedSender<Vec<u8>>,
    pub(super) waiting: Arc<AtomicUsize>,
}

/// Serves a client until it goes, or has to.
pub(super) async fn serve<S>(stream: S, arrival: Arrival)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (reading, writing) = tokio::io::split(stream);
    let (queue, bytes) = unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let writer = tokio::spawn(write(writing, bytes, Arc::clone(&waiting)));
    converse(reading, Queue { queue, waiting }, arrival, writer).await;
}

/// Serves the client that writes these bytes; a task writes what is put into the queue, and ends
/// after it.
pub(super) async fn converse(
    reading: impl AsyncRead + Unpin,
    Queue { queue, waiting }: Queue,
    arrival: Arrival,
    writer: JoinHandle<()>,
) {
    let (news, heard) = unbounded_channel();
    let mut connection = Connection {
        relay: Relay::new(arrival.name),
        gate: arrival.gate,
        pending: arrival.pending,
        clients: arrival.clients,
        client: None,
        news,
        decoder: Decoder::new(PACKET_LIMITS),
        outgoing: Outgoing {
            queue,
            waiting,
            encoding: Encoding::Packed,
        },
        places: Arc::new(Semaphore::new(PACKETS_MAX)),
        rate_limits: arrival.rate_limits,
        waiting: Vec::new(),
    };
    if let Err(why) = connection.run(reading, heard).await {
        let error = record("error", vec![IOValue::new(why), IOValue::new(false)]);
        // The client may have gone, or does not read.
        let _ = connection.outgoing.send(&error);
    }
    connection.leave();
    drop(connection);
    // It ends when it has written everything, unless the client does not take it.
    let stop = writer.abort_handle();
    if timeout(PATIENCE, writer).await.is_err() {
        stop.abort();
    }
}

async fn write(mut writing: impl AsyncWrite + Unpin, mut queue: UnboundedReceiver<Vec<u8>>, waiting: Arc<AtomicUsize>) {
    while let Some(mut bytes) = queue.recv().await {
        // Packets that wait together leave together.
        while bytes.len() < (64 << 10)
            && let Ok(more) = queue.try_recv()
        {
            bytes.extend_from_slice(&more);
        }
        if writing.write_all(&bytes).await.is_err() {
            return;
        }
        waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
    let _closed = writing.shutdown().await;
}

fn require_heard(is_heard: bool) -> Result<(), String> {
    is_heard.then_some(()).ok_or_else(|| "the run has stopped".to_owned())
}

/// Waits until the first of the waiting ways may ask again; for ever if there is none.
async fn next_of(waiting: &[(Instant, u64, Admission)]) {
    match waiting.iter().map(|(at, ..)| *at).min() {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

struct Connection {
    relay: Relay,
    gate: Arc<dyn Gate>,
    pending: Arc<PendingClient>,
    clients: Arc<Semaphore>,
    /// The place of a client that has shown a reference.
    client: Option<OwnedSemaphorePermit>,
    news: UnboundedSender<News>,
    decoder: Decoder,
    outgoing: Outgoing,
    places: Arc<Semaphore>,
    rate_limits: RateLimits,
    /// The ways whose grants have had too many short connections, with the time to ask again.
    waiting: Vec<(Instant, u64, Admission)>,
}

impl Connection {
    /// # Errors
    /// Why the connection has to end, for the client.
    async fn run(
        &mut self,
        mut reading: impl AsyncRead + Unpin,
        mut heard: UnboundedReceiver<News>,
    ) -> Result<(), String> {
        let mut buffer = vec![0; 16 << 10];
        let mut ticks = interval(CHECK);
        let mut amid_since: Option<Instant> = None;
        loop {
            tokio::select! {
                news = heard.recv() => {
                    let Some(news) = news else { return Ok(()) };
                    self.hear(news, &mut heard)?;
                }
                length = reading.read(&mut buffer) => {
                    let Ok(length @ 1..) = length else { return Ok(()) };
                    self.decoder.add(&buffer[..length]);
                    if let Some(encoding) = self.decoder.encoding() {
                        self.outgoing.encoding = encoding;
                    }
                    self.take_packets(&mut heard).await?;
                    self.admit()?;
                    amid_since = self.decoder.is_amid().then(Instant::now);
                }
                () = next_of(&self.waiting) => self.join_waiting(&mut heard).await?,
                why = self.pending.must_go() => return Err(why.to_owned()),
                _ = ticks.tick() => {
                    self.relay.check(&*self.gate)?;
                    if amid_since.is_some_and(|since| since.elapsed() > PATIENCE) {
                        return Err("half a packet came, and nothing more for 10 seconds".to_owned());
                    }
                }
            }
        }
    }

    /// Lets a client in once it has shown a reference.
    fn admit(&mut self) -> Result<(), String> {
        if self.client.is_none() && self.relay.has_entered() {
            let place = Arc::clone(&self.clients).try_acquire_owned();
            self.client = Some(place.map_err(|_| "the server has too many clients".to_owned())?);
            self.pending.admit();
        }
        Ok(())
    }

    async fn take_packets(&mut self, heard: &mut UnboundedReceiver<News>) -> Result<(), String> {
        while let Some(packet) = self.decoder.next().map_err(|error| error.to_string())? {
            let actions = self.relay.packet(&packet, &*self.gate)?;
            for action in self.tell_all(actions)? {
                self.act(action, heard).await?;
            }
        }
        Ok(())
    }

    /// Hands an action to a run.
    async fn act(&mut self, action: RelayAction, heard: &mut UnboundedReceiver<News>) -> Result<(), String> {
        let (host, request) = match action {
            RelayAction::Join { way, admission } => return self.join(way, admission, heard).await,
            RelayAction::Said { host, peer, what } => {
                let _permit = self.place(heard).await?;
                (host, ClientRequest::Said { peer, what, _permit })
            }
            RelayAction::Leave { host, peer } => (host, ClientRequest::Leave { peer }),
            RelayAction::Tell { .. } | RelayAction::Say { .. } => return Ok(()),
        };
        require_heard(host.request(request))
    }

    /// Asks a run to let the client in, as soon as the rate limit of its grant allows it.
    async fn join(
        &mut self,
        way: u64,
        admission: Admission,
        heard: &mut UnboundedReceiver<News>,
    ) -> Result<(), String> {
        match self.rate_limits.enter(&admission.grant) {
            Ok(permit) => self.relay.begin(way, permit),
            Err(wait) => {
                self.waiting.push((Instant::now() + wait, way, admission));
                return Ok(());
            }
        }
        let request = ClientRequest::Join {
            name: self.relay.name(way),
            manifest: admission.manifest,
            caveats: admission.caveats,
            news_sender: NewsSender {
                way,
                news: self.news.clone(),
            },
            _permit: self.place(heard).await?,
        };
        require_heard(admission.host.request(request))
    }

    /// Takes up the ways that have waited long enough, and those that the client does not want any
    /// more.
    async fn join_waiting(&mut self, heard: &mut UnboundedReceiver<News>) -> Result<(), String> {
        let now = Instant::now();
        for (at, way, admission) in std::mem::take(&mut self.waiting) {
            if at > now {
                self.waiting.push((at, way, admission));
            } else if self.relay.is_wanted(way) {
                self.join(way, admission, heard).await?;
            }
        }
        Ok(())
    }

    /// Waits for a place on the way to a run; the client hears of what happens meanwhile.
    async fn place(&mut self, heard: &mut UnboundedReceiver<News>) -> Result<OwnedSemaphorePermit, String> {
        loop {
            let places = Arc::clone(&self.places);
            tokio::select! {
                biased;
                permit = places.acquire_owned() => return permit.map_err(|_| "the server is about to end".to_owned()),
                Some(news) = heard.recv() => self.hear(news, heard)?,
            }
        }
    }

    /// Takes news, and all that have come with them, and sends them in one packet.
    fn hear(&mut self, first: News, heard: &mut UnboundedReceiver<News>) -> Result<(), String> {
        let mut actions = Vec::new();
        let mut next = Some(first);
        while let Some(News { way, peer, told }) = next {
            actions.extend(self.relay.news(way, peer, told)?);
            next = if actions.len() < 256 {
                heard.try_recv().ok()
            } else {
                None
            };
        }
        for action in self.tell_all(actions)? {
            if let RelayAction::Leave { host, peer } = action {
                // Where the run has stopped, the client has left it.
                let _stopped = host.request(ClientRequest::Leave { peer });
            }
        }
        Ok(())
    }

    /// Sends the events among the actions in one packet, then the other packets, and returns the
    /// other actions.
    fn tell_all(&mut self, actions: Vec<RelayAction>) -> Result<Vec<RelayAction>, String> {
        let (mut events, mut packets, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for action in actions {
            match action {
                RelayAction::Tell { oid, event } => events.push(IOValue::new(vec![IOValue::new(oid), event])),
                RelayAction::Say { packet } => packets.push(packet),
                other @ (RelayAction::Join { .. } | RelayAction::Said { .. } | RelayAction::Leave { .. }) => {
                    others.push(other)
                }
            }
        }
        if !events.is_empty() {
            self.outgoing.send(&IOValue::new(events))?;
        }
        packets.iter().try_for_each(|packet| self.outgoing.send(packet))?;
        Ok(others)
    }

    fn leave(&mut self) {
        for action in self.relay.leave_all() {
            if let RelayAction::Leave { host, peer } = action {
                let _stopped = host.request(ClientRequest::Leave { peer });
            }
        }
    }
}
