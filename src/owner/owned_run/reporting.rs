//! The world of a run, which also shows the failures of actors.
//!
//! INVARIANT: a failure is shown once, when the turn that reports it is durable: a replay performs
//! no effect.
//! It does not decide which failures are shown; the runtime reports those that no actor takes.
//! Read next: the crate's `text/render.rs`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duet_drivers::door::Request;
use duet_drivers::serve::host::Host;
use duet_drivers::timers::CountedTimers;
use duet_drivers::waker::Waker;
use duet_drivers::world::{Happening, World};
use duet_journal::{RecordHash, RunId, Sequence, Tip};
use duet_runtime::driver::{Drivers, Effect, EffectKind, Input, Stream};
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::failure::ActorFailure;
use duet_runtime::model::identity::RequestId;
use preserves::IOValue;

use super::RunPlace;
use super::output_mark::OutputMark;
use super::stop_report::ways_back;
use crate::history::journal::Journal;
use crate::owner::doors;
use crate::text::render::{self, SourceTexts};
use crate::text::terminal::Terminal;
use crate::world::watch::Watched;

/// A world whose console shows failures as the commands do.
pub(crate) struct Reporting {
    world: World,
    /// The run's name, if a journal is kept, so that commands can name its turns.
    name: Option<String>,
    /// Whether a person sits at the prompt, where comma commands name turns.
    is_prompt: bool,
    is_styled: bool,
    /// The mark of output that is on its way, if a journal is kept.
    mark: Option<OutputMark>,
    /// Whether the console shows failures.
    shows_failures: bool,
    /// The files of the run, if somebody watches them.
    watched: Option<Watched>,
}

impl Reporting {
    /// Makes a world show the failures of a run.
    pub(super) fn new(world: World, place: &RunPlace, run: &RunId) -> Self {
        Self {
            world,
            // The mark is about the output of the branch that people see.
            mark: place
                .journal
                .as_ref()
                .filter(|_| !place.is_further)
                .map(|journal| OutputMark::of(journal, run)),
            name: place.journal.is_some().then(|| place.name.clone()),
            is_prompt: false,
            is_styled: Terminal::standard().is_styled,
            shows_failures: true,
            watched: None,
        }
    }

    /// Adds the files that the run asks for to those that are watched.
    pub(super) fn watch(&mut self, watched: Watched) {
        self.watched = Some(watched);
    }

    /// Leaves the failures to whoever reads the records.
    pub(super) fn keep_failures(&mut self) {
        self.shows_failures = false;
    }

    /// Makes advice name comma commands.
    pub(super) fn advise_prompt(&mut self) {
        self.is_prompt = true;
    }

    /// Returns the mark of output that is on its way.
    pub(super) fn mark(&mut self) -> Option<&mut OutputMark> {
        self.mark.as_mut()
    }

    /// Says whether the reader of standard output has closed it.
    pub(super) fn is_output_closed(&self) -> bool {
        self.world.is_output_closed()
    }

    /// Replaces secrets in a value that a person gives.
    pub(super) fn mask_value(&self, value: &IOValue) -> IOValue {
        self.world.mask_value(value)
    }

    /// Replaces secrets in a text that a person types.
    pub(super) fn mask_text(&self, text: &str) -> String {
        self.world.mask_text(text)
    }

    /// Opens the door of the run.
    pub(super) fn open_door(&mut self, journal: &Journal, run: &RunId) {
        doors::open(&mut self.world, journal, run, None);
    }

    /// Shows a message about the run.
    pub(super) fn tell(&mut self, text: String) {
        doors::tell(&mut self.world, text);
    }

    /// Says what executes here, as other processes name it.
    pub(super) fn executes(&self, name: String) {
        self.world.executes(name);
    }

    /// Interrupts the run when the process is asked to end. A system that gives no signals ends the
    /// process at once, as it does without this.
    pub(super) fn leave_when_terminated(&self) {
        let _installed = self.world.leave_when_terminated();
    }

    /// Says whether the process was asked to end.
    pub(super) fn is_terminated(&self) -> bool {
        self.world.is_terminated()
    }

    /// Forgets the interruptions that nobody has taken yet.
    pub(super) fn forget_interruptions(&self) {
        self.world.forget_interruptions();
    }

    /// Returns the flag that stops the turn in progress.
    pub(super) fn stop_flag(&self) -> Arc<AtomicBool> {
        self.world.stop_flag()
    }

    /// Starts the servers whose names satisfy `is_wanted`; returns a line for each thing that is
    /// wrong.
    pub(super) fn introduce(&mut self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        self.world.introduce(is_wanted)
    }

    /// Returns the cards of the tools.
    pub(super) fn cards(&self) -> Vec<ToolCard> {
        self.world.tools().cards().collect()
    }

    /// Says whether calls of a tool may be repeated.
    pub(super) fn is_repeatable(&self, tool: &str) -> bool {
        let found = self.world.tools().find(tool);
        found.is_ok_and(|tool| tool.description().idempotent)
    }

    /// Returns the counts of the timers under way.
    pub(super) fn counted_timers(&self) -> CountedTimers {
        self.world.counted_timers()
    }

    /// Says whether a timer ends within a time by its count, whatever the clock says.
    pub(super) fn has_timer_within(&self, time: Duration) -> bool {
        self.world.has_timer_within(time)
    }

    /// Says whether an effect in progress can still answer.
    pub(super) fn is_expecting(&self) -> bool {
        self.world.is_expecting()
    }

    /// Takes the oldest thing that another process asks for.
    pub(super) fn take_asked(&mut self) -> Option<Request> {
        self.world.take_asked()
    }

    /// Takes a timer that has run out by now.
    pub(super) fn take_overdue(&mut self) -> Option<Input> {
        self.world.take_overdue()
    }

    /// Drops the question to the person at the input.
    pub(super) fn withdraw_question(&mut self, request: RequestId) {
        self.world.withdraw_question(request);
    }

    /// What wakes the world.
    pub(super) fn waker(&self) -> Option<Waker> {
        self.world.waker()
    }

    /// Lets clients of a server come.
    pub(super) fn host(&mut self) -> Host {
        self.world.host()
    }

    /// Waits for something to happen.
    pub(super) fn next_happening(&mut self) -> Happening {
        self.world.next_happening()
    }

    /// Waits for an input; `None` if its waker was called.
    pub(super) fn next_input_or_ring(&mut self) -> Option<Input> {
        self.world.next_input_or_ring()
    }

    /// Replaces the report of a failure by its text.
    fn laid_out(&self, effect: Effect) -> Effect {
        let EffectKind::Failure {
            failed,
            texts,
            is_taken,
        } = effect.kind
        else {
            return effect;
        };
        let texts = SourceTexts::named_texts(texts);
        // The screen takes no styles from the console while a prompt stands.
        let is_styled = self.is_styled && !self.is_prompt;
        let text = if is_taken {
            render::taken_failure(&failed, &texts, &self.way_to(&failed), is_styled)
        } else {
            render::failed_actor(&failed, &texts, &self.ways(&failed), is_styled)
        };
        let kind = EffectKind::Write {
            stream: Stream::Error,
            bytes: text.ended().as_str().into(),
        };
        Effect { kind, ..effect }
    }

    /// How to look at the turn in which something failed.
    fn way_to(&self, failed: &ActorFailure) -> Vec<String> {
        let turn = failed.turn;
        match &self.name {
            _ if self.is_prompt => vec![format!("`,show {turn}` shows the turn")],
            Some(name) => vec![format!("`duet show {name}@{turn}` shows the turn")],
            None => Vec::new(),
        }
    }

    /// How to look at the failed turn.
    fn ways(&self, failed: &ActorFailure) -> Vec<String> {
        match &self.name {
            _ if self.is_prompt => vec![format!("`,show {}` shows the turn that failed", failed.turn)],
            Some(name) => ways_back(name, failed.turn),
            None => Vec::new(),
        }
    }
}

impl Drivers for Reporting {
    fn perform(&mut self, effects: Vec<Effect>) {
        if let Some(watched) = &self.watched {
            watched.note(effects.iter().map(|effect| &effect.kind));
        }
        let shown = effects
            .into_iter()
            .filter(|effect| self.shows_failures || !matches!(effect.kind, EffectKind::Failure { .. }))
            .collect::<Vec<_>>();
        let mut laid_out = Vec::new();
        for effect in shown {
            if matches!(effect.kind, EffectKind::Failure { .. }) {
                self.world.perform(std::mem::take(&mut laid_out));
                self.world.end_line();
            }
            laid_out.push(self.laid_out(effect));
        }
        self.world.perform(laid_out);
    }

    fn judge_places(&mut self, is_judged: bool) {
        self.world.judge_places(is_judged);
    }

    fn next_input(&mut self) -> Option<Input> {
        self.world.next_input()
    }

    fn poll_input(&mut self) -> Option<Input> {
        self.world.poll_input()
    }

    fn before_output(&mut self, hash: RecordHash, sequence: Sequence) {
        if let Some(mark) = &mut self.mark {
            mark.set(Tip { hash, sequence });
        }
    }

    fn after_output(&mut self) {
        if let Some(mark) = &mut self.mark {
            mark.clear();
        }
    }
}
