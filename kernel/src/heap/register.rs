//! The heap's own roots: a few fixed registers and a growable table of values that Rust code holds.
//!
//! INVARIANT: both are part of the heap's state: an aborted turn restores them, images carry them.
//! It does not know what the registers mean to the machine. Read next: `heap/symbol.rs`.

use super::{Heap, HeapFull, Kind};
use crate::value::Value;

macro_rules! registers {
    ($( $(#[doc = $doc:literal])+ $name:ident = $initial:expr; )+) => {
        /// A root that the heap itself keeps.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Register {
            $( $(#[doc = $doc])+ $name, )+
        }

        impl Register {
            /// Every register, in order of the table.
            pub const ALL: &[Register] = &[$( Register::$name ),+];
            /// How many registers there are.
            pub const COUNT: usize = Register::ALL.len();
            /// What they hold in an empty heap.
            pub(super) const INITIAL: [Value; Register::COUNT] = [$( $initial ),+];
        }
    };
}

registers! {
    /// The symbol table; see `heap/symbol.rs`.
    Symbols = Value::FALSE;
    /// The host-root table, a vector, or `#f` before the first root.
    HostRoots = Value::FALSE;
    /// No free place of the host-root table lies below this fixnum.
    HostRootsHint = Value::ZERO;
    /// The number the next record type gets, a fixnum.
    RecordTypeSerial = Value::ZERO;
    /// The identity hash given last, a fixnum.
    IdentityHash = Value::ZERO;
    /// The globals of all units.
    Globals = Value::FALSE;
    /// The constants of all units.
    Constants = Value::FALSE;
    /// Conditions that must exist before memory runs out.
    Conditions = Value::FALSE;
    /// The winders in force.
    Winders = Value::NIL;
    /// The dynamic environment in force.
    Dynamic = Value::NIL;
    /// The continuation below the current stack.
    Continuation = Value::NIL;
    /// How many units have their places among the globals and constants, a fixnum.
    UnitCount = Value::ZERO;
    /// The hashes of these units, a list of bytevectors, newest first: what the places mean.
    Units = Value::NIL;
    /// For the machine's use.
    Machine2 = Value::FALSE;
    /// For the runtime's use.
    Runtime0 = Value::FALSE;
    /// For the runtime's use.
    Runtime1 = Value::FALSE;
    /// The console ports, a vector in order of their streams, or `#f` before the first is asked
    /// for.
    Ports = Value::FALSE;
}

/// Names a value that Rust code holds across collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RootId(pub u32);

const ROOTS_INITIAL: usize = 15;

impl Heap {
    /// What a register holds.
    #[inline(always)]
    pub fn register(&self, register: Register) -> Value {
        self.registers[register as usize]
    }

    /// Changes what a register holds.
    #[inline(always)]
    pub fn set_register(&mut self, register: Register, value: Value) {
        self.registers[register as usize] = value;
    }

    /// The address of the registers, in the order of the table, for machine code.
    pub(crate) fn registers_pointer(&mut self) -> *mut Value {
        self.registers.as_mut_ptr()
    }

    /// Keeps `value` reachable until [`Heap::release_root`].
    ///
    /// # Errors
    /// [`HeapFull`] if the table cannot grow.
    pub fn root(&mut self, value: Value) -> Result<RootId, HeapFull> {
        let mut place = self.register(Register::HostRootsHint).as_fixnum().unwrap_or(0) as usize;
        let length = self.roots_length();
        let table = self.register(Register::HostRoots);
        while place < length && self.field(table, place) != Value::ABSENT {
            place += 1;
        }
        if place == length {
            self.grow_roots(length)?;
        }
        self.set_field(self.register(Register::HostRoots), place, value);
        self.set_register(Register::HostRootsHint, Value::length(place + 1));
        Ok(RootId(place as u32))
    }

    /// The value of a root.
    pub fn root_value(&self, root: RootId) -> Value {
        self.field(self.register(Register::HostRoots), root.0 as usize)
    }

    /// Changes the value of a root.
    pub fn set_root(&mut self, root: RootId, value: Value) {
        self.set_field(self.register(Register::HostRoots), root.0 as usize, value);
    }

    /// Gives a root back; its id may be given out again.
    pub fn release_root(&mut self, root: RootId) {
        self.set_root(root, Value::ABSENT);
        let hint = self.register(Register::HostRootsHint).as_fixnum().unwrap_or(0);
        if i64::from(root.0) < hint {
            self.set_register(Register::HostRootsHint, Value::length(root.0 as usize));
        }
    }

    pub(super) fn roots_length(&self) -> usize {
        let table = self.register(Register::HostRoots);
        if table.is_true() { self.object_length(table) } else { 0 }
    }

    fn grow_roots(&mut self, length: usize) -> Result<(), HeapFull> {
        let grown = self.allocate_filled(Kind::Vector, (length * 2).max(ROOTS_INITIAL), Value::ABSENT)?;
        if length > 0 {
            self.copy_fields(self.register(Register::HostRoots), 0, grown, 0, length);
        }
        self.set_register(Register::HostRoots, grown);
        Ok(())
    }
}
