//! How an actor's program begins: unit by unit, or where others of its library stood after theirs.
//!
//! An entity evaluates the units of its library before its procedure is called. Where these only define, which is the rule, all entities of the library
//! stand at the same point then, and only the first gets there by evaluation: the others, and it too, go on from a template of its heap, which they share.
//! INVARIANT: an entity that begins with a template does what it would have done without: the units asked the turn for nothing, and the fuel
//! that they took is taken.
//! It does not choose the units; `scheme/entity.rs` does.
//! Read next: the kernel's `heap/rest.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::heap::{Register, Template};
use duet_kernel::machine::Instance;
use duet_kernel::value::Value;

use super::{Fault, SchemeBody, SchemePrograms, convert, entity};
use crate::activation::Activation;

/// Stands for the entity's procedure among the procedures of the units.
const THE_ENTITY: Value = Value::TRUE;

/// What was kept of entities that have begun, by their libraries.
#[derive(Default)]
pub(super) struct Beginnings {
    pub(super) known: BTreeMap<Name, Beginning>,
    /// The entity that evaluates its units at present, if they have asked for nothing so far.
    present: Option<Present>,
}

pub(super) struct Beginning {
    units: Vec<usize>,
    template: Arc<Template>,
    /// What the units took.
    fuel: u64,
}

struct Present {
    library: Name,
    units: Vec<usize>,
    /// What there was when it began.
    fuel: u64,
}

impl Beginnings {
    /// Lets a new instance begin where others of its library did, and says whether it could; else watches what its units do.
    pub(super) fn start(
        &mut self,
        instance: &mut Instance,
        (library, units): (&Name, &[usize]),
        fuel: &mut u64,
    ) -> bool {
        let known = self.known.get(library).filter(|known| known.units == units);
        if let Some(known) = known {
            // With too little fuel it must stop where it would have.
            let starts = known.fuel < *fuel && instance.heap.start_from(&known.template);
            if starts {
                *fuel -= known.fuel;
            }
            return starts;
        }
        self.present = Some(Present {
            library: library.clone(),
            units: units.to_vec(),
            fuel: *fuel,
        });
        false
    }

    /// Forgets the entity that begins: it did more than evaluate units.
    pub(super) fn give_up(&mut self) {
        self.present = None;
    }

    /// Keeps what an instance has come to whose units have all been evaluated, if that is all they did.
    pub(super) fn keep(&mut self, instance: &mut Instance, code: &CodeSpace, fuel: u64) {
        let Some(Present {
            library,
            units,
            fuel: before,
        }) = self.present.take()
        else {
            return;
        };
        let template = Arc::new(instance.heap.template(code));
        // The first goes on from there as the others do, so that it makes no difference which is the first.
        instance.heap.start_from(&template);
        let fuel = before.saturating_sub(fuel);
        self.known.insert(library, Beginning { units, template, fuel });
    }
}

impl SchemePrograms {
    /// Starts an actor's program: its first unit, or its entity's procedure where units of its library were evaluated before. Says whether there is
    /// anything to run.
    pub(super) fn begin_program(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<bool, Fault> {
        let instance = &mut body.instance;
        let mut pending = Vec::new();
        match &body.entity {
            None => {
                for &unit in &self.units {
                    pending.push(instance.unit_procedure(&self.code, unit)?);
                }
            }
            Some(entity) => {
                let library = entity.name().library;
                let units = entity::units_for(&library, &self.library_units, &self.units);
                let is_watched = self.profile.is_some() || self.observation.is_some();
                if !is_watched && self.beginnings.start(instance, (&library, &units), turn.fuel()) {
                    return Ok(self.start_entity(body)? || self.start_next(body, turn)?);
                }
                for unit in units {
                    pending.push(instance.unit_procedure(&self.code, unit)?);
                }
                pending.push(THE_ENTITY);
            }
        }
        let pending = instance.heap.list(&pending, Value::NIL)?;
        instance.heap.set_register(Register::Runtime0, pending);
        self.start_next(body, turn)
    }

    /// Starts what a main program does next: its next unit, and after the last the procedure that saves open files.
    pub(super) fn start_next(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<bool, Fault> {
        if self.start_next_unit(body, turn)? {
            return Ok(true);
        }
        let instance = &mut body.instance;
        let is_over = instance.heap.register(Register::Runtime0) != Value::NIL;
        match self.port_procedure(instance, "%save-files") {
            Some(save) if !is_over => {
                instance.heap.set_register(Register::Runtime0, Value::FALSE);
                self.machine.start(instance, save, &[]);
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Starts the next unit of the actor's program, if one is left, or the entity's procedure, which comes last.
    fn start_next_unit(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<bool, Fault> {
        let instance = &mut body.instance;
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
        self.beginnings.keep(instance, &self.code, *turn.fuel());
        self.start_entity(body)
    }

    /// Starts the procedure of the actor's entity.
    fn start_entity(&mut self, body: &mut SchemeBody) -> Result<bool, Fault> {
        let instance = &mut body.instance;
        let Some(entity) = &body.entity else { return Ok(false) };
        let Some(procedure) = instance.global(&self.code, &entity.name()) else {
            return Ok(false);
        };
        let config = convert::enter(&mut instance.heap, &entity.config).map_err(|_| Fault)?;
        self.machine.start(instance, procedure, &[config]);
        Ok(true)
    }
}
