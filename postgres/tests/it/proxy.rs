//! A proxy on the loopback that cuts a connection where a test says.
//!
//! INVARIANT: a cut or a pause is at the next bytes that the client sends, so at a place and not at
//! a time.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use duet_postgres::{Address, PostgresStore};

use crate::server::{self, Server};

/// Where the connection is cut, counted from the time at which the test says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Never.
    None = 0,
    /// Before the server gets any of the next statement.
    Before = 1,
    /// When the server has a part of it.
    Within = 2,
    /// When the server has all of it and has answered, and the client has no answer.
    After = 3,
}

/// How fast the proxy carries what the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As it comes, but some time later.
    Late = 1,
    /// As somebody who reads a little at a time.
    Slow = 2,
}

impl Pace {
    const LATE: Duration = Duration::from_millis(20);
    const SLOW: Duration = Duration::from_micros(200);
    const SLOW_BYTES: usize = 1_024;
}

pub(crate) struct Proxy {
    port: u16,
    controls: Arc<Controls>,
}

/// What a test sets and all connections go by.
#[derive(Default)]
struct Controls {
    /// The [`Cut`] at the next statement.
    cut: AtomicUsize,
    /// The [`Pace`] of answers, or 0.
    pace: AtomicUsize,
    pause: Pause,
}

/// A pause in which nothing is carried, and connections are accepted all the same, as by a server
/// that hangs.
#[derive(Default)]
struct Pause {
    /// Whether it lasts, and how many connections were accepted since it began.
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Pause {
    fn set(&self, lasts: bool) {
        *self.state.lock().unwrap() = (lasts, 0);
        self.changed.notify_all();
    }

    fn accept(&self) {
        self.state.lock().unwrap().1 += 1;
        self.changed.notify_all();
    }

    /// Waits until it is over.
    fn wait(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |(lasts, _)| *lasts).unwrap());
    }

    /// Waits until somebody connects in it.
    fn wait_for_another(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |(_, count)| *count == 0).unwrap());
    }
}

impl Proxy {
    /// Stands before the server with this socket.
    fn before(server: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let controls = Arc::new(Controls::default());
        let shared = Arc::clone(&controls);
        // It ends with the process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, Ok(server)) = (client.unwrap(), UnixStream::connect(&server)) else {
                    continue;
                };
                shared.pause.accept();
                let controls = Arc::clone(&shared);
                thread::spawn(move || carry(client, server, &controls));
            }
        });
        Self { port, controls }
    }

    /// An empty store on a server, reached through a proxy, and its address without the proxy.
    pub(crate) fn store(server: &Server) -> (Self, Address, PostgresStore) {
        let (proxy, direct) = (Self::before(server.socket()), server.address(&server::schema()));
        let store = PostgresStore::open_or_create(&proxy.address(&direct, "")).unwrap();
        (proxy, direct, store)
    }

    /// The address of the proxy, with more options.
    pub(crate) fn address(&self, direct: &Address, options: &str) -> Address {
        let (port, schema) = (self.port, direct.schema());
        let address = format!("postgres://duet@127.0.0.1:{port}/postgres?schema={schema}&sslmode=disable{options}");
        address.parse().unwrap()
    }

    /// The port at which it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Carries nothing until [`go_on`](Self::go_on).
    pub(crate) fn hang(&self) {
        self.controls.pause.set(true);
    }

    /// Waits until somebody connects in vain.
    pub(crate) fn wait_for_another(&self) {
        self.controls.pause.wait_for_another();
    }

    /// Carries what has come meanwhile.
    pub(crate) fn go_on(&self) {
        self.controls.pause.set(false);
    }

    /// Carries answers at another pace from now on.
    pub(crate) fn set_pace(&self, pace: Pace) {
        self.controls.pace.store(pace as usize, Ordering::SeqCst);
    }

    /// Cuts the connection at the next statement.
    pub(crate) fn cut(&self, cut: Cut) {
        self.controls.cut.store(cut as usize, Ordering::SeqCst);
    }

    /// Whether the cut was made.
    pub(crate) fn has_cut(&self) -> bool {
        self.controls.cut.load(Ordering::SeqCst) == Cut::None as usize
    }
}

/// Carries what a server has answered, at a pace.
fn answer(client: &mut TcpStream, bytes: &[u8], pace: usize) -> std::io::Result<()> {
    if pace == Pace::Slow as usize {
        for piece in bytes.chunks(Pace::SLOW_BYTES) {
            thread::sleep(Pace::SLOW);
            client.write_all(piece)?;
        }
        return Ok(());
    }
    if pace == Pace::Late as usize {
        thread::sleep(Pace::LATE);
    }
    client.write_all(bytes)
}

/// Carries bytes both ways until a cut.
fn carry(client: TcpStream, server: UnixStream, controls: &Arc<Controls>) {
    let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let swallows = Arc::new(AtomicUsize::new(0));
    let swallowing = Arc::clone(&swallows);
    let answering = Arc::clone(controls);
    let back = thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from_server.read(&mut bytes) {
            if swallowing.load(Ordering::SeqCst) == 1 {
                break;
            }
            if answer(&mut to_client, &bytes[..count], answering.pace.load(Ordering::SeqCst)).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
    let (mut from_client, mut to_server) = (client, server);
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = from_client.read(&mut bytes) {
        controls.pause.wait();
        let cuts = &controls.cut;
        let cut = cuts.load(Ordering::SeqCst);
        let is_here = cut != Cut::None as usize
            && cuts
                .compare_exchange(cut, Cut::None as usize, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok();
        if is_here && cut == Cut::Before as usize {
            break;
        }
        if is_here && cut == Cut::Within as usize {
            let _ = to_server.write_all(&bytes[..count / 2]);
            break;
        }
        if is_here {
            swallows.store(1, Ordering::SeqCst);
        }
        if to_server.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    if swallows.load(Ordering::SeqCst) == 0 {
        let _ = to_server.shutdown(Shutdown::Both);
        let _ = from_client.shutdown(Shutdown::Both);
    }
    let _ = back.join();
}
