//! What all programs use of Duet's runtime: a run with its journal in memory, and short ways to
//! make values and patterns.
//!
//! INVARIANT: a run begins alike whatever it runs; nothing is refused for want of a capability.
//! It knows no programs.
//! Read next: `ours.rs`, `speed/ours.rs`.

use duet_journal::store::memory::MemoryStore;
use duet_journal::{BranchName, RunId};
use duet_runtime::dataspace::pattern::{GroupKind, Pattern, Step};
use duet_runtime::model::identity::ActorId;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::model::value::Fact;
use duet_runtime::record::Genesis;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::{Run, Start};
use duet_runtime::state::refusal::Refusal;
use duet_runtime::turn::activation::Activation;
use duet_runtime::turn::image::{FreezeError, ThawError};
use duet_runtime::turn::program::Programs;
use duet_runtime::turn::task::{End, NewActor};
use preserves::{IOValue, Value};

/// The end of what has nothing more to do.
pub(crate) const DONE: End = End::Finished { is_true: true };

/// Starts a run.
pub(crate) fn start<P: Programs>(programs: P) -> (MemoryStore, Run) {
    let mut store = MemoryStore::default();
    let start = Start {
        run: RunId::new("parity").expect("a name"),
        branch: BranchName::new("main").expect("a name"),
        owner: "parity".to_owned(),
        genesis: Genesis {
            program: IOValue::new(true),
            manifest: Manifest::of(&["*"]),
            limits: Limits::default(),
            pinned: Vec::new(),
            tools: Vec::new(),
            policy: Vec::new(),
        },
        pinned: Vec::new(),
    };
    let run = Run::start(start, programs, SnapshotPolicy::NEVER, &mut store).expect("an empty store");
    (store, run)
}

/// Makes an actor that lives for itself.
pub(crate) fn spawn(turn: &mut Activation, program: IOValue) -> Result<ActorId, Refusal> {
    turn.spawn_actor(NewActor {
        role: "actor".to_owned(),
        program,
        manifest: Manifest::of(&["*"]),
        heap_bytes_max: None,
        link: None,
        on_end: None,
        facts_max: None,
    })
}

/// Says that no snapshots are taken here.
pub(crate) fn never_frozen() -> FreezeError {
    FreezeError {
        reason: "no snapshots are taken here".to_owned(),
    }
}

/// Says that no snapshots are taken here.
pub(crate) fn never_thawed() -> ThawError {
    ThawError::damaged("no snapshots are taken here")
}

/// Makes a fact.
pub(crate) fn fact(value: IOValue) -> Fact {
    Fact::new(value).expect("a small value")
}

/// Makes a record.
pub(crate) fn record(label: &str, fields: Vec<IOValue>) -> IOValue {
    let fields = fields.into_iter().map(Value::from).collect();
    IOValue::from(Value::record(Value::symbol(label.to_owned()), fields))
}

/// Makes a pattern of one value.
pub(crate) fn literal(value: IOValue) -> Pattern {
    Pattern::Literal(fact(value))
}

/// Makes a pattern that captures anything.
pub(crate) fn capture() -> Pattern {
    Pattern::bind(Pattern::Discard)
}

/// Makes a pattern of records whose first fields match.
pub(crate) fn group(label: &str, fields: Vec<Pattern>) -> Pattern {
    Pattern::Group {
        kind: GroupKind::Record(fact(IOValue::symbol(label.to_owned()))),
        size: None,
        entries: (0..).map(Step::Index).zip(fields).collect(),
    }
}
