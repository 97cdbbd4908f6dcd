//! `duet merge`: merges the facts of one branch into another.

use duet_journal::Store;
use duet_runtime::history::merge::{Merge, between};
use duet_runtime::model::counted::counted;
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::history::journal::{Journal, Place};
use crate::text::error::{CommandError, ExitCode};
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::text::value_text::shown;
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::world_options::WorldOptions;

pub(crate) use crate::text::view::Driven as Report;

/// Merges the facts of one branch into another.
///
/// Duet compares the facts of both branches with those at the newest turn that they share. A fact
/// that came on the branch FROM since then is asserted by the main program of the other branch. A
/// fact that went there is retracted by the actors that assert it. Each is a turn of the branch,
/// which then continues.
///
/// Records with the same label and first field are versions of one thing. Where both branches
/// changed it differently, the version of the target stays, and the main program asserts
/// `<merge-conflict [BASE] [OURS] [THEIRS]>`, with `#f` for a version that does not exist.
///
///   duet merge review/what-if --into main
///   duet merge what-if --dry-run --json
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the branch, or of its last turn to merge.
    pub(crate) from: String,
    /// The branch that receives the facts; without it the current one.
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// Lists the changes and makes none.
    #[arg(long)]
    dry_run: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Merges one branch into another.
///
/// # Errors
/// If they are not two branches of one run, or the run has ended or may not assert a fact.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    if request.dry_run {
        let journal = project.journal().clone();
        let look = project.look()?;
        let merge = Sides::of(request, &journal, look.store)?.compare(look.store)?;
        show(&merge, request.json, project.stage()?)?;
        return Ok(ExitCode::OK.into());
    }
    let mut store = project.change("merge")?;
    let before = Sides::of(request, project.journal(), &*store)?;
    project.take_from_worker(&mut *store, &before.into)?;
    // Whoever had the run may have taken turns until it let go.
    let sides = Sides::of(request, project.journal(), &*store)?;
    let merge = sides.compare(&*store)?;
    show(&merge, request.json, project.stage()?)?;
    sides.take_over(&merge, project, &mut *store)
}

fn show(merge: &Merge, is_json: bool, terminal: &mut Terminal) -> Result<(), CommandError> {
    if is_json {
        return terminal.json(&as_json(&form_of(merge)));
    }
    terminal.data(text(merge))
}

/// Two branches of one run: the one that is merged, and the one that receives its facts.
struct Sides {
    from: Place,
    into: Place,
}

impl Sides {
    /// Finds the branches that a person names.
    fn of(request: &Request, journal: &Journal, store: &dyn Store) -> Result<Self, CommandError> {
        let from = journal.resolve_turn(store, Some(&request.from))?;
        let into = match request.into.as_deref() {
            Some(branch) if !branch.contains('/') => journal.resolve(store, Some(&format!("{}/{branch}", from.run)))?,
            into => journal.resolve(store, into)?,
        };
        if from.run != into.run {
            return Err(CommandError::usage(format!(
                "{} and {} are branches of different runs",
                from.name(),
                into.name()
            )));
        }
        if from.branch == into.branch {
            return Err(
                CommandError::usage(format!("{} cannot be merged into itself", from.name()))
                    .advise("name the branch that receives the facts with `--into BRANCH`"),
            );
        }
        Ok(Self { from, into })
    }

    fn compare(&self, store: &dyn Store) -> Result<Merge, CommandError> {
        let Self { from, into } = self;
        Ok(between(
            into.source(store).up_to(into.at()),
            from.source(store).up_to(from.at()),
        )?)
    }

    /// Gives the facts to the branch that receives them, and goes on with it.
    fn take_over(&self, merge: &Merge, project: &mut Project, store: &mut dyn Store) -> Result<Report, CommandError> {
        let Self { from, into } = self;
        let told = format!(
            "{} asserted, {} retracted, {} in conflict",
            counted(merge.asserted.len(), "fact"),
            merge.retracted.len(),
            merge.conflicts.len()
        );
        let mut owned = project.resume(into, store, WorldOptions::default(), "merge")?;
        owned.catch_up(store)?;
        if owned.exit().is_some() {
            return Err(
                CommandError::problem(format!("{} has ended and cannot receive facts", into.name()))
                    .advise(say![Way::turn("goto", into.name(), -1), " goes back to before its end"]),
            );
        }
        let (run, _) = owned.parts();
        if let Some(fact) = merge.forbidden(run.state()) {
            let what = format!(
                "the main program of {} has no right to assert {}",
                into.name(),
                shown(&fact)
            );
            return Err(CommandError::problem(what)
                .because("nothing was merged")
                .advise("grant `dataspace/assert` in the manifest's `tools`, or merge into a run that has it"));
        }
        for input in merge.inputs(run.state()) {
            run.deliver_first(input);
        }
        project.set_current(into);
        let merged = format!("{} into {}: {told}", from.address(from.at()), into.name());
        project.stage()?.message(merged);
        Ok(owned.drive(store, true, project.stage()?)?.into())
    }
}

fn text(merge: &Merge) -> String {
    let side = |version: &Option<IOValue>| version.as_ref().map_or("nothing".to_owned(), shown);
    let asserted = merge.asserted.iter().map(|fact| format!("+ {}\n", shown(fact)));
    let retracted = merge.retracted.iter().map(|fact| format!("- {}\n", shown(fact)));
    let conflicts = merge.conflicts.iter().map(|conflict| {
        format!(
            "! {} here, {} there, {} before\n",
            side(&conflict.ours),
            side(&conflict.theirs),
            side(&conflict.base)
        )
    });
    asserted.chain(retracted).chain(conflicts).collect()
}

/// The report as JSON; the values are Preserves text, because a conflict needs both as they are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    /// The facts that the merge asserts.
    asserted: Vec<String>,
    /// Those that it retracts.
    retracted: Vec<String>,
    conflicts: Vec<ConflictForm>,
}

/// A fact that both sides have changed.
#[derive(Serialize, JsonSchema)]
struct ConflictForm {
    /// The fact where the branches part; null if there was none.
    base: Option<String>,
    /// The fact here.
    ours: Option<String>,
    /// The fact there.
    theirs: Option<String>,
}

fn form_of(merge: &Merge) -> Form {
    let all = |facts: &[IOValue]| facts.iter().map(shown).collect();
    let side = |version: &Option<IOValue>| version.as_ref().map(shown);
    let conflicts = merge.conflicts.iter().map(|conflict| ConflictForm {
        base: side(&conflict.base),
        ours: side(&conflict.ours),
        theirs: side(&conflict.theirs),
    });
    Form {
        asserted: all(&merge.asserted),
        retracted: all(&merge.retracted),
        conflicts: conflicts.collect(),
    }
}
