//! A changed program in the place of a run's own.
//!
//! INVARIANT: the program gets the arguments, the grants and the limits that the run began with; a
//! run of the prompt has no program that could change.
//! It changes no run. Read next: `patching.rs`, `../rerun.rs`.

use std::path::Path;

use duet_journal::{Blob, Sequence, Store};
use duet_runtime::record::Genesis;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::{self, SchemePrograms};

use super::notes::launch_notes;
use super::{compile, record_at};
use crate::error::CommandError;
use crate::journal::Place;
use crate::launch::{self, Launch};
use crate::render::SourceTexts;
use crate::repl::session::is_prompt;
use crate::saying::{Way, say};
use crate::terminal::Terminal;

/// A changed program in the place of a run's own, with the first record of a branch that it begins.
pub(crate) struct Changed {
    pub(crate) programs: SchemePrograms,
    pub(crate) genesis: Genesis,
    pub(crate) pinned: Vec<Blob>,
    pub(crate) texts: SourceTexts,
}

/// Compiles a program from its file to take the place of a run's own, with the arguments, the
/// grants and the limits that the run began with.
///
/// # Errors
/// [`CommandError::Shown`] with all errors of the program's texts; or if the file cannot be read.
pub(crate) fn changed(
    store: &dyn Store,
    place: &Place,
    program: launch::Program<'_>,
    terminal: &mut Terminal,
) -> Result<Changed, CommandError> {
    let genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
    let mut launch = changed_launch(&genesis, program, &place.name(), terminal)?;
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
            " goes on with it; a definition counts as soon as it is typed, and `,undo` takes it back"
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
