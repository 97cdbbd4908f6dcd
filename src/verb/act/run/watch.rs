//! `duet run --watch`: what the same past would have become under each text that is saved.
//!
//! INVARIANT: a save calls nothing and writes nothing, unless the person has said that the run goes
//! on with the changed program.
//! It does not compare runs; `verb/rerun.rs` does. Read next: `world/watch.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duet_drivers::text::Text;
use duet_journal::Store;

use super::{Request, RunStorage, launch};
use crate::owner::owned_run::OwnedRun;
use crate::owner::owned_run::libraries::sources;
use crate::owner::owned_run::watched::{FileWatch, Stop};
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::verb::act::resume::{RerunTarget, begin_changed, ended};
use crate::verb::rerun::{self, Rerun, RerunRequest, Saved};
use crate::world::imported::GrantArguments;
use crate::world::launch::{MANIFEST, Program};
use crate::world::watch::{Folders, WatchCommand, Watched, Watcher, places};
use crate::world::world_options::{TypedUntil, WorldOptions};

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long the files must stay as they are before their texts are read.
const SETTLING: Duration = Duration::from_millis(30);

/// A run whose program is watched.
struct Watching<'a> {
    request: &'a Request,
    kept: &'a RunStorage<'a>,
    /// The program, as the person named it.
    program: &'a Path,
    /// The file of its text.
    file: PathBuf,
    watcher: Watcher,
    watched: Watched,
    /// The branch on whose answers changed programs run; none until the run has begun.
    address: Option<String>,
    /// The files that were saved since that branch has read them.
    saved: BTreeSet<PathBuf>,
    /// Whether a save has stopped the run on its way.
    is_cut: bool,
    /// The exit code of the newest state of the run.
    code: ExitCode,
}

/// What happens next.
enum Next {
    /// Files were saved.
    Saved(BTreeSet<PathBuf>),
    /// The person wants the run to go on.
    GoOn,
    /// The person wants the end.
    End,
}

/// Begins a run and compares it with each text that is saved, until the person ends it.
///
/// # Errors
/// If the program cannot be read, the name is taken, or the journal fails.
pub(super) fn execute(
    request: &Request,
    kept: &RunStorage<'_>,
    terminal: &mut Terminal,
) -> Result<ExitCode, CommandError> {
    let program = request.program.as_deref().filter(|_| !request.reads_input());
    let program = program.ok_or_else(|| CommandError::usage("standard input cannot be watched; name a file"))?;
    let read = launch(request, &mut Terminal::keeping())?;
    let mut watching = Watching {
        request,
        kept,
        program,
        file: read.path,
        watcher: Watcher::listen()?,
        watched: Watched::of(read.workspace),
        address: None,
        saved: BTreeSet::new(),
        is_cut: false,
        code: ExitCode::FAILED,
    };
    watching.execute(terminal)
}

impl Watching<'_> {
    fn execute(&mut self, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
        self.begin(terminal)?;
        loop {
            match self.next(terminal) {
                Next::End => {
                    self.tell_end(terminal);
                    return Ok(self.code);
                }
                Next::GoOn => self.settle(Self::go_on, terminal)?,
                Next::Saved(files) => {
                    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                    terminal.message(format!("changed: {}", names.join(", ")));
                    self.saved.extend(files);
                    if self.address.is_none() {
                        self.begin(terminal)?;
                    } else {
                        self.settle(Self::look, terminal)?;
                    }
                }
            }
        }
    }

    /// Waits for a save or a line.
    fn next(&self, terminal: &mut Terminal) -> Next {
        if self.watcher.is_interrupted() || self.code == ExitCode::TERMINATED {
            return Next::End;
        }
        if !self.watched.files().look() {
            let count = self.watched.files().count();
            let files = if count == 1 {
                "1 file"
            } else {
                &*format!("{count} files")
            };
            let on = if self.address.is_some() {
                "`l` goes on with the run, "
            } else {
                ""
            };
            terminal.message(format!("watches {files}; {on}`q` or Ctrl-C ends it"));
        }
        loop {
            if self.watched.files().look() {
                self.settle_files();
                return Next::Saved(self.watched.files().take_saved());
            }
            match self.watcher.wait(INTERVAL) {
                WatchCommand::End => return Next::End,
                WatchCommand::Line(line) if line.starts_with('l') => return Next::GoOn,
                WatchCommand::Line(_) | WatchCommand::Nothing => {}
            }
        }
    }

    /// Waits until no file changes: an editor empties a file before it writes the text.
    #[expect(clippy::disallowed_methods, reason = "no run is under way that has timers")]
    fn settle_files(&self) {
        loop {
            std::thread::sleep(SETTLING);
            if !self.watched.files().notice() {
                return;
            }
        }
    }

    /// Begins the run. A program that does not compile shows its errors and is watched.
    fn begin(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        self.watch_program();
        let folders = self.folders();
        let (mut options, is_stopped) = self.options()?;
        options.granted.clone_from(&self.request.grant);
        let kept = self.kept;
        let begun = launch(self.request, terminal).and_then(|mut launch| {
            kept.begin(&mut launch, options, terminal, |owned, store, terminal| {
                match self.drive(owned, store, &is_stopped, terminal) {
                    Err(CommandError::NameLost(run)) => Err(CommandError::NameLost(run)),
                    driven => Ok(driven),
                }
            })
        });
        match begun {
            Ok(driven) => driven,
            Err(CommandError::Shown(text)) => {
                self.watch_sources(folders);
                terminal.message(text);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Watches the program itself, and its manifest if it is a folder.
    fn watch_program(&self) {
        let mut files = self.watched.files();
        files.add(&self.file);
        if self.program.is_dir() {
            places(MANIFEST, self.program).for_each(|file| files.add(&file));
        }
    }

    /// The folders in which sources are looked for, as they stand. Those that were watched for a
    /// missing one are no longer: it may have come.
    fn folders(&self) -> Folders {
        self.watched.files().forget_awaited();
        Folders::among(&sources(&self.file))
    }

    /// Watches all that may be a source of a program that does not compile, and the folders in
    /// which a missing one may come into being.
    fn watch_sources(&self, folders: Folders) {
        let sources = sources(&self.file);
        self.watched.add(sources.iter().map(String::as_str));
        self.watched.files().await_in(folders);
    }

    /// The options of a world, and the flag that ends its input.
    fn options(&self) -> Result<(WorldOptions, Arc<AtomicBool>), CommandError> {
        let mut options = self.kept.options(&self.request.world)?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        options.typed = Some(TypedUntil {
            typed: self.watcher.typed(),
            is_stopped: Arc::clone(&is_stopped),
        });
        Ok((options, is_stopped))
    }

    /// Drives the run until it stops or a file is saved.
    fn drive(
        &mut self,
        owned: OwnedRun,
        store: &mut dyn Store,
        is_stopped: &AtomicBool,
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        self.address = Some(owned.address());
        let look = FileWatch {
            watched: &self.watched,
            interval: INTERVAL,
        };
        let stop = owned.drive_watched(store, look, terminal);
        is_stopped.store(true, Ordering::Relaxed);
        (self.is_cut, self.code) = match stop? {
            Stop::Saved => (true, ExitCode::WAITING),
            Stop::Rest(code) => (false, code),
        };
        Ok(())
    }

    /// Does something with a changed text; an error of the text is shown, and the watch goes on.
    fn settle(
        &mut self,
        act: fn(&mut Self, &mut Terminal) -> Result<(), CommandError>,
        terminal: &mut Terminal,
    ) -> Result<(), CommandError> {
        let folders = self.folders();
        match act(self, terminal) {
            Err(CommandError::OutputClosed) => Err(CommandError::OutputClosed),
            Err(error) => {
                self.watch_sources(folders);
                terminal.tell_error(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Runs the changed program on the answers of the branch, in memory; it may go on from there
    /// if it is kept.
    fn rerun(&self, is_kept: bool, terminal: &mut Terminal) -> Result<Rerun, CommandError> {
        let journal = self.kept.journal;
        let rerun_request = RerunRequest {
            program: Program::at(self.program),
            from: None,
            retried: &[],
            branch: None,
            saved: Some(Saved {
                files: &self.saved,
                watched: &self.watched,
            }),
            granted: &self.request.grant,
            is_kept,
        };
        let store = journal.open_to_read()?;
        let rerun = rerun::perform(&*store, journal, self.address.as_deref(), rerun_request, terminal)?;
        self.watched.add_texts(rerun.report.sources());
        self.watched.note(rerun.report.asked_anew());
        Ok(rerun)
    }

    /// Shows what the changed program would do, and goes on with it if the person wants that at
    /// each save. A run that was stopped on its way by a save that has changed nothing goes on.
    fn look(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        let rerun = self.rerun(self.request.live, terminal)?;
        let is_settled = rerun.report.is_same() && rerun.report.is_ended();
        if self.is_cut && is_unchanged(&rerun) || self.request.live && !is_settled {
            return self.go_on_with(rerun, terminal);
        }
        terminal.data(rerun.report.tell().ended())
    }

    /// Goes on with the program as it is saved.
    fn go_on(&mut self, terminal: &mut Terminal) -> Result<(), CommandError> {
        if self.address.is_none() {
            return self.begin(terminal);
        }
        let rerun = self.rerun(true, terminal)?;
        self.go_on_with(rerun, terminal)
    }

    /// Goes on with the changed program on a new branch; if no text has changed, on the branch of
    /// the run.
    fn go_on_with(&mut self, rerun: Rerun, terminal: &mut Terminal) -> Result<(), CommandError> {
        let journal = self.kept.journal;
        let mut store = journal.open_to_write("run")?;
        let (options, is_stopped) = self.options()?;
        let owned = if is_unchanged(&rerun) {
            let place = journal.resolve(&*store, self.address.as_deref())?;
            let owned = OwnedRun::resume(&place, journal.opened(&mut *store), options, "run")?;
            if let Some(code) = owned.exit() {
                terminal.message(ended(&place, code));
                return Ok(());
            }
            owned
        } else {
            let onward = RerunTarget {
                journal,
                grants: &GrantArguments::default(),
                options,
            };
            let owned = begin_changed(onward, rerun, &mut store, terminal)?;
            self.saved.clear();
            owned
        };
        if let Some(code) = owned.exit() {
            self.address = Some(owned.address());
            self.code = ExitCode::of_run(code);
            return Ok(());
        }
        self.drive(owned, &mut store, &is_stopped, terminal)
    }

    /// Says how the run stands that is no longer watched.
    fn tell_end(&self, terminal: &mut Terminal) {
        let Some(address) = &self.address else {
            terminal.message(Text::from("the watch has ended; no run has begun"));
            return;
        };
        terminal.message(say![
            format!("the watch of {address} has ended; "),
            Way::at("log", address),
            " lists its turns, ",
            Way::at("resume", address),
            " goes on with it",
        ]);
    }
}

/// Whether a program has the texts of the run, and asks for nothing anew that was saved since.
fn is_unchanged(rerun: &Rerun) -> bool {
    rerun.report.has_same_texts() && rerun.report.asked_anew().next().is_none()
}
