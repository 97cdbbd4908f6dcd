//! `duet merge`: what one branch has found out is taken over on another.

use std::collections::BTreeMap;

use duet_journal::{Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Input;
use duet_runtime::history::merge::{Conflict, Merge, three_way};
use duet_runtime::history::parting::part;
use duet_runtime::history::shadow::Shadow;
use duet_runtime::identity::ActorId;
use duet_runtime::replay::Source;
use duet_runtime::state::RunState;
use preserves::IOValue;
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place};
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
    let mut store = if is_dry { journal.open_to_read()? } else { journal.open_to_write("merge")? };
    let from = journal.resolve_turn(&store, arguments.word(0))?;
    let into = match arguments.one("into") {
        Some(branch) if !branch.contains('/') => journal.resolve(&store, Some(&format!("{}/{branch}", from.run)))?,
        into => journal.resolve(&store, into)?,
    };
    if from.run != into.run {
        return Err(Failure::usage(format!("{} and {} are branches of different runs", from.name(), into.name())));
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
    let source = |branch| Source { store, run: &from.run, branch };
    let (theirs, ours) = (source(&from.branch), source(&into.branch));
    let parting = part((&ours, into.at()), (&theirs, from.at()))?;
    let facts = |source: &Source<'_>, at| Ok::<_, Failure>(Shadow::at(source, at)?.facts());
    let base = parting.shared.map_or(Ok(Vec::new()), |shared: Sequence| facts(&ours, shared))?;
    three_way(&base, &facts(&ours, into.at())?, &facts(&theirs, from.at())?)
        .map_err(|error| Failure::caused("the facts cannot be compared", &error))
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
    let mut session = Session::resume(into, (store, journal.path()), Vec::new(), "merge")?;
    if session.exit().is_some() {
        return Err(Failure::problem(format!("{} is over and takes nothing over", into.name()))
            .advise(format!("`duet goto {}@-1` goes back to before its end", into.name())));
    }
    let (run, _) = session.parts();
    for input in inputs(merge, run.state()) {
        run.deliver_first(input);
    }
    journal.set_current(&into.run, &into.branch);
    terminal.message(&format!("{} into {}: {told}", from.address(from.at()), into.name()));
    session.drive(store, true, terminal)
}

/// One input for each actor that has something to do, the main program's last.
fn inputs(merge: &Merge, state: &RunState) -> Vec<Input> {
    let conflicts = merge.conflicts.iter().map(Conflict::fact);
    let is_new = |fact: &IOValue| state.held.iter().all(|(_, held)| held.fact.value() != fact);
    let mut asserted: Vec<IOValue> = merge.asserted.clone();
    asserted.extend(conflicts.filter(is_new));
    let mut retracted: BTreeMap<ActorId, Vec<IOValue>> = BTreeMap::new();
    for fact in &merge.retracted {
        let holders = state.held.iter().filter(|(_, held)| held.fact.value() == fact);
        let mut actors: Vec<ActorId> = holders.map(|(_, held)| held.actor).collect();
        actors.dedup();
        for actor in actors {
            let facts = retracted.entry(actor).or_default();
            if !facts.contains(fact) {
                facts.push(fact.clone());
            }
        }
    }
    let main = retracted.remove(&MAIN).unwrap_or_default();
    let is_main_told = !asserted.is_empty() || !main.is_empty();
    let others = retracted.into_iter().map(|(actor, retracted)| Input::Merge { actor, asserted: Vec::new(), retracted });
    others.chain(is_main_told.then_some(Input::Merge { actor: MAIN, asserted, retracted: main })).collect()
}

fn text(merge: &Merge) -> String {
    let side = |version: &Option<IOValue>| version.as_ref().map_or("nothing".to_owned(), shown);
    let asserted = merge.asserted.iter().map(|fact| format!("+ {}\n", shown(fact)));
    let retracted = merge.retracted.iter().map(|fact| format!("- {}\n", shown(fact)));
    let conflicts = merge.conflicts.iter().map(|conflict| {
        format!("! {} here, {} there, {} before\n", side(&conflict.ours), side(&conflict.theirs), side(&conflict.base))
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
