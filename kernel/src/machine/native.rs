//! The native tier: blocks that run often, as machine code on the interpreter's own frames.
//!
//! Owns the choice of blocks, and the tables that join the two ways of running. Both have an entry
//! for each position of the code space:
//!
//! * The *stream* is the copy of the code that the interpreter follows. At a position where machine
//!   code may begin it has the byte code [`ENTER_CODE`], whose dispatch runs the machine code. So
//!   the interpreter comes back to machine code by itself, after a return, a call or an instruction
//!   that it executed on behalf of machine code, and a program without machine code pays nothing.
//! * The *targets* are the addresses that machine code jumps to. Where there is no machine code,
//!   this is the exit to the interpreter.
//!
//! Machine code pushes the interpreter's return points, so no address is ever in a frame; its own
//! calls and returns only mirror them. It calls Rust for primitives, for control and for rare
//! numbers, and leaves before another instruction that needs more than its template does; the
//! interpreter executes that instruction as the code space has it.
//! INVARIANT: at each position with machine code, the state is the interpreter's frame and nothing
//! else. So results, errors, fuel and the heap are the same, however a program runs.
//! The tables belong to one code space, which only grows, and hold nothing of an instance.
//! It does not say what instructions do.
//! Read next: `machine/native/enter.rs`, `machine/native/assembler.rs`.

mod assembler;
mod context;
mod enter;
mod listing;
#[expect(
    clippy::useless_conversion,
    reason = "the macro of machine code converts every operand"
)]
mod processor;
mod registers;
mod service;
mod template;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::code::{CodeSpace, LoadedBlock, builtin};
use crate::heap::{Heap, Register};
use crate::instruction::{Instruction, Opcode};
use crate::value::Value;

use super::execute::SlowPath;
use super::frame::Frame;
use assembler::{KnownGlobals, assemble};
use enter::{CodeMemory, WayIn};
use processor::Host;

pub(super) use enter::{Exit, run};
use listing::Nothing;
pub use listing::{Architecture, MachineCode};

/// The byte code that enters machine code.
pub(super) const ENTER_CODE: u8 = 0xff;
/// The byte code of a block that is to be compiled before it runs.
pub(super) const COMPILE_CODE: u8 = 0xfe;

/// Machine code that all blocks share; the addresses lie before the targets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// Leaves for the interpreter, which executes the instruction at the position in register C of
    /// the [processor].
    Exit,
    /// Leaves because the machine stops.
    Stop,
    /// Goes on at the position in C after the frames below the running one have changed.
    Restart,
    /// Returns the context's result.
    Return,
    /// Enters what is in register 0.
    Enter,
    /// Calls the service whose address is in A for the position in C.
    Service,
    /// Loads the words in A and D as the operands of an operation on flonums.
    LoadNumbers,
    /// Makes a boxed flonum of the left operand.
    BoxFlonum,
}

/// The number of slots.
const SLOTS: usize = Slot::BoxFlonum as usize + 1;

impl Slot {
    /// The place before the first target.
    const fn index(self) -> isize {
        -1 - self as isize
    }

    /// The same in bytes.
    const fn offset_bytes(self) -> i8 {
        8 * self.index() as i8
    }
}

/// Of this many exits the place of one is noted.
const EXITS_SAMPLED: u32 = 256;

/// A run of machine code that uses no more fuel than this is short: entering and leaving may have
/// taken longer than it saved.
const FUEL_SHORT: i64 = 4;
/// A run that uses more fuel than this is worth its block's short ones.
const FUEL_LONG: i64 = 16;
/// A block with this many more short runs than others, of those that are noted, is interpreted for
/// a while.
const SHORT_RUNS_MAX: u8 = 16;
/// A block that was given up is compiled again after it has been sampled this many times: what it
/// does may have changed. Each time that it is given up doubles the number.
const SAMPLES_UNTIL_RETRY: u16 = 8;
/// The largest such number.
const SAMPLES_UNTIL_RETRY_MAX: u16 = 1 << 14;

/// Blocks with more instructions are interpreted, so that no single compilation takes long.
const BLOCK_INSTRUCTIONS_MAX: u32 = 16 * 1024;

/// Positions, globals and literals from here on are out of reach of operands, which have 31 bits
/// for eight times their number; blocks of a larger code space are interpreted.
const NUMBERS_MAX: usize = 1 << 27;

/// Which blocks run as machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NativeMode {
    /// None.
    #[default]
    Never,
    /// Those that run often.
    Auto,
    /// All, before they run first.
    Always,
    /// Some, which this number chooses, before they run first.
    Drawn(u64),
}

/// The progress of a block towards machine code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockState {
    /// A slice of fuel has ended in it.
    Sampled,
    /// It has machine code, in which this many noted runs were short. If it is given up, it is
    /// interpreted for this many samples.
    Compiled { short_runs: u8, samples: u16 },
    /// Its machine code was given up; it is interpreted for this many samples of so many.
    GivenUp { left: u16, samples: u16 },
    /// It is interpreted for good.
    Interpreted,
}

/// The native tier of one machine.
#[derive(Default)]
pub(super) struct NativeTier {
    mode: NativeMode,
    code: Option<Box<NativeCode>>,
    /// Whether the system refused executable memory.
    is_refused: bool,
    /// How often machine code has left for the interpreter.
    exits: u32,
    /// The fuel that machine code has used since it was last asked for.
    fuel: u64,
}

/// Machine code and its tables.
struct NativeCode {
    /// The code space that it belongs to.
    identity: Arc<()>,
    /// `None` once the system has refused to change it.
    memory: Option<CodeMemory>,
    /// The address of the way into the memory.
    entry: usize,
    stream: Vec<Instruction>,
    targets: Vec<usize>,
    /// By the position of the block's first instruction.
    block_states: BTreeMap<u32, BlockState>,
}

impl NativeTier {
    /// Counts fuel that machine code has used.
    #[inline(always)]
    fn count_fuel(&mut self, fuel: i64) {
        self.fuel = self.fuel.saturating_add_signed(fuel);
    }

    /// Returns the fuel that machine code has used since the last call of this function.
    pub(super) fn take_fuel(&mut self) -> u64 {
        std::mem::take(&mut self.fuel)
    }

    pub(super) fn set_mode(&mut self, mode: NativeMode) {
        self.mode = mode;
        self.forget();
    }

    /// Which blocks run as machine code.
    pub(super) fn mode(&self) -> NativeMode {
        self.mode
    }

    /// Forgets all machine code, which knows the words of closures.
    pub(super) fn forget(&mut self) {
        self.code = None;
    }

    /// Whether blocks are compiled when they have been sampled.
    #[inline(always)]
    fn is_sampling(&self) -> bool {
        self.mode == NativeMode::Auto && !self.is_refused
    }

    /// Makes the tables those of `code`, before it runs.
    pub(super) fn prepare(&mut self, code: &CodeSpace) {
        if self.mode == NativeMode::Never || self.is_refused {
            return;
        }
        let is_other = |native: &NativeCode| !Arc::ptr_eq(&native.identity, code.identity());
        if self.code.as_deref().is_some_and(is_other) {
            self.code = None;
        }
        if self.mode != NativeMode::Auto {
            self.open(code);
        }
        let traps = self.mode != NativeMode::Auto;
        if let Some(native) = &mut self.code {
            native.extend(code, traps);
            native.memory.iter().for_each(CodeMemory::prepare);
        }
    }

    /// Opens the tables, unless they are open.
    fn open(&mut self, code: &CodeSpace) {
        if self.code.is_none() {
            self.code = NativeCode::new(code).map(Box::new);
            self.is_refused = self.code.is_none();
        }
    }

    /// The instructions that the interpreter follows.
    pub(super) fn stream<'a>(&'a self, code: &'a CodeSpace) -> &'a [Instruction] {
        self.code
            .as_deref()
            .map_or(code.instructions(), |native| &native.stream)
    }

    /// Where the machine code at a position begins.
    #[inline(always)]
    fn way_in(&self, position: usize) -> WayIn {
        let native = self.code.as_deref();
        let native = native.expect("a position of the stream enters machine code only if there is some");
        WayIn {
            entry: native.entry,
            target: native.targets[SLOTS + position],
            targets: native.targets[SLOTS..].as_ptr(),
        }
    }

    /// Counts an exit; whether the place should be noted as one that runs often. Machine code that
    /// leaves often calls something, or returns to something, that is still interpreted.
    #[inline(always)]
    fn count_exit(&mut self) -> bool {
        self.exits = self.exits.wrapping_add(1);
        self.exits.is_multiple_of(EXITS_SAMPLED) && self.mode == NativeMode::Auto
    }

    /// Whether the interpreter enters machine code at a position.
    fn is_entry(&self, position: u32) -> bool {
        let native = self.code.as_deref();
        native.is_some_and(|native| native.stream[position as usize].code() == ENTER_CODE)
    }

    /// Notes that the block at a position runs often; compiles it the second time.
    fn note_use(&mut self, code: &CodeSpace, heap: &Heap, position: u32) {
        if self.is_entry(position) {
            return;
        }
        let Some(block) = code.block_at(position) else {
            return;
        };
        self.open(code);
        let Some(native) = &mut self.code else {
            return;
        };
        native.extend(code, false);
        match native.block_states.get_mut(&block.start) {
            None => {
                native.block_states.insert(block.start, BlockState::Sampled);
            }
            Some(BlockState::GivenUp { left, .. }) if *left > 1 => *left -= 1,
            Some(BlockState::Sampled | BlockState::GivenUp { .. }) => self.compile(code, heap, block),
            Some(BlockState::Compiled { .. } | BlockState::Interpreted) => {}
        }
    }

    /// Notes that machine code ran from a position until it had used some fuel and left.
    fn note_run(&mut self, code: &CodeSpace, position: u32, fuel: i64) {
        if let (Some(native), Some(block)) = (&mut self.code, code.block_at(position)) {
            native.note_run(code, block, fuel);
        }
    }

    /// Compiles the block that begins at a position before it runs first, if the mode says so.
    fn compile_first(&mut self, code: &CodeSpace, heap: &Heap, position: u32) {
        let is_chosen = match self.mode {
            NativeMode::Always => true,
            NativeMode::Drawn(seed) => is_drawn(seed, position),
            NativeMode::Never | NativeMode::Auto => false,
        };
        match code.block_at(position) {
            Some(block) if is_chosen => self.compile(code, heap, block),
            _ => {
                if let Some(native) = &mut self.code {
                    native.interpret(code, position);
                }
            }
        }
    }

    fn compile(&mut self, code: &CodeSpace, heap: &Heap, block: &LoadedBlock) {
        let traps = self.mode != NativeMode::Auto;
        let Some(native) = &mut self.code else {
            return;
        };
        if native.compile(code, heap, block, traps).is_none() {
            self.code = None;
            self.is_refused = true;
        }
    }
}

/// Whether the block at a position is one of the half that `seed` chooses.
fn is_drawn(seed: u64, position: u32) -> bool {
    // A multiplicative hash: the upper bits of the product depend on all bits of both.
    (seed ^ u64::from(position)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1
}

impl NativeCode {
    /// Tables without positions. `None` where machine code cannot run.
    fn new(code: &CodeSpace) -> Option<NativeCode> {
        let memory = CodeMemory::new()?;
        let targets = memory.stubs().iter().rev().copied().collect();
        Some(NativeCode {
            identity: Arc::clone(code.identity()),
            entry: memory.entry(),
            memory: Some(memory),
            stream: Vec::new(),
            targets,
            block_states: BTreeMap::new(),
        })
    }

    /// Adds the positions that the code space has more, with traps where blocks begin if they are
    /// to be compiled before they run.
    fn extend(&mut self, code: &CodeSpace, traps: bool) {
        let (start, end) = (self.stream.len(), code.instructions().len());
        if start == end {
            return;
        }
        self.stream.extend_from_slice(&code.instructions()[start..]);
        let exit = self.targets[SLOTS - 1];
        self.targets.resize(SLOTS + end, exit);
        if traps {
            self.set_traps(code, start as u32);
        } else if start == 0 {
            self.add_control(code);
        }
    }

    /// Compiles the machine's own blocks for machine code; the interpreter executes them itself.
    fn add_control(&mut self, code: &CodeSpace) {
        for block in (0..builtin::BLOCKS).map(|number| code.block(number)) {
            self.block_states.insert(block.start, BlockState::Interpreted);
            let Some(memory) = self.memory.take() else {
                return;
            };
            let address = memory.next_address();
            let Some(assembly) = assemble::<Host>(code, block.start..block.end, address, &Nothing) else {
                self.memory = Some(memory);
                return;
            };
            self.memory = memory.append(&assembly.bytes);
            for (position, offset) in assembly.entries {
                self.targets[SLOTS + position as usize] = address + offset;
            }
        }
    }

    /// Sets a trap at the beginning of each block from `position` on.
    fn set_traps(&mut self, code: &CodeSpace, position: u32) {
        for block in code.blocks_from(position) {
            let place = &mut self.stream[block.start as usize];
            *place = place.with_code(COMPILE_CODE);
        }
    }

    /// Leaves the block that begins at a position to the interpreter.
    fn interpret(&mut self, code: &CodeSpace, position: u32) {
        self.block_states.insert(position, BlockState::Interpreted);
        self.stream[position as usize] = code.instructions()[position as usize];
    }

    fn note_run(&mut self, code: &CodeSpace, block: &LoadedBlock, fuel: i64) {
        let Some(BlockState::Compiled { short_runs, samples }) = self.block_states.get_mut(&block.start) else {
            return;
        };
        *short_runs = if fuel <= FUEL_SHORT {
            *short_runs + 1
        } else if fuel <= FUEL_LONG {
            short_runs.saturating_sub(1)
        } else {
            0
        };
        if *short_runs == SHORT_RUNS_MAX {
            let samples = *samples;
            self.give_up(code, block, samples);
        }
    }

    /// Leaves a block that has machine code to the interpreter for this many samples.
    fn give_up(&mut self, code: &CodeSpace, block: &LoadedBlock, samples: u16) {
        let left = samples;
        self.block_states
            .insert(block.start, BlockState::GivenUp { left, samples });
        let positions = block.start as usize..block.end as usize;
        self.stream[positions.clone()].copy_from_slice(&code.instructions()[positions.clone()]);
        let exit = self.targets[SLOTS - 1];
        self.targets[SLOTS..][positions].fill(exit);
    }

    /// Compiles a block; drops all machine code first if there is no room for more. `None` if the
    /// system no longer lets the memory change.
    fn compile(&mut self, code: &CodeSpace, heap: &Heap, block: &LoadedBlock, traps: bool) -> Option<()> {
        let samples = match self.block_states.get(&block.start) {
            Some(BlockState::GivenUp { samples, .. }) => (2 * samples).min(SAMPLES_UNTIL_RETRY_MAX),
            Some(BlockState::Sampled | BlockState::Compiled { .. } | BlockState::Interpreted) | None => {
                SAMPLES_UNTIL_RETRY
            }
        };
        self.interpret(code, block.start);
        let numbers = [code.instructions().len(), code.globals().len(), code.constants().len()];
        if block.end - block.start > BLOCK_INSTRUCTIONS_MAX || numbers.iter().any(|number| *number > NUMBERS_MAX) {
            return Some(());
        }
        for is_last_try in [false, true] {
            let address = self.memory.as_ref()?.next_address();
            let known_globals = Globals { heap };
            let Some(assembly) = assemble::<Host>(code, block.start..block.end, address, &known_globals) else {
                return Some(());
            };
            if self.memory.as_ref()?.has_room(assembly.bytes.len()) {
                self.memory = Some(self.memory.take()?.append(&assembly.bytes)?);
                let short_runs = 0;
                self.block_states
                    .insert(block.start, BlockState::Compiled { short_runs, samples });
                for (position, offset) in assembly.entries {
                    let place = &mut self.stream[position as usize];
                    *place = place.with_code(ENTER_CODE);
                    self.targets[SLOTS + position as usize] = address + offset;
                }
                return Some(());
            }
            if !is_last_try {
                self.drop_all(code, traps)?;
                self.interpret(code, block.start);
            }
        }
        Some(())
    }

    /// Drops all machine code.
    fn drop_all(&mut self, code: &CodeSpace, traps: bool) -> Option<()> {
        self.memory = Some(self.memory.take()?.clear()?);
        self.block_states.clear();
        self.stream.clear();
        self.targets.truncate(SLOTS);
        self.extend(code, traps);
        Some(())
    }
}

/// The globals at the time of a compilation.
struct Globals<'a> {
    heap: &'a Heap,
}

impl KnownGlobals for Globals<'_> {
    fn code_word(&self, global: usize) -> Option<Value> {
        global_code_word(self.heap, global)
    }
}

/// The code word of the procedure that a global holds, if it holds one.
fn global_code_word(heap: &Heap, global: usize) -> Option<Value> {
    let globals = heap.register(Register::Globals);
    if !globals.is_object() || global >= heap.object_length(globals) {
        return None;
    }
    code_word_of(heap, heap.field(globals, global))
}

fn code_word_of(heap: &Heap, procedure: Value) -> Option<Value> {
    procedure.is_procedure_object().then(|| heap.field(procedure, 0))
}

impl SlowPath<'_> {
    /// Notes where a slice of fuel has ended: the running block, and the one that it is about to
    /// call, in which no fuel would end if it calls nothing itself.
    #[inline(always)]
    pub(super) fn sample(&mut self, frame: &mut Frame) {
        if self.machine.native.is_sampling() {
            self.take_sample(frame);
        }
    }

    /// Notes where machine code has left that was entered at a position and has used some fuel.
    #[inline(always)]
    fn sample_exit(&mut self, frame: &mut Frame, entered_at: usize, fuel: i64) {
        if self.machine.native.count_exit() {
            self.note_exit(frame, entered_at as u32, fuel);
        }
    }

    #[inline(never)]
    fn note_exit(&mut self, frame: &mut Frame, entered_at: u32, fuel: i64) {
        self.machine.native.note_run(self.code, entered_at, fuel);
        self.take_sample(frame);
    }

    #[inline(never)]
    fn take_sample(&mut self, frame: &mut Frame) {
        let position = frame.pc() as u32;
        let callee = self.callee_at(*frame, position);
        for position in [Some(position), callee].into_iter().flatten() {
            self.machine.native.note_use(self.code, self.heap, position);
        }
        self.follow_stream(frame);
    }

    /// Lets the interpreter follow the present stream.
    fn follow_stream(&mut self, frame: &mut Frame) {
        frame.follow(self.machine.native.stream(self.code));
        #[cfg(not(debug_assertions))]
        self.frame.set_code(frame);
    }

    /// Where the procedure begins that the instruction at a position calls.
    fn callee_at(&self, frame: Frame, position: u32) -> Option<u32> {
        let instruction = self.code.instructions()[position as usize];
        let opcode = instruction.opcode()?;
        let code_word = if [Opcode::Call, Opcode::TailCall].contains(&opcode) {
            code_word_of(self.heap, frame.get(instruction.a() + 1))
        } else if [Opcode::CallGlobal, Opcode::TailCallGlobal].contains(&opcode) {
            global_code_word(self.heap, instruction.w() as usize)
        } else {
            None
        };
        code_word.map(Value::payload)
    }

    /// Compiles the block at the frame's next instruction, or decides not to.
    pub(super) fn compile_next(&mut self, frame: &mut Frame) {
        let position = frame.pc() as u32;
        self.machine.native.compile_first(self.code, self.heap, position);
        self.follow_stream(frame);
    }
}
