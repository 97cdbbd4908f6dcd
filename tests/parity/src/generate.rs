//! Random programs.
//!
//! INVARIANT: the same seed gives the same program. In a program whose watches react, each actor
//! reacts to one source only and reacts by nothing that looks at what others assert, so what it
//! does is a function of what that source does, whatever the order of the others.
//! Read next: `ours.rs`.

use crate::program::{Fact, Operation, Owner, Pattern, Program, Round, SLOTS, Wait, Watch};

/// A generator of numbers.
///
/// Source: SplitMix64, Steele, Lea and Flood, OOPSLA 2014.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn slot(&mut self) -> usize {
        self.below(SLOTS as u64) as usize
    }
}

/// Where an operation stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a round or in a facet's body.
    Round,
    /// In the first turn of an actor that another one makes.
    NewActor,
    Reaction,
    Hook,
}

struct Generator {
    random: Random,
    is_reactive: bool,
    actors: u32,
    watches: u32,
    waits: u32,
    /// The actors that react already.
    reacting: Vec<u32>,
}

/// Makes a program.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let actors = 1 + random.below(4) as u32;
    let is_reactive = random.one_in(2);
    let rounds = 1 + random.below(12);
    let mut generator = Generator {
        random,
        is_reactive,
        actors,
        watches: 0,
        waits: 0,
        reacting: Vec::new(),
    };
    let rounds = (0..rounds).map(|_| generator.round()).collect();
    Program {
        is_reactive,
        actors,
        rounds,
    }
}

impl Generator {
    fn round(&mut self) -> Round {
        // Actors that are spawned have their rounds too.
        let actor = self.random.below(u64::from(self.actors)) as u32;
        let operations = self.operations(actor, Place::Round, 3);
        Round { actor, operations }
    }

    fn operations(&mut self, actor: u32, place: Place, depth: u32) -> Vec<Operation> {
        let most = if place == Place::Hook { 2 } else { 6 };
        let count = 1 + self.random.below(most);
        (0..count).map(|_| self.operation(actor, place, depth)).collect()
    }

    fn operation(&mut self, actor: u32, place: Place, depth: u32) -> Operation {
        let is_flat = depth == 0 || matches!(place, Place::Hook | Place::Reaction);
        loop {
            let choice = self.random.below(43);
            return match choice {
                0..=9 => Operation::Assert(self.random.slot(), self.fact()),
                10..=13 => Operation::Retract(self.random.slot()),
                14..=16 => Operation::Update(self.random.slot(), self.fact()),
                17..=19 => Operation::Message(self.fact()),
                20..=25 if place == Place::Round || (place == Place::NewActor && !self.is_reactive) => {
                    Operation::Watch(self.watch(actor))
                }
                26 if place == Place::Round => Operation::Unwatch(self.random.slot()),
                27..=29 if !is_flat => Operation::Facet(self.random.slot(), self.operations(actor, place, depth - 1)),
                30 if !is_flat => Operation::In(self.random.slot(), self.operations(actor, place, depth - 1)),
                31 | 32 if place != Place::Hook => Operation::StopFacet(self.random.slot()),
                33 if place != Place::Hook && self.random.one_in(3) => Operation::StopSelf,
                34 | 35 if place != Place::Hook => Operation::OnStop(self.operations(actor, Place::Hook, 0)),
                36 if !is_flat => {
                    let new_actor = self.actors;
                    self.actors += 1;
                    Operation::Spawn(new_actor, self.operations(new_actor, Place::NewActor, depth - 1))
                }
                37 if place != Place::Hook => Operation::Sync,
                38 if place != Place::Hook && self.random.one_in(3) => Operation::Crash,
                40..=42 if place != Place::Hook => Operation::Wait(self.wait(actor, place)),
                39 if place != Place::Hook && self.random.one_in(4) => Operation::Exit,
                _ => continue,
            };
        }
    }

    fn fact(&mut self) -> Fact {
        Fact {
            is_shared: !self.is_reactive && self.random.one_in(2),
            number: self.random.below(3),
        }
    }

    fn owner(&mut self) -> Owner {
        if !self.is_reactive && self.random.one_in(3) {
            Owner::All
        } else {
            Owner::Actor(self.random.below(u64::from(self.actors)) as u32)
        }
    }

    /// A wait in a reaction, or of an actor that begins, is on its way together with what others do
    /// meanwhile, so it looks at own facts only.
    fn wait(&mut self, actor: u32, place: Place) -> Wait {
        let name = self.waits;
        self.waits += 1;
        let is_alone = place == Place::Round || !self.is_reactive;
        let owner = self.owner();
        Wait {
            name,
            owner: if is_alone { owner } else { Owner::Actor(actor) },
            number: self.random.below(3),
            has_begun: false,
        }
    }

    fn watch(&mut self, actor: u32) -> Watch {
        let name = self.watches;
        self.watches += 1;
        let slot = self.random.slot();
        let is_reacting = self.is_reactive && !self.reacting.contains(&actor) && self.random.one_in(2);
        if is_reacting {
            self.reacting.push(actor);
            let pattern = Pattern::Of(self.owner());
            let count = 1 + self.random.below(3);
            let reactions = (0..count).map(|_| self.operations(actor, Place::Reaction, 0)).collect();
            return Watch {
                name,
                slot,
                pattern,
                reactions,
            };
        }
        let number = self.random.below(3);
        let pattern = match self.random.below(if self.is_reactive { 4 } else { 6 }) {
            0 => Pattern::Both,
            1 => Pattern::Of(self.owner()),
            2 => Pattern::Number(number),
            3 => Pattern::Whole,
            4 => Pattern::Merged,
            _ => Pattern::Any,
        };
        Watch {
            name,
            slot,
            pattern,
            reactions: Vec::new(),
        }
    }
}
