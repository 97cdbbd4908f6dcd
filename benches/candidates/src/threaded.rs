//! The same instruction methods behind function pointers: tail calls from handler to handler, and a trampoline.
//!
//! Stable Rust promises no tail call. LLVM makes one when optimising, because the six registers fit the calling
//! convention and nothing is left to drop; a build without optimisation would grow the stack with every instruction.

use crate::code::{Format, Op, View, instructions};
use crate::heap::Context;
use crate::machine::{Machine, Stop};
use crate::memory::{Memory, Raw};
use crate::word::Value;
use std::marker::PhantomData;

/// pc, base, heap, fuel, free, context: six words, six argument registers.
type Handler<F> = unsafe fn(*const F, *mut u64, *mut u8, i64, usize, *mut Context<F>) -> Stop;

struct Threads<V, F, const FAST: bool>(PhantomData<(V, F)>);

macro_rules! define_threads {
    ($($name:ident $method:ident),*) => {
        impl<V: Value, F: Format, const FAST: bool> Threads<V, F, FAST> {
            const TABLE: [Handler<F>; 256] = {
                let mut table: [Handler<F>; 256] = [Self::halt; 256];
                $(table[Op::$name as usize] = Self::$method;)*
                table
            };
            $(unsafe fn $method(
                pc: *const F, base: *mut u64, heap: *mut u8, fuel: i64, free: usize, context: *mut Context<F>,
            ) -> Stop {
                let memory = Raw { pc, base, heap };
                let context_reference = unsafe { &mut *context };
                let mut machine =
                    Machine::<V, F, Raw<F>, FAST> { memory, fuel, free, context: context_reference, value: PhantomData };
                let w = machine.memory.next();
                match machine.$method(w) {
                    Ok(()) => {}
                    Err(Stop::Slow) => return unsafe { Self::slowly(pc, base, heap, fuel, free, context) },
                    Err(stop) => return stop,
                }
                let Machine { memory: Raw { pc, base, heap }, fuel, free, context, .. } = machine;
                unsafe { Self::TABLE[(*pc).view().op() as usize](pc, base, heap, fuel, free, context) }
            })*
            /// Performs the instruction at `pc` out of line and goes on with the fast ones.
            #[cold]
            #[inline(never)]
            unsafe fn slowly(
                pc: *const F, base: *mut u64, heap: *mut u8, fuel: i64, free: usize, context: *mut Context<F>,
            ) -> Stop {
                let memory = Raw { pc, base, heap };
                let context = unsafe { &mut *context };
                let mut machine = Machine::<V, F, Raw<F>, false> { memory, fuel, free, context, value: PhantomData };
                let w = machine.memory.next();
                if let Err(stop) = machine.perform(w) {
                    return stop;
                }
                let Machine { memory: Raw { pc, base, heap }, fuel, free, context, .. } = machine;
                unsafe { Self::TABLE[(*pc).view().op() as usize](pc, base, heap, fuel, free, context) }
            }
        }

        impl<V: Value, F: Format> Hops<V, F> {
            const TABLE: [Hop<V, F>; 256] = {
                let mut table: [Hop<V, F>; 256] = [Hop(Self::halt); 256];
                $(table[Op::$name as usize] = Hop(Self::$method);)*
                table
            };
            $(fn $method(machine: &mut Machine<V, F, Raw<F>, false>) -> Result<Hop<V, F>, Stop> {
                let w = machine.memory.next();
                machine.$method(w)?;
                Ok(Self::TABLE[unsafe { (*machine.memory.pc).view() }.op() as usize])
            })*
        }
    };
}
instructions!(define_threads);

/// A handler that works on registers in memory and names its successor.
struct Hop<V: Value, F: Format>(fn(&mut Machine<V, F, Raw<F>, false>) -> Result<Hop<V, F>, Stop>);

impl<V: Value, F: Format> Clone for Hop<V, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V: Value, F: Format> Copy for Hop<V, F> {}

struct Hops<V, F>(PhantomData<(V, F)>);

/// Runs by sibling calls. Only for optimised builds.
#[inline(never)]
pub fn run_threaded<V: Value, F: Format, const FAST: bool>(
    context: &mut Context<F>,
    pc: usize,
    base: usize,
    fuel: i64,
) -> Stop {
    let Raw { pc, base, heap } = Raw::start(context, pc, base);
    unsafe {
        Threads::<V, F, FAST>::TABLE[(*pc).view().op() as usize](pc, base, heap, fuel, context.first_free(), context)
    }
}

/// Runs by a loop that calls what the last handler returned.
#[inline(never)]
pub fn run_trampoline<V: Value, F: Format>(context: &mut Context<F>, pc: usize, base: usize, fuel: i64) -> Stop {
    let memory = Raw::start(context, pc, base);
    let free = context.first_free();
    let mut machine = Machine::<V, F, Raw<F>, false> { memory, fuel, free, context, value: PhantomData };
    let mut hop = Hops::<V, F>::TABLE[unsafe { (*machine.memory.pc).view() }.op() as usize];
    loop {
        match (hop.0)(&mut machine) {
            Ok(next) => hop = next,
            Err(stop) => return stop,
        }
    }
}
