//! Programs that are evaluated: in one go, and with everything in a snapshot and restored every few
//! calls. Both must come to the same.

use std::collections::BTreeMap;

use duet_kernel::heap::Register;
use duet_kernel::image::{ChunkName, restore_instance, snapshot};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::printer::write_limited;
use duet_kernel::value::Value;

use super::session::{self, LIMITS, Session};

/// What a program may use in one go.
const FUEL: i64 = 20_000;

/// The longest text of a value.
const CHARACTERS_MAX: usize = 2_000;

/// How often a program is stopped at most; it ends in one go after that.
const STOPS_MAX: i64 = 12;

/// How a program ended: with what fuel left, and what it showed.
#[derive(Debug, PartialEq, Eq)]
struct End {
    shown: String,
    fuel_left: i64,
}

/// Evaluates the bytes as a text.
pub fn run(bytes: &[u8]) {
    check(&String::from_utf8_lossy(bytes));
}

/// Evaluates a text both ways.
pub fn check(text: &str) {
    session::with(|session| {
        let Ok(units) = session.compile(text) else { return };
        let mut machine = Machine::new();
        let whole = evaluate(session, &mut machine, &units, FUEL);
        let Some((End { shown, fuel_left }, words_used)) = whole else {
            return;
        };
        // Where memory runs out depends on when it is collected.
        if words_used > LIMITS.bytes_max / 8 / 8 || shown.contains("out-of-memory") {
            return;
        }
        let slice = ((FUEL - fuel_left) / STOPS_MAX).max(1);
        let Some((parts, _)) = evaluate(session, &mut machine, &units, slice) else {
            return;
        };
        assert_eq!(parts.shown, shown, "stopping and going on changes nothing: {text}");
        assert_eq!(
            parts.fuel_left, fuel_left,
            "stopping and going on costs nothing: {text}"
        );
    });
}

/// Evaluates units, stopping whenever `slice` is used up; how the last one ended, and how many
/// words the heap had then.
fn evaluate(session: &Session, machine: &mut Machine, units: &[usize], slice: i64) -> Option<(End, usize)> {
    let (mut instance, procedure) = session.instance(machine, units)?;
    instance.heap.begin_turn();
    machine.start(&mut instance, procedure, &[]);
    let mut left = FUEL;
    loop {
        let mut fuel = left.min(slice);
        left -= fuel;
        let outcome = machine.run(&mut instance, &session.code, &mut fuel).ok()?;
        left += fuel;
        let shown = match outcome {
            Outcome::OutOfFuel if left > 0 => {
                instance = moved(session, machine, instance)?;
                continue;
            }
            Outcome::OutOfFuel => "out of fuel".to_owned(),
            Outcome::Exhausted => return None,
            Outcome::Finished(value) => print(&instance, session, value),
            Outcome::Uncaught(object) => format!("uncaught {}", print(&instance, session, object)),
            Outcome::Request { primitive, count } => {
                let arguments = machine.arguments(count);
                let name = session.code.primitives()[primitive as usize].name;
                let arguments = arguments.iter().map(|argument| print(&instance, session, *argument));
                format!("({name} {})", arguments.collect::<Vec<_>>().join(" "))
            }
        };
        let words_used = instance.heap.statistics().words_used;
        machine.clear(&mut instance);
        instance.heap.collect_major(&mut [], &session.code);
        instance.heap.abort_turn();
        instance.heap.collect_major(&mut [], &session.code);
        return Some((End { shown, fuel_left: left }, words_used));
    }
}

/// Parks the computation, takes a snapshot of everything, and goes on in what is restored from it.
fn moved(session: &Session, machine: &mut Machine, mut instance: Instance) -> Option<Instance> {
    let parked = machine.capture(&mut instance, &session.code).ok()?;
    // A snapshot is taken between turns.
    instance.heap.commit_turn();
    instance.heap.forget_snapshot();
    instance.heap.set_register(Register::Runtime0, parked);
    instance.heap.collect_major(&mut [], &session.code);
    let taken = snapshot(&mut instance.heap, &session.code).expect("all code has names");
    let chunks: BTreeMap<ChunkName, Vec<u8>> = taken
        .chunks
        .into_iter()
        .map(|chunk| (chunk.name, chunk.bytes))
        .collect();
    let restored = restore_instance(
        &taken.root,
        LIMITS,
        &mut |name| chunks.get(&name).cloned(),
        &session.code,
    );
    let mut instance = restored.unwrap_or_else(|error| panic!("what was stored is restored: {error}"));
    let parked = instance.heap.register(Register::Runtime0);
    instance.heap.set_register(Register::Runtime0, Value::FALSE);
    instance.heap.begin_turn();
    machine.reinstate(&mut instance, &session.code, parked);
    machine.resume(Value::FALSE);
    Some(instance)
}

fn print(instance: &Instance, session: &Session, value: Value) -> String {
    write_limited(&instance.heap, &session.code, value, CHARACTERS_MAX)
}
