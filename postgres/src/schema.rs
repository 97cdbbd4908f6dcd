//! The tables of a journal, their version, and their making.
//!
//! INVARIANT: a schema that is not a journal of this version is left as it is.
//! It reads no records. Read next: `row.rs`; the SQL is in `sql/`, in the order of its numbers.

use duet_journal::StoreError;

use crate::clock::{COLUMN, ServerClock};
use crate::failure::Failure;
use crate::link::Link;
use crate::value::Value;

/// The version of the tables, of the functions and of what is in them.
const VERSION: i64 = 1;

/// The mark in the row of `store`: a table of that name by somebody else lacks it.
const KIND: &str = "duet journal";

const NUMBERED: [&str; 4] = [
    include_str!("../sql/001-tables.sql"),
    include_str!("../sql/002-append.sql"),
    include_str!("../sql/003-remove.sql"),
    include_str!("../sql/004-ahead.sql"),
];

/// The number of the lock that lets one process at a time make a schema, for one transaction.
const MAKING: i64 = 0x4475_6574;

/// The content of a schema.
#[derive(PartialEq, Eq)]
enum SchemaContent {
    Nothing,
    Journal,
}

/// Puts the name of the schema into a statement.
pub(crate) fn in_schema(sql: &str, schema: &str) -> String {
    sql.replace("duet_schema", &format!("\"{schema}\""))
}

/// Checks that the schema is a journal of this version.
pub(crate) fn require(link: &Link, schema: &str) -> Result<(), StoreError> {
    let no_journal = || Failure::NoJournal {
        schema: schema.to_owned(),
        server: link.server().to_owned(),
    };
    match look(link, schema)? {
        SchemaContent::Journal => Ok(()),
        SchemaContent::Nothing => Err(no_journal().while_("opening the journal")),
    }
}

/// Makes the journal, if the schema has none.
pub(crate) fn make(link: &Link, schema: &str) -> Result<(), StoreError> {
    if look(link, schema)? == SchemaContent::Journal {
        return Ok(());
    }
    let first = format!(
        "INSERT INTO duet_schema.store (id, kind, version) VALUES (1, '{KIND}', {VERSION}) ON CONFLICT DO NOTHING;"
    );
    let sql = format!(
        "BEGIN; SELECT pg_advisory_xact_lock({MAKING}); {}\n{first} COMMIT;",
        NUMBERED.concat()
    );
    let made = link.execute(&in_schema(&sql, schema));
    if made.is_err() {
        // The transaction has failed, and the connection may serve others.
        let _ = link.execute("ROLLBACK");
    }
    made.map_err(|failure| failure.while_("making the tables of the journal"))?;
    require(link, schema)
}

fn look(link: &Link, schema: &str) -> Result<SchemaContent, StoreError> {
    let failed = |failure: Failure| failure.while_("opening the journal");
    let sql = "SELECT name FROM (
            SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
        ) AS found ORDER BY name <> 'store' LIMIT 1";
    let rows = link.ask(sql, vec![Value::Text(schema.to_owned())]).map_err(failed)?;
    let Some(row) = rows.first() else {
        return Ok(SchemaContent::Nothing);
    };
    let foreign = |why| {
        Failure::Foreign {
            schema: schema.to_owned(),
            why,
        }
        .while_("opening the journal")
    };
    if row.try_get::<_, String>(0).ok().as_deref() != Some("store") {
        return Err(foreign("it has tables, and none is `store`"));
    }
    let sql = format!("SELECT kind, version, {COLUMN} FROM duet_schema.store WHERE id = 1");
    let (sql, asking) = (in_schema(&sql, schema), ServerClock::ask());
    let rows = match link.ask(&sql, Vec::new()) {
        Ok(rows) => rows,
        // A column or a type is missing.
        Err(Failure::Refused { .. }) => return Err(foreign("its table `store` is none of a journal")),
        Err(failure) => return Err(failed(failure)),
    };
    let found = rows
        .first()
        .map(|row| (row.try_get::<_, String>(0), row.try_get::<_, i64>(1)));
    if let Some(shown_ms) = rows.first().and_then(|row| row.try_get(2).ok()) {
        link.clock().set(asking, shown_ms);
    }
    match found {
        Some((Ok(kind), Ok(VERSION))) if kind == KIND => Ok(SchemaContent::Journal),
        Some((Ok(kind), Ok(version))) if kind == KIND => Err(StoreError::UnsupportedVersion {
            found: version.cast_unsigned(),
            supported: VERSION.cast_unsigned(),
        }),
        Some(_) | None => Err(foreign("its table `store` is none of a journal")),
    }
}
