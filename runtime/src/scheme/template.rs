//! How an actor's program begins: unit by unit, or where others of its library stood after theirs.
//!
//! An entity evaluates the units of its library before its procedure is called. Where these only define, which is the rule, all entities of the library
//! stand at the same point then, and only the first gets there by evaluation: the others, and it too, go on from a template of its heap, which they share.
//! INVARIANT: an entity that begins with a template does what it would have done without: the units asked the turn for nothing, and the fuel
//! that they took is taken.
//! It does not choose the units; `scheme/entity.rs` does.
//! Read next: the kernel's `heap/compact.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::heap::Template;
use duet_kernel::machine::Instance;
use duet_kernel::value::Value;

/// Stands for the entity's procedure among the procedures of the units.
pub(super) const THE_ENTITY: Value = Value::TRUE;

/// What was kept of entities that have begun, by their libraries.
#[derive(Default)]
pub(super) struct LibraryTemplates {
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

impl LibraryTemplates {
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
