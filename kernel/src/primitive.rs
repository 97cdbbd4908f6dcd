//! Primitive procedures: their table form, their effects, and their failures.
//!
//! Each family file holds blocks of docstring, name, parameters and body; `primitives!` makes the
//! family's table of them, and the REPL's descriptions and the manual come from the same words.
//! INVARIANT: a primitive has no effect but on its instance's heap; it allocates (or checks room)
//! before it mutates, so that it can run again after a collection when it fails with
//! [`PrimitiveError::HeapFull`]. An effect on the outside world is a request to the host.
//! It never calls back into Scheme: procedures that take procedures are written in Scheme.
//! Read next: `machine.rs`.

use crate::compiler::PrimitiveKind;
use crate::heap::{Heap, HeapFull, Spent};
pub use crate::names::Names;
use crate::number::NumberError;
use crate::value::Value;

/// A primitive procedure.
#[derive(Clone, Copy)]
pub struct Primitive {
    /// Its stable name, which units and images use.
    pub name: &'static str,
    /// Its parameters in the manual's notation: `vector k`, `string [start [end]]`, `number …`.
    pub parameters: &'static str,
    /// The fewest arguments.
    pub least: u8,
    /// The most, if there is a limit.
    pub most: Option<u8>,
    /// Its documentation: result, requirements, failures.
    pub documentation: &'static str,
    /// The fuel it takes besides that of its call.
    pub cost: Cost,
    /// The implementation.
    pub body: PrimitiveBody,
}

impl Primitive {
    /// Returns the properties that the compiler needs.
    pub fn kind(&self) -> PrimitiveKind {
        match self.body {
            PrimitiveBody::Function(_) => PrimitiveKind::Function {
                least: self.least,
                most: self.most,
            },
            PrimitiveBody::Control(_) | PrimitiveBody::Host => PrimitiveKind::Procedure,
        }
    }

    /// Returns whether it can be called with this many arguments.
    pub fn accepts(&self, count: usize) -> bool {
        count >= usize::from(self.least) && self.most.is_none_or(|most| count <= usize::from(most))
    }
}

/// The implementation of a primitive.
#[derive(Clone, Copy)]
pub enum PrimitiveBody {
    /// Computes a value from its arguments.
    Function(Function),
    /// Transfers control: a block of the machine's own unit.
    Control(ControlBlock),
    /// Stops the machine with a request to the host.
    Host,
}

/// The code of a computing primitive. The machine has checked the number of arguments.
pub type Function = fn(&mut Context<'_>, &[Value]) -> Result<Value, PrimitiveError>;

/// The blocks of the machine's own unit that primitives name, in the order of their table; see
/// `code/builtin.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlBlock {
    /// `apply`.
    Apply,
    /// `%call/cc`.
    CallWithContinuation,
    /// `%throw`.
    Throw,
    /// `%call-with-prompt`.
    CallWithPrompt,
    /// `%abort-to-prompt`.
    AbortToPrompt,
    /// `%call-with-composable`.
    CallWithComposable,
    /// `%resume-composable`.
    ResumeComposable,
    /// `call-with-values`.
    CallWithValues,
    /// `%uncaught`.
    Uncaught,
    /// `%abort-with-continuation`.
    AbortWithContinuation,
    /// `%call-traced`.
    CallTraced,
}

/// The environment of a primitive.
pub struct Context<'a> {
    /// The instance's heap.
    pub heap: &'a mut Heap,
    /// The names of primitives by table position, for printing.
    pub names: &'a dyn Names,
}

/// A failure of a primitive. The machine turns it into a condition that names the procedure.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimitiveError {
    /// The memory limit is reached; the machine collects and tries again once.
    HeapFull,
    /// Argument `argument` (from 0) is not `expected`: "a pair", "an exact integer".
    WrongType {
        /// Its position.
        argument: usize,
        /// The accepted type, with its article.
        expected: &'static str,
    },
    /// Argument `argument` (from 0) has the right type but is outside the range that the others
    /// allow.
    OutOfRange {
        /// Its position.
        argument: usize,
    },
    /// The first argument is no record of the kind that an accessor or modifier wants. The
    /// condition names the procedure that a program has called, which is none of the primitives.
    NotTheRecord {
        /// The accepted kind, with its article.
        expected: String,
    },
    /// Argument `argument` (from 0) is immutable, such as a literal constant.
    Immutable {
        /// Its position.
        argument: usize,
    },
    /// The arithmetic operation has no result.
    Arithmetic(NumberError),
    /// Another condition.
    Condition {
        /// Its kind, a symbol.
        kind: &'static str,
        /// One clause for people.
        message: String,
        /// The values that it concerns.
        irritants: Vec<Value>,
    },
}

impl From<HeapFull> for PrimitiveError {
    fn from(_: HeapFull) -> PrimitiveError {
        PrimitiveError::HeapFull
    }
}

impl From<NumberError> for PrimitiveError {
    fn from(error: NumberError) -> PrimitiveError {
        PrimitiveError::Arithmetic(error)
    }
}

impl From<Spent> for PrimitiveError {
    #[cold]
    fn from(_: Spent) -> PrimitiveError {
        PrimitiveError::Condition {
            kind: "out-of-fuel",
            message: "this takes more fuel than is left".to_owned(),
            irritants: Vec::new(),
        }
    }
}

/// Declares a family: `/// docstring`, then `"name" "parameters" [least, most] cost => function;`,
/// with `_` for no limit. The cost is `free`, `counted`, or a function in parentheses; see
/// [`Cost`].
macro_rules! primitives {
    ($($(#[doc = $documentation:literal])+
        $name:literal $parameters:literal [$least:literal, $most:tt] $cost:tt => $function:expr;)*) => {
        /// The family's table.
        pub(crate) const TABLE: &[$crate::primitive::Primitive] = &[
            $($crate::primitive::Primitive {
                name: $name,
                parameters: $parameters,
                least: $least,
                most: primitives!(@most $most),
                documentation: concat!($($documentation, "\n"),+),
                cost: primitives!(@cost $cost),
                body: $crate::primitive::PrimitiveBody::Function($function),
            },)*
        ];
    };
    (@cost free) => { $crate::primitive::Cost::Free };
    (@cost counted) => { $crate::primitive::Cost::Counted };
    (@cost ($fuel:expr)) => { $crate::primitive::Cost::Operands($fuel) };
    (@most _) => { None };
    (@most $most:literal) => { Some($most) };
}

mod control;
pub mod cost;
mod argument;
mod fingerprint;
mod pair;
mod accessor;
mod list;
mod equivalence;
pub(crate) mod arithmetic;
pub(crate) mod integer;
mod numeric;
mod complex;
mod flonum;
mod character;
mod string;
mod text;
mod symbol;
mod vector;
mod bytevector;
mod record;
mod dictionary;
mod promise;
mod port;
mod print;
mod read;
pub(crate) mod syntax;

pub(crate) use argument::wrong_type;
pub(crate) use control::CONTROL_TABLE;
pub use cost::Cost;
pub(crate) use port::buffer::flag as port_flag;
pub use port::{has_console_output, take_console_output};

/// The position of `values` in [`all`]: the first after the control blocks.
pub(crate) const VALUES_POSITION: u32 = CONTROL_TABLE.len() as u32;

/// Returns all primitives of the kernel, family by family.
pub fn all() -> impl Iterator<Item = &'static Primitive> {
    [
        CONTROL_TABLE,
        control::TABLE,
        pair::TABLE,
        accessor::TABLE,
        list::TABLE,
        equivalence::TABLE,
        arithmetic::TABLE,
        integer::TABLE,
        numeric::TABLE,
        complex::TABLE,
        flonum::TABLE,
        character::TABLE,
        string::TABLE,
        text::TABLE,
        symbol::TABLE,
        vector::TABLE,
        bytevector::TABLE,
        record::TABLE,
        dictionary::TABLE,
        promise::TABLE,
        port::TABLE,
        read::TABLE,
        print::TABLE,
        syntax::TABLE,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests;
