//! Where the texts and the definitions of a session stand: what was typed, and what was loaded.
//!
//! INVARIANT: the records alone tell, so a session that is continued knows what it knew before.
//! It evaluates nothing. Read next: `session.rs`.

use std::path::PathBuf;

use duet_journal::Sequence;
use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Node, NodeId, SourceId};
use duet_runtime::driver::Attached;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::failure::file_line;
use duet_runtime::record::Body;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::description::{Description, in_text, line_in_text};
use duet_runtime::state::event::Event;
use preserves::ValueImpl;

use super::event::symbol;
use super::prompt::EditedText;
use super::session::{Live, texts};
use crate::history::turn;
use crate::owner::owned_run::notes::launch_note;
use crate::owner::owned_run::record_at;
use crate::settings::editing;
use crate::text::error::CommandError;

/// A definition of a session.
pub(super) struct Definition {
    pub(super) description: Description,
    pub(super) place: DefinitionPlace,
}

/// Where a definition stands.
pub(super) enum DefinitionPlace {
    /// In this text, which was typed.
    Typed(String),
    /// In a file that was loaded, at this line, from 1.
    File { path: String, line: usize },
    /// In a library that a text imports.
    Library,
}

impl Live {
    /// Finds the newest definition of a name that was given at the prompt or loaded there.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn definition(&mut self, name: &str) -> Result<Option<Definition>, CommandError> {
        // The content of the file that was read next after the turn that is looked at.
        let mut answer: Option<String> = None;
        for at in (1..=self.turn().number()).rev() {
            let at = Sequence::new(at).map_err(|error| CommandError::problem(error.to_string()))?;
            let body = turn::body(&self.record_at(at)?)?;
            let Body::Turn(turn) = body.clone() else { continue };
            if turn::is_failed(&body) {
                continue;
            }
            for event in turn.events.iter().rev() {
                let Event::Evaluate { text, sources } = event else {
                    answer = piece(event, &answer).or(answer);
                    continue;
                };
                let found = match (loaded(text), answer.take()) {
                    (Some(path), Some(content)) => in_file(&path, &content, name),
                    (Some(_) | None, _) => typed(text, name).or_else(|| imported(sources, name)),
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// The newest text that somebody typed, unless it failed at once.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn last_text(&mut self) -> Result<Option<String>, CommandError> {
        self.newest(|text| Some(text.to_owned()))
    }

    /// The file that a text has loaded last.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn last_loaded(&mut self) -> Result<Option<String>, CommandError> {
        self.newest(loaded)
    }

    fn newest<T>(&mut self, found: impl Fn(&str) -> Option<T>) -> Result<Option<T>, CommandError> {
        for at in (1..=self.turn().number()).rev() {
            let at = Sequence::new(at).map_err(|error| CommandError::problem(error.to_string()))?;
            let given = texts(&self.record_at(at)?)?;
            if let Some(found) = given.as_slice().iter().rev().find_map(|text| found(text)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Lets the person edit the definition of a name, or else the last text.
    ///
    /// # Errors
    /// If there is nothing to edit, or the editor fails.
    pub(super) fn edited(&mut self, name: Option<&str>) -> Result<EditedText, CommandError> {
        let Some(name) = name else {
            let nothing = || CommandError::problem("nothing was typed yet");
            let text = self.last_text()?.ok_or_else(nothing)?;
            return self.edited_text(&text);
        };
        match self.definition(name)?.map(|found| found.place) {
            Some(DefinitionPlace::Typed(text)) => self.edited_text(&text),
            Some(DefinitionPlace::File { path, line }) => {
                editing::open(&self.path_of(&path)?, Some(line))?;
                Ok(EditedText::File(path))
            }
            Some(DefinitionPlace::Library) => {
                let what = format!("`{name}` belongs to a library that this session has imported");
                Err(CommandError::problem(what).advise("a session keeps the libraries that it has imported"))
            }
            None => Err(
                CommandError::problem(format!("nothing that was typed or loaded here defines `{name}`"))
                    .advise("`,edit` without a name edits the last text; `,load FILE` loads a file"),
            ),
        }
    }

    fn edited_text(&self, text: &str) -> Result<EditedText, CommandError> {
        let file = format!(".edit-{}-{}-{}.scm", self.place.run, self.place.branch, self.turn());
        let file = match &self.journal {
            Some(journal) => journal.beside(&file),
            None => std::env::temp_dir().join(file),
        };
        let edited = editing::edit(&format!("{text}\n"), file)?;
        let after = edited.text.trim_end().to_owned();
        edited.done();
        Ok(if after.is_empty() || after == text.trim_end() {
            EditedText::Nothing
        } else {
            EditedText::Text(after)
        })
    }

    /// The path of a file that the session has loaded.
    ///
    /// # Errors
    /// If the journal fails.
    pub(super) fn path_of(&self, loaded: &str) -> Result<PathBuf, CommandError> {
        let genesis = genesis(&record_at(&*self.store, &self.place, Sequence::FIRST)?)?;
        let note = launch_note(&*self.store, &genesis);
        let root = note.map_or_else(|| PathBuf::from("."), |note| note.workspace);
        Ok(root.join(loaded))
    }
}

/// The piece of a file that an event has brought, with the pieces after it.
fn piece(event: &Event, later: &Option<String>) -> Option<String> {
    let Event::Answered {
        outcome: Ok(answer), ..
    } = event
    else {
        return None;
    };
    let field = |name: &str| answer.is_dictionary().then(|| answer.get(&symbol(name)))?;
    let content = String::decode(&field("content")?.into()).ok()?;
    let goes_on = bool::decode(&field("next")?.into()).is_ok_and(|goes_on| goes_on);
    Some(match later {
        Some(later) if goes_on => content + later,
        Some(_) | None => content,
    })
}

fn in_file(path: &str, content: &str, name: &str) -> Option<Definition> {
    let line = line_in_text(content, name)?;
    Some(Definition {
        description: Description {
            place: Some(file_line(path, line)),
            ..in_text(content, name)?
        },
        place: DefinitionPlace::File {
            path: path.to_owned(),
            line,
        },
    })
}

fn imported(sources: &[Attached], name: &str) -> Option<Definition> {
    let description = sources.iter().find_map(|source| in_text(&source.text, name))?;
    Some(Definition {
        description,
        place: DefinitionPlace::Library,
    })
}

fn typed(text: &str, name: &str) -> Option<Definition> {
    Some(Definition {
        description: in_text(text, name)?,
        place: DefinitionPlace::Typed(text.to_owned()),
    })
}

/// The path in a text that is nothing but `(load "path")`.
fn loaded(text: &str) -> Option<String> {
    let (reading, errors) = read_all(text, SourceId(0));
    let node = |id: NodeId| &reading.nodes[id.0 as usize];
    let [form] = reading.forms[..] else { return None };
    let Node::Pair(keyword, operands) = node(form) else {
        return None;
    };
    let Node::Pair(path, _) = node(*operands) else {
        return None;
    };
    match (node(*keyword), node(*path)) {
        (Node::Symbol(keyword), Node::String(path)) if keyword.as_str() == "load" && errors.is_empty() => {
            Some(path.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_loads_a_file_is_known() {
        assert_eq!(loaded("(load \"a \\\"b\\\".scm\")"), Some("a \"b\".scm".to_owned()));
        for text in [
            "(load path)",
            "(include \"a\")",
            "load",
            "(load)",
            "(load \"a\") 1",
            "(load \"a\"",
        ] {
            assert_eq!(loaded(text), None, "{text}");
        }
    }
}
