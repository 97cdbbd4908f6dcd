//! `duet run`: a program becomes a run.

use duet_journal::store::memory::MemoryStore;
use duet_journal::{RunId, Store};

use crate::arguments::Arguments;
use crate::failure::{Code, Failure};
use crate::journal::{self, Journal};
use crate::launch::Launch;
use crate::outfit::Outfit;
use crate::session::Session;
use crate::terminal::Terminal;

pub(super) const DETAILS: &str = "\
A file of Scheme runs as it is: it reads standard input, writes standard output, sees the words behind `--` as its
arguments, and ends with its own exit code. A folder is run by its `manifest.scm`, which names the program, the argument
that gives the workspace, the tools that are granted, the hosts, and the variables that are secrets:

  ((program \"review.scm\") (workspace (argument 1)) (tools workspace/list workspace/read process/run) (hosts \"api.example.org\") (secrets PIN))

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
    if arguments.has("memory") {
        let mut store = MemoryStore::default();
        let id = given.map_or_else(|| free_name(&store, &launch.stem), Ok)?;
        let session = Session::start(&launch, id, (&mut store, None), outfit, terminal)?;
        return session.drive(&mut store, false, terminal);
    }
    let journal = Journal::of(arguments);
    let mut store = journal.open_or_create("run")?;
    let id = match given {
        Some(id) if store.runs()?.contains(&id) => return Err(taken(&id)),
        Some(id) => id,
        None => free_name(&store, &launch.stem)?,
    };
    let session = Session::start(
        &launch,
        id.clone(),
        (&mut store, Some(journal.path())),
        outfit,
        terminal,
    )?;
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

/// Finds a name of which the journal has no run: the stem, or the stem with a number.
pub(super) fn free_name(store: &dyn Store, stem: &str) -> Result<RunId, Failure> {
    let taken = store.runs()?;
    let numbered = (2..).map(|number: u64| format!("{stem}-{number}"));
    let candidates = std::iter::once(stem.to_owned()).chain(numbered);
    let free = candidates
        .map(|name| read_name(&name))
        .find(|id| id.as_ref().map_or(true, |id| !taken.contains(id)));
    free.unwrap_or_else(|| read_name(stem))
}
