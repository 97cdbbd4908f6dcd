//! The printer: heap values to text.
//!
//! A value that has a lexical syntax is written in it. Three forms go beyond R7RS and use
//! characters that no symbol may contain, so that a reader can recognise them: `#[label field …]`
//! for a dataspace record, `{key value …}` for a dictionary, `#{member …}` for a set. (`<label
//! field>`, the notation of Preserves, does not work because `<label` is an identifier.) A value
//! that cannot be read back is written as `#<…>`.
//! INVARIANT: the printer keeps its own stack, so neither depth nor cycles of a value use the Rust
//! stack, and it stops at the given length.
//! It does not allocate in the heap.
//! Read next: `printer/labels.rs`, `datum/atom.rs`.

mod labels;
mod output;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};

use crate::datum::atom;
use crate::heap::kind::{condition, record, record_type};
use crate::heap::rate;
use crate::heap::{Heap, Kind, Steps};
use crate::names::Names;
use crate::value::{Immediate, Value};
use labels::{Labels, Mention};
use output::Output;

/// The way a value is written.
///
/// Source: R7RS 6.13.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `display`: characters, strings and symbols as they are; labels where a value contains
    /// itself.
    Display,
    /// `write`: labels where a value contains itself.
    Write,
    /// `write-shared`: labels wherever a part occurs twice.
    Shared,
    /// `write-simple`: no labels; a value that contains itself exceeds every limit.
    Simple,
}

/// The text would exceed the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The limit, in characters.
    pub characters_max: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the text is longer than {} characters", self.characters_max)
    }
}

impl std::error::Error for TooLong {}

/// Bytes of a bytevector that are printed for a unit of fuel, besides their digits.
const BYTES_WRITTEN: u64 = 8;

/// Steps of printing for a unit of fuel; a part takes one or two, and four characters one.
const STEPS: u64 = 2;

/// The maximum number of parts of a value that an error message searches for cycles.
const STEPS_LIMITED: usize = 10_000;

/// Writes a value in full.
///
/// # Errors
/// [`TooLong`] if it takes more than `characters_max` characters, or if the computation has to end:
/// a person stops it ([`Heap::stop_on`]), or it has no fuel for the text ([`Heap::allow_fuel`]).
pub fn print(
    heap: &Heap,
    names: &dyn Names,
    value: Value,
    style: Style,
    characters_max: usize,
) -> Result<String, TooLong> {
    let labels = match style {
        Style::Display | Style::Write => Labels::of_cycles(heap, value, usize::MAX),
        Style::Shared => Labels::of_shared(heap, value),
        Style::Simple => Labels::default(),
    };
    let mut printer = Printer::new(heap, names, style, labels, characters_max);
    printer
        .run(value)
        .map(|()| printer.output.text)
        .map_err(|fmt::Error| TooLong { characters_max })
}

/// Writes a value for a message, as `write` does; text beyond `characters_max` (at least 1) is
/// replaced by `…`.
pub fn write_limited(heap: &Heap, names: &dyn Names, value: Value, characters_max: usize) -> String {
    let labels = Labels::of_cycles(heap, value, STEPS_LIMITED);
    let mut printer = Printer::new(heap, names, Style::Write, labels, characters_max);
    let is_whole = printer.run(value).is_ok();
    let mut text = printer.output.text;
    if !is_whole {
        text.pop();
        text.push('…');
    }
    text
}

/// A task that remains to be done.
#[derive(Clone, Copy)]
enum Pending {
    Text(&'static str),
    Value(Value),
    /// Prints the rest of a list, and its closer.
    Tail(Value, &'static str),
    /// Prints the fields of an object from the given one on, and its closer; the flag asks for a
    /// blank before the first.
    Fields {
        object: Value,
        next: usize,
        blank: bool,
        close: &'static str,
    },
    /// Prints the fields of an instance of a record type from the given one on, with their names
    /// unless some fields are private.
    TypedFields {
        object: Value,
        next: usize,
        are_named: bool,
    },
    /// Prints the entries of a table from the given ordinal on.
    Entries {
        table: Value,
        ordinal: usize,
        blank: bool,
    },
}

struct Printer<'a> {
    heap: &'a Heap,
    names: &'a dyn Names,
    style: Style,
    labels: Labels,
    output: Output<'a>,
    /// The last one is next.
    work: Vec<Pending>,
}

impl<'a> Printer<'a> {
    fn new(heap: &'a Heap, names: &'a dyn Names, style: Style, labels: Labels, characters_max: usize) -> Self {
        Printer {
            heap,
            names,
            style,
            labels,
            output: Output::new(heap, characters_max),
            work: Vec::new(),
        }
    }

    fn run(&mut self, value: Value) -> fmt::Result {
        self.work.push(Pending::Value(value));
        let mut steps = Steps::<STEPS>::default();
        steps.walk(self.heap, STEPS).map_err(|_| fmt::Error)?;
        let mut before = self.output.characters_left;
        while let Some(task) = self.work.pop() {
            let written = before - self.output.characters_left;
            before = self.output.characters_left;
            steps.walk(self.heap, 1 + written as u64 / 4).map_err(|_| fmt::Error)?;
            match task {
                Pending::Text(text) => self.output.write_str(text)?,
                Pending::Value(value) => self.value(value)?,
                Pending::Tail(value, close) => self.tail(value, close)?,
                Pending::Fields {
                    object,
                    next,
                    blank,
                    close,
                } => self.fields(object, next, blank, close)?,
                Pending::TypedFields {
                    object,
                    next,
                    are_named,
                } => self.typed_fields(object, next, are_named)?,
                Pending::Entries { table, ordinal, blank } => self.entries(table, ordinal, blank)?,
            }
        }
        let written = before - self.output.characters_left;
        steps.walk(self.heap, written as u64 / 4).map_err(|_| fmt::Error)
    }

    fn value(&mut self, value: Value) -> fmt::Result {
        match self.labels.mention(value) {
            Mention::Plain => {}
            Mention::First(label) => write!(self.output, "#{label}=")?,
            Mention::Again(label) => return write!(self.output, "#{label}#"),
        }
        if value.is_pair() {
            self.pair(value)
        } else if let Some(kind) = self.heap.kind_of(value) {
            self.object(value, kind)
        } else {
            self.immediate(value)
        }
    }

    fn pair(&mut self, pair: Value) -> fmt::Result {
        if let Some((prefix, quoted)) = self.abbreviation(pair) {
            self.output.write_str(prefix)?;
            self.work.push(Pending::Value(quoted));
            return Ok(());
        }
        self.output.write_char('(')?;
        self.work.push(Pending::Tail(self.heap.cdr(pair), ")"));
        self.work.push(Pending::Value(self.heap.car(pair)));
        Ok(())
    }

    /// Returns the abbreviation of `(quote x)` and its like, and the abbreviated value.
    fn abbreviation(&self, pair: Value) -> Option<(&'static str, Value)> {
        let (heap, rest) = (self.heap, self.heap.cdr(pair));
        if !heap.is_symbol(heap.car(pair)) || !rest.is_pair() || heap.cdr(rest) != Value::NIL {
            return None;
        }
        let quoted = heap.car(rest);
        let prefix = match heap.string_ascii(heap.car(pair))? {
            b"quote" => "'",
            b"quasiquote" => "`",
            // `,@name` would read as a splice.
            b"unquote" if heap.is_symbol(quoted) && heap.string_ref(quoted, 0) == Some('@') => return None,
            b"unquote" => ",",
            b"unquote-splicing" => ",@",
            _ => return None,
        };
        (!self.labels.is_labelled(rest)).then_some((prefix, quoted))
    }

    fn tail(&mut self, rest: Value, close: &'static str) -> fmt::Result {
        if rest == Value::NIL {
            self.output.write_str(close)
        } else if rest.is_pair() && !self.labels.is_labelled(rest) {
            self.output.write_char(' ')?;
            self.work.push(Pending::Tail(self.heap.cdr(rest), close));
            self.work.push(Pending::Value(self.heap.car(rest)));
            Ok(())
        } else {
            self.output.write_str(" . ")?;
            self.work.extend([Pending::Text(close), Pending::Value(rest)]);
            Ok(())
        }
    }

    fn fields(&mut self, object: Value, next: usize, blank: bool, close: &'static str) -> fmt::Result {
        if next == self.heap.object_length(object) {
            return self.output.write_str(close);
        }
        if blank {
            self.output.write_char(' ')?;
        }
        self.work.push(Pending::Fields {
            object,
            next: next + 1,
            blank: true,
            close,
        });
        self.work.push(Pending::Value(self.heap.field(object, next)));
        Ok(())
    }

    fn typed_fields(&mut self, object: Value, next: usize, are_named: bool) -> fmt::Result {
        let mut places = next..self.heap.record_length(object);
        let Some(place) = places.find(|place| !is_private_field(self.heap, object, *place)) else {
            return self.output.write_char('>');
        };
        self.output.write_char(' ')?;
        let name = field_name(self.heap, self.heap.record_label(object), place);
        if let Some(name) = name.filter(|_| are_named) {
            self.name(name)?;
            self.output.write_str(": ")?;
        }
        self.work.push(Pending::TypedFields {
            object,
            next: place + 1,
            are_named,
        });
        self.work
            .push(Pending::Value(self.heap.field(object, record::FIELDS + place)));
        Ok(())
    }

    fn entries(&mut self, table: Value, ordinal: usize, blank: bool) -> fmt::Result {
        let Some(entry) = self.heap.table_next(table, ordinal) else {
            return self.output.write_char('}');
        };
        if blank {
            self.output.write_char(' ')?;
        }
        self.work.push(Pending::Entries {
            table,
            ordinal: entry.ordinal + 1,
            blank: true,
        });
        if self.heap.is_kind(table, Kind::Dictionary) {
            self.work.extend([Pending::Value(entry.value), Pending::Text(" ")]);
        }
        self.work.push(Pending::Value(entry.key));
        Ok(())
    }

    fn object(&mut self, object: Value, kind: Kind) -> fmt::Result {
        match kind {
            Kind::String => self.string(object),
            Kind::Symbol => self.symbol(object),
            Kind::Keyword => self.keyword(object),
            Kind::Bignum | Kind::Ratio | Kind::Flonum | Kind::Complex => self.number(object),
            Kind::Bytevector => self.bytevector(object),
            Kind::Vector => self.open_fields(object, "#(", 0, false, ")"),
            Kind::Values => self.open_fields(object, "#<values", 0, true, ">"),
            Kind::PromptTag => self.open_fields(object, "#<prompt-tag", 0, true, ">"),
            Kind::Record if self.heap.is_labelled(object) => self.open_fields(object, "#[", 0, false, "]"),
            Kind::Record => {
                self.output.write_str("#<")?;
                self.type_name(self.heap.record_label(object))?;
                let mut places = 0..self.heap.record_length(object);
                let are_named = !places.any(|place| is_private_field(self.heap, object, place));
                self.work.push(Pending::TypedFields {
                    object,
                    next: 0,
                    are_named,
                });
                Ok(())
            }
            Kind::RecordType => {
                self.output.write_str("#<record-type ")?;
                self.type_name(object)?;
                self.output.write_char('>')
            }
            Kind::Dictionary => self.open_entries(object, "{"),
            Kind::Set => self.open_entries(object, "#{"),
            Kind::Condition => self.condition(object),
            Kind::Closure => self.procedure(
                self.names
                    .procedure_name(self.heap.field(object, 0).payload())
                    .unwrap_or_default(),
            ),
            Kind::Opaque => {
                let [class, id] = [0, 1].map(|field| self.heap.field(object, field));
                match class.as_fixnum().and_then(|class| self.names.class_name(class)) {
                    Some(name) => write!(self.output, "#<{name} {id:?}>"),
                    None => write!(self.output, "#<opaque {class:?}:{id:?}>"),
                }
            }
            Kind::Cell | Kind::Promise | Kind::Port => self.unreadable(kind),
            Kind::Frames | Kind::Link | Kind::PromptLink | Kind::Environment => self.unreadable(kind),
            Kind::NarrowCharacters | Kind::WideCharacters => self.unreadable(kind),
        }
    }

    fn open_fields(&mut self, object: Value, open: &str, next: usize, blank: bool, close: &'static str) -> fmt::Result {
        self.output.write_str(open)?;
        self.work.push(Pending::Fields {
            object,
            next,
            blank,
            close,
        });
        Ok(())
    }

    fn open_entries(&mut self, table: Value, open: &str) -> fmt::Result {
        self.output.write_str(open)?;
        self.work.push(Pending::Entries {
            table,
            ordinal: 0,
            blank: false,
        });
        Ok(())
    }

    /// Writes `#<condition kind: message irritant …>`; the message as `display` writes it.
    fn condition(&mut self, object: Value) -> fmt::Result {
        let message = self.heap.field(object, condition::MESSAGE);
        self.output.write_str("#<condition ")?;
        self.work
            .push(Pending::Tail(self.heap.field(object, condition::IRRITANTS), ">"));
        if !self.heap.is_string(message) {
            self.work.extend([Pending::Value(message), Pending::Text(": ")]);
            self.work.push(Pending::Value(self.heap.field(object, condition::KIND)));
            return Ok(());
        }
        let kind = self.heap.field(object, condition::KIND);
        if self.heap.is_symbol(kind) {
            self.name(kind)?;
        } else {
            self.output.write_str("error")?;
        }
        self.output.write_str(": ")?;
        self.name(message)
    }

    fn immediate(&mut self, value: Value) -> fmt::Result {
        if let Some(character) = value.as_character() {
            return match self.style {
                Style::Display => self.output.write_char(character),
                Style::Write | Style::Shared | Style::Simple => atom::write_character(character, &mut self.output),
            };
        }
        if value.is_immediate(Immediate::Primitive) {
            return self.procedure(self.names.primitive_name(value.payload()));
        }
        let text = match value {
            Value::FALSE => "#f",
            Value::TRUE => "#t",
            Value::NIL => "()",
            Value::UNSPECIFIED => "#<unspecified>",
            Value::EOF => "#<eof>",
            Value::UNDEFINED => "#<undefined>",
            Value::DEFAULT => "#<default>",
            _ => return self.number(value),
        };
        self.output.write_str(text)
    }

    fn number(&mut self, value: Value) -> fmt::Result {
        if let Some(integer) = value.as_fixnum() {
            return write!(self.output, "{integer}");
        }
        let digits = 2 + rate::digits_of(rate::limbs(self.heap, value));
        self.heap.spend(digits).map_err(|_| fmt::Error)?;
        if let Some(number) = self.heap.as_number(value) {
            let text = number.to_string_while(10, &|| !self.heap.is_stop_wanted());
            return self.output.write_str(&text.ok_or(fmt::Error)?);
        }
        match self.heap.as_complex(value) {
            Some(number) => write!(self.output, "{number}"),
            None => self.output.write_str("#<internal>"),
        }
    }

    fn procedure(&mut self, name: &str) -> fmt::Result {
        let blank = if name.is_empty() { "" } else { " " };
        write!(self.output, "#<procedure{blank}{name}>")
    }

    fn unreadable(&mut self, kind: Kind) -> fmt::Result {
        write!(self.output, "#<{}>", kind.name())
    }

    /// Writes the characters of a string or symbol, as they are.
    fn name(&mut self, name: Value) -> fmt::Result {
        if let Some(text) = self.heap.string_ascii(name).and_then(|text| str::from_utf8(text).ok()) {
            return self.output.write_str(text);
        }
        self.heap
            .string_characters(name)
            .try_for_each(|character| self.output.write_char(character))
    }

    fn string(&mut self, string: Value) -> fmt::Result {
        match self.style {
            Style::Display => self.name(string),
            Style::Write | Style::Shared | Style::Simple => {
                atom::write_delimited(self.heap.string_characters(string), '"', &mut self.output)
            }
        }
    }

    fn symbol(&mut self, symbol: Value) -> fmt::Result {
        match self.style {
            Style::Display => self.name(symbol),
            Style::Write | Style::Shared | Style::Simple => {
                atom::write_symbol(&self.heap.string_text(symbol), &mut self.output)
            }
        }
    }

    fn keyword(&mut self, keyword: Value) -> fmt::Result {
        let name = self.heap.field(keyword, 0);
        match self.style {
            Style::Display => {
                self.output.write_char(':')?;
                self.name(name)
            }
            Style::Write | Style::Shared | Style::Simple => {
                atom::write_keyword(&self.heap.string_text(name), &mut self.output)
            }
        }
    }

    fn bytevector(&mut self, bytevector: Value) -> fmt::Result {
        self.output.write_str("#u8(")?;
        let units = self.heap.raw_bytes(bytevector).len() as u64 / BYTES_WRITTEN;
        self.heap.spend(units).map_err(|_| fmt::Error)?;
        for (index, byte) in self.heap.raw_bytes(bytevector).iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            write!(self.output, "{blank}{byte}")?;
        }
        self.output.write_char(')')
    }

    /// Writes the name of a record type, without the customary angle brackets.
    fn type_name(&mut self, record_type: Value) -> fmt::Result {
        let name = self.heap.field(record_type, record_type::NAME);
        if !self.heap.is_symbol(name) && !self.heap.is_string(name) {
            return self.output.write_str("record");
        }
        let text = self.heap.string_text(name);
        let bare = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        self.output
            .write_str(bare.filter(|bare| !bare.is_empty()).unwrap_or(&text))
    }
}

/// Whether the printer leaves out the field `place` of a record: its name begins with `%`, the mark
/// of what a library keeps to itself.
fn is_private_field(heap: &Heap, record: Value, place: usize) -> bool {
    let name = (!heap.is_labelled(record)).then(|| field_name(heap, heap.record_label(record), place));
    name.flatten()
        .is_some_and(|name| heap.string_text(name).starts_with('%'))
}

/// Returns the name of the field `place` of instances of a record type; inherited fields come
/// first.
pub fn field_name(heap: &Heap, record_type: Value, place: usize) -> Option<Value> {
    let own_names = |record_type| {
        let names = heap.field(record_type, record_type::FIELD_NAMES);
        heap.is_kind(names, Kind::Vector).then_some(names)
    };
    let mut chain = vec![record_type];
    let mut parent = heap.field(record_type, record_type::PARENT);
    while heap.is_kind(parent, Kind::RecordType) {
        chain.push(parent);
        parent = heap.field(parent, record_type::PARENT);
    }
    let mut place = place;
    for record_type in chain.into_iter().rev() {
        let names = own_names(record_type)?;
        let count = heap.object_length(names);
        if place < count {
            return Some(heap.field(names, place)).filter(|&name| heap.is_symbol(name));
        }
        place -= count;
    }
    None
}

/// Knows no names: for values that hold no procedures, or where their names do not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anonymous;

impl Names for Anonymous {
    fn primitive_name(&self, _: u32) -> &str {
        ""
    }

    fn procedure_name(&self, _: u32) -> Option<&str> {
        None
    }
}
