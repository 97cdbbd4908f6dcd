//! Duet as a server for other programs: messages in, commands of Duet out.
//!
//! A command runs in a process of its own, as a person would start it, so one that hangs or crashes
//! costs its own request only. A question that records answer is answered here, on a thread.
//! INVARIANT: each request gets one reply, in whatever order the commands end; a request that is
//! cancelled ends its command and all that it has started, and so does a client that is gone.
//! It does not know the protocol: [`Protocol`] does.
//! Read next: `host/command.rs`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use command::{Commands, Done};
use lines::{Line, lines};

use crate::tool::surrogate::unmarked;

pub mod command;
pub mod folders;
pub mod health;
pub mod http;
mod in_flight;
mod lines;
pub mod page;

/// The maximum length of a message, in bytes.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The time that the threads have to end, after the last reply.
const END_WAIT: Duration = Duration::from_millis(200);

/// The time between two looks for who reads the replies, once the input has ended.
const READER_INTERVAL: Duration = Duration::from_millis(500);

/// What a message asks for.
pub enum Work {
    /// Nothing that is answered.
    Nothing,
    /// A reply that is known.
    Reply(Json),
    /// The end of the request with this id.
    Cancel(Json),
    /// A command, whose end makes the reply.
    Command(Box<CommandRequest>),
    /// The messages of a batch, none of which is one; their replies are one list.
    Batch(Vec<Work>),
}

/// A request for a command.
pub struct CommandRequest {
    /// The id of the request.
    pub id: Json,
    /// The work.
    pub job: Job,
    /// The time limit.
    pub limit: Duration,
    /// Makes the reply.
    pub finish: Box<dyn FnOnce(&Done) -> Json + Send>,
}

/// The work of a request.
pub enum Job {
    /// It runs the command of these words, without the name of the program.
    Command(Vec<String>),
    /// It answers in this process, and stops early when the flag is set.
    Answer(Box<dyn FnOnce(Arc<AtomicBool>) -> Done + Send>),
}

/// Gives the value of a header of HTTP by its name; several are one, with commas between them.
pub type Header<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a message over HTTP asks for.
pub struct HttpWork {
    /// The work.
    pub work: Work,
    /// The status of HTTP with which a reply that is known leaves.
    pub status: fn(&Json) -> u16,
    /// Who asks, if a later message of that client may cancel the request; else the end of its
    /// connection alone does.
    pub client: Option<String>,
    /// Further headers of a reply that is known.
    pub headers: Vec<(&'static str, String)>,
}

/// A protocol of requests and replies.
pub trait Protocol: Send + Sync + 'static {
    /// Takes a message.
    fn hear(&self, message: &[u8]) -> Work;

    /// Refuses a message that is longer than `bytes_max`, of which this is the beginning.
    fn refuse_long(&self, beginning: &[u8], bytes_max: usize) -> Json;

    /// Takes a message that came over HTTP, whose headers may repeat parts of it.
    fn hear_http(&self, header: Header<'_>, message: &[u8]) -> HttpWork;
}

/// Finds the id of a message that is no JSON.
#[must_use]
pub fn id_within(message: &[u8]) -> Option<Json> {
    crate::tool::mcp::mend::id(message)
}

/// The parts of a host.
#[derive(Clone)]
pub struct Host {
    /// The protocol.
    pub protocol: Arc<dyn Protocol>,
    /// The program whose commands are run, Duet itself.
    pub program: PathBuf,
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("duet-host")
        .enable_all()
        .build()
}

impl Host {
    /// Hears messages on standard input, one a line, and replies on standard output, until the
    /// input ends and the last command is done, or nobody can read its reply.
    ///
    /// # Errors
    /// If the system gives no threads, or standard output is closed.
    pub fn over_lines(self) -> io::Result<()> {
        let runtime = runtime()?;
        let ended = runtime.block_on(self.hear_lines());
        runtime.shutdown_timeout(END_WAIT);
        ended
    }

    async fn hear_lines(self) -> io::Result<()> {
        let mut lines = lines();
        let mut commands = Commands::new(self.program);
        let mut is_open = true;
        loop {
            tokio::select! {
                line = lines.recv(), if is_open => match line {
                    None => is_open = false,
                    Some(Line::Cut(beginning)) => say(&self.protocol.refuse_long(&beginning, MESSAGE_BYTES_MAX))?,
                    Some(Line::Whole(line)) => match self.protocol.hear(unmarked(&line)) {
                        Work::Nothing => {}
                        Work::Reply(reply) => say(&reply)?,
                        Work::Cancel(id) => commands.cancel(&id),
                        Work::Command(request) => commands.start(*request),
                        Work::Batch(all) => {
                            if let Some(replies) = commands.start_batch(all) {
                                say(&replies)?;
                            }
                        }
                    },
                },
                reply = commands.next(), if !commands.is_empty() => {
                    if let Some(reply) = reply {
                        say(&reply)?;
                    }
                }
                () = reader_gone(), if !is_open && !commands.is_empty() => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                else => return Ok(()),
            }
        }
    }
}

/// Waits until nobody can read standard output any more.
async fn reader_gone() {
    let mut is_gone = false;
    while !is_gone {
        sleep(READER_INTERVAL).await;
        let output = io::stdout();
        let mut looked_at = [PollFd::new(&output, PollFlags::empty())];
        let looked = poll(&mut looked_at, Some(&Timespec::default()));
        let gone = PollFlags::ERR | PollFlags::HUP;
        is_gone = looked.is_ok() && looked_at[0].revents().intersects(gone);
    }
}

fn say(message: &Json) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{message}")?;
    output.flush()
}
