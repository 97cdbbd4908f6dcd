//! Telling the journal what a call is about to replace, before it does.
//!
//! INVARIANT: when [`Keeper::keep`] returns, the note and its contents are durable, or the call fails and has changed nothing.
//! It does not know what a note says; `tool/workspace/change.rs` does.
//! Read next: `tool/workspace/change.rs`.

use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use duet_runtime::driver::{Blob, Input, ToolFailure};
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;
use tokio::sync::oneshot;

use super::failure::Kind;
use crate::world::Report;

/// What is on record of what a call replaces: the note, and the contents that it names.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The note.
    pub note: IOValue,
    /// The contents.
    pub contents: Vec<Blob>,
}

/// What a call has to tell the journal through; clones tell it for the same call.
#[derive(Clone, Default)]
pub struct Keeper(Option<Arc<Journaled>>);

/// A call whose run keeps a journal.
struct Journaled {
    request: RequestId,
    key: String,
    reports: Sender<Report>,
    /// Where the journal's consent arrives; taken by the first who waits for it.
    consent: Mutex<Option<oneshot::Receiver<Kept>>>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = self.0.as_ref().map(|call| call.request);
        formatter.debug_tuple("Keeper").field(&request).finish()
    }
}

impl Keeper {
    /// A keeper for a call of a run, and the way in which the journal consents.
    pub(crate) fn new(request: RequestId, key: String, reports: Sender<Report>) -> (Self, oneshot::Sender<Kept>) {
        let (consent, waiting) = oneshot::channel();
        let journaled = Journaled {
            request,
            key,
            reports,
            consent: Mutex::new(Some(waiting)),
        };
        (Self(Some(Arc::new(journaled))), consent)
    }

    /// Tells what is about to be replaced, with the contents that the note names, and waits until that is durable.
    ///
    /// It returns what the call's first attempt told, if this one repeats it after a crash: what that one found is what the call replaces.
    /// A caller outside any run, which has no journal, gets its own back. A call tells once.
    ///
    /// # Errors
    /// `withdrawn` if nobody waits for the call any more; `failed` if it has told before.
    pub async fn keep(&self, told: Kept) -> Result<Kept, ToolFailure> {
        let Some(call) = &self.0 else { return Ok(told) };
        let waiting = call.consent.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut waiting =
            waiting.ok_or_else(|| Kind::Failed.because("the tool told twice what it is about to replace"))?;
        // A repeated call comes with what its first attempt told.
        if let Ok(kept) = waiting.try_recv() {
            return Ok(kept);
        }
        let input = Input::Kept {
            request: call.request,
            note: told.note,
            contents: told.contents.clone(),
        };
        // If the core is gone, so is the consent.
        let _ = call.reports.send(Report::Told {
            key: call.key.clone(),
            request: call.request,
            input,
        });
        let kept = waiting.await;
        let kept =
            kept.map_err(|_| Kind::Withdrawn.because("nobody waits for the call any more; it has changed nothing"))?;
        Ok(Kept {
            contents: if kept.contents.is_empty() {
                told.contents
            } else {
                kept.contents
            },
            ..kept
        })
    }
}
