//! Manifests: the capabilities that an actor has by name.
//!
//! INVARIANT: a manifest grants what it names and nothing else; the extents agree with the names
//! and the patterns.
//! It does not judge actions, and does not read patterns; `../gate/right.rs` does.
//! Read next: `../gate/right.rs`.

use duet_journal::packed::{Compound, PackedWriter};
use im::OrdSet;
use preserves::{IOValue, ValueImpl};

use crate::model::codec::{Codec, DecodeError, Fields};
use crate::model::value::Fact;

/// A right in the dataspace, which a grant can limit by patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// To observe facts and messages.
    Observe,
    /// To assert facts.
    Assert,
    /// To send messages.
    Message,
}

/// The prefix of the names of all rights in the dataspace.
const DATASPACE: &str = "dataspace/";

/// The name that grants all rights in the dataspace.
const WHOLE_DATASPACE: &str = "dataspace/*";

impl Right {
    /// All rights.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Assert, Self::Message];

    /// Returns the name of the capability.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "dataspace/observe",
            Self::Assert => "dataspace/assert",
            Self::Message => "dataspace/message",
        }
    }

    /// Finds a right by its name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }
}

/// How much of a right a manifest grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything that one of the patterns matches.
    Limited,
    /// Everything.
    Whole,
}

/// A right that is limited by a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Limited {
    /// The right.
    pub right: Right,
    /// The packed pattern.
    pub pattern: Fact,
}

/// The names of the capabilities of an actor, and its limited rights; `prefix/*` grants every name
/// that begins with `prefix/`, and `*` grants every name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    names: OrdSet<String>,
    /// In the order of rights and packed patterns, each once.
    limited: Vec<Limited>,
    /// The extent of each right.
    extents: [Extent; 3],
}

impl Manifest {
    /// Makes a manifest from names.
    pub fn of(names: &[&str]) -> Self {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Adds a name.
    ///
    /// # Errors
    /// [`UnknownRight`] if the name begins like that of a right in the dataspace and is none.
    pub fn grant(&mut self, name: String) -> Result<(), UnknownRight> {
        if name.starts_with(DATASPACE) && name != WHOLE_DATASPACE && Right::of_name(&name).is_none() {
            return Err(UnknownRight(name));
        }
        self.names.insert(name);
        self.measure();
        Ok(())
    }

    /// Adds a right that is limited by a pattern.
    pub fn limit(&mut self, right: Right, pattern: Fact) {
        self.limited.push(Limited { right, pattern });
        self.limited.sort_by(|left, right| left.key().cmp(&right.key()));
        self.limited.dedup();
        self.measure();
    }

    /// Adds all that another manifest grants.
    pub fn add(&mut self, other: &Self) {
        self.names.extend(other.names.iter().cloned());
        other
            .limited()
            .for_each(|limited| self.limit(limited.right, limited.pattern.clone()));
        self.measure();
    }

    /// Returns the manifest of a run's main program: it has all rights in the dataspace of its own
    /// run, unless it names one of them.
    #[must_use]
    pub fn of_main(mut self) -> Self {
        let names_right = |name: &String| name.starts_with(DATASPACE);
        if self.limited.is_empty() && !self.names.iter().any(names_right) {
            self.names.insert(WHOLE_DATASPACE.to_owned());
            self.measure();
        }
        self
    }

    /// Says whether the manifest grants `capability` without a limit.
    pub fn grants(&self, capability: &str) -> bool {
        let mut prefixes = capability
            .match_indices('/')
            .map(|(at, _)| format!("{}/*", &capability[..at]));
        self.names.contains("*")
            || self.names.contains(capability)
            || prefixes.any(|prefix| self.names.contains(&prefix))
    }

    /// Returns how much of a right the manifest grants.
    #[inline]
    pub fn extent(&self, right: Right) -> Extent {
        self.extents[right as usize]
    }

    /// Lists the names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Lists the limited rights.
    pub fn limited(&self) -> impl Iterator<Item = &Limited> {
        self.limited.iter()
    }

    /// Describes each grant for people.
    pub fn grants_shown(&self) -> impl Iterator<Item = String> {
        self.names.iter().cloned().chain(self.limited().map(Limited::to_string))
    }

    fn measure(&mut self) {
        self.extents = Right::ALL.map(|right| {
            if self.grants(right.name()) {
                Extent::Whole
            } else if self.limited.iter().any(|limited| limited.right == right) {
                Extent::Limited
            } else {
                Extent::Nothing
            }
        });
    }
}

impl Limited {
    fn key(&self) -> (Right, &[u8]) {
        (self.right, self.pattern.view().as_bytes())
    }
}

impl std::fmt::Display for Limited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} {:?})", self.right.name(), self.pattern)
    }
}

impl Extend<String> for Manifest {
    fn extend<T: IntoIterator<Item = String>>(&mut self, names: T) {
        self.names.extend(names);
        self.measure();
    }
}

impl FromIterator<String> for Manifest {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        let mut manifest = Self::default();
        manifest.extend(names);
        manifest
    }
}

/// A name that begins like that of a right in the dataspace and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRight(pub String);

impl std::fmt::Display for UnknownRight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = Right::ALL.map(Right::name).join(", ");
        write!(f, "`{}` is none of {known}, {WHOLE_DATASPACE}", self.0)
    }
}

impl std::error::Error for UnknownRight {}

/// The label of a limited right.
const LIMITED: &str = "limited";

/// The names, then the limited rights: `<limited "dataspace/assert" pattern>`.
impl Codec for Manifest {
    fn write(&self, out: &mut PackedWriter) {
        out.open(Compound::Sequence);
        self.names.iter().for_each(|name| Codec::write(name, out));
        for Limited { right, pattern } in &self.limited {
            out.record(LIMITED, |out| {
                Codec::write(&right.name().to_owned(), out);
                Codec::write(pattern, out);
            });
        }
        out.close(Compound::Sequence);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let mut manifest = Self::default();
        for part in Vec::<IOValue>::decode(value)? {
            if !part.is_record() {
                manifest.names.insert(String::decode(&part)?);
                continue;
            }
            let mut fields = Fields::of(&part, LIMITED, 2)?;
            let name: String = fields.read("right")?;
            let right = Right::of_name(&name).ok_or_else(|| DecodeError::kind("a limited right", &part))?;
            manifest.limit(right, fields.read("pattern")?);
        }
        manifest.measure();
        if manifest.encode() == *value {
            Ok(manifest)
        } else {
            Err(DecodeError::kind("a manifest in its order", value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_grants_names_and_prefixes() {
        let manifest = Manifest::of(&["console", "workspace/*", "web/get"]);
        let granted = ["console", "workspace/read", "workspace/a/b", "web/get"];
        let refused = ["consoles", "workspace", "web/put", "*", ""];
        assert_eq!(granted.map(|name| manifest.grants(name)), [true; 4]);
        assert_eq!(refused.map(|name| manifest.grants(name)), [false; 5]);
        assert!(Manifest::of(&["*"]).grants("anything"));
    }

    fn pattern(text: &str) -> Fact {
        Fact::new(text.parse().expect("well formed")).expect("small")
    }

    #[test]
    fn extents_follow_from_names_and_patterns() {
        let mut manifest = Manifest::of(&["dataspace/assert"]);
        manifest.limit(Right::Observe, pattern("<_>"));
        manifest.limit(Right::Assert, pattern("<_>"));
        let extents = |manifest: &Manifest| Right::ALL.map(|right| manifest.extent(right));
        assert_eq!(extents(&manifest), [Extent::Limited, Extent::Whole, Extent::Nothing]);
        for whole in ["*", "dataspace/*"] {
            assert_eq!(extents(&Manifest::of(&[whole])), [Extent::Whole; 3], "{whole}");
        }
        assert_eq!(extents(&Manifest::of(&["console"])), [Extent::Nothing; 3]);
        let read = Manifest::decode(&manifest.encode());
        assert_eq!(read.as_ref(), Ok(&manifest));
    }

    #[test]
    fn a_main_program_has_all_rights_unless_it_names_one() {
        let extents = |manifest: Manifest| Right::ALL.map(|right| manifest.extent(right));
        assert_eq!(extents(Manifest::of(&["console"]).of_main()), [Extent::Whole; 3]);
        let named = Manifest::of(&["dataspace/observe"]).of_main();
        assert_eq!(extents(named), [Extent::Whole, Extent::Nothing, Extent::Nothing]);
        let mut limited = Manifest::default();
        limited.limit(Right::Message, pattern("<_>"));
        assert_eq!(
            extents(limited.of_main()),
            [Extent::Nothing, Extent::Nothing, Extent::Limited]
        );
    }

    #[test]
    fn a_manifest_takes_over_what_another_grants() {
        let mut manifest = Manifest::of(&["console"]);
        manifest.limit(Right::Assert, pattern("<_>"));
        let mut other = Manifest::of(&["dataspace/observe", "web/*"]);
        other.limit(Right::Assert, pattern("<_>"));
        other.limit(Right::Message, pattern("<_>"));
        manifest.add(&other);
        assert!(manifest.grants("console") && manifest.grants("web/get") && !manifest.grants("shell"));
        let extents = Right::ALL.map(|right| manifest.extent(right));
        assert_eq!(extents, [Extent::Whole, Extent::Limited, Extent::Limited]);
        assert_eq!(Manifest::decode(&manifest.encode()).as_ref(), Ok(&manifest));
    }

    #[test]
    fn a_misspelt_right_is_refused() {
        let mut manifest = Manifest::default();
        let refused = manifest
            .grant("dataspace/asert".to_owned())
            .map_err(|unknown| unknown.to_string());
        let expected =
            "`dataspace/asert` is none of dataspace/observe, dataspace/assert, dataspace/message, dataspace/*";
        assert_eq!(refused, Err(expected.to_owned()));
        assert_eq!(manifest.grant("dataspaces/own-tool".to_owned()), Ok(()));
    }
}
