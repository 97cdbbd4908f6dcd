//! `duet import`: a run that was exported is taken into a journal.

use std::fs;
use std::path::Path;

use duet_journal::copy::copy;
use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::verify::verify;
use duet_journal::{BlobHash, Store, StoreError};

use crate::arguments::Arguments;
use crate::command::export::{END, check};
use crate::failure::{Code, Failure};
use crate::journal::{Journal, Place, owner};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
Before anything is written the file is checked: that it is whole, that each record is the one its name says and follows the one
before it, and that every branch replays from its texts to the same records. A run of that name in the journal is added to if
the file knows all its branches, and otherwise left alone.

    duet import review.duet";

/// The length of the hash that ends the file.
const HASH_BYTES: usize = 32;

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let path = Path::new(arguments.word(0).unwrap_or_default());
    let file = read(path)?;
    let journal = Journal::of(arguments);
    for run in file.runs()? {
        let heads = file.heads(&run)?;
        let Some(first) = heads.first() else { continue };
        for head in &heads {
            let report = verify(&file, &run, &head.branch)?;
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
        check(&file, &place)?;
        let mut store = journal.open_or_create("import")?;
        let count = match copy(&file, &mut store, (&run, &heads), &owner("import"), None) {
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
    }
    Ok(Code::OK)
}

fn damaged(path: &Path, why: &str) -> Failure {
    Failure::problem(format!("`{}` is no whole export of a run: {why}", path.display()))
        .advise("nothing was imported; export it again")
}

fn read(path: &Path) -> Result<MemoryStore, Failure> {
    let mut bytes =
        fs::read(path).map_err(|error| Failure::caused(format!("cannot read `{}`", path.display()), &error))?;
    let end = bytes
        .len()
        .checked_sub(END.len() + HASH_BYTES)
        .filter(|end| bytes[*end..].starts_with(END));
    let end = end.ok_or_else(|| damaged(path, "its end is missing"))?;
    if BlobHash::of(&bytes[..end]).as_bytes()[..] != bytes[end + END.len()..] {
        return Err(damaged(path, "its bytes have changed"));
    }
    bytes.truncate(end);
    let store = MemoryStore::open(SimulatedDisk::new(bytes, FaultPlan::default()))
        .map_err(|error| damaged(path, &error.to_string()))?;
    if store.dropped_bytes() > 0 {
        return Err(damaged(path, "it ends in the middle of a commit"));
    }
    Ok(store)
}
