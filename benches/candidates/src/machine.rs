//! The machine: registers in one local struct, one small inlined method per instruction, one loop around a match.
//!
//! INVARIANT: no method takes the address of the registers out of line; cold paths receive and return plain words.
//! That is what lets LLVM split the struct and keep pc, base, fuel and the allocation pointer in machine registers.
//!
//! With `FAST` the methods hold no call at all: before changing anything they say `Stop::Slow`, and whoever dispatches
//! performs the whole instruction again, out of line and without `FAST`.

use crate::code::{Format, Op, View, instructions};
use crate::heap::Context;
use crate::memory::Memory;
use crate::word::Value;
use std::marker::PhantomData;

/// Why the machine came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Halted,
    OutOfFuel,
    StackOverflow,
    WrongType,
    WrongArity,
    /// The instruction has done nothing yet and needs the out-of-line version.
    Slow,
}

pub type Step = Result<(), Stop>;

/// Bits of a return word below the pc: the distance of the frames, and zeros that make it look like a fixnum.
const DELTA_BITS: u32 = 19;
pub const DELTA_SHIFT: u32 = 3;

/// The registers of a running machine.
pub struct Machine<'c, V, F: Format, M, const FAST: bool> {
    pub memory: M,
    pub fuel: i64,
    pub free: usize,
    pub context: &'c mut Context<F>,
    pub value: PhantomData<V>,
}

/// The two arithmetic instructions that have a slow path.
#[derive(Clone, Copy)]
enum Arithmetic {
    Add,
    Subtract,
}

impl Arithmetic {
    #[inline(always)]
    fn flonums(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
        }
    }
}

fn any_flonum<V: Value>(word: u64, heap: &[u64]) -> Result<f64, Stop> {
    let boxed = || V::boxed(word).map(|offset| f64::from_bits(heap[offset / 8 + 1]));
    let immediate = V::immediate_flonum(word).or_else(boxed);
    immediate.or_else(|| V::as_fixnum(word).map(|fixnum| fixnum as f64)).ok_or(Stop::WrongType)
}

/// Mixed and boxed arithmetic. A fixnum overflow would become a big integer; here it is an error.
#[cold]
#[inline(never)]
fn slow_arithmetic<V: Value>(operation: Arithmetic, a: u64, b: u64, heap: &[u64]) -> Result<f64, Stop> {
    if V::as_fixnum(a).is_some() && V::as_fixnum(b).is_some() {
        return Err(Stop::WrongType);
    }
    Ok(operation.flonums(any_flonum::<V>(a, heap)?, any_flonum::<V>(b, heap)?))
}

#[cold]
#[inline(never)]
fn slow_less<V: Value>(a: u64, b: u64, heap: &[u64]) -> Result<bool, Stop> {
    Ok(any_flonum::<V>(a, heap)? < any_flonum::<V>(b, heap)?)
}

impl<'c, V: Value, F: Format, M: Memory<F>, const FAST: bool> Machine<'c, V, F, M, FAST> {
    #[inline(always)]
    pub fn with_speed<const OTHER: bool>(self) -> Machine<'c, V, F, M, OTHER> {
        let Machine { memory, fuel, free, context, value } = self;
        Machine { memory, fuel, free, context, value }
    }
    #[inline(always)]
    fn get(&self, i: usize) -> u64 {
        self.memory.get(i as isize)
    }
    #[inline(always)]
    fn set(&mut self, i: usize, word: u64) -> Step {
        self.memory.set(i as isize, word);
        Ok(())
    }
    #[inline(always)]
    fn flonum(&self, word: u64) -> Option<f64> {
        if V::BOXES_FLONUMS {
            V::boxed(word).map(|offset| f64::from_bits(self.memory.load(offset + 8)))
        } else {
            V::immediate_flonum(word)
        }
    }
    /// Makes room for one two-word object.
    #[inline(always)]
    fn reserve(&mut self) -> Result<usize, Stop> {
        if self.free + 16 > self.context.limit {
            Self::needs_call()?;
            self.free = self.context.collect::<V>(self.memory.base(self.context));
        }
        let offset = self.free;
        self.free = offset + 16;
        Ok(offset)
    }
    #[inline(always)]
    fn needs_call() -> Step {
        if FAST { Err(Stop::Slow) } else { Ok(()) }
    }
    #[inline(always)]
    fn less_slowly(&self, a: u64, b: u64) -> Result<bool, Stop> {
        Self::needs_call()?;
        slow_less::<V>(a, b, &self.context.heap)
    }
    #[inline(always)]
    fn set_flonum(&mut self, i: usize, value: f64) -> Step {
        if let Some(word) = V::flonum_word(value) {
            return self.set(i, word);
        }
        let offset = self.reserve()?;
        self.memory.store(offset, V::BOX_HEADER);
        self.memory.store(offset + 8, value.to_bits());
        self.set(i, V::make_boxed(offset))
    }
    #[inline(always)]
    fn arithmetic(&mut self, operation: Arithmetic, to: usize, a: u64, b: u64) -> Step {
        let value = match (self.flonum(a), self.flonum(b)) {
            (Some(a), Some(b)) => operation.flonums(a, b),
            _ => {
                Self::needs_call()?;
                slow_arithmetic::<V>(operation, a, b, &self.context.heap)?
            }
        };
        self.set_flonum(to, value)
    }
    #[inline(always)]
    fn burn(&mut self) -> Step {
        self.fuel -= 1;
        if self.fuel < 0 { Err(Stop::OutOfFuel) } else { Ok(()) }
    }
    /// Takes the branch of a three-operand instruction unless `condition` holds.
    #[inline(always)]
    fn unless(&mut self, w: F::View, condition: bool) -> Step {
        let offset = w.third(|| self.memory.extension());
        if !condition {
            self.memory.branch(offset);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn halt(&mut self, _: F::View) -> Step {
        Err(Stop::Halted)
    }
    #[inline(always)]
    pub fn move_register(&mut self, w: F::View) -> Step {
        self.set(w.a(), self.get(w.b()))
    }
    #[inline(always)]
    pub fn constant(&mut self, w: F::View) -> Step {
        self.set(w.a(), M::constant(self.context, w.b()))
    }
    #[inline(always)]
    pub fn fixnum(&mut self, w: F::View) -> Step {
        self.set(w.a(), V::fixnum(w.signed_b()))
    }
    #[inline(always)]
    pub fn add(&mut self, w: F::View) -> Step {
        let (a, b) = (self.get(w.b()), self.get(w.c()));
        match V::add(a, b) {
            Some(sum) => self.set(w.a(), sum),
            None => self.arithmetic(Arithmetic::Add, w.a(), a, b),
        }
    }
    #[inline(always)]
    pub fn subtract(&mut self, w: F::View) -> Step {
        let (a, b) = (self.get(w.b()), self.get(w.c()));
        match V::subtract(a, b) {
            Some(difference) => self.set(w.a(), difference),
            None => self.arithmetic(Arithmetic::Subtract, w.a(), a, b),
        }
    }
    #[inline(always)]
    pub fn add_small(&mut self, w: F::View) -> Step {
        let a = self.get(w.b());
        match V::add_small(a, w.signed_c()) {
            Some(sum) => self.set(w.a(), sum),
            None => self.arithmetic(Arithmetic::Add, w.a(), a, V::fixnum(w.signed_c())),
        }
    }
    #[inline(always)]
    pub fn cons(&mut self, w: F::View) -> Step {
        let offset = self.reserve()?;
        self.memory.store(offset, self.get(w.b()));
        self.memory.store(offset + 8, self.get(w.c()));
        self.set(w.a(), V::make_pair(offset))
    }
    #[inline(always)]
    pub fn car(&mut self, w: F::View) -> Step {
        let offset = V::pair(self.get(w.b())).ok_or(Stop::WrongType)?;
        self.set(w.a(), self.memory.load(offset))
    }
    #[inline(always)]
    pub fn cdr(&mut self, w: F::View) -> Step {
        let offset = V::pair(self.get(w.b())).ok_or(Stop::WrongType)?;
        self.set(w.a(), self.memory.load(offset + 8))
    }
    #[inline(always)]
    pub fn jump(&mut self, w: F::View) -> Step {
        self.memory.branch(w.jump_offset());
        Ok(())
    }
    #[inline(always)]
    pub fn loop_back(&mut self, w: F::View) -> Step {
        self.memory.branch(w.jump_offset());
        self.burn()
    }
    #[inline(always)]
    pub fn unless_less(&mut self, w: F::View) -> Step {
        let (a, b) = (self.get(w.a()), self.get(w.b()));
        let less = match V::less(a, b) {
            Some(less) => less,
            None => match (self.flonum(a), self.flonum(b)) {
                (Some(a), Some(b)) => a < b,
                _ => self.less_slowly(a, b)?,
            },
        };
        self.unless(w, less)
    }
    #[inline(always)]
    pub fn unless_less_small(&mut self, w: F::View) -> Step {
        let a = self.get(w.a());
        let less = match V::less_small(a, w.signed_b()) {
            Some(less) => less,
            None => self.less_slowly(a, V::fixnum(w.signed_b()))?,
        };
        self.unless(w, less)
    }
    /// Numeric `=` on fixnums; the programs compare nothing else with it.
    #[inline(always)]
    pub fn unless_equal(&mut self, w: F::View) -> Step {
        let (a, b) = (self.get(w.a()), self.get(w.b()));
        V::add(a, b).ok_or(Stop::WrongType)?;
        self.unless(w, a == b)
    }
    #[inline(always)]
    pub fn unless_constant(&mut self, w: F::View) -> Step {
        self.unless(w, self.get(w.a()) == M::constant(self.context, w.b()))
    }
    #[inline(always)]
    pub fn unless_pair(&mut self, w: F::View) -> Step {
        self.unless(w, V::pair(self.get(w.a())).is_some())
    }
    #[inline(always)]
    pub fn unless_true(&mut self, w: F::View) -> Step {
        self.unless(w, self.get(w.a()) != V::FALSE)
    }
    /// Checks a callee and returns its entry.
    #[inline(always)]
    fn enter(&mut self, global: isize, arguments: usize) -> Result<usize, Stop> {
        let procedure = V::procedure(M::global(self.context, global as usize)).ok_or(Stop::WrongType)?;
        let shape = self.memory.load(procedure + 8);
        if shape as u8 as usize != arguments {
            return Err(Stop::WrongArity);
        }
        if !self.memory.fits(self.context, (shape >> 8) as u8 as usize) {
            return Err(Stop::StackOverflow);
        }
        self.burn()?;
        Ok((shape >> 16) as usize)
    }
    /// The return word goes to slot `a` of the caller, the callee's frame begins behind it.
    #[inline(always)]
    pub fn call(&mut self, w: F::View) -> Step {
        let global = w.third(|| self.memory.extension());
        let delta = w.a() as isize + 1;
        let back = (self.memory.pc(self.context) << DELTA_BITS) as u64 | (delta as u64) << DELTA_SHIFT;
        self.memory.set(delta - 1, back);
        self.memory.slide(delta);
        let entry = self.enter(global, w.b())?;
        self.memory.set_pc(self.context, entry);
        Ok(())
    }
    /// The arguments have been moved to the start of the frame already.
    #[inline(always)]
    pub fn tail_call(&mut self, w: F::View) -> Step {
        let global = w.third(|| self.memory.extension());
        let entry = self.enter(global, w.b())?;
        self.memory.set_pc(self.context, entry);
        Ok(())
    }
    #[inline(always)]
    pub fn return_value(&mut self, w: F::View) -> Step {
        let value = self.get(w.a());
        let back = self.memory.get(-1);
        self.memory.set(-1, value);
        let delta = (back as usize & ((1 << DELTA_BITS) - 1)) >> DELTA_SHIFT;
        self.memory.slide(-(delta as isize));
        self.memory.set_pc(self.context, back as usize >> DELTA_BITS);
        Ok(())
    }
}

macro_rules! define_run {
    ($($name:ident $method:ident),*) => {
        impl<'c, V: Value, F: Format, M: Memory<F>, const FAST: bool> Machine<'c, V, F, M, FAST> {
            #[inline(always)]
            pub fn perform(&mut self, w: F::View) -> Step {
                match M::op(w.op()) {
                    $(Op::$name => self.$method(w)),*
                }
            }
        }
    };
}
instructions!(define_run);

/// Performs one instruction out of line. The registers come and go by value, so that the loop need not store them.
#[cold]
#[inline(never)]
fn perform_slowly<'c, V: Value, F: Format, M: Memory<F>>(
    mut machine: Machine<'c, V, F, M, false>,
    w: F::View,
) -> Result<Machine<'c, V, F, M, false>, Stop> {
    machine.perform(w)?;
    Ok(machine)
}

/// Runs from `pc` until the machine stops. `FAST` keeps calls out of the loop; `COUNTS` counts instructions.
#[inline(never)]
pub fn run<V: Value, F: Format, M: Memory<F>, const FAST: bool, const COUNTS: bool>(
    context: &mut Context<F>,
    pc: usize,
    base: usize,
    fuel: i64,
) -> Stop {
    let memory = M::start(context, pc, base);
    let free = context.first_free();
    let mut machine = Machine::<V, F, M, FAST> { memory, fuel, free, context, value: PhantomData };
    loop {
        let w = machine.memory.next();
        if COUNTS {
            machine.context.executed += 1;
        }
        match machine.perform(w) {
            Ok(()) => {}
            Err(Stop::Slow) => match perform_slowly(machine.with_speed(), w) {
                Ok(back) => machine = back.with_speed(),
                Err(stop) => return stop,
            },
            Err(stop) => return stop,
        }
    }
}
