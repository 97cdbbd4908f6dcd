//! Commands under way, each in a process of its own.
//!
//! INVARIANT: no process of a command is left when its request has been answered or cancelled.
//! It does not choose commands; the protocol does.
//! Read next: `../tool/process.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::Errand;
use crate::tool::process::Group;

/// The maximum length of an output that is kept, in bytes.
const OUTPUT_BYTES_MAX: usize = 256 << 10;

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
}

impl Commands {
    pub(super) fn new(program: PathBuf) -> Self {
        Self {
            program,
            running: JoinSet::new(),
            by_id: BTreeMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(super) fn start(&mut self, errand: Errand) {
        let (program, id) = (self.program.clone(), errand.id.to_string());
        let handle = self.running.spawn(async move { perform(&program, errand).await });
        self.by_id.retain(|_, running| !running.is_finished());
        self.by_id.insert(id, handle);
    }

    pub(super) fn cancel(&mut self, id: &Json) {
        if let Some(running) = self.by_id.remove(&id.to_string()) {
            running.abort();
        }
    }

    /// Waits for the next reply; none if a command was cancelled.
    pub(super) async fn next(&mut self) -> Option<Json> {
        self.running.join_next().await?.ok()
    }
}

/// Runs a command to its end, and makes the reply.
pub(super) async fn perform(program: &Path, errand: Errand) -> Json {
    let done = run(program, &errand.words, errand.limit).await;
    (errand.finish)(&done)
}

async fn run(program: &Path, words: &[String], limit: Duration) -> Done {
    let mut command = Command::new(program);
    command.args(words).process_group(0).kill_on_drop(true);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return Done {
                messages: format!("cannot start `{}`: {error}", program.display()),
                ..Done::default()
            };
        }
    };
    let mut group = Group::of(&child);
    let (output, messages) = (child.stdout.take(), child.stderr.take());
    let mut kept = (Kept::default(), Kept::default());
    let ended = {
        let all = async { tokio::join!(kept.0.drain(output), kept.1.drain(messages), child.wait()).2 };
        timeout(limit, all).await
    };
    group.kill();
    Done {
        code: ended.as_ref().ok().and_then(|ended| ended.as_ref().ok()?.code()),
        is_late: ended.is_err(),
        is_truncated: kept.0.is_truncated || kept.1.is_truncated,
        output: kept.0.text(),
        messages: kept.1.text(),
    }
}

/// The beginning of an output.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    is_truncated: bool,
}

impl Kept {
    async fn drain(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        let mut chunk = vec![0; 16 << 10];
        // A read error ends the pipe like its end.
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let room = OUTPUT_BYTES_MAX - self.bytes.len();
            self.is_truncated |= length > room;
            self.bytes.extend_from_slice(&chunk[..length.min(room)]);
        }
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
