//! A run that goes on while somebody else decides how long to wait: one turn at a time.
//!
//! INVARIANT: a text that was given has had its first turn when [`OwnedRun::evaluate`] returns.
//! It does not know who waits; `surface/repl/evaluation.rs` does.
//! Read next: the crate's `surface/repl/evaluation.rs`.

use duet_drivers::ask::Question;
use duet_journal::Store;
use duet_runtime::driver::{Attached, Drivers, Input, ToolFailure};
use duet_runtime::model::identity::RequestId;
use duet_runtime::run::Advance;
use duet_runtime::run::error::RunError;
use duet_runtime::run::questions::OpenQuestion;
use duet_runtime::scheme::SchemePrograms;

use super::{OwnedRun, rescue};
use crate::text::error::CommandError;

/// What a wait for an input ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// There is something to do.
    Input,
    /// The waker was called.
    Rung,
    /// The person interrupts.
    Interrupted,
}

impl OwnedRun {
    /// Lets an interruption stop the turn that is in progress.
    pub(crate) fn stop_when_interrupted(&mut self) {
        self.world.executes(format!("{}/{}", self.run.id(), self.run.branch()));
        let flag = self.world.stop_flag();
        self.run.programs_mut::<SchemePrograms>().stop_on(flag);
    }

    /// Lets an interruption stop the turn that is in progress, and leaves the run then; SIGTERM is
    /// one too.
    pub(crate) fn leave_when_interrupted(&mut self) {
        self.stop_when_interrupted();
        self.world.leave_when_terminated();
        self.run.leave_when_stopped();
    }

    /// Forgets the interruptions that nobody has taken yet.
    pub(crate) fn forget_interruptions(&self) {
        self.world.forget_interruptions();
    }

    /// Gives the main program's actor a text to evaluate, before anything else happens, and takes
    /// the first turn of the evaluation. Returns whether the turn has left a record: one that is
    /// interrupted leaves none.
    ///
    /// # Errors
    /// If the run fails.
    pub(crate) fn evaluate(&mut self, text: String, sources: Vec<Attached>) -> Result<bool, CommandError> {
        let text = self.world.mask_text(&text);
        self.at_once(Input::Evaluate { text, sources })
    }

    /// Ends the evaluations that are still in progress.
    ///
    /// # Errors
    /// If the run fails.
    pub(crate) fn abandon(&mut self) -> Result<bool, CommandError> {
        self.at_once(Input::Abandon)
    }

    /// Gives the run an input before anything else happens but the timers whose deadlines have
    /// passed, and takes its turn. Returns whether the turn has left a record.
    ///
    /// # Errors
    /// If the run fails.
    fn at_once(&mut self, input: Input) -> Result<bool, CommandError> {
        self.run_out_timers()?;
        self.take_in_time(input)
    }

    /// Gives the run an input that came before all others, and takes its turn. Returns whether the
    /// turn has left a record.
    ///
    /// # Errors
    /// If the run fails.
    pub(crate) fn take_in_time(&mut self, input: Input) -> Result<bool, CommandError> {
        let before = self.head();
        self.run.deliver_first(input);
        self.run.step()?;
        Ok(self.head() != before)
    }

    /// Takes at most one turn, and performs effects that are durable.
    ///
    /// # Errors
    /// If the journal fails; durable turns stay.
    pub(crate) fn advance(&mut self, store: &mut dyn Store) -> Result<Advance, CommandError> {
        let asked = self.attend(store);
        let asked = asked.map_err(|error| rescue::explained(error, &self.run, store, &self.place))?;
        if let Some(request) = asked {
            request.reply(Err(
                "a person is at the prompt of this session; ask them to leave it with `,quit`".to_owned(),
            ));
        }
        let read = self.read_letters(store);
        read.map_err(|error| rescue::explained(error, &self.run, store, &self.place))?;
        let advanced = self.run.advance(store, &mut self.world as &mut dyn Drivers);
        advanced.map_err(|error| rescue::explained(error, &self.run, store, &self.place))
    }

    /// Takes at most one turn, whose effects wait for [`advance`](Self::advance).
    ///
    /// # Errors
    /// If the run fails.
    pub(crate) fn take_turn(&mut self) -> Result<(), CommandError> {
        self.run.step()?;
        Ok(())
    }

    /// Makes all turns durable.
    ///
    /// # Errors
    /// If the journal fails.
    pub(crate) fn settle(&mut self, store: &mut dyn Store) -> Result<(), CommandError> {
        let flushed = self.run.flush_to(store, &mut self.world as &mut dyn Drivers);
        flushed.map_err(|error| rescue::explained(error, &self.run, store, &self.place))
    }

    /// Whether all turns are durable.
    pub(crate) fn is_settled(&self) -> bool {
        self.run.unflushed().is_none()
    }

    /// Whether an effect in progress can still answer.
    pub(crate) fn is_expecting(&self) -> bool {
        self.world.is_expecting()
    }

    /// Waits for the next input, or for the waker.
    pub(crate) fn wait(&mut self) -> Waited {
        match self.world.next_input_or_ring() {
            None => Waited::Rung,
            Some(Input::Interrupt) => Waited::Interrupted,
            Some(input) => {
                self.run.deliver(input);
                Waited::Input
            }
        }
    }

    /// Answers a question with a line that is typed now.
    ///
    /// # Errors
    /// If the time for the answer has run out, or the question has choices and the line is none of
    /// them.
    pub(crate) fn answer(&mut self, question: &OpenQuestion, line: &str) -> Result<(), CommandError> {
        self.run_out_timers()?;
        let mut open = self.run.open_questions().into_iter();
        if !open.any(|open| open.request == question.request) {
            return Err(CommandError::problem("the answer comes too late: its time has run out"));
        }
        self.answer_in_time(question, line)
    }

    /// Takes the turns of timers whose deadlines have passed, and of what they set off. Returns
    /// whether there were any.
    ///
    /// # Errors
    /// If the run fails.
    pub(super) fn run_out_timers(&mut self) -> Result<bool, RunError> {
        let mut are_any = false;
        while let Some(timer) = self.world.take_overdue() {
            self.run.deliver_overdue(timer);
            are_any = true;
        }
        if are_any {
            self.run.catch_up()?;
        }
        Ok(are_any)
    }

    /// Answers a question with a line that came in time.
    ///
    /// # Errors
    /// If the question has choices and the line is none of them.
    pub(super) fn answer_in_time(&mut self, question: &OpenQuestion, line: &str) -> Result<(), CommandError> {
        let value = Question::read(&question.prompt).answer(&self.world.mask_text(line));
        let value = value.map_err(|error| CommandError::usage(error.to_string()))?;
        let request = question.request;
        self.run.deliver_first(Input::Answer { request, value });
        Ok(())
    }

    /// Fails a question of the program, which raises a condition where it waits.
    ///
    /// # Errors
    /// If it asks for approval, or the kind is no symbol.
    pub(crate) fn fail_question(&mut self, request: RequestId, kind: &str, text: &str) -> Result<(), CommandError> {
        if self.view().is_approval(request) {
            return Err(CommandError::usage(
                "a request for approval is answered with no, not failed",
            ));
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if kind.is_empty() || !kind.chars().all(is_word) {
            return Err(CommandError::usage(format!(
                "`{kind}` is no kind of condition; a kind has letters, digits and hyphens"
            )));
        }
        let failure = ToolFailure {
            kind: kind.to_owned(),
            message: self.world.mask_text(text),
            details: Vec::new(),
        };
        let outcome = Err(failure);
        self.run.deliver_first(Input::ToolResult { request, outcome });
        Ok(())
    }
}
