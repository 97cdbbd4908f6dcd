//! An instance: one heap with the globals and literals of the code it runs.
//!
//! The globals and literals stand in two vectors, at the numbers that the code space gives them. A list of the units whose places these are stands beside them, so that
//! the vectors keep their meaning where the units are loaded in another order.
//! INVARIANT: everything an instance knows is in its heap, so undoing the heap undoes the instance.
//! Read next: `image/instance.rs`.

use std::collections::BTreeMap;

use crate::code::{CodeSpace, LoadedUnit};
use crate::core::GlobalName;
use crate::heap::{Heap, HeapFull, Kind, Limits, Register};
use crate::value::Value;

/// One actor's Scheme.
#[derive(Clone, Debug)]
pub struct Instance {
    /// All its values.
    pub heap: Heap,
}

/// Why an instance that was linked elsewhere cannot be linked here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelinkError {
    /// The unit with this hash is not loaded.
    UnknownUnit([u8; 32]),
    /// What the instance says of its units is not well-formed.
    Malformed,
    /// The heap has no room for the new tables.
    HeapFull,
}

impl From<HeapFull> for RelinkError {
    fn from(_: HeapFull) -> RelinkError {
        RelinkError::HeapFull
    }
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
        let linked = self.heap.register(Register::UnitCount).as_fixnum().unwrap_or(0) as usize;
        self.grow_table(Register::Globals, code.globals().len(), Value::UNDEFINED)?;
        self.grow_table(Register::Constants, code.constants().len(), Value::ABSENT)?;
        for (number, unit) in code.units().iter().enumerate().skip(linked) {
            self.link_unit(code, unit)?;
            self.heap.set_register(Register::UnitCount, Value::length(number + 1));
        }
        Ok(())
    }

    fn link_unit(&mut self, code: &CodeSpace, unit: &LoadedUnit) -> Result<(), HeapFull> {
        for number in unit.constants.clone() {
            let value = self.heap.literal(&code.constants()[number as usize])?;
            let table = self.heap.register(Register::Constants);
            self.heap.set_field(table, number as usize, value);
        }
        let hash = self.heap.bytevector(&unit.hash)?;
        let units = self.heap.cons(hash, self.heap.register(Register::Units))?;
        self.heap.set_register(Register::Units, units);
        Ok(())
    }

    /// Puts globals and literals where `code` expects them, after the heap came from a process that had loaded its units in an order of its own.
    ///
    /// # Errors
    /// [`RelinkError`]; the instance is as it was.
    pub(crate) fn relink(&mut self, code: &CodeSpace) -> Result<(), RelinkError> {
        let hashes = self.linked_units()?;
        if code
            .units()
            .iter()
            .map(|unit| &unit.hash)
            .take(hashes.len())
            .eq(&hashes)
        {
            return Ok(self.link(code)?);
        }
        let (globals, constants) = (self.table(Register::Globals)?, self.table(Register::Constants)?);
        let mut global_places = BTreeMap::new();
        let mut constant_places = Vec::new();
        for hash in &hashes {
            let unit = code.find_unit(hash).ok_or(RelinkError::UnknownUnit(*hash))?;
            for &global in &unit.globals {
                let place = global_places.len();
                global_places.entry(global as usize).or_insert(place);
            }
            constant_places.extend(unit.constants.clone().map(|number| number as usize));
        }
        let has_all =
            |table: Option<Value>, places: usize| table.map_or(0, |table| self.heap.object_length(table)) >= places;
        if !has_all(globals, global_places.len()) || !has_all(constants, constant_places.len()) {
            return Err(RelinkError::Malformed);
        }
        let moved_globals = global_places
            .into_iter()
            .map(|(to, from)| (from, to))
            .collect::<Vec<_>>();
        let moved_constants = constant_places.into_iter().enumerate().collect::<Vec<_>>();
        let globals = self.moved(globals, &moved_globals, code.globals().len(), Value::UNDEFINED)?;
        let constants = self.moved(constants, &moved_constants, code.constants().len(), Value::ABSENT)?;
        let units = self.link_missing(code, &hashes, constants)?;
        self.heap.set_register(Register::Globals, globals);
        self.heap.set_register(Register::Constants, constants);
        self.heap.set_register(Register::Units, units);
        self.heap
            .set_register(Register::UnitCount, Value::length(code.units().len()));
        Ok(())
    }

    /// Fills in the literals of the units that are not among `hashes`, and lists all units.
    fn link_missing(&mut self, code: &CodeSpace, hashes: &[[u8; 32]], constants: Value) -> Result<Value, HeapFull> {
        let mut units = Value::NIL;
        for unit in code.units() {
            if !hashes.contains(&unit.hash) {
                for number in unit.constants.clone() {
                    let value = self.heap.literal(&code.constants()[number as usize])?;
                    self.heap.set_field(constants, number as usize, value);
                }
            }
            let hash = self.heap.bytevector(&unit.hash)?;
            units = self.heap.cons(hash, units)?;
        }
        Ok(units)
    }

    /// The hashes of the linked units in the order in which they were.
    fn linked_units(&self) -> Result<Vec<[u8; 32]>, RelinkError> {
        let count = self.heap.register(Register::UnitCount).as_fixnum();
        let mut rest = self.heap.register(Register::Units);
        let mut hashes = Vec::new();
        while rest.is_pair() && Some(hashes.len() as i64) < count {
            let hash = self.heap.car(rest);
            if !self.heap.is_kind(hash, Kind::Bytevector) {
                return Err(RelinkError::Malformed);
            }
            hashes.push(<[u8; 32]>::try_from(self.heap.raw_bytes(hash)).map_err(|_| RelinkError::Malformed)?);
            rest = self.heap.cdr(rest);
        }
        if rest != Value::NIL || Some(hashes.len() as i64) != count {
            return Err(RelinkError::Malformed);
        }
        hashes.reverse();
        Ok(hashes)
    }

    fn table(&self, register: Register) -> Result<Option<Value>, RelinkError> {
        let table = self.heap.register(register);
        if table == Value::FALSE {
            Ok(None)
        } else if self.heap.is_kind(table, Kind::Vector) {
            Ok(Some(table))
        } else {
            Err(RelinkError::Malformed)
        }
    }

    /// A table of `length` fields with some of those of `table`, given as pairs of old and new place.
    fn moved(
        &mut self,
        table: Option<Value>,
        places: &[(usize, usize)],
        length: usize,
        fill: Value,
    ) -> Result<Value, HeapFull> {
        let fresh = self.heap.allocate_filled(Kind::Vector, length, fill)?;
        if let Some(table) = table {
            for &(from, to) in places {
                self.heap.set_field(fresh, to, self.heap.field(table, from));
            }
        }
        Ok(fresh)
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
        if before >= length {
            return Ok(());
        }
        let grown = self.heap.allocate_filled(Kind::Vector, length.max(before * 2), fill)?;
        if before > 0 {
            let table = self.heap.register(register);
            self.heap.copy_fields(table, 0, grown, 0, before);
        }
        self.heap.set_register(register, grown);
        Ok(())
    }
}
