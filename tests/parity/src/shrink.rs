//! Making a program that differs as small as it can be.
//!
//! INVARIANT: what is returned still differs.
//! Read next: `main.rs`.

use crate::program::{Operation, Program};

/// Leaves out whatever can be left out, as long as `differs` holds.
pub(crate) fn shrink(mut program: Program, differs: impl Fn(&Program) -> bool) -> Program {
    'again: loop {
        for position in (0..program.rounds.len()).rev() {
            let mut less = program.clone();
            less.rounds.remove(position);
            if differs(&less) {
                program = less;
                continue 'again;
            }
            for operations in smaller(&program.rounds[position].operations) {
                let mut less = program.clone();
                less.rounds[position].operations = operations;
                if differs(&less) {
                    program = less;
                    continue 'again;
                }
            }
        }
        return program;
    }
}

/// Lists what is left of operations when one is left out, anywhere.
fn smaller(operations: &[Operation]) -> Vec<Vec<Operation>> {
    let mut found = Vec::new();
    for position in 0..operations.len() {
        let with = |changed: Option<Operation>| {
            let mut less = operations.to_vec();
            less.splice(position..=position, changed);
            less
        };
        found.push(with(None));
        found.extend(
            inside(&operations[position])
                .into_iter()
                .map(|changed| with(Some(changed))),
        );
    }
    found
}

fn inside(operation: &Operation) -> Vec<Operation> {
    let wrap =
        |body: &[Operation], wrap: &dyn Fn(Vec<Operation>) -> Operation| smaller(body).into_iter().map(wrap).collect();
    match operation {
        Operation::Facet(slot, body) => wrap(body, &|body| Operation::Facet(*slot, body)),
        Operation::In(slot, body) => wrap(body, &|body| Operation::In(*slot, body)),
        Operation::OnStop(body) => wrap(body, &Operation::OnStop),
        Operation::Spawn(actor, body) => wrap(body, &|body| Operation::Spawn(*actor, body)),
        Operation::Watch(watch) => (0..watch.reactions.len())
            .flat_map(|position| {
                smaller(&watch.reactions[position]).into_iter().map(move |reaction| {
                    let mut less = watch.clone();
                    less.reactions[position] = reaction;
                    Operation::Watch(less)
                })
            })
            .collect(),
        _ => Vec::new(),
    }
}
