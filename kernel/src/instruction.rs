//! The instruction set: one table from which the opcodes, the listing, the verifier's rules and the
//! machine's dispatch follow.
//!
//! Owns the layout of instructions. An instruction is one 64-bit word: opcode in bits 0–7, `d` in
//! bits 8–15, `a` in bits 16–31, and either `b` (32–47) and `c` (48–63) or one 32-bit operand `w`
//! (32–63). Registers are words of the current frame: register 0 holds the running procedure, 1…
//! its arguments, then locals and temporaries. A call's window starts at a register that the
//! machine fills with the return point; the callee and its arguments follow, so that they already
//! lie where the callee's frame begins. The result replaces the window's first register.
//! INVARIANT: a byte code keeps its meaning after its release, because units and continuations
//! outlive any ordering.
//! It does not execute anything.
//! Read next: `compiler.rs`, `machine/execute.rs`.

/// Calls `$callback!` with the whole table: `NAME = code, method, "mnemonic", [operands],
/// "docstring";`.
///
/// Operands are `field: Role` in the order in which they are listed.
#[macro_export]
macro_rules! instruction_table {
    ($callback:path) => {
        $callback! {
            Move = 0x01, move_register, "move", [a: Out, b: In], "a ← b.";
            Small = 0x02, small, "small", [a: Out, w: Integer], "a ← the fixnum w.";
            Immediate = 0x03, immediate, "immediate", [a: Out, d: Class, w: Payload], "a ← the immediate of class d with payload w.";
            Constant = 0x04, constant, "constant", [a: Out, w: Constant], "a ← the unit's constant w.";
            Global = 0x05, global, "global", [a: Out, w: Global], "a ← the global w; a condition if it is undefined.";
            SetGlobal = 0x06, set_global, "set-global", [w: Global, a: In], "The defined global w ← a.";
            DefineGlobal = 0x07, define_global, "define-global", [w: Global, a: In], "Defines the global w as a.";
            Free = 0x08, free, "free", [a: Out, b: Count], "a ← the running closure's captured value b.";
            Closure = 0x09, closure, "closure", [a: Captures, w: Block], "a ← a closure over block w; its captured values are the registers from a.";
            PatchClosure = 0x0a, patch_closure, "patch-closure", [a: In, b: Count, c: In], "Captured value b of the closure a ← c.";
            Cell = 0x0b, cell, "cell", [a: Out, b: In], "a ← a new cell that holds b.";
            CellRef = 0x0c, cell_ref, "cell-ref", [a: Out, b: In], "a ← the content of the cell b.";
            CellSet = 0x0d, cell_set, "cell-set", [a: In, b: In], "The content of the cell a ← b.";
            CheckDefined = 0x0e, check_defined, "check-defined", [a: In, w: Constant], "A condition naming constant w if a is the undefined marker.";
            CountCall = 0x0f, count_call, "count-call", [], "Counts the fuel of a call that the next instructions replace.";

            Jump = 0x10, jump, "jump", [w: Target32], "Goes on at w.";
            Loop = 0x11, loop_back, "loop", [w: Target32], "Goes on at w, an earlier instruction; counts fuel.";
            JumpIfFalse = 0x12, jump_if_false, "jump-if-false", [a: In, w: Target32], "Jumps if a is #f.";
            JumpIfTrue = 0x13, jump_if_true, "jump-if-true", [a: In, w: Target32], "Jumps unless a is #f.";
            JumpIfNull = 0x14, jump_if_null, "jump-if-null", [a: In, w: Target32], "Jumps if a is ().";
            JumpUnlessNull = 0x15, jump_unless_null, "jump-unless-null", [a: In, w: Target32], "Jumps unless a is ().";
            JumpIfPair = 0x16, jump_if_pair, "jump-if-pair", [a: In, w: Target32], "Jumps if a is a pair.";
            JumpUnlessPair = 0x17, jump_unless_pair, "jump-unless-pair", [a: In, w: Target32], "Jumps unless a is a pair.";
            JumpIfEq = 0x18, jump_if_eq, "jump-if-eq", [a: In, b: In, c: Target16], "Jumps if a and b are the same word.";
            JumpUnlessEq = 0x19, jump_unless_eq, "jump-unless-eq", [a: In, b: In, c: Target16], "Jumps unless a and b are the same word.";
            JumpIfLess = 0x1a, jump_if_less, "jump-if-less", [a: In, b: In, d: Spelling, c: Target16], "Jumps if a < b.";
            JumpUnlessLess = 0x1b, jump_unless_less, "jump-unless-less", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless a < b.";
            JumpIfLessEqual = 0x1c, jump_if_less_equal, "jump-if-less-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps if a ≤ b.";
            JumpUnlessLessEqual = 0x1d, jump_unless_less_equal, "jump-unless-less-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless a ≤ b.";
            JumpIfEqual = 0x1e, jump_if_equal, "jump-if-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps if a = b, as numbers.";
            JumpUnlessEqual = 0x1f, jump_unless_equal, "jump-unless-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless a = b, as numbers.";
            JumpIfLessSmall = 0x20, jump_if_less_small, "jump-if-less-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps if a < the fixnum b.";
            JumpUnlessLessSmall = 0x21, jump_unless_less_small, "jump-unless-less-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps unless a < the fixnum b.";
            JumpIfGreaterSmall = 0x22, jump_if_greater_small, "jump-if-greater-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps if a > the fixnum b.";
            JumpUnlessGreaterSmall = 0x23, jump_unless_greater_small, "jump-unless-greater-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps unless a > the fixnum b.";
            JumpIfLessEqualSmall = 0x24, jump_if_less_equal_small, "jump-if-less-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps if a ≤ the fixnum b.";
            JumpUnlessLessEqualSmall = 0x25, jump_unless_less_equal_small, "jump-unless-less-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps unless a ≤ the fixnum b.";
            JumpIfGreaterEqualSmall = 0x26, jump_if_greater_equal_small, "jump-if-greater-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps if a ≥ the fixnum b.";
            JumpUnlessGreaterEqualSmall = 0x27, jump_unless_greater_equal_small, "jump-unless-greater-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps unless a ≥ the fixnum b.";
            JumpIfEqualSmall = 0x28, jump_if_equal_small, "jump-if-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps if a = the fixnum b.";
            JumpUnlessEqualSmall = 0x29, jump_unless_equal_small, "jump-unless-equal-small", [a: In, b: Small, d: Spelling, c: Target16], "Jumps unless a = the fixnum b.";

            JumpIfEqv = 0x2a, jump_if_eqv, "jump-if-eqv", [a: In, b: In, c: Target16], "Jumps if a and b are eqv?.";
            JumpUnlessEqv = 0x2b, jump_unless_eqv, "jump-unless-eqv", [a: In, b: In, c: Target16], "Jumps unless a and b are eqv?.";
            JumpIfKind = 0x2c, jump_if_kind, "jump-if-kind", [a: In, d: Count, w: Target32], "Jumps if a is an object of the kind with code d.";
            JumpUnlessKind = 0x2d, jump_unless_kind, "jump-unless-kind", [a: In, d: Count, w: Target32], "Jumps unless a is an object of the kind with code d.";
            JumpIfCharacter = 0x2e, jump_if_character, "jump-if-character", [a: In, w: Target32], "Jumps if a is a character.";
            JumpUnlessCharacter = 0x2f, jump_unless_character, "jump-unless-character", [a: In, w: Target32], "Jumps unless a is a character.";

            Call = 0x30, call, "call", [a: Window, d: Arguments], "Calls a+1 with the d arguments from a+2; the result lands in a.";
            TailCall = 0x31, tail_call, "tail-call", [a: Window, d: Arguments], "Calls a+1 with the d arguments from a+2 in place of the running procedure.";
            CallGlobal = 0x32, call_global, "call-global", [a: Window, w: Global, d: Arguments], "Calls the global w with the d arguments from a+2; the result lands in a.";
            TailCallGlobal = 0x33, tail_call_global, "tail-call-global", [a: Window, w: Global, d: Arguments], "Calls the global w with the d arguments from a+2 in place of the running procedure.";
            CallSelf = 0x34, call_self, "call-self", [a: Window, d: Arguments, w: Entry], "Calls the running procedure, whose body starts at w, with the d arguments from a+2; the result lands in a.";
            Return = 0x35, return_value, "return", [a: In], "Returns a to the caller.";
            CallPrimitive = 0x36, call_primitive, "call-primitive", [a: Arguments0, d: Arguments, w: Primitive], "a ← primitive w applied to the d arguments from a.";
            ArityExact = 0x37, arity_exact, "arity-exact", [a: Count], "A condition unless exactly a arguments were passed.";
            ArityRest = 0x38, arity_rest, "arity-rest", [a: Count], "A condition unless at least a arguments were passed; register a+1 ← the list of those beyond a.";
            ArityClause = 0x39, arity_clause, "arity-clause", [a: Count, d: HasRest, w: Target32], "Jumps unless the number of arguments fits a clause with a required ones.";
            ArityFail = 0x3a, arity_fail, "arity-fail", [], "The condition of a call that no clause accepts.";

            Add = 0x40, add, "add", [a: Out, b: In, c: In, d: Count], "a ← b + c, of which c was written as argument d + 2.";
            Subtract = 0x41, subtract, "subtract", [a: Out, b: In, c: In, d: Count], "a ← b − c, of which c was written as argument d + 2.";
            Multiply = 0x42, multiply, "multiply", [a: Out, b: In, c: In, d: Count], "a ← b × c, of which c was written as argument d + 2.";
            AddSmall = 0x43, add_small, "add-small", [a: Out, b: In, c: Small, d: Count], "a ← b + the fixnum c, written as (+ b c) if d is 0, as (+ c b) if it is 1, as (- b −c) if it is 2.";
            Quotient = 0x44, quotient, "quotient", [a: Out, b: In, c: In, d: Count], "a ← the quotient of b by c, truncated; written as truncate-quotient if d is 1.";
            Remainder = 0x45, remainder, "remainder", [a: Out, b: In, c: In, d: Count], "a ← the remainder of b by c, with the sign of b; written as truncate-remainder if d is 1.";
            Divide = 0x46, divide, "divide", [a: Out, b: In, c: In, d: Count], "a ← b ÷ c, of which c was written as argument d + 2.";

            Modulo = 0x47, modulo, "modulo", [a: Out, b: In, c: In], "a ← b modulo c, with the sign of c.";

            Cons = 0x50, cons, "cons", [a: Out, b: In, c: In], "a ← a new pair of b and c.";
            Car = 0x51, car, "car", [a: Out, b: In], "a ← the car of b.";
            Cdr = 0x52, cdr, "cdr", [a: Out, b: In], "a ← the cdr of b.";
            SetCar = 0x53, set_car, "set-car", [a: In, b: In], "The car of a ← b.";
            SetCdr = 0x54, set_cdr, "set-cdr", [a: In, b: In], "The cdr of a ← b.";
            VectorRef = 0x55, vector_ref, "vector-ref", [a: Out, b: In, c: In], "a ← element c of the vector b.";
            VectorSet = 0x56, vector_set, "vector-set", [a: In, b: In, c: In], "Element b of the vector a ← c.";

            Cxr = 0x57, cxr, "cxr", [a: Out, b: In, d: Count], "a ← the part of b that the path d leads to: bits below the highest, lowest first, 0 for a car and 1 for a cdr.";
            StringRef = 0x58, string_ref, "string-ref", [a: Out, b: In, c: In], "a ← character c of the string b.";
            StringLength = 0x59, string_length, "string-length", [a: Out, b: In], "a ← the length of the string b.";
            VectorLength = 0x5a, vector_length, "vector-length", [a: Out, b: In], "a ← the length of the vector b.";
            BytevectorRef = 0x5b, bytevector_ref, "bytevector-ref", [a: Out, b: In, c: In], "a ← byte c of the bytevector b.";
            BytevectorSet = 0x5c, bytevector_set, "bytevector-set", [a: In, b: In, c: In], "Byte b of the bytevector a ← c.";
            RecordRef = 0x5d, record_ref, "record-ref", [a: Out, b: In, c: In, d: Count], "a ← field d of b, an instance of the record type c.";
            RecordSet = 0x5e, record_set, "record-set", [a: In, b: In, c: In, d: Count], "Field d of a, an instance of the record type b, ← c.";

            JumpIfRecord = 0x60, jump_if_record, "jump-if-record", [a: In, b: In, c: Target16], "Jumps if a is an instance of the record type b.";
            JumpUnlessRecord = 0x61, jump_unless_record, "jump-unless-record", [a: In, b: In, c: Target16], "Jumps unless a is an instance of the record type b.";
            JumpIfCharEqual = 0x62, jump_if_char_equal, "jump-if-char-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps if the characters a and b are the same.";
            JumpUnlessCharEqual = 0x63, jump_unless_char_equal, "jump-unless-char-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless the characters a and b are the same.";
            JumpIfCharLess = 0x64, jump_if_char_less, "jump-if-char-less", [a: In, b: In, d: Spelling, c: Target16], "Jumps if the character a comes before b.";
            JumpUnlessCharLess = 0x65, jump_unless_char_less, "jump-unless-char-less", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless the character a comes before b.";
            JumpIfCharLessEqual = 0x66, jump_if_char_less_equal, "jump-if-char-less-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps if the character a comes before b or is b.";
            JumpUnlessCharLessEqual = 0x67, jump_unless_char_less_equal, "jump-unless-char-less-equal", [a: In, b: In, d: Spelling, c: Target16], "Jumps unless the character a comes before b or is b.";

            Underflow = 0x70, underflow, "underflow", [], "Returns register 0 into the continuation below the stack.";
            Apply = 0x71, apply, "apply", [], "Calls the first argument with those between and the elements of the last, a list.";
            CallWithContinuation = 0x72, call_with_continuation, "call-with-continuation", [], "Calls register 1 with the current continuation.";
            EnterContinuation = 0x73, enter_continuation, "enter-continuation", [], "Passes the arguments to the continuation that the running closure stands for.";
            Throw = 0x74, throw, "throw", [], "Passes the elements of the list in register 2 to the continuation in register 1 without running winders.";
            CallWithPrompt = 0x75, call_with_prompt, "call-with-prompt", [], "Calls register 2 under a prompt with tag register 1 and handler register 3.";
            AbortToPrompt = 0x76, abort_to_prompt, "abort-to-prompt", [], "Drops the frames up to the nearest prompt with tag register 1 and calls its handler with the elements of the list in register 2.";
            CallWithComposable = 0x77, call_with_composable, "call-with-composable", [], "Calls register 2 with the frames up to the nearest prompt with tag register 1.";
            ResumeComposable = 0x78, resume_composable, "resume-composable", [], "Puts the frames of register 1 on the current continuation and returns the elements of the list in register 2 to them.";
            CallWithResults = 0x79, call_with_results, "call-with-results", [a: In, b: In], "Calls a with the values that b stands for in place of the running procedure.";
            AbortWithContinuation = 0x7b, abort_with_continuation, "abort-with-continuation", [], "Aborts to the nearest prompt with tag register 1, whose handler gets the frames up to it and the elements of the list in register 2; calls register 3 with tag and list instead where that takes more.";
            CallTraced = 0x7c, call_traced, "call-traced", [], "Calls register 1 with register 2, a condition with the trace of its raise.";
            Uncaught = 0x7a, uncaught, "uncaught", [], "Ends the computation: nothing handles register 1.";
        }
    };
}

/// The compositions of `car` and `cdr` that have an instruction, with their paths.
pub const CXRS: &[(&str, u8)] = &[
    ("caar", 0b100),
    ("cadr", 0b101),
    ("cdar", 0b110),
    ("cddr", 0b111),
    ("caaar", 0b1000),
    ("caadr", 0b1001),
    ("cadar", 0b1010),
    ("caddr", 0b1011),
    ("cdaar", 0b1100),
    ("cdadr", 0b1101),
    ("cddar", 0b1110),
    ("cdddr", 0b1111),
    ("cadddr", 0b10111),
    ("cddddr", 0b11111),
];

/// The meaning of an operand; decides how it is listed and verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A register that is written.
    Out,
    /// A register that is read.
    In,
    /// The register that receives a closure and from which its captured values are read.
    Captures,
    /// The first register of a call's window.
    Window,
    /// The first of the argument registers of a primitive, which also receives the result.
    Arguments0,
    /// The number of arguments.
    Arguments,
    /// A plain number.
    Count,
    /// The form in the source, for errors: 0 like the instruction, 1 with exchanged operands, 2 as
    /// `zero?`.
    Spelling,
    /// Whether a clause takes further arguments as a list.
    HasRest,
    /// A signed 16-bit fixnum.
    Small,
    /// A signed 32-bit fixnum.
    Integer,
    /// An [`Immediate`](crate::value::Immediate) class.
    Class,
    /// An immediate's payload.
    Payload,
    /// An entry of the unit's constants.
    Constant,
    /// An entry of the unit's globals.
    Global,
    /// A block of the unit.
    Block,
    /// A primitive.
    Primitive,
    /// A signed distance from the next instruction, in 16 bits.
    Target16,
    /// A signed distance from the next instruction, in 32 bits.
    Target32,
    /// The distance back to the first instruction of the running block, as a target.
    Entry,
}

/// The bits of an operand in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the table spells fields as the listing does")]
pub enum Field {
    /// Bits 8–15.
    d,
    /// Bits 16–31.
    a,
    /// Bits 32–47.
    b,
    /// Bits 48–63.
    c,
    /// Bits 32–63.
    w,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The operation.
    pub opcode: Opcode,
    /// Its name in listings.
    pub mnemonic: &'static str,
    /// Its operands in the order they are listed.
    pub operands: &'static [(Field, Role)],
    /// What it does.
    pub documentation: &'static str,
}

macro_rules! declare {
    ($($name:ident = $code:literal, $method:ident, $mnemonic:literal, [$($field:ident : $role:ident),*], $documentation:literal;)*) => {
        /// The operations; the discriminant is the stable byte code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = $documentation] $name = $code,)*
        }

        /// The table as data.
        pub const TABLE: &[Description] = &[
            $(Description {
                opcode: Opcode::$name,
                mnemonic: $mnemonic,
                operands: &[$((Field::$field, Role::$role)),*],
                documentation: $documentation,
            },)*
        ];

        impl Opcode {
            /// The operation with this byte code.
            pub const fn from_code(code: u8) -> Option<Opcode> {
                match code {
                    $($code => Some(Opcode::$name),)*
                    _ => None,
                }
            }
        }
    };
}

instruction_table!(declare);

/// For each byte code, the row of the table that describes it; past the table's end for those that
/// mean nothing.
const ROW_OF_CODE: [u8; 256] = {
    assert!(TABLE.len() < 255, "a byte names a row or none");
    let mut rows = [u8::MAX; 256];
    let mut row = 0;
    while row < TABLE.len() {
        rows[TABLE[row].opcode as usize] = row as u8;
        row += 1;
    }
    rows
};

/// One instruction. The machine reads each operand with a narrow load, which is cheaper than
/// shifting the whole word.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Instruction {
    code: u8,
    d: u8,
    a: u16,
    b: u16,
    c: u16,
}

impl Instruction {
    /// An instruction with 16-bit operands.
    pub const fn abc(opcode: Opcode, a: u16, b: u16, c: u16) -> Instruction {
        Instruction {
            code: opcode as u8,
            d: 0,
            a,
            b,
            c,
        }
    }

    /// An instruction with a small operand, a register and a 32-bit operand.
    pub const fn daw(opcode: Opcode, d: u8, a: u16, w: u32) -> Instruction {
        Instruction {
            code: opcode as u8,
            d,
            a,
            b: w as u16,
            c: (w >> 16) as u16,
        }
    }

    /// The whole word, as units store it.
    pub const fn to_bits(self) -> u64 {
        self.code as u64 | (self.d as u64) << 8 | (self.a as u64) << 16 | (self.b as u64) << 32 | (self.c as u64) << 48
    }

    /// The instruction of a stored word, valid or not.
    pub const fn from_bits(bits: u64) -> Instruction {
        Instruction {
            code: bits as u8,
            d: (bits >> 8) as u8,
            a: (bits >> 16) as u16,
            b: (bits >> 32) as u16,
            c: (bits >> 48) as u16,
        }
    }

    /// The byte code.
    #[inline(always)]
    pub const fn code(&self) -> u8 {
        self.code
    }

    /// The operation, if the byte code is one.
    pub const fn opcode(&self) -> Option<Opcode> {
        Opcode::from_code(self.code)
    }

    /// Operand `d`.
    #[inline(always)]
    pub const fn d(&self) -> usize {
        self.d as usize
    }

    /// Operand `a`.
    #[inline(always)]
    pub const fn a(&self) -> usize {
        self.a as usize
    }

    /// Operand `b`.
    #[inline(always)]
    pub const fn b(&self) -> usize {
        self.b as usize
    }

    /// Operand `c`.
    #[inline(always)]
    pub const fn c(&self) -> usize {
        self.c as usize
    }

    /// Operand `b` as a signed number.
    #[inline(always)]
    pub const fn b_signed(&self) -> i16 {
        self.b as i16
    }

    /// Operand `c` as a signed number.
    #[inline(always)]
    pub const fn c_signed(&self) -> i16 {
        self.c as i16
    }

    /// Operand `w`.
    #[inline(always)]
    pub const fn w(&self) -> u32 {
        self.b as u32 | (self.c as u32) << 16
    }

    /// Operand `w` as a signed number.
    #[inline(always)]
    pub const fn w_signed(&self) -> i32 {
        self.w() as i32
    }

    /// The same operands behind another byte code.
    pub(crate) const fn with_code(self, code: u8) -> Instruction {
        Instruction { code, ..self }
    }

    /// The same instruction with another operand `d`.
    pub const fn with_d(self, d: u8) -> Instruction {
        Instruction { d, ..self }
    }

    /// The same instruction with another operand `w`.
    pub const fn with_w(self, w: u32) -> Instruction {
        Instruction {
            b: w as u16,
            c: (w >> 16) as u16,
            ..self
        }
    }

    /// The same instruction with another operand `c`.
    pub const fn with_c(self, c: u16) -> Instruction {
        Instruction { c, ..self }
    }

    /// The row of the table that describes it.
    pub fn description(&self) -> Option<&'static Description> {
        TABLE.get(usize::from(ROW_OF_CODE[usize::from(self.code)]))
    }

    /// The operand in `field`, without its sign.
    pub const fn operand(&self, field: Field) -> u32 {
        match field {
            Field::d => self.d() as u32,
            Field::a => self.a() as u32,
            Field::b => self.b() as u32,
            Field::c => self.c() as u32,
            Field::w => self.w(),
        }
    }

    /// Whether this is a jump on a condition, and then whether it jumps if the condition holds.
    pub fn jumps_if(&self) -> Option<bool> {
        match self.description()?.mnemonic {
            "jump-if-false" => Some(false),
            name if name.starts_with("jump-unless") => Some(false),
            name if name.starts_with("jump-if") => Some(true),
            _ => None,
        }
    }

    /// The distance of a jump from the next instruction, if this is one.
    pub fn jump_distance(&self) -> Option<i32> {
        let (_, role) = self.description()?.operands.last()?;
        if *role == Role::Target16 {
            return Some(self.c_signed().into());
        }
        matches!(role, Role::Target32 | Role::Entry).then(|| self.w_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_round_trip() {
        for (position, row) in TABLE.iter().enumerate() {
            assert_eq!(Opcode::from_code(row.opcode as u8), Some(row.opcode));
            assert!(
                TABLE[position + 1..]
                    .iter()
                    .all(|other| other.opcode as u8 != row.opcode as u8)
            );
        }
    }

    #[test]
    fn operands_survive_packing() {
        let short = Instruction::abc(Opcode::JumpIfLess, 1, 0xffff, (-3i16) as u16);
        assert_eq!((short.a(), short.b(), short.c_signed()), (1, 0xffff, -3));
        let long = Instruction::daw(Opcode::CallGlobal, 7, 65_535, u32::MAX);
        assert_eq!((long.d(), long.a(), long.w()), (7, 65_535, u32::MAX));
    }
}
