//! The program of an actor that plays a role: one procedure of a library or of the main program.
//!
//! Owns the description `<entity library procedure config>` and the choice of units that such an
//! actor evaluates.
//! INVARIANT: an entity evaluates the units that its library's code mentions, directly or not, each
//! once and in the order of the program, and of the main program definitions only; so its beginning
//! depends only on its class and its configuration.
//! It does not know roles; the actor that spawns it does.
//! Read next: `shared_definitions.rs`, `host/entity.rs`.

use std::collections::BTreeSet;

use duet_kernel::datum::Name;
use duet_kernel::unit::GlobalName;
use preserves::IOValue;

use super::programs::SchemePrograms;
use crate::codec_struct;
use crate::model::codec::Codec;
use crate::state::actor::EntityClass;

/// The name of the main program's unit.
pub(super) const PROGRAM: &str = "(program)";

/// The description of an entity.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entity {
    library: String,
    procedure: String,
    /// The procedure's argument.
    pub(super) config: IOValue,
}
codec_struct!(Entity "entity" { library, procedure, config });

impl Entity {
    /// Returns the global name of the procedure.
    pub(super) fn name(&self) -> GlobalName {
        GlobalName {
            library: Name::from(self.library.as_str()),
            name: Name::from(self.procedure.as_str()),
        }
    }
}

/// Describes an entity of a class.
pub(super) fn program(class: &EntityClass, config: IOValue) -> IOValue {
    let (library, procedure) = (class.library.clone(), class.procedure.clone());
    Entity {
        library,
        procedure,
        config,
    }
    .encode()
}

impl SchemePrograms {
    /// Lists the units that the entities of a library, or of the main program, need, in the order of
    /// the program's units; then the main program's definitions; then those that a text has brought
    /// since, in the order in which they were loaded.
    pub(super) fn units_for(&self, library: &Name) -> Vec<usize> {
        let mut needed = BTreeSet::new();
        let mut rest = vec![library.clone()];
        while let Some(name) = rest.pop() {
            let Some((unit, number)) = self.defining_unit(&name) else {
                continue;
            };
            if needed.insert(number) {
                rest.extend(unit.globals.iter().map(|global| global.name.library.clone()));
            }
        }
        let of_program = self.units.iter().copied().filter(|unit| needed.contains(unit));
        let others = needed.iter().copied().filter(|unit| !self.units.contains(unit));
        of_program.chain(others).collect()
    }
}
