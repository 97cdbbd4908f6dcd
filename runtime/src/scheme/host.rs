//! Host procedures: everything that programs can do besides computing.
//!
//! Owns the list of the families and of their procedures.
//! INVARIANT: a host procedure reaches the run only through the turn, so everything it does is an
//! action that passes the gate.
//! It does not run procedures; `execution.rs` does. The families are `host/dataspace.rs`,
//! `host/control.rs`, `host/capability.rs`, `host/entity.rs`, `host/world.rs`, `host/file.rs`,
//! `host/policy.rs` and `host/evaluation.rs`.
//! Read next: `host/dataspace.rs`.

pub mod call;
mod capability;
mod control;
mod dataspace;
mod entity;
mod evaluation;
mod file;
mod policy;
pub(super) mod world;

use duet_kernel::primitive::{Cost, Primitive, PrimitiveBody};

use call::HostProcedure;

/// Iterates over all host procedures, family after family.
pub fn procedures() -> impl Iterator<Item = &'static HostProcedure> {
    [
        dataspace::TABLE,
        control::TABLE,
        capability::TABLE,
        entity::TABLE,
        world::TABLE,
        file::TABLE,
        policy::TABLE,
        evaluation::TABLE,
    ]
    .into_iter()
    .flatten()
}

/// Returns all host procedures as primitives of the kernel's code space.
pub fn primitives() -> Vec<Primitive> {
    let primitive = |procedure: &'static HostProcedure| Primitive {
        name: procedure.name,
        parameters: procedure.parameters,
        least: procedure.least,
        most: procedure.most,
        documentation: procedure.documentation,
        cost: Cost::Counted,
        body: PrimitiveBody::Host,
    };
    procedures().map(primitive).collect()
}
