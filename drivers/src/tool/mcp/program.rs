//! A server that is a program: its process, its streams, and its last words.
//!
//! INVARIANT: when this is dropped, no process of the program's group is left; a line that is too
//! long ends the connection before it fills the memory.
//! It does not know the protocol; each line passes `older.rs`.
//! Read next: `link.rs`.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use super::older;
use super::server::{Place, Settings};
use crate::tool::arguments::integer;
use crate::tool::failure::Kind;
use crate::tool::process::Group;

/// The maximum length of a message, in bytes.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The number of bytes of standard error that are kept for messages.
const LAST_WORDS_BYTES: usize = 1_000;

/// The maximum time that a program that should have ended takes for it.
const END_WAIT: Duration = Duration::from_millis(500);

/// The maximum time that a program takes to end when its input has ended.
const STOP_WAIT: Duration = Duration::from_secs(1);

/// A running program.
pub(super) struct Program {
    group: Mutex<Group>,
    fault: Fault,
}

/// The knowledge about the end of a program; clones share it.
#[derive(Clone)]
pub(super) struct Fault {
    status: watch::Receiver<Option<ExitStatus>>,
    last_words: Arc<Mutex<VecDeque<u8>>>,
    is_too_long: Arc<AtomicBool>,
}

/// How a program ended.
#[derive(Default)]
pub(super) struct End {
    status: Option<ExitStatus>,
    last_words: String,
    is_too_long: bool,
}

/// The streams of a program: what it says, and what it hears.
pub(super) type Streams = (Metered, ChildStdin);

impl Program {
    /// Starts the program of a server.
    ///
    /// # Errors
    /// `unavailable` if it cannot be started.
    pub(super) fn start(settings: &Settings) -> Result<(Self, Streams), ToolFailure> {
        let refuse = |program: &str, error: io::Error| {
            let message = format!(
                "the MCP server `{}` does not start: cannot run `{program}`: {error}",
                settings.name
            );
            Kind::Unavailable.because(message)
        };
        let Place::Program {
            words,
            environment,
            directory,
        } = &settings.place
        else {
            return Err(refuse("", io::ErrorKind::Unsupported.into()));
        };
        let (program, arguments) = words
            .split_first()
            .map_or(("", &[][..]), |(first, rest)| (&**first, rest));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory).env_clear();
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| refuse(program, error))?;
        let group = Mutex::new(Group::of(&child));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(refuse(program, io::ErrorKind::BrokenPipe.into()));
        };
        let (ended, status) = watch::channel(None);
        let fault = Fault {
            status,
            last_words: Arc::default(),
            is_too_long: Arc::default(),
        };
        tokio::spawn(keep_last_words(errors, Arc::clone(&fault.last_words)));
        tokio::spawn(async move {
            if let Ok(status) = child.wait().await {
                ended.send_replace(Some(status));
            }
        });
        let output = Metered {
            output,
            line: Vec::new(),
            ready: (Vec::new(), 0),
            is_too_long: Arc::clone(&fault.is_too_long),
        };
        Ok((Self { group, fault }, (output, input)))
    }

    /// Returns the knowledge about its end.
    pub(super) fn fault(&self) -> Fault {
        self.fault.clone()
    }

    /// Waits a moment for its end, and kills what is left of it.
    pub(super) async fn ended(&mut self) -> End {
        let end = self.fault.end().await;
        self.kill();
        end
    }

    /// Ends a program whose input has ended.
    pub(super) async fn stop(&self) {
        let mut status = self.fault.status.clone();
        // One that does not end by itself is killed.
        let _ = timeout(STOP_WAIT, status.wait_for(Option::is_some)).await;
        self.kill();
    }

    fn kill(&self) {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

impl Fault {
    /// Waits a moment for the end.
    pub(super) async fn end(&self) -> End {
        let mut status = self.status.clone();
        let is_too_long = self.is_too_long.load(Ordering::Relaxed);
        if !is_too_long {
            // A program may have closed its output only.
            let _ = timeout(END_WAIT, status.wait_for(Option::is_some)).await;
        }
        let last_words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let last_words: Vec<u8> = last_words.iter().copied().collect();
        End {
            status: *self.status.borrow(),
            last_words: String::from_utf8_lossy(&last_words).trim().to_owned(),
            is_too_long,
        }
    }
}

impl End {
    /// The failure of a program that said too much at once.
    pub(super) fn limit(&self, name: &str) -> Option<ToolFailure> {
        self.is_too_long.then(|| {
            let message = format!(
                "a message of the MCP server `{name}` is longer than {LINE_BYTES_MAX} bytes; the server was ended, and \
                 the next call starts it again"
            );
            Kind::OutputLimit.with(message, [("limit-bytes", integer(LINE_BYTES_MAX as u64))])
        })
    }

    /// Says how it ended and what it said last, to follow a message.
    pub(super) fn shown(&self) -> String {
        let status = self.status.map_or_else(String::new, |status| format!(" ({status})"));
        let said = if self.last_words.is_empty() {
            String::new()
        } else {
            format!("; its last words: {}", self.last_words)
        };
        format!("{status}{said}")
    }
}

async fn keep_last_words(mut errors: ChildStderr, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = vec![0; 4 << 10];
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&chunk[..length]);
        let surplus = kept.len().saturating_sub(LAST_WORDS_BYTES);
        kept.drain(..surplus);
    }
}

/// The output of a program, line by line, which ends where a line gets too long.
pub(super) struct Metered {
    output: ChildStdout,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// Complete lines, of which so many bytes have been read.
    ready: (Vec<u8>, usize),
    is_too_long: Arc<AtomicBool>,
}

impl Metered {
    /// Hands out what is ready; says whether there was anything.
    fn hand_out(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let (bytes, read) = &mut self.ready;
        let end = bytes.len().min(*read + buffer.remaining());
        let handed = &bytes[*read..end];
        buffer.put_slice(handed);
        let is_any = !handed.is_empty();
        *read = end;
        if end == bytes.len() {
            self.ready = (Vec::new(), 0);
        }
        is_any
    }

    /// Takes what the program said; the end of its output ends a line.
    fn hear(&mut self, came: &[u8]) {
        for part in came.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > LINE_BYTES_MAX {
                self.is_too_long.store(true, Ordering::Relaxed);
                self.line = Vec::new();
                return;
            }
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        if came.is_empty() && !self.line.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let told = older::told(&line);
        self.ready.0.extend_from_slice(&told);
        if !told.ends_with(b"\n") {
            self.ready.0.push(b'\n');
        }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.hand_out(buffer) || self.is_too_long.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
            let mut space = [0; 8 << 10];
            let mut chunk = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut self.output).poll_read(context, &mut chunk))?;
            self.hear(chunk.filled());
            if chunk.filled().is_empty() {
                self.hand_out(buffer);
                return Poll::Ready(Ok(()));
            }
        }
    }
}
