//! One connection: lines in, lines out.
//!
//! INVARIANT: bytes that were read stay in the buffer until their line is complete, so a reader
//! that stops waiting loses nothing.
//! It does not know names; `../line.rs` does.
//! Read next: `../line.rs`.

use std::io;

use duet_runtime::driver::ToolFailure;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex, Notify};

use crate::tool::arguments::integer;
use crate::tool::failure::Kind;

/// The maximum length of a line, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 16 << 10;

/// A connection.
pub(super) struct Connection {
    reader: Mutex<LineReader>,
    writer: Mutex<OwnedWriteHalf>,
    /// Wakes whoever waits for a line when the connection is ended on this side.
    ended: Notify,
}

struct LineReader {
    stream: OwnedReadHalf,
    buffer: Vec<u8>,
    /// The length of the part of the buffer that has no line end.
    searched: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let (stream, writer) = stream.into_split();
        let reader = LineReader {
            stream,
            buffer: Vec::new(),
            searched: 0,
        };
        Ok(Self {
            reader: Mutex::new(reader),
            writer: Mutex::new(writer),
            ended: Notify::new(),
        })
    }

    /// Takes the next line; nothing if the connection has ended.
    ///
    /// # Errors
    /// `output-limit` if the line is too long, `bad-result` if it is not UTF-8, `failed` if the
    /// connection breaks.
    pub(super) async fn receive(&self) -> Result<Option<String>, ToolFailure> {
        let receive = async { self.reader.lock().await.receive().await };
        tokio::select! {
            line = receive => line,
            () = self.ended.notified() => Ok(None),
        }
    }

    /// Sends a line.
    ///
    /// # Errors
    /// `failed` if the connection breaks.
    pub(super) async fn send(&self, line: &str) -> Result<(), ToolFailure> {
        let bytes = format!("{line}\n");
        let sent = self.writer.lock().await.write_all(bytes.as_bytes()).await;
        sent.map_err(|error| Kind::Failed.because(format!("the connection broke: {error}")))
    }

    /// Ends the waits for lines.
    pub(super) fn end(&self) {
        self.ended.notify_waiters();
        // A reader that is about to wait learns it as well.
        self.ended.notify_one();
    }
}

impl LineReader {
    async fn receive(&mut self) -> Result<Option<String>, ToolFailure> {
        loop {
            if let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                return self.take(self.searched + end).map(Some);
            }
            self.searched = self.buffer.len();
            if self.searched > LINE_BYTES_MAX {
                let message = format!("a line is longer than {LINE_BYTES_MAX} bytes; the connection was ended");
                return Err(Kind::OutputLimit.with(message, [("limit-bytes", integer(LINE_BYTES_MAX as u64))]));
            }
            self.buffer.reserve(CHUNK_BYTES);
            let read = self.stream.read_buf(&mut self.buffer).await;
            match read.map_err(|error| Kind::Failed.because(format!("the connection broke: {error}")))? {
                0 if self.buffer.is_empty() => return Ok(None),
                // The last line needs no end.
                0 => return self.take(self.buffer.len()).map(Some),
                _ => {}
            }
        }
    }

    /// Takes the line up to an index, and its end.
    fn take(&mut self, end: usize) -> Result<String, ToolFailure> {
        let rest = self.buffer.split_off((end + 1).min(self.buffer.len()));
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        line.truncate(end);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        String::from_utf8(line).map_err(|_| Kind::BadResult.because("a line is not UTF-8; the connection was ended"))
    }
}
