//! Records and their types, and other objects of fixed shape.
//!
//! A record's first word says what it is: a record type, or any other value as the label of a
//! dataspace record.
//! INVARIANT: no two record types of a heap have the same serial number.
//! It does not check field types or mutability. Read next: `heap/equality.rs`.

use super::kind::{cell, opaque, record, record_type};
use super::{Heap, HeapFull, Kind, Register};
use crate::value::Value;

impl Heap {
    /// Makes a record type with this name, vector of field names, and parent type or `#f`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_record_type(&mut self, name: Value, field_names: Value, parent: Value) -> Result<Value, HeapFull> {
        let serial = self.register(Register::RecordTypeSerial);
        let mut fields = [Value::FALSE; record_type::LENGTH];
        fields[record_type::NAME] = name;
        fields[record_type::FIELD_NAMES] = field_names;
        fields[record_type::SERIAL] = serial;
        fields[record_type::PARENT] = parent;
        let made = self.make(Kind::RecordType, &fields)?;
        self.set_register(
            Register::RecordTypeSerial,
            Value::length(serial.as_fixnum().unwrap_or(0) as usize + 1),
        );
        Ok(made)
    }

    /// Makes another type with the name and the fields of a record type.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn copy_record_type(&mut self, record_type: Value) -> Result<Value, HeapFull> {
        let field = |place| self.field(record_type, place);
        let (name, fields, parent) = (
            field(record_type::NAME),
            field(record_type::FIELD_NAMES),
            field(record_type::PARENT),
        );
        self.make_record_type(name, fields, parent)
    }

    /// Makes a record of this type or label with these fields.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_record(&mut self, label: Value, fields: &[Value]) -> Result<Value, HeapFull> {
        let made = self.allocate(Kind::Record, record::FIELDS + fields.len())?;
        self.set_fresh_word(made.index() + 1 + record::LABEL, label);
        for (place, &field) in fields.iter().enumerate() {
            self.set_fresh_word(made.index() + 1 + record::FIELDS + place, field);
        }
        Ok(made)
    }

    /// A record's type or label.
    #[inline(always)]
    pub fn record_label(&self, record: Value) -> Value {
        self.field(record, record::LABEL)
    }

    /// How many fields a record has.
    pub fn record_length(&self, record: Value) -> usize {
        self.object_length(record) - record::FIELDS
    }

    /// Whether `value` is an instance of exactly the record type `record_type`; one load more than
    /// a kind test.
    #[inline(always)]
    pub fn is_instance(&self, value: Value, record_type: Value) -> bool {
        self.is_kind(value, Kind::Record) && self.record_label(value) == record_type
    }

    /// Whether a record is a dataspace record: labelled with a value rather than made by a record
    /// definition.
    pub fn is_labelled(&self, record: Value) -> bool {
        !self.is_kind(self.record_label(record), Kind::RecordType)
    }

    /// Makes a box for an assigned variable.
    ///
    /// # Errors
    /// [`HeapFull`].
    #[inline]
    pub fn make_cell(&mut self, value: Value) -> Result<Value, HeapFull> {
        let index = self.bump(cell::WORDS)?;
        self.set_fresh_word(index, cell::HEADER);
        self.set_fresh_word(index + 1, value);
        Ok(Value::object_at(index))
    }

    /// What a box holds.
    #[inline(always)]
    pub fn cell_value(&self, cell: Value) -> Value {
        self.field(cell, 0)
    }

    /// Changes what a box holds.
    #[inline(always)]
    pub fn set_cell(&mut self, cell: Value, value: Value) {
        self.set_field(cell, 0, value);
    }

    /// Makes a reference to something of the host's.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_opaque(&mut self, class: u32, id: u32, payload: Value) -> Result<Value, HeapFull> {
        let mut fields = [payload; opaque::LENGTH];
        fields[opaque::CLASS] = Value::length(class as usize);
        fields[opaque::ID] = Value::length(id as usize);
        self.make(Kind::Opaque, &fields)
    }
}
