//! Calls of tools: queued, begun or answered from a script, and acknowledged.
//!
//! INVARIANT: a call that has a prepared reply reaches no thread.
//! It does not run calls; `../dispatch.rs` does. Read next: `../dispatch.rs`, `scripts.rs`.

use std::sync::Arc;

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use super::{Engine, Order, World};
use crate::dispatch::Job;
use crate::live::Live;
use crate::report::Report;
use crate::tool::failure::Kind;
use crate::tool::interface::Stub;
use crate::tool::undo_log::{UndoLog, UndoNote};

impl World {
    /// The number of open requests that nothing outside answers: scripted calls, and silent ones.
    pub(super) fn unanswerable(&self) -> usize {
        self.scripts.count() + self.silent.len()
    }

    /// Continues a call whose undo note is durable.
    pub(super) fn proceed(&mut self, request: RequestId, key: &str, kept: UndoNote) {
        if self.open.get(&request).is_some_and(|open| open == key)
            && let Some(acknowledgement) = self.acknowledgements.remove(&request)
        {
            // The call may have failed in the meantime, for instance by its time limit.
            let _ = acknowledgement.send(kept);
        }
    }

    /// Queues a call until all effects of its batch are known.
    pub(super) fn call(&mut self, order: Order) {
        let Order {
            request,
            key,
            asking,
            name,
            payload,
        } = order;
        let tool = match self.tools.find(&name) {
            Ok(tool) => Arc::clone(tool),
            Err(failure) => {
                let input = Input::ToolResult {
                    request,
                    outcome: Err(failure),
                };
                return self.report(Report::Answered { key, request, input });
            }
        };
        let (undo_log, acknowledgement) = UndoLog::new(request, key.clone(), self.reporter.clone());
        self.acknowledgements.insert(request, acknowledgement);
        self.jobs.push(Job {
            request,
            key,
            asking,
            name,
            payload: if tool.description().takes_secrets {
                self.secrets.reveal(&payload.value())
            } else {
                payload.value()
            },
            tool,
            undo_log,
            secrets: self.secrets.clone(),
            live: Live::new(Arc::clone(&self.console), self.secrets.clone()),
            is_time_virtual: self.clock.is_virtual(),
        });
    }

    /// Starts a call; one that has no thread has failed.
    pub(super) fn start(&mut self, job: Job) {
        match job.tool.stub(&job.payload, &job.context(Arc::default())) {
            Stub::Absent => {}
            Stub::Silent => {
                self.silent.insert(job.request);
                return;
            }
            Stub::Returns { outcome, delay_ms: 0 } => {
                let Job { request, key, .. } = job;
                let input = Input::ToolResult { request, outcome };
                return self.report(Report::Answered { key, request, input });
            }
            Stub::Returns { outcome, delay_ms } => {
                self.delayed.insert(job.request, outcome);
                return self.time(job.request, job.key, delay_ms);
            }
        }
        let Some(Engine { threads, calls }) = &mut self.engine else {
            return;
        };
        match threads.begin() {
            Ok(runtime) => calls.start(&runtime, job),
            Err(error) => {
                let Job { request, key, .. } = job;
                let outcome = Err(Kind::Failed.because(format!("the system cannot start a thread: {error}")));
                let input = Input::ToolResult { request, outcome };
                self.report(Report::Answered { key, request, input });
            }
        }
    }
}
