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
use super::version::{NewText, NextVersion};
use crate::model::codec::Codec;
use crate::model::failure::Failure;
use crate::state::patches::{Patched, Patches};

impl SchemePrograms {
    /// Takes libraries of changed texts from `ahead` if they were compiled from exactly these
    /// texts.
    pub fn find_ahead(&mut self, ahead: fn(&LibraryName) -> Option<Ahead>) {
        self.find_ahead = Some(ahead);
    }

    /// Returns a source that the run has pinned, by the key under which it was found.
    pub fn pinned_source(&self, wanted: &[String]) -> Option<SourceText> {
        self.present.sources.0.get(wanted).cloned()
    }

    /// Whether the run has a text.
    pub fn has_text(&self, text: &str) -> bool {
        let mut read = self
            .present
            .expander
            .sources()
            .iter()
            .chain(self.present.sources.0.values());
        read.any(|source| &*source.text == text)
    }

    /// The changed texts that led to the present version.
    pub(super) fn present_texts(&self) -> Patches {
        Arc::clone(self.versions.followed())
    }

    /// Goes to the version that a list of changed texts leads to.
    ///
    /// # Errors
    /// [`Failure`] if a text does not compile, or cannot take the place of the one before; the
    /// version is then that of the texts before it.
    pub(super) fn go_to(&mut self, patches: &Patches) -> Result<(), Failure> {
        if Arc::ptr_eq(self.versions.followed(), patches) {
            return Ok(());
        }
        let followed = self.versions.follow(Patches::default());
        let common = followed
            .iter()
            .zip(patches.iter())
            .take_while(|(one, other)| one == other);
        let common = common.count();
        while self.versions.count_before() > common {
            let texts = &followed[..self.versions.count_before()];
            if self.versions.go_back(&mut self.present, texts) {
                self.redirect();
            }
        }
        for (count, patched) in (1..).zip(patches.iter()).skip(common) {
            let next = match self.versions.take_left(&self.present, &patches[..count]) {
                Some(next) => Ok(next),
                None => self.next_version(patches[..count - 1].last(), patched),
            };
            match next {
                Ok(next) => {
                    self.versions.go_forward(&mut self.present, next);
                    self.redirect();
                }
                Err(failure) => {
                    self.versions.follow(Arc::new(patches[..count - 1].to_vec()));
                    return Err(failure);
                }
            }
        }
        self.versions.follow(Arc::clone(patches));
        debug_assert_eq!(
            self.versions.count_before(),
            patches.len(),
            "each text leads from one version to the next"
        );
        Ok(())
    }

    fn redirect(&mut self) {
        self.code.redirect(&self.present.change.redirects);
        self.machine.forget_code();
    }

    /// Compiles a changed text, which is to take the place of the present one: that of `before`, or
    /// the first one.
    fn next_version(&mut self, before: Option<&Patched>, patched: &Patched) -> Result<NextVersion, Failure> {
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
        if self.machine.counts().is_some() {
            expander.begin_counted();
        }
        let known = self.present.expander.sources().len();
        expander.set_sources(self.present.expander.sources().to_vec());
        let ahead = self.find_ahead;
        let find = move |name: &LibraryName| ahead.and_then(|ahead| ahead(name));
        let mut matching = Matching::new(Pinned(sources), &find);
        let expansion = expander.expand_program(&record.name, &text, &mut matching);
        let expansion = expansion.map_err(|errors| super::interaction::syntax_failure(&expander, &errors))?;
        expander.set_sources(told_apart(expander.sources(), known, patched.turn));
        let id = self.versions.count_made();
        let compared_alone = self.present.compared_units.clone();
        let changed = self.change_to(NewText {
            expander,
            units: &expansion.units,
            libraries: &mut matching,
            patched,
            differing,
            id,
        });
        // The comparison adds to them; they stay so only while the new version is the present one.
        let compared_before = mem::replace(&mut self.present.compared_units, compared_alone);
        let mut version = changed?;
        version.sources = matching.into_sources();
        Ok(NextVersion {
            version,
            compared_before,
        })
    }

    /// All texts that the run has had, with those that come with a changed one, by their hashes.
    fn texts_with(&self, patched: &Patched) -> BTreeMap<BlobHash, Arc<str>> {
        let read = self
            .present
            .expander
            .sources()
            .iter()
            .map(|source| Arc::clone(&source.text));
        let pinned = self.present.sources.0.values().map(|source| Arc::clone(&source.text));
        let before = self.versions.before();
        let earlier = before.flat_map(|version| version.sources.0.values());
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
