//! Where a journal is: in a file, or on a server.
//!
//! Owns the meaning of `--journal`, of the environment's `DUET_JOURNAL` and of the configuration's
//! `[journal]`.
//! INVARIANT: an address of an unknown kind is refused and never taken for a path; no message about
//! a server shows its password. For a server, a folder of this account that belongs to its address
//! has the files that would lie beside a journal's file.
//! Read next: `history/journal.rs`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use duet_journal::BlobHash;
use duet_postgres::Address;

use super::nearest;
use crate::settings::configuration::journal::{self as configured, JournalEntry};
use crate::settings::environment::environment;
use crate::settings::state_folder;
use crate::text::error::CommandError;

/// The journal of a directory, from that directory.
pub(super) const PATH: &str = ".duet/journal.sqlite";

/// The place of a journal.
#[derive(Clone, Debug)]
pub(super) enum Site {
    File(PathBuf),
    Server(Arc<Server>),
}

/// A journal on a server.
#[derive(Debug)]
pub(super) struct Server {
    /// As the person wrote it, maybe with a password.
    text: String,
    /// What it means, or why it means nothing.
    pub(super) address: Result<Address, String>,
    /// Where a journal's file would be, for what lies beside it.
    local: PathBuf,
}

impl Site {
    /// The place that a path or an address names.
    ///
    /// # Errors
    /// If it is an address of an unknown kind.
    pub(super) fn read(path: PathBuf) -> Result<Self, String> {
        let text = path.to_string_lossy();
        if Address::is_one(&text) {
            let server = Server::read(&text)?;
            return Ok(Self::Server(Arc::new(server)));
        }
        match kind(&text) {
            None => Ok(Self::File(path)),
            // The rest may have a password.
            Some(kind) => Err(format!(
                "`{kind}` begins no address that duet knows: a journal is a file, or on a server with an \
                 address such as postgres://role@host/database; before a file of this name, write `history/journal/`"
            )),
        }
    }

    /// The place of a command that names none.
    ///
    /// # Errors
    /// If the environment or the configuration names an address of an unknown kind, or the
    /// configuration cannot be read.
    pub(super) fn usual() -> Result<Self, String> {
        match of_surroundings()? {
            Some(named) => Self::read(named.into()),
            None => Ok(Self::File(
                nearest::journal(Path::new(PATH)).unwrap_or_else(|| PATH.into()),
            )),
        }
    }

    /// The file, or for a server the path beside which its local files lie.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server(server) => &server.local,
        }
    }

    /// The place for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(server) => server.address.as_ref().map_or_else(String::clone, Address::shown),
        }
    }

    /// The place for another process of this person, as a word of its command line. An address that
    /// the environment or the configuration has, which others do not see, stays there.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Server(server) if of_surroundings() != Ok(Some(server.text.as_str())) => server.text.clone(),
            Self::File(_) | Self::Server(_) => self.path().display().to_string(),
        }
    }

    /// The place that another process has named.
    ///
    /// # Errors
    /// If it is an address of an unknown kind.
    pub(super) fn named(text: &str) -> Result<Self, String> {
        // Processes name the server of their surroundings by its local path.
        if let Some(address) = of_surroundings()? {
            let usual = Self::read(address.into())?;
            if usual.path() == Path::new(text) {
                return Ok(usual);
            }
        }
        Self::read(text.into())
    }
}

impl Server {
    fn read(text: &str) -> Result<Self, String> {
        let address = text.parse::<Address>().map_err(|failure| failure.to_string());
        let name = address.as_ref().map_or_else(|_| text.to_owned(), Address::shown);
        let name = BlobHash::of(name.as_bytes()).to_string();
        let folder = state_folder::path("servers")
            .ok_or("a journal on a server needs a folder for its keys and marks: set HOME or XDG_STATE_HOME")?;
        Ok(Self {
            text: text.to_owned(),
            address,
            local: folder.join(&name[..16]).join("journal"),
        })
    }
}

/// The beginning of an address such as `kind://place`, up to the end of its kind; `None` for a
/// path. One letter is a drive. The kinds of databases begin one also where slashes are missing, as
/// do the words of `libpq`, such as `host=db`. Blanks and quotes before it are a slip.
fn kind(text: &str) -> Option<&str> {
    const DATABASES: [&str; 9] = [
        "postgres",
        "postgresql",
        "pg",
        "jdbc",
        "mysql",
        "mariadb",
        "redis",
        "mongodb",
        "sqlite",
    ];
    const WORDS: [&str; 6] = ["host", "hostaddr", "dbname", "user", "password", "service"];
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))?;
    let (kind, rest) = text.split_at(end);
    let is_one_of = |known: &[&str]| known.iter().any(|known| kind.eq_ignore_ascii_case(known));
    let is_address = match rest.as_bytes() {
        [b':', b'/', b'/', ..] => true,
        [b':' | b';', ..] => is_one_of(&DATABASES),
        [b'=', ..] => is_one_of(&WORDS),
        _ => false,
    };
    let is_kind = kind.len() > 1 && kind.starts_with(|first: char| first.is_ascii_alphabetic());
    (is_address && is_kind).then(|| &text[..=end])
}

/// The journal that the environment names, or else the configuration; `None` if neither names one.
fn of_surroundings() -> Result<Option<&'static str>, String> {
    match of_environment() {
        Some(named) => Ok(Some(named)),
        None => Ok(of_configuration()?.address.as_deref()),
    }
}

/// What the user's configuration says of journals.
///
/// # Errors
/// If it cannot be read.
pub(super) fn of_configuration() -> Result<&'static JournalEntry, String> {
    static READ: OnceLock<Result<JournalEntry, String>> = OnceLock::new();
    let read = READ.get_or_init(|| {
        configured::of_user(&environment()).map_err(|error| match error {
            CommandError::Problem(problem) => problem.what,
            CommandError::Shown(text) | CommandError::Usage(text) => text.to_string(),
            CommandError::OutputClosed | CommandError::NameLost(_) => String::new(),
        })
    });
    read.as_ref().map_err(Clone::clone)
}

/// The journal that the environment names; `None` if it names none.
fn of_environment() -> Option<&'static str> {
    static NAMED: OnceLock<Option<String>> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "part of the command line, which no program sees"
    )]
    let read = || std::env::var("DUET_JOURNAL").ok().filter(|text| !text.is_empty());
    NAMED.get_or_init(read).as_deref()
}

/// Reads the place of a journal on a command line.
#[derive(Clone)]
pub(super) struct Sites;

impl TypedValueParser for Sites {
    type Value = Site;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Site, clap::Error> {
        let path = PathBufValueParser::new().parse_ref(command, argument, value)?;
        // The usual message of a wrong value shows it, with a password.
        Site::read(path)
            .map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, format!("{why}\n")).with_cmd(command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_like_an_address_is_one() {
        for (text, expected) in [
            ("mysql://host/x", Some("mysql:")),
            ("http+unix://x", Some("http+unix:")),
            ("pg://host/x", Some("pg:")),
            ("postgres:/role@host", Some("postgres:")),
            ("PostgreSQL:host", Some("PostgreSQL:")),
            ("jdbc:postgresql://role:secret@host/x", Some("jdbc:")),
            (" postgres://role@host/x", Some("postgres:")),
            ("\"postgres://role@host/x\"", Some("postgres:")),
            ("postgres;//role@host/x", Some("postgres;")),
            ("redis:x", Some("redis:")),
            ("host=127.0.0.1 user=duet", Some("host=")),
            ("hosts=1", None),
            ("notes:today", None),
            ("./postgres:x", None),
            ("c://folder/journal", None),
            ("./mysql://host", None),
            ("folder/a:b", None),
            ("1a://x", None),
            ("://x", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }
}
