//! Texts that a living actor evaluates, from its program or from a person.
//!
//! Owns the texts that an actor has received so far, and their results: its top levels, and which
//! units were evaluated.
//! INVARIANT: the texts alone determine all results, down to the units; so an aborted turn removes
//! its texts and drops the results, and an image contains only the texts.
//! It does not evaluate; it makes units, which the caller links and runs.
//! Read next: `interaction.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use duet_journal::{Blob, BlobHash, PackedValue};
use duet_kernel::code::{CodeSpace, LoadError};
use duet_kernel::compiler::{CompileError, compile};
use duet_kernel::core::{INTERACTION, Unit};
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::{Diagnostic, DiagnosticKind};
use duet_kernel::expander::{
    Expander, LIMIT_EXPANSION_NODES, Libraries, LibraryName, SourceError, SourceText, TopLevel,
};
use duet_kernel::unit::GlobalName;
use preserves::IOValue;

use super::brought::Brought;
use super::grants::covers;
use super::source::Pinned;
use super::version::{LibraryUnits, LoadedUnit};
use crate::codec_struct;
use crate::driver::Attached;
use crate::model::codec::{Codec, record};
use crate::model::failure::read_file_line;
use crate::model::manifest::Manifest;
use crate::turn::image::ThawError;

mod forgetting;

/// The maximum size of an actor's texts, in bytes; a text whose unit is known does not count again.
const TEXT_BYTES_MAX: u64 = 1 << 26;

/// The maximum size of one text, in bytes: compiling it cannot be interrupted, and takes less than
/// half a second.
const ONE_TEXT_BYTES_MAX: usize = 1 << 20;

/// The bytes of an actor's heap for which it may have one byte of text: the compiled text takes
/// about as many.
const HEAP_BYTES_OF_TEXT_BYTE: u64 = 8;

/// The bytes of an actor's heap for which the macros of a text may make one syntax node: it takes
/// about as many, until the text is compiled.
const HEAP_BYTES_OF_NODE: u64 = 128;

/// The texts that an actor may have evaluated, by the maximum size of its heap.
#[derive(Clone, Copy, Debug)]
struct TextLimits {
    bytes_max: usize,
    nodes_max: u32,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self::of(u64::MAX)
    }
}

impl TextLimits {
    fn of(heap_bytes_max: u64) -> Self {
        let bytes_max = TEXT_BYTES_MAX.min(heap_bytes_max / HEAP_BYTES_OF_TEXT_BYTE);
        let nodes_max = u64::from(LIMIT_EXPANSION_NODES).min(heap_bytes_max / HEAP_BYTES_OF_NODE);
        Self {
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            nodes_max: u32::try_from(nodes_max).unwrap_or(LIMIT_EXPANSION_NODES),
        }
    }
}

/// The beginning of the text that stands for a sandbox; its number in the actor and its import sets
/// follow. Import sets alone begin with a parenthesis.
pub(super) const SANDBOX: &str = "sandbox ";

/// The number of the sandbox that is an actor's mutable environment.
const BOUND: &str = "0";

/// A text that an actor received.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    /// The import sets of the environment, after [`SANDBOX`] and a number if it is a sandbox; empty
    /// for the mutable top level.
    environment: String,
    /// Its name in messages.
    name: String,
    text: String,
    sources: Vec<Attached>,
}
codec_struct!(Text "text" { environment, name, text, sources });

/// Several texts, as a chunk of an image.
struct Texts {
    /// The manifest of the actor, which decides which modules the texts may import.
    manifest: Manifest,
    texts: Vec<Text>,
}
codec_struct!(Texts "texts" { manifest, texts });

/// A text to be evaluated.
pub(super) struct EvaluationText<'a> {
    /// The import sets of the environment; empty for the mutable top level.
    pub(super) environment: &'a str,
    /// The name of the text; `None` for one that its place among the actor's texts names.
    pub(super) name: Option<String>,
    pub(super) text: &'a str,
    /// Libraries and included texts that it may need and the run does not have.
    pub(super) sources: &'a [Attached],
}

/// Why a text cannot be evaluated.
pub(super) enum Fault {
    /// It cannot be expanded.
    Expand(Vec<Diagnostic>),
    /// It cannot be compiled.
    Compile(CompileError),
    /// Its code cannot be loaded.
    Load(LoadError),
    /// The actor received too much text.
    TooLarge,
}

impl From<CompileError> for Fault {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<LoadError> for Fault {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// The compiler of texts to units, for all actors of a run.
pub(super) struct TextCompiler<'a> {
    pub(super) expander: &'a mut Expander,
    pub(super) code: &'a mut CodeSpace,
    pub(super) sources: &'a mut Pinned,
    pub(super) brought: &'a mut Brought,
    /// The units of libraries, with their numbers, by name.
    pub(super) library_units: &'a mut LibraryUnits,
    /// Those of the program alone.
    pub(super) compared_units: &'a LibraryUnits,
    /// The units of texts, by number.
    pub(super) text_units: &'a mut BTreeMap<usize, Arc<Unit>>,
    /// The units that the actor has evaluated at its beginning.
    pub(super) units: &'a [usize],
}

/// The texts of one actor, and their results.
#[derive(Default)]
pub(super) struct Evaluations {
    texts: Vec<Text>,
    /// The actor's manifest, if there are texts.
    manifest: Manifest,
    limits: TextLimits,
    text_bytes: usize,
    /// The number of texts when the turn began.
    texts_before: usize,
    /// The top levels, by the import sets that made them.
    tops: BTreeMap<String, TopLevel>,
    /// The unit of each text that did not change its top level, and that top level's count of
    /// changes.
    known: BTreeMap<(String, String), (u64, usize)>,
    /// The units of libraries that the caller has received to evaluate.
    evaluated: BTreeSet<usize>,
    /// The warnings of the newest text about imports that replace others.
    warnings: Vec<String>,
    /// Whether the results must be made again from the texts.
    is_stale: bool,
    /// The version of the program that the results belong to, and how often libraries had been
    /// forgotten then.
    version: (u64, u64),
    /// The savepoints: their numbers, each with the number of texts. Of several with equally many
    /// texts only the last is kept.
    savepoints: Vec<(u64, usize)>,
    /// The chunks of the frozen texts, and the number of these texts.
    chunks: Vec<BlobHash>,
    texts_frozen: usize,
}

impl Evaluations {
    /// Returns no texts, with the actor's newest savepoint, which had none either.
    pub(super) fn none_until(newest_savepoint: Option<u64>) -> Self {
        Self {
            savepoints: newest_savepoint.map(|number| (number, 0)).into_iter().collect(),
            ..Self::default()
        }
    }

    /// Drops the results if they belong to another version of the program, or to libraries that
    /// were forgotten.
    pub(super) fn follow(&mut self, version: u64, brought: &Brought) {
        let version = (version, brought.forgotten);
        self.is_stale |= self.version != version;
        self.version = version;
    }

    pub(super) fn begin_turn(&mut self) {
        self.texts_before = self.texts.len();
    }

    /// Makes a savepoint of the current state.
    pub(super) fn make_savepoint(&mut self, number: u64, oldest: u64) {
        self.drop_savepoints(oldest);
        match self.savepoints.last_mut() {
            Some((last, length)) if *length == self.texts.len() => *last = number,
            _ => {
                self.savepoints.reserve_exact(1);
                self.savepoints.push((number, self.texts.len()));
            }
        }
    }

    /// Drops savepoints with numbers below `oldest`.
    pub(super) fn drop_savepoints(&mut self, oldest: u64) {
        self.savepoints.retain(|(number, _)| *number >= oldest);
    }

    /// Removes texts added since the earliest savepoint not below `number`, and returns them.
    pub(super) fn restore_savepoint(&mut self, number: u64) -> Vec<Text> {
        self.texts_frozen = 0;
        self.chunks.clear();
        let later = self.savepoints.partition_point(|(savepoint, _)| *savepoint < number);
        let reached = self.savepoints.drain(later..).next();
        reached.map_or_else(Vec::new, |(_, length)| self.keep_texts(length))
    }

    fn count_bytes(&mut self) {
        self.text_bytes = self.texts.iter().map(Text::length_bytes).sum();
    }

    /// Limits the texts of an actor whose heap has at most this many words.
    pub(super) fn limit_to(&mut self, heap_words_max: usize) {
        self.limits = TextLimits::of(heap_words_max as u64 * 8);
    }

    /// Whether there are texts that are kept.
    pub(super) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns a hash of the texts.
    pub(super) fn digest(&self) -> BlobHash {
        let packed = PackedValue::write(|out| self.texts.write(out));
        packed.map_or(BlobHash([0; 32]), |packed| BlobHash::of(packed.as_bytes()))
    }

    /// Returns the top level that interactions share, if there is one.
    pub(super) fn interaction(&self) -> Option<&TopLevel> {
        self.tops.get("")
    }

    /// Returns the top level of the actor's first sandbox, if it has one.
    pub(super) fn sandbox(&self) -> Option<&TopLevel> {
        let mut tops = self.tops.iter();
        tops.find(|(environment, _)| environment.starts_with(SANDBOX))
            .map(|(_, top)| top)
    }

    /// Gives interactions the program's names, if they have no top level yet; their definitions end
    /// with the actor.
    pub(super) fn look_from_program(&mut self, expander: &Expander) {
        if !self.is_stale
            && !self.tops.contains_key("")
            && let Some(top) = expander.program_top_level(INTERACTION)
        {
            self.tops.insert(String::new(), top);
        }
    }

    /// Makes the units of a text: those to be evaluated, in order; the last one has the value.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn units(
        &mut self,
        text_compiler: &mut TextCompiler<'_>,
        wanted: &EvaluationText<'_>,
        manifest: &Manifest,
    ) -> Result<Vec<usize>, Fault> {
        self.refresh(text_compiler, manifest);
        let key = key(wanted.environment, wanted.name.as_deref(), wanted.text);
        // A text that brings sources is expanded again: what it loads may import them only now.
        if wanted.sources.is_empty()
            && let Some((changes, unit)) = self.known.get(&key)
            && self.tops.get(wanted.environment).map(TopLevel::changes) == Some(*changes)
        {
            return Ok(vec![*unit]);
        }
        let text = Text {
            environment: wanted.environment.to_owned(),
            name: wanted
                .name
                .clone()
                .unwrap_or_else(|| format!("eval {}", self.texts.len() + 1)),
            text: wanted.text.to_owned(),
            sources: wanted.sources.to_vec(),
        };
        if text.length_bytes() > ONE_TEXT_BYTES_MAX || self.text_bytes + text.length_bytes() > self.limits.bytes_max {
            return Err(Fault::TooLarge);
        }
        let (is_kept, units) = self.expand(text_compiler, &text, manifest);
        if is_kept {
            self.text_bytes += text.length_bytes();
            self.texts.push(text);
            self.manifest = manifest.clone();
        } else {
            self.leave(&[text], text_compiler);
        }
        units
    }

    /// Takes the warnings of the newest text about imports that replace others.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Makes the environment of the import sets, unless it exists.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn prepare(
        &mut self,
        text_compiler: &mut TextCompiler<'_>,
        environment: &str,
        manifest: &Manifest,
    ) -> Result<(), Fault> {
        self.refresh(text_compiler, manifest);
        if !self.tops.contains_key(environment) {
            let top = text_compiler.top_level(environment, manifest)?;
            self.tops.insert(environment.to_owned(), top);
        }
        Ok(())
    }

    /// Expands a text at the mutable top level, for inspection; keeps nothing of it.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn look(
        &mut self,
        text_compiler: &mut TextCompiler<'_>,
        text: &str,
        manifest: &Manifest,
    ) -> Result<Vec<Arc<Unit>>, Fault> {
        self.prepare(text_compiler, "", manifest)?;
        let Some(top) = self.tops.remove("") else {
            return Ok(Vec::new());
        };
        // The text's definitions must not stay, so the next use makes the top level again from the
        // kept texts.
        self.is_stale = true;
        let mut libraries = Granted {
            sources: text_compiler.sources,
            manifest,
        };
        let expander = &mut *text_compiler.expander;
        let (top, expansion) = expander.expand_at(top, "text", text, self.limits.nodes_max, &mut libraries);
        self.tops.insert(String::new(), top);
        text_compiler.forget_libraries();
        expansion.map(|expansion| expansion.units).map_err(Fault::Expand)
    }

    /// Makes all results again from the texts, if they were dropped.
    fn refresh(&mut self, text_compiler: &mut TextCompiler<'_>, manifest: &Manifest) {
        if !self.is_stale {
            return;
        }
        self.is_stale = false;
        self.tops.clear();
        self.known.clear();
        self.evaluated.clear();
        for text in std::mem::take(&mut self.texts) {
            // Any error was reported when the text came.
            let _ = self.expand(text_compiler, &text, manifest);
            self.texts.push(text);
        }
        self.warnings.clear();
    }

    /// Expands a text at its top level and loads the units; also returns whether the text must be
    /// kept.
    fn expand(
        &mut self,
        text_compiler: &mut TextCompiler<'_>,
        text: &Text,
        manifest: &Manifest,
    ) -> (bool, Result<Vec<usize>, Fault>) {
        text_compiler.bring(text);
        if let Err(fault) = self.prepare(text_compiler, &text.environment, manifest) {
            return (false, Err(fault));
        }
        let Some(top) = self.tops.remove(&text.environment) else {
            return (false, Ok(Vec::new()));
        };
        let changes = top.changes();
        let mut libraries = Granted {
            sources: text_compiler.sources,
            manifest,
        };
        let nodes_max = self.limits.nodes_max;
        let expander = &mut *text_compiler.expander;
        let (top, expansion) = expander.expand_at(top, &text.name, &text.text, nodes_max, &mut libraries);
        let (has_changed, now) = (top.changes() != changes, top.changes());
        self.tops.insert(text.environment.clone(), top);
        let warnings = expansion.iter().flat_map(|expansion| &expansion.warnings);
        let replaced = warnings.filter(|warning| matches!(warning.kind, DiagnosticKind::ImportReplaces(_)));
        self.warnings = replaced.map(|warning| warning.kind.to_string()).collect();
        let units = match expansion {
            Ok(expansion) => expansion.units,
            Err(errors) => return (has_changed, Err(Fault::Expand(errors))),
        };
        let units = match text_compiler.load(&units, &text.name) {
            Ok(units) => units,
            Err(fault) => return (has_changed, Err(fault)),
        };
        if let (false, Some(own)) = (has_changed, units.last()) {
            let key = key(&text.environment, Some(&text.name), &text.text);
            self.known.insert(key, (now, *own));
        }
        let last = units.len().saturating_sub(1);
        let libraries = units.iter().take(last).copied();
        let mut due: Vec<usize> = libraries
            .filter(|unit| !text_compiler.units.contains(unit) && self.evaluated.insert(*unit))
            .collect();
        due.extend(units.last());
        (true, Ok(due))
    }

    /// Makes the texts' part of an image: its root, and the chunks that were not written before.
    pub(super) fn freeze(&mut self, heap: IOValue) -> Option<(IOValue, Vec<Blob>)> {
        let texts = self.texts.get(self.texts_frozen..)?.to_vec();
        let mut fresh = Vec::new();
        if !texts.is_empty() {
            let manifest = self.manifest.clone();
            let packed = PackedValue::write(|out| Texts { manifest, texts }.write(out)).ok()?;
            let blob = Blob::new(packed.into_bytes()).ok()?;
            self.chunks.push(blob.hash());
            self.texts_frozen = self.texts.len();
            fresh.push(blob);
        }
        if self.chunks.is_empty() {
            return Some((heap, fresh));
        }
        Some((record("actor", vec![heap, self.chunks.encode()]), fresh))
    }

    /// Returns the hashes of the chunks of the frozen texts.
    pub(super) fn chunk_names(&self) -> &[BlobHash] {
        &self.chunks
    }

    /// Reads the texts of an image and loads their units.
    ///
    /// # Errors
    /// [`ThawError`] if they are damaged.
    pub(super) fn thaw(
        chunks: Vec<BlobHash>,
        heap_words_max: usize,
        find: &dyn Fn(&BlobHash) -> Option<Vec<u8>>,
        text_compiler: &mut TextCompiler<'_>,
    ) -> Result<Self, ThawError> {
        let damaged = |reason: String| ThawError::damaged(reason);
        let mut evaluations = Self::default();
        evaluations.limit_to(heap_words_max);
        for chunk in &chunks {
            let bytes = find(chunk).ok_or_else(|| damaged(format!("chunk {chunk} is missing")))?;
            let value = duet_journal::packed::read_value(&bytes).map_err(|error| damaged(error.to_string()))?;
            let read = Texts::decode(&value).map_err(|error| damaged(error.to_string()))?;
            evaluations.texts.extend(read.texts);
            evaluations.manifest = read.manifest;
        }
        evaluations.texts_frozen = evaluations.texts.len();
        evaluations.chunks = chunks;
        evaluations.count_bytes();
        evaluations.is_stale = true;
        text_compiler.forget_libraries();
        let manifest = evaluations.manifest.clone();
        evaluations.refresh(text_compiler, &manifest);
        Ok(evaluations)
    }
}

/// The name under which the unit of a text is known: equal texts share a unit, but not if they
/// stand in a file, whose lines its errors tell.
fn key(environment: &str, name: Option<&str>, text: &str) -> (String, String) {
    let placed = name.filter(|name| read_file_line(name).is_some());
    let text = placed.map_or_else(|| text.to_owned(), |name| format!("{name}\n{text}"));
    (environment.to_owned(), text)
}

impl Text {
    fn length_bytes(&self) -> usize {
        let sources: usize = self.sources.iter().map(|source| source.text.len()).sum();
        self.environment.len() + self.text.len() + sources
    }
}

impl TextCompiler<'_> {
    fn top_level(&mut self, environment: &str, manifest: &Manifest) -> Result<TopLevel, Fault> {
        let mut libraries = Granted {
            sources: self.sources,
            manifest,
        };
        let sandbox = environment.strip_prefix(SANDBOX).and_then(|rest| rest.split_once(' '));
        let top = match sandbox {
            Some((number, imports)) => {
                let name = format!("(sandbox {number})");
                let top = self.expander.sandbox(&name, imports, &mut libraries);
                if number == BOUND { top.map(with_values) } else { top }
            }
            None if environment.is_empty() => {
                let top = self.expander.interactive_top_level(INTERACTION, &mut libraries);
                top.map(with_values)
            }
            None => self.expander.immutable_top_level(environment, &mut libraries),
        };
        top.map_err(Fault::Expand)
    }

    /// Loads units of libraries and, last, that of the text called `name`.
    fn load(&mut self, units: &[Arc<Unit>], name: &str) -> Result<Vec<usize>, Fault> {
        let Some((own, libraries)) = units.split_last() else {
            return Ok(Vec::new());
        };
        let mut loaded = Vec::new();
        for unit in libraries {
            let number = match self.library_units.get(&unit.name) {
                Some(known) if Arc::ptr_eq(&known.unit, unit) => known.number,
                Some(_) | None => self.code.load_apart(&compile(unit, self.code)?)?,
            };
            self.library_units
                .insert(unit.name.clone(), LoadedUnit::of(unit, number));
            loaded.push(number);
        }
        let text_unit = own;
        let mut own = compile(own, self.code)?;
        // An equal text with another name is another unit, because recorded failures name the text
        // that they come from.
        own.name = Name::from(format!("{} {name}", own.name.as_str()).as_str());
        let number = self.code.load_apart(&own)?;
        self.text_units.insert(number, Arc::clone(text_unit));
        loaded.push(number);
        Ok(loaded)
    }
}

/// Lets texts name the values that earlier texts had: `$7` is the seventh.
fn with_values(top: TopLevel) -> TopLevel {
    top.with_numbered_names(GlobalName {
        library: Name::from("(duet internal eval)"),
        name: Name::from("%kept-value"),
    })
}

/// The sources of a run, for an actor with a manifest.
struct Granted<'a> {
    sources: &'a mut Pinned,
    manifest: &'a Manifest,
}

impl Libraries for Granted<'_> {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        self.sources.library(name)
    }

    fn include(&mut self, includer: &str, path: &str) -> Result<SourceText, SourceError> {
        self.sources.include(includer, path)
    }

    fn names(&self) -> Vec<LibraryName> {
        self.sources.names()
    }

    fn grants(&self, capability: &str) -> bool {
        covers(self.manifest, capability)
    }
}

#[cfg(test)]
mod tests;
