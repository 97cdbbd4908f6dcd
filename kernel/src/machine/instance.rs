//! An instance: one heap with the globals and literals of the code it runs.
//!
//! INVARIANT: everything an instance knows is in its heap, so undoing the heap undoes the instance.

use crate::code::CodeSpace;
use crate::core::GlobalName;
use crate::heap::{Heap, HeapFull, Kind, Limits, Register};
use crate::value::Value;

/// One actor's Scheme.
#[derive(Clone, Debug)]
pub struct Instance {
    /// All its values.
    pub heap: Heap,
}

impl Instance {
    /// An instance with an empty heap.
    pub fn new(limits: Limits) -> Instance {
        Instance {
            heap: Heap::new(limits),
        }
    }

    /// Gives the instance a slot for each global and a value for each literal of the code that it does not know yet.
    ///
    /// # Errors
    /// [`HeapFull`]; calling again goes on where it stopped.
    pub fn link(&mut self, code: &CodeSpace) -> Result<(), HeapFull> {
        let globals = code.globals().len();
        if self.table_length(Register::Globals) < globals {
            self.grow_table(Register::Globals, globals, Value::UNDEFINED)?;
        }
        let linked = self.heap.register(Register::Machine0).as_fixnum().unwrap_or(0) as usize;
        let constants = code.constants();
        if linked == constants.len() {
            return Ok(());
        }
        if self.table_length(Register::Constants) < constants.len() {
            self.grow_table(Register::Constants, constants.len(), Value::ABSENT)?;
        }
        for (number, datum) in constants.iter().enumerate().skip(linked) {
            let value = self.heap.literal(datum)?;
            self.heap
                .set_field(self.heap.register(Register::Constants), number, value);
            self.heap.set_register(Register::Machine0, Value::length(number + 1));
        }
        Ok(())
    }

    /// The value of a global, if it is defined.
    pub fn global(&self, code: &CodeSpace, name: &GlobalName) -> Option<Value> {
        let number = code.find_global(name)? as usize;
        if number >= self.table_length(Register::Globals) {
            return None;
        }
        let value = self.heap.field(self.heap.register(Register::Globals), number);
        (value != Value::UNDEFINED).then_some(value)
    }

    /// A closure that evaluates a loaded unit when called without arguments.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn unit_procedure(&mut self, code: &CodeSpace, unit: usize) -> Result<Value, HeapFull> {
        let entry = code.block(code.units()[unit].entry_block).code_word;
        self.heap.make(Kind::Closure, &[entry])
    }

    fn table_length(&self, register: Register) -> usize {
        let table = self.heap.register(register);
        if table.is_true() {
            self.heap.object_length(table)
        } else {
            0
        }
    }

    fn grow_table(&mut self, register: Register, length: usize, fill: Value) -> Result<(), HeapFull> {
        let before = self.table_length(register);
        let grown = self.heap.allocate_filled(Kind::Vector, length.max(before * 2), fill)?;
        if before > 0 {
            let table = self.heap.register(register);
            self.heap.copy_fields(table, 0, grown, 0, before);
        }
        self.heap.set_register(register, grown);
        Ok(())
    }
}
