//! Guards against a database that somebody made to deceive or to detain its reader.
//!
//! INVARIANT: no statement of this store runs on a database whose tables, views, triggers and
//! indices are not, letter for letter, those that this program creates; and none runs without end,
//! however the pages refer to each other.
//!
//! It does not judge rows; seals and hashes do. Read next: `store/sqlite/file.rs`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::row::failed;
use super::schema;
use crate::store::StoreError;

/// The number of the database's instructions between two looks at the budget.
const INSTRUCTIONS: i32 = 100_000;

/// The least budget of a transaction: about ten seconds.
const BUDGET_MIN: u64 = 1 << 30;

/// The instructions that a transaction may take for each byte of the file. A scan takes about 20
/// for a row, and a row of this store has more than 20 bytes.
const BUDGET_OF_BYTE: u64 = 16;

/// A limit on the instructions of one transaction.
pub(super) struct Budget {
    left: Arc<AtomicU64>,
    whole: u64,
}

impl Budget {
    /// Limits the transactions on a connection to the file at `path`, or to one in memory.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) fn limit(connection: &Connection, path: Option<&Path>) -> Result<Self, StoreError> {
        let length = path
            .and_then(|path| std::fs::metadata(path).ok())
            .map_or(0, |file| file.len());
        Self::of(connection, BUDGET_MIN.max(length.saturating_mul(BUDGET_OF_BYTE)))
    }

    fn of(connection: &Connection, whole: u64) -> Result<Self, StoreError> {
        let left = Arc::new(AtomicU64::new(whole));
        let spent = Arc::clone(&left);
        let handler = move || {
            let step = u64::from(INSTRUCTIONS.unsigned_abs());
            let before = spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(step));
            before.is_err()
        };
        connection
            .progress_handler(INSTRUCTIONS, Some(handler))
            .map_err(failed("limiting the work on the journal"))?;
        Ok(Self { left, whole })
    }

    /// Gives the next transaction its whole budget.
    pub(super) fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }
}

/// Makes a connection trust nothing that the schema says, and refuse statements that could damage
/// the file.
pub(crate) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.execute_batch("PRAGMA cell_size_check = ON")
}

/// One row of a schema: type, name, table, and the text that created it.
type SchemaRow = (String, String, String, Option<String>);

fn items(connection: &Connection) -> rusqlite::Result<Vec<SchemaRow>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Says whether a database has the schema that the statements `create` make, letter for letter.
pub(crate) fn has_schema(connection: &Connection, create: &str) -> rusqlite::Result<bool> {
    let empty = Connection::open_in_memory()?;
    empty.execute_batch(create)?;
    Ok(items(connection)? == items(&empty)?)
}

/// Requires that a database has the schema of a journal.
///
/// # Errors
/// [`StoreError::OtherTables`], [`StoreError::Database`].
pub(super) fn check_schema(connection: &Connection) -> Result<(), StoreError> {
    if has_schema(connection, schema::CREATE).map_err(failed("reading the journal's schema"))? {
        Ok(())
    } else {
        Err(StoreError::OtherTables {
            version: schema::VERSION.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_without_end_is_stopped_and_the_next_has_its_whole_budget() {
        let connection = Connection::open_in_memory().expect("a database");
        let budget = Budget::of(&connection, 1_000_000).expect("a limit");
        let count = |to: &str| {
            let sql =
                format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n {to}) SELECT count(*) FROM n");
            connection
                .query_row(&sql, [], |row| row.get::<_, i64>(0))
                .map_err(failed("counting"))
        };
        for _ in 0..2 {
            let stopped = count("").expect_err("it would go on for ever");
            assert!(matches!(stopped, StoreError::Inconsistent { .. }), "{stopped:?}");
            budget.renew();
            assert_eq!(count("LIMIT 30000").expect("it is short"), 30_000);
        }
    }
}
