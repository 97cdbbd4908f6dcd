//! The sources and libraries that evaluated texts bring to a run, and forgetting them.
//!
//! INVARIANT: the texts that are kept alone decide which of them the run has, so one that is
//! restored has the same. An undone text takes with it what it brought.
//! It does not expand the kept texts again; `../evaluation.rs` does, at the next one.
//! Read next: `../evaluation.rs`.

use duet_kernel::datum::Name;

use super::{Evaluations, Text, TextCompiler};

impl TextCompiler<'_> {
    /// Adds the sources that came with a text.
    pub(super) fn bring(&mut self, text: &Text) {
        for source in &text.sources {
            if self.sources.add(source) {
                self.brought.sources.insert(source.wanted.clone());
            }
            if let [library] = &source.wanted[..]
                && self.brought.sources.contains(&source.wanted)
            {
                self.expander.bring(&Name::from(library.as_str()));
            }
        }
    }

    /// Forgets the libraries that texts have brought. All kept texts must be expanded again.
    pub(super) fn forget_libraries(&mut self) {
        let names = self.expander.forget_brought();
        if names.is_empty() {
            return;
        }
        self.brought.forgotten += 1;
        for name in names {
            match self.compared_units.get(&name) {
                Some(loaded) => self.library_units.insert(name, loaded.clone()),
                None => self.library_units.remove(&name),
            };
        }
    }

    /// Forgets the sources of undone texts that no kept one has, and all libraries that texts have
    /// brought.
    fn forget(&mut self, undone: &[Text], kept: &[Text]) {
        let has = |texts: &[Text], key: &Vec<String>| {
            let mut sources = texts.iter().flat_map(|text| &text.sources);
            sources.any(|source| source.wanted == *key)
        };
        let gone = |key: &Vec<String>| has(undone, key) && !has(kept, key);
        let gone: Vec<Vec<String>> = self.brought.sources.iter().filter(|key| gone(key)).cloned().collect();
        for key in gone {
            self.brought.sources.remove(&key);
            self.sources.0.remove(&key);
        }
        self.forget_libraries();
    }

    /// Forgets everything that texts have brought.
    pub(in crate::scheme) fn forget_all(&mut self) {
        for key in std::mem::take(&mut self.brought.sources) {
            self.sources.0.remove(&key);
        }
        self.forget_libraries();
    }
}

impl Evaluations {
    /// Removes the texts that the turn added, and returns them.
    pub(in crate::scheme) fn abort_turn(&mut self) -> Vec<Text> {
        self.keep_texts(self.texts_before)
    }

    /// Removes the texts from a number on, and returns them.
    pub(super) fn keep_texts(&mut self, length: usize) -> Vec<Text> {
        if length >= self.texts.len() {
            return Vec::new();
        }
        let undone = self.texts.split_off(length);
        self.count_bytes();
        self.is_stale = true;
        undone
    }

    /// Forgets the sources and libraries of undone texts.
    pub(in crate::scheme) fn leave(&mut self, undone: &[Text], text_compiler: &mut TextCompiler<'_>) {
        if !undone.is_empty() {
            let forgotten = text_compiler.brought.forgotten;
            text_compiler.forget(undone, &self.texts);
            self.is_stale |= text_compiler.brought.forgotten != forgotten;
        }
    }
}
