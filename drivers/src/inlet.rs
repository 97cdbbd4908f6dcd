//! One stream of bytes, and those who wait for parts of it: the program for input, questions for a line.
//!
//! INVARIANT: nothing is read that nobody waits for, and bytes reach those who wait in the order in which they asked; a question is shown only when
//! its turn has come, and never takes bytes that were read before that for the program.
//! It does not know which stream it is: `world.rs` gives one that is both, or two.
//! Read next: `world.rs`.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use crate::ask::Question;
use crate::console::Console;
use crate::world::Report;

/// How much is read at once, in bytes; a terminal gives a line at a time.
const CHUNK_BYTES_MAX: usize = 64 << 10;

/// The waiting end of a stream; clones share it.
#[derive(Clone)]
pub(crate) struct Inlet {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    reports: Sender<Report>,
    console: Arc<Mutex<Console>>,
}

#[derive(Default)]
struct Queue {
    demands: VecDeque<Demand>,
    /// Bytes read for the program and not yet taken.
    left: Vec<u8>,
    /// Bytes read for a question and not yet taken.
    typed: Vec<u8>,
    /// The question that was shown last and still waits.
    shown: Option<RequestId>,
    is_reading: bool,
    is_closed: bool,
}

/// Somebody who waits.
pub(crate) struct Demand {
    pub(crate) request: RequestId,
    pub(crate) key: String,
    pub(crate) wish: Wish,
}

/// What they wait for.
pub(crate) enum Wish {
    /// So many bytes at most, at least one.
    Bytes(usize),
    /// A line that answers.
    Answer(Question),
}

/// Whether the stream must be read to satisfy whoever waits longest.
enum Need {
    Nothing,
    Bytes,
}

impl Inlet {
    pub(crate) fn new(reports: Sender<Report>, console: Arc<Mutex<Console>>) -> Self {
        Self {
            shared: Arc::new(Shared {
                queue: Mutex::default(),
                changed: Condvar::new(),
                reports,
                console,
            }),
        }
    }

    /// Adds somebody who waits.
    pub(crate) fn demand(&self, demand: Demand) {
        let mut queue = self.shared.queue();
        queue.demands.push_back(demand);
        self.shared.present_while_reading(&mut queue);
        drop(queue);
        self.shared.changed.notify_one();
    }

    /// Forgets somebody who waits; what comes for them goes to the next.
    pub(crate) fn forget(&self, request: RequestId) {
        let mut queue = self.shared.queue();
        queue.demands.retain(|demand| demand.request != request);
        if queue.shown == Some(request) {
            queue.shown = None;
            self.shared.console().line("(withdrawn)");
        }
        self.shared.present_while_reading(&mut queue);
        drop(queue);
        self.shared.changed.notify_one();
    }

    /// Makes [`Inlet::serve`] come back, once it does not wait for the stream.
    pub(crate) fn close(&self) {
        self.shared.queue().is_closed = true;
        self.shared.changed.notify_one();
    }

    /// Reads `source` for those who wait, on a thread of its own, until the inlet is closed.
    pub(crate) fn serve(&self, mut source: Box<dyn Read + Send>) {
        let mut chunk = vec![0; CHUNK_BYTES_MAX];
        // A whole line is taken off a terminal even if the program wants less of it, lest a question find the rest.
        while self.shared.wait_for_need() {
            let length_bytes = loop {
                match source.read(&mut chunk) {
                    Ok(length_bytes) => break length_bytes,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.shared.console().line(&format!("cannot read input: {error}"));
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

    /// Reports to the core, which may be gone already.
    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// Waits until the stream must be read; `false` when the inlet is closed.
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

    /// Gives those who wait what has been read already, as far as it goes.
    fn settle(&self, queue: &mut Queue) -> Need {
        while let Some(demand) = queue.demands.pop_front() {
            let need = match &demand.wish {
                Wish::Bytes(length_bytes_max) => self.settle_bytes(queue, &demand, *length_bytes_max),
                Wish::Answer(question) => self.settle_answer(queue, &demand, question),
            };
            if let Need::Bytes = need {
                queue.demands.push_front(demand);
                return need;
            }
        }
        Need::Nothing
    }

    fn settle_bytes(&self, queue: &mut Queue, demand: &Demand, length_bytes_max: usize) -> Need {
        let Some(bytes) = queue.take(length_bytes_max) else {
            return Need::Bytes;
        };
        self.answer(
            demand,
            Input::Chunk {
                request: demand.request,
                bytes,
            },
        );
        Need::Nothing
    }

    /// Takes lines until one answers; shows the question if there is none yet.
    fn settle_answer(&self, queue: &mut Queue, demand: &Demand, question: &Question) -> Need {
        let request = demand.request;
        while let Some(line) = queue.take_line() {
            queue.shown = None;
            match question.answer(&line) {
                Ok(value) => {
                    self.answer(demand, Input::Answer { request, value });
                    return Need::Nothing;
                }
                Err(error) => self.console().line(&error.to_string()),
            }
        }
        self.present(queue, request, question);
        Need::Bytes
    }

    /// Shows a question unless it stands there already.
    fn present(&self, queue: &mut Queue, request: RequestId, question: &Question) {
        if queue.shown != Some(request) {
            self.console().prompt(&question.shown());
            queue.shown = Some(request);
        }
    }

    /// Shows the first question if what is being read is for it: a read that has begun cannot be called back when the one it was for is forgotten.
    fn present_while_reading(&self, queue: &mut Queue) {
        if queue.is_reading
            && let Some(Demand {
                request,
                wish: Wish::Answer(question),
                ..
            }) = queue.demands.front()
        {
            let (request, question) = (*request, question.clone());
            self.present(queue, request, &question);
        }
    }

    fn answer(&self, demand: &Demand, input: Input) {
        self.report(Report::Answered {
            key: demand.key.clone(),
            request: demand.request,
            input,
        });
    }

    /// Takes in what was read; nothing means that the stream has ended.
    fn accept(&self, bytes: &[u8]) {
        let mut queue = self.queue();
        queue.is_reading = false;
        let is_typed = queue.shown.is_some();
        if !bytes.is_empty() {
            if is_typed { &mut queue.typed } else { &mut queue.left }.extend_from_slice(bytes);
            return;
        }
        // A last line without an end is a line.
        if is_typed && !queue.typed.is_empty() {
            queue.typed.push(b'\n');
            return;
        }
        queue.shown = None;
        let Some(demand) = queue.demands.pop_front() else {
            return;
        };
        match demand.wish {
            Wish::Bytes(_) => self.answer(
                &demand,
                Input::Chunk {
                    request: demand.request,
                    bytes: Vec::new(),
                },
            ),
            Wish::Answer(_) => {
                self.console().line("");
                self.report(Report::Unanswered {
                    key: demand.key,
                    request: demand.request,
                });
            }
        }
    }
}

impl Queue {
    /// Takes bytes for the program, if there are any.
    fn take(&mut self, length_bytes_max: usize) -> Option<Vec<u8>> {
        let from = if self.left.is_empty() {
            &mut self.typed
        } else {
            &mut self.left
        };
        let length_bytes = length_bytes_max.min(from.len());
        (length_bytes > 0).then(|| from.drain(..length_bytes).collect())
    }

    /// Takes a line for a question, if there is a whole one, without its end.
    fn take_line(&mut self) -> Option<String> {
        let end = self.typed.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.typed.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line[..end]).into_owned();
        Some(line.strip_suffix('\r').map(str::to_owned).unwrap_or(line))
    }
}
