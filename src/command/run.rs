//! `duet run`: a program becomes a run.

use duet_journal::store::memory::MemoryStore;
use duet_journal::{RunId, Store};

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{self, Journal};
use crate::launch::Launch;
use crate::outfit::Outfit;
use crate::session::{Prepared, Session};
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
A file of Scheme runs as it is: it reads standard input, writes standard output, sees the words behind `--` as its
arguments, and ends with its own exit code. A folder is run by its `manifest.scm`, which names the program, the argument
that gives the workspace, the tools that are granted, the hosts, and the variables that are secrets:

  ((program \"review.scm\") (workspace (argument 1)) (tools workspace/list workspace/read process/run) (hosts \"api.example.org\") (secrets PIN))

A library is looked for in the standard library, then beside the program, then in the folders that the variable
DUET_LIBRARY_PATH lists.

  --name RUN       the run's name; without it that of the program, with a number if it is taken
  --workspace DIR  the directory that tools and files are in; a single file is then granted workspace/*, which lets it
                   write and delete; without it, it may read what is in its own directory
  --answer TEXT    answers the next question that the program asks; may be given several times
  --headless       nobody will ever answer: what needs approval is refused; so it is with `--memory` where nobody is at a
                   terminal, while other runs wait for `duet answer`
  --double FILE    tools answer what the file says and nothing happens: a dictionary in Preserves text from names of tools to
                   lists of <returns VALUE>, <fails KIND MESSAGE> and <after MILLISECONDS REPLY>; a single file may call them
  --secret NAME    the variable is a secret, besides those with KEY, TOKEN, SECRET or PASSWORD in their names: the program
                   gets {{secret:NAME}}, which becomes the value only on the way to a process or server
  --allow-host HOST
                   a host to speak to, with :PORT or else at ports 80 and 443; *.NAME is all below it
  --journal FILE   the journal; without it .duet/journal.sqlite
  --memory         keeps the journal in memory only";

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<Code, Failure> {
    let program = arguments.word(0).unwrap_or_default();
    let rest = arguments.words.get(1..).unwrap_or_default().to_vec();
    if arguments.has("memory") && arguments.has("journal") {
        return Err(Failure::usage("`--memory` and `--journal` exclude each other"));
    }
    let given = arguments.one("name").map(read_name).transpose()?;
    let outfit = Outfit::read(arguments)?;
    let mut launch = Launch::read(program, arguments.one("workspace"), rest)?;
    launch.grant(&outfit);
    let prepared = Prepared::new(&launch, outfit, terminal)?;
    if arguments.has("memory") {
        let mut store = MemoryStore::default();
        let id = given.map_or_else(|| free_name(&store, &launch.stem), Ok)?;
        let session = Session::start(prepared, id, (&mut store, None))?;
        return session.drive(&mut store, false, terminal);
    }
    let journal = Journal::of(arguments);
    let mut store = journal.open_or_create("run")?;
    let id = match given {
        Some(id) if store.has_run(&id)? => return Err(taken(&id)),
        Some(id) => id,
        None => free_name(&store, &launch.stem)?,
    };
    let session = Session::start(prepared, id.clone(), (&mut store, Some(journal.path())))?;
    journal.set_current(&id, &journal::first_branch()?);
    session.drive(&mut store, launch.is_folder, terminal)
}

pub(super) fn read_name(name: &str) -> Result<RunId, Failure> {
    RunId::new(name).map_err(|error| Failure::usage(format!("`{name}` cannot be a run's name: {error}")))
}

pub(super) fn taken(id: &RunId) -> Failure {
    Failure::usage(format!("there is a run {id} already")).advise(format!(
        "`duet resume {id}` goes on with it; `duet runs` lists the names that are taken"
    ))
}

/// Finds a name of which the journal has no run: the stem, or the stem with a number that is free.
pub(super) fn free_name(store: &dyn Store, stem: &str) -> Result<RunId, Failure> {
    let first = read_name(stem)?;
    if !store.has_run(&first)? {
        return Ok(first);
    }
    let numbered = |number: u64| read_name(&format!("{stem}-{number}"));
    numbered(free_number(|number| Ok(store.has_run(&numbered(number)?)?))?)
}

/// Finds a free number of which the one before is taken, as 1 is.
///
/// Asks for as many as the logarithm of those that are taken, so that starting takes no longer as runs become many.
fn free_number(is_taken: impl Fn(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let mut taken = 1;
    let mut free = 2;
    while is_taken(free)? {
        taken = free;
        free *= 2;
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        *if is_taken(middle)? { &mut taken } else { &mut free } = middle;
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Returns the number that is found, and how many were asked for.
    fn find(taken: &BTreeSet<u64>) -> (u64, u32) {
        let asked = Cell::new(0);
        let found = free_number(|number| {
            asked.set(asked.get() + 1);
            Ok(number == 1 || taken.contains(&number))
        });
        (
            found.unwrap_or_else(|_| unreachable!("asking cannot fail")),
            asked.get(),
        )
    }

    #[test]
    fn runs_are_numbered_one_after_the_other() {
        for count in 1..300 {
            assert_eq!(find(&(2..=count).collect()).0, count + 1);
        }
        let (next, asked) = find(&(2..=100_000).collect());
        assert_eq!(next, 100_001);
        assert!(asked < 40, "{asked} names were asked for");
    }

    proptest! {
        #[test]
        fn a_number_that_is_found_is_free_wherever_there_are_gaps(taken in prop::collection::btree_set(2_u64..40, 0..30)) {
            let (free, _) = find(&taken);
            prop_assert!(free > 1 && !taken.contains(&free));
            prop_assert!(free == 2 || taken.contains(&(free - 1)));
        }
    }
}
