//! The comparison of a changed text with the one before: which procedures take the place of which,
//! which definitions are new, and which forms a person may want evaluated.
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
use duet_kernel::core::alignment::Alignment;
use duet_kernel::core::forms::{FormKind, TopForm};
use duet_kernel::core::{CoreId, Unit};
use duet_kernel::datum::Name;
use duet_kernel::unit::{CompiledUnit, GlobalName};

use super::apart::refused;
use super::comparison::{Comparison, has_wanted, unnamed};
use super::entity::PROGRAM;
use super::given_values::GivenValues;
use super::programs::SchemePrograms;
use super::shared_definitions::SharedDefinitions;
use super::version::{Change, ChangedUnit, LibraryUnits, LoadedDefinitions, LoadedUnit, NewText, Version};
use crate::model::failure::Failure;

/// Adds the units of libraries that have none yet and are `wanted`.
fn add_missing(units: &mut LibraryUnits, others: &LibraryUnits, wanted: impl Fn(&Name) -> bool) {
    for (name, known) in others.iter().filter(|(name, _)| wanted(name)) {
        units.entry(name.clone()).or_insert_with(|| known.clone());
    }
}

/// A unit of the new text with what the comparison needs of it.
pub(super) struct NewUnit<'a> {
    pub(super) unit: &'a Arc<Unit>,
    compiled: CompiledUnit,
    procedures: Vec<Procedure>,
    /// The expressions of those that take the place of earlier ones.
    pub(super) successors: BTreeSet<CoreId>,
    /// Its forms as those of the present unit.
    pub(super) alignment: Alignment,
    /// Its number, once it is loaded.
    loaded: usize,
}

impl SchemePrograms {
    /// Compares the units of a new text with those of the present version, loads them, and makes
    /// the next version of them.
    pub(super) fn change_to(&mut self, mut text: NewText<'_>) -> Result<Version, Failure> {
        let besides = self.units_besides_the_text(&mut text)?;
        let NewText {
            mut expander,
            units,
            libraries,
            patched,
            id,
            differing,
        } = text;
        let mut change = Change {
            id,
            given: GivenValues::read(&patched.text.values)?,
            ..Change::default()
        };
        // Code of libraries that this text does not import may be in use, too.
        let is_absent = |block: usize| {
            let loaded = self.code.unit_at(self.code.block(block).start);
            loaded.is_some_and(|loaded| units.iter().chain(&besides).all(|unit| unit.name != loaded.name))
        };
        let before = self
            .present
            .change
            .redirects
            .iter()
            .filter(|(from, _)| is_absent(**from));
        change.redirects.extend(before.map(|(from, to)| (*from, *to)));
        let mut wanted: BTreeSet<String> = patched.text.run.iter().cloned().collect();
        let mut version_units = Vec::new();
        let mut compared_units = BTreeMap::new();
        for unit in &besides {
            let number = self.load_changed(unit, &mut change, &mut wanted)?;
            compared_units.insert(unit.name.clone(), LoadedUnit::of(unit, number));
        }
        for unit in units {
            let number = self.load_changed(unit, &mut change, &mut wanted)?;
            version_units.push(number);
            let is_known = |known: &usize| self.code.units()[*known].name == unit.name;
            if unit.name.as_str() != PROGRAM && !self.present.units.iter().any(is_known) {
                change.libraries.push(number);
            }
            compared_units.insert(unit.name.clone(), LoadedUnit::of(unit, number));
        }
        if let Some(name) = wanted.first() {
            let message = format!("nothing that differs in the new text is called {name}");
            return Err(refused(message));
        }
        self.compile_given(&mut change, &compared_units, &mut expander, libraries)?;
        let numbers: Vec<usize> = compared_units.values().map(|loaded| loaded.number).collect();
        // A library that may differ and was not compared has another unit in the new text.
        add_missing(&mut compared_units, &self.present.compared_units, |name| {
            !differing.contains(name.as_str())
        });
        let mut library_units = compared_units.clone();
        add_missing(&mut library_units, &self.present.library_units, |_| true);
        let shared = self.load_shared(units, &mut change)?;
        let definitions = shared.as_ref().map(|shared| &shared.definitions);
        self.load_shared_values(&mut change, &compared_units, definitions)?;
        self.keep_retired(&mut change, &numbers);
        Ok(Version {
            units: version_units,
            library_units,
            compared_units,
            shared,
            change,
            ..Version::of(expander)
        })
    }

    /// Loads the definitions that the entities of a program share, if there are any.
    fn load_shared(&mut self, units: &[Arc<Unit>], change: &mut Change) -> Result<Option<LoadedDefinitions>, Failure> {
        let program = units.last().filter(|unit| unit.name.as_str() == PROGRAM);
        let definitions = program.and_then(|program| SharedDefinitions::of(program, units, &self.code));
        let Some(definitions) = definitions else {
            return Ok(None);
        };
        let compiled = self.compile_unit(&definitions.unit)?;
        let number = self.load_compiled(&compiled)?;
        // An earlier text may have had the same definitions. They are the present ones, and an
        // entity that begins has the literals of no other unit of the program.
        let first = self.code.block_number(number, 0);
        let own = first..first + compiled.blocks.len();
        change.redirects.retain(|from, _| !own.contains(from));
        Ok(Some(LoadedDefinitions { definitions, number }))
    }

    /// Loads what evaluates the new definitions of values in actors besides the main one.
    fn load_shared_values(
        &mut self,
        change: &mut Change,
        units: &LibraryUnits,
        shared: Option<&SharedDefinitions>,
    ) -> Result<(), Failure> {
        for changed in &mut change.units {
            let is_program = changed.name.as_str() == PROGRAM;
            let is_shared = |name: &Name| !is_program || shared.is_some_and(|shared| shared.has(name));
            let values = changed.values.iter().filter(|(name, _)| is_shared(name));
            let values: Vec<CoreId> = values.map(|(_, node)| *node).collect();
            if let Some(loaded) = units.get(&changed.name).filter(|_| !values.is_empty()) {
                changed.shared_values = Some(self.load_later(&loaded.unit.with_forms(&values))?);
            }
        }
        Ok(())
    }

    /// Loads a unit for the instances that take it on.
    pub(super) fn load_later(&mut self, unit: &Unit) -> Result<usize, Failure> {
        let compiled = self.compile_unit(unit)?;
        self.load_compiled(&compiled)
    }

    fn compile_unit(&self, unit: &Unit) -> Result<CompiledUnit, Failure> {
        compile(unit, &self.code).map_err(|error| Failure::new("syntax-error", error.to_string()))
    }

    pub(super) fn load_compiled(&mut self, compiled: &CompiledUnit) -> Result<usize, Failure> {
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
        let Some(present) = self.present.compared_units.get(&unit.name).cloned() else {
            return self.load_compiled(&new.compiled);
        };
        let number = present.number;
        let is_same =
            |code: &SchemePrograms, compiled: &CompiledUnit| code.code.units()[number].hash == compiled.hash();
        if unit.compiled.is_some() {
            return self.load_compiled(&new.compiled);
        }
        let was_same = is_same(self, &new.compiled);
        let pairs = self.successors_of(&mut new, number, &mut change.apart)?;
        let is_same = was_same || is_same(self, &new.compiled);
        let loaded = if is_same {
            number
        } else {
            self.load_compiled(&new.compiled)?
        };
        let of_unit = |(block, inner): (usize, usize)| (block, self.code.block_number(loaded, inner));
        let redirects: Vec<_> = pairs.into_iter().map(of_unit).filter(|(from, to)| from != to).collect();
        let is_wanted = has_wanted(unit, wanted);
        if is_same && redirects.is_empty() && !is_wanted {
            return Ok(loaded);
        }
        // Code of still earlier texts may be in use, also if this text leaves the unit as it is.
        change.redirects.extend(redirects);
        if is_same && !is_wanted {
            let name = unit.name.clone();
            change.units.push(ChangedUnit {
                name,
                number: loaded,
                added: Vec::new(),
                values: Vec::new(),
                shared_values: None,
            });
            return Ok(loaded);
        }
        new.loaded = loaded;
        let known = change.migrations.len();
        let nodes = self.compare(&present.unit, &new, change, wanted)?;
        for number in known..change.migrations.len() {
            let record_type = change.migrations[number].record_type.clone();
            self.retire_readers(loaded, &record_type, change)?;
            let procedure = unit.with_forms(&[change.migrations[number].procedure]);
            change.migrations[number].unit = self.load_later(&procedure)?;
        }
        if !nodes.is_empty() {
            let step = unit.with_forms(&nodes);
            let number = self.load_later(&step)?;
            change.steps.push(LoadedUnit::of(&Arc::new(step), number));
        }
        Ok(loaded)
    }

    fn new_unit<'a>(&self, unit: &'a Arc<Unit>) -> Result<NewUnit<'a>, Failure> {
        let (compiled, procedures) = self.compiled_procedures(unit)?;
        Ok(NewUnit {
            unit,
            compiled,
            procedures,
            successors: BTreeSet::new(),
            alignment: Alignment::default(),
            loaded: 0,
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
    /// the new unit succeed. The frames of these become large enough for both. Those whose closures
    /// have captured other variables are set apart.
    fn successors_of(
        &self,
        new: &mut NewUnit<'_>,
        present: usize,
        apart: &mut BTreeSet<usize>,
    ) -> Result<Vec<(usize, usize)>, Failure> {
        let forms: BTreeMap<usize, Option<CoreId>> = new
            .procedures
            .iter()
            .map(|procedure| (procedure.block, procedure.form))
            .collect();
        let mut pairs = Vec::new();
        for LoadedUnit { unit, number } in self.earlier_units(&new.unit.name) {
            let (_, before) = self.compiled_procedures(&unit)?;
            let alignment = Alignment::of(&unit, new.unit);
            for found in successors(&before, &new.procedures, &alignment) {
                let (old, inner) = (self.code.block_number(number, found.old), found.new);
                if !found.is_alike {
                    apart.insert(old);
                    continue;
                }
                let block = &mut new.compiled.blocks[inner];
                // A frame of the old code may call itself through a closure that has the new code.
                block.frame_size = block.frame_size.max(self.code.block(old).frame_size);
                new.successors.extend(forms.get(&inner).copied().flatten());
                pairs.push((old, inner));
            }
            if number == present {
                new.alignment = alignment;
            }
        }
        Ok(pairs)
    }

    /// Lists the units of a name that the versions up to the present one have, with all that were
    /// made of parts of them.
    pub(super) fn earlier_units(&self, name: &Name) -> Vec<LoadedUnit> {
        let mut found: Vec<LoadedUnit> = Vec::new();
        let is_program = name.as_str() == PROGRAM;
        for version in self.versions.before().chain([&self.present]) {
            let known = version.compared_units.get(name).cloned();
            let shared = version.shared.as_ref().filter(|_| is_program);
            let shared = shared.map(LoadedDefinitions::unit);
            let steps = version.change.steps.iter().filter(|step| step.unit.name == *name);
            for one in known.into_iter().chain(shared).chain(steps.cloned()) {
                if found.iter().all(|known| known.number != one.number) {
                    found.push(one);
                }
            }
        }
        found
    }

    /// Compares the forms of two units of a name; returns those of the new one to be evaluated.
    fn compare(
        &self,
        present: &Unit,
        new: &NewUnit<'_>,
        change: &mut Change,
        wanted: &mut BTreeSet<String>,
    ) -> Result<Vec<CoreId>, Failure> {
        let (before, now) = (present.top_forms(), new.unit.top_forms());
        let mut comparison = Comparison {
            library: &new.unit.name,
            before: &before,
            unseen: unnamed(&before),
            expressions: 0,
            added: Vec::new(),
            nodes: Vec::new(),
            values: Vec::new(),
            change,
            wanted,
            texts: (present, new),
        };
        comparison.require_migrations_used(&now)?;
        for (number, form) in now.iter().enumerate() {
            match (&form.kind, form.name()) {
                (FormKind::Procedure(_), Some(name)) => {
                    self.compare_procedure(&mut comparison, (present, new), name, form)
                }
                (_, Some(name)) => comparison.value(name, form, number)?,
                (FormKind::Migration(_), None) => {}
                (_, None) => comparison.expression(form, number),
            }
        }
        let is_gone = |form: &&TopForm| {
            form.name()
                .is_some_and(|name| now.iter().all(|other| other.name() != Some(name)))
        };
        let gone = before.iter().filter(is_gone).filter_map(TopForm::name);
        let mut gone: Vec<String> = gone.map(|name| comparison.shown(name.as_str())).collect();
        let unseen = comparison.unseen.iter();
        gone.extend(unseen.map(|form| format!("expression {}", comparison.shown(&form.number.to_string()))));
        let Comparison {
            added,
            nodes,
            values,
            change,
            ..
        } = comparison;
        change.listed.removed.extend(gone);
        change.units.push(ChangedUnit {
            name: new.unit.name.clone(),
            number: new.loaded,
            added,
            values,
            shared_values: None,
        });
        Ok(nodes)
    }

    fn compare_procedure(
        &self,
        comparison: &mut Comparison<'_>,
        units: (&Unit, &NewUnit<'_>),
        name: &Name,
        form: &TopForm,
    ) {
        let (present, new) = units;
        let shown = comparison.shown(name.as_str());
        let old = comparison.find(name);
        let was_procedure = old.is_some_and(|old| matches!(old.kind, FormKind::Procedure(_)));
        let says_another = old.is_none_or(|old| old.digest != form.digest);
        let listed = &mut comparison.change.listed;
        match (old, says_another) {
            (None, _) => listed.added.push(shown),
            (Some(_), true) => listed.changed.push(shown),
            (Some(_), false) if self.makes_another(present, new, name) => listed.recompiled.push(shown),
            (Some(_), false) => {}
        }
        if !was_procedure {
            comparison.added.extend(self.definition(new, name));
        }
    }

    /// Whether the compiler makes something else of a procedure whose definition says the same.
    fn makes_another(&self, present: &Unit, new: &NewUnit<'_>, name: &Name) -> bool {
        let present_number = self
            .present
            .compared_units
            .get(&present.name)
            .map_or(new.loaded, |loaded| loaded.number);
        let Ok((_, before)) = self.compiled_procedures(present) else {
            return false;
        };
        let fingerprint = |number: usize, procedures: &[Procedure]| {
            let mut procedures = procedures.iter();
            let found = procedures.find(|procedure| procedure.definition() == Some(name.as_str()))?;
            let block = self.code.block(self.code.block_number(number, found.block));
            self.code.fingerprint(block.start).map(|fingerprint| fingerprint.hash)
        };
        fingerprint(present_number, &before) != fingerprint(new.loaded, &new.procedures)
    }

    /// The block of the procedure that a definition makes.
    fn definition(&self, new: &NewUnit<'_>, name: &Name) -> Option<(GlobalName, usize)> {
        let mut procedures = new.procedures.iter();
        let found = procedures.find(|procedure| procedure.definition() == Some(name.as_str()))?;
        let global = GlobalName {
            library: new.unit.name.clone(),
            name: name.clone(),
        };
        Some((global, self.code.block_number(new.loaded, found.block)))
    }
}
