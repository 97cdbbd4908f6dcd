//! Running a run again with changed code, on the answers that it has received.
//!
//! Owns the way from an address and a program to a report, and to a new branch.
//! INVARIANT: until the new branch is written in one commit, nothing changes: no record, no claim
//! and nothing in the world. The branch whose answers are given stays as it is.
//! It does not decide which answer belongs to which request; `runtime/src/history/rerun.rs`
//! does.
//! Read next: `rerun/report.rs`, `runtime/src/history/rerun.rs`.

mod facts;
mod output;
mod report;

use std::collections::BTreeSet;
use std::path::PathBuf;

use duet_journal::{BranchName, Epoch, Need, Sequence, Store};
use duet_runtime::driver::EffectKind;
use duet_runtime::history::rerun::{self, Prepared, Progress, Recorded};
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::key::Ledger;
use duet_runtime::run::Start;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::state::event::Event;

use crate::history::journal::{Journal, Place};
use crate::owner::owned_run::{self, Changed, Grantee, Replacement, compiled};
use crate::text::error::{CommandError, ExitCode};
use crate::text::render::SourceTexts;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::world::launch::Program;
use crate::world::watch::Watched;

pub(crate) use report::{Form, Report};

/// The turns between two looks at whether the person interrupts.
const PORTION_TURNS: usize = 256;

/// What to run again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RerunRequest<'a> {
    /// The changed program.
    pub(crate) program: Program<'a>,
    /// The address up to which recorded answers are given, if it is not that of the run.
    pub(crate) from: Option<&'a str>,
    /// The kinds of recorded failures whose requests are made again.
    pub(crate) retried: &'a [String],
    /// The name of the new branch, if the person gave one.
    pub(crate) branch: Option<&'a str>,
    /// The files whose recorded contents no longer count.
    pub(crate) saved: Option<Saved<'a>>,
    /// The capabilities that the person grants in addition.
    pub(crate) granted: &'a [String],
    /// Whether the branch may be written, so that it has snapshots as other branches have.
    pub(crate) is_kept: bool,
}

/// Files of a watched run that were saved since it has read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved<'a> {
    pub(crate) files: &'a BTreeSet<PathBuf>,
    pub(crate) watched: &'a Watched,
}

impl Saved<'_> {
    /// The requests for the contents of these files.
    fn outdated(&self, ledger: &Ledger) -> BTreeSet<RequestId> {
        let asked = ledger.asked.iter();
        let outdated = asked.filter(|asked| self.watched.asks_for(&asked.question, self.files));
        outdated.map(|asked| asked.request).collect()
    }
}

/// A run of changed code that stands where it goes on in the world.
pub(crate) struct Rerun {
    /// The branch whose answers were given, and up to which turn.
    pub(crate) place: Place,
    /// The new branch.
    pub(crate) branch: BranchName,
    pub(crate) report: Report,
    /// The output that was not shown before.
    pub(crate) output: Vec<EffectKind>,
    prepared: Prepared,
}

/// Runs again.
///
/// # Errors
/// If the program cannot be compiled, or the recorded run not replayed.
pub(crate) fn perform(
    store: &dyn Store,
    journal: &Journal,
    address: Option<&str>,
    rerun_request: RerunRequest<'_>,
    terminal: &mut Terminal,
) -> Result<Rerun, CommandError> {
    let place = place(store, journal, address, rerun_request.from)?;
    let branch = new_branch(store, &place, rerun_request.branch)?;
    let Replaced { ledger, texts, changed } = replaced(store, &place, rerun_request, terminal)?;
    let start = Start {
        run: place.run.clone(),
        branch: branch.clone(),
        owner: String::new(),
        genesis: changed.genesis,
        pinned: changed.pinned,
    };
    let retried: BTreeSet<String> = rerun_request.retried.iter().cloned().collect();
    let outdated = rerun_request
        .saved
        .map(|saved| saved.outdated(&ledger))
        .unwrap_or_default();
    let facts_before = facts::recorded(store, &place, &ledger)?;
    let recorded = Recorded {
        ledger,
        retried,
        outdated,
    };
    let snapshots = if rerun_request.is_kept {
        owned_run::snapshots("resume", true)
    } else {
        SnapshotPolicy::NEVER
    };
    let mut rerun = rerun::Rerun::begin(start, changed.programs, recorded)?.with_snapshots(snapshots);
    let ended = loop {
        match rerun.go_on(PORTION_TURNS, store)? {
            Progress::More => {}
            Progress::Live => break None,
            Progress::Ended { code } => break Some(code),
        }
    };
    let facts = facts::apart(&facts_before, &rerun.facts());
    let (comparison, prepared) = rerun.end();
    let output = output::unseen(&comparison.shown);
    let report = Report {
        program: rerun_request.program.path.display().to_string(),
        address: place.address(place.at()),
        name: place.name(),
        output: output::apart(&comparison.shown),
        facts,
        comparison,
        ended,
        can_be_patched: store.need(&place.run, &place.branch)? != Need::Nothing,
        texts: [texts, changed.texts],
    };
    Ok(Rerun {
        place,
        branch,
        report,
        output,
        prepared,
    })
}

/// A recorded run, and the program that takes the place of its own.
struct Replaced {
    ledger: Ledger,
    /// The texts of the run.
    texts: SourceTexts,
    changed: Changed,
}

/// Reads the recorded run, and compiles the changed program.
fn replaced(
    store: &dyn Store,
    place: &Place,
    rerun_request: RerunRequest<'_>,
    terminal: &mut Terminal,
) -> Result<Replaced, CommandError> {
    let pinned = compiled::pinned(store, place)?;
    let known = pinned.programs.called_tools();
    let ledger = place.source(store).ledger(Some(place.at()), pinned.programs)?;
    let replacement = Replacement {
        program: rerun_request.program,
        granted: &granted_since(&ledger),
        further: rerun_request.granted,
    };
    let changed = owned_run::changed(store, place, replacement, terminal)?;
    let name = place.name();
    if rerun::has_peers(&ledger) {
        return Err(CommandError::problem(format!(
            "{name} has spoken with peers, who cannot be asked again yet, so changed code cannot take its place"
        ))
        .advise(say![
            Way::at("resume", name),
            " goes on with the code that the run began with"
        ]));
    }
    let grantee = Grantee {
        name: &name,
        manifest: &changed.manifest,
        with: Some(rerun_request.program.path),
    };
    grantee.warn(&known, &changed.programs, terminal);
    Ok(Replaced {
        ledger,
        texts: pinned.texts,
        changed,
    })
}

impl Rerun {
    /// Writes the new branch under the epoch of a claim; returns the requests that nobody has made
    /// before.
    ///
    /// # Errors
    /// If the journal cannot be written; then nothing was.
    pub(crate) fn append(
        self,
        store: &mut dyn Store,
        epoch: Epoch,
    ) -> Result<(Vec<EffectKind>, BTreeSet<RequestId>), CommandError> {
        let afresh = self.prepared.afresh.clone();
        self.prepared.append(store, epoch)?;
        Ok((self.output, afresh))
    }
}

impl Report {
    /// The exit code of a run that only looks.
    pub(crate) fn code(&self) -> ExitCode {
        if self.is_same() {
            ExitCode::OK
        } else {
            ExitCode::DIVERGED
        }
    }
}

/// What grants have added to what a run began with.
fn granted_since(ledger: &Ledger) -> Manifest {
    let mut all = Manifest::default();
    for heard in &ledger.heard {
        if let Event::Granted { grant } = &heard.event {
            all.add(&grant.manifest);
        }
    }
    all
}

/// Finds the branch whose answers are given, and the turn up to which they are.
fn place(
    store: &dyn Store,
    journal: &Journal,
    address: Option<&str>,
    from: Option<&str>,
) -> Result<Place, CommandError> {
    let of_run = journal.resolve_turn(store, address)?;
    let Some(from) = from else { return Ok(of_run) };
    let from = journal.resolve_turn(store, Some(from))?;
    if from.run == of_run.run {
        return Ok(from);
    }
    Err(CommandError::usage(format!(
        "{} is another run than {}, whose answers are wanted",
        from.run, of_run.run
    )))
}

/// Returns the name of the new branch: the given one, or the first free one that tells where it
/// comes from. A branch of changed code that is changed again is `main-new-2` beside `main-new`.
fn new_branch(store: &dyn Store, place: &Place, name: Option<&str>) -> Result<BranchName, CommandError> {
    let heads = store.heads(&place.run)?;
    let is_free = |name: &BranchName| heads.iter().all(|head| head.branch != *name);
    let read = |name: &str| {
        BranchName::new(name)
            .map_err(|error| CommandError::usage(format!("`{name}` cannot be a branch's name: {error}")))
    };
    if let Some(name) = name {
        let branch = read(name)?;
        return if is_free(&branch) {
            Ok(branch)
        } else {
            Err(CommandError::usage(format!(
                "{} has a branch {branch} already",
                place.run
            )))
        };
    }
    let first = format!("{}{NEW}", original(place.branch.as_str()));
    let mut branch = read(&first)?;
    let mut number = 1_u64;
    while !is_free(&branch) {
        number += 1;
        branch = read(&format!("{first}-{number}"))?;
    }
    Ok(branch)
}

/// How the names of branches of changed code end, a number apart.
const NEW: &str = "-new";

/// The name of a branch without the ending that tells of changed code.
fn original(branch: &str) -> &str {
    let numbered = branch.rsplit_once('-');
    let stem = numbered
        .filter(|(stem, number)| stem.ends_with(NEW) && number.parse::<u64>().is_ok())
        .map_or(branch, |(stem, _)| stem);
    stem.strip_suffix(NEW).filter(|stem| !stem.is_empty()).unwrap_or(branch)
}

/// The number of a turn, or that there is none.
fn number(turn: Option<Sequence>) -> u64 {
    turn.map_or(0, Sequence::number)
}
