//! A stream of bytes with a queue of pending reads: the program reads bytes, a question reads a
//! line.
//!
//! INVARIANT: the stream is read only while a read is pending, and pending reads get bytes in the
//! order in which they were made; a question is shown only when it is first in the queue, and never
//! takes bytes that were read before for the program.
//! It does not know which stream it is: `world.rs` uses one stream for both, or one for each.
//! Read next: `world.rs`.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use crate::ask::Question;
use crate::console::Console;
use crate::report::{Report, Reporter};
use crate::tool::secret::stream::Redactor;

/// The maximum length of one read, in bytes; a terminal returns one line at a time.
const CHUNK_BYTES_MAX: usize = 64 << 10;

/// A stream and its pending reads; clones share both.
#[derive(Clone)]
pub(crate) struct InputStream {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    reports: Reporter,
    console: Arc<Mutex<Console>>,
}

#[derive(Default)]
struct Queue {
    reads: VecDeque<PendingRead>,
    /// Masks secrets in what the program reads, before it reads them in pieces.
    redactor: Redactor,
    /// Bytes that were read for the program and not yet taken.
    left: Vec<u8>,
    /// Bytes that were read for a question and not yet taken.
    typed: Vec<u8>,
    /// The question that is shown and has no answer yet.
    shown: Option<RequestId>,
    is_reading: bool,
    is_closed: bool,
}

/// A read that waits for bytes.
pub(crate) struct PendingRead {
    pub(crate) request: RequestId,
    pub(crate) key: String,
    pub(crate) wanted: ReadKind,
}

/// What a pending read waits for.
pub(crate) enum ReadKind {
    /// At least one byte, and at most this many.
    Bytes(usize),
    /// A line that answers the question.
    Answer(Question),
}

/// Whether the first pending read needs more bytes of the stream.
enum Need {
    Nothing,
    Bytes,
}

impl InputStream {
    pub(crate) fn new(reports: Reporter, console: Arc<Mutex<Console>>, redactor: Redactor) -> Self {
        Self {
            shared: Arc::new(Shared {
                queue: Mutex::new(Queue {
                    redactor,
                    ..Queue::default()
                }),
                changed: Condvar::new(),
                reports,
                console,
            }),
        }
    }

    /// Adds a pending read.
    pub(crate) fn add(&self, pending: PendingRead) {
        let mut queue = self.shared.queue();
        queue.reads.push_back(pending);
        self.shared.present_while_reading(&mut queue);
        drop(queue);
        self.shared.changed.notify_one();
    }

    /// Removes a pending read; its bytes go to the next one.
    pub(crate) fn forget(&self, request: RequestId) {
        let mut queue = self.shared.queue();
        queue.reads.retain(|pending| pending.request != request);
        if queue.shown == Some(request) {
            queue.shown = None;
            let mut console = self.shared.console();
            console.end_prompt();
            console.line("(withdrawn)");
        }
        self.shared.present_while_reading(&mut queue);
        drop(queue);
        self.shared.changed.notify_one();
    }

    /// Makes [`InputStream::serve`] return as soon as its current read has ended.
    pub(crate) fn close(&self) {
        self.shared.queue().is_closed = true;
        self.shared.changed.notify_one();
    }

    /// Reads `source` for pending reads until [`InputStream::close`]; the caller gives it a thread
    /// of its own.
    pub(crate) fn serve(&self, mut source: Box<dyn Read + Send>) {
        let mut chunk = vec![0; CHUNK_BYTES_MAX];
        // A terminal's whole line is read even if the program wants less, because a question must
        // not get the rest.
        while self.shared.wait_for_need() {
            let length_bytes = loop {
                match source.read(&mut chunk) {
                    Ok(length_bytes) => break length_bytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.shared.console().line(format!("cannot read input: {error}"));
                        break 0;
                    }
                }
            };
            self.shared.accept(&chunk[..length_bytes]);
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a report; the world may have been dropped.
    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// Waits until a pending read needs bytes; returns `false` when the stream is closed.
    fn wait_for_need(&self) -> bool {
        let mut queue = self.queue();
        loop {
            if queue.is_closed {
                return false;
            }
            match self.settle(&mut queue) {
                Need::Bytes => {
                    queue.is_reading = true;
                    return true;
                }
                Need::Nothing => queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Answers pending reads from the bytes that have been read.
    fn settle(&self, queue: &mut Queue) -> Need {
        while let Some(pending) = queue.reads.pop_front() {
            let need = match &pending.wanted {
                ReadKind::Bytes(length_bytes_max) => self.settle_bytes(queue, &pending, *length_bytes_max),
                ReadKind::Answer(question) => self.settle_answer(queue, &pending, question),
            };
            if let Need::Bytes = need {
                queue.reads.push_front(pending);
                return need;
            }
        }
        Need::Nothing
    }

    fn settle_bytes(&self, queue: &mut Queue, pending: &PendingRead, length_bytes_max: usize) -> Need {
        let Some(bytes) = queue.take(length_bytes_max) else {
            return Need::Bytes;
        };
        self.answer(
            pending,
            Input::Chunk {
                request: pending.request,
                bytes,
            },
        );
        Need::Nothing
    }

    /// Takes lines until one answers the question; shows the question if none does.
    fn settle_answer(&self, queue: &mut Queue, pending: &PendingRead, question: &Question) -> Need {
        let request = pending.request;
        while let Some(line) = queue.take_line() {
            queue.shown = None;
            match question.answer(&line) {
                Ok(value) => {
                    self.answer(pending, Input::Answer { request, value });
                    return Need::Nothing;
                }
                Err(error) => self.console().line(error.to_string()),
            }
        }
        self.present(queue, request, question);
        Need::Bytes
    }

    /// Shows a question unless it is shown already.
    fn present(&self, queue: &mut Queue, request: RequestId, question: &Question) {
        if queue.shown != Some(request) {
            self.console().prompt(&question.shown());
            queue.shown = Some(request);
        }
    }

    /// Shows the first question if a read is under way, because a read that has begun for a removed
    /// pending read serves the next one.
    fn present_while_reading(&self, queue: &mut Queue) {
        if queue.is_reading
            && let Some(PendingRead {
                request,
                wanted: ReadKind::Answer(question),
                ..
            }) = queue.reads.front()
        {
            let (request, question) = (*request, question.clone());
            self.present(queue, request, &question);
        }
    }

    fn answer(&self, pending: &PendingRead, input: Input) {
        self.report(Report::Answered {
            key: pending.key.clone(),
            request: pending.request,
            input,
        });
    }

    /// Stores bytes that were read; no bytes mean the end of the stream.
    fn accept(&self, bytes: &[u8]) {
        let mut queue = self.queue();
        queue.is_reading = false;
        let is_typed = queue.shown.is_some();
        if is_typed {
            self.console().end_prompt();
        }
        if !bytes.is_empty() {
            if is_typed {
                queue.typed.extend_from_slice(bytes);
            } else {
                let masked = queue.redactor.push(bytes);
                queue.left.extend(masked);
            }
            return;
        }
        let rest = queue.redactor.finish();
        if !rest.is_empty() {
            queue.left.extend(rest);
            return;
        }
        // A last line needs no line end.
        if is_typed && !queue.typed.is_empty() {
            queue.typed.push(b'\n');
            return;
        }
        queue.shown = None;
        let Some(pending) = queue.reads.pop_front() else {
            return;
        };
        match pending.wanted {
            ReadKind::Bytes(_) => self.answer(
                &pending,
                Input::Chunk {
                    request: pending.request,
                    bytes: Vec::new(),
                },
            ),
            ReadKind::Answer(_) => {
                self.console().line("");
                self.report(Report::Unanswered {
                    key: pending.key,
                    request: pending.request,
                });
            }
        }
    }
}

impl Queue {
    /// Takes bytes for the program, if any are stored.
    fn take(&mut self, length_bytes_max: usize) -> Option<Vec<u8>> {
        if self.left.is_empty() {
            let typed = std::mem::take(&mut self.typed);
            self.left = self.redactor.push(&typed);
        }
        let length_bytes = length_bytes_max.min(self.left.len());
        (length_bytes > 0).then(|| self.left.drain(..length_bytes).collect())
    }

    /// Takes a whole line for a question, without its end, if one is stored.
    fn take_line(&mut self) -> Option<String> {
        let end = self.typed.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.typed.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line[..end]).into_owned();
        Some(line.strip_suffix('\r').map(str::to_owned).unwrap_or(line))
    }
}
