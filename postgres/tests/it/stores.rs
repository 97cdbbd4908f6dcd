//! The duties of every store.

use duet_journal::store::memory::MemoryStore;
use duet_postgres::{Address, PostgresStore};

use crate::common::script::{Step, World, everything, observe};
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
