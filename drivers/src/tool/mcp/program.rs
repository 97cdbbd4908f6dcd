//! A server that is a program: its process, its streams, and its last words.
//!
//! INVARIANT: when this is dropped or this process dies, a guard ends all that the program has
//! started; a line that is too long ends the connection before it fills the memory.
//! It does not know the protocol.
//! Read next: `link.rs`.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::net::unix::pipe::Sender;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::settings::{Settings, Transport};
use crate::guard::{self, GuardScope, Guarded, GuardedCommand, Input, NotRun};
use crate::tool::arguments::integer;
use crate::tool::failure::Kind;

/// The maximum length of a message, in bytes.
const LINE_BYTES_MAX: usize = 16 << 20;

/// The number of bytes of standard error that are kept for messages.
const LAST_WORDS_BYTES: usize = 1_000;

/// The maximum time that a program that should have ended takes for it.
const END_WAIT: Duration = Duration::from_millis(500);

/// The maximum time that a program takes to end when its input has ended.
const STOP_WAIT: Duration = Duration::from_secs(1);

/// The maximum time that a program that was killed takes to end.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// A running program.
pub(super) struct Program {
    /// Is notified when the guard has to end the program.
    is_given_up: Arc<Notify>,
    fault: Fault,
}

impl Drop for Program {
    fn drop(&mut self) {
        self.is_given_up.notify_one();
    }
}

/// The knowledge about the end of a program; clones share it.
#[derive(Clone)]
pub(super) struct Fault {
    status: watch::Receiver<Option<Ended>>,
    last_words: Arc<Mutex<VecDeque<u8>>>,
    is_too_long: Arc<AtomicBool>,
}

/// How a program ended; nothing where nobody knows.
type Ended = Option<guard::End>;

/// How a program ended, and what it said.
#[derive(Default)]
pub(super) struct End {
    status: Ended,
    last_words: String,
    is_too_long: bool,
}

/// The streams of a program: what it says, and what it hears.
pub(super) type Streams = (Metered, Sender);

impl Program {
    /// Starts the program of a server.
    ///
    /// # Errors
    /// `unavailable` if it cannot be started.
    pub(super) async fn start(settings: &Settings) -> Result<(Self, Streams), ToolFailure> {
        let Transport::Program { words, .. } = &settings.place else {
            return Err(refusal(settings, io::ErrorKind::Unsupported.into()));
        };
        let refuse = |error: io::Error| refusal(settings, error);
        if words.is_empty() {
            return Err(refuse(io::ErrorKind::NotFound.into()));
        }
        let (mut guarded, input) = under_guard(&settings.place).map_err(refuse)?;
        let (Some(output), Some(errors)) = guarded.outputs() else {
            return Err(refuse(io::ErrorKind::BrokenPipe.into()));
        };
        guarded.begin().await.map_err(|not_run| match not_run {
            NotRun::Refused(kind, problem) => refuse(io::Error::new(kind, problem)),
            NotRun::Lost => refuse(io::Error::other("the process that guards it has ended")),
        })?;
        let (ended, status) = watch::channel(None);
        let fault = Fault {
            status,
            last_words: Arc::default(),
            is_too_long: Arc::default(),
        };
        tokio::spawn(keep_last_words(errors, Arc::clone(&fault.last_words)));
        let is_given_up = Arc::new(Notify::new());
        tokio::spawn(watch_over(guarded, Arc::clone(&is_given_up), ended));
        let output = Metered {
            output,
            line_bytes: 0,
            is_too_long: Arc::clone(&fault.is_too_long),
        };
        Ok((Self { is_given_up, fault }, (output, input)))
    }

    /// Returns the knowledge about its end.
    pub(super) fn fault(&self) -> Fault {
        self.fault.clone()
    }

    /// Waits a moment for its end, and kills what is left of it.
    pub(super) async fn ended(&mut self) -> End {
        let end = self.fault.end().await;
        self.kill().await;
        end
    }

    /// Ends a program whose input has ended.
    pub(super) async fn stop(&self) {
        let mut status = self.fault.status.clone();
        // One that does not end by itself is killed.
        let _ = timeout(STOP_WAIT, status.wait_for(Option::is_some)).await;
        self.kill().await;
    }

    async fn kill(&self) {
        self.is_given_up.notify_one();
        let mut status = self.fault.status.clone();
        // A guard that somebody has stopped ends the program when it goes on.
        let _ = timeout(KILL_WAIT, status.wait_for(Option::is_some)).await;
    }
}

/// The failure of a program that cannot be run.
fn refusal(settings: &Settings, error: io::Error) -> ToolFailure {
    let program = match &settings.place {
        Transport::Program { words, .. } => words.first().map_or("", |program| program),
        Transport::Url { .. } | Transport::Refused(_) => "",
    };
    Kind::Unavailable.because(format!(
        "the MCP server `{}` does not start: cannot run `{program}`: {error}",
        settings.name
    ))
}

/// Starts a guard for a program, and returns the end of the pipe that the program will read.
fn under_guard(place: &Transport) -> io::Result<(Guarded, Sender)> {
    let Transport::Program {
        words,
        environment,
        directory,
    } = place
    else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let (input, ours) = io::pipe()?;
    let command = GuardedCommand {
        words,
        directory,
        environment: Some(&mut environment.iter().cloned()),
        input: Input::Pipe(input.into()),
        scope: GuardScope::All,
    };
    let guarded = Guarded::start(&guard::program(), command)?;
    Ok((guarded, Sender::from_owned_fd(ours.into())?))
}

/// Waits until a program has ended, or ends it when it is given up.
async fn watch_over(mut guarded: Guarded, is_given_up: Arc<Notify>, ended: watch::Sender<Option<Ended>>) {
    let end = tokio::select! {
        end = guarded.end() => end.ok(),
        () = is_given_up.notified() => {
            guarded.give_up().await;
            None
        }
    };
    ended.send_replace(Some(end));
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
            status: (*self.status.borrow()).flatten(),
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

    /// Says why its connection ended, how it ended and what it said last. A program that ends well
    /// after another fault has only seen that nobody talks to it any more.
    pub(super) fn after(&self, why: &str) -> String {
        if !why.is_empty() && self.status == Some(guard::End::Exit(0)) {
            return format!("{why}{}", self.said());
        }
        format!("{why}{}", self.shown())
    }

    /// Says how it ended and what it said last, to follow a message.
    pub(super) fn shown(&self) -> String {
        let status = match self.status {
            Some(guard::End::Exit(0)) => " (its program ended by itself, without an error)".to_owned(),
            Some(guard::End::Exit(code)) => format!(" (exit status: {code})"),
            Some(guard::End::Signal(number)) => format!(" (signal: {number})"),
            None => String::new(),
        };
        format!("{status}{}", self.said())
    }

    fn said(&self) -> String {
        if self.last_words.is_empty() {
            String::new()
        } else {
            format!("; its last words: {}", self.last_words)
        }
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

/// The output of a program, which ends where a line gets too long.
pub(super) struct Metered {
    output: ChildStdout,
    line_bytes: usize,
    is_too_long: Arc<AtomicBool>,
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_too_long.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.output).poll_read(context, buffer);
        let came = &buffer.filled()[before..];
        self.line_bytes = match came.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => came.len() - end - 1,
            None => self.line_bytes + came.len(),
        };
        if self.line_bytes > LINE_BYTES_MAX {
            self.is_too_long.store(true, Ordering::Relaxed);
            buffer.set_filled(before);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: i32, why: &str, expected: &str) {
        let end = End {
            status: Some(guard::End::Exit(code)),
            last_words: "bye".to_owned(),
            is_too_long: false,
        };
        assert_eq!(end.after(why), expected);
    }

    #[test]
    fn an_end_without_error_is_not_given_as_the_reason() {
        check(7, "", " (exit status: 7); its last words: bye");
        check(
            0,
            "",
            " (its program ended by itself, without an error); its last words: bye",
        );
        check(
            0,
            ": it is not of the protocol",
            ": it is not of the protocol; its last words: bye",
        );
        check(
            1,
            ": a broken pipe",
            ": a broken pipe (exit status: 1); its last words: bye",
        );
    }
}
