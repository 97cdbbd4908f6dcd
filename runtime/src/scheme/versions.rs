//! The versions of a run's program: the text that it began with, and those that took its place.
//!
//! Owns the moves between versions. All code that was ever loaded stays loaded, because frames that
//! wait may still run it; a version says which code new computations and new closures have.
//! INVARIANT: the list of changed texts alone determines a version, down to its units, so going
//! back, restoring and replaying need nothing else.
//! It does not touch instances; `renewal.rs` does.
//! Read next: `change.rs`, `renewal.rs`.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use duet_journal::BlobHash;
use duet_kernel::datum::Name;
use duet_kernel::expander::{Ahead, Expander, LibraryName, SourceText};
use duet_kernel::transformer::TransformerMachine;
use preserves::IOValue;

use super::host;
use super::programs::SchemePrograms;
use super::source::differing::differing;
use super::source::matching::Matching;
use super::source::{Pinned, ProgramRecord};
use super::version::{LeftVersion, NewText, Version};
use crate::model::codec::Codec;
use crate::model::failure::Failure;
use crate::state::patches::{Patched, Patches};

/// The maximum number of versions that are kept for a run which has left them. Each has the syntax
/// of all libraries.
const LEFT_MAX: usize = 4;

impl SchemePrograms {
    /// Takes libraries of changed texts from `ahead` if they were compiled from exactly these
    /// texts.
    pub fn find_ahead(&mut self, ahead: fn(&LibraryName) -> Option<Ahead>) {
        self.versions.ahead = Some(ahead);
    }

    /// Returns a source that the run has pinned, by the key under which it was found.
    pub fn pinned_source(&self, wanted: &[String]) -> Option<SourceText> {
        self.sources.0.get(wanted).cloned()
    }

    /// Whether the run has a text.
    pub fn has_text(&self, text: &str) -> bool {
        let mut read = self.expander.sources().iter().chain(self.sources.0.values());
        read.any(|source| &*source.text == text)
    }

    /// The changed texts that led to the present version.
    pub(super) fn present_texts(&self) -> Patches {
        Arc::clone(&self.versions.followed)
    }

    /// Goes to the version that a list of changed texts leads to.
    ///
    /// # Errors
    /// [`Failure`] if a text does not compile, or cannot take the place of the one before; the
    /// version is then that of the texts before it.
    pub(super) fn go_to(&mut self, patches: &Patches) -> Result<(), Failure> {
        if Arc::ptr_eq(&self.versions.followed, patches) {
            return Ok(());
        }
        let followed = mem::take(&mut self.versions.followed);
        let common = followed
            .iter()
            .zip(patches.iter())
            .take_while(|(one, other)| one == other);
        let common = common.count();
        while self.versions.earlier.len() > common {
            self.go_back(&followed[..self.versions.earlier.len()]);
        }
        for (count, patched) in (1..).zip(patches.iter()).skip(common) {
            if let Some(version) = self.take_left(&patches[..count]) {
                self.go_forward(version);
                continue;
            }
            match self.next_version(patches[..count - 1].last(), patched) {
                Ok(version) => self.go_forward(version),
                Err(failure) => {
                    self.versions.followed = Arc::new(patches[..count - 1].to_vec());
                    return Err(failure);
                }
            }
        }
        self.versions.followed = Arc::clone(patches);
        Ok(())
    }

    fn go_forward(&mut self, mut version: Version) {
        self.exchange(&mut version);
        self.versions.earlier.push(version);
        self.redirect();
    }

    /// Goes back from the version that changed texts lead to.
    fn go_back(&mut self, texts: &[Patched]) {
        let Some(mut version) = self.versions.earlier.pop() else {
            return;
        };
        self.exchange(&mut version);
        mem::swap(&mut self.compared_units, &mut version.compared_before);
        // Spans name texts by number, whatever version they come from.
        self.expander.set_sources(version.expander.sources().to_vec());
        self.redirect();
        if self.versions.left.len() == LEFT_MAX {
            self.versions.left.remove(0);
        }
        self.versions.left.push(LeftVersion {
            texts: texts.to_vec(),
            version,
        });
    }

    /// Takes the version that changed texts lead to, if the run has left it lately.
    fn take_left(&mut self, texts: &[Patched]) -> Option<Version> {
        let mut left = self.versions.left.iter();
        let place = left.position(|left| left.texts == texts)?;
        let mut version = self.versions.left.remove(place).version;
        version.expander.set_sources(self.expander.sources().to_vec());
        mem::swap(&mut self.compared_units, &mut version.compared_before);
        Some(version)
    }

    fn redirect(&mut self) {
        self.code.redirect(&self.change.redirects);
        self.machine.forget_code();
    }

    fn exchange(&mut self, version: &mut Version) {
        mem::swap(&mut self.expander, &mut version.expander);
        mem::swap(&mut self.units, &mut version.units);
        mem::swap(&mut self.entity_units, &mut version.entity_units);
        mem::swap(&mut self.sources, &mut version.sources);
        mem::swap(&mut self.library_units, &mut version.library_units);
        mem::swap(&mut self.compared_units, &mut version.compared_units);
        mem::swap(&mut self.shared, &mut version.shared);
        mem::swap(&mut self.templates, &mut version.templates);
        mem::swap(&mut self.change, &mut version.change);
    }

    /// Compiles a changed text, which is to take the place of the present one: that of `before`, or
    /// the first one.
    fn next_version(&mut self, before: Option<&Patched>, patched: &Patched) -> Result<Version, Failure> {
        let read = |program: &IOValue| {
            ProgramRecord::decode(program).map_err(|error| Failure::new("no-program", error.to_string()))
        };
        let before = read(before.map_or(&self.program, |before| &before.text.program))?;
        let record = read(&patched.text.program)?;
        let texts = self.texts_with(patched);
        let text_of = |name: &str, hash: &BlobHash| {
            let missing = || Failure::new("no-program", format!("the text of {name} is missing"));
            texts.get(hash).cloned().ok_or_else(missing)
        };
        let text = text_of(&record.name, &record.text)?;
        let mut sources = BTreeMap::new();
        for source in &record.sources {
            let text = text_of(&source.name, &source.text)?;
            let name = source.name.clone();
            sources.insert(source.wanted.clone(), SourceText { name, text });
        }
        let differing = differing(&before, &record, &sources);
        let library = |parts: Vec<String>| LibraryName {
            parts: parts.iter().map(|part| Name::from(part.as_str())).collect(),
        };
        let default_imports = record.default_imports.into_iter().map(library).collect();
        let mut expander = Expander::new(self.code.signatures(), default_imports)
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        let known = self.expander.sources().len();
        expander.set_sources(self.expander.sources().to_vec());
        let ahead = self.versions.ahead;
        let find = move |name: &LibraryName| ahead.and_then(|ahead| ahead(name));
        let mut matching = Matching::new(Pinned(sources), &find);
        let expansion = expander.expand_program(&record.name, &text, &mut matching);
        let expansion = expansion.map_err(|errors| super::interaction::syntax_failure(&expander, &errors))?;
        expander.set_sources(told_apart(expander.sources(), known, patched.turn));
        self.versions.made += 1;
        let compared_before = self.compared_units.clone();
        let changed = self.change_to(NewText {
            expander,
            units: &expansion.units,
            libraries: &mut matching,
            patched,
            differing,
            id: self.versions.made,
        });
        match changed {
            Ok(mut version) => {
                version.sources = matching.into_sources();
                version.compared_before = compared_before;
                Ok(version)
            }
            Err(failure) => {
                self.compared_units = compared_before;
                Err(failure)
            }
        }
    }

    /// All texts that the run has had, with those that come with a changed one, by their hashes.
    fn texts_with(&self, patched: &Patched) -> BTreeMap<BlobHash, Arc<str>> {
        let read = self.expander.sources().iter().map(|source| Arc::clone(&source.text));
        let pinned = self.sources.0.values().map(|source| Arc::clone(&source.text));
        let earlier = self
            .versions
            .earlier
            .iter()
            .flat_map(|version| version.sources.0.values());
        let earlier = earlier.map(|source| Arc::clone(&source.text));
        let new = patched.text.texts.iter().map(|text| Arc::from(text.as_str()));
        let all = read.chain(pinned).chain(earlier).chain(new);
        all.map(|text: Arc<str>| (BlobHash::of(text.as_bytes()), text))
            .collect()
    }
}

/// Gives each text from number `known` on that says something else than an earlier one of its name
/// a name of its own, with the turn that brought it.
fn told_apart(texts: &[SourceText], known: usize, turn: u64) -> Vec<SourceText> {
    let mut told = texts.to_vec();
    for text in &mut told[known..] {
        let is_other = |earlier: &SourceText| earlier.name == text.name && earlier.text != text.text;
        if texts[..known].iter().any(is_other) {
            text.name = format!("{}@{turn}", text.name);
        }
    }
    told
}
