//! A store behind a pointer: which kind it is, is known only when the program runs.
//!
//! INVARIANT: every method is the one of the store behind it, also those that the trait provides.
//! Read next: `store.rs`.

use std::ops::Range;
use std::path::Path;

use super::{Append, Claim, CommitTime, Head, HeadMove, Mark, Removal, Store, StoreError};
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::inbox::{Letter, LetterId, Need, Ready, Taken};
use crate::record::{ClosedRecord, Record};

macro_rules! pass_on {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> $result:ty;)*
     $(mut fn $changing:ident(&mut self $(, $given:ident: $of:ty)*) -> $to:ty;)*) => {
        impl Store for Box<dyn Store> {
            $(fn $name(&self $(, $argument: $type)*) -> Result<$result, StoreError> { (**self).$name($($argument),*) })*
            $(fn $changing(&mut self $(, $given: $of)*) -> Result<$to, StoreError> { (**self).$changing($($given),*) })*
        }
    };
}

pass_on! {
    fn claimed(&self, run: &RunId) -> Option<Claim>;
    fn mark(&self) -> Mark;
    fn runs(&self) -> Vec<RunId>;
    fn has_run(&self, run: &RunId) -> bool;
    fn heads(&self, run: &RunId) -> Vec<Head>;
    fn head(&self, run: &RunId, branch: &BranchName) -> Option<Head>;
    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Vec<Record>;
    fn read_closed(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Vec<ClosedRecord>;
    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Vec<CommitTime>;
    fn record(&self, hash: &RecordHash) -> Record;
    fn blob(&self, hash: &BlobHash) -> Vec<u8>;
    fn read_blobs_ahead(&self, hashes: &[BlobHash]) -> ();
    fn join(&self, record: ClosedRecord) -> ClosedRecord;
    fn has_blob(&self, hash: &BlobHash) -> bool;
    fn note(&self, run: &RunId) -> Option<Vec<u8>>;
    fn need(&self, run: &RunId, branch: &BranchName) -> Need;
    fn now_ms(&self) -> u64;
    fn ready(&self, now_ms: u64, max: usize) -> Vec<Ready>;
    fn letters(&self, run: &RunId, branch: &BranchName) -> Vec<Letter>;
    fn reply(&self, run: &RunId, letter: LetterId) -> Option<Vec<u8>>;
    fn workers(&self) -> Vec<String>;
    fn save_copy(&self, path: &Path) -> ();
    fn record_at(&self, run: &RunId, branch: &BranchName, at: Sequence) -> Option<Record>;
    fn closed_at(&self, run: &RunId, branch: &BranchName, at: Sequence) -> Option<ClosedRecord>;
    mut fn read_ahead(&mut self, run: &RunId, branch: &BranchName) -> ();
    mut fn claim(&mut self, run: &RunId, owner: &str) -> Epoch;
    mut fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> ();
    mut fn check_lease(&mut self, run: &RunId, epoch: Epoch) -> ();
    mut fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> ();
    mut fn append_group(&mut self, appends: &[Append<'_>]) -> ();
    mut fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> ();
    mut fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> ();
    mut fn put(&mut self, run: &RunId, letter: &Letter) -> ();
    mut fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> ();
    mut fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> bool;
    mut fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> ();
    mut fn note_worker(&mut self, name: &str, told: &str) -> ();
    mut fn remove(&mut self, removal: &Removal<'_>) -> ();
    mut fn set_note(&mut self, run: &RunId, epoch: Epoch, note: &[u8]) -> ();
    mut fn append(&mut self, append: Append<'_>) -> ();
    mut fn append_last(&mut self, append: Append<'_>) -> ();
    mut fn set_head(&mut self, head_move: &HeadMove<'_>) -> ();
}
