//! What can go wrong with a server, in words for the person who has to mend it.
//!
//! INVARIANT: every failure says which server it is about, and never shows a password.
//! Read next: `address.rs`.

use std::error::Error as StdError;
use std::fmt;

use duet_journal::{RunId, StoreError};
use tokio_postgres::error::SqlState;

/// A failure of a server, of the way to it, or of an address.
#[derive(Debug)]
pub enum Failure {
    /// The address cannot be read.
    Address {
        /// Why.
        why: String,
    },
    /// The certificates that TLS should trust cannot be used.
    Certificates {
        /// Why.
        why: String,
    },
    /// There is no connection, or there is none any more.
    Unreachable {
        /// The server, without a password.
        server: String,
        /// Why.
        why: String,
    },
    /// The server does not let this role in, or not do this.
    Denied {
        /// The server, without a password.
        server: String,
        /// The words of the server.
        why: String,
    },
    /// The server takes no writes: a standby, or a role or database that is set to only read.
    OnlyReads {
        /// The server, without a password.
        server: String,
    },
    /// The schema is somebody else's; it has been left as it was.
    Foreign {
        /// The schema.
        schema: String,
        /// How one can tell.
        why: &'static str,
    },
    /// The database has no journal in this schema.
    NoJournal {
        /// The schema.
        schema: String,
        /// The server, without a password.
        server: String,
    },
    /// The journal has tables of an older version, and whoever only reads does not upgrade them.
    Outdated {
        /// The schema.
        schema: String,
        /// The version of its tables.
        found: i64,
        /// The version that this program needs.
        wanted: i64,
    },
    /// A process executes a run, and the version to which the tables are to be upgraded leaves
    /// older programs out.
    InUse {
        /// The run.
        run: RunId,
        /// The version.
        wanted: i64,
    },
    /// One commit is more than a statement can carry.
    TooLarge {
        /// Its length, in bytes.
        length_bytes: usize,
        /// The maximum, in bytes.
        max_bytes: usize,
    },
    /// Others changed the run again and again while this process tried to.
    Contended,
    /// The server refused a statement for another reason.
    Refused {
        /// The server, without a password.
        server: String,
        /// The words of the server, with their code.
        why: String,
    },
}

/// The class of codes for a connection that cannot be made or is lost. Poolers answer with one of
/// them while their server is away.
///
/// Source: PostgreSQL, "Error Codes", class 08.
const CONNECTION_LOST: &str = "08";

impl Failure {
    /// Words a failure of the client library, about a server with a name.
    pub(crate) fn of(server: &str, error: &tokio_postgres::Error) -> Self {
        let server = server.to_owned();
        let Some(told) = error.as_db_error() else {
            let why = chain(error);
            if why.contains("invalid peer certificate") {
                let help = "`sslrootcert=FILE` in the address names whom to trust, `sslmode=disable` does without TLS";
                let why = format!("{server}: {why}: {help}");
                return Self::Certificates { why };
            }
            return Self::Unreachable { server, why };
        };
        let code = told.code();
        let why = told.message().to_owned();
        let denied = [
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::INVALID_CATALOG_NAME,
        ];
        let away = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
        ];
        if denied.contains(code) {
            Self::Denied { server, why }
        } else if away.contains(code) || code.code().starts_with(CONNECTION_LOST) {
            Self::Unreachable { server, why }
        } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            Self::OnlyReads { server }
        } else {
            let why = format!("{why} (SQLSTATE {})", code.code());
            Self::Refused { server, why }
        }
    }

    /// Whether it is unknown what the server did.
    pub(crate) fn is_unclear(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Whether an error of a store says that its server is away, or takes no writes yet, as a
    /// standby that is about to be promoted: what failed may succeed later.
    pub fn is_away(error: &StoreError) -> bool {
        let StoreError::Server { source, .. } = error else {
            return false;
        };
        let failure = source.downcast_ref::<Self>();
        failure.is_some_and(|failure| matches!(failure, Self::Unreachable { .. } | Self::OnlyReads { .. }))
    }

    /// The error of a store.
    pub(crate) fn while_(self, doing: &'static str) -> StoreError {
        let source = Box::new(self);
        StoreError::Server { doing, source }
    }
}

/// The words of an error and its causes, the first of which often says nothing.
fn chain(error: &dyn StdError) -> String {
    let mut words = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(found) = cause {
        let more = found.to_string();
        if !words.iter().any(|known| known.contains(&more)) {
            words.push(more);
        }
        cause = found.source();
    }
    words.join(": ")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { why } => write!(f, "the address of the journal cannot be read: {why}"),
            Self::Certificates { why } => write!(f, "the certificates for TLS cannot be used: {why}"),
            Self::Unreachable { server, why } => write!(f, "{server} cannot be reached: {why}"),
            Self::Denied { server, why } => write!(f, "{server} denies it: {why}"),
            Self::OnlyReads { server } => {
                write!(
                    f,
                    "{server} takes no writes: it is a standby, or the role or database is set to only read"
                )
            }
            Self::Foreign { schema, why } => write!(f, "schema {schema} belongs to something else: {why}"),
            Self::NoJournal { schema, server } => write!(f, "{server} has no journal in schema {schema}"),
            Self::Outdated { schema, found, wanted } => write!(
                f,
                "the journal in schema {schema} has version {found}, this program needs version {wanted}"
            ),
            Self::InUse { run, wanted } => write!(
                f,
                "a process executes {run}, and programs before version {wanted} cannot write the journal afterwards"
            ),
            Self::TooLarge {
                length_bytes,
                max_bytes,
            } => {
                write!(
                    f,
                    "one commit has {length_bytes} bytes, and a server takes {max_bytes} at once"
                )
            }
            Self::Contended => write!(f, "other processes kept changing the run"),
            Self::Refused { server, why } => write!(f, "{server} refused: {why}"),
        }
    }
}

impl StdError for Failure {}
