//! `duet import`: a run that was exported is taken into a journal.

use std::collections::BTreeMap;
use std::path::Path;

use duet_journal::copy::copy;
use duet_journal::verify::verify;
use duet_journal::{RunId, Store, StoreError};
use duet_runtime::model::address::Mark;

use crate::arguments::Arguments;
use crate::command::export::check;
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place, owner};
use crate::marks::{self, Marked};
use crate::parcel::{self, Parcel, damaged};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Before anything is written the file is checked: that it is whole, that each record is the one its name says and follows the one
before it, and that every branch replays from its texts to the same records. A run of that name in the journal is added to if
the file knows all its branches, and otherwise left alone. Marks come along, but for names that the journal has given already.

    duet import review.duet";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let path = Path::new(arguments.word(0).unwrap_or_default());
    let parcel = parcel::read(path)?;
    let file = &parcel.store;
    let journal = Journal::of(arguments);
    for run in file.runs()? {
        let heads = file.heads(&run)?;
        let Some(first) = heads.first() else { continue };
        for head in &heads {
            let report = verify(file, &run, &head.branch)?;
            if !report.is_sound() {
                return Err(damaged(
                    path,
                    &format!(
                        "{run}/{} is sound only in its first {} records",
                        head.branch, report.sound_records
                    ),
                ));
            }
        }
        let place = Place {
            run: run.clone(),
            branch: first.branch.clone(),
            head: first.clone(),
            turn: None,
        };
        check(file, &place)?;
        let marks = marked(path, &parcel, &run)?;
        let mut store = journal.open_or_create("import")?;
        let count = match copy(file, &mut store, (&run, &heads), &owner("import"), None) {
            Err(StoreError::HeadMoved { branch, .. }) => {
                return Err(Failure::problem(format!(
                    "the journal has a run {run} with a branch {branch} that the file does not know"
                ))
                .advise("it was left as it was; `--journal FILE` imports into another journal"));
            }
            count => count?,
        };
        journal.set_current(&run, &first.branch);
        let branches: Vec<String> = heads
            .iter()
            .map(|head| format!("{}@{}", head.branch, head.sequence))
            .collect();
        terminal.message(&format!("{run}: {count} records, branches {}", branches.join(" ")));
        mark(&journal, &run, marks, terminal)?;
    }
    Ok(Code::OK)
}

/// Finds the marks of a run in a file; each must name a turn that is there.
fn marked(path: &Path, file: &Parcel, run: &RunId) -> Result<BTreeMap<Mark, Marked>, Failure> {
    let marks = marks::parse(&file.marks, run);
    for (mark, marked) in &marks {
        let is_there = file.store.record(&marked.record).is_ok_and(|record| {
            let header = record.header();
            header.run == *run && header.sequence == marked.turn
        });
        if !is_there {
            return Err(damaged(path, &format!("it has no turn that is marked {mark}")));
        }
    }
    Ok(marks)
}

/// Gives the turns that have arrived their names, and tells; a name that the journal has given to another turn stays there.
fn mark(journal: &Journal, run: &RunId, marks: BTreeMap<Mark, Marked>, terminal: &mut Terminal) -> Result<(), Failure> {
    let known = marks::of(journal, run);
    let (mut given, mut taken) = (Vec::new(), Vec::new());
    for (mark, marked) in marks {
        match known.get(&mark) {
            None => {
                marks::set(journal, run, &mark, Some(marked))
                    .map_err(|error| Failure::caused("the mark cannot be written", &error))?;
                given.push(mark.to_string());
            }
            Some(known) if *known == marked => {}
            Some(_) => taken.push(mark.to_string()),
        }
    }
    if !given.is_empty() {
        terminal.message(&format!("{run}: marks {}", given.join(" ")));
    }
    if !taken.is_empty() {
        terminal.message(&format!(
            "{run}: left out, as the journal has another turn of that name: {}",
            taken.join(" ")
        ));
    }
    Ok(())
}
