//! Dictionaries and sets, keyed by `equal?`, in order of insertion.
//!
//! INVARIANT: lists of entries are in order of insertion; replacing a value does not move its
//! entry. Each mutation changes one entry, so that it happens whole or not at all.
//! It does not hash.
//! Read next: `heap/dictionary.rs`.

use std::ops::Range;

use super::argument::{count_at, list_at, object_at, wrong_type};
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::{Heap, Kind, TableEntry};
use crate::value::Value;

primitives! {
    /// Makes a dictionary of alternating keys and values; if a key occurs twice, the last value
    /// counts.
    /// Fails with `missing-value` if the last key has no value.
    "dictionary" "key value …" [0, _] counted => |context, arguments| {
        if let [key] = arguments.chunks_exact(2).remainder() {
            return Err(PrimitiveError::Condition {
                kind: "missing-value",
                message: "the last key has no value".to_owned(),
                irritants: vec![*key],
            });
        }
        context.heap.spend(arguments.len() as u64 / 2)?;
        let dictionary = context.heap.make_dictionary()?;
        for entry in arguments.chunks_exact(2) {
            context.heap.table_put(dictionary, entry[0], entry[1])?;
        }
        Ok(dictionary)
    };

    /// Makes an empty dictionary that compares its keys by `eqv?`.
    "%identity-dictionary" "" [0, 0] free => |context, _| Ok(context.heap.make_identity_dictionary()?);

    /// Returns whether the argument is a dictionary.
    "dictionary?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Dictionary)))
    };

    /// Returns the value of a key, or `default` if the dictionary lacks the key.
    /// Fails with `wrong-type` if the first argument is not a dictionary, with `key-not-found` if
    /// it lacks the key and there is no default.
    "dictionary-ref" "dictionary key [default]" [2, 3] counted => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        match (context.heap.table_get(dictionary, arguments[1]), arguments.get(2)) {
            (Some(entry), _) => Ok(entry.value),
            (None, Some(default)) => Ok(*default),
            (None, None) => Err(PrimitiveError::Condition {
                kind: "key-not-found",
                message: "the dictionary does not have this key".to_owned(),
                irritants: vec![arguments[1]],
            }),
        }
    };

    /// Sets the value of a key; an existing key keeps its place in the order.
    /// Fails with `wrong-type` if the first argument is not a dictionary.
    "dictionary-set!" "dictionary key value" [3, 3] counted => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        context.heap.table_put(dictionary, arguments[1], arguments[2])?;
        Ok(Value::UNSPECIFIED)
    };

    /// Removes a key and its value, if the dictionary has the key.
    /// Fails with `wrong-type` if the first argument is not a dictionary.
    "dictionary-delete!" "dictionary key" [2, 2] counted => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        context.heap.table_delete(dictionary, arguments[1]);
        Ok(Value::UNSPECIFIED)
    };

    /// Returns whether the dictionary has a key.
    /// Fails with `wrong-type` if the first argument is not a dictionary.
    "dictionary-contains?" "dictionary key" [2, 2] counted => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        Ok(Value::boolean(context.heap.table_get(dictionary, arguments[1]).is_some()))
    };

    /// Returns the number of keys in the dictionary.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "dictionary-count" "dictionary" [1, 1] free => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        Ok(Value::length(context.heap.table_count(dictionary)))
    };

    /// Makes a list of the keys in order of insertion.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "dictionary-keys" "dictionary" [1, 1] (cost::listed) => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        list_of(context, dictionary, |_, entry| Ok(entry.key))
    };

    /// Makes a list of the values in order of their keys' insertion.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "dictionary-values" "dictionary" [1, 1] (cost::listed) => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        list_of(context, dictionary, |_, entry| Ok(entry.value))
    };

    /// Makes a list of pairs of key and value in order of insertion.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "dictionary->alist" "dictionary" [1, 1] (cost::listed) => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        list_of(context, dictionary, |heap, entry| Ok(heap.cons(entry.key, entry.value)?))
    };

    /// Returns what `%dictionary-next` needs to visit the entries that the dictionary has now, one
    /// by one.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "%dictionary-walk" "dictionary" [1, 1] free => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        let (entries, ordinals) = context.heap.table_walk(dictionary);
        let range = context.heap.cons(Value::length(ordinals.start), Value::length(ordinals.end))?;
        Ok(context.heap.cons(entries, range)?)
    };

    /// Returns the pair of the value of the first entry of a walk at `place` or later, and of the
    /// next place; `#f` after the last entry. Places begin at 0. The walk does not come to entries
    /// that are added after its start, and may come to some that are removed.
    /// Fails with `wrong-type` if the arguments are not a walk and an exact integer, with
    /// `out-of-range` if the integer is negative.
    "%dictionary-next" "walk place" [2, 2] counted => |context, arguments| {
        let (entries, ordinals) = walk_at(context.heap, arguments).ok_or(wrong_type(0, "a walk"))?;
        let place = count_at(context.heap, arguments, 1)?;
        let ordinals = ordinals.start.max(place)..ordinals.end;
        let found = context.heap.entries_next(entries, ordinals.clone());
        let next = found.map_or(ordinals.end, |(ordinal, _)| ordinal + 1);
        context.heap.charge(next.saturating_sub(ordinals.start) as u64 / cost::ELEMENTS);
        match found {
            Some((_, value)) => Ok(context.heap.cons(value, Value::length(next))?),
            None => Ok(Value::FALSE),
        }
    };

    /// Makes a dictionary from a list of pairs of key and value; if a key occurs twice, the first
    /// value counts, as for `assoc`.
    /// Fails with `wrong-type` if the argument is not a proper list of pairs.
    "alist->dictionary" "alist" [1, 1] counted => |context, arguments| {
        let pairs = list_at(context.heap, arguments, 0)?;
        if !pairs.iter().all(|pair| pair.is_pair()) {
            return Err(wrong_type(0, "a list of pairs"));
        }
        context.heap.spend(pairs.len() as u64)?;
        let dictionary = context.heap.make_dictionary()?;
        for pair in pairs {
            let (key, value) = (context.heap.car(pair), context.heap.cdr(pair));
            if context.heap.table_get(dictionary, key).is_none() {
                context.heap.table_put(dictionary, key, value)?;
            }
        }
        Ok(dictionary)
    };

    /// Makes a dictionary with the same keys and values.
    /// Fails with `wrong-type` if the argument is not a dictionary.
    "dictionary-copy" "dictionary" [1, 1] (cost::entries) => |context, arguments| {
        let dictionary = dictionary_at(context.heap, arguments)?;
        Ok(context.heap.table_copy(dictionary)?)
    };

    /// Makes a set of the arguments.
    "set" "element …" [0, _] counted => set_of;

    /// Returns whether the argument is a set.
    "set?" "object" [1, 1] free => |context, arguments| {
        Ok(Value::boolean(context.heap.is_kind(arguments[0], Kind::Set)))
    };

    /// Returns whether the set has an element.
    /// Fails with `wrong-type` if the first argument is not a set.
    "set-contains?" "set element" [2, 2] counted => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        Ok(Value::boolean(context.heap.table_get(set, arguments[1]).is_some()))
    };

    /// Returns adds an element, unless the set has it.
    /// Fails with `wrong-type` if the first argument is not a set.
    "set-adjoin!" "set element" [2, 2] counted => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        context.heap.table_put(set, arguments[1], arguments[1])?;
        Ok(Value::UNSPECIFIED)
    };

    /// Removes an element, if the set has it.
    /// Fails with `wrong-type` if the first argument is not a set.
    "set-delete!" "set element" [2, 2] counted => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        context.heap.table_delete(set, arguments[1]);
        Ok(Value::UNSPECIFIED)
    };

    /// Returns the number of elements in the set.
    /// Fails with `wrong-type` if the argument is not a set.
    "set-count" "set" [1, 1] free => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        Ok(Value::length(context.heap.table_count(set)))
    };

    /// Makes a list of the elements in order of insertion.
    /// Fails with `wrong-type` if the argument is not a set.
    "set->list" "set" [1, 1] (cost::listed) => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        list_of(context, set, |_, entry| Ok(entry.key))
    };

    /// Makes a set of the elements of a list.
    /// Fails with `wrong-type` if the argument is not a proper list.
    "list->set" "list" [1, 1] counted => |context, arguments| {
        let elements = list_at(context.heap, arguments, 0)?;
        set_of(context, &elements)
    };

    /// Makes a set with the same elements.
    /// Fails with `wrong-type` if the argument is not a set.
    "set-copy" "set" [1, 1] (cost::entries) => |context, arguments| {
        let set = set_at(context.heap, arguments)?;
        Ok(context.heap.table_copy(set)?)
    };
}

fn dictionary_at(heap: &Heap, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, 0, Kind::Dictionary, "a dictionary")
}

/// The entries and the ordinals of a walk.
fn walk_at(heap: &Heap, arguments: &[Value]) -> Option<(Value, Range<usize>)> {
    let walk = arguments[0];
    if !walk.is_pair() || !heap.cdr(walk).is_pair() {
        return None;
    }
    let (entries, range) = (heap.car(walk), heap.cdr(walk));
    let ordinal = |end: Value| usize::try_from(end.as_fixnum()?).ok();
    let ordinals = ordinal(heap.car(range))?..ordinal(heap.cdr(range))?;
    heap.has_entries(entries, ordinals.end).then_some((entries, ordinals))
}

fn set_at(heap: &Heap, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, 0, Kind::Set, "a set")
}

fn set_of(context: &mut Context<'_>, elements: &[Value]) -> Result<Value, PrimitiveError> {
    context.heap.spend(elements.len() as u64 * 2)?;
    let set = context.heap.make_set()?;
    for element in elements {
        context.heap.table_put(set, *element, *element)?;
    }
    Ok(set)
}

/// Makes a list of one part of each entry.
fn list_of(
    context: &mut Context<'_>,
    table: Value,
    part: fn(&mut Heap, TableEntry) -> Result<Value, PrimitiveError>,
) -> Result<Value, PrimitiveError> {
    let mut parts = Vec::with_capacity(context.heap.table_count(table));
    let mut ordinal = 0;
    while let Some(entry) = context.heap.table_next(table, ordinal) {
        parts.push(part(context.heap, entry)?);
        ordinal = entry.ordinal + 1;
    }
    Ok(context.heap.list(&parts, Value::NIL)?)
}
