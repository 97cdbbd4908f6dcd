//! `process/run`: starts a program, waits for it and collects its output.
//!
//! INVARIANT: when a call has ended (completed, timed out or abandoned), no process that it has
//! started is left, as far as a guard reaches; when Duet dies, the guard ends them too.
//! It is no sandbox: the program starts inside the root, but may touch other files. It runs no
//! shell.
//! Read next: `../guard.rs`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use duet_runtime::run::inflight::REPEATABLE;
use preserves::{IOValue, ValueImpl};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::arguments::{Arguments, boolean, bytes, content, dictionary, integer, path, positive, string};
use super::failure::Kind;
use super::interface::{Call, Context, Outcome, Tool};
use super::secret::Secrets;
use super::secret::stream::Redactor;
use super::workspace::Workspace;
use crate::guard::{End, GuardScope, Guarded, GuardedCommand, Input, NotRun};
use crate::tool::description::{Description, EffectClass, Field, Retry, Shape};
use crate::tool::returns::Returns;

/// The variables of Duet's own environment that a started program gets.
pub const ENVIRONMENT_ALLOWED: [&str; 12] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_RUNTIME_DIR",
];

const TIMEOUT_MS: u64 = 60_000;
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// The maximum time to wait until the pipes close after the program has ended, because a process
/// that could not be killed may keep them open.
const GRACE: Duration = Duration::from_millis(500);

static DESCRIPTION: Description = Description {
    name: Cow::Borrowed("process/run"),
    summary: Cow::Borrowed(
        "runs a program with its arguments, without a shell, and returns what it wrote and how it ended",
    ),
    payload: Cow::Borrowed(&[
        Field::required(
            "arguments",
            Shape::Words,
            "the program, looked up in PATH, and its arguments",
        ),
        Field::optional("directory", Shape::Path, "where it runs; without it the root"),
        Field::optional("input", Shape::Bytes, "its standard input; without it empty"),
        Field::optional("environment", Shape::Texts, "variables in addition to the allowed ones"),
        Field::optional(
            "timeout_ms",
            Shape::Positive,
            "milliseconds after which it and all it started are killed, daemons included; without it 60,000",
        ),
        Field::optional(
            "output_limit_bytes",
            Shape::Positive,
            "how much of each output is kept; the rest is read and dropped; without it 1 MiB",
        ),
        Field::REPEATABLE,
    ]),
    result: Cow::Borrowed(
        "{exit: the exit code, or false if a signal ended it; signal: the signal's number, or false; \
         stdout and stderr: a string if UTF-8, else a bytevector; truncated: whether either had more than the limit}; \
         an exit code other than 0 is no failure",
    ),
    effect: EffectClass::Irreversible,
    idempotent: false,
    timeout_ms: None,
    needs: &["process"],
    retry: Retry::NEVER,
    returns: Returns::Fields(&[
        ("exit", Returns::Optional(&Returns::Integer)),
        ("signal", Returns::Optional(&Returns::Integer)),
        ("stdout", Returns::Bytes),
        ("stderr", Returns::Bytes),
        ("truncated", Returns::Flag),
    ]),
    takes_secrets: true,
};

/// The tool.
pub struct Run {
    workspace: Arc<Workspace>,
    environment: Vec<(OsString, OsString)>,
    guard: PathBuf,
}

impl Run {
    /// Makes the tool for a workspace; of `environment` it keeps [`ENVIRONMENT_ALLOWED`]. `guard`
    /// is the executable of [`guard`](crate::guard).
    pub fn new(
        workspace: Arc<Workspace>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        guard: PathBuf,
    ) -> Self {
        Self {
            workspace,
            environment: allowed(environment),
            guard,
        }
    }
}

/// Returns the variables that a started program gets.
pub fn allowed(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let is_allowed = |name: &OsString| ENVIRONMENT_ALLOWED.iter().any(|allowed| name == *allowed);
    environment.into_iter().filter(|(name, _)| is_allowed(name)).collect()
}

impl Tool for Run {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let invocation = Invocation::read(&self.workspace, &payload);
        let environment = self.environment.clone();
        let guard = self.guard.clone();
        Box::pin(async move {
            let invocation = invocation?;
            let guarded = invocation.start(&guard, environment)?;
            run(invocation, guarded, &context.secrets).await
        })
    }
}

/// A checked request to run a program.
struct Invocation {
    /// The program and its arguments.
    words: Vec<String>,
    directory: PathBuf,
    input: Option<Vec<u8>>,
    environment: BTreeMap<String, String>,
    timeout_ms: u64,
    output_limit_bytes: u64,
}

impl Invocation {
    fn read(workspace: &Workspace, payload: &IOValue) -> Result<Self, ToolFailure> {
        let mut fields = Arguments::read(&DESCRIPTION, payload)?;
        let words = fields.required("arguments", command)?;
        fields.optional(REPEATABLE, boolean)?;
        let directory = fields
            .optional("directory", path)?
            .unwrap_or_else(|| PathBuf::from("."));
        Ok(Self {
            words,
            input: fields.optional("input", bytes)?,
            environment: fields.optional("environment", environment)?.unwrap_or_default(),
            timeout_ms: fields.optional("timeout_ms", positive)?.unwrap_or(TIMEOUT_MS),
            output_limit_bytes: fields
                .optional("output_limit_bytes", positive)?
                .unwrap_or(OUTPUT_BYTES_MAX),
            directory: workspace.directory(&directory)?,
        })
    }

    fn start(&self, guard: &Path, environment: Vec<(OsString, OsString)>) -> Result<Guarded, ToolFailure> {
        let own = self.environment.iter().map(|(name, value)| (name.into(), value.into()));
        let command = GuardedCommand {
            words: &self.words,
            directory: &self.directory,
            environment: Some(&mut environment.into_iter().chain(own)),
            input: self.input.as_deref().map_or(Input::Nothing, Input::Bytes),
            scope: GuardScope::All,
        };
        Guarded::start(guard, command).map_err(|error| self.refuse(error.kind(), &error.to_string()))
    }

    fn program(&self) -> &str {
        self.words.first().map_or("", |program| program)
    }

    fn refuse(&self, kind: io::ErrorKind, problem: &str) -> ToolFailure {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the list is the standard library's, and open"
        )]
        let (kind, problem) = match kind {
            io::ErrorKind::NotFound => (Kind::NotFound, "no such program"),
            io::ErrorKind::PermissionDenied => (Kind::Denied, "it may not be executed"),
            _ => (Kind::Failed, problem),
        };
        kind.with(
            format!("cannot run `{}`: {problem}", self.program()),
            [("program", IOValue::new(self.program().to_owned()))],
        )
    }
}

fn command(value: &IOValue) -> Option<Vec<String>> {
    let words: Option<Vec<String>> = value.as_sequence()?.map(|word| plain(&word.into())).collect();
    words.filter(|words| words.first().is_some_and(|program| !program.is_empty()))
}

fn environment(value: &IOValue) -> Option<BTreeMap<String, String>> {
    let variable = |(name, value): (preserves::Value<IOValue>, preserves::Value<IOValue>)| {
        let name = name.as_symbol().or_else(|| name.as_string())?.into_owned();
        let is_possible = !name.is_empty() && !name.contains(['=', '\0']);
        is_possible.then_some((name, plain(&value.into())?))
    };
    value.as_dictionary()?.map(variable).collect()
}

/// Reads a string without NUL, as the operating system requires.
fn plain(value: &IOValue) -> Option<String> {
    string(value).filter(|text| !text.contains('\0'))
}

async fn run(invocation: Invocation, mut guarded: Guarded, secrets: &Secrets) -> Outcome {
    let mut output = Collected::new(invocation.output_limit_bytes, secrets.redactor());
    let mut errors = Collected::new(invocation.output_limit_bytes, secrets.redactor());
    let end = {
        let pipes = guarded.outputs();
        let pipes_done = async { tokio::join!(output.drain(pipes.0), errors.drain(pipes.1)) };
        wait_within(&mut guarded, pipes_done, Duration::from_millis(invocation.timeout_ms)).await
    };
    output.finish();
    errors.finish();
    let is_truncated = output.is_truncated() || errors.is_truncated();
    let (output, errors) = (output.value(), errors.value());
    match end {
        Some(Ok(end)) => Ok(result(end, output, errors, is_truncated)),
        Some(Err(NotRun::Refused(kind, problem))) => Err(invocation.refuse(kind, &problem)),
        Some(Err(NotRun::Lost)) => Err(Kind::Failed.because(format!(
            "nobody knows how `{}` ended: the process that guards it was killed",
            invocation.program()
        ))),
        None => Err(Kind::Timeout.with(
            format!(
                "`{}` was killed because it had not ended after {} ms",
                invocation.program(),
                invocation.timeout_ms
            ),
            [
                ("timeout-ms", integer(invocation.timeout_ms)),
                ("stdout", output),
                ("stderr", errors),
            ],
        )),
    }
}

/// Waits for the program while its pipes are read; returns nothing when the time limit was reached.
/// No process that it has started is left.
async fn wait_within(
    guarded: &mut Guarded,
    pipes_done: impl Future<Output = ((), ())>,
    limit: Duration,
) -> Option<Result<End, NotRun>> {
    tokio::pin!(pipes_done);
    let mut are_pipes_closed = false;
    let ended = timeout(limit, async {
        let end = guarded.end();
        tokio::pin!(end);
        loop {
            tokio::select! {
                end = &mut end => break end,
                _ = &mut pipes_done, if !are_pipes_closed => are_pipes_closed = true,
            }
        }
    })
    .await;
    if ended.is_err() {
        guarded.give_up().await;
    }
    if !are_pipes_closed {
        // The pipes still hold what was written before the end.
        let _ = timeout(GRACE, &mut pipes_done).await;
    }
    ended.ok()
}

fn result(end: End, output: IOValue, errors: IOValue, is_truncated: bool) -> IOValue {
    let number = |number: Option<i32>| {
        number.map_or_else(
            || IOValue::new(false),
            |number| integer(u64::from(number.unsigned_abs())),
        )
    };
    let (code, signal) = match end {
        End::Exit(code) => (Some(code), None),
        End::Signal(signal) => (None, Some(signal)),
    };
    dictionary([
        ("exit", number(code)),
        ("signal", number(signal)),
        ("stdout", output),
        ("stderr", errors),
        ("truncated", IOValue::new(is_truncated)),
    ])
}

/// The first bytes of an output, whose secrets are masked before it is cut.
struct Collected {
    bytes: Vec<u8>,
    limit_bytes: u64,
    seen_bytes: u64,
    redactor: Redactor,
}

impl Collected {
    fn new(limit_bytes: u64, redactor: Redactor) -> Self {
        Self {
            bytes: Vec::new(),
            limit_bytes,
            seen_bytes: 0,
            redactor,
        }
    }

    /// Reads to the end, so that the program never waits for a reader, and keeps the bytes below
    /// the limit.
    async fn drain(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        let mut chunk = vec![0; 16 << 10];
        // A read error ends the pipe like its end.
        while let Ok(length_bytes @ 1..) = pipe.read(&mut chunk).await {
            let masked = self.redactor.push(&chunk[..length_bytes]);
            self.keep(&masked);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room_bytes = self.limit_bytes.saturating_sub(self.bytes.len() as u64);
        let kept_bytes = usize::try_from(room_bytes).map_or(bytes.len(), |room_bytes| room_bytes.min(bytes.len()));
        self.bytes.extend_from_slice(&bytes[..kept_bytes]);
        self.seen_bytes += bytes.len() as u64;
    }

    /// Takes what may have been the beginning of a secret.
    fn finish(&mut self) {
        let rest = self.redactor.finish();
        self.keep(&rest);
    }

    fn is_truncated(&self) -> bool {
        self.seen_bytes > self.bytes.len() as u64
    }

    fn value(self) -> IOValue {
        let is_cut = self.is_truncated();
        content(self.bytes, is_cut).0
    }
}
