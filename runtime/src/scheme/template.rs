//! Templates of libraries, from which their entities begin.
//!
//! An entity evaluates the units of its library before its procedure is called. If these units only
//! define, as most do, all entities of the library have the same heap at that point. Only the first
//! gets there by evaluation; the template is a copy of its heap, from which all of them, the first
//! included, continue and which they share.
//! INVARIANT: an entity that begins from a template does what it would have done without: the units
//! requested nothing from the turn, and the entity pays the fuel that they took.
//! It does not choose the units; `entity.rs` does.
//! Read next: `boot.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::heap::{Heap, Template};
use duet_kernel::machine::Instance;
use duet_kernel::value::Value;

/// A mark for the entity's procedure, among the procedures of the units.
pub(super) const THE_ENTITY: Value = Value::TRUE;

/// The templates of a run, by library.
#[derive(Default)]
pub(super) struct LibraryTemplates {
    pub(super) known: BTreeMap<Name, Beginning>,
    /// The entity that is evaluating its units, as long as they have requested nothing.
    present: Option<Present>,
}

pub(super) struct Beginning {
    units: Vec<usize>,
    template: Arc<Template>,
    /// The fuel that the units took.
    fuel: i64,
}

struct Present {
    library: Name,
    units: Vec<usize>,
    /// The fuel when it began.
    fuel: i64,
}

impl LibraryTemplates {
    /// Starts a new instance from the template of its library, and returns whether it did. If there
    /// is no template, watches the units that the instance evaluates.
    pub(super) fn start(&mut self, instance: &mut Instance, library: &Name, units: &[usize], fuel: &mut i64) -> bool {
        let known = self.known.get(library).filter(|known| known.units == units);
        if let Some(known) = known {
            // An entity with too little fuel must stop where it would stop without a template.
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

    /// Forgets the entity that is beginning, because it did more than evaluate units.
    pub(super) fn give_up(&mut self) {
        self.present = None;
    }

    /// Makes a template of the heap of an entity that has evaluated all its units, if they did
    /// nothing else.
    pub(super) fn keep(&mut self, heap: &mut Heap, code: &CodeSpace, fuel: i64) {
        let Some(Present {
            library,
            units,
            fuel: before,
        }) = self.present.take()
        else {
            return;
        };
        let template = Arc::new(heap.template(code));
        // The first entity continues from the template too, so that it does not differ from the
        // others.
        heap.start_from(&template);
        let fuel = before.saturating_sub(fuel);
        self.known.insert(library, Beginning { units, template, fuel });
    }
}
