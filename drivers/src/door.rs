//! The door of a process: a Unix socket at which other processes of the same person ask it for
//! things that only the owner of a run can do.
//!
//! Clients speak the beginning of Syndicate's protocol: a client asserts
//! `<request RUN WHAT #:[0 1]>` at the server's object 0, and the server asserts `<ok VALUE>` or
//! `<error TEXT #f>` at the client's object 1. Before that it sends the message `<heard>`, so a
//! client can tell a process that is busy from one that is stopped.
//! INVARIANT: only the owner of the files can open the door; whatever comes in is bounded in size,
//! depth, number and time, and none of it reaches the run but whole requests. The path names either
//! the socket of the process that made it or nothing.
//!
//! It does not know what may be asked; whoever takes the [`Request`] does.
//! Read next: `door/packet.rs`, then `door/caller.rs`.
//!
//! Source: the Syndicate protocol, <https://synit.org/book/protocol.html>.

pub mod caller;
mod packet;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as Plain;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use preserves::IOValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use self::packet::{Incoming, Packets};
use crate::report::{Report, Reporter};
pub use crate::request::Request;
use crate::waker::Waker;

/// The maximum number of clients at a time.
const CLIENTS_MAX: u32 = 64;

/// The time in which a client has to send the rest of a packet, and to take one.
const PATIENCE: Duration = Duration::from_secs(10);

/// The process behind a door.
#[derive(Clone)]
pub(crate) struct DoorOwner {
    pub(crate) reporter: Reporter,
    /// Stops a turn that takes too long when the request waits to be stopped.
    pub(crate) waker: Waker,
    /// What executes here, as requests name it.
    pub(crate) name: Arc<Mutex<String>>,
}

impl DoorOwner {
    /// Says whether a request stops what executes here.
    fn is_stopped_by(&self, run: &str, what: &IOValue) -> bool {
        what.is_simple_record("stop", Some(0)) && *self.name.lock().unwrap_or_else(PoisonError::into_inner) == run
    }
}

/// A socket that is open; dropping it closes it.
pub(crate) struct Door {
    path: PathBuf,
    task: AbortHandle,
    places: Arc<Semaphore>,
}

/// How long a process that ends waits for clients to take their answers.
const FAREWELL: Duration = Duration::from_millis(300);

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
        // Where it stays, the next process that opens a door beside it removes it.
        let _left = fs::remove_file(&self.path);
    }
}

impl Door {
    /// Opens the door at `path`, in a folder that only its owner can enter.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if another process listens there; if the system has no such
    /// sockets, or the folder cannot be written.
    pub(crate) fn open(runtime: &Handle, path: &Path, owner: DoorOwner) -> io::Result<Self> {
        let _guard = runtime.enter();
        let near = Near::of(path)?;
        let listener = match UnixListener::bind(&near.path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_behind(&near.path) => {
                fs::remove_file(path)?;
                UnixListener::bind(&near.path)?
            }
            bound => bound?,
        };
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let places = Arc::new(Semaphore::new(CLIENTS_MAX as usize));
        let task = runtime.spawn(listen(listener, owner, Arc::clone(&places)));
        Ok(Self {
            path: path.to_owned(),
            task: task.abort_handle(),
            places,
        })
    }

    /// Closes the door, when those who have been answered have gone, or soon.
    pub(crate) fn close(self, runtime: &Handle) {
        self.task.abort();
        let places = Arc::clone(&self.places);
        drop(self);
        runtime.block_on(async {
            let _late = timeout(FAREWELL, places.acquire_many(CLIENTS_MAX)).await;
        });
    }
}

/// Says whether nobody listens at a socket any more.
pub(crate) fn is_left_behind(path: &Path) -> bool {
    Plain::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The greatest length of a socket's path in bytes, on all systems.
const PATH_BYTES_MAX: usize = 100;

/// A path that is short enough for a socket's address.
pub(crate) struct Near {
    /// The path.
    pub(crate) path: PathBuf,
    /// The folder, through which a long path is made short.
    _folder: Option<File>,
}

impl Near {
    /// Shortens a path, if need be.
    ///
    /// # Errors
    /// If its folder cannot be opened.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        if path.as_os_str().len() <= PATH_BYTES_MAX {
            return Ok(Self {
                path: path.to_owned(),
                _folder: None,
            });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidFilename.into());
        };
        let folder = File::open(folder)?;
        Ok(Self {
            path: Path::new("/proc/self/fd")
                .join(folder.as_raw_fd().to_string())
                .join(name),
            _folder: Some(folder),
        })
    }
}

async fn listen(listener: UnixListener, owner: DoorOwner, places: Arc<Semaphore>) {
    loop {
        // A failure concerns one client, or the number of open files, which may fall again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let owner = owner.clone();
        tokio::spawn(async move {
            serve(stream, owner).await;
            drop(place);
        });
    }
}

async fn serve(stream: UnixStream, owner: DoorOwner) {
    let (reading, writing) = stream.into_split();
    let (replies, queue) = unbounded_channel();
    let writer = tokio::spawn(write(writing, queue));
    if let Err(refusal) = read(reading, &owner, &replies).await {
        let _ = replies.send(packet::refusal(&refusal));
    }
    drop(replies);
    // Requests in progress hold the other ends of the queue.
    let _ended = writer.await;
}

/// Reads requests until the client goes.
///
/// # Errors
/// The fault of a packet, for the client.
async fn read(mut reading: OwnedReadHalf, owner: &DoorOwner, replies: &UnboundedSender<Vec<u8>>) -> Result<(), String> {
    let mut packets = Packets::default();
    let mut buffer = [0; 4096];
    loop {
        for incoming in packets.take()? {
            let Incoming { run, what, handle } = incoming;
            let _ = replies.send(packet::heard());
            let stops = owner.is_stopped_by(&run, &what);
            let replies = replies.clone();
            let request = Request::new(run, what, move |answer| {
                // The client may have gone.
                let _ = replies.send(packet::answer(handle, answer));
            });
            if owner.reporter.send(Report::Asked(request)).is_err() {
                return Err("the process is about to end".to_owned());
            }
            if stops {
                owner.waker.interrupt();
            }
        }
        let read = reading.read(&mut buffer);
        let length = if packets.is_amid() {
            let in_time = timeout(PATIENCE, read).await;
            in_time.map_err(|_| "half a packet came, and nothing more for 10 seconds".to_owned())?
        } else {
            read.await
        };
        match length {
            Ok(0) | Err(_) => return Ok(()),
            Ok(length) => packets.add(&buffer[..length]),
        }
    }
}

async fn write(mut writing: OwnedWriteHalf, mut queue: UnboundedReceiver<Vec<u8>>) {
    while let Some(packet) = queue.recv().await {
        if !matches!(timeout(PATIENCE, writing.write_all(&packet)).await, Ok(Ok(()))) {
            return;
        }
    }
    let _closed = writing.shutdown().await;
}
