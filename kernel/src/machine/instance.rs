//! An instance: one heap with the globals and literals of the code it runs.
//!
//! Owns the two vectors of globals and literals, at the numbers of the code space, and the list of
//! the units that these places belong to, which keeps their meaning where the units are loaded in
//! another order.
//! INVARIANT: an instance has no state outside its heap, so undoing the heap undoes the instance.
//! It does not run code; `machine.rs` does.
//! Read next: `image/instance.rs`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::{CodeSpace, LoadedUnit};
use crate::heap::{Heap, HeapFull, Kind, Limits, Register};
use crate::unit::GlobalName;
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
    /// The instance's table of units is malformed.
    Malformed,
    /// The heap has no room for the new tables.
    HeapFull,
}

impl From<HeapFull> for RelinkError {
    fn from(_: HeapFull) -> RelinkError {
        RelinkError::HeapFull
    }
}

/// A unit that an instance was linked with.
struct LinkedUnit {
    hash: [u8; 32],
    /// The number of its first literal, and the numbers of its globals; `None` if they follow
    /// directly after those of the units before it.
    places: Option<(u32, Vec<u32>)>,
}

/// The entry of a unit in the instance's list: its hash and, unless they follow from the units
/// before it, its places.
fn entry(unit: &LoadedUnit) -> Vec<u8> {
    let mut bytes = unit.hash.to_vec();
    if !unit.is_dense {
        let places = std::iter::once(unit.constants.start).chain(unit.globals.iter().copied());
        bytes.extend(places.flat_map(u32::to_le_bytes));
    }
    bytes
}

/// The units for every instance that are not among `linked`.
fn missing<'code>(code: &'code CodeSpace, linked: &[LinkedUnit]) -> Vec<&'code LoadedUnit> {
    let known: BTreeSet<_> = linked.iter().map(|linked| linked.hash).collect();
    let is_missing = |unit: &&LoadedUnit| !unit.is_apart && !known.contains(&unit.hash);
    code.units().iter().filter(is_missing).collect()
}

fn is_in_place(moves: &[(usize, usize)]) -> bool {
    moves.iter().all(|(from, to)| from == to)
}

impl LinkedUnit {
    fn read(entry: &[u8]) -> Option<Self> {
        let (hash, places) = entry.split_first_chunk::<32>()?;
        let (words, rest) = places.as_chunks::<4>();
        if !rest.is_empty() {
            return None;
        }
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let places = words.next().map(|constants| (constants, words.collect()));
        Some(Self { hash: *hash, places })
    }
}

/// The moves of globals and literals.
#[derive(Default)]
struct TableMoves {
    /// The old place of each global, by the new one.
    globals: BTreeMap<usize, usize>,
    constants: Vec<(usize, usize)>,
    /// The number of globals and literals of the units whose places follow from those before them.
    dense_globals: usize,
    dense_constants: usize,
}

impl TableMoves {
    fn add(&mut self, linked: &LinkedUnit, unit: &LoadedUnit) -> Result<(), RelinkError> {
        let literals = unit.constants.clone().map(|number| number as usize);
        let Some((constants, globals)) = &linked.places else {
            for &global in &unit.globals {
                let place = self.dense_globals;
                if let Entry::Vacant(entry) = self.globals.entry(global as usize) {
                    entry.insert(place);
                    self.dense_globals += 1;
                }
            }
            let start = self.dense_constants;
            self.dense_constants += literals.len();
            self.constants.extend((start..).zip(literals));
            return Ok(());
        };
        if globals.len() != unit.globals.len() {
            return Err(RelinkError::Malformed);
        }
        for (&from, &to) in globals.iter().zip(&unit.globals) {
            self.globals.entry(to as usize).or_insert(from as usize);
        }
        self.constants.extend((*constants as usize..).zip(literals));
        Ok(())
    }

    fn globals(&self) -> Vec<(usize, usize)> {
        self.globals.iter().map(|(to, from)| (*from, *to)).collect()
    }
}

impl Instance {
    /// An instance with an empty heap.
    pub fn new(limits: Limits) -> Instance {
        Instance {
            heap: Heap::new(limits),
        }
    }

    /// Gives the instance a slot for each global and a value for each literal of the code that it
    /// does not know yet, units apart left out.
    ///
    /// # Errors
    /// [`HeapFull`]; calling again goes on where it stopped.
    pub fn link(&mut self, code: &CodeSpace) -> Result<(), HeapFull> {
        let linked = self.heap.register(Register::UnitCount).as_fixnum().unwrap_or(0) as usize;
        self.grow_table(Register::Globals, code.globals().len(), Value::UNDEFINED)?;
        self.grow_table(Register::Constants, code.constants().len(), Value::ABSENT)?;
        for (number, unit) in code.units().iter().enumerate().skip(linked) {
            if !unit.is_apart {
                self.link_unit(code, unit)?;
            }
            self.heap.set_register(Register::UnitCount, Value::length(number + 1));
        }
        Ok(())
    }

    /// Gives the instance the literals of a unit that was loaded apart, unless it has them, so that
    /// it can run the unit.
    ///
    /// # Errors
    /// [`HeapFull`]; calling again goes on where it stopped.
    pub fn link_apart(&mut self, code: &CodeSpace, unit: usize) -> Result<(), HeapFull> {
        self.link(code)?;
        let unit = &code.units()[unit];
        let constants = self.heap.register(Register::Constants);
        let is_linked = |number: u32| self.heap.field(constants, number as usize) != Value::ABSENT;
        if !unit.is_apart || unit.constants.clone().last().is_some_and(is_linked) {
            return Ok(());
        }
        self.link_unit(code, unit)
    }

    fn link_unit(&mut self, code: &CodeSpace, unit: &LoadedUnit) -> Result<(), HeapFull> {
        let entry = self.heap.bytevector(&entry(unit))?;
        let units = self.heap.cons(entry, self.heap.register(Register::Units))?;
        for number in unit.constants.clone() {
            let value = self.heap.literal(&code.constants()[number as usize])?;
            let table = self.heap.register(Register::Constants);
            self.heap.set_field(table, number as usize, value);
        }
        self.heap.set_register(Register::Units, units);
        Ok(())
    }

    /// Moves globals and literals to the places in `code`, after the heap came from a process
    /// that loaded its units in another order.
    ///
    /// # Errors
    /// [`RelinkError`]; the instance is as it was.
    pub(crate) fn relink(&mut self, code: &CodeSpace) -> Result<(), RelinkError> {
        let hashes = self.linked_units()?;
        let (globals, constants) = (self.table(Register::Globals)?, self.table(Register::Constants)?);
        let mut moves = TableMoves::default();
        for linked in &hashes {
            let unit = code
                .find_unit(&linked.hash)
                .ok_or(RelinkError::UnknownUnit(linked.hash))?;
            moves.add(linked, unit)?;
        }
        let (moved_globals, moved_constants) = (moves.globals(), moves.constants);
        let has_all = |table: Option<Value>, moves: &[(usize, usize)]| {
            let length = table.map_or(0, |table| self.heap.object_length(table));
            moves.iter().all(|(from, _)| *from < length)
        };
        if !has_all(globals, &moved_globals) || !has_all(constants, &moved_constants) {
            return Err(RelinkError::Malformed);
        }
        if is_in_place(&moved_globals) && is_in_place(&moved_constants) && missing(code, &hashes).is_empty() {
            // Tables that need no change stay the same words, so that the next image can share
            // them.
            let seen = self.heap.register(Register::UnitCount).as_fixnum().unwrap_or(0) as usize;
            if seen > code.units().len() {
                self.heap
                    .set_register(Register::UnitCount, Value::length(code.units().len()));
            }
            return Ok(self.link(code)?);
        }
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

    /// Fills in the literals of the units for every instance that are not among `linked`, and lists
    /// all units of this one.
    fn link_missing(&mut self, code: &CodeSpace, linked: &[LinkedUnit], constants: Value) -> Result<Value, HeapFull> {
        let missing = missing(code, linked);
        for unit in &missing {
            for number in unit.constants.clone() {
                let value = self.heap.literal(&code.constants()[number as usize])?;
                self.heap.set_field(constants, number as usize, value);
            }
        }
        // Units whose entries have no places must come in the order of the code space.
        let mut all: Vec<&LoadedUnit> = linked
            .iter()
            .filter_map(|linked| code.find_unit(&linked.hash))
            .collect();
        all.extend(missing);
        all.sort_by_key(|unit| if unit.is_dense { unit.start } else { u32::MAX });
        let mut units = Value::NIL;
        for unit in all {
            let entry = self.heap.bytevector(&entry(unit))?;
            units = self.heap.cons(entry, units)?;
        }
        Ok(units)
    }

    /// The values of the literals of each unit that the instance is linked with, by the unit's
    /// hash.
    pub(crate) fn literals(&self, code: &CodeSpace) -> BTreeMap<[u8; 32], Vec<Value>> {
        let table = self.heap.register(Register::Constants);
        let length = self.table_length(Register::Constants);
        let values = |unit: &LoadedUnit| {
            let places = unit.constants.clone().map(|number| number as usize);
            let there = places.filter(|place| *place < length);
            there.map(|place| self.heap.field(table, place)).collect::<Vec<_>>()
        };
        let units = code.units().iter().map(|unit| (unit.hash, values(unit)));
        units
            .filter(|(_, literals)| literals.iter().any(|value| *value != Value::ABSENT))
            .collect()
    }

    /// The linked units in the order in which they were.
    fn linked_units(&self) -> Result<Vec<LinkedUnit>, RelinkError> {
        let mut rest = self.heap.register(Register::Units);
        let mut units = Vec::new();
        // A list that is not circular has fewer pairs than the heap has words.
        let longest = self.heap.statistics().words_used;
        while rest.is_pair() && units.len() <= longest {
            let entry = self.heap.car(rest);
            if !self.heap.is_kind(entry, Kind::Bytevector) {
                return Err(RelinkError::Malformed);
            }
            units.push(LinkedUnit::read(self.heap.raw_bytes(entry)).ok_or(RelinkError::Malformed)?);
            rest = self.heap.cdr(rest);
        }
        if rest != Value::NIL {
            return Err(RelinkError::Malformed);
        }
        units.reverse();
        Ok(units)
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

    /// A table of `length` fields with some of those of `table`, given as pairs of old and new
    /// place.
    fn moved(
        &mut self,
        table: Option<Value>,
        places: &[(usize, usize)],
        length: usize,
        fill: Value,
    ) -> Result<Value, HeapFull> {
        let allocation = self.heap.allocate_filled(Kind::Vector, length, fill)?;
        if let Some(table) = table {
            for &(from, to) in places {
                self.heap.set_field(allocation, to, self.heap.field(table, from));
            }
        }
        Ok(allocation)
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

    /// Defines a global as a closure over a block that captures nothing, of a linked unit.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn define(&mut self, code: &CodeSpace, name: &GlobalName, block: usize) -> Result<(), HeapFull> {
        self.link(code)?;
        let Some(number) = code.find_global(name) else {
            return Ok(());
        };
        let closure = self.heap.make(Kind::Closure, &[code.block(block).code_word])?;
        let table = self.heap.register(Register::Globals);
        self.heap.set_field(table, number as usize, closure);
        Ok(())
    }

    /// Whether it has a value for some global of a library.
    pub fn has_library(&self, code: &CodeSpace, library: &str) -> bool {
        let table = self.heap.register(Register::Globals);
        let known = code.globals().iter().take(self.table_length(Register::Globals));
        let mut own = known
            .enumerate()
            .filter(|(_, global)| global.library.as_str() == library);
        own.any(|(number, _)| self.heap.field(table, number) != Value::UNDEFINED)
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
