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

use crate::history::journal::Place;
use crate::owner::owned_run::record_at;
use crate::text::error::CommandError;

/// The lines around a difference that are shown.
const AROUND: usize = 2;

/// The beginning of the names of texts of the standard library.
const BUILT_IN: &str = "<stdlib>/";

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

/// The differences in words. Of the standard library, which a person did not write, they say only
/// how many texts differ: two runs may import quite different parts of it.
pub(super) fn tell(texts: &[TextApart]) -> Vec<String> {
    let (built_in, own): (Vec<&TextApart>, Vec<&TextApart>) = texts.iter().partition(|text| text.is_built_in());
    let mut lines: Vec<String> = own.into_iter().flat_map(TextApart::tell).collect();
    let count = |left: bool, right: bool| {
        let of_kind = |text: &&&TextApart| (text.left.is_some(), text.right.is_some()) == (left, right);
        built_in.iter().filter(of_kind).count()
    };
    let sorts = [
        (count(true, true), "that differ"),
        (count(true, false), "only on the left"),
        (count(false, true), "only on the right"),
    ];
    let told = sorts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, sort)| format!("{count} {sort}")).collect();
    if !told.is_empty() {
        lines.push(format!("  texts of the standard library: {}", told.join(", ")));
    }
    lines
}

impl TextApart {
    /// Says whether it is a text of the standard library on each side that has it.
    fn is_built_in(&self) -> bool {
        let mut names = self.left.iter().chain(&self.right);
        names.all(|name| name.starts_with(BUILT_IN))
    }

    /// The difference in words: the name, then the lines.
    fn tell(&self) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_standard_library_only_numbers_are_told() {
        let text = |left: Option<&str>, right: Option<&str>| TextApart {
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
            lines: vec!["-a".to_owned(), "+b".to_owned()],
            definitions: Definitions::apart("", ""),
        };
        let texts = [
            text(Some("p.scm"), Some("q.scm")),
            text(None, Some("<stdlib>/duet/base.sld")),
            text(None, Some("<stdlib>/scheme/char.sld")),
            text(Some("<stdlib>/srfi/1.sld"), Some("<stdlib>/srfi/1.sld")),
            text(Some("own.sld"), None),
        ];
        let built_in = "  texts of the standard library: 1 that differ, 2 only on the right";
        let lines = ["    -a", "    +b"];
        let own = [&["  p.scm, q.scm"][..], &lines, &["  own.sld"], &lines].concat();
        assert_eq!(tell(&texts), [own, vec![built_in]].concat());
    }
}
