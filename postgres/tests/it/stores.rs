//! The duties of every store.

use duet_journal::collect::Garbage;
use duet_journal::store::memory::MemoryStore;
use duet_journal::{Blob, Store};
use duet_postgres::{Address, PostgresStore};

use crate::common::script::{Step, World, everything, observe};
use crate::common::writer::Writer;
use crate::conformance::{Medium, every_duty};
use crate::server;

struct Postgres(Address);

impl Medium for Postgres {
    type Store = PostgresStore;

    fn create() -> (Self, PostgresStore) {
        let (address, store) = server::store(server::shared().unwrap());
        (Self(address), store)
    }

    fn reopen(&self, store: PostgresStore) -> PostgresStore {
        drop(store);
        PostgresStore::open(&self.0).unwrap()
    }
}

macro_rules! test_on {
    ($medium:ident $($duty:ident)*) => {
        $(
            #[test]
            fn $duty() {
                if server::shared().is_some() {
                    crate::conformance::$duty::<$medium>();
                }
            }
        )*
    };
}

every_duty! { test_on! Postgres }

#[test]
fn a_script_leaves_the_same_on_a_server_as_in_memory() {
    let Some(server) = server::shared() else { return };
    let (_, mut there) = server::store(server);
    let mut here = MemoryStore::default();
    let (mut in_memory, mut on_server) = (World::default(), World::default());
    for step in everything() {
        in_memory.take(&step, &mut here).unwrap();
        on_server.take(&step, &mut there).unwrap();
        if let Step::Claim(_) = step {
            in_memory.claim_again(&mut here).unwrap();
            on_server.claim_again(&mut there).unwrap();
        }
        assert!(observe(&here).unwrap() == observe(&there).unwrap(), "{step:?}");
    }
}

#[test]
fn a_removal_keeps_the_blobs_that_another_run_has_named_since_it_was_planned() {
    let Some(server) = server::shared() else { return };
    let (address, mut store) = server::store(server);
    let going = Writer::claim(&mut store, "going", "main");
    let blobs = [1, 2].map(|byte| Blob::new(vec![byte; 9]).unwrap());
    let record = going.next_with("0", &blobs);
    store
        .append(going.append(std::slice::from_ref(&record), &blobs))
        .unwrap();
    let garbage = Garbage::find(&store, &going.run, |_| true).unwrap();
    assert_eq!(garbage.blobs.len(), 2);
    // Both runs were unknown or empty at the mark; the record brings no blob, because it is there.
    let mut other = PostgresStore::open(&address).unwrap();
    let late = Writer::claim(&mut other, "late", "main");
    let record = late.next_with("0", &blobs[..1]);
    other.append(late.append(std::slice::from_ref(&record), &[])).unwrap();
    store.remove(&garbage.removal(&going.run, going.epoch)).unwrap();
    let is_there = blobs.each_ref().map(|blob| other.has_blob(&blob.hash()).unwrap());
    assert_eq!(is_there, [true, false]);
}
