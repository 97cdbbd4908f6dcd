//! The operations of the simulator.
//!
//! Owns the operations, their random choice and their text. INVARIANT: an operation is valid after
//! any other operations, so that shrinking can leave out any of them.
//! It does not perform them; `course.rs` does.
//! Read next: `course.rs`.

use std::fmt;

use duet_journal::store::memory::Loss;
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::grant::Grant;
use duet_runtime::model::manifest::Manifest;
use preserves::IOValue;

use super::chance::Chance;
use super::edits::Change;

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A text is given to the program, and some turns are taken.
    Say {
        /// The text.
        text: String,
        /// How many turns at most.
        turns: u64,
    },
    /// Some turns are taken.
    Step {
        /// How many at most.
        turns: u64,
    },
    /// The world answers something that it was asked.
    Answer {
        /// Which of the open requests.
        which: u64,
        /// What it says; every fourth answer is a failure.
        what: u64,
    },
    /// The world answers what it has answered before, or was never asked.
    AnswerAgain {
        /// The request.
        request: u64,
    },
    /// The clock of the world goes on.
    Tick {
        /// The number of seconds.
        seconds: u64,
    },
    /// SourceTexts that have not come to an end are given up.
    Abandon,
    /// The person grants the run what it has not.
    Grant {
        /// Chooses what the grant says of the tool.
        which: u64,
    },
    /// The person puts a changed text in the place of the program's.
    Patch(Change),
    /// A changed text is run from its start, on the answers of the branch, as a branch of a store
    /// of its own; the run stays as it is.
    Again {
        /// Which edits the text has.
        variant: u64,
        /// How many turns it takes at most.
        turns: usize,
        /// The turns between two snapshots.
        snapshot_turns: u64,
    },
    /// An actor begins anew.
    Begin {
        /// Which one.
        which: u64,
    },
    /// The process ends between two turns, and another one opens the run.
    Restart(Opening),
    /// Some turns are taken, and the machine stops before they are durable.
    Crash {
        /// How many turns at most.
        turns: u64,
        /// What the disk loses.
        loss: Loss,
        /// How the run goes on.
        opening: Opening,
    },
    /// The head of the branch is moved to an earlier turn, and the run goes on from there.
    Rewind {
        /// How far along the branch, in thousandths.
        to: u64,
        /// How the run goes on.
        opening: Opening,
    },
    /// A branch is begun at an earlier turn, and the run goes on there.
    Fork {
        /// How far along the branch, in thousandths.
        from: u64,
        /// How the run goes on.
        opening: Opening,
    },
    /// The head is moved to an earlier turn, and from there on the world says again what it said
    /// before.
    Retrace {
        /// How far along the branch, in thousandths.
        to: u64,
        /// How much of what it said at most.
        inputs: usize,
        /// How the processes open the run.
        opening: Opening,
    },
    /// The newest move of the branch's head is taken back.
    Undo {
        /// How the run goes on.
        opening: Opening,
    },
    /// The move that was taken back last is done again.
    Redo {
        /// How the run goes on.
        opening: Opening,
    },
    /// The branch takes over the findings of another branch.
    Merge {
        /// Which one.
        which: u64,
        /// How the process opens the run that does it.
        opening: Opening,
    },
    /// The world says again what it said on another branch.
    Pick {
        /// Which one.
        which: u64,
        /// How far along that branch, in thousandths, the first of it was said.
        from: u64,
        /// How much of it at most.
        inputs: usize,
        /// How the processes open the run.
        opening: Opening,
    },
    /// A branch is begun before an input, and the world says something else.
    Amend {
        /// How far along the branch to look for an input, in thousandths.
        at: u64,
        /// What it says.
        what: u64,
        /// How the run goes on.
        opening: Opening,
    },
    /// Somebody evaluates an expression at an earlier turn.
    Ask {
        /// How far along the branch, in thousandths.
        at: u64,
        /// The expression.
        text: String,
    },
    /// The branch is exported, imported elsewhere and proved, and so are forged and damaged copies.
    Send {
        /// Chooses the forged snapshot and the damaged byte.
        which: u64,
    },
    /// The run goes on on another branch.
    Switch {
        /// Which one.
        which: u64,
        /// How the run goes on.
        opening: Opening,
    },
}

/// How a process opens a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The number of turns after which it takes a snapshot; none if 0.
    pub(crate) snapshot_turns: u64,
    /// The number of writes and syncs after which its disk fails; never if `None`.
    pub(crate) fails_after: Option<(u64, Loss)>,
}

impl Opening {
    fn draw(chance: &mut Chance) -> Self {
        let snapshot_turns = *chance.one_of(&[0, 1, 2, 3, 5, 8]);
        let fails_after = chance.is_so(15).then(|| (2 + chance.below(20), draw_loss(chance)));
        Self {
            snapshot_turns,
            fails_after,
        }
    }
}

fn draw_loss(chance: &mut Chance) -> Loss {
    match chance.below(4) {
        0 => Loss::Nothing,
        1 => Loss::Unsynced,
        2 => Loss::Torn {
            kept_bytes: chance.index(2000),
        },
        _ => Loss::Reordered {
            seed: chance.below(1 << 20),
        },
    }
}

/// Procedures of the repertoire, those that are drawn more often several times.
const PROCEDURES: &str = "fact fact fact unfact change change tell tell observe observe unobserve derive \
    relay relay relay token token bomb \
    fiber fiber nest nest stop stop hooked hooked call call fire lose lose ask listen edge choose guess \
    capture capture reenter reenter \
    generate advance advance wind bound delayed keep churn churn table table weigh shout line \
    spin eat fail refuse ungranted evaluate clock \
    leave nap tick tick hurry pick-first during-facts entity entity entity inner meet meet synchronise \
    constrain constrain lift settle put together together explore narrowed narrowed pass pass take-back \
    versions versions versions things";

/// Draws a call of a procedure.
fn draw_call(chance: &mut Chance) -> String {
    let procedures: Vec<&str> = PROCEDURES.split_whitespace().collect();
    format!("({} {})", chance.one_of(&procedures), chance.below(10))
}

/// Draws what a person says to the program.
pub(super) fn draw_text(chance: &mut Chance) -> String {
    let call = draw_call;
    match chance.below(10) {
        0 => format!("(define (p{} x) {} {})", chance.below(4), call(chance), call(chance)),
        1 => format!("(p{} {})", chance.below(4), chance.below(10)),
        2 => format!("(spawn (lambda () {} (yield) {}))", call(chance), call(chance)),
        3 => format!("(begin {} (yield) {} {})", call(chance), call(chance), call(chance)),
        4 => format!("(repeat {} (lambda () {}))", 1 + chance.below(4), call(chance)),
        5 => format!(
            "(guard (failure (#t (log! 'caught))) {} {})",
            call(chance),
            call(chance)
        ),
        6 => {
            let (call, after) = (call(chance), call(chance));
            format!("(begin (spawn (lambda () {call}) (spawn-facet!)) {after})")
        }
        _ => format!("(begin {} {})", call(chance), call(chance)),
    }
}

/// A grant of the tool that the program lacks, or of nothing but a card that policy judges by.
pub(super) fn granting(which: u64) -> Grant {
    let tool = "forbidden";
    let card = ToolCard {
        name: tool.to_owned(),
        capabilities: vec![format!("need-{}", which / 2)],
        schema: String::new(),
        needs_approval: which >= 8,
    };
    Grant {
        manifest: if which.is_multiple_of(2) {
            Manifest::of(&[tool])
        } else {
            Manifest::default()
        },
        tools: vec![card],
        policy: Vec::new(),
        note: IOValue::new(which),
    }
}

impl Operation {
    /// Draws a look from outside.
    fn draw_look(chance: &mut Chance) -> Self {
        if chance.below(2) == 0 {
            Self::Ask {
                at: chance.below(1001),
                text: draw_text(chance),
            }
        } else {
            Self::Send {
                which: chance.below(1 << 20),
            }
        }
    }

    /// Draws a change of the program or of an actor.
    fn draw_change(chance: &mut Chance) -> Self {
        if chance.is_so(60) {
            Self::Patch(Change::draw(chance))
        } else if chance.is_so(50) {
            Self::Again {
                variant: Change::draw(chance).variant,
                turns: 1 + chance.index(400),
                snapshot_turns: 1 + chance.below(8),
            }
        } else {
            Self::Begin {
                which: chance.below(16),
            }
        }
    }

    /// Draws an operation.
    pub(crate) fn draw(chance: &mut Chance) -> Self {
        match chance.below(100) {
            0..4 => Self::draw_change(chance),
            4..36 => Self::Say {
                text: draw_text(chance),
                turns: chance.below(12),
            },
            36..48 => Self::Step {
                turns: 1 + chance.below(10),
            },
            48..49 => Self::Grant {
                which: chance.below(10),
            },
            49..53 => Self::draw_look(chance),
            53..66 => Self::Answer {
                which: chance.below(16),
                what: chance.below(16),
            },
            66..68 => Self::AnswerAgain {
                request: chance.below(40),
            },
            68..70 => Self::Tick {
                seconds: 1 + chance.below(100),
            },
            70..71 => Self::Abandon,
            71..74 => Self::Restart(Opening::draw(chance)),
            74..79 => Self::Crash {
                turns: chance.below(10),
                loss: draw_loss(chance),
                opening: Opening::draw(chance),
            },
            79..81 => Self::Retrace {
                to: chance.below(1001),
                inputs: chance.index(12),
                opening: Opening::draw(chance),
            },
            81..83 => Self::Rewind {
                to: chance.below(1001),
                opening: Opening::draw(chance),
            },
            83..86 => Self::Fork {
                from: chance.below(1001),
                opening: Opening::draw(chance),
            },
            86..88 => Self::Undo {
                opening: Opening::draw(chance),
            },
            88..89 => Self::Redo {
                opening: Opening::draw(chance),
            },
            89..92 => Self::Merge {
                which: chance.below(16),
                opening: Opening::draw(chance),
            },
            92..95 => Self::Pick {
                which: chance.below(16),
                from: chance.below(1001),
                inputs: 1 + chance.index(6),
                opening: Opening::draw(chance),
            },
            95..97 => Self::Amend {
                at: chance.below(1001),
                what: chance.below(16),
                opening: Opening::draw(chance),
            },
            _ => Self::Switch {
                which: chance.below(16),
                opening: Opening::draw(chance),
            },
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say { text, turns } => write!(f, "say {text} and take {turns} turns"),
            Self::Step { turns } => write!(f, "take {turns} turns"),
            Self::Answer { which, what } => write!(f, "answer {what} to open request {which}"),
            Self::AnswerAgain { request } => write!(f, "answer request {request} once more"),
            Self::Tick { seconds } => write!(f, "wait {seconds} s"),
            Self::Abandon => write!(f, "abandon what does not end"),
            Self::Grant { which } => write!(f, "grant {which}"),
            Self::Patch(change) => write!(f, "patch {change:?}"),
            Self::Again {
                variant,
                turns,
                snapshot_turns,
            } => write!(
                f,
                "run variant {variant} again for {turns} turns, a snapshot every {snapshot_turns} turns"
            ),
            Self::Begin { which } => write!(f, "begin actor {which} anew"),
            Self::Restart(opening) => write!(f, "restart, {opening}"),
            Self::Crash { turns, loss, opening } => {
                write!(f, "take {turns} turns and crash with {loss:?} lost, {opening}")
            }
            Self::Rewind { to, opening } => write!(f, "rewind to {to}/1000, {opening}"),
            Self::Fork { from, opening } => write!(f, "fork at {from}/1000, {opening}"),
            Self::Retrace { to, inputs, opening } => {
                write!(f, "rewind to {to}/1000 and say {inputs} inputs again, {opening}")
            }
            Self::Undo { opening } => write!(f, "undo, {opening}"),
            Self::Redo { opening } => write!(f, "redo, {opening}"),
            Self::Merge { which, opening } => write!(f, "merge branch {which}, {opening}"),
            Self::Pick {
                which,
                from,
                inputs,
                opening,
            } => {
                write!(
                    f,
                    "pick {inputs} inputs of branch {which} from {from}/1000 on, {opening}"
                )
            }
            Self::Amend { at, what, opening } => write!(f, "amend the input at {at}/1000 to {what}, {opening}"),
            Self::Ask { at, text } => write!(f, "evaluate {text} at {at}/1000"),
            Self::Send { which } => write!(f, "export, and forge {which}"),
            Self::Switch { which, opening } => write!(f, "switch to branch {which}, {opening}"),
        }
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.snapshot_turns {
            0 => write!(f, "no snapshots")?,
            turns => write!(f, "a snapshot every {turns} turns")?,
        }
        match self.fails_after {
            Some((operations, loss)) => write!(f, ", the disk fails at operation {operations} with {loss:?}"),
            None => Ok(()),
        }
    }
}
