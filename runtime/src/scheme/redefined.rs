//! Procedures that texts have defined anew in a living actor, as at a prompt: who calls them calls
//! the new ones, and what runs the earlier ones goes on with them.
//!
//! INVARIANT: the variable of the actor decides: a procedure that it still has as its value is not
//! an earlier one, whatever other actors have evaluated.
//! It changes nothing. Read next: `stale.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::code::versions::DefinedProcedure;
use duet_kernel::core::INTERACTION;
use duet_kernel::heap::Kind;
use duet_kernel::unit::GlobalName;

use super::actor::SchemeActor;
use super::convert::EMBEDDED;
use super::programs::SchemePrograms;
use super::stale::{StaleClosures, StaleCode};
use crate::model::failure::{Frame, FramePlace};

/// The procedures that texts have defined in living actors, by their blocks.
#[derive(Default)]
pub(super) struct TypedProcedures(BTreeMap<usize, DefinedProcedure>);

impl SchemePrograms {
    /// The number of units that are loaded.
    pub fn loaded_units(&self) -> usize {
        self.code.units().len()
    }

    /// Lists the procedures that evaluated texts have defined.
    pub(super) fn typed_procedures(&self) -> TypedProcedures {
        let units = self.code.units().iter().enumerate();
        let typed = units.filter(|(_, unit)| unit.name.as_str().starts_with(INTERACTION));
        let defined = typed.flat_map(|(number, _)| self.code.defined_procedures(number));
        TypedProcedures(defined.map(|one| (one.block, one)).collect())
    }

    /// The code of procedures that the units from this number on define anew; nothing if they
    /// define none that an earlier text has defined.
    pub fn redefined_since(&self, first: usize) -> Option<StaleCode> {
        let newest = first..self.loaded_units();
        let newest = newest.filter(|number| self.code.units()[*number].name.as_str().starts_with(INTERACTION));
        let newest: Vec<DefinedProcedure> = newest.flat_map(|number| self.code.defined_procedures(number)).collect();
        if newest.is_empty() {
            return None;
        }
        let names: BTreeSet<&GlobalName> = newest.iter().map(|one| &one.name).collect();
        let TypedProcedures(mut typed) = self.typed_procedures();
        typed.retain(|_, one| names.contains(&one.name));
        (typed.len() > newest.len()).then(|| StaleCode::of_typed(TypedProcedures(typed)))
    }

    /// The blocks of procedures in whose place an actor has procedures of later texts, which do
    /// something else.
    pub(super) fn redefined(&self, typed: &TypedProcedures, actor: &mut SchemeActor) -> BTreeSet<usize> {
        if typed.0.is_empty() {
            return BTreeSet::new();
        }
        actor.instance.heap.expand();
        let (instance, heap) = (&actor.instance, &actor.instance.heap);
        let present = |name: &GlobalName| {
            let value = instance.global(&self.code, name)?;
            let is_closure = heap.is_kind(value, Kind::Closure);
            self.code
                .block_number_at(is_closure.then(|| heap.field(value, 0).payload())?)
        };
        let fingerprint = |block: usize| {
            self.code
                .fingerprint(self.code.block(block).start)
                .map(|found| found.hash)
        };
        let is_earlier = |one: &&DefinedProcedure| {
            present(&one.name).is_some_and(|now| {
                let is_typed = typed.0.get(&now).is_some_and(|other| other.name == one.name);
                is_typed && now != one.block && fingerprint(now) != fingerprint(one.block)
            })
        };
        let earlier = typed.0.values().filter(is_earlier);
        earlier.flat_map(|one| self.code.blocks_within(one.block)).collect()
    }

    /// The closures over a block, of which a heap has this many.
    pub(super) fn closures_over(&self, block: usize, count: usize) -> StaleClosures {
        let loaded = self.code.block(block);
        let span = self.code.span_at(loaded.start);
        let source = span.and_then(|span| Some((span, &self.expander().source(span.source)?.name)));
        let source = source.filter(|(_, name)| !name.starts_with(EMBEDDED));
        let at = source.map_or(FramePlace::Unknown, |(span, name)| FramePlace::Text {
            source: name.clone(),
            start: span.start.into(),
        });
        let procedure = loaded.name.as_ref().map_or("lambda", |name| name.as_str());
        StaleClosures {
            procedure: Frame {
                procedure: procedure.to_owned(),
                at,
            },
            definition: None,
            count,
            is_apart: false,
        }
    }
}
