//! Instructions, the two candidate formats, and a small two-pass assembler.
//!
//! INVARIANT: `instructions!` is the only list of instructions; enum, dispatch and threading follow from it.

/// Calls `$then!` with every instruction and the machine method that performs it.
macro_rules! instructions {
    ($then:ident $($arguments:tt)*) => {
        $then! { $($arguments)*
            Halt halt, Move move_register, Constant constant, Fixnum fixnum,
            Add add, Subtract subtract, AddSmall add_small,
            Cons cons, Car car, Cdr cdr,
            Jump jump, Loop loop_back,
            UnlessLess unless_less, UnlessLessSmall unless_less_small, UnlessEqual unless_equal,
            UnlessConstant unless_constant, UnlessPair unless_pair, UnlessTrue unless_true,
            Call call, TailCall tail_call, Return return_value
        }
    };
}
pub(crate) use instructions;

macro_rules! define_op {
    ($($name:ident $method:ident),*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Op { $($name),* }
        const OPS: &[(Op, &str)] = &[$((Op::$name, stringify!($name))),*];
    };
}
instructions!(define_op);

impl Op {
    /// # Safety
    /// `byte` must come from the assembler.
    #[inline(always)]
    pub unsafe fn trusted(byte: u8) -> Op {
        unsafe { std::mem::transmute(byte) }
    }
    #[inline(always)]
    pub fn checked(byte: u8) -> Option<Op> {
        ((byte as usize) < OPS.len()).then(|| unsafe { Op::trusted(byte) })
    }
    /// Finds `UnlessPair` as `unless-pair`.
    fn named(mnemonic: &str) -> Option<Op> {
        let name = mnemonic.replace('-', "");
        OPS.iter().find(|(_, op)| op.eq_ignore_ascii_case(&name)).map(|(op, _)| *op)
    }
    fn branches(self) -> bool {
        (Op::Jump as u8..=Op::UnlessTrue as u8).contains(&(self as u8))
    }
    fn calls(self) -> bool {
        matches!(self, Op::Call | Op::TailCall)
    }
    fn jumps(self) -> bool {
        matches!(self, Op::Jump | Op::Loop)
    }
}

/// A fixed-width instruction in memory. Wide operands may live in an extension word that follows.
pub trait Format: Copy + 'static {
    const NAME: &'static str;
    /// What the machine holds while it performs an instruction.
    type View: View<Self>;
    fn view(&'static self) -> Self::View;
    fn emit(instruction: &Instruction, out: &mut Vec<Self>);
    fn size(op: Op) -> usize;
}

/// The operands of the instruction being performed.
pub trait View<F>: Copy {
    fn op(self) -> u8;
    fn a(self) -> usize;
    fn b(self) -> usize;
    fn c(self) -> usize;
    fn signed_b(self) -> i64;
    fn signed_c(self) -> i64;
    /// Offset of `Jump` and `Loop`, in words, from the next instruction.
    fn jump_offset(self) -> isize;
    /// Branch offset or global number behind two operands; `extension` reads the following word.
    fn third(self, extension: impl FnOnce() -> F) -> isize;
}

macro_rules! view {
    ($view:ty, $format:ty, $w:ident: $op:expr, $a:expr, $b:expr, $c:expr, $signed_b:expr, $signed_c:expr, $jump:expr,
     $extension:ident: $third:expr) => {
        impl View<$format> for $view {
            #[inline(always)]
            fn op(self) -> u8 {
                let $w = self;
                $op
            }
            view! { $w: a usize $a, b usize $b, c usize $c, signed_b i64 $signed_b, signed_c i64 $signed_c, jump_offset isize $jump }
            #[inline(always)]
            fn third(self, $extension: impl FnOnce() -> $format) -> isize {
                let $w = self;
                let _ = (&$w, &$extension);
                $third
            }
        }
    };
    ($w:ident: $($name:ident $type:ident $value:expr),*) => {
        $(#[inline(always)]
        fn $name(self) -> $type {
            let $w = self;
            $value as $type
        })*
    };
}

// op8 a8 b8 c8, with an extension word for branch offsets and globals.
view!(u32, u32, w: w as u8, (w >> 8) as u8, (w >> 16) as u8, w >> 24, (w >> 16) as i8, w as i32 >> 24, w as i32 >> 8,
    extension: extension() as i32 as isize);
// op16 a16 b16 c16, or op16 a16 imm32, taken apart by shifts.
view!(u64, u64, w: w as u8, (w >> 16) as u16, (w >> 32) as u16, w >> 48, (w >> 32) as i16, w as i64 >> 48,
    w as i64 >> 32, extension: (w as i64 >> 48) as isize);
// The same, each operand loaded by itself.
view!(&'static Fields, Fields, w: w.0[0] as u8, w.0[1], w.0[2], w.0[3], w.0[2] as i16, w.0[3] as i16,
    (w.0[3] as i16 as i32) << 16 | w.0[2] as i32, extension: w.0[3] as i16 as isize);

impl Format for u32 {
    const NAME: &'static str = "32-bit";
    type View = u32;
    #[inline(always)]
    fn view(&'static self) -> u32 {
        *self
    }
    fn emit(i: &Instruction, out: &mut Vec<Self>) {
        let [a, b, c] = i.operands.map(|operand| operand as u8 as u32);
        let operands = if i.op.jumps() { i.third as u32 } else { a | b << 8 | c << 16 };
        out.push(i.op as u32 | operands << 8);
        if Self::size(i.op) == 2 {
            out.push(i.third as u32);
        }
    }
    fn size(op: Op) -> usize {
        1 + usize::from(op.calls() || op.branches() && !op.jumps())
    }
}

impl Format for u64 {
    const NAME: &'static str = "64-bit";
    type View = u64;
    #[inline(always)]
    fn view(&'static self) -> u64 {
        *self
    }
    fn emit(i: &Instruction, out: &mut Vec<Self>) {
        let [a, b, c] = i.operands.map(|operand| operand as u16 as u64);
        let c = if i.op.calls() || i.op.branches() { i.third as u16 as u64 } else { c };
        let operands = if i.op.jumps() { (i.third as u32 as u64) << 16 } else { a | b << 16 | c << 32 };
        out.push(i.op as u64 | operands << 16);
    }
    fn size(_: Op) -> usize {
        1
    }
}

#[derive(Clone, Copy)]
#[repr(align(8))]
pub struct Fields([u16; 4]);

impl Format for Fields {
    const NAME: &'static str = "64-bit, operands loaded singly";
    type View = &'static Fields;
    #[inline(always)]
    fn view(&'static self) -> &'static Fields {
        self
    }
    fn emit(i: &Instruction, out: &mut Vec<Self>) {
        let mut word = Vec::new();
        u64::emit(i, &mut word);
        out.push(Fields([0, 16, 32, 48].map(|shift| (word[0] >> shift) as u16)));
    }
    fn size(_: Op) -> usize {
        1
    }
}

/// One instruction before encoding; `third` is a branch offset or the number of a global.
pub struct Instruction {
    pub op: Op,
    pub operands: [i64; 3],
    pub third: isize,
}

/// A procedure as the machine sees it.
pub struct Procedure {
    name: &'static str,
    pub arity: usize,
    pub frame: usize,
    pub entry: usize,
}

/// The constants that programs may name.
pub const CONSTANTS: [&str; 13] = ["nil", "true", "false", "size", "size.", "1.", "2.", "x", "a", "b", "+", "*", "/"];

/// Assembles `define name arity frame`, labels and instructions; word 0 is `Halt`, where the outermost frame returns.
pub fn assemble<F: Format>(source: &'static str) -> (Vec<F>, Vec<Procedure>) {
    let spaced = source.split([';', '\n']).flat_map(|line| match line.split_once(": ") {
        Some((label, rest)) => vec![vec![label], rest.split_whitespace().collect()],
        None => vec![line.split_whitespace().collect::<Vec<_>>()],
    });
    let lines: Vec<Vec<&'static str>> = spaced.filter(|words| !words.is_empty()).collect();
    let (mut place, mut labels, mut procedures) = (1, Vec::new(), Vec::new());
    for words in &lines {
        match words[..] {
            ["define", name, arity, frame] => {
                labels.push((name, place));
                procedures.push(Procedure {
                    name,
                    arity: number(arity) as usize,
                    frame: number(frame) as usize,
                    entry: place,
                });
            }
            _ => match Op::named(words[0]) {
                Some(op) => place += F::size(op),
                None => labels.push((words[0], place)),
            },
        }
    }
    let mut code = Vec::new();
    F::emit(&Instruction { op: Op::Halt, operands: [0; 3], third: 0 }, &mut code);
    for words in &lines {
        let Some(op) = Op::named(words[0]) else { continue };
        let mut instruction = Instruction { op, operands: [0; 3], third: 0 };
        for (i, word) in words[1..].iter().enumerate() {
            let last = i + 2 == words.len();
            if last && op.calls() {
                let callee = procedures.iter().position(|p| p.name == *word);
                instruction.third = callee.expect("callee is defined") as isize;
            } else if last && op.branches() {
                let target = labels.iter().find(|(label, _)| label == word).expect("label is defined").1;
                instruction.third = target as isize - (code.len() + F::size(op)) as isize;
            } else {
                let constant = CONSTANTS.iter().position(|name| name == word);
                instruction.operands[i] = constant.map_or_else(|| number(word), |position| position as i64);
            }
        }
        F::emit(&instruction, &mut code);
    }
    (code, procedures)
}

fn number(word: &str) -> i64 {
    word.parse().expect("a number")
}
