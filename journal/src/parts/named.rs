//! The parts that the records of a chain name.
//!
//! A record names the parts that no record before it names; so a chain has all parts of its values,
//! and whoever keeps a record keeps its ancestors.
//! INVARIANT: a record up to the head names each part in here. On any other chain nothing is in
//! here. It may have forgotten some: a record then names them again.
//! It does not know which blobs a store has. Read next: `../record.rs`.

use std::collections::BTreeSet;

use crate::identity::{BlobHash, RecordHash};

/// The maximum number of names: about 4 MiB, for values of 100 MiB.
const NAMES_MAX: usize = 1 << 16;

/// The parts that the records up to a head name, as far as the writer remembers.
#[derive(Clone, Debug, Default)]
pub struct NamedParts {
    head: Option<RecordHash>,
    names: BTreeSet<BlobHash>,
}

impl NamedParts {
    /// Stands on a head before a record follows it, and forgets what the records up to any other
    /// head name.
    pub fn stand_on(&mut self, head: Option<RecordHash>) {
        if self.head != head || self.names.len() > NAMES_MAX {
            self.names.clear();
            self.head = head;
        }
    }

    /// Takes in what the record of this name, after `parent`, names, and stands on it.
    pub(crate) fn follow(
        &mut self,
        record: RecordHash,
        parent: Option<RecordHash>,
        blobs: impl Iterator<Item = BlobHash>,
    ) {
        self.stand_on(parent);
        self.names.extend(blobs);
        self.head = Some(record);
    }

    /// Adds a part, which the next record names if it was not in here.
    pub(super) fn add(&mut self, name: BlobHash) -> bool {
        self.names.insert(name)
    }
}
