//! Control dependence: which jumps decide whether an instruction of a block is executed.
//!
//! A jump decides about an instruction if one of its ways leads there for certain and another may
//! miss it, which follows from the postdominators of the block's flow graph.
//! INVARIANT: it follows from the loaded code and is computed when somebody asks; units keep
//! nothing for it.
//! It does not know which way a jump took; `machine/tracing/decision.rs` does.
//!
//! Source: Ferrante, Ottenstein, Warren, "The program dependence graph and its use in
//! optimization" (1987); Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001).

use super::verify::ends_block;
use crate::instruction::{Field, Instruction, Opcode, Role};

/// Nothing is known of longer blocks.
const INSTRUCTIONS_MAX: usize = 64 * 1024;

/// The control dependence of one block.
#[derive(Debug)]
pub(crate) struct Dependence {
    /// The position of its first instruction.
    start: u32,
    /// For each instruction the jumps that decide about it, by their positions.
    deciding: Vec<Vec<u32>>,
    /// Whether each instruction makes the value of a way on which it stands, or assigns it.
    choices: Vec<bool>,
}

impl Dependence {
    /// The control dependence of a verified block whose first instruction has this position.
    pub(crate) fn of(instructions: &[Instruction], start: u32) -> Option<Self> {
        if instructions.len() > INSTRUCTIONS_MAX {
            return None;
        }
        let graph = Graph::of(instructions);
        let after = graph.postdominators();
        let mut deciding = vec![Vec::new(); instructions.len()];
        for (at, instruction) in instructions.iter().enumerate() {
            let Some(end) = after[at].filter(|_| instruction.jumps_if().is_some()) else {
                continue;
            };
            for mut next in graph.successors[at].iter().flatten().copied() {
                while next != end && next != instructions.len() {
                    deciding[next].push(start + at as u32);
                    let Some(further) = after[next] else { break };
                    next = further;
                }
            }
        }
        let choices = (0..instructions.len()).map(|at| graph.is_choice(instructions, at));
        Some(Self {
            start,
            deciding,
            choices: choices.collect(),
        })
    }

    /// The positions of the jumps that decide whether the instruction at a position is executed.
    pub(crate) fn deciding(&self, position: u32) -> &[u32] {
        let at = position.checked_sub(self.start);
        at.and_then(|at| self.deciding.get(at as usize))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether the instruction at a position makes the value of the way on which it stands, or one
    /// that is assigned there.
    pub(crate) fn is_choice(&self, position: u32) -> bool {
        let at = position.checked_sub(self.start);
        at.and_then(|at| self.choices.get(at as usize))
            .copied()
            .unwrap_or(false)
    }
}

/// The flow graph of a block: its instructions, and its end behind them.
struct Graph {
    successors: Vec<[Option<usize>; 2]>,
    predecessors: Vec<Vec<usize>>,
}

impl Graph {
    fn of(instructions: &[Instruction]) -> Self {
        let end = instructions.len();
        let mut predecessors = vec![Vec::new(); end + 1];
        let successors = instructions.iter().enumerate().map(|(at, instruction)| {
            let ways = successors(*instruction, at, end);
            for next in ways.iter().flatten() {
                predecessors[*next].push(at);
            }
            ways
        });
        let successors = successors.collect();
        Self {
            successors,
            predecessors,
        }
    }

    /// For each instruction the nearest one through which all ways to the end lead; nothing for one
    /// from which none does.
    fn postdominators(&self) -> Vec<Option<usize>> {
        let end = self.successors.len();
        let order = self.backward_order();
        let mut numbers = vec![0; end + 1];
        for (number, node) in order.iter().enumerate() {
            numbers[*node] = number;
        }
        let mut after: Vec<Option<usize>> = vec![None; end + 1];
        after[end] = Some(end);
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for node in order.iter().rev().filter(|node| **node != end) {
                let known = self.successors[*node].iter().flatten().copied();
                let known = known.filter(|next| after[*next].is_some());
                let nearest = known.reduce(|one, other| common(&after, &numbers, (one, other)));
                has_changed |= after[*node] != nearest;
                after[*node] = nearest;
            }
        }
        after
    }

    /// The nodes from which a way leads to the end, each behind those that a search backwards from
    /// the end reached through it.
    fn backward_order(&self) -> Vec<usize> {
        let end = self.successors.len();
        let mut is_seen = vec![false; end + 1];
        is_seen[end] = true;
        let (mut order, mut left) = (Vec::new(), vec![(end, 0)]);
        while let Some((node, number)) = left.pop() {
            let Some(before) = self.predecessors[node].get(number) else {
                order.push(node);
                continue;
            };
            left.push((node, number + 1));
            if !std::mem::replace(&mut is_seen[*before], true) {
                left.push((*before, 0));
            }
        }
        order
    }

    /// Whether an instruction is the last one of a way before ways meet or the procedure returns,
    /// or the last one before an assignment of what it wrote.
    fn is_choice(&self, instructions: &[Instruction], at: usize) -> bool {
        let opcode = |at: usize| instructions.get(at).and_then(Instruction::opcode);
        if opcode(at) == Some(Opcode::Return) {
            let before = at.checked_sub(1).and_then(|before| written_by(&instructions[before]));
            return before != Some(instructions[at].a());
        }
        let Some(register) = written_by(&instructions[at]).filter(|_| self.successors[at][0] == Some(at + 1)) else {
            return false;
        };
        let assigns = |next: &Instruction| {
            next.opcode() == Some(Opcode::SetGlobal) && next.a() == register
                || next.opcode() == Some(Opcode::CellSet) && next.b() == register
        };
        let meets = self.predecessors[at + 1].iter().filter(|before| **before <= at).count() > 1;
        let is_last = matches!(opcode(at + 1), Some(Opcode::Return | Opcode::Jump));
        // An instruction in between may fetch the cell.
        let is_kept = instructions.get(at + 1).and_then(written_by) != Some(register);
        let is_assigned = |next: usize| instructions.get(next).is_some_and(assigns);
        meets || is_last || is_assigned(at + 1) || is_kept && is_assigned(at + 2)
    }
}

/// The nearest node through which all ways from two others lead.
fn common(after: &[Option<usize>], numbers: &[usize], pair: (usize, usize)) -> usize {
    let (mut one, mut other) = pair;
    while one != other {
        let further = if numbers[one] < numbers[other] {
            &mut one
        } else {
            &mut other
        };
        match after[*further] {
            Some(next) if next != *further => *further = next,
            _ => return *further,
        }
    }
    one
}

fn successors(instruction: Instruction, at: usize, end: usize) -> [Option<usize>; 2] {
    let Some(opcode) = instruction.opcode() else {
        return [Some(end), None];
    };
    // A call of itself enters the block again, in a frame of its own.
    let distance = instruction.jump_distance().filter(|_| opcode != Opcode::CallSelf);
    let target = distance.and_then(|distance| (at + 1).checked_add_signed(distance as isize));
    match (ends_block(opcode), target) {
        (true, None) => [Some(end), None],
        (true, target) => [target, None],
        (false, target) => [Some(at + 1), target],
    }
}

/// The register that an instruction writes.
fn written_by(instruction: &Instruction) -> Option<usize> {
    let operands = instruction.description()?.operands.iter();
    let mut written =
        operands.filter(|(_, role)| matches!(role, Role::Out | Role::Window | Role::Arguments0 | Role::Captures));
    let (field, _): &(Field, Role) = written.next()?;
    Some(instruction.operand(*field) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the jumps that decide about each instruction, and which instructions are choices.
    #[track_caller]
    fn check(instructions: &[Instruction], expected: &[&[u32]], choices: &[u32]) {
        let found = Dependence::of(instructions, 100).expect("the block is short");
        let count = instructions.len() as u32;
        let deciding = (100..100 + count).map(|at| found.deciding(at).to_vec());
        let deciding: Vec<Vec<u32>> = deciding
            .map(|jumps| jumps.iter().map(|at| at - 100).collect())
            .collect();
        assert_eq!(deciding, expected);
        let chosen: Vec<u32> = (0..count).filter(|at| found.is_choice(100 + at)).collect();
        assert_eq!(chosen, choices);
    }

    #[test]
    fn a_jump_decides_about_its_ways_until_they_meet() {
        check(
            &[
                Instruction::abc(Opcode::JumpUnlessLess, 1, 2, 2),
                Instruction::daw(Opcode::Small, 0, 3, 1),
                Instruction::daw(Opcode::Jump, 0, 0, 1),
                Instruction::daw(Opcode::Small, 0, 3, 2),
                Instruction::abc(Opcode::Return, 3, 0, 0),
            ],
            &[&[], &[0], &[0], &[0], &[]],
            &[1, 3],
        );
    }

    #[test]
    fn an_inner_jump_decides_where_an_outer_one_has_led() {
        check(
            &[
                Instruction::daw(Opcode::JumpIfFalse, 0, 1, 3),
                Instruction::daw(Opcode::JumpIfFalse, 0, 2, 2),
                Instruction::daw(Opcode::Small, 0, 3, 1),
                Instruction::abc(Opcode::Return, 3, 0, 0),
                Instruction::abc(Opcode::Return, 1, 0, 0),
            ],
            &[&[], &[0], &[1], &[1], &[0, 1]],
            &[2, 4],
        );
    }

    #[test]
    fn the_only_end_of_a_loop_is_decided_by_nothing() {
        check(
            &[
                Instruction::abc(Opcode::JumpIfLessSmall, 1, 5, 2),
                Instruction::abc(Opcode::AddSmall, 1, 1, 1),
                Instruction::daw(Opcode::Loop, 0, 0, (-3i32) as u32),
                Instruction::daw(Opcode::Small, 0, 2, 7),
                Instruction::abc(Opcode::Return, 2, 0, 0),
            ],
            &[&[0], &[0], &[0], &[], &[]],
            &[3],
        );
    }

    #[test]
    fn an_operand_of_what_is_assigned_is_no_choice() {
        check(
            &[
                Instruction::daw(Opcode::JumpIfFalse, 0, 1, 3),
                Instruction::daw(Opcode::Global, 0, 2, 0),
                Instruction::abc(Opcode::Add, 2, 2, 1),
                Instruction::daw(Opcode::SetGlobal, 0, 2, 0),
                Instruction::abc(Opcode::Return, 1, 0, 0),
            ],
            &[&[], &[0], &[0], &[0], &[]],
            &[2, 4],
        );
    }

    #[test]
    fn ways_without_an_end_decide_about_nothing() {
        check(
            &[
                Instruction::daw(Opcode::JumpIfFalse, 0, 1, 1),
                Instruction::daw(Opcode::Loop, 0, 0, (-2i32) as u32),
                Instruction::daw(Opcode::Loop, 0, 0, (-3i32) as u32),
            ],
            &[&[], &[], &[]],
            &[],
        );
    }
}
