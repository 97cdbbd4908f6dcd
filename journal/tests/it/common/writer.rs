//! Short ways to make names and records, shared by the journal's integration tests.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use duet_journal::{
    Append, Blob, BranchName, CommitTime, Epoch, Header, PackedValue, Record, RecordHash, RunId, Sequence, Store,
    StoreError,
};

pub(crate) fn run(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

pub(crate) fn at(sequence: u64) -> Sequence {
    Sequence::new(sequence).unwrap()
}

pub(crate) fn body(text: &str) -> PackedValue {
    PackedValue::from_value(&text.parse().unwrap()).unwrap()
}

/// Where new records go, and the record they follow.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) run: RunId,
    pub(crate) branch: BranchName,
    pub(crate) epoch: Epoch,
    pub(crate) head: Option<(Sequence, RecordHash)>,
}

impl Writer {
    /// Claims `run_name` and starts on a branch that does not exist yet.
    pub(crate) fn claim(store: &mut dyn Store, run_name: &str, branch_name: &str) -> Self {
        let run = run(run_name);
        let epoch = store.claim(&run, "tests").unwrap();
        Self {
            run,
            branch: branch(branch_name),
            epoch,
            head: None,
        }
    }

    /// The same run and epoch on another branch, whose head is `head`.
    pub(crate) fn on(&self, branch_name: &str, head: Option<&Record>) -> Self {
        let head = head.map(|record| (record.header().sequence, record.hash()));
        Self {
            branch: branch(branch_name),
            head,
            ..self.clone()
        }
    }

    /// A record that follows the head, and refers to `blobs`.
    pub(crate) fn next_with(&self, text: &str, blobs: &[Blob]) -> Record {
        let header = Header {
            run: self.run.clone(),
            branch: self.branch.clone(),
            sequence: self
                .head
                .map_or(Sequence::FIRST, |(sequence, _)| sequence.next().unwrap()),
            parent: self.head.map(|(_, hash)| hash),
            snapshot: blobs.first().map(Blob::hash),
            blobs: blobs.iter().skip(1).map(Blob::hash).collect(),
        };
        Record::new(header, body(text)).unwrap()
    }

    /// Records with these bodies, one after the other.
    pub(crate) fn chain(&self, texts: &[&str]) -> Vec<Record> {
        let mut writer = self.clone();
        let next = |text: &&str| {
            let record = writer.next_with(text, &[]);
            writer.head = Some((record.header().sequence, record.hash()));
            record
        };
        texts.iter().map(next).collect()
    }

    pub(crate) fn append<'a>(&'a self, records: &'a [Record], blobs: &'a [Blob]) -> Append<'a> {
        let expected_head = self.head.map(|(_, hash)| hash);
        Append {
            run: &self.run,
            branch: &self.branch,
            epoch: self.epoch,
            expected_head,
            records,
            blobs,
            times: Some(&TIMES),
            need: duet_journal::Need::Nothing,
            taken: &[],
        }
    }

    /// Appends a chain of these bodies and moves on to its end.
    pub(crate) fn write(&mut self, store: &mut dyn Store, texts: &[&str]) -> Result<Vec<Record>, StoreError> {
        let records = self.chain(texts);
        store.append(self.append(&records, &[]))?;
        self.move_to(records.last().unwrap());
        Ok(records)
    }

    pub(crate) fn move_to(&mut self, record: &Record) {
        self.head = Some((record.header().sequence, record.hash()));
    }
}

/// When the first records of every append were committed, by a clock that goes back; nobody knows
/// when the others were.
pub(crate) const TIMES: [CommitTime; 3] = [
    CommitTime::from_ms(1_795_000_000_000),
    CommitTime::from_ms(1_795_000_000_040),
    CommitTime::from_ms(1_794_999_000_000),
];

/// Everything on a branch.
pub(crate) fn read_all(store: &dyn Store, writer: &Writer) -> Result<Vec<Record>, StoreError> {
    store.read(&writer.run, &writer.branch, at(0)..at(1 << 30))
}
