//! The undo log: keeps in the journal the contents that a call is about to replace.
//!
//! INVARIANT: when [`UndoLog::record`] succeeds, the note and its contents are durable; when it
//! fails, the call has changed nothing.
//! It does not read notes; `tool/workspace/change.rs` does.
//! Read next: `tool/workspace/change.rs`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use duet_runtime::driver::{Blob, Input, ToolFailure};
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;
use tokio::sync::oneshot;

use super::failure::Kind;
use crate::report::{Report, Reporter};

/// A record of what a call replaces: a note, and the contents that the note names.
#[derive(Clone, Debug)]
pub struct UndoNote {
    /// The note.
    pub note: IOValue,
    /// The contents.
    pub contents: Vec<Blob>,
}

/// The undo log of one call; clones belong to the same call. A call outside any run has an empty
/// one.
#[derive(Clone, Default)]
pub struct UndoLog(Option<Arc<Journaled>>);

/// A call whose run keeps a journal.
struct Journaled {
    request: RequestId,
    key: String,
    reports: Reporter,
    /// Where the journal's acknowledgement arrives; the first call of `record` takes it.
    acknowledgement: Mutex<Option<oneshot::Receiver<UndoNote>>>,
}

impl fmt::Debug for UndoLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = self.0.as_ref().map(|call| call.request);
        formatter.debug_tuple("UndoLog").field(&request).finish()
    }
}

impl UndoLog {
    /// Makes the undo log of a call of a run, and the sender of the journal's acknowledgement.
    pub(crate) fn new(request: RequestId, key: String, reports: Reporter) -> (Self, oneshot::Sender<UndoNote>) {
        let (acknowledgement, waiting) = oneshot::channel();
        let journaled = Journaled {
            request,
            key,
            reports,
            acknowledgement: Mutex::new(Some(waiting)),
        };
        (Self(Some(Arc::new(journaled))), acknowledgement)
    }

    /// Takes what the first attempt of this call has recorded, if it repeats one: that is what the
    /// call replaces, and the first attempt may have replaced some of it.
    pub(crate) fn kept(&self) -> Option<UndoNote> {
        let call = self.0.as_ref()?;
        let mut waiting = call.acknowledgement.lock().unwrap_or_else(PoisonError::into_inner);
        // A repeated call starts with the note of its first attempt.
        let kept = waiting.as_mut()?.try_recv().ok()?;
        *waiting = None;
        Some(kept)
    }

    /// Records the contents that the call is about to replace, and waits until the record is
    /// durable.
    ///
    /// A caller outside any run has no journal, and gets its own note back. A call records once.
    ///
    /// # Errors
    /// `withdrawn` if no fiber waits for the call any more; `failed` if the call has recorded
    /// before.
    pub async fn record(&self, own: UndoNote) -> Result<UndoNote, ToolFailure> {
        let Some(call) = &self.0 else { return Ok(own) };
        let waiting = call
            .acknowledgement
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let waiting = waiting.ok_or_else(|| Kind::Failed.because("the tool told twice what it is about to replace"))?;
        let input = Input::Kept {
            request: call.request,
            note: own.note,
            contents: own.contents.clone(),
        };
        // If the world has been dropped, so has the sender of the acknowledgement.
        let _ = call.reports.send(Report::Interim {
            key: call.key.clone(),
            request: call.request,
            input,
        });
        let kept = waiting.await;
        let kept =
            kept.map_err(|_| Kind::Withdrawn.because("nobody waits for the call any more; it has changed nothing"))?;
        Ok(UndoNote {
            contents: if kept.contents.is_empty() {
                own.contents
            } else {
                kept.contents
            },
            ..kept
        })
    }
}
