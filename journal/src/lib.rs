//! Duet's journal: an append-only graph of hash-chained records behind a small store trait.
//!
//! A [`Record`] is one canonical Preserves value; its name is the BLAKE3 hash of its bytes with its
//! parent's name as the key, so a [head](store::Head) pins its whole history. A branch is a name
//! for a head, and forks share what came before.
//! INVARIANT: whatever a [`Store`] has acknowledged it gives back byte for byte, or names the
//! damage.
//!
//! The crate does not know Scheme, nor what the body of a record means; `FORMAT.md` and
//! `schema.prs` describe the bytes. Read the modules in the order in which they stand here.

pub mod identity;
pub mod owner;
pub mod inbox;
mod error;
mod blob;
pub mod parts;
pub mod record;
pub mod beside;
mod lock;
mod shared_file;
pub mod store;
pub mod index;
pub mod collect;
pub mod copy;
pub mod verify;

pub use duet_packed::{self as packed, PackedValue};
pub use identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
pub use inbox::{Letter, LetterId, Need, Ready, Taken};
pub use owner::Owner;
pub use record::{ClosedRecord, Header, Record};
pub use store::{Append, Blob, Claim, CommitTime, Head, HeadMove, Mark, Removal, Store, StoreError, Tip};
