//! The journal of a command, and the places that addresses name.
//!
//! Owns the opening of the journal, and the meaning of an address that leaves parts out.
//! INVARIANT: a command that only reads never writes; a resolved place exists.
//! It does not remember which branch was used last; `journal/current.rs` does.
//! Read next: `owner/owned_run.rs`.

mod current;
mod lines;
mod nearest;
mod site;
mod unknown;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use duet_drivers::clock::WorldClock;
use duet_journal::beside::beside;
use duet_journal::store::sqlite::{LostCommits, SqliteStore};
use duet_journal::{BranchName, Head, Owner, RunId, Sequence, Store, StoreError, owner};
use duet_postgres::{Address, PostgresStore};
use duet_runtime::model::address::{Address as TurnPlace, Mark, TurnAddress};
use duet_runtime::model::counted::counted;
use duet_runtime::run::source::Source;

pub(crate) use self::lines::LineKind;
use self::site::{PATH, Site};
use self::unknown::unknown_run;
use crate::history::marks;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// The branch on which runs begin.
pub(crate) const FIRST_BRANCH: &str = "main";

/// A journal, which need not exist.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    site: Site,
}

/// The option that names a journal.
#[derive(Clone, Debug, clap::Args)]
struct JournalArgument {
    /// Uses the journal in this file, or on the server at postgres://role@host/database
    #[arg(id = "journal", long = "journal", value_name = "FILE", default_value = PATH, value_parser = site::Sites)]
    site: Site,
}

impl clap::Args for Journal {
    fn augment_args(command: clap::Command) -> clap::Command {
        JournalArgument::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        JournalArgument::augment_args_for_update(command)
    }
}

impl FromArgMatches for Journal {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if matches.value_source("journal") == Some(ValueSource::CommandLine) {
            let JournalArgument { site } = JournalArgument::from_arg_matches(matches)?;
            return Ok(Self { site });
        }
        let site = Site::usual().map_err(|why| clap::Error::raw(ErrorKind::InvalidValue, format!("{why}\n")))?;
        Ok(Self { site })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Default for Journal {
    fn default() -> Self {
        let usual = Site::usual();
        // The command line refuses what is no journal.
        let site = usual.unwrap_or_else(|_| Site::File(PATH.into()));
        Self { site }
    }
}

/// A journal, and the store that is open on it.
pub(crate) struct OpenJournal<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) journal: &'a Journal,
}

/// A place in a journal.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) run: RunId,
    pub(crate) branch: BranchName,
    /// The branch's newest turn.
    pub(crate) head: Head,
    /// The turn that was asked for, if one was.
    pub(crate) turn: Option<Sequence>,
}

impl Place {
    /// The branch, to read it in a store.
    pub(crate) fn source<'a>(&'a self, store: &'a dyn Store) -> Source<'a> {
        Source::new(store, &self.run, &self.branch)
    }

    /// The turn asked for, or the newest.
    pub(crate) fn at(&self) -> Sequence {
        self.turn.unwrap_or(self.head.sequence)
    }

    /// The branch at a turn.
    pub(crate) fn at_turn(&self, turn: Sequence) -> Self {
        Self {
            turn: Some(turn),
            ..self.clone()
        }
    }

    /// The address of a turn of the branch.
    pub(crate) fn address(&self, turn: Sequence) -> String {
        format!("{}@{turn}", self.name())
    }

    /// The address of the branch, as short as it can be.
    pub(crate) fn name(&self) -> String {
        name(&self.run, &self.branch)
    }
}

/// The address of a branch, without the branch if it is the first.
pub(crate) fn name(run: &RunId, branch: &BranchName) -> String {
    if branch.as_str() == FIRST_BRANCH {
        run.to_string()
    } else {
        format!("{run}/{branch}")
    }
}

/// Makes a folder with those around it, if need be: a journal in it would be lost with its folder's
/// entry.
fn make_durably(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
    fs::create_dir_all(folder)?;
    let around = missing.into_iter().rev().filter_map(Path::parent);
    around.filter(|_| cfg!(unix)).try_for_each(|around| {
        let named = if around.as_os_str().is_empty() {
            Path::new(".")
        } else {
            around
        };
        File::open(named)?.sync_all()
    })
}

/// This process as the owner of a run.
pub(crate) fn owner(command: &str) -> String {
    let owner = Owner {
        lease_ms: lease_ms(),
        ..Owner::this(command)
    };
    owner.to_string()
}

/// The lease of the runs that this process owns, in milliseconds.
pub(crate) fn lease_ms() -> u64 {
    let configured = site::of_configuration().ok().and_then(|entry| entry.lease_seconds);
    configured.map_or(owner::LEASE_MS, |seconds| seconds * 1_000)
}

/// Requires that a journal has all turns that were durable.
fn whole(store: SqliteStore) -> Result<SqliteStore, CommandError> {
    let lost = store.lost()?;
    if lost.is_empty() {
        return Ok(store);
    }
    let problem = CommandError::problem("the journal has lost turns that were durable");
    let problem = lost.iter().map(what_is_lost).fold(problem, CommandError::because);
    Err(problem
        .because("its write-ahead log is damaged or was taken away, or the file is an older copy")
        .advise("put back a copy of the journal with the files beside it")
        .advise(say![
            Way::of("fsck"),
            " says what is there, and ",
            Way::of("fsck").with("--repair"),
            " lets the journal go on from that",
        ]))
}

/// Says what a journal has lost of a branch.
pub(crate) fn what_is_lost(lost: &LostCommits) -> String {
    let name = name(&lost.run, &lost.branch);
    match lost.found {
        None => format!("{name} is gone; it had turn {}", lost.durable),
        Some(found) if found < lost.durable => {
            format!("{name} ends at turn {found} and had turn {}", lost.durable)
        }
        Some(found) => format!(
            "{name} stands at turn {found} and had been moved to turn {}",
            lost.durable
        ),
    }
}

impl Journal {
    /// Whether it belongs to a folder above the present one.
    pub(crate) fn is_above(&self) -> bool {
        let path = self.path();
        !self.is_on_server() && path.is_absolute() && path.ends_with(PATH) && !Path::new(PATH).is_file()
    }

    /// The journal that another process named.
    ///
    /// # Errors
    /// If it is an address of an unknown kind.
    pub(crate) fn named(text: &str) -> Result<Self, CommandError> {
        let site = Site::named(text).map_err(CommandError::usage)?;
        Ok(Self { site })
    }

    /// Its name for another process of this person.
    pub(crate) fn text(&self) -> String {
        self.site.text()
    }

    /// Where it is, for people.
    pub(crate) fn shown(&self) -> String {
        self.site.shown()
    }

    /// Where it lies; for a server, where a file would lie, for what lies beside it.
    pub(crate) fn path(&self) -> &Path {
        self.site.path()
    }

    /// Whether it is on a server.
    pub(crate) fn is_on_server(&self) -> bool {
        matches!(self.site, Site::Server(_))
    }

    /// Returns the time by the clock that all processes share which use the journal, in
    /// milliseconds since 1970: a server's, or this host's.
    pub(crate) fn now_ms(&self) -> u64 {
        match &self.site {
            Site::Server(server) => server
                .address
                .as_ref()
                .map_or_else(|_| owner::now_ms(), Address::now_ms),
            Site::File(_) => owner::now_ms(),
        }
    }

    /// Returns by how many milliseconds that clock is ahead of this host's, as far as it was read.
    pub(crate) fn ahead_of_host_ms(&self) -> i64 {
        match &self.site {
            Site::Server(server) => server.address.as_ref().map_or(0, Address::ahead_of_host_ms),
            Site::File(_) => 0,
        }
    }

    /// Returns the clock that runs of the journal see.
    pub(crate) fn clock(&self) -> WorldClock {
        match &self.site {
            Site::Server(_) => {
                let journal = self.clone();
                WorldClock::showing(move || journal.now_ms())
            }
            Site::File(_) => WorldClock::default(),
        }
    }

    fn server_address(&self) -> Result<Option<&Address>, CommandError> {
        match &self.site {
            Site::File(_) => Ok(None),
            Site::Server(server) => server.address.as_ref().map(Some).map_err(CommandError::usage),
        }
    }

    /// The folder beside it that keeps compiled libraries.
    pub(crate) fn cache(&self) -> PathBuf {
        self.beside(".cache")
    }

    /// A file that stands beside it, by what its name adds to that of the journal.
    pub(crate) fn beside(&self, ending: &str) -> PathBuf {
        beside(self.path(), ending)
    }

    /// The journal with a store that is open on it.
    pub(crate) fn opened<'a>(&'a self, store: &'a mut dyn Store) -> OpenJournal<'a> {
        OpenJournal { store, journal: self }
    }

    /// Opens it to look.
    ///
    /// # Errors
    /// If there is none, or the file is something else.
    pub(crate) fn open_to_read(&self) -> Result<Box<dyn Store>, CommandError> {
        if let Some(address) = self.server_address()? {
            self.make_folder()?;
            return Ok(Box::new(PostgresStore::open_to_read(address)?));
        }
        self.require()?;
        Ok(Box::new(whole(SqliteStore::open_to_read(self.path())?)?))
    }

    /// Opens it to write.
    ///
    /// # Errors
    /// If there is none, or the file is something else.
    pub(crate) fn open_to_write(&self, command: &str) -> Result<Box<dyn Store>, CommandError> {
        if let Some(address) = self.server_address()? {
            self.make_folder()?;
            return Ok(Box::new(PostgresStore::open(address)?));
        }
        Ok(Box::new(self.open_file(command)?))
    }

    /// Opens the file to write.
    ///
    /// # Errors
    /// If there is none, or it is something else.
    pub(crate) fn open_file(&self, command: &str) -> Result<SqliteStore, CommandError> {
        self.require()?;
        whole(SqliteStore::open(self.path(), &owner(command))?)
    }

    /// Opens it to write, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be made, or the file is something else.
    pub(crate) fn open_or_create(&self, command: &str) -> Result<Box<dyn Store>, CommandError> {
        self.make_folder()?;
        if let Some(address) = self.server_address()? {
            return Ok(Box::new(PostgresStore::open_or_create(address)?));
        }
        Ok(Box::new(whole(SqliteStore::open(self.path(), &owner(command))?)?))
    }

    /// Requires that its path, if something is there, leads to a file.
    ///
    /// # Errors
    /// If it is something else, such as a folder.
    pub(crate) fn require_kind(&self) -> Result<(), CommandError> {
        match &self.site {
            Site::File(path) if path.exists() && !path.is_file() => Err(StoreError::NotAJournal {
                path: path.clone(),
                why: "it is not a regular file",
            }
            .into()),
            Site::File(_) | Site::Server(_) => Ok(()),
        }
    }

    /// Opens it once more to write, beside a store of this process that is open.
    ///
    /// # Errors
    /// As of the store.
    pub(crate) fn open_again(&self) -> Result<Box<dyn Store>, StoreError> {
        match &self.site {
            Site::Server(server) => match &server.address {
                Ok(address) => Ok(Box::new(PostgresStore::open(address)?)),
                Err(_) => Err(StoreError::InDoubt),
            },
            Site::File(path) => Ok(Box::new(SqliteStore::open(path, "")?)),
        }
    }

    /// Makes the folder in which it lies, if need be.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub(crate) fn make_folder(&self) -> Result<(), CommandError> {
        let Some(folder) = self.path().parent().filter(|folder| !folder.as_os_str().is_empty()) else {
            return Ok(());
        };
        make_durably(folder).map_err(|error| {
            CommandError::caused(
                format!("cannot make the directory `{}` for the journal", folder.display()),
                &error,
            )
            .advise("name another place with `--journal FILE`, or keep no journal with `--memory`")
        })
    }

    /// Checks that there is a journal.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn require(&self) -> Result<(), CommandError> {
        if self.is_on_server() || self.path().exists() {
            return Ok(());
        }
        let missing = format!("there is no journal at `{}`", self.shown());
        if beside(self.path(), "-wal").exists() {
            return Err(CommandError::problem(missing)
                .because("its write-ahead log is there, so the file itself was deleted or moved away")
                .advise("put the file back beside its log, or move the log away as well"));
        }
        Err(CommandError::problem(missing).advise(say![
            Way::of("run").with("PROGRAM"),
            " makes one; `--journal FILE` names another",
        ]))
    }

    /// Finds the place that an address names. An address without a run means the current branch; a
    /// run without a branch, its first one; a single name that is no run's, a branch of the current
    /// run.
    ///
    /// # Errors
    /// If the address is malformed, or there is no such place.
    pub(crate) fn resolve(&self, store: &dyn Store, address: Option<&str>) -> Result<Place, CommandError> {
        let address = address.map_or(Ok(TurnPlace::default()), read_address)?;
        let current = self.current(store);
        let is_named = address.branch.is_some();
        let (run, branch) = match (address.run, address.branch) {
            (Some(run), Some(branch)) => (run, branch),
            (Some(name), None) => self.run_or_branch(store, name, current)?,
            (None, branch) => {
                let (run, usual) = current.map_or_else(|| self.only_run(store), Ok)?;
                (run, branch.unwrap_or(usual))
            }
        };
        let Some(head) = store.head(&run, &branch)? else {
            return Err(if store.has_run(&run)? {
                StoreError::NoSuchBranch { run, branch }.into()
            } else {
                unknown_run(store, run)?
            });
        };
        let place = Place {
            run,
            branch,
            head,
            turn: None,
        };
        match address.turn {
            None => Ok(place),
            Some(TurnAddress::Marked(mark)) => self.marked(store, place, &mark, is_named),
            Some(TurnAddress::At(turn)) => Ok(Place {
                turn: Some(turn),
                ..place
            }),
            Some(TurnAddress::BeforeHead(turns)) => {
                let head = place.head.sequence;
                let turn = head
                    .number()
                    .checked_sub(turns)
                    .and_then(|turn| Sequence::new(turn).ok());
                let too_few = || {
                    CommandError::problem(format!(
                        "{}/{} has only {}",
                        place.run,
                        place.branch,
                        counted(head.number(), "turn")
                    ))
                    .advise(say![Way::of("log"), " lists them"])
                };
                Ok(Place {
                    turn: Some(turn.ok_or_else(too_few)?),
                    ..place
                })
            }
        }
    }

    /// Finds a turn by its mark: on the branch meant, or if none was named, on any that leads to
    /// it.
    fn marked(&self, store: &dyn Store, place: Place, mark: &Mark, is_named: bool) -> Result<Place, CommandError> {
        let marks = marks::of(self, &place.run)?;
        let Some(marked) = marks.get(mark) else {
            return Err(
                CommandError::problem(format!("no turn of {} is marked {mark}", place.run))
                    .advise(say![Way::at("mark", &place.run), " lists the marks"]),
            );
        };
        let others = store.heads(&place.run)?.into_iter().filter(|_| !is_named);
        for head in std::iter::once(place.head.clone()).chain(others) {
            let there = store.closed_at(&place.run, &head.branch, marked.turn)?;
            if there.is_some_and(|record| record.hash() == marked.record) {
                return Ok(Place {
                    run: place.run,
                    branch: head.branch.clone(),
                    head,
                    turn: Some(marked.turn),
                });
            }
        }
        Err(CommandError::problem(format!(
            "{} does not lead to the turn that is marked {mark}",
            place.name()
        )))
    }

    /// As [`resolve`](Self::resolve), but the turn must be one that the branch has.
    ///
    /// # Errors
    /// Also if the turn is after the newest.
    pub(crate) fn resolve_turn(&self, store: &dyn Store, address: Option<&str>) -> Result<Place, CommandError> {
        let place = self.resolve(store, address)?;
        match place.turn {
            Some(turn) if turn > place.head.sequence => Err(beyond(&place, turn)),
            Some(_) | None => Ok(place),
        }
    }

    fn run_or_branch(
        &self,
        store: &dyn Store,
        name: RunId,
        current: Option<(RunId, BranchName)>,
    ) -> Result<(RunId, BranchName), CommandError> {
        if store.has_run(&name)? {
            return Ok((name, first_branch()?));
        }
        let branch = BranchName::new(name.as_str()).map_err(|error| CommandError::usage(error.to_string()))?;
        match current {
            Some((run, _)) if store.head(&run, &branch)?.is_some() => Ok((run, branch)),
            Some(_) | None => Err(unknown_run(store, name)?),
        }
    }

    fn only_run(&self, store: &dyn Store) -> Result<(RunId, BranchName), CommandError> {
        let mut runs = store.runs()?;
        match (runs.pop(), runs.pop()) {
            (Some(run), None) => Ok((run, first_branch()?)),
            (None, _) => Err(
                CommandError::problem(format!("the journal `{}` has no run", self.shown()))
                    .advise(say![Way::of("run").with("PROGRAM"), " makes one"]),
            ),
            (Some(_), Some(_)) => Err(CommandError::usage("which run?").advise(say![
                Way::of("runs"),
                " lists them; an address is written run/branch@turn",
            ])),
        }
    }
}

/// Says that a branch has no such turn.
pub(crate) fn beyond(place: &Place, turn: Sequence) -> CommandError {
    let name = place.name();
    CommandError::problem(format!(
        "{name} has no turn {turn}: its newest is {}",
        place.head.sequence
    ))
    .advise(say![Way::at("log", name), " lists the turns"])
}

/// The branch on which runs begin.
///
/// # Errors
/// Never: the name is well formed.
pub(crate) fn first_branch() -> Result<BranchName, CommandError> {
    BranchName::new(FIRST_BRANCH).map_err(|error| CommandError::usage(error.to_string()))
}

/// Reads an address.
///
/// # Errors
/// A usage failure that shows the form of addresses.
pub(crate) fn read_address(text: &str) -> Result<TurnPlace, CommandError> {
    text.parse()
        .map_err(|error: duet_runtime::model::address::AddressError| {
            CommandError::usage(format!("`{text}` is no address: {error}"))
                .advise("an address is written run/branch@turn, such as review, review@12 or review/what-if@-1")
        })
}
