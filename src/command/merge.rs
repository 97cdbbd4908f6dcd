//! `duet merge`: what one branch has found out is taken over on another.

use duet_journal::Store;
use duet_runtime::history::merge::{Merge, between};
use duet_runtime::run::source::Source;
use preserves::IOValue;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
use crate::outfit::Outfit;
use crate::render::shown;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Facts are compared with those at the newest turn that both branches share. What came on the branch FROM since is asserted by the
main program of the other branch, and what went there is retracted by the actors that assert it; each is a turn of the branch,
which then goes on. Records with the same label and first field are versions of one thing. Where both branches changed it, and
not alike, the version of the target stays and `<merge-conflict [BASE] [OURS] [THEIRS]>` is asserted, with `#f` for one that is
not there.

  --into BRANCH    the branch that takes over; otherwise the current one
  --dry-run        only says what would be done

    duet merge review/what-if --into main
    duet merge what-if --dry-run --json";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let journal = Journal::of(arguments);
    let is_dry = arguments.has("dry-run");
    let mut store = if is_dry {
        journal.open_to_read()?
    } else {
        journal.open_to_write("merge")?
    };
    let from = journal.resolve_turn(&store, arguments.word(0))?;
    let into = match arguments.one("into") {
        Some(branch) if !branch.contains('/') => journal.resolve(&store, Some(&format!("{}/{branch}", from.run)))?,
        into => journal.resolve(&store, into)?,
    };
    if from.run != into.run {
        return Err(Failure::usage(format!(
            "{} and {} are branches of different runs",
            from.name(),
            into.name()
        )));
    }
    if from.branch == into.branch {
        return Err(Failure::usage(format!("{} cannot be merged into itself", from.name()))
            .advise("name the branch that takes over with `--into BRANCH`"));
    }
    let merge = compare(&store, &from, &into)?;
    if arguments.has("json") {
        terminal.json(&as_json(&merge))?;
    } else {
        terminal.data(&text(&merge))?;
    }
    if is_dry {
        return Ok(Code::OK);
    }
    take_over(&merge, (&from, &into), &journal, &mut store, terminal)
}

fn compare(store: &dyn Store, from: &Place, into: &Place) -> Result<Merge, Failure> {
    let source = |branch| Source {
        store,
        run: &from.run,
        branch,
    };
    Ok(between(
        (&source(&into.branch), into.at()),
        (&source(&from.branch), from.at()),
    )?)
}

fn take_over(
    merge: &Merge,
    (from, into): (&Place, &Place),
    journal: &Journal,
    store: &mut dyn Store,
    terminal: &mut Terminal,
) -> Result<Code, Failure> {
    let told = format!(
        "{} facts asserted, {} retracted, {} in conflict",
        merge.asserted.len(),
        merge.retracted.len(),
        merge.conflicts.len()
    );
    let mut session = Session::resume(into, (store, journal.path()), Outfit::default(), "merge")?;
    if session.exit().is_some() {
        return Err(
            Failure::problem(format!("{} is over and takes nothing over", into.name()))
                .advise(format!("`duet goto {}@-1` goes back to before its end", into.name())),
        );
    }
    let (run, _) = session.parts();
    for input in merge.inputs(run.state()) {
        run.deliver_first(input);
    }
    journal.set_current(&into.run, &into.branch);
    terminal.message(&format!("{} into {}: {told}", from.address(from.at()), into.name()));
    session.drive(store, true, terminal)
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

fn as_json(merge: &Merge) -> serde_json::Value {
    let all = |facts: &[IOValue]| facts.iter().map(shown).collect::<Vec<_>>();
    let conflicts = merge.conflicts.iter().map(|conflict| {
        let side = |version: &Option<IOValue>| version.as_ref().map(shown);
        json!({ "base": side(&conflict.base), "ours": side(&conflict.ours), "theirs": side(&conflict.theirs) })
    });
    json!({
        "asserted": all(&merge.asserted),
        "retracted": all(&merge.retracted),
        "conflicts": conflicts.collect::<Vec<_>>(),
    })
}
