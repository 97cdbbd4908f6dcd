//! The tests that decided which instructions were executed: what a condition chose leads back to
//! it.
//!
//! Of each test in each call in progress the trace keeps the last outcome. The code says which
//! tests decide about an instruction; the one of them that was executed last has decided.
//! INVARIANT: a test has an origin only once a value leads back to it.
//! It does not know which values are chosen in the text. Read next: `../../code/dependence.rs`.

use std::collections::BTreeMap;

use crate::code::{CodeSpace, Dependence};
use crate::value::Value;

use super::{OriginId, Place, Sort, Trace};

/// The maximum number of tests to which one value leads back.
const CONDITIONS_MAX: usize = 4;

/// The place of a test in a call that the procedure around it has passed on.
const PASSED_ON: u32 = u32::MAX;

/// The outcome of a test.
#[derive(Clone, Copy, Debug)]
struct Decision {
    /// How many tests were executed before.
    number: u64,
    at: Place,
    /// The truth that the jump computed, or the value that it tested.
    value: Value,
    /// The origins of what it compared; of the value itself if it tested one.
    operands: [OriginId; 2],
    /// Whether the jump compared values, so that no other instruction has made the truth.
    is_comparison: bool,
}

/// The outcomes of the tests in the calls that are in progress.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    count: u64,
    /// The last outcome, by call and place.
    latest: BTreeMap<(OriginId, u32), Decision>,
    /// The dependence of each block, by its first position.
    blocks: BTreeMap<u32, Option<Dependence>>,
}

impl Decisions {
    fn dependence(&mut self, code: &CodeSpace, position: u32) -> Option<&Dependence> {
        let block = code.block_at(position)?;
        let compute = || {
            let instructions = code.instructions().get(block.start as usize..block.end as usize)?;
            Dependence::of(instructions, block.start)
        };
        self.blocks.entry(block.start).or_insert_with(compute).as_ref()
    }

    /// The test that decided that the instruction at a place of its procedure was executed.
    fn nearest(&mut self, code: &CodeSpace, at: Place) -> Option<Decision> {
        let deciding = self.dependence(code, at.position)?.deciding(at.position).to_vec();
        let known = deciding
            .into_iter()
            .filter_map(|jump| self.latest.get(&(at.caller, jump)));
        known.max_by_key(|decision| decision.number).copied()
    }

    /// The same, or else the test that decided about the call of the procedure.
    fn nearest_or_passed_on(&mut self, code: &CodeSpace, at: Place) -> Option<Decision> {
        let passed_on = (at.caller, PASSED_ON);
        self.nearest(code, at).or_else(|| self.latest.get(&passed_on).copied())
    }
}

/// A test that was executed.
pub(super) struct Tested {
    pub(super) at: Place,
    /// Whether the jump jumps if its condition holds.
    pub(super) jumps_if: bool,
    pub(super) has_jumped: bool,
    /// Whether the jump compares values, or tests one that another instruction has made.
    pub(super) is_comparison: bool,
}

impl Trace {
    /// Notes the outcome of a test.
    pub(super) fn note_test(&mut self, tested: &Tested, inputs: &[(Value, OriginId)]) {
        let mut operands = inputs.iter().map(|(_, id)| *id);
        let value = inputs.first().map_or(Value::UNSPECIFIED, |(value, _)| *value);
        self.decisions.count += 1;
        let decision = Decision {
            number: self.decisions.count,
            at: tested.at,
            value: match tested.is_comparison {
                true => Value::boolean(tested.jumps_if == tested.has_jumped),
                false => value,
            },
            operands: [operands.next().unwrap_or(0), operands.next().unwrap_or(0)],
            is_comparison: tested.is_comparison,
        };
        let place = (tested.at.caller, tested.at.position);
        self.decisions.latest.insert(place, decision);
    }

    /// Forgets the tests of a call that has returned. The outermost procedures of all computations
    /// are one call, 0; another of them may still wait.
    pub(super) fn forget_tests(&mut self, call: OriginId) {
        if call == 0 {
            return;
        }
        let tests = self.decisions.latest.range((call, 0)..=(call, PASSED_ON));
        let places: Vec<(OriginId, u32)> = tests.map(|(place, _)| *place).collect();
        for place in places {
            self.decisions.latest.remove(&place);
        }
    }

    /// Notes which test has decided that a procedure is called whose value is that of the caller's
    /// way.
    pub(super) fn pass_on(&mut self, code: &CodeSpace, at: Place, call: OriginId) {
        let dependence = self.decisions.dependence(code, at.position);
        let is_choice = call == at.caller || dependence.is_some_and(|found| found.is_choice(at.position));
        if let Some(decision) = is_choice.then(|| self.decisions.nearest(code, at)).flatten() {
            self.decisions.latest.insert((call, PASSED_ON), decision);
        }
    }

    /// The origins of the tests that have chosen what the instruction at a place makes, the nearest
    /// first.
    pub(super) fn conditions(&mut self, code: &CodeSpace, at: Place) -> Vec<OriginId> {
        let dependence = self.decisions.dependence(code, at.position);
        if !dependence.is_some_and(|found| found.is_choice(at.position)) {
            return Vec::new();
        }
        let mut conditions = Vec::new();
        let mut next = self.decisions.nearest_or_passed_on(code, at);
        if next.is_none() {
            return self.unknown_condition(code, at).into_iter().collect();
        }
        while let Some(decision) = next.filter(|_| conditions.len() < CONDITIONS_MAX) {
            conditions.push(self.condition(&decision));
            let further = self.decisions.nearest(code, decision.at);
            next = further.filter(|further| further.number < decision.number);
        }
        conditions
    }

    /// The condition that nobody traced, if there is one: it has no parts.
    fn unknown_condition(&mut self, code: &CodeSpace, at: Place) -> Option<OriginId> {
        let dependence = self.decisions.dependence(code, at.position)?;
        let position = *dependence.deciding(at.position).last()?;
        let place = Place { position, ..at };
        Some(self.made(Sort::Condition, Value::UNSPECIFIED, place, &[]))
    }

    fn condition(&mut self, decision: &Decision) -> OriginId {
        let Decision { at, value, .. } = *decision;
        if !decision.is_comparison {
            return self.made(Sort::Condition, value, at, &decision.operands);
        }
        let truth = self.made(Sort::Tested, value, at, &decision.operands);
        self.made(Sort::Condition, value, at, &[truth])
    }

    /// The origin of a variable's value where a condition has chosen it; else that of the value.
    pub(super) fn chosen(&mut self, code: &CodeSpace, at: Place, value: (Value, OriginId)) -> OriginId {
        let conditions = self.conditions(code, at);
        if conditions.is_empty() {
            return value.1;
        }
        let parts: Vec<OriginId> = std::iter::once(value.1).chain(conditions).collect();
        self.made(Sort::Chosen, value.0, at, &parts)
    }
}
