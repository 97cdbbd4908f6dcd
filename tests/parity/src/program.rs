//! Small programs over actors, as data that both sides can run.
//!
//! INVARIANT: names of actors and watches are unique in a program, and an operation looks its slot
//! up when it runs, so that the rest of a program means something whatever part is left out.
//! Read next: `generate.rs`.

use std::collections::BTreeMap;
use std::fmt;

/// Slots for handles, watches and facets that each actor has.
pub(crate) const SLOTS: usize = 4;

/// Who asserts: an actor says so in each of its facts, unless many may say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// One actor.
    Actor(u32),
    /// Whoever likes.
    All,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actor(actor) => write!(f, "a{actor}"),
            Self::All => write!(f, "all"),
        }
    }
}

/// `<fact owner number>`; the owner is that of the actor that asserts it, unless the value is
/// shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) is_shared: bool,
    pub(crate) number: u64,
}

/// The facts that a watch looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// `<fact $owner $number>`
    Both,
    /// `<fact owner $number>`
    Of(Owner),
    /// `<fact $owner number>`
    Number(u64),
    /// `$whole` of `<fact _ _>`
    Whole,
    /// `<fact _ $number>`: facts of different owners are one match
    Merged,
    /// `<fact _ _>`: one match for all
    Any,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Assert(usize, Fact),
    Retract(usize),
    Update(usize, Fact),
    Message(Fact),
    Watch(Watch),
    Unwatch(usize),
    /// Makes a facet in the current one; its body runs later in the turn.
    Facet(usize, Vec<Operation>),
    /// Runs in a facet later in the turn.
    In(usize, Vec<Operation>),
    StopFacet(usize),
    StopSelf,
    OnStop(Vec<Operation>),
    Spawn(u32, Vec<Operation>),
    Sync,
    Wait(Wait),
    Crash,
    Exit,
}

/// A fiber waits for a fact, which is there or comes, or for a message, and notes it once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) name: u32,
    pub(crate) owner: Owner,
    pub(crate) number: u64,
    /// Whether the fiber runs already; it begins later in the turn.
    pub(crate) has_begun: bool,
}

/// A watch: it notes its events, and may react to the first few matches and messages.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) name: u32,
    pub(crate) slot: usize,
    pub(crate) pattern: Pattern,
    /// The operations at each of the first matches or messages.
    pub(crate) reactions: Vec<Vec<Operation>>,
}

/// One actor performs operations, and all their consequences happen.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) actor: u32,
    pub(crate) operations: Vec<Operation>,
}

/// A program: actors that begin together, and rounds.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Whether watches react; then only the order of what has one source is the same everywhere.
    pub(crate) is_reactive: bool,
    pub(crate) actors: u32,
    pub(crate) rounds: Vec<Round>,
}

/// An event of a watch, or the answer to a sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogEntry {
    pub(crate) round: usize,
    pub(crate) watch: WatchName,
    pub(crate) text: String,
    /// The actor that asserted the fact, if it is known.
    pub(crate) source: Option<Owner>,
}

/// The watch or sync that notes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WatchName {
    Watch(u32),
    /// The syncs of an actor.
    Syncs(u32),
    /// A wait: its actor, and its name.
    Wait(u32, u32),
}

/// The outcome of a run of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) entries: Vec<LogEntry>,
    /// Facts, by round, that a stop hook asserted where the facet around it was stopping too.
    pub(crate) lost_to_stopping: Vec<(usize, String)>,
    /// How often each operation was performed, on the side that counts them.
    pub(crate) performed: BTreeMap<&'static str, u64>,
    /// Rounds, actors and watches by whose reaction something of the actor ended while it was
    /// receiving events.
    pub(crate) cut: Vec<(usize, u32, u32)>,
}

impl Operation {
    /// The name under which it is counted.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Assert(..) => "assert",
            Self::Retract(_) => "retract",
            Self::Update(..) => "update",
            Self::Message(_) => "message",
            Self::Watch(_) => "watch",
            Self::Unwatch(_) => "unwatch",
            Self::Facet(..) => "spawn-facet",
            Self::In(..) => "in-facet",
            Self::StopFacet(_) | Self::StopSelf => "stop-facet",
            Self::OnStop(_) => "on-stop",
            Self::Spawn(..) => "spawn",
            Self::Sync => "sync",
            Self::Wait(_) => "wait",
            Self::Crash => "crash",
            Self::Exit => "exit",
        }
    }
}

impl Program {
    /// Which actor each watch belongs to.
    pub(crate) fn watchers(&self) -> BTreeMap<u32, u32> {
        self.watches()
            .into_iter()
            .map(|(actor, watch)| (watch.name, actor))
            .collect()
    }

    /// The actors that react to what others assert, each with whom it reacts to.
    pub(crate) fn reactors(&self) -> Vec<(u32, Owner)> {
        let reactors = self
            .watches()
            .into_iter()
            .filter(|(_, watch)| !watch.reactions.is_empty());
        let reactors = reactors.filter_map(|(actor, watch)| match watch.pattern {
            Pattern::Of(owner) => Some((actor, owner)),
            _ => None,
        });
        reactors.collect()
    }

    /// Lists the watches, each with its actor.
    fn watches(&self) -> Vec<(u32, &Watch)> {
        let mut watches = Vec::new();
        let rounds = self.rounds.iter().map(|round| (round.actor, &round.operations));
        let mut rest: Vec<(u32, &Vec<Operation>)> = rounds.collect();
        while let Some((actor, operations)) = rest.pop() {
            for operation in operations {
                match operation {
                    Operation::Watch(watch) => watches.push((actor, watch)),
                    Operation::Facet(_, body) | Operation::In(_, body) => rest.push((actor, body)),
                    Operation::Spawn(newborn, body) => rest.push((*newborn, body)),
                    _ => {}
                }
            }
        }
        watches
    }
}

/// The text of a fact, as both sides print it.
pub(crate) fn fact_text(owner: Owner, number: u64) -> String {
    format!("<fact {owner} {number}>")
}

impl Fact {
    pub(crate) fn owner(self, actor: u32) -> Owner {
        if self.is_shared {
            Owner::All
        } else {
            Owner::Actor(actor)
        }
    }
}

impl Pattern {
    /// Who asserted what the captures are about.
    pub(crate) fn source(self, captures: &[String]) -> Option<Owner> {
        match self {
            Self::Of(owner) => Some(owner),
            Self::Both | Self::Number(_) => owner_in(captures.first()?),
            Self::Whole => owner_in(captures.first()?.split(' ').nth(1)?),
            Self::Merged | Self::Any => None,
        }
    }
}

fn owner_in(text: &str) -> Option<Owner> {
    match text {
        "all" => Some(Owner::All),
        _ => text.strip_prefix('a')?.parse().ok().map(Owner::Actor),
    }
}
