//! Drawn code, and the values that it is applied to.
//!
//! INVARIANT: a drawn unit is well-formed, and like compiled code it writes each register before it
//! reads it, and leaves the procedure in register 0.
//! Read next: `../native.rs`.

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::reader::read_one;
use duet_kernel::datum::{Datum, Name};
use duet_kernel::heap::{Kind, Limits};
use duet_kernel::instruction::{Description, Field, Instruction, Opcode, Role, TABLE};
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::unit::{Block, CompiledUnit, GlobalName};
use duet_kernel::value::Value;

/// Registers 1 to this one are the arguments.
pub(crate) const PARAMETERS: usize = 6;
/// Registers that drawn instructions use; those above are windows of calls.
pub(crate) const FRAME_REGISTERS: u16 = 12;
const FRAME_SIZE: u16 = FRAME_REGISTERS + 8;

/// The rows that are drawn: those that compiled code has, without the ones that trust the
/// compiler's knowledge of their operands.
pub(crate) const ROWS: [Opcode; TABLE.len()] = {
    let mut rows = [Opcode::Move; TABLE.len()];
    let mut row = 0;
    while row < TABLE.len() {
        let opcode = TABLE[row].opcode;
        let is_left_out = matches!(opcode, Opcode::PatchClosure | Opcode::Return | Opcode::ArityFail)
            || matches!(opcode, Opcode::ArityExact | Opcode::ArityRest | Opcode::ArityClause)
            || opcode as u8 >= Opcode::Underflow as u8;
        if !is_left_out {
            rows[row] = opcode;
        }
        row += 1;
    }
    rows
};

/// What decides one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    /// The place of its operation in [`ROWS`].
    pub(crate) row: usize,
    /// The operands that are no registers.
    pub(crate) bits: u64,
    /// The operands that are registers.
    pub(crate) registers: [u16; 5],
}

/// Primitives, with the number of arguments that they are called with. The first shows registers.
pub(crate) const PRIMITIVES: [(&str, u64); 41] = [
    ("vector", 3),
    ("car", 1),
    ("cons", 2),
    ("vector-ref", 2),
    ("length", 1),
    ("+", 2),
    ("list", 3),
    ("equal?", 2),
    ("string-append", 2),
    ("values", 1),
    ("values", 2),
    ("values", 3),
    ("vector", 2),
    ("%make-record", 3),
    ("string-set!", 3),
    ("char->integer", 1),
    ("number?", 1),
    ("make-vector", 1),
    ("make-vector", 2),
    ("even?", 1),
    ("odd?", 1),
    ("symbol->string", 1),
    ("assq", 2),
    ("-", 1),
    ("sqrt", 1),
    ("inexact", 1),
    ("assv", 2),
    ("memq", 2),
    ("memv", 2),
    ("char-alphabetic?", 1),
    ("char-numeric?", 1),
    ("char-whitespace?", 1),
    ("char-upper-case?", 1),
    ("char-lower-case?", 1),
    ("char-upcase", 1),
    ("char-downcase", 1),
    ("char-foldcase", 1),
    ("digit-value", 1),
    ("%read-char", 1),
    ("%peek-char", 1),
    ("%write-char", 2),
];
const GLOBALS: usize = 3;
const CONSTANTS: [&str; 6] = [
    "symbol",
    "(1 2)",
    "\"literal\"",
    "#(1 2 3)",
    "1e300",
    "123456789012345678901234567890",
];

/// The blocks: the unit's body, the drawn code, and procedures that look at their arguments.
const BLOCKS: usize = 5;

fn small(register: u16, integer: i32) -> Instruction {
    Instruction::daw(Opcode::Small, 0, register, integer as u32)
}

/// The unit of drawn code.
pub(crate) fn unit(draws: &[Draw]) -> CompiledUnit {
    let datum = |text: &&str| -> Datum { read_one(text, 0).unwrap().unwrap().0 };
    let global = |number: usize| GlobalName {
        library: Name::from("(drawn)"),
        name: Name::from(format!("g{number}").as_str()),
    };
    let mut unit = CompiledUnit {
        name: Name::from("(drawn)"),
        instructions: Vec::new(),
        blocks: Vec::new(),
        constants: CONSTANTS.iter().map(datum).collect(),
        globals: (0..GLOBALS).map(global).collect(),
        primitives: PRIMITIVES.iter().map(|(name, _)| Name::from(*name)).collect(),
        spans: Vec::new(),
        integrated: Vec::new(),
        origins: Vec::new(),
    };
    add(&mut unit, body(), (6, Some(0), 0));
    add(&mut unit, drawn(draws), (FRAME_SIZE, Some(PARAMETERS as u8), 2));
    // The list of the arguments beyond the first.
    add(
        &mut unit,
        vec![
            Instruction::abc(Opcode::ArityRest, 1, 0, 0),
            Instruction::abc(Opcode::Return, 2, 0, 0),
        ],
        (4, None, 0),
    );
    // The second of at least two arguments, or the only one.
    add(
        &mut unit,
        vec![
            Instruction::daw(Opcode::ArityClause, 1, 2, 1),
            Instruction::abc(Opcode::Return, 2, 0, 0),
            Instruction::abc(Opcode::ArityExact, 1, 0, 0),
            Instruction::abc(Opcode::Return, 1, 0, 0),
        ],
        (8, None, 0),
    );
    // A loop without end.
    add(
        &mut unit,
        vec![Instruction::daw(Opcode::Loop, 0, 0, (-1i32) as u32)],
        (3, Some(1), 0),
    );
    assert_eq!(unit.blocks.len(), BLOCKS);
    unit
}

/// The same with the registers of the drawn code this far from the beginning of its frame.
pub(crate) fn far_unit(draws: &[Draw], distance: u16) -> CompiledUnit {
    let mut unit = unit(draws);
    let block = &mut unit.blocks[1];
    block.frame_size += distance;
    for instruction in &mut unit.instructions[block.start as usize..block.end as usize] {
        let operands = instruction.description().unwrap().operands.iter();
        let is_register = |role: &Role| {
            matches!(role, Role::Out | Role::In | Role::Captures) || matches!(role, Role::Arguments0 | Role::Window)
        };
        let registers = operands.filter(|(_, role)| is_register(role));
        let bits = registers.fold(instruction.to_bits(), |bits, (field, _)| {
            bits + (u64::from(distance) << place(*field).0)
        });
        *instruction = Instruction::from_bits(bits);
    }
    unit
}

/// A unit of one block that repeats a drawn instruction.
pub(crate) fn long_unit(draw: &Draw, count: usize) -> CompiledUnit {
    unit(&vec![draw.clone(); count])
}

/// The first bit of an operand, and the bits of its width.
const fn place(field: Field) -> (u32, u64) {
    match field {
        Field::d => (8, 0xff),
        Field::a => (16, 0xffff),
        Field::b => (32, 0xffff),
        Field::c => (48, 0xffff),
        Field::w => (32, 0xffff_ffff),
    }
}

fn add(unit: &mut CompiledUnit, code: Vec<Instruction>, (frame_size, arity, captured): (u16, Option<u8>, u16)) {
    let start = unit.instructions.len() as u32;
    unit.instructions.extend(code);
    unit.blocks.push(Block {
        name: None,
        start,
        end: unit.instructions.len() as u32,
        frame_size,
        arity,
        captured,
    });
}

/// Defines a global as a procedure and another as a number, and returns a vector of the procedures.
fn body() -> Vec<Instruction> {
    vec![
        small(1, 10),
        small(2, 20),
        Instruction::daw(Opcode::Closure, 0, 1, 1),
        Instruction::daw(Opcode::DefineGlobal, 0, 1, 0),
        small(2, 5),
        Instruction::daw(Opcode::DefineGlobal, 0, 2, 1),
        Instruction::daw(Opcode::Closure, 0, 2, 2),
        Instruction::daw(Opcode::Closure, 0, 3, 3),
        Instruction::daw(Opcode::Closure, 0, 4, 4),
        Instruction::daw(Opcode::CallPrimitive, 4, 1, 0),
        Instruction::abc(Opcode::Return, 1, 0, 0),
    ]
}

/// The drawn instructions, between one that gives every register a value and one that shows all.
fn drawn(draws: &[Draw]) -> Vec<Instruction> {
    let mut code: Vec<Instruction> = (PARAMETERS as u16 + 1..FRAME_SIZE)
        .map(|register| small(register, i32::from(register)))
        .collect();
    let mut starts = vec![code.len()];
    let mut jumps = Vec::new();
    for draw in draws {
        append(&mut code, &mut jumps, draw);
        starts.push(code.len());
    }
    code.push(Instruction::daw(Opcode::CallPrimitive, FRAME_REGISTERS as u8 - 1, 1, 0));
    code.push(Instruction::abc(Opcode::Return, 1, 0, 0));
    for (at, bits) in jumps {
        let is_loop = code[at].opcode() == Some(Opcode::Loop);
        let places: Vec<usize> = starts
            .iter()
            .copied()
            .filter(|start| (*start <= at) == is_loop)
            .collect();
        let distance = places[bits as usize % places.len()] as i32 - (at as i32 + 1);
        let is_short = code[at]
            .description()
            .unwrap()
            .operands
            .contains(&(Field::c, Role::Target16));
        code[at] = if is_short {
            code[at].with_c(distance as u16)
        } else {
            code[at].with_w(distance as u32)
        };
    }
    code
}

/// Appends the instruction of a draw, with those that prepare the window of a call and those that
/// clear it.
fn append(code: &mut Vec<Instruction>, jumps: &mut Vec<(usize, u64)>, draw: &Draw) {
    let row = TABLE.iter().find(|row| row.opcode == ROWS[draw.row]).unwrap();
    let window = FRAME_REGISTERS;
    let is_call = row.operands.iter().any(|(_, role)| *role == Role::Window);
    let count = if row.opcode == Opcode::CallSelf {
        PARAMETERS
    } else {
        (draw.bits >> 40) as usize % 4
    };
    if is_call {
        code.push(Instruction::abc(Opcode::Move, window + 1, draw.registers[0], 0));
        for argument in 0..count {
            let from = draw.registers[1 + argument % 4];
            code.push(Instruction::abc(Opcode::Move, window + 2 + argument as u16, from, 0));
        }
    }
    if row
        .operands
        .iter()
        .any(|(_, role)| matches!(role, Role::Target16 | Role::Target32))
    {
        jumps.push((code.len(), draw.bits >> 8));
    }
    let position = code.len();
    code.push(instruction(row, draw, (window, count), position));
    if is_call {
        // What the callee left there means nothing here.
        code.push(Instruction::abc(Opcode::Move, draw.registers[0], window, 0));
        code.extend((window..FRAME_SIZE).map(|register| small(register, i32::from(register))));
    }
}

fn instruction(row: &Description, draw: &Draw, (window, count): (u16, usize), position: usize) -> Instruction {
    let mut bits = u64::from(row.opcode as u8);
    let mut registers = draw.registers.iter();
    for (field, role) in row.operands {
        let (shift, mask) = place(*field);
        let drawn = draw.bits >> shift & mask;
        let primitive = (draw.bits >> 32) % PRIMITIVES.len() as u64;
        let operand = match role {
            Role::Out | Role::In | Role::Captures | Role::Arguments0 => u64::from(*registers.next().unwrap()),
            Role::Window => u64::from(window),
            Role::Arguments if row.opcode == Opcode::CallPrimitive => PRIMITIVES[primitive as usize].1,
            Role::Arguments => count as u64,
            Role::Spelling | Role::HasRest => drawn % 2,
            Role::Count => drawn % 2,
            Role::Class => 0x0f,
            Role::Payload => drawn % 8,
            // The name of a variable.
            Role::Constant if row.opcode == Opcode::CheckDefined => 0,
            Role::Constant => drawn % CONSTANTS.len() as u64,
            Role::Global => drawn % GLOBALS as u64,
            Role::Block => 2 + drawn % 3,
            Role::Primitive => primitive,
            Role::Entry => u64::from((-(position as i32) - 1) as u32),
            Role::Small | Role::Integer => drawn,
            Role::Target16 | Role::Target32 => 0,
        };
        bits |= (operand & mask) << shift;
    }
    let instruction = Instruction::from_bits(bits);
    if [Opcode::JumpIfKind, Opcode::JumpUnlessKind].contains(&row.opcode) {
        instruction.with_d(kind(draw.bits))
    } else if row.opcode == Opcode::Cxr {
        instruction.with_d(4 + (draw.bits >> 8) as u8 % 12)
    } else {
        instruction
    }
}

fn kind(bits: u64) -> u8 {
    let kinds = [Kind::Vector, Kind::String, Kind::Bytevector, Kind::Record];
    kinds[bits as usize % kinds.len()].code()
}

/// How many values there are to draw from.
pub(crate) fn palette_length() -> usize {
    let mut code = CodeSpace::new(&[]);
    let number = code.load(&unit(&[])).unwrap();
    instance(&code, number).2.len()
}

/// An instance with the unit's globals and an open turn, the procedure of the drawn code, and
/// values to apply it to.
pub(crate) fn instance(code: &CodeSpace, unit: usize) -> (Instance, Value, Vec<Value>) {
    let mut instance = Instance::new(Limits { bytes_max: 1 << 20 });
    let body = instance.unit_procedure(code, unit).unwrap();
    let mut machine = Machine::new();
    machine.start(&mut instance, body, &[]);
    let Outcome::Finished(procedures) = machine.run(&mut instance, code, &mut 1000).unwrap() else {
        panic!("the body returns")
    };
    let procedures: Vec<Value> = (0..4).map(|place| instance.heap.field(procedures, place)).collect();
    let mut palette = numbers(&mut instance);
    palette.extend(objects(&mut instance));
    palette.extend(&procedures);
    let names = ["car", "values", "%call/cc", "%apply", "vector"];
    palette.extend(names.iter().filter_map(|name| code.primitive(name)));
    instance.heap.begin_turn();
    (instance, procedures[0], palette)
}

fn numbers(instance: &mut Instance) -> Vec<Value> {
    let heap = &mut instance.heap;
    let fixnums = [0, 1, 2, -1, 5, -8, (1 << 60) - 1, -(1 << 60)];
    let flonums = [0.0, -0.0, 1.5, -2.0, 1e70, f64::NAN, f64::INFINITY, 1e-300];
    let mut numbers: Vec<Value> = fixnums.into_iter().filter_map(Value::fixnum).collect();
    for number in flonums {
        numbers.push(heap.flonum(number).unwrap());
    }
    let (big, _) = read_one("123456789012345678901234567890", 0).unwrap().unwrap();
    numbers.push(heap.literal(&big).unwrap());
    numbers
}

fn objects(instance: &mut Instance) -> Vec<Value> {
    let heap = &mut instance.heap;
    let (one, two) = (Value::small(1), Value::small(2));
    let inner = heap.cons(one, Value::NIL).unwrap();
    let pair = heap.cons(inner, inner).unwrap();
    let vector = heap.make(Kind::Vector, &[one, pair, two]).unwrap();
    let literal = heap.make(Kind::Vector, &[one, two]).unwrap();
    heap.make_immutable(literal);
    let name = heap.intern("point").unwrap();
    let names = heap.make(Kind::Vector, &[name, name]).unwrap();
    let kind = heap.make_record_type(name, names, Value::FALSE).unwrap();
    let record = heap.make_record(kind, &[one, two]).unwrap();
    let labelled = heap.make(Kind::Record, &[one, two]).unwrap();
    vec![
        Value::FALSE,
        Value::TRUE,
        Value::NIL,
        Value::UNSPECIFIED,
        Value::UNDEFINED,
        Value::character('a'),
        Value::character('\u{1f600}'),
        pair,
        vector,
        literal,
        heap.string("narrow").unwrap(),
        heap.string("wide \u{3bb}").unwrap(),
        heap.bytevector(&[7, 8, 255]).unwrap(),
        heap.make(Kind::Cell, &[two]).unwrap(),
        kind,
        record,
        labelled,
    ]
}
