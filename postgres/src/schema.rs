//! The tables of a journal: their versions, their making and their upgrade.
//!
//! A version of the tables is a [`Step`]: SQL that changes those of the version before, and the
//! oldest version whose programs may use the result. A program uses tables of a later version as
//! long as that one allows it, so that two versions of Duet share a journal during a roll-out.
//! INVARIANT: a step happens once and whole, in one transaction, whoever else tries; a schema that
//! is no journal, or one that this program may not use, is left as it is.
//! It reads no records. Read next: `row.rs`; the SQL is in `sql/`, in the order of its numbers.

use duet_journal::{Owner, RunId, StoreError};

use crate::clock::{COLUMN, ServerClock};
use crate::failure::Failure;
use crate::link::Link;
use crate::row::column;
use crate::value::Value;

/// The mark in the row of `store`: a table of that name by somebody else lacks it.
const KIND: &str = "duet journal";

/// A version of the tables, of the functions and of what is in them.
pub(crate) struct Step {
    /// The number of the version, one more than that of the step before.
    pub(crate) version: i64,
    /// The version of the oldest programs that may use the tables from then on. A step that raises
    /// it drops the functions with which older ones write, so that none goes on in the dark.
    pub(crate) oldest: i64,
    /// What makes it of the version before; the first one is made of nothing.
    pub(crate) sql: &'static [&'static str],
}

/// The versions up to that of this program.
pub(crate) const STEPS: &[Step] = &[Step {
    version: 1,
    oldest: 1,
    sql: &[
        include_str!("../sql/001-tables.sql"),
        include_str!("../sql/002-append.sql"),
        include_str!("../sql/003-remove.sql"),
        include_str!("../sql/004-ahead.sql"),
    ],
}];

/// The number of the lock that lets one process at a time change a schema, for one transaction.
const CHANGING: i64 = 0x4475_6574;

/// How long a change waits for the lock, and for a table: commits wait behind it for as long.
const LOCK_MAX: &str = "5s";

/// What failed, in the words of an error.
const MAKING: &str = "making the tables of the journal";
const UPGRADING: &str = "upgrading the tables of the journal";

/// What a process wants of a journal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// To read it, as it is.
    Read,
    /// To write it; older tables are upgraded.
    Write,
    /// To write it; if there is none, it is made.
    Make,
}

/// What a schema says of itself.
struct Found {
    version: i64,
    oldest: i64,
}

/// Puts the name of the schema into a statement.
pub(crate) fn in_schema(sql: &str, schema: &str) -> String {
    sql.replace("duet_schema", &format!("\"{schema}\""))
}

/// Makes a schema one that a program with these versions can use.
///
/// # Errors
/// If it is no journal, or none that the program may use or change; it is as it was.
pub(crate) fn open(link: &Link, schema: &str, steps: &[Step], wanted: Use) -> Result<(), StoreError> {
    let supported = steps.last().map_or(0, |step| step.version);
    match look(link, schema)? {
        Some(found) if found.version >= supported => require_allowed(&found, supported),
        Some(found) if wanted == Use::Read => Err(Failure::Outdated {
            schema: schema.to_owned(),
            found: found.version,
            wanted: supported,
        }
        .while_("opening the journal")),
        Some(found) => change(link, schema, steps, Some(&found)),
        None if wanted == Use::Make => change(link, schema, steps, None),
        None => {
            let server = link.server().to_owned();
            let schema = schema.to_owned();
            Err(Failure::NoJournal { schema, server }.while_("opening the journal"))
        }
    }
}

fn require_allowed(found: &Found, supported: i64) -> Result<(), StoreError> {
    if found.oldest <= supported {
        return Ok(());
    }
    Err(StoreError::UnsupportedVersion {
        found: found.version.cast_unsigned(),
        supported: supported.cast_unsigned(),
    })
}

/// Performs the steps after the version that was found, unless somebody else does meanwhile.
fn change(link: &Link, schema: &str, steps: &[Step], found: Option<&Found>) -> Result<(), StoreError> {
    let from = found.map_or(0, |found| found.version);
    let missing = || steps.iter().filter(|step| step.version > from);
    let oldest = missing().map(|step| step.oldest).max();
    let (Some(last), Some(oldest)) = (steps.last(), oldest) else {
        return Ok(());
    };
    let (is_same, noted) = match found {
        None => (
            "to_regclass('duet_schema.store') IS NULL".to_owned(),
            format!(
                "INSERT INTO duet_schema.store (id, kind, version, oldest) VALUES (1, '{KIND}', {}, {oldest})",
                last.version
            ),
        ),
        Some(_) => (
            format!("(SELECT version FROM duet_schema.store WHERE id = 1) = {from}"),
            format!(
                "UPDATE duet_schema.store SET version = {}, oldest = greatest(oldest, {oldest}) WHERE id = 1",
                last.version
            ),
        ),
    };
    if from > 0 && oldest > from {
        require_unowned(link, schema, last)?;
    }
    let sql: String = missing().flat_map(|step| step.sql).copied().collect();
    let changed = link.execute(&in_schema(
        &format!(
            "BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; SELECT pg_advisory_xact_lock({CHANGING});
             DO $same$ BEGIN
                 IF NOT {is_same} THEN
                     RAISE EXCEPTION 'another process has changed the tables meanwhile';
                 END IF;
             END $same$;
             {sql}
             {noted}; COMMIT;"
        ),
        schema,
    ));
    if changed.is_err() {
        // The transaction has failed, and the connection may serve others.
        let _ = link.execute("ROLLBACK");
    }
    let doing = if from == 0 { MAKING } else { UPGRADING };
    match (look(link, schema)?, changed) {
        (Some(now), _) if now.version >= last.version => require_allowed(&now, last.version),
        (Some(_) | None, Err(failure)) => Err(failure.while_(doing)),
        (Some(_) | None, Ok(())) => Err(StoreError::Inconsistent {
            what: "the tables do not have the version to which they were brought",
        }),
    }
}

/// Requires that no process executes a run, before a step after which older programs write no more.
fn require_unowned(link: &Link, schema: &str, step: &Step) -> Result<(), StoreError> {
    let sql = in_schema(
        "SELECT name, owner FROM duet_schema.runs WHERE owner <> '' ORDER BY name",
        schema,
    );
    let now = link.clock().now_ms();
    for row in &link
        .ask(&sql, Vec::new())
        .map_err(|failure| failure.while_(UPGRADING))?
    {
        let owner: Option<Owner> = column::<&str>(row, 1)?.parse().ok();
        if owner.is_some_and(|owner| owner.is_alive(now)) {
            let run = RunId::new(column::<String>(row, 0)?)?;
            let wanted = step.version;
            return Err(Failure::InUse { run, wanted }.while_(UPGRADING));
        }
    }
    Ok(())
}

/// Reads the version of a schema; `None` if the schema is empty.
fn look(link: &Link, schema: &str) -> Result<Option<Found>, StoreError> {
    let failed = |failure: Failure| failure.while_("opening the journal");
    // The relations and functions of an extension do not count.
    let sql = "SELECT name FROM (
            SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
                AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
            UNION ALL
            SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = $1
                AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
        ) AS found ORDER BY name <> 'store' LIMIT 1";
    let rows = link.ask(sql, vec![Value::Text(schema.to_owned())]).map_err(failed)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let foreign = |why| {
        let schema = schema.to_owned();
        Failure::Foreign { schema, why }.while_("opening the journal")
    };
    if row.try_get::<_, String>(0).ok().as_deref() != Some("store") {
        return Err(foreign("it is not empty, and has no table `store`"));
    }
    let sql = format!("SELECT kind, version, oldest, {COLUMN} FROM duet_schema.store WHERE id = 1");
    let (sql, asking) = (in_schema(&sql, schema), ServerClock::ask());
    let rows = match link.ask(&sql, Vec::new()) {
        Ok(rows) => rows,
        // A column or a type is missing.
        Err(Failure::Refused { .. }) => return Err(foreign("its table `store` is none of a journal")),
        Err(failure) => return Err(failed(failure)),
    };
    let read = |row: &tokio_postgres::Row| {
        link.clock().set(asking, row.try_get(3).ok()?);
        let is_journal = row.try_get::<_, &str>(0).ok()? == KIND;
        let (version, oldest) = (row.try_get(1).ok()?, row.try_get(2).ok()?);
        is_journal.then_some(Found { version, oldest })
    };
    let found = rows.first().and_then(read);
    found
        .map(Some)
        .ok_or_else(|| foreign("its table `store` is none of a journal"))
}

#[cfg(test)]
mod tests;
