//! What a person gets wrong about a server: each mistake has an error that names it.

use std::error::Error as _;

use duet_journal::collect::Garbage;
use duet_journal::{Append, Blob, Store, StoreError};
use duet_postgres::{Address, PostgresStore};

use crate::common::writer::{Writer, read_all};
use crate::server::{self, Server};

/// The words of an error and its cause.
#[track_caller]
fn told<T>(result: Result<T, StoreError>) -> String {
    let error = result.err().expect("it fails");
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

fn address(server: &Server, role: &str, database: &str, schema: &str) -> Address {
    let folder = server.folder.display().to_string().replace('/', "%2F");
    format!("postgres://{role}@{folder}/{database}?schema={schema}")
        .parse()
        .unwrap()
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("postgres://team:secret@127.0.0.1:{port}/duet").parse().unwrap();
    let told = told(PostgresStore::open_or_create(&address));
    assert!(
        told.contains(&format!("postgres://team@127.0.0.1:{port}/duet cannot be reached")),
        "{told}"
    );
    assert!(told.contains("refused") && !told.contains("secret"), "{told}");
}

#[test]
fn a_wrong_password_database_or_role_is_named() {
    let Some(server) = Server::start(&["fsync=off"]) else {
        return;
    };
    server.sql("CREATE ROLE team LOGIN PASSWORD 'right'");
    server.sql("CREATE ROLE guest LOGIN");
    let rules = server.folder.join("data/pg_hba.conf");
    std::fs::write(
        rules,
        "local all duet trust\nlocal all team scram-sha-256\nlocal all guest trust\n",
    )
    .unwrap();
    server.sql("SELECT pg_reload_conf()");
    let open = |role: &str, database: &str| PostgresStore::open_or_create(&address(&server, role, database, "duet"));
    let reload = |result: &dyn Fn() -> Result<PostgresStore, StoreError>| {
        // The server reads its rules a moment later.
        (0..200)
            .map(|_| result())
            .find(Result::is_err)
            .expect("the rules hold at last")
    };
    let wrong = told(reload(&|| open("team:wrong", "postgres")));
    assert!(
        wrong.contains("denies it: password authentication failed for user \"team\""),
        "{wrong}"
    );
    assert!(!wrong.contains("wrong@"), "{wrong}");
    let nowhere = told(open("duet", "nowhere"));
    assert!(
        nowhere.contains("denies it: database \"nowhere\" does not exist"),
        "{nowhere}"
    );
    let nobody = told(open("nobody", "postgres"));
    assert!(nobody.contains("denies it") && nobody.contains("nobody"), "{nobody}");
    let poor = told(open("guest", "postgres"));
    assert!(
        poor.contains("denies it: permission denied for database postgres"),
        "{poor}"
    );
    server.sql("GRANT CREATE ON DATABASE postgres TO team");
    let mut store = open("team:right", "postgres").unwrap();
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = main.write(&mut store, &["0"]).unwrap();
    let guest = told(PostgresStore::open(&address(&server, "guest", "postgres", "duet")));
    assert!(
        guest.contains("denies it: permission denied for schema duet"),
        "{guest}"
    );
    server.sql("GRANT USAGE ON SCHEMA duet TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA duet TO guest");
    let mut guest = PostgresStore::open(&address(&server, "guest", "postgres", "duet")).unwrap();
    assert_eq!(read_all(&guest, &main).unwrap(), written);
    let refused = told(guest.claim(&main.run, "guest"));
    assert!(refused.contains("denies it: permission denied for table"), "{refused}");
}

#[test]
fn the_privileges_that_the_book_names_suffice() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let (owner, writer) = (schema.replace('s', "owner"), schema.replace('s', "writer"));
    server.sql(&format!(
        "CREATE ROLE {owner} LOGIN; CREATE ROLE {writer} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {owner}"
    ));
    drop(PostgresStore::open_or_create(&address(server, &owner, "postgres", &schema)).unwrap());
    server.sql(&format!(
        "GRANT USAGE ON SCHEMA {schema} TO {writer};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {writer}"
    ));
    let mut store = PostgresStore::open_or_create(&address(server, &writer, "postgres", &schema)).unwrap();
    let main = Writer::claim(&mut store, "r", "main");
    let blob = [Blob::new(b"blob".to_vec()).unwrap()];
    let record = main.next_with("0", &blob);
    store.append(main.append(std::slice::from_ref(&record), &blob)).unwrap();
    let garbage = Garbage::find(&store, &main.run, |_| true).unwrap();
    store.remove(&garbage.removal(&main.run, main.epoch)).unwrap();
    assert!(!store.has_blob(&blob[0].hash()).unwrap());
    assert_eq!(store.runs().unwrap(), []);
}

#[test]
fn a_schema_by_somebody_else_is_left_as_it_is() {
    let Some(server) = server::shared() else { return };
    let open = |schema: &str| PostgresStore::open_or_create(&server.address(schema));
    server.sql("CREATE SCHEMA theirs; CREATE TABLE theirs.orders (id int)");
    assert!(
        told(open("theirs"))
            .contains("schema theirs belongs to something else: it is not empty, and has no table `store`")
    );
    server.sql("CREATE SCHEMA shop; CREATE TABLE shop.store (id int, name text)");
    assert!(
        told(open("shop")).contains("schema shop belongs to something else: its table `store` is none of a journal")
    );
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname IN ('theirs', 'shop')";
    assert_eq!(server.sql(tables), "2");
    let (later, store) = server::store(server);
    drop(store);
    server.sql(&format!("UPDATE {}.store SET version = 7, oldest = 7", later.schema()));
    for opened in [PostgresStore::open(&later), PostgresStore::open_or_create(&later)] {
        assert!(told(opened).contains("the journal has version 7, this program reads version 1"));
    }
    let missing = PostgresStore::open(&server.address("missing"));
    assert!(told(missing).contains("has no journal in schema missing"));
}

#[test]
fn a_server_that_only_reads_is_read_and_says_so() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let mut main = Writer::claim(&mut store, "r", "main");
    let written = main.write(&mut store, &["0"]).unwrap();
    let role = address.schema().replace('s', "reader");
    server.sql(&format!(
        "CREATE ROLE {role} SUPERUSER LOGIN; ALTER ROLE {role} SET default_transaction_read_only = on"
    ));
    let reading = self::address(server, &role, "postgres", address.schema());
    let mut reader = PostgresStore::open(&reading).unwrap();
    assert_eq!(read_all(&reader, &main).unwrap(), written);
    let late = main.chain(&["late"]);
    assert!(told(reader.append(main.append(&late, &[]))).contains("takes no writes"));
    let elsewhere = self::address(server, &role, "postgres", "elsewhere");
    assert!(told(PostgresStore::open_or_create(&elsewhere)).contains("takes no writes"));
}

#[test]
fn a_role_with_other_transactions_is_told_what_the_store_needs() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let main = Writer::claim(&mut store, "r", "main");
    let role = address.schema().replace('s', "strict");
    server.sql(&format!(
        "CREATE ROLE {role} SUPERUSER LOGIN; ALTER ROLE {role} SET default_transaction_isolation = 'serializable'"
    ));
    let mut strict = PostgresStore::open(&self::address(server, &role, "postgres", address.schema())).unwrap();
    let late = main.chain(&["late"]);
    let told = told(strict.append(main.append(&late, &[])));
    assert!(told.contains("the store needs read committed"), "{told}");
}

#[test]
fn a_commit_over_the_limit_is_refused_before_it_is_sent() {
    let Some(server) = server::shared() else { return };
    let (_address, mut store) = server::store(server);
    let main = Writer::claim(&mut store, "r", "main");
    let records = main.chain(&["0"]);
    let blobs: Vec<Blob> = (0..4).map(|byte| Blob::new(vec![byte; 200 << 20]).unwrap()).collect();
    let append = Append {
        ..main.append(&records, &blobs)
    };
    let told = told(store.append(append));
    assert!(told.contains("and a server takes 805306368 at once"), "{told}");
    store.append(main.append(&records, &[])).unwrap();
}

#[test]
fn a_row_that_was_changed_is_not_read() {
    let Some(server) = server::shared() else { return };
    for (what, change) in [
        (
            "a head's row does not match its seal",
            "UPDATE S.heads SET sequence = 1",
        ),
        (
            "a record's row does not match its seal",
            "UPDATE S.records SET time = 7 WHERE number = 1",
        ),
        (
            "has changed since it was written",
            "UPDATE S.records SET bytes = bytes || 'x' WHERE number = 1",
        ),
        ("do not follow each other", "DELETE FROM S.records WHERE number = 1"),
    ] {
        let (address, mut store) = server::store(server);
        let mut main = Writer::claim(&mut store, "r", "main");
        main.write(&mut store, &["0", "1", "2"]).unwrap();
        server.sql(&change.replace("S.", &format!("{}.", address.schema())));
        let told = told(read_all(&store, &main));
        assert!(told.contains(what), "{change}: {told}");
    }
}
