//! The address of a journal on a server.
//!
//! Owns the reading of `postgres://…`: options that the client library does not know are taken out
//! of it.
//! INVARIANT: what is shown of an address has no password.
//! Read next: `link.rs`.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::blobs::Blobs;
use crate::clock::ServerClock;
use crate::failure::Failure;
use crate::gathering::Gathering;
use crate::pieces::{Names, Rows};

/// The kinds of addresses.
const KINDS: [&str; 2] = ["postgres", "postgresql"];

/// The schema of a journal whose address names none.
const SCHEMA: &str = "duet";

/// How long a server may take to answer a connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How long a connection may be silent before the system asks whether it still is one, and how long
/// what was sent may go without an acknowledgement.
const SILENT_MAX: Duration = Duration::from_secs(30);

/// A database, the role that enters it, and the schema of the journal there.
#[derive(Clone, Debug)]
pub struct Address {
    pub(crate) config: Config,
    schema: String,
    /// A file with the certificates to trust besides those that browsers trust.
    roots: Option<PathBuf>,
    pub(crate) blobs: Blobs,
    pub(crate) commits: Gathering<Rows>,
    pub(crate) checks: Gathering<Names>,
    pub(crate) clock: Arc<ServerClock>,
}

impl Address {
    /// Says whether a text is the address of a server with a journal, right or wrong.
    pub fn is_one(text: &str) -> bool {
        parts(text).is_some()
    }

    /// Returns the server's time in milliseconds since 1970, as it was read from a store at this
    /// address; before that, this host's time.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Returns by how many milliseconds the server's clock is ahead of this host's, as far as it
    /// was read.
    pub fn ahead_of_host_ms(&self) -> i64 {
        self.clock.ahead_of_host_ms()
    }

    /// The schema.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The journal for people and for the names of files: without password and options of the
    /// connection.
    pub fn shown(&self) -> String {
        let user = self.config.get_user().map_or(String::new(), |user| format!("{user}@"));
        let ports = self.config.get_ports();
        let host = |(place, host): (usize, &Host)| {
            let name = match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(folder) => folder.display().to_string(),
            };
            match ports.get(place).or(ports.first()).copied().unwrap_or(5432) {
                5432 => name,
                port => format!("{name}:{port}"),
            }
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(host).collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        let schema = if self.schema == SCHEMA {
            String::new()
        } else {
            format!("?schema={}", self.schema)
        };
        format!("postgres://{user}{}/{database}{schema}", hosts.join(","))
    }

    /// The same for somebody who writes: of several hosts, it is the one that takes writes.
    pub(crate) fn for_writing(&self) -> Self {
        let mut address = self.clone();
        let config = &mut address.config;
        if config.get_hosts().len() > 1 && config.get_target_session_attrs() == TargetSessionAttrs::Any {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        address
    }

    /// The hosts, each with everything else that the address says, in the order in which they are
    /// tried.
    pub(crate) fn hosts(&self) -> Vec<Config> {
        let config = &self.config;
        let hosts = config.get_hosts();
        let is_random = config.get_load_balance_hosts() == LoadBalanceHosts::Random;
        let begin = if is_random {
            self.now_ms() % hosts.len() as u64
        } else {
            0
        };
        let begin = usize::try_from(begin).unwrap_or(0);
        let places = (begin..hosts.len()).chain(0..begin);
        places.map(|place| at_host(config, place)).collect()
    }

    /// How long a host may take to let somebody in.
    pub(crate) fn connect_max(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(CONNECT_MAX)
    }

    /// The way to make a connection safe.
    pub(crate) fn tls(&self) -> Result<MakeRustlsConnect, Failure> {
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        if let Some(file) = &self.roots {
            add_roots(&mut roots, file).map_err(|why| Failure::Certificates {
                why: format!("`{}`: {why}", file.display()),
            })?;
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let versions = versions.map_err(|error| Failure::Certificates { why: error.to_string() })?;
        Ok(MakeRustlsConnect::new(
            versions.with_root_certificates(roots).with_no_client_auth(),
        ))
    }
}

/// The same with one of the hosts only.
fn at_host(config: &Config, place: usize) -> Config {
    let mut one = Config::new();
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    match config.get_hosts().get(place) {
        Some(Host::Tcp(name)) => one.host(name),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => one.host_path(folder),
        None => &mut one,
    };
    if let Some(address) = config.get_hostaddrs().get(place) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(place).or(ports.first()) {
        one.port(*port);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    one
}

fn add_roots(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let found = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Err("it has none".to_owned());
    }
    found
        .into_iter()
        .try_for_each(|certificate| roots.add(certificate).map_err(|error| error.to_string()))
}

impl FromStr for Address {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let text = &plain(text)?;
        let (place, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut schema, mut roots, mut rest) = (SCHEMA.to_owned(), None, Vec::new());
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "schema" => schema = value(),
                "sslrootcert" => roots = Some(PathBuf::from(value())),
                _ => rest.push(option),
            }
        }
        check_schema(&schema)?;
        let place = if rest.is_empty() {
            place.to_owned()
        } else {
            format!("{place}?{}", rest.join("&"))
        };
        let config = place.parse::<Config>();
        let mut config = config.map_err(|error| Failure::Address { why: why(&error) })?;
        if config.get_hosts().is_empty() {
            return Err(Failure::Address {
                why: "it names no host".to_owned(),
            });
        }
        if config.get_user().is_none() {
            return Err(Failure::Address {
                why: "it names no role, as in postgres://role@host/database".to_owned(),
            });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_MAX);
        }
        if config.get_application_name().is_none() {
            config.application_name("duet");
        }
        config.keepalives_idle(SILENT_MAX).tcp_user_timeout(SILENT_MAX);
        Ok(Self {
            config,
            schema,
            roots,
            blobs: Blobs::default(),
            commits: Gathering::default(),
            clock: Arc::default(),
            checks: Gathering::default(),
        })
    }
}

/// The part of an address after its kind, whose letters may be of either case; `None` if the text
/// is no address of a server.
fn parts(text: &str) -> Option<&str> {
    let (kind, rest) = text.split_once("://")?;
    let is_known = KINDS.iter().any(|known| kind.eq_ignore_ascii_case(known));
    is_known.then_some(rest)
}

/// Spells the kind of an address as the client library knows it. A password may have characters
/// that end it, so that a part of it is taken for a host or a database, which messages show: such
/// an address is refused.
fn plain(text: &str) -> Result<String, Failure> {
    let rest = parts(text).unwrap_or(text);
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let marks = |text: &str| text.matches('@').count();
    if marks(place) > 1 || marks(rest) > marks(place) {
        return Err(Failure::Address {
            why: "a password, like each other part, has `%40` in place of `@`, `%2F` in place of `/`, \
                  `%3F` in place of `?` and `%23` in place of `#`"
                .to_owned(),
        });
    }
    Ok(format!("{}://{rest}", KINDS[0]))
}

/// The cause of an error says more than the error.
fn why(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error);
    let why = cause.map_or_else(|| error.to_string(), ToString::to_string);
    if why.contains("`sslmode`") {
        return format!("{why}: it is `disable`, `prefer` or `require`");
    }
    why
}

/// Names that need no quotes in SQL do not surprise anyone.
fn check_schema(name: &str) -> Result<(), Failure> {
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.len() <= 63
        && !name.starts_with("pg_");
    let why =
        || format!("`{name}` is no name for a schema: 1 to 63 of a-z, 0-9 and _, not beginning with a digit or pg_");
    is_plain.then_some(()).ok_or_else(|| Failure::Address { why: why() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(text: &str) -> String {
        match text.parse::<Address>() {
            Ok(address) => address.shown(),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        assert_eq!(shown("postgres://team:secret@db/duet"), "postgres://team@db/duet");
        assert_eq!(
            shown("postgresql://team:secret@db:6432/duet?sslmode=require"),
            "postgres://team@db:6432/duet"
        );
        assert_eq!(
            shown("postgres://team@db/duet?schema=reviews&password=secret"),
            "postgres://team@db/duet?schema=reviews"
        );
        assert_eq!(
            shown("postgres://team@%2Frun%2Fpostgresql/duet"),
            "postgres://team@/run/postgresql/duet"
        );
    }

    #[test]
    fn the_kind_of_an_address_may_have_capital_letters() {
        for text in ["POSTGRES://team:secret@db/duet", "PostgreSQL://team:secret@db/duet"] {
            assert!(Address::is_one(text));
            assert_eq!(shown(text), "postgres://team@db/duet");
        }
        assert!(!Address::is_one("pg://team@db/duet") && !Address::is_one("postgres:/team@db"));
    }

    #[test]
    fn a_password_that_ends_too_early_is_not_shown() {
        for text in [
            "postgres://team:se@cret@db/duet",
            "postgres://team:se/cret@db/duet",
            "postgres://team:12/cret@db/duet",
            "postgres://team:se?cret@db/duet",
            "postgres://team:se#cret@db/duet",
            "postgres://team:a@se/cret@db/duet",
        ] {
            let told = shown(text);
            assert!(
                told.contains("`%40` in place of `@`") && !told.contains("cret"),
                "{text}: {told}"
            );
        }
        assert_eq!(shown("postgres://team:se%40cret@db/duet"), "postgres://team@db/duet");
    }

    #[test]
    fn what_is_no_address_is_said() {
        for (text, why) in [
            ("postgres://", "it names no host"),
            ("postgres://db/duet", "it names no role"),
            ("postgres://team@db/duet?schema=No", "`No` is no name for a schema"),
            ("postgres://team@db/duet?schema=pg_temp", "is no name for a schema"),
            ("postgres://team@db:port/duet", "port"),
            ("postgres://team@db/duet?colour=red", "colour"),
            ("postgres://team@db/duet?sslmode=verify-full", "`prefer` or `require`"),
        ] {
            let told = shown(text);
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
