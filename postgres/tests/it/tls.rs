//! Servers with TLS, whose certificates `openssl` makes for the test.
//!
//! INVARIANT: where `openssl` is not installed, the test says so and ends.
//! Read next: `server.rs`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use duet_journal::{Store as _, StoreError};
use duet_postgres::{Address, PostgresStore};

use crate::common::writer::{Writer, read_all};
use crate::server::{self, Server};

/// Makes an authority, and certificates of it for this host and for another one: `here` and
/// `elsewhere`, each with its key.
const MADE: &str = r#"
    set -e
    key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    openssl req -x509 $key -days 2 -subj "/CN=Test" -keyout authority.key -out authority.crt
    while read -r file name; do
        openssl req $key -subj "/CN=$file" -keyout "$file.key" -out "$file.csr"
        printf 'subjectAltName=%s\nbasicConstraints=CA:FALSE\n' "$name" >"$file.ext"
        openssl x509 -req -in "$file.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
            -extfile "$file.ext" -out "$file.crt"
    done <<END
here IP:127.0.0.1
elsewhere DNS:db.example.org
END
"#;

/// Starts a server that has a certificate, on a port of this host.
fn start(folder: &Path, certificate: &str) -> Option<(Server, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let path = |end: &str| folder.join(format!("{certificate}.{end}"));
    Server::give(&path("key"));
    let options = [
        "fsync=off".to_owned(),
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", path("crt").display()),
        format!("ssl_key_file={}", path("key").display()),
    ];
    let server = Server::start(&options.each_ref().map(String::as_str))?;
    Some((server, port))
}

fn address(port: u16, options: &str) -> Address {
    let schema = server::schema();
    format!("postgres://duet@127.0.0.1:{port}/postgres?schema={schema}&{options}")
        .parse()
        .unwrap()
}

fn told(opened: Result<PostgresStore, StoreError>) -> String {
    let error = opened.err().expect("it fails");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    format!("{error}: {}", cause.unwrap_or_default())
}

#[test]
fn a_journal_is_written_over_tls_to_a_server_whose_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let made = Command::new("sh")
        .args(["-c", MADE])
        .current_dir(folder.path())
        .output()
        .unwrap();
    if !made.status.success() {
        eprintln!("SKIPPED: no certificates: {}", String::from_utf8_lossy(&made.stderr));
        return;
    }
    let roots = format!("sslrootcert={}", folder.path().join("authority.crt").display());
    let Some((server, port)) = start(folder.path(), "here") else {
        return;
    };
    for mode in ["require", "prefer"] {
        let there = address(port, &format!("sslmode={mode}&{roots}"));
        let mut store = PostgresStore::open_or_create(&there).unwrap();
        let mut main = Writer::claim(&mut store, "r", "main");
        main.write(&mut store, &["0", "1"]).unwrap();
        assert_eq!(read_all(&store, &main).unwrap().len(), 2);
        assert_eq!(store.runs().unwrap(), [main.run.clone()]);
        let encrypted = server.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl");
        assert_eq!(encrypted, "1", "{mode}");
    }
    // Nobody trusts the authority unless somebody says so, and a server has the name that it says.
    let unknown = told(PostgresStore::open_or_create(&address(port, "sslmode=require")));
    assert!(
        unknown.contains("invalid peer certificate") && unknown.contains("`sslrootcert=FILE`"),
        "{unknown}"
    );
    let plain = address(port, "sslmode=disable");
    PostgresStore::open_or_create(&plain).unwrap();
    drop(server);
    let Some((_server, port)) = start(folder.path(), "elsewhere") else {
        return;
    };
    let other = told(PostgresStore::open_or_create(&address(
        port,
        &format!("sslmode=require&{roots}"),
    )));
    assert!(other.contains("invalid peer certificate"), "{other}");
}

#[test]
fn a_server_without_tls_is_refused_if_the_address_requires_it() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let named = format!("port={port}");
    let Some(_server) = Server::start(&["fsync=off", "listen_addresses=127.0.0.1", &named]) else {
        return;
    };
    let refused = told(PostgresStore::open_or_create(&address(port, "sslmode=require")));
    assert!(refused.contains("TLS"), "{refused}");
}
