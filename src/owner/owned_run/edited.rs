//! Texts of a program that were edited after its run began.
//!
//! INVARIANT: an edited file changes nothing in a run that began before; the person only hears of
//! it.
//! It runs nothing. Read next: the crate's `owner/owned_run.rs`.

use std::path::Path;

use duet_kernel::expander::SourceText;
use duet_runtime::scheme;

use super::OwnedRun;
use crate::text::saying::{Way, say};
use crate::text::terminal::Terminal;
use crate::text::version;
use crate::world::launch;

impl OwnedRun {
    /// Says that the run goes on with the code of another version, if it does.
    pub(crate) fn tell_versions(&self, terminal: &mut Terminal) {
        if let Some(versions) = self.run.code_from() {
            terminal.message(other_code(versions));
        }
    }

    /// Says which code the run goes on with, if that is not plain: that of another version, or that
    /// of texts which were edited since the run began.
    pub(crate) fn tell_code(&self, terminal: &mut Terminal) {
        self.tell_versions(terminal);
        let mut changed = edited(self.texts.all());
        let patched = self.run.state().patches.last();
        if let Some(texts) = patched.and_then(|patched| scheme::texts(&patched.text.program).ok()) {
            changed.retain(|name| texts.iter().any(|(executed, _)| executed == name));
        }
        let Some(first) = changed.first() else { return };
        let name = &self.place.name;
        let (what, has) = match changed.len() {
            1 => (format!("`{first}`"), "has"),
            count => (
                format!("`{first}` and {} more of the program's texts", count - 1),
                "have",
            ),
        };
        terminal.message(say![
            format!("{what} {has} changed since {name} began; the run goes on with what it began with\n"),
            Way::at("resume", name).with("--with FILE"),
            " goes on with the changed program on what the run has received, ",
            Way::of("run").with("FILE"),
            " begins a run of it",
        ]);
    }
}

/// Says that a run goes on with the code of other versions.
fn other_code(versions: &[String]) -> String {
    let versions = versions.join(" and ");
    format!(
        "the run goes on with the code of {versions}, which its snapshot holds; this is {}\n\
         a turn is proved by the version that took it: `duet replay --check` here may find differences",
        version::name()
    )
}

/// The names of the texts that came from files which now say something else. Of several texts of a
/// file, the run executes the last.
fn edited(texts: &[SourceText]) -> Vec<&str> {
    let newest = |(place, text): &(usize, &SourceText)| texts[place + 1..].iter().all(|later| later.name != text.name);
    let is_own = |text: &SourceText| duet_stdlib::FILES.iter().all(|(_, known)| **known != *text.text);
    let has_changed = |text: &&SourceText| {
        let now = launch::read_program(Path::new(&text.name));
        now.is_ok_and(|(now, _)| now != *text.text) && is_own(text)
    };
    let newest = texts.iter().enumerate().filter(newest).map(|(_, text)| text);
    newest.filter(has_changed).map(|text| text.name.as_str()).collect()
}
