//! Code of earlier texts that is still in use: frames that wait in it, and closures that keep it.
//!
//! INVARIANT: code that does what the present text says is not stale, wherever it stands.
//! It changes nothing that a program sees. Read next: `change.rs`.

use std::collections::BTreeSet;

use duet_kernel::code::CodeSpace;
use duet_kernel::code::versions::Procedure;
use duet_kernel::heap::RootId;
use duet_kernel::machine::parked_frames;

use super::actor::SchemeActor;
use super::convert;
use super::programs::SchemePrograms;
use super::version::LoadedUnit;
use crate::model::failure::Frame;
use crate::model::identity::Callable;

/// The maximum number of frames of a computation that are looked at.
pub(super) const FRAMES_MAX: usize = 4096;

/// The code of earlier texts that does something else than the present one: blocks by number, each
/// with its procedure; none for the body of a text.
pub struct StaleCode(Vec<(usize, Option<Procedure>)>);

impl StaleCode {
    /// Whether the instruction at a position is part of it.
    pub(super) fn has(&self, code: &CodeSpace, position: u32) -> bool {
        let block = code.block_number_at(position);
        self.0.iter().any(|(stale, _)| block == Some(*stale))
    }
}

/// Closures that keep the code of an earlier text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleClosures {
    /// The procedure, with those around it.
    pub procedure: String,
    /// The number of closures.
    pub count: usize,
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
                    stale.push((self.code.block_number(number, 0), None));
                    for procedure in procedures {
                        let block = self.code.block_number(number, procedure.block);
                        if !self.has_equal_successor(block) {
                            stale.push((block, Some(procedure)));
                        }
                    }
                }
            }
        }
        StaleCode(stale)
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

    /// Lists the closures of an actor that keep code of earlier texts.
    pub fn stale_closures(&self, code: &StaleCode, actor: &mut SchemeActor) -> Vec<StaleClosures> {
        let used = actor.instance.heap.code_in_use(&self.code);
        let mut seen = BTreeSet::new();
        let mut stale = Vec::new();
        for (block, procedure) in &code.0 {
            let count = used.get(&self.code.block(*block).start).copied().unwrap_or(0);
            if let Some(procedure) = procedure.as_ref().filter(|_| count > 0 && seen.insert(block)) {
                stale.push(StaleClosures {
                    procedure: procedure.shown(),
                    count,
                });
            }
        }
        stale
    }

    /// Lists the frames of a computation that an actor has parked which wait in code of earlier
    /// texts, innermost first.
    pub fn stale_frames(&self, code: &StaleCode, actor: &mut SchemeActor, parked: Callable) -> Vec<Frame> {
        actor.instance.heap.expand();
        let heap = &actor.instance.heap;
        let (continuation, _) = convert::unpack_parked(heap, heap.root_value(RootId(parked.0)));
        let frames = parked_frames(heap, &self.code, continuation, FRAMES_MAX);
        let waiting = frames.iter().filter(|frame| code.has(&self.code, frame.position));
        waiting
            .flat_map(|frame| convert::listed(&frame.entries, &self.present.expander))
            .collect()
    }
}
