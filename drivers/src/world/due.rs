//! What comes next: a report, or a timer that had run out before the report came.
//!
//! INVARIANT: no report comes before a timer whose deadline had passed when it came.
//! It does not order timers; `../timers.rs` does.
//! Read next: `../timers.rs`, `../report.rs`.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use duet_runtime::driver::Input;
use duet_runtime::model::identity::RequestId;

use super::World;
use super::happening::Due;
use crate::report::Report;
use crate::timers::{CountedTimers, Moment, Timer};

/// The shortest timer whose deadline is recorded, in milliseconds: another process takes about as
/// long to notice that this one has died, and to begin.
const TIMER_TOLD_MS_MIN: u64 = 50;

impl World {
    /// Starts a timer, and reports its deadline, so that another process can continue it.
    pub(super) fn start_timer(&mut self, request: RequestId, key: String, delay_ms: u64, now: Moment) {
        let at_ms = now.deadline_ms(delay_ms);
        if delay_ms >= TIMER_TOLD_MS_MIN {
            let input = Input::Due { request, at_ms };
            self.report(Report::Interim {
                key: key.clone(),
                request,
                input,
            });
        }
        let timer = Timer {
            request,
            key,
            at_ms,
            delay_ms,
        };
        self.timers.start(timer, now);
    }

    /// Lets a call whose outcome is known return after a time.
    pub(super) fn time(&mut self, request: RequestId, key: String, delay_ms: u64) {
        let now = Moment::now(&self.clock);
        let timer = Timer {
            request,
            key,
            at_ms: now.deadline_ms(delay_ms),
            delay_ms,
        };
        self.timers.start(timer, now);
    }

    /// Takes the timer with the earliest deadline, if it had run out at a moment.
    fn run_out(&mut self, by: Moment) -> Option<Due> {
        loop {
            let (request, key) = self.timers.take_overdue(by)?;
            if let Some(outcome) = self.delayed.remove(&request) {
                let input = Input::ToolResult { request, outcome };
                return Some(Due::Report(Report::Answered { key, request, input }));
            }
            if self.close(request, &key) {
                return Some(Due::Timer(Input::Elapsed { request }));
            }
        }
    }

    /// Returns the counts of the timers under way.
    pub fn counted_timers(&self) -> CountedTimers {
        self.timers.counted()
    }

    /// Says whether a timer ends within a time by its count, whatever the clock says.
    pub fn has_timer_within(&self, time: Duration) -> bool {
        self.timers.has_end_within(Moment::now(&self.clock), time)
    }

    /// Takes a timer that has run out by now, although nobody has looked.
    pub fn take_overdue(&mut self) -> Option<Input> {
        loop {
            let input = match self.run_out(Moment::now(&self.clock))? {
                Due::Timer(input) => Some(input),
                Due::Report(report) => self.admit(report),
            };
            if input.is_some() {
                return input;
            }
        }
    }

    /// Takes the next report, or the timer that had run out when it came.
    pub(super) fn next_due(&mut self) -> Option<Due> {
        if self.ahead.is_none() {
            self.ahead = self.reports.try_recv().ok();
        }
        let by = self
            .ahead
            .as_ref()
            .map_or_else(|| Moment::now(&self.clock), |arrived| arrived.at);
        self.run_out(by)
            .or_else(|| self.ahead.take().map(|arrived| Due::Report(arrived.report)))
    }

    /// Waits until there may be a report or a timer has to be looked at.
    pub(super) fn wait(&mut self) {
        if self.clock.is_virtual() {
            return self.wait_virtually();
        }
        let longest = self.timers.wait(Moment::now(&self.clock));
        let arrived = match longest {
            Some(longest) => self.reports.recv_timeout(longest),
            // `self` holds a sender, so that the channel cannot have ended.
            None => self.reports.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        self.ahead = arrived.ok();
    }

    /// Moves the virtual clock to the earliest deadline, if nothing is under way but timers, calls
    /// that the program answers itself and silent ones; else waits for a report, and no time
    /// passes.
    fn wait_virtually(&mut self) {
        let waiting = self.timers.count() + self.unanswerable();
        let is_idle = self.open.len() == waiting && self.orphans.is_empty() && !self.guests.is_open;
        match self.timers.earliest_ms().filter(|_| is_idle) {
            Some(at_ms) => self.clock.move_to(at_ms),
            // `self` holds a sender, so that the channel cannot have ended.
            None => self.ahead = self.reports.recv().ok(),
        }
    }
}
