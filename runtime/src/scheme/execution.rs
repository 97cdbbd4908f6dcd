//! Running a fiber: a task starts on the machine, which runs until the fiber parks or ends.
//!
//! INVARIANT: every request of the program to the run goes through the turn.
//! It does not know what host procedures do; `host.rs` does.
//! Read next: `host.rs`.

use duet_kernel::datum::Name;
use duet_kernel::heap::{self, HeapFull, Register, RootId};
use duet_kernel::machine::{Instance, Outcome};
use duet_kernel::primitive::has_console_output;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use crate::action::{Need, write};
use crate::model::failure::Failure;
use crate::model::identity::{Callable, FiberId};
use crate::scheme::host::call::{Call, Reply};
use crate::turn::activation::Activation;
use crate::turn::program::Programs;
use crate::turn::task::{End, Task, Until};

use super::actor::SchemeActor;
use super::programs::{Fault, SchemePrograms};
use super::{convert, host, limits};

/// The fuel after which the machine asks whether the person wants to stop it, some milliseconds'
/// worth.
const PORTION_FUEL: i64 = 200_000;

impl SchemePrograms {
    /// Starts a task on the machine; returns an end if there is nothing to run.
    pub(super) fn begin(
        &mut self,
        actor: &mut SchemeActor,
        task: Task,
        turn: &mut Activation,
    ) -> Result<Option<End>, Fault> {
        self.note_task(turn.event());
        if let Task::Evaluate { text, sources } = &task {
            return self.begin_interaction(actor, text, sources, turn);
        }
        self.present.templates.give_up();
        if let Task::Patch { step } = task {
            self.begin_step(actor, step, turn)?;
            return Ok(None);
        }
        if task == Task::Boot {
            if let Some(failure) = self.missing_requirement(actor, turn) {
                return Ok(Some(End::Failed(failure)));
            }
            let has_begun = self.begin_program(actor, turn)?;
            let end = if actor.entity.is_some() {
                End::Failed(Failure::new("no-program", "the entity's procedure has no value"))
            } else {
                End::Finished { is_true: true }
            };
            return Ok((!has_begun).then_some(end));
        }
        let Self { machine, code, .. } = self;
        let instance = &mut actor.instance;
        let root = |instance: &Instance, callable: Callable| instance.heap.root_value(RootId(callable.0));
        instance.heap.take_charge();
        match task {
            Task::Call { procedure, argument } => {
                let procedure = root(instance, procedure);
                let argument = argument.map(|argument| convert::argument(instance, &argument));
                let argument = match argument.transpose() {
                    Ok(argument) => argument,
                    Err(error) => return Ok(Some(End::Failed(convert::boundary_failure(&error)?))),
                };
                machine.start(instance, procedure, argument.as_slice());
                mark_fiber(&mut instance.heap, turn.fiber())?;
            }
            Task::CallOnce { procedure } => {
                let value = root(instance, procedure);
                instance.heap.release_root(RootId(procedure.0));
                machine.start(instance, value, &[]);
                mark_fiber(&mut instance.heap, turn.fiber())?;
            }
            Task::Boot | Task::Evaluate { .. } | Task::Patch { .. } => {}
            Task::Resume { continuation, with } => {
                let parked = root(instance, continuation);
                instance.heap.release_root(RootId(continuation.0));
                let (kept, is_choice) = convert::unpack_parked(&instance.heap, parked);
                machine.reinstate(instance, code, kept);
                match convert::resumption(instance, &with, is_choice)? {
                    Ok(value) => machine.resume(value),
                    Err(condition) => machine.raise(instance, code, condition),
                }
                self.resume_calls(turn.turn.actor, continuation);
            }
        }
        pay(instance, turn);
        Ok(None)
    }

    /// Returns the global `name` of the library of ports, if the program has that library.
    pub(super) fn port_procedure(&self, instance: &Instance, name: &str) -> Option<Value> {
        let name = GlobalName {
            library: Name::from("(duet internal ports)"),
            name: Name::from(name),
        };
        instance.global(&self.code, &name)
    }

    /// Starts the procedure by which a main program that has told people something commits it, and
    /// then fails in a turn of its own. Returns whether it did.
    pub(super) fn start_failing(&mut self, instance: &mut Instance, turn: &Activation, object: Value) -> bool {
        let has_told = self.has_written || turn.has_told() || has_console_output(&instance.heap);
        if !turn.is_main() || !has_told {
            return false;
        }
        let Some(fail) = self.port_procedure(instance, "%fail") else {
            return false;
        };
        // Without room for the trace, the program fails without one.
        let object = self.traced(&mut instance.heap, object).unwrap_or(object);
        self.machine.start(instance, fail, &[object]);
        true
    }

    /// Returns an uncaught object as a condition with the trace of where it was raised.
    pub(super) fn traced(&self, heap: &mut heap::Heap, object: Value) -> Result<Value, HeapFull> {
        let condition = convert::uncaught(heap, object)?;
        self.machine.trace(heap, condition)?;
        Ok(condition)
    }

    /// Moves the output in the console's ports into the turn.
    pub(super) fn release_console(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
    ) -> Result<(), host::call::Fault> {
        self.has_written |= host::world::release_console(&mut actor.instance, turn)?;
        Ok(())
    }

    /// Moves the console's output into the turn at the end of a fiber's run.
    pub(super) fn settle(&mut self, actor: &mut SchemeActor, turn: &mut Activation, end: End) -> Result<End, Fault> {
        if matches!(end, End::Failed(_)) {
            return Ok(end);
        }
        let Err(refused) = self.release_console(actor, turn) else {
            return Ok(end);
        };
        let condition = refused.condition(&mut actor.instance.heap, "%console-write")?;
        let failure = convert::failure(
            &actor.instance.heap,
            &self.code,
            &self.present.expander,
            condition,
            Vec::new(),
        );
        Ok(End::Failed(failure))
    }

    /// Runs the machine until the fiber parks or ends.
    pub(super) fn execute(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<End, Fault> {
        // Whoever may not write has to hear it from the call that writes.
        let is_refused = !turn.holds(&Need::of(write::CAPABILITY));
        actor.instance.heap.set_console_prompt(is_refused);
        loop {
            let outcome = self.run_machine(actor, turn)?;
            if self.is_stopped(turn) {
                return Ok(End::Failed(Failure::interrupted()));
            }
            if let Some(failure) = self.outgrown(turn) {
                return Ok(End::Failed(failure));
            }
            match outcome {
                Outcome::Finished(value) => {
                    if self.observation.is_some() && turn.is_interaction() {
                        if self.observe_next(actor, value)? {
                            continue;
                        }
                        return Ok(End::Finished { is_true: true });
                    }
                    if !turn.is_main() || !self.start_next(actor, turn)? {
                        return Ok(End::Finished {
                            is_true: value.is_true(),
                        });
                    }
                }
                Outcome::OutOfFuel => return self.park(actor, Until::Fuel, false),
                Outcome::Exhausted => {
                    self.note_failed_frames(&actor.instance.heap, None, false);
                    let bytes_max = actor.instance.heap.words_max() as u64 * 8;
                    return Ok(End::Failed(Failure::exhausted(bytes_max)));
                }
                Outcome::Uncaught(object) => {
                    let is_postponed = self.start_failing(&mut actor.instance, turn, object);
                    self.note_failed_frames(&actor.instance.heap, Some(object), is_postponed);
                    if is_postponed {
                        continue;
                    }
                    let raised = self.machine.raised_frames(&actor.instance.heap, &self.code);
                    let failure =
                        convert::failure(&actor.instance.heap, &self.code, &self.present.expander, object, raised);
                    return Ok(End::Failed(failure));
                }
                Outcome::Request { primitive, count } => {
                    if let Some(end) = self.answer(actor, turn, primitive, count)? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    /// Runs the machine. The memory limit is strict only here, because only the machine can collect
    /// garbage before it fails.
    pub(super) fn run_machine(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<Outcome, Fault> {
        actor.instance.link(&self.code)?;
        actor.instance.heap.set_lenient(false);
        actor.instance.heap.count_forced_collections(turn.is_memory_counted());
        let stop = turn.is_memory_counted().then(|| self.process.stop_flag());
        actor.instance.heap.stop_on(stop);
        actor.instance.heap.allow_fuel(turn.fuel_max());
        let outcome = loop {
            let outcome = self.run_portion(actor, turn);
            let is_cut = matches!(outcome, Ok(Outcome::OutOfFuel)) && *turn.fuel() > 0;
            if !is_cut || self.is_stopped(turn) {
                break outcome;
            }
            self.machine.resume(Value::UNSPECIFIED);
        };
        actor.instance.heap.stop_on(None);
        actor.instance.heap.allow_fuel(None);
        actor.instance.heap.set_lenient(true);
        Ok(outcome?)
    }

    /// Runs the machine for at most a portion of the fuel, after which the person may stop it.
    fn run_portion(&mut self, actor: &mut SchemeActor, turn: &mut Activation) -> Result<Outcome, HeapFull> {
        let Self {
            machine, code, profile, ..
        } = self;
        let granted = (*turn.fuel()).min(PORTION_FUEL);
        let mut left = granted;
        let outcome = match profile {
            None => machine.run(&mut actor.instance, code, &mut left),
            Some(profile) => profile.run(machine, &mut actor.instance, code, &mut left),
        };
        *turn.fuel() = turn.fuel().saturating_sub(granted - left);
        outcome
    }

    /// Says whether the person wants the turn to stop; a replay never stops.
    pub(super) fn is_stopped(&self, turn: &Activation) -> bool {
        turn.is_memory_counted() && self.process.is_stopping()
    }

    /// Returns the failure of a turn during which the run has come to hold far too much memory. The
    /// copies of the acting heap may take half as much again as the run. A replay looks only if
    /// this process gives the run less than it had.
    fn outgrown(&self, turn: &Activation) -> Option<Failure> {
        let allowed = turn.limits().run_bytes_max;
        if !turn.is_memory_counted() && self.process.run_bytes_max() >= allowed {
            return None;
        }
        let bytes_max = allowed.min(self.process.run_bytes_max());
        let is_beyond = self.process_bytes() > bytes_max.saturating_add(bytes_max / 2);
        is_beyond.then(|| Failure::run_exhausted(bytes_max))
    }

    /// Calls a host procedure; returns an end if the fiber stops running here.
    pub(super) fn answer(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
        primitive: u32,
        count: usize,
    ) -> Result<Option<End>, Fault> {
        self.present.templates.give_up();
        let position = primitive as usize - self.host_start;
        let Some(procedure) = host::procedures().nth(position) else {
            return Ok(None);
        };
        if turn.is_sought() {
            let frames = self.machine.waiting_frames(&actor.instance, &self.code);
            turn.note_place(convert::place(&frames, &self.present.expander));
        }
        actor.instance.heap.take_charge();
        let released = self.release_console(actor, turn);
        let first_action = turn.turn.actions.len();
        let reply = released.and_then(|()| {
            // Everybody may have written to the console before.
            turn.limit_to(limits::of(&actor.instance, &self.code));
            let arguments = self.machine.arguments(count);
            let mut call = Call::new(procedure, &mut actor.instance, &self.code, turn, arguments);
            call.command_line = &self.command_line;
            call.shared = self.present.shared_definitions();
            call.expander = Some(&self.present.expander);
            call.machine = Some(&self.machine);
            (procedure.body)(&mut call)
        });
        self.note_traced(first_action..turn.turn.actions.len());
        pay(&actor.instance, turn);
        match reply {
            Ok(Reply::Value(value)) => self.machine.resume(value),
            Ok(Reply::Park(until)) => return self.park(actor, until, false).map(Some),
            Ok(Reply::Choose(until)) => return self.park(actor, until, true).map(Some),
            Ok(Reply::Compile { text, environment }) => self.compile_for(actor, turn, &text, &environment)?,
            Ok(Reply::CompileText {
                text,
                environment,
                name,
            }) => {
                let wanted = super::evaluation::EvaluationText {
                    environment: &environment,
                    name,
                    text: &text,
                    sources: &[],
                };
                self.compile_text_for(actor, turn, &wanted)?;
            }
            Ok(Reply::Environment(imports)) => self.make_environment(actor, turn, &imports)?,
            Ok(Reply::Describe(name)) => self.describe(actor, &name)?,
            Ok(Reply::Exit(code)) => {
                if turn.is_main() {
                    let frames = self.machine.waiting_frames(&actor.instance, &self.code);
                    let exit = Failure::new("exit", "it called `(exit)` here");
                    self.exit = Some(convert::placed(exit, &frames, &self.present.expander));
                }
                self.machine.clear(&mut actor.instance);
                return Ok(Some(End::Exit { code }));
            }
            Err(fault) => {
                let condition = fault.condition(&mut actor.instance.heap, procedure.name)?;
                self.machine.raise(&actor.instance, &self.code, condition);
            }
        }
        Ok(None)
    }

    /// Captures the running computation in the heap and ends the fiber's run.
    pub(super) fn park(&mut self, actor: &mut SchemeActor, until: Until, is_choice: bool) -> Result<End, Fault> {
        self.present.templates.give_up();
        let continuation = self.machine.capture(&mut actor.instance, &self.code)?;
        let heap = &mut actor.instance.heap;
        let parked = convert::pack_parked(heap, continuation, is_choice)?;
        let continuation = Callable(heap.root(parked)?.0);
        Ok(End::Parked { continuation, until })
    }
}

/// Takes from the fiber's fuel what the values cost that have come in or gone out, and its
/// actions.
fn pay(instance: &Instance, turn: &mut Activation) {
    turn.pay(instance.heap.take_charge());
}

/// Puts the number of a fiber, with room for its joint, below the winders of the computation that
/// begins, so that its continuations differ from those of other fibers. An actor's main fiber has
/// no mark.
pub(super) fn mark_fiber(heap: &mut heap::Heap, fiber: FiberId) -> Result<(), HeapFull> {
    let mark = heap.cons(Value::length(fiber.0 as usize), Value::FALSE)?;
    let winders = heap.cons(mark, Value::NIL)?;
    heap.set_register(Register::Winders, winders);
    Ok(())
}
