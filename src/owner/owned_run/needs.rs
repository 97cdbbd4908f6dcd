//! Capabilities that a changed text needs and its run lacks.
//!
//! INVARIANT: a text whose manifest asks for more than its run has takes nobody's place.
//! A program may compute the name of a tool, so a call that names one literally is only told; the
//! gate judges each call when it is made.
//! It grants nothing. Read next: `widening.rs`.

use std::path::Path;

use duet_runtime::model::manifest::Manifest;
use duet_runtime::scheme::{CalledTools, SchemePrograms};

use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::saying::{Way, quoted, say};
use crate::text::terminal::Terminal;
use crate::world::launch::Launch;

/// A run that is to have a changed text.
pub(crate) struct Grantee<'a> {
    /// Its name for people.
    pub(crate) name: &'a str,
    /// What its main program may do.
    pub(crate) manifest: &'a Manifest,
    /// The changed program, if the command that grants more names it again.
    pub(crate) with: Option<&'a Path>,
}

impl Grantee<'_> {
    /// Requires that the run has what the manifest of a changed program asks for.
    ///
    /// # Errors
    /// Names what it lacks, and the command that grants it.
    pub(crate) fn require(&self, launch: &Launch) -> Result<(), CommandError> {
        let asked = launch.asks_for().iter().map(String::as_str);
        let missing: Vec<&str> = asked.filter(|name| !self.manifest.grants(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (program, names) = (launch.path.display(), missing.join("` and `"));
        let refused = format!(
            "the manifest of `{program}` asks for `{names}`, which {} was not granted; nothing has changed",
            self.name
        );
        Err(CommandError::problem(refused).advise(say![self.way(&missing.join(",")), " grants it"]))
    }

    /// Warns of tools that a changed text calls by name, and the text before does not, and that the
    /// run was not granted.
    pub(crate) fn warn(&self, known: &CalledTools, now: &SchemePrograms, terminal: &mut Terminal) {
        let texts = SourceTexts::of(now.expander());
        for (name, origin) in now.called_tools() {
            if known.contains_key(&name) || self.manifest.grants(&name) {
                continue;
            }
            let place = match texts.line_of(&origin.source, origin.start) {
                Some(line) => format!("{}:{line}", origin.source),
                None => origin.source,
            };
            terminal.message(say![
                format!("warning: {place} calls `{name}`, which {} was not granted; ", self.name),
                self.way(&name),
                " grants it",
            ]);
        }
    }

    /// The command that grants names.
    fn way(&self, names: &str) -> Way {
        let with = self.with.map(|program| quoted(&program.display().to_string()));
        let with = with.map_or_else(String::new, |program| format!("--with {program} "));
        Way::at("resume", self.name).with(format!("{with}--grant {names}"))
    }
}
