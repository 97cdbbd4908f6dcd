//! Which words a primitive reads, copies and changes.
//!
//! Two words may be equal and have different origins, so equality does not say which of them a
//! value came from; the primitive's name and arguments do.
//! INVARIANT: each answer names the word that the primitive itself read, or none.
//! It does not know origins. Read next: `primitive.rs`, `contents.rs`.

use std::ops::Range;

use crate::heap::kind::{promise, record, table};
use crate::heap::{Heap, Kind, TableEntry};
use crate::value::Value;

use super::OriginId;

/// The maximum of elements of an object that are followed.
pub(super) const ELEMENTS_MAX: usize = 4096;

/// Where a value was before a primitive returned or wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// An argument itself.
    Argument(usize),
    /// A word that an argument leads to.
    Word {
        /// The index of the word.
        word: usize,
        /// The number of the argument.
        of: usize,
    },
    /// A character or a byte of an argument.
    Element {
        /// Its position in the string or bytevector.
        at: usize,
        /// The number of the argument.
        of: usize,
    },
}

/// A word that a primitive has written, and where its value was before.
pub(super) type Copied = (usize, Source);

/// The call of a primitive.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a [(Value, OriginId)],
    pub(super) result: Value,
}

impl Call<'_> {
    fn argument(&self, index: usize) -> Value {
        self.arguments.get(index).map_or(Value::UNDEFINED, |(value, _)| *value)
    }

    /// An argument that is a position; 0 if there is none, as a range begins there.
    pub(super) fn position(&self, index: usize) -> usize {
        let position = self.argument(index).as_fixnum();
        position.and_then(|at| usize::try_from(at).ok()).unwrap_or(0)
    }

    /// The range that two optional arguments describe, in an object of some length.
    pub(super) fn range(&self, first: usize, length: usize) -> Range<usize> {
        let end = if self.arguments.len() > first + 1 {
            self.position(first + 1)
        } else {
            length
        };
        let end = end.min(length);
        self.position(first).min(end)..end
    }

    /// Where the result was before, if the primitive returns a part of an argument.
    pub(super) fn read(&self, heap: &mut Heap) -> Option<Source> {
        let object = self.argument(0);
        let part = |word: Option<usize>| word.map(|word| Source::Word { word, of: 0 });
        let field = |at: usize| part(word_at(heap, object, at));
        match self.name {
            "vector-ref" => field(self.position(1)),
            "record-label" => field(record::LABEL),
            "record-field" => field(record::FIELDS + self.position(1)),
            "%record-ref" => field(record::FIELDS + self.position(2)),
            "%labelled-ref" => field(record::FIELDS + self.position(3)),
            "%promise-content" => {
                let holder = holder(heap, object);
                part(word_at(heap, holder, promise::CONTENT))
            }
            "string-ref" | "bytevector-u8-ref" => Some(Source::Element {
                at: self.position(1),
                of: 0,
            }),
            "list-ref" => part(pairs(heap, object).nth(self.position(1)).map(|pair| pair.index())),
            "list-tail" => match self.position(1).checked_sub(1) {
                Some(before) => part(pairs(heap, object).nth(before).map(|pair| pair.index() + 1)),
                None => Some(Source::Argument(0)),
            },
            "last-pair" => self.tail(heap, 0),
            "memq" | "memv" | "%member" => self.tail(heap, 1),
            "assq" | "assv" | "%assoc" => {
                let mut found = pairs(heap, self.argument(1)).map(|pair| pair.index());
                let word = found.find(|word| heap.word(*word) == self.result)?;
                Some(Source::Word { word, of: 1 })
            }
            "dictionary-ref" => match heap.table_get_again(object, self.argument(1)) {
                Some(entry) => part(Some(heap.table_word(object, entry.ordinal))),
                None => Some(Source::Argument(2)),
            },
            "values" if self.arguments.len() == 1 => Some(Source::Argument(0)),
            name if is_path(name) => part(self.path(heap)),
            _ => None,
        }
    }

    /// Where the result, a pair of a list, was before.
    fn tail(&self, heap: &Heap, of: usize) -> Option<Source> {
        if self.argument(of) == self.result {
            return Some(Source::Argument(of));
        }
        let mut tails = pairs(heap, self.argument(of)).map(|pair| pair.index() + 1);
        let word = tails.find(|word| heap.word(*word) == self.result)?;
        Some(Source::Word { word, of })
    }

    /// The word that a procedure such as `cadr` reads.
    fn path(&self, heap: &Heap) -> Option<usize> {
        let steps = self.name.bytes().rev().skip(1).take(self.name.len() - 2);
        let (mut part, mut word) = (self.argument(0), None);
        for step in steps {
            let index = part.is_pair().then(|| part.index() + usize::from(step == b'd'))?;
            part = heap.word(index);
            word = Some(index);
        }
        word
    }

    /// The words of the result, and where their values were before; nothing is said of those that
    /// the primitive computed.
    pub(super) fn copied(&self, heap: &mut Heap) -> Vec<Copied> {
        let result = self.result;
        let arguments = (0..self.arguments.len()).map(Source::Argument);
        match self.name {
            "list" => zip(cars(heap, result), arguments),
            "vector" | "values" | "record" | "%make-record" | "%make-promise" => zip(fields(heap, result), arguments),
            "cons" if result.is_pair() => zip(result.index()..result.index() + 2, arguments),
            "cons*" if self.arguments.len() > 1 => {
                let pairs = pairs(heap, result).take(self.arguments.len() - 1);
                let words: Vec<usize> = pairs.map(|pair| pair.index()).collect();
                let last = words.last().map(|last| last + 1);
                zip(words.into_iter().chain(last), arguments)
            }
            "make-vector" => zip(fields(heap, result), std::iter::repeat(Source::Argument(1))),
            "make-list" => zip(cars(heap, result), std::iter::repeat(Source::Argument(1))),
            "list-copy" | "list->vector" | "vector-copy" | "vector->list" | "append" | "vector-append"
            | "record-fields" | "reverse" => self.copied_elements(heap),
            "string->list" | "string->vector" => {
                let elements = (self.position(1)..).map(|at| Source::Element { at, of: 0 });
                zip(elements_of(heap, result), elements)
            }
            _ => self.copied_entries(heap),
        }
    }

    /// Elements of sequences.
    fn copied_elements(&self, heap: &Heap) -> Vec<Copied> {
        let targets = elements_of(heap, self.result);
        let of_argument = |of: usize| {
            let words = elements_of(heap, self.argument(of)).into_iter();
            words.map(move |word| Source::Word { word, of })
        };
        match self.name {
            "append" | "vector-append" => zip(targets, (0..self.arguments.len()).flat_map(of_argument)),
            "vector-copy" | "vector->list" => zip(targets, of_argument(0).skip(self.position(1))),
            "reverse" => zip(targets, of_argument(0).rev()),
            _ => zip(targets, of_argument(0)),
        }
    }

    /// Keys and values of dictionaries and sets.
    fn copied_entries(&self, heap: &mut Heap) -> Vec<Copied> {
        let (object, result) = (self.argument(0), self.result);
        let part = |word: usize| Source::Word { word, of: 0 };
        match self.name {
            "dictionary" => {
                let pairs = (0..self.arguments.len() / 2).map(|pair| (2 * pair, 2 * pair + 1));
                let known =
                    pairs.map(|(key, value)| (self.argument(key), Source::Argument(key), Source::Argument(value)));
                put(heap, result, known)
            }
            "alist->dictionary" => {
                let entries: Vec<Value> = pairs(heap, object).map(|pair| heap.car(pair)).collect();
                let entries = entries.into_iter().rev().filter(|entry| entry.is_pair());
                let known: Vec<_> = entries
                    .map(|entry| (heap.car(entry), part(entry.index()), part(entry.index() + 1)))
                    .collect();
                put(heap, result, known.into_iter())
            }
            "set" => {
                let elements = (0..self.arguments.len()).rev();
                let known = elements.map(|at| (self.argument(at), Source::Argument(at), Source::Argument(at)));
                put(heap, result, known)
            }
            "list->set" => {
                let elements: Vec<(Value, usize)> =
                    pairs(heap, object).map(|pair| (heap.car(pair), pair.index())).collect();
                let known = elements.into_iter().rev();
                put(heap, result, known.map(|(key, word)| (key, part(word), part(word))))
            }
            "dictionary-copy" | "set-copy" => zip(entry_words(heap, result), entry_words(heap, object).map(part)),
            "dictionary-keys" | "set->list" => {
                let keys = entries(heap, object).map(|entry| part(key_and_value(heap, object, entry)[0]));
                zip(cars(heap, result), keys)
            }
            "dictionary-values" => {
                let values = entries(heap, object).map(|entry| part(heap.table_word(object, entry.ordinal)));
                zip(cars(heap, result), values)
            }
            "dictionary->alist" => {
                let pairs = cars(heap, result).map(|word| heap.word(word).index());
                let words = pairs.flat_map(|pair| [pair, pair + 1]);
                zip(words, entry_words(heap, object).map(part))
            }
            _ => Vec::new(),
        }
    }

    /// The words that the primitive has changed, and where their values were before.
    pub(super) fn changed(&self, heap: &mut Heap) -> Vec<Copied> {
        let object = self.argument(0);
        let one = |word: Option<usize>, argument: usize| {
            let word = word.map(|word| (word, Source::Argument(argument)));
            word.into_iter().collect()
        };
        match self.name {
            "set-car!" => one(object.is_pair().then(|| object.index()), 1),
            "set-cdr!" => one(object.is_pair().then(|| object.index() + 1), 1),
            "vector-set!" => one(word_at(heap, object, self.position(1)), 2),
            "%record-set!" => one(word_at(heap, object, record::FIELDS + self.position(2)), 3),
            "list-set!" => one(pairs(heap, object).nth(self.position(1)).map(|pair| pair.index()), 2),
            "vector-fill!" => {
                let words = fields(heap, object);
                let range = self.range(2, words.len());
                let words = words.skip(range.start).take(range.len());
                words.map(|word| (word, Source::Argument(1))).collect()
            }
            "vector-copy!" => {
                let from = fields(heap, self.argument(2));
                let range = self.range(3, from.len());
                let from = from.skip(range.start).take(range.len());
                let to = fields(heap, object).skip(self.position(1));
                to.zip(from.map(|word| Source::Word { word, of: 2 })).collect()
            }
            "%promise-set!" => zip(
                fields(heap, holder(heap, object)),
                [Source::Argument(1), Source::Argument(2)].into_iter(),
            ),
            "%promise-take!" => {
                // The words of the other promise keep their origins; it now refers to the first.
                let from = fields(heap, self.argument(1));
                zip(
                    fields(heap, holder(heap, object)),
                    from.map(|word| Source::Word { word, of: 1 }),
                )
            }
            "dictionary-set!" => {
                let entry = heap.table_get_again(object, self.argument(1));
                one(entry.map(|entry| heap.table_word(object, entry.ordinal)), 2)
            }
            _ => Vec::new(),
        }
    }
}

/// A dictionary or a set before a primitive adds to it.
pub(super) struct TableBefore {
    table: Value,
    entries: Value,
    places: usize,
    count: usize,
}

impl TableBefore {
    /// Reads the first argument of a primitive that may add an entry to it.
    pub(super) fn read(heap: &Heap, name: &str, arguments: &[(Value, OriginId)]) -> Option<Self> {
        let (table, _) = *arguments.first()?;
        let is_adding = matches!(name, "dictionary-set!" | "set-adjoin!");
        let is_table = heap.is_kind(table, Kind::Dictionary) || heap.is_kind(table, Kind::Set);
        (is_adding && is_table).then(|| Self {
            table,
            entries: heap.field(table, table::ENTRIES),
            places: heap.table_places(table),
            count: heap.table_count(table),
        })
    }

    /// The words of the entries that have moved to make room, and those of a new key.
    pub(super) fn changed(&self, heap: &Heap) -> Vec<Copied> {
        let (table, mut changed) = (self.table, Vec::new());
        let part = |word: usize| Source::Word { word, of: 0 };
        if self.entries != heap.field(table, table::ENTRIES) && self.entries.is_true() {
            let stride = heap.table_stride(table);
            let first = |ordinal: usize| self.entries.index() + 1 + ordinal * stride;
            let old = (0..self.places).map(first);
            let old = old.filter(|first| heap.word(first + 1) != Value::ABSENT);
            for (entry, first) in entries(heap, table).zip(old) {
                let [key, value] = key_and_value(heap, table, entry);
                changed.push((key, part(first + 1)));
                changed.push((value, part(first + stride - 1)));
            }
        }
        if heap.table_count(table) > self.count
            && let Some(last) = heap.table_places(table).checked_sub(1)
            && let Some(entry) = heap.table_next(table, last)
        {
            changed.push((key_and_value(heap, table, entry)[0], Source::Argument(1)));
        }
        changed
    }
}

/// Pairs words with where their values were, at most [`ELEMENTS_MAX`] of them.
fn zip(words: impl IntoIterator<Item = usize>, sources: impl Iterator<Item = Source>) -> Vec<Copied> {
    words.into_iter().zip(sources).take(ELEMENTS_MAX).collect()
}

/// The words of the keys that a new table has, and of their values; later ones count.
fn put(heap: &mut Heap, table: Value, known: impl Iterator<Item = (Value, Source, Source)>) -> Vec<Copied> {
    let mut copied = Vec::new();
    for (key, key_source, value_source) in known.take(ELEMENTS_MAX) {
        if let Some(entry) = heap.table_get_again(table, key) {
            let [key, value] = key_and_value(heap, table, entry);
            copied.extend([(key, key_source), (value, value_source)]);
        }
    }
    copied
}

/// Whether a procedure's name is that of a path through pairs, such as `cadr`.
fn is_path(name: &str) -> bool {
    let path = name.strip_prefix('c').and_then(|name| name.strip_suffix('r'));
    path.is_some_and(|path| !path.is_empty() && path.bytes().all(|step| matches!(step, b'a' | b'd')))
}

/// The pairs of a list.
fn pairs(heap: &Heap, list: Value) -> impl Iterator<Item = Value> + '_ {
    let next = |value: Value| value.is_pair().then_some(value);
    std::iter::successors(next(list), move |pair| next(heap.cdr(*pair)))
}

/// The words of a list's elements.
fn cars(heap: &Heap, list: Value) -> impl Iterator<Item = usize> + '_ {
    pairs(heap, list).map(|pair| pair.index())
}

/// The words of an object's fields.
pub(super) fn fields(heap: &Heap, object: Value) -> Range<usize> {
    match heap.kind_of(object) {
        Some(
            Kind::Vector | Kind::Values | Kind::Record | Kind::Dictionary | Kind::Set | Kind::Cell | Kind::Promise,
        ) => object.index() + 1..object.index() + 1 + heap.object_length(object),
        _ => 0..0,
    }
}

fn word_at(heap: &Heap, object: Value, at: usize) -> Option<usize> {
    fields(heap, object).nth(at)
}

/// The words of the elements of a list, a vector or a record.
fn elements_of(heap: &Heap, sequence: Value) -> Vec<usize> {
    if sequence.is_pair() {
        return cars(heap, sequence).take(ELEMENTS_MAX).collect();
    }
    let label = usize::from(heap.is_kind(sequence, Kind::Record));
    fields(heap, sequence).skip(label).collect()
}

/// The promise that holds the state and the content of a promise.
fn holder(heap: &Heap, mut promise: Value) -> Value {
    while heap.is_kind(promise, Kind::Promise) && heap.is_kind(heap.field(promise, promise::STATE), Kind::Promise) {
        promise = heap.field(promise, promise::STATE);
    }
    promise
}

fn entries(heap: &Heap, table: Value) -> impl Iterator<Item = TableEntry> + '_ {
    let is_table = heap.is_kind(table, Kind::Dictionary) || heap.is_kind(table, Kind::Set);
    let next = move |ordinal: usize| is_table.then(|| heap.table_next(table, ordinal))?;
    std::iter::successors(next(0), move |entry| next(entry.ordinal + 1))
}

/// The words of the keys and values of a dictionary, in its order.
fn entry_words(heap: &Heap, table: Value) -> impl Iterator<Item = usize> + '_ {
    entries(heap, table).flat_map(move |entry| key_and_value(heap, table, entry))
}

/// The words of an entry's key and value; in a set they are the same.
fn key_and_value(heap: &Heap, table: Value, entry: TableEntry) -> [usize; 2] {
    let value = heap.table_word(table, entry.ordinal);
    [value + 2 - heap.table_stride(table), value]
}
