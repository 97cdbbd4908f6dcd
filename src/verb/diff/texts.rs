//! The texts of two programs, line by line.
//!
//! INVARIANT: a text is compared with the one that has its place: the program's own with the
//! program's own, another one with that of the same name.
//! It runs nothing. Read next: `../diff.rs`.

use duet_journal::{BlobHash, Sequence, Store};
use duet_runtime::run::source::genesis;
use duet_runtime::scheme;
use schemars::JsonSchema;
use serde::Serialize;
use similar::TextDiff;

use crate::error::CommandError;
use crate::journal::Place;
use crate::session::record_at;

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
}

/// A text of a program: its name and its hash.
type Named = (String, BlobHash);

/// Finds the texts that differ.
///
/// # Errors
/// If a first record or a text cannot be read.
pub(super) fn apart(store: &dyn Store, places: [&Place; 2]) -> Result<Vec<TextApart>, CommandError> {
    let [left, right] = [texts(store, places[0])?, texts(store, places[1])?];
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
        let text = |one: Option<&Named>| one.map_or(Ok(String::new()), |(_, hash)| text_of(store, hash));
        let [before, after] = [text(pair[0])?, text(pair[1])?];
        let lines = TextDiff::from_lines(&before, &after);
        let lines = lines.unified_diff().context_radius(AROUND).to_string();
        let [left, right] = pair.map(|one| one.map(|(name, _)| name.clone()));
        found.push(TextApart {
            left,
            right,
            lines: lines.lines().map(str::to_owned).collect(),
        });
    }
    Ok(found)
}

/// The texts that the first record of a branch pins; none if its program is another kind.
fn texts(store: &dyn Store, place: &Place) -> Result<Vec<Named>, CommandError> {
    let genesis = genesis(&record_at(store, place, Sequence::FIRST)?)?;
    Ok(scheme::texts(&genesis.program).unwrap_or_default())
}

fn text_of(store: &dyn Store, hash: &BlobHash) -> Result<String, CommandError> {
    Ok(String::from_utf8_lossy(&store.blob(hash)?).into_owned())
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
}
