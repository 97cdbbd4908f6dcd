//! The texts of two programs, line by line.
//!
//! INVARIANT: a text is compared with the one that has its place: the program's own with the
//! program's own, another one with that of the same name.
//! It runs nothing. Read next: `../diff.rs`.

use std::collections::BTreeMap;

use duet_journal::{Blob, BlobHash, Sequence, Store};
use duet_runtime::history::shadow::Shadow;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme;
use schemars::JsonSchema;
use serde::Serialize;
use similar::TextDiff;

use super::definitions::Definitions;

use crate::error::CommandError;
use crate::journal::Place;
use crate::owned_run::record_at;

/// The lines around a difference that are shown.
const AROUND: usize = 2;

/// A text that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TextApart {
    /// Its name on each side; nothing if a side does not have it.
    pub(super) left: Option<String>,
    pub(super) right: Option<String>,
    /// The difference in the unified form, without its head.
    pub(super) lines: Vec<String>,
    /// The definitions that say something else.
    pub(super) definitions: Definitions,
}

/// A text of a program: its name and its hash.
type Named = (String, BlobHash);

/// The texts that a run executes.
struct Executed {
    /// The program's own text, then the others.
    named: Vec<Named>,
    /// Those that came with changed texts.
    given: BTreeMap<BlobHash, String>,
}

/// Finds the texts that differ.
///
/// # Errors
/// If a first record or a text cannot be read.
pub(super) fn apart(store: &dyn Store, places: [&Place; 2]) -> Result<Vec<TextApart>, CommandError> {
    let executed = [executed(store, places[0])?, executed(store, places[1])?];
    let [left, right] = executed.each_ref().map(|executed| &*executed.named);
    let mut pairs: Vec<[Option<&Named>; 2]> = vec![[left.first(), right.first()]];
    let (left, right) = (left.get(1..).unwrap_or_default(), right.get(1..).unwrap_or_default());
    let named = |texts: &'_ [Named], name: &str| texts.iter().position(|(other, _)| other == name);
    pairs.extend(
        left.iter()
            .map(|one| [Some(one), named(right, &one.0).map(|at| &right[at])]),
    );
    pairs.extend(
        right
            .iter()
            .filter(|one| named(left, &one.0).is_none())
            .map(|one| [None, Some(one)]),
    );
    let mut found = Vec::new();
    for pair in pairs {
        if pair[0].map(|one| one.1) == pair[1].map(|one| one.1) {
            continue;
        }
        let text = |side: usize| match pair[side] {
            None => Ok(String::new()),
            Some((_, hash)) => executed[side].text(store, hash),
        };
        let [before, after] = [text(0)?, text(1)?];
        let definitions = Definitions::apart(&before, &after);
        let lines = TextDiff::from_lines(&before, &after);
        let lines = lines.unified_diff().context_radius(AROUND).to_string();
        let [left, right] = pair.map(|one| one.map(|(name, _)| name.clone()));
        found.push(TextApart {
            left,
            right,
            lines: lines.lines().map(str::to_owned).collect(),
            definitions,
        });
    }
    Ok(found)
}

/// The texts that a branch executes after a turn: those that its first record pins, or those of the
/// newest changed text that it has taken on; none if its program is of another kind.
fn executed(store: &dyn Store, place: &Place) -> Result<Executed, CommandError> {
    let genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
    let (mut program, mut given) = (genesis.program, BTreeMap::new());
    for patched in Shadow::at(&place.source(store), place.at())?.patches() {
        for text in &patched.text.texts {
            given.insert(Blob::new(text.as_bytes().to_vec())?.hash(), text.clone());
        }
        program = patched.text.program.clone();
    }
    Ok(Executed {
        named: scheme::texts(&program).unwrap_or_default(),
        given,
    })
}

impl Executed {
    fn text(&self, store: &dyn Store, hash: &BlobHash) -> Result<String, CommandError> {
        match self.given.get(hash) {
            Some(text) => Ok(text.clone()),
            None => Ok(String::from_utf8_lossy(&store.blob(hash)?).into_owned()),
        }
    }
}

impl TextApart {
    /// The difference in words: the name, then the lines.
    pub(super) fn tell(&self) -> Vec<String> {
        let name = match (&self.left, &self.right) {
            (Some(left), Some(right)) if left != right => format!("{left}, {right}"),
            (Some(name), _) | (None, Some(name)) => name.clone(),
            (None, None) => String::new(),
        };
        let lines = self.lines.iter().map(|line| format!("    {line}"));
        std::iter::once(format!("  {name}")).chain(lines).collect()
    }

    /// The difference as a patch, with the addresses of both sides and the definitions above it.
    pub(super) fn patch(&self, addresses: [&str; 2]) -> Vec<String> {
        let side = |sign: &str, name: &Option<String>, address: &str| match name {
            Some(name) => format!("{sign} {name}\t{address}"),
            None => format!("{sign} /dev/null"),
        };
        let heads = [
            side("---", &self.left, addresses[0]),
            side("+++", &self.right, addresses[1]),
        ];
        let lines = self.lines.iter().cloned();
        self.definitions.tell().into_iter().chain(heads).chain(lines).collect()
    }
}
