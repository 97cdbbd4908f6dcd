//! What goes to the server together: the rows of commits, and the names of runs to look at.
//!
//! INVARIANT: no two commits of a statement touch one run, and every statement writes blobs in the
//! order of their names, so that no two wait for each other.
//! It does not know how to send them. Read next: `address.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio_postgres::Row;

use crate::gathering::Piece;
use crate::value::Value;

/// The maximum number of bytes that commits bring into the statement of another one.
const BYTES_MAX: usize = 4 << 20;

/// The rows of a commit, in columns.
pub(crate) struct Rows {
    /// The runs whose rows the commit locks.
    pub(crate) runs: BTreeSet<String>,
    /// The columns before those of the blobs, and after them.
    pub(crate) first: Vec<Value>,
    pub(crate) rest: Vec<Value>,
    /// The blobs by their names: each statement writes them in this order, so that no two wait for
    /// each other.
    pub(crate) blobs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The length of records and blobs.
    pub(crate) length_bytes: usize,
}

impl Rows {
    /// The values for the statement.
    pub(crate) fn into_values(self) -> Vec<Value> {
        let (names, bytes) = self.blobs.into_iter().unzip();
        let blobs = [names, bytes].map(Value::ByteStrings);
        self.first.into_iter().chain(blobs).chain(self.rest).collect()
    }
}

/// What has become of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitFate {
    Done,
    /// It has not happened: something about one of the group.
    Refused,
    /// Nobody knows: the connection was lost.
    Unclear,
}

impl Piece for Rows {
    type Answer = CommitFate;

    fn fits(&self, other: &Self) -> bool {
        self.length_bytes + other.length_bytes <= BYTES_MAX && self.runs.is_disjoint(&other.runs)
    }

    fn extend(&mut self, other: Self) {
        let columns = self.first.iter_mut().chain(&mut self.rest);
        let more = other.first.into_iter().chain(other.rest);
        columns.zip(more).for_each(|(column, more)| column.extend(more));
        self.runs.extend(other.runs);
        self.blobs.extend(other.blobs);
        self.length_bytes += other.length_bytes;
    }
}

/// The names of runs whose rows are read.
pub(crate) struct Names(pub(crate) Vec<String>);

impl Piece for Names {
    /// The rows; `None` if they cannot be read.
    type Answer = Option<Arc<Vec<Row>>>;

    fn fits(&self, _other: &Self) -> bool {
        true
    }

    fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(run: &str, length_bytes: usize) -> Rows {
        Rows {
            runs: BTreeSet::from([run.to_owned()]),
            first: vec![Value::Texts(vec![run.to_owned()])],
            rest: vec![Value::Integers(vec![1])],
            blobs: BTreeMap::from([(run.as_bytes().to_vec(), Vec::new())]),
            length_bytes,
        }
    }

    #[test]
    fn commits_of_one_run_and_large_ones_do_not_go_together() {
        assert!(rows("a", 1).fits(&rows("b", BYTES_MAX - 1)));
        assert!(!rows("a", 1).fits(&rows("b", BYTES_MAX)));
        assert!(!rows("a", 1).fits(&rows("a", 1)));
    }

    #[test]
    fn joined_columns_have_the_blobs_of_all_in_one_order() {
        let mut all = rows("b", 1);
        all.extend(rows("a", 2));
        all.extend(rows("b", 4));
        assert_eq!(all.length_bytes, 7);
        let values = all.into_values();
        let [
            Value::Texts(runs),
            Value::ByteStrings(names),
            Value::ByteStrings(bytes),
            Value::Integers(rest),
        ] = &values[..]
        else {
            panic!("{values:?}");
        };
        assert_eq!(runs, &["b", "a", "b"]);
        assert_eq!(names, &[b"a", b"b"]);
        assert_eq!((bytes.len(), &rest[..]), (2, &[1, 1, 1][..]));
    }
}
