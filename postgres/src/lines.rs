//! Lines that people's commands leave about a run, such as the names that they give to turns.
//!
//! INVARIANT: lines are only added; they are read in the order in which they came to be there.
//! It does not know what they say. Read next: `standby.rs`.

use duet_journal::{RunId, StoreError};

use crate::PostgresStore;
use crate::row::column;
use crate::value::Value;

impl PostgresStore {
    /// Adds a line of a kind about a run, durably; anyone may.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or a failure of the medium.
    pub fn add_line(&mut self, kind: &str, run: &RunId, line: &str) -> Result<(), StoreError> {
        self.require_writer()?;
        // The newest line is not added again, so that this may be repeated after a lost answer.
        let sql = "INSERT INTO duet_schema.lines (run, kind, line) SELECT $1, $2, $3
             WHERE $3 IS DISTINCT FROM (SELECT line FROM duet_schema.lines WHERE run = $1 AND kind = $2
                ORDER BY number DESC LIMIT 1)";
        let mut values = about(kind, run);
        values.push(Value::Text(line.to_owned()));
        self.read_rows(sql, values, "noting what a command did").map(drop)
    }

    /// Reads the lines of a kind about a run, oldest first, one after the other.
    ///
    /// # Errors
    /// A failure of the medium.
    pub fn lines(&self, kind: &str, run: &RunId) -> Result<String, StoreError> {
        let sql = "SELECT line FROM duet_schema.lines WHERE run = $1 AND kind = $2 ORDER BY number";
        let rows = self.read_rows(sql, about(kind, run), "reading what commands did")?;
        rows.iter().map(|row| column::<String>(row, 0)).collect()
    }
}

fn about(kind: &str, run: &RunId) -> Vec<Value> {
    vec![Value::Text(run.to_string()), Value::Text(kind.to_owned())]
}
