//! The program of an actor that plays a role: one procedure of a library or of the main program.
//!
//! Owns the description `<entity library procedure config>`.
//! INVARIANT: the beginning of an entity depends only on its class and its configuration.
//! It does not know roles, which the actor that spawns it does, nor the units that an entity
//! evaluates. Read next: `boot.rs`, `shared_definitions.rs`.

use duet_kernel::datum::Name;
use duet_kernel::unit::GlobalName;
use preserves::IOValue;

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
