//! The files of the workspace at a turn: their contents then, their contents now, and their
//! restoration.
//!
//! INVARIANT: unless the person forces it, Duet overwrites only contents that this run left there
//! or that the journal holds, and removes only empty folders that this run has made.
//! It moves no head; `verb/act/goto.rs` does.
//! Read next: `drivers/src/tool/workspace/change.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use duet_drivers::text::line;
use duet_drivers::tool::workspace::Workspace;
use duet_drivers::tool::workspace::change::{Change, State, changes};
use duet_journal::{BranchName, Sequence, Store};
use duet_runtime::action::Action;
use duet_runtime::driver::ToolFailure;
use duet_runtime::record::Body;
use duet_runtime::run::source::{self, Source};
use schemars::JsonSchema;
use serde::Serialize;

use crate::history::journal::{OpenJournal, Place};
use crate::history::records::Records;
use crate::history::turn;
use crate::owner::owned_run::{self, notes};
use crate::settings::configuration;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::world::imported;

/// The restoration of the workspace's files to their state at a turn.
pub(super) struct Restoration {
    workspace: Workspace,
    pub(super) files: Files,
    /// The folders that turns have made which do not lead to the wanted one.
    made: BTreeSet<PathBuf>,
}

/// A file that is not as it was.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileForm {
    path: String,
    /// Its state now, in words.
    now: String,
    /// Its state at the turn.
    then: String,
    /// Whether its content now is of somebody else.
    changed_outside: bool,
}

/// Files that are not as they were.
pub(crate) struct Files {
    /// The folder of the workspace.
    root: PathBuf,
    all: Vec<File>,
}

/// A file that is not as it was.
struct File {
    /// The change with its path.
    change: Change,
    now: State,
    then: State,
    /// Whether its contents came from outside Duet and would be lost.
    is_foreign: bool,
}

/// The changes of a run to one file.
#[derive(Default)]
struct Past {
    /// The newest change in the turns that lead to the wanted one.
    last: Option<(Sequence, Change)>,
    /// The first change of each branch in turns that do not.
    later: Vec<(Sequence, Change)>,
    /// Everything that was there before or after a change.
    known: Vec<State>,
    /// The changes that made folders, in the turns that lead to the wanted one, and in others.
    made: Vec<Change>,
    made_later: Vec<Change>,
}

impl Restoration {
    /// Compares the workspace with its state at turn `at` of a branch.
    ///
    /// # Errors
    /// If the journal cannot be read, or a file of the workspace not be looked at.
    pub(super) fn make(
        OpenJournal { store, journal }: OpenJournal<'_>,
        place: &Place,
        branch: &BranchName,
        at: Sequence,
    ) -> Result<Self, CommandError> {
        let root = root(store, place)?;
        let workspace = Workspace::open(&root).and_then(|opened| opened.keep_out_of(journal.path()));
        let workspace = workspace.map_err(|error| {
            CommandError::caused(format!("cannot use `{}` as the workspace", root.display()), &error)
        })?;
        let mut files = Vec::new();
        let pasts = pasts(Source::new(store, &place.run, branch), at)?;
        let kept: BTreeSet<&Path> = pasts.values().flat_map(|past| folders(&past.made)).collect();
        let made = pasts.values().flat_map(|past| folders(&past.made_later));
        let made = made.filter(|folder| !kept.contains(folder)).map(Path::to_owned);
        let made = made.collect();
        for (path, past) in &pasts {
            let now = workspace.look(path).map_err(|failure| told(&failure))?.state;
            let Some((change, then)) = past.then() else { continue };
            if now == then {
                continue;
            }
            let is_known = past.known.iter().any(|known| known.is_like(&now));
            let is_foreign = !is_known && !is_held(store, &now)? && !now.is_like(&then);
            files.push(File {
                change,
                now,
                then,
                is_foreign,
            });
        }
        let files = Files { root, all: files };
        Ok(Self { workspace, files, made })
    }

    /// Refuses if contents from outside Duet would be lost.
    ///
    /// # Errors
    /// Naming the files.
    pub(super) fn require_known(&self, address: &str) -> Result<(), CommandError> {
        let files = &self.files;
        let foreign: Vec<String> = files
            .all
            .iter()
            .filter(|file| file.is_foreign)
            .map(File::line)
            .collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let count = if foreign.len() == 1 {
            "1 file was".to_owned()
        } else {
            format!("{} files were", foreign.len())
        };
        let what = format!(
            "{count} changed outside Duet in `{}`; nothing was done",
            files.root.display()
        );
        let failure = foreign
            .into_iter()
            .fold(CommandError::problem(what), CommandError::advise);
        Err(failure.advise(say![
            Way::at("goto --workspace --force", address),
            " overwrites them; their present contents are then lost",
        ]))
    }

    /// Puts the files back.
    ///
    /// # Errors
    /// If a content is missing or a file cannot be written; the same command continues from there.
    pub(super) fn carry_out(&self, store: &dyn Store) -> Result<(), CommandError> {
        for file in &self.files.all {
            let content = if let State::File { content, .. } = &file.then {
                Some(store.blob(content)?)
            } else {
                None
            };
            self.workspace
                .put(&file.change, &file.then, content.as_deref())
                .map_err(|failure| told(&failure))?;
        }
        // Those with files of somebody else stay.
        let removed = self.made.iter().rev();
        removed.for_each(|folder| self.workspace.remove_empty(folder));
        Ok(())
    }
}

/// The folders that changes have made, each above its own.
fn folders(changes: &[Change]) -> impl Iterator<Item = &Path> {
    changes.iter().flat_map(|change| {
        let above = change.path.ancestors().skip(1);
        above.take_while(|above| change.made.as_ref().is_some_and(|made| above.starts_with(made)))
    })
}

impl Files {
    /// Says how many were put back.
    pub(super) fn restored(&self) -> String {
        let root = self.root.display();
        match self.all.len() {
            0 => format!("the files in `{root}` are unchanged"),
            1 => format!("1 file in `{root}` was restored"),
            count => format!("{count} files in `{root}` were restored"),
        }
    }

    pub(super) fn form(&self) -> Vec<FileForm> {
        let files = self.all.iter().map(|file| FileForm {
            path: file.change.path.to_string_lossy().into_owned(),
            now: file.now.to_string(),
            then: file.then.to_string(),
            changed_outside: file.is_foreign,
        });
        files.collect()
    }

    /// One line for each.
    pub(super) fn lines(&self) -> String {
        self.all.iter().map(|file| format!("{}\n", file.line())).collect()
    }
}

impl File {
    fn line(&self) -> String {
        let path = self.change.path.display().to_string();
        let path = line(&path);
        let what = match (&self.now, &self.then) {
            (State::Absent, then) => format!("make {path}: {then}"),
            (now, State::Absent) => format!("delete {path}: now {now}"),
            (now, then) => format!("replace {path}: now {now}, then {then}"),
        };
        if self.is_foreign {
            format!("{what}; changed outside Duet")
        } else {
            what
        }
    }
}

impl Past {
    /// The contents at the wanted turn: those after the newest change until then, else those before
    /// the first change since.
    fn then(&self) -> Option<(Change, State)> {
        if let Some((_, change)) = &self.last {
            return Some((change.clone(), change.after.clone()));
        }
        // A branch that was begun later found what the earlier ones had left.
        let is_left = |state: &State| self.later.iter().any(|(_, other)| other.after.is_like(state));
        let original = self.later.iter().filter(|(_, change)| !is_left(&change.before));
        let first = original
            .min_by_key(|(at, _)| *at)
            .or_else(|| self.later.iter().min_by_key(|(at, _)| *at));
        first.map(|(_, change)| (change.clone(), change.before.clone()))
    }
}

/// Collects the changes of a run to each file, on all its branches, as seen from turn `at` of one
/// of them.
fn pasts(here: Source<'_>, at: Sequence) -> Result<BTreeMap<PathBuf, Past>, CommandError> {
    let mut pasts: BTreeMap<PathBuf, Past> = BTreeMap::new();
    for head in here.store.heads(here.run)? {
        let there = Source {
            branch: &head.branch,
            ..here
        };
        let shared = shared(here, there, at.min(head.sequence))?;
        let from = if head.branch == *here.branch {
            Sequence::FIRST
        } else {
            shared
        };
        let mut is_first: BTreeMap<PathBuf, bool> = BTreeMap::new();
        for (sequence, change) in kept(there, from..=head.sequence)? {
            let past = pasts.entry(change.path.clone()).or_default();
            past.known.extend([change.before.clone(), change.after.clone()]);
            if change.made.is_some() {
                let made = if sequence <= shared {
                    &mut past.made
                } else {
                    &mut past.made_later
                };
                made.push(change.clone());
            }
            if sequence <= shared {
                if past.last.as_ref().is_none_or(|(last, _)| *last <= sequence) {
                    past.last = Some((sequence, change));
                }
            } else if std::mem::replace(is_first.entry(change.path.clone()).or_insert(true), false) {
                past.later.push((sequence, change));
            }
        }
    }
    Ok(pasts)
}

/// Finds the newest turn, not after `last`, that two branches of a run share.
fn shared(here: Source<'_>, there: Source<'_>, last: Sequence) -> Result<Sequence, CommandError> {
    if here.branch == there.branch {
        return Ok(last);
    }
    let count = here.count_shared(&there, last.number() + 1)?;
    // They share the first turn of all.
    Sequence::new(count.saturating_sub(1)).map_err(|error| CommandError::problem(error.to_string()))
}

/// The label of the action that keeps something, as a symbol of packed Preserves.
const KEEP: &[u8] = b"\xb3\x04keep";

/// Lists the changes that the turns of a branch kept.
fn kept(source: Source<'_>, range: RangeInclusive<Sequence>) -> Result<Vec<(Sequence, Change)>, CommandError> {
    let mut found = Vec::new();
    let mut records = Records::oldest_first(source, range);
    while let Some(record) = records.next_closed()? {
        let sequence = record.header().sequence;
        // A turn that keeps something has contents beside it.
        if record.header().blobs.is_empty() {
            continue;
        }
        let record = records.open(record)?;
        // Most turns with blobs have a snapshot and keep nothing.
        if !record.body_bytes().windows(KEEP.len()).any(|part| part == KEEP) {
            continue;
        }
        if let Body::Turn(turn) = turn::body(&record)? {
            let notes = turn.actions.iter().filter_map(|action| {
                if let Action::Keep(keep) = action {
                    Some(&keep.kept.note)
                } else {
                    None
                }
            });
            found.extend(notes.flat_map(changes).map(|change| (sequence, change)));
        }
    }
    Ok(found)
}

/// The workspace that a run works in. If it has a name, the tools may have worked in any directory
/// that a worker declares by it, and nothing in the journal tells in which; so the person has to.
fn root(store: &dyn Store, place: &Place) -> Result<PathBuf, CommandError> {
    if let Some(terms) = imported::terms(store, &place.run)? {
        let name = place.name();
        let nowhere = || {
            CommandError::problem(format!("{name} was imported, and nobody here has given it a workspace"))
                .because("its own first record names a directory, which somebody else chose")
                .advise(say![
                    Way::at("resume", &name).with("--grant … --workspace DIRECTORY"),
                    " gives it one",
                ])
        };
        return terms.workspace.map(PathBuf::from).ok_or_else(nowhere);
    }
    let genesis = source::genesis(&owned_run::record_at(store, place, Sequence::FIRST)?)?;
    let Some(note) = notes::launch_note(store, &genesis) else {
        return Ok(PathBuf::from("."));
    };
    match note.workspace_name {
        Some(name) => configuration::workspaces::of_name(&name),
        None => Ok(note.workspace),
    }
}

/// Whether the journal holds the contents of a file.
fn is_held(store: &dyn Store, state: &State) -> Result<bool, CommandError> {
    match state {
        State::File { content, .. } => Ok(store.has_blob(content)?),
        State::Absent | State::Link { .. } | State::Other => Ok(false),
    }
}

fn told(failure: &ToolFailure) -> CommandError {
    CommandError::problem(failure.message.clone())
}
