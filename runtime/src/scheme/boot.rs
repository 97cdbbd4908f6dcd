//! The beginning of an actor's program: its units one after the other, then its entity's procedure.
//!
//! INVARIANT: an actor that begins from a template equals one that has evaluated its units.
//! It does not make templates; `template.rs` does.
//! Read next: `template.rs`, `execution.rs`.

use std::collections::BTreeSet;

use duet_kernel::datum::Name;
use duet_kernel::expander::Requirement;
use duet_kernel::heap::Register;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::convert;
use super::grants::covers;
use super::programs::{Fault, SchemePrograms};
use super::template::THE_ENTITY;
use super::version::LoadedUnit;
use crate::model::failure::Failure;
use crate::turn::activation::Activation;

impl SchemePrograms {
    /// Lists the units that the entities of a library, or of the main program, need, in the order
    /// of the program's units; then the main program's definitions; then those that a text has
    /// brought since, in the order in which they were loaded.
    pub(super) fn units_for(&self, library: &Name) -> Vec<usize> {
        let mut needed = BTreeSet::new();
        let mut rest = vec![library.clone()];
        while let Some(name) = rest.pop() {
            let Some(LoadedUnit { unit, number }) = self.defining_unit(&name) else {
                continue;
            };
            if needed.insert(number) {
                rest.extend(unit.globals.iter().map(|global| global.name.library.clone()));
            }
        }
        let of_program = self.present.units.iter().copied().filter(|unit| needed.contains(unit));
        let others = needed.iter().copied().filter(|unit| !self.present.units.contains(unit));
        of_program.chain(others).collect()
    }

    /// Starts an actor's program: its first unit, or its entity's procedure if a template replaces
    /// the units. Returns whether there is anything to run.
    pub(super) fn begin_program(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<bool, Fault> {
        let instance = &mut actor.instance;
        let mut pending = Vec::new();
        match &actor.entity {
            None => {
                for &unit in &self.present.units {
                    pending.push(instance.unit_procedure(&self.code, unit)?);
                }
            }
            Some(entity) => {
                let library = entity.name().library;
                let units = self.units_for(&library);
                let shared = self.present.shared_number();
                // Texts brought these units, and no template has them.
                let is_brought = |unit: &usize| !self.present.units.contains(unit) && Some(*unit) != shared;
                let brought: Vec<usize> = units.iter().copied().filter(is_brought).collect();
                for unit in &brought {
                    instance.link_apart(&self.code, *unit)?;
                }
                let is_watched = self.profile.is_some() || self.observation.is_some() || !brought.is_empty();
                if !is_watched && self.present.templates.start(instance, &library, &units, turn.fuel()) {
                    return Ok(self.start_entity(actor)? || self.start_next(actor, turn)?);
                }
                for unit in units {
                    if self.present.change.id > 0 {
                        // The units of a changed text are for the instances that need them.
                        instance.link_apart(&self.code, unit)?;
                    }
                    pending.push(instance.unit_procedure(&self.code, unit)?);
                }
                pending.push(THE_ENTITY);
            }
        }
        let pending = instance.heap.list(&pending, Value::NIL)?;
        instance.heap.set_register(Register::Runtime0, pending);
        self.start_next(actor, turn)
    }

    /// Returns the failure of an entity whose library needs a capability that the entity does not
    /// have, if that is so.
    pub(super) fn missing_requirement(&self, actor: &SchemeActor, turn: &Activation) -> Option<Failure> {
        let library = actor.entity.as_ref()?.name().library;
        let needs = self.present.expander.requirements(&library);
        let manifest = (!needs.is_empty()).then(|| turn.manifest())?;
        let missing = needs.iter().find(|need| !covers(&manifest, need.capability.as_str()))?;
        let Requirement { module, capability } = missing;
        let message = format!("{module} needs the capability `{capability}`, which was not granted");
        Some(Failure::new("capability-denied", message))
    }

    /// Starts the next part of a main program: its next unit, and after the last one the procedure
    /// that saves open files and ends the program. Returns whether there is one.
    pub(super) fn start_next(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<bool, Fault> {
        if self.start_next_unit(actor, turn)? {
            return Ok(true);
        }
        let instance = &mut actor.instance;
        let is_over = instance.heap.register(Register::Runtime0) != Value::NIL;
        match self.port_procedure(instance, "%end-program") {
            Some(end) if !is_over => {
                instance.heap.set_register(Register::Runtime0, Value::FALSE);
                self.machine.start(instance, end, &[]);
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Starts the next unit of the actor's program, or the entity's procedure, which comes last.
    fn start_next_unit(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<bool, Fault> {
        let instance = &mut actor.instance;
        let pending = instance.heap.register(Register::Runtime0);
        if !pending.is_pair() {
            return Ok(false);
        }
        let (unit, rest) = (instance.heap.car(pending), instance.heap.cdr(pending));
        instance.heap.set_register(Register::Runtime0, rest);
        if unit != THE_ENTITY {
            self.machine.start(instance, unit, &[]);
            return Ok(true);
        }
        let fuel = *turn.fuel();
        self.move_objects(&mut instance.heap, |programs, heap| {
            programs.present.templates.keep(heap, &programs.code, fuel);
        });
        self.start_entity(actor)
    }

    /// Starts the procedure of the actor's entity.
    fn start_entity(&mut self, actor: &mut SchemeActor) -> Result<bool, Fault> {
        let instance = &mut actor.instance;
        let Some(entity) = &actor.entity else { return Ok(false) };
        let Some(procedure) = instance.global(&self.code, &entity.name()) else {
            return Ok(false);
        };
        let config = convert::enter(&mut instance.heap, &entity.config).map_err(|_| Fault)?;
        self.machine.start(instance, procedure, &[config]);
        Ok(true)
    }
}
