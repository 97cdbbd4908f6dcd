//! The guard of a program: a process between Duet and the program, which ends all that the program
//! has started when the program ends, when Duet gives it up, and when Duet dies, however it dies.
//!
//! The guard is Duet's own executable, started with [`WORD`]. It is the reaper of what the program
//! leaves behind, so a process that opens a session of its own stays within its scope.
//! (Rejected: the system's signal at the death of the parent, because it reaches the program alone
//! and needs code between fork and exec; a mark in the environment, because a program may clear
//! it.)
//! INVARIANT: when the guard has ended, no process below it is left, or with `GuardScope::Group`
//! none of the program's group, except those that the system does not let it kill (of another user)
//! or that do not die within `DYING`. Where the system has no reapers (outside Linux), processes
//! that leave the program's group are left too. It does not know the purpose of the program. Read
//! next: `guard/watch.rs`.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, Read};
use std::mem::{MaybeUninit, take};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::cmsg_space;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

pub mod left;
pub mod watch;

/// The first word of the command line of a guard; the number of the process that started it
/// follows.
pub const WORD: &str = "internal:guard";

/// The time within which killed processes should be gone.
const DYING: Duration = Duration::from_secs(5);

/// Stands for no input, in place of its length.
const NO_INPUT: u64 = u64::MAX;

/// The bits of the first byte of an order: a pipe comes with it, and the scope is the group.
const PIPE: u8 = 1;
const GROUP: u8 = 2;

/// The byte after its order by which a guard learns that it has to ask its program to end.
const ASK_TO_END: u8 = 1;

/// The line by which a guard says that the program has started.
const STARTED: &str = "started";

/// Returns the executable of a guard: the one that this process executes, also after a newer one
/// has taken its name. Where the system does not say it, there is one of that name.
pub fn program() -> PathBuf {
    let own = Path::new("/proc/self/exe");
    if own.exists() {
        own.to_owned()
    } else {
        std::env::current_exe().unwrap_or_else(|_| PathBuf::from("duet"))
    }
}

/// A program to be started.
pub(crate) struct GuardedCommand<'a> {
    pub(crate) words: &'a [String],
    pub(crate) directory: &'a Path,
    /// All variables that it gets; without it those of this process.
    pub(crate) environment: Option<&'a mut dyn Iterator<Item = (OsString, OsString)>>,
    pub(crate) input: Input<'a>,
    pub(crate) scope: GuardScope,
}

/// What a program reads on its standard input.
pub(crate) enum Input<'a> {
    Nothing,
    Bytes(&'a [u8]),
    /// What somebody writes into the other end of a pipe.
    Pipe(OwnedFd),
}

/// Which processes end with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardScope {
    /// All that it has started, and what these have started.
    All,
    /// Those of its group. A process that it means to leave behind has a group of its own.
    Group,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// Why a program has not run, or nobody knows how it ended.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// The system did not start it.
    Refused(io::ErrorKind, String),
    /// The guard has died.
    Lost,
}

/// A program under a guard. Dropping it ends the program and all that it has started.
pub(crate) struct Guarded {
    /// It closes when the guard ends; when this side closes it, the guard ends the program.
    line: Option<UnixStream>,
    guard: Child,
    /// What the guard has to read before it starts the program; empty once it is written.
    order: Vec<u8>,
    /// What the guard has said after the program has started, or in place of that.
    report: Vec<u8>,
}

impl Guarded {
    /// Starts a guard; it starts the program when [`begin`](Self::begin) or [`end`](Self::end) is
    /// waited for.
    ///
    /// # Errors
    /// If the guard cannot be started.
    pub(crate) fn start(executable: &Path, guarded: GuardedCommand<'_>) -> io::Result<Self> {
        let (ours, theirs) = Socket::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(executable);
        #[expect(clippy::disallowed_methods, reason = "it tells whether the guard's starter has died")]
        let own = std::process::id();
        command.arg0("duet").args([WORD, &own.to_string()]);
        command.current_dir(guarded.directory);
        if let Some(environment) = guarded.environment {
            command.env_clear().envs(environment);
        }
        command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let (input, pipe) = match guarded.input {
            Input::Nothing => (None, None),
            Input::Bytes(bytes) => (Some(bytes), None),
            Input::Pipe(pipe) => (None, Some(pipe)),
        };
        send_first(&ours, guarded.scope, pipe)?;
        Ok(Self {
            line: Some(UnixStream::from_std(ours)?),
            guard: command.spawn()?,
            order: order(guarded.words, input),
            report: Vec::new(),
        })
    }

    /// Takes what the program writes.
    pub(crate) fn outputs(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.guard.stdout.take(), self.guard.stderr.take())
    }

    /// Starts the program, unless it has been started.
    ///
    /// # Errors
    /// [`NotRun`].
    pub(crate) async fn begin(&mut self) -> Result<(), NotRun> {
        if self.order.is_empty() {
            return Ok(());
        }
        let line = self.line.as_mut().ok_or(NotRun::Lost)?;
        // A guard that has died reads nothing, and reports nothing.
        let _ = line.write_all(&take(&mut self.order)).await;
        while let Ok(byte) = line.read_u8().await {
            if byte == b'\n' {
                self.report.clear();
                return Ok(());
            }
            self.report.push(byte);
        }
        Err(self.reported().await.err().unwrap_or(NotRun::Lost))
    }

    /// Starts the program and waits until it and all within its scope have ended.
    ///
    /// # Errors
    /// [`NotRun`].
    pub(crate) async fn end(&mut self) -> Result<End, NotRun> {
        self.begin().await?;
        let line = self.line.as_mut().ok_or(NotRun::Lost)?;
        let _ = line.read_to_end(&mut self.report).await;
        self.reported().await
    }

    /// Waits for the end of the guard, which has closed the line, and reads its report.
    async fn reported(&mut self) -> Result<End, NotRun> {
        let ended = self.guard.wait().await;
        let report = String::from_utf8_lossy(&self.report);
        ended
            .ok()
            .and_then(|_| read_report(&report))
            .unwrap_or(Err(NotRun::Lost))
    }

    /// Asks the program to end, as the system does by SIGTERM; [`end`](Self::end) waits for it.
    pub(crate) async fn ask_to_end(&mut self) {
        if let Some(line) = &mut self.line {
            // A guard that has ended has no program any more.
            let _ = line.write_all(&[ASK_TO_END]).await;
        }
    }

    /// Ends the program and all that it has started.
    pub(crate) async fn give_up(&mut self) {
        let Some(mut line) = self.line.take() else { return };
        let _ = line.shutdown().await;
        if timeout(DYING * 2, self.guard.wait()).await.is_err() {
            // Somebody has stopped it.
            let _ = self.guard.start_kill();
        }
    }
}

impl Drop for Guarded {
    /// Waits a moment, so that a next call finds nothing of this one.
    fn drop(&mut self) {
        let Some(line) = self.line.take().and_then(|line| line.into_std().ok()) else {
            return;
        };
        if matches!(self.guard.try_wait(), Ok(Some(_))) {
            return;
        }
        let wait = || {
            line.shutdown(Shutdown::Write)?;
            line.set_nonblocking(false)?;
            line.set_read_timeout(Some(DYING))?;
            (&line).read_to_end(&mut Vec::new())
        };
        // Where the guard does not answer in time, it has been stopped, and goes on when it is not.
        let _ = wait();
    }
}

/// Sends the first byte of an order, and with it the pipe that the program reads.
fn send_first(line: &Socket, scope: GuardScope, pipe: Option<OwnedFd>) -> io::Result<()> {
    let group = if scope == GuardScope::Group { GROUP } else { 0 };
    let first = [group | if pipe.is_some() { PIPE } else { 0 }];
    let pipes: Vec<_> = pipe.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !pipes.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(&pipes)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(line, &[IoSlice::new(&first)], &mut beside, SendFlags::empty())?;
    Ok(())
}

/// What a guard reads then: the length of the words and the words, each ended by a zero byte; the
/// length of the input and the input.
fn order(words: &[String], input: Option<&[u8]>) -> Vec<u8> {
    let words = words.iter().fold(Vec::new(), |mut all, word| {
        all.extend_from_slice(word.as_bytes());
        all.push(0);
        all
    });
    let mut order = (words.len() as u64).to_be_bytes().to_vec();
    order.extend(words);
    order.extend(input.map_or(NO_INPUT, |input| input.len() as u64).to_be_bytes());
    order.extend(input.unwrap_or_default());
    order
}

/// Reads a report; `None` if the text is malformed.
fn read_report(report: &str) -> Option<Result<End, NotRun>> {
    let (word, rest) = report.split_once(' ')?;
    let number = || rest.parse().ok();
    match word {
        "exit" => Some(Ok(End::Exit(number()?))),
        "signal" => Some(Ok(End::Signal(number()?))),
        "missing" => Some(Err(NotRun::Refused(io::ErrorKind::NotFound, rest.to_owned()))),
        "denied" => Some(Err(NotRun::Refused(io::ErrorKind::PermissionDenied, rest.to_owned()))),
        "failed" => Some(Err(NotRun::Refused(io::ErrorKind::Other, rest.to_owned()))),
        _ => None,
    }
}

/// Says whether a command line is a guard's.
pub fn is_guard(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| word == OsStr::new(WORD))
}
