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

/// The characters of the newest words that are shown.
const SHOWN_CHARACTERS: usize = 60;

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

    /// Shows the newest words of a text that grows.
    pub(crate) fn says(&self, who: &str, text: &str) {
        if let Some(view) = &self.0 {
            let newest = view.newest(text);
            let mut console = view.console.lock().unwrap_or_else(PoisonError::into_inner);
            console.live(&format!("{who}: {newest}"));
        }
    }

    /// A view whose words disappear when it is dropped.
    pub(crate) fn until_dropped(&self) -> Shown {
        Shown(self.clone())
    }
}

impl View {
    /// The end of a text, without the beginning of a secret whose end is cut off: what is masked
    /// begins well before what is shown.
    fn newest(&self, text: &str) -> String {
        let window = SHOWN_CHARACTERS * 4 + self.secrets.longest_bytes();
        let mut start = text.len().saturating_sub(window);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let masked = self.secrets.mask_text(&text[start..]);
        let surplus = masked.chars().count().saturating_sub(SHOWN_CHARACTERS);
        masked.chars().skip(surplus).collect()
    }
}

/// A view for one call.
pub(crate) struct Shown(Live);

impl std::ops::Deref for Shown {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.0
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(view) = &self.0.0 {
            let mut console = view.console.lock().unwrap_or_else(PoisonError::into_inner);
            console.end_live();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::disallowed_methods,
        reason = "a failed step of a test is its failure; the terminal is redrawn at intervals"
    )]

    use duet_runtime::driver::Stream;
    use indicatif::ProgressDrawTarget;

    use super::*;
    use crate::console::screen::Screen;
    use crate::text::Text;

    fn view(terminal: &Screen) -> (Arc<Mutex<Console>>, Live) {
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let console = Console::new(Box::new(std::io::sink()), Box::new(std::io::sink()), target);
        let console = Arc::new(Mutex::new(console));
        let secrets = Secrets::of([("API_KEY", "sesame-open")], &[]);
        (Arc::clone(&console), Live::new(console, secrets))
    }

    #[test]
    fn the_newest_words_are_shown_without_secrets_until_the_reply_is_there() {
        let terminal = Screen::new(5, 100);
        let (_console, live) = view(&terminal);
        let shown = live.until_dropped();
        shown.says("local", "Once");
        assert_eq!(terminal.contents(), "local: Once");
        let long = format!("{} the key is sesame-open\nbye", "é".repeat(500));
        std::thread::sleep(std::time::Duration::from_millis(20));
        shown.says("local", &long);
        let contents = terminal.contents();
        assert!(contents.ends_with(r"the key is {{secret:API_KEY}}\nbye"), "{contents}");
        drop(shown);
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn words_disturb_neither_a_line_nor_who_types() {
        let terminal = Screen::new(5, 100);
        let (console, live) = view(&terminal);
        console.lock().unwrap().write(Stream::Output, b"so far");
        live.says("local", "Once");
        console.lock().unwrap().write(Stream::Output, b"\n");
        console.lock().unwrap().prompt(&Text::lines("Go on? "));
        live.says("local", "Once upon");
        assert_eq!(terminal.contents(), "");
        console.lock().unwrap().write(Stream::Output, b"yes\n");
        live.says("local", "Once upon a");
        assert_eq!(terminal.contents(), "local: Once upon a");
    }
}
