//! Commands under way, each in a process of its own.
//!
//! INVARIANT: no process of a command is left when its request has been answered or cancelled, or
//! when this process has died, except a run that the command has left to go on in the background.
//! The words of a request reach the command on its standard input: every account of the machine can
//! read those of a command line, whose length is limited as well.
//! It does not choose commands; the protocol does.
//! Read next: `../guard.rs`.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value as Json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::task::{self, AbortHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::{CommandRequest, Job, Work};
use crate::guard::{self, End, GuardScope, Guarded, Input, NotRun};

/// The maximum length of an output that is kept for a client, in bytes.
const OUTPUT_BYTES_MAX: usize = 256 << 10;

/// How long a command may take to end that was asked to, because its time is over.
const LEAVING: Duration = Duration::from_secs(5);

/// The only word of a command line whose words come on standard input.
pub const WORDS_ON_INPUT: &str = "--words-on-input";

/// Writes the words of a command in the form that [`read_words`] reads.
#[must_use]
pub fn words_text(words: &[String]) -> String {
    Json::from(words).to_string()
}

/// Reads the words of a command to the end of an input.
///
/// # Errors
/// If the input cannot be read, or is no list of texts.
pub fn read_words(input: impl Read) -> io::Result<Vec<String>> {
    Ok(serde_json::from_reader(io::BufReader::new(input))?)
}

/// How a command ended.
#[derive(Debug, Default)]
pub struct Done {
    /// The exit code; none if it was killed, or did not start.
    pub code: Option<i32>,
    /// Whether the time limit ended it.
    pub is_late: bool,
    /// The beginning of its output.
    pub output: String,
    /// The beginning of its messages.
    pub messages: String,
    /// Whether either was longer.
    pub is_truncated: bool,
}

/// The commands under way.
pub(super) struct Commands {
    program: PathBuf,
    running: JoinSet<Json>,
    /// By the texts of their ids.
    by_id: BTreeMap<String, AbortHandle>,
    /// The batches of those that belong to one.
    batch_of: BTreeMap<task::Id, usize>,
    batches: BTreeMap<usize, Batch>,
    batch_count: usize,
}

/// A batch whose commands are under way.
#[derive(Default)]
struct Batch {
    replies: Vec<Json>,
    /// The number of commands that have not ended.
    open_count: usize,
}

impl Batch {
    /// The replies as one list, if no command is under way any more; an empty list is no reply.
    fn whole(self) -> Option<Json> {
        (self.open_count == 0 && !self.replies.is_empty()).then_some(Json::Array(self.replies))
    }
}

impl Commands {
    pub(super) fn new(program: PathBuf) -> Self {
        Self {
            program,
            running: JoinSet::new(),
            by_id: BTreeMap::new(),
            batch_of: BTreeMap::new(),
            batches: BTreeMap::new(),
            batch_count: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(super) fn start(&mut self, request: CommandRequest) {
        self.spawn(request);
    }

    fn spawn(&mut self, request: CommandRequest) -> task::Id {
        let (program, id) = (self.program.clone(), request.id.to_string());
        let handle = self.running.spawn(async move { perform(&program, request).await });
        self.by_id.retain(|_, running| !running.is_finished());
        let task = handle.id();
        self.by_id.insert(id, handle);
        task
    }

    /// Starts the commands of a batch; returns its replies if it has none.
    pub(super) fn start_batch(&mut self, works: Vec<Work>) -> Option<Json> {
        let number = self.batch_count;
        let mut batch = Batch::default();
        for work in works {
            match work {
                Work::Nothing | Work::Batch(_) => {}
                Work::Reply(reply) => batch.replies.push(reply),
                Work::Cancel(id) => self.cancel(&id),
                Work::Command(request) => {
                    let task = self.spawn(*request);
                    self.batch_of.insert(task, number);
                    batch.open_count += 1;
                }
            }
        }
        if batch.open_count == 0 {
            return batch.whole();
        }
        self.batch_count += 1;
        self.batches.insert(number, batch);
        None
    }

    pub(super) fn cancel(&mut self, id: &Json) {
        if let Some(running) = self.by_id.remove(&id.to_string()) {
            running.abort();
        }
    }

    /// Waits for the next reply; none if a command was cancelled, or others of its batch are under
    /// way.
    pub(super) async fn next(&mut self) -> Option<Json> {
        let ended = self.running.join_next_with_id().await?;
        let task = ended.as_ref().map_or_else(task::JoinError::id, |(task, _)| *task);
        let reply = ended.ok().map(|(_, reply)| reply);
        let Some(number) = self.batch_of.remove(&task) else {
            return reply;
        };
        let batch = self.batches.get_mut(&number)?;
        batch.replies.extend(reply);
        batch.open_count -= 1;
        if batch.open_count > 0 {
            return None;
        }
        self.batches.remove(&number)?.whole()
    }
}

/// Runs a command to its end, and makes the reply.
pub(super) async fn perform(program: &Path, request: CommandRequest) -> Json {
    let limits = Limits {
        time: request.limit,
        output_bytes: OUTPUT_BYTES_MAX,
    };
    (request.finish)(&done(program, request.job, limits).await)
}

/// What a command may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) time: Duration,
    /// The length of each of its outputs that is kept.
    pub(super) output_bytes: usize,
}

/// Does a piece of work.
pub(super) async fn done(program: &Path, job: Job, limits: Limits) -> Done {
    match job {
        Job::Command(words) => run(program, &words, limits).await,
        Job::Answer(answer) => answered(answer, limits.time).await,
    }
}

/// Has a question answered on a thread, which stops when nobody waits any more.
async fn answered(answer: Box<dyn FnOnce(Arc<AtomicBool>) -> Done + Send>, limit: Duration) -> Done {
    let stop = Stop(Arc::default());
    let flag = Arc::clone(&stop.0);
    match timeout(limit, spawn_blocking(move || answer(flag))).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Done {
            messages: "the question could not be answered, because of an error in Duet".to_owned(),
            ..Done::default()
        },
        Err(_) => Done {
            is_late: true,
            messages: "the question took too long".to_owned(),
            ..Done::default()
        },
    }
}

/// Tells an answer, when dropped, that nobody waits for it.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn run(program: &Path, words: &[String], limits: Limits) -> Done {
    let refused = |problem: &str| Done {
        messages: format!("cannot start `{}`: {problem}", program.display()),
        ..Done::default()
    };
    let text = words_text(words);
    let command = guard::GuardedCommand {
        words: &[program.to_string_lossy().into_owned(), WORDS_ON_INPUT.to_owned()],
        directory: Path::new("."),
        environment: None,
        input: Input::Bytes(text.as_bytes()),
        // A run that goes on in the background is left.
        scope: GuardScope::Group,
    };
    let mut guarded = match Guarded::start(program, command) {
        Ok(guarded) => guarded,
        Err(error) => return refused(&error.to_string()),
    };
    let mut outputs = Outputs::of(&mut guarded, limits.output_bytes);
    let ended = timeout(limits.time, outputs.until_end(&mut guarded)).await;
    if ended.is_err() {
        // A run whose process is killed goes on in a worker; one whose process leaves stays.
        guarded.ask_to_end().await;
        if timeout(LEAVING, outputs.until_end(&mut guarded)).await.is_err() {
            guarded.give_up().await;
        }
    }
    let kept = outputs.kept;
    if let Ok(Err(NotRun::Refused(_, problem))) = &ended {
        return refused(problem);
    }
    Done {
        code: match ended {
            Ok(Ok(End::Exit(code))) => Some(code),
            Ok(Ok(End::Signal(_)) | Err(_)) | Err(_) => None,
        },
        is_late: ended.is_err(),
        is_truncated: kept.0.is_truncated || kept.1.is_truncated,
        output: kept.0.text(),
        messages: kept.1.text(),
    }
}

/// The outputs of a command.
struct Outputs {
    pipes: (Option<ChildStdout>, Option<ChildStderr>),
    kept: (Kept, Kept),
}

impl Outputs {
    fn of(guarded: &mut Guarded, bytes_max: usize) -> Self {
        Self {
            pipes: guarded.outputs(),
            kept: (Kept::within(bytes_max), Kept::within(bytes_max)),
        }
    }

    /// Keeps what comes until the command has ended.
    async fn until_end(&mut self, guarded: &mut Guarded) -> Result<End, NotRun> {
        let (output, messages) = (self.pipes.0.as_mut(), self.pipes.1.as_mut());
        tokio::join!(self.kept.0.drain(output), self.kept.1.drain(messages), guarded.end()).2
    }
}

/// The beginning of an output.
struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_truncated: bool,
}

impl Kept {
    fn within(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
            is_truncated: false,
        }
    }

    async fn drain(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        let mut chunk = vec![0; 16 << 10];
        // A read error ends the pipe like its end.
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let room = self.bytes_max - self.bytes.len();
            self.is_truncated |= length > room;
            self.bytes.extend_from_slice(&chunk[..length.min(room)]);
        }
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
