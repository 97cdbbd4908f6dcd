//! A changed program in the place of a run's own.
//!
//! INVARIANT: the program gets the arguments, the grants and the limits that the run began with; a
//! run of the prompt has no program that could change.
//! It changes no run. Read next: `patching.rs`, `verb/rerun.rs`.

use std::path::Path;

use duet_journal::{Blob, Sequence, Store};
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::Genesis;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::{self, SchemePrograms};

use super::notes::launch_notes;
use super::{Grantee, compile, record_at};
use crate::history::journal::Place;
use crate::history::prompts::is_prompt;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::world::imported;
use crate::world::launch::{self, Launch};

/// A program that is to take the place of a run's own, and what it may do beyond what the run began
/// with.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) program: launch::Program<'a>,
    /// What the journal has granted the run since.
    pub(crate) granted: &'a Manifest,
    /// What the person grants now; the new branch begins with it.
    pub(crate) further: &'a [String],
}

/// A changed program in the place of a run's own, with the first record of a branch that it begins.
pub(crate) struct Changed {
    pub(crate) programs: SchemePrograms,
    pub(crate) genesis: Genesis,
    pub(crate) pinned: Vec<Blob>,
    pub(crate) texts: SourceTexts,
    /// What its main program may do.
    pub(crate) manifest: Manifest,
}

/// Compiles a program from its file to take the place of a run's own, with the arguments, the
/// limits that the run began with, and what it may do.
///
/// # Errors
/// [`CommandError::Shown`] with all errors of the program's texts; if the file cannot be read; if
/// its manifest asks for more than the run was granted.
pub(crate) fn changed(
    store: &dyn Store,
    place: &Place,
    Replacement {
        program,
        granted,
        further,
    }: Replacement<'_>,
    terminal: &mut Terminal,
) -> Result<Changed, CommandError> {
    let mut genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
    let name = place.name();
    let mut launch = changed_launch(&genesis, program, &name, terminal)?;
    // The rights of an imported run are noted beside its records.
    if imported::terms(store, &place.run)?.is_none() {
        for name in further {
            let granted = genesis.manifest.grant(name.clone());
            granted.map_err(|unknown| CommandError::usage(unknown.to_string()))?;
        }
    }
    let mut manifest = genesis.manifest.clone();
    manifest.add(granted);
    Grantee {
        name: &name,
        manifest: &manifest,
        with: Some(program.path),
    }
    .require(&launch)?;
    launch.manifest = genesis.manifest.clone();
    let (programs, program) = compile(&launch, &launch.path.display().to_string(), terminal)?;
    let texts = SourceTexts::of(programs.expander());
    let mut pinned = program.pinned;
    pinned.extend(launch_notes(store, &genesis)?);
    let genesis = Genesis {
        program: program.value,
        pinned: pinned.iter().map(Blob::hash).collect(),
        ..genesis
    };
    Ok(Changed {
        programs,
        genesis,
        pinned,
        texts,
        manifest,
    })
}

/// Reads a program from its file to take the place of that of a run, with the arguments that the
/// run began with.
///
/// # Errors
/// If the run called `name` is one of the prompt, or the file cannot be read.
pub(super) fn changed_launch(
    genesis: &Genesis,
    program: launch::Program<'_>,
    name: &str,
    terminal: &mut Terminal,
) -> Result<Launch, CommandError> {
    if is_prompt(&genesis.program) {
        return Err(CommandError::problem(format!(
            "{name} is a run of the prompt: its program is the texts that were typed there"
        ))
        .advise(say![
            Way::at("repl", name),
            " goes on with it, and `,load FILE` evaluates a changed text there; a definition counts for all calls \
             from then on, a computation that waits in the one before ends in that, and `,undo` takes it back"
        ]));
    }
    let (_, arguments) = scheme::description(&genesis.program)
        .map_err(|error| CommandError::caused("the run's first record describes no program", &error))?;
    program.require_within()?;
    let launch = Launch::read(program, Some(Path::new(".")), arguments.into_iter().skip(1).collect())?;
    launch
        .warnings
        .iter()
        .for_each(|warning| terminal.message(warning.clone()));
    Ok(launch)
}
