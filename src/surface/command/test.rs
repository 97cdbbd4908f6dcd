//! `duet test`: runs the tests of programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use duet_runtime::model::counted::counted;

use crate::history::journal::Journal;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::form::as_json;
use crate::workbench::testing::check::Check;
use crate::workbench::testing::coverage::Coverage;
use crate::workbench::testing::find::find;
use crate::workbench::testing::form::{Form, forms};
use crate::workbench::testing::junit::Junit;
use crate::workbench::testing::report::{Counts, failures, lines};
use crate::workbench::testing::watch::Watch;
use crate::workbench::testing::{FileResult, Testing};
use crate::world::launch::read_size;
use crate::world::watch::{WatchCommand, Watcher};
use crate::world::world_options::known::KnownNames;
use crate::world::world_options::{ReachArguments, WorldOptions};

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);

/// Runs the tests of programs.
///
/// A test is a file whose name ends in -test.scm, or a file of Scheme that imports SRFI 64. Those
/// below the folders that are named are run, or else those below the present directory; a file that
/// is named is run whatever its name is.
///
/// Each file is a run of its own, in memory, so the journal has nothing of it. Nobody answers its
/// questions, its input is empty, and duet shows its output only if it fails. A file fails if an
/// assertion of SRFI 64 does, if it raises something outside an assertion, if it has no assertion,
/// if it calls `(exit)`, and if its time is over.
///
///   duet test
///   duet test tests/prices-test.scm -v
///   duet test -k rounding
///
/// The exit code is 0 if all tests pass, 1 if one fails, and 2 if there is no test or the command
/// line is wrong.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Files, and folders in which tests are looked for.
    paths: Vec<PathBuf>,
    /// Runs the files whose paths have this text, and reports of others only the assertions whose
    /// names have it, and what fails the file as a whole. With --record, other files are not run.
    #[arg(short = 'k', value_name = "TEXT")]
    filter: Option<String>,
    /// Shows a line for each assertion.
    #[arg(long, short)]
    verbose: bool,
    /// Limits the time of each file, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = read_seconds)]
    timeout: Duration,
    /// Limits the memory of each file's run, such as 512M or 2G.
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = read_size)]
    memory_limit: u64,
    /// Calls the real tools, and writes their answers beside each file, for NAME-test.scm to
    /// NAME-test.answers. A file that fails keeps the answers that it has. Without this option the
    /// answers in that file serve, and a call that it does not have fails, and so does the file.
    #[arg(long, conflicts_with = "double")]
    record: bool,
    /// Fails a file of whose recorded answers some were not used, and says which.
    #[arg(long, conflicts_with_all = ["record", "double"])]
    strict: bool,
    /// Calls this tool, although its answers are recorded; may be given several times.
    #[arg(long, value_name = "TOOL", conflicts_with = "record")]
    live: Vec<String>,
    /// Grants the files these capabilities in addition, such as `process/run`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    grant: Vec<String>,
    /// Lets timers wait as long as they say. Without it a virtual clock, which begins on
    /// 2020-01-01, moves to the next deadline when nothing else can happen.
    #[arg(long)]
    real_time: bool,
    /// Keeps each file's run in the journal, where `duet explain` and `duet log` look at it.
    #[arg(long)]
    keep: bool,
    /// Tests again whenever a file that a test read is saved: those tests that read it. A line that
    /// begins with `q`, or Ctrl-C, ends it with the code of the newest results.
    #[arg(long, conflicts_with_all = ["record", "junit"])]
    watch: bool,
    /// Counts which lines and branches of the files below the present directory the tests execute,
    /// and prints a table; standard libraries and the tests themselves are left out.
    #[arg(long, conflicts_with_all = ["watch", "keep"])]
    coverage: bool,
    /// Writes these counts to this file as a tracefile of lcov.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "keep"])]
    lcov: Option<PathBuf>,
    /// Prints JSON Lines: an object for each check and each file, and one with the counts.
    #[arg(long)]
    json: bool,
    /// Writes the results to this file as JUnit XML, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    reach: ReachArguments,
    #[command(flatten)]
    journal: Journal,
}

fn read_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time.is_zero() {
        return Err("expected more than 0 seconds".to_owned());
    }
    Ok(time)
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let files = recorded(arguments, found(arguments)?)?;
    if arguments.watch {
        return watch(arguments, files, terminal);
    }
    test(arguments, &files, None, terminal)
}

/// The files to test. A recording calls tools, so it is of no file that the filter does not name.
fn recorded(arguments: &Arguments, mut files: Vec<PathBuf>) -> Result<Vec<PathBuf>, CommandError> {
    let Some(filter) = arguments.filter.as_ref().filter(|_| arguments.record) else {
        return Ok(files);
    };
    files.retain(|file| file.display().to_string().contains(filter.as_str()));
    if files.is_empty() {
        return Err(
            CommandError::usage(format!("no file has `{filter}` in its path")).because(
                "with `--record`, `-k` names files: the names of assertions are known only after their file has run",
            ),
        );
    }
    Ok(files)
}

/// Tests files once.
fn test(
    arguments: &Arguments,
    files: &[PathBuf],
    watch: Option<&mut Watch>,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let mut options = arguments.reach.read()?;
    options.granted.clone_from(&arguments.grant);
    require_live(arguments, &options, files)?;
    warn_of_doubles(&options, files, terminal);
    let testing = Testing {
        time_limit: arguments.timeout,
        memory_limit: arguments.memory_limit,
        journal: arguments.keep.then_some(&arguments.journal),
        is_recording: arguments.record,
        is_strict: arguments.strict,
        live: arguments.live.clone(),
        is_real_time: arguments.real_time,
        is_counted: arguments.coverage || arguments.lcov.is_some(),
        options,
    };
    let mut telling = Telling {
        arguments,
        watch,
        counts: Counts::default(),
        failed: Vec::new(),
        junit: Junit::default(),
        coverage: Coverage::default(),
    };
    testing.each(files, &mut |result| telling.tell(result, terminal))?;
    telling.coverage.leave_out(files);
    telling.end(terminal)
}

/// Refuses names after `--live` that are those of no tool in any folder that has a test.
fn require_live(arguments: &Arguments, options: &WorldOptions, files: &[PathBuf]) -> Result<(), CommandError> {
    if arguments.live.is_empty() {
        return Ok(());
    }
    let folders: BTreeSet<PathBuf> = files.iter().map(|file| folder_of(file)).collect();
    let known = folders
        .iter()
        .map(|folder| KnownNames::without_doubles(options, folder));
    // Other faults of the options fail each file.
    let Ok(known) = known.collect::<Result<Vec<_>, _>>() else {
        return Ok(());
    };
    let is_unknown = |name: &&String| !known.iter().any(|known| known.has_tool(name));
    match (arguments.live.iter().find(is_unknown), known.first()) {
        (Some(name), Some(known)) => Err(known.no_tool("--live", name)),
        _ => Ok(()),
    }
}

/// Warns of doubles of what is no tool where the first file works; a test of another folder may
/// have other servers.
fn warn_of_doubles(options: &WorldOptions, files: &[PathBuf], terminal: &mut Terminal) {
    let (Some(script), Some(file)) = (&options.double, files.first()) else {
        return;
    };
    if let Ok(known) = KnownNames::without_doubles(options, &folder_of(file)) {
        for problem in script.misspelt(&known) {
            terminal.message(format!("warning: {problem}"));
        }
    }
}

/// The folder that a test works in.
fn folder_of(file: &Path) -> PathBuf {
    Path::new(".").join(file.parent().unwrap_or(Path::new("")))
}

/// Tests files, and again whenever a file that they read was saved, until the person ends it.
fn watch(arguments: &Arguments, mut due: Vec<PathBuf>, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let watcher = Watcher::listen()?;
    let mut watch = Watch::default();
    loop {
        watch.begin(&paths(arguments));
        test(arguments, &due, Some(&mut watch), terminal)?;
        let count = watch.count();
        terminal.message(format!(
            "waits for changes of {}; `q` or Ctrl-C ends it",
            counted(count, "file")
        ));
        due = loop {
            if let WatchCommand::End = watcher.wait(INTERVAL) {
                return Ok(watch.code());
            }
            let Some(saved) = watch.look() else { continue };
            let mut tests = saved.tests;
            if saved.has_folder {
                // A folder may have no test left.
                let found = found(arguments).unwrap_or_default();
                tests.extend(found.into_iter().filter(|test| !watch.knows(test)));
            }
            if !tests.is_empty() {
                let files = saved.files.iter().chain(tests.iter().filter(|test| !watch.knows(test)));
                let files: BTreeSet<String> = files.map(|file| file.display().to_string()).collect();
                let files: Vec<String> = files.into_iter().collect();
                terminal.message(format!("changed: {}", files.join(", ")));
                break tests;
            }
        };
    }
}

/// The paths at which tests are looked for.
fn paths(arguments: &Arguments) -> Vec<PathBuf> {
    if arguments.paths.is_empty() {
        vec![PathBuf::from(".")]
    } else {
        arguments.paths.clone()
    }
}

fn found(arguments: &Arguments) -> Result<Vec<PathBuf>, CommandError> {
    let paths = paths(arguments);
    let files = find(&paths)?;
    if files.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(
            CommandError::usage(format!("there is no test in {}", paths.join(", "))).because(
                "tests are the files whose names end in `-test.scm`, and files of Scheme that import `(srfi 64)`",
            ),
        );
    }
    Ok(files)
}

/// The report, as the results come.
struct Telling<'a> {
    arguments: &'a Arguments,
    /// Where results are noted, if somebody waits for changes.
    watch: Option<&'a mut Watch>,
    counts: Counts,
    failed: Vec<FileResult>,
    junit: Junit,
    coverage: Coverage,
}

impl Telling<'_> {
    fn tell(&mut self, mut result: FileResult, terminal: &mut Terminal) -> Result<(), CommandError> {
        if let Some(filter) = &self.arguments.filter
            && !result.path.display().to_string().contains(filter.as_str())
        {
            // A file that fails as a whole may hide any assertion.
            let is_wanted = |check: &Check| check.is_of_file || check.name.contains(filter.as_str());
            result.checks.retain(is_wanted);
        }
        if let Some(watch) = &mut self.watch {
            watch.note(&result);
        }
        if result.checks.is_empty() {
            return Ok(());
        }
        self.counts.add(&result);
        self.coverage.add(&result.counts);
        if self.arguments.junit.is_some() {
            self.junit.add(&result);
        }
        if self.arguments.json {
            forms(&result)
                .iter()
                .try_for_each(|form| terminal.json(&as_json(form)))?;
        } else {
            terminal.data(lines(&result, self.arguments.verbose))?;
        }
        if !result.is_passed() {
            self.failed.push(result);
        }
        Ok(())
    }

    fn end(self, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
        if let (Some(filter), 0) = (&self.arguments.filter, self.counts.files)
            && self.watch.is_none()
        {
            return Err(CommandError::usage(format!(
                "no file and no assertion has `{filter}` in its name"
            )));
        }
        if self.arguments.json {
            let forms = self.coverage.forms().into_iter().filter(|_| self.arguments.coverage);
            forms
                .map(Form::Coverage)
                .try_for_each(|form| terminal.json(&as_json(&form)))?;
            terminal.json(&as_json(&Form::from(self.counts)))?;
        } else {
            for result in &self.failed {
                let is_styled = terminal.view().is_styled;
                terminal.data("\n")?;
                terminal.data(failures(result, is_styled))?;
            }
            if self.arguments.coverage {
                terminal.data(format!("\n{}", self.coverage.table()))?;
            }
            terminal.data(format!("\n{}", self.counts.line()))?;
        }
        // Whatever goes wrong with a file, the person has seen the results.
        if let Some(path) = &self.arguments.junit {
            write_report(path, &self.junit.text())?;
        }
        if let Some(path) = &self.arguments.lcov {
            write_report(path, &self.coverage.lcov())?;
        }
        Ok(if self.counts.failed == 0 {
            ExitCode::OK
        } else {
            ExitCode::FAILED
        })
    }
}

/// Writes a report, in a folder that need not exist yet.
fn write_report(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = folder
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text));
    written.map_err(|error| CommandError::caused(format!("cannot write `{}`", path.display()), &error))
}
