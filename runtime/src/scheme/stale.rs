//! Code of earlier texts that is still in use: frames that wait in it, and closures that keep it.
//!
//! INVARIANT: code that does what the present text says is not stale, wherever it stands.
//! It changes nothing that a program sees. Read next: `change.rs`.

use std::collections::BTreeSet;

use duet_kernel::code::CodeSpace;
use duet_kernel::code::versions::Procedure;
use duet_kernel::core::Unit;
use duet_kernel::heap::RootId;
use duet_kernel::machine::parked_frames;

use super::actor::SchemeActor;
use super::convert;
use super::programs::SchemePrograms;
use super::redefined::TypedProcedures;
use super::version::LoadedUnit;
use crate::model::failure::{Frame, FramePlace};
use crate::model::identity::Callable;

/// The maximum number of frames of a computation that are looked at.
pub(super) const FRAMES_MAX: usize = 4096;

/// The code of earlier texts that does something else than the present one.
pub struct StaleCode {
    blocks: Vec<StaleBlock>,
    /// The procedures that evaluated texts have defined, of which an actor may have later ones.
    typed: TypedProcedures,
}

/// A block that is part of it.
struct StaleBlock {
    number: usize,
    /// Its procedure; none for the body of a text.
    procedure: Option<StaleProcedure>,
}

/// A procedure of an earlier text.
struct StaleProcedure {
    /// The procedure with those around it, and where it begins.
    frame: Frame,
    /// The name of the definition that it is the value of.
    definition: Option<String>,
}

impl StaleCode {
    /// Whether the instruction at a position is part of it.
    pub(super) fn has(&self, code: &CodeSpace, position: u32) -> bool {
        let block = code.block_number_at(position);
        self.blocks.iter().any(|stale| block == Some(stale.number))
    }

    /// The code of these procedures, as far as an actor has later ones.
    pub(super) fn of_typed(typed: TypedProcedures) -> Self {
        Self {
            blocks: Vec::new(),
            typed,
        }
    }
}

/// Closures that keep the code of an earlier text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleClosures {
    /// The procedure, with those around it, and where it begins.
    pub procedure: Frame,
    /// The name of the definition that it is the value of; nothing for one inside another.
    pub definition: Option<String>,
    /// The number of closures.
    pub count: usize,
    /// Whether the text has a procedure in its place, which captures other variables.
    pub is_apart: bool,
}

impl SchemePrograms {
    /// Finds the code of earlier texts that is stale, for any number of actors; it compiles these
    /// texts.
    pub fn stale_code(&self) -> StaleCode {
        let mut stale = Vec::new();
        for version in self.versions.before() {
            for name in version.compared_units.keys() {
                let present = self.present.compared_units.get(name).map(|loaded| loaded.number);
                for LoadedUnit { unit, number } in self.earlier_units(name) {
                    let steps = self.present.change.steps.iter().any(|step| step.number == number);
                    let is_shared = self.present.shared_number() == Some(number);
                    if Some(number) == present || steps || is_shared || unit.compiled.is_some() {
                        continue;
                    }
                    let Ok((_, procedures)) = self.compiled_procedures(&unit) else {
                        continue;
                    };
                    stale.push(StaleBlock {
                        number: self.code.block_number(number, 0),
                        procedure: None,
                    });
                    let procedures = procedures.iter().map(|procedure| StaleBlock {
                        number: self.code.block_number(number, procedure.block),
                        procedure: Some(self.stale_procedure(&unit, procedure)),
                    });
                    stale.extend(procedures.filter(|block| !self.has_equal_successor(block.number)));
                }
            }
        }
        StaleCode {
            blocks: stale,
            typed: self.typed_procedures(),
        }
    }

    fn stale_procedure(&self, unit: &Unit, procedure: &Procedure) -> StaleProcedure {
        let origin = procedure.form.and_then(|form| self.own_origin(unit, form));
        let at = origin.map_or(FramePlace::Unknown, |origin| FramePlace::Text {
            source: origin.source,
            start: origin.start,
        });
        StaleProcedure {
            frame: Frame {
                procedure: procedure.shown(),
                at,
            },
            definition: procedure.definition().map(str::to_owned),
        }
    }

    /// Whether the block that takes the place of another does the same.
    fn has_equal_successor(&self, block: usize) -> bool {
        let fingerprint = |number: usize| {
            let found = self.code.fingerprint(self.code.block(number).start);
            found.map(|fingerprint| fingerprint.hash)
        };
        let successor = self.present.change.redirects.get(&block);
        successor.is_some_and(|successor| fingerprint(*successor) == fingerprint(block))
    }

    /// Lists the closures of an actor that keep code of earlier texts, also once the actor takes
    /// the present one on.
    pub fn stale_closures(&self, code: &StaleCode, actor: &mut SchemeActor) -> Vec<StaleClosures> {
        let redefined = self.redefined(&code.typed, actor);
        let used = actor.instance.heap.code_in_use(&self.code);
        let count_of = |block: usize| used.get(&self.code.block(block).start).copied().unwrap_or(0);
        let mut seen = BTreeSet::new();
        let mut stale = Vec::new();
        let change = &self.present.change;
        for StaleBlock { number, procedure } in &code.blocks {
            let count = count_of(*number);
            let is_kept = count > 0 && !change.redirects.contains_key(number);
            if let Some(procedure) = procedure.as_ref().filter(|_| is_kept && seen.insert(number)) {
                stale.push(StaleClosures {
                    procedure: procedure.frame.clone(),
                    definition: procedure.definition.clone(),
                    count,
                    is_apart: change.apart.contains(number),
                });
            }
        }
        let redefined = redefined.into_iter().map(|block| (block, count_of(block)));
        let redefined = redefined.filter(|(_, count)| *count > 0);
        stale.extend(redefined.map(|(block, count)| self.closures_over(block, count)));
        stale
    }

    /// Lists the frames of a computation that an actor has parked which wait in code of earlier
    /// texts, innermost first.
    pub fn stale_frames(&self, code: &StaleCode, actor: &mut SchemeActor, parked: Callable) -> Vec<Frame> {
        let redefined = self.redefined(&code.typed, actor);
        actor.instance.heap.expand();
        let heap = &actor.instance.heap;
        let (continuation, _) = convert::unpack_parked(heap, heap.root_value(RootId(parked.0)));
        let frames = parked_frames(heap, &self.code, continuation, FRAMES_MAX);
        let is_redefined = |position| {
            let block = self.code.block_number_at(position);
            block.is_some_and(|block| redefined.contains(&block))
        };
        let waiting = frames
            .iter()
            .filter(|frame| code.has(&self.code, frame.position) || is_redefined(frame.position));
        waiting
            .flat_map(|frame| convert::listed(&frame.entries, &self.present.expander))
            .collect()
    }
}
