//! A version of a run's program, and its difference from the one before, as data.
//!
//! INVARIANT: a version has all that new computations need of its text, and nothing of an instance.
//! It does not make versions; `change.rs` does. It does not choose the present one; `versions.rs`
//! does. Read next: `versions.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use duet_kernel::code::moves::Moves;
use duet_kernel::core::{CoreId, Unit};
use duet_kernel::datum::Name;
use duet_kernel::expander::{Expander, Libraries};
use duet_kernel::unit::GlobalName;

use super::brought::Brought;
use super::given_values::GivenValues;
use super::shared_definitions::SharedDefinitions;
use super::source::Pinned;
use super::template::LibraryTemplates;
use crate::state::patches::{Patched, Patches};
use crate::turn::program::Patching;

/// A unit and its number in the code space.
#[derive(Clone)]
pub(super) struct LoadedUnit {
    pub(super) unit: Arc<Unit>,
    pub(super) number: usize,
}

impl LoadedUnit {
    pub(super) fn of(unit: &Arc<Unit>, number: usize) -> Self {
        Self {
            unit: Arc::clone(unit),
            number,
        }
    }
}

/// The definitions that entities share, and the number of their unit in the code space.
pub(super) struct LoadedDefinitions {
    pub(super) definitions: SharedDefinitions,
    pub(super) number: usize,
}

impl LoadedDefinitions {
    /// Returns their unit.
    pub(super) fn unit(&self) -> LoadedUnit {
        LoadedUnit::of(&self.definitions.unit, self.number)
    }
}

/// The units of libraries by name.
pub(super) type LibraryUnits = BTreeMap<Name, LoadedUnit>;

/// A version of a program: one of its texts, compiled.
pub(super) struct Version {
    pub(super) expander: Expander,
    /// The units of the main program, in the order of evaluation.
    pub(super) units: Vec<usize>,
    /// The units that entities evaluate at their beginning, by their libraries.
    pub(super) entity_units: BTreeMap<Name, Vec<usize>>,
    /// The sources that evaluated texts may import and include.
    pub(super) sources: Pinned,
    /// What evaluated texts have brought.
    pub(super) brought: Brought,
    /// The units of libraries: those of evaluated texts, too.
    pub(super) library_units: LibraryUnits,
    /// The units with which those of a changed text are compared. The texts determine them,
    /// whatever this process has evaluated.
    pub(super) compared_units: LibraryUnits,
    /// The definitions of the main program that its entities evaluate; `None` if the program has no
    /// roles.
    pub(super) shared: Option<LoadedDefinitions>,
    pub(super) templates: LibraryTemplates,
    /// The difference from the version before.
    pub(super) change: Change,
}

impl Version {
    /// The version of a text of which nothing is loaded yet.
    pub(super) fn of(expander: Expander) -> Self {
        Self {
            expander,
            units: Vec::new(),
            entity_units: BTreeMap::new(),
            sources: Pinned::default(),
            brought: Brought::default(),
            library_units: BTreeMap::new(),
            compared_units: BTreeMap::new(),
            shared: None,
            templates: LibraryTemplates::default(),
            change: Change::default(),
        }
    }

    /// Returns the definitions of the main program that its entities share.
    pub(super) fn shared_definitions(&self) -> Option<&SharedDefinitions> {
        self.shared.as_ref().map(|shared| &shared.definitions)
    }

    /// Returns the number of the unit of these definitions.
    pub(super) fn shared_number(&self) -> Option<usize> {
        self.shared.as_ref().map(|shared| shared.number)
    }
}

/// The versions of a program besides the present one, and the moves from one to another.
///
/// INVARIANT: the texts that were followed lead from the first version over the earlier ones to the
/// present one.
#[derive(Default)]
pub(super) struct Versions {
    /// The earlier ones, the first text's first.
    earlier: Vec<EarlierVersion>,
    /// The changed texts that led to the present one.
    followed: Patches,
    /// Versions that the run has left, the latest last: it may come back.
    left: Vec<LeftVersion>,
    /// The number of versions made so far, in any order.
    made: u64,
}

/// The maximum number of versions that are kept for a run which has left them. Each has the syntax
/// of all libraries.
const LEFT_MAX: usize = 4;

impl Versions {
    /// Returns the versions before the present one, the first text's first.
    pub(super) fn before(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.earlier.iter().map(|earlier| &earlier.version)
    }

    /// Returns the number of the versions before the present one.
    pub(super) fn count_before(&self) -> usize {
        self.earlier.len()
    }

    /// Returns the changed texts that led to the present version.
    pub(super) fn followed(&self) -> &Patches {
        &self.followed
    }

    /// Notes the changed texts that lead to the present version, and returns those before.
    pub(super) fn follow(&mut self, texts: Patches) -> Patches {
        mem::replace(&mut self.followed, texts)
    }

    /// Counts a version that is about to be made, and returns its number.
    pub(super) fn count_made(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Says whether there has been only the first version.
    pub(super) fn is_first_only(&self) -> bool {
        self.made == 0
    }

    /// Makes the next version the present one.
    pub(super) fn go_forward(&mut self, present: &mut Version, next: NextVersion) {
        let compared_alone = mem::replace(&mut present.compared_units, next.compared_before);
        self.earlier.push(EarlierVersion {
            version: mem::replace(present, next.version),
            compared_alone,
        });
    }

    /// Makes the version before the present one again, which `texts` led to. Returns whether there
    /// is one.
    pub(super) fn go_back(&mut self, present: &mut Version, texts: &[Patched]) -> bool {
        let Some(earlier) = self.earlier.pop() else {
            return false;
        };
        let version = mem::replace(present, earlier.version);
        let compared_before = mem::replace(&mut present.compared_units, earlier.compared_alone);
        // Spans name texts by number, whatever version they come from.
        present.expander.set_sources(version.expander.sources().to_vec());
        if self.left.len() == LEFT_MAX {
            self.left.remove(0);
        }
        self.left.push(LeftVersion {
            texts: texts.to_vec(),
            next: NextVersion {
                version,
                compared_before,
            },
        });
        true
    }

    /// Takes the version that changed texts lead to from the present one, if the run has left it
    /// lately.
    pub(super) fn take_left(&mut self, present: &Version, texts: &[Patched]) -> Option<NextVersion> {
        let place = self.left.iter().position(|left| left.texts == texts)?;
        let mut next = self.left.remove(place).next;
        next.version.expander.set_sources(present.expander.sources().to_vec());
        Some(next)
    }
}

/// A version that another follows.
struct EarlierVersion {
    version: Version,
    /// Its `compared_units` when none follows it.
    compared_alone: LibraryUnits,
}

/// A version that can follow the present one.
pub(super) struct NextVersion {
    pub(super) version: Version,
    /// The `compared_units` of the version before, when this one follows it.
    pub(super) compared_before: LibraryUnits,
}

/// A version that a run has left.
struct LeftVersion {
    /// The changed texts that lead to it.
    texts: Vec<Patched>,
    next: NextVersion,
}

/// A new text after expansion.
pub(super) struct NewText<'a> {
    pub(super) expander: Expander,
    pub(super) units: &'a [Arc<Unit>],
    /// Finds libraries that expressions need.
    pub(super) libraries: &'a mut dyn Libraries,
    /// The text, and the turn that brings it.
    pub(super) patched: &'a Patched,
    /// The libraries that both texts have, imported or not, and that may differ in them.
    pub(super) differing: BTreeSet<String>,
    /// The number of its version.
    pub(super) id: u64,
}

/// The difference between a version and the one before.
#[derive(Default)]
pub(super) struct Change {
    /// A number that no other version has had in this process.
    pub(super) id: u64,
    /// The blocks of earlier versions, each with the one that takes its place.
    pub(super) redirects: BTreeMap<usize, usize>,
    /// The blocks of earlier versions whose closures have captured other variables than those of
    /// the procedure that takes their place would.
    pub(super) apart: BTreeSet<usize>,
    /// The units that differ.
    pub(super) units: Vec<ChangedUnit>,
    /// The units of libraries that the text before does not use, in order.
    pub(super) libraries: Vec<usize>,
    /// What becomes of the records of types whose definitions have changed.
    pub(super) migrations: Vec<TypeMigration>,
    /// The units of procedures that raise, in the places of those that know the fields of an old
    /// definition and that the new text does not have.
    pub(super) retired: Vec<usize>,
    /// The units that evaluate what is new and what the person names, in order.
    pub(super) steps: Vec<LoadedUnit>,
    /// The moves of frames from earlier units, by number, as far as somebody has asked; none from
    /// one without core forms.
    pub(super) moves: BTreeMap<usize, Option<Moves>>,
    /// The values that the person gives to variables which frames do not have.
    pub(super) given: GivenValues,
    /// What differs, for people.
    pub(super) listed: Listed,
}

/// A unit that differs from that of its name in the version before.
pub(super) struct ChangedUnit {
    pub(super) name: Name,
    pub(super) number: usize,
    /// The new procedures, each with its block.
    pub(super) added: Vec<(GlobalName, usize)>,
    /// The new definitions of values, by name.
    pub(super) values: Vec<(Name, CoreId)>,
    /// The unit that evaluates those of them that actors besides the main one have.
    pub(super) shared_values: Option<usize>,
}

/// A type whose definition has changed.
pub(super) struct MigratedType {
    /// The global that has the type.
    pub(super) record_type: GlobalName,
    /// The name of the type, for people.
    pub(super) shown: String,
}

/// How the records of a type become those of its new definition.
pub(super) struct TypeMigration {
    /// The global that has the type.
    pub(super) record_type: GlobalName,
    /// The name of the type, for people.
    pub(super) shown: String,
    /// The names of the new fields.
    pub(super) fields: Vec<String>,
    /// The old fields that the procedure takes, by number.
    pub(super) arguments: Vec<usize>,
    /// The expression of the procedure in the new text.
    pub(super) procedure: CoreId,
    /// The unit whose value is the procedure.
    pub(super) unit: usize,
}

/// A form at the top level of the new text that a change does not evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnevaluatedForm {
    /// The name of the definition, or the number of the expression.
    pub name: String,
    /// Where it stands among the forms.
    pub place: TopPlace,
}

/// The place of a form at the top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopPlace {
    /// The library; the program is one of them.
    pub library: Name,
    /// The number of the form among those of the library, from 0.
    pub number: usize,
}

/// What differs between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The procedures whose definitions say something else.
    pub changed: Vec<String>,
    /// The procedures that differ only because other procedures or macros are part of them.
    pub recompiled: Vec<String>,
    /// The new definitions.
    pub added: Vec<String>,
    /// The definitions of values that say something else; the run keeps its values.
    pub data: Vec<UnevaluatedForm>,
    /// The new and changed expressions at the top level, by number; nobody evaluates them.
    pub expressions: Vec<UnevaluatedForm>,
    /// The definitions and expressions that the text does not have any more; the run keeps them.
    pub removed: Vec<String>,
    /// The definitions and expressions that are evaluated because the person names them.
    pub run: Vec<String>,
    /// The record types that have other fields; their records become those of the new definition.
    pub migrated: Vec<String>,
}

impl Listed {
    /// Whether the texts say the same.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Change {
    /// Returns what the record of the turn says.
    pub(super) fn patching(&self) -> Patching {
        let Listed {
            changed,
            recompiled,
            added,
            migrated,
            ..
        } = &self.listed;
        let records = migrated.iter().map(|name| format!("records of {name}"));
        Patching {
            changed: changed.iter().chain(recompiled).cloned().chain(records).collect(),
            added: added.clone(),
            steps: self.steps.len(),
        }
    }
}
