//! The progress of a piece of work, as a line that is redrawn.
//!
//! INVARIANT: the line is cleared before anything else is written to the terminal, and when the
//! work is done.
//! It does not decide whether there is a terminal; without one the draw target is hidden.
//! Read next: `console.rs`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::line;

/// On a narrow terminal the label is shortened.
const TEMPLATE: &str = "{wide_msg} [{bar:24}] {pos}/{len}";

/// The words of somebody who is talking.
const WORDS: &str = "{wide_msg}";

/// A line on standard error with the progress of a long piece of work; nothing if that is no
/// terminal.
pub struct ProgressLine(Bar);

impl ProgressLine {
    /// Makes the line, without drawing it.
    pub fn on_standard_error() -> Self {
        Self(Bar::new(ProgressDrawTarget::stderr()))
    }

    /// Shows that `done` of `total` steps are done; clears the line when all are.
    pub fn show(&mut self, label: &str, done: u64, total: u64) {
        self.0.show(label, done, total);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// A progress line; it is shown while work is under way.
pub(crate) struct Bar {
    bar: ProgressBar,
    is_shown: bool,
    /// Whether it shows words and no steps; `None` until it shows something, because the line of
    /// most runs never does.
    has_words: Option<bool>,
}

impl Bar {
    /// Makes a line for a terminal, without drawing it.
    pub(crate) fn new(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self {
            bar,
            is_shown: false,
            has_words: None,
        }
    }

    /// Shows words.
    pub(crate) fn say(&mut self, words: &str) {
        self.begin(true);
        self.bar.set_message(line(words).into_owned());
        self.bar.tick();
    }

    /// Clears the line if it shows words.
    pub(crate) fn clear_words(&mut self) {
        if self.has_words == Some(true) {
            self.clear();
        }
    }

    fn begin(&mut self, has_words: bool) {
        if self.has_words != Some(has_words) {
            self.has_words = Some(has_words);
            self.bar.set_style(style(if has_words { WORDS } else { TEMPLATE }));
        }
        if !self.is_shown {
            self.bar.reset();
            self.is_shown = true;
        }
    }

    /// Shows that `done` of `total` steps are done; clears the line when all are.
    pub(crate) fn show(&mut self, label: &str, done: u64, total: u64) {
        if done >= total {
            self.clear();
            return;
        }
        self.begin(false);
        self.bar.set_length(total);
        self.bar.set_message(line(label).into_owned());
        self.bar.set_position(done);
    }

    /// Clears the line until the next step.
    pub(crate) fn clear(&mut self) {
        if self.is_shown {
            self.bar.finish_and_clear();
            self.is_shown = false;
        }
    }

    /// Says whether there is no terminal.
    pub(crate) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}
