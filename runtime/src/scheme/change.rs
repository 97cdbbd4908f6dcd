//! What a changed text changes: which procedures take the place of which, what is new, and what a
//! person may want evaluated.
//!
//! The comparison is by top-level form after expansion, and of procedures also by what the compiler
//! makes of them, because it puts small procedures into others.
//! INVARIANT: nothing that a program has computed is computed again unless the person names it.
//! It does not touch instances; `renewal.rs` does.
//! Read next: `renewal.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use duet_kernel::code::versions::{Procedure, procedures, successors};
use duet_kernel::compiler::{compile, variables_of};
use duet_kernel::core::forms::{FormKind, TopForm};
use duet_kernel::core::{CoreId, Unit};
use duet_kernel::datum::{Name, Span};
use duet_kernel::expander::Expander;
use duet_kernel::unit::{CompiledUnit, GlobalName};

use super::entity::PROGRAM;
use super::programs::SchemePrograms;
use super::shared_definitions::SharedDefinitions;
use super::source::Pinned;
use super::template::LibraryTemplates;
use super::versions::Version;
use crate::model::failure::Failure;
use crate::state::patches::Patched;
use crate::turn::program::Patching;

/// The difference between a version and the one before.
#[derive(Default)]
pub(super) struct Change {
    /// A number that no other version has had in this process.
    pub(super) id: u64,
    /// The blocks of earlier versions, each with the one that takes its place.
    pub(super) redirects: BTreeMap<usize, usize>,
    /// The units that differ.
    pub(super) units: Vec<ChangedUnit>,
    /// The units that evaluate what is new and what the person names, in order.
    pub(super) steps: Vec<(Arc<Unit>, usize)>,
    /// What differs, for people.
    pub(super) listed: Listed,
}

/// A unit that differs from that of its name in the version before.
pub(super) struct ChangedUnit {
    pub(super) name: Name,
    pub(super) number: usize,
    /// The new procedures, each with its block.
    pub(super) added: Vec<(GlobalName, usize)>,
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
    pub data: Vec<String>,
    /// The new and changed expressions at the top level, by number; nobody evaluates them.
    pub expressions: Vec<(String, Span)>,
    /// The definitions that the text does not have any more; the run keeps them.
    pub removed: Vec<String>,
    /// The definitions and expressions that are evaluated because the person names them.
    pub run: Vec<String>,
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
            ..
        } = &self.listed;
        Patching {
            changed: changed.iter().chain(recompiled).cloned().collect(),
            added: added.clone(),
            steps: self.steps.len(),
        }
    }
}

/// A unit of the new text with what the comparison needs of it.
struct NewUnit<'a> {
    unit: &'a Arc<Unit>,
    compiled: CompiledUnit,
    procedures: Vec<Procedure>,
}

impl SchemePrograms {
    /// Compares the units of a new text with those of the present version, loads them, and makes
    /// the next version of them.
    pub(super) fn change_to(
        &mut self,
        (expander, sources): (Expander, Pinned),
        units: &[Arc<Unit>],
        (patched, id): (&Patched, u64),
    ) -> Result<Version, Failure> {
        let mut change = Change {
            id,
            ..Change::default()
        };
        let mut wanted: BTreeSet<String> = patched.text.run.iter().cloned().collect();
        let mut version_units = Vec::new();
        let mut library_units = BTreeMap::new();
        for unit in units {
            let number = self.load_changed(unit, &mut change, &mut wanted)?;
            version_units.push(number);
            library_units.insert(unit.name.clone(), (Arc::clone(unit), number));
        }
        if let Some(name) = wanted.first() {
            let message = format!("nothing that differs in the new text is called {name}");
            return Err(Failure::new("patch-refused", message));
        }
        for (name, known) in &self.library_units {
            library_units.entry(name.clone()).or_insert_with(|| known.clone());
        }
        let program = units.last().filter(|unit| unit.name.as_str() == PROGRAM);
        let shared = program.and_then(|program| SharedDefinitions::of(program, units, &self.code));
        let shared = match shared {
            Some(shared) => {
                let number = self.load_later(&shared.unit)?;
                Some((shared, number))
            }
            None => None,
        };
        Ok(Version {
            expander,
            units: version_units,
            entity_units: BTreeMap::new(),
            sources,
            library_units,
            shared,
            templates: LibraryTemplates::default(),
            change,
        })
    }

    /// Loads a unit for the instances that take it on.
    fn load_later(&mut self, unit: &Unit) -> Result<usize, Failure> {
        let compiled = compile(unit, &self.code).map_err(|error| Failure::new("syntax-error", error.to_string()))?;
        self.load_compiled(&compiled)
    }

    fn load_compiled(&mut self, compiled: &CompiledUnit) -> Result<usize, Failure> {
        let loaded = self.code.load_apart(compiled);
        loaded.map_err(|error| Failure::new("out-of-memory", error.to_string()))
    }

    /// Loads a unit of a new text, and notes how it differs from the present one of its name.
    fn load_changed(
        &mut self,
        unit: &Arc<Unit>,
        change: &mut Change,
        wanted: &mut BTreeSet<String>,
    ) -> Result<usize, Failure> {
        let mut new = self.new_unit(unit)?;
        let Some((present, number)) = self.library_units.get(&unit.name).cloned() else {
            return self.load_compiled(&new.compiled);
        };
        let is_same =
            |code: &SchemePrograms, compiled: &CompiledUnit| code.code.units()[number].hash == compiled.hash();
        if unit.compiled.is_some() || is_same(self, &new.compiled) {
            return self.load_compiled(&new.compiled);
        }
        let pairs = self.successors_of(&mut new)?;
        if is_same(self, &new.compiled) {
            return Ok(number);
        }
        let loaded = self.load_compiled(&new.compiled)?;
        let of_unit = |(block, inner): (usize, usize)| (block, self.code.block_number(loaded, inner));
        let redirects: Vec<_> = pairs.into_iter().map(of_unit).filter(|(from, to)| from != to).collect();
        change.redirects.extend(redirects);
        let nodes = self.compare(&present, &new, loaded, change, wanted)?;
        if !nodes.is_empty() {
            let step = unit.with_forms(&nodes);
            let number = self.load_later(&step)?;
            change.steps.push((Arc::new(step), number));
        }
        Ok(loaded)
    }

    fn new_unit<'a>(&self, unit: &'a Arc<Unit>) -> Result<NewUnit<'a>, Failure> {
        let (compiled, procedures) = self.compiled_procedures(unit)?;
        Ok(NewUnit {
            unit,
            compiled,
            procedures,
        })
    }

    pub(super) fn compiled_procedures(&self, unit: &Unit) -> Result<(CompiledUnit, Vec<Procedure>), Failure> {
        let failed = |error: duet_kernel::compiler::CompileError| Failure::new("syntax-error", error.to_string());
        let compiled = compile(unit, &self.code).map_err(failed)?;
        let variables = variables_of(unit, &self.code).map_err(failed)?;
        let procedures = variables.map_or_else(Vec::new, |variables| procedures(&compiled, &variables));
        Ok((compiled, procedures))
    }

    /// Finds the blocks of earlier units, by their numbers in the code space, to which blocks of
    /// the new unit succeed. The frames of these become large enough for both.
    fn successors_of(&self, new: &mut NewUnit<'_>) -> Result<Vec<(usize, usize)>, Failure> {
        let mut pairs = Vec::new();
        for (unit, number) in self.earlier_units(&new.unit.name) {
            let (_, before) = self.compiled_procedures(&unit)?;
            for (old, inner) in successors(&before, &new.procedures) {
                let old = self.code.block_number(number, old);
                let block = &mut new.compiled.blocks[inner];
                // A frame of the old code may call itself through a closure that has the new code.
                block.frame_size = block.frame_size.max(self.code.block(old).frame_size);
                pairs.push((old, inner));
            }
        }
        Ok(pairs)
    }

    /// Lists the units of a name that the versions up to the present one have, with all that were
    /// made of parts of them.
    pub(super) fn earlier_units(&self, name: &Name) -> Vec<(Arc<Unit>, usize)> {
        let mut found: Vec<(Arc<Unit>, usize)> = Vec::new();
        let mut add =
            |known: Option<&(Arc<Unit>, usize)>, shared: &Option<(SharedDefinitions, usize)>, change: &Change| {
                let shared = shared.as_ref().filter(|_| name.as_str() == PROGRAM);
                let shared = shared.map(|(shared, number)| (Arc::clone(&shared.unit), *number));
                let steps = change.steps.iter().filter(|(unit, _)| unit.name == *name).cloned();
                for one in known.cloned().into_iter().chain(shared).chain(steps) {
                    if found.iter().all(|(_, number)| *number != one.1) {
                        found.push(one);
                    }
                }
            };
        for version in &self.versions.earlier {
            add(version.library_units.get(name), &version.shared, &version.change);
        }
        add(self.library_units.get(name), &self.shared, &self.change);
        found
    }

    /// Compares the forms of two units of a name; returns those of the new one to be evaluated.
    fn compare(
        &self,
        present: &Unit,
        new: &NewUnit<'_>,
        loaded: usize,
        change: &mut Change,
        wanted: &mut BTreeSet<String>,
    ) -> Result<Vec<CoreId>, Failure> {
        let (before, now) = (present.top_forms(), new.unit.top_forms());
        let comparison = Comparison {
            library: &new.unit.name,
            before: &before,
        };
        let mut changed_unit = ChangedUnit {
            name: new.unit.name.clone(),
            number: loaded,
            added: Vec::new(),
        };
        let mut nodes = Vec::new();
        let mut unseen = comparison.expressions();
        let mut expressions = 0;
        for form in &now {
            let listed = &mut change.listed;
            let Some(name) = form.name() else {
                expressions += 1;
                if let Some(place) = unseen.iter().position(|digest| *digest == form.digest) {
                    unseen.swap_remove(place);
                    continue;
                }
                let shown = comparison.shown(&expressions.to_string());
                if wanted.remove(&shown) {
                    listed.run.push(format!("expression {shown}"));
                    nodes.push(form.node);
                } else {
                    listed.expressions.push((shown, form.span));
                }
                continue;
            };
            let shown = comparison.shown(name.as_str());
            let old = comparison.find(name);
            match (&form.kind, old) {
                (FormKind::Procedure(_), Some(old)) if matches!(old.kind, FormKind::Procedure(_)) => {
                    if old.digest != form.digest {
                        listed.changed.push(shown);
                    } else if self.makes_another(present, new, loaded, name) {
                        listed.recompiled.push(shown);
                    }
                }
                (FormKind::Procedure(_), old) => {
                    let list = if old.is_some() {
                        &mut listed.changed
                    } else {
                        &mut listed.added
                    };
                    list.push(shown);
                    changed_unit.added.extend(self.definition(new, loaded, name));
                }
                (_, None) => {
                    listed.added.push(shown);
                    nodes.push(form.node);
                }
                (_, Some(old)) if old.digest == form.digest => {
                    if wanted.remove(&shown) {
                        listed.run.push(shown);
                        nodes.push(form.node);
                    }
                }
                (kind, Some(_)) => {
                    if wanted.remove(&shown) {
                        listed.run.push(shown);
                        nodes.push(form.node);
                    } else if let FormKind::RecordType(_) = kind {
                        return Err(another_type(&shown));
                    } else {
                        listed.data.push(shown);
                    }
                }
            }
        }
        let is_gone = |form: &&TopForm| {
            form.name()
                .is_some_and(|name| now.iter().all(|other| other.name() != Some(name)))
        };
        let gone = before.iter().filter(is_gone).filter_map(TopForm::name);
        change
            .listed
            .removed
            .extend(gone.map(|name| comparison.shown(name.as_str())));
        change.units.push(changed_unit);
        Ok(nodes)
    }

    /// Whether the compiler makes something else of a procedure whose definition says the same.
    fn makes_another(&self, present: &Unit, new: &NewUnit<'_>, loaded: usize, name: &Name) -> bool {
        let present_number = self
            .library_units
            .get(&present.name)
            .map_or(loaded, |(_, number)| *number);
        let Ok((_, before)) = self.compiled_procedures(present) else {
            return false;
        };
        let fingerprint = |number: usize, procedures: &[Procedure]| {
            let mut procedures = procedures.iter();
            let found = procedures.find(|procedure| procedure.definition() == Some(name.as_str()))?;
            let block = self.code.block(self.code.block_number(number, found.block));
            self.code.fingerprint(block.start).map(|fingerprint| fingerprint.hash)
        };
        fingerprint(present_number, &before) != fingerprint(loaded, &new.procedures)
    }

    /// The block of the procedure that a definition makes.
    fn definition(&self, new: &NewUnit<'_>, loaded: usize, name: &Name) -> Option<(GlobalName, usize)> {
        let mut procedures = new.procedures.iter();
        let found = procedures.find(|procedure| procedure.definition() == Some(name.as_str()))?;
        let global = GlobalName {
            library: new.unit.name.clone(),
            name: name.clone(),
        };
        Some((global, self.code.block_number(loaded, found.block)))
    }
}

/// The refusal to keep the values of a type that says something else.
fn another_type(name: &str) -> Failure {
    let message = format!(
        "the records of type {name} that the run has made do not have the fields of the new text; with `--run {name}` \
         the run makes another type of that name, and its procedures refuse the records that it has made before"
    );
    Failure::new("patch-refused", message)
}

/// The forms of a unit before it changes.
struct Comparison<'a> {
    library: &'a Name,
    before: &'a [TopForm],
}

impl Comparison<'_> {
    /// A name or a number of the unit for people.
    fn shown(&self, name: &str) -> String {
        if self.library.as_str() == PROGRAM {
            name.to_owned()
        } else {
            format!("{name} of {}", self.library)
        }
    }

    fn find(&self, name: &Name) -> Option<&TopForm> {
        self.before.iter().find(|form| form.name() == Some(name))
    }

    fn expressions(&self) -> Vec<[u8; 32]> {
        let expressions = self.before.iter().filter(|form| form.name().is_none());
        expressions.map(|form| form.digest).collect()
    }
}
