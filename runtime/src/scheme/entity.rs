//! The program of an actor that plays a role: one procedure of one library.
//!
//! Owns the description `<entity library procedure config>` and the choice of units that such an
//! actor evaluates.
//! INVARIANT: an entity evaluates the units that its library's code mentions, directly or not, each
//! once and in the order of the program, and never the main program; so its beginning depends only
//! on its class and its configuration.
//! It does not know roles; the actor that spawns it does.
//! Read next: `host/entity.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use duet_kernel::core::Unit;
use duet_kernel::datum::Name;
use duet_kernel::unit::GlobalName;
use preserves::IOValue;

use crate::codec_struct;
use crate::model::codec::Codec;
use crate::state::actor::EntityClass;

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

/// Returns whether a unit's name is that of a library, not of a program or an interaction.
pub(super) fn is_library(name: &Name) -> bool {
    !matches!(name.as_str(), "(program)" | "(interaction)")
}

/// Lists the units that `library` needs, itself included, in the order of `units`, the program's;
/// then those that a text has brought since, in the order in which they were loaded.
pub(super) fn units_for(
    library: &Name,
    library_units: &BTreeMap<Name, (Arc<Unit>, usize)>,
    units: &[usize],
) -> Vec<usize> {
    let mut needed = BTreeSet::new();
    let mut rest = vec![library.clone()];
    while let Some(name) = rest.pop() {
        let Some((unit, number)) = library_units.get(&name) else {
            continue;
        };
        if needed.insert(*number) {
            rest.extend(unit.globals.iter().map(|global| global.name.library.clone()));
        }
    }
    let of_program = units.iter().copied().filter(|unit| needed.contains(unit));
    let brought = needed.iter().copied().filter(|unit| !units.contains(unit));
    of_program.chain(brought).collect()
}
