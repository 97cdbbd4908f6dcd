//! Tests of programs: the files that are run, each as a run of its own, and what they found.
//!
//! Owns the threads over which the files are spread, and the way of one file from its text to its
//! checks.
//! INVARIANT: a file that does not say that it passed has failed: one without an assertion, one
//! that ends early, and one that cannot be compiled or read.
//! It lays nothing out; `testing/report.rs` does. Read next: `owner/owned_run/tested.rs`.

pub(crate) mod check;
pub(crate) mod coverage;
mod difference;
pub(crate) mod find;
pub(crate) mod form;
pub(crate) mod junit;
pub(crate) mod report;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use duet_drivers::clock::WorldClock;
use duet_drivers::ticker::Ticker;
use duet_drivers::world::scripts::SCRIPTING;
use duet_journal::store::memory::MemoryStore;
use duet_journal::{RunId, Store};
use duet_runtime::run::DriveOutcome;
use duet_runtime::scheme::TextCounts;

use crate::history::journal::Journal;
use crate::owner::owned_run::libraries;
use crate::owner::owned_run::tested::Tested;
use crate::owner::owned_run::{self, Beginning, OwnedRun, Prepared};
use crate::text::error::CommandError;
use crate::text::render::{self, SourceTexts};
use crate::text::saying::Speaker;
use crate::text::terminal::Terminal;
use crate::verb::act::run::claim_name;
use crate::world::answers;
use crate::world::answers::Recorded;
use crate::world::launch::Compiling;
use crate::world::launch::{Launch, Program};
use crate::world::world_options::{Captured, WorldOptions};
use check::{Check, checks};

/// The capability by which `(srfi 64)` knows that somebody reads its results in the records.
const REPORTED: &str = "test/report";

/// The least time to compile a file, whatever the limit is: a busy machine may need seconds in
/// place of some hundredths, and only macros without an end need more.
const COMPILING_MIN: Duration = Duration::from_secs(5);

/// How files are tested.
pub(crate) struct Testing<'a> {
    /// The maximum time of a file.
    pub(crate) time_limit: Duration,
    /// The maximum memory of a file's run, in bytes.
    pub(crate) memory_limit: u64,
    /// The journal that keeps the runs, if one does.
    pub(crate) journal: Option<&'a Journal>,
    /// Whether the answers of tools are written beside each file.
    pub(crate) is_recording: bool,
    /// Whether a recorded answer that no call takes is a fault.
    pub(crate) is_strict: bool,
    /// The tools that are called although answers are recorded.
    pub(crate) live: Vec<String>,
    /// Whether timers wait as long as they say.
    pub(crate) is_real_time: bool,
    /// Whether executed lines are counted.
    pub(crate) is_counted: bool,
    pub(crate) options: WorldOptions,
}

/// A file that is tested.
struct Case<'a> {
    path: &'a Path,
    /// The answers that serve.
    recorded: Option<&'a Recorded>,
    /// Where its output goes.
    captured: &'a Captured,
    /// Set when the time to compile it is over.
    is_late: Arc<AtomicBool>,
}

/// What a file found.
pub(crate) struct FileResult {
    pub(crate) path: PathBuf,
    pub(crate) checks: Vec<Check>,
    /// The names of the files that it read, as its program says them.
    pub(crate) read: Vec<String>,
    /// The texts of its program.
    pub(crate) texts: SourceTexts,
    /// How often lines were executed, by text, if that is counted.
    pub(crate) counts: BTreeMap<String, TextCounts>,
    /// What it printed.
    pub(crate) output: String,
    /// How long it took.
    pub(crate) took: Duration,
    /// Whether it could be run.
    pub(crate) is_run: bool,
    /// The run that is kept.
    pub(crate) run: Option<RunId>,
    /// The file with former answers that a recording has not replaced, because the test failed.
    pub(crate) kept_answers: Option<PathBuf>,
}

impl FileResult {
    /// Whether no check failed.
    pub(crate) fn is_passed(&self) -> bool {
        !self.checks.iter().any(Check::is_failed)
    }
}

impl Testing<'_> {
    /// Tests files on all processors; `tell` gets each result, in the order of the files.
    ///
    /// # Errors
    /// The first error of `tell`; files that have not begun are left out then.
    #[expect(
        clippy::disallowed_methods,
        reason = "each file is a run of its own, and results are told in the order of the files"
    )]
    pub(crate) fn each(
        &self,
        files: &[PathBuf],
        tell: &mut dyn FnMut(FileResult) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
        owned_run::share_memory_among(threads);
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (sender, results) = channel();
            for _ in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((position, file)) = take(next, files) {
                        if sender.send((position, self.test(file))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            for (position, result) in results {
                waiting.insert(position, result);
                while let Some(result) = waiting.remove(&due) {
                    tell(result)?;
                    due += 1;
                }
            }
            Ok(())
        })
    }

    /// Tests a file.
    #[expect(clippy::disallowed_methods, reason = "people want to know how long a test takes")]
    fn test(&self, path: &Path) -> FileResult {
        let began = Instant::now();
        let captured = Captured::default();
        let mut terminal = Terminal::keeping();
        let mut run = None;
        let is_late = Arc::new(AtomicBool::new(false));
        let tested = self.recorded(path).and_then(|recorded| {
            let case = Case {
                path,
                recorded: recorded.as_ref(),
                captured: &captured,
                is_late: Arc::clone(&is_late),
            };
            let tested = self.run(&case, &mut terminal, &mut run)?;
            Ok((tested, recorded))
        });
        let told = terminal.kept.unwrap_or_default();
        let mut kept_answers = None;
        let is_run = tested.is_ok();
        let (checks, texts, read, counts) = match tested {
            Ok((tested, recorded)) => {
                let mut checks = self.checks(path, &tested, recorded.as_ref());
                if checks.iter().any(Check::is_failed) {
                    kept_answers = self.kept(path);
                }
                if self.is_recording
                    && kept_answers.is_none()
                    && let Err(error) = answers::write(path, &tested.calls)
                {
                    checks.push(Check::problem(&worded(error)));
                }
                let texts = tested.texts.all().iter().map(|text| text.name.clone());
                let read = texts.chain(tested.files).collect();
                (checks, tested.texts, read, tested.counts)
            }
            Err(error) => {
                kept_answers = self.kept(path);
                let limit = is_late.load(Ordering::Relaxed).then(|| self.compiling_limit());
                (
                    vec![Check::problem_within(limit, &worded(error))],
                    SourceTexts::default(),
                    libraries::sources(path),
                    BTreeMap::new(),
                )
            }
        };
        FileResult {
            path: path.to_owned(),
            checks,
            read,
            texts,
            counts,
            output: told + &captured.take(),
            took: began.elapsed(),
            is_run,
            run,
            kept_answers,
        }
    }

    /// The checks of a test that has stopped, with those of the answers that served.
    fn checks(&self, path: &Path, tested: &Tested, recorded: Option<&Recorded>) -> Vec<Check> {
        let mut checks = checks(tested, self.time_limit);
        let Some(recorded) = recorded else {
            return checks;
        };
        checks.extend(Check::unanswered(&tested.unanswered, path));
        if self.is_strict && matches!(tested.rest, DriveOutcome::Ended { .. }) {
            checks.extend(Check::left(&answers::left(&recorded.doubles)));
        }
        checks
    }

    /// The answers beside a test that has failed, which a recording does not replace: the test may
    /// have made only some of its calls.
    fn kept(&self, path: &Path) -> Option<PathBuf> {
        Some(answers::beside(path)).filter(|path| self.is_recording && path.exists())
    }

    /// The answers beside a test, if they serve.
    fn recorded(&self, path: &Path) -> Result<Option<Recorded>, CommandError> {
        if self.is_recording || self.options.double.is_some() {
            return Ok(None);
        }
        answers::read(path, &self.live)
    }

    fn compiling_limit(&self) -> Duration {
        self.time_limit.max(COMPILING_MIN)
    }

    /// The clock that stops the compilation of a file, until it is dropped.
    fn compiling_clock(&self, case: &Case<'_>) -> Result<Ticker, CommandError> {
        let is_late = Arc::clone(&case.is_late);
        let stop = move || {
            is_late.store(true, Ordering::Relaxed);
            false
        };
        Ticker::start(self.compiling_limit(), stop)
            .map_err(|error| CommandError::caused("the system cannot start a thread", &error))
    }

    fn run(&self, case: &Case<'_>, terminal: &mut Terminal, run: &mut Option<RunId>) -> Result<Tested, CommandError> {
        let mut launch = Launch::read(Program::at(case.path), None, Vec::new())?;
        let recorded = case.recorded;
        let script = recorded.map(|recorded| recorded.script.clone());
        let options = WorldOptions {
            live: recorded.is_some().then(|| self.live.clone()),
            doubles: recorded.map(|recorded| recorded.doubles.clone()),
            double: script.or_else(|| self.options.double.clone()),
            captured: Some(case.captured.clone()),
            is_headless: true,
            is_scriptable: true,
            clock: if self.is_real_time {
                WorldClock::default()
            } else {
                WorldClock::virtual_one()
            },
            ..self.options.clone()
        };
        launch.grant(&options)?;
        let scripting = SCRIPTING.iter().map(|&name| name.to_owned());
        launch.manifest.extend(scripting.chain([REPORTED.to_owned()]));
        launch.memory_limit = Some(self.memory_limit);
        launch.compiling = Compiling {
            is_counted: self.is_counted,
            stop: Some(Arc::clone(&case.is_late)),
        };
        let clock = self.compiling_clock(case)?;
        let Some(journal) = self.journal else {
            let prepared = Prepared::new(&launch, options, terminal)?;
            drop(clock);
            let mut store = MemoryStore::default();
            let name = crate::verb::act::run::read_name(&launch.stem)?;
            let owned = OwnedRun::start(prepared, Beginning::in_memory(name, "test"), &mut store)?;
            return owned.test(&mut store, self.time_limit, self.is_counted);
        };
        let prepared = Prepared::new(&launch, options.beside(journal), terminal)?;
        drop(clock);
        let (mut store, name) = {
            // Two files of one name begin one after the other.
            let _alone = CLAIMING.lock().unwrap_or_else(PoisonError::into_inner);
            let mut store = journal.open_or_create("test")?;
            let name = claim_name(&mut store as &mut dyn Store, None, &launch.stem, "test")?;
            (store, name)
        };
        *run = Some(name.clone());
        let owned = OwnedRun::start(prepared, Beginning::kept_in(journal, name, "test"), &mut *store)?;
        owned.test(&mut store, self.time_limit, self.is_counted)
    }
}

static CLAIMING: Mutex<()> = Mutex::new(());

fn take<'a>(next: &AtomicUsize, files: &'a [PathBuf]) -> Option<(usize, &'a Path)> {
    let position = next.fetch_add(1, Ordering::Relaxed);
    Some((position, files.get(position)?))
}

/// Lays out why a file could not be run.
fn worded(error: CommandError) -> String {
    match error {
        CommandError::Problem(problem) => render::problem(&problem, Speaker::Command, false).to_string(),
        CommandError::Shown(text) | CommandError::Usage(text) => text.to_string(),
        CommandError::OutputClosed => String::new(),
        CommandError::NameLost(run) => crate::text::error::name_lost(&run),
    }
}
