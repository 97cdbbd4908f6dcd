//! What a call shows to the person while it works.
//!
//! INVARIANT: no secret is shown, and nothing of it reaches the program or the journal.
//! It does not draw; `console.rs` does.
//! Read next: `console.rs`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::console::Console;
use crate::tool::secret::Secrets;

/// A view of the terminal for one call; a call outside any run has an empty one.
#[derive(Clone, Default)]
pub struct Live(Option<Arc<View>>);

struct View {
    console: Arc<Mutex<Console>>,
    secrets: Secrets,
}

impl fmt::Debug for Live {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Live")
    }
}

impl Live {
    /// Makes a view of a console.
    pub(crate) fn new(console: Arc<Mutex<Console>>, secrets: Secrets) -> Self {
        Self(Some(Arc::new(View { console, secrets })))
    }

    /// Shows that `done` of `total` steps are done.
    pub(crate) fn steps(&self, label: &str, done: u64, total: u64) {
        if let Some(view) = &self.0 {
            let label = view.secrets.mask_text(label);
            let mut console = view.console.lock().unwrap_or_else(PoisonError::into_inner);
            console.progress(&label, done, total);
        }
    }
}
