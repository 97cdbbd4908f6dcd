//! The requests that a host over HTTP answers, so that another message of their client can end
//! them.
//!
//! INVARIANT: a message ends a request of its own client only, and none if that client has several
//! of the same id under way.
//! It does not know what a request does. Read next: `http.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;
use tokio::sync::Notify;

/// The requests under way; clones share them.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<Mutex<Table>>);

type Table = BTreeMap<Name, Vec<Arc<Notify>>>;

/// A client, and the text of an id that it has chosen.
type Name = (String, String);

/// A request under way; dropping it says that it has ended.
pub(super) struct Entry {
    all: InFlight,
    name: Name,
    end: Arc<Notify>,
}

impl InFlight {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request of a client.
    pub(super) fn enter(&self, client: String, id: &Json) -> Entry {
        let (name, end) = ((client, id.to_string()), Arc::new(Notify::new()));
        self.table().entry(name.clone()).or_default().push(Arc::clone(&end));
        Entry {
            all: self.clone(),
            name,
            end,
        }
    }

    /// Ends a request of a client; nothing happens if there is none.
    pub(super) fn cancel(&self, client: String, id: &Json) {
        if let Some([only]) = self.table().get(&(client, id.to_string())).map(Vec::as_slice) {
            only.notify_one();
        }
    }
}

impl Entry {
    /// Waits until the client wants no reply any more.
    pub(super) async fn cancelled(&self) {
        self.end.notified().await;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut table = self.all.table();
        let Some(same) = table.get_mut(&self.name) else { return };
        same.retain(|end| !Arc::ptr_eq(end, &self.end));
        if same.is_empty() {
            table.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn is_cancelled(entry: &Entry) -> bool {
        timeout(Duration::from_millis(1), entry.cancelled()).await.is_ok()
    }

    #[tokio::test]
    async fn a_client_ends_its_own_request_and_no_other() {
        let all = InFlight::default();
        let enter = |client: &str, id: i64| all.enter(client.to_owned(), &id.into());
        let (first, second, other) = (enter("a", 1), enter("a", 2), enter("b", 1));
        all.cancel("a".to_owned(), &3.into());
        all.cancel("a".to_owned(), &"1".into());
        all.cancel("a".to_owned(), &1.into());
        assert!(is_cancelled(&first).await && !is_cancelled(&second).await && !is_cancelled(&other).await);
        let again = enter("b", 1);
        all.cancel("b".to_owned(), &1.into());
        assert!(
            !is_cancelled(&other).await && !is_cancelled(&again).await,
            "it is not clear which"
        );
        drop((first, second, other, again));
        assert!(all.table().is_empty());
    }
}
