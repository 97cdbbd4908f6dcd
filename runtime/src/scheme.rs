//! Scheme programs as the instances of actors.
//!
//! Owns the machine, the code space and the sources of a run's programs, and drives one fiber at a
//! time until it parks or ends.
//! INVARIANT: everything that an actor's program knows is in its instance's heap and in the texts
//! that it received, so undoing or storing these undoes or stores the actor; the machine is empty
//! whenever no fiber runs.
//! It does not know what host procedures do; `scheme/host.rs` does.
//! Read next: `scheme/programs.rs`, then `scheme/host.rs`.

mod template;
mod slice;
mod traced_turn;
mod tracing;
mod actor;
mod boot;
mod called_tools;
mod change;
mod comparison;
mod compile;
mod convert;
pub mod description;
mod descriptor;
mod difference;
mod entity;
mod evaluated_libraries;
mod evaluation;
mod execution;
mod frames;
mod apart;
mod given_values;
mod migration;
pub mod grants;
pub mod host;
mod inspection;
mod image_root;
mod observation;
mod interaction;
mod limits;
mod mentions;
mod profile;
mod process_limits;
mod programs;
mod coverage;
mod calls;
mod moving;
mod redefined;
mod renewal;
mod shared_definitions;
mod source;
mod stale;
mod stored_units;
mod version;
mod versions;
mod brought;
#[cfg(test)]
pub(crate) mod tests;

pub use actor::SchemeActor;
pub use called_tools::CalledTools;
pub use coverage::{BranchPlace, TextCounts};
pub use difference::{Difference, Differences, Remembered};
pub use frames::{FailedStrand, FrameShown, VariableShown};
pub use mentions::{Mention, mentions, program_imports};
pub use moving::MovedFrame;
pub use profile::Procedure;
pub use programs::SchemePrograms;
pub use slice::{Actors, How, Slice, ValueStep, Variable, Wanted};
pub use source::{Program, ProgramError, Source, SourceRecord, description, texts};
pub use stale::{StaleClosures, StaleCode};
pub use traced_turn::{EventSource, TurnToTrace};
pub use version::{Listed, TopPlace, UnevaluatedForm};
