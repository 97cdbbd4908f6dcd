//! How a frame that waits in the code of a unit goes on in that of a later version of it.
//!
//! A frame moves if its call is a call of the procedure that takes the place of its own, and if
//! everything that the new code reads afterwards is something that the old code would have read:
//! what it would not read may be gone, depending on when a collection ran.
//! INVARIANT: a plan depends on the two units only, never on values, collections or tiers.
//! It does not write frames; `machine/moving.rs` does.
//! Read next: `core/alignment.rs`, `machine/moving.rs`.

mod arguments;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::CodeSpace;
use crate::compiler::{Content, Place, Site, UnitVariables, literal_word};
use crate::core::alignment::Alignment;
use crate::core::{Core, CoreId, Unit, VariableId};
use crate::heap::LiveRegisters;
use crate::instruction::Opcode;
use crate::value::{Immediate, Value};

/// Where a register of a moved frame has its word from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The new code does not read it.
    Nothing,
    /// This register of the frame before.
    Register(u16),
    /// A cell that is made for the value in this register.
    Cell(u16),
    /// This word.
    Word(Value),
    /// A literal that the person gives, by number.
    Given(usize),
    /// A cell that is made for such a literal.
    GivenCell(usize),
    /// The value of an expression of the person's, by its number in [`FrameMove::computed`].
    Computed(usize),
    /// A cell that is made for such a value.
    ComputedCell(usize),
}

/// The value that the person gives to a variable which a frame does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A literal, by number.
    Literal(usize),
    /// The value of an expression over variables of the frame.
    Expression {
        /// Its number.
        number: usize,
        /// The names that occur in it.
        names: BTreeSet<String>,
    },
}

/// An expression that has to be evaluated for a frame before it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// The number of the expression.
    pub number: usize,
    /// The variables of the frame that occur in it, by name.
    pub inputs: Vec<FrameVariable>,
}

impl Computed {
    /// The names of the variables, in order.
    pub fn names(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.name.clone()).collect()
    }
}

/// Where a frame has the value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameVariable {
    /// Its name in the text.
    pub name: String,
    /// The register.
    pub register: u16,
    /// Whether the register has a cell with the value.
    pub is_in_cell: bool,
}

/// What the person and the patch say about all frames of a unit.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The top-level forms of the new unit that the patch evaluates.
    pub apart: Vec<CoreId>,
    /// Values for variables that frames do not have.
    pub given: BTreeMap<String, Given>,
}

/// How a frame moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameMove {
    /// The position in the code where it goes on.
    pub position: u32,
    /// The registers of the new frame.
    pub registers: Vec<Source>,
    /// The expressions whose values it needs.
    pub computed: Vec<Computed>,
    /// The variables whose values the person gives.
    pub given: BTreeSet<String>,
    /// The top-level form of the new unit at which it goes on, by number, if it is the frame of the
    /// unit's body.
    pub top: Option<usize>,
}

/// A frame whose move is planned.
struct Planned<'a> {
    /// Where it waits in the old unit.
    site: &'a Site,
    /// The contents of its registers that the new frame has not taken.
    held: Vec<(u16, Content)>,
    /// The expressions and values that it needs of the person, as far as is known.
    computed: Vec<Computed>,
    given: BTreeSet<String>,
}

/// Why a frame stays in the code in which it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It waits where no call of the text stands.
    NoCall,
    /// No procedure of the new text takes the place of its own.
    NoSuccessor,
    /// The new text does not have the call, or it cannot be told from others.
    CallGone,
    /// The call is part of another procedure's code now.
    OtherCode,
    /// The new code needs a variable that the old code does not keep there.
    Variable(String),
    /// The new code needs values of operands that the frame does not have, or the reverse.
    Operands,
    /// A variable is assigned in one of the texts only, and closures hold it.
    Assigned(String),
    /// The new code needs the running procedure itself.
    Procedure,
    /// Top-level forms have changed sides, or the patch evaluates one that is still to come.
    Order,
    /// The compiler has put an argument of a call that is under way into the new code, and it is
    /// not that of the frame.
    Argument(String),
    /// The person gives a variable in whose place the new code has an argument of its own.
    Embedded(String),
    /// Its procedure is too large to say what it keeps.
    TooLarge,
}

impl fmt::Display for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kept::NoCall => formatter.write_str("it does not wait in a call of its text"),
            Kept::NoSuccessor => {
                formatter.write_str("no procedure of the new text has its name and the variables that it has captured")
            }
            Kept::CallGone => formatter.write_str("the new text does not have the call, or has several that are alike"),
            Kept::OtherCode => formatter.write_str("the call is part of another procedure in the new text"),
            Kept::Variable(name) => write!(
                formatter,
                "the new text needs `{name}`, which the frame does not have; `--let {name}=EXPRESSION` gives it"
            ),
            Kept::Operands => formatter.write_str("the call is an operand, and those before it differ"),
            Kept::Assigned(name) => write!(formatter, "only one of the texts assigns `{name}`"),
            Kept::Procedure => {
                formatter.write_str("the new text needs the procedure itself, which the frame does not have")
            }
            Kept::Order => {
                formatter.write_str("forms of the text that are evaluated already would come again, or never")
            }
            Kept::Argument(name) => write!(
                formatter,
                "the new text passes something else for `{name}` to a procedure that has begun"
            ),
            Kept::Embedded(name) => write!(
                formatter,
                "the new text passes `{name}` itself where the frame waits, so `--let` cannot give it"
            ),
            Kept::TooLarge => formatter.write_str("its procedure is too large"),
        }
    }
}

/// A unit with what its frames hold.
struct Part {
    unit: Arc<Unit>,
    /// The position of its first instruction.
    start: u32,
    /// The number of its first block in the code space.
    entry_block: usize,
    variables: UnitVariables,
    sites: Vec<Site>,
}

impl Part {
    fn of(code: &CodeSpace, unit: Arc<Unit>, number: usize, variables: UnitVariables) -> Self {
        let loaded = &code.units()[number];
        Self {
            unit,
            start: loaded.start,
            entry_block: loaded.entry_block,
            sites: variables.sites(),
            variables,
        }
    }
}

/// A loaded unit with its number in the code space, and its variables.
pub struct LoadedVersion {
    /// Its core forms.
    pub unit: Arc<Unit>,
    /// Its number.
    pub number: usize,
    /// Where its variables are.
    pub variables: UnitVariables,
}

/// The moves of frames from a unit to a later version of it.
pub struct Moves {
    alignment: Alignment,
    old: Part,
    new: Part,
    /// The top-level forms of the new unit that are evaluated apart, by number.
    apart: BTreeSet<usize>,
    given: BTreeMap<String, Given>,
}

impl Moves {
    /// The moves from a unit to another.
    pub fn between(code: &CodeSpace, old: LoadedVersion, new: LoadedVersion, terms: Terms) -> Self {
        let alignment = Alignment::of(&old.unit, &new.unit);
        let apart = terms.apart.iter().filter_map(|node| alignment.new_top(*node)).collect();
        Self {
            old: Part::of(code, old.unit, old.number, old.variables),
            new: Part::of(code, new.unit, new.number, new.variables),
            alignment,
            apart,
            given: terms.given,
        }
    }

    /// Plans the move of a frame with this return point, to the code of the block that takes the
    /// place of its own.
    ///
    /// # Errors
    /// [`Kept`] if it stays.
    pub fn plan(&self, code: &CodeSpace, point: Value, successor: Option<usize>) -> Result<FrameMove, Kept> {
        let site = self.site_before(code, point).ok_or(Kept::NoCall)?;
        let is_body = site.block == 0;
        let successor = successor.ok_or(Kept::NoSuccessor)?;
        let place = self.place(&site.place).ok_or(Kept::CallGone)?;
        let mut found = self.new.sites.iter().filter(|site| site.place == place);
        let mut own = found
            .clone()
            .filter(|site| self.new.entry_block + site.block == successor);
        let (Some(new), None) = (own.next(), own.next()) else {
            return Err(if found.next().is_some() {
                Kept::OtherCode
            } else {
                Kept::CallGone
            });
        };
        if is_body {
            self.check_order(site, new)?;
        }
        self.registers(code, point, site, new)
    }

    /// The call that a frame with this return point waits for.
    fn site_before(&self, code: &CodeSpace, point: Value) -> Option<&Site> {
        let position = point.payload().checked_sub(1)?;
        let window = window_at(code, position)?;
        let is_call = point.is_immediate(Immediate::Return) && window + 1 == point.detail() as usize;
        let offset = position.checked_sub(self.old.start).filter(|_| is_call)?;
        self.old.sites.iter().find(|site| site.offset == offset)
    }

    fn place(&self, place: &Place) -> Option<Place> {
        place.iter().map(|node| self.alignment.node(*node)).collect()
    }

    /// Checks that the forms before the place have been evaluated, and no others.
    fn check_order(&self, old: &Site, new: &Site) -> Result<(), Kept> {
        let (Some(before), Some(now)) = (old.place.first(), new.place.first()) else {
            return Err(Kept::CallGone);
        };
        let own = self.alignment.new_top(*now);
        let comes_again = own.is_none_or(|own| self.apart.range(own..).next().is_some());
        if comes_again || !self.alignment.keeps_order(*before, *now) {
            return Err(Kept::Order);
        }
        Ok(())
    }

    /// Finds for each register that the new code reads after the call the one that holds the same.
    fn registers(&self, code: &CodeSpace, point: Value, old: &Site, new: &Site) -> Result<FrameMove, Kept> {
        let position = self.new.start + new.offset;
        let window = window_at(code, position).ok_or(Kept::CallGone)?;
        let (Some(kept), Some(needed)) = (code.live_at(point.payload()), code.live_at(position + 1)) else {
            return Err(Kept::TooLarge);
        };
        self.check_arguments(old, new)?;
        let mut frame = Planned {
            site: old,
            held: self.held(kept, point.detail() as usize - 1, old),
            computed: Vec::new(),
            given: BTreeSet::new(),
        };
        let mut registers = vec![Source::Nothing; window];
        let wanted = self.new.variables.contents_at(new);
        for register in (0..window as u16).filter(|register| is_in(needed, *register)) {
            registers[usize::from(register)] = if register == 0 {
                is_in(kept, 0).then_some(Source::Register(0)).ok_or(Kept::Procedure)?
            } else {
                let content = wanted.iter().find(|(other, _)| *other == register);
                self.source(&mut frame, &content.ok_or(Kept::Operands)?.1)?
            };
        }
        // What the old code would still have used must not be lost.
        if frame.held.iter().any(|(_, content)| self.would_be_lost(content)) {
            return Err(Kept::Operands);
        }
        Ok(FrameMove {
            position: position + 1,
            registers,
            computed: frame.computed,
            given: frame.given,
            top: new
                .place
                .first()
                .filter(|_| new.block == 0)
                .and_then(|form| self.alignment.new_top(*form)),
        })
    }

    /// What a frame of the old unit holds in its registers at a call, as far as the old code reads
    /// it afterwards.
    fn held(&self, live: &[u64], window: usize, site: &Site) -> Vec<(u16, Content)> {
        let mut held = self.old.variables.contents_at(site);
        held.retain(|(register, _)| usize::from(*register) < window && is_in(live, *register));
        held
    }

    /// Lists the expressions that frames of the old unit may need, each with the variables that
    /// a frame has of those which occur in it.
    pub fn expressions(&self, code: &CodeSpace) -> BTreeSet<(usize, Vec<String>)> {
        let mut found = BTreeSet::new();
        for site in &self.old.sites {
            let position = self.old.start + site.offset;
            let (Some(live), Some(window)) = (code.live_at(position + 1), window_at(code, position)) else {
                continue;
            };
            let held = self.held(live, window, site);
            for given in self.given.values() {
                if let Given::Expression { number, names } = given {
                    let (number, inputs) = (*number, inputs(&held, names));
                    found.insert((number, Computed { number, inputs }.names()));
                }
            }
        }
        found
    }

    /// Finds what a register of the new frame holds among what the old one holds; operands are
    /// taken from there.
    fn source(&self, frame: &mut Planned<'_>, wanted: &Content) -> Result<Source, Kept> {
        let found = frame.held.iter().position(|(_, content)| self.is_same(content, wanted));
        let Some(found) = found else {
            return match wanted {
                Content::Variable { name, is_in_cell, .. } => match self.passed(frame, wanted) {
                    Some(source) => Ok(source),
                    None => self.given(frame, name.as_str(), *is_in_cell),
                },
                Content::Value(place) => self.steady(&frame.held, place).ok_or(Kept::Operands),
                Content::Partial(..) => Err(Kept::Operands),
            };
        };
        let register = frame.held[found].0;
        let (
            Content::Variable {
                is_in_cell: was_in_cell,
                is_captured,
                ..
            },
            Content::Variable { is_in_cell, name, .. },
        ) = (&frame.held[found].1, wanted)
        else {
            frame.held.remove(found);
            return Ok(Source::Register(register));
        };
        match (was_in_cell, is_in_cell) {
            (true, true) | (false, false) => Ok(Source::Register(register)),
            (false, true) if !is_captured => Ok(Source::Cell(register)),
            _ => Err(Kept::Assigned(name.as_str().to_owned())),
        }
    }

    /// Where a variable has its value from that the frame does not have.
    fn given(&self, frame: &mut Planned<'_>, name: &str, is_in_cell: bool) -> Result<Source, Kept> {
        let given = self.given.get(name);
        let given = given.ok_or_else(|| Kept::Variable(name.to_owned()))?;
        frame.given.insert(name.to_owned());
        Ok(match given {
            Given::Literal(number) if is_in_cell => Source::GivenCell(*number),
            Given::Literal(number) => Source::Given(*number),
            Given::Expression { number, names } => {
                let (number, place) = (*number, frame.computed.len());
                let inputs = inputs(&frame.held, names);
                frame.computed.push(Computed { number, inputs });
                if is_in_cell {
                    Source::ComputedCell(place)
                } else {
                    Source::Computed(place)
                }
            }
        })
    }

    /// Where an operand has its value from that is the same whenever it is evaluated: a small
    /// literal, or a variable that nobody assigns.
    fn steady(&self, held: &[(u16, Content)], place: &Place) -> Option<Source> {
        let (node, around) = place.split_last()?;
        let form = &self.new.unit.nodes[node.0 as usize];
        if let Core::Constant(datum) = form {
            return literal_word(datum).map(Source::Word);
        }
        let Core::Local(wanted) = form else { return None };
        if self.new.unit.variables[wanted.0 as usize].is_assigned {
            return None;
        }
        let around = around.to_vec();
        let is_it = |content: &Content| {
            matches!(content, Content::Variable { around: own, variable, is_in_cell: false, .. }
                if self.is_same_variable((own, *variable), (&around, *wanted)))
        };
        let found = held.iter().find(|(_, content)| is_it(content));
        found.map(|(register, _)| Source::Register(*register))
    }

    /// Whether something of the old frame that the new one does not take cannot be had again.
    fn would_be_lost(&self, content: &Content) -> bool {
        let node = match content {
            Content::Variable { .. } => return false,
            Content::Partial(..) => return true,
            Content::Value(place) => place.last().map(|node| &self.old.unit.nodes[node.0 as usize]),
        };
        match node {
            Some(Core::Local(variable)) => self.old.unit.variables[variable.0 as usize].is_assigned,
            Some(Core::Constant(_) | Core::Primitive(_)) => false,
            _ => true,
        }
    }

    /// Whether something of the old frame is something of the new one.
    fn is_same(&self, old: &Content, new: &Content) -> bool {
        match (old, new) {
            (
                Content::Variable {
                    around: one_around,
                    variable: one,
                    ..
                },
                Content::Variable {
                    around: other_around,
                    variable: other,
                    ..
                },
            ) => self.is_same_variable((one_around, *one), (other_around, *other)),
            (Content::Value(one), Content::Value(other)) => self.place(one).as_ref() == Some(other),
            (Content::Partial(one, one_count), Content::Partial(other, other_count)) => {
                one_count == other_count
                    && self.place(one).as_ref() == Some(other)
                    && self.are_first_operands_same(one, other, *one_count)
            }
            _ => false,
        }
    }

    fn is_same_variable(&self, old: (&Place, VariableId), new: (&Place, VariableId)) -> bool {
        self.alignment.variable(old.1) == Some(new.1) && self.place(old.0).as_ref() == Some(new.0)
    }

    /// Whether the first operand of two calls and `count` more after it are the same.
    fn are_first_operands_same(&self, old: &Place, new: &Place, count: usize) -> bool {
        let operands = |unit: &Unit, place: &Place| match place.last().map(|node| &unit.nodes[node.0 as usize]) {
            Some(Core::Call { arguments, .. }) => arguments.iter().take(count + 1).copied().collect(),
            _ => Vec::new(),
        };
        let (olds, news) = (operands(&self.old.unit, old), operands(&self.new.unit, new));
        let mut pairs = olds.iter().zip(&news);
        olds.len() == news.len() && pairs.all(|(one, other)| self.alignment.node(*one) == Some(*other))
    }
}

/// The variables that a frame has of those with some names; inner ones hide outer ones.
fn inputs(held: &[(u16, Content)], names: &BTreeSet<String>) -> Vec<FrameVariable> {
    let mut found: BTreeMap<&str, FrameVariable> = BTreeMap::new();
    for (register, content) in held {
        if let Content::Variable { name, is_in_cell, .. } = content
            && names.contains(name.as_str())
        {
            let variable = FrameVariable {
                name: name.as_str().to_owned(),
                register: *register,
                is_in_cell: *is_in_cell,
            };
            found.insert(name.as_str(), variable);
        }
    }
    found.into_values().collect()
}

/// The window of the call at a position.
fn window_at(code: &CodeSpace, position: u32) -> Option<usize> {
    let instruction = code.instructions().get(position as usize)?;
    let opcode = instruction.opcode()?;
    matches!(opcode, Opcode::Call | Opcode::CallGlobal | Opcode::CallSelf).then(|| instruction.a())
}

fn is_in(map: &[u64], register: u16) -> bool {
    let word = map.get(usize::from(register) / 64).copied().unwrap_or(0);
    word >> (register % 64) & 1 == 1
}
